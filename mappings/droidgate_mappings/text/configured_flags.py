"""Booleans that depend on the device: `@bool/name` with a value in each `values-*` folder.

A value belongs to a resource qualifier: the empty text is the default configuration, `v36` is Android 16 and
later. A device uses the value of its best match (Android's documentation of resources). Often only a device's
release is known; qualifiers of anything else are kept then and are not chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

Flag = bool | dict[str, bool]
"""One value for every device, or the value by qualifier where they differ."""

MAX_REFERENCES: Final = 20
"""How many references are followed from one value; AssetManager stops at 20 too."""

_RELEASE: Final = re.compile(r"v([0-9]{1,5})", re.IGNORECASE)
_DIMENSIONS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        "mcc[0-9]{3}",
        "mnc[0-9]{1,3}",
        r"(?!car$)[a-z]{2,3}|b\+[a-z0-9+]+[a-z0-9]",
        "r[a-z]{2}",
        "neuter|feminine|masculine",
        "ldltr|ldrtl",
        "sw[0-9]{1,5}dp",
        "w[0-9]{1,5}dp",
        "h[0-9]{1,5}dp",
        "small|normal|large|xlarge",
        "long|notlong",
        "round|notround",
        "widecg|nowidecg",
        "highdr|lowdr",
        "port|land|square",
        "desk|car|television|appliance|watch|vrheadset",
        "night|notnight",
        "(?:[a-z]+|[0-9]{1,5})dpi",
        "notouch|stylus|finger",
        "keysexposed|keyshidden|keyssoft",
        "nokeys|qwerty|12key",
        "navexposed|navhidden",
        "nonav|dpad|trackball|wheel",
        "[0-9]{1,4}x[0-9]{1,4}",
        _RELEASE.pattern,
    )
)
"""What a qualifier can name, in the order of its words, which is Android's precedence too."""

_VERSION: Final = len(_DIMENSIONS) - 1
_DENSITY, _WIDTH, _HEIGHT = (
    next(position for position, words in enumerate(_DIMENSIONS) if words.fullmatch(word))
    for word in ("hdpi", "w1dp", "h1dp")
)
_EXCLUSIVE: Final = frozenset(
    position
    for position, words in enumerate(_DIMENSIONS)
    if any(words.fullmatch(word) for word in ("neuter", "ldltr", "long", "round", "land", "desk", "night"))
)
"""Where a device that has one of the words has none of the others."""

_MOST_JOINED: Final = 64


def value_for_release(values: Mapping[str, Value], sdk: int) -> Value | None:
    """Return the value of the highest `vNN` up to a release, else that of the default configuration.

    Args:
        values: Value by resource qualifier.
        sdk: SDK level of the device.

    Returns:
        The value, None where neither is there.
    """
    return value_for_qualifier(values, f"v{sdk}")


def value_for_qualifier(values: Mapping[str, Value], qualifier: str) -> Value | None:
    """Return the value that a device uses about which exactly the words of a qualifier are known.

    A folder matches if the device has all of its words and at least its release. Of the folders that match,
    the one with the first word that another lacks is used, and the newest of those that are left.

    Args:
        values: Value by resource qualifier.
        qualifier: What the device is, such as `land-v36`.

    Returns:
        The value, None where no folder matches.
    """
    if qualifier in values:
        return values[qualifier]
    qualifier_words, release = _split_release(qualifier)
    best: tuple[tuple[bool, ...], int] | None = None
    best_value: Value | None = None
    for folder, value in values.items():
        words, needed = _split_release(folder)
        rank = (tuple(word in words for word in qualifier_words), needed)
        if needed <= release and set(words) <= set(qualifier_words) and (best is None or rank > best):
            best, best_value = rank, value
    return best_value


def values_on_release(values: Mapping[str, Value], sdk: int) -> dict[str, Value]:
    """Return the values that devices of one release can use, by what else the qualifiers name.

    Args:
        values: Value by resource qualifier.
        sdk: SDK level of the device.

    Returns:
        Value by qualifier without release; without the default where no device of the release has it.
    """
    reached: dict[str, Value] = {}
    for folder in ("", *values):
        words, release = _split_release(folder)
        rest = "-".join(words)
        value = value_for_qualifier(values, f"{rest}-v{sdk}" if rest else f"v{sdk}")
        if release <= sdk and value is not None:
            reached[rest] = value
    return reached


def is_qualifier(text: str) -> bool:
    """Return whether a text is the qualifier of a resource folder, so that a value can be written for it."""
    return _parse(text) is not None


def joined_qualifiers(*groups: Iterable[str]) -> list[str] | None:
    """Return qualifiers that separate devices as several resources together do.

    Each combination of the qualifiers that one device can match is among them, so that its best match among
    them matches all that the device matches.

    Args:
        groups: The qualifiers of each resource.

    Returns:
        The qualifiers, sorted, the default configuration first; None where no qualifiers can do it.
    """
    distinct = {frozenset(group) | {""} for group in groups} - {frozenset({""})}
    if len(distinct) <= 1:
        return sorted(next(iter(distinct), {""}))
    parsed = [_parse(qualifier) for qualifier in sorted(frozenset[str]().union(*distinct))]
    positions = {position for words in parsed for position in words or ()}
    # A folder of another density matches too, and Android compares the sum of width and height: what is best
    # depends on the device then.
    if _DENSITY in positions or {_WIDTH, _HEIGHT} <= positions:
        return None
    joined: dict[str, dict[int, str]] = {"": {}}
    for words in parsed:
        if words is None:
            return None
        for earlier_words in list(joined.values()):
            if not _can_join(earlier_words, words):
                return None
            if not _excludes(earlier_words, words):
                both = _join(earlier_words, words)
                joined["-".join(both[position] for position in sorted(both))] = both
        if len(joined) > _MOST_JOINED:
            return None
    return sorted(joined)


def both_flags(first: bool | Mapping[str, bool], second: bool | Mapping[str, bool]) -> Flag:  # noqa: FBT001 - the flags themselves
    """Return where both of two flags are true.

    A flag without a value is true, as Android reads `android:enabled`.

    Returns:
        The flag; false where no qualifiers can express it, so that no device has more than both flags allow.
    """
    if isinstance(first, bool) and isinstance(second, bool):
        return first and second
    values = [{"": item} if isinstance(item, bool) else {"": True, **item} for item in (first, second)]
    qualifiers = joined_qualifiers(*values)
    if qualifiers is None:
        return False
    return simplify_flag(
        {
            qualifier: all(value_for_qualifier(flag_values, qualifier) is not False for flag_values in values)
            for qualifier in qualifiers
        }
    )


def disabled_in(values: Mapping[str, bool]) -> str:
    """Return the configurations in which a flag is false, for a message."""
    return ", ".join(qualifier or "default" for qualifier, value in values.items() if not value)


def simplify_flag(values: Mapping[str, bool]) -> Flag:
    """Return one value where every device has it, else the value by qualifier.

    Args:
        values: Value by resource qualifier.
    """
    default = values.get("")
    return default if default is not None and len(set(values.values())) == 1 else dict(values)


def differing_values(values: Mapping[str, bool]) -> dict[str, bool]:
    """Return the value by qualifier where it differs, nothing where every device has one value or none."""
    flag = simplify_flag(values)
    return {} if isinstance(flag, bool) else flag


def resolve_flag(start: Key, values_of: Callable[[Key], Mapping[str, bool | Key]]) -> dict[str, bool]:
    """Return the values of a boolean resource in every configuration that it or a resource behind it has.

    Args:
        start: The resource.
        values_of: Gives a resource's values by qualifier, each a boolean or another resource.

    Returns:
        Value by qualifier, the default configuration first; empty where no boolean is found.
    """
    values_by_key: dict[Key, Mapping[str, bool | Key]] = {}
    pending = [start]
    while pending and len(values_by_key) < MAX_REFERENCES:
        key = pending.pop()
        if key not in values_by_key:
            values_by_key[key] = values_of(key)
            pending.extend(item for item in values_by_key[key].values() if not isinstance(item, bool))
    qualifiers = joined_qualifiers(*values_by_key.values())
    plain = sorted({"", *(qualifier for values in values_by_key.values() for qualifier in values)})
    followed = {qualifier: _follow(start, values_by_key, qualifier) for qualifier in qualifiers or plain}
    resolved = {item: value for item, value in followed.items() if value is not None}
    # Where no qualifiers can express the values, a rule must not be open by mistake.
    return resolved if qualifiers is not None else dict.fromkeys(resolved, False)


def _follow(start: Key, flags: Mapping[Key, Mapping[str, bool | Key]], qualifier: str) -> bool | None:
    key = start
    for _ in range(MAX_REFERENCES):
        value = value_for_qualifier(flags.get(key, {}), qualifier)
        if value is None or isinstance(value, bool):
            return value
        key = value
    return None


def _split_release(qualifier: str) -> tuple[list[str], int]:
    """Return the words of a qualifier in lower case without its release, and the release, 0 without one."""
    words = qualifier.lower().split("-") if qualifier else []
    match = _RELEASE.fullmatch(words[-1]) if words else None
    return (words, 0) if match is None else (words[:-1], int(match[1]))


def _parse(qualifier: str) -> dict[int, str] | None:
    """Return the words of a qualifier by what they name, None where one is not known or out of order."""
    words: dict[int, str] = {}
    start = 0
    for word in qualifier.lower().split("-") if qualifier else ():
        rest = range(start, len(_DIMENSIONS))
        position = next((item for item in rest if _DIMENSIONS[item].fullmatch(word)), None)
        if position is None:
            return None
        words[position] = word
        start = position + 1
    return words


def _differing(first: Mapping[int, str], second: Mapping[int, str]) -> set[int]:
    return {item for item in first.keys() & second.keys() - {_VERSION} if first[item] != second[item]}


def _excludes(first: Mapping[int, str], second: Mapping[int, str]) -> bool:
    return bool(_differing(first, second))


def _can_join(first: Mapping[int, str], second: Mapping[int, str]) -> bool:
    """Return whether one qualifier can name the devices that match both, or there are none."""
    differing = _differing(first, second)
    return not differing or bool(differing & _EXCLUSIVE)


def _join(first: Mapping[int, str], second: Mapping[int, str]) -> dict[int, str]:
    both = {**first, **second}
    if _VERSION in both:
        both[_VERSION] = max(
            (side[_VERSION] for side in (first, second) if _VERSION in side), key=lambda word: int(word[1:])
        )
    return both
