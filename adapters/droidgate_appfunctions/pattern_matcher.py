"""`android.os.PatternMatcher` patterns as one regular expression (reference 2.c, Constraints)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from droidgate_mappings.model.json_values import Json

_ANY: Final = r"[\s\S]"
_SPECIAL = re.compile(r"([\\^$.|?*+()\[\]{}/])")


def patterns_of(facts: Mapping[str, Json]) -> list[Json] | None:
    """Return the pattern documents that a type's facts keep, None where there are none."""
    patterns: list[Json] | None = facts.get("patterns", facts.get("otherPatterns"))
    return patterns


def fact_of_patterns(patterns: Sequence[Json], pattern: str | None) -> str:
    """Return the name of the fact that keeps pattern documents.

    `patterns` repeats the type's pattern in another spelling; `otherPatterns` says more than the pattern.
    """
    repeats = pattern is not None and pattern_of(patterns) == pattern
    has_elements = any("elements" in document for document in patterns)
    return "patterns" if repeats and not has_elements else "otherPatterns"


def pattern_of(patterns: Sequence[Json]) -> str | None:
    """Return the ECMA-262 expression of values that match at least one of the patterns.

    Args:
        patterns: `{"value": text, "type": PatternMatcher.PATTERN_*}` each.

    Returns:
        The anchored expression, or None where a pattern has an unknown type or no value.
    """
    bodies: list[str] = []
    for pattern in patterns:
        make = _MAKERS.get(pattern.get("type"))
        value = pattern.get("value")
        if make is None or value is None:
            return None
        bodies.append(make(value))
    if not bodies:
        return None
    return f"^{bodies[0]}$" if len(bodies) == 1 else f"^(?:{'|'.join(bodies)})$"


def _literal(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def _simple_glob(glob: str) -> str:
    """Convert a glob: a dot is any character, a star repeats the item before it, a backslash quotes."""
    return _glob(glob, lambda _: None)


def _advanced_glob(glob: str) -> str:
    """Convert an advanced glob: also sets in brackets, `+` and `{m,n}`."""
    return _glob(glob, _set_or_range)


_SET = re.compile(r"\[\^?(?:\\.|[^\]\\])+\]")
_RANGE = re.compile(r"\+|\{\d+(?:,\d*)?\}")


def _set_or_range(rest: str) -> str | None:
    match = _SET.match(rest) or _RANGE.match(rest)
    return match[0] if match is not None else None


def _glob(glob: str, find_more: Callable[[str], str | None]) -> str:
    pieces: list[str] = []
    repeated = True
    position = 0
    while position < len(glob):
        character = glob[position]
        more = find_more(glob[position:])
        if more is not None:
            pieces.append(more)
            position += len(more)
            repeated = not more.startswith("[")
            continue
        position += 1
        if character == "*" and not repeated:
            pieces.append("*")
            repeated = True
            continue
        repeated = False
        if character == "\\" and position < len(glob):
            pieces.append(_literal(glob[position]))
            position += 1
        elif character == ".":
            pieces.append(_ANY)
        else:
            pieces.append(_literal(character))
    return "".join(pieces)


_MAKERS: Final[dict[object, Callable[[str], str]]] = {
    0: _literal,
    1: lambda text: f"{_literal(text)}{_ANY}*",
    2: _simple_glob,
    3: _advanced_glob,
    4: lambda text: f"{_ANY}*{_literal(text)}",
}
