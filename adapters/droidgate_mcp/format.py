"""The MCP format as `droidgate_mappings.formats.format` knows it."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
from droidgate_mcp.read import detect, read_file
from droidgate_mcp.tool_facts import TABLES

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    write=lazily("droidgate_mcp.write:write"),
    find_losses=lazily("droidgate_mcp.write:find_losses"),
    lint_file=lazily("droidgate_mcp.lint:lint_file"),
    size_for_models=lazily("droidgate_mcp.write:size_for_models"),
    endings=(".json", ".jsonl", ".ndjson"),
)
