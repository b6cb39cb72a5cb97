"""cat, cmp, dd, head, tail, tee, checksums, base64, xxd: what is in files."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections import deque
from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.files_copying import dd
from droidgate_phone.commands.toybox_options import (
    BLOCK,
    LINE_COST,
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    blocks,
    complain,
    demand_memory,
    each_input,
    lines,
    number,
    open_input,
    toybox_command,
)
from droidgate_phone.files import VirtualFileError
from droidgate_phone.streams import InputStream, OutputStream

_DIFFERENT: Final = 1
_TROUBLE: Final = 2


@toybox_command(OptionTable("u", refused="etv"))
def _cat(call: CommandCall, options: Options) -> int:
    def copy(_path: str, stream: InputStream) -> None:
        for piece in blocks(stream):
            call.streams.output.write(piece)

    return each_input(call, options.operands, copy)


def _count_option(options: Options, letter: str) -> int | None:
    return number(options.get(letter), letter) if letter in options else None


def _with_old_counts(call: CommandCall) -> CommandCall:
    """Turn `-5` into `-n 5`, as head and tail take it."""
    first = call.arguments[:1]
    if first and first[0][:1] == "-" and first[0][1:].isdecimal() and first[0].isascii():
        arguments = ("-n", first[0][1:], *call.arguments[1:])
        return CommandCall(
            call.name, arguments, call.streams, call.system, call.environment, call.directory, call.uid
        )
    return call


def _headers(options: Options) -> bool:
    return "q" not in options and ("v" in options or len(options.operands) > 1)


def _header(call: CommandCall, path: str, *, first: bool) -> None:
    name = "standard input" if path == "-" else path
    call.write(f"{'' if first else chr(10)}==> {name} <==\n")


@toybox_command(OptionTable("n:c:qv"))
def _head_with_options(call: CommandCall, options: Options) -> int:
    size, count = _count_option(options, "c"), _count_option(options, "n")
    count = 10 if count is None else count
    if count < 0 or (size or 0) < 0:
        raise NotModelled("head with a negative number")
    first = True

    def head(path: str, stream: InputStream) -> None:
        nonlocal first
        if _headers(options):
            _header(call, path, first=first)
        first = False
        if size is not None:
            _copy_bytes(stream, call.streams.output, size)
            return
        for index, line in enumerate(lines(stream) if count else ()):
            call.streams.output.write(line)
            if index + 1 == count:
                break

    return each_input(call, options.operands, head)


def _copy_bytes(stream: InputStream, output: OutputStream, count: int) -> None:
    while count > 0 and (piece := stream.read(min(count, BLOCK))):
        output.write(piece)
        count -= len(piece)


def _head(call: CommandCall) -> int:
    return _head_with_options(_with_old_counts(call))


@toybox_command(OptionTable("n:c:qv", refused="fFs"))
def _tail_with_options(call: CommandCall, options: Options) -> int:
    by_bytes = "c" in options
    text = options.get("c") if by_bytes else options.get("n", "10")
    from_start = text.startswith("+")
    count = abs(number(text.removeprefix("+").removeprefix("-")))
    first = True

    def tail(path: str, stream: InputStream) -> None:
        nonlocal first
        if _headers(options):
            _header(call, path, first=first)
        first = False
        if from_start:
            _from(stream, call.streams.output, count, by_bytes=by_bytes)
        else:
            _last(stream, call.streams.output, count, by_bytes=by_bytes)

    return each_input(call, options.operands, tail)


def _from(stream: InputStream, output: OutputStream, start: int, *, by_bytes: bool) -> None:
    skipped = 0
    for piece in blocks(stream) if by_bytes else lines(stream):
        if skipped >= start - 1:
            output.write(piece)
        elif by_bytes:
            output.write(piece[start - 1 - skipped :])
            skipped += len(piece)
        else:
            skipped += 1


def _last(stream: InputStream, output: OutputStream, count: int, *, by_bytes: bool) -> None:
    if not by_bytes:
        last: deque[bytes] = deque(maxlen=count)
        for line in lines(stream):
            last.append(line)
            demand_memory(len(last) * LINE_COST)
        for line in last:
            output.write(line)
        return
    kept = bytearray()
    for piece in blocks(stream):
        kept += piece
        demand_memory(len(kept) - len(piece))
        del kept[: max(len(kept) - count, 0)]
    output.write(bytes(kept))


def _tail(call: CommandCall) -> int:
    return _tail_with_options(_with_old_counts(call))


@toybox_command(OptionTable("ai"))
def _tee(call: CommandCall, options: Options) -> int:
    status = 0
    outputs: list[OutputStream] = [call.streams.output]
    for path in options.operands:
        try:
            outputs.append(
                call.system.files.open_writer(absolute(call, path), append="a" in options, uid=call.uid)
            )
        except VirtualFileError as error:
            status = complain(call, path, error)
    for piece in blocks(call.streams.input):
        for output in outputs:
            output.write(piece)
    return status


@toybox_command(OptionTable("lsn:", least=1, most=4))
def _cmp(call: CommandCall, options: Options) -> int:
    if len(options.operands) > _TROUBLE:
        raise NotModelled("cmp with offsets")
    names = (*options.operands, "-")[:2]
    data = []
    for name in names:
        try:
            data.append(open_input(call, name).read(-1))
        except VirtualFileError as error:
            complain(call, name, error)
            return _TROUBLE
    limit = number(options.get("n")) if "n" in options else None
    left, right = (one if limit is None else one[:limit] for one in data)
    differing = [index for index, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]]
    if not differing and len(left) == len(right):
        return 0
    if "s" in options:
        return _DIFFERENT
    if "l" in options:
        for index in differing:
            call.write(f"{index + 1} {left[index]:o} {right[index]:o}\n")
    elif differing:
        line = left.count(b"\n", 0, differing[0]) + 1
        call.write(f"{names[0]} {names[1]} differ: char {differing[0] + 1}, line {line}\n")
    if len(left) != len(right) and ("l" in options or not differing):
        call.write_error(f"cmp: EOF on {names[len(left) > len(right)]}\n")
    return _DIFFERENT


def _checksum(algorithm: str) -> Command:
    @toybox_command(OptionTable("b", refused="cs"))
    def checksum(call: CommandCall, options: Options) -> int:
        def digest(path: str, stream: InputStream) -> None:
            state = hashlib.new(algorithm, usedforsecurity=False)
            for piece in blocks(stream):
                state.update(piece)
            name = "" if "b" in options else f"  {path}"
            call.write(f"{state.hexdigest()}{name}\n")

        return each_input(call, options.operands, digest)

    return checksum


@toybox_command(OptionTable("diw:", most=1))
def _base64(call: CommandCall, options: Options) -> int:
    width = number(options.get("w", "76"))

    def convert(_path: str, stream: InputStream) -> None:
        data = stream.read(-1)
        if "d" in options:
            call.streams.output.write(_decoded(data, garbage="i" in options))
            return
        text = base64.b64encode(data)
        if not width:
            call.streams.output.write(text)
            return
        for start in range(0, len(text), width):
            call.streams.output.write(text[start : start + width] + b"\n")

    return each_input(call, options.operands, convert)


def _decoded(data: bytes, *, garbage: bool) -> bytes:
    kept = data.translate(None, b"\r\n\t ")
    try:
        return base64.b64decode(kept + b"=" * (-len(kept) % 4), validate=not garbage)
    except binascii.Error:
        raise UsageFault("bad input") from None


@toybox_command(OptionTable("pl:s:c:g:", refused="ior", most=1))
def _xxd(call: CommandCall, options: Options) -> int:
    columns = number(options.get("c", "30" if "p" in options else "16"))
    group = number(options.get("g", "2"))
    start = number(options.get("s", "0"))
    if not 0 < columns <= 256 or group < 0 or start < 0:  # noqa: PLR2004
        raise UsageFault("bad -c")

    def dump(_path: str, stream: InputStream) -> None:
        data = stream.read(-1)[start:]
        data = data[: number(options.get("l"))] if "l" in options else data
        for offset in range(0, len(data), columns):
            row = data[offset : offset + columns]
            if "p" in options:
                call.write(row.hex() + "\n")
                continue
            size = group or columns
            pieces = [row[at : at + size].hex() for at in range(0, len(row), size)]
            width = columns * 2 + -(-columns // size)
            shown = "".join(chr(one) if 32 <= one < 127 else "." for one in row)  # noqa: PLR2004
            call.write(f"{start + offset:08x}: {' '.join(pieces):<{width}} {shown}\n")

    return each_input(call, options.operands, dump)


COMMANDS: Final[Mapping[str, Command]] = {
    "base64": _base64,
    "cat": _cat,
    "cmp": _cmp,
    "dd": dd,
    "head": _head,
    "md5sum": _checksum("md5"),
    "sha1sum": _checksum("sha1"),
    "sha256sum": _checksum("sha256"),
    "tail": _tail,
    "tee": _tee,
    "xxd": _xxd,
}
