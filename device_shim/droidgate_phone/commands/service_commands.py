"""`cmd`: Android's services by name (frameworks/native `cmds/cmd`), with the exceptions and
users that their commands have in common (AOSP's `BasicShellCommandHandler`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.java_text import java_int
from droidgate_phone.system.processes import AndroidNotModelledError

ALL_USERS: Final = -1
OWNER: Final = 0
_CURRENT: Final = (-2, -3)
"""The current user; the current one, or the caller's."""
_SECURITY: Final = "java.lang.SecurityException"

Verb = Callable[[CommandCall, ArgumentReader], int]


def run_guarded(call: CommandCall, verb: str, run: Callable[[], int]) -> int:
    """Run a command's verb; what Android would throw is printed as it prints it, with status 255.

    Java's stack trace is left out: only its first line is printed.
    """
    try:
        return run()
    except AndroidNotModelledError as error:
        return refuse(call, error.what)
    except ArgumentError as error:
        print_exception(call, verb, error.exception, error.message)
    except AndroidError as error:
        print_exception(call, verb, error.exception, error.message)
    return FAILED


def print_exception(call: CommandCall, verb: str, exception: str, message: str) -> None:
    """Print what a shell command prints when it throws; the wording is another before Android 11."""
    release = call.system.release
    if not release.at_least(30) and exception == _SECURITY:
        call.write_error(f"Security exception: {message}\n\n{exception}: {message}\n")
        return
    doing = f"executing '{verb}'" if release.at_least(30) else "dumping"
    call.write_error(f"\nException occurred while {doing}:\n{exception}: {message}\n")


def unknown_command(call: CommandCall, verb: str) -> int:
    """Print what a shell command prints for a verb that it does not have."""
    call.write(f"Unknown command: {verb}\n")
    return FAILED


def read_user(reader: ArgumentReader) -> int:
    """Return a user argument: `ALL_USERS` or a number; the current user is the owner.

    Raises:
        ArgumentError: it is not a user.
    """
    text = reader.require()
    if text == "all":
        return ALL_USERS
    if text in ("current", "cur"):
        return OWNER
    user = java_int(text)
    if user is None:
        raise ArgumentError(f"Bad user number: {text}")
    return OWNER if user in _CURRENT else user


def check_single_user(user: int) -> None:
    """Check that a command that is for one user is not for all or for a special one.

    Raises:
        ArgumentError: as Android would throw.
    """
    if user < OWNER:
        raise ArgumentError(f"Call does not support special user #{user}")


def is_known_user(user: int) -> bool:
    """Return whether the phone has that user; it has the owner only."""
    return user in (ALL_USERS, OWNER)


_NO_SERVICE: Final = 20

# Service -> module and function that runs its shell commands; "" where the phone has none.
_SERVICES: Final[Mapping[str, str]] = {
    "activity": "activity_commands:run_activity",
    "app_function": "app_function_commands:run_app_function",
    "appops": "settings_commands:run_app_ops",
    "content": "",
    "deviceidle": "dumpsys_commands:run_device_idle",
    "device_config": "",
    "input_method": "input_method_commands:run_input_method",
    "package": "package_commands:run_package",
    "settings": "settings_commands:run_settings",
    "statusbar": "window_commands:run_status_bar",
    "window": "window_commands:run_window",
}


def _has_service(call: CommandCall, name: str) -> bool:
    if name == "app_function" and call.system.release.function_shell is None:
        return False
    return name in _SERVICES


def run_cmd(call: CommandCall) -> int:
    """`cmd -l` and `cmd SERVICE ARGUMENTS`."""
    if not call.arguments:
        call.write_error("cmd: No service specified; use -l to list all services\n")
        return _NO_SERVICE
    name, *rest = call.arguments
    if name == "-l":
        services = "".join(f"  {item}\n" for item in sorted(_SERVICES) if _has_service(call, item))
        call.write("Currently running services:\n" + services)
        return 0
    if name.startswith("-"):
        return refuse(call, f"cmd {name}")
    if not _has_service(call, name):
        call.write_error(f"cmd: Can't find service: {name}\n")
        return _NO_SERVICE
    target = _SERVICES[name]
    if not target:
        return refuse(call, f"cmd {name}")
    module, _, function = target.partition(":")
    run: Command = getattr(import_module(f"droidgate_phone.commands.{module}"), function)
    return run(replace(call, arguments=tuple(rest)))


COMMANDS: Final[Mapping[str, Command]] = {"cmd": run_cmd}
