"""Findings as docs/reference/findings.md describes them, and how pointers relate."""

import re
from dataclasses import dataclass
from typing import Final

LEVELS: Final = (
    "read", "renamed", "moved", "defaulted", "widened", "narrowed", "dropped", "impossible", "security",
)  # fmt: skip
_STEPS: Final = re.compile(
    r"(?:/capabilities/\d+/(?:input|output)|/definitions/[^/]*)"
    r"(?:/properties/[^/]*/type|/items|/members/\d+|/alternatives/\d+)*"
)
_SUFFIX: Final = re.compile(r"^(/definitions/[^/@]*)@[^/]*")
SCHEMA_WORDS: Final = frozenset(f"keywords/{word}" for word in (
    "type", "anyOf", "oneOf", "allOf", "$ref", "items", "prefixItems", "properties", "if", "then",
))  # fmt: skip
"""Keywords that say what kind of value a type has, or that hold inner types as they are written."""

_KIND_WORDS: Final = frozenset({"kind", "name", "implicit", "boolean", "exclusive", *SCHEMA_WORDS})
_NULL_WORDS: Final = frozenset({"nullable", "enum", "keywords/type", "keywords/enum"})


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a conversion."""

    code: str
    level: str
    pointer: str
    message: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """One entry of names.json."""

    pointer: str
    original: str
    written: str


def reaches(level: str, threshold: str) -> bool:
    """Return whether a level is a threshold or graver."""
    return LEVELS.index(level) >= LEVELS.index(threshold)


def split(pointer: str) -> tuple[str, str]:
    """Return the pointer of the type (or other node) that a leaf belongs to, and the leaf's word in it."""
    match = _STEPS.match(pointer)
    if match is None:
        node, _, word = pointer.rpartition("/")
        return node, word
    return match[0], pointer[match.end() + 1 :]


def place_of(leaf: str) -> str:
    """Return the pointer of what a leaf speaks about: a type, or the property that is required."""
    return leaf.removesuffix("/required") if leaf.endswith("/required") else split(leaf)[0]


def without_suffix(pointer: str) -> str:
    """Return a pointer without what sets apart definitions of one name (`Node@3fa2`)."""
    return _SUFFIX.sub(r"\1", pointer) if "@" in pointer else pointer


def is_below(pointer: str, node: str) -> bool:
    """Return whether a pointer is a node or inside it."""
    return pointer == node or pointer.startswith(f"{node}/")


def says_same(finding: str, leaf: str) -> bool:
    """Return whether two pointers are equal, or both say what kind of value one type has, or whether null."""
    (node, word), (leaf_node, leaf_word) = split(finding), split(leaf)
    if node != leaf_node:
        return False
    return word == leaf_word or any(word in item and leaf_word in item for item in (_KIND_WORDS, _NULL_WORDS))


def speaks_of(finding: str, leaf: str) -> bool:
    """Return whether a finding at one pointer is about a leaf at another.

    It is where both are equal; where both say what kind of value a type has, in different words; and where
    one is a keyword that holds the type of the other as it is written.
    """
    if says_same(finding, leaf):
        return True
    (node, word), (leaf_node, leaf_word) = split(finding), split(leaf)
    if node == leaf_node:
        return False
    if is_below(leaf_node, node):
        return word in SCHEMA_WORDS
    return is_below(node, leaf_node) and leaf_word in SCHEMA_WORDS
