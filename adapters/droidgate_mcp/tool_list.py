"""The document around tools: a result, a JSON-RPC response, a list, one tool, or a server dump (row P04); or
a recorded conversation (row P10), which is read as the dump of its server.

A document is read into its tools, the provider's fields, its layout and its further fields. The layout holds
members that mean nothing outside of MCP, such as a JSON-RPC id; it is not kept where the writer would write
the same. Each further field is one fact, named by its JSON Pointer in the document.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json, pointer_name, pointer_token
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import decode_utf8, parse_json
from droidgate_mcp.format import MODERN
from droidgate_mcp.tool_facts import CACHE_DEFAULTS, META_POINTER

SHAPE_HINT: Final = (
    "a tools/list result, the JSON-RPC response around one, an array of tools, one tool, a dump of a server "
    "or a recorded conversation, one message a line, is read"
)
_ONE_TOOL: Final = "tool"
"""The layout of a document that is a tool itself."""
_SCHEMA_MEMBERS: Final = ("inputSchema", "input_schema")
TOOL_MEMBERS: Final = frozenset({
    "name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution",
    "_meta",
})  # fmt: skip
"""The members of a tool by the MCP schema."""
_LIST_MESSAGE: Final = re.compile(rb'^(?=[^\n]*"jsonrpc"\s*:)[^{\n]*+\{[^\n]*"tools"\s*:\s*\[', re.MULTILINE)
_FIELD_PLACES: Final = {
    "name": ("/serverInfo/title", "/serverInfo/name", "/server/title", "/server/name", "/name"),
    "description": ("/serverInfo/description", "/server/description", "/description"),
    "instructions": ("/instructions",),
}
_PLAIN_PLACES: Final = {"tools": "/tools"}
_TOOL_PLACES: Final = ("", "/tools", "/result/tools")
_REVISION: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

_ENVELOPE: Final = frozenset({"jsonrpc", "id"})
_RESULT_MEMBERS: Final = frozenset({"nextCursor", "protocolVersion", "$schema", *CACHE_DEFAULTS})
_IDENTITY: Final = frozenset({"name", "title", "version"})
_CONTAINERS: Final = frozenset({"result", "server", "serverInfo"})
"""Members whose own members are fields of the document."""


@dataclass(frozen=True, slots=True)
class ToolListDocument:
    """A document taken apart.

    Attributes:
        tools: The tools, unread.
        fields: The provider's name, description and instructions, where the document states them.
        layout: The document without its tools, `_meta`, the provider's fields and the further fields.
        places: JSON Pointer in the document of `tools` and of each field.
        meta: `_meta` of the object that holds the tools; empty where there is none.
        further: The further fields by JSON Pointer.
    """

    tools: list[Json]
    fields: dict[str, str]
    layout: Json
    places: dict[str, str]
    meta: Mapping[str, Json]
    further: Mapping[str, Json]

    @property
    def pointer(self) -> str:
        """JSON Pointer of the list of tools."""
        return self.places["tools"]

    def pointer_of(self, position: int) -> str:
        """Return the JSON Pointer of a tool of the list."""
        return "" if self.layout == _ONE_TOOL else f"{self.pointer}/{position}"

    @property
    def parent(self) -> dict[str, Json] | None:
        """The layout of the object that holds the tools; None for a bare array."""
        return _parent(self.layout, self.pointer)

    def states_modern_revision(self) -> bool | None:
        """Return whether the document states revision 2026-07-28; None where it states no revision."""
        stated = self.layout.get("protocolVersion") if isinstance(self.layout, Mapping) else None
        if isinstance(stated, str) and _REVISION.fullmatch(stated):
            return stated >= MODERN
        parent = self.parent
        return True if parent is not None and not CACHE_DEFAULTS.keys().isdisjoint(parent) else None

    def kept_shape(self, dialect_id: str) -> dict[str, Json] | None:
        """Return layout and places; None where the writer writes the same without them."""
        layout = copy.deepcopy(self.layout)
        parent = _parent(layout, self.pointer)
        if parent is not None and dialect_id == MODERN:
            for word, value in CACHE_DEFAULTS.items():
                if word in parent and canonical_json(parent[word]) == canonical_json(value):
                    del parent[word]
        if layout == {} and self.places == _PLAIN_PLACES and not self.further:
            return None
        return {"layout": layout, "places": self.places}


def records_a_list(data: bytes) -> bool:
    """Return whether a file records a conversation, with a line that may be an answer to `tools/list`."""
    return b'"jsonrpc"' in data and _LIST_MESSAGE.search(data) is not None


def read_conversation(data: bytes, path: str) -> Json | None:
    """Return what a recorded conversation says of its server, as a dump of it; None for any other file.

    Each message is in one line of JSON, as in stdio, after the `data:` of a server-sent event, or between
    what a client's log writes around it. Pages are joined. Of several lists the last one counts.

    Raises:
        InputError: the file is not UTF-8.
    """
    if not records_a_list(data):
        return None
    server: dict[str, Json] = {}
    listed: dict[str, Json] = {}
    number = 0
    for message in _messages(decode_utf8(data, path=path), path):
        number += 1
        result = message.get("result")
        if not isinstance(result, Mapping):
            continue
        if isinstance(result.get("tools"), list):
            earlier = listed["tools"] if isinstance(listed.get("nextCursor"), str) else []
            listed = {**result, "tools": [*earlier, *result["tools"]]}
        elif "serverInfo" in result:
            server = dict(result)
    # A document of one message is read as what it is.
    return {**server, **listed} if listed and (number > 1 or data.lstrip()[:1] != b"{") else None


def _messages(text: str, path: str) -> Iterator[Mapping[str, Json]]:
    """Yield the JSON-RPC messages of a text; what else its lines hold is passed over."""
    decoder = json.JSONDecoder()
    for line in text.split("\n"):
        start = line.find("{")
        if start < 0 or '"jsonrpc"' not in line:
            continue
        try:
            _, end = decoder.raw_decode(line, start)
            message = parse_json(line[start:end], path=path)
        except (ValueError, RecursionError, InputError):
            continue
        if isinstance(message, Mapping) and "jsonrpc" in message:
            yield message


def take_apart(value: Json, path: str) -> ToolListDocument:
    """Take a document apart, in place: what is left of `value` is the layout.

    Raises:
        InputError: it has no list of tools, or is a JSON-RPC error.
    """
    if isinstance(value, list):
        return ToolListDocument(value, {}, None, {"tools": ""}, {}, {})
    if is_tool(value):
        return ToolListDocument([value], {}, _ONE_TOOL, {"tools": ""}, {}, {})
    pointer = _find_tools(value, path)
    parent = _parent(value, pointer) or {}
    tools = parent.pop("tools")
    meta = parent.pop("_meta", None)
    if meta is not None and not isinstance(meta, Mapping):
        raise InputError("`_meta` is not a JSON object", place=path, hint="remove it")
    places = {"tools": pointer}
    fields: dict[str, str] = {}
    for field, candidates in _FIELD_PLACES.items():
        for place in candidates:
            holder = _parent(value, place)
            word = place.rpartition("/")[2]
            if holder is not None and isinstance(holder.get(word), str):
                fields[field] = holder.pop(word)
                places[field] = place
                break
    further = _take_further(value, pointer)
    return ToolListDocument(tools, fields, value, places, meta or {}, further)


def _take_further(document: dict[str, Json], tools: str) -> dict[str, Json]:
    """Take the members that are not layout out of a document, and return them by JSON Pointer."""
    further: dict[str, Json] = {}
    for name, value in list(document.items()):
        pointer = f"/{pointer_token(name)}"
        if name in _CONTAINERS and isinstance(value, dict):
            for inner in list(value):
                place = f"{pointer}/{pointer_token(inner)}"
                if not _is_layout(place, tools):
                    further[place] = value.pop(inner)
        elif not _is_layout(pointer, tools):
            further[pointer] = document.pop(name)
    return further


def _is_layout(pointer: str, tools: str) -> bool:
    """Return whether a member of a document means nothing outside of MCP.

    Args:
        pointer: JSON Pointer of the member.
        tools: JSON Pointer of the list of tools.
    """
    container, _, token = pointer.rpartition("/")
    if container in {"/server", "/serverInfo"}:
        return token in _IDENTITY
    if not container and token in _ENVELOPE:
        return tools == "/result/tools"
    return token in _RESULT_MEMBERS or (not container and token in {"name", "version"})


def is_tool(value: Json) -> bool:
    """Return whether a document is one tool: by its schema, or by having members of tools only."""
    return (
        isinstance(value, Mapping)
        and isinstance(value.get("name"), str)
        and (any(member in value for member in _SCHEMA_MEMBERS) or {"name"} < value.keys() <= TOOL_MEMBERS)
        and "tools" not in value
    )


def _find_tools(document: Json, path: str) -> str:
    if isinstance(document, Mapping):
        if isinstance(document.get("tools"), list):
            return "/tools"
        result = document.get("result")
        if isinstance(result, Mapping) and isinstance(result.get("tools"), list):
            return "/result/tools"
        error = document.get("error")
        if isinstance(error, Mapping) and isinstance(error.get("message"), str):
            raise InputError(
                f"the response is an error: {error['message']}", place=path, hint="ask the server again"
            )
    raise InputError("no list of tools", place=path, hint=SHAPE_HINT)


def is_shape(value: Json) -> bool:
    """Return whether a value is a layout with places that fit it, as from `ToolListDocument.kept_shape`."""
    if not isinstance(value, Mapping) or value.keys() != {"layout", "places"}:
        return False
    layout, places = value["layout"], value["places"]
    if not isinstance(places, Mapping) or places.get("tools") not in _TOOL_PLACES:
        return False
    holders = (_parent(layout, place) for place in places.values() if place)
    return (
        all(field == "tools" or place in _FIELD_PLACES.get(field, ()) for field, place in places.items())
        and all(holder is not None for holder in holders)
        and (bool(places["tools"]) or layout in (None, _ONE_TOOL))
    )


def is_further_field(name: str) -> bool:
    """Return whether the name of a provider's fact is the JSON Pointer of a further field."""
    return name.startswith("/") and not name.startswith(f"{META_POINTER}/")


def placed_fields(shape: Mapping[str, Json] | None) -> tuple[str, ...]:
    """Return the provider's fields that have a place of their own in a document of a shape, in its order."""
    return tuple(name for name in shape["places"] if name != "tools") if shape is not None else ()


def placed_further(shape: Mapping[str, Json] | None, further: Mapping[str, Json]) -> dict[str, Json]:
    """Return the further fields that a document of a shape has room for."""
    if shape is None:
        return {}
    layout, places = shape["layout"], shape["places"]
    return {
        pointer: value
        for pointer, value in further.items()
        if (holder := _parent(layout, pointer)) is not None
        and pointer_name(pointer.rpartition("/")[2]) not in holder
        and not _is_read_otherwise(pointer, value, places)
    }


def _is_read_otherwise(pointer: str, value: Json, places: Mapping[str, str]) -> bool:
    """Return whether a member would not be read as a further field in a document with these places."""
    if pointer in places.values() or _is_layout(pointer, places["tools"]):
        return True
    if isinstance(value, dict) and pointer.removeprefix("/") in _CONTAINERS:
        return True
    if isinstance(value, list) and pointer == "/tools":
        return True
    return isinstance(value, str) and any(
        pointer in candidates[: candidates.index(places[field]) if field in places else None]
        for field, candidates in _FIELD_PLACES.items()
    )


def holds_meta(shape: Mapping[str, Json] | None) -> bool:
    """Return whether a document of a shape has an object around its tools, and so room for `_meta`."""
    return shape is None or bool(shape["places"]["tools"])


def put_together(
    shape: Mapping[str, Json] | None,
    dialect_id: str,
    tools: list[Json],
    fields: Mapping[str, str],
    meta: Mapping[str, Json],
) -> Json:
    """Return a document.

    Args:
        shape: Layout and places; None for a plain result.
        dialect_id: The revision.
        tools: The tools.
        fields: The provider's fields and the further fields, by JSON Pointer; the shape has room for them.
        meta: `_meta` for the object that holds the tools, where there is one.
    """
    if shape is None:
        shape = {"layout": {}, "places": _PLAIN_PLACES}
    document = copy.deepcopy(shape["layout"])
    for pointer, value in fields.items():
        holder = _parent(document, pointer)
        if holder is not None:
            holder[pointer_name(pointer.rpartition("/")[2])] = value
    parent = _parent(document, shape["places"]["tools"])
    if parent is None:
        return tools[0] if document == _ONE_TOOL and len(tools) == 1 else tools
    parent["tools"] = tools
    if dialect_id == MODERN:
        for word, default in CACHE_DEFAULTS.items():
            parent.setdefault(word, default)
    if meta:
        parent["_meta"] = dict(meta)
    return document


def _parent(document: Json, pointer: str) -> dict[str, Any] | None:
    """Return the object that holds, or may hold, what a pointer names; None if no such object exists."""
    current = document
    for token in pointer.split("/")[1:-1]:
        current = current.get(pointer_name(token)) if isinstance(current, dict) else None
    return current if isinstance(current, dict) and pointer else None
