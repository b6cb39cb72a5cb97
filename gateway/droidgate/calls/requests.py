"""What a caller asks for, and what it gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from droidgate.calls.subjects import CapabilityKey
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json

CLI: Final = "cli"
"""The client's name of calls by the command line and by Python code."""

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
        deadline: Seconds that the call may take.
        client: Who calls, for the policy and the audit log.
        files: Argument -> file on this computer that the app gets for the time of the call; the argument is
            its path on the phone.
    """

    capability: str
    arguments: Mapping[str, Json] = field(default_factory=dict)
    app: str | None = None
    protocol: str | None = None
    deadline: float = DEFAULT_SECONDS
    client: str = CLI
    files: Mapping[str, Path] = field(default_factory=dict)


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
    hops: tuple[Hop, ...] = ()

    @property
    def milliseconds(self) -> float:
        """How long the call took, all steps together."""
        return sum(hop.milliseconds for hop in self.hops)


def outputs_of(value: Json) -> dict[str, Json]:
    """Return a result by name."""
    if value is None:
        return {}
    return dict(value) if isinstance(value, dict) else {"result": value}
