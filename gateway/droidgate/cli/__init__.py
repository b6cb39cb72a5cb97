"""The command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from droidgate.cli.interrupts import CtrlC

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`; importing that takes time in which Ctrl-C must work already."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program with the given arguments, or the process's own, and return its exit code."""
    from droidgate.cli.program import run as run_program

    return run_program(arguments)


def main() -> NoReturn:
    """Run the program and end the process; Ctrl-C ends it from the first import on."""
    import gc
    import signal
    import sys

    # Imports make many objects that stay; looking through them again and again costs a short run a twentieth.
    gc.set_threshold(100_000)

    def interrupt(number: int, frame: FrameType | None) -> None:
        CtrlC.was_pressed = True
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    sys.exit(INTERRUPTED if CtrlC.was_pressed and code else code)
