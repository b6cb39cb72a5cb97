"""Measures capability matching: time, memory, and what a doubling costs.

Run `python benchmarks/matching.py [COUNT ...]`, as 10000 20000 40000 80000 (the default) or 1000000. The
capabilities are made up: names by Zipf's law, nearly each with a description of its own, so that hardly any
text is repeated. Each count runs in a process of its own.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from droidgate.coverage.match.features import CapabilityText
from droidgate.coverage.match.grouping import match_capabilities

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from synthetic_ecosystem.names import Names

COUNTS: Final = (10_000, 20_000, 40_000, 80_000)
_PER_APP: Final = 8
_PROTOCOLS: Final = ("mobile-mcp", "mmcp", "appfunctions")


def made_capabilities(count: int) -> Iterator[CapabilityText]:
    """Yield that many capabilities of apps with eight each; the same ones in each run."""
    names = Names(seed=7)
    for number in range(count):
        made = names.capability()
        app = number // _PER_APP
        protocol = _PROTOCOLS[app % len(_PROTOCOLS)]
        name = f"com.app{app}.Functions#{made.camel_name}" if protocol == "appfunctions" else made.snake_name
        yield CapabilityText(
            key=f"com.app{app}/{protocol}/{number}",
            package=f"com.app{app}",
            protocol=protocol,
            name=name,
            description=made.description,
            parameters=", ".join(f"{one.name}:{one.kind}" for one in made.parameters),
        )


def memory_and_work(since: float = 0.0) -> tuple[float, float]:
    """Return the most MiB that this process took, and the processor's seconds that it and those it has waited
    for have worked, less some.

    What the second process takes is not in the first: a new process counts the memory of the one it is from.
    """
    own, waited_for = (resource.getrusage(one) for one in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    worked = sum(one.ru_utime + one.ru_stime for one in (own, waited_for))
    return own.ru_maxrss / 1024, worked - since


def measure(count: int) -> None:
    """Print one line about matching that many."""
    capabilities = list(made_capabilities(count))
    before, worked = memory_and_work()
    began = time.perf_counter()
    matching = match_capabilities(capabilities)
    seconds = time.perf_counter() - began
    peak, worked = memory_and_work(worked)
    print(
        f"{count:>9,} capabilities  {seconds:7.1f} s  {worked:7.1f} s of processor, "
        f"{worked / count * 1e6:4.0f} us each  "
        f"{matching.compared / count:5.1f} compared each  {len(matching.groups):>7,} groups  "
        f"{matching.full_blocks:>5,} full blocks  peak {peak:6,.0f} MiB (input {before:,.0f})",
        flush=True,
    )


def main() -> None:
    """Measure the counts that are asked for, each in its own process."""
    counts = [int(one) for one in sys.argv[1:]] or list(COUNTS)
    if len(counts) == 1:
        measure(counts[0])
        return
    for count in counts:
        subprocess.run([sys.executable, __file__, str(count)], check=True)


if __name__ == "__main__":
    main()
