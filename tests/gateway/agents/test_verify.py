"""`verify` finds each planted fault, by its rule, and none in apps that are right.

Rules and their sections are those of the specification of Mobile-MCP (14 February 2026), typed by hand; those
of mMCP are of its specification and of the reference.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import pytest

from device_shim.phone_system.phone_system_apps import make_apk, run, uid_of
from device_shim.shim_phone.conftest import JVM
from droidgate.agents import agent_client, function_checks, mmcp_checks, mobile_mcp_checks
from droidgate.agents.agent_client import FIRST_AGENT, AgentClient
from droidgate.agents.agent_installation import install_agents
from droidgate.agents.verification import Verification, VerifyRequest, verify
from droidgate.shims.device_user import device_user_of
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.agents.faulty_tool import (
    CALL,
    COMPONENTS,
    DESCRIPTOR,
    FUNCTION,
    FUNCTIONS,
    TOOL,
    FaultyApp,
    Planted,
    faulty_apk,
)
from gateway.agents.java_tool import java_tool, plant
from gateway.mobile_agent.made_phone import device_on
from titled_rows import titled

SAMPLE = "dev.droidgate.sample"
ON_BOTH = pytest.mark.parametrize("bench", ["python", JVM], indirect=True)


@dataclass(frozen=True)
class Bench:
    """A phone with both agents."""

    phone: VirtualPhone
    agents: tuple[AgentClient, AgentClient]

    def run(self, protocol: str, fault: str, *, seconds: float = 2.0, **more: Any) -> Verification:
        """Check the tool app with a fault."""
        Planted.plant(fault)
        self.phone.install(faulty_apk(protocol, **more))
        calls = {FUNCTION: CALL["echo"]} if protocol == "appfunctions" else CALL
        return self.check(TOOL, calls, seconds=seconds)

    def run_java(self, fault: str, protocol: str = "mobile-mcp", **more: Any) -> Verification:
        """Check the tool app in Java with a fault."""
        self.phone.install(faulty_apk(protocol, **more))
        plant(self.phone, fault)
        return self.check(TOOL, CALL, seconds=2.0)

    def check(
        self, package: str, calls: Mapping[str, Mapping[str, Any]], *, seconds: float = 5.0
    ) -> Verification:
        request = VerifyRequest(package, calls, seconds=seconds)
        return verify(device_user_of(self.agents[0].device), self.agents, request)


@contextmanager
def bench_of(runtime: ShimRuntime = "python", sdk: str = "36.1") -> Iterator[Bench]:
    with (
        patch.object(mobile_mcp_checks, "_SETTLE_SECONDS", 0.1),
        start_phone(sdk=sdk, server_port=0, shim_runtime=runtime, adb_keys=()) as phone,
        patch.dict(os.environ, {"ANDROID_ADB_SERVER_PORT": str(phone.server_port)}),
    ):
        first, second = install_agents(device_user_of(device_on(phone)), None, print)
        yield Bench(phone, (first, second))


@pytest.fixture(scope="module", params=["python"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """The agents as their model in Python, and as their own dex on Android's classes."""
    with (
        patch.dict(BEHAVIOURS, {TOOL: FaultyApp}),
        patch.object(agent_client, "_PAUSE_SECONDS", 0.01),
        patch.object(function_checks, "_INDEXING_SECONDS", 0),
        bench_of(request.param) as bench,
    ):
        yield bench


def failed(found: Verification, transport: str) -> list[str]:
    """Return what failed: section and rule, in order."""
    return [
        f"{check.rule.section} {check.rule.id.removeprefix('mobile-mcp-live-').removeprefix('mmcp-live-')}"
        for check in found.checks
        if check.verdict == "failed" and check.transport == transport
    ]


# fmt: off
FAULTS = {
    "a tool that never answers": ("silent", ["3.1 answers"], ["3.1 answers"]),
    "an answer that comes too late": ("late", ["3.1 answers"], ["3.1 answers"]),
    "a service without a binder": ("no binder", ["3.1 answers"], []),
    "a tool that dies of a request": ("crash",
        ["3.2 keeps-running", "3.2 missing-argument"], ["3.2 keeps-running", "3.2 missing-argument"]),
    "an answer that is not JSON": ("prose",
        ["3.2 response-form", "3.3 open-requests", "3.1 two-agents"],
        ["3.2 response-form", "3.3 open-requests", "3.1 two-agents"]),
    "an answer without its wrapper": ("no wrapper",
        ["3.2 response-form", "3.3 open-requests", "3.1 two-agents"],
        ["3.2 response-form", "3.3 open-requests", "3.1 two-agents"]),
    "a response without a version": ("no version", ["3.2 response-version"], ["3.2 response-version"]),
    "a response with an id of its own": ("wrong id",
        ["3.2 response-id", "3.3 open-requests", "3.1 two-agents"],
        ["3.2 response-id", "3.3 open-requests", "3.1 two-agents"]),
    "a response without the capability": ("no capability",
        ["3.2 response-capability"], ["3.2 response-capability"]),
    "a status of its own": ("status error", ["3.2 response-status"], ["3.2 response-status"]),
    "a number written as a text": ("output as text", ["3.2 response-output"], ["3.2 response-output"]),
    "an output that is not declared": ("undeclared output", ["3.2 response-output"], ["3.2 response-output"]),
    "a tool that takes any version": ("any version", ["3.2 version-checked"], ["3.2 version-checked"]),
    "a tool that takes any capability": ("any capability",
        ["3.2 unknown-capability"], ["3.2 unknown-capability"]),
    "a tool that requires nothing": ("nothing required", ["3.2 missing-argument"], ["3.2 missing-argument"]),
    "a refusal that comes while later requests are open": ("late refusal",
        ["3.2 missing-argument"], ["3.2 missing-argument"]),
    "a tool that takes any type": ("any type", ["3.2 argument-type"], ["3.2 argument-type"]),
    "a tool that answers twice": ("twice", ["3.2 one-response"], ["3.2 one-response"]),
    "a tool that forgets a second request": ("one at a time",
        ["3.3 open-requests", "3.1 two-agents"], ["3.3 open-requests", "3.1 two-agents"]),
    "a tool that takes an id once from all agents": ("id once", ["3.1 two-agents"], ["3.1 two-agents"]),
}
# fmt: on


@pytest.fixture(scope="module", params=[JVM])
def java_bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The tool app in Java on Android's classes, with the agents' own dex or their model in Python."""
    with java_tool(tmp_path_factory.mktemp("classes")), bench_of(request.param) as bench:
        yield bench


@titled(("fault", "bound", "started"), {**FAULTS, "a right tool": ("", [], [])})
def test_a_planted_fault_is_found_by_its_rule_bound_and_started(
    java_bench: Bench, fault: str, bound: list[str], started: list[str]
) -> None:
    report = java_bench.run_java(fault)
    assert (failed(report, "bind"), failed(report, "start")) == (bound, started)
    assert report.fails == bool(fault)


SEEN_BY_EVENTS = ("a service without a binder", "a tool that dies of a request", "a tool that answers twice")
"""Faults that show in what Android hands the agent, and not only in the text of an answer."""


@pytest.mark.parametrize("java_bench", [pytest.param("python", marks=JVM.marks)], indirect=True)
@titled(("fault", "bound", "started"), {title: FAULTS[title] for title in SEEN_BY_EVENTS})
def test_the_virtual_phones_agent_reports_the_same_events(
    java_bench: Bench, fault: str, bound: list[str], started: list[str]
) -> None:
    report = java_bench.run_java(fault)
    assert (failed(report, "bind"), failed(report, "start")) == (bound, started)


def test_every_live_rule_of_mobile_mcp_has_a_planted_fault() -> None:
    planted = {rule.partition(" ")[2] for _, bound, _ in FAULTS.values() for rule in bound}
    assert {f"mobile-mcp-live-{rule}" for rule in planted} == mobile_mcp_checks.RULES.keys()


# fmt: off
MMCP_FAULTS = {
    "a receiver without tools": ("mmcp-broadcast", "no tools", ["broadcast-tools"]),
    "a receiver whose tools are one text": ("mmcp-broadcast", "tools as text", ["broadcast-tools"]),
    "parameters that are not JSON": ("mmcp-broadcast", "parameters as prose", ["broadcast-parameters"]),
    "a tool without a description": ("mmcp-broadcast", "no description", ["broadcast-parameters"]),
    "a receiver that answers nothing": ("mmcp-broadcast", "no data", ["broadcast-data"]),
    "a receiver that refuses without a text": ("mmcp-broadcast", "no data on refusal", ["broadcast-data"]),
    "an activity that does not end": ("mmcp", "silent", ["activity-result", "activity-output"]),
    "an activity that stays open on what it refuses": ("mmcp", "silent on refusal", ["activity-result"]),
    "an activity that always cancels": ("mmcp", "canceled", ["activity-output"]),
    "an activity without a result": ("mmcp", "no result", ["activity-output"]),
    "an activity whose result is a number": ("mmcp", "result as number", ["activity-output"]),
    "a right receiver": ("mmcp-broadcast", "", []),
    "a right activity": ("mmcp", "", []),
}
# fmt: on


@titled(("protocol", "fault", "expected"), MMCP_FAULTS)
def test_a_planted_fault_of_mmcp_is_found(
    java_bench: Bench, protocol: str, fault: str, expected: list[str]
) -> None:
    report = java_bench.run_java(fault, protocol)
    rules = [check.rule.id for check in report.checks if check.verdict == "failed"]
    assert rules == [f"mmcp-live-{rule}" for rule in expected]
    assert [check for check in report.checks if check.verdict == "not-checked"] == [
        check for check in report.checks if check.reason == "no tools are reported"
    ]


def test_every_live_rule_of_mmcp_has_a_planted_fault() -> None:
    planted = {f"mmcp-live-{rule}" for _, _, rules in MMCP_FAULTS.values() for rule in rules}
    assert planted == mmcp_checks.RULES.keys()


# fmt: off
FUNCTION_FAULTS = {
    "a file that Android's indexer drops": ("", ["indexed"]),
    "a function that never answers": ("silent", ["undeclared-argument", "open-calls", "answers"]),
    "a function that dies of a call": ("crash", ["keeps-running"]),
    "a function that requires nothing": ("nothing required", ["missing-argument"]),
    "a function that takes any type": ("any type", ["argument-type"]),
    "a function that is silent on what it does not know":
        ("silent on more", ["undeclared-argument", "answers"]),
    "a number written as a text": ("output as text", ["result"]),
    "an output that is not declared": ("undeclared output", ["result"]),
    "a result without what is required": ("no output", ["result"]),
    "two values where one is declared": ("two outputs", ["result"]),
    "a function that forgets a second call":
        ("one at a time", ["open-calls", "answers", "cancelled-call"]),
    "a function that serves one caller at a time": ("one caller", ["two-callers"]),
    "a refusal that does not say of what": ("a code of its own", ["error-code"]),
}
# fmt: on


@pytest.mark.slow
@titled(("fault", "expected"), FUNCTION_FAULTS)
def test_a_planted_fault_of_a_function_is_found(bench: Bench, fault: str, expected: list[str]) -> None:
    functions = FUNCTIONS if fault else FUNCTIONS.replace("<id>unused</id>", "", 1)
    report = bench.run("appfunctions", fault, seconds=1.0, functions=functions)
    rules = [check.rule.id for check in report.checks if check.verdict == "failed"]
    assert [rule for rule in rules if rule.startswith("appfunctions-live-")] == [
        f"appfunctions-live-{rule}" for rule in expected
    ]
    assert report.fails


@pytest.mark.slow
@titled(("sdk", "verdict", "reason"), {
    "before Android 16": ("34", "not-applicable", "Android 16 (API 36) is the first with AppFunctions"),
    "a shell that calls none": ("36", "not-checked", "No shell command implementation."),
})  # fmt: skip
def test_where_no_function_can_be_called_its_rules_say_so(sdk: str, verdict: str, reason: str) -> None:
    with bench_of(sdk=sdk) as bench:
        bench.phone.install(faulty_apk("appfunctions"))
        report = bench.check(TOOL, {})
    live = {(check.verdict, check.reason) for check in report.checks if check.transport == "shell"}
    assert (live, report.fails) == ({(verdict, reason)}, False)


@pytest.mark.slow
def test_an_app_that_the_virtual_phone_cannot_run_breaks_no_rule() -> None:
    with bench_of() as bench:
        for protocol in ("mobile-mcp", "mmcp", "mmcp-broadcast"):
            bench.phone.install(faulty_apk(protocol))
            report = bench.check(TOOL, {}, seconds=1.0)
            live = [check for check in report.checks if check.transport != "declared"]
            assert not [check for check in live if check.verdict == "failed"], protocol
            assert any("check it on an emulator" in check.reason for check in live), protocol
        hidden = COMPONENTS["mmcp"].replace('exported="true"', 'exported="false"')
        bench.phone.install(make_apk(TOOL, hidden))
        report = bench.check(TOOL, {})
        assert [item.code for item in report.findings] == ["mmcp-exported"]
        reasons = {check.reason for check in report.checks if check.verdict == "not-checked"}
        assert reasons == {f"the agent sees no tools of {TOOL}"}


def test_every_live_rule_of_a_function_has_a_planted_fault() -> None:
    planted = {f"appfunctions-live-{rule}" for _, rules in FUNCTION_FAULTS.values() for rule in rules}
    assert planted == function_checks.RULES.keys()


RIGHT = {
    "its function": (TOOL, {FUNCTION: CALL["echo"]}),
    "notes": (f"{SAMPLE}.notes", {f"{SAMPLE}.notes.NotesService#findNotes": {}}),
    "notes in the platform's own form":
        (f"{SAMPLE}.notes.legacy", {"createNote": {"title": "Milk", "content": ""}}),
    "clock-in": (f"{SAMPLE}.clockin", {"query_clock_in": {}}),
    "tally": (f"{SAMPLE}.tally", {"read_total": {"player": "Ada"}}),
    "weather": (f"{SAMPLE}.weather", {"currentWeather": {"location": "Paris"}}),
    "pdf-tool": (f"{SAMPLE}.pdftool", {"page_count": {"path": "/sdcard/Download/report.pdf"}}),
}  # fmt: skip


@pytest.mark.slow
@ON_BOTH
@titled(("package", "calls"), RIGHT)
def test_a_right_app_has_no_fault(bench: Bench, package: str, calls: dict[str, dict[str, Any]]) -> None:
    if package == TOOL:
        bench.run("appfunctions", "")
    report = bench.check(package, calls)
    assert (report.findings, report.fails) == ((), False)
    left_out = {check.transport for check in report.checks if check.verdict == "not-checked"}
    # Nobody opens tally, so Android does not let it be started.
    assert left_out == ({"start"} if package.endswith("tally") else set())


def test_an_answer_that_is_too_long_is_not_checked(java_bench: Bench) -> None:
    report = java_bench.run_java("huge")
    assert report.findings == ()
    left_out = {check.rule.id for check in report.checks if check.verdict == "not-checked"}
    assert left_out == {"mobile-mcp-live-response-output"}


def test_a_rule_that_the_descriptor_breaks_is_a_finding(java_bench: Bench) -> None:
    report = java_bench.run_java("", descriptor=DESCRIPTOR.replace('version="1.0">\n  <cap', ">\n  <cap"))
    assert [item.code for item in report.findings] == ["mobile-mcp-version"]
    assert report.fails


@pytest.mark.slow
@titled(("package", "call", "reason"), {
    "clock-in": (f"{SAMPLE}.clockin", "make_up_clock_in", "the app refuses make_up_clock_in: "),
    "pdf-tool": (f"{SAMPLE}.pdftool", "page_count", 'the app refuses page_count: "path" is missing'),
})  # fmt: skip
def test_a_call_that_the_app_refuses_is_not_a_fault_of_the_app(
    bench: Bench, package: str, call: str, reason: str
) -> None:
    report = bench.check(package, {call: {}})
    reasons = {check.reason for check in report.checks if check.verdict == "not-checked"}
    assert (report.findings, len(reasons)) == ((), 1)
    assert reasons.pop().startswith(reason)


def test_an_app_or_call_that_cannot_be_checked_is_one_error(bench: Bench) -> None:
    with pytest.raises(UsageError, match='unknown capability "query"'):
        bench.check(f"{SAMPLE}.clockin", {"query": {}})


@pytest.mark.slow
@ON_BOTH
def test_an_app_does_not_drive_the_agent_even_with_adbs_permission(bench: Bench) -> None:
    system = bench.phone.system
    uid = uid_of(system, f"{SAMPLE}.clockin")
    words = ("content", "call", "--uri", f"content://{FIRST_AGENT}.computer", "--method", "hello")
    refused = run(system, *words, uid=uid)
    system.packages.permissions.adopt(uid)
    refused_with_permission = run(system, *words, uid=uid)
    system.packages.permissions.give_back(uid)
    assert "requires android.permission.DUMP" in refused.stderr
    assert "java.lang.SecurityException: only adb may call" in refused_with_permission.stderr
