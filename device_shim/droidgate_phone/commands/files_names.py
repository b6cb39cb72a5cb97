"""basename, dirname, readlink, realpath, pwd: names of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    Options,
    OptionTable,
    absolute,
    complain,
    toybox_command,
)
from droidgate_phone.files import VirtualFileError


def _last_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path[:1]


@toybox_command(OptionTable("as:", least=1))
def _basename(call: CommandCall, options: Options) -> int:
    names, suffix = options.operands, options.get("s")
    if "a" not in options and "s" not in options:
        names, suffix = names[:1], names[1] if len(names) > 1 else ""
    for name in names:
        base = _last_name(name)
        call.write((base.removesuffix(suffix) if base != suffix else base) + "\n")
    return 0


@toybox_command(OptionTable(least=1))
def _dirname(call: CommandCall, options: Options) -> int:
    for name in options.operands:
        head, slash, _ = name.rstrip("/").rpartition("/")
        parent = head.rstrip("/") or ("/" if slash or name.startswith("/") else ".")
        call.write(parent + "\n")
    return 0


@toybox_command(OptionTable("efmnq", least=1))
def _readlink(call: CommandCall, options: Options) -> int:
    if "m" in options:
        raise NotModelled("readlink -m")
    status = 0
    for name in options.operands:
        path = absolute(call, name)
        try:
            if "f" in options or "e" in options:
                text = call.system.files.real_path(path, uid=call.uid, missing_last="e" not in options)
            else:
                text = call.system.files.read_link(path, uid=call.uid)
        except VirtualFileError:
            status = 1
        else:
            call.write(text + ("" if "n" in options else "\n"))
    return status


@toybox_command(OptionTable(least=1))
def _realpath(call: CommandCall, options: Options) -> int:
    status = 0
    for name in options.operands:
        try:
            call.write(call.system.files.real_path(absolute(call, name), uid=call.uid) + "\n")
        except VirtualFileError as error:
            status = complain(call, name, error)
    return status


@toybox_command(OptionTable("LP"))
def _pwd(call: CommandCall, options: Options) -> int:
    path = call.directory
    if "P" in options:
        path = call.system.files.real_path(path, uid=call.uid)
    call.write(path + "\n")
    return 0


COMMANDS: Final[Mapping[str, Command]] = {
    "basename": _basename,
    "dirname": _dirname,
    "pwd": _pwd,
    "readlink": _readlink,
    "realpath": _realpath,
}
