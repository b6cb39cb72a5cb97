"""Pairs of JSON Schemas, an old and a new one, and values near the borders of both.

A random generator draws them, so that a hundred thousand pairs take minutes. The new schema is another one
or, mostly, the old one with an edit. A validator of JSON Schema judges the values.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import jsonschema
from referencing.exceptions import Unresolvable

Schema = Any

NAMES = ("a", "b", "x1")
TEXTS = ("", "a", "ab", "abc", "b", "x1", "1", "2020-01-01")
PATTERNS = ("a", "^a", "^b", "b$", "^[a-c]*$", "^[a-z]{2}$", "^x", "[0-9]")
NUMBERS = (-2, -1, 0, 1, 2, 3, 4, 6, 0.5, 1.5, 2.5, 0.3)
WORDS = ("null", "boolean", "integer", "number", "string", "array", "object")
SCALARS = (None, False, True, *NUMBERS, *TEXTS)


class Drawing:
    """Draws schemas, edits and values; the size of a schema is bounded."""

    def __init__(self, random: Random, *, may_refer: bool = True) -> None:
        """Draw from a generator of random numbers, some schemas with references to definitions."""
        self.random = random
        self.definitions = ("D", "E") if may_refer and random.random() < 0.15 else ()

    def one(self, items: Any) -> Any:
        """Return one of some items."""
        return self.random.choice(list(items))

    def some(self, items: Any, most: int = 2) -> list[Any]:
        """Return some items, at least one."""
        items = list(items)
        return self.random.sample(items, self.random.randint(1, min(most, len(items))))

    def chance(self, probability: float) -> bool:
        """Return whether something happens."""
        return self.random.random() < probability

    def whole(self) -> Schema:
        """Return a whole schema with the definitions that it may refer to."""
        schema = self.schema(3)
        if isinstance(schema, dict) and self.definitions:
            schema = {**schema, "$defs": {name: self.schema(2) for name in self.definitions}}
        return schema

    def schema(self, depth: int) -> Schema:
        """Return a schema."""
        if self.chance(0.06):
            return self.one([True, False, {}])
        if self.definitions and self.chance(0.3):
            return {"$ref": f"#/$defs/{self.one(self.definitions)}"}
        schema: Schema = {}
        kind = self.one(WORDS)
        if self.chance(0.75):
            schema["type"] = kind
        if self.chance(0.12):
            schema["type"] = self.some(WORDS, 3)
        elif kind != "null" and self.chance(0.15):
            schema["type"] = [kind, "null"]
        for keyword in self.some(self.keywords(kind), 3) if self.chance(0.8) else []:
            schema.update(self.keyword(keyword, depth - 1))
        if self.chance(0.3):
            schema.update(self.keyword(self.one(_ANYWHERE), depth - 1))
        return schema

    def keywords(self, kind: str) -> tuple[str, ...]:
        """Return keywords for a kind, sometimes for another one."""
        return _KEYWORDS[kind if self.chance(0.9) else self.one(_KEYWORDS)]

    def keyword(self, keyword: str, depth: int) -> Schema:
        """Return a keyword with a value; one that holds schemas only where there is depth left."""
        if depth <= 0 and keyword in _DEEP:
            keyword = self.one(("const", "enum", "required", "minimum"))
        value: Callable[[Drawing, int], Any] = _VALUES[keyword]
        drawn = {keyword: value(self, depth)}
        if keyword == "if":
            drawn |= {word: self.schema(depth) for word in self.some(("then", "else"))}
        if keyword == "contains" and self.chance(0.6):
            drawn |= {word: self.random.randint(0, 2) for word in self.some(("minContains", "maxContains"))}
        return drawn

    def pair(self) -> tuple[Schema, Schema]:
        """Return an old and a new schema; no reference leads back to itself in one value."""
        while True:
            old, new = self.any_pair()
            if not _is_endless(old) and not _is_endless(new):
                return old, new

    def any_pair(self) -> tuple[Schema, Schema]:
        """Return an old and a new schema."""
        old = self.whole()
        if self.chance(0.15):
            return old, self.whole()
        new = copy.deepcopy(old)
        for _ in range(1 if self.chance(0.7) else 2):
            new = self.edited(new)
        return old, new

    def edited(self, whole: Schema) -> Schema:
        """Return a schema with one edit somewhere."""
        places = list(_parts(whole))
        path = self.one(places)
        return _replaced(whole, path, self.edit(_part_at(whole, path)))

    def edit(self, schema: Schema) -> Schema:
        """Return an edit of a schema itself."""
        if not isinstance(schema, dict) or self.chance(0.08):
            return self.schema(2)
        definitions = {"$defs": schema["$defs"]} if "$defs" in schema else {}
        inner = {word: value for word, value in schema.items() if word != "$defs"}
        if self.chance(0.25):
            return {**self.respelled(inner), **definitions}
        own = [word for word in inner if word != "type"]
        if own and self.chance(0.35):
            gone = self.one(own)
            return {word: value for word, value in schema.items() if word != gone}
        if own and self.chance(0.5):
            changed = self.one(own)
            if changed in _VALUES:
                return {**schema, changed: _VALUES[changed](self, 1)}
        stated = inner.get("type")
        kind = stated if isinstance(stated, str) else self.one(WORDS)
        if self.chance(0.2):
            return {**schema, "type": self.one([*WORDS, [kind, "null"], ["integer", "string"]])}
        return {**schema, **self.keyword(self.one((*self.keywords(kind), *_ANYWHERE)), 2)}

    def respelled(self, schema: Schema) -> Schema:
        """Return a schema that allows the same values, or nearly the same."""
        stated = schema.get("type")
        if isinstance(stated, list) and len(stated) > 1 and self.chance(0.5):
            others = {word: value for word, value in schema.items() if word != "type"}
            return (
                {**others, "anyOf": [{"type": word} for word in stated]} if "anyOf" not in others else schema
            )
        if isinstance(stated, str) and self.chance(0.3):
            return {"anyOf": [schema, {"type": "null"}]}
        if "const" in schema:
            others = {word: value for word, value in schema.items() if word != "const"}
            return {**others, "enum": [schema["const"]]}
        if isinstance(schema.get("enum"), list) and len(schema["enum"]) == 1 and self.chance(0.7):
            others = {word: value for word, value in schema.items() if word != "enum"}
            return {**others, "const": schema["enum"][0]}
        return self.one(
            [
                {"allOf": [schema]},
                {"anyOf": [schema]},
                {"oneOf": [schema]},
                {"not": {"not": schema}},
                {**schema, "description": "words"},
                {"if": schema, "else": False},
            ]
        )

    def values(self, schemas: tuple[Schema, ...], count: int) -> list[Any]:
        """Return values near the borders of some schemas."""
        return [self.value(self.one(schemas), schemas, 3) for _ in range(count)]

    def value(self, schema: Schema, wholes: tuple[Schema, ...], depth: int) -> Any:
        """Return a value that a schema may allow."""
        if not isinstance(schema, dict) or depth < 0 or self.chance(0.08):
            return self.anything(depth)
        if "$ref" in schema:
            maps = [whole["$defs"] for whole in wholes if isinstance(whole, dict) and "$defs" in whole]
            definitions: Schema = maps[0] if maps else {}
            return self.value(definitions.get(schema["$ref"][8:], {}), wholes, depth - 1)
        if "const" in schema and self.chance(0.7):
            return schema["const"]
        if schema.get("enum") and self.chance(0.7):
            return self.one(schema["enum"])
        inner = [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, [])]
        inner += [schema[word] for word in ("not", "if", "then", "else") if word in schema]
        if inner and self.chance(0.5):
            return self.value(self.one(inner), wholes, depth)
        stated = schema.get("type", self.one(WORDS))
        return self.of_kind(self.one(stated) if isinstance(stated, list) else stated, schema, wholes, depth)

    def of_kind(self, kind: str, schema: Schema, wholes: tuple[Schema, ...], depth: int) -> Any:
        """Return a value of a kind near the borders of a schema."""
        if kind == "null":
            return None
        if kind == "boolean":
            return self.chance(0.5)
        if kind in {"integer", "number"}:
            borders = [schema[word] for word in _NUMBER_WORDS if word in schema]
            near = [border + step for border in borders for step in (-1, -0.5, 0, 0.5, 1)]
            value = self.one(near) if near and self.chance(0.7) else self.one(NUMBERS)
            return int(value) if kind == "integer" else value
        if kind == "string":
            borders = [schema[word] for word in ("minLength", "maxLength") if word in schema]
            lengths = [
                length for border in borders for length in (border - 1, border, border + 1) if length >= 0
            ]
            return self.one("abx1") * self.one(lengths) if lengths and self.chance(0.6) else self.one(TEXTS)
        if kind == "array":
            return self.array(schema, wholes, depth)
        names = [*schema.get("properties", {}), *schema.get("required", [])]
        names += [name for name in (*NAMES, "q") if self.chance(0.2)]
        for name, others in schema.get("dependentRequired", {}).items():
            names += [name, *others]
        chosen = [
            name for name in dict.fromkeys(names) if name in schema.get("required", []) or self.chance(0.6)
        ]
        beyond = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        described = schema.get("properties", {})
        return {name: self.value(described.get(name, beyond), wholes, depth - 1) for name in chosen}

    def array(self, schema: Schema, wholes: tuple[Schema, ...], depth: int) -> list[Any]:
        """Return an array near the borders of a schema."""
        first = schema.get("prefixItems", [])
        others = [schema[word] for word in ("items", "contains", "unevaluatedItems") if word in schema] or [
            True
        ]
        length = max(0, len(first) + self.random.randint(-1, 2))
        if self.chance(0.4):
            length = max(0, schema.get("minItems", schema.get("maxItems", 1)) + self.random.randint(-1, 1))
        parts = [*first, *(self.one(others) for _ in range(3))][:length]
        return [self.value(part, wholes, depth - 1) for part in parts]

    def anything(self, depth: int) -> Any:
        """Return any value."""
        if depth > 0 and self.chance(0.3):
            if self.chance(0.5):
                return [self.anything(depth - 1) for _ in range(self.random.randint(0, 2))]
            return {name: self.anything(depth - 1) for name in NAMES if self.chance(0.4)}
        return self.one(SCALARS)


def _schemas(drawing: Drawing, depth: int) -> list[Schema]:
    return [drawing.schema(depth) for _ in range(drawing.random.randint(1, 3))]


def _by_name(drawing: Drawing, depth: int) -> Schema:
    return {name: drawing.schema(depth) for name in drawing.some(NAMES)}


def _schema(drawing: Drawing, depth: int) -> Schema:
    return drawing.schema(depth)


def _count(drawing: Drawing, _: int) -> int:
    return drawing.random.randint(0, 3)


def _number(drawing: Drawing, _: int) -> float:
    number: float = drawing.one(NUMBERS)
    return number


def _compound_value(drawing: Drawing, _: int) -> Any:
    return drawing.anything(1)


_NUMBER_WORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_VALUES: dict[str, Callable[[Drawing, int], Any]] = {
    "const": _compound_value,
    "enum": lambda drawing, _: [drawing.anything(1) for _ in range(drawing.random.randint(1, 3))],
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _schemas),
    **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "additionalProperties"), _schema),
    **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems"), _schema),
    **dict.fromkeys(("properties", "dependentSchemas"), _by_name),
    "patternProperties": lambda drawing, depth: {
        pattern: drawing.schema(depth) for pattern in drawing.some(PATTERNS)
    },
    "propertyNames": lambda drawing, _: drawing.one(
        [{"pattern": drawing.one(PATTERNS)}, {"enum": drawing.some(NAMES)}, {"maxLength": 1}]
    ),
    "required": lambda drawing, _: drawing.some(NAMES),
    "dependentRequired": lambda drawing, _: {drawing.one(NAMES): drawing.some(NAMES)},
    **dict.fromkeys(_NUMBER_WORDS[:4], _number),
    "multipleOf": lambda drawing, _: drawing.one([1, 2, 3, 0.5, 1.5]),
    **dict.fromkeys(
        ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _count
    ),
    **dict.fromkeys(("minContains", "maxContains"), _count),
    "uniqueItems": lambda drawing, _: drawing.chance(0.8),
    "pattern": lambda drawing, _: drawing.one(PATTERNS),
    "format": lambda drawing, _: drawing.one(["date", "uri", "int32"]),
}
_DEEP = frozenset(
    {"anyOf", "oneOf", "allOf", "prefixItems", "not", "if", "items", "contains", "additionalProperties"}
    | {"unevaluatedProperties", "unevaluatedItems", "properties", "dependentSchemas", "patternProperties"}
)
_ANYWHERE = ("const", "enum", "anyOf", "oneOf", "allOf", "not", "if")
_OF_ARRAYS = (
    *("items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems", "unevaluatedItems"),
    *("items", "items", "prefixItems"),
)
_OF_OBJECTS = (
    *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("required", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties"),
    *("properties", "properties", "required", "additionalProperties"),
)
_KEYWORDS: dict[str, tuple[str, ...]] = {
    "null": ("const",),
    "boolean": ("const", "enum"),
    **dict.fromkeys(("integer", "number"), (*_NUMBER_WORDS, "enum", "const")),
    "string": ("minLength", "maxLength", "pattern", "enum", "const", "format"),
    "array": _OF_ARRAYS,
    "object": _OF_OBJECTS,
}


def _parts(schema: Schema, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all schemas in a schema."""
    yield path
    if not isinstance(schema, dict):
        return
    for word, value in schema.items():
        if word in {"properties", "patternProperties", "dependentSchemas", "$defs"}:
            for name, inner in value.items():
                yield from _parts(inner, (*path, word, name))
        elif word in {"anyOf", "oneOf", "allOf", "prefixItems"}:
            for position, inner in enumerate(value):
                yield from _parts(inner, (*path, word, position))
        elif word in _DEEP | {"then", "else", "propertyNames"}:
            yield from _parts(value, (*path, word))


def _part_at(schema: Schema, path: tuple[Any, ...]) -> Schema:
    for token in path:
        schema = schema[token]
    return schema


def _replaced(part: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copied = dict(part) if isinstance(part, dict) else list(part)
    copied[path[0]] = _replaced(part[path[0]], path[1:], new)
    return copied


def judged(schema: Schema, value: Any) -> bool | None:
    """Return whether a value is one of a schema; None where the validator does not end."""
    try:
        return jsonschema.Draft202012Validator(schema).is_valid(value)
    except (RecursionError, Unresolvable):
        return None


def gives_undescribed(value: Any, old: Schema, new: Schema) -> bool:
    """Return whether a value has a property that a new schema describes and the old one leaves open.

    Nobody gave such a value by the old schema on purpose.
    """
    definitions = [whole.get("$defs", {}) if isinstance(whole, dict) else {} for whole in (old, new)]
    return _has_undescribed(value, ([old], [new]), definitions)


def _has_undescribed(value: Any, sides: tuple[list[Schema], list[Schema]], definitions: list[Schema]) -> bool:
    olds, news = (list(_in_place(schemas, known)) for schemas, known in zip(sides, definitions, strict=True))
    if isinstance(value, list):
        inner = (_of_items(olds), _of_items(news))
        return any(_has_undescribed(item, inner, definitions) for item in value)
    if not isinstance(value, dict):
        return False
    for name, member in value.items():
        befores, afters = _of_member(olds, name), _of_member(news, name)
        if not befores and any(name in schema.get("properties", {}) for schema in news):
            return True
        if _has_undescribed(member, (befores, afters), definitions):
            return True
    return False


def _in_place(schemas: list[Schema], definitions: Schema) -> Iterator[dict[str, Any]]:
    waiting, seen = list(schemas), set()
    while waiting:
        schema = waiting.pop()
        if not isinstance(schema, dict):
            continue
        yield schema
        waiting += [inner for word in ("allOf", "anyOf", "oneOf") for inner in schema.get(word, [])]
        waiting += [schema[word] for word in ("if", "then", "else", "not") if word in schema]
        waiting += schema.get("dependentSchemas", {}).values()
        if schema.get("$ref") not in seen:
            seen.add(schema.get("$ref"))
            waiting.append(definitions.get(schema.get("$ref", "#/$defs/")[8:], {}))


def _is_endless(whole: Schema) -> bool:
    definitions = whole.get("$defs", {}) if isinstance(whole, dict) else {}
    return any(
        part.get("$ref") == f"#/$defs/{name}"
        for name, schema in definitions.items()
        for part in _in_place([schema], definitions)
    )


def _of_items(schemas: list[Schema]) -> list[Schema]:
    words = ("items", "contains", "unevaluatedItems")
    return [
        inner
        for schema in schemas
        for inner in (*schema.get("prefixItems", []), *(schema[word] for word in words if word in schema))
    ]


def _of_member(schemas: list[Schema], name: str) -> list[Schema]:
    subschemas = [schema["properties"][name] for schema in schemas if name in schema.get("properties", {})]
    for schema in schemas:
        patterns = schema.get("patternProperties", {})
        subschemas += [inner for pattern, inner in patterns.items() if re.search(pattern, name)]
        for word in ("additionalProperties", "unevaluatedProperties"):
            subschemas += [schema[word]] if schema.get(word, True) not in ({}, True) else []
    return subschemas
