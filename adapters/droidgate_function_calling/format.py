"""The tool lists of model vendors as `droidgate_mappings.formats.format` knows them."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("function-calling")
FORMAT_ID: Final = TABLES.id

OPENAI: Final = "openai"
OPENAI_CHAT: Final = "openai-chat"
ANTHROPIC: Final = "anthropic"
GEMINI: Final = "gemini"

FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_function_calling.read:detect"),
    read_file=lazily("droidgate_function_calling.read:read_file"),
    endings=(".json",),
    write=lazily("droidgate_function_calling.write:write"),
    lint_file=lazily("droidgate_function_calling.lint:lint_file"),
    read_call=lazily("droidgate_function_calling.calls:read_call"),
)
