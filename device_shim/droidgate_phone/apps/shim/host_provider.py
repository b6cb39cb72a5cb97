"""`HostProvider`, the interface for the computer: its methods, for the shell and root only (shim.md 7).

It is asked on Binder threads; each method is a function on the shim's main thread, for which they wait.
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
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.apps.shim.app_function_caller import EXECUTE, FIRST_WITH_FUNCTIONS
from droidgate_phone.apps.shim.call_control import Reply
from droidgate_phone.apps.shim.caller_grants import MALFORMED, Caller, StoredGrant
from droidgate_phone.apps.shim.installed_targets import BROADCAST, component_of, recipe_of
from droidgate_phone.apps.shim.shim_discovery import Tools, digest_of
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.common.clocks import Signal
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import Bundle, ComponentName
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.behaviour import ContentProvider, Platform
from droidgate_shim.deadlines import LONGEST_DEADLINE_MS
from droidgate_shim.engine.authority import ANY_APP
from droidgate_shim.engine.routes import Target, ToolBackend
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

if TYPE_CHECKING:
    from droidgate_phone.system.behaviour import Context


REQUEST_EXTRA: Final = "mobile-mcp-request"
_HOST_UID: Final = 2000
_HOST_PACKAGE: Final = "com.android.shell"
_EVERYTHING: Final = "*"
_CALL_ID: Final = re.compile("[0-9a-f]{32}")
_CANCELED: Final = "canceled"
LONGEST_REQUEST: Final = 32 * 1024
LONGEST_WAIT_MS: Final = 600_000
USUAL_WAIT_MS: Final = LONGEST_DEADLINE_MS
LONGEST_TRACE: Final = 100_000
"""In UTF-16 units: with the response it has to fit into what Binder carries at once."""


class HostReply:
    """An answer that a Binder thread waits for; only the first counts."""

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        self._answer: Mapping[str, Json] | Failure | None = None

    @property
    def is_canceled(self) -> bool:
        """Whether the host has canceled the call, and so reads no answer."""
        return isinstance(self._answer, Failure) and self._answer.token == _CANCELED

    def put(self, answer: Mapping[str, Json]) -> None:
        """Answer."""
        self._take(answer)

    def fail(self, failure: Failure) -> None:
        """Answer with a failure."""
        self._take(failure)

    def _take(self, answer: Mapping[str, Json] | Failure) -> None:
        if self._answer is None:
            self._answer = answer
            self.signal.set()

    def take(self) -> Mapping[str, Json]:
        """Return the answer.

        Raises:
            CallError: there is a failure in its place, or the process ended.
        """
        if isinstance(self._answer, Failure):
            raise CallError(self._answer)
        if self._answer is None:
            raise _refusal("interrupted", "the shim's process ended")
        return self._answer


HostMethod = Callable[[Shim, Mapping[str, Json], HostReply], None]


def _refusal(token: str, text: str) -> CallError:
    return CallError(Failure(token, text))


def _text(argument: Mapping[str, Json], name: str) -> str:
    text = argument.get(name)
    if not isinstance(text, str):
        raise _refusal("invalid_argument", f"{name}{MALFORMED}")
    return text


def _hello_of(shim: Shim) -> dict[str, Json]:
    sources = shim.app.get("sources")
    build = shim.app.get("build")
    return {
        "application_id": shim.context.package,
        "build": build if isinstance(build, str) else "",
        "sdk": shim.platform.sdk,
        "routes": list(shim.table.routes),
        "sources": sources if isinstance(sources, list) else [],
    }


def _hello(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    del argument
    reply.put(_hello_of(shim))


def _status(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    """Report everything; receivers whose descriptor only a broadcast returns are asked first."""
    del argument
    routes = [prepared.route for prepared in shim.table.routes.values()]
    waiting = {
        route.target: component_of(route.backend)
        for route in routes
        if isinstance(route.backend, ToolBackend) and recipe_of(route.target) == BROADCAST
    }
    reported: dict[Target, str] = {}

    def go_on() -> None:
        if not waiting:
            reply.put(_status_of(shim, reported))
            return
        target, component = waiting.popitem()

        def take(tools: Tools | None) -> None:
            reported[target] = digest_of(tools)
            go_on()

        shim.discoveries.ask(component, take)

    go_on()


def _status_of(shim: Shim, reported: Mapping[Target, str]) -> dict[str, Json]:
    platform = shim.platform
    may_execute = platform.holds(EXECUTE) or shim.shell_identity.can_borrow
    access: dict[str, Json] = {
        "notifications": platform.may_notify(),
        "overlay": platform.may_draw_overlays(),
        "battery_exempt": platform.is_battery_exempt(),
        "execute_app_functions": platform.sdk >= FIRST_WITH_FUNCTIONS and may_execute,
    }
    return {
        **_hello_of(shim),
        "grants": [item.as_json() for item in shim.grants.all()],
        "switched_off": sorted(shim.grants.switched_off),
        "asking": shim.grants.is_asking,
        "open": shim.open_count(),
        "targets": list(_target_states(shim, reported)),
        "access": access,
    }


_WORST: Final = ("as-approved", "changed", "other-signer", "absent")


def _target_states(shim: Shim, reported: Mapping[Target, str]) -> list[Json]:
    """Return the state of each package behind the shim: the worst of its routes' targets."""
    states: dict[str, tuple[str, int | None]] = {}
    for prepared in shim.table.routes.values():
        target = prepared.route.target
        installed = shim.installed.now(target)
        if installed is None:
            state = "absent"
        elif installed.signer != target.signer:
            state = "other-signer"
        else:
            digest = reported.get(target, installed.digest)
            state = "as-approved" if digest == target.digest else "changed"
        version = None if installed is None else installed.version_code
        worst = states.get(target.package)
        if worst is None or _WORST.index(state) > _WORST.index(worst[0]):
            states[target.package] = (state, version)
    return [
        {"package": package, "state": state, "version_code": version}
        for package, (state, version) in states.items()
    ]


def _grant(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    caller, capability = _text(argument, "caller"), _text(argument, "capability")
    if capability != _EVERYTHING and capability not in shim.table.routes:
        raise _refusal("unknown_capability", "the shim has no capability of this id")
    if caller == ANY_APP:
        grant = StoredGrant("", "", capability, shim.now())
    else:
        grant = StoredGrant(caller, _signer_of(shim, caller, argument), capability, shim.now())
    reply.put({"grant": shim.grants.add(grant).as_json()})


def _signer_of(shim: Shim, caller: str, argument: Mapping[str, Json]) -> str:
    """Return a caller's certificate: what Android reports, else what the host names.

    From Android 11 on the shim sees no app that has never called it (reference android-runtime 1.4).
    """
    named_signer = argument.get("signer")
    if named_signer is not None and not isinstance(named_signer, str):
        raise _refusal("invalid_argument", f"signer{MALFORMED}")
    package = shim.platform.find_package(caller)
    if package is None:
        if named_signer is None:
            raise _refusal("unavailable", f"{caller} is not installed, or signed by another")
        return str(named_signer)
    if not package.signers or named_signer not in (None, package.signers[0]):
        raise _refusal("unavailable", f"{caller} is not installed, or signed by another")
    return package.signers[0]


def _revoke(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    caller, capability = _text(argument, "caller"), _text(argument, "capability")
    package = "" if caller == ANY_APP else caller
    revoked = shim.grants.remove(package, None if capability == _EVERYTHING else capability)
    reply.put({"revoked": revoked})


def _ask(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    on = argument.get("on")
    if not isinstance(on, bool):
        raise _refusal("invalid_argument", f"on{MALFORMED}")
    shim.grants.ask(on=on)
    reply.put({})


def _call(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    if utf16_length(_text(argument, "request")) > LONGEST_REQUEST:
        raise _refusal("invalid_argument", "the request is too long for this method")
    allowed = argument.get("deadline_ms")
    if allowed is None:
        allowed = USUAL_WAIT_MS
    if not isinstance(allowed, int) or isinstance(allowed, bool):
        raise _refusal("invalid_argument", f"deadline_ms{MALFORMED}")
    if not isinstance(argument.get("trace"), bool | None):
        raise _refusal("invalid_argument", f"trace{MALFORMED}")
    call = _begin(shim, argument, reply)

    def give_up() -> None:
        late = "no answer came in time; the call may have run"
        reply.fail(Failure("timeout", late))
        shim.end(call, Failure(_CANCELED, "the computer ended the call"))

    if not call.is_answered:
        wait = min(max(0, allowed), LONGEST_WAIT_MS)
        call.on_end.append(shim.platform.after(wait / 1000, give_up))


def _begin(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> Reply:
    """Begin a call whose request came as an argument or as a frame."""
    request, name = _text(argument, "request"), argument.get("id")
    if name is not None and not (isinstance(name, str) and _CALL_ID.fullmatch(name)):
        raise _refusal("invalid_argument", "/id: 32 hexadecimal digits are needed")
    if name in shim.host_calls:
        raise _refusal("busy", "a call of this id is open")
    trace: dict[str, Json] = {}

    def deliver(extras: Mapping[str, str], token: str | None) -> None:
        response = next(iter(extras.values()), None)
        if response is None and token == _CANCELED:
            reply.fail(Failure(_CANCELED, "the computer ended the call"))
        elif response is None:
            reply.fail(Failure(token or "invalid_argument", "the request has an unknown form"))
        else:
            is_short = bool(trace) and utf16_length(write_strict(trace)) <= LONGEST_TRACE
            reply.put({"response": response, **({"trace": trace} if is_short else {})})

    caller = Caller(_HOST_UID, (), _HOST_PACKAGE)
    traced = trace if argument.get("trace") is True else None
    call = shim.receive("bind", caller, {REQUEST_EXTRA: request}, deliver, approved=True, trace=traced)
    if isinstance(name, str) and not call.is_answered:
        _remember(shim, name, call)
    return call


def _remember(shim: Shim, name: str, call: Reply) -> None:
    """Keep an open call under the host's id."""

    def forget() -> None:
        del shim.host_calls[name]

    shim.host_calls[name] = call
    call.on_end.append(forget)


def _cancel(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    call = shim.host_calls.get(_text(argument, "id"))
    if call is not None:
        shim.end(call, Failure(_CANCELED, "the computer ended the call"))
    reply.put({"canceled": call is not None})


def _progress(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    call = shim.host_calls.get(_text(argument, "id"))
    reply.put({"stage": None if call is None else call.stage})


def _discover(shim: Shim, argument: Mapping[str, Json], reply: HostReply) -> None:
    component = ComponentName.parse(_text(argument, "component"))
    if component is None:
        raise _refusal("invalid_argument", "this is not a component")
    if shim.platform.find_package(component.package) is None:
        raise _refusal("unavailable", f"{component.package} is not installed")

    def answer(tools: Tools | None) -> None:
        if tools is None:
            reason = shim.discoveries.not_modelled.get(component)
            timeout = Failure("timeout", "the receiver reported no tools")
            reply.fail(timeout if reason is None else Failure("backend_failure", reason))
        else:
            reply.put({"tools": [list(tool) for tool in tools]})

    shim.discoveries.ask(component, answer)


METHODS: Final[Mapping[str, HostMethod]] = {
    "hello": _hello,
    "status": _status,
    "grant": _grant,
    "revoke": _revoke,
    "ask": _ask,
    "call": _call,
    "cancel": _cancel,
    "progress": _progress,
    "discover-broadcast": _discover,
}


VERSION: Final = 1
MAX_PAYLOAD: Final = 1024 * 1024
MOST_FRAMES: Final = 16
FRAME_MS: Final = 600_000
_MAGIC: Final = b"DGF1"
_HEAD: Final = struct.Struct(">4sI32s")
_DUMP: Final = "android.permission.DUMP"
_SHELL_UIDS: Final = (0, 2000)
_CALL_PATH: Final = re.compile("/calls/([0-9a-f]{32})")
_BASE64URL: Final = re.compile("[A-Za-z0-9_-]*")
_PATIENCE_MS: Final = 610_000


@dataclass(slots=True, eq=False)
class _Frame:
    """A call whose request came as a frame, until its answer is read."""

    reply: HostReply
    written_at: float


class HostProvider(ContentProvider):
    """Methods and frames for the host."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._lock = threading.Lock()
        self._frames: dict[str, _Frame] = {}

    def call(self, method: str, argument: str | None, caller_uid: int) -> Bundle | None:
        """Answer a method."""
        self._check(caller_uid)
        try:
            answer = self._answer(method, _read_argument(argument))
        except CallError as error:
            answer = {"error": {"token": error.failure.token, "message": error.failure.text}}
        text = write_strict({"version": VERSION, **answer}).encode()
        return Bundle.of_strings({"result": base64.urlsafe_b64encode(text).decode().rstrip("=")})

    def _answer(self, method: str, argument: Mapping[str, Json]) -> Mapping[str, Json]:
        if argument.get("version") != VERSION:
            raise _refusal("unsupported_version", f"this shim speaks version {VERSION}")
        run = METHODS.get(method)
        if run is None:
            raise _refusal("invalid_argument", "the method does not exist")
        reply = HostReply(self.context.platform.signal())
        self._on_main_thread(reply, lambda shim: run(shim, argument, reply))
        if not self.context.platform.wait(reply.signal, _PATIENCE_MS / 1000):
            raise _refusal("timeout", "the shim did not answer in time")
        return reply.take()

    def _on_main_thread(self, reply: HostReply, run: Callable[[Shim], object]) -> None:
        def work() -> None:
            try:
                run(Shim.of(self.context))
            except CallError as error:
                reply.fail(error.failure)

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
        self._on_main_thread(reply, lambda shim: _begin(shim, {"request": payload, "id": name}, reply))
        return True

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        """Return the frame of a response, once; it waits for the answer."""
        self._check(caller_uid)
        name = _call_of(uri)
        with self._lock:
            self._forget_old()
            frame = self._frames.pop(name, None) if name is not None else None
        if frame is None or not self.context.platform.wait(frame.reply.signal, _PATIENCE_MS / 1000):
            return None
        try:
            response = frame.reply.take().get("response")
        except CallError:
            return None
        return _write_frame(response) if isinstance(response, str) else None

    def _forget_old(self) -> None:
        oldest = self.context.now() - FRAME_MS / 1000
        self._frames = {
            name: frame
            for name, frame in self._frames.items()
            if frame.written_at > oldest and not frame.reply.is_canceled
        }

    def _check(self, caller_uid: int) -> None:
        if not _may_ask(self.context.platform, caller_uid):
            raise AndroidError("java.lang.SecurityException", "only the host may call")


def _may_ask(platform: Platform, uid: int) -> bool:
    return uid in _SHELL_UIDS and platform.holds(_DUMP, uid=uid)


def _read_argument(argument: str | None) -> Mapping[str, Json]:
    if argument is None or _BASE64URL.fullmatch(argument) is None:
        raise _refusal("invalid_argument", "the argument is not base64url")
    try:
        data = base64.urlsafe_b64decode(argument + "=" * (-len(argument) % 4))
        read = parse_strict(data.decode(), path="argument", limits=BUILT)
    except (binascii.Error, UnicodeDecodeError, InputError):
        raise _refusal("invalid_argument", "the argument is not a JSON object") from None
    if not isinstance(read, dict):
        raise _refusal("invalid_argument", "the argument is not a JSON object")
    return read


def _call_of(uri: str) -> str | None:
    match = _CALL_PATH.fullmatch(Uri(uri).path or "")
    return None if match is None else match[1]


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
