"""Time and memory that one run of a command may take; `scan` also bounds what one file may take."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, ClassVar, Final, TypeVar

import typer

from droidgate.cli.command_classes import Command
from droidgate_mappings.model.errors import BudgetError
from droidgate_mappings.records import dataclass
from droidgate_mappings.timed_steps import in_whole_step, open_steps

_MEBIBYTE: Final = 1 << 20
_AGAIN: Final = 0.5
"""Seconds until a deadline is reported again, where something has caught or outlasted the first report."""

_Made = TypeVar("_Made")

Memory = Annotated[
    int,
    typer.Option("--memory", min=64, max=1 << 24, metavar="MIB", help="MiB of memory that the run may take"),
]
Deadline = Annotated[
    float,
    typer.Option("--deadline", min=0.1, max=1e6, metavar="SECONDS", help="Seconds that the run may take"),
]


@dataclass(frozen=True, slots=True)
class RunBudget:
    """What one run may take.

    Attributes:
        memory: MiB, beyond what the program takes to start; None for any amount.
        deadline: Seconds.
    """

    memory: int | None = 1024
    deadline: float = 60.0

    def late(self, steps: Sequence[str] = ()) -> BudgetError:
        """Return the error of a run that takes too long.

        Args:
            steps: The steps that it did not finish, the innermost last.
        """
        message = f"the run takes more than {self.deadline:g} seconds"
        place = " > ".join(steps)
        hint = "allow more with --deadline, if the source is one that you trust"
        return BudgetError(f"{message}; it stopped in: {place}" if steps else message, hint=hint)

    def large(self) -> BudgetError:
        """Return the error of a run that needs too much memory."""
        hint = "allow more with --memory, if the source is one that you trust"
        return BudgetError(f"the run needs more than {self.memory} MiB of memory", hint=hint)


class BoundedCommand(Command):
    """A command whose run may take a part of the machine only.

    Attributes:
        memory: MiB; None for any amount.
        deadline: Seconds. The time in which somebody reads the report does not count.
    """

    _margin: ClassVar = 0.0
    """Seconds beyond the deadline, for a library that keeps to it by itself."""
    _more: ClassVar = 0
    """As `run_within` takes it."""

    memory: int | None = None
    deadline: float

    def prepare(self) -> Callable[[], int]:
        """Do the work within the limits, and return what prints its report."""
        budget = RunBudget(self.memory, self.deadline + self._margin)
        return run_within(budget, super().prepare, more=self._more)


class _DeadlineReached(BaseException):
    """Raised by the clock; no handler of errors takes it for one of its own."""


def run_within(budget: RunBudget, body: Callable[[], _Made], *, more: int = 0) -> _Made:
    """Run a command's work, and return what it returns.

    Args:
        budget: What it may take.
        body: The work.
        more: MiB of addresses beyond the budget, for a library that keeps to the budget by itself and
            reserves more than it uses.

    Raises:
        BudgetError: it takes too long, or needs too much memory.
    """
    clock = _Clock()
    try:
        with clock.running(budget.deadline), _memory(budget.memory, more):
            return body()
    except (_DeadlineReached, RuntimeError):
        # A library in C that is interrupted raises an error of its own.
        if clock.is_over:
            raise budget.late(clock.unfinished) from None
        raise
    except MemoryError:
        raise budget.large() from None


class _Clock:
    """The clock of a run.

    Attributes:
        is_over: The time is over.
        unfinished: The steps that were not finished then.
    """

    def __init__(self) -> None:
        self.is_over = False
        self.unfinished: tuple[str, ...] = ()

    def _reach(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if in_whole_step():
            return
        if not self.is_over:
            self.is_over, self.unfinished = True, open_steps()
        raise _DeadlineReached

    @contextmanager
    def running(self, deadline: float) -> Iterator[None]:
        """Raise `_DeadlineReached` in the main thread when the time is over, where the system has a clock."""
        if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():
            yield
            return
        began = time.monotonic()
        previous = signal.signal(signal.SIGALRM, self._reach)
        seconds, again = signal.setitimer(signal.ITIMER_REAL, deadline, _AGAIN)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
            if seconds:
                signal.setitimer(signal.ITIMER_REAL, max(seconds - (time.monotonic() - began), 0.001), again)


@contextmanager
def _memory(memory: int | None, more: int) -> Iterator[None]:
    """Bound the memory of this process, in MiB, where the system can."""
    if sys.platform == "win32" or memory is None:
        yield
        return
    import resource

    from droidgate.computer.process_limits import limit_memory

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory((memory + more) * _MEBIBYTE)
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
