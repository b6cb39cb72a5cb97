"""dd: blocks of one file into another (toybox `toys/posix/dd.c`)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from droidgate_phone.commands import CommandCall
from droidgate_phone.commands.toybox_options import (
    BLOCK,
    NotModelled,
    Options,
    OptionTable,
    UsageFault,
    absolute,
    counted,
    number,
    toybox_command,
)
from droidgate_phone.file_handles import FileReader
from droidgate_phone.streams import InputStream, OutputStream

_FLAGS: Final = {
    "conv": frozenset({"fsync", "noerror", "notrunc", "sync"}),
    "iflag": frozenset({"count_bytes", "skip_bytes", "fullblock"}),
    "oflag": frozenset({"seek_bytes", "append"}),
}
_NUMBERS: Final = {"bs": 0, "ibs": 512, "obs": 512, "count": -1, "seek": 0, "skip": 0}
_STATUSES: Final = frozenset({"none", "noxfer"})
MAXIMUM_BLOCK: Final = 1 << 26


@dataclass(slots=True)
class _Job:
    """What was asked for, and what has been done: full and part blocks in and out."""

    source: str = ""
    target: str = ""
    status: str = ""
    numbers: dict[str, int] = field(default_factory=lambda: dict(_NUMBERS))
    flags: dict[str, set[str]] = field(default_factory=lambda: {name: set() for name in _FLAGS})
    blocks_in: list[int] = field(default_factory=lambda: [0, 0])
    blocks_out: list[int] = field(default_factory=lambda: [0, 0])
    copied: int = 0


@toybox_command(OptionTable(stops=True))
def dd(call: CommandCall, options: Options) -> int:
    """Run `dd`."""
    job = _read_arguments(options.operands)
    started = time.monotonic()
    source: InputStream = call.streams.input
    if job.source:
        source = call.system.files.open_reader(absolute(call, job.source), uid=call.uid)
    try:
        _copy(call, job, source, _open_output(call, job))
    finally:
        _report(call, job, time.monotonic() - started)
    return 0


def _read_arguments(arguments: tuple[str, ...]) -> _Job:
    job = _Job()
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name == "if" and equals:
            job.source = value
        elif name == "of" and equals:
            job.target = value
        elif name == "status" and equals:
            if value not in _STATUSES:
                raise UsageFault(f"unknown status '{value}'")
            job.status = value
        elif name in _NUMBERS and equals:
            job.numbers[name] = _factors(value, at_least=int(name.endswith("bs")))
        elif name in _FLAGS and equals:
            for flag in value.split(","):
                if flag not in _FLAGS[name]:
                    raise UsageFault(f"bad {name}={flag}")
                job.flags[name].add(flag)
        else:
            raise UsageFault(f"bad arg {argument}")
    if job.numbers["bs"]:
        job.numbers["ibs"] = job.numbers["obs"] = job.numbers["bs"]
    if max(job.numbers["ibs"], job.numbers["obs"]) > MAXIMUM_BLOCK:
        raise NotModelled(f"dd with blocks of more than {MAXIMUM_BLOCK} bytes")
    return job


def _factors(text: str, *, at_least: int) -> int:
    """Return a number that may be written as a product: `2x512`."""
    product = 1
    pieces = [text] if text.lower().startswith("0x") else text.split("x")
    for piece in pieces:
        product *= number(piece)
    if product < at_least or product >= 1 << 63:
        raise UsageFault(f"bad {text}")
    return product


def _open_output(call: CommandCall, job: _Job) -> OutputStream:
    seek = job.numbers["seek"] * (1 if "seek_bytes" in job.flags["oflag"] else job.numbers["obs"])
    if not job.target:
        if seek:
            raise NotModelled("dd seek= without of=")
        return call.streams.output
    truncates = "notrunc" not in job.flags["conv"]
    writer = call.system.files.open_writer(
        absolute(call, job.target),
        append="append" in job.flags["oflag"],
        truncate=truncates and not seek,
        mode=0o666 & ~0o022,
        uid=call.uid,
    )
    if seek:
        writer.seek(seek)
        if truncates:
            writer.truncate()
    return writer


def _copy(call: CommandCall, job: _Job, source: InputStream, output: OutputStream) -> None:
    size = job.numbers["ibs"]
    _skip(call, job, source)
    source = counted(source)
    left = job.numbers["count"]
    if left >= 0 and "count_bytes" not in job.flags["iflag"]:
        left *= size
    waiting = bytearray()
    while left:
        wanted = size if left < 0 else min(size, left)
        data = _read_block(source, wanted, full="fullblock" in job.flags["iflag"])
        if not data:
            break
        job.blocks_in[0 if len(data) == size else 1] += 1
        left -= len(data) if left > 0 else 0
        if "sync" in job.flags["conv"]:
            data = data.ljust(size, b"\0")
        if job.numbers["bs"]:
            _write_block(job, output, data)
            continue
        waiting += data
        whole = len(waiting) // job.numbers["obs"] * job.numbers["obs"]
        for start in range(0, whole, job.numbers["obs"]):
            _write_block(job, output, bytes(waiting[start : start + job.numbers["obs"]]))
        del waiting[:whole]
    if waiting:
        _write_block(job, output, bytes(waiting))


def _read_block(source: InputStream, size: int, *, full: bool) -> bytes:
    data = source.read(size)
    while full and data and len(data) < size and (more := source.read(size - len(data))):
        data += more
    return data


def _skip(call: CommandCall, job: _Job, source: InputStream) -> None:
    count = job.numbers["skip"] * (1 if "skip_bytes" in job.flags["iflag"] else job.numbers["ibs"])
    if isinstance(source, FileReader):
        source.seek(source.position + count)
        return
    while count > 0:
        piece = source.read(min(count, BLOCK))
        if not piece:
            call.write(f"{job.source or 'stdin'}: Can't skip\n")
            return
        count -= len(piece)


def _write_block(job: _Job, output: OutputStream, data: bytes) -> None:
    output.write(data)
    job.copied += len(data)
    job.blocks_out[0 if len(data) == job.numbers["obs"] else 1] += 1


def _report(call: CommandCall, job: _Job, seconds: float) -> None:
    if job.status == "none":
        return
    (full_in, part_in), (full_out, part_out) = job.blocks_in, job.blocks_out
    call.write_error(f"{full_in}+{part_in} records in\n{full_out}+{part_out} records out\n")
    if job.status != "noxfer":
        milliseconds = max(int(seconds * 1000), 1)
        rate = human_size(job.copied * 1000 // milliseconds)
        call.write_error(
            f"{job.copied} bytes ({human_size(job.copied)}) copied, "
            f"{milliseconds // 1000}.{milliseconds % 1000:03d} s, {rate}/s\n"
        )


def human_size(size: int, *, space: bool = True, unit: str = "B") -> str:
    """Return a size as toybox's `human_readable` writes it: three digits and a unit of 1024s."""
    gap = " " if space else ""
    value, power = float(size), 0
    while value >= 1000 and power < 6:  # noqa: PLR2004
        value /= 1024
        power += 1
    letter = ("", "K", "M", "G", "T", "P", "E")[power]
    digits = f"{value:.1f}" if power and value < 10 else f"{value:.0f}"  # noqa: PLR2004
    return f"{digits}{gap}{letter}{unit}"
