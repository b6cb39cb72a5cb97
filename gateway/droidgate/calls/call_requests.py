"""What a caller asks for, what it gets, and reports of a call that takes long: what it waits for, and since
when. The time left is not known.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from droidgate.calls.subjects import CLI, CapabilityKey
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_shim.deadlines import check_seconds

EVERY_SECONDS: Final = 1.0
ASK_AFTER: Final = 3
"""How many reports of a step pass before each question to the phone about the call's progress."""


@dataclass(frozen=True, slots=True)
class CallProgress:
    """How far a call has come.

    Attributes:
        text: What is being done or waited for, a few words.
        seconds: Since the call began.
    """

    text: str
    seconds: float


ProgressSink = Callable[[CallProgress], None]


class ProgressReports:
    """Reports a call's step each second while the context is open, on a thread of its own.

    Args:
        sink: Gets the reports; None starts no thread.

    Attributes:
        step: What is being done; None while nothing is to be reported, such as while somebody is asked.
        ask: Returns what the phone reports of the call, None where it reports nothing.
    """

    def __init__(self, sink: ProgressSink | None) -> None:
        self.step: str | None = None
        self.ask: Callable[[], str | None] | None = None
        self._sink = sink
        self._began = time.monotonic()
        self._ended: threading.Event
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._sink is not None:
            self._ended = threading.Event()
            self._thread = threading.Thread(target=self._report, args=[self._sink], daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._ended.set()
            self._thread.join()

    def _report(self, sink: ProgressSink) -> None:
        reported, count, text = None, 0, None
        while not self._ended.wait(EVERY_SECONDS):
            step = self.step
            if step is None:
                continue
            if step != reported:
                reported, count, text = step, 0, None
            count += 1
            ask = self.ask
            if ask is not None and count % ASK_AFTER == 0:
                with suppress(DroidgateError):
                    text = ask()
            if step == self.step and not self._ended.is_set():
                sink(CallProgress(text or step, time.monotonic() - self._began))


DEFAULT_SECONDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class CallRequest:
    """A call as its caller asks for it.

    Attributes:
        capability: The capability's id, the end of its id, the ends of its package and id
            (`notes.createNote`), `PACKAGE/ID`, or `PACKAGE/COMPONENT/ID`.
        arguments: Name -> value.
        app: Only capabilities of this package.
        protocol: Only capabilities of this format.
        deadline: Seconds that the call may take, 1 to 150.
        client: Who calls, for the policy and the audit log.
        files: Argument -> file on this computer that the app gets for the time of the call; the argument is
            its path on the phone.
        traceparent: The distributed trace that the call belongs to. No app sees it.
        continues: Id in the audit log of the first attempt, where a call is repeated after a question.
    """

    capability: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    app: str | None = None
    protocol: str | None = None
    deadline: float = DEFAULT_SECONDS
    client: str = CLI
    files: Mapping[str, Path] = field(default_factory=dict)
    traceparent: str | None = None
    continues: str | None = None

    def __post_init__(self) -> None:
        """Raise a UsageError for a deadline out of range."""
        check_seconds(self.deadline)


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of a call.

    Attributes:
        name: What was done, a few words.
        milliseconds: How long it took.
        commands: The device commands that it ran, each as its arguments before they were quoted.
    """

    name: str
    milliseconds: float
    commands: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a capability returned.

    Attributes:
        value: The result as the capability declares it; None where it declares none or gave none.
        outputs: The same by name: an object's members; any other value is `result`.
        key: Which capability was called.
        serial: On which phone.
        route: Id of the route that carried the call.
        findings: What was coerced, and what is doubtful about the result or its record.
        hops: The steps in order, with their durations.
    """

    value: Json
    outputs: Mapping[str, Json]
    key: CapabilityKey
    serial: str
    route: str
    findings: tuple[Finding, ...] = ()
    hops: tuple[Hop, ...] = field(default=(), repr=False)

    @property
    def milliseconds(self) -> float:
        """How long the call took, all steps together."""
        return sum(hop.milliseconds for hop in self.hops)


def outputs_of(value: Json) -> dict[str, Json]:
    """Return a result by name."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, dict) else {"result": value}
