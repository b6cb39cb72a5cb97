"""Programs that the shell starts: the commands of the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import REFUSED_PROGRAMS, find_command
from droidgate_phone.common.clocks import COMMAND_HERE
from droidgate_phone.files.file_layout import SEARCH_PATH
from droidgate_phone.files.phone_files import SEARCH, VirtualFileError
from droidgate_phone.shell.shell_errors import (
    BROKEN_PIPE_STATUS,
    BudgetExceededError,
    CommandError,
    NotModelledError,
)
from droidgate_phone.shell.shell_run import HERE, CheckedOutput, CountedInput, Streams
from droidgate_phone.shell.shell_state import ShellState

NOT_FOUND_STATUS: Final = 127
NOT_EXECUTABLE_STATUS: Final = 126
INTERNAL_STATUS: Final = 70
_PROGRAM_FOLDERS: Final = frozenset({"/system/bin", "/bin"})


def _find_program(state: ShellState, name: str) -> str | None:
    """Return the path of a program, None where there is none; a name with a slash is a path."""
    if "/" in name:
        path = state.path(name)
        return name if _command_of(path) or state.system.files.exists(path, uid=state.uid) else None
    for folder in (state.variables.get("PATH") or SEARCH_PATH).split(":"):
        path = f"{folder.rstrip('/') or '.'}/{name}"
        if _command_of(path) or _is_executable(state, path):
            return path
    return None


def _command_of(path: str) -> Command | None:
    """Return the command that a path leads to, None for none of the phone's."""
    folder, _, name = path.rpartition("/")
    return find_command(name) if folder in _PROGRAM_FOLDERS else None


def _is_executable(state: ShellState, path: str) -> bool:
    files = state.system.files
    path = state.path(path)
    try:
        status = files.stat(path, uid=state.uid)
    except VirtualFileError:
        return False
    return status.is_file and files.may(path, SEARCH, uid=state.uid)


def start_program(state: ShellState, fields: Sequence[str]) -> int:
    """Run a program to its end with the streams and variables of a shell, and return its status.

    Raises:
        CommandError: the program does not exist (127), or it cannot be run (126).
        NotModelledError: it is a program whose code the phone does not have.
    """
    name = fields[0]
    if not name:
        raise CommandError(": can't execute: Is a directory", NOT_EXECUTABLE_STATUS)
    path = _find_program(state, name)
    if path is None:
        if name.removeprefix("/system").removeprefix("/bin/") in REFUSED_PROGRAMS:
            raise NotModelledError(f"the program {name}")
        raise CommandError(f"{name}: inaccessible or not found", NOT_FOUND_STATUS)
    command = _command_of(state.path(path))
    if command is not None:
        return _call_command(state, command, fields)
    files, full = state.system.files, state.path(path)
    if files.stat(full, uid=state.uid).is_directory:
        raise CommandError(f"{name}: can't execute: Is a directory", NOT_EXECUTABLE_STATUS)
    if not files.may(full, SEARCH, uid=state.uid):
        raise CommandError(f"{name}: can't execute: Permission denied", NOT_EXECUTABLE_STATUS)
    raise NotModelledError(f"the program {full}")


def _call_command(state: ShellState, command: Command, fields: Sequence[str]) -> int:
    """Run a command of the device; whatever goes wrong in it ends as a status."""
    streams = Streams(
        CountedInput(state.input(), state.run),
        CheckedOutput(state.output(), state.run),
        CheckedOutput(state.output(2), state.run),
    )
    call = CommandCall(
        name=fields[0].rpartition("/")[2],
        arguments=tuple(fields[1:]),
        streams=streams,
        system=state.system,
        environment=state.environment(),
        directory=state.directory,
        uid=state.uid,
    )
    before, HERE.run, HERE.depth = (HERE.run, HERE.depth), state.run, state.depth
    outer, COMMAND_HERE.on_end = COMMAND_HERE.on_end, state.run.on_end
    try:
        return command(call) & 0xFF
    except BrokenPipeError:
        return BROKEN_PIPE_STATUS
    except (BudgetExceededError, NotModelledError, RecursionError):
        raise
    except VirtualFileError as error:
        call.write_error(f"{call.name}: {error.filename or 'write'}: {error.strerror}\n")
        return 1
    except Exception as error:  # noqa: BLE001 - a fault in one command must not end the phone
        call.write_error(f"droidgate phone: {call.name} failed inside: {type(error).__name__}: {error}\n")
        return INTERNAL_STATUS
    finally:
        HERE.run, HERE.depth = before
        COMMAND_HERE.on_end = outer
