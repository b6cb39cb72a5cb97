"""Tools as `tools/list` shows them, made of what an app declares.

Titles and descriptions come from the app: they are labelled so, hidden characters are removed, and they are
cut (reference android-runtime 3.1). The whole declaration is a resource.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from droidgate.calls.subjects import CallEffect, last_part
from droidgate.calls.targets import SCREENS
from droidgate.serving.short_schemas import BY_NAME, short_input, short_output
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mappings.text_safety import (
    MAX_DESCRIPTION,
    MAX_NAME,
    hidden_characters,
    visible_json,
    without_hidden,
)
from droidgate_mcp.format import FORMAT_ID, HANDSHAKE, MODERN
from droidgate_mcp.wire import DeclaredOutput

LABEL_START: Final = "[Text of the app "
LABEL_END: Final = "]"
"""What is around the package at the start of a description; no package has it."""

_CUT: Final = " [cut]"
BETWEEN_WORDS: Final = re.compile(r"[\W_]+|(?<=[^\WA-Z_])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_SHOWN: Final = frozenset({"_meta", "annotations"})
# Their values are data, not texts for readers, whatever the members in them are called.
_LISTS: Final = frozenset({"enum", "examples"})
_EXACT: Final = frozenset({"default", "const", "pattern"}) | _LISTS


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
    for number, capability in enumerate(provider.capabilities):
        if DeclaredOutput(capability.output, provider.definitions).is_wrapped(MODERN):
            by_revision[MODERN][number]["outputSchema"] = by_revision[HANDSHAKE][number]["outputSchema"]
    app = without_hidden(provider.package or "")[:MAX_NAME]
    label = "" if app == SCREENS else f"{LABEL_START}{app}{LABEL_END}"
    return [
        {revision: _shown_document(tools[number], label) for revision, tools in by_revision.items()}
        for number in range(len(provider.capabilities))
    ], findings


_READ_ONLY: Final[Mapping[CallEffect, bool]] = {CallEffect.READS: True, CallEffect.WRITES: False}


def named(
    documents: Mapping[str, Mapping[str, Json]], name: str, identifier: str, place: str, effect: CallEffect
) -> dict[str, Mapping[str, Json]]:
    """Return a tool's documents under another name, with a title and the hint of what it does.

    Clients ask less about a tool that says that it only reads, so hints that the user does not believe are
    left out.

    Args:
        documents: As `write_tools` returns them.
        name: The tool's name.
        identifier: The capability's id, which is its title where the app gives it none.
        place: What titles end with, since two apps may have equal ones: the app and the phone.
        effect: What the policy says that a call does.
    """
    hints: dict[str, Json] = {"readOnlyHint": _READ_ONLY[effect]} if effect in _READ_ONLY else {}
    end = f" ({without_hidden(place)[: MAX_NAME // 2]})"
    served: dict[str, Mapping[str, Json]] = {}
    for revision, document in documents.items():
        title = cut(str(document.get("title") or _words_of(identifier)), MAX_NAME - len(end)) + end
        more: dict[str, Json] = {"name": name, "title": title, **({"annotations": hints} if hints else {})}
        served[revision] = {**document, **more}
    return served


def _words_of(identifier: str) -> str:
    """Return an id as words: `a.Notes#createPDFNote` is `Create PDF note`."""
    last = without_hidden(last_part(identifier))
    words = [word if word.isupper() else word.lower() for word in BETWEEN_WORDS.split(last)]
    text = " ".join(filter(None, words)) or last
    return text[:1].upper() + text[1:]


def _shown_document(tool: Mapping[str, Any], label: str) -> dict[str, Json]:
    entry = {name: value for name, value in _clean_schema(tool).items() if name not in _NOT_SHOWN}
    text = f"{label} {entry.get('description', '')}".strip()
    entry |= {"description": cut(text, MAX_DESCRIPTION), "inputSchema": short_input(entry["inputSchema"])}
    if "outputSchema" in entry:
        entry["outputSchema"] = short_output(entry["outputSchema"])
    return entry


def _clean_schema(value: Any, *, by_name: bool = False) -> Any:
    """Return a JSON Schema whose texts are safe to show; `by_name`: its members' names are data.

    An exact value, such as a constant, is left out if it has hidden characters. Calls are checked against the
    declaration itself.
    """
    if isinstance(value, str):
        return cut(without_hidden(value), MAX_DESCRIPTION)
    if isinstance(value, list):
        return [_clean_schema(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    cleaned: dict[str, Any] = {}
    for name, item in value.items():
        if by_name or name not in _EXACT:
            cleaned[name] = _clean_schema(item, by_name=not by_name and name in BY_NAME)
            if not by_name and name == "title" and isinstance(item, str):
                cleaned[name] = cut(without_hidden(item), MAX_NAME)
        elif name == "pattern" and isinstance(item, str):
            cleaned[name] = visible_json(item)
        elif name in _LISTS and isinstance(item, list):
            choices = [choice for choice in item if not _has_hidden(choice)]
            if choices or not item:
                cleaned[name] = choices
        elif not _has_hidden(item):
            cleaned[name] = item
    return cleaned


def _has_hidden(value: Json) -> bool:
    return bool(hidden_characters(canonical_json(value)))


def hidden_name(document: Any) -> str | None:
    """Return the first name in a tool that has hidden characters, such as that of a parameter."""
    if isinstance(document, list):
        return next(filter(None, map(hidden_name, document)), None)
    if not isinstance(document, Mapping):
        return None
    for name, value in document.items():
        hidden_text = name if hidden_characters(name) else hidden_name(value)
        if hidden_text is not None:
            return hidden_text
    return None


def cut(text: str, length: int) -> str:
    """Return a text of at most that many characters, which says that it was cut."""
    return text if len(text) <= length else text[: length - len(_CUT)] + _CUT
