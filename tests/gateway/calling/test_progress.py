"""What a call that takes long reports: what it waits for, and since when."""

from __future__ import annotations

import threading

import pytest

from droidgate.calls.call_requests import CallProgress, CallRequest, ProgressReports
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.values.failures import CallError
from gateway.calling.phones_with_shims import NOTES, ReachedPhone
from gateway.cli.program_runs import run_on_terminal


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate.calls.call_requests.EVERY_SECONDS", 0.02)


def reported(
    silent: ReachedPhone, capability: str, awaited: str, arguments: dict[str, str], *, deadline: float = 100
) -> list[CallProgress]:
    """Return the reports of a call to a silent app, which is canceled at the awaited report."""
    reports: list[CallProgress] = []
    cancel = threading.Event()

    def take(progress: CallProgress) -> None:
        reports.append(progress)
        if progress.text.startswith(awaited):
            cancel.set()

    request = CallRequest(capability, arguments, deadline=deadline)
    with pytest.raises(CallError, match="canceled"):
        silent.caller().call(request, cancel=cancel, progress=take)
    return reports


def test_a_call_by_androids_shell_reports_its_step(silent: ReachedPhone) -> None:
    # The shell ends the function at the deadline, and the phone waits for that when it stops.
    arguments = {"title": "a", "content": "b"}
    assert reported(silent, f"{NOTES}.NotesService#createNote", "shell: app_function", arguments, deadline=4)


@pytest.mark.parametrize(
    ("capability", "arguments"),
    [("query_clock_in", {"date": "2026-02-03"}), ("page_count", {"path": "/sdcard/a.pdf"})],
)
def test_a_shim_says_that_the_app_has_the_call(
    silent: ReachedPhone, capability: str, arguments: dict[str, str]
) -> None:
    reports = reported(silent, capability, "waiting for the app's answer", arguments)
    seconds = [report.seconds for report in reports]
    assert seconds == sorted(seconds)
    assert all(0 < value < 100 for value in seconds)


def test_a_call_that_waits_for_its_window_says_what_the_user_can_do(silent: ReachedPhone) -> None:
    # The first call has the screen, and the second waits for its turn.
    caller, cancel = silent.caller(), threading.Event()
    present = threading.Event()

    def occupy() -> None:
        with pytest.raises(CallError):
            caller.call(
                CallRequest("page_count", {"path": "/sdcard/a.pdf"}, deadline=100),
                cancel=cancel,
                progress=lambda report: present.set() if "answer" in report.text else None,
            )

    thread = threading.Thread(target=occupy)
    thread.start()
    assert present.wait(60)
    reports = reported(silent, "page_count", "waiting for the app's window", {"path": "/sdcard/b.pdf"})
    cancel.set()
    thread.join()
    assert any("tap the notification" in report.text for report in reports)


def test_nothing_is_reported_while_somebody_is_asked_or_after_the_end() -> None:
    taken: list[CallProgress] = []
    first = threading.Event()

    def take(progress: CallProgress) -> None:
        taken.append(progress)
        first.set()

    with ProgressReports(take) as reports:
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

    def take(progress: CallProgress) -> None:
        texts.append(progress.text)
        if len(texts) >= 7:
            enough.set()

    def fail() -> str:
        raise DeviceError("the phone went away")

    with ProgressReports(take) as reports:
        reports.step, reports.ask = "a shim", fail
        assert enough.wait(120)
    assert set(texts) == {"a shim"}


@pytest.mark.slow
def test_a_terminal_shows_the_wait_and_removes_it(silent: ReachedPhone) -> None:
    arguments = ["call", "query_clock_in", "--arg", "date=2026-02-03", "--yes", "--deadline", "2"]
    arguments += ["--serial", silent.phone.serial]
    shown = run_on_terminal(*arguments)
    assert "(1 s)\r\x1b[K" in shown.replace("(2 s)", "(1 s)")
    assert "error: timeout" in shown.rpartition("\r\x1b[K")[2]
