"""Arguments, answers and frames of the host's protocol, as texts and bytes (shim.md 7)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Mapping
from typing import Final

from droidgate.devices.device_errors import DeviceOutputError, UnsafeArgumentError
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.text.json_text import parse_json

VERSION: Final = 1
"""Of this protocol; host and shim refuse each other's other versions."""

LONG_REQUEST_BYTES: Final = 32 * 1024
"""A longer request is written as a frame."""

LONG_ARGUMENT_CHARACTERS: Final = 48 * 1024
"""So is one whose argument would be longer, as JSON in JSON can be; shims take 64 Ki."""

MAX_PAYLOAD_BYTES: Final = 1024 * 1024

_MAGIC: Final = b"DGF1"
_HEAD: Final = struct.Struct(f">{len(_MAGIC)}sI{hashlib.sha256().digest_size}s")
_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+")
_FRAME: Final = "content read"

MAX_FRAME_BYTES: Final = _HEAD.size + MAX_PAYLOAD_BYTES


def write_argument(values: Mapping[str, Json]) -> str:
    """Return an argument: one token of letters, digits, `-` and `_`, which no shell and no `content` reads
    otherwise than it is.
    """
    text = canonical_json({**values, "version": VERSION})
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_answer(token: str, command: str) -> dict[str, Json]:
    """Return the object of an answer's token.

    Args:
        token: The value of `result`.
        command: What was called, for errors.

    Raises:
        DeviceOutputError: it is not base64url without padding, or not a JSON object with a version.
    """
    if _BASE64URL.fullmatch(token) is None:
        raise DeviceOutputError(command, "the answer is not base64url", text=token)
    try:
        data = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        answer = parse_json(data, path=command)
    except (binascii.Error, InputError) as error:
        reason = error.message if isinstance(error, InputError) else str(error)
        raise DeviceOutputError(command, f"the answer cannot be read ({reason})", text=token) from None
    if not isinstance(answer, dict) or type(answer.get("version")) is not int:
        raise DeviceOutputError(command, "the answer is not an object with a version", text=token)
    return answer


def write_frame(text: str) -> bytes:
    """Return the frame of a text.

    Raises:
        UnsafeArgumentError: it is longer than a frame holds.
    """
    payload = text.encode()
    if len(payload) > MAX_PAYLOAD_BYTES:
        raise UnsafeArgumentError(
            f"the request has {len(payload)} bytes, a frame holds {MAX_PAYLOAD_BYTES}",
            hint="call with less, or name a file that the app can read itself",
        )
    return _HEAD.pack(_MAGIC, len(payload), hashlib.sha256(payload).digest()) + payload


def read_frame(data: bytes) -> str:
    """Return the text of a frame.

    Raises:
        DeviceOutputError: the bytes are not a frame, are cut off or changed on the way, or hold no text.
    """
    if len(data) < _HEAD.size:
        raise DeviceOutputError(_FRAME, "it is not a frame", text=data[:40].decode("ascii", "replace"))
    magic, length, digest = _HEAD.unpack_from(data)
    payload = data[_HEAD.size :]
    if magic != _MAGIC:
        raise DeviceOutputError(_FRAME, "it is not a frame", text=data[:40].decode("ascii", "replace"))
    if length != len(payload) or length > MAX_PAYLOAD_BYTES:
        raise DeviceOutputError(_FRAME, f"the frame says {length} bytes and {len(payload)} came")
    if hashlib.sha256(payload).digest() != digest:
        raise DeviceOutputError(_FRAME, "the frame's bytes are not those that were sent")
    try:
        return payload.decode()
    except UnicodeDecodeError:
        raise DeviceOutputError(_FRAME, "the frame holds no text") from None
