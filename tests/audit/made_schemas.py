"""JSON Schemas as servers write them (pydantic, zod, by hand), and schemas that use everything oddly."""

import json
import re
from collections.abc import Callable
from random import Random
from typing import Any, Final

Schema = dict[str, Any]

_REFERENCE: Final = re.compile(r'"#/(?:\$defs|definitions)/([^"]*)"')

NAMES: Final = (
    "title", "path", "query", "limit", "date", "start_date", "end_date", "kind", "status", "location", "tags",
    "owner", "note", "email", "url", "count", "amount", "enabled", "language", "mode", "id", "recipients",
    "body", "priority", "filter",
)  # fmt: skip
_TEXTS: Final = (
    "Path to the file", "The text to search for", "How many results to return, newest first",
    "ISO 8601 date, for example 2026-02-24", "Who receives it (comma separated)", "Unit of the amount",
    'Use "metric" or "imperial"', "Where it is; can't be empty",
)  # fmt: skip
ODD_TEXTS: Final = (
    "quotes \" and ' and \\backslash\\", "two\nlines\tand a tab", "  blanks around  ",
    "emoji \U0001f600, umlauts äöü, \u4e2d\u6587", "<b>markup</b> & ]]> &amp; entities",
    '[One of: "a"] brackets like a note', "percent %1$s ${placeholder} {braces}", "x",
    "control \x01 character", "trailing backslash \\", "%@string/app_name ?attr/x",
)  # fmt: skip
ODD_NAMES: Final = (
    "a.b", "with space", "dash-ed", "äöü", "a/b~c", "$dollar", "items", "properties", "type", "0", "UPPER",
    "x" * 70, "required", "result", "schemaType", "with_space", "a_b", "",
)  # fmt: skip
_OTHER_OUTPUTS: Final[tuple[Schema, ...]] = (
    {"type": "string", "maxLength": 5},
    {"type": "array", "items": {"type": "string"}},
    {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    {"oneOf": [{"type": "object", "properties": {"next": {"$ref": "#"}}}, {"type": "string"}]},
    {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]}},
    {"$ref": "#/$defs/List", "$defs": {"List": {"type": "array", "items": {"type": "boolean"}}}},
)
_ENUMS: Final = (
    ["low", "medium", "high"],
    ["celsius", "fahrenheit"],
    ["open", "closed", "all"],
    ["extract_text", "extract_images"],
)


def text(random: Random, *, odd: bool = False) -> str:
    """Return a description."""
    return random.choice(ODD_TEXTS) if odd and random.random() < 0.5 else random.choice(_TEXTS)


def names(random: Random, count: int, *, odd: bool = False) -> list[str]:
    """Return distinct property names."""
    pool = [*NAMES, *ODD_NAMES] if odd else list(NAMES)
    return random.sample(pool, count)


class Schemas:
    """Makes the schemas of one server's tools: one style, and one content for each name of a definition."""

    def __init__(self, random: Random, *, adversarial: bool) -> None:
        self.random = random
        style = AdversarialSchemas if adversarial else random.choice((Servers, Servers, ByHand))
        self.inputs = style(random)
        self.outputs = self.inputs if adversarial else random.choice((Servers, ByHand))(random)

    def input_schema(self) -> Schema:
        """Return the schema of a tool's arguments."""
        return self.inputs.root()

    def output_schema(self) -> Schema:
        """Return the schema of a tool's result, mostly an object, as revision 2025-11-25 has it."""
        roll = self.random.random()
        if roll < 0.1:
            return {"type": "object"}
        if roll < 0.25 and self.inputs is self.outputs:
            return dict(self.random.choice(_OTHER_OUTPUTS))  # as revision 2026-07-28 allows
        return self.outputs.root()


class Maker:
    """Makes parts of a text by chance."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def chance(self, share: float) -> bool:
        return self.random.random() < share


class ByHand(Maker):
    """Schemas as people write them into a server: short, with descriptions, no titles."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.definitions: dict[str, Schema] = {}

    def root(self) -> Schema:
        schema = self.model("root", 0)
        reached = self.reached(schema)
        if reached:
            schema[self.container()] = {name: self.definitions[name] for name in reached}
        return schema

    def reached(self, schema: Schema) -> list[str]:
        """Return the names of the definitions that a schema needs, in the order of their first use."""
        pending, reached_names = [schema], []
        while pending:
            for name in _REFERENCE.findall(json.dumps(pending.pop())):
                definition = name.replace("~1", "/").replace("~0", "~")
                if definition in self.definitions and definition not in reached_names:
                    reached_names.append(definition)
                    pending.append(self.definitions[definition])
        return reached_names

    def container(self) -> str:
        return "$defs"

    def model(self, name: str, depth: int) -> Schema:
        del name
        chosen = names(self.random, self.random.randint(0 if depth == 0 else 1, 4))
        schema: Schema = {"type": "object", "properties": {item: self.field(item, depth) for item in chosen}}
        required = [item for item in chosen if self.chance(0.5)]
        if required or self.chance(0.3):
            schema["required"] = required
        return schema

    def field(self, name: str, depth: int) -> Schema:
        del name
        schema = self.value(depth)
        if self.chance(0.7):
            schema["description"] = text(self.random)
        return schema

    def value(self, depth: int) -> Schema:
        roll = self.random.random()
        if depth < 2 and roll < 0.12:
            return self.nested(depth)
        if roll < 0.27:
            return (
                {"type": "array", "items": self.value(depth + 1)} if self.chance(0.85) else {"type": "array"}
            )
        return self.scalar()

    def nested(self, depth: int) -> Schema:
        return self.model("nested", depth + 1)

    def pick(self, *choices: tuple[float, Callable[[], Schema]]) -> Schema:
        """Return what the first choice makes whose bound is above a random number; the last bound is 1."""
        roll = self.random.random()
        return next(make for bound, make in choices if roll < bound)()

    def scalar(self) -> Schema:
        return self.pick(
            (0.35, lambda: {"type": "string"}),
            (0.5, lambda: {"type": "string", "enum": list(self.random.choice(_ENUMS))}),
            (0.7, lambda: self.bounded({"type": "integer"})),
            (0.85, lambda: self.bounded({"type": "number"})),
            (1, lambda: {"type": "boolean"}),
        )

    def bounded(self, schema: Schema) -> Schema:
        if self.chance(0.3):
            schema["minimum"] = self.random.randint(-5, 5)
        if self.chance(0.3):
            schema["maximum"] = self.random.randint(6, 100)
        return schema


class Servers(ByHand):
    """What pydantic's `model_json_schema()` and zod-to-json-schema give, in either's draft of JSON Schema.

    An optional field allows null (pydantic 2) or does not (pydantic 1), a reference is alone in an `allOf`
    (pydantic 1), objects are closed and refer to earlier properties (zod).
    """

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        self.definitions_at = random.choice(("$defs", "definitions"))

    def container(self) -> str:
        return self.definitions_at

    def root(self) -> Schema:
        schema = super().root()
        first = next(iter(schema["properties"]), None)
        if first is not None and self.chance(0.1) and "again" not in schema["properties"]:
            schema["properties"]["again"] = {"$ref": f"#/properties/{first}"}
        return schema

    def model(self, name: str, depth: int) -> Schema:
        schema = super().model(name, depth)
        if not schema.get("required"):
            schema.pop("required", None)
        schema["title"] = name.capitalize() if depth else "toolArguments"
        if self.chance(0.3):
            schema["additionalProperties"] = False
        return schema

    def field(self, name: str, depth: int) -> Schema:
        schema = self.value(depth)
        if "$ref" in schema and self.chance(0.3):
            schema = {"allOf": [schema]}
        elif self.chance(0.2):
            schema = {"anyOf": [schema, {"type": "null"}], "default": None}
        elif self.chance(0.2) and schema.get("type") == "string" and "enum" not in schema:
            schema["default"] = "x"
        if "$ref" not in schema:
            schema["title"] = name.replace("_", " ").title()
        if self.chance(0.5):
            schema["description"] = text(self.random)
        return schema

    def nested(self, depth: int) -> Schema:
        name = self.random.choice(("Person", "Address", "Item", "Color", "Filter"))
        if name not in self.definitions:
            self.definitions[name] = {}
            if name == "Color":
                self.definitions[name] = {"enum": ["red", "green"], "title": name, "type": "string"}
            else:
                self.definitions[name] = self.model(name, depth + 1)
        return {"$ref": f"#/{self.container()}/{name}"}

    def scalar(self) -> Schema:
        formats = ("date-time", "uri", "email", "uuid")
        shapes = [self.variant("circle", "radius"), self.variant("square", "side")]
        choices: tuple[Schema, ...] = (
            {"type": "string", "format": self.random.choice(formats)},
            {"type": "string", "minLength": 1, "maxLength": self.random.randint(3, 200)},
            {"type": "string", "pattern": "^[a-z]+$"},
            {"const": "fixed", "type": "string"},
            {"additionalProperties": {"type": "integer"}, "type": "object"},
            {"type": "integer", "exclusiveMinimum": 0},
            {"type": "integer", "exclusiveMinimum": 0, "maximum": 100},
            {"type": ["string", "number"]},
            {"type": ["string", "null"]},
            {"type": ["string", "null"], "enum": ["a", "b", None]},
            {"type": "string", "minLength": 1, "default": "today"},
            {"anyOf": shapes},
        )
        return self.random.choice(choices) if self.chance(0.45) else super().scalar()

    def variant(self, kind: str, size: str) -> Schema:
        properties = {"type": {"type": "string", "const": kind}, size: {"type": "number"}}
        variant = {"type": "object", "properties": properties, "required": ["type", size]}
        return {**variant, "additionalProperties": False}


class AdversarialSchemas(ByHand):
    """Schemas with every keyword, odd names and texts, recursion and several types at once."""

    def __init__(self, random: Random) -> None:
        super().__init__(random)
        for name in ("Node", "a.b/c~d", "Odd code!"):
            if self.chance(0.4):
                self.definitions[name] = {}
        for name in list(self.definitions):
            self.definitions[name] = self.model(name, 1)

    def root(self) -> Schema:
        schema = super().root()
        if self.chance(0.2):
            schema["properties"]["own"] = {"$ref": "#/$defs/Own"}
            definition = {
                "type": "object",
                "properties": {"a": self.random.choice(({"type": "string"}, {"type": "integer"}))},
            }
            schema.setdefault("$defs", {})["Own"] = definition
        if self.chance(0.1):
            schema["properties"]["whole"] = {"$ref": "#"}
        if self.chance(0.1):
            schema.setdefault("$defs", {})["Unused"] = {"type": "string", "maxLength": 3}
        return schema

    def model(self, name: str, depth: int) -> Schema:
        del name
        chosen = names(self.random, self.random.randint(0, 4), odd=True)
        schema: Schema = {"type": "object", "properties": {item: self.field(item, depth) for item in chosen}}
        required = [item for item in chosen if self.chance(0.4)]
        if required:
            schema["required"] = required
        extra: tuple[Schema, ...] = (
            {"additionalProperties": False},
            {"additionalProperties": {"type": "integer"}},
            {"minProperties": 1},
            {"maxProperties": 3},
            {"title": "Ttl"},
            {"description": text(self.random, odd=True)},
            {"patternProperties": {"^x-": {"type": "string"}}},
            {"propertyNames": {"maxLength": 100}},
            {"required": ["undeclared_name"]},
            {"dependentSchemas": {"a.b": {"required": ["0"]}}},
            {"unevaluatedProperties": False},
            {"default": {}},
            {"nullable": True},
        )
        if self.chance(0.4):
            schema.update(self.random.choice(extra))
        return schema

    def field(self, name: str, depth: int) -> Schema:
        del name
        schema = self.value(depth)
        if self.chance(0.4):
            schema["description"] = text(self.random, odd=True)
        if self.chance(0.15):
            schema["title"] = "Odd title"
        if self.chance(0.1):
            schema["examples"] = [1, "a"]
        if self.chance(0.1):
            schema["deprecated"] = True
        return schema

    def value(self, depth: int) -> Schema:
        roll = self.random.random()
        if depth > 2 or roll < 0.4:
            return self.scalar()
        if roll < 0.5:
            return self.array(depth)
        if roll < 0.6:
            return self.model("", depth + 1)
        if roll < 0.7 and self.definitions:
            name = self.random.choice(list(self.definitions))
            return {"$ref": "#/$defs/" + name.replace("~", "~0").replace("/", "~1")}
        if roll < 0.8:
            members = [self.value(depth + 1) for _ in range(self.random.randint(1, 3))]
            return {self.random.choice(("anyOf", "oneOf")): members}
        if roll < 0.85:
            return {"allOf": [self.model("", depth + 1) for _ in range(self.random.randint(1, 2))]}
        if roll < 0.9:
            null: Schema = {"type": "null"}
            inner = self.value(depth + 1)
            return {"anyOf": self.random.choice(([inner, null], [null, inner]))} if inner != null else null
        return self.odd()

    def array(self, depth: int) -> Schema:
        schema: Schema = {"type": "array", "items": self.value(depth + 1)}
        extra: tuple[Schema, ...] = (
            {"minItems": 1},
            {"maxItems": 2},
            {"uniqueItems": True},
            {"minItems": 1, "maxItems": 3},
        )
        if self.chance(0.5):
            schema.update(self.random.choice(extra))
        return schema

    def scalar(self) -> Schema:
        choices: tuple[Schema, ...] = (
            {"type": "string", "pattern": "^[A-Z]{2}$"},
            {"type": "string", "format": "date"},
            {"type": "string", "minLength": 2},
            {"type": "string", "maxLength": 4},
            {"type": "string", "enum": ["with space", 'quote"d', "üni"]},
            {"type": ["string", "null"], "enum": ["a", "b"]},
            {"type": "string", "contentEncoding": "base64"},
            {"type": "integer", "format": "int32"},
            {"type": "integer", "format": "int64"},
            {"type": "number", "format": "float"},
            {"type": "integer", "enum": [1, 2, 3]},
            {"type": "integer", "multipleOf": 5},
            {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1},
            {"type": "integer", "format": "int32", "minimum": 0},
            {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
            {"type": "integer", "enum": [1, 2**40]},
            {"type": "integer", "default": 5, "examples": [1]},
            {"type": "number", "minimum": 0.5, "maximum": 2.25},
            {"type": "number", "multipleOf": 0.5},
            {"type": "boolean", "enum": [True]},
            {"type": "boolean", "default": False},
            {"type": "string", "enum": ["a", ""]},
            {"type": "string", "enum": [" padded ", "two\nlines"]},
            {"type": "string", "pattern": ""},
            {"type": "string", "pattern": "^a|b$", "minLength": 1},
            {"type": "string", "format": "", "default": ""},
            {"type": ["string", "null"], "const": None},
            {"type": "integer", "minimum": -3, "exclusiveMaximum": 7},
            {"type": "number", "enum": [0.5, 1.5]},
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "boolean", "const": True},
            {"type": ["integer", "null"]},
            {"type": ["boolean", "string"]},
            {"const": "only"},
            {"enum": ["a", 1, None]},
            {"enum": ["a", "b"]},
            {},
        )
        return dict(self.random.choice(choices)) if self.chance(0.7) else super().scalar()

    def odd(self) -> Schema:
        choices: tuple[Schema, ...] = (
            {"type": "string", "not": {"const": "bad"}},
            {"type": "array", "items": {"type": ["string", "null"]}},
            {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
            {"type": "array", "items": {"type": "object"}},
            {"type": "array", "items": True},
            {"type": "array", "items": {"type": "string"}, "minContains": 1, "contains": {"minLength": 2}},
            {"type": ["array", "null"], "items": {"type": "number"}},
            {"type": ["object", "null"], "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"enum": [[1], {"a": 1}, None, True]},
            {"enum": []},
            {"allOf": [{"type": "string"}, {"minLength": 2}]},
            {"allOf": [{"minLength": 2}], "type": "string"},
            {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}], "enum": ["a", None]},
            {"type": "object"},
            {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}},
            {"type": "object", "properties": {"k": {"const": 1}, "v": {"type": "string"}},
                "if": {"required": ["k"]}, "then": {"required": ["v"]}},
            {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            {"type": "array", "items": {"type": "string"}, "contains": {"const": "x"}},
            {"type": "object", "properties": {"a": {"type": "string"}}, "dependentRequired": {"a": ["b"]}},
            {"type": "string", "anyOf": [{"minLength": 3}, {"enum": ["a"]}]},
            {"oneOf": [{"type": "string"}, {"type": "integer"}], "default": "x"},
        )  # fmt: skip
        return dict(self.random.choice(choices))
