import hashlib
import random
import sys
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given, strategies as st

from droidgate.coverage.match.capability_groups import (
    COMPARED,
    THRESHOLD,
    WEIGHTS,
    Matching,
    match_capabilities,
)
from droidgate.coverage.match.features import CapabilityText
from droidgate_mappings.model.errors import UsageError
from gateway.coverage_match.fitting import are_siblings, fitted_weights, prepared_half
from gateway.coverage_match.labelled_pairs import DIFFERENT, HALVES, capability_text, labelled_pairs
from gateway.synthetic_ecosystem.names import Names
from requirements_of_tests import CHECKOUT

DOCUMENT = CHECKOUT / "docs/internals/matching.md"


def _capability(
    key: str,
    name: str,
    description: str | None = None,
    parameters: str = "",
    *,
    package: str | None = None,
    protocol: str = "mmcp",
) -> CapabilityText:
    return CapabilityText(key, package or f"com.{key}", protocol, name, description, parameters)


def _match_half(half: str) -> Matching:
    sides = [side for pair in labelled_pairs(half) for side in (pair.left, pair.right)]
    return match_capabilities(capability_text(side) for side in sides)


def _figures(half: str, way: str) -> tuple[int, int, int]:
    """Return how many pairs are rightly matched, wrongly matched, and missed."""
    scorer, prepared = prepared_half(half)
    groups = {key: number for number, keys in enumerate(_match_half(half).groups) for key in keys}
    right = wrong = missed = 0
    for pair in labelled_pairs(half):
        left, other = pair.keys
        if way == "pairs":
            score = scorer.score(prepared[left], prepared[other], siblings=are_siblings(pair))
            found = score >= THRESHOLD
        else:
            found = groups.get(left, left) == groups.get(other, other)
        same = pair.label != DIFFERENT
        right += same and found
        wrong += found and not same
        missed += same and not found
    return right, wrong, missed


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("way", ["pairs", "groups"])
def test_the_document_says_the_precision_and_the_recall_that_are_measured(half: str, way: str) -> None:
    right, wrong, missed = _figures(half, way)
    precision, recall = right / (right + wrong), right / (right + missed)
    line = f"| {half} | {way} | {right} | {wrong} | {missed} | {precision:.3f} | {recall:.3f} |"
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("half", HALVES)
def test_the_document_says_the_figures_between_apps_too(half: str) -> None:
    """An app's own different capabilities are distinguished by a rule alone: without them it is harder."""
    pairs = [pair for pair in labelled_pairs(half) if pair.left["package"] != pair.right["package"]]
    groups = {key: number for number, keys in enumerate(_match_half(half).groups) for key in keys}
    outcomes = Counter(
        (pair.label != DIFFERENT, groups.get(pair.keys[0], 0.5) == groups.get(pair.keys[1], 1.5))
        for pair in pairs
    )
    right, wrong, missed = outcomes[True, True], outcomes[False, True], outcomes[True, False]
    precision, recall = right / (right + wrong), right / (right + missed)
    line = f"| {half} | between apps | {right} | {wrong} | {missed} | {precision:.3f} | {recall:.3f} |"
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()
    assert outcomes[False, True] + outcomes[False, False] >= 25


@pytest.mark.parametrize("half", HALVES)
def test_the_document_says_how_many_kinds_are_right(half: str) -> None:
    matching = _match_half(half)
    groups = {key: number for number, keys in enumerate(matching.groups) for key in keys}
    kinds = {link.key: link.kind for link in matching.links}
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    for label in ("near-duplicate", "same-app-twice"):
        found = [
            {kinds.get(key) for key in pair.keys}
            for pair in labelled_pairs(half)
            if pair.label == label and groups.get(pair.keys[0]) == groups.get(pair.keys[1]) is not None
        ]
        assert f"| {half} | {label} | {len(found)} | {sum(label in item for item in found)} |" in lines


@pytest.mark.slow
def test_the_weights_are_what_fitting_the_tuned_half_gives() -> None:
    for name, weight in fitted_weights().items():
        assert getattr(WEIGHTS, name) == pytest.approx(weight, abs=0.051), name


def test_a_match_crosses_protocols_and_says_why() -> None:
    matching = match_capabilities(
        [
            _capability(
                "a", "create_note", "Makes a note.", "title:string, body:string", protocol="mobile-mcp"
            ),
            _capability(
                "b", "com.b.Notes#addMemo", "Adds a memo.", "heading:string", protocol="appfunctions"
            ),
        ]
    )
    (link,) = matching.links
    assert matching.groups == ((link.match, link.key),)
    assert link.kind == "same-use-case"
    assert set(link.terms) == {"!create", ":note"}
    assert link.parameters == ("title",)
    assert THRESHOLD <= link.score <= 1


def test_an_app_does_not_list_one_thing_twice_under_names_of_other_meaning() -> None:
    def listed(package: str) -> list[CapabilityText]:
        return [
            _capability("a", "open_films_page", "Opens the page.", package="com.tv"),
            _capability("b", "open_sports_page", "Opens the page.", package=package),
        ]

    assert match_capabilities(listed("com.tv")).groups == ()
    assert match_capabilities([*listed("com.tv"), _capability("c", "open_films_page", "Opens it.")]).links


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("turn_on_light", "turn_off_light"),
        ("create_note", "delete_note"),
        ("send_money", "send_message"),
        ("send_fax", "send_letter"),
        ("lock_door", "unlock_door"),
    ],
)
def test_shared_words_are_no_match_where_the_meaning_differs(first: str, other: str) -> None:
    assert match_capabilities([_capability("a", first), _capability("b", other)]).groups == ()


def test_one_app_in_two_protocols_is_the_same_app_twice() -> None:
    both = [
        _capability("a", "set_alarm", "Sets an alarm.", package="com.clock", protocol="mmcp"),
        _capability("b", "setAlarm", "Sets an alarm.", package="com.clock", protocol="appfunctions"),
    ]
    (link,) = match_capabilities(both).links
    assert link.kind == "same-app-twice"


def test_an_edition_of_another_package_is_a_near_duplicate() -> None:
    words = "Books a table in a restaurant for the user and some guests."
    both = [
        _capability("a", "book_table", words, "time:string"),
        _capability("b", "book_table", words, "time:string, guests?:int32"),
    ]
    (link,) = match_capabilities(both).links
    assert link.kind == "near-duplicate"


def test_unknown_words_match_too() -> None:
    both = [
        _capability("a", "transpose_score", "Transposes a musical score.", "semitones:int32"),
        _capability("b", "transposeScore", "Transposes the score.", "semitones:int32"),
    ]
    assert len(match_capabilities(both).groups) == 1


def test_every_member_but_the_leader_has_one_link_within_its_group() -> None:
    matching = _match_half("held-out")
    for number, keys in enumerate(matching.groups):
        links = [link for link in matching.links if link.group == number]
        assert [link.key for link in links] == list(keys[1:])
        assert all(link.match in keys and link.match != link.key for link in links)
        assert all(THRESHOLD <= link.score <= 1 for link in links)


def test_the_outcome_does_not_depend_on_the_order() -> None:
    texts = [capability_text(side) for pair in labelled_pairs("tune") for side in (pair.left, pair.right)]
    shuffled = texts[:]
    random.Random(5).shuffle(shuffled)
    assert match_capabilities(texts) == match_capabilities(shuffled)


@pytest.mark.slow
def test_reading_faster_changes_no_result() -> None:
    """A change of a digest is one of meaning; the last ones: words count in their own forms, not by stems."""
    assert _digest(_match_half("tune")) == "79cfb848739a24b1"
    assert _digest(_match_half("held-out")) == "ea11c2eb030523db"
    assert _digest(match_capabilities(_made_capabilities(20_000))) == "d56755b12e179e62"


def _made_capabilities(count: int) -> Iterator[CapabilityText]:
    """Yield capabilities of apps with eight each, in three protocols."""
    names = Names(seed=7)
    for number in range(count):
        made, app = names.capability(), number // 8
        protocol = ("mobile-mcp", "mmcp", "appfunctions")[app % 3]
        name = f"com.app{app}.Functions#{made.camel_name}" if app % 3 == 2 else made.snake_name
        shape = ", ".join(f"{parameter.name}:{parameter.kind}" for parameter in made.parameters)
        key = f"com.app{app}/{protocol}/{number}"
        yield CapabilityText(key, f"com.app{app}", protocol, name, made.description, shape)


def _digest(matching: Matching) -> str:
    return hashlib.sha256(repr(matching).encode()).hexdigest()[:16]


@pytest.mark.slow
def test_a_name_that_everybody_has_costs_no_more_for_each() -> None:
    def alike(count: int) -> Matching:
        words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}x" for n in range(count)]
        return match_capabilities(
            _capability(f"k{n:05}", f"get_{word}_item", f"Gets the {word} {word[::-1]}.", "id:string")
            for n, word in enumerate(words)
        )

    few, many = alike(1_000), alike(8_000)
    assert many.compared <= many.capabilities * (COMPARED + 1)
    assert many.compared / many.capabilities <= 1.3 * few.compared / few.capabilities + 1


def test_nothing_matches_nothing() -> None:
    matching = match_capabilities([])
    assert (matching.groups, matching.links, matching.capabilities) == ((), (), 0)


@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.none() | st.text(max_size=60), st.text(max_size=40)), max_size=8
    )
)
def test_any_text_is_matched_without_an_error(texts: list[tuple[str, str | None, str]]) -> None:
    made = [_capability(f"k{place}", *item) for place, item in enumerate(texts)]
    matching = match_capabilities(made)
    counted = Counter(key for keys in matching.groups for key in keys)
    assert all(count == 1 for count in counted.values())


def test_without_rapidfuzz_the_way_to_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.fuzz", None)
    with pytest.raises(UsageError, match=r"\[coverage\]"):
        match_capabilities([_capability("a", "x")])
