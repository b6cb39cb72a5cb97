"""The labelled pairs fit their schema and do not contradict each other; no app is in both halves."""

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


def _sides(*halves: str) -> list[dict[str, Any]]:
    return [side for half in halves for pair in labelled_pairs(half) for side in (pair.left, pair.right)]


def test_each_line_fits_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA_FILE.read_text(encoding="utf-8")))
    for line in read_lines("pairs"):
        validator.validate(line)


def test_there_are_enough_pairs_of_each_kind_in_both_halves() -> None:
    assert len(_all_pairs()) >= 240
    for half in _FIRST_HALVES:
        pairs, sides = labelled_pairs(half), _sides(half)
        labels = Counter(pair.label for pair in pairs)
        assert len(pairs) >= 150
        assert sum(pair.label == DIFFERENT and pair.hard for pair in pairs) >= 50
        assert labels["same-use-case"] >= 50
        assert labels["near-duplicate"] >= 9
        assert labels["same-app-twice"] >= 6
        assert len({side["app_type"] for side in sides}) == 12
        assert {"mobile-mcp", "mmcp", "appfunctions"} <= {side["protocol"] for side in sides}
    traits = Counter(trait for pair in labelled_pairs("held-out") for trait in pair.traits)
    assert min(traits["other-words"], traits["other-language"], traits["untyped"]) >= 8


def test_each_pair_is_what_its_label_and_its_traits_say() -> None:
    for pair in _all_pairs():
        assert bool(pair.traits) == (pair.hard and pair.label in _POSITIVE), pair.id
        if pair.label != DIFFERENT:
            one_app = pair.left["package"] == pair.right["package"]
            assert one_app == (pair.label == "same-app-twice"), pair.id
        if "untyped" in pair.traits:
            kinds = [{item["kind"] for item in side["parameters"]} for side in (pair.left, pair.right)]
            assert not all(item - {"any"} for item in kinds), pair.id


def test_no_app_is_in_both_halves() -> None:
    tuned, untuned = ({side["package"] for side in _sides(half)} for half in _FIRST_HALVES)
    assert min(len(tuned), len(untuned)) >= 40
    assert not tuned & untuned


def test_ids_pairs_and_declarations_are_unique() -> None:
    pairs = _all_pairs()
    assert len({pair.id for pair in pairs}) == len(pairs)
    assert len({frozenset(pair.keys) for pair in pairs}) == len(pairs)
    assert all(len(set(pair.keys)) == 2 for pair in pairs)
    seen: dict[str, dict[str, Any]] = {}
    for capability in _sides(*HALVES):
        assert seen.setdefault(key_of(capability), capability) == capability


def test_no_different_pair_is_joined_by_a_chain_of_same_ones() -> None:
    leaders = {key_of(capability): key_of(capability) for capability in _sides(*HALVES)}

    def leader(key: str) -> str:
        while leaders[key] != key:
            key = leaders[key]
        return key

    for pair in _all_pairs():
        if pair.label != DIFFERENT:
            left, right = map(leader, pair.keys)
            leaders[left] = right
    joined = [
        pair.id for pair in _all_pairs() if pair.label == DIFFERENT and len({*map(leader, pair.keys)}) == 1
    ]
    assert joined == []


def test_no_sentence_is_copied_from_the_corpus() -> None:
    corpus: Path = require("corpus")
    files = [path for path in sorted(corpus.rglob("*")) if path.is_file()]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in files)
    described = [item for side in _sides(*HALVES) for item in (side, *side["parameters"])]
    texts = {item["description"] for item in described}
    assert [item for item in texts if item and len(item.split()) >= 5 and item in text] == []
