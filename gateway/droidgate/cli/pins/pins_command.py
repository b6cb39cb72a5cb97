"""`droidgate pins list`, `diff`, `approve` and `remove`."""

from __future__ import annotations

from typing import Annotated

import typer

from droidgate.cli.options import PATTERN_HELP, AsJson, Serial

Patterns = Annotated[list[str], typer.Argument(metavar="PATTERN...", help=PATTERN_HELP)]
PatternsOrAll = Annotated[
    list[str] | None, typer.Argument(metavar="[PATTERN]...", help=f"{PATTERN_HELP}; all by default")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("list", short_help="List what is approved")(_list)
    group.command("diff", short_help="Show what changed since it was approved")(_diff)
    group.command("approve", short_help="Approve capabilities as they are declared now")(_approve)
    group.command("remove", short_help="Take approvals back")(_remove)
    app.add_typer(group, name="pins", help="Approvals of capabilities as they are declared")


def _list(patterns: PatternsOrAll = None, *, as_json: AsJson = False) -> int:
    """List what is approved: capabilities, who may call them, and since when."""
    from droidgate.cli.pins.pin_commands import list_pins

    return list_pins(patterns or ("*",), as_json=as_json)


def _diff(patterns: PatternsOrAll = None, *, serial: Serial = None, as_json: AsJson = False) -> int:
    """Show what changed in approved capabilities since they were approved, by what the phone's apps declare.

    A changed capability is not called until it is approved again.
    """
    from droidgate.cli.pins.pin_commands import diff_pins

    return diff_pins(patterns or ("*",), serial, as_json=as_json)


def _approve(
    patterns: Patterns,
    *,
    serial: Serial = None,
    client: Annotated[
        str,
        typer.Option(
            "--client", metavar="PATTERN", help="Who may call on this approval: cli, or an MCP client's name"
        ),
    ] = "*",
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Approve without a question")] = False,
    as_json: AsJson = False,
) -> int:
    """Read capabilities from the phone, show them, and approve them as they are declared now.

    An approval holds until the app declares the capability otherwise or is signed by another key; other
    versions of the app keep it. Asks on a terminal; without one, --yes is required.
    """
    from droidgate.cli.pins.pin_commands import approve_and_report

    return approve_and_report(tuple(patterns), serial, client=client, yes=yes, as_json=as_json)


def _remove(patterns: Patterns, *, as_json: AsJson = False) -> int:
    """Take approvals back: the next call of these capabilities asks again."""
    from droidgate.cli.pins.pin_commands import remove_pins

    return remove_pins(patterns, as_json=as_json)
