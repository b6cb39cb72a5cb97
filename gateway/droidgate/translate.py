"""Translation: providers of any format, written in one dialect, each with its fidelity findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from droidgate.formats import Format, Writing
from droidgate.model.capability import Provider
from droidgate.model.errors import UsageError, WriteError
from droidgate_mappings.tables import DialectTable


@dataclass(frozen=True, slots=True)
class Translation:
    """One provider's conversion: what was asked for, and what was written."""

    source: Provider
    writing: Writing


@dataclass(frozen=True, slots=True)
class FailedTranslation:
    """A provider that the dialect cannot hold, and why."""

    source: Provider
    error: WriteError


def translate_each(
    providers: Iterable[Provider], target: Format, dialect: DialectTable
) -> tuple[Translation | FailedTranslation, ...]:
    """Write providers in a dialect; a provider that cannot be written does not stop the others.

    Raises:
        UsageError: the dialect is only read, with the reason.
    """
    if target.write is None or dialect.capacity is None:
        message = f"{target.id}+{dialect.id} is only read"
        raise UsageError(message, hint=dialect.not_written_because)
    outcomes: list[Translation | FailedTranslation] = []
    for provider in providers:
        try:
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
