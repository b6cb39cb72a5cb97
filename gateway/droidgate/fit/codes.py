"""The findings of a crossing, by code."""

from __future__ import annotations

from typing import Final

from droidgate.model.findings import finding_code

RENAMED: Final = finding_code("renamed", "The target needs another name; the name map leads back", __name__)
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
TEXT_ADDED: Final = finding_code("text-added", "What moved stands at the end of this text", __name__)
TEXT_MOVED: Final = finding_code("text-moved", "Told in another text field of the target", __name__)
FIELD_MOVED: Final = finding_code(
    "field-moved", "A field without a place in the target, told in the description", __name__
)
FIELD_DROPPED: Final = finding_code("field-dropped", "A field without a place in the target", __name__)
FIELD_DEFAULTED: Final = finding_code(
    "field-defaulted", "The target demands a value that the source does not state", __name__
)
OUTPUT_DEFAULTED: Final = finding_code(
    "output-defaulted", "The target demands a declared output; none is declared, so void is written", __name__
)
OUTPUT_WRAPPED: Final = finding_code(
    "output-wrapped", "The target returns named values; the one value is called `result`", __name__
)
STRUCTURE_MOVED: Final = finding_code(
    "structure-moved",
    "The target has no place for this part of a type; its JSON Schema is told in the description",
    __name__,
)
EXTENSION_DROPPED: Final = finding_code(
    "extension-dropped", "A fact of another format without a place in the target", __name__
)
EXTENSION_MOVED: Final = finding_code(
    "extension-moved", "A fact of another format that people should know, told in the description", __name__
)
KIND_CHANGED: Final = finding_code("kind-changed", "The target writes this kind of type as another", __name__)
CONSTRAINT_MOVED: Final = finding_code(
    "constraint-moved", "A constraint that the target cannot check, told in the description", __name__
)
KEYWORD_MOVED: Final = finding_code(
    "keyword-moved", "A JSON Schema keyword without a place in the target, told in the description", __name__
)
SPELLING_DROPPED: Final = finding_code(
    "spelling-dropped",
    "The schema's own way to write what the target says in its usual way; the meaning stays",
    __name__,
)
NULLABLE_MOVED: Final = finding_code(
    "nullable-moved", "The target cannot say that null is allowed, told in the description", __name__
)
EXCLUSIVE_ASSUMED: Final = finding_code(
    "exclusive-assumed", "The target allows exactly one alternative, the source several", __name__
)
ALTERNATIVE_UNWRAPPED: Final = finding_code(
    "alternative-unwrapped", "A choice of one is written as that one", __name__
)
REQUIRED_ASSUMED: Final = finding_code(
    "required-assumed", "The target has no optional values here, so this one counts as required", __name__
)
ITEMS_DEFAULTED: Final = finding_code(
    "items-defaulted", "The target demands to know what an array holds; string is written", __name__
)
DEFINITION_DROPPED: Final = finding_code(
    "definition-dropped", "A definition that no capability reaches, without a place in the target", __name__
)
CLASS_DROPPED: Final = finding_code("class-dropped", "A class name without a place in the target", __name__)
CHARACTERS_REPLACED: Final = finding_code(
    "characters-replaced", "Characters that XML cannot hold are written as U+FFFD", __name__
)
REFERENCE_DROPPED: Final = finding_code(
    "reference-dropped", "A reference to a definition that the source does not declare", __name__
)
