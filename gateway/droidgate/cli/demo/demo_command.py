"""`droidgate demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Keep = Annotated[
    Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep what it writes in this folder")
]

Details = Annotated[
    bool, typer.Option("--details", help="Print each loss, all declarations, and what each format can carry")
]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("demo", short_help="See all of it work on the sample apps")(_demo)


def _demo(*, keep: Keep = None, details: Details = False) -> int:
    """See it work on the sample apps: inspect them, convert each into every format, and read everything back.

    Exits with 0 only when every step did what it should.
    """
    from droidgate.cli.demo.demonstrating import demonstrate

    return demonstrate(keep, details=details)
