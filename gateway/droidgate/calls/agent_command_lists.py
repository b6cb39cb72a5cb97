"""Lists of MobileAgent's commands: read from a file, run in order, ended early as UFO's dispatcher does."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from droidgate_android.projects.project_files import check_regular
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mobile_agent.wire import AgentCommand, AgentCommandResult, read_command

MAX_BYTES: Final = 16 * 1024 * 1024
MAX_COMMANDS: Final = 10_000

_HINT: Final = "write a JSON list of commands, or one command a line"


def read_command_file(path: str | os.PathLike[str]) -> tuple[AgentCommand, ...]:
    """Return the commands of a file: a JSON list, one command, or one command a line; skip blank lines.

    Raises:
        InputError: it cannot be read, or something in it is not a command; none of them may run then.
    """
    place = os.fspath(path)
    commands: list[AgentCommand] = []
    for value, where in _values(_read(path, place), place):
        commands.append(read_command(value, where))
        if len(commands) > MAX_COMMANDS:
            message = f"the file has more than {MAX_COMMANDS:,} commands"
            raise InputError(message, place=place, hint="split the file")
    if not commands:
        raise InputError("the file has no commands", place=place, hint=_HINT)
    seen: set[str] = set()
    for command in commands:
        if command.call_id in seen:
            message = f'duplicate call_id "{command.call_id[:100]}"'
            raise InputError(message, place=place, hint="give each command its own")
        seen.add(command.call_id)
    return tuple(commands)


def run_commands(
    commands: Sequence[AgentCommand], call: Callable[[AgentCommand], Json], *, stops_early: bool = True
) -> Iterator[AgentCommandResult]:
    """Run commands in order, and yield the outcome of each as soon as it is known.

    A tool that answers that it failed has answered: only a call without an answer ends the list.

    Args:
        commands: The commands.
        call: Runs one and returns what its tool answers. Raises `DroidgateError` where it does not answer.
        stops_early: Skip all that follow a call without an answer.
    """
    has_failed = False
    for command in commands:
        if has_failed and stops_early:
            yield AgentCommandResult.of_skipped(command)
            continue
        try:
            value = call(command)
        except DroidgateError as error:
            has_failed = True
            yield AgentCommandResult.of_failure(command, _message_of(error))
        else:
            yield AgentCommandResult.of_value(command, value)


def _read(path: str | os.PathLike[str], place: str) -> str:
    check_regular(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "cannot be read"
        raise InputError(reason, place=place) from error
    if len(data) > MAX_BYTES:
        raise InputError(f"the file has more than {MAX_BYTES:,} bytes", place=place, hint="split the file")
    return decode_utf8(data, path=place)


def _values(text: str, place: str) -> Iterator[tuple[Json, str]]:
    """Yield each command with its place: a list by the position in it, else by its line."""
    if text.lstrip().startswith("["):
        values = parse_json(text, path=place)
        yield from ((value, f"{place}:/{index}") for index, value in enumerate(values))
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and lines[0][1].rstrip().endswith("}") and lines[1][1].lstrip().startswith("{"):
        for number, line in lines:
            yield parse_json(line, path=place, line=number), f"{place}:{number}"
    elif lines:
        yield parse_json(text, path=place), place


def _message_of(error: DroidgateError) -> str:
    where = f"{error.place}: " if error.place else ""
    return f"{where}{error.message}"
