"""JSON Schemas made by chance: right and wrong values under the keywords that matter to the type algebra."""

from collections.abc import Callable, Mapping
from random import Random

from droidgate_mappings.json_schema import ANNOTATION
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import TYPE_KINDS

_WRONG: tuple[Json, ...] = (None, True, 0, 1.5, "x", [], {}, [1], [{}], {"a": {}}, {"a": 1}, [None])
_SMALL: tuple[Json, ...] = (
    True,
    False,
    {},
    {"type": "string"},
    {"type": "null"},
    {"default": 1},
    {"default": True},
)
_CHOICES: Mapping[str, tuple[Json, ...]] = {
    "type": (
        "string", "integer", "number", "object", "array", "null", "boolean", "unheard-of",
        ["string", "null"],
        ["null", "integer"],
        ["string"],
        ["string", "integer"],
        ["null"],
        ["null", "null"],
        ["object", "null"],
    ),
    "$ref": ("#/$defs/A", "#/definitions/A", "#/$defs/B%20", "#/$defs/B ", "#", "other.json", "#/$defs/A/x",
        "#/properties/a", "#/items", "#/$defs/A/items", "#/$defs/%41", "#/$defs/C~1~0"),
    "required": (["a"], ["a", "b"], ["b", "a"], [], ["a", "a"], ["unknown"], "a"),
    "enum": (["a"], ["a", None], [None, "a"], [None], [], [1, True, 1.0], ["a", 1], ["a", 1, None], [None,
        None]),
    "description": ("text", ""),
    "pattern": ("^a", 1),
    "format": ("int32", "float", "x", 5),
    "contentEncoding": ("base64", "x"),
    "default": (1, True, 1.0, None, "x"),
}  # fmt: skip
_APPLICATORS = ("allOf", "oneOf", "anyOf")
_CONTAINERS = ("$defs", "definitions")
_KEYWORDS = (*_CHOICES, *_APPLICATORS, *_CONTAINERS, "properties", "items", ANNOTATION)


def _note(random: Random) -> Json:
    words: Mapping[str, Callable[[], Json]] = {
        "kind": lambda: random.choice((*TYPE_KINDS, "unheard-of", 3)),
        "nullable": lambda: random.choice((True, False, "yes")),
        "implicit": lambda: random.random() < 0.5,
        "class_name": lambda: "com.example.Class",
        "qualified_name": lambda: "com.example.Class",
        "boolean": lambda: random.random() < 0.5,
        "extensions": lambda: random.choice(({"other": {"x": 1}}, {}, {"other": 1},
            {"json-schema": {"definitions": "junk"}}, {"json-schema-notation": {"allOf": 3}}, {"other": {}})),
        "property": lambda: {"other": {"x": 1}},
        "discriminator": lambda: random.choice(("schemaType", "kind")),
        "verbatim": lambda: random.choice((1, {}, {"kind": "any"})),
        "unheard-of": lambda: 1,
    }  # fmt: skip
    return {word: words[word]() for word in random.sample(tuple(words), random.randrange(4))}


def _value(random: Random, keyword: str, depth: int) -> Json:
    if random.random() < 0.1:
        return random.choice(_WRONG)
    if keyword in _CHOICES:
        return random.choice(_CHOICES[keyword])
    if keyword in _APPLICATORS:
        if random.random() < 0.6:
            return [random_schema(random, depth - 1) for _ in range(random.randrange(4))]
        if random.random() < 0.3:
            return [discriminated("a.A"), random.choice((discriminated("a.B"), {}, {"allOf": [{}, {}]}))]
        inner: Json = random.choice(({"$ref": "#/$defs/A"}, {"allOf": [{}]}, {"$ref": "#/$defs/A", "x": 1}))
        return [inner, {"type": "null"}]
    if keyword in _CONTAINERS:
        return _some(random, ("A", "B ", "C/~"), depth)
    if keyword == "properties":
        return _some(random, ("a", "b", "c", ""), depth)
    return _note(random) if keyword == ANNOTATION else random_schema(random, depth - 1)


def discriminated(name: str) -> Json:
    stated = {"schemaType": {"const": name}}
    return {
        "allOf": [{"$ref": "#/$defs/A"}, {"type": "object", "properties": stated, "required": ["schemaType"]}]
    }


def _some(random: Random, names: tuple[str, ...], depth: int) -> dict[str, Json]:
    return {name: random_schema(random, depth - 1) for name in random.sample(names, random.randrange(4))}


def random_schema(random: Random, depth: int = 3) -> Json:
    """Return a JSON Schema, or what passes for one, made by chance."""
    if depth <= 0 or random.random() < 0.08:
        return random.choice(_SMALL)
    keywords = random.sample(_KEYWORDS, random.randrange(1, 5))
    return {keyword: _value(random, keyword, depth) for keyword in keywords}
