"""ls, mkdir, rm, touch, cat, head, wc, md5sum, grep, dd: the phone's files (toybox `toys/posix`)."""

from __future__ import annotations

import hashlib
import stat as modes
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.toybox import (
    OptionTable,
    ToyboxOptions,
    ToyboxUsageError,
    absolute,
    blocks,
    counted,
    each_input,
    lines,
    number,
    report_path,
    toybox_command,
)
from droidgate_phone.common.streams import InputStream
from droidgate_phone.files.phone_files import FileStatus, PhoneFileReader, VirtualFileError, name_of
from droidgate_phone.shell.shell_errors import NotModelledError

_LARGEST_BLOCK: Final = 1 << 26
_SPACE: Final = b" \t\n\v\f\r"


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    path: str
    status: FileStatus
    target: str = ""


class _Listing:
    """One run of `ls`."""

    def __init__(self, call: CommandCall, options: ToyboxOptions) -> None:
        self._call = call
        self._options = options
        self._long = "l" in options
        self._titled = False
        self.status = 0

    def run(self) -> None:
        """List the operands: files first, then the content of directories."""
        operands = self._options.operands or (".",)
        entries = [entry for name in sorted(operands) if (entry := self._entry(name, name)) is not None]
        directories = [entry for entry in entries if entry.status.is_directory and "d" not in self._options]
        files = [entry for entry in entries if entry not in directories]
        self._write(files)
        self._titled = bool(files)
        for entry in directories:
            self._write_directory(entry, titled=len(operands) > 1)

    def _entry(self, name: str, path: str) -> _Entry | None:
        files, call = self._call.system.files, self._call
        place = absolute(call, path)
        follows = name == path and not self._long and "d" not in self._options
        try:
            status = files.lstat(place, uid=call.uid)
            target = files.read_link(place, uid=call.uid) if status.is_link else ""
            if status.is_link and follows and files.exists(place, uid=call.uid):
                status = files.stat(place, uid=call.uid)
        except VirtualFileError as error:
            self.status = report_path(call, path, error)
            return None
        return _Entry(name, path, status, target)

    def _write_directory(self, directory: _Entry, *, titled: bool) -> None:
        call = self._call
        try:
            names = call.system.files.list(absolute(call, directory.path), uid=call.uid)
        except VirtualFileError as error:
            self.status = report_path(call, directory.path, error)
            return
        if titled:
            call.write(f"{chr(10) if self._titled else ''}{directory.path}:\n")
        self._titled = True
        if "a" in self._options:
            names = [".", "..", *names]
        elif "A" not in self._options:
            names = [name for name in names if not name.startswith(".")]
        names = sorted(names, key=lambda name: name.encode("utf-8", "surrogateescape"))
        base = directory.path.rstrip("/") + "/"
        entries = [entry for name in names if (entry := self._entry(name, base + name)) is not None]
        if "t" in self._options:
            entries.sort(key=lambda entry: -entry.status.modified)
        if self._long:
            # In kilobytes; a file takes whole pages of four, a symbolic link none.
            total = sum(-(-entry.status.size // 4096) * 4 for entry in entries if not entry.status.is_link)
            call.write(f"total {total}\n")
        self._write(entries)

    def _write(self, entries: list[_Entry]) -> None:
        if not self._long:
            for entry in entries:
                self._call.write(entry.name + "\n")
            return
        rows = [_columns(entry.status) for entry in entries]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for entry, row in zip(entries, rows, strict=True):
            cells = [
                cell.ljust(width) if index in {2, 3} else cell.rjust(width)
                for index, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            name = f"{entry.name} -> {entry.target}" if entry.status.is_link else entry.name
            self._call.write(" ".join([*cells, name]) + "\n")


def _columns(status: FileStatus) -> list[str]:
    return [
        modes.filemode(status.mode),
        str(status.links),
        name_of(status.uid),
        name_of(status.gid),
        "1,   3" if modes.S_ISCHR(status.mode) else str(status.size),
        time.strftime("%Y-%m-%d %H:%M", time.gmtime(status.modified)),
    ]


@toybox_command(OptionTable("1Aadlt"))
def _ls(call: CommandCall, options: ToyboxOptions) -> int:
    listing = _Listing(call, options)
    listing.run()
    return listing.status


@toybox_command(OptionTable("p", least=1))
def _mkdir(call: CommandCall, options: ToyboxOptions) -> int:
    status = 0
    for name in options.operands:
        try:
            call.system.files.make_directory(
                absolute(call, name), parents="p" in options, mode=0o777, uid=call.uid
            )
        except VirtualFileError as error:
            status = report_path(call, f"'{name}'", error)
    return status


@toybox_command(OptionTable("fRr"))
def _rm(call: CommandCall, options: ToyboxOptions) -> int:
    if not options.operands and "f" not in options:
        raise ToyboxUsageError("Needs 1 argument")
    recursive = "r" in options or "R" in options
    status = 0
    for name in options.operands:
        if name == "/":
            call.write_error("rm: rm /. if you mean it\n")
            status = 1
            continue
        if name.rstrip("/").rpartition("/")[2] in {".", ".."}:
            continue
        try:
            call.system.files.remove(absolute(call, name), recursive=recursive, uid=call.uid)
        except VirtualFileError as error:
            if not (error.strerror == "No such file or directory" and "f" in options):
                status = report_path(call, name, error)
    return status


@toybox_command(OptionTable("acm", least=1))
def _touch(call: CommandCall, options: ToyboxOptions) -> int:
    files, status = call.system.files, 0
    for name in options.operands:
        path = absolute(call, name)
        try:
            if files.exists(path, uid=call.uid):
                files.set_time(path, None, uid=call.uid)
            elif "c" not in options:
                files.write(path, b"", uid=call.uid)
        except VirtualFileError as error:
            status = report_path(call, f"'{name}'", error)
    return status


@toybox_command(OptionTable())
def _cat(call: CommandCall, options: ToyboxOptions) -> int:
    def copy(_path: str, stream: InputStream) -> None:
        for piece in blocks(stream):
            call.streams.output.write(piece)

    return each_input(call, options.operands, copy)


@toybox_command(OptionTable("n:c:", most=1))
def _head(call: CommandCall, options: ToyboxOptions) -> int:
    size = number(options.values["c"]) if "c" in options else None
    count = number(options.values.get("n", "10"))

    def copy(_path: str, stream: InputStream) -> None:
        if size is None:
            for index, line in enumerate(lines(stream) if count else ()):
                call.streams.output.write(line)
                if index + 1 == count:
                    break
            return
        remaining = size
        while remaining and (piece := stream.read(min(remaining, 1 << 16))):
            call.streams.output.write(piece)
            remaining -= len(piece)

    return each_input(call, options.operands, copy)


@toybox_command(OptionTable("clw", most=1))
def _wc(call: CommandCall, options: ToyboxOptions) -> int:
    def count(path: str, stream: InputStream) -> None:
        counts = {"l": 0, "w": 0, "c": 0}
        in_word = False
        for piece in blocks(stream):
            counts["l"] += piece.count(b"\n")
            counts["c"] += len(piece)
            counts["w"] += len(piece.split()) - (in_word and piece[:1] not in _SPACE)
            in_word = piece[-1:] not in _SPACE
        numbers = [str(counts[letter]) for letter in "lwc" if letter in options or not options.values]
        call.write(" ".join([*numbers, *([path] if options.operands else [])]) + "\n")

    return each_input(call, options.operands, count)


@toybox_command(OptionTable())
def _md5sum(call: CommandCall, options: ToyboxOptions) -> int:
    def digest(path: str, stream: InputStream) -> None:
        state = hashlib.md5(usedforsecurity=False)
        for piece in blocks(stream):
            state.update(piece)
        call.write(f"{state.hexdigest()}  {path}\n")

    return each_input(call, options.operands, digest)


@toybox_command(OptionTable("Fiqvx", least=1, most=2))
def _grep(call: CommandCall, options: ToyboxOptions) -> int:
    text, *paths = options.operands
    if "F" not in options and any(letter in r"\.[]*^$" for letter in text):
        raise NotModelledError("grep with a pattern (without -F)")
    has_match = False

    def search(_path: str, stream: InputStream) -> None:
        nonlocal has_match
        needle = text.lower() if "i" in options else text
        for line in lines(stream):
            line_text = line.removesuffix(b"\n").decode("utf-8", "surrogateescape")
            compared = line_text.lower() if "i" in options else line_text
            matches = compared == needle if "x" in options else needle in compared
            if matches != ("v" in options):
                has_match = True
                if "q" in options:
                    return
                call.write(line_text + "\n")

    failed = each_input(call, tuple(paths), search)
    return 2 if failed else int(not has_match)


@toybox_command(OptionTable(stops=True))
def _dd(call: CommandCall, options: ToyboxOptions) -> int:
    values = {"bs": "512", "skip": "0", "count": "", "if": "", "status": ""}
    for argument in options.operands:
        name, _, value = argument.partition("=")
        if name not in values or (name == "status" and value != "none"):
            raise NotModelledError(f"dd {argument}")
        values[name] = value
    size, count = number(values["bs"]), number(values["count"]) if values["count"] else -1
    if not 0 < size <= _LARGEST_BLOCK:
        raise NotModelledError(f"dd with blocks of {size} bytes")
    source: InputStream = call.streams.input
    try:
        if values["if"]:
            source = call.system.files.open_reader(absolute(call, values["if"]), uid=call.uid)
        return _copy_blocks(call, source, size, number(values["skip"]), count, quiet=bool(values["status"]))
    except VirtualFileError as error:
        return report_path(call, values["if"], error)


def _copy_blocks(
    call: CommandCall, source: InputStream, size: int, skip: int, left: int, *, quiet: bool
) -> int:
    """Copy blocks to standard output, all of them where `left` is negative, and report them."""
    started = time.monotonic()
    if isinstance(source, PhoneFileReader):
        source.seek(source.position + skip * size)
    elif skip:
        raise NotModelledError("dd skip= without if=")
    source = counted(source)
    full = part = copied = 0
    try:
        while left and (data := source.read(size)):
            full, part = full + (len(data) == size), part + (len(data) < size)
            left -= 1
            call.streams.output.write(data)
            copied += len(data)
    finally:
        if not quiet:
            milliseconds = max(int((time.monotonic() - started) * 1000), 1)
            rate = _readable(copied * 1000 // milliseconds)
            call.write_error(
                f"{full}+{part} records in\n{full}+{part} records out\n"
                f"{copied} bytes ({_readable(copied)}) copied, "
                f"{milliseconds // 1000}.{milliseconds % 1000:03d} s, {rate}/s\n"
            )
    return 0


def _readable(size: int) -> str:
    """Return a size as toybox's `human_readable` writes it: three digits and a unit of 1024s."""
    value, power = float(size), 0
    while value >= 1000 and power < 6:  # noqa: PLR2004
        value /= 1024
        power += 1
    digits = f"{value:.1f}" if power and value < 10 else f"{value:.0f}"  # noqa: PLR2004
    return f"{digits} {('', 'K', 'M', 'G', 'T', 'P', 'E')[power]}B"


COMMANDS: Final[Mapping[str, Command]] = {
    "cat": _cat,
    "dd": _dd,
    "grep": _grep,
    "head": _head,
    "ls": _ls,
    "md5sum": _md5sum,
    "mkdir": _mkdir,
    "rm": _rm,
    "touch": _touch,
    "wc": _wc,
}
