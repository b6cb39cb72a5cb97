"""How much a piece of code does, counted rather than timed: the same on each machine, however busy it is."""

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any


def count_calls(work: Callable[[], object]) -> int:
    """Return how many functions, Python's and built in, were called while `work` ran."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal calls
        if event in {"call", "c_call"}:
            calls += 1

    former = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(former)
    return calls


def check_linear(work: Callable[[int], object], size: int) -> None:
    """Assert that twice the size takes at most twice the calls, and a tenth."""
    once, twice = (count_calls(partial(work, length)) for length in (size, 2 * size))
    assert twice <= 2.1 * once, f"{once} calls for {size}, {twice} for {2 * size}"
