"""The rules of the linter: id, level, section of the mMCP specification, and the fix."""

from __future__ import annotations

from functools import partial
from typing import Final

from droidgate_android.projects.manifest_limits import REFUSED_BY
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.lint_rules import LintRules

_BOOK: Final = LintRules("mMCP spec", __name__)
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

TOOL_NAME: Final = _error("mmcp-tool-name", "1", "A tool has a string `name`", "add `name`; calls use it")
TOOL_NAME_UNIQUE: Final = _error(
    "mmcp-tool-name-unique", "1", "A tool's name is unique", "rename one of them"
)
TOOL_DESCRIPTION: Final = _error(
    "mmcp-tool-description",
    "1",
    "A tool has a string `description`",
    "describe in a sentence what the tool does; agents choose by it",
)
PARAMETERS: Final = _error(
    "mmcp-parameters",
    "1",
    "A tool has parameters",
    'write {"type": "object", "properties": {}} for a tool without arguments',
)
PARAMETERS_SCHEMA: Final = _error(
    "mmcp-parameters-schema",
    "1",
    "A tool's parameters are a valid JSON Schema",
    "correct the schema; it is 2020-12 unless `$schema` says otherwise",
)
FLAT_PARAMETERS: Final = _warning(
    "mmcp-flat-parameters",
    "1 (row M37)",
    "The parameters are a flat map of type words, which is not a useful JSON Schema",
    'write {"type": "object", "properties": {"name": {"type": "string"}}}',
)
OBJECT_PARAMETERS: Final = _warning(
    "mmcp-object-parameters",
    "1 (row M37)",
    "The parameters do not state that they are an object",
    'start with "type": "object"',
)
NAME_LENGTH: Final = _warning(
    "mmcp-name-length",
    "1 (row M47)",
    "With the client's prefix, the name is longer than language models allow",
    "keep names within 56 characters",
)
NAME_CHARACTERS: Final = _warning(
    "mmcp-name-characters",
    "1 (row M47)",
    "The name has characters that language models do not allow in a function's name",
    "use A-Z a-z 0-9 _ and -",
)
ADVERTISE_ACTION: Final = _error(
    "mmcp-advertise-action",
    "2",
    "A component with a manifest advertises it",
    "add com.example.mMCP.ACTION_TOOL_ADVERTISE to its intent filter",
)
META_DATA: Final = _error(
    "mmcp-meta-data",
    "2",
    "An advertising component has its manifest as meta-data text",
    "add meta-data mMCP_manifest with the JSON in android:value",
)
MANIFEST_LENGTH: Final = _error(
    "mmcp-manifest-length",
    "2 (API 35)",
    f"The manifest is not longer than the meta-data that {REFUSED_BY} take",
    "shorten descriptions, or let each of several activities advertise some of the tools",
)
JSON: Final = _error("mmcp-json", "2", "The manifest is JSON", "correct the JSON")
CONTROL_CHARACTERS: Final = _warning(
    "mmcp-control-characters",
    "2 (row M36)",
    "A string of the manifest JSON holds raw control characters",
    "write them as JSON escapes",
)
INSTRUCTIONS: Final = _error(
    "mmcp-instructions",
    "2",
    "The manifest has a string `instructions`",
    "add `instructions`; the first client drops apps without it",
)
TOOLS: Final = _error("mmcp-tools", "2", "The manifest has an array of tool objects", "add the array `tools`")
DEFAULT_CATEGORY: Final = _error(
    "mmcp-default-category",
    "2",
    "The filters have the category DEFAULT, without which no implicit Intent resolves to an activity",
    "add android.intent.category.DEFAULT",
)
DRAFT_KEY: Final = _warning(
    "mmcp-draft-key", "2", "A key of the first draft that 1.0 does not have", "convert the manifest to 1.0"
)
UNKNOWN_KEY: Final = _note(
    "mmcp-unknown-key", "2", "A key that the specification does not have", "check its spelling"
)
CALL_ACTION: Final = _error(
    "mmcp-call-action",
    "3",
    "A component that advertises is also the one that is called",
    "add com.example.mMCP.ACTION_TOOL_CALL to its intent filter",
)
EXPORTED: Final = _error(
    "mmcp-exported", "3", "Other apps can start the component", 'add android:exported="true"'
)
ACTIVITY: Final = _error(
    "mmcp-activity",
    "3",
    "Tools are called by starting an activity for its result",
    "advertise by an activity",
)
VERSION: Final = _warning(
    "mmcp-version", "Protocol Version", "The manifest states version 1.0", 'add "protocolVersion": "1.0"'
)
