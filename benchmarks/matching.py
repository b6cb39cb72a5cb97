"""Measures capability matching: time, memory, and what a doubling costs.

Run it with `make bench`, or `python benchmarks/matching.py --counts 1000000`. The
capabilities are made up: names by Zipf's law, nearly each with a description of its own, so that hardly any
text is repeated. Each count runs in a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from _results import Results, parser

from droidgate.coverage.match.features import CapabilityText
from droidgate.coverage.match.grouping import match_capabilities

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from gateway.synthetic_ecosystem.names import Names

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
            parameters=", ".join(f"{parameter.name}:{parameter.kind}" for parameter in made.parameters),
        )


def memory_and_work(since: float = 0.0) -> tuple[float, float]:
    """Return the most MiB that this process took, and the processor's seconds that it and those it has waited
    for have worked, less some.

    What the second process takes is not in the first: a new process counts the memory of the one it is from.
    """
    own, waited_for = (resource.getrusage(item) for item in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    worked = sum(item.ru_utime + item.ru_stime for item in (own, waited_for))
    return own.ru_maxrss / 1024, worked - since


def measure(count: int) -> None:
    """Print the row about matching that many, as JSON."""
    capabilities = list(made_capabilities(count))
    before, worked = memory_and_work()
    began = time.perf_counter()
    matching = match_capabilities(capabilities)
    seconds = time.perf_counter() - began
    peak, worked = memory_and_work(worked)
    work = (worked, worked / count * 1e6, matching.compared / count)
    found = (len(matching.groups), matching.full_blocks)
    print(json.dumps([count, seconds, *work, *found, peak, before]))


COLUMNS: Final = {
    "capabilities": ",",
    "seconds": ".1f",
    "of processor": ".1f",
    "microseconds each": ".0f",
    "compared each": ".1f",
    "groups": ",",
    "full blocks": ",",
    "most memory, MiB": ",.0f",
    "of it input": ",.0f",
}


def main() -> None:
    """Measure the counts that are asked for, each in its own process."""
    options = parser(__doc__)
    options.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    options.add_argument("--one", type=int, help="measure one count, in this process")
    chosen = options.parse_args()
    if chosen.one is not None:
        measure(chosen.one)
        return
    results = Results(chosen)
    table = results.table("matching", COLUMNS)
    for count in [500] if chosen.quick else chosen.counts:
        command = [sys.executable, __file__, "--one", str(count)]
        table.add(*json.loads(subprocess.run(command, check=True, capture_output=True).stdout))
    results.write()


if __name__ == "__main__":
    main()
