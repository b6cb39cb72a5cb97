"""Types and values made up by a seeded generator."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

from droidgate_mappings.model.json_values import Json, canonical_json

SCALARS = ("boolean", "int32", "int64", "float", "double", "string", "bytes")
_WORDS = (
    "", "a", "Milk", "12", "-0.5", "true", "null", "[1]", '{"a":1}', "\u00e9\U0001f600", 'quo"te\\\n',
    "2026-02-24",
)  # fmt: skip
_LONGS = (0, 1, -1, 7, 2**31 - 1, -(2**31), 2**31, 2**53 + 1, 2**63 - 1, -(2**63))
_DECIMALS = (
    "0.5", "-2.25", "1.50", "100.0", "1E+5", "0.1", "3.4028234663852886E+38", "1E-7", "123456.789", "0.0",
)  # fmt: skip
_BYTES = (b"", b"\x00\xff", b"abc")
_KIND = {
    "boolean": "boolean",
    "int32": "long",
    "int64": "long",
    "float": "double",
    "double": "double",
    "string": "string",
    "bytes": "bytes",
}


@dataclass
class TypeMaker:
    """Makes types in the model's JSON.

    Attributes:
        random: Where chance comes from.
        definitions: What references lead to.
    """

    random: Random
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scalars: dict[str, dict[str, Any]] = {
            "Point": _object("x.Point", x=("int32", True), y=("int32", True)),
            "Circle": _object("x.Circle", radius=("double", True)),
            "Square": _object("x.Square", side=("double", True), label=("string", False)),
            "Node": _object("x.Node", value=("string", True)),
        }
        scalars["Node"]["properties"]["next"] = {"type": {"kind": "ref", "name": "Node"}}
        self.definitions.update(scalars)

    def written(self) -> dict[str, dict[str, Any]]:
        """Return the definitions as a route table holds them."""
        return self.definitions

    def type(self, depth: int, *, plain: bool = False) -> dict[str, Any]:
        """Return a type; a plain one is one that app functions can say."""
        kinds = [*SCALARS, *SCALARS]
        if depth > 0:
            kinds += ["array", "array", "object", "ref", "all-of", "one-of"]
        if not plain:
            kinds += ["any", "null", "opaque"][: self.random.choice((1, 1, 2, 3))]
        kind = self.random.choice(kinds)
        made = self._made(kind, depth, plain=plain)
        if self.random.random() < 0.12:
            made["nullable"] = True
        return made

    def _made(self, kind: str, depth: int, *, plain: bool) -> dict[str, Any]:
        if kind == "array":
            items = self.type(0, plain=plain) if plain else self.type(depth - 1)
            if plain:
                items.pop("nullable", None)
            return {"kind": kind, "items": items} if plain or self.random.random() < 0.9 else {"kind": kind}
        if kind == "object":
            return self.object(depth - 1, plain=plain)
        if kind == "ref":
            return {"kind": kind, "name": self.random.choice(list(self.definitions))}
        if kind == "all-of":
            label = _object(None, label=("string", True))
            return {
                "kind": kind,
                "members": [{"kind": "ref", "name": "Point"}, label],
                "qualified_name": "x.All",
            }
        if kind == "one-of":
            made: dict[str, Any] = {
                "kind": kind,
                "alternatives": [{"kind": "ref", "name": "Circle"}, {"kind": "ref", "name": "Square"}],
            }
            return made if self.random.random() < 0.8 else {**made, "exclusive": False}
        made = {"kind": kind}
        if self.random.random() < 0.15:
            made |= self._constraint(kind)
        return made

    def _constraint(self, kind: str) -> dict[str, Any]:
        if kind == "string":
            return self.random.choice(
                (
                    {"keywords": {"maxLength": 3}},
                    {"keywords": {"minLength": 1}},
                    {"pattern": "^[A-Z]?[a-z0-9]*$"},
                    {"enum": ["a", "12"]},
                )
            )
        if kind in {"int32", "int64", "float", "double"}:
            return self.random.choice(
                (
                    {"keywords": {"minimum": 0}},
                    {"keywords": {"exclusiveMaximum": 100}},
                    {"keywords": {"multipleOf": Decimal("0.5")}},
                    {"enum": [1, 7]},
                )
            )
        return {}

    def object(self, depth: int, *, plain: bool = False) -> dict[str, Any]:
        """Return an object of up to four properties."""
        properties = {}
        for index in range(self.random.randrange(5)):
            property_: dict[str, Any] = {"type": self.type(depth, plain=plain)}
            if self.random.random() < 0.4:
                property_["required"] = True
            properties[f"p{index}"] = property_
        made: dict[str, Any] = {"kind": "object", "properties": properties}
        if self.random.random() < 0.5:
            made["qualified_name"] = "x.Made"
        if self.random.random() < 0.05:
            made["keywords"] = {"additionalProperties": self.random.choice((True, False))}
        return made


def _object(name: str | None, **members: tuple[str, bool]) -> dict[str, Any]:
    properties = {
        key: {"type": {"kind": kind}, "required": True} if required else {"type": {"kind": kind}}
        for key, (kind, required) in members.items()
    }
    made: dict[str, Any] = {"kind": "object", "properties": properties}
    return made if name is None else {**made, "qualified_name": name}


@dataclass
class ValueMaker:
    """Makes values of types, and documents of values."""

    random: Random
    definitions: Mapping[str, dict[str, Any]]

    def value(self, declared: Mapping[str, Any], *, bent: float = 0.0, depth: int = 0) -> Json:
        """Return a value that mostly fits; so many of a hundred are written as texts."""
        if declared.get("nullable") and self.random.random() < 0.3:
            return None
        made = self._value(declared, bent, depth)
        if depth and made is not None and not isinstance(made, str) and self.random.random() < bent:
            return canonical_json(made)
        return made

    def _value(self, declared: Mapping[str, Any], bent: float, depth: int) -> Json:
        kind = declared["kind"]
        if "enum" in declared and self.random.random() < 0.8:
            return self.random.choice(declared["enum"])
        if kind == "ref":
            return self.value(self.definitions[declared["name"]], bent=bent, depth=depth + 1)
        if kind == "array":
            items = declared.get("items", {"kind": "int64"})
            return [self.value(items, bent=bent, depth=depth + 1) for _ in range(self.random.randrange(4))]
        if kind == "object":
            return {
                name: self.value(property_["type"], bent=bent, depth=depth + 1)
                for name, property_ in declared["properties"].items()
                if property_.get("required") or self.random.random() < (0.6 if depth < 4 else 0.1)
            }
        if kind == "all-of":
            merged: dict[str, Json] = {}
            for alternative in declared["members"]:
                merged |= self.value(alternative, depth=depth + 1)
            return merged
        if kind == "one-of":
            alternative = self.random.choice(declared["alternatives"])
            made = self.value(alternative, depth=depth + 1)
            name = self.definitions[alternative["name"]].get("qualified_name")
            return {**made, "schemaType": name} if self.random.random() < 0.5 else made
        return self.scalar(kind)

    def scalar(self, kind: str) -> Json:
        """Return a value of a scalar kind."""
        match kind:
            case "boolean":
                return self.random.random() < 0.5
            case "int32":
                return self.random.choice(_LONGS[:6])
            case "int64":
                return self.random.choice(_LONGS)
            case "float":
                return self.random.choice(
                    (0, 1, Decimal("0.5"), Decimal("-2.25"), Decimal("0.1"), Decimal("1E+5"))
                )
            case "double":
                return self.random.choice((0, 7, *map(Decimal, _DECIMALS)))
            case "string":
                return self.random.choice(_WORDS)
            case "bytes":
                return base64.b64encode(self.random.choice(_BYTES)).decode()
            case "any":
                return self.anything(1)
        return None

    def anything(self, depth: int) -> Json:
        """Return any JSON value."""
        kind = self.random.choice(("null", *SCALARS, *(("array", "object") if depth else ())))
        if kind == "array":
            return [self.anything(depth - 1) for _ in range(self.random.randrange(3))]
        if kind == "object":
            return {f"p{index}": self.anything(depth - 1) for index in range(self.random.randrange(3))}
        return self.scalar(kind)

    def property(self, value: Json, declared: Mapping[str, Any] | None) -> Json:
        """Return a document's property of a value, None where there is none."""
        if value is None:
            return None
        declared = self._behind(declared)
        is_list = isinstance(value, list)
        items = declared.get("items") if declared is not None and declared["kind"] == "array" else declared
        kinds = [self._kind(item, self._behind(items)) for item in (value if is_list else [value])]
        kind = kinds[0] if kinds else _KIND.get(items["kind"], "document") if items else "string"
        values = value if is_list else [value]
        if kind == "document":
            values = [self.document(item, items) for item in values if isinstance(item, dict)]
        return {"kind": kind, "values": [item for item in values if _is_of(item, kind)]}

    def document(self, value: Mapping[str, Json], declared: Mapping[str, Any] | None) -> dict[str, Json]:
        """Return the document of an object."""
        declared = self._behind(declared) or {}
        known = declared.get("properties", {})
        made = {}
        for name, item in value.items():
            written = self.property(item, known[name]["type"] if name in known else None)
            if written is not None and name != "schemaType":
                made[name] = written
        schema_type = value.get("schemaType", declared.get("qualified_name", ""))
        return {"schemaType": schema_type if isinstance(schema_type, str) else "", "properties": made}

    def _behind(self, declared: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if declared is not None and declared["kind"] == "ref":
            return self.definitions[declared["name"]]
        return declared

    @staticmethod
    def _kind(value: Json, declared: Mapping[str, Any] | None) -> str:
        if declared is not None and declared["kind"] in _KIND:
            return _KIND[declared["kind"]]
        if isinstance(value, bool):
            return "boolean"
        if isinstance(value, dict):
            return "document"
        return "long" if isinstance(value, int) else "string" if isinstance(value, str) else "double"


def _is_of(value: Json, kind: str) -> bool:
    """Return whether a document's property of a kind can hold a value."""
    if kind == "document":
        return isinstance(value, dict)
    if kind in {"string", "bytes"}:
        return isinstance(value, str)
    if kind == "boolean":
        return isinstance(value, bool)
    if isinstance(value, bool):
        return False
    return isinstance(value, int) if kind == "long" else isinstance(value, int | Decimal)


class Maker:
    """Makes cases; the same seed makes the same."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.types = TypeMaker(self.random)
        self.values = ValueMaker(self.random, self.types.definitions)
