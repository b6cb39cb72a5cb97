"""The adapter's data: its tables, names and type words (mappings, `formats/mmcp.toml`)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("mmcp")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
WORD_OF_KIND: Final = TABLES.words.write
KIND_OF_WORD: Final = TABLES.words.read

CURRENT: Final = "1.0"
DRAFT: Final = "draft"
BROADCAST: Final = "broadcast"

TEXT_KEYS: Final = {CURRENT: "instructions", DRAFT: "appDescription"}
"""The key of a manifest's text, by dialect."""

TEXT_FIELDS: Final = {CURRENT: "instructions", DRAFT: "description"}
"""The provider's field for it."""
