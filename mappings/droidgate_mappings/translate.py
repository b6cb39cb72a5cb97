"""Providers of any format, written in one dialect, each with its fidelity findings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidgate_mappings.formats.format import Format, Writing, found_by
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.names import NameEntry
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text_safety import one_line

_UNASKED: Final = "its capabilities are not known: no file of the app lists them"
"""Why a provider is not written whose app would have to be asked."""


@dataclass(frozen=True, slots=True)
class Translation:
    """One provider's conversion: what was asked for, and what was written."""

    source: Provider
    writing: Writing

    @property
    def capability_names(self) -> tuple[NameEntry, ...]:
        """The name of each capability, as it is written and in the source."""
        pairs = zip(self.source.capabilities, self.writing.provider.capabilities, strict=True)
        return tuple(
            NameEntry(pointer=f"/capabilities/{position}/id", original=capability.id, written=written.id)
            for position, (capability, written) in enumerate(pairs)
        )


@dataclass(frozen=True, slots=True)
class FailedTranslation:
    """A provider that the dialect cannot hold, and why."""

    source: Provider
    error: WriteError


def provider_name(provider: Provider) -> str:
    """Return what a provider is called: package and component, else its name, else its place."""
    if provider.package is not None and provider.component is not None:
        return one_line(f"{provider.package}/{provider.component}")
    label = provider.package or provider.component or provider.name
    return one_line(label or (provider.source.path if provider.source is not None else "") or "(no name)")


def dialect_name(provider: Provider) -> str:
    """Return a provider's format and dialect as `--to` takes them."""
    return provider.protocol if provider.dialect is None else f"{provider.protocol}+{provider.dialect}"


def translate_each(
    providers: Iterable[Provider], target: Format, dialect: DialectTable
) -> tuple[Translation | FailedTranslation, ...]:
    """Write providers in a dialect; a provider that cannot be written does not stop the others.

    Raises:
        UsageError: the dialect is only read, with the reason.
    """
    if target.write is None or dialect.capacity is None:
        reason = dialect.not_written_because or "the format has no writer"
        message = f"{target.id}+{dialect.id} is only read: {reason}"
        raise UsageError(message, hint="`droidgate formats` lists the formats that are written")
    outcomes: list[Translation | FailedTranslation] = []
    for provider in providers:
        try:
            _check_known(provider)
            outcomes.append(Translation(provider, target.write(provider, dialect)))
        except WriteError as error:
            outcomes.append(FailedTranslation(provider, error))
    return tuple(outcomes)


def translate(
    providers: Iterable[Provider], target: Format, dialect: DialectTable
) -> tuple[Translation, ...]:
    """Write providers in a dialect, all of them or none.

    Raises:
        UsageError: the dialect is only read, with the reason.
        WriteError: a provider cannot be written.
    """
    translations: list[Translation] = []
    for outcome in translate_each(providers, target, dialect):
        if isinstance(outcome, FailedTranslation):
            raise outcome.error
        translations.append(outcome)
    return tuple(translations)


def _check_known(provider: Provider) -> None:
    """Raise where a provider has not been asked for its capabilities: an empty list would be false.

    Raises:
        WriteError: the provider's capabilities are not known.
    """
    finder = found_by(provider)
    if finder is not None:
        place = None if provider.source is None else str(provider.source)
        raise WriteError(_UNASKED, place=place, hint=finder)
