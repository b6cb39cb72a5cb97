"""Bringing a call to its app, by the kind of its route's backend (shim.md 4)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.app_function_caller import (
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
from droidgate_phone.apps.shim.call_control import CallControl, Reply
from droidgate_phone.apps.shim.installed_targets import component_of
from droidgate_phone.apps.shim.mobile_mcp_caller import MobileMcpCaller
from droidgate_phone.apps.shim.receiver_calls import Broadcasts
from droidgate_phone.apps.shim.screen_calls import ACTION_CALL, ScreenCalls
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_shim.engine.backends import AppFunctionCall, FunctionAnswer
from droidgate_shim.engine.engine import Send
from droidgate_shim.engine.routes import AppActionBackend, CapabilityBackend, ToolBackend

_NOT_ALLOWED: Final = (
    "Android does not let this app call app functions; run droidgate shim install from a computer"
)


class AppFunctions:
    """Calls of app functions: by this app where it holds the permission, else by the app that borrows it."""

    def __init__(self, control: CallControl, shell_identity: ShellIdentity) -> None:
        self._control = control
        self._shell_identity = shell_identity

    def call(self, send: Send, request: FunctionRequest, reply: Reply) -> None:
        """Execute an app function for a call."""
        control = self._control
        platform = control.platform
        if platform.sdk < FIRST_WITH_FUNCTIONS:
            control.fail(send.call, Failure("unavailable", "app functions need Android 16"))
            return

        def receive(answer: FunctionAnswer | Failure) -> None:
            if isinstance(answer, Failure):
                control.fail(send.call, answer)
            else:
                control.answered(send.call, answer)

        def may_leave() -> bool:
            return control.may_leave(send, reply)

        if not may_leave():
            return
        if is_holder(control.context):
            reply.on_end.append(self._shell_identity.execute(request, receive))
        elif platform.holds(EXECUTE):
            reply.on_end.append(run_function(platform, request, receive))
        elif is_signed_alike(control.context, HOLDER):
            remote = ShellIdentityCall(platform, receive, may_leave)
            reply.on_end.append(remote.cancel)
            remote.begin(request)
        else:
            control.fail(send.call, Failure("denied", _NOT_ALLOWED))


class Backends:
    """The edge that reaches other apps."""

    def __init__(
        self,
        screen: ScreenCalls,
        broadcasts: Broadcasts,
        functions: AppFunctions,
        tools: MobileMcpCaller,
    ) -> None:
        self._screen = screen
        self._broadcasts = broadcasts
        self._functions = functions
        self._tools = tools

    def call(self, send: Send, reply: Reply) -> None:
        """Bring a call to its backend, in the backend's way."""
        backend, outgoing = send.backend, send.outgoing
        if isinstance(outgoing, AppFunctionCall):
            request = FunctionRequest(send.target.package, outgoing.function, outgoing.document)
            self._functions.call(send, request, reply)
        elif isinstance(backend, AppActionBackend):
            self._screen.call(send, Intent.parse(outgoing.extras["intent"]), reply)
        elif isinstance(backend, ToolBackend | CapabilityBackend):
            component = component_of(backend)
            extras = Bundle.of_strings({**outgoing.extras, **reply.caller.extras()})
            if isinstance(backend, CapabilityBackend):
                self._tools.call(send, component, extras, reply)
            elif backend.kind == "mmcp-activity":
                self._screen.call(send, Intent(ACTION_CALL, component, extras=extras), reply)
            else:
                self._broadcasts.call(send, component, extras, reply)
