"""Intents, bundles and messages as they cross to the JVM: an extra is `[key, kind, value]`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from droidgate_phone.java.app_values import Message, View
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent

WireFields = dict[str, Any]
"""A JSON object of the wire, whose shape its operation knows."""


def write_bundle(bundle: Bundle) -> list[list[Any]]:
    """Return a bundle for the wire."""
    return [[key, extra.kind, _write_value(extra)] for key, extra in bundle.values.items()]


def _write_value(extra: Extra) -> object:
    value = extra.value
    if isinstance(value, Bundle):
        return write_bundle(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return list(value) if isinstance(value, tuple) else value


def read_bundle(fields: list[list[Any]] | None) -> Bundle:
    """Return a bundle from the wire."""
    return Bundle({key: Extra(kind, _read_value(kind, value)) for key, kind, value in fields or []})


def _read_value(kind: str, value: Any) -> Any:
    if kind == "bundle":
        return read_bundle(value)
    if kind == "bytes":
        return base64.b64decode(value)
    if kind in ("float", "double"):
        return float(value)
    return tuple(value) if isinstance(value, list) else value


def write_intent(intent: Intent) -> WireFields:
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
        "extras": write_bundle(intent.extras),
    }


def read_intent(fields: Mapping[str, Any]) -> Intent:
    """Return an intent from the wire."""
    component = fields.get("component")
    return Intent(
        action=fields.get("action"),
        component=None if component is None else ComponentName.parse(component),
        package=fields.get("package"),
        categories=tuple(fields.get("categories") or ()),
        data=fields.get("data"),
        mime_type=fields.get("type"),
        flags=int(fields.get("flags") or 0) & 0xFFFFFFFF,
        extras=read_bundle(fields.get("extras")),
        identifier=fields.get("identifier"),
    )


def _signed(flags: int) -> int:
    return flags - (1 << 32) if flags >= 1 << 31 else flags


def write_message(message: Message) -> WireFields:
    """Return a message for the wire."""
    return {"what": message.what, "data": write_bundle(message.data), "reply_to": message.reply_to}


def read_message(fields: Mapping[str, Any]) -> Message:
    """Return a message from the wire."""
    return Message(int(fields["what"]), read_bundle(fields.get("data")), fields.get("reply_to"))


def read_view(fields: Mapping[str, Any]) -> View:
    """Return a view tree from the wire."""
    return View(
        fields["kind"],
        fields["id"],
        fields["text"],
        checked=bool(fields.get("checked", False)),
        children=tuple(read_view(item) for item in fields["children"]),
    )
