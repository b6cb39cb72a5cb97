"""One process of a shim: the core, and the calls of app functions and of Mobile-MCP tools (shim.md 4).

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
from droidgate_phone.apps.shim.app_function_frontend import (
    EXECUTE,
    FIRST_WITH_FUNCTIONS,
    FunctionRequest,
    run_function,
)
from droidgate_phone.apps.shim.borrowed_permission import (
    HOLDER,
    ShellIdentity,
    ShellIdentityCall,
    is_holder,
    is_signed_alike,
)
from droidgate_phone.apps.shim.caller_grants import Caller, is_isolated
from droidgate_phone.apps.shim.consent import Consent
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.apps.shim.receiver_calls import broadcast
from droidgate_phone.apps.shim.screen_calls import ACTION_CALL, ScreenCalls
from droidgate_phone.apps.shim.shim_core import Core, Reply
from droidgate_phone.apps.shim.shim_discovery import Discoveries
from droidgate_phone.java.app_values import AndroidError, Binding, Message, ServiceConnection
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.behaviour import Context
from droidgate_shim.engine.backends import AppFunctionCall, ExtrasCall, FunctionAnswer, ResponseAnswer
from droidgate_shim.engine.engine import Ask, Send
from droidgate_shim.engine.routes import AppActionBackend, CapabilityBackend, FunctionBackend

_NOT_ALLOWED: Final = (
    "Android does not let this app call app functions; run droidgate shim install from a computer"
)


def execute_function(
    core: Core,
    identity: ShellIdentity,
    send: Send,
    backend: FunctionBackend,
    call: AppFunctionCall,
    reply: Reply,
) -> None:
    """Execute an app function for a call."""
    platform = core.platform
    if platform.sdk < FIRST_WITH_FUNCTIONS:
        core.fail(send.call, "unavailable", "app functions need Android 16")
        return

    def receive(answer: FunctionAnswer | Failure) -> None:
        if isinstance(answer, Failure):
            core.fail(send.call, answer.token, answer.text)
        else:
            core.answered(send.call, answer)

    def may_leave() -> bool:
        return core.may_leave(send, reply)

    if not may_leave():
        return
    request = FunctionRequest(backend.package, call.function, call.document)
    if is_holder(core.context):
        reply.on_end.append(identity.execute(request, receive))
    elif platform.holds(EXECUTE):
        reply.on_end.append(run_function(platform, request, receive))
    elif is_signed_alike(core.context, HOLDER):
        remote = ShellIdentityCall(platform, receive, may_leave)
        reply.on_end.append(remote.cancel)
        remote.begin(request)
    else:
        core.fail(send.call, "denied", _NOT_ALLOWED)


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

    def __init__(self, core: Core) -> None:
        self._core = core
        self._bound: dict[_Key, _ToolBinding] = {}
        self._secret = secrets.token_hex(_SECRET_BYTES)

    def call(self, send: Send, component: ComponentName, extras: Bundle, reply: Reply) -> None:
        """Bring a call to a tool app."""
        name = _name_of(reply.caller)
        key = (name or f"call {send.call}", component)
        call = _ToolCall(send, reply, extras)
        bound = self._bound.get(key)
        if bound is None:
            bound = self._bind(key, is_kept=bool(name))
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

    def _connected(self, bound: _ToolBinding) -> None:
        bound.state = "connected"
        for call in list(bound.open):
            self._send(bound, call)

    def _send(self, bound: _ToolBinding, call: _ToolCall) -> None:
        core = self._core
        if not core.may_leave(call.send, call.reply):
            return

        def receive(message: Message) -> None:
            if message.what != _RESPONSE or not self._is_tool(bound.component, message.sending_uid):
                return
            core.answered(call.send.call, ResponseAnswer(texts_of(message.data)))

        call.messenger = core.platform.create_messenger(receive)
        try:
            if bound.binding is not None:
                bound.binding.send(Message(_REQUEST, call.extras, call.messenger))
        except AndroidError:
            core.fail(call.send.call, "interrupted", "the tool died during the call")

    def _is_tool(self, component: ComponentName, uid: int) -> bool:
        """Return whether a message is the tool's, which may have given the Messenger to another app."""
        package = self._core.platform.find_package(component.package)
        return is_isolated(uid) or (package is not None and package.uid == uid)

    def _done(self, key: _Key, bound: _ToolBinding, call: _ToolCall) -> None:
        if call not in bound.open:
            return
        bound.open.remove(call)
        self._core.platform.close_messenger(call.messenger)
        if not bound.open and bound.state != "gone":
            seconds = IDLE_SECONDS if bound.is_kept else 0.0
            bound.stop_idling = self._core.platform.after(seconds, lambda: self._let_go(key, bound))

    def _let_go(self, key: _Key, bound: _ToolBinding) -> None:
        bound.state = "gone"
        self._bound.pop(key, None)
        if bound.binding is not None:
            bound.binding.unbind()

    def _died(self, key: _Key, bound: _ToolBinding) -> None:
        self._let_go(key, bound)
        for call in list(bound.open):
            self._core.fail(call.send.call, "interrupted", "the tool died during the call")

    def _start_instead(self, key: _Key, bound: _ToolBinding) -> None:
        """Start a service that hands out no binder, with a callback of the shim's own."""
        self._let_go(key, bound)
        for call in list(bound.open):
            self._start(bound.component, call)

    def _start(self, component: ComponentName, call: _ToolCall) -> None:
        core = self._core
        if not core.may_leave(call.send, call.reply):
            return

        def receive(sent: Intent) -> None:
            core.answered(call.send.call, ResponseAnswer(texts_of(sent.extras)))

        callback = Extra("pending-intent", core.context.create_pending_intent(receive))
        intent = Intent(ACTION_SERVICE, component, extras=call.extras.with_extra(EXTRA_CALLBACK, callback))
        # Android ends an app whose service is started for the foreground and does not go there (M31).
        types = core.platform.foreground_service_types(component)
        foreground = core.platform.sdk >= _FIRST_SERVICE_TYPES and bool(types)
        try:
            service = core.context.start_service(intent, foreground=foreground)
        except AndroidError as error:
            is_background = "app is in background" in error.message
            core.fail(call.send.call, "unavailable", _NOT_STARTED if is_background else error.message)
            return
        if service is None:
            core.fail(call.send.call, "unavailable", "the app has no such service")


def _name_of(caller: Caller) -> str:
    """Return what no other caller has: the uid, an unseen package's name and certificate, or nothing.

    The sender of a start is unknown, even if the creator of its callback is known.
    """
    if not caller.is_sender:
        return ""
    if caller.uid >= 0:
        return str(caller.uid)
    return " ".join(f"{package.name} {package.signers[0]}" for package in caller.packages)


_STATIC: Final = "dev.droidgate.shim.Core"


class ShimProcess(Core):
    """A process of a shim.

    Attributes:
        consent: Asks the user.
        screen: Calls that need the screen.
        bindings: Calls of services.
        discoveries: What receivers declared.
        host_calls: The computer's open calls, by the ids that it gave them.
        shell_identity: The borrowed right to call app functions.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # What a process before this one has asked for, nobody waits for any more.
        self.platform.cancel_notifications()
        self.consent = Consent(self)
        self.screen = ScreenCalls(self)
        self.bindings = MobileMcpCaller(self)
        self.discoveries = Discoveries(self)
        self.host_calls: dict[str, Reply] = {}
        self.shell_identity = ShellIdentity(self.platform)

    def ask_user(self, ask: Ask, reply: Reply) -> Failure | None:
        """Ask the user about a call."""
        return self.consent.ask(ask, reply)

    def discover(self, component: ComponentName, then: Callable[[], None]) -> None:
        """Ask a receiver for its tools."""
        self.discoveries.ask(component, lambda _: then())

    def send(self, send: Send, reply: Reply) -> None:
        """Bring a call to its backend, in the backend's way."""
        backend, outgoing = send.backend, send.outgoing
        if isinstance(backend, FunctionBackend) and isinstance(outgoing, AppFunctionCall):
            execute_function(self, self.shell_identity, send, backend, outgoing, reply)
            return
        if isinstance(backend, FunctionBackend) or not isinstance(outgoing, ExtrasCall):
            self.fail(send.call, "unavailable", "the route and its call do not belong together")
            return
        if isinstance(backend, AppActionBackend):
            self.screen.call(send, Intent.parse(outgoing.extras["intent"]), reply)
            return
        component = ComponentName.parse(backend.component)
        if component is None:
            self.fail(send.call, "unavailable", "the route names no component")
            return
        extras = Bundle.of_strings({**outgoing.extras, **reply.caller.extras()})
        if isinstance(backend, CapabilityBackend):
            self.bindings.call(send, component, extras, reply)
        elif backend.kind == "mmcp-activity":
            self.screen.call(send, Intent(ACTION_CALL, component, extras=extras), reply)
        else:
            broadcast(self, send, component, extras, reply)


def core_of(context: Context) -> ShimProcess:
    """Return the core of a component's process, made when it is first needed."""
    statics = context.platform.statics
    process = statics.get(_STATIC)
    if not isinstance(process, ShimProcess):
        process = statics[_STATIC] = ShimProcess(context)
    return process
