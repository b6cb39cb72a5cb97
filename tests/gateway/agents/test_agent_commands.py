"""`droidgate agent` and `droidgate verify` on the virtual phone, as a user runs them."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidgate.agents.agent_client import AGENTS, AgentEvent
from droidgate.agents.agent_installation import installed_app
from droidgate.agents.function_calls import attachment_lines
from droidgate.agents.live_calls import LiveAnswer
from droidgate.cli import run
from droidgate.shims.device_user import device_user_of
from droidgate_mappings.model.errors import DeviceError
from droidgate_phone.apps.sample_packages import sample_package
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import VirtualPhone, start_phone
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.agents.faulty_tool import DESCRIPTOR, TOOL, faulty_apk
from gateway.cli.program_runs import Run, Runner
from gateway.mobile_agent.made_phone import device_on
from titled_rows import titled

SAMPLE = "dev.droidgate.sample"
NOTES = f"{SAMPLE}.notes.NotesService#"
BY_FUNCTION = ("--transport", "app-function")


@pytest.fixture(scope="module")
def phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0, adb_keys=()) as started, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANDROID_ADB_SERVER_PORT", str(started.server_port))
        run(["agent", "install"])
        yield started


@pytest.fixture
def droidgate(
    phone: VirtualPhone, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Runner:
    del phone
    return Runner(capsys, monkeypatch)


def test_the_agent_lists_what_it_sees_in_each_protocol(droidgate: Runner) -> None:
    listed = droidgate("agent", "list", "--json").document("agent-list")
    tools = {
        item["component"].rpartition(".")[2]: (item["protocol"], item["tools"])
        for item in listed["components"]
    }
    assert tools["ClockInService"] == ("mobile-mcp", ["clock_in_today", "make_up_clock_in", "query_clock_in"])
    assert tools["ToolActivity"][0] == "mmcp"
    assert "page_count" in tools["ToolActivity"][1]
    assert tools["WeatherReceiver"][0] == "mmcp-broadcast"


@pytest.mark.parametrize(("words", "text"), [
    (("clockin", "query_clock_in", "date=2020-02-13"), "There is no clock-in for 2020-02-13."),
    (("clockin", "query_clock_in", "--dialect", "S1"), 'arguments belong under \\"args\\"'),
    (("clockin", "query_clock_in", "--dialect", "MM-6"), '\\"mobile-mcp-request\\" must be an object'),
    (("pdftool", "page_count", "path=/sdcard/Download/report.pdf"), '{"page_count":3}'),
    (("pdftool", "nothing", "--second"), 'unknown tool "nothing"'),
    (("notes", f"{NOTES}createNote", "title=Milk", "content=", *BY_FUNCTION), '"title": ["Milk"]'),
    (("notes", f"{NOTES}createNote", "title=M", "content=", *BY_FUNCTION, "--second"), '"title": ["M"]'),
])  # fmt: skip
def test_a_call_prints_what_the_tool_answers(droidgate: Runner, words: tuple[str, ...], text: str) -> None:
    package, *rest = words
    ran = droidgate("agent", "call", f"{SAMPLE}.{package}", *rest)
    assert ran.code == 0
    assert text in ran.out


def test_what_comes_with_the_result_of_a_function_is_listed() -> None:
    # As the agent's own classes write it on Android 17 (AgentAppTest).
    files = [
        {"uri": "content://notes/1", "mode_flags": 1, "bytes_read": 12},
        {"uri": "content://nobody/2", "mode_flags": 1, "error": "java.io.FileNotFoundException: none"},
    ]
    extras = {"property/kept": {"kind": "string", "value": "here"}}
    event = AgentEvent(1, 0, "function-result", {"document": {}, "extras": extras, "attachments": files})
    assert attachment_lines(LiveAnswer(event, [event])) == [
        "extra: property/kept, string",
        "attachment: content://notes/1: the agent read 12 bytes",
        "attachment: content://nobody/2: java.io.FileNotFoundException: none",
    ]


@pytest.mark.parametrize(("words", "code", "text"), [
    (("tally", "read_total", "--transport", "start"), 5, "app is in background"),
    (("tally", "read_total", "--transport", "activity"), 2, 'cannot be reached by "activity"'),
    (("notes", f"{NOTES}createNote", *BY_FUNCTION), 5, "error 1001 (ERROR_INVALID_ARGUMENT): "),
    (("notes", "none", *BY_FUNCTION), 5, "error 1003 (ERROR_FUNCTION_NOT_FOUND): "),
    (("absent", "x"), 2, f'the agent sees no tool app "{SAMPLE}.absent"'),
])  # fmt: skip
def test_a_call_that_is_not_answered_says_why(
    droidgate: Runner, words: tuple[str, ...], code: int, text: str
) -> None:
    package, *rest = words
    ran = droidgate("agent", "call", f"{SAMPLE}.{package}", *rest)
    assert (ran.code, text in ran.out + ran.err) == (code, True)


def test_the_log_has_each_intent_and_answer_raw(droidgate: Runner) -> None:
    before = droidgate("agent", "log", "--json").document("agent-log")["events"]
    after = str(before[-1]["number"]) if before else "0"
    droidgate("agent", "call", f"{SAMPLE}.clockin", "query_clock_in")
    events = droidgate("agent", "log", "--after", after, "--json").document("agent-log")["events"]
    assert [event["kind"] for event in events] == ["sent", "connected", "message"]
    assert set(events[0]["intent"]["extras"]) == {"mobile-mcp-request"}
    assert events[2]["what"] == 2
    beyond = droidgate("agent", "log", "--after", "99999")
    assert (beyond.code, "has no event 99999; its newest is " in beyond.err) == (4, True)


@pytest.mark.slow
def test_verify_reports_in_each_form_and_leaves_no_agent(droidgate: Runner, phone: VirtualPhone) -> None:
    assert droidgate("agent", "uninstall").out.split() == ["removed:", AGENTS[0], "removed:", AGENTS[1]]
    words = ("verify", f"{SAMPLE}.weather", "--call", 'currentWeather={"location": "Paris"}')
    document = droidgate(*words, "--json").document("verify")
    assert document["counts"] == {"passed": 17, "failed": 0, "not-applicable": 0, "not-checked": 0}
    suites = ET.fromstring(droidgate(*words, "--junit").out).findall("testsuite")
    counts = [tuple(map(suite.get, ("tests", "failures", "skipped"))) for suite in suites]
    assert counts == [("14", "0", "0"), ("3", "0", "0")]
    assert json.loads(droidgate(*words, "--sarif").out)["runs"][0]["results"] == []
    assert not any(phone.system.packages.find(item) for item in AGENTS)
    assert droidgate("agent", "list").code == 2
    run(["agent", "install"])


def test_an_apk_is_installed_called_and_removed(
    droidgate: Runner, phone: VirtualPhone, tmp_path: Path
) -> None:
    package, apk = f"{SAMPLE}.weather", tmp_path / "weather.apk"
    apk.write_bytes(sample_package("weather").apk)
    words = ("verify", apk, "--install", "--json")
    replaced = droidgate(*words)
    assert "replaced, and stays" in replaced.err
    assert phone.system.packages.find(package)
    device_on(phone).check(["pm", "uninstall", package])
    fresh = droidgate(*words)
    assert (fresh.code, fresh.document("verify")["counts"]["failed"]) == (0, 0)
    assert phone.system.packages.find(package) is None
    phone.install(sample_package("weather").apk)


def test_an_app_that_stays_on_a_phone_that_goes_away_is_reported(phone: VirtualPhone, tmp_path: Path) -> None:
    apk, reports = tmp_path / "tool.apk", list[str]()
    apk.write_bytes(faulty_apk("mmcp"))
    device = device_on(phone)
    with pytest.raises(DeviceError), installed_app(device_user_of(device), apk, reports.append):
        phone.system.faults = Faults(drop_after=1)
    phone.system.faults = Faults()
    assert reports[-1] == f"left on the phone; remove with: adb uninstall {TOOL}"
    device.check(["pm", "uninstall", TOOL])


FILES = sample_apps_directory()


@titled(("source", "counts"), {
    "a project of Mobile-MCP": ("clock-in", (23, 0, 15)),
    "a project of mMCP": ("pdf-tool", (14, 0, 2)),
    "a project of AppFunctions": ("notes", (4, 0, 11)),
})  # fmt: skip
def test_files_are_checked_by_the_rules_that_need_no_phone(
    droidgate: Runner, source: str, counts: tuple[int, ...]
) -> None:
    document = droidgate("verify", FILES / source, "--json").document("verify")
    assert tuple(document["counts"][name] for name in ("passed", "failed", "not-checked")) == counts
    reasons = {check["reason"] for check in document["checks"] if check["verdict"] == "not-checked"}
    assert [reason.partition(":")[0] for reason in reasons] == ["source code is not run"]


def test_a_broken_file_fails_its_rule_with_the_place(droidgate: Runner, tmp_path: Path) -> None:
    apk = tmp_path / "tool.apk"
    apk.write_bytes(faulty_apk("mobile-mcp", descriptor=DESCRIPTOR.replace('id="echo" ', "")))
    ran = droidgate("verify", apk)
    assert ran.code == 1
    assert "mobile-mcp-capability-id, declared: A capability has an id" in ran.out
    assert f"declared: {apk}!/res/xml/capabilities.xml:2" in ran.out


@titled(("words", "text"), {
    "neither a file nor a package": (("some/where",), "is neither a file or folder nor a package"),
    "an APK that is not there": (("absent.apk",), "is neither a file or folder nor a package"),
    "a project to install": ((FILES / "notes", "--install"), "--install takes an APK"),
    "a call of files": ((FILES / "notes", "--call", "x"), "--call and --serial are for an app on a phone"),
    "a project without tools": ((FILES / "weather",), "declares no tools"),
})  # fmt: skip
def test_a_source_that_cannot_be_verified_is_one_error(
    droidgate: Runner, words: tuple[str | Path, ...], text: str
) -> None:
    ran = droidgate("verify", *words)
    assert (ran.code, text in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("call", ["=1", "query_clock_in=1", "query_clock_in={"])
def test_a_call_that_cannot_be_read_is_one_error(droidgate: Runner, call: str) -> None:
    ran: Run = droidgate("verify", f"{SAMPLE}.clockin", "--call", call)
    assert (ran.code, ran.err.count("error:")) == (2, 1)


def test_the_agents_are_signed_with_the_key_that_is_named(droidgate: Runner, tmp_path: Path) -> None:
    ran = droidgate("agent", "install", "--key", tmp_path / "none.pem")
    assert ran.code == 3


def test_an_app_that_is_not_installed_is_refused_before_a_key_is_made(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    droidgate("agent", "uninstall")
    with monkeypatch.context() as patched:
        patched.setenv("DROIDGATE_HOME", str(tmp_path))
        ran = droidgate("verify", "com.example.absent")
    droidgate("agent", "install")
    assert (ran.code, "'com.example.absent' is not installed" in ran.err) == (2, True)
    assert not any(tmp_path.rglob("*.pem"))
