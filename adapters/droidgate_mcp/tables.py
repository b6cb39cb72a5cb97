"""The adapter's data: its tables and names (mappings, `formats/mcp.toml`)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("mcp")
FORMAT_ID: Final = TABLES.id

HANDSHAKE: Final = "2025-11-25"
"""The last revision with a handshake; all before it are read as this one."""

MODERN: Final = "2026-07-28"

PROVIDER_META: Final = TABLES.names["provider_meta"]
TOOL_META: Final = TABLES.names["tool_meta"]

CACHE_DEFAULTS: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
"""What a 2026-07-28 result must say, at its strictest."""

HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
"""Member of a tool's annotations -> field of `Effects`."""


def document_fact(dialect_id: str) -> str:
    """Return the name of the provider's fact that keeps a document's shape; a document is of one dialect."""
    return f"document {dialect_id}"
