"""What the activity manager says: `am broadcast`, `am start-activity -W`.

Texts: reference android-runtime 1.8 and mobile-mcp-and-mmcp 7; AOSP ActivityManagerShellCommand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate.devices.device import DEFAULT_SECONDS, Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, command_failed
from droidgate.devices.quoting import check_action, check_component, check_package, check_user
from droidgate_mappings.records import dataclass

_BROADCAST: Final = "am broadcast"
_ACTIVITY: Final = "am start-activity"
_MARK: Final = "Broadcast completed: result="
_COMPLETED: Final = re.compile(
    r'(?P<result>-?\d{1,10})(?:, data="(?P<data>.*)")?(?:, extras: (?P<extras>Bundle\[.*\]))?', re.DOTALL
)
_WAITED: Final = re.compile(r"(Status|LaunchState|Activity|TotalTime|WaitTime|ThisTime): (.*)")
_INT: Final = range(-(2**31), 2**31)


@dataclass(frozen=True, slots=True)
class BroadcastResult:
    """What the last receiver of an ordered broadcast left.

    Attributes:
        result: The result code; 0 where no receiver set one.
        data: The result data as text; None where there is none.
        extras: The extras as Android prints them, which says no more than that there are some.
    """

    result: int
    data: str | None = None
    extras: str | None = None


@dataclass(frozen=True, slots=True)
class ActivityStart:
    """How the start of an activity ended.

    Attributes:
        status: `ok` or `timeout`, as Android prints it.
        activity: The activity that came up, `package/class`; None where it is not reported.
        warning: What Android warns about, such as that it was only brought to the front; None for nothing.
        milliseconds: Until it was drawn; None where it is not reported.
    """

    status: str
    activity: str | None
    warning: str | None
    milliseconds: int | None


def intent_arguments(
    *,
    component: str | None = None,
    package: str | None = None,
    action: str | None = None,
    data: str | None = None,
    strings: Mapping[str, str] | None = None,
    user: int | str = 0,
) -> list[str]:
    """Return the options of `am` that describe an Intent; values are quoted later, by `Device.run`.

    Raises:
        UnsafeArgumentError: the component, the package or the action is none.
    """
    arguments = ["--user", check_user(user)]
    if component is not None:
        arguments += ["-n", check_component(component)]
    if package is not None:
        arguments += ["-p", check_package(package)]
    if action is not None:
        arguments += ["-a", check_action(action)]
    if data is not None:
        arguments += ["-d", data]
    for name, value in (strings or {}).items():
        arguments += ["--es", name, value]
    return arguments


def broadcast_command(intent: Sequence[str]) -> list[str]:
    """Return the command that sends an ordered broadcast; the intent is from `intent_arguments`."""
    return ["am", "broadcast", *intent]


def read_broadcast(text: str, exit_status: int = 0, error_text: str = "") -> BroadcastResult:
    """Read what `am broadcast` printed.

    The data is not escaped: it ends at the last quote before `, extras: ` or the end.

    Raises:
        CommandFailedError: Android refused, or did not deliver it.
        DeviceOutputError: it is not an answer of `am broadcast`.
    """
    if exit_status != 0 or _is_exception(error_text):
        raise command_failed(_BROADCAST, exit_status, text, error_text)
    first, _, rest = text.replace("\r\n", "\n").partition("\n")
    if not first.startswith("Broadcasting: Intent {") or not text.endswith("\n"):
        raise DeviceOutputError(_BROADCAST, "it is not an answer of a broadcast", text=text)
    if not rest:
        raise CommandFailedError(
            "the broadcast was not delivered",
            exit_status=exit_status,
            hint="look whether the user is running and the app installed",
        )
    if not rest.startswith(_MARK):
        raise DeviceOutputError(_BROADCAST, "it has no result", line=2, text=rest)
    match = _COMPLETED.fullmatch(rest.removeprefix(_MARK).removesuffix("\n"))
    if match is None or int(match["result"]) not in _INT:
        raise DeviceOutputError(_BROADCAST, "the result cannot be read", text=rest)
    return BroadcastResult(int(match["result"]), match["data"], match["extras"])


def start_command(intent: Sequence[str]) -> list[str]:
    """Return the command that starts an activity; the intent is from `intent_arguments`."""
    return ["am", "start-activity", "-W", *intent]


def start_activity(
    device: Device,
    intent: Sequence[str],
    *,
    deadline: float = DEFAULT_SECONDS,
) -> ActivityStart:
    """Start an activity and wait until it is drawn; its result cannot be had this way.

    Raises:
        DeviceError: the device fails, refuses, or its output is not that of `am start-activity -W`.
    """
    result = device.run(start_command(intent), deadline=deadline)
    return read_activity_start(result.text, result.exit_status, result.error_text)


def read_activity_start(text: str, exit_status: int = 0, error_text: str = "") -> ActivityStart:
    """Read what `am start-activity -W` printed.

    Errors are on standard output, until Android 15 or so with exit status 0.

    Raises:
        CommandFailedError: Android did not start it.
        DeviceOutputError: it is not an answer of `am start-activity -W`.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    error = next((line for line in lines[1:] if line.startswith("Error")), None)
    if exit_status != 0 or error is not None or _is_exception(error_text):
        reason = _error_text(lines[1:]) or text
        raise command_failed(_ACTIVITY, exit_status, reason, error_text)
    if not lines[0].startswith("Starting: Intent {") or lines[-2:] != ["Complete", ""]:
        raise DeviceOutputError(_ACTIVITY, "it is not an answer of a started activity", text=text)
    warning: str | None = None
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:-2], 2):
        match = _WAITED.fullmatch(line)
        if match is not None and match[1] not in fields:
            fields[match[1]] = match[2]
        elif line.startswith("Warning: ") and warning is None and not fields:
            warning = line.removeprefix("Warning: ")
        else:
            raise DeviceOutputError(_ACTIVITY, "the line is unknown", line=number, text=line)
    return _activity_start(fields, warning)


def _activity_start(fields: Mapping[str, str], warning: str | None) -> ActivityStart:
    status, total = fields.get("Status", ""), fields.get("TotalTime")
    if status not in {"ok", "timeout"} or not fields.get("WaitTime", "").isdecimal():
        raise DeviceOutputError(_ACTIVITY, "the output has no status or no time", text=status)
    if total is not None and not re.fullmatch(r"\d{1,10}", total, re.ASCII):
        raise DeviceOutputError(_ACTIVITY, "the time is not a number", text=total)
    return ActivityStart(status, fields.get("Activity"), warning, None if total is None else int(total))


def _error_text(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith("Error: ")]
    return errors[0] if errors else ""


def _is_exception(error_text: str) -> bool:
    return "Exception occurred while executing" in error_text or "Security exception: " in error_text
