"""ls, stat, find, du, df: what files there are (toybox `toys/posix/ls.c`, `toys/other/stat.c`)."""

from __future__ import annotations

import stat as modes
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.files_finding import find
from droidgate_phone.commands.toybox_options import (
    NotModelled,
    Options,
    OptionTable,
    absolute,
    complain,
    toybox_command,
)
from droidgate_phone.file_accounts import name_of
from droidgate_phone.files import FileStatus, VirtualFileError
from droidgate_phone.shell.errors import BudgetExceededError
from droidgate_phone.shell.printing import MAXIMUM_WIDTH

_BLOCK_SIZE: Final = 512
_FILE_TYPES: Final[Sequence[tuple[int, str]]] = (
    (modes.S_IFCHR, "character device"),
    (modes.S_IFDIR, "directory"),
    (modes.S_IFBLK, "block device"),
    (modes.S_IFREG, "regular file"),
    (modes.S_IFLNK, "symbolic link"),
)


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    path: str
    status: FileStatus
    target: str = ""


def mode_text(mode: int) -> str:
    """Return a mode as `ls -l` writes it."""
    return modes.filemode(mode)


def blocks_of(status: FileStatus) -> int:
    """Return how many blocks of 512 bytes a file takes, in pages of 4096."""
    return 0 if status.is_link else -(-status.size // 4096) * 8


def time_text(call: CommandCall, form: str, seconds: float) -> str:
    """Return a time of the phone, which keeps UTC."""
    del call
    return time.strftime(form, time.gmtime(seconds))


class _Listing:
    """One run of `ls`."""

    def __init__(self, call: CommandCall, options: Options) -> None:
        self._call = call
        self._options = options
        self._long = any(letter in options for letter in "lnog")
        self._titled = False
        self.status = 0

    def run(self) -> None:
        """List the operands: files first, then what is in directories."""
        operands = self._options.operands or (".",)
        found = [entry for name in operands if (entry := self._entry(name, name)) is not None]
        directories = [one for one in found if one.status.is_directory and "d" not in self._options]
        files = [one for one in found if one not in directories]
        self._write(self._sorted(files))
        self._titled = bool(files)
        alone = len(operands) == 1 and "R" not in self._options
        for one in self._sorted(directories):
            self._directory(one, titled=not alone)

    def _entry(self, name: str, path: str) -> _Entry | None:
        files, call = self._call.system.files, self._call
        place = absolute(call, path)
        follows = "L" in self._options or ("H" in self._options and name == path)
        listed = name == path and not self._long and "d" not in self._options and "F" not in self._options
        try:
            status = files.lstat(place, uid=call.uid)
            target = files.read_link(place, uid=call.uid) if status.is_link else ""
            if status.is_link and (follows or (listed and files.exists(place, uid=call.uid))):
                status = files.stat(place, uid=call.uid)
        except VirtualFileError as error:
            self.status = complain(call, path, error)
            return None
        return _Entry(name, path, status, target)

    def _directory(self, directory: _Entry, *, titled: bool) -> None:
        try:
            names = self._call.system.files.list(absolute(self._call, directory.path), uid=self._call.uid)
        except VirtualFileError as error:
            self.status = complain(self._call, directory.path, error)
            return
        if titled:
            self._call.write(f"{chr(10) if self._titled else ''}{directory.path}:\n")
        self._titled = True
        if "a" in self._options or "f" in self._options:
            names = [".", "..", *names]
        elif "A" not in self._options:
            names = [name for name in names if not name.startswith(".")]
        base = directory.path.rstrip("/") + "/"
        entries = [entry for name in names if (entry := self._entry(name, base + name)) is not None]
        if self._long or "s" in self._options or "h" in self._options:
            total = sum(blocks_of(one.status) for one in entries) // 2
            self._call.write(f"total {self._size(total, 1024)}\n")
        self._write(self._sorted(entries))
        if "R" in self._options:
            for one in self._sorted(entries):
                if one.status.is_directory and one.name not in {".", ".."}:
                    self._directory(one, titled=True)

    def _sorted(self, entries: list[_Entry]) -> list[_Entry]:
        if "f" in self._options:
            return entries
        keys: list[Callable[[_Entry], float]] = []
        if "t" in self._options:
            keys = [lambda one: -one.status.modified]
        elif "S" in self._options:
            keys = [lambda one: -one.status.size]
        entries = sorted(entries, key=lambda one: one.name.encode("utf-8", "surrogateescape"))
        for key in keys:
            entries.sort(key=key)
        return entries[::-1] if "r" in self._options else entries

    def _size(self, count: int, unit: int) -> str:
        return _short_size(count * unit) if "h" in self._options else str(count)

    def _columns(self, entry: _Entry) -> list[str]:
        """Return the columns before the time, of which all but owner and group stand to the right."""
        status, options = entry.status, self._options
        columns = [str(status.inode)] if "i" in options else []
        if "s" in options:
            columns.append(self._size(blocks_of(status) // 2, 1024))
        if self._long:
            numeric = "n" in options
            columns += [mode_text(status.mode), str(status.links)]
            if "g" not in options:
                columns.append(str(status.uid) if numeric else name_of(status.uid))
            if "o" not in options:
                columns.append(str(status.gid) if numeric else name_of(status.gid))
            columns.append("1,   3" if modes.S_ISCHR(status.mode) else self._size(status.size, 1))
        return columns

    def _write(self, entries: list[_Entry]) -> None:
        rows = [self._columns(one) for one in entries]
        widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))] if rows else []
        start = ("i" in self._options) + ("s" in self._options)
        left = range(start + 2, start + 2 + ("g" not in self._options) + ("o" not in self._options))
        for entry, row in zip(entries, rows, strict=True):
            cells = [
                cell.ljust(width) if self._long and index in left else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            if self._long:
                cells.append(time_text(self._call, "%Y-%m-%d %H:%M", entry.status.modified))
            name = entry.name
            if self._long and entry.status.is_link:
                name += f" -> {entry.target}"
            self._call.write(" ".join([*cells, name + self._mark(entry)]) + "\n")

    def _mark(self, entry: _Entry) -> str:
        if entry.status.is_directory and ("F" in self._options or "p" in self._options):
            return "/"
        if "F" not in self._options:
            return ""
        if entry.status.is_link:
            return "@"
        return "*" if entry.status.is_file and entry.status.mode & 0o111 else ""


def _short_size(size: int) -> str:
    """Return a size as `human_readable` writes it without spaces: 1.0K."""
    value, power = float(size), 0
    while value >= 1000 and power < 6:  # noqa: PLR2004
        value /= 1024
        power += 1
    letter = ("", "K", "M", "G", "T", "P", "E")[power]
    return f"{value:.1f}{letter}" if power and value < 10 else f"{value:.0f}{letter}"  # noqa: PLR2004


@toybox_command(OptionTable("1AFHLRSadfghilnoprst", refused="CZbckmquxN"))
def _ls(call: CommandCall, options: Options) -> int:
    listing = _Listing(call, options)
    listing.run()
    return listing.status


_DEFAULT_FORMAT: Final = (
    "  File: %N\n  Size: %s\t Blocks: %b\t IO Blocks: %B\t%F\n"
    "Device: %Dh/%dd\t Inode: %i\t Links: %h\n"
    "Access: (0%a/%A)\tUid: (%5u/%8U)\tGid: (%5g/%8G)\n"
    "Access: %x\nModify: %y\nChange: %z"
)
_DEVICE: Final = 0xFD05


def _file_type(status: FileStatus) -> str:
    if status.is_file and not status.size:
        return "regular empty file"
    return next((text for kind, text in _FILE_TYPES if modes.S_IFMT(status.mode) == kind), "unknown")


def _full_time(call: CommandCall, seconds: float) -> str:
    whole = int(seconds)
    return f"{time_text(call, '%Y-%m-%d %H:%M:%S', whole)}.{int((seconds - whole) * 1e9):09d} +0000"


def _stat_fields(call: CommandCall, name: str, status: FileStatus, target: str) -> Mapping[str, str]:
    times = {letter: _full_time(call, status.modified) for letter in "xyz"}
    seconds = {letter: str(int(status.modified)) for letter in "XYZ"}
    return {
        **times,
        **seconds,
        "a": f"{modes.S_IMODE(status.mode):o}",
        "A": mode_text(status.mode),
        "b": str(blocks_of(status)),
        "B": str(_BLOCK_SIZE),
        "d": str(_DEVICE),
        "D": f"{_DEVICE:x}",
        "f": f"{status.mode:x}",
        "F": _file_type(status),
        "g": str(status.gid),
        "G": name_of(status.gid),
        "h": str(status.links),
        "i": str(status.inode),
        "n": name,
        "N": f"`{name}'" + (f" -> `{target}'" if target else ""),
        "o": "4096",
        "s": str(status.size),
        "t": "0",
        "T": "0",
        "u": str(status.uid),
        "U": name_of(status.uid),
    }


def _formatted(form: str, fields: Mapping[str, str]) -> str:
    made: list[str] = []
    index = 0
    while index < len(form):
        if form[index] != "%" or index + 1 == len(form):
            made.append(form[index])
            index += 1
            continue
        end = index + 1
        while end < len(form) - 1 and form[end] in "-0123456789":
            end += 1
        width = form[index + 1 : end]
        if form[end] == "m":
            raise NotModelled("stat -c %m")
        text = "%" if form[end] == "%" else fields.get(form[end], "?")
        columns = int(width.strip("-")[: len(str(MAXIMUM_WIDTH)) + 1] or 0)
        if columns > MAXIMUM_WIDTH:
            raise BudgetExceededError(f"stat pads to more than {MAXIMUM_WIDTH} characters")
        made.append(text.ljust(columns) if width.startswith("-") else text.rjust(columns))
        index = end + 1
    return "".join(made)


@toybox_command(OptionTable("c:Lt", refused="f", least=1))
def _stat(call: CommandCall, options: Options) -> int:
    form = options.get(
        "c", "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %o" if "t" in options else _DEFAULT_FORMAT
    )
    files, status = call.system.files, 0
    for name in options.operands:
        path = absolute(call, name)
        try:
            found = (files.stat if "L" in options else files.lstat)(path, uid=call.uid)
            target = files.read_link(path, uid=call.uid) if found.is_link else ""
        except VirtualFileError as error:
            status = complain(call, f"'{name}'", error)
            continue
        call.write(_formatted(form, _stat_fields(call, name, found, target)) + "\n")
    return status


@toybox_command(OptionTable("abchklmsd:", refused="xKHL"))
def _du(call: CommandCall, options: Options) -> int:
    if any(letter in options for letter in "cd"):
        raise NotModelled("du -c and du -d")
    usage = _Usage(call, options)
    for name in options.operands or (".",):
        usage.measure(name, top=True)
    return usage.status


class _Usage:
    """One run of `du`."""

    def __init__(self, call: CommandCall, options: Options) -> None:
        self._call = call
        self._options = options
        self.status = 0

    def measure(self, path: str, *, top: bool = False) -> int:
        """Write lines for a tree and return its blocks of 512 bytes."""
        files, call = self._call.system.files, self._call
        try:
            status = files.lstat(absolute(call, path), uid=call.uid)
            total = blocks_of(status)
            if status.is_directory:
                for name in files.list(absolute(call, path), uid=call.uid):
                    total += self.measure(f"{path.rstrip('/')}/{name}")
        except VirtualFileError as error:
            self.status = complain(call, path, error)
            return 0
        if top or ("s" not in self._options and (status.is_directory or "a" in self._options)):
            call.write(f"{self._text(total)}\t{path}\n")
        return total

    def _text(self, count: int) -> str:
        if "h" in self._options:
            return _short_size(count * _BLOCK_SIZE)
        if "b" in self._options:
            return str(count * _BLOCK_SIZE)
        return str(count // (2048 if "m" in self._options else 2))


@toybox_command(OptionTable("hkP", refused="aHit"))
def _df(call: CommandCall, options: Options) -> int:
    files = call.system.files
    for name in options.operands:
        try:
            files.stat(absolute(call, name), uid=call.uid)
        except VirtualFileError as error:
            return complain(call, name, error)
    sizes = (files.capacity, files.used, files.capacity - files.used)
    shown = [_short_size(size) if "h" in options else str(size // 1024) for size in sizes]
    total = "Size" if "h" in options else "1K-blocks"
    free = "Avail" if "h" in options else "Available"
    widths = [max(len(total), len(shown[0])), max(len("Used"), len(shown[1])), max(len(free), len(shown[2]))]
    used = -(-100 * sizes[1] // sizes[0])
    device = "/dev/block/dm-5"
    titles = f"{total:>{widths[0]}} {'Used':>{widths[1]}} {free:>{widths[2]}}"
    numbers = f"{shown[0]:>{widths[0]}} {shown[1]:>{widths[1]}} {shown[2]:>{widths[2]}}"
    call.write(f"{'Filesystem':<{len(device)}} {titles} Use% Mounted on\n")
    call.write(f"{device} {numbers} {used:>3}% /data\n")
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"df": _df, "du": _du, "find": find, "ls": _ls, "stat": _stat}
