"""What `cmd app_function` can do, in each of its generations (reference appfunctions 6).

It is read from the command's help, not from the API level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from droidgate.devices.device import Device
from droidgate.devices.service_shells import ServiceShell, read_help

SERVICE: Final = "app_function"
TITLE: Final = "AppFunctionManagerService commands:"


@dataclass(frozen=True, slots=True)
class AppFunctionShell(ServiceShell):
    """What `cmd app_function` of a device can do."""

    @property
    def executes(self) -> bool:
        """Functions can be called."""
        return "execute-app-function" in self.commands

    @property
    def lists(self) -> bool:
        """Functions can be listed."""
        return "list-app-functions" in self.commands

    @property
    def reports_enabled(self) -> bool:
        """The enabled state of a function can be asked for."""
        return "is-enabled" in self.commands


def app_function_shell(device: Device) -> AppFunctionShell:
    """Return what `cmd app_function` of a device can do.

    Raises:
        DeviceError: the device fails, or its output is not help text.
    """
    result = device.run(["cmd", SERVICE, "help"])
    shell = read_help(SERVICE, TITLE, result.text, result.exit_status, result.error_text)
    return AppFunctionShell(shell.commands, shell.reason)
