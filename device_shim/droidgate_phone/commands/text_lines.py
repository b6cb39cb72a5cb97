"""cut, rev, sort, tac, tr, uniq, wc: lines of text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.text_searching import grep
from droidgate_phone.commands.toybox_options import (
    BLOCK,
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    all_lines,
    blocks,
    each_input,
    lines,
    number,
    open_input,
    toybox_command,
)
from droidgate_phone.streams import InputStream

_SPACE: Final = b" \t\n\v\f\r"
_CLASSES: Final[Mapping[str, bytes]] = {
    "alpha": bytes(range(65, 91)) + bytes(range(97, 123)),
    "alnum": bytes(range(48, 58)) + bytes(range(65, 91)) + bytes(range(97, 123)),
    "blank": b"\t ",
    "cntrl": bytes([*range(32), 127]),
    "digit": bytes(range(48, 58)),
    "graph": bytes(range(33, 127)),
    "lower": bytes(range(97, 123)),
    "print": bytes(range(32, 127)),
    "punct": bytes(one for one in range(33, 127) if not chr(one).isalnum()),
    "space": b"\t\n\v\f\r ",
    "upper": bytes(range(65, 91)),
    "xdigit": b"0123456789ABCDEFabcdef",
}
_ESCAPES: Final = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_WHOLE_BYTE: Final = bytes(range(256))


@dataclass(slots=True)
class _Counts:
    lines: int = 0
    words: int = 0
    characters: int = 0
    size: int = 0


def _counts(stream: InputStream) -> _Counts:
    counts = _Counts()
    in_word = False
    for piece in blocks(stream):
        counts.lines += piece.count(b"\n")
        counts.size += len(piece)
        counts.characters += sum(one & 0xC0 != 0x80 for one in piece)  # noqa: PLR2004
        counts.words += len(piece.split()) - (in_word and piece[:1] not in _SPACE)
        in_word = piece[-1:] not in _SPACE
    return counts


@toybox_command(OptionTable("cmwl", refused="L"))
def _wc(call: CommandCall, options: Options) -> int:
    chosen = [letter for letter in "lwmc" if letter in options] or ["l", "w", "c"]
    total = _Counts()

    def show(counts: _Counts, name: str) -> None:
        values = {"l": counts.lines, "w": counts.words, "m": counts.characters, "c": counts.size}
        shown = [str(values[letter]) for letter in chosen]
        if options.operands:
            shown.append(name)
        call.write(" ".join(shown) + "\n")

    def count(path: str, stream: InputStream) -> None:
        found = _counts(stream)
        for name in _Counts.__slots__:
            setattr(total, name, getattr(total, name) + getattr(found, name))
        show(found, path)

    status = each_input(call, options.operands, count)
    if len(options.operands) > 1:
        show(total, "total")
    return status


def _ranges(text: str, option: str) -> list[tuple[int, int]]:
    """Return the ranges of `cut`: first and last, from 1; the last is large where there is none."""
    found: list[tuple[int, int]] = []
    for piece in text.split(","):
        match = re.fullmatch(r"(\d*+)(-?)(\d*)", piece, re.ASCII)
        if match is None or not (match.group(1) or match.group(3)):
            raise UsageFault(f"bad {piece or text}")
        first = int(match.group(1) or 1)
        last = int(match.group(3) or 1 << 30) if match.group(2) else first
        if first == 0 or last < first:
            raise UsageFault(f"bad {piece}")
        found.append((first, last))
    del option
    return sorted(found)


def _chosen(ranges: list[tuple[int, int]], count: int, *, inverted: bool) -> list[int]:
    """Return which of `count` things are meant, from 0."""
    wanted = {index for first, last in ranges for index in range(first - 1, min(last, count))}
    return [index for index in range(count) if (index in wanted) != inverted]


@toybox_command(OptionTable("b:c:d:f:ns", {"complement": "complement"}, refused="CDFO"))
def _cut(call: CommandCall, options: Options) -> int:
    kinds = [letter for letter in "bcf" if letter in options]
    if len(kinds) != 1:
        raise UsageFault(
            'Needs one of -bcf (see "cut --help")' if not kinds else f"No '{kinds[1]}' with '{kinds[0]}'"
        )
    kind = kinds[0]
    ranges = _ranges(options.get(kind), kind)
    delimiter = options.get("d", "\t").encode("utf-8", "surrogateescape")
    if len(options.get("d", "\t")) != 1:
        raise UsageFault(f"bad -d '{options.get('d')}'")
    inverted = "complement" in options

    def cut_line(line: bytes) -> bytes | None:
        if kind == "b":
            return bytes(line[index] for index in _chosen(ranges, len(line), inverted=inverted))
        if kind == "c":
            text = line.decode("utf-8", "surrogateescape")
            kept = "".join(text[index] for index in _chosen(ranges, len(text), inverted=inverted))
            return kept.encode("utf-8", "surrogateescape")
        fields = line.split(delimiter)
        if len(fields) == 1:
            return None if "s" in options else line
        return delimiter.join(fields[index] for index in _chosen(ranges, len(fields), inverted=inverted))

    def cut(_path: str, stream: InputStream) -> None:
        for line in lines(stream):
            kept = cut_line(line.removesuffix(b"\n"))
            if kept is not None:
                call.streams.output.write(kept + b"\n")

    return each_input(call, options.operands, cut)


def _leading_number(text: bytes) -> float:
    match = re.match(rb"\s*-?\d*\.?\d*", text)
    try:
        return float(match.group()) if match else 0.0
    except ValueError:
        return 0.0


def _sort_key(options: Options) -> Callable[[bytes], tuple[object, ...]]:
    field = 0
    last_field = 1 << 30
    if "k" in options:
        match = re.fullmatch(r"(\d+)(?:,(\d+))?", options.get("k"), re.ASCII)
        if match is None or len(options.all_values["k"]) > 1:
            raise NotModelled(f"sort -k {options.get('k')}")
        field = int(match.group(1)) - 1
        last_field = int(match.group(2)) if match.group(2) else last_field
    separator = options.get("t").encode("utf-8", "surrogateescape")

    def key(line: bytes) -> tuple[object, ...]:
        text = line
        if "k" in options:
            if separator:
                text = separator.join(line.split(separator)[field:last_field])
            else:
                text = b"".join(re.findall(rb"\s*\S+", line)[field:last_field])
        if "b" in options:
            text = text.lstrip(b" \t")
        if "f" in options:
            text = text.upper()
        return (_leading_number(text), b"") if "n" in options else (text,)

    return key


@toybox_command(OptionTable("bfno:rst:uk:z", refused="CMSTVXcdghimx"))
def _sort(call: CommandCall, options: Options) -> int:
    end = b"\0" if "z" in options else b"\n"
    kept_lines: list[bytes] = []

    def collect(_path: str, stream: InputStream) -> None:
        kept_lines.extend(line.removesuffix(end) for line in all_lines(stream, end))

    status = each_input(call, options.operands, collect)
    key = _sort_key(options)
    if "s" not in options and "u" not in options:
        kept_lines.sort(reverse="r" in options)
    kept_lines.sort(key=key, reverse="r" in options)
    if "u" in options:
        kept: list[bytes] = []
        for line in kept_lines:
            if not kept or key(kept[-1]) != key(line):
                kept.append(line)
        kept_lines = kept
    data = b"".join(line + end for line in kept_lines)
    if "o" in options:
        call.system.files.write(absolute(call, options.get("o")), data, uid=call.uid)
    else:
        call.streams.output.write(data)
    return status


@toybox_command(OptionTable("cdf:iuz", refused="sw", most=2))
def _uniq(call: CommandCall, options: Options) -> int:
    end = b"\0" if "z" in options else b"\n"
    skipped = number(options.get("f", "0"))
    source = open_input(call, options.operands[0] if options.operands else "-")
    output = call.streams.output
    if len(options.operands) > 1:
        output = call.system.files.open_writer(absolute(call, options.operands[1]), uid=call.uid)

    def key(line: bytes) -> bytes:
        rest = re.sub(rb"^(?:\s*\S+){%d}" % skipped, b"", line) if skipped else line
        return rest.lower() if "i" in options else rest

    def show(line: bytes, count: int) -> None:
        if (count > 1 and "u" in options) or (count == 1 and "d" in options) or not count:
            return
        prefix = b"%7d " % count if "c" in options else b""
        output.write(prefix + line + end)

    previous, count = b"", 0
    for raw in lines(source, end):
        line = raw.removesuffix(end)
        if count and key(line) == key(previous):
            count += 1
            continue
        show(previous, count)
        previous, count = line, 1
    show(previous, count)
    return 0


def _set_of_bytes(text: str) -> bytes:
    """Return the bytes of a set of `tr`: ranges, classes and escapes.

    Raises:
        UsageFault: a range runs backwards, or a class is none.
    """
    data = text.encode("utf-8", "surrogateescape")
    made = bytearray()
    index = 0
    while index < len(data):
        match = re.match(rb"\[:(\w+):\]", data[index:])
        if match is not None:
            name = match.group(1).decode()
            if name not in _CLASSES:
                raise UsageFault(f"bad class [:{name}:]")
            made += _CLASSES[name]
            index += match.end()
            continue
        first, index = _set_byte(data, index)
        if data[index : index + 1] == b"-" and index + 1 < len(data):
            last, index = _set_byte(data, index + 1)
            if last < first:
                raise UsageFault("reverse order")
            made += bytes(range(first, last + 1))
        else:
            made.append(first)
    return bytes(made)


def _set_byte(data: bytes, index: int) -> tuple[int, int]:
    """Return one byte of a set and where the next one starts."""
    if data[index] != ord("\\") or index + 1 == len(data):
        return data[index], index + 1
    octal = re.match(rb"[0-7]{1,3}", data[index + 1 :])
    if octal is not None:
        return int(octal.group(), 8) & 0xFF, index + 1 + octal.end()
    letter = chr(data[index + 1])
    return _ESCAPES.get(letter, data[index + 1]), index + 2


@toybox_command(
    OptionTable("Ccdst", {"complement": "C", "delete": "d", "squeeze-repeats": "s"}, least=1, most=2)
)
def _tr(call: CommandCall, options: Options) -> int:
    first = _set_of_bytes(options.operands[0])
    if "c" in options or "C" in options:
        first = bytes(one for one in _WHOLE_BYTE if one not in first)
    second = _set_of_bytes(options.operands[1]) if len(options.operands) > 1 else b""
    deleting, squeezing = "d" in options, "s" in options
    if not second and not deleting and not squeezing:
        raise UsageFault('Need 2 arguments (see "tr --help")')
    table = bytearray(_WHOLE_BYTE)
    if second and not deleting:
        padded = second[: len(first)] if "t" in options else second.ljust(len(first), second[-1:])
        for old, new in zip(first, padded, strict=False):
            table[old] = new
    squeezed = second or first
    before = -1
    while piece := call.streams.input.read(BLOCK):
        data = piece.translate(bytes(table), first if deleting else b"")
        if squeezing:
            kept = bytearray()
            for one in data:
                if one != before or one not in squeezed:
                    kept.append(one)
                before = one
            data = bytes(kept)
        call.streams.output.write(data)
    return 0


@toybox_command(OptionTable())
def _rev(call: CommandCall, options: Options) -> int:
    def reverse(_path: str, stream: InputStream) -> None:
        for line in lines(stream):
            text = line.removesuffix(b"\n").decode("utf-8", "surrogateescape")[::-1]
            call.write(text + "\n")

    return each_input(call, options.operands, reverse)


@toybox_command(OptionTable())
def _tac(call: CommandCall, options: Options) -> int:
    def reverse(_path: str, stream: InputStream) -> None:
        for line in reversed(all_lines(stream)):
            call.streams.output.write(line)

    return each_input(call, options.operands, reverse)


COMMANDS: Final[Mapping[str, Command]] = {
    "cut": _cut,
    "egrep": grep,
    "fgrep": grep,
    "grep": grep,
    "rev": _rev,
    "sort": _sort,
    "tac": _tac,
    "tr": _tr,
    "uniq": _uniq,
    "wc": _wc,
}
