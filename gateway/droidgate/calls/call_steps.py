"""What a call waits for, apart from how: a thread waits, or a task of the event loop.

The path of a call is a generator. It yields what it waits for, and is sent the outcome. So `call` and
`serve` have one path, and a server needs no thread for a call that only the phone and the disk delay.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, Final, Generic, Protocol, TypeVar

from droidgate.devices.device_errors import CanceledError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass

T = TypeVar("T")


class CallStep(Protocol):
    """Something to wait for."""

    def wait(self) -> Any:
        """Return the outcome, once it is there."""

    async def wait_on_loop(self) -> Any:
        """Do the same on the event loop."""


CallSteps = Generator[CallStep, Any, T]

END_SECONDS: Final = 3.0
"""How long what is canceled may take to its end, such as until it is in the audit log."""


@dataclass(frozen=True, slots=True)
class Work:
    """A function that takes long or waits: on the event loop, it runs in a thread."""

    function: Callable[[], Any]

    def wait(self) -> Any:
        """Run it."""
        return self.function()

    async def wait_on_loop(self) -> Any:
        """Run it in a daemon thread: unlike for those of a pool, the end of the program waits for none.

        The disk, or a program that holds the audit log, may keep it for ever.
        """
        import asyncio

        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()

        def settle(set_outcome: Callable[[Any], None], value: Any) -> None:
            if not outcome.done():
                set_outcome(value)

        def run() -> None:
            try:
                end = (outcome.set_result, self.function())
            except BaseException as error:  # noqa: BLE001 - the task gets it
                end = (outcome.set_exception, error)
            # The loop may have ended meanwhile.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, *end)

        try:
            inbox = _IDLE.pop()
        except IndexError:
            inbox = SimpleQueue()
            Thread(target=_run_all, args=(inbox,), daemon=True).start()
        inbox.put(run)
        return await outcome


_IDLE: Final[list[SimpleQueue[Callable[[], None]]]] = []
"""What the threads read that have nothing to do."""


def _run_all(inbox: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        inbox.get()()
        _IDLE.append(inbox)


MAY_BLOCK: Final = Work(lambda: None)
"""Whatever comes next may block: the rest of a call is made in a thread. No effect is under way then."""


_LARGE: Final = 1 << 14
_WEIGHT: Final = 8
"""What a member of an object or a list counts, next to one for each character of a text."""


def is_large(value: Json) -> bool:
    """Return whether work on a value takes so long that others on the event loop would notice."""
    budget = _LARGE
    open_values: list[Json] = [value]
    while open_values and budget > 0:
        item = open_values.pop()
        members = item.values() if isinstance(item, Mapping) else item if isinstance(item, list) else ()
        budget -= len(item) if isinstance(item, str) else _WEIGHT * len(members)
        if budget > 0:
            open_values += members
    return budget <= 0


@dataclass(frozen=True, slots=True)
class Rest(Generic[T]):
    """What is left of a call that may block."""

    steps: CallSteps[T]

    def wait(self) -> T:
        """Make it."""
        return wait_for(self.steps)


def wait_for(steps: CallSteps[T]) -> T:
    """Return what the steps return, waiting in this thread."""
    advance: Callable[[Any], CallStep] = steps.send
    value: Any = None
    while True:
        try:
            step = advance(value)
        except StopIteration as end:
            result: T = end.value
            return result
        try:
            advance, value = steps.send, step.wait()
        except BaseException as error:  # noqa: BLE001 - the steps decide
            advance, value = steps.throw, error


async def wait_on_loop(steps: CallSteps[T]) -> T | Rest[T]:
    """Return what the steps return, waiting on the event loop, or what is left of them once they may block.

    Where the task is canceled, the steps get `CanceledError`, and are made to their end, for which they have
    `END_SECONDS`: a disk, or a program that holds the audit log, may keep them for ever.

    Raises:
        asyncio.CancelledError: the task was canceled.
    """
    import anyio

    canceled: BaseException | None = None
    with ExitStack() as ending:
        advance: Callable[[Any], CallStep] = steps.send
        value: Any = None
        while True:
            try:
                step = advance(value)
            except StopIteration as end:
                result: T = end.value
                break
            except BaseException:
                if canceled is None:
                    raise
                raise canceled from None
            if step is MAY_BLOCK:
                if canceled is None:
                    return Rest(steps)
                advance, value = steps.throw, CanceledError("the call was canceled")
                continue
            try:
                advance, value = steps.send, await step.wait_on_loop()
            except anyio.get_cancelled_exc_class() as error:
                if canceled is None:
                    canceled = error
                    ending.enter_context(anyio.move_on_after(END_SECONDS, shield=True))
                advance, value = steps.throw, CanceledError("the call was canceled")
            except Exception as error:  # noqa: BLE001 - the steps decide
                advance, value = steps.throw, error
    if canceled is not None:
        raise canceled
    return result
