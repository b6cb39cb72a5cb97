"""Reading what a command was given."""

from __future__ import annotations

from collections.abc import Sequence

from droidgate.cli.failure_texts import hint_of_file
from droidgate.cli.output.pages import print_warning
from droidgate.sources import Providers, check_declared, read_sources
from droidgate_mappings.model.errors import DroidgateError


def read_all(
    sources: Sequence[str],
    *,
    only: Sequence[str] | None,
    strict: bool,
    keep_going: bool = False,
    variant: str | None = None,
) -> Providers:
    """Read sources, and report on standard error what could not be read in them.

    Args:
        sources: The sources.
        only: The formats that are read, None for all.
        strict: Refuse what readers accept although it breaks a rule.
        keep_going: Read the others of several sources where one cannot be read; it is among the problems.
        variant: The variant of source trees whose source code is read, None for Gradle's default.

    Raises:
        InputError: a source cannot be read, or none has a descriptor.
        UsageError: an unknown format, or standard input named twice.
    """
    read = read_sources(sources, formats=only, strict=strict, skips_unreadable=keep_going, variant=variant)
    for problem in read.problems:
        print_problem(problem)
    check_declared(read, sources, are_problems_printed=True)
    return read


def print_problem(problem: DroidgateError) -> None:
    """Print on standard error what could not be read or written."""
    print_warning(f"warning: {problem.located}")
    hint = problem.command_hint or hint_of_file(problem)
    if hint is not None:
        print_warning(f"hint: {hint}")
