"""What Android's shell commands have in common (AOSP's `BasicShellCommandHandler`): exceptions and users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.commands.refusal import FAILED
from droidgate_phone.java_text import java_int

ALL_USERS: Final = -1
OWNER: Final = 0
_SECURITY: Final = "java.lang.SecurityException"


def run_guarded(call: CommandCall, verb: str, run: Callable[[], int]) -> int:
    """Run a command's verb; what Android would throw is printed as it prints it, with status 255.

    Java's stack trace is left out: only its first line is printed.
    """
    try:
        return run()
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
    return user


def is_known_user(user: int) -> bool:
    """Return whether the phone has that user; it has the owner only."""
    return user in (ALL_USERS, OWNER)
