"""The program: its commands, put together, and how a run ends.

A command lives in a module of its own that has `register(app)`. Such a module imports nothing heavy at its
top.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from droidgate.cli.coverage import catalog_command, coverage_command, scan_command
from droidgate.cli.demo import demo_command
from droidgate.cli.descriptors import (
    convert_command,
    diff_command,
    formats_command,
    inspect_command,
    lint_command,
    migrate_command,
    pack_command,
)
from droidgate.cli.devices import devices_command, discover_command
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failures import guard
from droidgate.cli.phone import phone_command
from droidgate.cli.shim import shim_command

_COMMANDS: Final = (
    inspect_command,
    devices_command,
    discover_command,
    convert_command,
    migrate_command,
    pack_command,
    lint_command,
    diff_command,
    formats_command,
    scan_command,
    coverage_command,
    catalog_command,
    shim_command,
    phone_command,
    demo_command,
)
_HELP: Final = (
    "One gateway between Android's agent-tool protocols: reads what apps declare for agents in any of them, "
    "writes it in any other, and says exactly what each crossing costs."
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001
    if wanted:
        from importlib.metadata import version

        print(f"droidgate {version('droidgate')}")
        raise typer.Exit


def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version")
    ] = False,
) -> None:
    """Take the options that stand before a command."""


def build_app() -> typer.Typer:
    """Return the typer application with every command."""
    app = typer.Typer(
        name="droidgate",
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    for command in _COMMANDS:
        command.register(app)
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program with the given arguments, or the process's own, and return its exit code."""
    command = typer.main.get_command(build_app())

    def body() -> int:
        _make_output_robust()
        code = command.main(
            None if arguments is None else list(arguments), prog_name="droidgate", standalone_mode=False
        )
        return code if isinstance(code, int) else ExitCode.OK

    return int(guard(body, _called(command, sys.argv[1:] if arguments is None else arguments)))


def _called(command: Any, arguments: Sequence[str]) -> str:
    """Return the name of the command that arguments call, as far as they name one."""
    path = "droidgate"
    for word in arguments:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path = f"{path} {word}"
    return path


def main() -> None:
    """Run the program and end the process."""
    # Imports make many objects that stay; looking through them again and again costs a short run a twentieth.
    gc.set_threshold(100_000)
    sys.exit(run())


def _make_output_robust() -> None:
    """Let no character of the data break the output, whatever the locale's encoding is."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
