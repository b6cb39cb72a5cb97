"""JSON Schema 2020-12 to `Shape`, from the specification alone (json-schema.org, core and validation)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from audit.declared import Shape

WORDS: Final = {
    "boolean": "boolean",
    "integer": "int64",
    "number": "double",
    "string": "string",
    "null": "null",
    "array": "array",
    "object": "object",
}
_KIND_OF_FORMAT: Final = {
    ("integer", "int32"): "int32",
    ("integer", "int64"): "int64",
    ("number", "float"): "float",
}
_INT32: Final = (-(2**31), 2**31 - 1)
_APPLICATORS: Final = ("oneOf", "anyOf", "allOf")
_CONTAINERS: Final = ("$defs", "definitions")
_OBJECT_WORDS: Final = frozenset({"type", "properties", "required"})
_NO_MEANING: Final = frozenset({"$schema", "$comment"})


def read_root(schema: Any, definitions: dict[str, Shape], notes: list[Any]) -> Shape:
    """Read a whole schema.

    Args:
        schema: A JSON Schema: an object or a boolean.
        definitions: Takes the schema's definitions by name; two of one name and another content are
            `name@2`, `name@3`...
        notes: Takes the values of keywords that start with `x-`, which mean nothing to a validator.
    """
    if not isinstance(schema, Mapping):
        return _Reader({}, notes).read(schema)
    local = {
        f"#/{word}/{name}": (name, kept)
        for word in _CONTAINERS
        for name, kept in schema.get(word, {}).items()
    }
    for reference in _references(schema):
        # A reference may lead to any part of the schema, as zod writes it; the part counts as a definition.
        place = _decoded(reference)
        if place == "#":
            local[place] = ("Root", {word: kept for word, kept in schema.items() if word not in _CONTAINERS})
        elif place not in local and place.startswith("#/"):
            local[place] = (place.rpartition("/")[2], _part_at(schema, reference))
    names = {pointer: name for pointer, (name, _) in local.items()}
    read: dict[str, Shape] = {}
    for pointer, (name, kept) in local.items():
        shape = _Reader(names, notes).read(kept)
        known, number = name, 1
        while known in definitions and definitions[known] != shape:
            number += 1
            known = f"{name}@{number}"
        names[pointer] = known
        read[known] = shape
    if any(name != pointer.rpartition("/")[2] for pointer, name in names.items()):
        read = {names[pointer]: _Reader(names, notes).read(kept) for pointer, (_, kept) in local.items()}
    definitions.update(read)
    return _Reader(names, notes).read(
        {word: kept for word, kept in schema.items() if word not in _CONTAINERS}
    )


def _decoded(reference: str) -> str:
    return unquote(reference).replace("~1", "/").replace("~0", "~")


def _references(schema: Any) -> Iterator[str]:
    """Yield the references in a schema."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for kept in schema.values():
            yield from _references(kept)
    elif isinstance(schema, list):
        for kept in schema:
            yield from _references(kept)


def _part_at(schema: Any, reference: str) -> Any:
    """Return the part of a schema at a JSON Pointer; the schema of any value where nothing is there."""
    for item in unquote(reference).split("/")[1:]:
        name = item.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, Mapping) or name not in schema:
            return {}
        schema = schema[name]
    return schema


class _Reader:
    def __init__(self, names: Mapping[str, str], notes: list[Any]) -> None:
        self.names = names
        self.notes = notes

    def read(self, schema: Any) -> Shape:
        if not isinstance(schema, Mapping):
            return Shape("any", keywords={} if schema is True else {"not": {}})
        left = {word: kept for word, kept in schema.items() if word not in _NO_MEANING}
        self.notes.extend(left.pop(word) for word in [word for word in left if word.startswith("x-")])
        shape = self.shape_of(left)
        self.read_enum(left, shape)
        for word in ("description", "pattern", "format"):
            if isinstance(left.get(word), str):
                setattr(shape, word, left.pop(word))
        shape.keywords = left
        return fold(shape)

    def shape_of(self, left: dict[str, Any]) -> Shape:
        """Return the kind of a schema with its inner types, and take the words that say so out of `left`."""
        stated = [word for word in _APPLICATORS if word in left]
        if left.get("type") == "object" and len(stated) == 1 and "properties" not in left:
            return self.shape_of_parts(left, stated[0])
        if "type" in left:
            return self.shape_of_word(left)
        if "$ref" in left:
            return Shape("ref", name=self.name_of(left.pop("$ref")))
        if len(stated) == 1 and "properties" not in left and "items" not in left:
            return self.shape_of_parts(left, stated[0])
        if stated:
            return Shape("any")
        if isinstance(left.get("properties"), Mapping):
            return self.read_object(left)
        if isinstance(left.get("items"), Mapping | bool):
            return Shape("array", items=self.read(left.pop("items")))
        values = left.get("enum")
        if values and all(isinstance(value, str) for value in values):
            return Shape("string")
        return Shape("any")

    def shape_of_word(self, left: dict[str, Any]) -> Shape:
        stated = left["type"]
        words = [stated] if isinstance(stated, str) else list(stated)
        others = [item for item in words if item != "null"]
        if len(others) > 1:
            return Shape("any")
        del left["type"]
        word = others[0] if others else "null"
        if word == "object":
            shape = self.read_object(left)
        elif word == "array" and isinstance(left.get("items"), Mapping | bool):
            shape = Shape("array", items=self.read(left.pop("items")))
        else:
            shape = Shape(_scalar_kind(word, left))
        shape.nullable = bool(others) and "null" in words
        return shape

    def read_object(self, left: dict[str, Any]) -> Shape:
        properties = {name: self.read(kept) for name, kept in left.pop("properties", {}).items()}
        stated = left.pop("required", [])
        others = [name for name in stated if name not in properties]
        if others:
            left["required"] = others
        return Shape("object", properties=properties, required=frozenset(stated) & properties.keys())

    def shape_of_parts(self, left: dict[str, Any], word: str) -> Shape:
        parts = [self.read_part(item) for item in left.pop(word)]
        if word == "allOf":
            return Shape("all-of", parts=parts)
        named = [item for item in parts if item != Shape("null")]
        if not named:
            return Shape("null")
        return Shape("one-of", parts=named, exclusive=word == "oneOf", nullable=len(named) < len(parts))

    def read_part(self, schema: Any) -> Shape:
        """Read a member of a choice; one that is tied to a class by a `const` property is that class."""
        members = schema.get("allOf", []) if isinstance(schema, Mapping) and len(schema) == 1 else []
        class_name = _discriminating_value(members[1]) if len(members) == 2 else None
        if class_name is None:
            return self.read(schema)
        shape = self.read(members[0])
        if shape.kind != "ref":  # a reference is its class already
            shape.class_name = class_name
        return shape

    def read_enum(self, left: dict[str, Any], shape: Shape) -> None:
        """Take `enum`; null is allowed only where it is listed, too."""
        values = left.get("enum")
        if values is None:
            return
        del left["enum"]
        shape.enum = [value for value in values if value is not None]
        allows_null = shape.nullable or shape.kind == "any"
        shape.nullable = allows_null and None in values

    def name_of(self, reference: str) -> str:
        place = _decoded(reference)
        return self.names.get(place, place)


def _discriminating_value(schema: Any) -> str | None:
    """Return the text that the only property of a schema has to have; None where it says anything else."""
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    if len(properties) != 1 or schema.get("required") != list(properties) or not set(schema) <= _OBJECT_WORDS:
        return None
    (only,) = properties.values()
    value = only.get("const") if isinstance(only, Mapping) and len(only) == 1 else None
    return value if isinstance(value, str) else None


def _scalar_kind(word: str, left: dict[str, Any]) -> str:
    kind = WORDS[word]
    if word == "string" and left.get("contentEncoding") == "base64":
        del left["contentEncoding"]
        return "bytes"
    known = _KIND_OF_FORMAT.get((word, left.get("format", "")))
    if known is not None:
        kind = known
        del left["format"]
    if kind == "int32" and (left.get("minimum"), left.get("maximum")) == _INT32:
        del left["minimum"], left["maximum"]
    return kind


def fold(shape: Shape) -> Shape:
    """Return the only part of an all-of or one-of with the facts of both, where no two facts compete."""
    if shape.kind not in {"all-of", "one-of"} or len(shape.parts) != 1:
        return shape
    inner = shape.parts[0]
    compete = [
        word for word in ("enum", "pattern", "format") if getattr(shape, word) and getattr(inner, word)
    ]
    compete += [
        word for word in shape.keywords if word in inner.keywords and word not in {"title", "default"}
    ]
    if compete:
        return shape
    inner.folded = [*(steps for steps, _ in shape.steps()), *inner.folded]
    inner.nullable = inner.nullable or shape.nullable
    texts = [item for item in (shape.description, inner.description) if item is not None]
    inner.description = " ".join(texts) if texts else None
    for word in ("enum", "pattern", "format", "class_name"):
        if getattr(shape, word) is not None:
            setattr(inner, word, getattr(shape, word))
    inner.keywords = {**inner.keywords, **shape.keywords}
    return inner
