"""Small ecosystems to scan, and catalogs to compare."""

from pathlib import Path
from typing import Any

from droidgate.coverage.process_pool import PoolSettings
from droidgate.coverage.scan import ScanRequest, ScanResult, scan
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.rows import TABLES
from droidgate_phone.apps.sample_packages import filler_package, sample_packages

SAMPLES = len(sample_packages())
Rows = dict[str, list[tuple[Any, ...]]]


def write_apps(folder: Path, count: int = 20) -> Path:
    """Write so many small apps, of which four in ten declare something, and the sample apps."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (folder / f"filler{number:03d}.apk").write_bytes(filler_package(number))
    for sample_package in sample_packages():
        (folder / f"{sample_package.name}.apk").write_bytes(sample_package.apk)
    return folder


def scan_into(folder: Path, *sources: str | Path, **options: Any) -> ScanResult:
    """Scan sources into a catalog; options are those of `PoolSettings` and of `ScanRequest`."""
    pool = {name: options.pop(name) for name in ("workers", "memory", "deadline", "work") if name in options}
    watcher = options.pop("watcher", None)
    return scan(
        ScanRequest([str(source) for source in sources], folder, PoolSettings(**pool), **options), watcher
    )


def rows_of(catalog: Catalog) -> Rows:
    """Return every row of every table, in the order of the files."""
    connection = catalog.connect()
    return {name: connection.execute(f"FROM {name}").fetchall() for name in TABLES}


def ask(catalog: Catalog, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows that a query gives."""
    rows: list[tuple[Any, ...]] = catalog.connect().execute(sql).fetchall()
    return rows
