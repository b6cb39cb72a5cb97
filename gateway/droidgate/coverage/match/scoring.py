"""How alike two capabilities are, and why."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from droidgate.computer.optional_packages import need
from droidgate.coverage.match.features import UNKNOWN_VERB, Features, Sense
from droidgate.coverage.match.words import actions_alike

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
class Signals:
    """What speaks for and against a match, each from 0 to 1.

    Attributes:
        actions: They do the same; 0.4 where one does not say what it does.
        objects: They do it to the same.
        text: BM25 of one's words in the other's, as a part of what it has in its own.
        parameters: Part of the parameters' roles that both have.
        other_action: 1 where both say what they do, and it is not the same.
        other_object: Part of what both do it to that is not the same, 0 where one does not say.
    """

    actions: float
    objects: float
    text: float
    parameters: float
    other_action: float
    other_object: float


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

    def __init__(self, features: Iterable[Features], weights: Weights = WEIGHTS) -> None:
        """Count the terms.

        Args:
            features: Of all capabilities that are compared.
            weights: How much each signal counts.

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
        self._weights = weights
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
            near_actions=_near(sense.actions),
            objects=objects,
            norm=math.sqrt(sum([weight * weight for weight in objects.values()])),
        )
        return prepared

    def signals(self, left: PreparedFeatures, right: PreparedFeatures) -> Signals:
        """Return what speaks for and against a match."""
        actions = _likeness_of_actions(left.sense, right.sense)
        return Signals(
            actions=_UNKNOWN if actions is None else actions,
            objects=_likeness_of_objects(left.sense, right.sense),
            text=self._likeness_of_texts(left, right),
            parameters=_likeness_of_roles(left.features.roles, right.features.roles),
            other_action=float(actions == 0),
            other_object=_difference_of_heads(left.sense.sense.heads, right.sense.sense.heads),
        )

    def score(self, left: PreparedFeatures, right: PreparedFeatures, *, siblings: bool = False) -> float:
        """Return how surely two capabilities serve one use case, from 0 to 1; 0 where they do not match.

        Siblings are of one app and protocol. An app hardly lists one thing twice: they match only where their
        names mean the same.
        """
        if siblings and left.features.name != right.features.name:
            return 0.0
        weights = self._weights
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
    return _likeness(mine, theirs, _near(mine), _near(theirs)) == 0


def _near(actions: tuple[str, ...]) -> frozenset[str]:
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
    both = sum([weight * theirs[thing] for thing, weight in left.sense.objects if thing in theirs])
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
