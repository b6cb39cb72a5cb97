"""Calls of mMCP's broadcast dialect: ordered broadcasts (shim.md 4)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.call_control import CallControl, Reply
from droidgate_phone.apps.shim.installed_targets import BROADCAST, recipe_of
from droidgate_phone.apps.shim.shim_discovery import (
    FLAG_INCLUDE_STOPPED_PACKAGES,
    Discoveries,
    Tools,
    digest_of,
)
from droidgate_phone.java.app_values import AndroidError, BroadcastResult
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_shim.engine.backends import BroadcastAnswer
from droidgate_shim.engine.engine import Send

ACTION_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
BROADCAST_MS: Final = 10_000


class Broadcasts:
    """Calls of mMCP receivers."""

    def __init__(self, control: CallControl, discoveries: Discoveries) -> None:
        self._control = control
        self._discoveries = discoveries

    def call(self, send: Send, component: ComponentName, extras: Bundle, reply: Reply) -> None:
        """Call a tool; where only its receiver knows what it offers, it is asked again before the call."""
        if recipe_of(send.target) != BROADCAST:
            self._send(send, component, extras, reply)
            return
        asked = self._edition(component)

        def go_on(tools: Tools | None) -> None:
            if not reply.is_answered and asked != self._edition(component):
                # What answered is perhaps not what is installed now.
                self.call(send, component, extras, reply)
                return
            if self._control.may_leave(send, reply) and digest_of(tools) != send.target.digest:
                changed = Failure("needs_approval", "the receiver has changed what it offers")
                self._control.fail(send.call, changed)
            else:
                self._send(send, component, extras, reply)

        self._discoveries.ask(component, go_on)

    def _edition(self, component: ComponentName) -> str:
        package = self._control.platform.find_package(component.package)
        return "" if package is None else package.code_path

    def _send(self, send: Send, component: ComponentName, extras: Bundle, reply: Reply) -> None:
        control = self._control
        intent = Intent(ACTION_INVOKE, component, flags=FLAG_INCLUDE_STOPPED_PACKAGES, extras=extras)

        def receive(result: BroadcastResult) -> None:
            control.answered(send.call, BroadcastAnswer(result.code, result.data))

        def give_up() -> None:
            late = "the receiver gave no answer in time; the call may have run"
            control.fail(send.call, Failure("timeout", late))

        if not control.may_leave(send, reply):
            return
        reply.on_end.append(control.platform.after(BROADCAST_MS / 1000, give_up))
        try:
            control.context.send_ordered_broadcast(intent, receive)
        except AndroidError as error:
            control.fail(send.call, Failure("unavailable", error.message))
