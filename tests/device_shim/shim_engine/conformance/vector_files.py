"""The vectors of `device_shim/vectors`, with their shorthands expanded (shim-engine.md 9)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

from droidgate_mappings.model.json_values import Json, canonical_json

VECTORS_DIRECTORY: Final = Path(__file__).resolve().parents[4] / "device_shim" / "vectors"
OPERATIONS: Final = ("parse", "pattern", "fit", "write-document", "read-document", "call", "life")
"""What a vector may ask of an engine."""

_REQUIRED: Final = frozenset({"id", "source", "why", "expect"})
_NOT_ASKED: Final = _REQUIRED | {"says"}


@dataclass(frozen=True, slots=True)
class Vector:
    """One vector.

    Attributes:
        id: The file's stem and a name, unique among all vectors.
        source: The paragraph of a specification or of the reference that the expectation was written from.
        why: What it shows, a few words.
        case: What an engine gets: `op` and its input.
        expect: The outcome.
        says: Texts that the failure's message has to contain, whatever its other words are.
    """

    id: str
    source: str
    why: str
    case: Mapping[str, Json]
    expect: Json
    says: tuple[str, ...] = ()

    @property
    def operation(self) -> str:
        """What is asked."""
        return str(self.case["op"])


@cache
def load_vectors() -> tuple[Vector, ...]:
    """Return all vectors, file by file.

    Raises:
        ValueError: a file is not JSON, a vector is incomplete, or a shorthand is unknown.
    """
    return tuple(
        _read_vector(item)
        for path in sorted(VECTORS_DIRECTORY.glob("*.json"))
        for item in read_vector_file(path)
    )


def read_vector_file(path: Path) -> list[dict[str, Json]]:
    """Return a file's vectors with the usual members of their group, and with their shorthands."""
    return [group["usual"] | vector for group in _read_file(path) for vector in group["vectors"]]


@cache
def load_route_table(name: str) -> Mapping[str, Json]:
    """Return a route table of `vectors/routes`.

    Raises:
        FileNotFoundError: there is none of that name.
    """
    table: Mapping[str, Json] = _read_file(VECTORS_DIRECTORY / "routes" / f"{name}.json")
    return table


def _read_file(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)


def _read_vector(written: dict[str, Json]) -> Vector:
    missing = (_REQUIRED | {"op"}) - written.keys()
    if missing:
        raise ValueError(f"the vector {written.get('id')!r} has no {', '.join(sorted(missing))}")
    case = {key: _expanded(value) for key, value in written.items() if key not in _NOT_ASKED}
    routes = case.get("routes")
    if isinstance(routes, str):
        case["routes"] = load_route_table(routes)
    expect = _expanded(written["expect"])
    says = tuple(written.get("says", ()))
    return Vector(written["id"], written["source"], written["why"], case, expect, says)


def _expanded(value: Json) -> Json:
    if isinstance(value, list):
        return [_expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$json"}:
        return canonical_json(_expanded(value["$json"]))
    if value.keys() == {"$repeat"}:
        return "".join(_repeated(value["$repeat"]))
    return {key: _expanded(member) for key, member in value.items()}


def _repeated(parts: list[tuple[str, int]]) -> Iterator[str]:
    for text, times in parts:
        yield text * times
