"""The program: its commands, put together, and how a run ends.

The commands of a noun are the classes of a module, which is imported where one of them is called.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperGroup

from droidgate.cli.command_classes import Command, add_commands
from droidgate.cli.completing import complete_commands
from droidgate.cli.config.settings import bind_settings
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import guard
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.verbosity import Quiet, Verbose, add_verbosity, usual_verbosity
from droidgate.computer.version import VERSION
from droidgate_mappings.model.errors import UsageError

HEADINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "Look at what apps declare": {
        "inspect": "Show what apps declare for agents",
        "lint": "Check descriptors against their specification",
        "verify": "Check a live tool app against the rules of its protocol",
        "formats": "List formats, dialects, and what each can carry",
        "demo": "See all of it work on the sample apps",
    },
    "Convert": {
        "convert": "Write what apps declare in another protocol",
        "migrate": "Put a descriptor and its handler into an app's source tree",
        "pack": "Make a signed APK of an app's source tree",
    },
    "Prepare a phone": {
        "devices": "List what is attached, and what to do where it is not ready",
        "discover": "Find what the apps of a phone declare for agents",
        "phone": "A virtual phone, to try everything without a real one",
        "shim": "Apps that make other apps callable by Mobile-MCP agents",
        "agent": "An agent app on the phone, to call tools as apps do",
        "prove": "Run the device checklist, then restore the phone",
    },
    "Call": {
        "call": "Call a capability of a phone's app",
        "why": "Show why an agent can or cannot call a capability",
        "pins": "Manage approvals of capabilities",
        "audit": "The log of all calls",
    },
    "Serve": {
        "serve": "Serve app capabilities to MCP clients",
        "serve-mobile-agent": "Serve a phone to UFO's MobileAgent",
        "install-client": "Make an MCP client use droidgate",
    },
    "Compare": {
        "diff": "Report what changed, and whether it breaks callers",
        "scan": "Read many apps into a catalog",
        "coverage": "Report who exposes what, and who can reach it",
        "catalog": "Catalogs that `scan` has made",
    },
    "Help": {
        "help": "Show the help of a command",
    },
}
"""What `droidgate --help` shows: commands, and groups of commands, under headings."""

_MODULES: Final = {
    "droidgate.cli.descriptors.descriptor_options": (
        *("inspect", "lint", "formats", "convert", "migrate", "pack", "diff"),
    ),
    "droidgate.cli.demo.demo_options": ("demo",),
    "droidgate.cli.devices.device_options": ("devices", "discover"),
    "droidgate.cli.phone.phone_options": ("phone",),
    "droidgate.cli.shim.shim_options": ("shim",),
    "droidgate.cli.agent.agent_options": ("agent",),
    "droidgate.cli.verify.verify_options": ("verify",),
    "droidgate.cli.prove.prove_options": ("prove",),
    "droidgate.cli.calls.call_options": ("call",),
    "droidgate.cli.why.why_options": ("why",),
    "droidgate.cli.pins.pin_options": ("pins",),
    "droidgate.cli.audit.audit_options": ("audit",),
    "droidgate.cli.serve.serve_options": ("serve", "serve-mobile-agent"),
    "droidgate.cli.clients.client_options": ("install-client",),
    "droidgate.cli.coverage.coverage_options": ("scan", "coverage", "catalog"),
    "droidgate.cli.program": ("help",),
}
"""Where the options of commands are declared; a module is imported where one of its commands is called."""

_COMPLETION: Final = "_DROIDGATE_COMPLETE"
"""A shell sets it to ask for completions."""
_HELP: Final = (
    "One gateway between Android's agent-tool protocols: reads what apps declare for agents in any of them, "
    "writes it in any other, and says exactly what each conversion costs."
)


def _print_version(is_asked: bool) -> None:  # noqa: FBT001
    if is_asked:
        print(f"droidgate {VERSION}")
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


class Help(Command):
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
        command: Any = None if parent is None else parent.command
        path = "droidgate"
        for word in self.command or ():
            commands = getattr(command, "commands", {})
            if word not in commands:
                raise UsageError(f"no such command {word!r}", hint=suggest_name(word, commands))
            command, path = commands[word], f"{path} {word}"
        print(command.get_help(type(self.context)(command, info_name=path)))
        return ExitCode.OK


def build_app(words: Sequence[str] | None = None) -> typer.Typer:
    """Return the typer application.

    Args:
        words: What is typed after `droidgate`: only the command that it calls, or asks help of, is built, and
            the others are names. None for every command.
    """
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
    commands = {name: about for rows in HEADINGS.values() for name, about in rows.items()}
    called = commands.keys() if words is None else _called_in(words)
    modules = {name: module for module, names in _MODULES.items() for name in names}
    for name, about in commands.items():
        if name in called:
            add_commands(app, import_module(modules[name]), name, about)
        else:
            app.command(name, short_help=about)(_stand_for_a_command)
    return app


def _called_in(words: Iterable[str]) -> Sequence[str]:
    """Return the command that words call; for `help`, also the one that it is about."""
    names = [word for word in words if not word.startswith("-")]
    return names[: 2 if names[:1] == ["help"] else 1]


def _stand_for_a_command() -> None:
    """Stand for a command that is not called."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program with the given arguments, or the process's own, and return its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    is_completion = _COMPLETION in os.environ
    command = typer.main.get_command(build_app(None if is_completion else words))
    needs_no_defaults = is_completion or not {"-h", "--help"}.isdisjoint(words)
    defaults = bind_settings(command, dict if needs_no_defaults else _configured_values)

    def body() -> int:
        _open_closed_streams()
        _make_output_robust()
        choose_page_length(PageLength.WHOLE)
        with usual_verbosity():
            code = command.main(words, prog_name="droidgate", standalone_mode=False, default_map=defaults)
        return code if isinstance(code, int) else ExitCode.OK

    return int(guard(body, _command_name(command, words)))


def _configured_values() -> Mapping[str, Any]:
    """Return what the configuration file sets, by the names of settings."""
    from droidgate.cli.config.config_file import find_configuration

    return find_configuration()


def _command_name(command: Any, arguments: Sequence[str]) -> str:
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
