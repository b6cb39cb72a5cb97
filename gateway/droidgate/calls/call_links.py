"""What a route gets of a call, what it plans, and what it returns."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from droidgate.calls.call_requests import Hop, ProgressReports
from droidgate.calls.traces import NO_TRACE, Trace
from droidgate.devices.device import Condition, Device
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field

CommandWords = tuple[str, ...]
"""A device command: its arguments, before they are quoted."""


@dataclass(slots=True)
class CallLink:
    """One call on its way.

    Attributes:
        device: The phone; its commands end when the call is canceled.
        facts: What it is.
        seconds: How long the call may take, from its start.
        hops: The steps so far.
        condition: What has to hold when the shell starts the command that calls; only `ShellRoute` has it
            checked.
        trace: Gets each step.
        progress: Has the step that is being done.
    """

    device: Device
    facts: DeviceFacts
    seconds: float
    hops: list[Hop] = field(default_factory=list)
    condition: Condition | None = None
    trace: Trace = NO_TRACE
    progress: ProgressReports = field(default_factory=lambda: ProgressReports(None))

    @contextmanager
    def hop(self, name: str, *commands: CommandWords) -> Iterator[None]:
        """Record a step with its duration, also when it fails."""
        begin = time.perf_counter()
        self.progress.step = name
        try:
            yield
        finally:
            self.progress.step = self.progress.ask = None
            self.add(name, begin, *commands)

    def add(self, name: str, begin: float, *commands: CommandWords) -> None:
        """Record a step that began at a moment of `time.perf_counter` and ends now."""
        hop = Hop(name, (time.perf_counter() - begin) * 1000, commands)
        self.hops.append(hop)
        self.trace.record_step(hop)


@dataclass(frozen=True, slots=True)
class RoutePlan:
    """What a route would do.

    Attributes:
        route: Id of the route.
        title: The route, in a few words.
        commands: The device commands, in order.
        payload: What the route itself needs to send it.
    """

    route: str
    title: str
    commands: tuple[CommandWords, ...]
    payload: Any = None


@dataclass(frozen=True, slots=True)
class RawResult:
    """What came back.

    Attributes:
        value: The result, not yet fitted to its declaration.
        declared: The type to fit it to; None where it is taken as it is.
        definitions: What the declaration refers to.
        note: What is doubtful about it, one sentence without a period.
    """

    value: Json
    declared: Capability | None
    definitions: Mapping[str, Type] = field(default_factory=dict)
    note: str | None = None
