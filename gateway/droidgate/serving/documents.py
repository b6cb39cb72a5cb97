"""Tools as `tools/list` shows them, made of what an app declares.

Titles and descriptions come from the app: they are labelled so, hidden characters are removed, and they are
cut (reference android-runtime 3.1). The whole declaration is a resource.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from droidgate.formats import load_formats
from droidgate.model.capability import Provider
from droidgate.model.errors import InputError
from droidgate.model.findings import Finding
from droidgate.model.json_values import Json
from droidgate.parsing.json_text import WRITTEN, parse_json
from droidgate.text_safety import MAX_DESCRIPTION, MAX_NAME, without_hidden
from droidgate_mcp.tables import FORMAT_ID, HANDSHAKE, MODERN

_TEXTS: Final = {"description": MAX_DESCRIPTION, "title": MAX_NAME}
_CUT: Final = " [cut]"
# Values and names, not texts that are read: members of these are data, whatever they are called.
_DATA: Final = frozenset({"default", "const", "enum", "examples"})
_BY_NAME: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})


def write_tools(provider: Provider) -> tuple[list[dict[str, Mapping[str, Json]]], tuple[Finding, ...]]:
    """Return for each capability its tool by revision, and what the conversion costs.

    Raises:
        WriteError: MCP cannot hold the provider.
        InputError: a capability cannot be held.
    """
    format_ = load_formats()[FORMAT_ID]
    by_revision: dict[str, list[Any]] = {}
    findings: tuple[Finding, ...] = ()
    for revision in (HANDSHAKE, MODERN):
        dialect = next(dialect for dialect in format_.tables.dialects if dialect.id == revision)
        if format_.write is None:
            break
        writing = format_.write(provider, dialect)
        findings = writing.findings
        by_revision[revision] = parse_json(writing.artifacts[0].text, limits=WRITTEN)["tools"]
        if len(by_revision[revision]) != len(provider.capabilities):
            raise InputError(f"some capabilities of {provider.package} cannot be MCP tools")
    label = f"[Text of the app {without_hidden(provider.package or '')[:MAX_NAME]}]"
    return [
        {revision: _shown(tools[number], label) for revision, tools in by_revision.items()}
        for number in range(len(provider.capabilities))
    ], findings


def named(documents: Mapping[str, Mapping[str, Json]], name: str) -> dict[str, Mapping[str, Json]]:
    """Return a tool's documents under another name."""
    return {revision: {**document, "name": name} for revision, document in documents.items()}


def _shown(tool: Mapping[str, Any], label: str) -> dict[str, Json]:
    shown = {name: value for name, value in _cleaned(tool).items() if name != "_meta"}
    text = f"{label} {shown.get('description', '')}".rstrip()
    return {**shown, "description": cut(text, MAX_DESCRIPTION)}


def _cleaned(value: Any, *, by_name: bool = False) -> Any:
    """Return a JSON Schema with safe titles and descriptions; `by_name`: its members' names are data."""
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    cleaned: dict[str, Any] = {}
    for name, item in value.items():
        if not by_name and name in _TEXTS and isinstance(item, str):
            cleaned[name] = cut(without_hidden(item), _TEXTS[name])
        elif not by_name and name in _DATA:
            cleaned[name] = item
        else:
            cleaned[name] = _cleaned(item, by_name=not by_name and name in _BY_NAME)
    return cleaned


def cut(text: str, length: int) -> str:
    """Return a text of at most that many characters, which says that it was cut."""
    return text if len(text) <= length else text[: length - len(_CUT)] + _CUT
