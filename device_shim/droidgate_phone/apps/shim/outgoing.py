"""Calls that go out, each in its backend's way (docs/shim.md 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from droidgate_phone.app_api.values import AndroidError, BroadcastResult
from droidgate_phone.apps.shim.function_calls import execute_function
from droidgate_phone.intents import Bundle, ComponentName, Intent
from droidgate_shim.engine.backends import BroadcastAnswer, ExtrasCall, FunctionCall
from droidgate_shim.engine.engine import Send
from droidgate_shim.engine.routes import CapabilityBackend, FunctionBackend

if TYPE_CHECKING:
    from droidgate_phone.apps.shim.core import Core, Receipt

ACTION_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
FLAG_INCLUDE_STOPPED_PACKAGES: Final = 0x20
_BROADCAST_SECONDS: Final = 10.0


def dispatch(core: Core, send: Send, receipt: Receipt) -> None:
    """Bring a call to its backend."""
    backend, outgoing = send.backend, send.outgoing
    if isinstance(backend, FunctionBackend) and isinstance(outgoing, FunctionCall):
        execute_function(core, send, backend, outgoing, receipt)
        return
    if isinstance(backend, FunctionBackend) or not isinstance(outgoing, ExtrasCall):
        core.fail(send.call, "unavailable", "the route and its call do not belong together")
        return
    component = ComponentName.parse(backend.component)
    if component is None:
        core.fail(send.call, "unavailable", "the route names no component")
        return
    extras = Bundle.of_strings({**outgoing.extras, **receipt.origin.extras()})
    if isinstance(backend, CapabilityBackend):
        core.bindings.call(send, component, extras, receipt)
    elif backend.kind == "mmcp-activity":
        core.screen.call(send, component, extras, receipt)
    else:
        intent = Intent(ACTION_INVOKE, component, flags=FLAG_INCLUDE_STOPPED_PACKAGES, extras=extras)
        _broadcast(core, send, intent, receipt)


def _broadcast(core: Core, send: Send, intent: Intent, receipt: Receipt) -> None:
    def receive(result: BroadcastResult) -> None:
        core.result(send.call, BroadcastAnswer(result.code, result.data))

    def give_up() -> None:
        core.fail(send.call, "timeout", "the receiver did not answer in time; the call may have run")

    receipt.on_end.append(core.platform.after(_BROADCAST_SECONDS, give_up))
    try:
        core.context.send_ordered_broadcast(intent, receive)
    except AndroidError as error:
        core.fail(send.call, "unavailable", error.message)
