"""`droidgate formats`."""

from __future__ import annotations

from typing import Annotated

import typer

from droidgate.cli.options import AsJson
from droidgate.cli.output.page_length import with_details

WithMatrix = Annotated[
    bool, typer.Option("--matrix", help="Show what each dialect can carry, and what becomes of the rest")
]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("formats", short_help="List formats, dialects, and what each can carry")(_formats)


@with_details
def _formats(*, matrix: WithMatrix = False, as_json: AsJson = False) -> int:
    """List the formats and dialects that are read and written."""
    from droidgate.cli.descriptors.listing_formats import list_formats

    return list_formats(with_matrix=matrix, as_json=as_json)
