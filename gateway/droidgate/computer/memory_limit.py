"""The bound on a process's memory; light, since commands without a catalog use it, too."""

from __future__ import annotations

import sys


def limit_memory(memory: int) -> None:
    """Let this process take that many bytes more than it has now, where the system can limit it."""
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return
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
