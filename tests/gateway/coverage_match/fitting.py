"""How the matcher's weights were found: logistic regression over the half `tune`, in plain Python."""

import math
from functools import cache

from droidgate.coverage.match import capability_groups
from droidgate.coverage.match.capability_groups import PreparedFeatures, Scorer
from droidgate.coverage.match.features import declared_text, features_of
from droidgate.coverage.match.match_words import Vocabulary
from gateway.coverage_match.labelled_pairs import DIFFERENT, Pair, capability_text, labelled_pairs

_SIGNALS = ("actions", "objects", "text", "parameters", "other_action", "other_object")
_AGAINST = {"other_action", "other_object"}
_STEPS = 6_000
_RATE = 0.01
_SHRINKING = 0.3


@cache
def prepared_half(half: str) -> tuple[Scorer, dict[str, PreparedFeatures]]:
    vocabulary = Vocabulary()
    features = {
        key: features_of(declared_text(capability_text(side)), vocabulary)
        for pair in labelled_pairs(half)
        for key, side in zip(pair.keys, (pair.left, pair.right), strict=True)
    }
    scorer = Scorer(features.values())
    return scorer, {key: scorer.prepare(item) for key, item in features.items()}


def are_siblings(pair: Pair) -> bool:
    return all(pair.left[part] == pair.right[part] for part in ("package", "protocol"))


def signals(scorer: Scorer, left: PreparedFeatures, right: PreparedFeatures) -> list[float]:
    """Return what speaks for and against a match, each from 0 to 1, by `_SIGNALS`."""
    groups = capability_groups
    actions = groups._likeness_of_actions(left.sense, right.sense)
    return [
        groups._UNKNOWN if actions is None else actions,
        groups._likeness_of_objects(left.sense, right.sense),
        scorer._likeness_of_texts(left, right),
        groups._likeness_of_roles(left.features.roles, right.features.roles),
        float(actions == 0),
        groups._difference_of_heads(left.sense.sense.heads, right.sense.sense.heads),
    ]


def fitted_weights() -> dict[str, float]:
    """Return the weights; one that would count for what speaks against, or the other way round, is 0."""
    scorer, prepared = prepared_half("tune")
    rows = []
    for pair in labelled_pairs("tune"):
        left, right = (prepared[key] for key in pair.keys)
        rows.append((signals(scorer, left, right), pair.label != DIFFERENT))
    bias, weights = 0.0, [0.0] * len(_SIGNALS)
    for _ in range(_STEPS):
        errors = [
            1 / (1 + math.exp(-bias - sum(map(float.__mul__, weights, values)))) - match
            for values, match in rows
        ]
        bias -= _RATE * sum(errors)
        for place, name in enumerate(_SIGNALS):
            slope = sum(error * values[place] for error, (values, _) in zip(errors, rows, strict=True))
            weight = weights[place] - _RATE * (slope + _SHRINKING * weights[place])
            weights[place] = min(weight, 0.0) if name in _AGAINST else max(weight, 0.0)
    return {"bias": bias, **dict(zip(_SIGNALS, weights, strict=True))}
