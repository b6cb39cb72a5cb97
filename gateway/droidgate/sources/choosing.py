"""Choosing some of several providers by name."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.text.nearest_names import closest_name

_PACKAGE: Final = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)


def chosen_providers(providers: Sequence[Provider], names: Sequence[str]) -> tuple[Provider, ...]:
    """Return the providers of these names, in their own order.

    Args:
        providers: All providers.
        names: Components, as the class with or without its package; files of providers without a component.

    Raises:
        UsageError: a name matches no provider, or several.
    """
    positions = {_position_of(name, providers) for name in names}
    return tuple(provider for position, provider in enumerate(providers) if position in positions)


def _position_of(name: str, providers: Sequence[Provider]) -> int:
    labels = [provider_label(provider) for provider in providers]
    exact = [position for position, provider in enumerate(providers) if name in _names_of(provider)]
    found = exact or [position for position, label in enumerate(labels) if _is_end_of(name, label)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(labels[position] for position in found)
        message = f'provider "{name}" fits {len(found)} providers'
        raise UsageError(message, hint=f"write one of them in full: {listed}")
    closest = closest_name(name, _suggestions(providers))
    suggestion = f"did you mean {closest}? " if closest is not None else ""
    listed = ", ".join(labels) or "none"
    raise UsageError(f'unknown provider "{name}"', hint=f"{suggestion}the providers are: {listed}")


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


def check_package(name: str) -> None:
    """Check that a text is written as a Java package.

    Raises:
        UsageError: it is not.
    """
    if _PACKAGE.fullmatch(name) is None:
        raise UsageError(f"{name!r} is not a Java package", hint="write it as com.example.app")


def described_providers(
    providers: tuple[Provider, ...], facts: Mapping[str, str | None]
) -> tuple[Provider, ...]:
    """Return a single provider with other facts.

    Args:
        providers: The provider.
        facts: Field -> value; a field of the value None stays as it is.

    Raises:
        UsageError: there are several providers, or a value is empty or not an application id.
    """
    changes = {field: value for field, value in facts.items() if value is not None}
    if not changes:
        return providers
    options = " and ".join(f"--{field}" for field in changes)
    for field, value in changes.items():
        if not value.strip():
            raise UsageError(
                f"the {field} is empty", hint=f"leave --{field} out to keep what the source states"
            )
    if "package" in changes:
        check_package(changes["package"])
    if len(providers) != 1:
        listed = ", ".join(map(provider_label, providers))
        message = f"{options} cannot describe {len(providers)} providers"
        raise UsageError(message, hint=f"choose one with --provider: {listed}")
    return (providers[0].model_copy(update=changes),)
