"""Files that a call takes along and brings back, on the virtual phone."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import BinaryIO

import pytest

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate.calls.call_files import fetch_files
from droidgate.calls.call_requests import CallRequest
from droidgate.cli.calls.call_command import Call
from droidgate.cli.calls.one_call import call_and_report
from droidgate.devices.device import Device
from droidgate.devices.device_errors import TransferError
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.values.failures import CallError
from gateway.calling.phones_with_shims import PDF_TOOL, TALLY, ReachedPhone
from gateway.cli.program_runs import run_process


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "it's a $(report).pdf"
    path.write_bytes(pdf_with("first page", "second page", "third page"))
    return path


def left_on(reached: ReachedPhone) -> list[str]:
    listed = reached.device.run(["ls", f"/sdcard/Android/data/{PDF_TOOL}/files"]).text.split()
    return [name for name in listed if name.startswith("droidgate-")]


def test_a_file_is_readable_for_the_app_during_the_call_and_gone_afterwards(
    reached: ReachedPhone, report: Path
) -> None:
    result = reached.caller().call(CallRequest("page_count", files={"path": report}))
    assert result.value["page_count"] == 3
    assert left_on(reached) == []


def test_a_file_is_removed_after_a_call_that_failed(reached: ReachedPhone, tmp_path: Path) -> None:
    path = tmp_path / "no.pdf"
    path.write_bytes(b"not a PDF")
    with pytest.raises(CallError):
        reached.caller().call(CallRequest("page_count", files={"path": path}))
    assert left_on(reached) == []


def test_an_argument_that_is_not_a_text_takes_no_file(reached: ReachedPhone, report: Path) -> None:
    request = CallRequest("add_points", {"player": "Ann"}, app=TALLY, files={"points": report})
    with pytest.raises(CallError, match="cannot be the path of a file"):
        reached.caller().call(request)


def test_a_file_that_is_not_there_is_an_error_of_the_input(reached: ReachedPhone, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is not a file"):
        reached.caller().call(CallRequest("page_count", files={"path": tmp_path / "absent.pdf"}))


def test_explaining_names_the_files_and_sends_none(reached: ReachedPhone, report: Path) -> None:
    before = len(reached.commands())
    plan = reached.caller().explain(CallRequest("page_count", files={"path": report}))
    (file,) = plan.files
    assert (file.source, plan.arguments) == (report, {"path": file.path})
    make, write, call, remove = plan.commands
    folder = file.path.rpartition("/")[0]
    assert (make, remove) == (("mkdir", "-p", folder), ("rm", "-rf", folder))
    assert (write[0], write[-1], (call,)) == ("sh", f"cat >{file.path}", plan.route.commands)
    assert not any("mkdir" in command or "cat" in command for command in reached.commands()[before:])
    assert left_on(reached) == []


def test_files_of_the_shared_storage_are_fetched_under_safe_names(
    reached: ReachedPhone, tmp_path: Path
) -> None:
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


def test_the_command_sends_a_file_and_fetches_what_the_result_names(
    reached: ReachedPhone, report: Path, tmp_path: Path
) -> None:
    out = tmp_path / "pulled"
    arguments = ["render_pages", "--file", f"path=@{report}", "--arg", "format=png", "--yes"]
    done = run_process("call", *arguments, "--pull", out, "--serial", reached.phone.serial)
    assert done.code == 0, done.err
    pulled = sorted(out.iterdir())
    assert len(pulled) == 3
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in pulled)
    assert done.err.count("created: ") == 3


def test_the_page_of_an_explanation_has_each_command_that_a_call_with_a_file_runs(
    reached: ReachedPhone, report: Path
) -> None:
    arguments = ["call", "page_count", "--file", f"path=@{report}", "--serial", reached.phone.serial]
    lines = run_process(*arguments, "--explain").out.partition("commands, not run:\n")[2].splitlines()
    explained = [shlex.split(line.partition(" shell ")[2]) for line in lines]
    assert explained[1][1] == f"<{report}"
    before = len(reached.commands())
    assert run_process(*arguments, "--yes").code == 0
    ran = reached.commands()[before:]
    hidden = re.compile(r"droidgate-[0-9a-f]{16}|--arg \S+")
    assert {hidden.sub("", command[0]) for command in explained} <= {
        hidden.sub("", command) for command in ran
    }


@pytest.mark.parametrize("problem", ["folder", "file", "gone", "many"])
def test_a_result_is_not_lost_with_a_file_that_cannot_be_fetched(
    reached: ReachedPhone, tmp_path: Path, problem: str
) -> None:
    device, folder = reached.device, tmp_path / "out"
    device.push(b"one", "/sdcard/Download/one.txt")
    device.run(["mkdir", "-p", "/sdcard/Download/folder"])
    paths = {
        "folder": ["/sdcard/Download/folder"],
        "gone": ["/sdcard/Download/absent"],
        "many": [f"/sdcard/Download/absent-{number}" for number in range(101)],
        "file": ["/sdcard/Download/one.txt"],
    }[problem]
    if problem == "file":
        folder.write_bytes(b"")
    fetched = fetch_files(list(paths), folder, device)
    assert fetched.copies == ()
    assert {finding.code for finding in fetched.findings} == {"call-file-not-fetched"}
    if problem == "many":
        assert fetched.findings[-1].message == "only the first 100 files are fetched; 1 left out"


def test_half_a_file_is_not_left_where_the_phone_fails(reached: ReachedPhone, tmp_path: Path) -> None:
    reached.device.push(b"one", "/sdcard/Download/one.txt")

    class FailingDevice(Device):
        def pull(self, path: str, sink: BinaryIO, **_options: object) -> int:
            sink.write(b"o")
            raise TransferError(f"cannot read {path}")

    device = FailingDevice(reached.device.server, reached.device.serial)
    fetched = fetch_files("/sdcard/Download/one.txt", tmp_path, device)
    assert fetched.findings[0].message.endswith("cannot read /sdcard/Download/one.txt")
    assert list(tmp_path.iterdir()) == []


def test_no_call_is_made_where_its_files_cannot_be_fetched(reached: ReachedPhone, report: Path) -> None:
    before = len(reached.commands())
    done = run_process("call", "page_count", "--pull", report, "--serial", reached.phone.serial)
    assert (done.code, "it is not a folder" in done.err) == (3, True)
    assert reached.commands()[before:] == []


def test_an_argument_is_either_a_value_or_a_file(report: Path) -> None:
    done = run_process("call", "page_count", "--arg", "path=/x", "--file", f"path=@{report}")
    assert (done.code, "duplicate argument 'path'" in done.err) == (2, True)


def test_ctrl_c_while_files_are_fetched_does_not_take_the_result(
    reached: ReachedPhone,
    report: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def press_ctrl_c(*_arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("droidgate.cli.calls.one_call.fetch_files", press_ctrl_c)
    options = Call(serial=reached.phone.serial, approved=True, pull=tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        call_and_report(CallRequest("page_count", files={"path": report}), options)
    assert capsys.readouterr().out == "page_count: 3\n"
