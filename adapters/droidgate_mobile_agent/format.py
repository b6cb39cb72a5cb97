"""The commands of MobileAgent as `droidgate_mappings.formats.format` knows them: read, and never written."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
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

FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_mobile_agent.read:detect"),
    read_file=lazily("droidgate_mobile_agent.read:read_file"),
    endings=(".json",),
    built_in=lazily("droidgate_mobile_agent.read:built_in"),
)
