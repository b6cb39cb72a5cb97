"""How much a run prints: `--quiet` and `--verbose`, which each command takes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Annotated, Final, TypeAlias

import typer

from droidgate_mappings.model.errors import UsageError

Quiet: TypeAlias = Annotated[
    int,
    typer.Option(
        "--quiet",
        "-q",
        count=True,
        show_default=False,
        help="Print no notes; -qq prints no pages either. Warnings, errors and data are always printed",
    ),
]
Verbose: TypeAlias = Annotated[
    bool,
    typer.Option("--verbose", "-v", help="Print steps and commands sent to devices, with their milliseconds"),
]
_NO_NOTES: Final = 1
_NO_PAGES: Final = 2

_quiet = 0
_verbose = False


def shows_notes() -> bool:
    """Return whether progress, and where things were written, is printed on standard error."""
    return _quiet < _NO_NOTES


def prints_steps() -> bool:
    """Return whether each step is printed on standard error when it ends."""
    return _verbose


def shows_pages() -> bool:
    """Return whether pages of text are printed."""
    return _quiet < _NO_PAGES


def add_verbosity(quiet: int, *, verbose: bool) -> None:
    """Apply the options before or after a command.

    Raises:
        UsageError: the options ask for both less and more output.
    """
    global _quiet, _verbose
    _quiet, _verbose = _quiet + quiet, _verbose or verbose
    if _quiet and _verbose:
        raise UsageError("--quiet and --verbose exclude each other", hint="choose one of them")
    if verbose:
        _print_steps()


@contextlib.contextmanager
def usual_verbosity() -> Iterator[None]:
    """Begin and end a run with what is printed without any option."""
    global _quiet, _verbose
    _quiet, _verbose = 0, False
    try:
        yield
    finally:
        is_heard, _quiet, _verbose = _verbose, 0, False
        if is_heard:
            _print_no_steps()


def _print_steps() -> None:
    import logging

    from droidgate.cli.output.safe_text import visible
    from droidgate_mappings.timed_steps import LOGGER

    class Printer(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            print(visible(record.getMessage()), file=sys.stderr)

    _print_no_steps()
    LOGGER.addHandler(Printer())
    LOGGER.setLevel(logging.INFO)
    LOGGER.propagate = False


def _print_no_steps() -> None:
    import logging

    from droidgate_mappings.timed_steps import LOGGER

    for handler in list(LOGGER.handlers):
        LOGGER.removeHandler(handler)
    LOGGER.setLevel(logging.NOTSET)
    LOGGER.propagate = True
