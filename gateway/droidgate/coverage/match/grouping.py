"""Groups of capabilities that serve one use case, found without comparing all with all.

Each declared text is read once. The texts are taken in one order that does not depend on how they came; each
is compared with a few leaders, those that it shares most blocks with, and joins the best or becomes a leader.
A block is an action with an object, an object, or a rare word; it lists a bounded number of leaders, so that
what one capability costs does not depend on how many there are, also where a few names are everybody's.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.coverage.match.features import (
    CapabilityText,
    Features,
    declared_text,
    features_of,
    local_name,
)
from droidgate.coverage.match.scoring import Prepared, Scorer
from droidgate.coverage.match.words import Vocabulary, actions_alike

LEADERS_PER_BLOCK: Final = 32
COMPARED: Final = 8

_RARE_WORDS: Final = 3
_KEPT_PER_NAME: Final = 4
_SHARERS_ASKED: Final = 8

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
    capabilities: Iterable[CapabilityText], *, more_words: Mapping[str, str] | None = None
) -> Matching:
    """Match capabilities across apps and protocols.

    The outcome depends on the set of capabilities alone, not on their order.

    Args:
        capabilities: All of them; a key that comes twice is taken once.
        more_words: Further words, each with a word of the taxonomy that means the same (see `vectors`).

    Raises:
        UsageError: rapidfuzz is not installed.
    """
    with _without_collections():
        return _Run(capabilities, Vocabulary(more_words)).matching()


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep the garbage collector from looking through millions of parts: they hold no cycles."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Run:
    """One matching. Capabilities and texts are numbers here: positions in lists."""

    def __init__(self, capabilities: Iterable[CapabilityText], vocabulary: Vocabulary) -> None:
        rows = {
            one.key: (one.package, one.protocol, local_name(one.name), declared_text(one))
            for one in capabilities
        }
        self._keys = sorted(rows)
        self._packages = [rows[key][0] for key in self._keys]
        self._names = [rows[key][2] for key in self._keys]
        lists: dict[tuple[str, str], int] = {}
        self._lists = [lists.setdefault(rows[key][:2], len(lists)) for key in self._keys]
        numbers: dict[str, int] = {}
        self._text_of = [numbers.setdefault(rows[key][3], len(numbers)) for key in self._keys]
        rows.clear()
        self._features = [features_of(text, vocabulary) for text in numbers]
        self._sharers: list[list[int]] = [[] for _ in self._features]
        for number, text in enumerate(self._text_of):
            self._sharers[text].append(number)
        self._scorer = Scorer(self._features)
        self._prepared: dict[int, Prepared] = {}
        self._joined = [0.0] * len(self._features)
        self._blocks: dict[tuple[str, ...], list[int]] = {}
        self._full: set[tuple[str, ...]] = set()
        self._compared = 0

    def matching(self) -> Matching:
        groups = self._grouped_texts()
        members = []
        for texts in groups.values():
            listed = [number for text in texts for number in self._sharers[text]]
            if len(listed) > 1:
                members.append(listed)
        members.sort(key=lambda listed: self._keys[listed[0]])
        links = [
            link for number, listed in enumerate(members) for link in self._links_of_group(number, listed)
        ]
        return Matching(
            groups=tuple(tuple(self._keys[one] for one in listed) for listed in members),
            links=tuple(links),
            capabilities=len(self._keys),
            compared=self._compared,
            full_blocks=len(self._full),
        )

    def _grouped_texts(self) -> dict[int, list[int]]:
        """Return the texts of each group by its leader's text, the leader first."""
        groups: dict[int, list[int]] = {}
        lists_of: dict[int, dict[int, int]] = {}
        for text in self._order():
            prepared = self._scorer.prepare(self._features[text])
            fitting = (
                (score, leader)
                for score, leader in self._leaders(prepared)
                if not self._has_sibling(text, prepared, lists_of[leader])
            )
            score, leader = next(fitting, (0.0, text))
            self._joined[text] = -score
            if leader == text:
                groups[text], lists_of[text] = [], {}
                self._prepared[text] = prepared
                self._list_leader(text, prepared.features)
            groups[leader].append(text)
            for number in self._sharers[text]:
                lists_of[leader].setdefault(self._lists[number], text)
        return groups

    def _has_sibling(self, text: int, prepared: Prepared, lists: dict[int, int]) -> bool:
        """Tell whether an app lists another capability in the same protocol in a group, and means another."""
        for number in self._sharers[text][:_SHARERS_ASKED]:
            other = lists.get(self._lists[number])
            if other is not None:
                self._compared += 1
                if not self._scorer.score(prepared, self._prepare(other), siblings=True):
                    return True
        return False

    def _order(self) -> list[int]:
        """Return the texts, those of the most usual meaning first: they make the best leaders."""
        meanings = [(one.actions[:1], one.heads) for one in self._features]
        counted = Counter(meanings)
        ranks = [
            (-counted[meaning], -len(sharers), sharers[0])
            for meaning, sharers in zip(meanings, self._sharers, strict=True)
        ]
        return sorted(range(len(ranks)), key=ranks.__getitem__)

    def _prepare(self, text: int) -> Prepared:
        return self._prepared.get(text) or self._scorer.prepare(self._features[text])

    def _leaders(self, prepared: Prepared) -> list[tuple[float, int]]:
        """Return the leaders that a text could follow with their scores below zero, the best first."""
        find = self._blocks.get
        shared: Counter[int] = Counter()
        for block in self._looked_up(prepared.features):
            found = find(block)
            if found:
                shared.update(found)
        candidates: Iterable[int] = shared
        if len(shared) > COMPARED:
            # Sorting is stable: of those that share as many blocks the first leaders come first.
            candidates = sorted(sorted(shared), key=shared.__getitem__, reverse=True)[:COMPARED]
            self._compared += COMPARED
        else:
            self._compared += len(shared)
        score, leaders = self._scorer.score, self._prepared
        scored = [(-score(prepared, leaders[leader]), leader) for leader in candidates]
        return sorted([one for one in scored if one[0]])

    def _list_leader(self, text: int, features: Features) -> None:
        for block in self._own_blocks(features):
            listed = self._blocks.setdefault(block, [])
            if len(listed) < LEADERS_PER_BLOCK:
                listed.append(text)
            else:
                self._full.add(block)

    def _own_blocks(self, features: Features) -> list[tuple[str, ...]]:
        return self._blocks_with(features.actions, features)

    def _looked_up(self, features: Features) -> list[tuple[str, ...]]:
        alike = actions_alike()
        actions = dict.fromkeys(features.actions)
        for action in features.actions[:1]:
            actions.update(dict.fromkeys(sorted(alike[action])))
        return self._blocks_with(actions, features)

    def _blocks_with(self, actions: Iterable[str], features: Features) -> list[tuple[str, ...]]:
        """Return actions with objects, the objects that it is about, and the rarest of its words."""
        words = [term for term in features.terms if term[0] not in "!:"]
        if len(words) > _RARE_WORDS:
            rarity = self._scorer.rarity
            words = [term for _, term in sorted([(-rarity(term), term) for term in words])[:_RARE_WORDS]]
        return [
            *[(action, thing) for thing, _ in features.objects for action in actions],
            *[("", thing) for thing in sorted(features.heads)],
            *[(word,) for word in words],
        ]

    def _links_of_group(self, group: int, members: list[int]) -> Iterator[Link]:
        """Yield a link for each member but the first: with one of its own app, else one that is named alike,
        else the leader.
        """
        of_app: dict[str, int] = {}
        of_name: dict[str, list[int]] = {}
        leader = members[0]
        for member in members:
            package, name = self._packages[member], self._names[member]
            own = of_app.setdefault(package, member)
            named = of_name.setdefault(name, [])
            if member != leader:
                yield self._link(group, member, own, named, leader)
            if len(named) < _KEPT_PER_NAME:
                named.append(member)

    def _link(self, group: int, member: int, own: int, named: list[int], leader: int) -> Link:
        score = self._score(member, own) if own != member else 0.0
        if score:
            return self._told(group, member, own, "same-app-twice", score)
        mine = self._features[self._text_of[member]]
        for other in dict.fromkeys((*named, leader)):
            theirs = self._features[self._text_of[other]]
            if self._packages[other] != self._packages[member] and (
                mine is theirs or self._scorer.is_near_duplicate(mine, theirs)
            ):
                score = self._score_with(leader, member, other)
                if score:
                    return self._told(group, member, other, "near-duplicate", score)
        other_app = self._packages[member] != self._packages[leader]
        kind: Kind = "same-use-case" if other_app else "same-app-twice"
        return self._told(group, member, leader, kind, self._score_with(leader, member, leader))

    def _score_with(self, leader: int, member: int, other: int) -> float:
        """Return the score of two members of a leader's group, remembered where the other is the leader."""
        text = self._text_of[member]
        is_told = other == leader and text != self._text_of[leader]
        if is_told and self._lists[member] != self._lists[leader]:
            return self._joined[text]
        return self._score(member, other)

    def _score(self, member: int, other: int) -> float:
        """Return the score of two members; equal texts are surely the same."""
        mine, theirs = self._text_of[member], self._text_of[other]
        if mine == theirs:
            return 1.0
        siblings = self._lists[other] == self._lists[member]
        return self._scorer.score(self._prepare(mine), self._prepare(theirs), siblings=siblings)

    def _told(self, group: int, member: int, other: int, kind: Kind, score: float) -> Link:
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
