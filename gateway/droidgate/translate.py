"""Translation: providers of any format, written in one dialect, with one fidelity report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from droidgate.formats import Format, Writing
from droidgate.model.capability import Provider
from droidgate.model.errors import UsageError
from droidgate_mappings.tables import DialectTable


@dataclass(frozen=True, slots=True)
class Translation:
    """One provider's crossing: what was asked for, and what was written."""

    source: Provider
    writing: Writing


def translate(
    providers: Iterable[Provider], target: Format, dialect: DialectTable
) -> tuple[Translation, ...]:
    """Write providers in a dialect.

    Raises:
        UsageError: the dialect is only read, with the reason.
        WriteError: a provider cannot be written at all.
    """
    if target.write is None or dialect.capacity is None:
        message = f"{target.id}+{dialect.id} is only read"
        raise UsageError(message, hint=dialect.not_written_because)
    write = target.write
    return tuple(Translation(provider, write(provider, dialect)) for provider in providers)
