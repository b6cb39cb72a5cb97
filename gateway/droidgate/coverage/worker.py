"""A worker of a scan: a process that gets inputs and answers with their rows, within its memory.

It is started as `python -m droidgate.coverage.worker MEMORY DEADLINE WORK KNOWN`: bytes that it may take
beyond what it takes to start, seconds for one input, the function that does the work, and the file of known
units or nothing.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Container
from importlib import import_module
from typing import BinaryIO, Final

from droidgate.computer.process_limits import limit_memory
from droidgate.coverage.known_units import KnownUnits
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import load_ahead
from droidgate.coverage.scan_results import Scanned, read_frame, write_frames
from droidgate_mappings.records import dataclass

READY: Final = b"ready"
OUT_OF_MEMORY: Final = "too-much-memory"
SCAN_ONE: Final = "droidgate.coverage.scan_one:scan_one"
_RARELY: Final = 100_000
_LONGEST_ALARM: Final = 1 << 30
_MEBIBYTE: Final = 1 << 20

ScanWork = Callable[[Item, Container[str]], Scanned]


def load_work(path: str) -> ScanWork:
    """Return the function that `module:function` names."""
    module, _, name = path.partition(":")
    work: ScanWork = getattr(import_module(module), name)
    return work


def do_work(work: ScanWork, item: Item, units: Container[str], memory: int | None) -> tuple[Scanned, bool]:
    """Scan one input; whatever happens to it is its result.

    Returns:
        The result, and whether the process is still good for another one.
    """
    try:
        return work(item, units), True
    except MemoryError:
        reason = "it needs too much memory"
        if memory is not None:
            reason = f"it needs more than {memory // _MEBIBYTE} MiB of memory"
        return Scanned.failed(item.source, OUT_OF_MEMORY, reason), False
    except Exception as error:  # noqa: BLE001 - a mistake of ours costs one file, and is reported
        reason = f"internal error: {type(error).__name__}: {error}"
        return Scanned.failed(item.source, "crashed", reason[:500]), True


@dataclass(frozen=True, slots=True)
class Duty:
    """What a worker does, and within what: bytes and seconds for one input."""

    work: ScanWork
    units: Container[str]
    memory: int
    deadline: float


def serve(incoming: BinaryIO, outgoing: BinaryIO, duty: Duty) -> None:
    """Answer inputs until there are no more, or memory has run out once."""
    write_frames(outgoing, READY)
    is_good = True
    while is_good and (frame := read_frame(incoming)) is not None:
        _end_yourself_after(duty.deadline)
        scanned, is_good = do_work(duty.work, Item.from_json(json.loads(frame)), duty.units, duty.memory)
        try:
            answer = scanned.encode()
        except MemoryError:
            scanned = Scanned.failed(scanned.source, OUT_OF_MEMORY, "its rows need too much memory")
            answer, is_good = scanned.encode(), False
        write_frames(outgoing, *answer)


def _end_yourself_after(deadline: float) -> None:
    """Let the system end this process where the scan, which should, is not there any more.

    A process that gets no input for as long is ended too: next to a worker of a cluster nobody else would.
    """
    if hasattr(signal, "alarm"):
        signal.alarm(int(min(2 * deadline + 10, _LONGEST_ALARM)))


def main(arguments: list[str]) -> None:
    """Run a worker on standard input and output."""
    memory, deadline, work, known_file = arguments
    duty = Duty(load_work(work), KnownUnits(known_file), int(memory), float(deadline))
    load_ahead()  # before the clock of the first input runs
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints must not get between the answers
    limit_memory(duty.memory)
    # What was imported stays; looking through it again and again would cost a tenth of the time.
    gc.collect()
    gc.freeze()
    gc.set_threshold(_RARELY)
    serve(sys.stdin.buffer, outgoing, duty)


if __name__ == "__main__":
    main(sys.argv[1:])
