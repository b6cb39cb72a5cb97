"""What each capability loses in each dialect, by the dialects' own writers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Final

from droidgate_mappings.formats.format import Format, Writing, load_formats
from droidgate_mappings.model.capability import Provider, child_types, reachable_definitions
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.findings import CONVERSION_LEVELS, Finding, Level
from droidgate_mappings.model.json_values import pointer_name
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.loading import DialectTable

EXACT: Final = "exact"
"""The level of a conversion without a finding."""

LEVELS: Final = (EXACT, *(str(item) for item in CONVERSION_LEVELS if item is not Level.SECURITY))
"""Levels of a conversion's cost, mildest first; its number is its position here.

Security findings are counted apart: they do not measure what a declaration loses.
"""

_PLACED: Final = 2


@cache
def targets() -> Mapping[str, tuple[Format, DialectTable]]:
    """Return every dialect that is written and that apps declare, by `FORMAT+DIALECT`, sorted."""
    written = {
        f"{format_.id}+{dialect.id}": (format_, dialect)
        for format_ in load_formats().values()
        if format_.write is not None and format_.tables.declared_by_apps
        for dialect in format_.dialects
        if dialect.capacity is not None
    }
    return dict(sorted(written.items()))


@dataclass(frozen=True, slots=True)
class CapabilityConversion:
    """What one capability loses in one dialect; `counts` by level as in `CONVERSION_LEVELS`.

    The last count, of security findings, includes those of the provider: an access rule of a component
    protects each of its capabilities.
    """

    capability: int
    target: int
    level: str
    provider_level: str
    counts: tuple[int, ...]


_NUMBERS: Final = {level: number for number, level in enumerate(CONVERSION_LEVELS)}


def _no_findings() -> list[int]:
    return [0] * len(CONVERSION_LEVELS)


_Losses = tuple[str, str, tuple[int, ...]]
"""Level, level of the provider, and counts, as in `CapabilityConversion`."""


@dataclass(slots=True)
class _Tally:
    """How often each level is found in one dialect, by what the findings are on."""

    capabilities: dict[int, list[int]] = field(default_factory=dict)
    definitions: dict[str, list[int]] = field(default_factory=dict)
    provider: list[int] = field(default_factory=_no_findings)

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> _Tally:
        tally = cls()
        for finding in findings:
            tally.count(finding)
        return tally

    def count(self, finding: Finding) -> None:
        _, *tokens = finding.pointer.split("/", 3)
        counts = self.provider
        if len(tokens) >= _PLACED:
            if tokens[0] == "capabilities" and tokens[1].isdecimal():
                counts = self.capabilities.setdefault(int(tokens[1]), _no_findings())
            elif tokens[0] == "definitions":
                counts = self.definitions.setdefault(pointer_name(tokens[1]), _no_findings())
        counts[_NUMBERS[finding.level]] += 1


def estimate_conversions(
    provider: Provider, names: Collection[str] | None = None
) -> tuple[CapabilityConversion, ...]:
    """Return what each capability of a provider loses, by dialect as in `targets`, then by capability.

    Args:
        provider: The provider.
        names: Dialects as in `targets`; all by default.

    The dialects' own writers find it. What writing would make is made only where that can fail or find more:
    of a provider that comes from the target's format or holds facts of it (`Format.find_losses`).
    """
    return _Estimator(provider).estimate(names) if provider.capabilities else ()


def tool_bytes(provider: Provider) -> tuple[int | None, ...]:
    """Return the UTF-8 bytes of each capability's entry in MCP's `tools/list`.

    The entry is canonical JSON without `_meta`, which no model is shown; None where it cannot be written.
    """
    for format_, dialect in targets().values() if provider.capabilities else ():
        if format_.size_for_models is not None:
            with suppress(DroidgateError):
                sizes = format_.size_for_models(provider, _write(format_, dialect, provider))
                if sizes is not None:
                    return sizes
    return (None,) * len(provider.capabilities)


class _Estimator:
    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._reached = [
            reachable_definitions(capability, provider.definitions) if provider.definitions else set()
            for capability in provider.capabilities
        ]
        self._to_be_written = {provider.protocol, *_formats_of_facts(provider)}
        self._weighed: dict[int, list[_Losses]] = {}

    def estimate(self, names: Collection[str] | None) -> tuple[CapabilityConversion, ...]:
        return tuple(
            CapabilityConversion(capability, number, *losses)
            for number, (name, target) in enumerate(targets().items())
            if names is None or name in names
            for capability, losses in enumerate(self._losses_in(number, *target))
        )

    def _losses_in(self, number: int, format_: Format, dialect: DialectTable) -> list[_Losses]:
        """Return what each capability loses in a dialect."""
        try:
            if format_.find_losses is None or format_.id in self._to_be_written:
                return self._losses_of(_write(format_, dialect, self._provider).findings)
            alike = _first_alike()[number]
            if alike not in self._weighed:
                self._weighed[alike] = self._losses_of(format_.find_losses(self._provider, dialect))
            return self._weighed[alike]
        except DroidgateError:
            return [IMPOSSIBLE] * len(self._reached)

    def _losses_of(self, findings: Iterable[Finding]) -> list[_Losses]:
        tally = _Tally.of(findings)
        provider_level = _worst_level(tally.provider)
        losses: list[_Losses] = []
        for number, names in enumerate(self._reached):
            counts = tally.capabilities.get(number) or _no_findings()
            if names and tally.definitions:
                of_definitions = (tally.definitions[name] for name in names & tally.definitions.keys())
                counts = list(map(sum, zip(counts, *of_definitions, strict=True)))
            *counted, security = counts
            total = (*counted, security + tally.provider[-1])
            losses.append((_worst_level(counts), provider_level, total))
        return losses


@cache
def _first_alike() -> tuple[int, ...]:
    """Return for each target the first one of its format that carries the same."""
    written = list(targets().values())
    return tuple(
        next(
            number
            for number, (earlier, earlier_dialect) in enumerate(written)
            if earlier.id == item.id and earlier_dialect.capacity == dialect.capacity
        )
        for item, dialect in written
    )


def _formats_of_facts(provider: Provider) -> set[str]:
    """Return the formats of which a provider holds facts anywhere."""
    formats = set(provider.extensions)
    pending = list(provider.definitions.values())
    for capability in provider.capabilities:
        formats.update(capability.extensions)
        pending += [capability.input] if capability.output is None else [capability.input, capability.output]
    while pending:
        current = pending.pop()
        formats.update(current.extensions)
        if isinstance(current, ObjectType):
            for property_ in current.properties.values():
                formats.update(property_.extensions)
        pending.extend(child_types(current))
    return formats


def _write(format_: Format, dialect: DialectTable, provider: Provider) -> Writing:
    if format_.write is None:
        return Writing((), provider)
    return format_.write(provider, dialect)


def _worst_level(counts: Sequence[int]) -> str:
    costs = counts[: len(LEVELS) - 1]
    return LEVELS[max((number for number, count in enumerate(costs, 1) if count), default=0)]


IMPOSSIBLE: Final[_Losses] = (
    Level.IMPOSSIBLE.value,
    Level.IMPOSSIBLE.value,
    tuple(int(level is Level.IMPOSSIBLE) for level in CONVERSION_LEVELS),
)
