"""Texts that nobody is meant to read: they cost no more than others, and empty ones are in no group."""

import pytest

from droidgate.coverage.match.capability_groups import COMPARED, Matching, match_capabilities
from droidgate.coverage.match.features import CapabilityText, declared_text
from droidgate.coverage.match.match_words import Vocabulary


def _match(*said: tuple[str, str | None, str]) -> Matching:
    """Match capabilities of name, description and parameters, each of an app of its own."""
    return match_capabilities(
        CapabilityText(f"k{number:05}", f"com.app{number}", "mmcp", *item) for number, item in enumerate(said)
    )


@pytest.mark.parametrize(
    ("name", "description"),
    [
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
    ],
)
def test_what_says_nothing_is_matched_with_nothing(name: str, description: str | None) -> None:
    both = (name, description, "x:string"), (name, description, "y:int32, z:string")
    assert _match(*both, both[0]).groups == ()


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("创建笔记", "删除照片"),
        ("नोट बनाएं", "नाटक बंद करें"),
        ("สร้างบันทึก", "ลบรูปภาพ"),
        ("குறிப்பு உருவாக்கு", "கதவை திற"),
        ("أنشئ ملاحظة", "أرسل صورة"),
        ("создать заметку", "удалить фото"),
        ("노트 만들기", "사진 삭제"),
    ],
)
def test_scripts_that_no_word_is_known_of_match_by_their_words_alone(first: str, other: str) -> None:
    assert _match(
        (first, None, ""), (first, None, "a:string"), (other, None, ""), (other, None, "b:int32")
    ).groups == (("k00000", "k00001"), ("k00002", "k00003"))


@pytest.mark.parametrize("written", ["बनाएं", "குறிப்பு", "ನೋಟ್", "บันทึก", "заметку"])
def test_a_vowel_sign_does_not_part_a_word(written: str) -> None:
    assert len(Vocabulary().words_of(written)) == 1


@pytest.mark.parametrize("name", ["x" * 100_000, "aB" * 50_000, "com." + "y" * 100_000 + "#" + "z" * 100_000])
def test_of_long_texts_only_so_much_is_read(name: str) -> None:
    text = declared_text(CapabilityText("k", "com.x", "mmcp", name, "word " * 20_000, "p:string, " * 10_000))
    assert len(text) <= 2 * 160 + 320 + 600 + 3


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("create_note", "Note {}."),
        ("get", "Gets {}."),
        ("create_note_{}", None),
        ("{}", "create note create note"),
        ("turn switch turn switch {}", "turn it on and off " * 9),
    ],
)
def test_a_text_is_compared_with_a_few_whatever_the_others_are(name: str, description: str | None) -> None:
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
