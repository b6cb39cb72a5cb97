"""The trace of calls: each step with its values, as lines of JSON in a file of the user.

Unlike the audit log, a trace has the values of arguments and results. Lines are written as things happen, so
that the trace of a call that hangs, or of a process that is ended, has everything up to then.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, TypeVar

from droidgate.calls.call_requests import CallRequest, CallResult, Hop
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import CallSubject
from droidgate.computer.private_files import NO_LINK, unwritable
from droidgate.computer.version import VERSION
from droidgate.devices.device import RanCommand
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.values.coercion import FittedArguments
from droidgate_mappings.values.failures import CallError

if TYPE_CHECKING:
    from droidgate.calls.traced_events import TracedEvent
    from droidgate.shims.answers import CallTrace

SCHEMA_ID: Final = "droidgate.call-trace/1"


_Event = TypeVar("_Event", bound=Frozen)


class Trace:
    """The trace of one call that is being written. May be shared by threads.

    Args:
        file: Takes the lines; None writes nothing.
        calls: Numbers the calls of the file.
        lock: Of all that write to the file.
    """

    def __init__(
        self,
        file: BinaryIO | None = None,
        calls: Iterator[int] | None = None,
        lock: threading.Lock | None = None,
    ) -> None:
        self._file = file
        self._began = time.perf_counter()
        self._calls = itertools.count(1) if calls is None else calls
        self._lock = lock or threading.Lock()
        self._number: int | None = None

    def of_next_call(self) -> Trace:
        """Return the trace of one more call, which may run at the same time as others, in the same file."""
        return self if self._file is None else Trace(self._file, self._calls, self._lock)

    @property
    def is_on(self) -> bool:
        """Return whether something is written."""
        return self._file is not None

    def record(self, event: TracedEvent) -> None:
        """Write an event with the milliseconds since the beginning.

        Raises:
            WriteError: it cannot be written; the trace ends before it.
        """
        if self._file is None:
            return
        if self._number is None:
            self._number = next(self._calls)
        line = {
            "schema": SCHEMA_ID,
            "call": self._number,
            "milliseconds": _milliseconds(time.perf_counter() - self._began),
            "event": event.model_dump(),
        }
        data = f"{one_line_json(line)}\n".encode()
        with self._lock:
            try:
                self._file.write(data)
                self._file.flush()
            except OSError as error:
                self._file = None
                raise WriteError(f"the trace cannot be written: {error.strerror}") from None

    def record_request(self, request: CallRequest, serial: str) -> None:
        """Write the call as it was asked for."""
        if not self.is_on:
            return
        from droidgate.calls.traced_events import TracedRequest

        context = request.trace_context
        self.record(
            _event_of(
                TracedRequest,
                request,
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                droidgate=VERSION,
                serial=serial,
                files={argument: str(path) for argument, path in request.files.items()},
                traceparent=None if context is None else context.traceparent,
                tracestate=None if context is None else context.tracestate,
            )
        )

    def record_decision(self, subject: CallSubject, fitted: FittedArguments, decision: Decision) -> None:
        """Write what is called, and what the policy decides."""
        if not self.is_on:
            return
        from droidgate.calls.traced_events import TracedDecision

        self.record(
            _event_of(
                TracedDecision,
                subject,
                arguments=fitted.values,
                coerced=tuple(f"{coercion.pointer}: {coercion.message}" for coercion in fitted.coercions),
                effect=subject.effect.value,
                decision=decision.kind,
                rule=decision.rule,
                reason=decision.reason,
            )
        )

    def record_approval(self, state: Literal["approved", "new", "changed"], *, allowed: bool | None) -> None:
        """Write whether the capability was approved."""
        if self.is_on:
            from droidgate.calls.traced_events import TracedApproval

            self.record(TracedApproval(state=state, allowed=allowed))

    def record_route(self, route: str, title: str, passed_over: Iterable[str]) -> None:
        """Write which route the call takes."""
        if self.is_on:
            from droidgate.calls.traced_events import TracedRoute

            self.record(TracedRoute(route=route, title=title, passed_over=tuple(passed_over)))

    def record_command(self, command: RanCommand) -> None:
        """Write a device command."""
        from droidgate.calls.traced_events import TracedCommand

        result, read = command.result, command.stdin
        self.record(
            TracedCommand(
                arguments=command.arguments,
                duration_ms=_milliseconds(command.seconds),
                stdin=None if read is None else read.decode("utf-8", "backslashreplace"),
                exit_status=None if result is None else result.exit_status,
                stdout="" if result is None else result.text,
                stderr="" if result is None else result.error_text,
                error=None if command.error is None else _text_of(command.error),
            )
        )

    def record_delivery(
        self, request: str, routes: Mapping[str, Json], trace: CallTrace, response: str
    ) -> None:
        """Write what a shim sent to an app and what came back."""
        from droidgate.calls.traced_events import TracedDelivery

        self.record(_event_of(TracedDelivery, trace, request=request, routes=routes, response=response))

    def record_step(self, step: Hop) -> None:
        """Write a step of the call."""
        if self.is_on:
            from droidgate.calls.traced_events import TracedStep

            self.record(TracedStep(name=step.name, duration_ms=round(step.milliseconds, 3)))

    def record_result(self, result: CallResult) -> None:
        """Write what the capability returned."""
        if self.is_on:
            from droidgate.calls.traced_events import TracedResult

            self.record(_event_of(TracedResult, result))

    @contextmanager
    def recording_failure(self) -> Iterator[None]:
        """Write how a call failed; the failure goes on."""
        try:
            yield
        except BaseException as error:
            ctrl_c = "canceled" if isinstance(error, KeyboardInterrupt) else None
            token = error.failure.token if isinstance(error, CallError) else ctrl_c
            if self.is_on:
                from droidgate.calls.traced_events import TracedFailure

                hint = getattr(error, "hint", None)
                with suppress(WriteError):
                    self.record(TracedFailure(token=token, message=_text_of(error), hint=hint))
            raise


NO_TRACE: Final = Trace()


@contextmanager
def open_trace(path: str | os.PathLike[str] | None, *, force: bool = False) -> Iterator[Trace]:
    """Make the file of a trace, which only the user may read, and write it until the context ends.

    Args:
        path: The file; None for a trace that nothing is written of.
        force: Replace a file of that name.

    Raises:
        WriteError: there is a file of that name, or it cannot be written.
    """
    if path is None:
        yield NO_TRACE
        return
    file = Path(path)
    try:
        if force:
            file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600)
    except FileExistsError:
        message, hint = (
            "there is a file of that name already",
            "choose another file, or overwrite with --force",
        )
        raise WriteError(message, place=str(file), hint=hint) from None
    except OSError as error:
        raise unwritable(file, error) from None
    sink = os.fdopen(descriptor, "wb")
    try:
        yield Trace(sink)
    finally:
        try:
            sink.close()  # what a full disk has not taken is still in its buffer
        except OSError as error:
            raise unwritable(file, error) from None


def _event_of(kind: type[_Event], source: object, **values: Any) -> _Event:
    """Return an event with these values; the other fields are those of an object, by their names."""
    names = kind.model_fields.keys() - values.keys() - {"kind"}
    return kind(**{name: getattr(source, name) for name in names}, **values)


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _text_of(error: BaseException) -> str:
    return getattr(error, "message", "") or str(error) or type(error).__name__
