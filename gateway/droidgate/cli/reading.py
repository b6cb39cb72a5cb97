"""Reading what a command was given."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from droidgate.cli.output.pages import tell
from droidgate.formats import Format, find_format
from droidgate.model.capability import Provider
from droidgate.model.errors import DroidgateError, InputError, UsageError
from droidgate.model.findings import Finding
from droidgate.sources import STANDARD_INPUT, SourceReading, read_source


class Output(Enum):
    """The form of what a command prints."""

    TEXT = auto()
    JSON = auto()
    SARIF = auto()


@dataclass(frozen=True, slots=True)
class Read:
    """Everything that was read from some sources, in their order."""

    providers: tuple[Provider, ...]
    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...]
    readings: tuple[SourceReading, ...]


def choose_output(*, as_json: bool, sarif: bool) -> Output:
    """Return the form that the options ask for.

    Raises:
        UsageError: they ask for two.
    """
    if as_json and sarif:
        message = "--json and --sarif exclude each other"
        raise UsageError(message, hint="Choose one of them")
    return Output.JSON if as_json else Output.SARIF if sarif else Output.TEXT


def check_sources(spelled: Sequence[str]) -> None:
    """Refuse sources that cannot be read together.

    Raises:
        UsageError: standard input is named twice.
    """
    if list(spelled).count(STANDARD_INPUT) > 1:
        message = "standard input can be read once only"
        raise UsageError(message, hint="Write - once")


def chosen_formats(only: Sequence[str] | None) -> list[Format] | None:
    """Return the formats of `--from`, None without it.

    Raises:
        UsageError: an unknown format.
    """
    return [find_format(one)[0] for one in only] if only else None


def read_all(
    spelled: Sequence[str], *, only: Sequence[str] | None, strict: bool, keep_going: bool = False
) -> Read:
    """Read sources, and tell on standard error what could not be read in them.

    Args:
        spelled: The sources.
        only: The formats that are read, None for all.
        strict: Refuse what readers accept although it breaks a rule.
        keep_going: Read the others of several sources where one cannot be read; it is among the problems.

    Raises:
        InputError: a source cannot be read, or none holds a descriptor.
        UsageError: an unknown format, or standard input named twice.
    """
    check_sources(spelled)
    formats = chosen_formats(only)
    readings: list[SourceReading] = []
    failed = 0
    for source in spelled:
        try:
            readings.append(read_source(source, strict=strict, formats=formats, stdin=sys.stdin.buffer))
        except InputError as error:
            if not keep_going or len(spelled) == 1:
                raise
            failed += 1
            readings.append(SourceReading(problems=(error, *error.others)))
    read = Read(
        providers=tuple(provider for one in readings for provider in one.providers),
        findings=tuple(finding for one in readings for finding in one.findings),
        problems=tuple(error for one in readings for error in one.problems),
        readings=tuple(readings),
    )
    for problem in read.problems:
        tell_problem(problem)
    if not read.providers and not any(one.applications for one in readings):
        if failed == len(spelled):
            message = f"none of the {failed} sources can be read"
            raise InputError(
                message, place=" ".join(spelled), hint="Each source is named above, with the reason"
            )
        message = "no descriptor of a known protocol in it"
        raise InputError(message, place=" ".join(spelled), hint="See `droidgate formats` for what is read")
    return read


def tell_problem(problem: DroidgateError) -> None:
    """Print on standard error what could not be read or written."""
    tell(f"warning: {problem.place}: {problem.message}" if problem.place else f"warning: {problem.message}")
    if problem.hint is not None:
        tell(f"hint: {problem.hint}")
