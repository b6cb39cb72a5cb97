"""The format's tables (mappings, `formats/mobile-agent.toml`), and its constants."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("mobile-agent")
FORMAT_ID: Final = TABLES.id

COMMANDS_DIALECT: Final = "commands"
SERVER_DIALECT: Final = "server"
TOOL_INFO_DIALECT: Final = "tool-info"

DATA_COLLECTION: Final = "data_collection"
ACTION: Final = "action"

TOOL_TYPE_FACT: Final = "tool_type"
"""Which server has a command: `data_collection` or `action`."""
