"""Intents and bundles as Java's `toString` writes them, which the shell's commands print."""

from __future__ import annotations

from typing import Final

from droidgate_android.app_search.indexed_documents import java_hash
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.java.java_text import java_double, java_float
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.parcels import bundle_size


def show_intent(intent: Intent, *, extended_flags: int = 0) -> str:
    """Return `Intent.toString`: every part that is set, in Android's order; extras are only mentioned."""
    parts = []
    if intent.action is not None:
        parts.append(f"act={intent.action}")
    if intent.categories:
        parts.append(f"cat=[{','.join(intent.categories)}]")
    if intent.data is not None:
        parts.append(f"dat={Uri(intent.data).safe_text}")
    if intent.mime_type is not None:
        parts.append(f"typ={intent.mime_type}")
    if intent.identifier is not None:
        parts.append(f"id={intent.identifier}")
    if intent.flags:
        parts.append(f"flg=0x{intent.flags & 0xFFFFFFFF:x}")
    if extended_flags:
        parts.append(f"xflg=0x{extended_flags:x}")
    if intent.package is not None:
        parts.append(f"pkg={intent.package}")
    if intent.component is not None:
        parts.append(f"cmp={intent.component.flatten_short()}")
    if intent.extras.values:
        parts.append("(has extras)")
    return "Intent { " + "".join(part + " " for part in parts) + "}"


def show_bundle(bundle: Bundle, *, parcelled: bool = False) -> str:
    """Return `Bundle.toString`.

    Args:
        bundle: What is shown.
        parcelled: It came from another process and was not read yet, so only its size is known.
    """
    if parcelled:
        return f"Bundle[mParcelledData.dataSize={bundle_size(bundle)}]"
    # An ArrayMap has its keys in the order of their hashes.
    ordered = sorted(bundle.values.items(), key=lambda entry: java_hash(entry[0]))
    return "Bundle[{" + ", ".join(f"{key}={_show_value(value)}" for key, value in ordered) + "}]"


def _show_value(extra: Extra) -> str:
    value = extra.value
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Bundle):
        return show_bundle(value)
    if isinstance(value, float):
        return java_double(value) if extra.kind == "double" else java_float(value)
    if isinstance(value, tuple):
        return _ARRAY_NAMES[extra.kind]
    if isinstance(value, bytes):
        return "[B@0"
    return str(value)


# An array prints as its class and an address; the phone has no addresses.
_ARRAY_NAMES: Final = {"string[]": "[Ljava.lang.String;@0", "int[]": "[I@0", "long[]": "[J@0"}
