"""Groups of capabilities that serve one use case, found without comparing all with all.

Each declared text is read once. The texts are taken in one order that does not depend on how they came; each
is compared with a few leaders, those that it shares most blocks with, and joins the best or becomes a leader.
A block is an action with an object, an object, or a rare word; it lists a bounded number of leaders, so that
what one capability costs does not depend on how many there are, also where a few names are everybody's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, Literal, TypeAlias

from droidgate.coverage.match.features import UNKNOWN_VERB, CapabilityText, Features, Sense, local_name
from droidgate.coverage.match.reading import CapabilityTexts, read_capabilities, without_collections
from droidgate.coverage.match.scoring import PreparedFeatures, Scorer, actions_contradict
from droidgate.coverage.match.words import actions_alike

LEADERS_PER_BLOCK: Final = 32
COMPARED: Final = 8

_RARE_WORDS: Final = 3
_KEPT_PER_NAME: Final = 4

_NOBODY: Final[list[int]] = []
_ALONE: Final = (0.0, -1)

Block: TypeAlias = tuple[str, str] | str
"""An action with an object, an object (no action), or a word."""

Kind = Literal["same-use-case", "near-duplicate", "same-app-twice"]


@dataclass(frozen=True, slots=True)
class Link:
    """Why a capability is in its group: what it is matched with.

    Attributes:
        key: The capability.
        match: The capability of the group that it is matched with, another than itself.
        group: Number of the group.
        kind: `same-app-twice`: both are of one app; `near-duplicate`: of two apps, in nearly the same words;
            `same-use-case`: of two apps, in other words.
        score: How surely, from 0.5 to 1.
        terms: What both say in name and description, the rarest first: `!create` is an action, `:note` an
            object, others are words.
        parameters: Roles of the parameters that both have, sorted.
    """

    key: str
    match: str
    group: int
    kind: Kind
    score: float
    terms: tuple[str, ...]
    parameters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Matching:
    """The outcome.

    Attributes:
        groups: Keys of each group of two or more; the leader first, the others in order.
        links: One for each member of a group but its leader, in order of groups and members.
        capabilities: How many were read.
        compared: How many pairs were compared.
        full_blocks: How many blocks had more leaders than they list, so that a match may have been missed.
    """

    groups: tuple[tuple[str, ...], ...]
    links: tuple[Link, ...]
    capabilities: int
    compared: int
    full_blocks: int


def match_capabilities(
    capabilities: Iterable[CapabilityText],
    *,
    processes: int | None = None,
) -> Matching:
    """Match capabilities across apps and protocols.

    The outcome depends on the set of capabilities alone, not on their order.

    Args:
        capabilities: All of them; a key that comes twice is taken once.
        processes: How many processes read the texts (see `read_capabilities`).

    Raises:
        UsageError: rapidfuzz is not installed.
    """
    return match_reading(read_capabilities(capabilities, processes=processes))


def match_reading(reading: CapabilityTexts) -> Matching:
    """Match capabilities that have been read.

    Raises:
        UsageError: rapidfuzz is not installed.
    """
    with without_collections():
        return _Run(reading).matching()


class _Group:
    """A group while it grows.

    Attributes:
        members: Its capabilities, those of the leader's text first.
        actions: What they do, each in turn foremost first; no two contradict.
        lists: The first text that an app has in it, by the number of the app's list.
    """

    __slots__ = ("actions", "lists", "members")

    def __init__(self) -> None:
        self.members: list[int] = []
        self.actions: tuple[tuple[str, ...], ...] = ()
        self.lists: dict[int, int] = {}

    def does_other(self, actions: tuple[str, ...]) -> bool:
        """Return whether a member does something else than these actions."""
        return any(actions_contradict(actions, action) for action in self.actions)

    def take(self, text: int, actions: tuple[str, ...], numbers: list[int], lists: list[int]) -> None:
        """Take capabilities of one text, given the list of each capability."""
        self.members += numbers
        if actions and actions not in self.actions:
            self.actions += (actions,)
        for number in numbers:
            self.lists.setdefault(lists[number], text)


class _Run:
    """One matching. Capabilities and texts are numbers here: positions in lists."""

    def __init__(self, reading: CapabilityTexts) -> None:
        self._keys, self._packages, self._names = reading.keys, reading.packages, reading.names
        self._text_of, self._features = reading.text_of, reading.features
        lists: dict[tuple[str, str], int] = {}
        self._lists = [
            lists.setdefault(package, len(lists))
            for package in zip(reading.packages, reading.protocols, strict=True)
        ]
        self._sharers: list[list[int]] = [[] for _ in self._features]
        for number, text in enumerate(self._text_of):
            self._sharers[text].append(number)
        self._scorer = Scorer(self._features)
        self._prepared: dict[int, PreparedFeatures] = {}
        self._joined: list[tuple[float, int]] = [_ALONE] * len(self._features)
        self._blocks: dict[Block, list[int]] = {}
        self._full: set[Block] = set()
        self._compared = 0

    def matching(self) -> Matching:
        members = [listed for listed in self._grouped() if len(listed) > 1]
        members.sort(key=lambda listed: self._keys[listed[0]])
        links = [
            link for number, listed in enumerate(members) for link in self._links_of_group(number, listed)
        ]
        return Matching(
            groups=tuple(tuple(self._keys[item] for item in listed) for listed in members),
            links=tuple(links),
            capabilities=len(self._keys),
            compared=self._compared,
            full_blocks=len(self._full),
        )

    def _grouped(self) -> list[list[int]]:
        """Return the capabilities of each group, those of the leader's text first."""
        groups: dict[int, _Group] = {}
        lists, scorer = self._lists, self._scorer
        for text in self._order():
            features = self._features[text]
            if not features.says_something():
                continue
            prepared = scorer.prepare(features)
            actions = features.sense.actions
            left = self._sharers[text]
            for score, leader in self._leaders(prepared):
                group = groups[leader]
                if actions not in group.actions and group.does_other(actions):
                    continue
                siblings = self._siblings(left, prepared, group)
                if len(siblings) == len(left):
                    continue
                if self._joined[text] is _ALONE:
                    self._joined[text] = -score, leader
                group.take(text, actions, [item for item in left if item not in siblings], lists)
                left = siblings
                if not left:
                    break
            if left:
                groups[text] = group = _Group()
                group.take(text, actions, left, lists)
                self._prepared[text] = prepared
                self._list_leader(text, features)
        return [group.members for group in groups.values()]

    def _siblings(self, numbers: list[int], prepared: PreparedFeatures, group: _Group) -> list[int]:
        """Return those of some capabilities of one text whose app lists another in the same protocol in a
        group, and means another.
        """
        lists, by_list = self._lists, group.lists
        others = [(number, by_list[lists[number]]) for number in numbers if lists[number] in by_list]
        if not others:
            return _NOBODY
        asked = dict.fromkeys([other for _, other in others], False)
        for other in asked:
            self._compared += 1
            asked[other] = not self._scorer.score(prepared, self._prepare(other), siblings=True)
        return [number for number, other in others if asked[other]]

    def _order(self) -> list[int]:
        """Return the texts, those of the most usual meaning first: they make the best leaders."""
        meanings = [(feature.sense.actions[:1], feature.sense.heads) for feature in self._features]
        counted = Counter(meanings)
        ranks = [
            (-counted[meaning], -len(sharers), sharers[0])
            for meaning, sharers in zip(meanings, self._sharers, strict=True)
        ]
        return sorted(range(len(ranks)), key=ranks.__getitem__)

    def _prepare(self, text: int) -> PreparedFeatures:
        return self._prepared.get(text) or self._scorer.prepare(self._features[text])

    def _leaders(self, prepared: PreparedFeatures) -> list[tuple[float, int]]:
        """Return the leaders that a text could follow with their scores below zero, the best first."""
        find = self._blocks.get
        blocks = self._blocks_with(_actions_looked_up(prepared.features.sense), prepared.features)
        shared = Counter(chain.from_iterable([find(block, _NOBODY) for block in blocks]))
        candidates: Iterable[int] = shared
        if len(shared) > COMPARED:
            # Sorting is stable: of those that share as many blocks the lowest numbers come first.
            candidates = sorted(sorted(shared), key=shared.__getitem__, reverse=True)[:COMPARED]
            self._compared += COMPARED
        else:
            self._compared += len(shared)
        score, leaders = self._scorer.score, self._prepared
        scored = [(-score(prepared, leaders[leader]), leader) for leader in candidates]
        return sorted([item for item in scored if item[0]])

    def _list_leader(self, text: int, features: Features) -> None:
        for block in self._blocks_with(features.sense.actions, features):
            listed = self._blocks.setdefault(block, [])
            if len(listed) < LEADERS_PER_BLOCK:
                listed.append(text)
            else:
                self._full.add(block)

    def _blocks_with(self, actions: Iterable[str], features: Features) -> list[Block]:
        """Return actions with objects, the objects that it is about, and the rarest of its words."""
        sense = features.sense
        doing: list[Block] = [(action, thing) for thing, _ in sense.objects for action in actions]
        if sense.actions and sense.actions[0][0] == UNKNOWN_VERB:
            # What may be a verb of its own is like nothing by the rest alone, and would only fill the blocks.
            return doing
        words = [term for term in features.terms if term[0] not in "!:"]
        if len(words) > _RARE_WORDS:
            rarity = self._scorer.rarity
            words = [term for _, term in sorted([(-rarity(term), term) for term in words])[:_RARE_WORDS]]
        return [*doing, *[("", thing) for thing in sense.heads], *words]

    def _links_of_group(self, group: int, members: list[int]) -> Iterator[Link]:
        """Yield a link for each member but the first: with one of its own app, else one that is named alike,
        else the leader.
        """
        of_app: dict[str, int] = {}
        of_name: dict[str, list[int]] = {}
        leader = members[0]
        for member in members:
            package, name = self._packages[member], local_name(self._names[member])
            own = of_app.setdefault(package, member)
            named = of_name.setdefault(name, [])
            if member != leader:
                yield self._link(group, member, own, named, leader)
            if len(named) < _KEPT_PER_NAME:
                named.append(member)

    def _link(self, group: int, member: int, own: int, named: list[int], leader: int) -> Link:
        score = self._score(member, own) if own != member else 0.0
        if score:
            return self._make_link(group, member, own, "same-app-twice", score)
        mine = self._features[self._text_of[member]]
        for other in dict.fromkeys((*named, leader)):
            theirs = self._features[self._text_of[other]]
            if self._packages[other] != self._packages[member] and (
                mine is theirs or self._scorer.is_near_duplicate(mine, theirs)
            ):
                score = self._score_with(leader, member, other)
                if score:
                    return self._make_link(group, member, other, "near-duplicate", score)
        other_app = self._packages[member] != self._packages[leader]
        kind: Kind = "same-use-case" if other_app else "same-app-twice"
        return self._make_link(group, member, leader, kind, self._score_with(leader, member, leader))

    def _score_with(self, leader: int, member: int, other: int) -> float:
        """Return the score of two members of a leader's group, remembered where the other is the leader."""
        score, followed = self._joined[self._text_of[member]]
        is_known = other == leader and followed == self._text_of[leader]
        if is_known and self._lists[member] != self._lists[leader]:
            return score
        return self._score(member, other)

    def _score(self, member: int, other: int) -> float:
        """Return the score of two members; equal texts are surely the same."""
        mine, theirs = self._text_of[member], self._text_of[other]
        if mine == theirs:
            return 1.0
        siblings = self._lists[other] == self._lists[member]
        return self._scorer.score(self._prepare(mine), self._prepare(theirs), siblings=siblings)

    def _make_link(self, group: int, member: int, other: int, kind: Kind, score: float) -> Link:
        mine = self._features[self._text_of[member]]
        theirs = self._features[self._text_of[other]]
        rarity = self._scorer.rarity
        shared = set(mine.terms).intersection(theirs.terms)
        terms = [term for _, term in sorted([(-rarity(term), term) for term in shared])]
        return Link(
            key=self._keys[member],
            match=self._keys[other],
            group=group,
            kind=kind,
            score=round(score, 4),
            terms=tuple(terms),
            parameters=tuple(sorted(mine.roles & theirs.roles)),
        )


def _actions_looked_up(sense: Sense) -> Iterable[str]:
    """Return the actions whose blocks are looked at: its own, and what else may be said for the first."""
    if not sense.actions:
        return ()
    return dict.fromkeys((*sense.actions, *actions_alike().get(sense.actions[0], ())))
