"""What each capability loses in each dialect, by the dialects' own writers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from droidgate.formats import Format, Writing, find_format, load_formats
from droidgate.model.capability import Provider, reachable_definitions
from droidgate.model.errors import DroidgateError
from droidgate.model.findings import CROSSING_LEVELS, Finding, Level
from droidgate.model.json_values import Json, canonical_json, pointer_name
from droidgate_mappings.tables import DialectTable

EXACT: Final = "exact"
"""The level of a crossing without a finding."""

LEVELS: Final = (EXACT, *(str(one) for one in CROSSING_LEVELS))
"""Levels of a crossing, mildest first; a crossing's number is its position here."""

_TOOL_LIST: Final = "mcp"
_BYTES_PER_TOKEN: Final = 4
_PLACED: Final = 2


@cache
def targets() -> Mapping[str, tuple[Format, DialectTable]]:
    """Return every dialect that is written, by `FORMAT+DIALECT`, sorted."""
    written = {
        f"{one.id}+{dialect.id}": (one, dialect)
        for one in load_formats().values()
        if one.write is not None
        for dialect in one.dialects
        if dialect.capacity is not None
    }
    return dict(sorted(written.items()))


@dataclass(frozen=True, slots=True)
class Crossing:
    """What one capability loses in one dialect; `counts` by level as in `CROSSING_LEVELS`."""

    capability: int
    target: int
    level: str
    provider_level: str
    counts: tuple[int, ...]


@dataclass(slots=True)
class _Tally:
    """Findings of one writing, by what they are on."""

    capabilities: dict[int, Counter[Level]] = field(default_factory=dict)
    definitions: dict[str, Counter[Level]] = field(default_factory=dict)
    provider: Counter[Level] = field(default_factory=Counter)

    @classmethod
    def of(cls, findings: Iterable[Finding]) -> _Tally:
        tally = cls()
        for one in findings:
            tally.count(one)
        return tally

    def count(self, one: Finding) -> None:
        _, *tokens = one.pointer.split("/", 3)
        counter = self.provider
        if len(tokens) >= _PLACED:
            if tokens[0] == "capabilities" and tokens[1].isdecimal():
                counter = self.capabilities.setdefault(int(tokens[1]), Counter())
            elif tokens[0] == "definitions":
                counter = self.definitions.setdefault(pointer_name(tokens[1]), Counter())
        counter[one.level] += 1


@dataclass(frozen=True, slots=True)
class Crossed:
    """What became of one provider in every dialect.

    Attributes:
        crossings: By dialect, in the order of `targets`, then by capability.
        tool_bytes: For each capability, the UTF-8 bytes of its entry in MCP's `tools/list` as canonical JSON
            without `_meta`, which no model is shown; None where it cannot be written.
    """

    crossings: tuple[Crossing, ...]
    tool_bytes: tuple[int | None, ...]


def cross(provider: Provider) -> Crossed:
    """Write a provider in every dialect, and tell what each of its capabilities loses there."""
    reached = [
        reachable_definitions(one, provider.definitions) if provider.definitions else set()
        for one in provider.capabilities
    ]
    if not reached:
        return Crossed((), ())
    found: list[Crossing] = []
    tools: Writing | None = None
    for number, (one, dialect) in enumerate(targets().values()):
        try:
            writing = _write(one, dialect, provider)
        except DroidgateError:
            found += _impossible(number, len(reached))
            continue
        found += _crossings_of(number, writing, reached)
        if tools is None and one.id == _TOOL_LIST:
            tools = writing
    return Crossed(tuple(found), _tool_bytes(provider, tools))


def _impossible(target: int, count: int) -> Iterator[Crossing]:
    counts = _counts({Level.IMPOSSIBLE: 1})
    for number in range(count):
        yield Crossing(number, target, Level.IMPOSSIBLE, Level.IMPOSSIBLE, counts)


def _crossings_of(target: int, writing: Writing, reached: Sequence[set[str]]) -> Iterator[Crossing]:
    tally = _Tally.of(writing.findings)
    provider_level = _worst(tally.provider)
    for number, names in enumerate(reached):
        counter = tally.capabilities.get(number, Counter())
        if names and tally.definitions:
            counter = sum((tally.definitions[name] for name in names & tally.definitions.keys()), counter)
        yield Crossing(number, target, _worst(counter), provider_level, _counts(counter))


def _write(one: Format, dialect: DialectTable, provider: Provider) -> Writing:
    if one.write is None:
        return Writing((), provider)
    return one.write(provider, dialect)


def _worst(counter: Mapping[Level, int]) -> str:
    return max((str(level) for level in counter), key=LEVELS.index, default=EXACT)


def _counts(counter: Mapping[Level, int]) -> tuple[int, ...]:
    return tuple(counter.get(level, 0) for level in CROSSING_LEVELS)


def _tool_bytes(provider: Provider, writing: Writing | None) -> tuple[int | None, ...]:
    if writing is not None and provider.protocol == _TOOL_LIST and provider.extensions:
        # Written back as the kind of document that it was read from; without these facts it is a result.
        try:
            writing = _write(*find_format(_TOOL_LIST), provider.changed({"extensions": {}}))
        except DroidgateError:
            writing = None
    if writing is None:
        return (None,) * len(provider.capabilities)
    tools = json.loads(writing.artifacts[0].text)["tools"]
    return tuple(map(_bytes_of_tool, tools))


def _bytes_of_tool(tool: Mapping[str, Json]) -> int:
    shown = {name: held for name, held in tool.items() if name != "_meta"}
    return len(canonical_json(shown).encode("utf-8", "surrogatepass"))


def estimate_tokens(size: int | None) -> int | None:
    """Return the estimate of a text's tokens: its bytes divided by four, rounded up."""
    return None if size is None else -(-size // _BYTES_PER_TOKEN)
