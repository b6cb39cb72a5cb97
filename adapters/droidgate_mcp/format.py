"""The MCP format as `droidgate_mappings.formats.format` knows it."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("mcp")
FORMAT_ID: Final = TABLES.id

HANDSHAKE: Final = "2025-11-25"
"""The last revision with a handshake; all before it are read as this one."""

MODERN: Final = "2026-07-28"

PROVIDER_META: Final = TABLES.names["provider_meta"]
TOOL_META: Final = TABLES.names["tool_meta"]

FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_mcp.read:detect"),
    read_file=lazily("droidgate_mcp.read:read_file"),
    endings=(".json", ".jsonl", ".ndjson"),
    write=lazily("droidgate_mcp.write:write"),
    lint_file=lazily("droidgate_mcp.lint:lint_file"),
    may_be=lazily("droidgate_mcp.read:may_be"),
    find_losses=lazily("droidgate_mcp.write:find_losses"),
    size_for_models=lazily("droidgate_mcp.write:size_for_models"),
)
