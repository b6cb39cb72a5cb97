"""Calls of AppFunctions by `cmd app_function` in each of its generations (reference appfunctions 6).

What a command can do is read from its help, not from the API level. The answer of `execute-app-function` is
handed on as it is: what it means is said in one place, the AppFunctions adapter's `shell_output`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from droidgate.devices.device import CommandResult, Device
from droidgate.devices.errors import UnsupportedDeviceError
from droidgate.devices.quoting import check_package, check_user
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

    @property
    def takes_timeout(self) -> bool:
        """A call can be given a time limit."""
        return "--timeout-duration" in self.commands.get("execute-app-function", frozenset())


def app_function_shell(device: Device) -> AppFunctionShell:
    """Return what `cmd app_function` of a device can do.

    Raises:
        DeviceError: the device fails, or its output is not help text.
    """
    result = device.run(["cmd", SERVICE, "help"])
    shell = read_help(SERVICE, TITLE, result.text, result.exit_status, result.error_text)
    return AppFunctionShell(shell.commands, shell.reason)


def execute_command(
    package: str, function: str, parameters: str, *, user: int, seconds: int | None
) -> list[str]:
    """Return the command that calls a function.

    Args:
        package: Whose function.
        function: Its id, as declared.
        parameters: The parameters as JSON.
        user: For whom.
        seconds: Time limit on the device; None where the shell takes none.
    """
    arguments = ["cmd", "app_function", "execute-app-function", "--package", check_package(package)]
    arguments += ["--function", function, "--parameters", parameters, "--user", check_user(user)]
    return arguments if seconds is None else [*arguments, "--timeout-duration", str(seconds)]


def execute_app_function(
    device: Device,
    shell: AppFunctionShell,
    package: str,
    function: str,
    parameters: str,
    *,
    user: int = 0,
    seconds: int = 30,
) -> CommandResult:
    """Call a function as the shell and return what was printed, for the adapter's `read_shell_output`.

    Raises:
        UnsupportedDeviceError: its shell cannot call functions.
        DeviceError: the device fails.
    """
    if not shell.executes:
        raise UnsupportedDeviceError(
            shell.reason or "cmd app_function cannot call functions here", place=device.serial
        )
    limit = seconds if shell.takes_timeout else None
    arguments = execute_command(package, function, parameters, user=user, seconds=limit)
    return device.run(arguments, deadline=seconds + 10.0)
