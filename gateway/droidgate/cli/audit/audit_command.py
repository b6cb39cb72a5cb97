"""`droidgate audit show` and `audit verify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from droidgate.cli.options import PATTERN_HELP, AsJson

Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="A copy of a log; the one of this computer by default"),
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("show", short_help="Show the calls that were made or refused")(_show)
    group.command("verify", short_help="Check that no record was changed or removed")(_verify)
    app.add_typer(group, name="audit", help="The log of all calls")


def _show(
    patterns: Annotated[list[str] | None, typer.Argument(metavar="[PATTERN]...", help=PATTERN_HELP)] = None,
    *,
    last: Annotated[
        int, typer.Option("--last", "-n", min=1, metavar="N", help="At most this many, the newest")
    ] = 20,
    arguments: Annotated[
        str | None,
        typer.Option(
            "--args",
            metavar="JSON",
            help="Only calls with exactly these arguments, as they were sent, found by their digest",
        ),
    ] = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> int:
    """Show the newest calls: who called what, what was decided, and how it ended.

    The log has no arguments and no results; --json prints the digest of each call's arguments.
    """
    from droidgate.cli.audit.audit_report import show_calls
    from droidgate.cli.calls.typed_arguments import read_arguments

    given = None if arguments is None else read_arguments(arguments)
    return show_calls(patterns or (), last, folder, given, as_json=as_json)


def _verify(
    *,
    expected: Annotated[
        str | None,
        typer.Option(
            "--expect",
            metavar="DIGEST",
            help="A digest that an earlier check printed: its record must still be there",
        ),
    ] = None,
    after: Annotated[
        str | None,
        typer.Option(
            "--after",
            metavar="DIGEST",
            help="The log begins after the record of this digest, since you took older files away",
        ),
    ] = None,
    folder: Folder = None,
    as_json: AsJson = False,
) -> int:
    """Check that no record was changed, removed or moved; exit with 1 and name the first place otherwise.

    Whoever may write the log can write all of it anew. Keep the digest that is printed somewhere else, and
    name it the next time.
    """
    from droidgate.cli.audit.audit_report import verify_and_report

    return verify_and_report(expected, after, folder, as_json=as_json)
