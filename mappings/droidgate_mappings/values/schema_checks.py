"""What is wrong with a JSON Schema, so that no value, or not the value that it names, can be given by it.

A schema is checked against its dialect's meta-schema, and then for what no meta-schema finds: references that
lead nowhere, patterns that are not regular expressions of ECMA-262, bounds that exclude everything, and names
and values that contradict the rest of the schema. A schema that is plainly of its form is not checked against
its meta-schema, which takes a thousand times as long; so is a value that is plainly accepted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeGuard
from urllib.parse import unquote, urldefrag, urljoin

from droidgate_mappings.json_schema.schema_words import ReferenceTargets, is_flag, is_text
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, LintRule, LintRules
from droidgate_mappings.model.json_values import (
    Json,
    json_equal,
    one_line_json,
    pointer_name,
    pointer_token,
    shown_json,
)
from droidgate_mappings.records import dataclass, field

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

_BOOK: Final = LintRules("JSON Schema", __name__, "schema-")
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

# fmt: off
DIALECT: Final = _warning("dialect", "core 8.1.1", "`$schema` names a published dialect of JSON Schema",
    "remove `$schema`: a schema without it is 2020-12")
FORM: Final = _error("form", "meta-schema", "Each keyword has a value of the form that its dialect requires")
REFERENCE: Final = _error("reference", "core 8.2.3.1", "A reference leads to a schema of the same document",
    "declare the schema under `$defs`, or correct the reference")
REMOTE_REFERENCE: Final = _warning("remote-reference", "core 8.2.3.1",
    "A reference stays inside of the document, since clients do not download schemas",
    "copy the schema to `$defs` and refer to it there")
PATTERN: Final = _error("pattern", "core 6.4", "A pattern is a regular expression of ECMA-262",
    "correct the pattern; ECMA-262 is the syntax of JavaScript")
REQUIRED: Final = _note("required-unknown", "validation 6.5.3", "Each required property is described",
    "describe it under `properties`, or remove it from `required`")
BOUNDS: Final = _error("bounds", "validation 6", "A lower limit is not above the upper one",
    "correct one of the limits")
ENUM: Final = _warning("enum", "validation 6.1.2", "The rest of a schema accepts each value of its `enum`",
    "correct the values, or the keyword that refuses them")
CONST: Final = _error("const", "validation 6.1.3", "The rest of a schema accepts its `const`",
    "correct `const`, or the keyword that refuses it")
DEFAULT: Final = _warning("default", "validation 9.2", "A schema accepts its own `default`",
    "correct or remove the default")
# fmt: on

_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_TYPE_OF_WORD: Final = {
    **dict.fromkeys(("int", "int32", "int64", "long", "short"), "integer"),
    **dict.fromkeys(("float", "double", "decimal"), "number"),
    **dict.fromkeys(("str", "text", "date", "char", "enum", "uri"), "string"),
    **dict.fromkeys(("list", "tuple", "set"), "array"),
    **dict.fromkeys(("dict", "map", "json", "record"), "object"),
    **dict.fromkeys(("none", "nil", "void"), "null"),
    "bool": "boolean",
}
_MAX_STEPS: Final = 100_000
"""Keywords that are applied to the values in a schema, which can refer to itself without end."""
_MAX_JUDGED: Final = 20_000
"""Characters of a value that is judged."""
_REFUSED_HINT: Final = "remove it from `required`, or give it a schema that accepts a value"
_LONGEST_CHAIN: Final = 100
"""References that are followed to find one that leads back to itself."""


def check_schema(schema: Json, *, pointer: str, source: Place | None) -> Iterator[Finding]:
    """Yield what is wrong with a schema, one finding for each part and rule.

    Args:
        schema: A JSON value that should be a schema.
        pointer: JSON Pointer of the schema in its document, which the findings' pointers start with.
        source: Where the document is; each finding's place has its pointer too.
    """
    for rule, inner, message, changes in sorted(_check(schema), key=lambda fault: fault[1:3]):
        place = source and source.changed({"inner": (pointer + inner) or None})
        yield rule.broken(message, pointer=pointer + inner, source=place, **changes)


_Fault = tuple[LintRule, str, str, dict[str, Any]]
"""A rule, the pointer in the schema, the message, and what replaces the rule's own hint and level."""


def _check(schema: Json) -> Iterator[_Fault]:
    if isinstance(schema, bool):
        return
    stated = schema.get("$schema") if isinstance(schema, Mapping) else None
    dialect = dialect_of_schema(stated)
    if dialect is None:
        yield DIALECT, "/$schema", f"{shown_json(stated)} is not a dialect of JSON Schema", {}
        dialect = NEWEST
    form_errors = () if is_plain_schema(schema, dialect) else tuple(_form_errors(schema, dialect))
    yield from form_errors
    if isinstance(schema, Mapping):
        yield from _Parts(schema, dialect, [inner for _, inner, *_ in form_errors]).check()


NEWEST: Final = "2020-12"
"""The dialect of a schema that states none."""
_DIALECTS: Final = {
    **{f"//json-schema.org/draft-0{number}/schema": f"draft-0{number}" for number in (3, 4, 6, 7)},
    "//json-schema.org/draft/2019-09/schema": "2019-09",
    "//json-schema.org/draft/2020-12/schema": NEWEST,
    "//json-schema.org/schema": NEWEST,
}


def dialect_of_schema(stated: Json) -> str | None:
    """Return the id of the dialect that `$schema` states, else the newest; None for an unknown one."""
    if not isinstance(stated, str):
        return NEWEST
    return _DIALECTS.get(stated.removesuffix("#").removeprefix("https:").removeprefix("http:"))


def is_plain_schema(schema: Json, dialect: str = NEWEST) -> bool:
    """Return whether a schema has only usual keywords, each with a value of its form.

    A schema that is not plain may be right too.

    Args:
        schema: A JSON value.
        dialect: Id of its dialect, such as `draft-07`; older ones than that have no plain schemas.
    """
    if dialect not in {"draft-07", "2019-09", NEWEST}:
        return False
    if isinstance(schema, bool):
        return True
    if not isinstance(schema, dict):
        return False
    return all(
        _FORMS[word](value) if word in _FORMS else word not in _UNUSUAL for word, value in schema.items()
    )


def is_number(value: Json) -> TypeGuard[Any]:
    """Return whether a JSON value is a number."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_type(value: Json) -> bool:
    if isinstance(value, list):
        return bool(value) and _are_names(value) and all(map(_is_type, value))
    return isinstance(value, str) and value in _TYPES


def _are_schemas(value: Json) -> bool:
    return isinstance(value, dict) and all(map(is_plain_schema, value.values()))


def _are_alternatives(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_plain_schema, value))


def _are_names(value: Json) -> TypeGuard[list[str]]:
    return isinstance(value, list) and all(map(is_text, value)) and len(set(value)) == len(value)


_FORMS: Final[dict[str, Callable[[Json], bool]]] = {
    "type": _is_type,
    **dict.fromkeys(("title", "description", "format", "pattern", "$comment", "$ref", "$schema"), is_text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), is_text),
    **dict.fromkeys(("deprecated", "readOnly", "writeOnly", "uniqueItems"), is_flag),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("properties", "patternProperties", "$defs", "definitions"), _are_schemas),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), _are_alternatives),
    **dict.fromkeys(("additionalProperties", "items", "not", "propertyNames"), is_plain_schema),
    **dict.fromkeys(("enum", "examples"), lambda value: isinstance(value, list)),
    **dict.fromkeys(("default", "const"), lambda _: True),
    "required": _are_names,
    "multipleOf": lambda value: is_number(value) and value > 0,
}
_UNUSUAL: Final = frozenset(
    {"$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"}
    | {"$vocabulary", "dependencies", "dependentSchemas", "dependentRequired", "unevaluatedItems"}
    | {"unevaluatedProperties", "additionalItems", "prefixItems", "contains", "minContains", "maxContains"}
    | {"contentSchema", "if", "then", "else"}
)
"""Keywords of a dialect's meta-schema that `_FORMS` leaves to it."""


def _validators() -> Any:
    # jsonschema takes 0.06 s to import, and few schemas need it.
    from jsonschema import validators

    return validators


def _validator_class(dialect: str) -> Any:
    name = dialect.replace("draft-0", "").replace("-", "")
    return getattr(_validators(), f"Draft{name}Validator")


def _form_errors(schema: Json, dialect: str) -> Iterator[_Fault]:
    validator = _validator_class(dialect)
    described: dict[str, tuple[str, str]] = {}
    for error in validator(validator.META_SCHEMA).iter_errors(schema):
        for leaf in _leaves(error):
            pointer = "".join(f"/{pointer_token(str(token))}" for token in leaf.absolute_path)
            # The order of errors is not that of the schema, and changes.
            described[pointer] = min(described.get(pointer, _describe(leaf)), _describe(leaf))
    for pointer, (message, hint) in described.items():
        yield FORM, pointer, message, {"hint": hint}


def _leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the errors of the alternative that a value was meant for, else the error itself."""
    branches: dict[Json, list[ValidationError]] = defaultdict(list)
    if error.absolute_path and error.absolute_path[-1] != "type":
        for inner in error.context or ():
            branches[inner.relative_schema_path[0]].append(inner)
    for errors in branches.values():
        if not any(inner.validator == "type" and not inner.relative_path for inner in errors):
            for inner in errors:
                yield from _leaves(inner)
            return
    yield error


_KINDS: Final = {
    "array": ("a list", "write a list"),
    "boolean": ("true or false", "write true or false"),
    "integer": ("a whole number", "write a whole number, without quotes"),
    "number": ("a number", "write a number, without quotes"),
    "object": ("an object", "write an object"),
    "string": ("a text", "write a text in quotes"),
}


def _describe(error: ValidationError) -> tuple[str, str]:
    """Return the message and the fix of an error of a meta-schema."""
    path = [str(token) for token in error.absolute_path]
    word = next((token for token in reversed(error.absolute_path) if isinstance(token, str)), "")
    value, expected = error.instance, error.validator_value
    value_text = shown_json(value)
    subject = f"`{word}` is {value_text}" if word else value_text
    if "type" in path[-2:] and word == "type":
        return _describe_type(value)
    if word == "items" and isinstance(value, list):
        hint = "write one schema for all items, or rename `items` to `prefixItems`"
        return "`items` is a list of schemas, which 2020-12 has under `prefixItems`", hint
    if word == "required" and isinstance(value, bool):
        hint = "write the property's name into the list `required` of the object that has the property"
        return f"{subject}, which is not a list of names", hint
    if error.validator == "type" and isinstance(expected, list) and "boolean" in expected:
        is_not = "which is not a schema" if word else "is not a schema"
        type_ = value if isinstance(value, str) and value in _TYPES else "string"
        return f"{subject}, {is_not}" if word else f"{subject} {is_not}", f'write {{"type": "{type_}"}}'
    if error.validator == "type" and isinstance(expected, str):
        kind, hint = _KINDS.get(expected, (expected, f"write {expected}"))
        return f"{subject}, which is not {kind}" if word else f"{subject} is not a schema", hint
    if error.validator == "minItems":
        return f"`{word}` is an empty list", "write at least one entry, or remove the keyword"
    if error.validator == "uniqueItems":
        return f"{subject}, which has an entry twice", "remove the second one"
    if error.validator in {"minimum", "exclusiveMinimum"}:
        limit = "above 0" if word in {"multipleOf", "divisibleBy"} else "0 or more"
        return f"{subject}, which is not {limit}", f"write a number that is {limit}"
    return f"{subject}, which its dialect does not allow", "write a value that the meta-schema allows"


def _describe_type(value: Json) -> tuple[str, str]:
    words = value if isinstance(value, list) else [value]
    unknown = [word for word in words if word not in _TYPES]
    if not unknown:
        message = "has a type twice" if words else "has no type"
        return f"`type` is {shown_json(value)}, which {message}", "write each type once, and at least one"
    type_name = _TYPE_OF_WORD.get(str(unknown[0]).lower())
    hint = f'write "{type_name}"' if type_name else f"write one of {', '.join(_TYPES)}"
    return f"{shown_json(unknown[0])} is not a type of JSON Schema", hint


_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "dependentSchemas", "if", "then", "else"})
"""Keywords whose schemas apply to the same value as the schema that has them."""


@dataclass(slots=True)
class _Parts:
    """The checks of a schema and of the schemas in it, apart from their form."""

    root: Mapping[str, Json]
    dialect: str
    malformed: list[str]
    parts: dict[str, Mapping[str, Json]] = field(init=False)
    resources: dict[str, str] = field(default_factory=dict)
    roots: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    anchors: dict[str, str] = field(default_factory=dict)
    judge: Callable[[Mapping[str, Json], Json], str | None] | None = None

    def __post_init__(self) -> None:
        self.parts = dict(sorted(ReferenceTargets(self.root).parts.items()))
        for pointer, part in self.parts.items():
            stated = part.get("id" if self.dialect in {"draft-03", "draft-04"} else "$id")
            if not pointer or (isinstance(stated, str) and not stated.startswith("#")):
                own = stated if isinstance(stated, str) else ""
                self.resources[pointer] = urldefrag(urljoin(self.base_of(pointer), own)).url
                self.roots[self.resources[pointer]].append(pointer)
            for name in _anchors(part):
                self.anchors.setdefault(name, pointer)

    def check(self) -> Iterator[_Fault]:
        leading = {pointer: self.target_of(pointer) for pointer in self.parts}
        names_by_pointer = self.known_names(leading)
        for pointer, part in self.parts.items():
            yield from self.check_reference(pointer, leading)
            yield from self.check_patterns(pointer, part)
            if not _is_negated(pointer):
                yield from self.check_required(pointer, part, names_by_pointer.get(pointer))
                for message, inner in _contradictions(part):
                    yield BOUNDS, f"{pointer}/{inner}", message, {}
                yield from self.check_values(pointer, part)

    def base_of(self, pointer: str) -> str:
        """Return the URI that a reference at a pointer is relative to."""
        while pointer not in self.resources:
            if not pointer:
                return ""
            pointer = pointer.rpartition("/")[0]
        return self.resources[pointer]

    def target_of(self, pointer: str) -> str | bool | None:
        """Return where the reference of a part leads: the pointer of the target; True for a schema elsewhere,
        False for nothing, None without a reference.
        """
        reference = self.parts[pointer].get("$ref")
        if not isinstance(reference, str):
            return None
        base = self.base_of(pointer)
        url, fragment = urldefrag(reference)
        url = urldefrag(urljoin(base, url)).url if url else base
        if url not in self.roots:
            return True
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self.anchors.get(fragment, False)
        targets = (self.locate(root + fragment) for root in self.roots[url])
        return next((target for target in targets if target is not None), False)

    def locate(self, pointer: str) -> str | bool | None:
        """Return a pointer where it leads to a schema, also under a keyword that is not one of JSON Schema;
        True for a schema that is true or false.
        """
        if pointer in self.parts:
            return pointer
        value: Json = self.root
        for token in pointer.split("/")[1:]:
            name = pointer_name(token)
            if isinstance(value, Mapping):
                value = value.get(name)
            elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return True if isinstance(value, Mapping | bool) else None

    def check_reference(self, pointer: str, leading: Mapping[str, str | bool | None]) -> Iterator[_Fault]:
        target = leading[pointer]
        reference = self.parts[pointer].get("$ref")
        here = f"{pointer}/$ref"
        if target is False:
            yield REFERENCE, here, f"{shown_json(reference)} leads to no schema of this document", {}
        elif target is True and not str(reference).startswith("#") and dialect_of_schema(reference) is None:
            yield REMOTE_REFERENCE, here, f"{shown_json(reference)} is another document", {}
        passed: set[str] = set()
        while isinstance(target, str) and target not in passed and len(passed) < _LONGEST_CHAIN:
            passed.add(target)
            target = leading[target]
        if pointer in passed:
            hint = "describe the value, or remove the reference"
            yield REFERENCE, here, f"{shown_json(reference)} leads back to itself", {"hint": hint}

    def check_patterns(self, pointer: str, part: Mapping[str, Json]) -> Iterator[_Fault]:
        stated = part.get("pattern")
        patterns = {f"{pointer}/pattern": stated} if isinstance(stated, str) else {}
        pattern_properties = part.get("patternProperties")
        for name in pattern_properties if isinstance(pattern_properties, Mapping) else ():
            patterns[f"{pointer}/patternProperties/{pointer_token(name)}"] = name
        if not patterns:
            return
        # The module takes 0.015 s to import.
        from droidgate_mappings.values.patterns import find_pattern_error

        for here, pattern in patterns.items():
            error = find_pattern_error(pattern)
            if error is not None:
                yield PATTERN, here, f"{shown_json(pattern)} is not a pattern of ECMA-262: {error}", {}

    def known_names(self, leading: Mapping[str, str | bool | None]) -> dict[str, frozenset[str] | None]:
        """Return for each part the names of properties that a schema of the same value describes.

        The schemas of one value are joined by references and by keywords such as `allOf`. None where one of
        them can describe any name.
        """
        group = {pointer: pointer for pointer in self.parts}

        def first_of(pointer: str) -> str:
            while group[pointer] != pointer:
                group[pointer] = group[group[pointer]]
                pointer = group[pointer]
            return pointer

        for pointer, target in leading.items():
            holder, _, last = pointer.rpartition("/")
            around, _, word = holder.rpartition("/")
            outer = holder if last in _IN_PLACE else around if word in _IN_PLACE else None
            for place in (outer, target):
                if isinstance(place, str) and place in group and pointer:
                    group[first_of(pointer)] = first_of(place)
        names: dict[str, set[str]] = defaultdict(set)
        open_groups = set()
        for pointer, part in self.parts.items():
            own = first_of(pointer)
            properties = part.get("properties")
            names[own].update(properties if isinstance(properties, Mapping) else ())
            if leading[pointer] in {True, False} or _describes_any_name(part):
                open_groups.add(own)
        return {
            pointer: None if (own := first_of(pointer)) in open_groups else frozenset(names[own])
            for pointer in self.parts
        }

    def check_required(
        self, pointer: str, part: Mapping[str, Json], known_names: frozenset[str] | None
    ) -> Iterator[_Fault]:
        required = part.get("required")
        if not _are_names(required):
            return
        properties = part.get("properties")
        own = properties.keys() if isinstance(properties, Mapping) else set()
        is_closed = part.get("additionalProperties") is False and not part.get("patternProperties")
        for name in required:
            if is_closed and name not in own:
                message = f"{name!r} is required, and `additionalProperties` refuses it"
                yield REQUIRED, f"{pointer}/required", message, {"level": Level.ERROR}
            elif isinstance(properties, Mapping) and _refuses_all(properties.get(name)):
                message = f"{name!r} is required, and its schema refuses every value"
                yield REQUIRED, f"{pointer}/required", message, {"level": Level.ERROR, "hint": _REFUSED_HINT}
            elif known_names is not None and name not in known_names:
                yield REQUIRED, f"{pointer}/required", f"{name!r} is required and not described", {}

    def check_values(self, pointer: str, part: Mapping[str, Json]) -> Iterator[_Fault]:
        values = part.get("enum")
        if isinstance(values, list):
            yield from self.check_enum(pointer, values)
        for word, rule, subject in (("const", CONST, "`const` is"), ("default", DEFAULT, "the default is")):
            for value, reason in self.refusals(pointer, word, [part[word]] if word in part else []):
                yield rule, f"{pointer}/{word}", f"{subject} {shown_json(value)}, but {reason}", {}

    def check_enum(self, pointer: str, values: list[Json]) -> Iterator[_Fault]:
        here = f"{pointer}/enum"
        if not values:
            message = "`enum` is an empty list, so no value is accepted"
            yield ENUM, here, message, {"level": Level.ERROR, "hint": "list the values, or remove `enum`"}
            return
        refused = list(self.refusals(pointer, "enum", values))
        if not refused:
            return
        value, reason = refused[0]
        is_every = len(refused) == len(values)
        subject = f"{len(refused)} enum values are refused, the first is {shown_json(value)}"
        if len(refused) == 1:
            subject = f"the enum value {shown_json(value)} is refused"
        elif is_every:
            subject = f"every enum value is refused, the first is {shown_json(value)}"
        level = Level.ERROR if is_every else Level.WARNING
        position = next(at for at, item in enumerate(values) if item is value)
        yield ENUM, f"{here}/{position}", f"{subject}: {reason}", {"level": level}

    def refusals(self, pointer: str, word: str, values: list[Json]) -> Iterator[tuple[Json, str]]:
        """Yield the values that the part at a pointer refuses, apart from one keyword, each with the reason.

        What cannot be found out is not refused.
        """
        part = self.parts[pointer]
        rest = {name: stated for name, stated in part.items() if name not in {word, "default", "$schema"}}
        if any(f"{inner}/".startswith(f"{pointer}/") for inner in self.malformed):
            return
        # `nullable` of OpenAPI adds null to the type.
        is_nullable = part.get("nullable") is True
        judged = (value for value in values if value is not None or not is_nullable)
        unclear = [value for value in judged if not _plainly_accepts(rest, value)]
        if not unclear:
            return
        text = one_line_json(rest)
        if self.malformed and "$ref" in text:
            return
        # jsonschema matches names of properties by Python's engine, which can be made to run for ever.
        by_pattern = "patternProperties"
        is_safe = by_pattern not in text and (
            "$ref" not in text or not any(by_pattern in inner for inner in self.parts.values())
        )
        if self.judge is None:
            self.judge = _judge(self.root, self.dialect)
        for value in unclear:
            is_flat = not isinstance(value, dict | list)
            if (is_safe or is_flat) and len(one_line_json(value)) <= _MAX_JUDGED:
                reason = self.judge(rest, value)
                if reason is not None:
                    yield value, reason


def _refuses_all(schema: Json) -> bool:
    return schema is False or (isinstance(schema, Mapping) and schema.get("not") in (True, {}))


def _is_negated(pointer: str) -> bool:
    """Return whether a schema is inside of a `not`, where what accepts nothing has a meaning."""
    names_follow = {"properties", "patternProperties", "$defs", "definitions"}
    return any(word == "not" and before not in names_follow for before, word in pairwise(pointer.split("/")))


def _anchors(part: Mapping[str, Json]) -> set[str]:
    """Return the names of a schema that a fragment can have."""
    identifiers = [part.get(word) for word in ("$id", "id")]
    anchors = [part.get(word) for word in ("$anchor", "$dynamicAnchor")]
    return {
        *(name for name in anchors if isinstance(name, str)),
        *(name[1:] for name in identifiers if isinstance(name, str) and name.startswith("#")),
    }


def _describes_any_name(part: Mapping[str, Json]) -> bool:
    """Return whether a schema describes properties without naming them, or may do so."""
    if part.keys() & {"patternProperties", "$dynamicRef", "$recursiveRef", "enum", "const", "dependencies"}:
        return True
    others = (part.get(word) for word in ("additionalProperties", "unevaluatedProperties", "propertyNames"))
    return any(isinstance(rest, Mapping) and bool(rest) for rest in others)


_PAIRS: Final = {
    **{f"min{word}": f"max{word}" for word in ("Length", "Items", "Properties", "Contains")},
    "minimum": "maximum",
}


def _contradictions(part: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield message and keyword of a lower limit above the upper one."""
    for lower, upper in _PAIRS.items():
        low, high = part.get(lower), part.get(upper)
        if is_number(low) and is_number(high) and low > high:
            yield f"`{lower}` is {low} and `{upper}` is {high}, so no value fits", lower


def exact_number(number: Json) -> Fraction:
    """Return a JSON number as its digits say it."""
    return Fraction(repr(number) if isinstance(number, float) else number)


_ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "examples",
        "default",
        "$comment",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$schema",
    }
)


def _plainly_accepts(schema: Mapping[str, Json], value: Json) -> bool:
    """Return whether a schema with usual keywords accepts a value; False also where that is not plain."""
    return all(_holds(word, stated, value) for word, stated in schema.items() if word not in _ANNOTATIONS)


def _holds(word: str, stated: Json, value: Json) -> bool:
    if word == "type":
        return any(_is_of_type(value, item) for item in (stated if isinstance(stated, list) else [stated]))
    if word == "enum":
        return any(json_equal(value, item) for item in stated)
    if word == "const":
        return json_equal(value, stated)
    if word in {"minimum", "maximum"}:
        sign = 1 if word == "minimum" else -1
        return not is_number(value) or exact_number(value) * sign >= exact_number(stated) * sign
    if word in {"minLength", "maxLength"}:
        return not isinstance(value, str) or (
            len(value) >= stated if word == "minLength" else len(value) <= stated
        )
    if word == "items":
        return isinstance(value, str | bool | int | float | Decimal | None) or value == []
    return (word not in _FORMS and word not in _UNUSUAL) or word in {"format", "$defs", "definitions"}


def _is_of_type(value: Json, word: str) -> bool:
    if value is None or isinstance(value, bool):
        return word == ("null" if value is None else "boolean")
    if isinstance(value, int | float | Decimal):
        return word == "number" or (word == "integer" and exact_number(value).denominator == 1)
    if isinstance(value, str):
        return word == "string"
    return word == ("array" if isinstance(value, list) else "object")


class _TooManyStepsError(Exception):
    """A value is not judged, because that would take too long."""


def _judge(root: Mapping[str, Json], dialect: str) -> Callable[[Mapping[str, Json], Json], str | None]:
    """Return a function from a schema inside of `root` and a value to the reason why it is refused.

    Patterns are matched in linear time or not at all, and no reference is downloaded.
    """
    from jsonschema.exceptions import ValidationError, best_match
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    from droidgate_mappings.values.patterns import (
        UnsupportedPatternError,
        compile_pattern,
    )

    steps = 0

    def matches(pattern: str, value: str) -> bool:
        try:
            return compile_pattern(pattern).matches(value)
        except UnsupportedPatternError as error:
            raise _TooManyStepsError from error

    def check_pattern(_: Validator, pattern: Json, value: Json, __: Json) -> Iterator[ValidationError]:
        if isinstance(value, str) and not matches(pattern, value):
            yield ValidationError(f"{value!r} does not match {pattern!r}")

    def check_multiple(_: Validator, step: Json, value: Json, __: Json) -> Iterator[ValidationError]:
        if is_number(value) and (exact_number(value) / exact_number(step)).denominator != 1:
            yield ValidationError(f"{value!r} is not a multiple of {step!r}")

    def counted(check: Callable[..., Any]) -> Callable[..., Any]:
        def check_counted(*arguments: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps > _MAX_STEPS:
                raise _TooManyStepsError
            return check(*arguments)

        return check_counted

    chosen = _validator_class(dialect)
    own = {"pattern": check_pattern, "multipleOf": check_multiple}
    checks = {word: counted(check) for word, check in {**chosen.VALIDATORS, **own}.items()}
    validator = _validators().extend(chosen, checks)(_in_one_dialect(root), registry=Registry())

    def judge(schema: Mapping[str, Json], value: Json) -> str | None:
        try:
            error = best_match(validator.descend(value, _in_one_dialect(schema)))
        except (_TooManyStepsError, RecursionError, Unresolvable):
            return None
        return None if error is None else _reason(error)

    return judge


def _in_one_dialect(schema: Json) -> Json:
    """Return a schema without the `$schema` in it, for which jsonschema would leave out our own checks."""
    if isinstance(schema, dict):
        return {
            word: _in_one_dialect(value)
            for word, value in schema.items()
            if word != "$schema" or not isinstance(value, str)
        }
    return [_in_one_dialect(item) for item in schema] if isinstance(schema, list) else schema


def _reason(error: ValidationError) -> str:
    """Return why a value is refused, in a few words."""
    stated = error.validator_value
    if error.validator is None:
        reason = "the schema is false"
    elif error.validator == "type":
        words = stated if isinstance(stated, list) else [stated]
        reason = f"the type is {' or '.join(map(str, words))}"
    elif error.validator in {"anyOf", "oneOf"}:
        reason = (
            f"no schema of `{error.validator}` accepts it"
            if error.context
            else f"several schemas of `{error.validator}` accept it"
        )
    elif error.validator == "required":
        reason = error.message.replace("is a required property", "is required")
    elif isinstance(stated, bool | Mapping) or (isinstance(stated, list) and error.validator != "enum"):
        reason = f"`{error.validator}` refuses it"
    else:
        reason = f"`{error.validator}` is {shown_json(stated)}"
    inside = "".join(f"/{pointer_token(str(token))}" for token in error.path)
    return f"at {inside} {reason}" if inside else reason
