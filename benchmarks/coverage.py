"""What coverage costs: scanning APKs beside androguard, one process and two, and the report of a catalog.

Run it with `make bench`; `--apps 10000 --capabilities 1000000` is what a large run measures. The APKs are
made anew from a seed that was not used before, so that nothing of ours knows them; those inside installed
packages come too. Times of single files are the processor's, since other work on the machine changes the
others. The load while it ran is told.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from droidgate.coverage.catalog import Catalog
from droidgate.coverage.history import Snapshot
from droidgate.coverage.inputs import CATALOG_FILE
from droidgate.coverage.process_pool import PoolSettings
from droidgate.coverage.report import Coverage, Wanted
from droidgate.coverage.rows import TABLES
from droidgate.coverage.scan import Request, scan

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from matching import made_capabilities, memory_and_work
from reading import MEBIBYTE, measure_reading, shipped_apks

from synthetic_ecosystem.ecosystem import make_ecosystem, read_truth


def measure_scan(folder: Path, workers: int) -> None:
    """Print what scanning a folder takes; this process shall be young, since a new one counts its memory."""
    catalog = folder.with_name(f"catalog{workers}")
    began, worked = time.perf_counter(), time.process_time()
    result = scan(Request([str(folder)], catalog, PoolSettings(workers=workers)))
    seconds, worked = time.perf_counter() - began, time.process_time() - worked
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = children.ru_utime + children.ru_stime
    files, own = result.catalog.rows["sources"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    written = sum(path.stat().st_size for path in catalog.rglob("*.parquet"))
    print(
        f"  {workers} at once: {seconds:.1f} s, {files / seconds:.1f} APKs/s; "
        f"processor {spent:.1f} s in workers, {worked:.1f} s beside them, "
        f"{files / (spent + worked):.1f} APKs/s of a core; memory of a worker "
        f"{children.ru_maxrss / 1024:.0f} MiB at most, beside them {own / 1024:.0f} MiB; "
        f"load {_load()}\n    {dict(result.outcomes)}; {written / files:.0f} bytes of catalog a file; "
        f"{result.catalog.rows}",
        flush=True,
    )


def multiply(catalog: Catalog, folder: Path, wanted: int) -> Catalog:
    """Write a catalog of so many capabilities: the apps of another again and again, with other names.

    Every copy is an app of its own. Names, descriptions and shapes are made up as those of
    `benchmarks/matching.py`; all else is the original's.
    """
    times = -(-wanted // catalog.rows["capabilities"])
    made = folder.with_suffix(".csv")
    with made.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["number", "id", "description", "parameters"])
        for number, one in enumerate(made_capabilities(times * catalog.rows["capabilities"]), 1):
            rows.writerow([number, one.name.rpartition("#")[2], one.description, one.parameters])
    connection = catalog.connect()
    counts = {}
    for table in TABLES:
        (folder / table).mkdir(parents=True)
        copied = _copy_of(connection, table, times, made)
        connection.execute(f"COPY ({copied}) TO '{folder / table}/0.parquet' (FORMAT parquet)")
        counts[table] = times * catalog.rows[table]
    connection.close()
    made.unlink()
    told = json.loads((catalog.folder / CATALOG_FILE).read_bytes())
    (folder / CATALOG_FILE).write_text(json.dumps({**told, "rows": counts}), encoding="utf-8")
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
    """Print what the report of a catalog takes, in this process and the one that it starts."""
    catalog = Catalog.open(folder)
    began, (_, worked) = time.perf_counter(), memory_and_work()
    with Coverage(Snapshot(folder.name, catalog), wanted=Wanted(matching=matching)) as made:
        groups = made.report.matching.groups if made.report.matching is not None else 0
    seconds = time.perf_counter() - began
    peak, worked = memory_and_work(worked)
    count = catalog.rows["capabilities"]
    what = f"with matching, {groups:,} groups" if matching else "without matching"
    print(
        f"  {count:>9,} capabilities, {catalog.rows['apps']:>8,} apps  {seconds:7.1f} s  "
        f"{worked:7.1f} s of processor, {worked / count * 1e6:5.0f} us each  peak {peak:6,.0f} MiB  "
        f"{what}",
        flush=True,
    )


def measure_reports(catalog: Catalog, folder: Path, counts: Sequence[int]) -> None:
    """Print what reports of growing catalogs take, each in a process of its own."""
    for count in counts:
        made = multiply(catalog, folder / f"of{count}", count)
        for way in ("--report", "--report-with-matching"):
            subprocess.run([sys.executable, __file__, way, str(made.folder)], check=True)
        shutil.rmtree(made.folder)
    print(f"  load {_load()}")


def _load() -> str:
    return " ".join(f"{one:.1f}" for one in os.getloadavg())


def main() -> int:
    """Run all measurements."""
    options = argparse.ArgumentParser(description=__doc__)
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
    seed = secrets.randbelow(1 << 30)
    print(f"seed {seed}, load {_load()}", flush=True)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        files = make_ecosystem(chosen.apps, seed=seed, folder=folder / "made")
        truth = [one for one in read_truth(folder / "made") if one.outcome == "read"]
        speaking = [folder / "made" / one.file for one in truth if one.protocols]
        made = [folder / "made" / one.file for one in truth]
        shipped = list(shipped_apks(folder / "shipped"))
        for what, paths in (
            ("of all that can be read", made[: chosen.read]),
            ("that declare something", speaking[: chosen.read]),
            ("inside installed packages, ten times each", shipped * 10),
        ):
            if paths:
                print(f"\n{what}: ", end="")
                measure_reading(paths)
        apks = folder / "made/apks"
        size = sum(path.stat().st_size for path in apks.rglob("*.apk")) / MEBIBYTE
        print(f"\nscan of {files:,} files, {size:,.0f} MiB:", flush=True)
        for workers in ("1", "2"):
            command = [sys.executable, __file__, "--scan", str(apks), "--workers", workers]
            subprocess.run(command, check=True)
        shutil.rmtree(apks)
        print("\nreport:", flush=True)
        measure_reports(Catalog.open(folder / "made/catalog1"), folder, chosen.capabilities)
    return 0


if __name__ == "__main__":
    sys.exit(main())
