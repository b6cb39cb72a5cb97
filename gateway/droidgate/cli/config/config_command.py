"""`droidgate config show`."""

from __future__ import annotations

import typer

from droidgate.cli.options import AsJson


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
    group.command("show", short_help="Show each default that can be set, and where it comes from")(_show)
    group.callback()(_group)
    app.add_typer(group, name="config", help="Defaults of options, from a file or the environment")


def _group() -> None:
    """Take no option before the command."""


def _show(context: typer.Context, *, as_json: AsJson = False) -> int:
    """Show each default that can be set, its value, and where it comes from.

    An option on the command line wins over an environment variable, which wins over the file, which wins over
    what is built in. The file is droidgate.toml, or the table tool.droidgate of a pyproject.toml, in the
    working folder or the closest folder above it, up to the root of a repository or the home folder.
    """
    from droidgate.cli.config.settings_report import show_configuration

    return show_configuration(context.find_root().command, as_json=as_json)
