"""App Actions as `droidgate_mappings.formats.format` knows them: read and checked, and never written."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("app-actions")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names

SHORTCUTS: Final = "shortcuts"
ACTIONS: Final = "actions"

FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_app_actions.read:detect"),
    read_file=lazily("droidgate_app_actions.read:read_file"),
    read_application=lazily("droidgate_app_actions.read:read_application"),
    lint_file=lazily("droidgate_app_actions.lint:lint_file"),
    lint_application=lazily("droidgate_app_actions.lint:lint_application"),
    endings=(".xml",),
)
