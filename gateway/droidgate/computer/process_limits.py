"""What this process may use: processors and memory; light, since most commands use it."""

from __future__ import annotations

import os
import sys


def usable_cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def limit_memory(memory: int) -> None:
    """Let this process take that many bytes more than it has now, where the system can limit it."""
    if sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123 - before the limit, little memory
            pages = int(file.read().split()[0])
    except OSError:
        return
    most = pages * resource.getpagesize() + memory
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if most <= sys.maxsize and (hard == resource.RLIM_INFINITY or most < hard):
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
