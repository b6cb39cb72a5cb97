"""The rules of the linter: id, level, section of the MCP specification, and the fix."""

from __future__ import annotations

from functools import partial
from typing import Final

from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.lint_rules import LintRules

_BOOK: Final = LintRules("MCP", __name__)
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

TOOL: Final = _error("mcp-tool", "schema Tool", "A tool is a JSON object", "write an object with `name`")
NAME: Final = _error("mcp-name", "schema Tool.name", "A tool has a string `name`", "add `name`")
NAME_FORM: Final = _warning(
    "mcp-name-form",
    "server/tools Tool Names",
    "A tool's name has 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot",
    "rename it; clients refuse other names",
)
NAME_UNIQUE: Final = _error(
    "mcp-name-unique",
    "server/tools Tool Names",
    "A tool's name is unique",
    "rename one of them; calls go by name",
)
TEXT: Final = _error(
    "mcp-text", "schema Tool", "Title and description are strings", "write a string, or leave it out"
)
DESCRIPTION: Final = _note(
    "mcp-description",
    "schema Tool.description",
    "A tool has a description",
    "add `description`; models choose tools by it",
)
INPUT_SCHEMA: Final = _error(
    "mcp-input-schema",
    "schema Tool.inputSchema",
    "A tool has an input schema, an object with `type: object`",
    'write {"type": "object"} for a tool without arguments',
)
OUTPUT_SCHEMA: Final = _error(
    "mcp-output-schema",
    "schema Tool.outputSchema",
    "An output schema is an object; up to revision 2025-11-25 it has `type: object`",
    "put the value under a property, such as `result`",
)
PROPERTIES: Final = _error(
    "mcp-schema-properties",
    "schema Tool.inputSchema",
    "`properties` holds schemas, and `required` names",
    "write an object of schemas, and an array of strings",
)
REQUIRED: Final = _note(
    "mcp-required-unknown",
    "schema Tool.inputSchema",
    "Each required property is described",
    "describe it under `properties`, or take it out of `required`",
)
ANNOTATIONS: Final = _error(
    "mcp-annotations",
    "schema ToolAnnotations",
    "Annotations are an object with a string title and boolean hints",
    "write true or false",
)
HINTS_DISAGREE: Final = _note(
    "mcp-hints-disagree",
    "schema ToolAnnotations.destructiveHint",
    "A read-only tool is not destructive",
    "remove one of the two hints",
)
META: Final = _error(
    "mcp-meta", "basic General fields", "`_meta` is an object", "write an object, or leave it out"
)
ICONS: Final = _error(
    "mcp-icons", "schema Icon", "Icons are a list of objects with `src`", "give each icon its `src`"
)
MEMBER: Final = _note(
    "mcp-member-unknown",
    "schema Tool",
    "A tool's members are those of the schema",
    "clients ignore it; facts of your own go under a key in `_meta`",
)
CACHING: Final = _error(
    "mcp-caching",
    "schema ListToolsResult (2026-07-28)",
    "A result of revision 2026-07-28 has `resultType`, `ttlMs` of at least 0, and `cacheScope`",
    'write "resultType": "complete", "ttlMs": 0, "cacheScope": "private"',
)
PAGE: Final = _note(
    "mcp-page",
    "server/utilities/pagination",
    "A list is complete",
    "ask for the next page too and join the lists",
)
