"""`droidgate catalog sql`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import AsJson
from droidgate.cli.run_limits import Deadline, Memory, RunBudget, run_within

Query = Annotated[str, typer.Argument(metavar="SELECT", help="The query, as DuckDB understands it")]
CatalogFolder = Annotated[Path, typer.Option("--catalog", metavar="DIR", help="Folder of the catalog")]
_MARGIN = 5.0
"""Seconds for the program to end after its query was interrupted."""

AsCsv = Annotated[bool, typer.Option("--csv", help="Print CSV with a line of names instead of text")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("sql", short_help="Ask a catalog a question in SQL")(_sql)
    app.add_typer(group, name="catalog", help="Catalogs that `scan` has made")
    group.callback()(_group)


def _group() -> None:
    """Take no option before the command."""


def _sql(
    query: Query,
    *,
    catalog: CatalogFolder,
    as_csv: AsCsv = False,
    memory: Memory = 1024,
    deadline: Deadline = 60.0,
    as_json: AsJson = False,
) -> int:
    """Ask a catalog a question in SQL.

    One SELECT is run; it can write nothing, and read nothing but the catalog. `SHOW TABLES` lists the tables,
    `DESCRIBE apps` the columns of one; docs/reference/catalog.md says what they mean.

    "SELECT protocol, count(*) FROM capabilities GROUP BY ALL" counts the capabilities of each protocol.

    "SELECT source, reason FROM sources WHERE reason IS NOT NULL" lists what could not be read, and why.
    """
    from droidgate.cli.coverage.coverage_outputs import ask_catalog

    # DuckDB keeps to the budget by itself; the outer one is for what is done with its rows.
    return run_within(
        RunBudget(memory, deadline + _MARGIN),
        lambda: ask_catalog(catalog, query, memory=memory, deadline=deadline, as_csv=as_csv, as_json=as_json),
        more=2048,
    )
