"""The findings of a conversion, by code."""

from __future__ import annotations

from typing import Final

from droidgate.model.findings import finding_code

RENAMED: Final = finding_code("renamed", "The target needs another name; the name map has both", __name__)
COMPONENT_RENAMED: Final = finding_code(
    "component-renamed", "The target's component is a new class, not the source's", __name__
)
ACCESS_NOT_ENFORCED: Final = finding_code(
    "access-not-enforced", "An access rule of the source that nothing enforces in the target", __name__
)
PERMISSION_TRANSLATED: Final = finding_code(
    "permission-translated",
    "Callers need the same permission, which another part of Android checks",
    __name__,
)
TEXT_ADDED: Final = finding_code("text-added", "Moved facts are appended to this text", __name__)
TEXT_MOVED: Final = finding_code("text-moved", "The text is in another field of the target", __name__)
FIELD_MOVED: Final = finding_code(
    "field-moved", "The target does not have this field; it is appended to the description", __name__
)
FIELD_DROPPED: Final = finding_code("field-dropped", "The target does not have this field", __name__)
FIELD_DEFAULTED: Final = finding_code(
    "field-defaulted", "The target requires a value that the source does not state", __name__
)
OUTPUT_DEFAULTED: Final = finding_code(
    "output-defaulted",
    "The target requires a declared output, which the source does not have; void or text is written",
    __name__,
)
OUTPUT_UNKNOWN: Final = finding_code(
    "output-unknown",
    "The source does not give the type of the output, and the target has no word for any value; no output is "
    "written",
    __name__,
)
OUTPUT_DROPPED: Final = finding_code(
    "output-dropped",
    "The target does not declare outputs; what helps a caller is appended to the description",
    __name__,
)
OUTPUT_WRAPPED: Final = finding_code(
    "output-wrapped", "The target returns named values; the one value is called `result`", __name__
)
STRUCTURE_MOVED: Final = finding_code(
    "structure-moved",
    "The target does not have this part of a type; its JSON Schema is appended to the description",
    __name__,
)
EXTENSION_DROPPED: Final = finding_code(
    "extension-dropped", "A fact of another format that the target does not have", __name__
)
EXTENSION_MOVED: Final = finding_code(
    "extension-moved",
    "A fact of another format that callers should know, appended to the description",
    __name__,
)
KIND_CHANGED: Final = finding_code("kind-changed", "The target writes this kind of type as another", __name__)
CONSTRAINT_MOVED: Final = finding_code(
    "constraint-moved", "A constraint that the target cannot check, appended to the description", __name__
)
KEYWORD_MOVED: Final = finding_code(
    "keyword-moved",
    "A JSON Schema keyword that the target does not have, appended to the description",
    __name__,
)
KEYWORD_DROPPED: Final = finding_code(
    "keyword-dropped",
    "A JSON Schema keyword that the target does not have and that does not help a caller",
    __name__,
)
SPELLING_DROPPED: Final = finding_code(
    "spelling-dropped", "The target writes the same meaning in its usual way", __name__
)
NULLABLE_MOVED: Final = finding_code(
    "nullable-moved", "The target cannot allow null; the description says that null is allowed", __name__
)
EXCLUSIVE_ASSUMED: Final = finding_code(
    "exclusive-assumed", "The target allows exactly one alternative, the source several", __name__
)
EXCLUSIVE_DROPPED: Final = finding_code(
    "exclusive-dropped", "The target allows several alternatives at once, the source exactly one", __name__
)
ALTERNATIVE_UNWRAPPED: Final = finding_code(
    "alternative-unwrapped", "A choice of one is written as that one", __name__
)
REQUIRED_ASSUMED: Final = finding_code(
    "required-assumed", "The target does not have optional values here, so this one is required", __name__
)
ITEMS_DEFAULTED: Final = finding_code(
    "items-defaulted", "The target requires the type of an array's items; string is written", __name__
)
TYPE_STATED: Final = finding_code(
    "type-stated", "The target requires a schema of `type: object`, which the source does not state", __name__
)
DEFINITION_DROPPED: Final = finding_code(
    "definition-dropped", "No capability uses this definition, and the target leaves it out", __name__
)
CLASS_DROPPED: Final = finding_code("class-dropped", "The target does not have class names", __name__)
CHARACTERS_REPLACED: Final = finding_code(
    "characters-replaced", "Characters that XML cannot hold are written as U+FFFD", __name__
)
REFERENCE_DROPPED: Final = finding_code(
    "reference-dropped", "A reference to a definition that the source does not declare", __name__
)
REFERENCE_WRAPPED: Final = finding_code(
    "reference-wrapped",
    "The target does not describe a reference; it is written as a choice of one, which it describes",
    __name__,
)
REFERENCE_INLINED: Final = finding_code(
    "reference-inlined", "The input refers to an object; its properties are the parameters", __name__
)
