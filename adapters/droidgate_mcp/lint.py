"""The linter of lists of tools: its rules, from the MCP schema and the rule for names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, LintRule, LintRules
from droidgate_mappings.model.json_values import Json, one_line_json, pointer_token, shown_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.values.schema_checks import check_schema
from droidgate_mcp.tool_facts import CACHE_DEFAULTS, HINTS
from droidgate_mcp.tool_list import TOOL_MEMBERS, read_conversation, take_apart

_BOOK: Final = LintRules("MCP", __name__)
_error = partial(_BOOK.declare, Level.ERROR)
_warning = partial(_BOOK.declare, Level.WARNING)
_note = partial(_BOOK.declare, Level.NOTE)

RULES: Final = _BOOK.by_id
"""Every rule by id, in order."""

# fmt: off
TOOL: Final = _error("mcp-tool", "schema Tool", "A tool is a JSON object", "write an object with `name`")
NAME: Final = _error("mcp-name", "schema Tool.name", "A tool has a string `name`", "add `name`")
NAME_FORM: Final = _warning("mcp-name-form", "server/tools Tool Names",
    "A tool's name has 1 to 128 of A-Z, a-z, 0-9, underscore, hyphen and dot",
    "rename the tool; clients refuse other names")
NAME_UNIQUE: Final = _error("mcp-name-unique", "server/tools Tool Names", "A tool's name is unique",
    "rename one of them; calls go by name")
TEXT: Final = _error("mcp-text", "schema Tool", "Title and description are strings",
    "write a string, or leave it out")
DESCRIPTION: Final = _note("mcp-description", "schema Tool.description", "A tool has a description",
    "add `description`; models choose tools by it")
INPUT_SCHEMA: Final = _error("mcp-input-schema", "schema Tool.inputSchema",
    "A tool has an input schema, an object with `type: object`",
    'write {"type": "object"} for a tool without arguments')
OUTPUT_SCHEMA: Final = _error("mcp-output-schema", "schema Tool.outputSchema",
    "An output schema is an object; up to revision 2025-11-25 it has `type: object`",
    "put the value under a property, such as `result`")
EXECUTION: Final = _error("mcp-execution", "schema ToolExecution",
    "`execution` is an object, and its `taskSupport` is forbidden, optional or required",
    "write an object, or leave it out")
ANNOTATIONS: Final = _error("mcp-annotations", "schema ToolAnnotations",
    "Annotations are an object with a string title and boolean hints", "write true or false")
HINTS_DISAGREE: Final = _note("mcp-hints-disagree", "schema ToolAnnotations.destructiveHint",
    "A read-only tool is not destructive", "remove one of the two hints")
META: Final = _error("mcp-meta", "basic General fields", "`_meta` is an object",
    "write an object, or leave it out")
ICONS: Final = _error("mcp-icons", "schema Icon", "Icons are a list of objects with `src`",
    "give each icon its `src`")
MEMBER: Final = _note("mcp-member-unknown", "schema Tool", "A tool's members are those of the schema",
    "clients ignore it; facts of your own go under a key in `_meta`")
CACHING: Final = _error("mcp-caching", "schema ListToolsResult (2026-07-28)",
    "A result of revision 2026-07-28 has `resultType`, `ttlMs` of at least 0, and `cacheScope`",
    'write "resultType": "complete", "ttlMs": 0, "cacheScope": "private"')
PAGE: Final = _note("mcp-page", "server/utilities/pagination", "A list is complete",
    "ask for the next page too and join the lists")
# fmt: on


_LONGEST_NAME: Final = 128
_NAME: Final = re.compile(rf"[A-Za-z0-9_.-]{{1,{_LONGEST_NAME}}}")


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return what a list of tools does against the specification.

    Raises:
        InputError: no JSON, or no list of tools.
    """
    value = read_conversation(source.data, source.path)
    document = take_apart(parse_json(source.data, path=source.path) if value is None else value, source.path)
    modern = bool(document.states_modern_revision())
    linter = _Linter(source.path, modern)
    parent = document.parent
    if parent is not None:
        linter.lint_result(parent, document.pointer.rpartition("/")[0])
    names: set[str] = set()
    for index, tool in enumerate(document.tools):
        pointer = document.pointer_of(index)
        if isinstance(tool, Mapping):
            linter.lint_tool(tool, pointer, names)
        else:
            linter.report(TOOL, pointer, "a tool is not a JSON object")
    return tuple(linter.findings)


@dataclass(slots=True)
class _Linter:
    path: str
    modern: bool
    findings: list[Finding] = field(default_factory=list)

    def report(self, rule: LintRule, pointer: str, message: str, hint: str | None = None) -> None:
        place = Place(path=self.path, line=1, inner=pointer)
        self.findings.append(rule.broken(message, pointer=pointer, source=place, hint=hint))

    def lint_result(self, parent: Mapping[str, Json], pointer: str) -> None:
        if isinstance(parent.get("nextCursor"), str):
            self.report(PAGE, f"{pointer}/nextCursor", "the list has more pages")
        if not self.modern:
            return
        ttl = parent.get("ttlMs")
        checks = {
            "resultType": isinstance(parent.get("resultType"), str),
            "ttlMs": isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0,
            "cacheScope": parent.get("cacheScope") in ("public", "private"),
        }
        for word, usual in CACHE_DEFAULTS.items():
            if not checks[word]:
                stated = f"is {shown_json(parent[word])}" if word in parent else "is missing"
                hint = f'write "{word}": {one_line_json(usual)}'
                self.report(CACHING, f"{pointer}/{word}", f"`{word}` {stated}", hint)

    def lint_tool(self, tool: Mapping[str, Json], pointer: str, names: set[str]) -> None:
        self.lint_name(tool.get("name"), f"{pointer}/name", names)
        for key in ("title", "description"):
            if key in tool and not isinstance(tool[key], str):
                self.report(TEXT, f"{pointer}/{key}", f"`{key}` is {shown_json(tool[key])}, not a string")
        if not tool.get("description"):
            self.report(DESCRIPTION, pointer, "the tool has no description")
        self.lint_input(tool.get("inputSchema"), f"{pointer}/inputSchema")
        if "outputSchema" in tool:
            self.lint_output(tool["outputSchema"], f"{pointer}/outputSchema")
        if "annotations" in tool:
            self.lint_annotations(tool["annotations"], f"{pointer}/annotations")
        if "execution" in tool and not self.modern:
            self.lint_execution(tool["execution"], f"{pointer}/execution")
        if "_meta" in tool and not isinstance(tool["_meta"], Mapping):
            self.report(META, f"{pointer}/_meta", "`_meta` is not a JSON object")
        if "icons" in tool and not _are_icons(tool["icons"]):
            self.report(ICONS, f"{pointer}/icons", "`icons` is not a list of objects with `src`")
        for key in sorted(tool.keys() - TOOL_MEMBERS):
            self.report(MEMBER, f"{pointer}/{pointer_token(key)}", f"MCP has no member {key!r} of a tool")

    def lint_name(self, name: Json, pointer: str, names: set[str]) -> None:
        if not isinstance(name, str):
            self.report(NAME, pointer, "the tool has no name")
            return
        if not _NAME.fullmatch(name):
            message = "characters other than A-Z, a-z, 0-9, underscore, hyphen and dot"
            if not 0 < len(name) <= _LONGEST_NAME:
                message = f"{len(name)} characters, and 1 to {_LONGEST_NAME} are allowed"
            self.report(NAME_FORM, pointer, f"the name {shown_json(name)} has {message}")
        if name in names:
            self.report(NAME_UNIQUE, pointer, f"duplicate tool name {shown_json(name)}")
        names.add(name)

    def lint_input(self, schema: Json, pointer: str) -> None:
        is_object = isinstance(schema, Mapping) and schema.get("type") == "object"
        if not is_object:
            problem = "the input schema is not an object with `type: object`"
            self.report(INPUT_SCHEMA, pointer, "the tool has no input schema" if schema is None else problem)
        self.lint_schema(schema, pointer, is_typed=is_object)

    def lint_output(self, schema: Json, pointer: str) -> None:
        is_object = isinstance(schema, Mapping) and (self.modern or schema.get("type") == "object")
        if not is_object:
            self.report(OUTPUT_SCHEMA, pointer, "the output schema is not an object with `type: object`")
        self.lint_schema(schema, pointer, is_typed=is_object)

    def lint_schema(self, schema: Json, pointer: str, *, is_typed: bool) -> None:
        if isinstance(schema, Mapping):
            source = Place(path=self.path, line=1, inner=pointer)
            # What is wrong with the type of the whole schema is reported already where MCP fixes the type.
            self.findings += (
                finding
                for finding in check_schema(schema, pointer=pointer, source=source)
                if is_typed or finding.pointer != f"{pointer}/type"
            )

    def lint_execution(self, execution: Json, pointer: str) -> None:
        if not isinstance(execution, Mapping):
            self.report(EXECUTION, pointer, "`execution` is not a JSON object")
        elif execution.get("taskSupport", "forbidden") not in ("forbidden", "optional", "required"):
            message = f"`taskSupport` is {shown_json(execution['taskSupport'])}"
            hint = 'write "forbidden", "optional" or "required"'
            self.report(EXECUTION, f"{pointer}/taskSupport", message, hint)

    def lint_annotations(self, annotations: Json, pointer: str) -> None:
        if not isinstance(annotations, Mapping):
            hint = "write an object, or leave it out"
            self.report(ANNOTATIONS, pointer, "`annotations` is not a JSON object", hint)
            return
        if "title" in annotations and not isinstance(annotations["title"], str):
            message = f"`title` is {shown_json(annotations['title'])}, not a string"
            self.report(ANNOTATIONS, f"{pointer}/title", message, "write a string, or leave it out")
        for hint in HINTS:
            if hint in annotations and not isinstance(annotations[hint], bool):
                message = f"`{hint}` is {shown_json(annotations[hint])}, which is neither true nor false"
                self.report(ANNOTATIONS, f"{pointer}/{hint}", message)
        if annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is True:
            self.report(HINTS_DISAGREE, pointer, "`readOnlyHint` and `destructiveHint` are both true")


def _are_icons(icons: Json) -> bool:
    return isinstance(icons, list) and all(
        isinstance(icon, Mapping) and isinstance(icon.get("src"), str) for icon in icons
    )
