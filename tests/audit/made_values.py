"""Which JSON values a declaration accepts, and values for a type: valid ones, and mutated ones.

MCP and mMCP declare JSON Schemas: jsonschema decides. Mobile-MCP and AppFunctions declare kinds, and
`Declaration` decides, from the specifications. Properties that are not declared are neither allowed nor
refused there, so they count as accepted.
"""

import copy
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

from jsonschema import Draft202012Validator

from audit.declared import Declared, Shape, token

Accepts = Callable[[Any], bool]
_WHOLE: Final = {"int32": 32, "int64": 64}


def accepts_anything(_value: Any) -> bool:
    """Return true: where nothing is declared, nothing is refused."""
    return True


def acceptance_of(declared: Declared, shape: Shape, schema: Any) -> Accepts:
    """Return how a protocol decides about values of a root type.

    Args:
        declared: What the type belongs to.
        shape: The type.
        schema: The JSON Schema behind it, where the protocol has one.
    """
    if schema is not None:
        return Draft202012Validator(schema).is_valid
    return functools.partial(Declaration(declared.definitions).accepts, shape)


class Declaration:
    """Decides about values by shapes."""

    def __init__(self, definitions: Mapping[str, Shape]) -> None:
        self.definitions = definitions

    def accepts(self, shape: Shape, value: Any) -> bool:
        """Return whether a type accepts a value."""
        if value is None:
            return shape.nullable or shape.kind in {"null", "any"}
        if shape.enum is not None and value not in shape.enum:
            return False
        check = getattr(self, f"accepts_{shape.kind.replace('-', '_')}", None)
        return check(shape, value) if check is not None else True

    def accepts_null(self, _shape: Shape, value: Any) -> bool:
        return value is None

    def accepts_boolean(self, _shape: Shape, value: Any) -> bool:
        return isinstance(value, bool)

    def accepts_int32(self, shape: Shape, value: Any) -> bool:
        limit = 2 ** (_WHOLE[shape.kind] - 1)
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit

    accepts_int64 = accepts_int32

    def accepts_float(self, _shape: Shape, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    accepts_double = accepts_float

    def accepts_string(self, shape: Shape, value: Any) -> bool:
        return isinstance(value, str) and (
            shape.pattern is None or re.search(shape.pattern, value) is not None
        )

    accepts_bytes = accepts_string

    def accepts_array(self, shape: Shape, value: Any) -> bool:
        return isinstance(value, list) and (
            shape.items is None or all(self.accepts(shape.items, item) for item in value)
        )

    def accepts_object(self, shape: Shape, value: Any) -> bool:
        if not isinstance(value, dict) or any(name not in value for name in shape.required):
            return False
        return all(
            self.accepts(inner, value[name]) for name, inner in shape.properties.items() if name in value
        )

    def accepts_ref(self, shape: Shape, value: Any) -> bool:
        definition = self.definitions.get(shape.name or "")
        return definition is None or self.accepts(definition, value)

    def accepts_all_of(self, shape: Shape, value: Any) -> bool:
        return all(self.accepts(part, value) for part in shape.parts)

    def accepts_one_of(self, shape: Shape, value: Any) -> bool:
        """Return whether an alternative accepts the value: that of its `schemaType`, if it has one."""
        schema_type = value.get("schemaType") if isinstance(value, dict) else None
        is_name = isinstance(schema_type, str)
        parts = [item for item in shape.parts if is_name and schema_type in {item.class_name, item.name}]
        return any(self.accepts(item, value) for item in parts or shape.parts)


Steps = tuple[str | int, ...]
"""The way to a part of a value."""

Pointers = tuple[str, ...]
_DEEPEST: Final = 5
_BASES: Final = 6
_LEAST: Final = 20
_STRINGS: Final = {"^[a-z]+$": "abc", "^[A-Z]{2}$": "AB"}
_FORMATS: Final = {
    "date-time": "2026-02-24T10:00:00Z",
    "date": "2026-02-24",
    "uri": "https://example.com/",
    "email": "a@example.com",
    "uuid": "123e4567-e89b-12d3-a456-426614174000",
}


@dataclass(frozen=True, slots=True)
class Site:
    """A part of a value: its path in the value, its type, and the type's pointer.

    Attributes:
        trail: Pointers of the types around it, through references too.
    """

    path: Steps
    shape: Shape
    pointer: str
    trail: Pointers


@dataclass(frozen=True, slots=True)
class Instance:
    """A value, and the leaf that it violates; none for a valid one.

    Attributes:
        places: Pointers of the types that the changed part has: a reference, what it refers to...
        trail: Pointers of the types around these.
    """

    value: Any
    leaf: str = ""
    places: Pointers = ()
    trail: Pointers = ()


@dataclass(slots=True)
class ValueMaker:
    """Makes values of types.

    Attributes:
        definitions: What references name.
        has_schemas: The types are JSON Schemas, where the format `int32` limits no value.
        share: How many of the values that may be left out are there.
        sites: The parts of the last value.
    """

    random: Random
    definitions: Mapping[str, Shape]
    has_schemas: bool = False
    share: float = 1.0
    sites: list[Site] = field(default_factory=list)

    def instances(
        self, shape: Shape, pointer: str, count: int, is_taken: Callable[[Any], bool]
    ) -> Iterator[Instance]:
        """Yield values of a root type: valid ones, and up to `count` that violate one leaf each; at least 20.

        Args:
            shape: The type.
            pointer: Its pointer.
            count: How many mutated values there are at most.
            is_taken: Whether a value tells something when it is mutated.
        """
        mutated: list[Instance] = []
        for number in range(_BASES):
            self.sites = []
            self.share = 1 - number / _BASES
            base = self.make(shape, pointer, (), ())
            yield Instance(base)
            if is_taken(base):
                mutated.extend(item for site in self.sites for item in self.mutated(base, site))
        for _ in range(_LEAST - _BASES - len(mutated)):
            yield Instance(self.make(shape, pointer, (), ()))
        yield from self.random.sample(mutated, min(count, len(mutated)))

    def make(self, shape: Shape, pointer: str, path: Steps, trail: Pointers) -> Any:
        """Return a valid value of a type, and note its parts."""
        self.sites.append(Site(path, shape, pointer, trail))
        around = (*trail, pointer)
        if shape.nullable and (self.random.random() < 0.15 or len(around) > 2 * _DEEPEST):
            return None
        if "const" in shape.keywords:
            return shape.keywords["const"]
        if shape.enum:
            return self.random.choice(shape.enum)
        if shape.kind == "object":
            return self.make_object(shape, pointer, path, around)
        if shape.kind == "array":
            return self.make_array(shape, pointer, path, around)
        if shape.kind == "ref":
            return self.make_referenced(shape, path, around)
        if shape.kind == "one-of" and shape.parts:
            position = self.random.randrange(len(shape.parts))
            part = shape.parts[position]
            value = self.make(part, f"{pointer}/alternatives/{position}", path, around)
            class_name = part.class_name or part.name
            if class_name is not None and not self.has_schemas and isinstance(value, dict):
                value["schemaType"] = class_name
            return value
        if shape.kind == "all-of":
            return self.make_all(shape, pointer, path, around)
        return self.make_scalar(shape)

    def make_object(self, shape: Shape, pointer: str, path: Steps, around: Pointers) -> Any:
        members: dict[str, Any] = {}
        for name, inner in shape.properties.items():
            is_deep = len(around) > _DEEPEST
            if name in shape.required or (not is_deep and self.random.random() < self.share):
                place = f"{pointer}/properties/{token(name)}/type"
                members[name] = self.make(inner, place, (*path, name), around)
        return members

    def make_array(self, shape: Shape, pointer: str, path: Steps, around: Pointers) -> Any:
        least = shape.keywords.get("minItems", 0)
        count = max(least, 0 if len(around) > _DEEPEST else self.random.randint(0, 2))
        count = min(count, shape.keywords.get("maxItems", count))
        if shape.items is None:
            return ["a", 1][:count]
        return [self.make(shape.items, f"{pointer}/items", (*path, index), around) for index in range(count)]

    def make_referenced(self, shape: Shape, path: Steps, around: Pointers) -> Any:
        definition = self.definitions.get(shape.name or "")
        if definition is None or len(around) > 3 * _DEEPEST:
            return "x"
        return self.make(definition, f"/definitions/{token(shape.name or '')}", path, around)

    def make_all(self, shape: Shape, pointer: str, path: Steps, around: Pointers) -> Any:
        members: dict[str, Any] = {}
        for position, part in enumerate(shape.parts):
            value = self.make(part, f"{pointer}/members/{position}", path, around)
            if not isinstance(value, dict):
                return value
            members.update(value)
        return members

    def make_scalar(self, shape: Shape) -> Any:
        if shape.kind in {"int32", "int64", "float", "double"}:
            return self.make_number(shape)
        if shape.kind == "boolean":
            return self.random.random() < 0.5
        if shape.kind == "null":
            return None
        if shape.kind == "bytes":
            return "AAEC"
        if shape.kind == "any":
            words = shape.keywords.get("type", ["string"])
            return {"boolean": True, "number": 1.5, "integer": 3}.get(words[0], "text")
        text = _STRINGS.get(shape.pattern or "", _FORMATS.get(shape.format or "", "text"))
        least, most = shape.keywords.get("minLength", 0), shape.keywords.get("maxLength", 1000)
        return (text + "x" * (least - len(text)))[:most]

    def make_number(self, shape: Shape) -> int | float:
        words = shape.keywords
        least: int = math.ceil(words.get("minimum", words.get("exclusiveMinimum", -100) + 1))
        most: int = math.floor(words.get("maximum", words.get("exclusiveMaximum", 1000) - 1))
        number: int = self.random.randint(least, max(least, most))
        step: int = math.ceil(words.get("multipleOf", 1))
        number -= number % step
        is_broken = shape.kind in {"float", "double"} and number + 0.5 <= most
        return number + 0.5 if is_broken else number

    def mutated(self, value: Any, site: Site) -> Iterator[Instance]:
        """Yield the values with one part changed, each with the leaf that the change violates."""
        if not _has_part(value, site.path):
            return
        places = tuple(item.pointer for item in self.sites if item.path == site.path)
        for word, part in self.changes(site, _part(value, site.path)):
            changed = _with_part(value, site.path, part)
            yield Instance(changed, f"{site.pointer}/{word}", places, site.trail)

    def changes(self, site: Site, part: Any) -> Iterator[tuple[str, Any]]:
        """Yield what a part may be changed into, with the leaf that speaks about it."""
        shape = site.shape
        if shape.kind in {"ref", "all-of"}:
            yield "nullable", None
            return
        is_listed = shape.kind == "any" and ("const" in shape.keywords or shape.enum is not None)
        if is_listed:
            yield ("enum" if shape.enum is not None else "keywords/const"), ["another", "kind"]
        elif site.path:
            yield "nullable", None
            if shape.kind != "array":
                yield "kind", [part]
            if shape.kind != "object":
                yield "kind", {"nested": part}
            yield "kind", 17 if shape.kind in {"string", "bytes"} else "words"
            if shape.kind not in {"float", "double"}:
                yield "kind", 1.5
        if shape.enum is not None:
            yield "enum", 987 if isinstance(part, int) else "not-listed"
        yield from _out_of_range(shape)
        if shape.kind == "int32" and not self.has_schemas:
            yield "kind", 2**31
        if isinstance(part, dict):
            yield from _other_members(shape, part)
        if isinstance(part, list):
            yield from _other_lengths(shape, part)


_OUTSIDE: Final[dict[str, Callable[[Any], Any]]] = {
    "const": lambda _: "other",
    "minLength": lambda limit: "a" * (limit - 1),
    "maxLength": lambda limit: "a" * (limit + 1),
    "minimum": lambda limit: limit - 1,
    "exclusiveMinimum": lambda limit: limit,
    "maximum": lambda limit: limit + 1,
    "exclusiveMaximum": lambda limit: limit,
    "multipleOf": lambda limit: limit * 10 + 1,
}
"""Keyword -> a value that it refuses, from its own."""


def _out_of_range(shape: Shape) -> Iterator[tuple[str, Any]]:
    if shape.pattern is not None:
        yield "pattern", "1 2"
    for word, outside in _OUTSIDE.items():
        if word in shape.keywords:
            yield f"keywords/{word}", outside(shape.keywords[word])


def _other_members(shape: Shape, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in shape.required:
        if name in part and not shape.properties[name].nullable:
            members = {key: item for key, item in part.items() if key != name}
            yield f"properties/{token(name)}/required", members
    stated = shape.keywords.get("additionalProperties")
    if stated is False:
        yield "keywords/additionalProperties", {**part, "undeclared": 1}
    elif isinstance(stated, Mapping):
        yield "keywords/additionalProperties", {**part, "undeclared": {"of": "another kind"}}
    if "minProperties" in shape.keywords and not shape.required:
        yield "keywords/minProperties", {}


def _other_lengths(shape: Shape, part: list[Any]) -> Iterator[tuple[str, Any]]:
    if shape.keywords.get("minItems", 0) > 0:
        yield "keywords/minItems", []
    if "maxItems" in shape.keywords and part:
        yield "keywords/maxItems", part[:1] * (shape.keywords["maxItems"] + 1)
    if shape.keywords.get("uniqueItems") and part:
        yield "keywords/uniqueItems", [part[0], part[0]]


def _part(value: Any, path: Steps) -> Any:
    for step in path:
        value = value[step]
    return value


def _has_part(value: Any, path: Steps) -> bool:
    """Return whether a value has a part there; what a later member of an all-of replaced is gone."""
    try:
        _part(value, path)
    except (LookupError, TypeError):
        return False
    return True


def _with_part(value: Any, path: Steps, part: Any) -> Any:
    if not path:
        return part
    changed = copy.deepcopy(value)
    holder = _part(changed, path[:-1])
    holder[path[-1]] = part
    return changed
