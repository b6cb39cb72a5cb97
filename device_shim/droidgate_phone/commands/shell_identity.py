"""date, id, kill, nproc, ps, sync, uname...: who and what runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import ROOT_UID, SHELL_UID, Command, CommandCall
from droidgate_phone.commands.toybox_options import (
    SECONDS,
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    toybox_command,
)
from droidgate_phone.file_accounts import groups_of, name_of, number_of
from droidgate_phone.java_text import java_int

_CONTEXTS: Final = {ROOT_UID: "u:r:su:s0", SHELL_UID: "u:r:shell:s0"}
_KERNEL: Final = "6.1.99-android14-11-droidgate"
_MACHINE: Final = "aarch64"


@toybox_command(OptionTable("GZgnru", most=1))
def _id(call: CommandCall, options: Options) -> int:
    uid = call.uid
    if options.operands:
        named = number_of(options.operands[0])
        if named is None:
            raise UsageFault(f"bad user '{options.operands[0]}'")
        uid = named
    groups = [uid, *sorted(groups_of(uid) - {uid})]
    shown = name_of if "n" in options else str
    if "Z" in options:
        call.write(_CONTEXTS.get(uid, "u:r:untrusted_app:s0") + "\n")
    elif "u" in options or "g" in options:
        call.write(shown(uid) + "\n")
    elif "G" in options:
        call.write(" ".join(shown(one) for one in groups) + "\n")
    else:
        named_groups = ",".join(f"{one}({name_of(one)})" for one in groups)
        context = "" if options.operands else f" context={_CONTEXTS.get(uid, 'u:r:untrusted_app:s0')}"
        call.write(f"uid={uid}({name_of(uid)}) gid={uid}({name_of(uid)}) groups={named_groups}{context}\n")
    return 0


@toybox_command(OptionTable(most=1))
def _groups(call: CommandCall, options: Options) -> int:
    if options.operands:
        raise NotModelled("groups USER")
    names = [name_of(one) for one in (call.uid, *sorted(groups_of(call.uid) - {call.uid}))]
    call.write(" ".join(names) + "\n")
    return 0


@toybox_command(OptionTable(most=0))
def _whoami(call: CommandCall, _options: Options) -> int:
    call.write(name_of(call.uid) + "\n")
    return 0


@toybox_command(OptionTable("ud:", refused="DIrs"))
def _date(call: CommandCall, options: Options) -> int:
    seconds = call.system.clock.now()
    if "d" in options:
        text = options.get("d")
        if not text.startswith("@") or not SECONDS.fullmatch(text[1:]):
            raise NotModelled("date -d with another time than @SECONDS")
        seconds = float(text[1:])
    form = "%a %b %e %H:%M:%S %Z %Y"
    if options.operands:
        if not options.operands[0].startswith("+"):
            raise NotModelled("date: setting the time")
        form = options.operands[0][1:]
    form = (
        form.replace("%N", f"{int(seconds % 1 * 1e9):09d}")
        .replace("%Z", "UTC")
        .replace("%s", str(int(seconds)))
    )
    call.write(time.strftime(form, time.gmtime(seconds)) + "\n")
    return 0


@toybox_command(OptionTable("amnoprsv", refused="i", most=0))
def _uname(call: CommandCall, options: Options) -> int:
    values = {
        "s": "Linux", "n": "localhost", "r": _KERNEL, "v": "#1 SMP PREEMPT", "m": _MACHINE, "o": "Toybox",
    }  # fmt: skip
    chosen = [letter for letter in "snrvmo" if letter in options or "a" in options] or ["s"]
    call.write(" ".join(values[letter] for letter in chosen) + "\n")
    return 0


@toybox_command(OptionTable())
def _nothing(_call: CommandCall, _options: Options) -> int:
    return 0


@toybox_command(OptionTable(most=0, refused="Fsabdf"))
def _hostname(call: CommandCall, _options: Options) -> int:
    call.write("localhost\n")
    return 0


@toybox_command(OptionTable("", {"all": "all"}, most=0))
def _nproc(call: CommandCall, _options: Options) -> int:
    call.write("8\n")
    return 0


@dataclass(frozen=True, slots=True)
class _Row:
    pid: int
    uid: int
    name: str


def _processes(call: CommandCall) -> list[_Row]:
    """Return what runs: init and the processes of apps."""
    rows = [_Row(1, ROOT_UID, "init")]
    rows += [_Row(one.pid, one.uid, one.name) for one in call.system.processes.all()]
    return sorted(rows, key=lambda row: row.pid)


@toybox_command(OptionTable("AefTo:p:", refused="GOPUZMkntw"))
def _ps(call: CommandCall, options: Options) -> int:
    if "o" in options:
        return _ps_columns(call, options)
    line = "{:<14} {:>5} {:>5} {:>10} {:>6} {:<15} {:>5} S {}\n"
    call.write(line.format("USER", "PID", "PPID", "VSZ", "RSS", "WCHAN", "ADDR", "NAME"))
    for row in _chosen(call, options):
        call.write(line.format(name_of(row.uid), row.pid, int(row.pid > 1), 0, 0, "0", 0, row.name))
    return 0


def _chosen(call: CommandCall, options: Options) -> list[_Row]:
    rows = _processes(call)
    if "p" in options:
        wanted = {int(one) for one in options.get("p").split(",") if one.isdecimal()}
        return [row for row in rows if row.pid in wanted]
    if "A" in options or "e" in options:
        return rows
    return [row for row in rows if row.uid == call.uid]


def _ps_columns(call: CommandCall, options: Options) -> int:
    values: dict[str, Callable[[_Row], str]] = {
        "PID": lambda row: str(row.pid),
        "NAME": lambda row: row.name,
        "ARGS": lambda row: row.name,
        "CMD": lambda row: row.name,
        "USER": lambda row: name_of(row.uid),
        "UID": lambda row: str(row.uid),
    }
    names = [one.upper() for text in options.all_values["o"] for one in text.split(",")]
    unknown = [one for one in names if one not in values]
    if unknown:
        raise NotModelled(f"ps -o {unknown[0]}")
    table = [names, *([values[name](row) for name in names] for row in _chosen(call, options))]
    widths = [max(len(line[index]) for line in table) for index in range(len(names))]
    for line in table:
        cells = [
            cell.rjust(width) if name in {"PID", "UID"} else cell.ljust(width)
            for name, cell, width in zip(names, line, widths, strict=True)
        ]
        call.write(" ".join(cells).rstrip() + "\n")
    return 0


@toybox_command(OptionTable("s", refused="ox", least=1))
def _pidof(call: CommandCall, options: Options) -> int:
    found = [str(row.pid) for row in _processes(call) if row.name in options.operands]
    if not found:
        return 1
    call.write(" ".join(found[:1] if "s" in options else found) + "\n")
    return 0


@toybox_command(OptionTable("s:l"))
def _kill(call: CommandCall, options: Options) -> int:
    if "l" in options or not options.operands:
        raise NotModelled("kill -l")
    status = 0
    running = {row.pid: row for row in _processes(call)}
    for text in options.operands:
        pid = java_int(text)
        if pid is None:
            raise UsageFault(f"unknown pid '{text}'")
        row = running.get(pid)
        if row is None:
            call.write_error(f"kill: {text}: No such process\n")
        elif call.uid not in {row.uid, ROOT_UID}:
            call.write_error(f"kill: {text}: Operation not permitted\n")
        else:
            raise NotModelled("kill of an own process")
        status = 1
    return status


def _kill_with_signal(call: CommandCall) -> int:
    """`kill -9 PID` and `kill -TERM PID` are `kill -s`."""
    first = call.arguments[0] if call.arguments else ""
    arguments = call.arguments
    if first[:1] == "-" and (first[1:].isdecimal() or first[1:].isupper()):
        arguments = ("-s", first[1:], *call.arguments[1:])
    return _kill(
        CommandCall("kill", arguments, call.streams, call.system, call.environment, call.directory, call.uid)
    )


COMMANDS: Final[Mapping[str, Command]] = {
    "date": _date,
    "groups": _groups,
    "hostname": _hostname,
    "id": _id,
    "kill": _kill_with_signal,
    "nproc": _nproc,
    "pidof": _pidof,
    "ps": _ps,
    "sync": _nothing,
    "uname": _uname,
    "whoami": _whoami,
}
