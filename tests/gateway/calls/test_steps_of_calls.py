"""What a call does on its way: its files, its reports, its trace, and its end when it is canceled."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO
from unittest.mock import Mock

import pytest

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_files import fetch_files
from droidgate.calls.call_requests import CallProgress, CallRequest, ProgressReports
from droidgate.calls.caller import CallControls
from droidgate.calls.traces import Trace, open_trace
from droidgate.cli.calls.call_options import Call
from droidgate.cli.calls.run_call import call_and_report
from droidgate.devices.device import Device
from droidgate.devices.device_errors import TransferError
from droidgate.shims.host_client import HostClient
from droidgate.shims.refusals import ShimRefusalError
from droidgate_mappings.model.errors import DeviceError, DroidgateError, InputError, WriteError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.common.faults import Faults
from gateway.calls.phones_with_shims import CLOCK_IN, NOTES, PDF_TOOL, TALLY, ReachedPhone
from gateway.cli.program_runs import run_on_terminal, run_process
from waiting import wait_until

CREATE = f"{NOTES}.NotesService#createNote"
SECRET = "canary-4711"


def events_of(path: Path) -> list[dict[str, Any]]:
    """Return the events of a trace."""
    # Not as text: other characters end a line there, and a trace has what apps and files have.
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    moments = [line["milliseconds"] for line in lines]
    assert moments == sorted(moments)
    return [line["event"] for line in lines]


def traced(reached: ReachedPhone, file: Path, capability: str, /, **arguments: Any) -> list[dict[str, Any]]:
    with open_trace(file) as trace, suppress(DroidgateError):
        reached.call(capability, trace=trace, **arguments)
    return events_of(file)


def of_kind(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["kind"] == kind]


def test_a_trace_has_each_step_from_the_request_to_the_result(reached: ReachedPhone, tmp_path: Path) -> None:
    events = traced(reached, tmp_path / "t.jsonl", CREATE, title=SECRET, content="5")
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1]) == ("request", "result")
    assert " ".join(dict.fromkeys(kinds)) == "request step command decision approval route result"
    (request,), (decision,) = of_kind(events, "request"), of_kind(events, "decision")
    assert request["arguments"] == {"title": SECRET, "content": "5"}
    assert (decision["package"], decision["decision"], decision["effect"]) == (NOTES, "ask", "unknown")
    assert of_kind(events, "approval") == [{"kind": "approval", "state": "new", "allowed": True}]
    assert of_kind(events, "route")[0]["route"] == "app-function-shell"
    assert of_kind(events, "result")[0]["value"]["title"] == SECRET


def test_each_command_that_reached_the_phone_is_traced_with_its_output(
    reached: ReachedPhone, tmp_path: Path
) -> None:
    caller = reached.caller()
    caller.targets.all()
    with reached.counted() as sent, open_trace(tmp_path / "t.jsonl") as trace:
        result = reached.call(CREATE, caller=caller, trace=trace, title="a", content="b")
    commands = of_kind(events_of(tmp_path / "t.jsonl"), "command")
    assert len(commands) == len(sent)
    (executed,) = [item for item in commands if "execute-app-function" in item["arguments"]]
    assert executed["exit_status"] == 0
    assert result.value["noteId"] in executed["stdout"]


def test_a_long_request_to_a_shim_is_traced_as_its_streams(reached: ReachedPhone, tmp_path: Path) -> None:
    commands = of_kind(traced(reached, tmp_path / "t.jsonl", "page_count", path=LONG_PATH), "command")
    streams = [command for command in commands if command["arguments"][1] in {"write", "read"}]
    assert [command["arguments"][1] for command in streams] == ["write", "read"]
    assert LONG_PATH in streams[0]["stdin"]


@pytest.mark.parametrize(("capability", "arguments", "token"), [
    (CREATE, {"titel": "a"}, "invalid_argument"),
    (f"{PDF_TOOL}/page_count", {"path": "/sdcard/absent.pdf"}, "backend_failure"),
    ("no_such_capability", {}, None),
], ids=["arguments that do not fit", "a failure of the app", "no such capability"])  # fmt: skip
def test_a_call_that_fails_ends_its_trace_with_the_failure(
    reached: ReachedPhone, tmp_path: Path, capability: str, arguments: dict[str, str], token: str | None
) -> None:
    with open_trace(tmp_path / "t.jsonl") as trace, pytest.raises(DroidgateError) as raised:
        reached.caller().call(CallRequest(capability, arguments), CallControls(trace=trace))
    last = events_of(tmp_path / "t.jsonl")[-1]
    assert (last["kind"], last["token"], last["message"]) == ("failure", token, raised.value.message)


def test_only_the_user_may_read_the_file_and_no_other_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    previous = os.umask(0)
    try:
        with open_trace(path):
            pass
    finally:
        os.umask(previous)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("mine")
    with pytest.raises(WriteError, match="a file of that name") as raised, open_trace(path):
        pass
    assert raised.value.hint == "choose another file"
    with pytest.raises(WriteError) as raised, open_trace(path, force=False):
        pass
    assert "--force" in (raised.value.hint or "")
    assert path.read_text() == "mine"
    path.chmod(0o644)
    with open_trace(path, force=True):
        pass
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"", 0o600)


def test_a_link_in_the_place_of_the_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WriteError), open_trace(tmp_path / "link"):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_a_full_disk_ends_the_call_before_anything_is_sent(reached: ReachedPhone) -> None:
    caller = reached.caller()
    caller.targets.all()
    with (
        Path("/dev/full").open("wb", buffering=0) as full,
        reached.counted() as commands,
        pytest.raises(WriteError, match="trace cannot be written"),
    ):
        reached.call(CREATE, caller=caller, trace=Trace(full), title="a", content="b")
    assert commands == []


def test_the_command_writes_a_trace(reached: ReachedPhone, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    arguments = ["call", "query_clock_in", "date=2026-02-03", "--serial", reached.phone.serial]
    done = run_process(*arguments, "--yes", "--trace", str(path))
    assert (done.code, done.err) == (0, "")
    events = events_of(path)
    assert of_kind(events, "decision")[0]["package"] == CLOCK_IN


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "it's a $(report).pdf"
    path.write_bytes(pdf_with("first page", "second page", "third page"))
    return path


def left_on(reached: ReachedPhone) -> list[str]:
    listed = reached.device.run(["ls", f"/sdcard/Android/data/{PDF_TOOL}/files"]).text.split()
    return [name for name in listed if name.startswith("droidgate-")]


def test_a_file_is_readable_during_the_call_and_removed_afterwards(
    reached: ReachedPhone, report: Path
) -> None:
    assert reached.call("page_count", files={"path": report}).value["page_count"] == 3
    assert left_on(reached) == []
    report.write_bytes(b"not a PDF")
    reached.failure("page_count", files={"path": report})
    assert left_on(reached) == []


def test_an_argument_that_is_not_a_text_takes_no_file(reached: ReachedPhone, report: Path) -> None:
    error = reached.failure("add_points", app=TALLY, player="Ann", files={"points": report})
    assert "cannot be the path of a file" in error.message


def test_a_file_that_is_not_there_is_an_error_of_the_input(reached: ReachedPhone, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        reached.call("page_count", files={"path": tmp_path / "absent.pdf"})


def test_explaining_names_the_files_and_sends_none(reached: ReachedPhone, report: Path) -> None:
    with reached.counted() as commands:
        plan = reached.caller().explain(CallRequest("page_count", files={"path": report}))
    (file,) = plan.files
    assert (file.source, plan.arguments) == (report, {"path": file.path})
    make, write, call, remove = plan.commands
    folder = file.path.rpartition("/")[0]
    assert (make, remove) == (("mkdir", "-p", folder), ("rm", "-rf", folder))
    assert (write[0], write[-1], (call,)) == ("sh", f"cat >{file.path}", plan.route.commands)
    assert not any("mkdir" in command or "cat" in command for command in commands)
    assert left_on(reached) == []


def test_files_of_shared_storage_are_fetched_under_safe_names(reached: ReachedPhone, tmp_path: Path) -> None:
    device = reached.device
    device.push(b"one", "/sdcard/Download/a b.txt")
    value = {
        "files": ["/sdcard/Download/a b.txt", "/sdcard/Download/absent.txt"],
        "other": ["/data/local/tmp/x", "/sdcard/../data/x", "text", 5],
    }
    fetched = fetch_files(value, tmp_path / "out", device)
    assert fetched.copies == (tmp_path / "out" / "a_b.txt",)
    (finding,) = fetched.findings
    assert finding.message == "/sdcard/Download/absent.txt is not fetched: it is not a file on the phone"
    assert (tmp_path / "out" / "a_b.txt").read_bytes() == b"one"
    again = fetch_files(value, tmp_path / "out", device)
    assert again.copies == (tmp_path / "out" / "1-a_b.txt",)


def test_the_command_sends_a_file_and_fetches_others(
    reached: ReachedPhone, report: Path, tmp_path: Path
) -> None:
    out = tmp_path / "pulled"
    arguments = ["render_pages", "--file", f"path=@{report}", "format=png", "--yes"]
    done = run_process("call", *arguments, "--pull", out, "--serial", reached.phone.serial)
    assert done.code == 0, done.err
    pulled = sorted(out.iterdir())
    assert len(pulled) == 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pulled)
    assert done.err.count("created: ") == 3


def test_an_explanation_has_each_command_of_a_call_with_a_file(reached: ReachedPhone, report: Path) -> None:
    arguments = ["call", "page_count", "--file", f"path=@{report}", "--serial", reached.phone.serial]
    lines = run_process(*arguments, "--explain").out.partition("commands, not run:\n")[2].splitlines()
    explained = [shlex.split(line.partition(" shell ")[2]) for line in lines]
    assert explained[1][1] == f"<{report}"
    with reached.counted() as ran:
        assert run_process(*arguments, "--yes").code == 0
    hidden = re.compile(r"droidgate-[0-9a-f]{16}|--arg \S+")
    assert {hidden.sub("", command[0]) for command in explained} <= {
        hidden.sub("", command) for command in ran
    }


MANY = [f"/sdcard/Download/absent-{number}" for number in range(101)]


@pytest.mark.parametrize(("paths", "last"), [
    (["/sdcard/Download/folder"], ""),
    (["/sdcard/Download/one.txt"], ""),
    (["/sdcard/Download/absent"], ""),
    (MANY, "only the first 100 files are fetched; 1 left out"),
], ids=["folder", "file in the way", "gone", "many"])  # fmt: skip
def test_a_result_is_not_lost_with_a_file_that_cannot_be_fetched(
    reached: ReachedPhone, tmp_path: Path, paths: list[Json], last: str
) -> None:
    reached.device.push(b"one", "/sdcard/Download/one.txt")
    reached.device.run(["mkdir", "-p", "/sdcard/Download/folder"])
    if "/sdcard/Download/one.txt" in paths:
        (tmp_path / "out").write_bytes(b"")
    fetched = fetch_files(paths, tmp_path / "out", reached.device)
    assert fetched.copies == ()
    assert {finding.code for finding in fetched.findings} == {"call-file-not-fetched"}
    assert last in ("", fetched.findings[-1].message)


def test_no_half_a_file_is_written_where_the_phone_fails(reached: ReachedPhone, tmp_path: Path) -> None:
    reached.device.push(b"one", "/sdcard/Download/one.txt")

    class FailingDevice(Device):
        def pull(self, path: str, sink: BinaryIO, **_options: object) -> int:
            sink.write(b"o")
            raise TransferError(f"cannot read {path}")

    device = FailingDevice(reached.device.server, reached.device.serial)
    fetched = fetch_files("/sdcard/Download/one.txt", tmp_path, device)
    assert fetched.findings[0].message.endswith("cannot read /sdcard/Download/one.txt")
    assert list(tmp_path.iterdir()) == []


def test_no_call_is_made_without_a_folder_or_with_two_values(reached: ReachedPhone, report: Path) -> None:
    with reached.counted() as commands:
        done = run_process("call", "page_count", "--pull", report, "--serial", reached.phone.serial)
        both = run_process("call", "page_count", "path=/x", "--file", f"path=@{report}")
    assert (done.code, "it is not a folder" in done.err) == (3, True)
    assert (both.code, "duplicate argument 'path'" in both.err) == (2, True)
    assert commands == []


def test_ctrl_c_while_files_are_fetched_does_not_take_the_result(
    reached: ReachedPhone,
    report: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fetch = Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr("droidgate.cli.calls.run_call.fetch_files", fetch)
    options = Call(serial=reached.phone.serial, approved=True, pull=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        call_and_report(CallRequest("page_count", files={"path": report}), options)
    assert capsys.readouterr().out == "page_count: 3\n"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate.calls.call_requests.EVERY_SECONDS", 0.02)


def reported(
    silent: ReachedPhone, capability: str, awaited: str, arguments: dict[str, str], *, deadline: float = 100
) -> list[CallProgress]:
    """Return the reports of a call to a silent app, which is canceled at the awaited report."""
    reports: list[CallProgress] = []
    cancel = threading.Event()

    def keep(progress: CallProgress) -> None:
        reports.append(progress)
        if progress.text.startswith(awaited):
            cancel.set()

    request = CallRequest(capability, arguments, deadline=deadline)
    with pytest.raises(CallError, match="canceled"):
        silent.caller().call(request, CallControls(cancel=cancel, progress=keep))
    return reports


def test_a_call_by_androids_shell_reports_its_step(silent: ReachedPhone) -> None:
    # The shell ends the function at the deadline, and the phone waits for that when it stops.
    arguments = {"title": "a", "content": "b"}
    assert reported(silent, f"{NOTES}.NotesService#createNote", "shell: app_function", arguments, deadline=4)


@pytest.mark.parametrize(
    ("capability", "arguments"),
    [("query_clock_in", {"date": "2026-02-03"}), ("page_count", {"path": "/sdcard/a.pdf"})],
    ids=str,
)
def test_a_shim_says_who_has_it(silent: ReachedPhone, capability: str, arguments: dict[str, str]) -> None:
    reports = reported(silent, capability, "waiting for the app's answer", arguments)
    seconds = [report.seconds for report in reports]
    assert seconds == sorted(seconds)
    assert all(0 < value < 100 for value in seconds)


def test_a_call_that_waits_for_its_window_says_what_the_user_can_do(silent: ReachedPhone) -> None:
    # The first call has the screen, and the second waits for its turn.
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(silent.failure, "page_count", path="/sdcard/a.pdf", deadline=100, cancel=cancel)
        wait_until(lambda: shim_of(silent, PDF_TOOL).status().open == 1)
        reports = reported(silent, "page_count", "waiting for the app's window", {"path": "/sdcard/b.pdf"})
        cancel.set()
    assert any("tap the notification" in report.text for report in reports)


def test_nothing_is_reported_while_somebody_is_asked_or_after_the_end() -> None:
    taken: list[CallProgress] = []
    first = threading.Event()

    def keep(progress: CallProgress) -> None:
        taken.append(progress)
        first.set()

    with ProgressReports(keep) as reports:
        reports.step = "look at the app"
        assert first.wait(120)
        reports.step = None
    count = len(taken)
    threading.Event().wait(0.1)
    assert len(taken) == count
    assert {report.text for report in taken} == {"look at the app"}


def test_a_phone_that_does_not_say_leaves_the_step_as_it_is() -> None:
    texts: list[str] = []
    enough = threading.Event()

    def keep(progress: CallProgress) -> None:
        texts.append(progress.text)
        if len(texts) >= 7:
            enough.set()

    with ProgressReports(keep) as reports:
        reports.step, reports.ask = "a shim", Mock(side_effect=DeviceError("the phone went away"))
        assert enough.wait(120)
    assert set(texts) == {"a shim"}


@pytest.mark.slow
def test_a_terminal_shows_the_wait_and_removes_it(silent: ReachedPhone) -> None:
    arguments = ["call", "query_clock_in", "date=2026-02-03", "--yes", "--deadline", "2"]
    arguments += ["--serial", silent.phone.serial]
    output = run_on_terminal(*arguments, waiting_lines=True)
    assert "(1 s)\r\x1b[K" in output.replace("(2 s)", "(1 s)")
    assert "error: timeout" in output.rpartition("\r\x1b[K")[2]


SHIM_OF = "dev.droidgate.shim.of."
LONG_PATH = "/sdcard/" + "x" * 40_000
CALLS: dict[str, tuple[str, str, dict[str, str]]] = {
    "service": (CLOCK_IN, "query_clock_in", {"date": "2026-02-03"}),
    "activity": (PDF_TOOL, "page_count", {"path": "/sdcard/a.pdf"}),
    "long request": (PDF_TOOL, "page_count", {"path": LONG_PATH}),
}


def shim_of(silent: ReachedPhone, package: str) -> HostClient:
    return HostClient(silent.device, f"{SHIM_OF}{package}")


def canceled(silent: ReachedPhone, kind: str) -> Failure:
    """Return how a call fails that is canceled while its app is silent."""
    package, capability, arguments = CALLS[kind]
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(silent.failure, capability, deadline=100, cancel=cancel, **arguments)
        wait_until(lambda: shim_of(silent, package).status().open == 1)
        cancel.set()
        return call.result(60).failure


@pytest.mark.parametrize("kind", CALLS)
def test_a_canceled_call_is_ended_in_the_shim(silent: ReachedPhone, kind: str) -> None:
    failure = canceled(silent, kind)
    assert failure.token == "canceled"
    assert failure.text.startswith("the shim ended the call")
    assert shim_of(silent, CALLS[kind][0]).status().open == 0


def test_a_canceled_activity_leaves_the_screen_to_the_next_call(silent: ReachedPhone) -> None:
    canceled(silent, "activity")
    silent.phone.system.faults = Faults()
    assert silent.failure("page_count", path="/sdcard/absent.pdf").failure.token == "backend_failure"


@pytest.mark.parametrize("error", [
    ShimRefusalError(Failure("invalid_argument", "unknown method cancel")),
    DroidgateError("the phone went away"),
], ids=["a shim without this method", "a phone that fails"])  # fmt: skip
def test_where_the_shim_cannot_end_it_the_call_may_have_finished(
    silent: ReachedPhone, monkeypatch: pytest.MonkeyPatch, error: DroidgateError
) -> None:
    open_before = shim_of(silent, CLOCK_IN).status().open

    with monkeypatch.context() as patch:
        patch.setattr(HostClient, "cancel", Mock(side_effect=error))
        failure = canceled(silent, "service")
    assert failure == Failure("canceled", "the call was canceled; the app may have finished it")
    silent.phone.system.end_processes(f"{SHIM_OF}{CLOCK_IN}", "the test is over")
    assert shim_of(silent, CLOCK_IN).status().open == open_before


def test_a_long_request_that_reaches_its_deadline_is_ended_in_the_shim(
    silent: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.shims.host_client._MARGIN_SECONDS", 0.0)
    assert silent.failure("page_count", path=LONG_PATH, deadline=2).failure.token == "timeout"
    assert shim_of(silent, PDF_TOOL).status().open == 0


@pytest.mark.slow
def test_ctrl_c_ends_the_call_in_the_shim_and_the_log_has_it(silent: ReachedPhone) -> None:
    arguments = ["call", "query_clock_in", "date=2026-02-03", "--yes", "--deadline", "100"]
    command = [sys.executable, "-m", "droidgate", *arguments, "--serial", silent.phone.serial]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: shim_of(silent, CLOCK_IN).status().open == 1)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "stopped; `droidgate audit show --last 1` names the call if it was sent\n"
    *_, last = read_calls(Path(os.environ["DROIDGATE_HOME"]) / "state/audit")
    assert (last.end or {})["result"] == "canceled"
    assert shim_of(silent, CLOCK_IN).status().open == 0


@pytest.mark.parametrize(("capability", "arguments"), [
    ("query_clock_in", {"date": "2026-02-03"}), (CREATE, {"title": "a", "content": "b"}),
], ids=str)  # fmt: skip
def test_a_call_that_is_canceled_before_it_is_sent_is_never_open_in_the_shim(
    silent: ReachedPhone, tmp_path: Path, capability: str, arguments: dict[str, str]
) -> None:
    cancel = threading.Event()
    cancel.set()
    caller = silent.caller()
    caller.targets.all()
    with open_trace(tmp_path / "t.jsonl") as trace:
        error = silent.failure(capability, caller=caller, cancel=cancel, trace=trace, **arguments)
    assert error.failure.token == "canceled"
    assert shim_of(silent, CLOCK_IN).status().open == 0
    events = events_of(tmp_path / "t.jsonl")
    assert (events[0]["kind"], events[-1]["token"]) == ("request", "canceled")
