"""The names of the Mobile-MCP protocol, and which of them each dialect's files use (specification 1;
reference mobile-mcp-and-mmcp 2.2).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from droidgate_mappings.tables.loading import FormatTables, load_format_tables

TABLES: Final[FormatTables] = load_format_tables("mobile-mcp")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
WORDS: Final = TABLES.words

Role = Literal["name", "description", "capabilities"]
ROLES: Final[tuple[Role, ...]] = ("name", "description", "capabilities")


@dataclass(frozen=True, slots=True)
class DescriptorForm:
    """What a dialect's files are made of.

    Attributes:
        root: Name of the root element.
        version: The root's version, or None where it has none.
        action: Action of the service's intent filter.
        keys: Role -> name of the meta-data.
    """

    root: str
    version: str | None
    action: str
    keys: dict[Role, str]


def _form(prefix: str, version: str | None) -> DescriptorForm:
    return DescriptorForm(
        root=NAMES[f"{prefix}root"],
        version=version,
        action=NAMES[f"{prefix}service_action"],
        keys={role: NAMES[f"{prefix}tool_{role}"] for role in ROLES},
    )


_SPECIFIED: Final = _form("", NAMES["version"])
_PROTOTYPE: Final = _form("", None)
_PRE_SPEC: Final = _form("pre_spec_", None)

FORMS: Final[dict[str, DescriptorForm]] = {
    "1.0": _SPECIFIED,
    "1.0-input": _SPECIFIED,
    "prototype": _PROTOTYPE,
    "pre-spec": _PRE_SPEC,
}
"""Dialect id -> its form."""

ACTIONS: Final = (_SPECIFIED.action, _PRE_SPEC.action)
"""Every action by which a service is found, the specified one first."""

KEYS: Final[dict[Role, tuple[str, ...]]] = {
    role: (_SPECIFIED.keys[role], _PRE_SPEC.keys[role]) for role in ROLES
}
"""Role -> every meta-data name, the specified one first."""

SAME_MAJOR: Final = re.compile(r"1(\.[0-9]+)*")
"""The root versions that are read as 1.0 (row M08)."""

_NARROWER_WORDS: Final = frozenset({"short"})
"""Known words that name fewer values than the type they are read as."""


def word_fact(word: str) -> str:
    """Return the fact that holds an unusual type word, by whether it means the type of the usual word."""
    plain = word.strip().lower()
    return "word-as-written" if plain in WORDS.read and plain not in _NARROWER_WORDS else "word"
