import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import pytest
from hypothesis import given, strategies as st

from droidgate.coverage.match import features, match_words
from droidgate.coverage.match.capability_groups import (
    COMPARED,
    THRESHOLD,
    WEIGHTS,
    Matching,
    Scorer,
    match_reading,
)
from droidgate.coverage.match.features import (
    CapabilityText,
    declared_text,
    features_of,
    parts_of,
    read_capabilities,
)
from droidgate.coverage.match.match_words import Vocabulary
from droidgate_mappings.model.errors import UsageError
from gateway.coverage_match.fitting import are_siblings, fitted_weights, prepared_half
from gateway.coverage_match.labelled_pairs import DIFFERENT, HALVES, Pair, capability_text, labelled_pairs
from gateway.synthetic_ecosystem.names import Names
from requirements_of_tests import CHECKOUT
from titled_rows import titled

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


def match_all(capabilities: Iterable[CapabilityText]) -> Matching:
    return match_reading(read_capabilities(capabilities))


def _match_half(half: str) -> Matching:
    sides = [side for pair in labelled_pairs(half) for side in (pair.left, pair.right)]
    return match_all(capability_text(side) for side in sides)


def is_of_one_app(pair: Pair) -> bool:
    return bool(pair.left["package"] == pair.right["package"])


def _figures(half: str, way: str) -> tuple[int, int, int]:
    """Return how many pairs are rightly matched, wrongly matched, and missed."""
    scorer, prepared = prepared_half(half)
    groups = {key: number for number, keys in enumerate(_match_half(half).groups) for key in keys}
    right = wrong = missed = 0
    for pair in labelled_pairs(half):
        if way == "between apps" and is_of_one_app(pair):
            continue
        left, other = pair.keys
        if way == "pairs":
            score = scorer.score(prepared[left], prepared[other], siblings=are_siblings(pair))
            is_match = score >= THRESHOLD
        else:
            is_match = groups.get(left, left) == groups.get(other, other)
        same = pair.label != DIFFERENT
        right += same and is_match
        wrong += is_match and not same
        missed += same and not is_match
    return right, wrong, missed


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("way", ["pairs", "groups", "between apps"])
def test_the_document_states_the_measured_precision_and_recall(half: str, way: str) -> None:
    """An app's own different capabilities are distinguished by a rule alone: between apps it is harder."""
    right, wrong, missed = _figures(half, way)
    precision, recall = right / (right + wrong), right / (right + missed)
    line = f"| {half} | {way} | {right} | {wrong} | {missed} | {precision:.3f} | {recall:.3f} |"
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("half", HALVES)
def test_the_document_states_how_many_kinds_are_right(half: str) -> None:
    matching = _match_half(half)
    groups = {key: number for number, keys in enumerate(matching.groups) for key in keys}
    kinds = {link.key: link.kind for link in matching.links}
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    for label in ("near-duplicate", "same-app-twice"):
        pairs = [
            {kinds.get(key) for key in pair.keys}
            for pair in labelled_pairs(half)
            if pair.label == label and groups.get(pair.keys[0]) == groups.get(pair.keys[1]) is not None
        ]
        assert f"| {half} | {label} | {len(pairs)} | {sum(label in item for item in pairs)} |" in lines


@pytest.mark.slow
def test_the_weights_are_what_fitting_the_tuned_half_gives() -> None:
    for name, weight in fitted_weights().items():
        assert getattr(WEIGHTS, name) == pytest.approx(weight, abs=0.051), name


def test_a_match_of_two_protocols_has_its_reason() -> None:
    note, memo = "title:string, body:string", "heading:string"
    matching = match_all([
        _capability("a", "create_note", "Makes a note.", note, protocol="mobile-mcp"),
        _capability("b", "com.b.Notes#addMemo", "Adds a memo.", memo, protocol="appfunctions"),
    ])  # fmt: skip
    (link,) = matching.links
    assert matching.groups == ((link.match, link.key),)
    assert link.kind == "same-job"
    assert set(link.terms) == {"!create", ":note"}
    assert link.parameters == ("title",)
    assert THRESHOLD <= link.score <= 1


@pytest.mark.parametrize(("first", "other"), [
    ("turn_on_light", "turn_off_light"),
    ("create_note", "delete_note"),
    ("send_money", "send_message"),
    ("send_fax", "send_letter"),
    ("lock_door", "unlock_door"),
])  # fmt: skip
def test_shared_words_are_no_match_where_the_meaning_differs(first: str, other: str) -> None:
    assert match_all([_capability("a", first), _capability("b", other)]).groups == ()


BOOKS = "Books a table in a restaurant for the user and some guests."


@titled(("left", "right", "kind"), {
    "one app in two protocols": (
        _capability("a", "set_alarm", "Sets an alarm.", package="com.clock"),
        _capability("b", "setAlarm", "Sets an alarm.", package="com.clock", protocol="appfunctions"),
        "same-app-twice"),
    "an edition of another package": (
        _capability("a", "book_table", BOOKS, "time:string"),
        _capability("b", "book_table", BOOKS, "time:string, guests?:int32"), "near-duplicate"),
    "unknown words": (
        _capability("a", "transpose_score", "Transposes a musical score.", "semitones:int32"),
        _capability("b", "transposeScore", "Transposes the score.", "semitones:int32"), "near-duplicate"),
})  # fmt: skip
def test_two_capabilities_match_as_one_kind(left: CapabilityText, right: CapabilityText, kind: str) -> None:
    (link,) = match_all([left, right]).links
    assert link.kind == kind


def test_the_outcome_does_not_depend_on_the_order() -> None:
    texts = [capability_text(side) for pair in labelled_pairs("tune") for side in (pair.left, pair.right)]
    shuffled = texts[:]
    random.Random(5).shuffle(shuffled)
    assert match_all(texts) == match_all(shuffled)


@pytest.mark.slow
@pytest.mark.parametrize(("match", "groups", "kinds", "terms", "score"), [
    pytest.param(lambda: _match_half("tune"), 40, (37, 10, 9), 131, 52.3577, id="the half for tuning"),
    pytest.param(lambda: _match_half("held-out"), 39, (34, 9, 7), 122, 46.9982, id="the half held out"),
    pytest.param(
        lambda: match_all(_made_capabilities(20_000)), 1496, (8929, 1609, 59), 21_020, 9770.303, id="made"),
])  # fmt: skip
def test_the_fast_reading_gives_the_results_of_the_slow_one(
    match: Callable[[], Matching], groups: int, kinds: tuple[int, ...], terms: int, score: float
) -> None:
    """A change of a figure is one of meaning: the groups, the links of each kind, and the sums over them."""
    matching = match()
    counts = Counter(link.kind for link in matching.links)
    assert len(matching.groups) == groups
    assert (counts["same-job"], counts["near-duplicate"], counts["same-app-twice"]) == kinds
    assert sum(len(link.terms) for link in matching.links) == terms
    assert round(sum(link.score for link in matching.links), 4) == score


def _made_capabilities(count: int) -> Iterator[CapabilityText]:
    """Yield capabilities of apps with eight each, in three protocols."""
    names = Names(seed=7)
    for number in range(count):
        capability, app = names.capability(), number // 8
        protocol = ("mobile-mcp", "mmcp", "appfunctions")[app % 3]
        name = f"com.app{app}.Functions#{capability.camel_name}" if app % 3 == 2 else capability.snake_name
        shape = ", ".join(f"{parameter.name}:{parameter.kind}" for parameter in capability.parameters)
        key = f"com.app{app}/{protocol}/{number}"
        yield CapabilityText(key, f"com.app{app}", protocol, name, capability.description, shape)


@pytest.mark.slow
def test_a_name_that_all_apps_have_takes_no_more_time_for_each() -> None:
    def alike(count: int) -> Matching:
        words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26 % 26)}{chr(97 + n // 676)}x" for n in range(count)]
        return match_all(
            _capability(f"k{n:05}", f"get_{word}_item", f"Gets the {word} {word[::-1]}.", "id:string")
            for n, word in enumerate(words)
        )

    few, many = alike(1_000), alike(8_000)
    assert many.compared <= many.capabilities * (COMPARED + 1)
    assert many.compared / many.capabilities <= 1.3 * few.compared / few.capabilities + 1


@given(
    st.lists(
        st.tuples(st.text(max_size=30), st.none() | st.text(max_size=60), st.text(max_size=40)), max_size=8
    )
)
def test_any_text_is_matched_without_an_error(texts: list[tuple[str, str | None, str]]) -> None:
    capabilities = [_capability(f"k{place}", *item) for place, item in enumerate(texts)]
    matching = match_all(capabilities)
    counted = Counter(key for keys in matching.groups for key in keys)
    assert all(count == 1 for count in counted.values())


def test_without_rapidfuzz_the_command_that_installs_it_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidfuzz.fuzz", None)
    with pytest.raises(UsageError, match=r"\[coverage\]"):
        match_all([_capability("a", "x")])


# Texts that nobody is meant to read: they cost no more than others, and empty ones are in no group


def _match(*texts: tuple[str, str | None, str]) -> Matching:
    """Match capabilities of name, description and parameters, each of an app of its own."""
    return match_all(
        CapabilityText(f"k{number:05}", f"com.app{number}", "mmcp", *item)
        for number, item in enumerate(texts)
    )


@pytest.mark.parametrize(("name", "description"), [
    ("", None),
    ("", ""),
    (" \n\t", "\n\n"),
    ("a", None),
    ("b", "c"),
    ("aB", None),
    ("com.x.A#b", None),
    ("f1", "f 1"),
    ("12", "3.14"),
    ("the", "It is of a the."),
    ("get", None),
    ("\U0001f4f7", "\U0001f389 \U0001f389"),
    ("\u200b\u2060", "\u202e\u2066"),
    ("___", "-- ?! --"),
])  # fmt: skip
def test_a_capability_without_words_is_matched_with_no_other(name: str, description: str | None) -> None:
    both = (name, description, "x:string"), (name, description, "y:int32, z:string")
    assert _match(*both, both[0]).groups == ()


@pytest.mark.parametrize(("first", "other"), [
    ("创建笔记", "删除照片"),
    ("नोट बनाएं", "नाटक बंद करें"),
    ("สร้างบันทึก", "ลบรูปภาพ"),
    ("குறிப்பு உருவாக்கு", "கதவை திற"),
    ("أنشئ ملاحظة", "أرسل صورة"),
    ("создать заметку", "удалить фото"),
    ("노트 만들기", "사진 삭제"),
])  # fmt: skip
def test_texts_in_scripts_without_known_words_match_by_equal_words(first: str, other: str) -> None:
    assert _match(
        (first, None, ""), (first, None, "a:string"), (other, None, ""), (other, None, "b:int32")
    ).groups == (("k00000", "k00001"), ("k00002", "k00003"))


@pytest.mark.parametrize("written", ["बनाएं", "குறிப்பு", "ನೋಟ್", "บันทึก", "заметку"])
def test_a_vowel_sign_does_not_split_a_word(written: str) -> None:
    assert len(Vocabulary().words_of(written)) == 1


@pytest.mark.parametrize(
    "name",
    ["x" * 100_000, "aB" * 50_000, "com." + "y" * 100_000 + "#" + "z" * 100_000],
    ids=lambda name: name[:10],
)
def test_only_the_beginning_of_a_long_text_is_read(name: str) -> None:
    text = declared_text(CapabilityText("k", "com.x", "mmcp", name, "word " * 20_000, "p:string, " * 10_000))
    assert len(text) <= 2 * 160 + 320 + 600 + 3


@pytest.mark.parametrize(("name", "description"), [
    ("create_note", "Note {}."),
    ("get", "Gets {}."),
    ("create_note_{}", None),
    ("{}", "create note create note"),
    ("turn switch turn switch {}", "turn it on and off " * 9),
])  # fmt: skip
def test_a_text_is_compared_with_a_bounded_number_of_others(name: str, description: str | None) -> None:
    """The words are made of the number, so that no two texts are the same."""
    count = 1_500
    written = ["".join(chr(97 + int(digit)) for digit in f"{number:05}") for number in range(count)]
    matching = _match(
        *((name.format(item), description and description.format(item), "id:string") for item in written)
    )
    assert matching.compared <= count * (COMPARED + 1)


def test_texts_of_one_name_are_one_text_and_are_not_compared() -> None:
    matching = _match(*[("create_note", "Makes a note.", "")] * 5_000)
    assert (len(matching.groups), matching.compared) == (1, 0)
    assert {link.score for link in matching.links} == {1.0}


def test_capabilities_are_read_in_order_of_their_keys_and_each_once() -> None:
    texts = sorted(_made_capabilities(300), key=lambda text: text.key)
    mixed = [*texts, *texts[:40]]
    random.Random(2).shuffle(mixed)
    kept, other = features.read_capabilities(texts), features.read_capabilities(mixed)
    assert kept.keys == other.keys == [item.key for item in texts]
    assert kept.text_of == other.text_of
    assert [item.text for item in kept.features] == [item.text for item in other.features]
    assert kept.names == other.names


def test_words_are_forgotten_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [declared_text(item) for item in _made_capabilities(300)]
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
