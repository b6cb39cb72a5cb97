"""The labelled texts, and the figures that the docs state about them."""

import json
import runpy
from collections import Counter

import pytest

from droidgate_mappings.text_safety import phrases
from droidgate_mappings.text_safety.phrase_forms import latin_of, lines_of, one_line_of
from requirements_of_tests import CHECKOUT

TEXTS = CHECKOUT / "tests" / "mappings" / "text_safety" / "labelled_texts.jsonl"
ROWS = [json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines()]


def test_each_part_of_the_set_has_as_many_benign_texts_as_injected_ones() -> None:
    counts = Counter((row["part"], row["label"]) for row in ROWS)
    assert len(ROWS) >= 320
    assert len(counts) == 6
    for part, _ in counts:
        assert counts[part, "benign"] == counts[part, "injected"]
    assert len({row["text"] for row in ROWS}) == len(ROWS)


def test_the_set_has_injections_in_many_languages_and_beyond_the_longest_resource() -> None:
    injected = [row for row in ROWS if row["label"] == "injected"]
    assert len({row["language"] for row in injected}) >= 12
    assert any(row.get("after", 0) > 65_536 for row in injected)


@pytest.mark.slow
def test_the_docs_state_what_the_rules_do_with_the_set() -> None:
    measured = runpy.run_path(str(CHECKOUT / "scripts" / "measure_text_marks.py"))["measured"]()
    page = (CHECKOUT / "docs" / "concepts" / "text-marks.md").read_text(encoding="utf-8")
    assert f"<!-- text marks -->\n{measured}<!-- end of text marks -->\n" in page


def test_no_expression_matches_a_text_without_a_hint_of_its_meaning() -> None:
    for row in ROWS:
        line = one_line_of(latin_of(lines_of(row["text"])))
        meanings = {meaning for meaning, pattern in phrases._MARKS_OF_TEXT if pattern.search(line)}
        assert meanings <= set(phrases.injection_marks(row["text"])), row["text"]
