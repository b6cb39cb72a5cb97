"""Reading what a command was given."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
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
        if read.problems:
            message = "nothing in it can be read"
            raise InputError(message, place=" ".join(spelled), hint="Each reason is named above")
        message = "no descriptor of a known protocol in it"
        raise InputError(message, place=" ".join(spelled), hint="See `droidgate formats` for what is read")
    return read


def choose_providers(read: Read, chosen: Sequence[str] | None) -> Read:
    """Return what was read with some of its providers only; the types of other modules stay resolved.

    Args:
        read: What was read.
        chosen: Components: the class with or without its package; or the file of a provider that has none.
            None for all.

    Raises:
        UsageError: a name fits no provider, or several.
    """
    if not chosen:
        return read
    positions = {_position_of(one, read.providers) for one in chosen}
    providers = tuple(one for position, one in enumerate(read.providers) if position in positions)
    return replace(read, providers=providers)


def _position_of(name: str, providers: Sequence[Provider]) -> int:
    labels = [provider_label(one) for one in providers]
    exact = [position for position, one in enumerate(providers) if name in _names_of(one)]
    found = exact or [position for position, one in enumerate(labels) if _is_end_of(name, one)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(labels[position] for position in found)
        message = f'provider "{name}" fits {len(found)} providers'
        raise UsageError(message, hint=f"Write one of them in full: {listed}")
    near = get_close_matches(name, _suggestions(providers), n=1)
    suggestion = f"Did you mean {near[0]}? " if near else ""
    listed = ", ".join(labels) or "none"
    raise UsageError(f'unknown provider "{name}"', hint=f"{suggestion}The providers are: {listed}")


def provider_label(provider: Provider) -> str:
    """Return how `--provider` names a provider: its component, else its file, else its format."""
    if provider.component is not None:
        return qualified_component(provider) or provider.component
    return provider.source.path if provider.source is not None else provider.protocol


def qualified_component(provider: Provider) -> str | None:
    """Return the class of a provider's component with its package, as far as it is known."""
    component = provider.component
    if component is None or provider.package is None:
        return component
    if component.startswith("."):
        return provider.package + component
    return component if "." in component else f"{provider.package}.{component}"


def _names_of(provider: Provider) -> set[str]:
    qualified = qualified_component(provider)
    place = None if provider.source is None or qualified is not None else provider.source
    names = {provider.component, qualified, place and place.path, place and str(place)}
    if provider.package is not None and qualified is not None:
        names |= {f"{provider.package}/{provider.component}", f"{provider.package}/{qualified}"}
    return {one for one in names if one}


def _is_end_of(name: str, label: str) -> bool:
    return label.endswith((f".{name.lstrip('.')}", f"/{name}"))


def _suggestions(providers: Sequence[Provider]) -> list[str]:
    labels = [provider_label(one) for one in providers]
    return [*labels, *(one.rpartition("/")[2].rpartition(".")[2] for one in labels)]


def tell_problem(problem: DroidgateError) -> None:
    """Print on standard error what could not be read or written."""
    tell(f"warning: {problem.place}: {problem.message}" if problem.place else f"warning: {problem.message}")
    if problem.hint is not None:
        tell(f"hint: {problem.hint}")
