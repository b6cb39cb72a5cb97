"""Calls of Mobile-MCP tools: bound where they let themselves be bound, else started (shim.md 4).

A binding is kept for one caller and one component; a caller without a name has one for each call. To the app
behind, all messages come from the shim's uid; the shim's callers differ there by the binder: a service is
asked for one for each intent that differs from the others, and the intents differ by their identifiers. An
app that binds with an equal intent gets the same binder, so no other app may guess an identifier.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal

from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.call_control import CallControl, Reply
from droidgate_phone.apps.shim.caller_grants import Caller, is_isolated
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.java.app_values import AndroidError, Binding, Message, ServiceConnection
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.processes import AndroidNotModelledError
from droidgate_shim.engine.backends import ResponseAnswer
from droidgate_shim.engine.engine import Send

ACTION_SERVICE: Final = "mobile.mcp.SERVICE"
EXTRA_CALLBACK: Final = "mcp_callback"
_NOT_STARTED: Final = (
    "the tool cannot be bound, and Android forbids starting it while its app does not run; "
    "open the app and retry"
)
_DIED: Final = Failure("interrupted", "the tool died during the call")
IDLE_MS: Final = 60_000
_FIRST_IDENTIFIERS: Final = 29
_FIRST_SERVICE_TYPES: Final = 29
_SECRET_BYTES: Final = 16
MESSAGE_INVOKE: Final = 1
MESSAGE_RESULT: Final = 2

_Key = tuple[str, ComponentName]
"""Whose binding it is, and to what."""


@dataclass(slots=True, eq=False)
class _ToolCall:
    send: Send
    reply: Reply
    extras: Bundle
    messenger: str = ""


@dataclass(slots=True, eq=False)
class _ToolBinding:
    """One binding, with the calls that are open on it."""

    component: ComponentName
    is_kept: bool
    binding: Binding | None = None
    state: Literal["connecting", "connected", "gone"] = "connecting"
    open: list[_ToolCall] = field(default_factory=list)
    stop_idling: Callable[[], None] | None = None


class MobileMcpCaller:
    """The bindings to tool apps that are kept."""

    def __init__(self, control: CallControl) -> None:
        self._control = control
        self._bound: dict[_Key, _ToolBinding] = {}
        self._secret = secrets.token_hex(_SECRET_BYTES)

    def call(self, send: Send, component: ComponentName, extras: Bundle, reply: Reply) -> None:
        """Bring a call to a tool app."""
        name = _name_of(reply.caller)
        key = (name or f"call {send.call}", component)
        call = _ToolCall(send, reply, extras)
        bound = self._bound.get(key)
        if bound is None:
            try:
                bound = self._bind(key, is_kept=bool(name))
            except AndroidNotModelledError as error:
                self._control.fail(send.call, Failure("unavailable", error.message))
                return
        if bound is None:
            self._start(component, call)
            return
        if bound.stop_idling is not None:
            bound.stop_idling()
            bound.stop_idling = None
        bound.open.append(call)
        # Whatever answers a call, it no longer keeps the binding then.
        reply.on_end.append(lambda: self._done(key, bound, call))
        if bound.state == "connected":
            self._send(bound, call)

    def _bind(self, key: _Key, *, is_kept: bool) -> _ToolBinding | None:
        bound = _ToolBinding(key[1], is_kept)
        connection = ServiceConnection(
            on_connected=lambda: self._connected(bound),
            on_null_binding=lambda: self._start_instead(key, bound),
            on_disconnected=lambda: self._died(key, bound),
        )
        has_identifiers = self._control.platform.sdk >= _FIRST_IDENTIFIERS
        identifier = self._identifier(key) if has_identifiers else None
        intent = Intent(ACTION_SERVICE, key[1], identifier=identifier)
        try:
            bound.binding = self._control.platform.bind(intent, connection)
        except AndroidNotModelledError:
            raise
        except AndroidError:
            return None
        if bound.binding is None:
            return None
        self._bound[key] = bound
        return bound

    def _identifier(self, key: _Key) -> str:
        name, component = key
        return hashlib.sha256(f"{self._secret} {name} {component.flatten()}".encode()).hexdigest()

    def _connected(self, bound: _ToolBinding) -> None:
        bound.state = "connected"
        for call in list(bound.open):
            self._send(bound, call)

    def _send(self, bound: _ToolBinding, call: _ToolCall) -> None:
        control = self._control
        if not control.may_leave(call.send, call.reply):
            return

        def receive(message: Message) -> None:
            if message.what != MESSAGE_RESULT or not self._is_tool(bound.component, message.sending_uid):
                return
            control.answered(call.send.call, ResponseAnswer(texts_of(message.data)))

        call.messenger = control.platform.create_messenger(receive)
        try:
            if bound.binding is not None:
                bound.binding.send(Message(MESSAGE_INVOKE, call.extras, call.messenger))
        except AndroidError:
            control.fail(call.send.call, _DIED)

    def _is_tool(self, component: ComponentName, uid: int) -> bool:
        """Return whether a message is the tool's, which may have given the Messenger to another app."""
        package = self._control.platform.find_package(component.package)
        return is_isolated(uid) or (package is not None and package.uid == uid)

    def _done(self, key: _Key, bound: _ToolBinding, call: _ToolCall) -> None:
        if call not in bound.open:
            return
        bound.open.remove(call)
        self._control.platform.close_messenger(call.messenger)
        if not bound.open and bound.state != "gone":
            seconds = IDLE_MS / 1000 if bound.is_kept else 0.0
            bound.stop_idling = self._control.platform.after(seconds, lambda: self._let_go(key, bound))

    def _let_go(self, key: _Key, bound: _ToolBinding) -> None:
        bound.state = "gone"
        self._bound.pop(key, None)
        if bound.binding is not None:
            bound.binding.unbind()

    def _died(self, key: _Key, bound: _ToolBinding) -> None:
        self._let_go(key, bound)
        for call in list(bound.open):
            self._control.fail(call.send.call, _DIED)

    def _start_instead(self, key: _Key, bound: _ToolBinding) -> None:
        """Start a service that hands out no binder, with a callback of the shim's own."""
        self._let_go(key, bound)
        for call in list(bound.open):
            self._start(bound.component, call)

    def _start(self, component: ComponentName, call: _ToolCall) -> None:
        control = self._control
        if not control.may_leave(call.send, call.reply):
            return

        def receive(sent: Intent) -> None:
            control.answered(call.send.call, ResponseAnswer(texts_of(sent.extras)))

        callback = Extra("pending-intent", control.context.create_pending_intent(receive))
        intent = Intent(ACTION_SERVICE, component, extras=call.extras.with_extra(EXTRA_CALLBACK, callback))
        # Android ends an app whose service is started for the foreground and does not go there (M31).
        types = control.platform.foreground_service_types(component)
        foreground = control.platform.sdk >= _FIRST_SERVICE_TYPES and bool(types)
        try:
            service = control.context.start_service(intent, foreground=foreground)
        except AndroidError as error:
            is_background = "app is in background" in error.message
            text = _NOT_STARTED if is_background else error.message
            control.fail(call.send.call, Failure("unavailable", text))
            return
        if service is None:
            control.fail(call.send.call, Failure("unavailable", "the app has no such service"))


def _name_of(caller: Caller) -> str:
    """Return what no other caller has: the uid, an unseen package's name and certificate, or nothing.

    The sender of a start is unknown, even if the creator of its callback is known.
    """
    if not caller.is_sender:
        return ""
    if caller.uid >= 0:
        return str(caller.uid)
    return " ".join(f"{package.name} {package.signers[0]}" for package in caller.packages)
