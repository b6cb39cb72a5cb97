"""Linting lists of tools against the MCP schema and the rule for names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.lint_rules import LintRule
from droidgate_mappings.text.json_text import parse_json
from droidgate_mcp import lint_rules as rules
from droidgate_mcp.document import take_apart
from droidgate_mcp.tables import CACHE_DEFAULTS, HINTS

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MEMBERS: Final = frozenset(
    {
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "annotations",
        "icons",
        "execution",
        "_meta",
    }
)


def lint_file(source: SourceFile) -> tuple[Finding, ...]:
    """Return what a list of tools does against the specification.

    Raises:
        InputError: no JSON, or no list of tools.
    """
    document = take_apart(parse_json(source.data, path=source.path), source.path)
    modern = bool(document.states_modern_revision())
    linter = _Linter(source.path, modern)
    parent = document.parent
    if parent is not None:
        linter.lint_result(parent, document.pointer.rpartition("/")[0])
    names: set[str] = set()
    for index, tool in enumerate(document.tools):
        pointer = f"{document.pointer}/{index}"
        if isinstance(tool, Mapping):
            linter.lint_tool(tool, pointer, names)
        else:
            linter.report(rules.TOOL, pointer, "a tool is not a JSON object")
    return tuple(linter.findings)


@dataclass(slots=True)
class _Linter:
    path: str
    modern: bool
    findings: list[Finding] = field(default_factory=list)

    def report(self, rule: LintRule, pointer: str, message: str) -> None:
        place = Place(path=self.path, line=1, inner=pointer)
        self.findings.append(rule.broken(message, pointer=pointer, source=place))

    def lint_result(self, parent: Mapping[str, Json], pointer: str) -> None:
        if isinstance(parent.get("nextCursor"), str):
            self.report(rules.PAGE, f"{pointer}/nextCursor", "the list has more pages")
        if not self.modern:
            return
        ttl = parent.get("ttlMs")
        checks = {
            "resultType": isinstance(parent.get("resultType"), str),
            "ttlMs": isinstance(ttl, int) and not isinstance(ttl, bool) and ttl >= 0,
            "cacheScope": parent.get("cacheScope") in ("public", "private"),
        }
        for word in CACHE_DEFAULTS:
            if not checks[word]:
                self.report(rules.CACHING, f"{pointer}/{word}", f"{word!r} is missing or has another value")

    def lint_tool(self, tool: Mapping[str, Json], pointer: str, names: set[str]) -> None:
        self.lint_name(tool.get("name"), f"{pointer}/name", names)
        for key in ("title", "description"):
            if key in tool and not isinstance(tool[key], str):
                self.report(rules.TEXT, f"{pointer}/{key}", f"{key!r} is not a string")
        if not tool.get("description"):
            self.report(rules.DESCRIPTION, pointer, "the tool has no description")
        self.lint_input(tool.get("inputSchema"), f"{pointer}/inputSchema")
        if "outputSchema" in tool:
            self.lint_output(tool["outputSchema"], f"{pointer}/outputSchema")
        if "annotations" in tool:
            self.lint_annotations(tool["annotations"], f"{pointer}/annotations")
        if "_meta" in tool and not isinstance(tool["_meta"], Mapping):
            self.report(rules.META, f"{pointer}/_meta", "`_meta` is not a JSON object")
        if "icons" in tool and not _are_icons(tool["icons"]):
            self.report(rules.ICONS, f"{pointer}/icons", "icons are not a list of objects with `src`")
        for key in sorted(tool.keys() - _MEMBERS):
            self.report(rules.MEMBER, f"{pointer}/{key}", f"the schema of a tool has no {key!r}")

    def lint_name(self, name: Json, pointer: str, names: set[str]) -> None:
        if not isinstance(name, str):
            self.report(rules.NAME, pointer, "the tool has no name")
            return
        if not _NAME.fullmatch(name):
            self.report(rules.NAME_FORM, pointer, f"{name!r} is not of the form of a tool's name")
        if name in names:
            self.report(rules.NAME_UNIQUE, pointer, f"another tool is called {name!r} too")
        names.add(name)

    def lint_input(self, schema: Json, pointer: str) -> None:
        if not isinstance(schema, Mapping) or schema.get("type") != "object":
            self.report(rules.INPUT_SCHEMA, pointer, "the input schema is not an object with `type: object`")
            return
        self.lint_properties(schema, pointer)

    def lint_output(self, schema: Json, pointer: str) -> None:
        if not isinstance(schema, Mapping) or (schema.get("type") != "object" and not self.modern):
            self.report(rules.OUTPUT_SCHEMA, pointer, "the output schema is not of the form of this revision")
            return
        self.lint_properties(schema, pointer)

    def lint_properties(self, schema: Mapping[str, Json], pointer: str) -> None:
        properties = schema.get("properties", {})
        required = schema.get("required", [])
        are_schemas = isinstance(properties, Mapping) and all(
            isinstance(property_, Mapping | bool) for property_ in properties.values()
        )
        are_names = isinstance(required, list) and all(isinstance(item, str) for item in required)
        if not are_schemas or not are_names:
            self.report(rules.PROPERTIES, pointer, "`properties` or `required` is not of its form")
            return
        for name in required:
            if name not in properties and not schema.keys() & {"$ref", "allOf", "anyOf", "oneOf"}:
                self.report(rules.REQUIRED, f"{pointer}/required", f"{name!r} is required and not described")

    def lint_annotations(self, annotations: Json, pointer: str) -> None:
        if not isinstance(annotations, Mapping):
            self.report(rules.ANNOTATIONS, pointer, "annotations are not a JSON object")
            return
        if "title" in annotations and not isinstance(annotations["title"], str):
            self.report(rules.ANNOTATIONS, f"{pointer}/title", "the title is not a string")
        for hint in HINTS:
            if hint in annotations and not isinstance(annotations[hint], bool):
                self.report(rules.ANNOTATIONS, f"{pointer}/{hint}", f"{hint!r} is neither true nor false")
        if annotations.get("readOnlyHint") is True and annotations.get("destructiveHint") is True:
            self.report(rules.HINTS_DISAGREE, pointer, "the tool is called read-only and destructive")


def _are_icons(icons: Json) -> bool:
    return isinstance(icons, list) and all(
        isinstance(icon, Mapping) and isinstance(icon.get("src"), str) for icon in icons
    )
