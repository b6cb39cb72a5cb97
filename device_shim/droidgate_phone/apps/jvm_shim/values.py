"""Intents, bundles and messages as they cross to the JVM: an extra is `[key, kind, value]`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from droidgate_phone.app_api.values import Message
from droidgate_phone.app_api.views import View
from droidgate_phone.intents import Bundle, ComponentName, Extra, Intent

Told = dict[str, Any]
"""A JSON object of the wire, whose shape its operation knows."""


def tell_bundle(bundle: Bundle) -> list[list[Any]]:
    """Return a bundle for the wire."""
    return [[key, extra.kind, _tell_value(extra)] for key, extra in bundle.values.items()]


def _tell_value(extra: Extra) -> object:
    value = extra.value
    if isinstance(value, Bundle):
        return tell_bundle(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return list(value) if isinstance(value, tuple) else value


def read_bundle(told: list[list[Any]] | None) -> Bundle:
    """Return a bundle from the wire."""
    return Bundle({key: Extra(kind, _read_value(kind, value)) for key, kind, value in told or []})


def _read_value(kind: str, value: Any) -> Any:
    if kind == "bundle":
        return read_bundle(value)
    if kind == "bytes":
        return base64.b64decode(value)
    if kind in ("float", "double"):
        return float(value)
    return tuple(value) if isinstance(value, list) else value


def tell_intent(intent: Intent) -> Told:
    """Return an intent for the wire."""
    return {
        "action": intent.action,
        "component": None if intent.component is None else intent.component.flatten(),
        "package": intent.package,
        "categories": list(intent.categories),
        "data": intent.data,
        "type": intent.mime_type,
        "identifier": intent.identifier,
        "flags": _signed(intent.flags),
        "extras": tell_bundle(intent.extras),
    }


def read_intent(told: Mapping[str, Any]) -> Intent:
    """Return an intent from the wire."""
    component = told.get("component")
    return Intent(
        action=told.get("action"),
        component=None if component is None else ComponentName.parse(component),
        package=told.get("package"),
        categories=tuple(told.get("categories") or ()),
        data=told.get("data"),
        mime_type=told.get("type"),
        flags=int(told.get("flags") or 0) & 0xFFFFFFFF,
        extras=read_bundle(told.get("extras")),
        identifier=told.get("identifier"),
    )


def _signed(flags: int) -> int:
    return flags - (1 << 32) if flags >= 1 << 31 else flags


def tell_message(message: Message) -> Told:
    """Return a message for the wire."""
    return {"what": message.what, "data": tell_bundle(message.data), "reply_to": message.reply_to}


def read_message(told: Mapping[str, Any]) -> Message:
    """Return a message from the wire."""
    return Message(int(told["what"]), read_bundle(told.get("data")), told.get("reply_to"))


def read_view(told: Mapping[str, Any]) -> View:
    """Return a view tree from the wire."""
    return View(
        told["kind"],
        told["id"],
        told["text"],
        checked=bool(told.get("checked", False)),
        children=tuple(read_view(item) for item in told["children"]),
    )
