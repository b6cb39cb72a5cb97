"""`droidgate prove` on virtual phones: each step passes, or does not count for a rule of the release, and it
fails when its rule is turned.
"""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import droidgate_phone.phone
from droidgate.agents.agent_client import AGENTS
from droidgate.proofs import proof_bench, proof_steps
from droidgate.proofs.phone_changes import only_proof
from droidgate.proofs.proof_bench import CALLS, Asker
from droidgate.proofs.proof_runs import ProvedPhone, chosen_steps, prove
from droidgate.proofs.proof_steps import STATE_STEP, STEPS
from droidgate.shims.device_user import device_user_of
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.apps.shim import openers
from droidgate_phone.commands import dumpsys_commands
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_phone.system.installation import InstallError
from droidgate_phone.system.releases import ReleaseProfile
from gateway.cli.program_runs import Runner
from gateway.mobile_agent.made_phone import device_on
from titled_rows import titled

SHIM = "dev.droidgate.shim"
DOCUMENT = Path(__file__).parents[3] / "docs" / "guides" / "prove-on-a-phone.md"
APP_FUNCTIONS = "app functions: Android 16 (API 36) is the first"
NO_WINDOWS = "windows from the background open before: Android 10 (API 29) is the first"


@pytest.fixture(autouse=True)
def _quick() -> Iterator[None]:
    """Wait for a shorter time than a phone that is busy with its own needs."""
    with (
        patch.object(proof_bench, "GRACE_SECONDS", 0),
        patch.object(proof_bench, "SECONDS", 6.0),
        patch.object(proof_bench, "_BEFORE_TAP", 0.55),
        patch.object(openers, "WATCH_MS", 500),
        patch.object(proof_steps, "_REFUSED_WINDOW_MS", 300),
    ):
        yield


@contextmanager
def phone_of(sdk: str, **more: Any) -> Iterator[VirtualPhone]:
    with (
        start_phone(sdk=sdk, server_port=0, adb_keys=(), **more) as phone,
        patch.dict(os.environ, {"ANDROID_ADB_SERVER_PORT": str(phone.server_port)}),
    ):
        yield phone


def proof_of(
    phone: VirtualPhone,
    *patterns: str,
    ask: Asker = lambda _what, _question: "yes",
    report: Callable[[str], None] = lambda _: None,
    **apks: bytes,
) -> ProvedPhone:
    apks_by_package = {package.replace("_", "."): apk for package, apk in apks.items()}
    return prove(device_user_of(device_on(phone)), chosen_steps(patterns), apks_by_package, ask, report)


def verdicts(proof: ProvedPhone, verdict: str) -> dict[str, str]:
    return {step.id: step.reason for step in proof.steps if step.verdict == verdict}


BY_SHELL = {f"call/app-functions/{backend}" for backend in CALLS}
OF_FUNCTIONS = {f"call/{frontend}/app-function" for frontend in ("host", *proof_bench.FRONTENDS)} | {
    "call/app-functions/app-function",
    "stopped/app-function",
}
BEFORE_36 = dict.fromkeys(BY_SHELL | OF_FUNCTIONS | {"shell/app-functions"}, APP_FUNCTIONS) | {
    "doctor/accessibility": "nothing is lent before: Android 16 (API 36) is the first"
}
BEFORE_34 = {"consent/always": "Always: Android 14 (API 34) is the first"}
BEFORE_33 = {"doctor/notifications": "Android 13 (API 33) is the first that asks for it"}
BEFORE_29 = {
    "doctor/activity-start-route": "Android 10 (API 29) is the first that asks for it",
    "consent/notification": NO_WINDOWS,
    "window/refused": NO_WINDOWS,
}
NO_SERVICES = {"doctor/accessibility": "no accessibility service is switched on"}
NO_SHELL = dict.fromkeys(BY_SHELL | {"shell/app-functions"}, "No shell command implementation.")
NO_LIST = dict.fromkeys(
    OF_FUNCTIONS,
    "this build lets adb put no app on Android's list of agents: cmd: Can't find service: allowlist",
)


@pytest.mark.slow
@titled(("sdk", "left_out"), {
    "26": ("26", BEFORE_36 | BEFORE_34 | BEFORE_33 | BEFORE_29),
    "30": ("30", BEFORE_36 | BEFORE_34 | BEFORE_33),
    "33": ("33", BEFORE_36 | BEFORE_34),
    "34": ("34", BEFORE_36),
    "36, whose shell calls no functions": ("36", NO_SERVICES | NO_SHELL),
    "36.1": ("36.1", NO_SERVICES),
    "37, without the service that lists agents": ("37", NO_SERVICES | NO_LIST),
})  # fmt: skip
def test_each_step_passes_or_does_not_count_for_a_rule_of_the_release(
    sdk: str, left_out: dict[str, str]
) -> None:
    with phone_of(sdk) as phone:
        proof = proof_of(phone)
    assert (verdicts(proof, "failed"), proof.lost) == ({}, None)
    assert verdicts(proof, "not-applicable") == left_out
    assert len(proof.steps) == len(STEPS) + 1


Fault = Callable[[VirtualPhone], AbstractContextManager[Any]]


def faulty(**faults: Any) -> Fault:
    return lambda phone: patch.object(phone.system, "faults", Faults(**faults))


def of_release(rule: str) -> Fault:
    has = ReleaseProfile.has

    def has_all_but_one(release: ReleaseProfile, name: Any, target: int | None = None) -> bool:
        return name != rule and has(release, name, target)

    return lambda _: patch.object(ReleaseProfile, "has", has_all_but_one)


def disabled(package: str) -> Fault:
    return lambda phone: patch.object(phone.system.packages.find(package), "enabled", "disabled-user")


def not_installed(phone: VirtualPhone) -> AbstractContextManager[Any]:
    refusal = InstallError("INSTALL_FAILED_USER_RESTRICTED", "Install canceled by user")
    return patch.object(type(phone.system.packages), "commit_session", side_effect=refusal)


@contextmanager
def open_to_everybody(phone: VirtualPhone) -> Iterator[None]:
    client = device_user_of(device_on(phone)).client(SHIM)
    client.grant("any-app")
    yield
    client.revoke("any-app")


def no_overlay(phone: VirtualPhone) -> AbstractContextManager[Any]:
    return patch.object(phone.system.app_ops, "mode", lambda *_: "deny")


def no_notifications(phone: VirtualPhone) -> AbstractContextManager[Any]:
    return patch.object(phone.system.notifications, "may_post", lambda _: False)


@contextmanager
def suspended_services(phone: VirtualPhone) -> Iterator[None]:
    phone.system.settings.put("secure", "enabled_accessibility_services", "com.example/.Reader")

    def dump(call: Any, _: tuple[str, ...]) -> int:
        call.write("     Bound services:{}\n")
        return 0

    with patch.dict(dumpsys_commands._SERVICES, {"accessibility": dump}):
        yield
    phone.system.settings.delete("secure", "enabled_accessibility_services")


@contextmanager
def old_release(phone: VirtualPhone) -> Iterator[None]:
    values = {**phone.system.properties.all(), "ro.build.version.sdk": "23"}
    with patch.object(phone.system.properties, "_values", values):
        yield


SHELL_IS_DEAF = lambda _: patch.object(droidgate_phone.phone, "run_shell", lambda *_, **__: 0)  # noqa: E731
FAULTS: dict[str, Fault] = {
    "shell/facts": SHELL_IS_DEAF,
    "doctor/os-level": old_release,
    "doctor/screen-lock": lambda phone: patch.object(phone.system, "is_locked", new=True),
    "doctor/handshake": disabled(SHIM),
    "doctor/visibility": disabled(SHIM),
    "doctor/targets": disabled(CALLS["mmcp-broadcast"].package),
    "doctor/battery-exemption": lambda phone: patch.object(phone.system.uid_states, "idle_whitelist", set()),
    "doctor/notifications": no_notifications,
    "doctor/activity-start-route": no_overlay,
    "doctor/accessibility": suspended_services,
    "shell/app-functions": lambda phone: patch.object(
        phone.system, "release", replace(phone.system.release, function_shell=0)
    ),
    "host/version": disabled(SHIM),
    **dict.fromkeys(
        (f"discovery/{name}" for name in ("mobile-mcp", "mmcp", "mmcp-broadcast")), disabled(SHIM)
    ),
    **{
        step.id: faulty(crashing=frozenset({CALLS[step.backend].package}))
        for step in STEPS
        if step.backend and step.id.partition("/")[0] in ("call", "stopped")
    },
    "call/large": faulty(crashing=frozenset({CALLS["mmcp-broadcast"].package})),
    "grant/named-agent": open_to_everybody,
    "grant/revoked": open_to_everybody,
    "consent/once": open_to_everybody,
    "consent/always": open_to_everybody,
    "consent/notification": no_notifications,
    "process/dies": open_to_everybody,
    "consent/back": open_to_everybody,
    "consent/deny": open_to_everybody,
    "consent/denied-again": open_to_everybody,
    "window/on-top": no_overlay,
    "window/refused": of_release("background-activities"),
    "service/background": of_release("background-services"),
    "service/exempt": lambda phone: patch.object(
        phone.system.uid_states, "is_background_limited", lambda *_: True
    ),
    "state/as-before": lambda phone: patch.object(
        phone.system.uid_states, "idle_whitelist", {"dev.droidgate.sample.tally"}
    ),
}
"""Step to the fault that turns its rule; those that need a hand are answered with no."""


@pytest.mark.slow
def test_each_step_fails_when_its_rule_is_turned() -> None:
    with phone_of("36.1") as phone, ExitStack() as faults:

        def turn(line: str) -> None:
            faults.close()
            step = "state/as-before" if line.startswith("put the phone back") else line.partition(" ")[0]
            if step in FAULTS:
                faults.enter_context(FAULTS[step](phone))

        with patch.object(proof_bench, "SECONDS", 1.0), patch.object(proof_steps, "SECONDS", 2.0):
            proof = proof_of(phone, ask=lambda _what, _question: "no", report=turn)
    assert proof.lost is None
    passed = {step.id for step in proof.steps if step.verdict != "failed"}
    assert passed == {"install/samples", "install/agents", "install/shim"}


def test_an_app_that_is_not_installed_fails_its_step_and_those_that_need_it() -> None:
    weather = sample_package("weather").apk
    with phone_of("36.1") as phone:
        device_on(phone).check(["pm", "uninstall", CALLS["mmcp-broadcast"].package])
        with not_installed(phone):
            proof = proof_of(phone, "stopped/mmcp-*", "discovery/mmcp", dev_droidgate_sample_weather=weather)
    failed = verdicts(proof, "failed")
    assert failed.keys() == {
        *("install/samples", "install/agents", "install/shim"),
        *("discovery/mmcp", "stopped/mmcp-activity", "stopped/mmcp-broadcast"),
    }
    assert "INSTALL_FAILED_USER_RESTRICTED" in failed["install/agents"]


@pytest.mark.slow
def test_apps_of_a_folder_are_installed_and_removed(tmp_path: Path, droidgate: Runner) -> None:
    (tmp_path / "weather.apk").write_bytes(sample_package("weather").apk)
    with phone_of("30", apps=False, packages=1) as phone:
        words = ("prove", "--apps", tmp_path, "--steps", "call/host/*", "-o", tmp_path / "out")
        document = droidgate(*words, "--json").document("prove")
        assert phone.system.packages.find("dev.droidgate.sample.weather") is None
    verdicts = {step["id"]: step["verdict"] for step in document["phones"][0]["steps"]}
    assert verdicts["call/host/mmcp-broadcast"] == verdicts["state/as-before"] == "passed"
    assert verdicts["call/host/mobile-mcp"] == "needs-a-hand"


@pytest.mark.slow
def test_a_phone_that_goes_away_is_put_back_at_the_next_start() -> None:
    def pull(line: str) -> None:
        if line.startswith("grant/named-agent"):
            phone.system.faults = Faults(drop_after=1)

    with phone_of("33") as phone:
        before = {item.name for item in phone.system.packages.all()}
        proof = proof_of(phone, "grant/*", report=pull)
        assert proof.lost == "grant/named-agent"
        assert proof.left == tuple(f"adb uninstall {package}" for package in (*AGENTS, SHIM))
        phone.system.faults = Faults()
        reports: list[str] = []
        again = proof_of(phone, "shell/facts", report=reports.append)
        assert reports[0] == "restoring what an earlier proof changed ..."
        assert verdicts(again, "failed") == {}
        assert {item.name for item in phone.system.packages.all()} == before


def proved(level: str, *steps: tuple[str, str]) -> dict[str, Any]:
    """Return a proof as a file holds it, typed by hand."""
    same = {"title": "a call", "frontend": "bound", "backend": "mobile-mcp", "reason": "a | pipe"}
    written = [{"id": name, "verdict": verdict, "seconds": 0.5, **same} for name, verdict in steps]
    facts = {"api_level": level, "release": "x", "manufacturer": "Maker", "model": "M", "fingerprint": "f"}
    return {**facts, "lost": None, "left": [], "steps": written}


def test_proofs_are_merged_by_level_and_the_worst_of_a_level_counts(
    tmp_path: Path, droidgate: Runner
) -> None:
    phones = [
        proved("36.1", ("call/x", "passed")),
        proved("26", ("call/x", "not-applicable")),
        proved("36.1", ("call/x", "failed"), ("call/y", "needs-a-hand")),
    ]
    paths = [tmp_path / f"{number}.json" for number in range(len(phones))]
    for path, phone in zip(paths, phones, strict=True):
        path.write_text(json.dumps({"schema": "droidgate.proof/1", "droidgate": "1", "phones": [phone]}))
    ran = droidgate("prove", "--merge", *paths, "-o", tmp_path / "out", "--json")
    assert ran.code == 1
    assert [item["api_level"] for item in ran.document("prove")["phones"]] == ["26", "36.1", "36.1"]
    assert (tmp_path / "out" / "proof.md").read_text().splitlines()[:4] == [
        "| step | frontend | backend | Android 8.0 (API 26) | Android 16 QPR2 (API 36.1) |",
        "| --- | --- | --- | --- | --- |",
        "| call/x | bound | mobile-mcp | n/a | **failed** |",
        "| call/y | bound | mobile-mcp |  | by hand |",
    ]
    assert droidgate("prove", "--merge", tmp_path / "out/proof.json", "-o", tmp_path / "out").code == 3


@titled(("words", "code", "text"), {
    "a pattern without a step": (("--steps", "nothing/*"), 2, "no step 'nothing/*'"),
    "proofs without --merge": (("a.json",), 2, "proofs are named without --merge"),
    "nothing to merge": (("--merge",), 2, "--merge has nothing to merge"),
    "a proof that is not there": (("--merge", "absent.json"), 3, "absent.json"),
    "a file that is not a proof": (("--merge", DOCUMENT), 3, "not a proof"),
    "a folder without sample apps": (("--apps", DOCUMENT.parent), 3, "no APK of a sample app"),
})  # fmt: skip
def test_bad_input_is_one_error(
    words: tuple[str | Path, ...], code: int, text: str, tmp_path: Path, droidgate: Runner
) -> None:
    ran = droidgate("prove", *words, "-o", tmp_path / "out")
    assert (ran.code, text in ran.err) == (code, True), ran.err


@titled(("document", "text"), {
    "another schema": ({"schema": "droidgate.lint/1"}, "schema"),
    "no schema": ({"schema": None}, "it names no schema"),
    "no phone": ({"phones": []}, "phones"),
    "a level that is a table": ({"phones": [proved("36 | x\n| y |")]}, "phones/0/api_level"),
    "a level of 5,000 digits": ({"phones": [proved("9" * 5000)]}, "phones/0/api_level"),
})  # fmt: skip
def test_a_file_that_is_not_a_proof_is_one_error(
    document: dict[str, Any], text: str, tmp_path: Path, droidgate: Runner
) -> None:
    right = {"schema": "droidgate.proof/1", "phones": [proved("36")]}
    changed = {name: value for name, value in {**right, **document}.items() if value is not None}
    (tmp_path / "proof.json").write_text(json.dumps(changed))
    ran = droidgate("prove", "--merge", tmp_path / "proof.json", "-o", tmp_path / "out")
    assert (ran.code, f"not a proof: {text}" in ran.err) == (3, True), ran.err


def test_texts_of_a_phone_stay_in_their_cells(tmp_path: Path, droidgate: Runner) -> None:
    hostile = "x |\n| y | **z** \x1b[31m \u202e <b>"
    document = {"schema": "droidgate.proof/1", "phones": [proved("36", (hostile, "passed"))]}
    (tmp_path / "proof.json").write_text(json.dumps(document))
    droidgate("prove", "--merge", tmp_path / "proof.json", "-o", tmp_path / "out")
    row = (tmp_path / "out" / "proof.md").read_text().splitlines()[2]
    assert row.count("|") == 5
    assert not set(row) & set("\x1b\u202e<*[")


def test_a_phone_has_one_proof_at_a_time() -> None:
    with phone_of("30", apps=False, packages=1) as phone:
        device_user = device_user_of(device_on(phone))
        message = "another proof of this phone is running"
        with only_proof(device_user), pytest.raises(UsageError, match=message):
            proof_of(phone, "shell/facts")


def test_a_phone_that_has_an_agent_is_refused(droidgate: Runner, tmp_path: Path) -> None:
    with phone_of("30", apps=False, packages=1) as phone:
        droidgate("agent", "install")
        ran = droidgate("prove", "-o", tmp_path / "out")
        assert phone.system.packages.find(AGENTS[0])
    assert (ran.code, "which the proof would replace" in ran.err) == (2, True)


def test_the_guide_names_every_step() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for step in STEPS:
        assert f"`{step.id}`" in text or f"`{step.id.partition('/')[0]}/*`" in text, step.id
    assert STATE_STEP[0] in text
