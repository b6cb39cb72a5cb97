"""Canceling a call: what the caller gets, and what is open on the phone afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from droidgate.calls.call_requests import CallRequest, CallResult
from droidgate.shims.answers import ShimRefusalError
from droidgate.shims.client import HostClient
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.common.faults import Faults
from gateway.calling.phones_with_shims import CLOCK_IN, PDF_TOOL, ReachedPhone
from waiting import wait_until

SHIM_OF = "dev.droidgate.shim.of."
LONG_PATH = "/sdcard/" + "x" * 40_000
CALLS: dict[str, tuple[str, str, dict[str, str]]] = {
    "service": (CLOCK_IN, "query_clock_in", {"date": "2026-02-03"}),
    "activity": (PDF_TOOL, "page_count", {"path": "/sdcard/a.pdf"}),
    "long request": (PDF_TOOL, "page_count", {"path": LONG_PATH}),
}


def shim_of(silent: ReachedPhone, package: str) -> HostClient:
    return HostClient(silent.device, f"{SHIM_OF}{package}")


def ended_by(
    silent: ReachedPhone, kind: str, end: Callable[[threading.Event], None]
) -> DroidgateError | CallResult:
    """Return how a call ends that is canceled while its app is silent."""
    package, capability, arguments = CALLS[kind]
    caller, cancel = silent.caller(), threading.Event()
    outcomes: list[DroidgateError | CallResult] = []

    def call() -> None:
        try:
            outcomes.append(caller.call(CallRequest(capability, arguments, deadline=100), cancel=cancel))
        except DroidgateError as error:
            outcomes.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: shim_of(silent, package).status().open == 1)
    end(cancel)
    thread.join(60)
    (outcome,) = outcomes
    return outcome


@pytest.mark.parametrize("kind", CALLS)
def test_a_canceled_call_is_ended_in_the_shim(silent: ReachedPhone, kind: str) -> None:
    outcome = ended_by(silent, kind, threading.Event.set)
    assert isinstance(outcome, CallError)
    assert outcome.failure.token == "canceled"
    assert outcome.failure.text.startswith("the shim ended the call")
    shim = shim_of(silent, CALLS[kind][0])
    assert shim.status().open == 0
    assert shim.history()[-1].token == "canceled"


def test_a_canceled_activity_leaves_the_screen_to_the_next_call(silent: ReachedPhone) -> None:
    ended_by(silent, "activity", threading.Event.set)
    silent.phone.system.faults = Faults()
    with pytest.raises(CallError) as raised:
        silent.caller().call(CallRequest("page_count", {"path": "/sdcard/absent.pdf"}))
    assert raised.value.failure.token == "backend_failure"


@pytest.mark.parametrize(
    "error",
    [
        ShimRefusalError(Failure("invalid_argument", "unknown method cancel")),
        DroidgateError("the phone went away"),
    ],
    ids=["a shim without this method", "a phone that fails"],
)
def test_where_the_shim_cannot_end_it_the_call_may_have_finished(
    silent: ReachedPhone, monkeypatch: pytest.MonkeyPatch, error: DroidgateError
) -> None:
    open_before = shim_of(silent, CLOCK_IN).status().open

    def refuse(_client: HostClient, _call_id: str) -> bool:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(HostClient, "cancel", refuse)
        outcome = ended_by(silent, "service", threading.Event.set)
    assert isinstance(outcome, CallError)
    assert outcome.failure == Failure("canceled", "the call was canceled; the app may have finished it")
    silent.phone.system.end_processes(f"{SHIM_OF}{CLOCK_IN}", "the test is over")
    assert shim_of(silent, CLOCK_IN).status().open == open_before


def test_a_long_request_that_is_given_up_at_its_deadline_is_ended_in_the_shim(
    silent: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.shims.client._MARGIN_SECONDS", 0.0)
    with pytest.raises(CallError) as raised:
        silent.caller().call(CallRequest("page_count", {"path": LONG_PATH}, deadline=2))
    assert raised.value.failure.token == "timeout"
    assert shim_of(silent, PDF_TOOL).status().open == 0


@pytest.mark.slow
def test_ctrl_c_ends_the_call_in_the_shim(silent: ReachedPhone) -> None:
    arguments = ["call", "query_clock_in", "--arg", "date=2026-02-03", "--yes", "--deadline", "100"]
    command = [sys.executable, "-m", "droidgate", *arguments, "--serial", silent.phone.serial]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: shim_of(silent, CLOCK_IN).status().open == 1)
        os.kill(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err == "stopped; `droidgate audit show --last 1` names the call if it was sent\n"
    assert shim_of(silent, CLOCK_IN).status().open == 0


def test_nothing_is_left_of_a_call_that_is_canceled_before_it_is_sent(silent: ReachedPhone) -> None:
    cancel = threading.Event()
    cancel.set()
    caller = silent.caller()
    caller.targets.all()
    with pytest.raises(CallError) as raised:
        caller.call(CallRequest("query_clock_in", {"date": "2026-02-03"}), cancel=cancel)
    assert raised.value.failure.token == "canceled"
    assert shim_of(silent, CLOCK_IN).status().open == 0
