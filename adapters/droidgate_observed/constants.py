"""The adapter's data (mappings, `formats/observed.toml` and `observed/protocols.toml`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import load_format_tables
from droidgate_mappings.tables.observed import ObservedProtocol, load_observed_protocols

TABLES: Final = load_format_tables("observed")
FORMAT_ID: Final = TABLES.id
KIND_OF_WORD: Final = TABLES.words.read
PROTOCOLS: Final[Mapping[str, ObservedProtocol]] = {
    observed_protocol.id: observed_protocol for observed_protocol in load_observed_protocols()
}
"""Protocol id, which is the id of its dialect, to what is known of it."""


def as_extensions(facts: Mapping[str, Json]) -> Extensions:
    """Return the extensions that hold the given facts of this format."""
    return {FORMAT_ID: dict(facts)} if facts else {}
