"""The rules of the linter: id, level, section of the MCP specification, and the fix."""

from __future__ import annotations

from typing import Final

from droidgate.model.findings import Level
from droidgate.model.lint_rules import LintRules

_BOOK: Final = LintRules("MCP", __name__)
_rule = _BOOK.declare

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

TOOL: Final = _rule(
    "mcp-tool", Level.ERROR, "schema Tool", "A tool is a JSON object", "Write an object with `name`"
)
NAME: Final = _rule("mcp-name", Level.ERROR, "schema Tool.name", "A tool has a string `name`", "Add `name`")
NAME_FORM: Final = _rule(
    "mcp-name-form",
    Level.WARNING,
    "server/tools Tool Names",
    "A tool's name has 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot",
    "Rename it; clients refuse other names",
)
NAME_UNIQUE: Final = _rule(
    "mcp-name-unique",
    Level.ERROR,
    "server/tools Tool Names",
    "A tool's name is unique",
    "Rename one of them; calls go by name",
)
TEXT: Final = _rule(
    "mcp-text",
    Level.ERROR,
    "schema Tool",
    "Title and description are strings",
    "Write a string, or leave it out",
)
DESCRIPTION: Final = _rule(
    "mcp-description",
    Level.NOTE,
    "schema Tool.description",
    "A tool has a description",
    "Add `description`; models choose tools by it",
)
INPUT_SCHEMA: Final = _rule(
    "mcp-input-schema",
    Level.ERROR,
    "schema Tool.inputSchema",
    "A tool has an input schema, an object with `type: object`",
    'Write {"type": "object"} for a tool without arguments',
)
OUTPUT_SCHEMA: Final = _rule(
    "mcp-output-schema",
    Level.ERROR,
    "schema Tool.outputSchema",
    "An output schema is an object; up to revision 2025-11-25 it has `type: object`",
    "Put the value under a property, such as `result`",
)
PROPERTIES: Final = _rule(
    "mcp-schema-properties",
    Level.ERROR,
    "schema Tool.inputSchema",
    "`properties` holds schemas, and `required` names",
    "Write an object of schemas, and an array of strings",
)
REQUIRED: Final = _rule(
    "mcp-required-unknown",
    Level.NOTE,  # JSON Schema allows it, and a schema that comes from another format is written as it was.
    "schema Tool.inputSchema",
    "Each required property is described",
    "Describe it under `properties`, or take it out of `required`",
)
ANNOTATIONS: Final = _rule(
    "mcp-annotations",
    Level.ERROR,
    "schema ToolAnnotations",
    "Annotations are an object with a string title and boolean hints",
    "Write true or false",
)
HINTS_DISAGREE: Final = _rule(
    "mcp-hints-disagree",
    Level.NOTE,  # `destructiveHint` means nothing where `readOnlyHint` is true.
    "schema ToolAnnotations.destructiveHint",
    "A read-only tool is not destructive",
    "Remove one of the two hints",
)
META: Final = _rule(
    "mcp-meta",
    Level.ERROR,
    "basic General fields",
    "`_meta` is an object",
    "Write an object, or leave it out",
)
ICONS: Final = _rule(
    "mcp-icons",
    Level.ERROR,
    "schema Icon",
    "Icons are a list of objects with `src`",
    "Give each icon its `src`",
)
MEMBER: Final = _rule(
    "mcp-member-unknown",
    Level.NOTE,
    "schema Tool",
    "A tool's members are those of the schema",
    "Clients ignore it; facts of your own go under a key in `_meta`",
)
CACHING: Final = _rule(
    "mcp-caching",
    Level.ERROR,
    "schema ListToolsResult (2026-07-28)",
    "A result of revision 2026-07-28 has `resultType`, `ttlMs` of at least 0, and `cacheScope`",
    'Write "resultType": "complete", "ttlMs": 0, "cacheScope": "private"',
)
PAGE: Final = _rule(
    "mcp-page",
    Level.NOTE,
    "server/utilities/pagination",
    "A list is complete",
    "Ask for the next page too and join the lists",
)
