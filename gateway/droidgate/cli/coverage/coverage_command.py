"""`droidgate coverage`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import AsJson, IncludeShims

CatalogFolder = Annotated[Path, typer.Argument(metavar="CATALOG", help="Folder that `scan` has filled")]
Since = Annotated[
    list[Path] | None,
    typer.Option(
        "--since",
        metavar="OLD",
        help="An earlier catalog: report what changed; may be repeated, the oldest first: catalogs have no "
        "time, so the order is taken as it is given",
    ),
]
NoMatch = Annotated[
    bool, typer.Option("--no-match", help="Leave out what overlaps and the use cases, which take longest")
]
WithDetails = Annotated[
    bool,
    typer.Option("--details", help="The whole page; in the JSON document every app, capability and finding"),
]
Translate = Annotated[
    list[str] | None,
    typer.Option(
        "--translate",
        metavar="PACKAGE",
        help="Show the translations of these apps in page and details; `*` matches anything; may be repeated",
    ),
]
HtmlFile = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write the report as one HTML page")
]
CsvFolder = Annotated[
    Path | None, typer.Option("--csv", metavar="DIR", help="Write the tables behind it as CSV")
]
ParquetFolder = Annotated[
    Path | None, typer.Option("--parquet", metavar="DIR", help="Write the tables behind it as Parquet")
]
SarifFile = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", help="Write what could be better as a SARIF 2.1.0 log"),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite files that are there and differ")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("coverage", short_help="Report who exposes what, and who can reach it")(_coverage)


def _coverage(  # noqa: PLR0913
    catalog: CatalogFolder,
    *,
    since: Since = None,
    no_match: NoMatch = False,
    details: WithDetails = False,
    translate: Translate = None,
    html: HtmlFile = None,
    csv: CsvFolder = None,
    parquet: ParquetFolder = None,
    sarif: SarifFile = None,
    force: Force = False,
    include_shims: IncludeShims = False,
    as_json: AsJson = False,
) -> int:
    """Report who exposes what, who can reach it, and what changed.

    Which apps declare which capabilities in which protocol; what each kind of agent reaches natively, through
    the gateway, by screens only or not at all, and at what loss; what overlaps and what is missing; how well
    it is described; and, with --since, what came, went and changed.
    """
    from droidgate.cli.coverage.coverage_page import CoverageOptions, cover
    from droidgate.cli.output.page_length import PageLength, choose_page_length

    choose_page_length(PageLength.WHOLE if details else PageLength.SHORT)
    options = CoverageOptions(
        since=tuple(since or ()),
        matching=not no_match,
        details=details,
        translate=tuple(translate or ()),
        html=html,
        csv=csv,
        parquet=parquet,
        sarif=sarif,
        force=force,
        own_apps=include_shims,
    )
    return cover(catalog, options, as_json=as_json)
