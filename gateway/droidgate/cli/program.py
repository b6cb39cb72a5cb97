"""The program: its commands, put together, and how a run ends.

The commands of a noun are the classes of a module. It imports nothing heavy at its top.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from droidgate.cli.audit import audit_options
from droidgate.cli.calls import call_options
from droidgate.cli.clients import client_options
from droidgate.cli.command_classes import Command, add_commands
from droidgate.cli.completing import complete_commands
from droidgate.cli.config import config_options
from droidgate.cli.config.settings import bind_settings
from droidgate.cli.coverage import coverage_options
from droidgate.cli.demo import demo_options
from droidgate.cli.descriptors import descriptor_options
from droidgate.cli.devices import device_options
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import guard
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.verbosity import Quiet, Verbose, add_verbosity, usual_verbosity
from droidgate.cli.phone import phone_options
from droidgate.cli.pins import pin_options
from droidgate.cli.serve import serve_options
from droidgate.cli.shim import shim_options
from droidgate_mappings.model.errors import UsageError

_COMMANDS: Final = (
    descriptor_options,
    device_options,
    client_options,
    call_options,
    coverage_options,
    pin_options,
    audit_options,
    shim_options,
    phone_options,
    serve_options,
    demo_options,
    config_options,
)
_GROUPS: Final = {
    "catalog": "Catalogs that `scan` has made",
    "pins": "Approvals of capabilities as they are declared",
    "audit": "The log of all calls",
    "shim": "Apps that make other apps callable by Mobile-MCP agents",
    "phone": "A virtual phone, to try everything without a real one",
    "config": "Defaults of options, from a file or the environment",
}
HEADINGS: Final = {
    "Look at what apps declare": ("inspect", "lint", "formats", "demo"),
    "Convert": ("convert", "migrate", "pack"),
    "Prepare a phone": ("devices", "discover", "phone", "shim"),
    "Call": ("call", "pins", "audit"),
    "Serve": ("serve", "serve-mobile-agent", "install-client"),
    "Compare": ("diff", "scan", "coverage", "catalog"),
    "Help and settings": ("help", "config"),
}
"""What `droidgate --help` shows: its commands, under headings."""

_COMPLETION: Final = "_DROIDGATE_COMPLETE"
"""A shell sets it to ask for completions."""
_HELP: Final = (
    "One gateway between Android's agent-tool protocols: reads what apps declare for agents in any of them, "
    "writes it in any other, and says exactly what each conversion costs."
)


def _print_version(is_asked: bool) -> None:  # noqa: FBT001
    if is_asked:
        from importlib.metadata import version

        print(f"droidgate {version('droidgate')}")
        raise typer.Exit


def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version")
    ] = False,
    quiet: Quiet = 0,
    verbose: Verbose = False,
) -> None:
    """Take the options that come before a command."""
    add_verbosity(quiet, verbose=verbose)


class _Program(TyperGroup):
    """The program, whose help has its commands under headings."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands in columns that are equally wide under each heading."""
        del ctx
        width = max(map(len, self.commands))
        for heading, names in HEADINGS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    [
                        (name.ljust(width), self.commands[name].get_short_help_str(formatter.width))
                        for name in names
                    ]
                )


class Help(Command, short="Show the help of a command"):
    """Show the help of droidgate or of a command."""

    context: typer.Context
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="Such as `shim install`", autocompletion=complete_commands),
    ] = None

    def run(self) -> int:
        """Print the help."""
        from droidgate_mappings.text.nearest_names import suggest_name

        parent = self.context.parent
        shown: Any = None if parent is None else parent.command
        path = "droidgate"
        for word in self.command or ():
            commands = getattr(shown, "commands", {})
            if word not in commands:
                raise UsageError(f"no such command {word!r}", hint=suggest_name(word, commands))
            shown, path = commands[word], f"{path} {word}"
        print(shown.get_help(type(self.context)(shown, info_name=path)))
        return ExitCode.OK


def build_app() -> typer.Typer:
    """Return the typer application with every command."""
    app = typer.Typer(
        name="droidgate",
        cls=_Program,
        help=_HELP,
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_options)
    add_commands(app, (*_COMMANDS, sys.modules[__name__]), _GROUPS)
    return app


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program with the given arguments, or the process's own, and return its exit code."""
    command = typer.main.get_command(build_app())
    words = sys.argv[1:] if arguments is None else list(arguments)
    needs_no_defaults = _COMPLETION in os.environ or not {"-h", "--help"}.isdisjoint(words)
    defaults = bind_settings(command, dict if needs_no_defaults else _configured)

    def body() -> int:
        _open_closed_streams()
        _make_output_robust()
        choose_page_length(PageLength.WHOLE)
        with usual_verbosity():
            code = command.main(words, prog_name="droidgate", standalone_mode=False, default_map=defaults)
        return code if isinstance(code, int) else ExitCode.OK

    return int(guard(body, _called(command, words)))


def _configured() -> Mapping[str, Any]:
    """Return what the configuration file sets, by the names of settings."""
    from droidgate.cli.config.config_file import find_configuration

    return find_configuration().values


def _called(command: Any, arguments: Sequence[str]) -> str:
    """Return the name of the command that arguments call, as far as they name one."""
    path = "droidgate"
    for word in arguments:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        path = f"{path} {word}"
    return path


_STANDARD_STREAMS: Final = (
    ("stdin", "standard input"),
    ("stdout", "standard output"),
    ("stderr", "standard error"),
)


def _open_closed_streams() -> None:
    """Put a stream that reports the error in the place of a standard stream that the caller has closed.

    Files that are opened later must not get the number of a standard stream, so the null device takes it.
    """
    for number, (name, label) in enumerate(_STANDARD_STREAMS):
        if getattr(sys, name) is None:
            with contextlib.suppress(OSError):
                if os.open(os.devnull, os.O_RDWR) == number:
                    os.set_inheritable(number, True)
            raw = _ClosedStream(label, writable=name != "stdin")
            buffer = io.BufferedWriter(raw) if raw.writable() else io.BufferedReader(raw)
            setattr(sys, name, io.TextIOWrapper(buffer, encoding="utf-8"))


class _ClosedStream(io.RawIOBase):
    """A stream that cannot be read or written; text for a closed standard error has nowhere to go."""

    def __init__(self, name: str, *, writable: bool) -> None:
        self.name = name
        self._writable = writable
        self._is_silent = name == "standard error"

    def readable(self) -> bool:
        return not self._writable

    def writable(self) -> bool:
        return self._writable

    def readinto(self, _buffer: object) -> int:
        raise OSError(errno.EBADF, "it is closed", self.name)

    def write(self, data: Any) -> int:
        if self._is_silent:
            return len(data)
        # The interpreter flushes the stream again when it exits.
        self._is_silent = True
        raise OSError(errno.EBADF, "it is closed", self.name)


def _make_output_robust() -> None:
    """Let no character of the data break the output, whatever the locale's encoding is."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
