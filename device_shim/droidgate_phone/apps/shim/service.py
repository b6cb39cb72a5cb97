"""`ToolService`: requests over a Messenger and by starts (docs/shim.md 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from droidgate_mappings.values.failures import Failure
from droidgate_phone.app_api.behaviour import START_REDELIVER_INTENT, Service
from droidgate_phone.app_api.values import AndroidError, Message
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.apps.shim.identity import origin_of, origin_of_start
from droidgate_phone.apps.shim.process import core_of
from droidgate_phone.intents import Bundle, Intent

TOOL_SERVICE: Final = "dev.droidgate.shim.frontends.ToolService"
EXTRA_CALLBACK: Final = "mcp_callback"
_REQUEST: Final = 1
_RESPONSE: Final = 2
_FIRST_WITH_FACTS: Final = 31
"""API level from which Android reports whether a PendingIntent is an activity's, and immutable."""

_IMMUTABLE: Final = Failure(
    "invalid_argument", "the callback is immutable, so it cannot carry the answer; make it with FLAG_MUTABLE"
)


class ToolService(Service):
    """What Mobile-MCP agents bind and start."""

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        """Return what handles requests."""
        del intent
        return self._handle

    def _handle(self, message: Message) -> None:
        reply_to = message.reply_to
        if message.what != _REQUEST or reply_to is None:
            return
        core = core_of(self.context)

        def deliver(extras: Mapping[str, str], token: str | None) -> None:
            del token
            if not extras:
                return
            try:
                self.context.send_message(reply_to, Message(_RESPONSE, Bundle.of_strings(extras)))
            except AndroidError:
                # The agent left before its answer.
                return

        origin = origin_of(core.platform, message.sending_uid)
        core.receive("bind", origin, texts_of(message.data), deliver, caller_token=reply_to)

    def on_start_command(self, intent: Intent) -> int | None:
        """Take a request; its callback's creator is where the answer goes, and no more."""
        core = core_of(self.context)
        callback = _callback_of(intent)
        facts = None if callback is None else core.platform.look_at_pending_intent(callback)
        has_facts = core.platform.sdk >= _FIRST_WITH_FACTS
        if callback is None or facts is None or (has_facts and facts.is_activity):
            # Nobody would learn what was done.
            self._acknowledge(intent)
            return None
        is_immutable = has_facts and facts.is_immutable

        def deliver(extras: Mapping[str, str], token: str | None) -> None:
            del token
            if extras or is_immutable:
                self._send(callback, extras)
            self._acknowledge(intent)

        origin = origin_of_start(core.platform, facts.creator_uid)
        obstacle = _IMMUTABLE if is_immutable else None
        core.receive("start", origin, texts_of(intent.extras), deliver, obstacle=obstacle)
        return START_REDELIVER_INTENT

    def on_redelivered(self, intent: Intent) -> int | None:
        """Answer a start that the process of before left open; one that it never began is taken anew."""
        answer = core_of(self.context).interrupt(texts_of(intent.extras))
        callback = _callback_of(intent)
        if answer is None or callback is None:
            return self.on_start_command(intent)
        self._send(callback, answer)
        self._acknowledge(intent)
        return None

    def _send(self, callback: str, extras: Mapping[str, str]) -> None:
        try:
            self.context.send_pending_intent(callback, Intent(extras=Bundle.of_strings(extras)))
        except AndroidError:
            # The agent withdrew its callback.
            return

    def _acknowledge(self, intent: Intent) -> None:
        """Let go of a start when what handles it has returned."""
        platform = self.context.platform
        platform.post(lambda: platform.acknowledge_start(TOOL_SERVICE, intent))


def _callback_of(intent: Intent) -> str | None:
    found = intent.extras.values.get(EXTRA_CALLBACK)
    return str(found.value) if found is not None and found.kind == "pending-intent" else None
