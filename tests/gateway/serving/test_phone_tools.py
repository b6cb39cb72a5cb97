"""The virtual phone's apps through a real MCP client, over each transport and in each revision."""

import base64
import json
import os
import queue
import random
import re
import secrets
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import anyio
import httpx2
import mcp_types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate.calls.approvals import refuse
from droidgate.calls.audit_log import AuditLog
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_files import read_files
from droidgate.calls.caller import Caller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import NamePattern
from droidgate.calls.traces import NO_TRACE, Trace, open_trace
from droidgate.devices.adb_client import AdbServer, ServerAddress
from droidgate.devices.device import Device
from droidgate.serving.phone_tools import MAX_CALLS, PhoneTools, ServedPhone
from droidgate.serving.search import SearchTools
from droidgate.serving.served_files import SharedFolders
from droidgate.serving.server_application import plan_tokens
from droidgate.shims.client import HostClient
from droidgate.shims.installing import install_archive
from droidgate.shims.place import place_of
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import start_phone
from gateway.calling.phones_with_shims import CLOCK_IN, NOTES, PDF_TOOL, WEATHER, ReachedPhone, reached_phone
from gateway.devices.conftest import unused_port
from gateway.serving.clients_of_tests import REVISIONS, Ask, client_options, http_client
from gateway.serving.running_servers import TOKEN, RunningServer, running_server
from gateway.serving.soak import FaultyAdb
from requirements_of_tests import node, require


@pytest.fixture(scope="module", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DROIDGATE_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone")) as reached:
        yield reached


def tools_of(
    phone: ReachedPhone,
    *,
    allow: str | None = "*",
    select: tuple[str, ...] = (),
    trace: Trace = NO_TRACE,
    **options: Any,
) -> PhoneTools:
    allowed = [] if allow is None else [NamePattern.parse(allow)]
    served = ServedPhone(None, lambda: phone.caller(approver=refuse))
    return PhoneTools([served], allow=allowed, select=select, poll_seconds=0.2, trace=trace, **options)


@asynccontextmanager
async def connected(tools: Any, revision: str, ask: Ask | None = None) -> AsyncIterator[Client]:
    with running_server(tools) as server:
        async with http_client(server, revision, ask) as client:
            yield client


def text_of(result: mcp_types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))


# Tool -> arguments, and what its result holds.
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "clockin_query_clock_in": ({"date": "2026-01-02"}, '"date":"2026-01-02"'),
    "notes_createNote": ({"title": "Milk", "content": "two litres"}, '"title":"Milk"'),
    "legacy_createNote": ({"title": "Milk", "content": "two litres"}, '"noteId"'),
    "pdftool_page_count": ({"path": "/sdcard/Download/nothing.pdf"}, "nothing.pdf"),
    "tally_read_total": ({"player": "Nobody"}, '{"player":"Nobody","total":0}'),
    "weather_currentWeather": ({"location": "Oslo"}, "Oslo"),
}


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_sample_app_answers_over_http(phone: ReachedPhone, revision: str) -> None:
    async def main() -> None:
        async with connected(tools_of(phone), revision) as client:
            listed = {tool.name: tool for tool in (await client.list_tools()).tools}
            packages = {name.partition("_")[0] for name in listed}
            assert packages == {name.partition("_")[0] for name in CALLS}
            for name, (arguments, expected) in CALLS.items():
                # The SDK's client checks structured content against the output schema.
                result = await client.call_tool(name, arguments)
                assert expected in text_of(result), (name, result)
                assert (result.structured_content is not None) == (listed[name].output_schema is not None)

    anyio.run(main)


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_every_sample_app_answers_over_standard_input_and_output(phone: ReachedPhone, revision: str) -> None:
    assert phone.phone.server_port is not None
    environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(phone.phone.server_port)}
    program = Path(sys.executable).with_name("droidgate")
    parameters = StdioServerParameters(command=str(program), args=["serve", "--allow", "*"], env=environment)

    async def main() -> None:
        async with Client(parameters, **client_options(revision)) as client:
            for name, (arguments, expected) in CALLS.items():
                assert expected in text_of(await client.call_tool(name, arguments)), name

    anyio.run(main)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_long_call_reports_what_it_waits_for_and_a_cancel_ends_it_on_the_phone(
    phone: ReachedPhone, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.calls.call_requests.EVERY_SECONDS", 0.05)
    shim = HostClient(phone.device, "dev.droidgate.shim.of.dev.droidgate.sample.clockin")
    shim.clear_history()
    reports: list[tuple[float, float | None, str | None]] = []

    def wait_for_cancel() -> None:
        while [past.token for past in shim.history()] != ["canceled"]:
            threading.Event().wait(0.05)

    async def main() -> None:
        async with connected(tools_of(phone), revision) as client:
            with anyio.CancelScope() as scope:

                async def take(progress: float, total: float | None, message: str | None) -> None:
                    reports.append((progress, total, message))
                    if message == "waiting for the app's answer":
                        scope.cancel()

                await client.call_tool(
                    "clockin_query_clock_in", {"date": "2026-01-02"}, progress_callback=take
                )
            assert scope.cancelled_caught
            await anyio.to_thread.run_sync(wait_for_cancel)

    phone.phone.system.faults = Faults(silent=frozenset({CLOCK_IN}))
    try:
        anyio.run(main)
    finally:
        phone.phone.system.faults = Faults()
    assert shim.status().open == 0
    moments = [progress for progress, _, _ in reports]
    assert moments == sorted(set(moments))
    assert {total for _, total, _ in reports} == {None}


def test_the_end_of_the_server_ends_a_call_in_one_line_and_records_it(
    phone: ReachedPhone,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path)
    monkeypatch.setattr("droidgate.serving.http._GRACE_SECONDS", 0.2)
    monkeypatch.setattr(phone.phone.system, "faults", Faults(silent=frozenset({NOTES})))

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            with running_server(tools_of(own)) as server:
                tasks.start_soon(call_until_the_end, server)
                await anyio.to_thread.run_sync(wait_for_start)

    def wait_for_start() -> None:
        while not list(read_calls(tmp_path / "audit")):
            threading.Event().wait(0.02)

    async def call_until_the_end(server: RunningServer) -> None:
        async with http_client(server, "2026-07-28") as client:
            with pytest.raises(MCPError):
                await client.call_tool("notes_createNote", {"title": "a"})

    anyio.run(main)
    [logged] = read_calls(tmp_path / "audit")
    assert logged.end is not None
    assert logged.end["result"] == "canceled"
    lines = [record.getMessage() for record in caplog.records]
    assert lines == ["requests canceled that did not end in 0.2 s: 1"]


def test_texts_of_apps_are_labelled_and_names_are_safe(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    assert tools.look() == {"tools", "resources"}
    assert tools.look() == set()
    for tool in tools.snapshot().tools:
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,63}", tool.name)
        for document in tool.documents.values():
            description = document["description"]
            assert isinstance(description, str)
            assert description.startswith(f"[Text of the app {tool.group}]")
            assert len(description) <= 1024
            assert "_meta" not in document
    own = tools.instructions
    assert "dev.droidgate.sample" not in own
    assert "\n" not in own
    opted_in = tools_of(phone, app_instructions=True)
    opted_in.look()
    same, marked = opted_in.instructions.split("\n\n", 1)
    assert same == own
    assert "untrusted text of the app dev.droidgate.sample.notes\n" in marked


def test_select_serves_the_chosen_apps_only(phone: ReachedPhone) -> None:
    tools = tools_of(phone, select=("*.notes", WEATHER))
    tools.look()
    assert {tool.group for tool in tools.snapshot().tools} == {NOTES, WEATHER}
    planned = plan_tokens(tools.snapshot().tools)
    assert {app.group for app in planned} == {NOTES, WEATHER}
    assert all(app.tokens > 20 * app.tools for app in planned)


def test_wrong_arguments_name_each_place_and_the_fix(phone: ReachedPhone) -> None:
    async def main() -> None:
        async with connected(tools_of(phone), "2026-07-28") as client:
            result = await client.call_tool("tally_add_points", {"player": 3.5, "pionts": 3})
            assert result.is_error
            assert text_of(result).splitlines()[:2] == [
                'invalid_argument: /pionts: not a parameter; did you mean "points"?',
                "/player: a text is declared and a number is given",
            ]
            hidden = text_of(await client.call_tool("tally_add_points", {"play\u200ber": "Ada"}))
            assert hidden.startswith(r"invalid_argument: /play\u200ber: not a parameter")
            with pytest.raises(MCPError, match="did you mean 'tally_add_points'"):
                await client.call_tool("tally_add_point", {})

    anyio.run(main)


def answer(choice: str | None, questions: list[str]) -> Ask:
    def ask(message: str) -> mcp_types.ElicitResult:
        questions.append(message)
        if choice is None:
            return mcp_types.ElicitResult(action="decline")
        return mcp_types.ElicitResult(action="accept", content={"approve": choice})

    return ask


ADD = ("tally_add_points", {"player": "Ada", "points": 1})


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_call_needs_the_approval_of_the_clients_user(
    tmp_path_factory: pytest.TempPathFactory,
    phone: ReachedPhone,
    revision: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path_factory.mktemp("pins"))

    async def call(ask: Ask | None) -> mcp_types.CallToolResult:
        async with connected(tools_of(own, allow=None), revision, ask) as client:
            return await client.call_tool(*ADD)

    questions: list[str] = []
    without = text_of(anyio.run(call, None))
    assert without == (
        "needs_approval: add_points is not approved, and this client cannot ask its user; "
        "only the user can approve it"
    )
    # People read the log, a model does not.
    approved = f"dev.droidgate.sample.tally/add_points --serial {phone.device.serial}"
    assert caplog.messages[-1].endswith(f"droidgate pins approve {approved} --client mcp:test-client")
    assert text_of(anyio.run(call, answer(None, questions))) == "denied: the user refused the call"
    assert not anyio.run(call, answer("once", questions)).is_error
    assert not anyio.run(call, answer("always", questions)).is_error
    assert len(questions) == 3
    assert ["cannot ask" in line for line in caplog.messages].count(True) == 1
    assert questions[0].startswith(
        "Test Client wants to call add_points\nof the app dev.droidgate.sample.tally on"
    )
    lines = '\n- player (3): "Ada"\n- points (1): 1\n'
    assert f"Arguments (2, each with its length):{lines}" in questions[0]
    # It is pinned now: nobody is asked.
    assert not anyio.run(call, None).is_error


@pytest.mark.parametrize("replacement", [{"other_signer": True}, {"other_text": True}], ids=str)
@pytest.mark.parametrize("revision", REVISIONS)
def test_a_yes_counts_only_for_the_app_that_the_client_showed(
    tmp_path: Path, phone: ReachedPhone, revision: str, replacement: dict[str, bool]
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path)
    title = secrets.token_hex(8)
    questions: list[str] = []

    def ask(message: str) -> mcp_types.ElicitResult:
        questions.append(message)
        if len(questions) > 1:
            return mcp_types.ElicitResult(action="decline")
        own.replace_legacy(**replacement)
        return mcp_types.ElicitResult(action="accept", content={"approve": "always"})

    async def main() -> mcp_types.CallToolResult:
        async with connected(tools_of(own, allow=None), revision, ask) as client:
            return await client.call_tool("legacy_createNote", {"title": title, "content": "b"})

    try:
        result = anyio.run(main)
    finally:
        own.restore_legacy()
    assert text_of(result).startswith("denied")
    assert len(questions) == 2
    assert questions[0] != questions[1]
    assert not [command for command in own.commands() if title in command]
    assert PinStore(tmp_path).list() == ()


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_argument_that_is_cut_hides_no_other_and_is_not_approved_for_always(
    tmp_path: Path, phone: ReachedPhone, revision: str
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path)
    questions: list[str] = []

    def ask(message: str) -> mcp_types.ElicitResult:
        questions.append(message)
        if len(questions) > 1:
            return mcp_types.ElicitResult(action="decline")
        # The form does not offer it.
        return mcp_types.ElicitResult(action="accept", content={"approve": "always"})

    async def main() -> mcp_types.CallToolResult:
        arguments = {"content": "x" * 5000, "priority": 5, "title": "to me"}
        async with connected(tools_of(own, allow=None), revision, ask) as client:
            return await client.call_tool("legacy_createNote", arguments)

    assert text_of(anyio.run(main)).startswith("denied")
    for line in ('- title (5): "to me"', '- content (5,000): "xxx', "- priority (1): 5"):
        assert f"\n{line}" in questions[0]
    assert PinStore(tmp_path).list() == ()


@pytest.mark.slow
def test_a_user_who_does_not_answer_delays_nobody_else_and_not_for_ever(
    tmp_path: Path, phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path)
    monkeypatch.setattr("droidgate.serving.questions.ANSWER_SECONDS", 5.0)
    results: list[mcp_types.CallToolResult] = []

    async def main() -> None:
        unanswered = client_options("2025-11-25", name="Silent")
        questions: list[str] = []

        async def wait(_context: Any, parameters: Any) -> Any:
            questions.append(parameters.message)
            await anyio.sleep_forever()

        async def call(client: Client) -> None:
            results.append(await client.call_tool(*ADD))

        unanswered["elicitation_callback"] = wait
        with running_server(tools_of(own, allow=None)) as server:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                transport = streamable_http_client(server.url, http_client=http)
                async with Client(transport, **unanswered) as silent, anyio.create_task_group() as calls:
                    for _ in range(MAX_CALLS):
                        calls.start_soon(call, silent)
                    with anyio.fail_after(60):
                        while len(questions) < MAX_CALLS:  # noqa: ASYNC110 - asked by another task
                            await anyio.sleep(0.02)
                        async with http_client(
                            server, "2025-11-25", answer("once", []), name="Other"
                        ) as other:
                            assert not (await other.call_tool(*ADD)).is_error
                    assert results == []

    anyio.run(main)
    assert len(results) == MAX_CALLS
    assert all(
        "needs_approval: add_points is not approved, and the user did not answer" in text_of(result)
        for result in results
    )


def test_a_tool_that_is_longer_than_clients_take_leaves_the_others_their_list(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_PAGE", 2_000)
    tools = tools_of(phone)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert "tally_add_points" in names
    assert "notes_createNote" not in names
    apk = next(sample.apk for sample in sample_packages() if sample.package == WEATHER)
    phone.device.check(["pm", "uninstall", WEATHER])
    assert "tools" in tools.look()
    install_archive(place_of(phone.device), apk, "weather.apk")
    # It is said once, however often the list changes.
    left_out = "NotesService#createNote of dev.droidgate.sample.notes is left out: "
    assert [left_out in line for line in caplog.messages].count(True) == 1


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_client_sends_a_file_and_gets_the_images_that_the_app_wrote(
    phone: ReachedPhone, tmp_path: Path, revision: str
) -> None:
    (tmp_path / "report.pdf").write_bytes(pdf_with("first", "second"))
    served = ServedPhone(None, lambda: phone.caller(approver=refuse))
    tools = PhoneTools([served], allow=[NamePattern.parse("*")], shared=SharedFolders.of([tmp_path]))

    async def main() -> None:
        async with connected(tools, revision) as client:
            arguments = {"path": "droidgate://files/report.pdf", "format": "png"}
            called = await client.call_tool("pdftool_render_pages", arguments)
            assert not called.is_error, called
            images = [block for block in called.content if isinstance(block, mcp_types.ImageContent)]
            assert [image.mime_type for image in images] == ["image/png"] * 2
            assert all(base64.b64decode(image.data).startswith(b"\x89PNG") for image in images)
            absent = {"path": "droidgate://files/absent.pdf", "format": "png"}
            refused = await client.call_tool("pdftool_render_pages", absent)
            assert text_of(refused).startswith("invalid_argument: /path: no shared file")
            assert "report.pdf" in text_of(refused)

    anyio.run(main)


def test_only_files_in_the_apps_own_folders_are_read(phone: ReachedPhone) -> None:
    caller = phone.caller()
    target = caller.targets.find("page_count")
    own, others = f"/sdcard/Android/data/{PDF_TOOL}/files/own.txt", "/sdcard/Download/private.txt"
    phone.device.check(["mkdir", "-p", str(PurePosixPath(own).parent)])
    for path in (own, others):
        phone.device.push(b"content", path)
    named: list[Json] = [
        own,
        others,
        f"/sdcard/Android/data/{NOTES}/files/x",
        f"{own}.absent",
        f"/storage/emulated/10/Android/data/{PDF_TOOL}/files/own.txt",
        f"/sdcard/Android/data/{PDF_TOOL}/../{NOTES}/x",
    ]
    reading = read_files({"files": named}, target, phone.device)
    assert [(file.path, file.data) for file in reading.files] == [(own, b"content")]
    assert [problem.partition(" ")[0] for problem in reading.problems] == named[1:5]


def test_a_policy_that_denies_is_stronger_than_allow(
    phone: ReachedPhone, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "policy.toml").write_text(f'[[rule]]\ndecision = "deny"\npackage = "{CLOCK_IN}"\n')
    served = ServedPhone(None, lambda: phone.caller(approver=refuse, policy=Policy.load(tmp_path)))
    tools = PhoneTools([served], allow=[NamePattern.parse("*")])

    async def main() -> None:
        async with connected(tools, "2025-11-25") as client:
            result = await client.call_tool("clockin_clock_in_today", {})
            assert text_of(result) == "denied: a rule of the policy denies it"

    anyio.run(main)
    assert caplog.messages[-1].endswith(f"; hint: see rule 1 of {tmp_path / 'policy.toml'}")


_GRANTING = re.compile(r"droidgate (?!is |and )[a-z-]+|--(yes|allow|signed-by|files)|\.(toml|json)\b|/tmp/")


@pytest.mark.parametrize(
    ("call", "ask", "pins", "denied", "token"),
    [
        (ADD, None, None, None, "needs_approval"),
        (ADD, answer(None, []), None, None, "denied"),
        (ADD, None, "{", None, "backend_failure"),
        (ADD, None, None, "tally", "denied"),
        (("pdftool_page_count", {"path": "droidgate://files/a.pdf"}), None, None, None, "invalid_argument"),
        (("notes_createNote", {"title": 1}), None, None, None, "invalid_argument"),
    ],
)
@pytest.mark.parametrize("search", [False, True])
def test_nothing_that_a_model_reads_names_a_command_that_grants(
    phone: ReachedPhone,
    tmp_path: Path,
    call: tuple[str, dict[str, Any]],
    ask: Ask | None,
    pins: str | None,
    denied: str | None,
    token: str,
    search: bool,  # noqa: FBT001
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path)
    if pins is not None:
        (tmp_path / "pins.json").write_text(pins)
        (tmp_path / "pins.json").chmod(0o600)
    if denied is not None:
        rule = f'[[rule]]\ndecision = "deny"\npackage = "*.{denied}"\n'
        (tmp_path / "policy.toml").write_text(rule)
    served = ServedPhone(None, lambda: own.caller(approver=refuse, policy=Policy.load(tmp_path)))
    tools = SearchTools(PhoneTools([served]), always=search)

    async def main() -> None:
        async with connected(tools, "2026-07-28", ask) as client:
            name, arguments = call
            result = await client.call_tool(
                *(("call_tool", {"name": name, "arguments": arguments}) if search else call)
            )
            assert result.is_error
            assert text_of(result).startswith(token)
            read = [text_of(result), client.instructions or ""]
            for resource in (await client.list_resources()).resources:
                contents = (await client.read_resource(resource.uri)).contents
                read += [content.text for content in contents]  # type: ignore[union-attr]
            assert [found for text in read for found in _GRANTING.finditer(text)] == []

    anyio.run(main)


def test_a_rule_that_matches_nothing_is_warned_of_once(
    phone: ReachedPhone, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rules = "".join(
        f'[[rule]]\ndecision = "deny"\ncapability = "{name}"\n' for name in ("creatNote", "createNote", "tap")
    )
    (tmp_path / "policy.toml").write_text(rules)
    policy = Policy.load(tmp_path)
    tools = PhoneTools([ServedPhone(None, lambda: phone.caller(policy=policy))])
    for _ in range(2):
        tools.look()
    warnings = [record.getMessage() for record in caplog.records if "matches no" in record.getMessage()]
    assert warnings == [
        f'rule 1 (decision = "deny") of {policy.place} matches no capability that is installed'
    ]


def test_each_client_has_audit_entries_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, phone: ReachedPhone
) -> None:
    own = ReachedPhone(phone.phone, phone.device, tmp_path_factory.mktemp("audit"))

    async def main() -> None:
        async with connected(tools_of(own), "2025-11-25") as client:
            await client.call_tool("tally_read_total", {"player": "Ada"})

    anyio.run(main)
    log = "".join(path.read_text() for path in (own.folder / "audit").glob("*.jsonl"))
    assert '"mcp:test-client"' in log
    assert "Ada" not in log


def test_the_trace_of_a_server_keeps_calls_that_run_at_once_apart(
    phone: ReachedPhone, tmp_path: Path
) -> None:
    path = tmp_path / "calls.jsonl"

    async def main(trace: Trace) -> None:
        tools = tools_of(phone, trace=trace)
        async with connected(tools, "2026-07-28") as client, anyio.create_task_group() as tasks:
            for player in ("Ada", "Bob"):
                tasks.start_soon(client.call_tool, "tally_read_total", {"player": player})

    with open_trace(path) as trace:
        anyio.run(main, trace)
    events: dict[int, list[dict[str, Any]]] = {}
    for line in map(json.loads, path.read_text().splitlines()):
        events.setdefault(line["call"], []).append(line["event"])
    assert sorted(events) == [1, 2]
    assert {steps[0]["arguments"]["player"] for steps in events.values()} == {"Ada", "Bob"}
    for request, *_, result in events.values():
        player = request["arguments"]["player"]
        [delivery] = [event for event in events[1] + events[2] if player in str(event.get("request"))]
        assert delivery["kind"] == "delivery"
        assert result["kind"] == "result"


def test_an_installed_app_is_announced_and_a_removed_one_leaves(phone: ReachedPhone) -> None:
    tools = tools_of(phone)

    apk = next(sample.apk for sample in sample_packages() if sample.package == WEATHER)

    async def main() -> None:
        send, changes = anyio.create_memory_object_stream[str](100)
        async with send, changes, tools.run(send.send_nowait):
            before = {tool.name for tool in tools.snapshot().tools}
            assert "weather_forecast" in before
            with anyio.fail_after(60):
                await anyio.to_thread.run_sync(phone.device.check, ["pm", "uninstall", WEATHER])
                assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
                assert "weather_forecast" not in {tool.name for tool in tools.snapshot().tools}
                place = place_of(phone.device)
                await anyio.to_thread.run_sync(install_archive, place, apk, "weather.apk")
                assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
            assert {tool.name for tool in tools.snapshot().tools} == before

    anyio.run(main)


def test_a_look_that_finds_no_change_is_one_command_with_a_short_answer(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    for _ in range(2):
        tools.look()
    before = len(phone.commands())
    assert tools.look() == set()
    (command,) = phone.commands()[before:]
    assert command.endswith("| md5sum'")


def test_a_phone_is_asked_ever_more_rarely_while_no_client_asks_and_at_once_when_one_does(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if hours had passed since a client asked for anything.
    monkeypatch.setattr("droidgate.serving.phone_tools._IDLE_SHARE", 1e-6)
    tools = PhoneTools([ServedPhone(None, lambda: phone.caller(approver=refuse))], poll_seconds=0.01)
    look = tools.look
    looks = queue.SimpleQueue[str]()

    def count() -> object:
        looks.put("look")
        return look()

    async def main() -> None:
        monkeypatch.setattr(tools, "look", count)
        async with tools.run(lambda _change: None):
            await anyio.sleep(0.5)
            assert looks.qsize() == 1
            looks.get()
            tools.snapshot()
            await anyio.to_thread.run_sync(looks.get, True, 60)

    anyio.run(main)


def test_a_phone_that_is_not_there_yet_is_waited_for(phone: ReachedPhone) -> None:
    present = threading.Event()

    def connect() -> Caller:
        if not present.is_set():
            raise DeviceError("no device")
        return phone.caller()

    tools = PhoneTools([ServedPhone("later", connect)], poll_seconds=0.1)

    async def main() -> None:
        changed = anyio.Event()
        async with tools.run(lambda _change: changed.set()):
            assert tools.snapshot().tools == ()
            present.set()
            with anyio.fail_after(60):
                await changed.wait()
            assert tools.snapshot().tools

    anyio.run(main)


def test_a_phone_may_go_away_and_return(tmp_path: Path) -> None:
    port, server_port = unused_port(), unused_port()
    device = Device(AdbServer(ServerAddress(port=server_port)), f"127.0.0.1:{port}")
    audit = AuditLog(tmp_path / "audit", tmp_path)

    def connect() -> Caller:
        return Caller(device, policy=Policy(), pins=PinStore(tmp_path), audit=audit)

    tools = PhoneTools([ServedPhone(None, connect)], allow=[NamePattern.parse("*")], poll_seconds=0.1)
    call = ("legacy_createNote", {"title": "Milk", "content": "two litres"})

    async def main() -> None:
        with start_phone(port=port, server_port=server_port):
            tools.look()
        async with connected(tools, "2026-07-28") as client:
            gone = await client.call_tool(*call)
            assert gone.is_error
            assert text_of(gone).startswith("unavailable: tcp:127.0.0.1:")
            assert len((await client.list_tools()).tools) == len(tools.snapshot().tools) > 0
            with start_phone(port=port, server_port=server_port):
                returned = await client.call_tool(*call)
                assert not returned.is_error, returned

    anyio.run(main)


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_phone_that_goes_away_during_a_call_leaves_it_interrupted(
    phone: ReachedPhone, tmp_path: Path, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.serving.soak.FAULTS", ("dropped",))
    monkeypatch.setattr("gateway.serving.soak.FAULT_RATE", 1.0)
    assert phone.phone.server_port is not None
    faulty = FaultyAdb(phone.phone.server_port, phone.device.serial, random.Random(18), Counter())

    async def main(port: int) -> None:
        device = Device(AdbServer(ServerAddress(port=port)), phone.device.serial)
        own = ReachedPhone(phone.phone, device, tmp_path)
        # As rarely as usual: a look at the phone may go on when the proxy has ended.
        tools = PhoneTools([ServedPhone(None, own.caller)], allow=[NamePattern.parse("*")], poll_seconds=60)
        async with connected(tools, revision) as client:
            result = text_of(await client.call_tool("notes_createNote", {"title": "Milk"}))
            assert result.startswith("interrupted: the app may have finished the call: ")

    with faulty.running() as port:
        anyio.run(main, port)
    [logged] = read_calls(tmp_path / "audit")
    assert logged.end is not None
    assert logged.end["result"] == "interrupted"


def test_tools_of_several_phones_have_the_phone_in_their_names(phone: ReachedPhone) -> None:
    served = [ServedPhone(serial, phone.caller) for serial in ("first", "second")]
    tools = PhoneTools(served)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert {"first_tally_read_total", "second_tally_read_total"} <= names
    assert {tool.group.partition("/")[0] for tool in tools.snapshot().tools} == {"first", "second"}


def test_search_mode_finds_describes_and_calls(phone: ReachedPhone) -> None:
    async def main() -> None:
        async with connected(SearchTools(tools_of(phone)), "2025-11-25") as client:
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == ["find_tools", "describe_tool", "call_tool"]
            found = json.loads(text_of(await client.call_tool("find_tools", {"query": "points of a player"})))
            assert found[0]["name"].startswith("tally_")
            described = await client.call_tool("describe_tool", {"name": "tally_read_total"})
            assert json.loads(text_of(described))["inputSchema"]["required"] == ["player"]
            arguments = {"name": "tally_read_total", "arguments": {"player": "Nobody"}}
            called = await client.call_tool("call_tool", arguments)
            assert text_of(called) == '{"player":"Nobody","total":0}'
            refused: list[tuple[str, dict[str, Any]]] = [
                ("find_tools", {}),
                ("find_tools", {"query": "x", "limit": 21}),
                ("call_tool", {"name": "nothing"}),
                ("describe_tool", {"name": "nothing"}),
            ]
            for name, wrong in refused:
                result = await client.call_tool(name, wrong)
                assert text_of(result).startswith("invalid_argument"), (name, result)

    anyio.run(main)


def test_resources_hold_declarations_losses_and_instructions(phone: ReachedPhone) -> None:
    async def main() -> None:
        async with connected(tools_of(phone), "2026-07-28") as client:
            resources = (await client.list_resources()).resources
            declarations = [resource for resource in resources if resource.name.endswith(" declaration")]
            assert len(declarations) >= len(CALLS)
            for resource in resources:
                (content,) = (await client.read_resource(resource.uri)).contents
                assert isinstance(content, mcp_types.TextResourceContents)
                if content.mime_type == "application/json":
                    json.loads(content.text)
                else:
                    assert content.text.startswith("[Text of the app dev.droidgate.sample.")

    anyio.run(main)


def test_a_long_declaration_comes_in_parts(phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tools_of(phone, select=(NOTES,))
    tools.look()
    (whole,) = [item.uri for item in tools.snapshot().resources if item.uri.endswith("/declaration")]
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_PART", 10_000)
    parted = tools_of(phone, select=(NOTES,))
    parted.look()
    parts = [item.uri for item in parted.snapshot().resources if item.uri.startswith(whole)]

    async def read(of: PhoneTools, uri: str) -> str:
        return str((await of.read_resource(uri)).content)

    text = anyio.run(read, tools, whole)
    assert parts == [f"{whole}/{number}" for number in range(1, len(text) // 10_000 + 2)]
    assert "".join(anyio.run(read, parted, uri) for uri in parts) == text


def inspect(*arguments: str) -> dict[str, Any]:
    command = [str(node()), str(require("mcp-inspector")), "--cli", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return dict(json.loads(run.stdout))


@pytest.mark.slow
def test_the_mcp_inspector_lists_and_calls_over_http(phone: ReachedPhone) -> None:
    with running_server(tools_of(phone)) as server:
        reach = [server.url, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"]
        listed = inspect(*reach, "--method", "tools/list", "--strict")
        assert {tool["name"] for tool in listed["tools"]} >= CALLS.keys()
        call = ["--method", "tools/call", "--tool-name", "tally_read_total", "--tool-arg", "player=Nobody"]
        called = inspect(*reach, *call)
        assert called["structuredContent"] == {"player": "Nobody", "total": 0}


@pytest.mark.slow
def test_the_mcp_inspector_starts_and_calls_droidgate_serve(phone: ReachedPhone) -> None:
    program = str(Path(sys.executable).with_name("droidgate"))
    port = phone.phone.server_port
    environment = [
        "-e",
        f"ANDROID_ADB_SERVER_PORT={port}",
        "-e",
        f"DROIDGATE_HOME={os.environ['DROIDGATE_HOME']}",
    ]
    call = ["--method", "tools/call", "--tool-name", "weather_currentWeather", "--tool-arg", "location=Oslo"]
    called = inspect(*environment, program, "serve", "--allow", "*weather/*", *call)
    assert "Oslo" in called["content"][0]["text"]
