"""The findings of a conversion, by code."""

from __future__ import annotations

from functools import partial
from typing import Final

from droidgate_mappings.model.findings import finding_code

_code = partial(finding_code, module=__name__)

RENAMED: Final = _code("renamed", "The target needs another name; the name map has both")
COMPONENT_RENAMED: Final = _code(
    "component-renamed", "The target's component is a new class, not the source's"
)
ACCESS_NOT_ENFORCED: Final = _code(
    "access-not-enforced", "An access rule of the source that nothing enforces in the target"
)
PERMISSION_TRANSLATED: Final = _code(
    "permission-translated", "Callers need the same permission, which another part of Android checks"
)
TEXT_ADDED: Final = _code("text-added", "Moved facts are appended to this text")
TEXT_MOVED: Final = _code("text-moved", "The text is in another field of the target")
FIELD_MOVED: Final = _code(
    "field-moved", "The target does not have this field; it is appended to the description"
)
FIELD_DROPPED: Final = _code("field-dropped", "The target does not have this field")
FIELD_DEFAULTED: Final = _code(
    "field-defaulted", "The target requires a value that the source does not state"
)
OUTPUT_DEFAULTED: Final = _code(
    "output-defaulted",
    "The target requires a declared output, which the source does not have; void or text is written",
)
OUTPUT_UNKNOWN: Final = _code(
    "output-unknown",
    "The source does not give the type of the output, and the target has no word for any value; no output is "
    "written",
)
OUTPUT_DROPPED: Final = _code(
    "output-dropped",
    "The target does not declare outputs; what helps a caller is appended to the description",
)
OUTPUT_WRAPPED: Final = _code(
    "output-wrapped", "The target returns named values; the one value is called `result`"
)
STRUCTURE_MOVED: Final = _code(
    "structure-moved",
    "The target does not have this part of a type; its JSON Schema is appended to the description",
)
EXTENSION_DROPPED: Final = _code(
    "extension-dropped", "A fact of another format that the target does not have"
)
EXTENSION_MOVED: Final = _code(
    "extension-moved", "A fact of another format that callers should know, appended to the description"
)
KIND_CHANGED: Final = _code("kind-changed", "The target writes this kind of type as another")
CONSTRAINT_MOVED: Final = _code(
    "constraint-moved", "A constraint that the target cannot check, appended to the description"
)
KEYWORD_MOVED: Final = _code(
    "keyword-moved", "A JSON Schema keyword that the target does not have, appended to the description"
)
KEYWORD_DROPPED: Final = _code(
    "keyword-dropped", "A JSON Schema keyword that the target does not have and that does not help a caller"
)
NOTATION_DROPPED: Final = _code("notation-dropped", "The target writes the same meaning in its usual way")
NULLABLE_MOVED: Final = _code(
    "nullable-moved", "The target cannot allow null; the description says that null is allowed"
)
EXCLUSIVE_ASSUMED: Final = _code(
    "exclusive-assumed", "The target allows exactly one alternative, the source several"
)
EXCLUSIVE_DROPPED: Final = _code(
    "exclusive-dropped", "The target allows several alternatives at once, the source exactly one"
)
ALTERNATIVE_UNWRAPPED: Final = _code("alternative-unwrapped", "A choice of one is written as that one")
REQUIRED_ASSUMED: Final = _code(
    "required-assumed", "The target does not have optional values here, so this one is required"
)
ITEMS_DEFAULTED: Final = _code(
    "items-defaulted", "The target requires the type of an array's items; string is written"
)
TYPE_STATED: Final = _code(
    "type-stated", "The target requires a schema of `type: object`, which the source does not state"
)
DEFINITION_DROPPED: Final = _code(
    "definition-dropped", "No capability uses this definition, and the target leaves it out"
)
CLASS_DROPPED: Final = _code("class-dropped", "The target does not have class names")
CHARACTERS_REPLACED: Final = _code(
    "characters-replaced", "Characters that XML cannot hold are written as U+FFFD"
)
REFERENCE_DROPPED: Final = _code(
    "reference-dropped", "A reference to a definition that the source does not declare"
)
REFERENCE_WRAPPED: Final = _code(
    "reference-wrapped",
    "The target does not describe a reference; it is written as a choice of one, which it describes",
)
REFERENCE_INLINED: Final = _code(
    "reference-inlined", "The input refers to an object; its properties are the parameters"
)
