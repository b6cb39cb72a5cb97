"""Capabilities that are refused because their names can be mistaken for others.

A capability is known by its package, component and id. Ids that are equal in two apps are not a
danger by themselves, since each name has its package. Names that only look alike are: a person or a model
that approves one may mean the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidgate.calls.subjects import CapabilityKey
from droidgate_mappings.text_safety.hidden import HIDDEN
from droidgate_mappings.text_safety.look_alikes import folded_skeleton, skeleton

_BLANKS: Final = "\t\n"


def refused_names(keys: Iterable[CapabilityKey]) -> dict[CapabilityKey, str]:
    """Return which of a phone's capabilities are refused, with the reason, a sentence without a period.

    It refuses ids with invisible characters, ids that a provider declares twice, and names (`PACKAGE/ID`)
    that differ only in case, compatibility forms (NFKC) or characters that look alike. Of two such names it
    refuses both. The order of the capabilities makes no difference.

    Args:
        keys: All capabilities of the phone, one entry for each declaration.
    """
    refused: dict[CapabilityKey, str] = {}
    names_of_form: dict[tuple[str, str], set[str]] = {}
    seen: set[CapabilityKey] = set()
    every = list(keys)
    for key in every:
        hidden = hidden_in_id(key.capability)
        if hidden is not None:
            refused[key] = f"its id has a hidden character: {hidden}"
        elif key in seen:
            refused[key] = "its app declares this id twice"
        seen.add(key)
        for form in _forms_of(key):
            names_of_form.setdefault(form, set()).add(_name_of(key))
    for key in every:
        name = _name_of(key)
        others = {other for form in _forms_of(key) for other in names_of_form[form] if other != name}
        if others:
            refused.setdefault(key, f"its name looks like {min(others)}")
    return refused


def hidden_in_id(capability_id: str) -> str | None:
    """Return the first invisible character of an id, as `U+200B`; None if there is none."""
    for character in capability_id:
        if character in _BLANKS or HIDDEN.match(character):
            return f"U+{ord(character):04X}"
    return None


def _name_of(key: CapabilityKey) -> str:
    return f"{key.package}/{key.capability}"


def _forms_of(key: CapabilityKey) -> tuple[tuple[str, str], ...]:
    name = _name_of(key)
    return (("as written", skeleton(name)), ("folded", folded_skeleton(name)))
