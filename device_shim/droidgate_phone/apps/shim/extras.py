"""Bundles of the phone as the engine takes them."""

from __future__ import annotations

from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.intents import Bundle


def texts_of(bundle: Bundle) -> dict[str, Json]:
    """Return a bundle's values as JSON values; what is none, such as a callback, is left out."""
    read: dict[str, Json] = {}
    for name, extra in bundle.values.items():
        if extra.kind in ("string", "int", "long", "boolean") and isinstance(extra.value, str | int):
            read[name] = extra.value
    return read
