"""What a benchmark measures: printed row by row, and written as JSON for docs/internals/benchmarks.md."""

from __future__ import annotations

import argparse
import gc
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Value = str | int | float


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    options = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--json", type=Path, help="write what was measured to this file")
    options.add_argument(
        "--quick", action="store_true", help="measure small inputs once, to see that it works"
    )
    return options


def median_seconds(
    work: Callable[[], object], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Return the median of several runs after one that is not counted."""
    work()
    times = []
    for _ in range(rounds):
        gc.collect()
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


_NOTHING = "python -c pass"


def processes(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, tuple[float, float]]:
    """Run whole processes in turn; return the least processor milliseconds of each, and how often they are
    those of a Python that does nothing.
    """
    spent: dict[str, list[float]] = {name: [] for name in (_NOTHING, *commands)}
    for _ in range(rounds + 1):
        for name, command in {_NOTHING: (sys.executable, "-c", "pass"), **commands}.items():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, capture_output=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            spent[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    # Whatever else the machine does only adds to it; the first round may compile modules.
    least = {name: min(times[1:]) for name, times in spent.items()}
    return {name: (least[name] * 1000, least[name] / least[_NOTHING]) for name in commands}


@dataclass
class Table:
    """One table.

    Attributes:
        columns: Heading -> how its values are formatted, as `format` takes it; "" for texts.
        rows: The values of each row, in the columns' order.
    """

    columns: Mapping[str, str]
    rows: list[tuple[Value, ...]] = field(default_factory=list)

    def add(self, *values: Value) -> None:
        """Add a row, and print it."""
        if len(values) != len(self.columns):
            raise ValueError(f"{len(values)} values for {len(self.columns)} columns")
        self.rows.append(values)
        cells = zip(self.columns, self.columns.values(), values, strict=True)
        print("  ".join(_cell(heading, how, value) for heading, how, value in cells), flush=True)


def _cell(heading: str, how: str, value: Value) -> str:
    text = format(value, how)
    return text.rjust(max(len(heading), 9)) if how else text.ljust(max(len(heading), 24))


@dataclass
class Results:
    """The tables of one run.

    Attributes:
        options: What the benchmark was asked for; of it `json` and `quick` count here.
        tables: Name -> table, in the order of their beginning.
    """

    options: argparse.Namespace
    tables: dict[str, Table] = field(default_factory=dict)

    def table(self, name: str, columns: Mapping[str, str]) -> Table:
        """Begin a table, and print its headings."""
        table = self.tables[name] = Table(columns)
        print(f"\n{name}")
        print("  ".join(_cell(item, how and "s", item) for item, how in columns.items()), flush=True)
        return table

    def write(self) -> None:
        """Write the tables where `--json` says, with the day and the machine."""
        if self.options.json is None:
            return
        written: dict[str, Any] = {
            "date": datetime.now(tz=UTC).date().isoformat(),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 1),
            "quick": self.options.quick,
            "tables": {
                name: {"columns": dict(table.columns), "rows": table.rows}
                for name, table in self.tables.items()
            },
        }
        self.options.json.parent.mkdir(parents=True, exist_ok=True)
        self.options.json.write_text(results_text(written), encoding="utf-8")


def results_text(results: Mapping[str, Any]) -> str:
    """Return results as indented JSON, with a line for each row of a table."""
    text = json.dumps(results, indent=1)
    for table in results["tables"].values():
        for row in table["rows"]:
            in_lines = textwrap.indent(json.dumps(row, indent=1), " " * 4).lstrip()
            text = text.replace(in_lines, json.dumps(row))
    return text + "\n"
