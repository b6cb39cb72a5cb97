"""Calls that Android's own shell can make: what a format says of them, without input and output.

A format turns a call into a command and the command's output into a result
(`droidgate_mappings.formats.format.Format`); `droidgate.calls` sends it. So no format knows adb, and no
sender knows a format.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field


@dataclass(frozen=True, slots=True)
class ShellCall:
    """A call, before it is a command.

    Attributes:
        provider: Whose capability; it has a package.
        capability: What is called.
        arguments: Name -> value, fitted to the declared input.
        facts: The phone.
        seconds: How long the call may take.
    """

    provider: Provider
    capability: Capability
    arguments: Mapping[str, Json]
    facts: DeviceFacts
    seconds: int


@dataclass(frozen=True, slots=True)
class ShellCommand:
    """A command of the device's shell: its arguments, before they are quoted."""

    arguments: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OrderedBroadcast:
    """An explicit, ordered broadcast, sent by `am broadcast`.

    Attributes:
        component: The receiver, `package/class`.
        action: Its action.
        extras: Its String extras.
    """

    component: str
    action: str
    extras: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScreenStart:
    """An activity that `am start-activity -W` starts, of one app and of no other.

    Attributes:
        package: The app.
        component: The activity, `package/class`; None for the one of the app that takes the intent.
        action: The intent's action, None without one.
        data: Its URI, None without one.
        extras: Its String extras.
    """

    package: str
    component: str | None = None
    action: str | None = None
    data: str | None = None
    extras: Mapping[str, str] = field(default_factory=dict)


ShellRequest = ShellCommand | OrderedBroadcast | ScreenStart


@dataclass(frozen=True, slots=True)
class ShellOutput:
    """What a `ShellCommand` printed, and its exit status."""

    text: str
    error_text: str
    exit_status: int


@dataclass(frozen=True, slots=True)
class BroadcastOutput:
    """What the receiver of an `OrderedBroadcast` left: the result code, and the data or None."""

    code: int
    data: str | None


@dataclass(frozen=True, slots=True)
class ScreenOutput:
    """The outcome of a `ScreenStart`.

    Attributes:
        activity: The activity that came up, `package/class`; None where it is not reported.
        warning: What Android warns about, None for nothing.
        is_late: Android did not see it drawn in time.
    """

    activity: str | None = None
    warning: str | None = None
    is_late: bool = False


ShellAnswer = ShellOutput | BroadcastOutput | ScreenOutput


@dataclass(frozen=True, slots=True)
class ShellResult:
    """The outcome of a call.

    Attributes:
        value: The result, before it is fitted to the declared output; None on failure.
        token: The failure token; None on success.
        message: Why it failed, in the callee's words; empty on success.
        code: The AppFunctions error code where the callee gave one.
        is_missing: The call succeeded and its answer has no result.
        note: What is doubtful about the result, one sentence without a period; None for nothing.
    """

    value: Json = None
    token: str | None = None
    message: str = ""
    code: int | None = None
    is_missing: bool = False
    note: str | None = None


class NotCarriedError(DroidgateError):
    """Arguments that this way of calling cannot carry.

    Attributes:
        pointer: JSON Pointer of the argument; empty for all of them.
    """

    exit_code = 5

    def __init__(self, message: str, *, pointer: str = "", hint: str | None = None) -> None:
        super().__init__(message, place=pointer or None, hint=hint)
        self.pointer = pointer


class ShellCalls(Protocol):
    """How a format's capabilities are called by Android's shell.

    Attributes:
        route_id: Id of the `CallRoute` by which the format says whether a provider can be called so.
    """

    route_id: str

    def write(self, call: ShellCall) -> ShellRequest:
        """Return what is sent.

        Raises:
            NotCarriedError: the arguments cannot be sent this way.
        """
        ...

    def why_never(self, capability: Capability, definitions: Mapping[str, Type]) -> str | None:
        """Return why no arguments of a capability can be sent this way; None where some can."""
        del capability, definitions
        return None

    def read(self, call: ShellCall, output: ShellAnswer) -> ShellResult:
        """Return what the output means."""
        ...

    def write_enabled_query(self, call: ShellCall) -> ShellCommand | None:
        """Return the command that asks whether the capability is enabled now; None where there is none."""
        del call
        return None

    def read_enabled(self, output: ShellOutput) -> bool | None:
        """Return whether the capability is enabled; None where the output does not say it."""
        del output
        return None
