"""Which components answer an Intent: `cmd package query-services|query-activities|query-receivers`.

Shapes: reference android-runtime 1.8; AOSP PackageManagerShellCommand.runQueryIntentServices and
printResolveInfo.

Also here: what every parser of a command's output does the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from droidgate.devices.device import Device
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, excerpt
from droidgate.devices.quoting import check_action, check_user, is_component

_MAX_LINES: Final = 200_000

SERVICE_MISSING: Final = "Can't find service"
PACKAGE_MANAGER_HINT: Final = "wait until Android has started, then try again"


def output_lines(command: str, text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers from 1.

    Raises:
        DeviceOutputError: the last line is cut off, there are too many, or one holds a control character.
    """
    if text and not text.endswith("\n"):
        raise DeviceOutputError(command, "the output is cut off", text=text[-40:])
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.removesuffix("\r")
        if number > _MAX_LINES:
            raise DeviceOutputError(command, f"there are more than {_MAX_LINES} lines", line=number)
        if not line:
            continue
        if not line.isprintable():
            raise DeviceOutputError(command, "the line has a control character", line=number, text=line)
        yield number, line


def command_failed(command: str, exit_status: int, text: str, error_text: str = "") -> CommandFailedError:
    """Return the error for a command that ended with an error; Android's text is quoted."""
    said = _first_line(error_text) or _first_line(text)
    hint = PACKAGE_MANAGER_HINT if SERVICE_MISSING in said else None
    reason = f": {excerpt(said)}" if said else ""
    return CommandFailedError(
        f"{command} ended with status {exit_status}{reason}", exit_status=exit_status, hint=hint
    )


def _first_line(text: str) -> str:
    return next((line for line in text.split("\n") if line.strip()), "").strip()


ComponentKind = Literal["services", "activities", "receivers"]


def query_command(kind: ComponentKind, action: str, user: int) -> list[str]:
    """Return the command that asks for the components of an action."""
    options = ["--components", "-a", check_action(action), "--user", check_user(user)]
    return ["cmd", "package", f"query-{kind}", *options]


def query_components(device: Device, kind: ComponentKind, action: str, user: int = 0) -> list[str]:
    """Return the components that answer an action, as `package/full.class.Name`.

    Raises:
        DeviceError: the device fails, or its output is not that of `cmd package query-...`.
    """
    result = device.run(query_command(kind, action, user))
    return read_components(kind, result.text, result.exit_status, result.error_text)


def read_components(kind: ComponentKind, text: str, exit_status: int = 0, error_text: str = "") -> list[str]:
    """Read what `cmd package query-KIND --components` printed: one component per line, or `No KIND found`.

    Returns:
        The components in Android's order, classes written out.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a line is not a component.
    """
    command = f"cmd package query-{kind}"
    if exit_status != 0:
        raise command_failed(command, exit_status, text, error_text)
    lines = list(output_lines(command, text))
    if [line for _, line in lines] == [f"No {kind} found"]:
        return []
    if not lines:
        raise DeviceOutputError(command, "it printed nothing")
    for number, line in lines:
        if not is_component(line):
            raise DeviceOutputError(command, "the line is not a component", line=number, text=line)
    return [full_component(line) for _, line in lines]


def full_component(component: str) -> str:
    """Return a component with its class written out: `a.b/.C` is `a.b/a.b.C`."""
    package, _, name = component.partition("/")
    return f"{package}/{package}{name}" if name.startswith(".") else component
