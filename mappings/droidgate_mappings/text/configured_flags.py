"""Booleans that depend on the device: `@bool/name` with a value in each `values-*` folder.

A value belongs to a resource qualifier: the empty text is the default configuration, `v36` is Android 16 and
later. A device uses the value of its best match (Android's documentation of resources). Often only a device's
release is known; qualifiers of anything else are kept then and are not chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from itertools import product
from typing import Final, TypeVar

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

Flag = bool | dict[str, bool]
"""One value for every device, or the value by qualifier where they differ."""

MAX_REFERENCES: Final = 20
"""How many references are followed from one value; AssetManager stops at 20 too."""

_RELEASE: Final = re.compile(r"v([0-9]{1,5})", re.IGNORECASE)
_DIMENSIONS: Final = (
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
"""What a qualifier can name, in the order of its words, which is Android's precedence too."""

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
    dimensions = iter(_DIMENSIONS)
    words = text.lower().split("-") if text else ()
    return all(any(re.fullmatch(dimension, word) for dimension in dimensions) for word in words)


def joined_qualifiers(*groups: Iterable[str]) -> list[str] | None:
    """Return qualifiers that separate devices as several resources together do.

    Args:
        groups: The qualifiers of each resource.

    Returns:
        The qualifiers, sorted, the default configuration first; None where several resources name more than
        releases, and not the same, or there are too many.
    """
    distinct = {frozenset(group) | {""} for group in groups} - {frozenset({""})}
    if len(distinct) <= 1:
        return sorted(next(iter(distinct), {""}))
    split = [[_split_release(qualifier) for qualifier in group] for group in distinct]
    named = [words for group in split if (words := {"-".join(words) for words, _ in group} - {""})]
    qualifiers = [qualifier for group in split for qualifier in group]
    if (len(named) > 1 and len(frozenset[str]().union(*named)) > 1) or len(qualifiers) > _MOST_JOINED:
        return None
    # A folder of words for a release says nothing of earlier releases.
    newest = ((words, max(release, other)) for (words, release), (_, other) in product(qualifiers, repeat=2))
    return sorted({"-".join([*words, *([f"v{release}"] if release else [])]) for words, release in newest})


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
