import re
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.values.patterns import (
    MAX_PATTERN,
    MAX_STATES,
    UnsupportedPatternError,
    compile_pattern,
)

ATOMS = [
    "a", "b", "0", "_", "[a-c]", "[^a]", "[0-9_]", r"\d", r"\w", r"\D", r"\W", r"\.", r"\-", r"\x41", "é",
]  # fmt: skip


def patterns() -> st.SearchStrategy[str]:
    """Patterns that Python's engine understands as ECMA-262 does, on text of one line."""

    def grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        group = st.builds("(?:{})".format, inner) | st.builds("({})".format, inner)
        repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "+?"])
        return st.one_of(
            st.builds("{}{}".format, group, repeat),
            st.builds("{}|{}".format, inner, inner),
            st.builds("{}{}".format, inner, inner),
        )

    body = st.recursive(st.sampled_from(ATOMS), grow, max_leaves=6)
    return st.builds("{}{}{}".format, st.sampled_from(["", "^"]), body, st.sampled_from(["", "$"]))


@given(pattern=patterns(), text=st.text(st.sampled_from("abcA0_.-é x"), max_size=8))
def test_a_pattern_matches_what_pythons_engine_does_where_both_mean_the_same(pattern: str, text: str) -> None:
    try:
        expected = re.search(pattern, text, re.ASCII) is not None
    except re.error:
        return
    assert compile_pattern(pattern).matches(text) is expected


@pytest.mark.parametrize(("pattern", "text", "expected"), [
    ("^a$", "a\n", False),
    ("^.$", "\u2028", False),
    ("^.$", "\x85", True),
    (r"^\d$", "٣", False),
    (r"^\w$", "é", False),
    (r"^\s$", "\ufeff", True),
    (r"^\s$", "\x1c", False),
    ("^.$", "😀", True),
    (r"^\u{1F600}$", "😀", True),
    (r"^[\u{1F600}-\u{1F64F}]$", "😀", True),
    ("^[^]$", "\n", True),
    ("[]", "a", False),
    (r"^[\b]$", "\b", True),
    ("^a{2,3}$", "aaaa", False),
    ("(?<year>[0-9]{4})-[0-9]{2}", "on 2026-11-21", True),
    ("", "", True),
    ("^(a|b|)$", "", True),
])  # fmt: skip
def test_it_means_what_ecma_262_says_where_engines_differ(pattern: str, text: str, *, expected: bool) -> None:
    assert compile_pattern(pattern).matches(text) is expected


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a)\1", "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(?i)a", r"\ba\b", r"\p{L}", "a**", "*a", "a{2", "(a",
        "a)", "[a", "[z-a]", r"[\d-z]", r"\ud83d", r"\q", "^*", "a{2000}", "(?<1x>a)", "\\", "a{3,2}", r"\cA",
    ],
)  # fmt: skip
def test_what_is_outside_the_subset_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError):
        compile_pattern(pattern)


def test_a_pattern_is_bounded_in_length_states_and_depth() -> None:
    for pattern in (
        "a" * (MAX_PATTERN + 1),
        "(a{1000}){1000}",
        "a{1000}" * (MAX_STATES // 500),
        "(" * 60 + ")" * 60,
    ):
        with pytest.raises(UnsupportedPatternError):
            compile_pattern(pattern)


def test_a_pattern_that_makes_backtracking_engines_run_for_ever_ends() -> None:
    assert not compile_pattern("^(a+)+$").matches("a" * 5_000 + "b")


def test_a_text_too_long_for_its_pattern_is_refused_instead_of_left_running() -> None:
    with pytest.raises(UnsupportedPatternError):
        compile_pattern("a{1000}").matches("a" * 100_000)


@given(text=st.text(max_size=30))
def test_any_text_as_a_pattern_compiles_or_is_refused(text: str) -> None:
    with suppress(UnsupportedPatternError):
        compile_pattern(text).matches(text)
