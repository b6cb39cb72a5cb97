"""Ctrl-C, from the first import on. The module loads nothing at its top, since that takes time."""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    import sys
    from types import FrameType

INTERRUPTED = 130
"""`ExitCode.INTERRUPTED`; importing that takes time in which Ctrl-C must work already."""


class CtrlC:
    """Whether the user pressed Ctrl-C in this process.

    What it raises may turn up as another failure: where a class is made, Python before 3.12 puts it into a
    RuntimeError and pydantic into the text of a SchemaError, and some callbacks cannot raise it at all.
    """

    was_pressed = False


def catch_ctrl_c() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` wherever the program is, unless the caller ignores the signal."""
    import signal
    import sys

    def interrupt(number: int, frame: FrameType | None) -> None:
        CtrlC.was_pressed = True
        signal.default_int_handler(number, frame)

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, interrupt)
    print_unraisable = sys.unraisablehook

    def interrupt_again(unraisable: sys.UnraisableHookArgs) -> None:
        if CtrlC.was_pressed and issubclass(unraisable.exc_type, KeyboardInterrupt):
            _press_again_soon()
        else:
            print_unraisable(unraisable)

    sys.unraisablehook = interrupt_again


def _press_again_soon() -> None:
    """Raise the interruption again, after a callback that cannot raise it, such as an import lock's."""
    import _thread
    import signal
    import time

    main_thread = _thread.get_ident()

    def press() -> None:
        time.sleep(0.01)
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(main_thread, signal.SIGINT)  # ends a system call that waits, too
        else:
            _thread.interrupt_main()

    _thread.start_new_thread(press, ())


def end_at_ctrl_c() -> None:
    """Let Ctrl-C end the process at once; in the shutdown of Python it would print a traceback."""
    import os
    import signal

    if callable(signal.getsignal(signal.SIGINT)):
        signal.signal(signal.SIGINT, lambda _number, _frame: os._exit(INTERRUPTED))
