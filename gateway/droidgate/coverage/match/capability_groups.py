"""Groups of capabilities that serve one use case, how alike two capabilities are, and why.

Groups are found without comparing all with all. Each declared text is read once. The texts are taken in one
order that does not depend on how they came; each is compared with a few leaders, those that it shares most
blocks with, and joins the best or becomes a leader. A block is an action with an object, an object, or a rare
word; it lists a bounded number of leaders, so that what one capability costs does not depend on how many
there are, also where a few names are very common.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final, Literal, TypeAlias

from droidgate.computer.optional_packages import need
from droidgate.coverage.match.features import (
    UNKNOWN_VERB,
    CapabilityTexts,
    Features,
    Sense,
    local_name,
    without_collections,
)
from droidgate.coverage.match.match_words import actions_alike
from droidgate_mappings.records import dataclass

THRESHOLD: Final = 0.5
"""From this score on two capabilities serve one use case."""

NEAR_DUPLICATE: Final = 80.0
"""From this likeness of the declared texts on, in percent, a match is a near duplicate."""

_FEWEST: Final = 200
_ALIKE: Final = 0.6
_SECOND: Final = 0.8
_UNKNOWN: Final = 0.4
_SATURATION: Final = 1.2
_NOTHING: Final[frozenset[str]] = frozenset()
_STEPS: Final = 1 << 32
"""Rarities are multiples of its inverse: so their sum is exact, in whatever order a set yields them."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of the signals in the logistic sum: logistic regression over the labelled pairs of the half
    `tune` (tests/gateway/coverage_match/fitting.py), rounded.
    """

    bias: float = -1.7
    actions: float = 1.0
    objects: float = 3.05
    text: float = 1.1
    parameters: float = 0.4
    other_action: float = -4.8
    other_object: float = -3.0


WEIGHTS: Final = Weights()


@dataclass(slots=True, eq=False)
class PreparedSense:
    """A sense with what comparing it needs again and again.

    Attributes:
        sense: The sense.
        near_actions: Its first action and those that differ from it only in the way of speaking.
        objects: Weight of each object.
        norm: Length of that vector.
    """

    sense: Sense
    near_actions: frozenset[str]
    objects: dict[str, float]
    norm: float


@dataclass(slots=True, eq=False)
class PreparedFeatures:
    """Features with what comparing them needs again and again.

    Attributes:
        features: The features.
        sense: Their sense.
        terms: The terms as a set.
        rarity: Sum of the terms' rarities.
    """

    features: Features
    sense: PreparedSense
    terms: frozenset[str]
    rarity: float


class Scorer:
    """Compares features, given how usual each term is."""

    def __init__(self, features: Iterable[Features]) -> None:
        """Count the terms.

        Args:
            features: Of all capabilities that are compared.

        Raises:
            UsageError: rapidfuzz is not installed.
        """
        self._ratio: Callable[..., float] = need("rapidfuzz.fuzz", "coverage").ratio
        counted: Counter[str] = Counter()
        total = 0
        for feature in features:
            counted.update(feature.terms)
            total += 1
        # With few capabilities no term is rare; the same pair shall score alike in a small and a large set.
        size = max(total, _FEWEST)
        self._rarity = {
            term: round(math.log(1 + (size - count + 0.5) / (count + 0.5)) * _STEPS) / _STEPS
            for term, count in counted.items()
        }
        self._senses: dict[Sense, PreparedSense] = {}

    def rarity(self, term: str) -> float:
        """Return the inverse document frequency of a term (BM25's)."""
        return self._rarity[term]

    def prepare(self, features: Features) -> PreparedFeatures:
        """Return features ready to be compared."""
        return PreparedFeatures(
            features=features,
            sense=self._senses.get(features.sense) or self._prepare_sense(features.sense),
            terms=frozenset(features.terms),
            rarity=sum([self._rarity[term] for term in features.terms]),
        )

    def _prepare_sense(self, sense: Sense) -> PreparedSense:
        objects = dict(sense.objects)
        prepared = self._senses[sense] = PreparedSense(
            sense=sense,
            near_actions=_near_actions(sense.actions),
            objects=objects,
            norm=math.sqrt(sum([weight * weight for weight in objects.values()])),
        )
        return prepared

    def score(self, left: PreparedFeatures, right: PreparedFeatures, *, siblings: bool = False) -> float:
        """Return how surely two capabilities serve one use case, from 0 to 1; 0 where they do not match.

        Siblings are of one app and protocol. An app hardly lists one thing twice: they match only where their
        names mean the same.
        """
        if siblings and left.features.name != right.features.name:
            return 0.0
        weights = WEIGHTS
        actions = _likeness_of_actions(left.sense, right.sense)
        total = weights.bias
        if actions is None:
            total += weights.actions * _UNKNOWN
        elif actions:
            total += weights.actions * actions
        else:
            total += weights.other_action
        possible = weights.parameters + weights.text
        if total + weights.objects + possible < 0:
            return 0.0
        total += weights.objects * _likeness_of_objects(left.sense, right.sense)
        if total + possible < 0:
            return 0.0
        mine, theirs = left.features, right.features
        total += weights.other_object * _difference_of_heads(mine.sense.heads, theirs.sense.heads)
        total += weights.parameters * _likeness_of_roles(mine.roles, theirs.roles)
        if total + weights.text < 0:
            return 0.0
        total += weights.text * self._likeness_of_texts(left, right)
        score = 1 / (1 + math.exp(-total))
        return score if score >= THRESHOLD else 0.0

    def is_near_duplicate(self, left: Features, right: Features) -> bool:
        """Return whether two matching capabilities are declared in nearly the same words."""
        return self._ratio(left.text, right.text, score_cutoff=NEAR_DUPLICATE) > 0

    def _likeness_of_texts(self, left: PreparedFeatures, right: PreparedFeatures) -> float:
        """Return BM25 of the terms of one in the other, as a part of what the one with less would have."""
        shared = left.terms & right.terms
        if not shared:
            return 0.0
        rarity = self._rarity
        both = sum([rarity[term] for term in shared])
        mine, theirs = len(left.terms), len(right.terms)
        # How much longer than both on average the longer one is: BM25's normalisation by length.
        length = 2 * max(mine, theirs) / (mine + theirs)
        return both / min(left.rarity, right.rarity) * (1 + _SATURATION) / (1 + _SATURATION * length)


@lru_cache(maxsize=1 << 16)
def actions_contradict(mine: tuple[str, ...], theirs: tuple[str, ...]) -> bool:
    """Return whether two capabilities that do these actions, the foremost first, do different things."""
    return _likeness(mine, theirs, _near_actions(mine), _near_actions(theirs)) == 0


def _near_actions(actions: tuple[str, ...]) -> frozenset[str]:
    """Return the first action and those that differ from it only in the way of speaking."""
    return actions_alike().get(actions[0], _NOTHING) | {actions[0]} if actions else _NOTHING


def _likeness_of_actions(left: PreparedSense, right: PreparedSense) -> float | None:
    """Return how alike what is done is, None where one does not say."""
    return _likeness(left.sense.actions, right.sense.actions, left.near_actions, right.near_actions)


def _likeness(
    mine: tuple[str, ...], theirs: tuple[str, ...], near_mine: frozenset[str], near_theirs: frozenset[str]
) -> float | None:
    if not mine or not theirs:
        return None
    if mine[0] == theirs[0]:
        # Two that begin with one unknown word may do the same, or name the same thing.
        return None if mine[0][0] == UNKNOWN_VERB else 1.0
    if mine[0] in theirs or theirs[0] in mine:
        return _SECOND
    if not near_mine.isdisjoint(theirs) or not near_theirs.isdisjoint(mine):
        return _ALIKE
    return 0.0


def _likeness_of_objects(left: PreparedSense, right: PreparedSense) -> float:
    if not left.norm or not right.norm:
        return 0.0
    theirs = right.objects
    both = sum([weight * theirs[object_] for object_, weight in left.sense.objects if object_ in theirs])
    return both / (left.norm * right.norm)


def _difference_of_heads(left: frozenset[str], right: frozenset[str]) -> float:
    if not left or not right or left == right:
        return 0.0
    both = len(left & right)
    return 1 - both / (len(left) + len(right) - both)


def _likeness_of_roles(left: frozenset[str], right: frozenset[str]) -> float:
    if left is right:
        return 1.0 if left else 0.5
    if not left and not right:
        return 0.5
    both = len(left & right)
    return both / (len(left) + len(right) - both)


LEADERS_PER_BLOCK: Final = 32
COMPARED: Final = 8

_RARE_WORDS: Final = 3
_KEPT_PER_NAME: Final = 4

_NOBODY: Final[list[int]] = []
_ALONE: Final = (0.0, -1)

BlockKey: TypeAlias = tuple[str, str] | str
"""An action with an object, an object (no action), or a word."""

GroupKind = Literal["same-job", "near-duplicate", "same-app-twice"]


@dataclass(frozen=True, slots=True)
class Link:
    """Why a capability is in its group: what it is matched with.

    Attributes:
        key: The capability.
        match: The capability of the group that it is matched with, another than itself.
        group: Number of the group.
        kind: `same-app-twice`: both are of one app; `near-duplicate`: of two apps, in nearly the same words;
            `same-job`: of two apps, in other words.
        score: How surely, from 0.5 to 1.
        terms: What both say in name and description, the rarest first: `!create` is an action, `:note` an
            object, others are words.
        parameters: Roles of the parameters that both have, sorted.
    """

    key: str
    match: str
    group: int
    kind: GroupKind
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
        self._blocks: dict[BlockKey, list[int]] = {}
        self._full: set[BlockKey] = set()
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
            ungrouped = self._sharers[text]
            for score, leader in self._leaders(prepared):
                group = groups[leader]
                if actions not in group.actions and group.does_other(actions):
                    continue
                siblings = self._siblings(ungrouped, prepared, group)
                if len(siblings) == len(ungrouped):
                    continue
                if self._joined[text] is _ALONE:
                    self._joined[text] = -score, leader
                group.take(text, actions, [item for item in ungrouped if item not in siblings], lists)
                ungrouped = siblings
                if not ungrouped:
                    break
            if ungrouped:
                groups[text] = group = _Group()
                group.take(text, actions, ungrouped, lists)
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
        is_sibling = dict.fromkeys([other for _, other in others], False)
        for other in is_sibling:
            self._compared += 1
            is_sibling[other] = not self._scorer.score(prepared, self._prepare(other), siblings=True)
        return [number for number, other in others if is_sibling[other]]

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

    def _blocks_with(self, actions: Iterable[str], features: Features) -> list[BlockKey]:
        """Return actions with objects, the objects that it is about, and the rarest of its words."""
        sense = features.sense
        doing: list[BlockKey] = [(action, object_) for object_, _ in sense.objects for action in actions]
        if sense.actions and sense.actions[0][0] == UNKNOWN_VERB:
            # What may be a verb of its own is like nothing by the rest alone, and would only fill the blocks.
            return doing
        words = [term for term in features.terms if term[0] not in "!:"]
        if len(words) > _RARE_WORDS:
            rarity = self._scorer.rarity
            words = [term for _, term in sorted([(-rarity(term), term) for term in words])[:_RARE_WORDS]]
        return [*doing, *[("", object_) for object_ in sense.heads], *words]

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
            namesakes = of_name.setdefault(name, [])
            if member != leader:
                yield self._link(group, member, own, namesakes, leader)
            if len(namesakes) < _KEPT_PER_NAME:
                namesakes.append(member)

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
        kind: GroupKind = "same-job" if other_app else "same-app-twice"
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

    def _make_link(self, group: int, member: int, other: int, kind: GroupKind, score: float) -> Link:
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
