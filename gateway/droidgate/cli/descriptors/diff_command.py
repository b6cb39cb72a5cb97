"""`droidgate diff`."""

from __future__ import annotations

from typing import Annotated

import typer

from droidgate.cli.options import SOURCE_HELP, AsJson, DiffThreshold, OnlyFormats, Strict
from droidgate.cli.output.page_length import with_details

Old = Annotated[str, typer.Argument(metavar="OLD", help=SOURCE_HELP)]
New = Annotated[str, typer.Argument(metavar="NEW", help="What it became")]
FailOn = Annotated[DiffThreshold | None, typer.Option("--fail-on", help="Exit with 1 from this weight on")]


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("diff", short_help="Report what changed, and whether it breaks callers")(_diff)


@with_details
def _diff(
    old: Old,
    new: New,
    *,
    only: OnlyFormats = None,
    strict: Strict = False,
    fail_on: FailOn = None,
    as_json: AsJson = False,
) -> int:
    """Report what changed between two versions, and whether it breaks callers.

    An access rule that refuses callers is `breaking`; one that accepts other callers is `security`, comes
    first and reaches every threshold. A replaced permission is both.
    """
    from droidgate.cli.descriptors.diffing import diff_sources

    return diff_sources(old, new, only=only, strict=strict, fail_on=fail_on, as_json=as_json)
