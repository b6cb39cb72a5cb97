"""Intents, bundles and messages as bytes: nothing crosses from one app to another in any other form.

The layout is the phone's own, sized as Android's Parcel is (strings are UTF-16 with a length and an end,
padded to four bytes), so that the Binder's limit falls where it falls on a device.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, ExtraKind, Intent

TRANSACTION_LIMIT: Final = 1024 * 1024 - 2 * 4096
"""Bytes of a process's Binder buffer (BINDER_VM_SIZE of AOSP's ProcessState)."""
ONEWAY_LIMIT: Final = TRANSACTION_LIMIT // 2
"""What one-way transactions (Messenger, broadcasts, started services) may use of it."""

_KINDS: Final[tuple[ExtraKind, ...]] = (
    "null", "string", "int", "long", "float", "double", "boolean", "string[]", "int[]", "long[]", "bytes",
    "bundle", "pending-intent", "messenger",
)  # fmt: skip
_NUMBERS: Final[Mapping[ExtraKind, str]] = {
    "int": "<i",
    "long": "<q",
    "float": "<f",
    "double": "<d",
    "boolean": "<i",
}


class _Writer:
    def __init__(self) -> None:
        self.data = bytearray()

    def number(self, value: float, form: str = "<i") -> None:
        self.data += struct.pack(form, value)

    def block(self, content: bytes) -> None:
        self.number(len(content))
        self.data += content + b"\0" * (-len(content) % 4)

    def text(self, value: str | None) -> None:
        if value is None:
            self.number(-1)
            return
        encoded = value.encode("utf-16-le", "surrogatepass")
        self.number(len(encoded) // 2)
        encoded += b"\0\0"
        self.data += encoded + b"\0" * (-len(encoded) % 4)

    def texts(self, values: tuple[str, ...]) -> None:
        self.number(len(values))
        for value in values:
            self.text(value)

    def bundle(self, bundle: Bundle) -> None:
        self.number(len(bundle.values))
        for key, extra in bundle.values.items():
            self.text(key)
            self.number(_KINDS.index(extra.kind))
            self._extra(extra)

    def _extra(self, extra: Extra) -> None:
        value: Any = extra.value
        if extra.kind in _NUMBERS:
            self.number(value, _NUMBERS[extra.kind])
        elif extra.kind in ("string", "pending-intent", "messenger"):
            self.text(value)
        elif extra.kind == "string[]":
            self.texts(value)
        elif extra.kind in ("int[]", "long[]"):
            self.number(len(value))
            for item in value:
                self.number(item, "<i" if extra.kind == "int[]" else "<q")
        elif extra.kind == "bytes":
            self.block(value)
        elif extra.kind == "bundle":
            self.bundle(value)

    def intent(self, intent: Intent) -> None:
        self.text(intent.action)
        self.text(intent.data)
        self.text(intent.mime_type)
        self.text(intent.identifier)
        self.number(intent.flags & 0xFFFFFFFF, "<I")
        self.text(intent.package)
        self.text(None if intent.component is None else intent.component.package)
        self.text(None if intent.component is None else intent.component.class_name)
        self.texts(intent.categories)
        self.bundle(intent.extras)


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    def number(self, form: str = "<i") -> Any:
        size = struct.calcsize(form)
        self._position += size
        return struct.unpack(form, self._data[self._position - size : self._position])[0]

    def block(self) -> bytes:
        length = self.number()
        start = self._position
        self._position += length + -length % 4
        return self._data[start : start + length]

    def text(self) -> str | None:
        length = self.number()
        if length < 0:
            return None
        start, size = self._position, 2 * length
        self._position += size + 2 + -(size + 2) % 4
        return self._data[start : start + size].decode("utf-16-le", "surrogatepass")

    def texts(self) -> tuple[str, ...]:
        return tuple(self.text() or "" for _ in range(self.number()))

    def bundle(self) -> Bundle:
        values: dict[str, Extra] = {}
        for _ in range(self.number()):
            key = self.text() or ""
            kind = _KINDS[self.number()]
            values[key] = Extra(kind, self._extra(kind))
        return Bundle(values)

    def _extra(self, kind: ExtraKind) -> Any:
        if kind == "boolean":
            return bool(self.number())
        if kind in _NUMBERS:
            return self.number(_NUMBERS[kind])
        if kind in ("string", "pending-intent", "messenger"):
            return self.text()
        if kind == "string[]":
            return self.texts()
        if kind in ("int[]", "long[]"):
            form = "<i" if kind == "int[]" else "<q"
            return tuple(self.number(form) for _ in range(self.number()))
        if kind == "bytes":
            return self.block()
        return self.bundle() if kind == "bundle" else None

    def intent(self) -> Intent:
        action, data, mime_type, identifier = self.text(), self.text(), self.text(), self.text()
        flags = self.number("<I")
        package, component_package, class_name = self.text(), self.text(), self.text()
        component = None
        if component_package is not None and class_name is not None:
            component = ComponentName(component_package, class_name)
        return Intent(
            action=action,
            component=component,
            package=package,
            categories=self.texts(),
            data=data,
            mime_type=mime_type,
            flags=flags,
            extras=self.bundle(),
            identifier=identifier,
        )


def write_bundle(bundle: Bundle) -> bytes:
    """Return a bundle as bytes.

    Raises:
        AndroidError: a value does not fit its type, which Java's compiler would have refused.
    """
    return _write(bundle)


def read_bundle(data: bytes) -> Bundle:
    """Return the bundle that `write_bundle` wrote."""
    return _Reader(data).bundle()


def bundle_size(bundle: Bundle) -> int:
    """Return how many bytes a bundle takes in a parcel."""
    return len(_write(bundle))


def write_intent(intent: Intent) -> bytes:
    """Return an intent as bytes; errors as `write_bundle`."""
    return _write(intent)


def read_intent(data: bytes) -> Intent:
    """Return the intent that `write_intent` wrote."""
    return _Reader(data).intent()


def _write(value: Bundle | Intent) -> bytes:
    writer = _Writer()
    try:
        if isinstance(value, Bundle):
            writer.bundle(value)
        else:
            writer.intent(value)
    except (struct.error, TypeError, AttributeError, ValueError, OverflowError) as error:
        message = f"a value does not fit its declared type: {error}"
        raise AndroidError("java.lang.ClassCastException", message) from error
    return bytes(writer.data)


def check_size(data: bytes, limit: int) -> bytes:
    """Return the bytes if the Binder takes them.

    Raises:
        AndroidError: android.os.TransactionTooLargeException.
    """
    if len(data) > limit:
        raise AndroidError("android.os.TransactionTooLargeException", f"data parcel size {len(data)} bytes")
    return data


def cross_intent(intent: Intent, limit: int = TRANSACTION_LIMIT) -> Intent:
    """Return the intent as the other process gets it: written, measured and read.

    Raises:
        AndroidError: it is too large for the Binder, or a value does not fit its type.
    """
    return read_intent(check_size(write_intent(intent), limit))


def cross_bundle(bundle: Bundle, limit: int = TRANSACTION_LIMIT) -> Bundle:
    """Return the bundle as the other process gets it; errors as `cross_intent`."""
    return read_bundle(check_size(write_bundle(bundle), limit))


def cross_message(message: Message, sending_uid: int) -> Message:
    """Return the message as the other process gets it, with its sender's uid; errors as `cross_intent`."""
    return Message(
        what=message.what,
        data=cross_bundle(message.data, ONEWAY_LIMIT),
        reply_to=message.reply_to,
        sending_uid=sending_uid,
    )
