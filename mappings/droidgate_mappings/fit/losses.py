"""The table of losses: the code, level, words and hint of each loss of a conversion.

A row of the table says all of one loss; code that reports a loss names its row. A loss that only one format
has is a row in the `write.py` of that format, with a code of this table or one that `finding_code` declares
there. Levels go by the values that the target accepts (docs/concepts/levels.md): a target that accepts more
than the source is `widened`, one that accepts fewer is `narrowed`, also where a description names the limit.
Texts and annotations that are now in a description are `moved`. Where the level depends on what is lost, the
row has a function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from droidgate_mappings.json_schema.schema_words import NOTATION, UNSTATED_BOUNDS
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import CONVERSION_LEVELS, FINDING_CODES, Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.model.type_qualities import WIDER_NUMBERS
from droidgate_mappings.model.types import (
    SCALAR_KINDS,
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mappings.records import dataclass

_MEANINGS: Final[Mapping[str, str]] = {
    "renamed": "The target needs another name; the name map has both",
    "component-renamed": "The target's component is a new class, not the source's",
    "access-not-enforced": "An access rule of the source that nothing enforces in the target",
    "permission-translated": "Callers need the same permission, which another part of Android checks",
    "text-added": "Moved facts are appended to this text",
    "text-moved": "The text is in another field of the target",
    "text-too-long": "The target does not take so long a text; it is written whole",
    "field-moved": "The target does not have this field; it is appended to the description",
    "field-dropped": "The target does not have this field",
    "field-defaulted": "The target requires a value that the source does not state",
    "output-defaulted": (
        "The target requires a declared output, which the source does not have; void or text is written"
    ),
    "output-unknown": (
        "The source does not give the type of the output, and the target has no word for any value; "
        "no output is written"
    ),
    "output-dropped": (
        "The target does not declare outputs; what helps a caller is appended to the description"
    ),
    "output-wrapped": "The target returns named values; the one value is called `result`",
    "structure-moved": (
        "The target does not have this part of a type; its JSON Schema is appended to the description"
    ),
    "extension-dropped": "A fact of another format that the target does not have",
    "extension-moved": "A fact of another format that callers should know, appended to the description",
    "kind-changed": "The target writes this kind of type as another",
    "constraint-moved": "A constraint that the target cannot check, appended to the description",
    "keyword-moved": "A JSON Schema keyword that the target does not have, appended to the description",
    "keyword-dropped": "A JSON Schema keyword that the target does not have and that does not help a caller",
    "notation-dropped": "The target writes the same meaning in its usual way",
    "nullable-moved": "The target cannot allow null; the description says that null is allowed",
    "exclusive-assumed": "The target allows exactly one alternative, the source several",
    "exclusive-dropped": "The target allows several alternatives at once, the source exactly one",
    "alternative-unwrapped": "A choice of one is written as that one",
    "required-assumed": "The target does not have optional values here, so this one is required",
    "items-defaulted": "The target requires the type of an array's items; string is written",
    "type-stated": "The target requires a schema of `type: object`, which the source does not state",
    "definition-dropped": "No capability uses this definition, and the target leaves it out",
    "class-dropped": "The target does not have class names",
    "characters-replaced": "Characters that XML cannot hold are written as U+FFFD",
    "reference-dropped": "A reference to a definition that the source does not declare",
    "reference-wrapped": (
        "The target does not describe a reference; it is written as a choice of one, which it describes"
    ),
    "reference-inlined": "The input refers to an object; its properties are the parameters",
}
"""What each code means."""

for _code, _meaning in _MEANINGS.items():
    finding_code(_code, _meaning, __name__)

TRUSTED_LEVEL: Final = "androidTrusted"
"""The access level of a function that states none."""

ASSERTIONS: Final = frozenset(
    {"type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef"}
    | {"allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"pattern", "minLength", "maxLength"}
    | {"items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems", "maxItems", "uniqueItems"}
    | {"contains", "minContains", "maxContains"}
    | {"properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"}
    | {"required", "dependencies", "dependentRequired", "dependentSchemas"}
    | {"minProperties", "maxProperties"}
)
"""The keywords of JSON Schema that decide which values are accepted."""

SHOWN_ANNOTATIONS: Final = frozenset(
    {"contentEncoding", "contentMediaType", "default", "deprecated", "examples"}
)
"""Annotations that help a caller to choose a value."""

_SPELLINGS: Final = frozenset({"$schema", "$vocabulary"})
CLOSING: Final = frozenset(
    {"additionalProperties", "unevaluatedProperties", "additionalItems", "unevaluatedItems"}
)
"""Keywords that, as a boolean, only say whether what is not declared is allowed."""

_NO_LIMIT: Final[Mapping[str, Json]] = {
    "additionalItems": True,
    "additionalProperties": True,
    "dependentRequired": {},
    "dependentSchemas": {},
    "minContains": 1,
    "minItems": 0,
    "minLength": 0,
    "minProperties": 0,
    "patternProperties": {},
    "required": [],
    "unevaluatedItems": True,
    "unevaluatedProperties": True,
    "uniqueItems": False,
}
"""Values of keywords that allow everything, as if the keyword were missing."""


_FORMS: Final[Mapping[str, type]] = {
    **dict.fromkeys(("allOf", "anyOf", "enum", "oneOf", "required"), list),
    **dict.fromkeys(("patternProperties", "properties"), dict),
}
"""Keywords that people write with a value of another form, and the form that validators read."""


def _allows_everything(keyword: str, value: Json) -> bool:
    is_neutral = keyword in _NO_LIMIT and json_equal(value, _NO_LIMIT[keyword])
    return is_neutral or (keyword in CLOSING and value == {})


def _is_spelling(type_: Type, keyword: str, value: Json) -> bool:
    """Return whether a kept keyword only spells what the type itself says; others (`required: true`, a list
    of `items`, alternatives next to a type, a name that is not a property) say more.
    """
    if keyword in {"$ref", "anyOf"}:
        return isinstance(type_, RefType)
    if keyword == "type":
        return isinstance(type_, ScalarType | ArrayType | ObjectType | RefType)
    if keyword == "properties":
        return isinstance(type_, ObjectType) and value == {}
    if keyword == "required":
        return (
            isinstance(type_, ObjectType)
            and isinstance(value, list)
            and type_.properties.keys() >= _texts(value)
        )
    return keyword == "enum" and isinstance(value, list) and not isinstance(type_, AnyType)


def _texts(values: list[Json]) -> set[Json]:
    """Return a list's members to compare with names; what is not a text equals none."""
    return {value if isinstance(value, str) else None for value in values}


def is_without_bounds(type_: Type) -> bool:
    """Return whether a JSON Schema calls an integer `int32` and does not state the bounds, so that it accepts
    other integers too.
    """
    return type_.kind == "int32" and bool(type_.extensions.get(NOTATION, {}).get(UNSTATED_BOUNDS))


_WIDER_SCALARS: Final[Mapping[str, tuple[str, ...]]] = {**WIDER_NUMBERS, "bytes": ("string",)}
"""Kind -> the kinds that accept each of its values, and more."""


def kind_level(type_: Type, written: str, resolve: Callable[[Type], Type]) -> Level:
    """Return the level of writing a type as another kind, without facts.

    Args:
        type_: The type.
        written: The kind that is written.
        resolve: Returns the type behind references and choices of one.
    """
    if written == "int64" and is_without_bounds(type_):
        return Level.RENAMED
    type_ = resolve(type_)
    if written == "any" or (isinstance(type_, AnyType) and type_.boolean is False):
        return Level.WIDENED
    if type_.kind == written or written in _WIDER_SCALARS.get(type_.kind, ()):
        return Level.WIDENED
    if isinstance(type_, OneOfType | AllOfType):
        inner = [
            resolve(each) for each in (type_.alternatives if isinstance(type_, OneOfType) else type_.members)
        ]
        fits = [each.kind == written or written in _WIDER_SCALARS.get(each.kind, ()) for each in inner]
        if inner and (all(fits) if isinstance(type_, OneOfType) else any(fits)):
            return Level.WIDENED
    return Level.NARROWED


def replaced_level(
    type_: Type,
    written: str,
    resolve: Callable[[Type], Type],
    stated: Level | None,
    loses_null: Callable[[Type, str], bool],
) -> Level:
    """Return the level of writing a type as another kind, null included.

    Args:
        type_: The type.
        written: The kind that is written.
        resolve: Returns the type behind references and choices of one.
        stated: The level that the dialect states for the kind; None where the values decide.
        loses_null: Whether a type allows null in its parts, and the kind in its place does not.
    """
    level = stated or kind_level(type_, written, resolve)
    return Level.NARROWED if level is Level.WIDENED and loses_null(type_, written) else level


def implicit_level(type_: Type) -> Level:
    """Return the level of naming the type of a schema that has no `type`.

    A list of texts as enum has the same meaning; an object or array without `type` also accepts every value
    of another type.
    """
    return Level.NARROWED if isinstance(type_, ObjectType | ArrayType) else Level.RENAMED


def are_disjoint(types: Sequence[Type]) -> bool:
    """Return whether no value can be of two of the types: scalars, arrays and objects of different JSON
    types.
    """
    words = [_JSON_TYPES.get(type_.kind) for type_ in types]
    return None not in words and len(set(words)) == len(words) and not any(type_.nullable for type_ in types)


_JSON_TYPES: Final[Mapping[str, str]] = {
    **{kind: kind for kind in SCALAR_KINDS},
    "int32": "number",
    "int64": "number",
    "float": "number",
    "double": "number",
    "bytes": "string",
    "array": "array",
    "object": "object",
}


def is_usual_format(type_: Type, word: Json) -> bool:
    """Return whether a `format` only repeats the kind of a number, such as `int64`."""
    return type_.kind == word and word in _NUMBER_FORMATS


_NUMBER_FORMATS: Final = frozenset({"int32", "int64", "float", "double"})


def structure_level(field: tuple[str, ...], value: Json) -> Level:
    """Return the level of a leaf of a type whose whole structure is lost, and is in a description.

    Args:
        field: The leaf within its type or property; keywords and extensions have levels of
            their own.
        value: Its value.
    """
    name = field[0]
    if name in {"description", "format", "nullable"} or (name == "required" and value is False):
        return Level.MOVED
    if name == "kind" and value == "any":
        return Level.MOVED
    return Level.RENAMED if name == "implicit" else Level.WIDENED


@dataclass(frozen=True, slots=True)
class LevelByValue:
    """The level of a loss, where it depends on what is lost.

    Attributes:
        decide: Returns the level, given what is lost.
        levels: Those that it returns.
    """

    decide: Callable[..., Level]
    levels: tuple[Level, ...]


ROWS: Final[list[Loss]] = []
"""Every row, those of formats too; filled as modules are imported."""


_BLANK: Final = Finding(code="", level=Level.RENAMED, pointer="", message="")
"""Findings of losses are copies of it: validating each would cost twice as much."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One row of the table.

    Attributes:
        code: The finding's code.
        level: Its level, or what decides it by what is lost.
        words: The message, a template of `str.format`.
        hint: The fix, or None.
        in_text: What is lost is in a description then; where the dialect has none, it is dropped.
    """

    code: str
    level: Level | LevelByValue
    words: str
    hint: str | None = None
    in_text: bool = False

    def __post_init__(self) -> None:
        """Add the row to `ROWS`, or raise KeyError where the code is not declared."""
        _ = FINDING_CODES[self.code]
        ROWS.append(self)

    @property
    def levels(self) -> frozenset[Level]:
        """The levels that a finding of it can have."""
        levels = self.level.levels if isinstance(self.level, LevelByValue) else (self.level,)
        return frozenset((*levels, Level.DROPPED) if self.in_text else levels)

    def level_of(self, *lost: Any, has_text: bool = True) -> Level:
        """Return the level for what is lost; see `finding`."""
        if self.in_text and not has_text:
            return Level.DROPPED
        return self.level.decide(*lost) if isinstance(self.level, LevelByValue) else self.level

    def finding(
        self, pointer: str, *lost: Any, source: Place | None = None, has_text: bool = True, **names: Any
    ) -> Finding:
        """Return the loss as a finding.

        Args:
            pointer: JSON Pointer of the leaf.
            lost: What the row's function of the level takes.
            source: Where it is in the sources.
            has_text: The dialect has a description that can hold what is lost.
            names: What the words name.
        """
        level = self.level_of(*lost, has_text=has_text)
        message = self.words.format(**names)
        return _BLANK.changed(
            {
                "code": self.code,
                "level": level,
                "pointer": pointer,
                "message": message,
                "hint": self.hint,
                "source": source,
            }
        )


def levels_of(code: str) -> list[Level]:
    """Return the levels that losses of a code can have, mildest first; none where no loss has the code."""
    levels = {level for row in ROWS if row.code == code for level in row.levels}
    return [level for level in CONVERSION_LEVELS if level in levels]


def _appended(code: str, level: Level | LevelByValue, words: str) -> Loss:
    return Loss(code, level, words, in_text=True)


_OF_KINDS: Final = (Level.RENAMED, Level.WIDENED, Level.NARROWED)
_OF_STRUCTURE: Final = LevelByValue(structure_level, (Level.RENAMED, Level.MOVED, Level.WIDENED))


# Names and texts
NEW_NAME: Final = Loss("renamed", Level.RENAMED, "{original!r} is {written!r} in the target")
NEW_COMPONENT: Final = Loss(
    "component-renamed", Level.RENAMED, "component renamed from {original} to {written}"
)
XML_CHARACTERS: Final = Loss(
    "characters-replaced", Level.DROPPED, "characters that XML cannot hold became U+FFFD"
)
XML_CHARACTERS_MOVED: Final = Loss(
    "characters-replaced", Level.DROPPED, "{moved}; characters that XML cannot hold became U+FFFD"
)
NOTES_ADDED: Final = Loss("text-added", Level.MOVED, "moved facts are appended to the text")

# The provider
PROVIDER_TEXT: Final = _appended("text-moved", Level.MOVED, "the provider's {name} moved into its {place}")
PROVIDER_FIELD: Final = Loss("field-dropped", Level.DROPPED, "the target does not have the provider's {name}")
REQUIRED_FIELD: Final = Loss(
    "field-defaulted", Level.DEFAULTED, "the target requires {name}; {written!r} is written"
)
COMPONENT: Final = Loss("field-dropped", Level.DROPPED, "the target does not have components")
COMPONENT_ADDED: Final = Loss("field-defaulted", Level.DEFAULTED, "the target's component is {written}")
UNUSED_DEFINITION: Final = Loss(
    "definition-dropped", Level.RENAMED, "no capability uses the definition {name!r}; it is left out"
)

# Capabilities
CAPABILITY_FIELDS: Final[Mapping[str, Loss]] = {
    name: Loss("field-dropped", Level.DROPPED, f"capabilities of the target have no {name}")
    for name in ("version", "title", "description")
}
"""Field of a capability that has no other place -> its loss."""
LONG_DESCRIPTION: Final = Loss(
    "text-too-long",
    Level.IMPOSSIBLE,
    "the description has {count:,} characters; the target takes {most:,}",
    "shorten it in the source",
)
TITLE_AS_DESCRIPTION: Final = _appended("field-moved", Level.MOVED, "the title moved into the description")
EFFECT: Final = _appended("field-moved", Level.MOVED, "the hint is appended to the description")

# Access rules
_CHECK_CALLER: Final = "check the caller in the code that answers the call, or leave the capability out"


def _rule(words: str, hint: str = _CHECK_CALLER) -> Loss:
    return Loss("access-not-enforced", Level.SECURITY, words + "; {target} does not enforce this", hint)


ACCESS_RULES: Final[Mapping[str, Loss]] = {
    "exported": _rule("the source component is not exported"),
    "enabled": _rule(
        "the source component is disabled, on some devices at least",
        "leave the capabilities out while the component is disabled",
    ),
    "permission": _rule("callers need {needed}"),
    "enabled_by_default": _rule(
        "the function is disabled until its app enables it",
        "leave the function out until its app enables it, or refuse calls until then",
    ),
    "restrict_callers": _rule("the function restricts its callers (restrictCallersWithExecuteAppFunctions)"),
    "scope": _rule(
        "the function exists only while an activity of its app is open",
        "leave the function out, or refuse calls while no activity is open",
    ),
    "access_level": _rule("the function's access level keeps other apps out"),
}
"""Field of an access rule -> the loss of one that keeps callers out."""

OPEN_ACCESS: Final[Mapping[str, Loss]] = {
    field: Loss("notation-dropped", Level.RENAMED, words)
    for field, words in {
        "exported": "exported is not stated, so no caller is refused",
        "permission": "an empty permission requires nothing of callers",
        "restrict_callers": "restrictCallersWithExecuteAppFunctions is false, so no caller is refused",
        "access_level": f"the access level is {TRUSTED_LEVEL}, as without one",
    }.items()
}
"""Field of an access rule -> the loss of one that is stated and keeps nobody out."""

EXPORTED_STATED: Final = Loss(
    "notation-dropped",
    Level.RENAMED,
    "exported is not stated; written as true, which Android assumes with an intent filter",
)
EXPORTED_TO_ANDROID: Final = Loss(
    "notation-dropped",
    Level.RENAMED,
    "exported is false, which refuses no caller: only Android binds the component; written as true",
)
CALLER_PERMISSION: Final = Loss(
    "access-not-enforced",
    Level.SECURITY,
    "Android also requires {needed} of callers; the target requires {stated} only",
    _CHECK_CALLER,
)
OTHER_PERMISSION: Final = Loss(
    "access-not-enforced",
    Level.SECURITY,
    "callers need {needed}; in the target they need {caller} instead",
    _CHECK_CALLER,
)
PERMISSION_ADDED: Final = Loss(
    "field-defaulted", Level.DEFAULTED, "the target requires {written}; callers need {caller}"
)
PERMISSION_AS_BEFORE: Final = Loss(
    "permission-translated", Level.RENAMED, "Android requires {caller} of callers, as before"
)
PERMISSION_OF_COMPONENT: Final = Loss(
    "permission-translated",
    Level.RENAMED,
    "Android requires {needed} of callers; the new component requires it itself",
    "no ordinary app can hold it; remove android:permission to let every app call the component",
)

# Inputs and outputs
INPUT_KIND: Final = _appended(
    "structure-moved", LevelByValue(kind_level, _OF_KINDS), "the target takes named parameters"
)
INPUT_REFERENCE: Final = Loss(
    "reference-inlined", Level.RENAMED, "the parameters are those of {name!r}, which the input refers to"
)
PROPERTIES_STATED: Final = Loss(
    "type-stated", Level.RENAMED, "the target requires `properties`, also where there are none"
)
OBJECT_STATED: Final = Loss(
    "type-stated",
    LevelByValue(
        lambda is_object: Level.RENAMED if is_object else Level.NARROWED, (Level.RENAMED, Level.NARROWED)
    ),
    "the target requires a schema of `type: object`",
)
NULL_OF_OBJECT: Final = Loss(
    "nullable-moved", Level.NARROWED, "the target requires an object here, and null is not one"
)
OUTPUT_KIND: Final = _appended(
    "output-dropped",
    LevelByValue(lambda kind: structure_level(("kind",), kind), (Level.MOVED, Level.WIDENED)),
    "the target does not declare outputs",
)
UNKNOWN_OUTPUT: Final = Loss(
    "output-unknown", Level.DROPPED, "the source does not give the type of the output; none is written"
)
VOID_ADDED: Final = Loss(
    "output-defaulted", Level.DEFAULTED, "the source does not declare an output; void is written"
)
TEXT_OUTPUT_ADDED: Final = Loss(
    "output-defaulted",
    Level.DEFAULTED,
    "the source does not declare an output; a text named 'result' is written",
)
SINGLE_OUTPUT: Final = Loss(
    "output-wrapped", Level.RENAMED, "the output is written as an object with 'result'"
)
OWN_DESCRIPTION: Final = _appended(
    "text-moved", Level.MOVED, "it is appended to the capability's description"
)
OPTIONAL: Final = Loss("required-assumed", Level.NARROWED, "the target does not have optional values here")

# Types
KIND: Final = Loss(
    "kind-changed",
    LevelByValue(replaced_level, (*_OF_KINDS, Level.IMPOSSIBLE)),
    "{kind} is not a type of the target; it is written as {written}",
)
STRUCTURE: Final = _appended("structure-moved", _OF_STRUCTURE, "the structure is in the description only")
ITEMS_ADDED: Final = Loss(
    "items-defaulted",
    Level.NARROWED,
    "the target requires the type of the items; string is written",
)
TYPE_DESCRIPTION: Final = _appended(
    "text-moved",
    Level.MOVED,
    "types of the target have no description; it is appended to the capability's",
)
ITEM_DESCRIPTION: Final = Loss(
    "text-moved",
    Level.MOVED,
    "items of an array have no description in the target; it is appended to the array's",
)
DESCRIPTION_ADDED: Final = Loss(
    "field-defaulted", Level.DEFAULTED, "the target requires a description; {written!r} is written"
)
CLASS_NAME: Final = Loss("class-dropped", Level.DROPPED, "the target does not have class names")
CHOICE_CLASS_ADDED: Final = Loss(
    "field-defaulted", Level.DEFAULTED, "the target requires a class name; {written!r} is written"
)
PART_CLASS_ADDED: Final = Loss(
    "field-defaulted", Level.DEFAULTED, "the target chooses by class names; {written!r} is written"
)
CONSTRAINTS: Final[Mapping[str, Loss]] = {
    "enum": _appended("constraint-moved", Level.WIDENED, "the enum is in the description only"),
    "pattern": _appended("constraint-moved", Level.WIDENED, "the pattern is in the description only"),
    "format": _appended("constraint-moved", Level.MOVED, "the format is in the description only"),
}
USUAL_FORMAT: Final = Loss("notation-dropped", Level.RENAMED, "the type itself is {value}")
UNNAMED_TYPE: Final = Loss(
    "notation-dropped",
    LevelByValue(implicit_level, (Level.RENAMED, Level.NARROWED)),
    "the target names the type, which the schema leaves open",
)
TYPE_KEYWORD: Final = Loss("notation-dropped", Level.RENAMED, "the target writes 'type' in its usual way")
NULL: Final = _appended(
    "nullable-moved",
    Level.NARROWED,
    "the target cannot allow null; the description says that the source allows it",
)
NULL_OF_PART: Final = Loss("nullable-moved", Level.RENAMED, "the target states null for the whole type")
NULL_ADDED: Final = Loss("notation-dropped", Level.RENAMED, "what may be left out is null in the target")
NULL_OF_WHOLE: Final = Loss("nullable-moved", Level.RENAMED, "the target allows null for the whole type")
EXCLUSIVE: Final = Loss(
    "exclusive-dropped",
    LevelByValue(
        lambda parts: Level.RENAMED if are_disjoint(parts) else Level.WIDENED, (Level.RENAMED, Level.WIDENED)
    ),
    "the target allows several alternatives at once",
)
INCLUSIVE: Final = Loss(
    "exclusive-assumed",
    LevelByValue(
        lambda parts: Level.RENAMED if are_disjoint(parts) else Level.NARROWED,
        (Level.RENAMED, Level.NARROWED),
    ),
    "the target allows exactly one alternative",
)
CHOICE_OF_ONE: Final = Loss(
    "alternative-unwrapped", Level.RENAMED, "the only alternative is written in place of the choice"
)
BARE_REFERENCE: Final = Loss(
    "reference-wrapped",
    Level.RENAMED,
    "the reference is written as a choice of one, which has the description",
)
INLINED: Final = Loss(
    "notation-dropped", Level.RENAMED, "the definition {name!r} is written in place of the reference"
)
DANGLING_REFERENCE: Final = Loss(
    "reference-dropped",
    Level.DROPPED,
    "{name!r} is not declared in the source; any value is allowed in its place",
)

# Keywords of JSON Schema
KEYWORD_SPELLING: Final = Loss(
    "notation-dropped", Level.RENAMED, "the schema means the same without {keyword!r}"
)
KEYWORD_LIMIT: Final = _appended(
    "keyword-moved", Level.WIDENED, "the keyword {keyword!r} is in the description only"
)
KEYWORD_HIDDEN_LIMIT: Final = Loss(
    "keyword-dropped", Level.WIDENED, "the target does not have the keyword {keyword!r}"
)
KEYWORD_ANNOTATION: Final = _appended(
    "keyword-moved", Level.MOVED, "the keyword {keyword!r} is in the description only"
)
KEYWORD_GONE: Final = Loss(
    "keyword-dropped", Level.DROPPED, "the target does not have the keyword {keyword!r}"
)

# Facts of formats
OWN_FACT: Final = Loss("extension-dropped", Level.DROPPED, "{fact!r} cannot be written in this dialect")
FACT: Final = Loss(
    "extension-dropped", Level.DROPPED, "{fact!r} is a fact of {format_id}, which the target does not have"
)
FACT_IN_TEXT: Final = _appended("extension-moved", Level.MOVED, "{fact!r} is appended to the description")
FACT_OF_NOTATION: Final = Loss(
    "notation-dropped",
    Level.RENAMED,
    "{fact!r} only says how the source is written; the target has its own way",
)
INT32_WITHOUT_BOUNDS: Final = Loss(
    "notation-dropped",
    LevelByValue(
        lambda is_bounded: Level.NARROWED if is_bounded else Level.RENAMED, (Level.RENAMED, Level.NARROWED)
    ),
    "the source calls the integer int32 and does not state the bounds; int32 has them",
)


def keyword_loss(type_: Type, keyword: str, value: Json) -> Loss:
    """Return the loss of a keyword that the algebra does not model; one that is in a text helps callers."""
    if keyword in _SPELLINGS or _is_spelling(type_, keyword, value) or _allows_everything(keyword, value):
        return KEYWORD_SPELLING
    if keyword in CLOSING and isinstance(value, bool):
        return KEYWORD_HIDDEN_LIMIT
    if keyword in ASSERTIONS:
        # Validators do not act on `required: true` and its like; people mean something by it.
        form = _FORMS.get(keyword)
        return KEYWORD_LIMIT if form is None or isinstance(value, form) else KEYWORD_ANNOTATION
    return KEYWORD_ANNOTATION if keyword in SHOWN_ANNOTATIONS else KEYWORD_GONE
