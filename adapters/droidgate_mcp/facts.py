"""Names of the facts that a tool or a document has beyond the model: one fact for each member.

A member of a tool is named as it is, a member of its `annotations` or of `_meta` by its JSON Pointer, such as
`/_meta/com.example~1cost`. So is a member whose name starts with a slash.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token

META_POINTER: Final = "/_meta"
"""Prefix of the facts that keep `_meta` of a tool, or of the object that holds the tools."""

ANNOTATIONS_POINTER: Final = "/annotations"
"""Prefix of the facts that keep further members of a tool's annotations."""

TITLE_FACT: Final = "title"
"""Where the title is: `annotations`, or `both` where the tool states it there too; absent where it is not."""

ANNOTATIONS_FACT: Final = "annotations"
"""An empty object, where the source's annotations are one."""

_LAYOUT_FACTS: Final = frozenset({TITLE_FACT, ANNOTATIONS_FACT})
_CONTAINERS: Final = (f"{META_POINTER}/", f"{ANNOTATIONS_POINTER}/")


def name_members(members: Mapping[str, Json], container: str) -> dict[str, Json]:
    """Return the members of `_meta` or `annotations` as facts.

    Args:
        members: Name and value of each member.
        container: JSON Pointer of the object that holds them.
    """
    return {f"{container}/{pointer_token(name)}": value for name, value in members.items()}


def read_members(facts: Mapping[str, Json], container: str) -> dict[str, Json]:
    """Return the members that `name_members` named, from all facts."""
    prefix = f"{container}/"
    return {
        pointer_name(fact.removeprefix(prefix)): value
        for fact, value in facts.items()
        if fact.startswith(prefix)
    }


def name_member(name: str) -> str:
    """Return the name of the fact that keeps a member of a tool."""
    return f"/{pointer_token(name)}" if name.startswith("/") else name


def is_member(fact: str) -> bool:
    """Return whether a fact keeps a member of the tool itself, with the value that the member has."""
    return fact not in _LAYOUT_FACTS and not fact.startswith(_CONTAINERS)


def member_name(fact: str) -> str:
    """Return the member of a name that `name_member` made."""
    return pointer_name(fact[1:]) if fact.startswith("/") else fact
