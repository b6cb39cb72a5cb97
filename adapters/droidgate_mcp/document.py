"""What stands around a list of tools: a result, a JSON-RPC response, nothing, or a server dump (row P04).

A document is kept as its skeleton, which is the document without its tools and the provider's fields, and the
places that these come from. A skeleton and places as the writer makes them anyway are not kept at all.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from droidgate.model.errors import InputError
from droidgate.model.json_values import Json, canonical_json, pointer_name
from droidgate_mcp.tables import CACHE_DEFAULTS, MODERN

SHAPE_HINT: Final = (
    "A tools/list result, the JSON-RPC response around one, an array of tools or a dump of a server is read"
)

_FIELD_PLACES: Final = {
    "name": ("/serverInfo/title", "/serverInfo/name", "/server/title", "/server/name", "/name"),
    "description": ("/serverInfo/description", "/server/description", "/description"),
    "instructions": ("/instructions",),
}
_PLAIN_PLACES: Final = {"tools": "/tools"}
_TOOL_PLACES: Final = ("", "/tools", "/result/tools")
_REVISION: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Document:
    """A document taken apart.

    Attributes:
        tools: The tools, unread.
        fields: The provider's name, description and instructions, where the document says them.
        skeleton: What is left.
        places: JSON Pointer in the document of `tools` and of each field.
        meta: `_meta` of the object that holds the tools; empty where there is none.
    """

    tools: list[Json]
    fields: dict[str, str]
    skeleton: Json
    places: dict[str, str]
    meta: Mapping[str, Json]

    @property
    def pointer(self) -> str:
        """JSON Pointer of the list of tools."""
        return self.places["tools"]

    @property
    def parent(self) -> dict[str, Json] | None:
        """What is left of the object that holds the tools; None for a bare array."""
        return _parent(self.skeleton, self.pointer)

    def states_modern_revision(self) -> bool | None:
        """Tell whether the document says that it is of revision 2026-07-28; None where it does not say."""
        stated = self.skeleton.get("protocolVersion") if isinstance(self.skeleton, Mapping) else None
        if isinstance(stated, str) and _REVISION.fullmatch(stated):
            return stated >= MODERN
        parent = self.parent
        return True if parent is not None and not CACHE_DEFAULTS.keys().isdisjoint(parent) else None

    def kept_shape(self, dialect_id: str) -> dict[str, Json] | None:
        """Return skeleton and places, None where they are what is written anyway."""
        skeleton = copy.deepcopy(self.skeleton)
        parent = _parent(skeleton, self.pointer)
        if parent is not None and dialect_id == MODERN:
            for word, value in CACHE_DEFAULTS.items():
                if word in parent and canonical_json(parent[word]) == canonical_json(value):
                    del parent[word]
        if skeleton == {} and self.places == _PLAIN_PLACES:
            return None
        return {"skeleton": skeleton, "places": self.places}


def take_apart(value: Json, path: str) -> Document:
    """Take a document apart, in place: what is left of `value` is the skeleton.

    Raises:
        InputError: it holds no list of tools, or is a JSON-RPC error.
    """
    if isinstance(value, list):
        return Document(value, {}, None, {"tools": ""}, {})
    pointer = _find_tools(value, path)
    parent = _parent(value, pointer) or {}
    tools = parent.pop("tools")
    meta = parent.pop("_meta", None)
    if meta is not None and not isinstance(meta, Mapping):
        raise InputError("`_meta` is no JSON object", place=path, hint="Remove it")
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
    return Document(tools, fields, value, places, meta or {})


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
                f"the response is an error: {error['message']}", place=path, hint="Ask the server again"
            )
    raise InputError("no list of tools", place=path, hint=SHAPE_HINT)


def is_shape(value: Json) -> bool:
    """Tell whether a value is a skeleton with places that fit it, as `Document.kept_shape` returns one."""
    if not isinstance(value, Mapping) or value.keys() != {"skeleton", "places"}:
        return False
    skeleton, places = value["skeleton"], value["places"]
    if not isinstance(places, Mapping) or places.get("tools") not in _TOOL_PLACES:
        return False
    holders = (_parent(skeleton, place) for place in places.values() if place)
    return (
        all(field == "tools" or place in _FIELD_PLACES.get(field, ()) for field, place in places.items())
        and all(holder is not None for holder in holders)
        and (bool(places["tools"]) or skeleton is None)
    )


def placed_fields(shape: Mapping[str, Json] | None) -> frozenset[str]:
    """Return the provider's fields that have a place of their own in a document of a shape."""
    return frozenset(shape["places"].keys() - {"tools"}) if shape is not None else frozenset()


def holds_meta(shape: Mapping[str, Json] | None) -> bool:
    """Tell whether a document of a shape has an object around its tools, and so room for `_meta`."""
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
        shape: Skeleton and places, None for a plain result.
        dialect_id: The revision.
        tools: The tools.
        fields: The provider's fields that have places in the shape.
        meta: `_meta` for the object that holds the tools, where there is one.
    """
    if shape is None:
        shape = {"skeleton": {}, "places": _PLAIN_PLACES}
    skeleton = copy.deepcopy(shape["skeleton"])
    for field, text in fields.items():
        place = shape["places"][field]
        holder = _parent(skeleton, place)
        if holder is not None:
            holder[place.rpartition("/")[2]] = text
    parent = _parent(skeleton, shape["places"]["tools"])
    if parent is None:
        return tools
    parent["tools"] = tools
    if dialect_id == MODERN:
        for word, value in CACHE_DEFAULTS.items():
            parent.setdefault(word, value)
    if meta:
        parent["_meta"] = dict(meta)
    return skeleton


def _parent(document: Json, pointer: str) -> dict[str, Any] | None:
    """Return the object that holds, or may hold, what a pointer names; None where there is no such object."""
    current = document
    for token in pointer.split("/")[1:-1]:
        current = current.get(pointer_name(token)) if isinstance(current, dict) else None
    return current if isinstance(current, dict) and pointer else None
