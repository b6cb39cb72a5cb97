"""What overlaps across apps and protocols, and which use cases of Android's guideline are served by whom
(`droidgate_mappings.tables.taxonomy`).

Of an app that a catalog has in several versions the newest counts, so that no app overlaps with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from droidgate.coverage.coverage_document import (
    AppTypeCoverage,
    Counted,
    MatchedGroup,
    MatchingSummary,
    UseCaseCount,
)
from droidgate.coverage.figures import Figures, most_frequent
from droidgate.coverage.match.capability_groups import Link, Matching, match_reading
from droidgate.coverage.match.features import (
    NAME_WEIGHT,
    CapabilityText,
    CapabilityTexts,
    Sense,
    read_capabilities,
)
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.taxonomy import Cue, load_taxonomy, load_words


@dataclass(frozen=True, slots=True)
class ServedUseCase:
    """A use case that a capability serves.

    Attributes:
        use_case: Id of the use case.
        action: Id of the action that identifies it, None where the object alone does.
        object: Id of the object that identifies it.
    """

    use_case: str
    action: str | None
    object: str


class UseCases:
    """Assigns capabilities to use cases by their sense; what is doubtful serves none."""

    def __init__(self) -> None:
        """Begin."""
        self._actions = frozenset(action.id for action in load_words().actions)
        self._cues: dict[str, list[tuple[str, Cue]]] = {}
        for use_case in load_taxonomy().use_cases():
            for cue in use_case.cues:
                for object_ in cue.objects:
                    self._cues.setdefault(object_, []).append((use_case.id, cue))

    def served_in(self, sense: Sense) -> tuple[ServedUseCase, ...]:
        """Return the use cases that a capability of this sense serves, by id.

        The name has to say what it is done to; the description alone may speak of anything.
        """
        served: dict[str, ServedUseCase] = {}
        objects = {object_ for object_, _ in sense.objects}
        action = sense.actions[0] if sense.actions else None
        for object_, weight in sense.objects:
            if weight != NAME_WEIGHT or object_ in sense.doubtful:
                continue
            for use_case, cue in self._cues.get(object_, ()):
                if self._is_done(cue, action) and (not cue.near or not objects.isdisjoint(cue.near)):
                    served.setdefault(use_case, ServedUseCase(use_case, action, object_))
        return tuple(served[use_case] for use_case in sorted(served))

    def _is_done(self, cue: Cue, action: str | None) -> bool:
        """Return whether an action is one of a cue; a verb that nobody knows may be any, and is none."""
        if action is None:
            return cue.alone or not cue.actions
        return action in self._actions and (not cue.actions or action in cue.actions)


MOST_GROUPS: Final = 20
MOST_EXAMPLES: Final = 5
_AT_ONCE: Final = 10_000
_TEXTS: Final = """
SELECT p.p, c.capability, e.identity, c.protocol, c.id, c.description, c.parameters
FROM capabilities c JOIN provider_fact p USING (unit, provider) JOIN entry e USING (entry)
WHERE e.latest ORDER BY p.p, c.capability
"""


@dataclass(frozen=True, slots=True)
class Overlaps:
    """The outcome.

    Attributes:
        matching: Groups and links; a key is `row_key_of` a capability.
        summary: The same, human-readable.
        coverage: By app type.
        served: The use cases of each capability that serves any, the surest first, by key.
    """

    matching: Matching
    summary: MatchingSummary
    coverage: tuple[AppTypeCoverage, ...]
    served: Mapping[str, tuple[ServedUseCase, ...]]


def row_key_of(provider: int, capability: int) -> str:
    """Return the key of a capability in matching: number of the provider and position; sorted as numbers."""
    return f"{provider:09d}.{capability:06d}"


def find_overlaps(figures: Figures) -> Overlaps:
    """Match all capabilities and assign them to use cases.

    Raises:
        UsageError: rapidfuzz is not installed.
    """
    reading = read_capabilities(_texts(figures))
    matching = match_reading(reading)
    tally = _Tally()
    served = dict(_served_capabilities(reading, tally, figures))
    return Overlaps(matching, _summary(matching, reading), tuple(tally.coverage()), served)


def _texts(figures: Figures) -> Iterator[CapabilityText]:
    result = figures.connection.cursor().execute(_TEXTS)
    while rows := result.fetchmany(_AT_ONCE):
        for provider, capability, identity, protocol, name, description, parameters in rows:
            yield CapabilityText(
                row_key_of(provider, capability), identity, protocol, name, description, parameters
            )


def _served_capabilities(
    reading: CapabilityTexts, tally: _Tally, figures: Figures
) -> Iterator[tuple[str, tuple[ServedUseCase, ...]]]:
    """Yield the capabilities that serve use cases with them, counted; each sense is judged once."""
    judge = UseCases()
    judged: dict[Sense, tuple[ServedUseCase, ...]] = {}
    for feature in reading.features:
        if feature.sense not in judged:
            judged[feature.sense] = judge.served_in(feature.sense)
    entries = [entry for (entry,) in figures.rows("SELECT entry FROM provider_fact ORDER BY p")]
    for key, text, protocol in zip(reading.keys, reading.text_of, reading.protocols, strict=True):
        use_cases = judged[reading.features[text].sense]
        if use_cases:
            tally.count(
                entries[int(key.partition(".")[0])], protocol, [use_case.use_case for use_case in use_cases]
            )
            yield key, use_cases


class _Tally:
    """Counts who serves which use case."""

    def __init__(self) -> None:
        self._apps: dict[str, set[int]] = {}
        self._protocols: dict[str, Counter[str]] = {}

    def count(self, entry: int, protocol: str, use_cases: Iterable[str]) -> None:
        for use_case in use_cases:
            self._apps.setdefault(use_case, set()).add(entry)
            self._protocols.setdefault(use_case, Counter())[protocol] += 1

    def coverage(self) -> Iterator[AppTypeCoverage]:
        for app_type in load_taxonomy().app_types:
            counts = [
                UseCaseCount(
                    id=use_case.id,
                    title=use_case.title,
                    apps=len(self._apps.get(use_case.id, ())),
                    capabilities=self._protocols.get(use_case.id, Counter()).total(),
                    protocols=most_frequent(self._protocols.get(use_case.id, Counter())),
                )
                for use_case in app_type.use_cases
            ]
            apps = set().union(*(self._apps.get(use_case.id, set()) for use_case in app_type.use_cases))
            yield AppTypeCoverage(
                id=app_type.id,
                title=app_type.title,
                apps=len(apps),
                covered=sum(count.apps > 0 for count in counts),
                use_cases=tuple(counts),
            )


def _summary(matching: Matching, reading: CapabilityTexts) -> MatchingSummary:
    kinds: Counter[str] = Counter(link.kind for link in matching.links)
    places = {key: place for place, key in enumerate(reading.keys)}
    sizes = [len({reading.packages[places[key]] for key in group}) for group in matching.groups]
    largest = sorted(range(len(sizes)), key=lambda item: (-sizes[item], -len(matching.groups[item]), item))
    chosen = largest[:MOST_GROUPS]
    links: dict[int, list[Link]] = {number: [] for number in chosen}
    for link in matching.links:
        if link.group in links:
            links[link.group].append(link)
    return MatchingSummary(
        groups=len(matching.groups),
        capabilities=sum(map(len, matching.groups)),
        kinds=most_frequent(kinds),
        full_blocks=matching.full_blocks,
        largest=tuple(
            _group(reading, [places[key] for key in matching.groups[number]], sizes[number], links[number])
            for number in chosen
        ),
    )


def _group(reading: CapabilityTexts, members: list[int], apps: int, links: list[Link]) -> MatchedGroup:
    examples = dict.fromkeys(f"{reading.packages[member]} {reading.names[member]}" for member in members)
    return MatchedGroup(
        name=reading.names[members[0]],
        capabilities=len(members),
        apps=apps,
        protocols=_frequent_words(reading.protocols[member] for member in members),
        kinds=_frequent_words(link.kind for link in links),
        examples=tuple(examples)[:MOST_EXAMPLES],
    )


def _frequent_words(words: Iterable[str]) -> tuple[Counted, ...]:
    return most_frequent(Counter(words))
