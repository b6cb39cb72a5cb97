"""Asking the user on the terminal whether a call may be made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from droidgate.calls.approvals import Approval, ApprovalRequest, refuse, shown_arguments
from droidgate.calls.subjects import CallEffect
from droidgate.cli.output.pages import draw_text
from droidgate.cli.output.safe_text import visible
from droidgate.cli.output.waiting_line import clear_waiting_line

_HANGING: Final = 8
_EFFECTS = {
    CallEffect.READS: "it only reads",
    CallEffect.WRITES: "it may change or send something",
    CallEffect.UNKNOWN: "what it does is not declared",
}


def ask_on_terminal(request: ApprovalRequest) -> Approval:
    """Ask on standard error and read the answer from standard input; refuse if one is not a terminal."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return refuse(request)
    subject = request.subject
    arguments = shown_arguments(request.arguments)
    lines = [
        f"{subject.capability} of {subject.package}",
        *([f"  attention: {request.change}"] if request.change else []),
        f"  effect: {_EFFECTS[subject.effect]}",
        f"  signed by: {request.pin.signer[:16]}",
        f"  arguments: {len(arguments.lines)}" + (", each with its length" if arguments.lines else ""),
        *(f"  - {line}" for line in arguments.lines),
    ]
    _print_lines(lines)
    if request.is_asked_anew:
        _forget_typed()
    always = "" if arguments.is_cut else "a: always as declared now, "
    print(f"Call it? y: once, {always}n: no [n] ", end="", file=sys.stderr, flush=True)
    answer = sys.stdin.readline().strip().lower()
    if answer in {"y", "yes"}:
        return Approval(allowed=True)
    if always and answer in {"a", "always"}:
        return Approval(allowed=True, remember=True)
    return Approval(allowed=False, message="not approved", token="denied")  # noqa: S106


def _print_lines(lines: Sequence[str]) -> None:
    """Print all lines; the further rows of a long one are indented more than the beginning of any other."""
    from rich.console import Console
    from rich.text import Text

    clear_waiting_line()
    console = Console(file=sys.stderr, markup=False, highlight=False, emoji=False)
    for line in lines:
        draw_text(Text(visible(line)), console, hanging=_HANGING)


def _forget_typed() -> None:
    """Drop what was typed before the question was there, such as a second `y` for the one before."""
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(sys.stdin, termios.TCIFLUSH)
