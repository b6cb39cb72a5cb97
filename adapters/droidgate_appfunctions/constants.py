"""The format's tables, and the names that AppFunctions files are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("appfunctions")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
UNUSED: Final = NAMES["unused_id"]
"""The id that compilers give to every document that is not looked up."""

KIND_OF_NUMBER: Final[Mapping[int, str]] = {int(code): kind for code, kind in TABLES.numbers.items()}
NUMBER_OF_KIND: Final[Mapping[str, int]] = {kind: number for number, kind in KIND_OF_NUMBER.items()}

V2: Final = "v2"
V2_LEGACY: Final = "v2-legacy"
V1: Final = "v1"
PLATFORM: Final = "platform"
APP_LEVEL: Final = "app-level"

NOT_LISTED: Final = (
    b"No shell command implementation.",
    b"Can't find service: app_function",
    b"cmd: Can't find service: app_function",
    b"Unknown command: list-app-functions",
)
"""What Android prints where it cannot list functions (reference 6.1)."""

NOTHING: Final[Mapping[str, Json]] = {}


def facts_of(extensions: Extensions) -> Mapping[str, Json]:
    """Return what a part of the model keeps for this format."""
    return extensions.get(FORMAT_ID, NOTHING)


def as_extensions(facts: dict[str, Json]) -> Extensions:
    """Return the extensions that hold the given facts of this format."""
    return {FORMAT_ID: facts} if facts else {}
