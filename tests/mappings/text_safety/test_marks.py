"""Marks say which app, which capability and which field, wherever a text is."""

from typing import Any

import pytest

from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.json_values import pointer_name
from droidgate_mappings.model.types import ObjectType, ScalarType
from droidgate_mappings.text_safety.marks import TextMark, text_marks
from model_types import array, one_of, optional, record, ref, string

BAD = "Creates\u200b a note."


def text(**facts: Any) -> ScalarType:
    return string(**facts)


def taking(**types: Any) -> ObjectType:
    return record({name: optional(item) for name, item in types.items()})


def app(*capabilities: Capability, **facts: Any) -> Provider:
    place = Place(path="app/tools.json", line=3)
    return Provider(
        **{
            "protocol": "mmcp",
            "package": "com.acme",
            "component": ".Tools",
            "source": place,
            "capabilities": capabilities,
            **facts,
        }
    )


def only_mark(provider: Provider) -> TextMark:
    (mark,) = text_marks(provider)
    return mark


@pytest.mark.parametrize(("provider", "place"), [
    (app(name=BAD), "name"),
    (app(instructions=BAD), "instructions"),
    (app(extensions={"mmcp": {"note": {"deep": ["x", BAD]}}}), "mmcp.note.deep.1"),
    (app(definitions={"Note": text(description=BAD)}), "Note.description"),
    (app(Capability(id="t", title=BAD)), "t title"),
    (app(Capability(id="t", description=BAD)), "t description"),
    (app(Capability(id="t", input=taking(a=text(description=BAD)))), "t input.a.description"),
    (app(Capability(id="t", input=taking(a=text(enum=("x", BAD))))), "t input.a.enum.1"),
    (app(Capability(id="t", input=taking(a=text(keywords={"default": BAD})))), "t input.a.default"),
    (app(Capability(id="t", input=taking(a=text(keywords={"examples": [{"b": BAD}]})))),
        "t input.a.examples.0.b"),
    (app(Capability(id="t", input=taking(type=text(description=BAD)))), "t input.type.description"),
    (app(Capability(id="t", output=array(taking(a=text(description=BAD))))), "t output.items.a.description"),
    (app(Capability(id="t", output=one_of(text(), text(description=BAD)))),
        "t output.alternatives.1.description"),
])  # fmt: skip
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
    marks = list(text_marks(app(capability, definitions={"N": text(), "M\u2060": text()})))
    assert [(mark.place, mark.pointer) for mark in marks] == [
        ("name of M\u2060", "/definitions/M\u2060"),
        ("t name of input.a\u200b/b", "/capabilities/0/input/properties/a\u200b~1b"),
    ]


def test_names_that_look_alike_are_marked_at_the_later_one() -> None:
    mark = only_mark(app(Capability(id="pay"), Capability(id="p\u0430y")))
    assert (mark.code, mark.capability, mark.pointer) == ("look-alike-name", "p\u0430y", "/capabilities/1/id")


def test_a_long_text_is_a_note() -> None:
    mark = only_mark(app(Capability(id="t", description="word " * 500)))
    assert (mark.code, mark.level) == ("over-long-text", "note")
    assert mark.message == "has 2,500 characters, more than 1,024"


def test_ordinary_texts_have_no_mark() -> None:
    capability = Capability(id="find_note", description="Finds notes.", input=taking(query=text()))
    assert list(text_marks(app(capability, name="System: notes"))) == []


def test_marks_that_repeat_a_long_name_are_not_all_kept() -> None:
    inner = taking(**{f"p{number}": text(description=BAD) for number in range(500)})
    provider = app(Capability(id="t", input=taking(**{"a" * 10_000: inner})))
    marks = list(text_marks(provider))
    assert (marks[-1].code, marks[-1].place) == ("too-many-marks", "")
    assert sum(len(mark.model_dump_json()) for mark in marks) < 2_000_000
