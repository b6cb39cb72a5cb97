"""What the `call` vectors cover: dialect, token, type, backend and carrier, two by two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from typing import Final

from device_shim.shim_engine.conformance.vector_files import Vector, load_vectors
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.text.json_text import parse_json
from droidgate_shim.engine.requests import read_incoming

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
