"""`droidgate scan`, `coverage` and `catalog sql`."""

from __future__ import annotations

from pathlib import Path

from droidgate.cli.command_classes import ReportingCommand, argument, flag, option
from droidgate.cli.run_limits import BoundedCommand, Deadline, Memory
from droidgate.cli.shared_options import AS_JSON, AS_SARIF, FORCE, INCLUDE_SHIMS


class Scan(
    ReportingCommand,
    work="droidgate.cli.coverage.run_scan:scan_sources",
):
    """Read many apps into a catalog.

    The catalog afterwards holds exactly the given sources: what they declare in every protocol, and what
    the linters say. A file that cannot be read is a row with its reason. A scan that was stopped goes on
    where it was, and a repeated one reads only what is new.
    """

    _shows_steps = False
    _headings = {
        "The catalog": ("catalog", "known", "include_shims", "keep_log"),
        "Processes and their limits": (
            "workers",
            "memory",
            "deadline",
            "run_deadline",
            "cluster",
            "trust_scheduler",
        ),
    }

    sources: list[str] = argument(
        "SRC",
        "An APK, container of splits, descriptor, project, folder or archive of any of these, @LIST of "
        "paths, URL, adb:[SERIAL] or another catalog",
        ...,
    )
    catalog: Path = option("--catalog --output -o DIR", "Folder of the catalog", ...)
    known: list[str] | None = option(
        "--known DIR", "An earlier catalog: content that it has is not read again; may be repeated"
    )
    workers: int | None = option("--workers", "Processes; as many as there are cores", min=1)
    memory: int = option("--memory MIB", "MiB of memory that one file may take", 1024, min=64, max=1 << 24)
    deadline: float = option("--deadline SECONDS", "Seconds that one file may take", 60.0, min=0.1, max=1e6)
    run_deadline: float = option(
        "--run-deadline SECONDS",
        "Seconds after which no more files are read; the same scan goes on from there",
        3600.0,
        min=0.1,
        max=1e8,
    )
    cluster: str | None = option(
        "--cluster ADDRESS",
        "Scan on the Dask cluster with this scheduler, such as tls://HOST:8786; it can run code here",
    )
    trust_scheduler: bool = flag(
        "--trust-scheduler",
        "Accept a --cluster that is neither tls:// nor on this machine: who answers can run code here",
    )
    keep_log: bool = flag("--keep-log", "Leave the log of the scan next to the catalog")
    include_shims: bool = INCLUDE_SHIMS
    as_json: bool = AS_JSON


class Coverage(
    BoundedCommand,
    work="droidgate.cli.coverage.run_coverage:cover",
):
    """Report who exposes what, who can reach it, and what changed.

    Which apps declare which capabilities in which protocol; what each kind of agent reaches natively, through
    the gateway, by screens only or not at all, and at what loss; what overlaps and what is missing; how well
    it is described; and, with --since, what was added, removed and changed.
    """

    _headings = {
        "What is reported": ("since", "no_match", "details", "translate", "include_shims"),
        "Files to write": ("html", "csv", "parquet", "force"),
    }

    catalog: Path = argument("CATALOG", "Folder that `scan` has filled", ...)
    since: list[Path] | None = option(
        "--since OLD",
        "An earlier catalog, to report what changed. May be repeated: give the oldest first, since catalogs "
        "have no time",
    )
    no_match: bool = flag("--no-match", "Leave out what overlaps and the use cases, which take longest")
    details: bool = flag("--details", "The whole page on a terminal, too")
    translate: list[str] | None = option(
        "--translate PACKAGE",
        "Show the translations of these apps in the page; `*` matches anything; may be repeated",
    )
    html: Path | None = option("--html FILE", "Write the report as one HTML page")
    csv: Path | None = option("--csv DIR", "Write the tables behind it as CSV")
    parquet: Path | None = option("--parquet DIR", "Write the tables behind it as Parquet")
    force: bool = FORCE
    include_shims: bool = INCLUDE_SHIMS
    deadline: Deadline = 3600.0
    as_json: bool = AS_JSON
    as_sarif: bool = AS_SARIF


class CatalogSql(
    BoundedCommand,
    short="Ask a catalog a question in SQL",
    work="droidgate.cli.coverage.run_catalog_sql:ask_catalog",
):
    """Ask a catalog a question in SQL.

    One SELECT is run; it can write nothing, and read nothing but the catalog. `SHOW TABLES` lists the tables,
    `DESCRIBE apps` the columns of one; the page "Catalogs" of the documentation has their meaning.

    "SELECT protocol, count(*) FROM capabilities GROUP BY ALL" counts the capabilities of each protocol.

    "SELECT source, reason FROM sources WHERE reason IS NOT NULL" lists the sources that could not be
    read, and why. "SELECT source, place, message FROM problems JOIN sources USING (unit)" lists the parts
    that could not.
    """

    # DuckDB keeps to the budget by itself; the outer one is for what is done with its rows.
    _margin = 5.0
    _more = 2048

    catalog: Path = argument("CATALOG", "Folder that `scan` has filled", ...)
    query: str = argument("SELECT", "The query, as DuckDB understands it", ...)
    as_csv: bool = flag("--csv", "Print CSV with a line of names instead of text")
    memory: Memory = 1024
    deadline: Deadline = 60.0
    as_json: bool = AS_JSON
