"""`droidgate inspect`."""

from __future__ import annotations

import typer

from droidgate.cli.options import AsJson, OnlyFormats, Sources, Strict
from droidgate.cli.output.page_length import with_details


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command("inspect", short_help="Show what apps declare for agents")(_inspect)


@with_details
def _inspect(
    sources: Sources, *, only: OnlyFormats = None, strict: Strict = False, as_json: AsJson = False
) -> int:
    """Show what apps declare for agents.

    Reads every descriptor of every known protocol in the sources, and shows providers, capabilities and what
    the readers had to bend.
    """
    from droidgate.cli.descriptors.inspecting import inspect_sources

    return inspect_sources(sources, only=only, strict=strict, as_json=as_json)
