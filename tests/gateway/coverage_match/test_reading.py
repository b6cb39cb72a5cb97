import random
from collections.abc import Iterator

import pytest

from droidgate.coverage.match import match_words
from droidgate.coverage.match.capability_groups import Scorer
from droidgate.coverage.match.features import (
    CapabilityText,
    declared_text,
    features_of,
    parts_of,
    read_capabilities,
)
from droidgate.coverage.match.match_words import Vocabulary
from gateway.coverage_match.labelled_pairs import capability_text, labelled_pairs
from gateway.synthetic_ecosystem.names import Names


def _made(count: int) -> Iterator[CapabilityText]:
    names = Names(seed=3)
    for number in range(count):
        made = names.capability()
        shape = ", ".join(f"{parameter.name}:{parameter.kind}" for parameter in made.parameters)
        yield CapabilityText(
            f"k{number:06}", f"com.app{number // 8}", "mmcp", made.snake_name, made.description, shape
        )


def test_capabilities_are_read_by_their_keys_each_once() -> None:
    texts = list(_made(300))
    mixed = [*texts, *texts[:40]]
    random.Random(2).shuffle(mixed)
    kept, other = read_capabilities(texts), read_capabilities(mixed)
    assert kept.keys == other.keys == [item.key for item in texts]
    assert kept.text_of == other.text_of
    assert [item.text for item in kept.features] == [item.text for item in other.features]
    assert kept.names == other.names


def test_words_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [declared_text(item) for item in _made(300)]
    vocabulary = Vocabulary()
    expected = [parts_of(text, vocabulary) for text in texts]
    assert len(vocabulary._known) > 20
    monkeypatch.setattr(match_words, "MOST_KEPT", 20)
    forgetful = Vocabulary()
    assert [parts_of(text, forgetful) for text in texts] == expected
    assert max(len(forgetful._known), len(forgetful._parts), len(forgetful.roles)) <= 20


def test_the_order_in_which_rarities_are_added_changes_no_sum() -> None:
    """A set yields its words in an order that differs from run to run."""
    sides = [side for pair in labelled_pairs("tune") for side in (pair.left, pair.right)]
    vocabulary = Vocabulary()
    features = [features_of(declared_text(capability_text(side)), vocabulary) for side in sides]
    scorer = Scorer(features)
    rarities = [
        scorer.rarity(term) for term in sorted({term for feature in features for term in feature.terms})
    ]
    sums = set()
    for seed in range(50):
        random.Random(seed).shuffle(rarities)
        sums.add(sum(rarities))
    assert len(sums) == 1
