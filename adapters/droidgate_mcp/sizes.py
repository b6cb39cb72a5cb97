"""How many bytes a model is given for each tool."""

from __future__ import annotations

from collections.abc import Mapping

from droidgate_mappings.formats.format import Writing
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_mcp.tool_facts import FORMAT_ID, TABLES
from droidgate_mcp.write import write


def size_for_models(provider: Provider, writing: Writing) -> tuple[int, ...] | None:
    """Return the bytes of each tool's canonical JSON without `_meta`; None where it cannot be written.

    Args:
        provider: What was written.
        writing: What became of it in the default dialect.
    """
    if provider.protocol == FORMAT_ID and provider.extensions:
        # Written back as the kind of document that it was read from; without these facts it is a result.
        try:
            writing = write(provider.changed({"extensions": {}}), TABLES.dialects[0])
        except DroidgateError:
            return None
    tools = parse_json(writing.artifacts[0].text, limits=WRITTEN)["tools"]
    return tuple(map(_size_of, tools))


def _size_of(tool: Mapping[str, Json]) -> int:
    shown = {name: value for name, value in tool.items() if name != "_meta"}
    return len(canonical_json(shown).encode("utf-8", "surrogatepass"))
