"""id, kill, pidof, printf, ps, sh, sleep, toybox, whoami: programs that are not about files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox import (
    OptionTable,
    ToyboxOptions,
    ToyboxUsageError,
    absolute,
    toybox_command,
)
from droidgate_phone.common.uids import ROOT_UID, SHELL_UID
from droidgate_phone.files.file_layout import SHELL_PROGRAM
from droidgate_phone.files.phone_files import VirtualFileError, groups_of, name_of
from droidgate_phone.java.java_text import java_int
from droidgate_phone.shell.shell_errors import NotModelledError

_CONTEXTS: Final = {ROOT_UID: "u:r:su:s0", SHELL_UID: "u:r:shell:s0"}
_NOT_FOUND: Final = 127
_NOT_READABLE: Final = 126
_SECONDS: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_ESCAPES: Final = {"\\": "\\", "0": "\0", "n": "\n", "t": "\t"}


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    uid: int
    name: str


def _processes(call: CommandCall) -> list[_Process]:
    """Return what runs: init and the processes of apps."""
    rows = [_Process(1, ROOT_UID, "init")]
    rows += [_Process(item.pid, item.uid, item.name) for item in call.system.processes.all()]
    return sorted(rows, key=lambda row: row.pid)


@toybox_command(OptionTable("Ae", most=0))
def _ps(call: CommandCall, options: ToyboxOptions) -> int:
    line = "{:<14} {:>5} {:>5} {:>10} {:>6} {:<15} {:>5} S {}\n"
    call.write(line.format("USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "NAME"))
    for row in _processes(call):
        if options.values or row.uid == call.uid:
            call.write(line.format(name_of(row.uid), row.pid, int(row.pid > 1), 0, 0, "0", 0, row.name))
    return 0


@toybox_command(OptionTable(least=1))
def _pidof(call: CommandCall, options: ToyboxOptions) -> int:
    pids = [str(row.pid) for row in _processes(call) if row.name in options.operands]
    if pids:
        call.write(" ".join(pids) + "\n")
    return int(not pids)


def _kill(call: CommandCall) -> int:
    arguments = list(call.arguments)
    if arguments and arguments[0][:1] == "-" and arguments[0][1:].isalnum():
        arguments.pop(0)
    status = 0
    running = {row.pid: row for row in _processes(call)}
    for text in arguments:
        pid = java_int(text)
        row = running.get(pid or 0)
        if pid is None or pid < 1:
            call.write_error(f"kill: unknown pid '{text}'\n")
        elif row is None:
            call.write_error(f"kill: {text}: No such process\n")
        elif call.uid not in {row.uid, ROOT_UID}:
            call.write_error(f"kill: {text}: Operation not permitted\n")
        else:
            raise NotModelledError("kill of a process that the caller may end")
        status = 1
    if not arguments:
        raise NotModelledError("kill without a process")
    return status


@toybox_command(OptionTable("u", most=0))
def _id(call: CommandCall, options: ToyboxOptions) -> int:
    if "u" in options:
        call.write(f"{call.uid}\n")
        return 0
    owner = f"{call.uid}({name_of(call.uid)})"
    groups = [call.uid, *sorted(groups_of(call.uid) - {call.uid})]
    group_names = ",".join(f"{group}({name_of(group)})" for group in groups)
    context = _CONTEXTS.get(call.uid, "u:r:untrusted_app:s0")
    call.write(f"uid={owner} gid={owner} groups={group_names} context={context}\n")
    return 0


@toybox_command(OptionTable(most=0))
def _whoami(call: CommandCall, _options: ToyboxOptions) -> int:
    call.write(name_of(call.uid) + "\n")
    return 0


@toybox_command(OptionTable(least=1, most=1))
def _sleep(call: CommandCall, options: ToyboxOptions) -> int:
    from droidgate_phone.shell import pause

    del call
    text = options.operands[0]
    if _SECONDS.fullmatch(text) is None:
        raise ToyboxUsageError(f"not a number '{text}'")
    pause(float(text))
    return 0


def _printf(call: CommandCall) -> int:
    """`printf` with `%s` and `%%`; the format is used again as long as arguments are left."""
    if not call.arguments:
        call.write_error('printf: Needs 1 argument (see "printf --help")\n')
        return 1
    form, *values = call.arguments
    pieces = re.split(r"(%s|%%|\\[\\0nt](?![0-7]))", form)
    if any("%" in piece or "\\" in piece for piece in pieces[::2]):
        raise NotModelledError(f"printf '{form}'")
    while True:
        before = len(values)
        for index, piece in enumerate(pieces):
            if index % 2 == 0:
                call.write(piece)
            elif piece == "%s":
                call.write(values.pop(0) if values else "")
            else:
                call.write(_ESCAPES.get(piece[1], "%"))
        if not values or len(values) == before:
            return 0


def _sh(call: CommandCall) -> int:
    """`sh`, `sh -c TEXT [NAME [ARGUMENT...]]` and `sh FILE [ARGUMENT...]`."""
    from droidgate_phone.shell import run_script

    arguments = list(call.arguments)
    name = "sh"
    if arguments and arguments[0] == "-c":
        if len(arguments) == 1:
            call.write_error(f"{SHELL_PROGRAM}: -c: requires argument\n")
            return 1
        text, *arguments = arguments[1:]
        name, *arguments = arguments or [name]
    elif arguments:
        name, *arguments = arguments
        if name.startswith(("-", "+")):
            raise NotModelledError(f"sh {name}")
        try:
            data = call.system.files.read(absolute(call, name), uid=call.uid)
        except VirtualFileError as error:
            call.write_error(f"{SHELL_PROGRAM}: can't open {name}: {error.strerror}\n")
            return _NOT_FOUND if error.strerror == "No such file or directory" else _NOT_READABLE
        text = _decoded(data)
    else:
        text = _decoded(call.streams.input.read(-1))
    return run_script(
        call.system,
        text,
        call.streams,
        name=name,
        arguments=tuple(arguments),
        uid=call.uid,
        environment=call.environment,
        directory=call.directory,
    )


def _decoded(data: bytes) -> str:
    return data.replace(b"\0", b"").decode("utf-8", "surrogateescape")


def _toybox(call: CommandCall) -> int:
    """`toybox NAME ARGUMENT...`."""
    from droidgate_phone.commands.command_registry import (
        REFUSED_PROGRAMS,
        TOYBOX,
        find_command,
    )

    name, *arguments = call.arguments or ("",)
    if not name or name.startswith("-") or name in REFUSED_PROGRAMS:
        raise NotModelledError(f"toybox {name}".rstrip())
    command = find_command(name) if name in TOYBOX else None
    if command is None:
        call.write_error(f"toybox: Unknown command {name}\n")
        return _NOT_FOUND
    return command(replace(call, name=name, arguments=tuple(arguments)))


def _true(_call: CommandCall) -> int:
    return 0


def _false(_call: CommandCall) -> int:
    return 1


COMMANDS: Final[Mapping[str, Command]] = {
    "false": _false,
    "id": _id,
    "kill": _kill,
    "pidof": _pidof,
    "printf": _printf,
    "ps": _ps,
    "sh": _sh,
    "sleep": _sleep,
    "toybox": _toybox,
    "true": _true,
    "whoami": _whoami,
}
