"""Every exit code of the command line, in one table."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class ExitCode(IntEnum):
    """What a run says by its exit code."""

    meaning: str

    def __new__(cls, value: int, meaning: str) -> Self:
        """Make a member that knows its meaning."""
        member = int.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    OK = 0, "All went well, and no finding reaches the threshold"
    FINDINGS = (
        1,
        "A finding or change reaches `--fail-on`, a step of `demo` failed, or the agent of `why` cannot call",
    )
    USAGE = 2, "Invalid usage: an unknown command, option, format or value"
    INPUT = 3, "A source cannot be read, or a result cannot be written; of several, the others are written"
    DEVICE = 4, "A device cannot be reached or does not do what is needed"
    CALL_FAILED = 5, "A capability was called and failed"
    DENIED = 6, "A policy forbids the call"
    INTERNAL = 70, "Internal error in droidgate"
    INTERRUPTED = 130, "Stopped by Ctrl-C"
    BROKEN_PIPE = 141, "The program that read the output went away"
