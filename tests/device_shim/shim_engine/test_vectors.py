"""Both engines give the outcomes that the specifications require (shim-engine.md 9)."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Final

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
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.tables.loading import load_divergences
from droidgate_mappings.text.json_text import parse_json
from droidgate_shim.engine.requests import read_incoming
from requirements_of_tests import CHECKOUT

VECTORS = load_vectors()
SHARED = CHECKOUT.parent / "shared"
HEADINGS = re.compile(r"^#+\s*(?P<number>[0-9]+(?:\.[0-9a-z]+)*)\.?\s", re.MULTILINE)


def by_file() -> dict[str, list[Vector]]:
    files: dict[str, list[Vector]] = {}
    for item in VECTORS:
        files.setdefault(item.id.partition("/")[0], []).append(item)
    return files


FILES = by_file()


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
def test_a_file_holds_its_own_vectors(name: str) -> None:
    path = VECTORS_DIRECTORY / f"{name.replace('-', '_')}.json"
    schema = json.loads((Path(__file__).parent / "vector.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(read_vector_file(path))


@pytest.mark.parametrize("name", FILES)
def test_a_vector_leaves_out_what_is_usual_in_its_group(name: str) -> None:
    path = VECTORS_DIRECTORY / f"{name.replace('-', '_')}.json"
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


def is_specification(document: str, place: str) -> bool:
    if document == "mobile-mcp-specification":
        return is_section(SHARED / "specs" / f"{document}.md", place)
    path = SHARED / "specs" / f"{document}.md"
    return not path.is_file() or place.casefold() in path.read_text(encoding="utf-8").casefold()


SOURCES: dict[str, Callable[[str], bool]] = {
    r"docs/internals/shim-engine\.md (?P<place>\S+)": lambda place: is_section(
        CHECKOUT / "docs/internals/shim-engine.md", place
    ),
    r"divergence (?P<place>[MAPS]\d+)": lambda place: place in load_divergences(),
    r"mobile-mcp-specification (?P<place>\S+)": lambda place: is_specification(
        "mobile-mcp-specification", place
    ),
    r"mmcp-specification (?P<place>.+)": lambda place: is_specification("mmcp-specification", place),
    r"(?P<place>appfunctions-article)": lambda place: (
        not SHARED.is_dir() or (SHARED / "specs" / f"{place}.txt").is_file()
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


# What the call vectors cover: dialect, token, type, backend and carrier, two by two


SUCCESS: Final = "success"
OLDER: Final = "older"
NO_BACKEND: Final = "none"
STARTED: Final = ("MM-4", "MM-5")
BOUND: Final = ("MM-6", "MM-6-args")
AXES: Final[Mapping[str, tuple[str, ...]]] = {
    "dialect": ("S0", "S1", *STARTED, *BOUND, OLDER),
    "token": (SUCCESS, *load_failure_tokens()),
    "type": TYPE_KINDS,
    "backend": ("mmcp-activity", "mmcp-broadcast", "app-function", "mobile-mcp", NO_BACKEND),
    "carrier": ("start", "bind"),
}

_RESPONSES: Final = ("mobile-mcp-response", "response", "result_json")
_TYPED_TOKENS: Final = (SUCCESS, "invalid_argument", "malformed_response")
_BEFORE_THE_ROUTE: Final = {
    "unsupported_version", "unknown_capability", "invalid_argument", "denied", "busy",
}  # fmt: skip


def blank_cells() -> list[dict[str, str]]:
    """Return the cells of two axes in which vectors could be, and are not."""
    covered = [_cover(vector) for vector in load_vectors() if "token" in vector.expect]
    return [
        cell
        for rows, columns in combinations(AXES, 2)
        for cell in (
            dict(zip((rows, columns), pair, strict=True)) for pair in product(AXES[rows], AXES[columns])
        )
        if _may_exist(**cell)
        and not any(cell[rows] in at[rows] and cell[columns] in at[columns] for at in covered)
    ]


def _may_exist(
    *,
    dialect: str | None = None,
    token: str | None = None,
    type: str | None = None,
    backend: str | None = None,
    carrier: str | None = None,
) -> bool:
    """Return whether a vector can be in a cell of two axes."""
    # A name of the dialect with the other carrier.
    is_of_other_carrier = dialect in {"start": BOUND, "bind": STARTED}.get(carrier or "", ())
    is_served = dialect != OLDER or (
        token in {None, "unsupported_version", "invalid_argument"}
        and type is None
        and backend in {None, NO_BACKEND}
    )
    names_no_version = token == "unsupported_version" and dialect in {*STARTED, *BOUND}
    # A value's type has no part in other tokens, and any value fits `any`.
    is_typed = type is None or token is None or (token in _TYPED_TOKENS and (token, type) not in _UNTYPED)
    # Without a capability nothing is declared, and nothing can be called.
    has_route = backend != NO_BACKEND or (type is None and (token is None or token in _BEFORE_THE_ROUTE))
    return not is_of_other_carrier and is_served and not names_no_version and is_typed and has_route


_UNTYPED: Final = {
    (SUCCESS, "opaque"), ("invalid_argument", "any"), ("malformed_response", "any"),
    ("malformed_response", "null"),
}  # fmt: skip
"""An object of the platform has no JSON value; a declared null is written as it is, or left out."""


def _cover(vector: Vector) -> Mapping[str, frozenset[str]]:
    """Return where a vector is in the grid: axis -> its values there."""
    case = vector.case
    extras, carrier = case["extras"], case["carrier"]
    request = read_incoming(carrier, extras).request
    is_older = request is not None and request.extra_key == "mcp_command_json"
    dialect = set() if request is None else {OLDER if is_older else request.dialect.id}
    routes: list[Mapping[str, Json]] = case["routes"].get("routes", [])
    route = next((item for item in routes if request and item["id"] == request.capability_id), None)
    arguments = frozenset(request.arguments if request else ())
    return {
        "dialect": frozenset(dialect),
        "token": frozenset({vector.expect["token"] or SUCCESS}),
        "type": frozenset(_kinds(route, arguments, vector) if route else ()),
        "backend": frozenset({route["backend"]["kind"] if route else NO_BACKEND}),
        "carrier": frozenset({str(carrier)}),
    }


def _kinds(route: Mapping[str, Json], arguments: frozenset[str], vector: Vector) -> Iterator[str]:
    """Yield the kinds of the arguments that were given and of the outputs that came back."""
    declared = route["input"].get("properties", {})
    yield from (item["type"]["kind"] for name, item in declared.items() if name in arguments)
    output, outputs = route.get("output"), route["outputs"]
    if vector.expect["token"] not in {None, "malformed_response"} or output is None or outputs is None:
        return
    if outputs["kind"] == "value":
        yield output["kind"]
    backend = vector.case.get("backend", {})
    answers = backend if isinstance(backend, list) else [backend]
    back = frozenset(name for answer in answers for name in _returned(answer))
    yield from (item["type"]["kind"] for name, item in output.get("properties", {}).items() if name in back)


def _returned(backend: Mapping[str, Json]) -> frozenset[str]:
    """Return the names of the members that a backend answered with."""
    if "document" in backend:
        content = backend["document"]["properties"]
        inner = content.get("androidAppfunctionsReturnValue", {}).get("values", [])
        return frozenset(inner[0]["properties"] if inner and isinstance(inner[0], dict) else content)
    extras = backend.get("extras") or {}
    text = backend.get("data", extras.get("result"))
    if text is not None:
        return _names(text)
    response = next((_parsed(extras[item]) for item in _RESPONSES if item in extras), None)
    for wrapper in _RESPONSES:
        response = response.get(wrapper, response) if isinstance(response, dict) else None
    capability = response.get("capability") if isinstance(response, dict) else None
    return _names(capability.get("output") if isinstance(capability, dict) else None)


def _names(content: Json) -> frozenset[str]:
    content = _parsed(content)
    if isinstance(content, dict):
        return frozenset(content)
    entries = content if isinstance(content, list) else []
    return frozenset(str(entry["name"]) for entry in entries if isinstance(entry, dict) and "name" in entry)


def _parsed(content: Json) -> Json:
    if not isinstance(content, str):
        return content
    try:
        return parse_json(content)
    except InputError:
        return None


def test_no_cell_of_the_grid_is_blank_that_could_have_a_vector() -> None:
    assert blank_cells() == []
