"""Names of tools: stable, at most 64 characters of `[A-Za-z0-9_-]`, and never parsed back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from droidgate.calling.targets import last_part
from droidgate.model.names import NameRule, map_names, name_suffix

RULE: Final = NameRule(allowed="[A-Za-z0-9_-]", first="[A-Za-z]", max_length=64)
"""What every client takes: OpenAI's models refuse dots, Gemini 65 characters and a digit at the start."""


def tool_names(capabilities: Iterable[tuple[str, str, str, str]]) -> dict[str, str]:
    """Return the tools' names by key.

    A name is the last part of the package and of the capability's id: `notes_createNote`. Where two would be
    equal but for case, each gets a suffix made from its own key.

    Args:
        capabilities: For each its key, a prefix or an empty text, the package, and the capability's id.
    """
    names = {
        key: "_".join(filter(None, (prefix, last_part(package), last_part(identifier))))
        for key, prefix, package, identifier in capabilities
    }
    shapes = Counter(RULE.shape(name).lower() for name in names.values())
    pairs = [
        (name if shapes[RULE.shape(name).lower()] == 1 else _with_suffix(name, key), key)
        for key, name in names.items()
    ]
    return map_names(pairs, RULE)


def _with_suffix(name: str, key: str) -> str:
    suffix = f"_{name_suffix(key)}"
    return RULE.shape(name)[: RULE.max_length - len(suffix)] + suffix
