"""Which components answer an Intent: `cmd package query-services|query-activities|query-receivers`.

Shapes: reference android-runtime 1.8; AOSP PackageManagerShellCommand.runQueryIntentServices and
printResolveInfo.
"""

from __future__ import annotations

from typing import Literal

from droidgate.devices.command_outputs import command_failed, output_lines
from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.devices.quoting import check_action, check_user, is_component

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
