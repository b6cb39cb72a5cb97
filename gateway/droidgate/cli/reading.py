"""Reading what a command was given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import Enum, auto

from droidgate.cli.output.pages import print_warning
from droidgate.model.capability import Provider
from droidgate.model.errors import DroidgateError, UsageError
from droidgate.parsing.suggestions import closest_name
from droidgate.sources import Providers, check_declared, read_sources


class Output(Enum):
    """The form of what a command prints."""

    TEXT = auto()
    JSON = auto()
    SARIF = auto()


def choose_output(*, as_json: bool, sarif: bool) -> Output:
    """Return the form that the options ask for.

    Raises:
        UsageError: they ask for two.
    """
    if as_json and sarif:
        message = "--json and --sarif exclude each other"
        raise UsageError(message, hint="Choose one of them")
    return Output.JSON if as_json else Output.SARIF if sarif else Output.TEXT


def read_all(
    sources: Sequence[str], *, only: Sequence[str] | None, strict: bool, keep_going: bool = False
) -> Providers:
    """Read sources, and report on standard error what could not be read in them.

    Args:
        sources: The sources.
        only: The formats that are read, None for all.
        strict: Refuse what readers accept although it breaks a rule.
        keep_going: Read the others of several sources where one cannot be read; it is among the problems.

    Raises:
        InputError: a source cannot be read, or none has a descriptor.
        UsageError: an unknown format, or standard input named twice.
    """
    read = read_sources(sources, formats=only, strict=strict, skips_unreadable=keep_going)
    for problem in read.problems:
        print_problem(problem)
    check_declared(read, sources)
    return read


def choose_providers(read: Providers, chosen: Sequence[str] | None) -> Providers:
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
    positions = {_position_of(item, read.providers) for item in chosen}
    providers = tuple(provider for position, provider in enumerate(read.providers) if position in positions)
    return replace(read, providers=providers)


def _position_of(name: str, providers: Sequence[Provider]) -> int:
    labels = [provider_label(provider) for provider in providers]
    exact = [position for position, provider in enumerate(providers) if name in _names_of(provider)]
    found = exact or [position for position, label in enumerate(labels) if _is_end_of(name, label)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(labels[position] for position in found)
        message = f'provider "{name}" fits {len(found)} providers'
        raise UsageError(message, hint=f"Write one of them in full: {listed}")
    closest = closest_name(name, _suggestions(providers))
    suggestion = f"Did you mean {closest}? " if closest is not None else ""
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
    return {name for name in names if name}


def _is_end_of(name: str, label: str) -> bool:
    return label.endswith((f".{name.lstrip('.')}", f"/{name}"))


def _suggestions(providers: Sequence[Provider]) -> list[str]:
    labels = [provider_label(provider) for provider in providers]
    return [*labels, *(label.rpartition("/")[2].rpartition(".")[2] for label in labels)]


def print_problem(problem: DroidgateError) -> None:
    """Print on standard error what could not be read or written."""
    print_warning(
        f"warning: {problem.place}: {problem.message}" if problem.place else f"warning: {problem.message}"
    )
    if problem.hint is not None:
        print_warning(f"hint: {problem.hint}")
