"""What `droidgate call --batch` and `--commands` do."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Final, get_args

from droidgate.calls.batches import (
    BatchOutcome,
    BatchRequest,
    CallStatus,
    open_journal,
    read_batch,
    read_command_file,
    run_batch,
    run_commands,
)
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import CallControls, CapabilityCaller
from droidgate.calls.subjects import EVERY_CAPABILITY
from droidgate.cli.calls.call_options import Call
from droidgate.cli.calls.terminal_approval import ask_on_terminal
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import hint_of
from droidgate.cli.output.json_output import print_json_line
from droidgate.cli.output.pages import Line, print_note, print_warning, show
from droidgate.cli.output.safe_text import one_line
from droidgate.devices.device import connect_device
from droidgate_mappings.model.errors import DeviceError, DroidgateError, UsageError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.values.failures import CallError
from droidgate_mobile_agent.format import FORMAT_ID
from droidgate_mobile_agent.wire import AgentCommand

RESULTS_ENDING: Final = ".results.jsonl"

_UNKNOWN_ENDS: Final = frozenset({"canceled", "interrupted", "timeout"})
"""Failure tokens of calls that may have had their effect all the same."""

_NOTHING_RAN: Final = frozenset({"after_change", "later"})
"""Of a failure token: whether the call may be sent again."""

_BUSY: Final = "busy"
_BUSY_SECONDS: Final = 1.0
"""A shim takes two calls a second from a computer, after thirty at once (shim-engine.md 3)."""


def call_batch(path: Path, options: Call) -> int:
    """Make the calls of a batch and print how each ended.

    Raises:
        InputError: the batch or its results cannot be read; no call is made then.
        WriteError: a result cannot be written.
    """
    requests = read_batch(path)
    results = options.results or path.with_name(path.stem + RESULTS_ENDING)
    if results.resolve() == path.resolve():
        raise UsageError("the results cannot be in the batch's own file", hint="name another file")
    callers = _Callers(options)
    counts, hints = Counter[str](), dict[str | None, None]()
    with open_journal(results) as journal:
        earlier = {request.id for request in requests if journal.outcome(request) is not None}
        outcomes = run_batch(
            requests,
            callers.call,
            journal,
            parallel=options.parallel,
            lane_of=callers.lane_of,
            cancel=callers.cancel,
        )
        try:
            for outcome in outcomes:
                counts[outcome.status] += 1
                hints[outcome.hint] = None
                show([Line(_line(outcome, is_earlier=outcome.id in earlier))])
        except KeyboardInterrupt:
            print_warning(f"stopped; to go on, run it again with the same results: {results}")
            raise
    for hint in filter(None, hints):
        print_warning(f"hint: {one_line(hint)}")
    if counts["not-made"]:
        print_warning(f"hint: the next run makes what was not made: {amount(counts['not-made'], 'call')}")
    summary = ", ".join(f"{counts[status]} {status}" for status in get_args(CallStatus) if counts[status])
    if earlier:
        summary += f"; {len(earlier)} of an earlier run, not made again"
    show([Line(f"results: {one_line(str(results))}"), Line(summary)])
    return ExitCode.OK if counts["ok"] == counts.total() else ExitCode.CALL_FAILED


class _Callers:
    """What calls on each phone; shared by the threads of a batch."""

    def __init__(self, options: Call) -> None:
        self.cancel = threading.Event()
        self._options = options
        self._lock = threading.Lock()
        self._callers: dict[str | None, CapabilityCaller] = {}

    def lane_of(self, request: BatchRequest) -> tuple[str, str] | None:
        """Return phone and app: an app gets one call at a time, since it may open an activity for it.

        A capability that cannot be found has no lane: its call fails with the reason.
        """
        try:
            caller, call = self._prepared(request)
            target = caller.targets.find(call.capability, app=call.app, protocol=call.protocol)
        except DroidgateError:
            return None
        return caller.device.serial, target.key.package

    def call(self, request: BatchRequest) -> BatchOutcome:
        """Make one call and return how it ended; a shim that takes no more for now is asked again."""
        ends_at = time.monotonic() + self._options.deadline
        while True:
            outcome = self._call_once(request)
            # Nothing ran then, so asking again repeats nothing.
            is_busy = outcome.token == _BUSY and time.monotonic() + _BUSY_SECONDS < ends_at
            if not is_busy or self.cancel.wait(_BUSY_SECONDS):
                return outcome

    def _call_once(self, request: BatchRequest) -> BatchOutcome:
        try:
            caller, call = self._prepared(request)
            allowed = EVERY_CAPABILITY if self._options.approved else ()
            result = caller.call(call, CallControls(cancel=self.cancel, allowed=allowed))
        except CallError as error:
            token = error.failure.token
            status: CallStatus = "interrupted" if token in _UNKNOWN_ENDS else "failed"
            if load_failure_tokens()[token].retry in _NOTHING_RAN:
                status = "not-made"
            return BatchOutcome(request.id, status, error=error.message, token=token, hint=hint_of(error))
        except DeviceError as error:
            status = "interrupted" if error.is_of_sent_call else "not-made"
            return BatchOutcome(request.id, status, error=error.message, hint=hint_of(error))
        except DroidgateError as error:
            return BatchOutcome(request.id, "not-made", error=error.message, hint=hint_of(error))
        return BatchOutcome(request.id, "ok", result.outputs)

    def _prepared(self, request: BatchRequest) -> tuple[CapabilityCaller, CallRequest]:
        options = self._options
        serial = request.device or options.serial
        with self._lock:
            if serial not in self._callers:
                device = connect_device(serial)
                self._callers[serial] = CapabilityCaller(device, signed_by=options.signed_by)
        call = CallRequest(
            request.capability,
            request.arguments,
            request.app or options.package,
            request.protocol or options.protocol,
            options.deadline,
        )
        return self._callers[serial], call


def _line(outcome: BatchOutcome, *, is_earlier: bool) -> str:
    text = one_line_json(dict(outcome.outputs)) if outcome.status == "ok" else outcome.error or ""
    run = " (earlier run)" if is_earlier else ""
    return f"{outcome.status} {one_line(outcome.id)}{run}: {one_line(text)}"


def call_commands(path: Path, options: Call) -> int:
    """Run the commands of a file and print the record of each, a JSON object a line.

    Raises:
        InputError: the file, the policy, the pins or the audit log cannot be used; no command is run then.
        DeviceError: the phone cannot be reached.
    """
    commands = read_command_file(path)
    caller = CapabilityCaller(connect_device(options.serial), approver=ask_on_terminal)
    allowed = EVERY_CAPABILITY if options.approved else ()

    def call(command: AgentCommand) -> Json:
        name, arguments = command.command.id, command.arguments
        request = CallRequest(
            name,
            arguments,
            protocol=FORMAT_ID,
            deadline=options.deadline,
        )
        return caller.call(request, CallControls(allowed=allowed)).value

    counts = Counter[str]()
    for result in run_commands(commands, call):
        counts[result.status] += 1
        print_json_line(result.record())
    summary = ", ".join(f"{number} {status}" for status, number in counts.items())
    print_note(f"{amount(len(commands), 'command')}: {summary}")
    return ExitCode.OK if counts["success"] == counts.total() else ExitCode.CALL_FAILED
