"""`HostProvider`: the computer's way in, for the shell and root only (docs/shim.md 7).

Its methods run on Binder threads; what asks the engine is done on the main thread while they wait.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.behaviour import Provider
from droidgate_phone.app_api.platform import Platform
from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.apps.shim.host_methods import METHODS, HostError, HostReply
from droidgate_phone.apps.shim.process import ShimProcess, core_of
from droidgate_phone.intents import Bundle, split_uri
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

if TYPE_CHECKING:
    from droidgate_phone.app_api.behaviour import Context

VERSION: Final = 1
MAX_ARGUMENT: Final = 32 * 1024
MAX_PAYLOAD: Final = 1024 * 1024
MOST_FRAMES: Final = 32
FRAME_SECONDS: Final = 600.0
_MAGIC: Final = b"DGF1"
_HEAD: Final = struct.Struct(">4sI32s")
_DUMP: Final = "android.permission.DUMP"
_SHELL_UIDS: Final = (0, 2000)
_CALL_PATH: Final = re.compile("/calls/([0-9a-f]{32})")
_BASE64URL: Final = re.compile("[A-Za-z0-9_-]*")
_PATIENCE: Final = 290.0


@dataclass(slots=True, eq=False)
class _Frame:
    """A call whose request came as a frame, until its answer is read."""

    reply: HostReply
    written_at: float


class HostProvider(Provider):
    """Methods and frames for the host."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._lock = threading.Lock()
        self._frames: dict[str, _Frame] = {}

    def call(self, method: str, argument: str | None, extras: Bundle, caller_uid: int) -> Bundle | None:
        """Answer a method."""
        del extras
        self._check(caller_uid)
        try:
            answer = self._answer(method, _read_argument(argument))
        except HostError as error:
            answer = {"error": {"token": error.token, "message": error.message}}
        text = write_strict({"version": VERSION, **answer}).encode()
        return Bundle.of_strings({"result": base64.urlsafe_b64encode(text).decode().rstrip("=")})

    def _answer(self, method: str, argument: Mapping[str, Json]) -> Mapping[str, Json]:
        if argument.get("version") != VERSION:
            raise HostError("unsupported_version", f"this shim speaks version {VERSION}")
        run = METHODS.get(method)
        if run is None:
            raise HostError("invalid_argument", f"unknown method {method}")
        reply = HostReply(self.context.platform.signal())
        self._on_main_thread(reply, lambda core: run(core, argument, reply))
        if not self.context.platform.wait(reply.signal, _PATIENCE):
            raise HostError("timeout", "the shim did not answer in time")
        return reply.take()

    def _on_main_thread(self, reply: HostReply, run: Callable[[ShimProcess], None]) -> None:
        def work() -> None:
            try:
                run(core_of(self.context))
            except HostError as error:
                reply.fail(error)

        self.context.platform.post(work)

    def open_for_writing(self, uri: str, content: bytes, caller_uid: int) -> bool:
        """Take the frame of a request and begin its call; a frame is one call."""
        self._check(caller_uid)
        name = _call_of(uri)
        payload = _read_frame(content)
        if name is None or payload is None:
            return False
        reply = HostReply(self.context.platform.signal())
        with self._lock:
            self._forget_old()
            if name in self._frames or len(self._frames) >= MOST_FRAMES:
                return False
            self._frames[name] = _Frame(reply, self.context.now())
        self._on_main_thread(
            reply, lambda core: METHODS["call"](core, {"request": payload, "id": name}, reply)
        )
        return True

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        """Return the frame of a response, once; it waits for the answer."""
        self._check(caller_uid)
        name = _call_of(uri)
        with self._lock:
            self._forget_old()
            frame = self._frames.pop(name, None) if name is not None else None
        if frame is None or not self.context.platform.wait(frame.reply.signal, _PATIENCE):
            return None
        try:
            response = frame.reply.take().get("response")
        except HostError:
            return None
        return _write_frame(response) if isinstance(response, str) else None

    def _forget_old(self) -> None:
        oldest = self.context.now() - FRAME_SECONDS
        self._frames = {name: frame for name, frame in self._frames.items() if frame.written_at > oldest}

    def _check(self, caller_uid: int) -> None:
        if not _may_ask(self.context.platform, caller_uid):
            raise AndroidError("java.lang.SecurityException", "only the shell that holds DUMP may ask")


def _may_ask(platform: Platform, uid: int) -> bool:
    return uid in _SHELL_UIDS and platform.holds(_DUMP, uid=uid)


def _read_argument(argument: str | None) -> Mapping[str, Json]:
    if argument is None or len(argument) > 2 * MAX_ARGUMENT or _BASE64URL.fullmatch(argument) is None:
        raise HostError("invalid_argument", "the argument is not base64url, or is too long")
    try:
        data = base64.urlsafe_b64decode(argument + "=" * (-len(argument) % 4))
        read = parse_strict(data.decode(), path="argument", limits=BUILT)
    except (binascii.Error, UnicodeDecodeError, InputError):
        raise HostError("invalid_argument", "the argument is not a JSON object in base64url") from None
    if not isinstance(read, dict):
        raise HostError("invalid_argument", "the argument is not a JSON object")
    return read


def _call_of(uri: str) -> str | None:
    found = _CALL_PATH.fullmatch(split_uri(uri).path)
    return None if found is None else found[1]


def _read_frame(content: bytes) -> str | None:
    if len(content) < _HEAD.size:
        return None
    magic, length, digest = _HEAD.unpack_from(content)
    payload = content[_HEAD.size :]
    if magic != _MAGIC or length != len(payload) or length > MAX_PAYLOAD:
        return None
    if hashlib.sha256(payload).digest() != digest:
        return None
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None


def _write_frame(text: str) -> bytes:
    payload = text.encode()
    return _HEAD.pack(_MAGIC, len(payload), hashlib.sha256(payload).digest()) + payload
