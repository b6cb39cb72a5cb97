"""Comparing access rules: which callers a new rule keeps out, and which other callers it lets in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from droidgate_mappings.compare.changes import (
    ACCESS_OPENED,
    ACCESS_TIGHTENED,
    NOTATION_CHANGED,
    Change,
    Weight,
)
from droidgate_mappings.formats.reachability import Protection, enabled_configurations, protection_of_level
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.text.configured_flags import joined_qualifiers, value_for_qualifier


@dataclass(frozen=True, slots=True)
class _Shift:
    """What a new rule does to callers: it keeps some out that could call, it lets in others, or both."""

    tightens: bool
    opens: bool


def compare_access(
    old: Provider | Capability, old_pointer: str, new: Provider | Capability, new_pointer: str
) -> Iterator[Change]:
    """Yield the changes of a provider's or capability's access rules.

    A rule that keeps callers out is `breaking`; a rule that lets in other callers is `security`. A replaced
    permission does both, so it has a change of each weight, and its protection level is that of another one.
    """
    is_same_permission = getattr(old.access, "permission", None) == getattr(new.access, "permission", None)
    for field in type(old.access).model_fields:
        before, after = getattr(old.access, field), getattr(new.access, field)
        if before != after and (is_same_permission or field != "protection_level"):
            pointers = (f"{old_pointer}/access/{field}", f"{new_pointer}/access/{field}")
            yield from _changes_of(field, before, after, pointers)


def _changes_of(field: str, before: Any, after: Any, pointers: tuple[str, str]) -> Iterator[Change]:
    shift = _SHIFTS[field](before, after)
    effects = []
    if shift.tightens:
        who = "all callers are" if _is_closed(field, after) else "some callers are"
        effects.append((ACCESS_TIGHTENED, Weight.BREAKING, f"{who} refused now"))
    if shift.opens:
        effects.append((ACCESS_OPENED, Weight.SECURITY, "other callers are accepted now"))
    for code, weight, meaning in effects or [
        (NOTATION_CHANGED, Weight.TEXT_ONLY, "the same callers are accepted")
    ]:
        yield Change(
            code=code,
            weight=weight,
            message=f"{_change_words(field, before, after)}: {meaning}",
            old_pointer=pointers[0],
            new_pointer=pointers[1],
            old=before,
            new=after,
        )


def _is_closed(field: str, rule: Any) -> bool:
    """Return whether a rule refuses every other app, at first or always."""
    if field == "enabled":
        return enabled_configurations(rule) == ()
    return field in _CLOSED and rule == _CLOSED[field]


def _change_words(field: str, before: Any, after: Any) -> str:
    if isinstance(before, Mapping) or isinstance(after, Mapping):
        return f"{_TITLES[field]}: {_configuration_words(before)} -> {_configuration_words(after)}"
    return f"{_TITLES[field]} changed from {_word(before)} to {_word(after)}"


def _configuration_words(value: bool | Mapping[str, bool]) -> str:  # noqa: FBT001
    if isinstance(value, Mapping):
        return ", ".join(
            f"{qualifier or 'by default'} {_configuration_words(entry)}" for qualifier, entry in value.items()
        )
    return "yes" if value else "no"


def _word(value: Any) -> str:
    if value is None:
        return "not stated"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _shift_of_openness(before: bool, after: bool) -> _Shift:  # noqa: FBT001
    return _Shift(tightens=before and not after, opens=after and not before)


def _exported(before: bool | None, after: bool | None) -> _Shift:  # noqa: FBT001
    # Android exports a component that has an intent filter and does not state it.
    return _shift_of_openness(before is not False, after is not False)


def _enabled(before: Any, after: Any) -> _Shift:
    rules = [rule if isinstance(rule, Mapping) else {"": rule} for rule in (before, after)]
    qualifiers = joined_qualifiers(*rules)
    if qualifiers is None:
        return _Shift(tightens=True, opens=True)
    # Android enables a component whose resource has no value.
    values = [
        [value_for_qualifier(rule, qualifier) is not False for rule in rules] for qualifier in qualifiers
    ]
    shifts = [_shift_of_openness(old, new) for old, new in values]
    return _Shift(
        tightens=any(shift.tightens for shift in shifts), opens=any(shift.opens for shift in shifts)
    )


def _permission(before: str | None, after: str | None) -> _Shift:
    return _Shift(tightens=after is not None, opens=before is not None)


def _protection_level(before: str | None, after: str | None) -> _Shift:
    olds, news = (_HOLDERS.get(protection_of_level(level)) for level in (before, after))
    if before is None or after is None or olds is None or news is None:
        return _Shift(tightens=True, opens=True)
    if olds != news:
        return _Shift(tightens=news < olds, opens=news > olds)
    # Each further word lets in holders of one more kind.
    words, other_words = set(before.split("|")), set(after.split("|"))
    return _Shift(tightens=not words <= other_words, opens=not other_words <= words)


def _restriction(before: Any, after: Any) -> _Shift:
    return _shift_of_openness(not before, not after)


def _access_level(before: str | None, after: str | None) -> _Shift:
    olds, news = _OPENNESS.get(before), _OPENNESS.get(after)
    if olds is None or news is None:
        return _Shift(tightens=True, opens=True)
    return _Shift(tightens=news < olds, opens=news > olds)


_OPENNESS: Final[Mapping[str | None, int]] = {"self": 0, "system": 1, "androidTrusted": 2, None: 2}
"""How many callers an access level lets in; another word may let in any."""

_HOLDERS: Final = {Protection.SIGNATURE: 0, Protection.DANGEROUS: 1, Protection.NORMAL: 2}
"""How many apps can hold a permission of a protection level."""

_CLOSED: Final[Mapping[str, Any]] = {"exported": False, "enabled_by_default": False, "access_level": "self"}
"""The values that refuse every other app."""

_SHIFTS: Final[Mapping[str, Callable[[Any, Any], _Shift]]] = {
    "exported": _exported,
    "enabled": _enabled,
    "permission": _permission,
    "protection_level": _protection_level,
    "enabled_by_default": _shift_of_openness,
    "restrict_callers": _restriction,
    "scope": _restriction,
    "access_level": _access_level,
}

_TITLES: Final = {
    "exported": "exported",
    "enabled": "enabled",
    "permission": "the required permission",
    "protection_level": "the protection level of the required permission",
    "enabled_by_default": "enabled by default",
    "restrict_callers": "the restriction of callers",
    "scope": "the scope",
    "access_level": "the access level",
}
