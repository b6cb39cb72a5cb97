"""The trace of a call: each step with its values, as lines of JSON in a file of the user.

Unlike the audit log, a trace has the values of arguments and results. Lines are written as things happen, so
that the trace of a call that hangs, or of a process that is ended, has everything up to then.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal

from droidgate.calls.call_requests import CallRequest, CallResult, Hop
from droidgate.calls.policy import Decision
from droidgate.calls.subjects import CallSubject
from droidgate.computer.private_files import NO_LINK, unwritable
from droidgate.computer.version import VERSION
from droidgate.devices.device import RanCommand
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.values.coercion import FittedArguments
from droidgate_mappings.values.failures import CallError

if TYPE_CHECKING:
    from droidgate.shims.answers import CallTrace


class Trace:
    """The trace of one call that is being written. May be shared by threads.

    Args:
        file: Takes the lines; None writes nothing.
    """

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file
        self._began = time.perf_counter()
        self._lock = threading.Lock()

    @property
    def is_on(self) -> bool:
        """Return whether something is written."""
        return self._file is not None

    def record(self, kind: str, values: Mapping[str, Json]) -> None:
        """Write an event of a kind with the milliseconds since the beginning.

        Raises:
            WriteError: it cannot be written; the trace ends before it.
        """
        if self._file is None:
            return
        elapsed = _milliseconds(time.perf_counter() - self._began)
        line: Json = {"milliseconds": elapsed, "event": {"kind": kind, **values}}
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
        self.record(
            "request",
            {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "droidgate": VERSION,
                "serial": serial,
                "capability": request.capability,
                "arguments": dict(request.arguments),
                "app": request.app,
                "protocol": request.protocol,
                "files": {argument: str(path) for argument, path in request.files.items()},
                "deadline": request.deadline,
                "client": request.client,
                "traceparent": request.traceparent,
            },
        )

    def record_decision(self, subject: CallSubject, fitted: FittedArguments, decision: Decision) -> None:
        """Write what is called, and what the policy decides."""
        if not self.is_on:
            return
        self.record(
            "decision",
            {
                "user": subject.user,
                "package": subject.package,
                "component": subject.component,
                "protocol": subject.protocol,
                "capability": subject.capability,
                "arguments": dict(fitted.values),
                "coerced": [f"{coercion.pointer}: {coercion.message}" for coercion in fitted.coercions],
                "effect": subject.effect.value,
                "decision": decision.kind,
                "rule": decision.rule,
                "reason": decision.reason,
            },
        )

    def record_approval(self, state: Literal["approved", "new", "changed"], *, allowed: bool | None) -> None:
        """Write whether the capability was approved, and the answer; None where nobody was asked."""
        self.record("approval", {"state": state, "allowed": allowed})

    def record_route(self, route: str, title: str, passed_over: Iterable[str]) -> None:
        """Write which route the call takes."""
        self.record("route", {"route": route, "title": title, "passed_over": [*passed_over]})

    def record_command(self, command: RanCommand) -> None:
        """Write a device command."""
        result, read = command.result, command.stdin
        self.record(
            "command",
            {
                "arguments": [*command.arguments],
                "duration_ms": _milliseconds(command.seconds),
                "stdin": None if read is None else read.decode("utf-8", "backslashreplace"),
                "exit_status": None if result is None else result.exit_status,
                "stdout": "" if result is None else result.text,
                "stderr": "" if result is None else result.error_text,
                "error": None if command.error is None else _text_of(command.error),
            },
        )

    def record_delivery(
        self, request: str, routes: Mapping[str, Json], trace: CallTrace, response: str
    ) -> None:
        """Write what a shim sent to an app and what came back: what a vector of its engine has."""
        values = {"request": request, "routes": dict(routes), **trace.model_dump(), "response": response}
        self.record("delivery", values)

    def record_step(self, step: Hop) -> None:
        """Write a step of the call."""
        self.record("step", {"name": step.name, "duration_ms": round(step.milliseconds, 3)})

    def record_result(self, result: CallResult) -> None:
        """Write what the capability returned."""
        if not self.is_on:
            return
        findings = [finding.model_dump() for finding in result.findings]
        values = {"value": result.value, "outputs": dict(result.outputs), "findings": findings}
        self.record("result", values)

    @contextmanager
    def recording_failure(self) -> Iterator[None]:
        """Write how a call failed; the failure goes on."""
        try:
            yield
        except BaseException as error:
            ctrl_c = "canceled" if isinstance(error, KeyboardInterrupt) else None
            token = error.failure.token if isinstance(error, CallError) else ctrl_c
            with suppress(WriteError):
                hint = getattr(error, "hint", None)
                self.record("failure", {"token": token, "message": _text_of(error), "hint": hint})
            raise


NO_TRACE: Final = Trace()


@contextmanager
def open_trace(path: str | os.PathLike[str] | None, *, force: bool | None = None) -> Iterator[Trace]:
    """Make the file of a trace, which only the user may read, and write it until the context ends.

    Args:
        path: The file; None for a trace that nothing is written of.
        force: Replace a file of that name; None where nobody can say so.

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
            "choose another file" if force is None else "choose another file, or overwrite with --force",
        )
        raise WriteError(message, place=str(file), hint=hint) from None
    except (OSError, ValueError) as error:
        raise unwritable(file, error) from None
    sink = os.fdopen(descriptor, "wb")
    try:
        yield Trace(sink)
    finally:
        try:
            sink.close()  # what a full disk has not taken is still in its buffer
        except OSError as error:
            raise unwritable(file, error) from None


def _milliseconds(seconds: float) -> float:
    return round(seconds * 1000, 3)


def _text_of(error: BaseException) -> str:
    return getattr(error, "message", "") or str(error) or type(error).__name__
