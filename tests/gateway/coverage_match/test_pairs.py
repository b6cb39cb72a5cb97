import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema

from gateway.coverage_match.labelled_pairs import (
    DIFFERENT,
    HALVES,
    SCHEMA_FILE,
    Pair,
    key_of,
    labelled_pairs,
    read_lines,
)
from requirements_of_tests import require

_POSITIVE = {"same-use-case", "near-duplicate", "same-app-twice"}
_FIRST_HALVES = HALVES[:2]


def _all_pairs() -> list[Pair]:
    return [pair for half in HALVES for pair in labelled_pairs(half)]


def _capabilities() -> list[dict[str, Any]]:
    return [side for pair in _all_pairs() for side in (pair.left, pair.right)]


def test_each_line_fits_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    for line in read_lines("pairs"):
        validator.validate(line)


def test_there_are_enough_pairs_of_each_kind_in_both_halves() -> None:
    assert len(_all_pairs()) >= 240
    for half in _FIRST_HALVES:
        pairs = labelled_pairs(half)
        labels = Counter(pair.label for pair in pairs)
        hard_negatives = [pair for pair in pairs if pair.label == DIFFERENT and pair.hard]
        assert len(pairs) >= 150
        assert len(hard_negatives) >= 50
        assert labels["same-use-case"] >= 50
        assert labels["near-duplicate"] >= 9
        assert labels["same-app-twice"] >= 6


def test_hard_positives_say_what_makes_them_hard() -> None:
    for pair in _all_pairs():
        assert bool(pair.traits) == (pair.hard and pair.label in _POSITIVE), pair.id
    traits = Counter(trait for pair in labelled_pairs("held-out") for trait in pair.traits)
    assert min(traits["other-words"], traits["other-language"], traits["untyped"]) >= 8


def test_an_untyped_side_names_no_types() -> None:
    for pair in _all_pairs():
        if "untyped" in pair.traits:
            kinds = [
                {parameter["kind"] for parameter in side["parameters"]} - {"any"}
                for side in (pair.left, pair.right)
            ]
            assert not all(kinds), pair.id


def test_no_app_is_in_both_halves() -> None:
    tuned, untuned = (
        {side["package"] for pair in labelled_pairs(half) for side in (pair.left, pair.right)}
        for half in _FIRST_HALVES
    )
    assert len(tuned) >= 40
    assert len(untuned) >= 40
    assert not tuned & untuned


def test_no_capability_is_declared_in_two_ways() -> None:
    seen: dict[str, dict[str, Any]] = {}
    for capability in _capabilities():
        assert seen.setdefault(key_of(capability), capability) == capability


def test_ids_and_pairs_are_unique() -> None:
    pairs = _all_pairs()
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert len({frozenset(pair.keys) for pair in pairs}) == len(pairs)
    assert all(len(set(pair.keys)) == 2 for pair in pairs)


def test_same_app_twice_is_one_app_and_the_other_matches_are_two() -> None:
    for pair in _all_pairs():
        one_app = pair.left["package"] == pair.right["package"]
        if pair.label == "same-app-twice":
            assert one_app, pair.id
        elif pair.label != DIFFERENT:
            assert not one_app, pair.id


def test_no_different_pair_is_joined_by_a_chain_of_same_ones() -> None:
    leaders = {key_of(capability): key_of(capability) for capability in _capabilities()}

    def leader(key: str) -> str:
        while leaders[key] != key:
            key = leaders[key]
        return key

    for pair in _all_pairs():
        if pair.label != DIFFERENT:
            left, right = map(leader, pair.keys)
            leaders[left] = right
    for pair in _all_pairs():
        if pair.label == DIFFERENT:
            left, right = map(leader, pair.keys)
            assert left != right, pair.id


def test_all_app_types_and_protocols_take_part() -> None:
    for half in _FIRST_HALVES:
        sides = [side for pair in labelled_pairs(half) for side in (pair.left, pair.right)]
        assert len({side["app_type"] for side in sides}) == 12
        assert {"mobile-mcp", "mmcp", "appfunctions"} <= {side["protocol"] for side in sides}


def test_no_sentence_is_copied_from_the_corpus() -> None:
    corpus: Path = require("corpus")
    text = "\n".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(corpus.rglob("*"))
        if path.is_file()
    )
    texts = {item["description"] for item in _capabilities()} | {
        parameter["description"] for item in _capabilities() for parameter in item["parameters"]
    }
    assert [item for item in texts if item and len(item.split()) >= 5 and item in text] == []
