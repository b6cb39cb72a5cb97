"""Calls of mMCP receivers: ordered broadcasts (shim.md 4)."""

from __future__ import annotations

from typing import Final

from droidgate_phone.apps.shim.shim_core import Core, Reply
from droidgate_phone.java.app_values import AndroidError, BroadcastResult
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_shim.engine.backends import BroadcastAnswer
from droidgate_shim.engine.engine import Send

ACTION_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
FLAG_INCLUDE_STOPPED_PACKAGES: Final = 0x20
_BROADCAST_SECONDS: Final = 10.0


def broadcast(core: Core, send: Send, component: ComponentName, extras: Bundle, reply: Reply) -> None:
    """Bring a call to an mMCP receiver."""
    intent = Intent(ACTION_INVOKE, component, flags=FLAG_INCLUDE_STOPPED_PACKAGES, extras=extras)

    def receive(result: BroadcastResult) -> None:
        core.answered(send.call, BroadcastAnswer(result.code, result.data))

    def give_up() -> None:
        core.fail(send.call, "timeout", "the receiver gave no answer in time; the call may have run")

    if not core.may_leave(send, reply):
        return
    reply.on_end.append(core.platform.after(_BROADCAST_SECONDS, give_up))
    try:
        core.context.send_ordered_broadcast(intent, receive)
    except AndroidError as error:
        core.fail(send.call, "unavailable", error.message)
