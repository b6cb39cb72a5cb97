"""Files that a call takes along and brings back, on the virtual phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from calling.phones_with_shims import PDF_TOOL, TALLY, ReachedPhone
from cli.program_runs import run_process
from droidgate.calling.files import fetch_files
from droidgate.calling.requests import CallRequest
from droidgate.calls.failures import CallError
from droidgate.model.errors import InputError
from phone_apps.pdf_files import pdf_with


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


def test_an_argument_that_is_no_text_takes_no_file(reached: ReachedPhone, report: Path) -> None:
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
    assert fetch_files(value, tmp_path / "out", device) == (tmp_path / "out" / "a_b.txt",)
    assert (tmp_path / "out" / "a_b.txt").read_bytes() == b"one"
    again = fetch_files(value, tmp_path / "out", device)
    assert again == (tmp_path / "out" / "1-a_b.txt",)


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
