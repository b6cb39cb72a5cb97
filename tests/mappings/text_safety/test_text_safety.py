"""Texts of apps: what is hidden in them, what only looks alike, and the marks that name the place of it."""

import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import pointer_name
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.text_safety import (
    hidden_characters,
    is_hidden,
    look_alikes,
    without_hidden,
)
from droidgate_mappings.text_safety.marks import TextMark, text_marks
from model_types import array, one_of, optional, record, ref, string

# Reference android-runtime 3.1, "Hidden Unicode", typed from there.
LISTED = (
    "0-8 B-1F 7F-9F AD 34F 61C 115F-1160 17B4-17B5 180B-180F 200B-200F 2028-202E 2060-206F 3164 D800-DFFF "
    "E000-F8FF FDD0-FDEF FE00-FE0F FEFF FFA0 FFF0-FFFB FFFE-FFFF 1D173-1D17A E0000-E0FFF F0000-10FFFF "
    # The rest of Unicode's format characters without a sign of their own, and the blank Braille pattern.
    "2800 13430-13440 13447-13455 1BCA0-1BCA3"
)


def listed_code_points() -> set[int]:
    code_points = {plane << 16 | low for plane in range(1, 17) for low in (0xFFFE, 0xFFFF)}
    for first, last in re.findall(r"([0-9A-F]+)(?:-([0-9A-F]+))?", LISTED):
        code_points.update(range(int(first, 16), int(last or first, 16) + 1))
    return code_points


def test_the_hidden_characters_are_those_of_the_list() -> None:
    matched = {item for item in range(0x110000) if is_hidden(chr(item))}
    assert matched == listed_code_points()


@given(st.text(st.characters(codec=None)))
def test_a_cleaned_text_has_no_hidden_characters(text: str) -> None:
    assert hidden_characters(without_hidden(text)) == ()
    assert bool(hidden_characters(text)) == (without_hidden(text) != text)


@pytest.mark.parametrize(("text", "codes"), [
    pytest.param("a\u200bb\u202ec\u200b", ("U+200B", "U+202E"), id="in the order in which they first occur"),
    pytest.param("tab\tand\nline, Gr\u00f6\u00dfe, \u65e5\u672c", (),
        id="tabs, line breaks and letters of any script are shown"),
    pytest.param("\U0001f469\u200d\U0001f469\u200d\U0001f467", (),
        id="joiners of equal members of a family are normal"),
])  # fmt: skip
def test_each_hidden_character_is_reported_once_by_its_code(text: str, codes: tuple[str, ...]) -> None:
    assert hidden_characters(text) == codes


@pytest.mark.parametrize(("first", "other"), [
    ("create_note", "Create_Note"),
    ("create_note", "create-note"),
    ("note", "n\u043ete"),  # Cyrillic o
    ("pay", "\u0440\u0430\u0443"),  # Cyrillic throughout
    ("list", "1ist"),
    ("open", "\uff4fpen"),  # fullwidth
    ("send", "se\u200bnd"),
    ("alpha", "\u03b1lpha"),  # Greek
    ("paypal", "\u0440\u0430\u0443\u0440\u0430l"),
    ("list", "Iist"),
    ("modern", "modem"),
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ("open", "\U0001d428\U0001d429\U0001d41e\U0001d427"),  # mathematical
])  # fmt: skip
def test_names_that_look_alike_are_reported_as_a_pair(first: str, other: str) -> None:
    assert list(look_alikes([first, "unrelated", other, first])) == [(first, other)]


def test_different_names_do_not_look_alike() -> None:
    names = [
        "create_note", "create_notes", "delete_note", "read", "reads", "resume", "r\u00e9sum\u00e9", "play",
        "pay", "\u62a5\u544a", "\u5831\u544a", "a1", "a2",
    ]  # fmt: skip
    assert list(look_alikes(names)) == []


BAD = "Creates\u200b a note."


def taking(**types: Any) -> ObjectType:
    return record({name: optional(item) for name, item in types.items()})


def app(*capabilities: Capability, **facts: Any) -> Provider:
    stated = {"protocol": "mmcp", "package": "com.acme", "component": ".Tools", "capabilities": capabilities}
    return Provider(**{**stated, "source": Place(path="app/tools.json", line=3), **facts})


def only_mark(provider: Provider) -> TextMark:
    (mark,) = text_marks(provider)
    return mark


MARKED = {
    "a name of the app": (app(name=BAD), "name"),
    "instructions": (app(instructions=BAD), "instructions"),
    "a note of a format": (app(extensions={"mmcp": {"note": {"deep": ["x", BAD]}}}), "mmcp.note.deep.1"),
    "a definition": (app(definitions={"Note": string(description=BAD)}), "Note.description"),
    "a title": (app(Capability(id="t", title=BAD)), "t title"),
    "a description": (app(Capability(id="t", description=BAD)), "t description"),
    "a parameter":
        (app(Capability(id="t", input=taking(a=string(description=BAD)))), "t input.a.description"),
    "a value of an enum":
        (app(Capability(id="t", input=taking(a=string(enum=("x", BAD))))), "t input.a.enum.1"),
    "a default":
        (app(Capability(id="t", input=taking(a=string(keywords={"default": BAD})))), "t input.a.default"),
    "an example": (app(Capability(id="t", input=taking(a=string(keywords={"examples": [{"b": BAD}]})))),
        "t input.a.examples.0.b"),
    "a parameter named like a field":
        (app(Capability(id="t", input=taking(type=string(description=BAD)))), "t input.type.description"),
    "an item of an output": (app(Capability(id="t", output=array(taking(a=string(description=BAD))))),
        "t output.items.a.description"),
    "an alternative of an output":
        (app(Capability(id="t", output=one_of(string(), string(description=BAD)))),
        "t output.alternatives.1.description"),
}  # fmt: skip


@pytest.mark.parametrize(("provider", "place"), MARKED.values(), ids=MARKED)
def test_a_mark_names_the_field_and_its_pointer_leads_to_the_text(provider: Provider, place: str) -> None:
    mark = only_mark(provider)
    assert (mark.package, mark.component, mark.place) == ("com.acme", ".Tools", place)
    assert (mark.code, mark.message) == ("hidden-characters", "has hidden characters: U+200B")
    assert mark.source == provider.source
    value: Any = provider.model_dump(mode="json")
    for token in mark.pointer.split("/")[1:]:
        value = value[int(token)] if isinstance(value, list) else value[pointer_name(token)]
    assert value == BAD


def test_names_of_parameters_and_definitions_are_texts_too() -> None:
    capability = Capability(id="t", input=taking(**{"a\u200b/b": ref("N")}))
    marks = list(text_marks(app(capability, definitions={"N": string(), "M\u2060": string()})))
    assert [(mark.place, mark.pointer) for mark in marks] == [
        ("name of M\u2060", "/definitions/M\u2060"),
        ("t name of input.a\u200b/b", "/capabilities/0/input/properties/a\u200b~1b"),
    ]


def test_names_that_look_alike_are_marked_at_the_later_one() -> None:
    mark = only_mark(app(Capability(id="pay"), Capability(id="p\u0430y")))
    assert (mark.code, mark.capability, mark.pointer) == ("look-alike-name", "p\u0430y", "/capabilities/1/id")


def test_a_long_text_is_a_note() -> None:
    mark = only_mark(app(Capability(id="t", description="word " * 500)))
    assert (mark.code, mark.level) == ("over-long-text", Level.NOTE)
    assert mark.message == "has 2,500 characters, more than 1,024"


def test_ordinary_texts_have_no_mark() -> None:
    capability = Capability(id="find_note", description="Finds notes.", input=taking(query=string()))
    assert list(text_marks(app(capability, name="System: notes"))) == []


def test_marks_that_repeat_a_long_name_are_not_all_kept() -> None:
    inner = taking(**{f"p{number}": string(description=BAD) for number in range(500)})
    provider = app(Capability(id="t", input=taking(**{"a" * 10_000: inner})))
    marks = list(text_marks(provider))
    assert (marks[-1].code, marks[-1].place) == ("too-many-marks", "")
    assert sum(len(mark.model_dump_json()) for mark in marks) < 2_000_000
