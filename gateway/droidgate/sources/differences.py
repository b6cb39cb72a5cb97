"""Changes between the declarations of two sources, and the parts that could not be compared."""

from __future__ import annotations

import posixpath
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Final, TypeVar

from droidgate.sources import providers_of
from droidgate.sources.source_code import VARIANT_CODE
from droidgate.sources.source_results import Providers
from droidgate.sources.source_schemes import GIT_SCHEME
from droidgate_mappings.compare import (
    Change,
    Comparison,
    ProtocolChange,
    Unread,
    Weight,
    compare_sets,
    pair_providers,
    share_capability,
)
from droidgate_mappings.compare.changes import PROTOCOL_CHANGED
from droidgate_mappings.formats.format import Writing, load_formats
from droidgate_mappings.formats.leniency import DECLARATION_UNREAD
from droidgate_mappings.model.capability import CapabilitySet, Provider
from droidgate_mappings.model.errors import EmptyError, WriteError
from droidgate_mappings.text.shown_paths import printable

Source = TypeVar("Source")

HIDING_CODES: Final = frozenset({DECLARATION_UNREAD, VARIANT_CODE})
"""Findings about files whose capabilities are missing."""


def diff(
    old: str | PathLike[str] | Provider | Iterable[Provider],
    new: str | PathLike[str] | Provider | Iterable[Provider],
) -> Comparison:
    """Return what changed between two versions.

    Args:
        old: A source as `read` takes it, or providers: what `read` returns, or one or more of them.
        new: The same of the later version. What could not be read of either is not compared.

    Raises:
        InputError: a source cannot be read, or neither declares anything.
        DeviceError: a phone cannot be reached or used.

    Example:
        >>> comparison = droidgate.diff("pdf-tool", "clock-in")
        >>> comparison.weight()
        <Weight.BREAKING: 'breaking'>
    """
    old, new, _ = read_sides(old, new, providers_of)
    olds, news = tuple(old), tuple(new)
    olds, protocol_changes = _in_new_protocols(olds, news)
    compared = compare_sets(
        CapabilitySet(providers=olds),
        CapabilitySet(providers=news),
        unread_old=_unread_of(old),
        unread_new=_unread_of(new),
    )
    return compared.changed({"protocol_changes": protocol_changes})


def read_sides(
    old: Source, new: Source, read: Callable[[Source], Providers]
) -> tuple[Providers, Providers, tuple[EmptyError, ...]]:
    """Read both sides of a comparison; one that holds nothing is empty where the other declares something.

    So is a path that is not there, where the other side is this path in a revision.

    Args:
        old: The earlier source.
        new: The later one.
        read: Returns what a source declares.

    Returns:
        Both sides, and why one of them is empty.

    Raises:
        InputError: a source cannot be read, or one holds nothing and the other declares nothing.
    """
    empty: list[EmptyError] = []
    sides: list[Providers] = []
    for source, other in ((old, new), (new, old)):
        try:
            _check_not_deleted(source, other)
            sides.append(read(source))
        except EmptyError as error:
            empty.append(error)
            sides.append(Providers(sources=(source,) if isinstance(source, str) else ()))
    before, after = sides
    if empty and not (before.providers or after.providers):
        raise empty[0]
    return before, after, tuple(empty)


def _check_not_deleted(source: object, other: object) -> None:
    """Raise an `EmptyError` for a path that is not there, where the other side is this path in a revision."""
    if not (isinstance(source, str | PathLike) and isinstance(other, str) and other.startswith(GIT_SCHEME)):
        return
    path = posixpath.normpath(fspath(source))
    named = posixpath.normpath(other.split(":", 2)[-1])
    if f"/{named}".endswith(f"/{path}") and other.count(":") > 1 and not Path(path).exists():
        hint = "what the other side has of it counts as removed or added"
        raise EmptyError("there is no such file or folder", place=printable(path), hint=hint)


def _in_new_protocols(
    olds: tuple[Provider, ...], news: tuple[Provider, ...]
) -> tuple[tuple[Provider, ...], tuple[ProtocolChange, ...]]:
    """Return the old providers, those of another protocol converted into that of their new counterparts.

    An old and a new provider belong together across protocols where each is the only one of its app without
    a counterpart in its own protocol, or where nothing else is left on both sides and they may be one.
    """
    _, removed, added = pair_providers(olds, news)
    converted: dict[int, Provider] = {}
    changes: list[ProtocolChange] = []
    for before, after in _pairs_across(removed, added, are_alone=len(olds) == len(news) == 1):
        writing = _conversion_of(before, after)
        if writing is None:
            continue
        fitted = writing.provider.changed(
            {"component": after.component, "package": after.package, "dialect": after.dialect}
        )
        converted[id(before)] = fitted
        changes.append(_protocol_change(before, after, writing))
    return tuple(converted.get(id(item), item) for item in olds), tuple(changes)


def _pairs_across(
    removed: Sequence[Provider], added: Sequence[Provider], *, are_alone: bool
) -> Iterator[tuple[Provider, Provider]]:
    if len(removed) == len(added) == 1 and (are_alone or share_capability(removed[0], added[0])):
        pairs = [(removed[0], added[0])]
    else:
        befores, afters = Counter(item.package for item in removed), Counter(item.package for item in added)
        pairs = [
            (before, after)
            for before in removed
            for after in added
            if before.package is not None
            and before.package == after.package
            and befores[before.package] == afters[before.package] == 1
        ]
    return ((before, after) for before, after in pairs if before.protocol != after.protocol)


def _conversion_of(before: Provider, after: Provider) -> Writing | None:
    """Return a provider as its counterpart's dialect holds it; None where that cannot be written."""
    format_ = load_formats().get(after.protocol)
    dialects = () if format_ is None else format_.dialects
    dialect = next((item for item in dialects if item.id == after.dialect), None)
    if format_ is None or format_.write is None or dialect is None or dialect.capacity is None:
        return None
    try:
        return format_.write(before, dialect)
    except WriteError:
        return None


def _protocol_change(before: Provider, after: Provider, writing: Writing) -> ProtocolChange:
    count = len(writing.findings)
    differences = "1 difference comes" if count == 1 else f"{count} differences come"
    return ProtocolChange(
        package=after.package or before.package,
        component=after.component,
        old_component=before.component,
        old_protocol=before.protocol,
        protocol=after.protocol,
        change=Change(
            code=PROTOCOL_CHANGED,
            weight=Weight.BREAKING,
            message=f"the protocol {before.protocol} became {after.protocol}; {differences} with it",
            old_pointer="/protocol",
            new_pointer="/protocol",
            old=before.protocol,
            new=after.protocol,
        ),
        findings=writing.findings,
        capabilities=tuple(capability.id for capability in before.capabilities),
    )


def _unread_of(read: Iterable[Provider]) -> list[Unread]:
    """Return what was not read of sources, as far as capabilities may be in it."""
    if not isinstance(read, Providers):
        return []
    unread = [
        Unread(
            place=problem.place or " ".join(read.sources),
            reason=problem.message,
            ids=frozenset(problem.left_out) or None,
            is_whole=problem.place is None
            or any(
                problem.place == source or problem.place.startswith(f"{source}:") for source in read.sources
            ),
        )
        for problem in read.problems
    ]
    unread += [
        Unread(place=str(finding.source), reason=finding.message)
        for finding in read.findings
        if finding.code in HIDING_CODES and finding.source is not None
    ]
    return unread
