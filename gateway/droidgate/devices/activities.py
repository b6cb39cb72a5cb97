"""What the activity manager says: `am broadcast`, `am start-activity -W`, `am startservice`.

Texts: reference android-runtime 1.8 and mobile-mcp-and-mmcp 7; AOSP ActivityManagerShellCommand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.devices.device import DEFAULT_SECONDS, Condition, Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, command_failed
from droidgate.devices.quoting import check_action, check_component, check_user

_BROADCAST: Final = "am broadcast"
_ACTIVITY: Final = "am start-activity"
_SERVICE: Final = "am start-service"
_MARK: Final = "Broadcast completed: result="
_COMPLETED: Final = re.compile(
    r'(?P<result>-?\d{1,10})(?:, data="(?P<data>.*)")?(?:, extras: (?P<extras>Bundle\[.*\]))?', re.DOTALL
)
_WAITED: Final = re.compile(r"(Status|LaunchState|Activity|TotalTime|WaitTime|ThisTime): (.*)")
_INT: Final = range(-(2**31), 2**31)

ServiceOutcome = Literal["started", "not-found", "needs-permission", "background", "refused"]


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


@dataclass(frozen=True, slots=True)
class ServiceStart:
    """How the start of a service ended.

    Attributes:
        outcome: `started`, or why not: there is no such service, a permission is missing, background rules
            forbid it, or Android refuses for another reason.
        text: Android's own words; empty where it started.
    """

    outcome: ServiceOutcome
    text: str = ""


def intent_arguments(
    *,
    component: str | None = None,
    action: str | None = None,
    strings: Mapping[str, str] | None = None,
    user: int | str = 0,
) -> list[str]:
    """Return the options of `am` that describe an Intent; values are quoted later, by `Device.run`.

    Raises:
        UnsafeArgumentError: the component or the action is none.
    """
    arguments = ["--user", check_user(user)]
    if component is not None:
        arguments += ["-n", check_component(component)]
    if action is not None:
        arguments += ["-a", check_action(action)]
    for name, value in (strings or {}).items():
        arguments += ["--es", name, value]
    return arguments


def broadcast_command(intent: Sequence[str]) -> list[str]:
    """Return the command that sends an ordered broadcast; the intent is from `intent_arguments`."""
    return ["am", "broadcast", *intent]


def send_broadcast(
    device: Device,
    intent: Sequence[str],
    *,
    deadline: float = DEFAULT_SECONDS,
    condition: Condition | None = None,
) -> BroadcastResult:
    """Send an ordered broadcast and return what its receivers left.

    Args:
        device: The device.
        intent: From `intent_arguments`.
        deadline: Seconds to wait for the last receiver.
        condition: It is sent only if this holds.

    Raises:
        ConditionError: the condition does not hold; nothing was sent.
        DeviceError: the device fails, refuses, or its output is not that of `am broadcast`.
    """
    result = device.run(broadcast_command(intent), deadline=deadline, condition=condition)
    return read_broadcast(result.text, result.exit_status, result.error_text)


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
    found = _COMPLETED.fullmatch(rest.removeprefix(_MARK).removesuffix("\n"))
    if found is None or int(found["result"]) not in _INT:
        raise DeviceOutputError(_BROADCAST, "the result cannot be read", text=rest)
    return BroadcastResult(int(found["result"]), found["data"], found["extras"])


def start_activity(
    device: Device, intent: Sequence[str], *, deadline: float = DEFAULT_SECONDS
) -> ActivityStart:
    """Start an activity and wait until it is drawn; its result cannot be had this way.

    Raises:
        DeviceError: the device fails, refuses, or its output is not that of `am start-activity -W`.
    """
    result = device.run(["am", "start-activity", "-W", *intent], deadline=deadline)
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
        said = _error_text(lines[1:]) or text
        raise command_failed(_ACTIVITY, exit_status, said, error_text)
    if not lines[0].startswith("Starting: Intent {") or lines[-2:] != ["Complete", ""]:
        raise DeviceOutputError(_ACTIVITY, "it is not an answer of a started activity", text=text)
    warning: str | None = None
    fields: dict[str, str] = {}
    for number, line in enumerate(lines[1:-2], 2):
        found = _WAITED.fullmatch(line)
        if found is not None and found[1] not in fields:
            fields[found[1]] = found[2]
        elif line.startswith("Warning: ") and warning is None and not fields:
            warning = line.removeprefix("Warning: ")
        else:
            raise DeviceOutputError(_ACTIVITY, "the line is unknown", line=number, text=line)
    return _activity_start(fields, warning)


def _activity_start(fields: Mapping[str, str], warning: str | None) -> ActivityStart:
    status, total = fields.get("Status", ""), fields.get("TotalTime")
    if status not in {"ok", "timeout"} or not fields.get("WaitTime", "").isdecimal():
        raise DeviceOutputError(_ACTIVITY, "it tells no status or no time", text=status)
    if total is not None and not re.fullmatch(r"\d{1,10}", total, re.ASCII):
        raise DeviceOutputError(_ACTIVITY, "the time is not a number", text=total)
    return ActivityStart(status, fields.get("Activity"), warning, None if total is None else int(total))


def _error_text(lines: Sequence[str]) -> str:
    errors = [line for line in lines if line.startswith("Error: ")]
    return errors[0] if errors else ""


def start_service(
    device: Device, intent: Sequence[str], *, foreground: bool = False, deadline: float = DEFAULT_SECONDS
) -> ServiceStart:
    """Start a service.

    Raises:
        DeviceError: the device fails, or its output is not that of `am start-service`.
    """
    command = "start-foreground-service" if foreground else "startservice"
    result = device.run(["am", command, *intent], deadline=deadline)
    return read_service_start(result.text, result.exit_status, result.error_text)


def read_service_start(text: str, exit_status: int = 0, error_text: str = "") -> ServiceStart:
    """Read what `am startservice` or `am start-foreground-service` printed.

    Before Android 8 errors came with exit status 0, so the text decides.

    Raises:
        CommandFailedError: `am` itself failed.
        DeviceOutputError: it is not an answer of these commands.
    """
    if _is_exception(error_text):
        raise command_failed(_SERVICE, exit_status, text, error_text)
    is_started = text.startswith("Starting service: Intent {") and text.count("\n") == 1
    if not is_started or not text.rstrip("\r\n").endswith("}") or not text.endswith("\n"):
        if exit_status != 0 and not text:
            raise command_failed(_SERVICE, exit_status, text, error_text)
        raise DeviceOutputError(_SERVICE, "it is not an answer of a started service", text=text)
    said = error_text.strip()
    if exit_status == 0 and not said:
        return ServiceStart("started")
    reason = said.split("\n", 1)[0].strip()
    if not reason.startswith("Error: "):
        raise DeviceOutputError(_SERVICE, f"status {exit_status} without a reason", text=reason)
    return ServiceStart(_outcome_of(reason.removeprefix("Error: ")), reason.removeprefix("Error: "))


def _outcome_of(reason: str) -> ServiceOutcome:
    if reason == "Not found; no service started.":
        return "not-found"
    if reason.startswith("Requires permission "):
        return "needs-permission"
    if reason.startswith("app is in background uid"):
        return "background"
    return "refused"


def _is_exception(error_text: str) -> bool:
    return "Exception occurred while executing" in error_text or "Security exception: " in error_text
