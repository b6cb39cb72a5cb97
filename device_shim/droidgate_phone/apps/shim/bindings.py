"""Calls of Mobile-MCP tool apps: bound where they can be, else started (docs/shim.md 4).

A binding is kept for one caller and one component; a caller without a name has one for each call. To the app
behind, all messages come from the shim's uid; the shim's callers differ there by the binder: a
service is asked for one for each intent that differs from the others, and the intents differ by their
identifiers. Whoever binds with an equal intent gets the same binder, so nobody may guess an identifier.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from droidgate_phone.app_api.platform import Binding, ServiceConnection
from droidgate_phone.app_api.values import AndroidError, Message
from droidgate_phone.apps.shim.core import Core, Receipt
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.apps.shim.identity import Origin
from droidgate_phone.intents import Bundle, ComponentName, Extra, Intent
from droidgate_shim.engine.backends import ResponseAnswer
from droidgate_shim.engine.engine import Send

ACTION_SERVICE: Final = "mobile.mcp.SERVICE"
EXTRA_CALLBACK: Final = "mcp_callback"
_NOT_STARTED: Final = (
    "the tool cannot be bound, and Android forbids starting it while its app does not run; "
    "open the app and retry"
)
IDLE_SECONDS: Final = 60.0
_FIRST_IDENTIFIERS: Final = 29
_FIRST_SERVICE_TYPES: Final = 29
_SECRET_BYTES: Final = 16
_REQUEST: Final = 1
_RESPONSE: Final = 2

_Key = tuple[str, ComponentName]
"""Whose binding it is, and to what."""


@dataclass(slots=True, eq=False)
class _Call:
    send: Send
    receipt: Receipt
    extras: Bundle
    messenger: str = ""


@dataclass(slots=True, eq=False)
class _BoundCalls:
    """One binding, with the calls that are open on it."""

    component: ComponentName
    is_kept: bool
    binding: Binding | None = None
    state: Literal["connecting", "connected", "gone"] = "connecting"
    open: list[_Call] = field(default_factory=list)
    stop_idling: Callable[[], None] | None = None


class Bindings:
    """The bindings to tool apps that are kept."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._bound: dict[_Key, _BoundCalls] = {}
        self._secret = secrets.token_hex(_SECRET_BYTES)

    def call(self, send: Send, component: ComponentName, extras: Bundle, receipt: Receipt) -> None:
        """Bring a call to a tool app."""
        name = _name_of(receipt.origin)
        key = (name or f"call {send.call}", component)
        call = _Call(send, receipt, extras)
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bind(key, is_kept=bool(name))
        if bound is None:
            self._core.fail(send.call, "unavailable", "the app's service cannot be bound")
            return
        if bound.stop_idling is not None:
            bound.stop_idling()
            bound.stop_idling = None
        bound.open.append(call)
        # Whatever answers a call, it no longer keeps the binding then.
        receipt.on_end.append(lambda: self._done(key, bound, call))
        if bound.state == "connected":
            self._send(bound, call)

    def _bind(self, key: _Key, *, is_kept: bool) -> _BoundCalls | None:
        bound = _BoundCalls(key[1], is_kept)
        connection = ServiceConnection(
            on_connected=lambda: self._connected(bound),
            on_null_binding=lambda: self._start_instead(key, bound),
            on_disconnected=lambda: self._died(key, bound),
        )
        has_identifiers = self._core.platform.sdk >= _FIRST_IDENTIFIERS
        identifier = self._identifier(key) if has_identifiers else None
        intent = Intent(ACTION_SERVICE, key[1], identifier=identifier)
        try:
            bound.binding = self._core.platform.bind(intent, connection)
        except AndroidError:
            return None
        if bound.binding is None:
            return None
        self._bound[key] = bound
        return bound

    def _identifier(self, key: _Key) -> str:
        name, component = key
        return hashlib.sha256(f"{self._secret} {name} {component.flatten()}".encode()).hexdigest()

    def _connected(self, bound: _BoundCalls) -> None:
        bound.state = "connected"
        for call in list(bound.open):
            self._send(bound, call)

    def _send(self, bound: _BoundCalls, call: _Call) -> None:
        core = self._core
        if not core.may_leave(call.send, call.receipt):
            return

        def receive(message: Message) -> None:
            if message.what != _RESPONSE:
                return
            core.answered(call.send.call, ResponseAnswer(texts_of(message.data)))

        call.messenger = core.platform.create_messenger(receive)
        try:
            if bound.binding is not None:
                bound.binding.send(Message(_REQUEST, call.extras, call.messenger))
        except AndroidError:
            core.fail(call.send.call, "interrupted", "the app behind the capability stopped")

    def _done(self, key: _Key, bound: _BoundCalls, call: _Call) -> None:
        if call not in bound.open:
            return
        bound.open.remove(call)
        self._core.platform.close_messenger(call.messenger)
        if not bound.open and bound.state != "gone":
            seconds = IDLE_SECONDS if bound.is_kept else 0.0
            bound.stop_idling = self._core.platform.after(seconds, lambda: self._let_go(key, bound))

    def _let_go(self, key: _Key, bound: _BoundCalls) -> None:
        bound.state = "gone"
        self._bound.pop(key, None)
        if bound.binding is not None:
            bound.binding.unbind()

    def _died(self, key: _Key, bound: _BoundCalls) -> None:
        self._let_go(key, bound)
        for call in list(bound.open):
            self._core.fail(call.send.call, "interrupted", "the app behind the capability stopped")

    def _start_instead(self, key: _Key, bound: _BoundCalls) -> None:
        """Start a service that hands out no binder, with a callback of the shim's own."""
        self._let_go(key, bound)
        for call in list(bound.open):
            self._start(bound.component, call)

    def _start(self, component: ComponentName, call: _Call) -> None:
        core = self._core
        if not core.may_leave(call.send, call.receipt):
            return

        def receive(sent: Intent) -> None:
            core.answered(call.send.call, ResponseAnswer(texts_of(sent.extras)))

        callback = Extra("pending-intent", core.context.create_pending_intent(receive))
        intent = Intent(ACTION_SERVICE, component, extras=call.extras.with_extra(EXTRA_CALLBACK, callback))
        # Android ends an app whose service is started for the foreground and does not go there (M31).
        types = core.platform.foreground_service_types(component)
        foreground = core.platform.sdk >= _FIRST_SERVICE_TYPES and bool(types)
        try:
            found = core.context.start_service(intent, foreground=foreground)
        except AndroidError as error:
            is_background = "app is in background" in error.message
            core.fail(call.send.call, "unavailable", _NOT_STARTED if is_background else error.message)
            return
        if found is None:
            core.fail(call.send.call, "unavailable", "the app's service is not there")


def _name_of(origin: Origin) -> str:
    """Return what no other caller has: the uid, an unseen package's name and certificate, or nothing.

    The sender of a start is unknown, whoever made its callback.
    """
    if not origin.is_sender:
        return ""
    if origin.uid >= 0:
        return str(origin.uid)
    return " ".join(f"{package.name} {package.signers[0]}" for package in origin.packages)
