"""Intents on a command line (AOSP's `Intent.parseCommandArgs`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from droidgate_android.app_search.indexed_documents import java_hash
from droidgate_phone.commands.argument_reader import (
    ArgumentError,
    ArgumentReader,
    parse_decimal,
    parse_fraction,
    parse_number,
)
from droidgate_phone.java.intents import ComponentName, Extra, ExtraKind, Intent
from droidgate_phone.java.java_text import nearest_float
from droidgate_phone.system.processes import AndroidNotModelledError
from droidgate_phone.system.resolver import FLAG_EXCLUDE_STOPPED_PACKAGES, FLAG_INCLUDE_STOPPED_PACKAGES

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
    "--activity-brought-to-front": 0x00400000,
    "--activity-clear-top": 0x04000000,
    "--activity-clear-task": 0x00008000,
    "--activity-clear-when-task-reset": 0x00080000,
    "--activity-exclude-from-recents": 0x00800000,
    "--activity-launched-from-history": 0x00100000,
    "--activity-match-external": 0x00000800,
    "--activity-multiple-task": 0x08000000,
    "--activity-no-animation": 0x00010000,
    "--activity-no-history": 0x40000000,
    "--activity-no-user-action": 0x00040000,
    "--activity-previous-is-top": 0x01000000,
    "--activity-reorder-to-front": 0x00020000,
    "--activity-reset-task-if-needed": 0x00200000,
    "--activity-single-top": 0x20000000,
    "--activity-task-on-home": 0x00004000,
    "--receiver-registered-only": 0x40000000,
    "--receiver-replace-pending": 0x20000000,
    "--receiver-foreground": 0x10000000,
    "--receiver-no-abort": 0x08000000,
    "--receiver-include-background": 0x01000000,
}

ExtraReader = Callable[[str], Extra]
OptionHandler = Callable[[str, ArgumentReader], bool]
"""Takes an option that is not the intent's; false where it is unknown."""


def _split(text: str, separator: str = ",") -> list[str]:
    """Return the parts as `String.split` does, which leaves out empty ones at the end."""
    parts = re.split(separator, text)
    while len(parts) > 1 and not parts[-1]:
        del parts[-1]
    return parts if parts[-1] or not text else []


_long: Final = partial(parse_decimal, long=True)


def _boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered in ("true", "t", "false", "f"):
        return lowered.startswith("t")
    try:
        return parse_number(lowered) != 0
    except ArgumentError:
        raise ArgumentError(f"Invalid boolean value: {lowered}") from None


def _component(text: str) -> ComponentName:
    component = ComponentName.parse(text)
    if component is None:
        raise ArgumentError(f"Bad component name: {text}")
    return component


def _extra_reader(kind: ExtraKind, read: Callable[[str], str | int | float | bool]) -> ExtraReader:
    return lambda text: Extra(kind, read(text))


_EXTRA_OPTIONS: Final[Mapping[str, ExtraReader]] = {
    "-e": _extra_reader("string", str),
    "--es": _extra_reader("string", str),
    "--ei": _extra_reader("int", parse_number),
    "--el": _extra_reader("long", _long),
    "--ef": _extra_reader("float", lambda text: nearest_float(parse_fraction(text))),
    "--ed": _extra_reader("double", parse_fraction),
    "--ez": _extra_reader("boolean", _boolean),
    # Android undoes no backslash here, though its help says so.
    "--esa": lambda text: Extra("string[]", tuple(_split(text, r"(?<!\\),"))),
    "--eia": lambda text: Extra("int[]", tuple(map(parse_number, _split(text)))),
    "--ela": lambda text: Extra("long[]", tuple(map(_long, _split(text)))),
}
_NOT_MODELLED: Final = frozenset(
    {"--eu", "--ecn", "--eial", "--elal", "--efa", "--efal", "--eda", "--edal", "--esal", "--selector"}
)
_WITHOUT_CONTENT: Final = frozenset({"-e", "--es", "--ei", "--el", "--ez", "--eia", "--esn"})
"""Options of extras that do not make an intent, where the others do."""
_TEXT_OPTIONS: Final = {"-a": "action", "-d": "data", "-t": "mime_type", "-p": "package", "-i": "identifier"}


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
        AndroidNotModelledError: the phone has no such extras, no selectors and no intents in links.
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
    if option in _NOT_MODELLED:
        raise AndroidNotModelledError(f"the option {option} of intents")
    if option in _FLAG_OPTIONS:
        draft.intent = replace(intent, flags=intent.flags | _FLAG_OPTIONS[option])
        return True
    if option in _EXTRA_OPTIONS or option == "--esn":
        key = reader.require()
        extra = Extra("null", None) if option == "--esn" else _EXTRA_OPTIONS[option](reader.require())
        draft.intent = replace(intent, extras=intent.extras.with_extra(key, extra))
        draft.has_content = draft.has_content or option not in _WITHOUT_CONTENT
        return True
    extended_intent = _take_part(intent, option, reader)
    if extended_intent is None:
        return False
    draft.intent = extended_intent
    draft.has_content = draft.has_content or option != "-f"
    return True


def _take_part(intent: Intent, option: str, reader: ArgumentReader) -> Intent | None:
    if option in _TEXT_OPTIONS:
        text: dict[str, Any] = {_TEXT_OPTIONS[option]: reader.require()}
        return replace(intent, **text)
    if option == "-c":
        categories = {*intent.categories, reader.require()}
        return replace(intent, categories=tuple(sorted(categories, key=java_hash)))
    if option == "-f":
        return replace(intent, flags=reader.require_number())
    if option == "-n":
        return replace(intent, component=_component(reader.require()))
    return None


def _base_intent(text: str) -> Intent:
    if text.startswith(("intent:", "android-app:")):
        raise AndroidNotModelledError(f"the intent in the link {text}")
    if ":" in text:
        return Intent(action="android.intent.action.VIEW", data=text)
    launched = Intent(action=_MAIN, categories=(_LAUNCHER,))
    if "/" in text:
        return replace(launched, component=ComponentName.parse(text))
    return replace(launched, package=text)


def _fill(intent: Intent, base: Intent) -> Intent:
    """Take from the base what the intent leaves out (`Intent.fillIn` with FILL_IN_COMPONENT)."""
    is_placed = intent.data is not None or intent.mime_type is not None
    return replace(
        intent,
        action=base.action if intent.action is None else intent.action,
        component=intent.component if base.component is None else base.component,
        package=base.package if intent.package is None else intent.package,
        categories=intent.categories or (base.categories if intent.action is None else ()),
        data=intent.data if is_placed else base.data,
    )
