"""The format's tables, and the names of its dialects (mappings, `formats/function-calling.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("function-calling")
FORMAT_ID: Final = TABLES.id

OPENAI: Final = "openai"
OPENAI_STRICT: Final = "openai-strict"
OPENAI_CHAT: Final = "openai-chat"
ANTHROPIC: Final = "anthropic"
GEMINI: Final = "gemini"


def as_extensions(facts: Mapping[str, Json]) -> Extensions:
    """Return the extensions that hold the given facts of this format."""
    return {FORMAT_ID: dict(facts)} if facts else {}
