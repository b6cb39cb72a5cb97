"""How a test waits for what another thread or process does."""

import time
from collections.abc import Callable


def wait_until(is_so: Callable[[], object], seconds: float = 60) -> None:
    """Wait until a function returns something true; fail after so many seconds."""
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came to be"
        time.sleep(0.01)
