"""Both engines give the outcomes that the specifications require (shim-engine.md 9)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from itertools import groupby
from pathlib import Path

import jsonschema
import pytest

from device_shim.shim_engine.comparison import difference, equal, normal, omissions
from device_shim.shim_engine.conformance.evaluation import evaluate
from device_shim.shim_engine.conformance.vector_files import (
    OPERATIONS,
    VECTORS_DIRECTORY,
    Vector,
    load_vectors,
    read_vector_file,
)
from device_shim.shim_engine.jvm_core import CoreJvm
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.tables.loading import load_divergences
from requirements_of_tests import CHECKOUT

VECTORS = load_vectors()
SHARED = CHECKOUT.parent / "shared"
HEADINGS = re.compile(r"^#+\s*(?P<number>[0-9]+(?:\.[0-9a-z]+)*)\.?\s", re.MULTILINE)


FILES = {name: list(found) for name, found in groupby(VECTORS, lambda vector: vector.id.partition("/")[0])}


def failures(vectors: list[Vector], outcomes: list[Json]) -> list[str]:
    pairs = zip(vectors, outcomes, strict=True)
    return [
        f"{vector.id} ({vector.source}): {found}"
        for vector, outcome in pairs
        if (found := difference(outcome, vector.expect) or _omission(outcome, vector))
    ]


def _omission(outcome: Json, vector: Vector) -> str | None:
    missing = omissions(outcome, vector.says)
    return f"the message does not contain {missing}: {outcome}" if missing else None


@pytest.mark.parametrize("name", FILES)
def test_the_python_engine_gives_what_is_expected(name: str) -> None:
    vectors = FILES[name]
    assert failures(vectors, [evaluate(vector.case) for vector in vectors]) == []


@pytest.mark.requires("javac", "java")
@pytest.mark.parametrize("name", FILES)
def test_the_java_engine_gives_what_is_expected(name: str, core: CoreJvm) -> None:
    vectors = FILES[name]
    assert failures(vectors, list(core.outcomes(dict(vector.case) for vector in vectors))) == []


def test_there_are_hundreds_and_each_is_there_once() -> None:
    assert len(VECTORS) >= 400
    assert [item for item, count in Counter(vector.id for vector in VECTORS).items() if count > 1] == []
    inputs = Counter(json.dumps(dict(item.case), default=str) for item in VECTORS)
    twice = [item.id for item in VECTORS if inputs[json.dumps(dict(item.case), default=str)] > 1]
    assert len(twice) <= len(VECTORS) // 20, twice


@pytest.mark.parametrize("name", FILES)
def test_a_file_fits_its_schema_and_its_vectors_leave_out_what_is_usual_in_their_group(name: str) -> None:
    path = VECTORS_DIRECTORY / f"{name.replace('-', '_')}.json"
    schema = json.loads((Path(__file__).parent / "vector.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read_vector_file(path))

    for group in json.loads(path.read_text(encoding="utf-8")):
        usual = group["usual"]
        assert [v["id"] for v in group["vectors"] for key in v if key in usual and v[key] == usual[key]] == []


def test_every_operation_and_every_token_has_vectors() -> None:
    assert {item.operation for item in VECTORS} == set(OPERATIONS)
    tokens = {item.expect.get("token") for item in VECTORS if item.operation == "call"} - {None}
    assert tokens == set(load_failure_tokens())


# Where expectations come from


@cache
def numbers_of(path: Path) -> frozenset[str]:
    return frozenset(found["number"] for found in HEADINGS.finditer(path.read_text(encoding="utf-8")))


def is_section(path: Path, number: str) -> bool:
    """Return whether a document has the section; without the document, whether it looks like one."""
    if not path.is_file():
        return re.fullmatch(r"[0-9]+(\.[0-9a-z]+)*", number) is not None
    return number in numbers_of(path)


def is_part(path: Path, text: str) -> bool:
    return not path.is_file() or text.casefold() in path.read_text(encoding="utf-8").casefold()


SPECIFICATIONS = SHARED / "specs"
PAGE = CHECKOUT / "docs/internals/shim-engine.md"
SOURCES: dict[str, Callable[[str], bool]] = {
    r"docs/internals/shim-engine\.md (?P<place>\S+)": lambda place: is_section(PAGE, place),
    r"divergence (?P<place>[MAPS]\d+)": lambda place: place in load_divergences(),
    r"mobile-mcp-specification (?P<place>\S+)": lambda place: is_section(
        SPECIFICATIONS / "mobile-mcp-specification.md", place
    ),
    r"mmcp-specification (?P<place>.+)": lambda place: is_part(
        SPECIFICATIONS / "mmcp-specification.md", place
    ),
    r"(?P<place>appfunctions-article)": lambda place: (
        not SHARED.is_dir() or (SPECIFICATIONS / f"{place}.txt").is_file()
    ),
    r"RFC 8259 (?P<place>[0-9]+)": lambda place: 1 <= int(place) <= 13,
    r"RFC 6901 (?P<place>[0-9]+)": lambda place: 1 <= int(place) <= 9,
    r"ECMA-262 (?P<place>22\.2\.1)": bool,
    r"JSON Schema 2020-12 validation (?P<place>6)": bool,
}
REFERENCE = re.compile(r"reference (?P<document>[a-z-]+) (?P<place>\S+)")


@pytest.mark.parametrize("source", sorted({item.source for item in VECTORS}))
def test_a_source_names_something_that_exists(source: str) -> None:
    reference = REFERENCE.fullmatch(source)
    if reference is not None:
        row = f'<a id="{reference["document"]}-{reference["place"]}"></a>'
        assert row in (CHECKOUT / "docs" / "internals" / "sources.md").read_text(encoding="utf-8")
        return
    found = [
        check(match["place"]) for form, check in SOURCES.items() if (match := re.fullmatch(form, source))
    ]
    assert found == [True]


# What counts as equal


def test_json_texts_are_compared_as_the_json_that_they_hold() -> None:
    left = {"outgoing": {"extras": {"params": '{"a":1,"b":[1.50]}'}}, "extras": None, "token": None}
    right = {"outgoing": {"extras": {"params": '{ "b": [1.5], "a": 1.0 }'}}, "extras": None, "token": None}
    assert equal(left, right)
    assert not equal(left, {**right, "outgoing": {"extras": {"params": '{"a":1,"b":[1.51]}'}}})
    assert not equal({"canonical": "[1.0]"}, {"canonical": "[1]"})


def test_numbers_are_compared_exactly() -> None:
    assert not equal({"value": 9007199254740993}, {"value": 9007199254740992})
    assert not equal({"value": 1}, {"value": True})


@pytest.mark.parametrize("text", ["denied: nobody may", "denied:other words", "denied"])
def test_a_failure_s_message_counts_up_to_its_token(text: str) -> None:
    def response(message: str, status: str = "failure") -> Json:
        inner = {"id": "1", "status": status, "message": message}
        document = {"mobile-mcp-response": {"version": "1.0", "response": inner}}
        return {"extras": {"mobile-mcp-response": json.dumps(document)}, "token": "denied"}

    assert equal(response("denied: x"), response(text))
    assert not equal(response("busy: x"), response(text))
    assert not equal(response("nobody may"), response(text))
    assert equal(response("denied", "success"), response(text, "success"))
    assert not equal(response("denied", "success"), response(text))


def test_arguments_inside_a_request_are_compared_as_json() -> None:
    def sent(arguments: str) -> Json:
        inner = {"id": "*", "capability": {"id": "c", "input": arguments}}
        return {"outgoing": {"extras": {"request": json.dumps(inner)}}, "extras": {}, "token": None}

    assert equal(sent('{"a":1}'), sent('{ "a": 1.0 }'))
    assert not equal(sent('{"a":1}'), sent('{"a":2}'))
    assert normal(sent('{"a":1}')) != sent('{"a":1}')


def test_a_difference_says_its_place() -> None:
    left, right = {"value": {"a": [1, 2]}}, {"value": {"a": [1, 3]}}
    assert difference(left, left) is None
    assert difference(left, right) == "/value/a/1: 2 is not 3"
    assert difference({"value": {}}, {"value": {"b": 1}}) == "/value/b stands only at the right"
