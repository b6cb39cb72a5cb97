"""What the `call` vectors cover: dialect, token, type, backend and carrier, counted two by two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from typing import Final

from device_shim.shim_engine.conformance.vector_files import Vector, load_vectors
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.text.json_text import parse_json

SUCCESS: Final = "success"
OLDER: Final = "older"
NO_BACKEND: Final = "none"

_SPECIFIED: Final = ("S0", "S1")
_STARTED: Final = ("MM-4", "MM-5")
_BOUND: Final = ("MM-6", "MM-6-args")
_DIALECTS: Final = (*_SPECIFIED, *_STARTED, *_BOUND, OLDER)
_BACKENDS: Final = ("mmcp-activity", "mmcp-broadcast", "app-function", "mobile-mcp", NO_BACKEND)
_CARRIERS: Final = ("start", "bind")

_EXTRAS: Final = ("mobile-mcp-request", "request", "mcp_command_json")
_RESPONSES: Final = ("mobile-mcp-response", "response", "result_json")
_WRAPPERS: Final = (
    "mobile-mcp-request",
    "request",
    "mobile-mcp-response",
    "response",
    "androidAppfunctionsReturnValue",
)
_TYPED_TOKENS: Final = (SUCCESS, "invalid_argument", "malformed_response")


@cache
def axes() -> dict[str, tuple[str, ...]]:
    """Return the axes of the grid, each with its values."""
    return {
        "dialect": _DIALECTS,
        "token": (SUCCESS, *load_failure_tokens()),
        "type": TYPE_KINDS,
        "backend": _BACKENDS,
        "carrier": _CARRIERS,
    }


@dataclass(frozen=True, slots=True)
class Covered:
    """Where a vector is in the grid: axis -> its values there."""

    values: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Table:
    """Two axes of the grid.

    Attributes:
        rows: Name of the axis downwards.
        columns: Name of the axis to the right.
        counts: (row, column) -> how many vectors.
        reasons: (row, column) -> why no vector can be there.
    """

    rows: str
    columns: str
    counts: Mapping[tuple[str, str], int]
    reasons: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def blank(self) -> list[tuple[str, str]]:
        """Return the cells that have neither a vector nor a reason."""
        cells = ((row, column) for row in axes()[self.rows] for column in axes()[self.columns])
        return [cell for cell in cells if not self.counts.get(cell) and cell not in self.reasons]


def tables(vectors: Iterable[Vector] | None = None) -> list[Table]:
    """Return the grid: one table for each two axes."""
    covered = [
        _cover(vector)
        for vector in (vectors or load_vectors())
        if vector.operation == "call" and "token" in vector.expect
    ]
    made: list[Table] = []
    for rows, columns in combinations(axes(), 2):
        counts = Counter(
            (row, column)
            for item in covered
            for row in item.values[rows]
            for column in item.values[columns]
            if (rows, columns) != ("token", "type") or row in _TYPED_TOKENS
        )
        reasons = {
            (row, column): reason
            for row in axes()[rows]
            for column in axes()[columns]
            if not counts[row, column] and (reason := _reason({rows: row, columns: column}))
        }
        made.append(Table(rows, columns, counts, reasons))
    return made


def _reason(cell: Mapping[str, str]) -> str | None:
    """Return why a cell has to be empty, None where it has not."""
    dialect, token, kind = cell.get("dialect"), cell.get("token"), cell.get("type")
    backend, carrier = cell.get("backend"), cell.get("carrier")
    if carrier and (
        (dialect in _STARTED and carrier == "bind") or (dialect in _BOUND and carrier == "start")
    ):
        return "this dialect is a name for the other carrier; with this one the same text is its sibling"
    if dialect == OLDER and (token not in {None, "unsupported_version", "invalid_argument"}):
        return "forms older than MM-4 are not served"
    if dialect == OLDER and (kind or (backend and backend != NO_BACKEND)):
        return "forms older than MM-4 are not served"
    if token == "unsupported_version" and dialect in {*_STARTED, *_BOUND}:
        return "this dialect names no version"
    if kind and token and token not in _TYPED_TOKENS:
        return "a value's type has no part in it"
    if kind and backend == NO_BACKEND:
        return "without a capability nothing is declared"
    return _reason_of_token(token, kind, backend)


def _reason_of_token(token: str | None, kind: str | None, backend: str | None) -> str | None:
    if backend == NO_BACKEND and token is not None and token not in _BEFORE_THE_ROUTE:
        return "without a capability nothing can be called"
    if (token, kind) == (SUCCESS, "opaque"):
        return "an object of the platform has no JSON value"
    if kind == "any" and token in {"invalid_argument", "malformed_response"}:
        return "any value fits"
    if (token, kind) == ("malformed_response", "null"):
        return "a declared null is written as it is, or left out"
    return None


_BEFORE_THE_ROUTE: Final = frozenset(
    {"unsupported_version", "unknown_capability", "invalid_argument", "denied", "busy"}
)


def _cover(vector: Vector) -> Covered:
    case = vector.case
    asked = _Asked.read(case)
    route = _route(case, asked.capability)
    return Covered(
        {
            "dialect": frozenset({asked.dialect} if asked.dialect else ()),
            "token": frozenset({vector.expect["token"] or SUCCESS}),
            "type": frozenset(_kinds(route, asked, vector) if route else ()),
            "backend": frozenset({route["backend"]["kind"] if route else NO_BACKEND}),
            "carrier": frozenset({str(case["carrier"])}),
        }
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a request says, read with half an eye."""

    dialect: str | None
    capability: str | None = None
    arguments: frozenset[str] = frozenset()

    @staticmethod
    def read(case: Mapping[str, Json]) -> _Asked:
        extras = case["extras"]
        extra = next((item for item in _EXTRAS if item in extras), None)
        if extra is None or extra == "mcp_command_json":
            return _Asked(OLDER if extra else None)
        document = _parsed(extras[extra])
        document = document if isinstance(document, dict) else {}
        content = document.get("mobile-mcp-request", document)
        wrapped = extra == "mobile-mcp-request" and (not document or "mobile-mcp-request" in document)
        if isinstance(content, dict) and "request" in content:
            wrapped, content = True, content["request"]
        content = content if isinstance(content, dict) else {}
        capability = content.get("capability")
        capability = capability if isinstance(capability, dict) else {}
        key = next((item for item in ("args", "input") if item in capability or item in content), None)
        named = capability.get("id")
        return _Asked(
            _dialect(key, str(case["carrier"]), wrapped=wrapped),
            named if isinstance(named, str) else None,
            _names(capability.get(key or "", content.get(key or ""))),
        )


def _dialect(key: str | None, carrier: str, *, wrapped: bool) -> str:
    if wrapped:
        return "S1" if key == "input" else "S0"
    if carrier == "bind":
        return "MM-6-args" if key == "args" else "MM-6"
    return "MM-4" if key == "args" else "MM-5"


def _route(case: Mapping[str, Json], capability: str | None) -> Mapping[str, Json] | None:
    routes: list[Mapping[str, Json]] = case["routes"].get("routes", [])
    return next((route for route in routes if route["id"] == capability), None)


def _kinds(route: Mapping[str, Json], asked: _Asked, vector: Vector) -> Iterable[str]:
    """Return the kinds of the arguments that were given and of the outputs that came back."""
    declared = route["input"].get("properties", {})
    yield from (item["type"]["kind"] for name, item in declared.items() if name in asked.arguments)
    if vector.expect.get("token") not in {None, "malformed_response"}:
        return
    output, outputs = route.get("output"), route["outputs"]
    if output is None or outputs is None:
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
        first = inner[0] if inner else None
        return frozenset(first["properties"] if isinstance(first, dict) else content)
    extras = backend.get("extras") or {}
    text = backend.get("data", extras.get("result"))
    if text is not None:
        return _names(text)
    response = next((_parsed(extras[item]) for item in _RESPONSES if item in extras), None)
    while isinstance(response, dict) and (inner := next((k for k in _WRAPPERS if k in response), None)):
        response = response[inner]
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
