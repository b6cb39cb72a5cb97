"""Booleans that depend on the device: `@bool/name` with a value in each `values-*` folder.

A value belongs to a resource qualifier: the empty text is the default configuration, `v36` is Android 16 and
later. A device uses the value of its best match (Android's documentation of resources). What is known of a
device here is its release, so qualifiers of anything else are kept and are not chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Mapping
from typing import Final, TypeVar

Value = TypeVar("Value")
Key = TypeVar("Key", bound=Hashable)

Flag = bool | dict[str, bool]
"""One value for every device, or the value by qualifier where they differ."""

MAX_REFERENCES: Final = 20
"""How many references are followed from one value; AssetManager stops at 20 too."""

_RELEASE: Final = re.compile(r"v([0-9]{1,5})")
_RELEASE_AT_END: Final = re.compile(r"(?:^|-)v([0-9]{1,5})$")


def value_for_release(values: Mapping[str, Value], sdk: int) -> Value | None:
    """Return the value of the highest `vNN` up to a release, else that of the default configuration.

    Args:
        values: Value by resource qualifier.
        sdk: SDK level of the device.

    Returns:
        The value, None where neither is there.
    """
    releases = {int(found[1]): key for key in values if (found := _RELEASE.fullmatch(key)) is not None}
    best = max((release for release in releases if release <= sdk), default=None)
    return values.get("" if best is None else releases[best])


def value_for_qualifier(values: Mapping[str, Value], qualifier: str) -> Value | None:
    """Return the value of exactly one qualifier, else the value for the release that it names."""
    if qualifier in values:
        return values[qualifier]
    found = _RELEASE_AT_END.search(qualifier)
    return value_for_release(values, int(found[1]) if found is not None else 0)


def both_flags(first: bool | Mapping[str, bool], second: bool | Mapping[str, bool]) -> Flag:  # noqa: FBT001 - the flags themselves
    """Return where both of two flags are true."""
    if isinstance(first, bool) and isinstance(second, bool):
        return first and second
    values = [{"": one} if isinstance(one, bool) else one for one in (first, second)]
    qualifiers = sorted({"", *values[0], *values[1]})
    return simplify_flag(
        {one: all(value_for_qualifier(held, one) is not False for held in values) for one in qualifiers}
    )


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
    known: dict[Key, Mapping[str, bool | Key]] = {}
    pending = [start]
    while pending and len(known) < MAX_REFERENCES:
        key = pending.pop()
        if key not in known:
            known[key] = values_of(key)
            pending.extend(one for one in known[key].values() if not isinstance(one, bool))
    qualifiers = sorted({"", *(qualifier for values in known.values() for qualifier in values)})
    found = {one: _follow(start, known, one) for one in qualifiers}
    return {one: value for one, value in found.items() if value is not None}


def _follow(start: Key, known: Mapping[Key, Mapping[str, bool | Key]], qualifier: str) -> bool | None:
    key = start
    for _ in range(MAX_REFERENCES):
        value = value_for_qualifier(known.get(key, {}), qualifier)
        if value is None or isinstance(value, bool):
            return value
        key = value
    return None
