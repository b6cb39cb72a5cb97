"""Intents on a command line (AOSP's `Intent.parseCommandArgs`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader, parse_number
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, ExtraKind, Intent
from droidgate_phone.system.resolver import FLAG_EXCLUDE_STOPPED_PACKAGES, FLAG_INCLUDE_STOPPED_PACKAGES

Number = TypeVar("Number", int, float)

_INT_BITS: Final = 32
_LAUNCHER: Final = "android.intent.category.LAUNCHER"
_MAIN: Final = "android.intent.action.MAIN"

_FLAG_OPTIONS: Final[Mapping[str, int]] = {
    "--grant-read-uri-permission": 0x1,
    "--grant-write-uri-permission": 0x2,
    "--debug-log-resolution": 0x8,
    "--exclude-stopped-packages": FLAG_EXCLUDE_STOPPED_PACKAGES,
    "--include-stopped-packages": FLAG_INCLUDE_STOPPED_PACKAGES,
    "--grant-persistable-uri-permission": 0x40,
    "--grant-prefix-uri-permission": 0x80,
    "--activity-clear-top": 0x04000000,
    "--activity-clear-task": 0x00008000,
    "--activity-exclude-from-recents": 0x00800000,
    "--activity-multiple-task": 0x08000000,
    "--activity-no-animation": 0x00010000,
    "--activity-no-history": 0x40000000,
    "--activity-single-top": 0x20000000,
    "--receiver-registered-only": 0x40000000,
    "--receiver-replace-pending": 0x20000000,
    "--receiver-foreground": 0x10000000,
    "--receiver-no-abort": 0x08000000,
}

ExtraReader = Callable[[str], Extra]
OptionHandler = Callable[[str, ArgumentReader], bool]
"""Takes an option that is not the intent's; false where it is unknown."""


def _split(text: str) -> list[str]:
    """Split a list at commas without a backslash before them."""
    return [part.replace("\\,", ",") for part in re.split(r"(?<!\\),", text)]


def _whole(text: str, bits: int) -> int:
    number = parse_number(text) if bits == _INT_BITS else _parsed(text, int)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ArgumentError(f'For input string: "{text}"', "java.lang.NumberFormatException")
    return number


def _parsed(text: str, parse: Callable[[str], Number]) -> Number:
    try:
        return parse(text)
    except ValueError:
        raise ArgumentError(f'For input string: "{text}"', "java.lang.NumberFormatException") from None


def _fraction(text: str) -> float:
    return _parsed(text, float)


def _boolean(text: str) -> bool:
    if text.lower() in ("true", "t"):
        return True
    if text.lower() in ("false", "f"):
        return False
    try:
        return parse_number(text) != 0
    except ArgumentError:
        raise ArgumentError(f"Invalid boolean value: {text}") from None


def _component(text: str) -> ComponentName:
    found = ComponentName.parse(text)
    if found is None:
        raise ArgumentError(f"Bad component name: {text}")
    return found


def _of(kind: ExtraKind, read: Callable[[str], str | int | float | bool]) -> ExtraReader:
    return lambda text: Extra(kind, read(text))


_EXTRA_OPTIONS: Final[Mapping[str, ExtraReader]] = {
    "-e": _of("string", str),
    "--es": _of("string", str),
    "--ei": _of("int", lambda text: _whole(text, 32)),
    "--el": _of("long", lambda text: _whole(text, 64)),
    "--ef": _of("float", _fraction),
    "--ed": _of("double", _fraction),
    "--ez": _of("boolean", _boolean),
    "--eu": _of("string", str),
    "--ecn": _of("string", lambda text: _component(text).flatten_short()),
    "--esa": lambda text: Extra("string[]", tuple(_split(text))),
    "--eia": lambda text: Extra("int[]", tuple(_whole(part, 32) for part in text.split(","))),
    "--ela": lambda text: Extra("long[]", tuple(_whole(part, 64) for part in text.split(","))),
}


_TEXT_OPTIONS: Final = {"-a": "action", "-d": "data", "-t": "mime_type", "-p": "package"}


@dataclass(slots=True)
class _Draft:
    intent: Intent = field(default_factory=Intent)
    has_content: bool = False


def parse_intent(reader: ArgumentReader, handle_option: OptionHandler) -> Intent:
    """Return the intent that arguments spell; the arguments after it stay in the reader.

    Args:
        reader: The arguments, at the first option.
        handle_option: Takes options that are the command's own.

    Raises:
        ArgumentError: as Android would throw.
    """
    draft = _Draft()
    while (option := reader.next_option()) is not None:
        if not _take(draft, option, reader) and not handle_option(option, reader):
            raise ArgumentError(f"Unknown option: {option}")
    base = reader.next()
    if base is not None:
        draft.intent = _fill(draft.intent, _base_intent(base))
        draft.has_content = True
    if not draft.has_content:
        raise ArgumentError("No intent supplied")
    return draft.intent


def _take(draft: _Draft, option: str, reader: ArgumentReader) -> bool:
    intent = draft.intent
    if option in _FLAG_OPTIONS:
        draft.intent = replace(intent, flags=intent.flags | _FLAG_OPTIONS[option])
        return True
    if option in _EXTRA_OPTIONS:
        key = reader.require()
        draft.intent = replace(
            intent, extras=intent.extras.with_extra(key, _EXTRA_OPTIONS[option](reader.require()))
        )
        return True
    if option == "--esn":
        draft.intent = replace(intent, extras=intent.extras.with_extra(reader.require(), Extra("null", None)))
        return True
    taken = _take_part(intent, option, reader)
    if taken is None:
        return False
    draft.intent = taken
    draft.has_content = draft.has_content or option in ("-a", "-d", "-t", "-c", "-n", "-p")
    return True


def _take_part(intent: Intent, option: str, reader: ArgumentReader) -> Intent | None:
    if option in _TEXT_OPTIONS:
        text: dict[str, Any] = {_TEXT_OPTIONS[option]: reader.require()}
        return replace(intent, **text)
    if option == "-c":
        return replace(intent, categories=(*intent.categories, reader.require()))
    if option == "-f":
        return replace(intent, flags=reader.require_number())
    if option == "-n":
        return replace(intent, component=_component(reader.require()))
    return None


def _base_intent(text: str) -> Intent:
    if ":" in text:
        return Intent(action="android.intent.action.VIEW", data=text)
    if "/" in text:
        return Intent(action=_MAIN, categories=(_LAUNCHER,), component=_component(text))
    return Intent(action=_MAIN, categories=(_LAUNCHER,), package=text)


def _fill(intent: Intent, base: Intent) -> Intent:
    """Take from the base what the intent leaves out (`Intent.fillIn` with FILL_IN_COMPONENT)."""
    return Intent(
        action=intent.action if intent.action is not None else base.action,
        component=base.component if base.component is not None else intent.component,
        package=intent.package if intent.package is not None else base.package,
        categories=intent.categories or base.categories,
        data=intent.data if intent.data is not None or intent.mime_type is not None else base.data,
        mime_type=intent.mime_type,
        flags=intent.flags | base.flags,
        extras=Bundle({**base.extras.values, **intent.extras.values}),
    )
