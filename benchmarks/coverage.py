"""What coverage costs: scanning APKs next to androguard, one process and two, and the report of a catalog.

Run it with `make bench`; `--apps 10000 --capabilities 1000000` is what a large run measures. The APKs are
made anew from a seed that was not used before, so that nothing of ours knows them; those inside installed
packages come too. Times of single files are the processor's, since other work on the machine changes the
others.
"""

from __future__ import annotations

import argparse
import csv
import json
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from _results import Results, Table, parser

from droidgate.coverage.history import Snapshot
from droidgate.coverage.process_pool import PoolSettings
from droidgate.coverage.report import Coverage, ReportOptions
from droidgate.coverage.scan import ScanRequest, scan
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.names import CATALOG_FILE
from droidgate.sources.catalogs.rows import TABLES

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from _reading import COLUMNS as READING_COLUMNS
from _reading import measure_reading, shipped_apks
from matching import made_capabilities, memory_and_work

from gateway.synthetic_ecosystem.ecosystem import make_ecosystem, read_truth


def measure_scan(folder: Path, workers: int) -> None:
    """Print the row about scanning a folder, as JSON; in a new process, which counts its parent's memory."""
    catalog = folder.with_name(f"catalog{workers}")
    began, worked = time.perf_counter(), time.process_time()
    result = scan(ScanRequest([str(folder)], catalog, PoolSettings(workers=workers)))
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = children.ru_utime + children.ru_stime
    files, own = result.catalog.rows["sources"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    written = sum(path.stat().st_size for path in catalog.rglob("*.parquet"))
    of_core = files / (spent + worked)
    memory = (children.ru_maxrss / 1024, own / 1024)
    print(json.dumps([workers, files, seconds, spent, worked, of_core, *memory, written / files]))


def multiply(catalog: Catalog, folder: Path, count: int) -> Catalog:
    """Write a catalog of so many capabilities: the apps of another again and again, with other names.

    Every copy is an app of its own. Names, descriptions and shapes are made up as those of
    `benchmarks/matching.py`; all else is the original's.
    """
    times = -(-count // catalog.rows["capabilities"])
    made = folder.with_suffix(".csv")
    with made.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "id", "description", "parameters"])
        for number, made_capability in enumerate(made_capabilities(times * catalog.rows["capabilities"]), 1):
            rows.writerow(
                [
                    number,
                    made_capability.name.rpartition("#")[2],
                    made_capability.description,
                    made_capability.parameters,
                ]
            )
    connection = catalog.connect()
    counts = {}
    for table in TABLES:
        (folder / table).mkdir(parents=True)
        copied = _copy_of(connection, table, times, made)
        connection.execute(f"COPY ({copied}) TO '{folder / table}/0.parquet' (FORMAT parquet)")
        counts[table] = times * catalog.rows[table]
    connection.close()
    made.unlink()
    document = json.loads((catalog.folder / CATALOG_FILE).read_bytes())
    (folder / CATALOG_FILE).write_text(json.dumps({**document, "rows": counts}), encoding="utf-8")
    return Catalog.open(folder)


def _copy_of(connection: Any, table: str, times: int, made: Path) -> str:
    # ruff: noqa: S608 - the names are those of our own tables
    columns = [row[0] for row in connection.execute(f"DESCRIBE {table}").fetchall()]
    renamed = {name: f"{name} || '_' || copy AS {name}" for name in ("unit", "package", "source", "digest")}
    chosen = ", ".join(renamed.get(name, name) for name in columns)
    copies = f"SELECT {chosen} FROM {table}, range({times}) AS t(copy)"
    if table != "capabilities":
        return f"{copies} ORDER BY ALL" if table == "sources" else f"{copies} ORDER BY unit"
    own = ", ".join(
        f"coalesce(m.{name}, '') AS {name}" if name in {"id", "description", "parameters"} else f"c.{name}"
        for name in columns
    )
    numbered = f"SELECT *, row_number() OVER (ORDER BY unit, provider, capability) AS number FROM ({copies})"
    return f"SELECT {own} FROM ({numbered}) c JOIN read_csv('{made}') m USING (number) ORDER BY unit"


def measure_report(folder: Path, *, matching: bool) -> None:
    """Print the row about the report of a catalog, in this process and the one that it starts, as JSON."""
    catalog = Catalog.open(folder)
    began, (_, worked) = time.perf_counter(), memory_and_work()
    with Coverage(Snapshot(folder.name, catalog), options=ReportOptions(matching=matching)) as made:
        groups = made.report.matching.groups if made.report.matching is not None else 0
    seconds = time.perf_counter() - began
    peak, worked = memory_and_work(worked)
    count = catalog.rows["capabilities"]
    apps = catalog.rows["apps"]
    print(
        json.dumps(
            [count, apps, str(groups) if matching else "", seconds, worked, worked / count * 1e6, peak]
        )
    )


SCAN_COLUMNS: Final = {
    "processes": "",
    "files": ",",
    "seconds": ".1f",
    "processor, workers": ".1f",
    "processor, the rest": ".1f",
    "APKs/s of a core": ".1f",
    "most memory of a worker, MiB": ",.0f",
    "of the scan": ",.0f",
    "bytes of catalog a file": ",.0f",
}
REPORT_COLUMNS: Final = {
    "capabilities": ",",
    "apps": ",",
    "groups, with matching": "",
    "seconds": ".1f",
    "of processor": ".1f",
    "microseconds each": ".0f",
    "most memory, MiB": ",.0f",
}


def _row_of(*arguments: str | Path) -> list[Any]:
    """Return the row that this program prints in a process of its own."""
    run = subprocess.run([sys.executable, __file__, *arguments], check=True, stdout=subprocess.PIPE)
    row: list[Any] = json.loads(run.stdout)
    return row


def measure_reports(table: Table, catalog: Catalog, folder: Path, counts: Sequence[int]) -> None:
    """Measure reports of growing catalogs, each in a process of its own."""
    for count in counts:
        made = multiply(catalog, folder / f"of{count}", count)
        for way in ("--report", "--report-with-matching"):
            table.add(*_row_of(way, made.folder))
        shutil.rmtree(made.folder)


def main() -> int:
    """Run all measurements."""
    options = parser(__doc__)
    options.add_argument("--apps", type=int, default=300, help="APKs that are made and scanned")
    options.add_argument("--read", type=int, default=100, help="of these, how many are read one by one")
    options.add_argument("--capabilities", type=int, nargs="*", default=[10_000, 20_000, 40_000])
    options.add_argument("--scan", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--workers", type=int, help=argparse.SUPPRESS)
    options.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    options.add_argument("--report-with-matching", type=Path, help=argparse.SUPPRESS)
    chosen = options.parse_args()
    if chosen.scan:
        measure_scan(chosen.scan, chosen.workers)
        return 0
    if chosen.report or chosen.report_with_matching:
        measure_report(chosen.report or chosen.report_with_matching, matching=chosen.report is None)
        return 0
    if chosen.quick:
        chosen.apps, chosen.read, chosen.capabilities = 12, 6, [50]
    results, seed = Results(chosen), secrets.randbelow(1 << 30)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make_ecosystem(chosen.apps, seed=seed, folder=folder / "made")
        truth = [item for item in read_truth(folder / "made") if item.outcome == "read"]
        speaking = [folder / "made" / item.file for item in truth if item.protocols]
        made = [folder / "made" / item.file for item in truth]
        shipped = list(shipped_apks(folder / "shipped"))
        table = results.table("reading", READING_COLUMNS)
        for what, paths in (
            ("made, of all that can be read", made[: chosen.read]),
            ("made, that declare something", speaking[: chosen.read]),
            ("inside installed packages, ten times each", shipped * (1 if chosen.quick else 10)),
        ):
            if paths:
                measure_reading(table, what, paths)
        table = results.table("scan", SCAN_COLUMNS)
        for workers in ("1", "2"):
            table.add(*_row_of("--scan", folder / "made/apks", "--workers", workers))
        shutil.rmtree(folder / "made/apks")
        table = results.table("report", REPORT_COLUMNS)
        measure_reports(table, Catalog.open(folder / "made/catalog1"), folder, chosen.capabilities)
    results.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
