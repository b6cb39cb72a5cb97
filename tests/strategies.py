"""Wild but valid models: one plain generator, and hypothesis strategies over it.

`random_provider(random.Random(seed))` is fast and repeatable; `providers()`, `capabilities()` and `types()`
draw every choice of the same generator from hypothesis, so that failures shrink.

What is left out, since no reader makes it of a file that does not already say so in `x-droidgate`:

- ids, packages and components are never empty; a package is an Android application id, a component a Java
  class name; ids are unique within a provider (every protocol calls by id);
- a reference names an existing definition, and no keyword holds a reference;
- text holds no lone surrogates (JSON and XML cannot), numbers are finite;
- `null` and `any` are never nullable (null is allowed already), and an enum never lists null;
- an enum has at least one value, no value twice, and values of its type's kind; that of `any` mixes kinds;
- `AnyType.boolean` stands alone: the schemas `true` and `false` have no room for anything else;
- `implicit` only where other keywords imply the kind: an object's properties, an array's items, string enums;
- all-of and one-of have at least one member, and the last of several alternatives is not bare `null`, which
  is how `nullable` is written;
- the keywords of the algebra are in `keywords` only as another spelling of the same fact;
- facts of real formats are MCP's, as its reader makes them, and how JSON Schema lays out what a root reaches;
- `Effects` without a hint is None, and an input is an object, a choice of objects, a reference or anything.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from random import Random
from typing import Any, AnyStr

from hypothesis import strategies as st

from droidgate_mappings.json_schema import NAMESPACE
from droidgate_mappings.model.capability import (
    Capability,
    CapabilityAccess,
    ComponentAccess,
    Effects,
    Provider,
    State,
    reachable_definitions,
)
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    TYPE_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    Extensions,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    ScalarType,
    Type,
)

PROTOCOL = "test"
"""The protocol of every generated provider: no format's own, so names are mapped and components are new."""

INVENTED_FORMAT = "invented-format"

PERMISSIONS = ("com.example.permission.CALL", "android.permission.EXECUTE_APP_FUNCTIONS")

TEXTS = (
    "Plain words", "", " leading and trailing ", "\ttab first", "two\nlines", "return\rand\r\nboth",
    "double \"quotes\" and 'single' ones", "back\\slash \\n \\u0041 \\' \\\"",
    "<b>markup</b> &amp; &#10; ]]> <!-- -->", "@string/looks_like_a_reference", "?attr/looksLikeAnAttribute",
    "#ff0000", "\\@escaped", "control \x00\x01\x08\x0b\x1f\x7f\x85 characters", "no character: \ufffe\uffff",
    "emoji \U0001f600\u200d\U0001f525 and \u202ebidi\u202c",
    "\u00c5ngstr\u00f6m \u65e5\u672c\u8a9e \u0627\u0644\u0639\u0631\u0628\u064a\u0629",
    "%1$s {braces} ${dollar} {{double}}", '[One of: "a"] looks like a note', "true", "null", "-12", "1e3",
    "0x1F", "  ", "a" * 300, "\u2028line separator\u2029 no\u00a0break\u3000wide ", '{"json": [1, 2]}',
)  # fmt: skip
NAMES = (
    "query", "note_id", "createNote", "com.example.Notes#createNote", "with space", "with/slash", "tilde~0~1",
    "$ref", "x-droidgate", "result", "type", "properties", "caf\u00e9", "\u65e5\u672c", "1starts_with_digit",
    "UPPER", "upper", "a.b-c_d", "percent%20", "hash#and?query", "quote\"'<&>", "new\nline", "null",
    "nul\x00", "n" * 140, "\U0001f600", "$defs", "-", "_", "a:b", "a,b[c]{d}",
)  # fmt: skip
FORMATS = ("date-time", "uri", "email", "int64", "uuid", "my own", "")
PATTERNS = ("^[a-z]+$", "\\d{1,3}", '^(?:a|b)\\/\\"$', "[\u00e0-\u00ff]", ".*", "^\\s*$", "(?<year>\\d{4})")
CLASS_NAMES = (
    "com.example.Note",
    "android.app.PendingIntent",
    "kotlin.collections.List<com.example.Note?>",
    "a.B$C",
)
PACKAGES = ("com.example.notes", "dev.droidgate.sample", "a.b", "org.example.Some_App1")
COMPONENTS = (".NotesService", "com.example.notes.NotesService", "com.example.Outer$Inner", "Service")

_JSON_NUMBERS: tuple[Json, ...] = (
    0, 1, -1, 2**31, -(2**63), 10**30, 0.5, -2.75, 1e300, Decimal("0.10000000000000000001"),
)  # fmt: skip


def _json_leaf(random: Random) -> Json:
    return random.choice((None, True, False, *_JSON_NUMBERS, *TEXTS))


def _json_value(random: Random) -> Json:
    shape = random.randrange(6)
    if shape == 0:
        return [_json_leaf(random) for _ in range(random.randrange(3))]
    if shape == 1:
        return {random.choice(NAMES): _json_leaf(random) for _ in range(random.randrange(3))}
    return _json_leaf(random)


def _text(random: Random) -> str:
    return random.choice(TEXTS)


def _plain_schema(random: Random) -> Json:
    choices: tuple[Json, ...] = (
        True,
        False,
        {},
        {"type": "string"},
        {"minimum": 3},
        {"type": ["null", "integer"]},
    )
    return random.choice(choices)


def _count(random: Random) -> int:
    return random.randrange(10)


def _bound(random: Random) -> Json:
    return random.choice(_JSON_NUMBERS)


def _flag(random: Random) -> bool:
    return random.random() < 0.5


KEYWORDS: Mapping[str, Callable[[Random], Json]] = {
    "title": _text,
    "default": _json_value,
    "examples": lambda random: [_json_value(random)],
    "const": _json_value,
    "minLength": _count,
    "maxLength": _count,
    "minimum": _bound,
    "maximum": _bound,
    "exclusiveMinimum": _bound,
    "multipleOf": lambda random: random.choice((1, 0.01, 3)),
    "minItems": _count,
    "maxItems": _count,
    "uniqueItems": _flag,
    "minProperties": _count,
    "additionalProperties": _plain_schema,
    "patternProperties": lambda random: {"^x-": _plain_schema(random)},
    "propertyNames": _plain_schema,
    "prefixItems": lambda random: [_plain_schema(random)],
    "contains": _plain_schema,
    "not": _plain_schema,
    "if": _plain_schema,
    "then": _plain_schema,
    "dependentRequired": lambda random: {random.choice(NAMES): [random.choice(NAMES)]},
    "contentMediaType": lambda _: "application/json",
    "readOnly": _flag,
    "deprecated": _flag,
    "$comment": _text,
    "$schema": lambda _: "https://json-schema.org/draft/2020-12/schema",
    "x-vendor": _json_value,
}
"""JSON Schema keywords that the algebra does not model, with values for them."""

_WORDS = {
    "boolean": "boolean", "int32": "integer", "int64": "integer", "float": "number", "double": "number",
    "string": "string", "bytes": "string", "array": "array", "object": "object",
}  # fmt: skip
_INTEGERS = {"int32": 2**31, "int64": 2**63}
_LEAF_KINDS = tuple(kind for kind in TYPE_KINDS if kind not in {"array", "object", "all-of", "one-of", "ref"})
_ANY_TYPE_WORDS: tuple[Json, ...] = (["string", "integer"], "unheard-of", ["string", "number", "null"])


def _distinct(values: Iterable[Json]) -> tuple[Json, ...]:
    return tuple({json.dumps(value, default=str, sort_keys=True): value for value in values}.values())


class ModelMaker:
    """Makes the parts of one provider from one source of chance.

    Args:
        random: Every choice comes from here.
        definitions: Names that references may use.
        size: About how many types there may be before only leaves are made.
        keywords: Make values for JSON Schema keywords too, right and wrong ones.
    """

    def __init__(
        self, random: Random, definitions: Sequence[str] = (), size: int = 30, *, keywords: bool = True
    ) -> None:
        self.random = random
        self.with_keywords = keywords
        self.definitions = tuple(definitions)
        self.left = size

    def maybe(self, probability: float, make: Callable[[], Any], otherwise: Any = None) -> Any:
        return make() if self.random.random() < probability else otherwise

    def text(self) -> str:
        return _text(self.random)

    def names(self, count: int) -> list[str]:
        return list(dict.fromkeys(self.random.choice(NAMES) for _ in range(count)))

    def type(self, depth: int = 3) -> Type:
        self.left -= 1
        kinds = _LEAF_KINDS if depth <= 0 or self.left <= 0 else TYPE_KINDS
        kind = self.random.choice(kinds)
        if kind == "ref" and not self.definitions:
            kind = "object"
        return self.type_of(kind, depth)

    def type_of(self, kind: str, depth: int) -> Type:
        make: dict[str, Callable[[int], Type]] = {
            "array": self.array,
            "object": self.object,
            "ref": self.reference,
            "all-of": self.all_of,
            "one-of": self.one_of,
            "opaque": self.opaque,
            "any": self.any,
        }
        return make[kind](depth) if kind in make else self.scalar(kind)

    def scalar(self, kind: str) -> Type:
        facts = self.facts(kind)
        values = facts.get("enum")
        if kind == "string" and values and not facts["nullable"] and "type" not in facts["keywords"]:
            facts["implicit"] = self.random.random() < 0.3
        return ScalarType(kind=kind, **facts)  # type: ignore[arg-type]

    def array(self, depth: int) -> Type:
        facts = self.facts("array")
        items = self.maybe(0.85, lambda: self.type(depth - 1))
        facts["implicit"] = items is not None and self.may_be_implicit(facts)
        return ArrayType(items=items, **facts)

    def object(self, depth: int) -> ObjectType:
        facts = self.facts("object")
        properties = {name: self.property(depth) for name in self.names(self.random.randrange(4))}
        if self.random.random() < 0.03:
            properties[""] = self.property(depth)
        facts["implicit"] = self.may_be_implicit(facts)
        if not properties and not facts["implicit"] and self.random.random() < 0.3:
            facts["keywords"]["properties"] = {}
        required = [name for name, property_ in properties.items() if property_.required]
        if self.random.random() < 0.05:
            facts["keywords"]["required"] = [*reversed(required), "not a property"]
        return ObjectType(properties=properties, qualified_name=self.class_name(), **facts)

    def may_be_implicit(self, facts: Mapping[str, Any]) -> bool:
        return not facts["nullable"] and "type" not in facts["keywords"] and self.random.random() < 0.15

    def property(self, depth: int = 3) -> Property:
        return Property(
            type=self.type(depth - 1), required=self.random.random() < 0.5, extensions=self.extensions(0.05)
        )

    def reference(self, _: int = 0) -> Type:
        return RefType(name=self.random.choice(self.definitions), **self.facts("ref"))

    def all_of(self, depth: int) -> Type:
        members = tuple(self.type(depth - 1) for _ in range(self.random.randrange(1, 4)))
        return AllOfType(members=members, qualified_name=self.class_name(), **self.facts("all-of"))

    def one_of(self, depth: int) -> Type:
        alternatives = [self.type(depth - 1) for _ in range(self.random.randrange(1, 4))]
        if alternatives[-1] == ScalarType(kind="null"):
            alternatives[-1] = ScalarType(kind="boolean")
        return OneOfType(
            alternatives=tuple(alternatives),
            exclusive=self.random.random() < 0.6,
            qualified_name=self.class_name(),
            **self.facts("one-of"),
        )

    def opaque(self, _: int = 0) -> Type:
        return OpaqueType(class_name=self.maybe(0.7, self.one_class_name), **self.facts("opaque"))

    def any(self, _: int = 0) -> Type:
        if self.random.random() < 0.3:
            return AnyType(boolean=self.random.random() < 0.7)
        facts = self.facts("any")
        if self.with_keywords and self.random.random() < 0.3:
            facts["keywords"]["type"] = self.random.choice(_ANY_TYPE_WORDS)
        return AnyType(**facts)

    def class_name(self) -> str | None:
        name: str | None = self.maybe(0.1, self.one_class_name)
        return name

    def one_class_name(self) -> str:
        return self.random.choice(CLASS_NAMES)

    def facts(self, kind: str) -> dict[str, Any]:
        nullable = kind not in {"null", "any"} and self.random.random() < 0.25
        facts: dict[str, Any] = {
            "nullable": nullable,
            "description": self.maybe(0.35, self.text),
            "enum": self.maybe(0.2, lambda: self.enum(kind)),
            "pattern": self.maybe(0.15, lambda: self.random.choice(PATTERNS)),
            "format": self.maybe(0.15, lambda: self.random.choice(FORMATS)),
            "keywords": self.keywords(),
            "extensions": self.extensions(0.04),
        }
        if kind in _WORDS and self.random.random() < 0.05:
            word = _WORDS[kind]
            facts["keywords"]["type"] = ["null", word] if nullable else [word]
        if nullable and facts["enum"] and self.random.random() < 0.3:
            facts["keywords"]["enum"] = [None, *facts["enum"]]
        return facts

    def keywords(self) -> dict[str, Json]:
        if not self.with_keywords or self.random.random() < 0.7:
            return {}
        chosen = [self.random.choice(tuple(KEYWORDS)) for _ in range(self.random.randrange(1, 4))]
        return {keyword: KEYWORDS[keyword](self.random) for keyword in chosen}

    def enum(self, kind: str) -> tuple[Json, ...] | None:
        count = self.random.randrange(1, 4)
        if kind in {"string", "bytes"}:
            return _distinct(self.text() for _ in range(count))
        if kind in _INTEGERS:
            limit = _INTEGERS[kind]
            return _distinct(self.random.choice((0, 1, -7, limit - 1, -limit)) for _ in range(count))
        if kind in {"float", "double"}:
            return _distinct(self.random.choice((0.5, -2.25, 3, 1e300)) for _ in range(count))
        if kind == "boolean":
            return (self.random.random() < 0.5,)
        if kind == "array":
            return ([self.text()],)
        if kind == "object":
            return ({self.random.choice(NAMES): self.text()},)
        return None if kind in {"null", "opaque"} else (self.text(), 3)

    def extensions(self, probability: float) -> Extensions:
        if self.random.random() >= probability:
            return {}
        return {INVENTED_FORMAT: {self.random.choice(NAMES): _json_value(self.random)}}

    def input(self) -> Type:
        if self.random.random() < 0.85:
            return self.object(3)
        kinds = ["all-of", "one-of", "any", *(["ref"] if self.definitions else [])]
        return self.type_of(self.random.choice(kinds), 2)

    def effects(self) -> Effects:
        hints = ("read_only", "destructive", "idempotent", "open_world")
        chosen = {hint: self.random.random() < 0.5 for hint in hints if self.random.random() < 0.5}
        return Effects(**(chosen or {"read_only": True}))

    def component_access(self) -> ComponentAccess:
        exported = self.random.choice((True, False, None))
        enabled = self.random.choice((True, False, {"": False, "v36": True}))
        permission = self.random.choice((None, *PERMISSIONS))
        level = "signature" if permission == PERMISSIONS[0] else None
        return ComponentAccess(
            exported=exported, enabled=enabled, permission=permission, protection_level=level
        )

    def capability_access(self) -> CapabilityAccess:
        return CapabilityAccess(
            enabled_by_default=self.random.random() < 0.5,
            restrict_callers=self.random.choice((None, True, False)),
            scope=self.random.choice((None, "activity")),
            access_level=self.random.choice((None, "self", "system", "androidTrusted")),
        )

    def capability(self, name: str) -> Capability:
        return Capability(
            id=name,
            title=self.maybe(0.4, self.text),
            description=self.maybe(0.7, self.text),
            version=self.maybe(0.2, self.text),
            input=self.maybe(0.85, self.input, ObjectType()),
            output=self.maybe(0.6, self.type),
            effects=self.maybe(0.3, self.effects),
            access=self.maybe(0.15, self.capability_access, CapabilityAccess()),
            state=self.maybe(0.05, lambda: State(enabled=False)),
            extensions={**self.extensions(0.1), **self.maybe(0.1, self.mcp_facts, {})},
        )

    def mcp_facts(self) -> Extensions:
        """Return facts that an MCP tool may have, and no other format."""
        return {"mcp": {"icons": [{"src": "data:image/png;base64,AA=="}], "/_meta/com.example~1cost": 3}}

    def provider(self) -> Provider:
        self.definitions = tuple(self.names(self.random.choice((0, 0, 1, 2, 3))))
        definitions = {name: self.type(2) for name in self.definitions}
        return Provider(
            protocol=PROTOCOL,
            package=self.maybe(0.7, lambda: self.random.choice(PACKAGES)),
            component=self.maybe(0.5, lambda: self.random.choice(COMPONENTS)),
            name=self.maybe(0.5, self.text),
            description=self.maybe(0.4, self.text),
            instructions=self.maybe(0.4, self.text),
            access=self.maybe(0.3, self.component_access, ComponentAccess()),
            definitions=definitions,
            capabilities=tuple(
                self.laid_out(self.capability(name), definitions)
                for name in self.names(self.random.randrange(1, 4))
            ),
            extensions=self.extensions(0.1),
        )

    def laid_out(self, capability: Capability, definitions: dict[str, Type]) -> Capability:
        """Return a capability whose schemas may lay out their definitions in the manner of older drafts."""
        changes: dict[str, Any] = {}
        for place in ("input", "output"):
            root = getattr(capability, place)
            reached = reachable_definitions(root, definitions) if root is not None else set()
            if reached and self.random.random() < 0.3 and not isinstance(root, AnyType):
                layout = {f"definitions/{name}": name for name in sorted(reached)}
                extensions = {**root.extensions, NAMESPACE: {"definitions": layout}}
                changes[place] = root.model_copy(update={"extensions": extensions})
        return capability.model_copy(update=changes)


def random_provider(random: Random, size: int = 30) -> Provider:
    """Return a provider made by chance; `size` bounds roughly how many types it has."""
    return ModelMaker(random, size=size).provider()


def _chance() -> st.SearchStrategy[Random]:
    return st.randoms(use_true_random=False)


def providers(size: int = 30) -> st.SearchStrategy[Provider]:
    """Wild but valid providers of the protocol `test`."""
    return st.builds(random_provider, _chance(), st.just(size))


@st.composite
def damaged(draw: st.DrawFn, whole: st.SearchStrategy[AnyStr], pieces: st.SearchStrategy[AnyStr]) -> AnyStr:
    """Draw a text in which none to two stretches, often empty ones, are replaced by a piece.

    A reader takes about every third of them, so that what comes after the reader is tried, too.
    """
    text = draw(whole)
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.sampled_from([0, 0, 1, 1, 2, 12]))
        text = text[:start] + draw(pieces) + text[end:]
    return text


FINITE = st.floats(allow_nan=False, allow_infinity=False)


def json_values(
    *leaves: st.SearchStrategy[Any], keys: st.SearchStrategy[str] | None = None, most: int = 10
) -> st.SearchStrategy[Any]:
    """Return JSON values: null, booleans, integers, short texts and these leaves, in lists and objects."""
    plain = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
    names = st.text(max_size=5) if keys is None else keys
    return st.recursive(
        st.one_of(plain, *leaves),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=most,
    )
