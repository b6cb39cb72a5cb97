"""`droidgate scan`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import AsJson, IncludeShims
from droidgate.cli.output.page_length import with_details_of_report

ScanSources = Annotated[
    list[str],
    typer.Argument(
        metavar="SRC",
        help="An APK, container of splits, descriptor, project, folder of any of these, @LIST of paths, URL, "
        "adb:[SERIAL] or another catalog",
    ),
]
CatalogFolder = Annotated[
    Path, typer.Option("--catalog", "--output", "-o", metavar="DIR", help="Folder of the catalog")
]
Earlier = Annotated[
    list[str] | None,
    typer.Option(
        "--known",
        metavar="DIR",
        help="An earlier catalog: content that it has is not read again; may be repeated",
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Processes; as many as there are cores")
]
Memory = Annotated[
    int,
    typer.Option("--memory", min=64, max=1 << 24, metavar="MIB", help="MiB of memory that one file may take"),
]
Deadline = Annotated[
    float,
    typer.Option("--deadline", min=0.1, max=1e6, metavar="SECONDS", help="Seconds that one file may take"),
]
ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Scan on the Dask cluster with this scheduler, such as tls://HOST:8786; it can run code here",
    ),
]
TrustScheduler = Annotated[
    bool,
    typer.Option(
        "--trust-scheduler",
        help="Accept a --cluster that is neither tls:// nor on this machine: who answers can run code here",
    ),
]
KeepLog = Annotated[bool, typer.Option("--keep-log", help="Leave the log of the scan next to the catalog")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("scan", short_help="Read many apps into a catalog")(_scan)


@with_details_of_report
def _scan(  # noqa: PLR0913
    sources: ScanSources,
    *,
    catalog: CatalogFolder,
    known: Earlier = None,
    workers: Workers = None,
    memory: Memory = 1024,
    deadline: Deadline = 60.0,
    cluster: ClusterAddress = None,
    trust_scheduler: TrustScheduler = False,
    keep_log: KeepLog = False,
    include_shims: IncludeShims = False,
    as_json: AsJson = False,
) -> int:
    """Read many apps into a catalog.

    The catalog afterwards holds exactly the given sources: what they declare in every protocol, what the
    linters say, what each conversion would cost. A file that cannot be read is a row with its reason. A scan
    that was stopped goes on where it was, and a repeated one reads only what is new.
    """
    from droidgate.cli.coverage.scan_report import scan_sources
    from droidgate.coverage.scan import ScanOptions

    options = ScanOptions(
        known=tuple(known or ()),
        workers=workers,
        memory=memory,
        deadline=deadline,
        cluster=cluster,
        trust_scheduler=trust_scheduler,
        keep_log=keep_log,
        own_apps=include_shims,
    )
    return scan_sources(sources, catalog, options, as_json=as_json)
