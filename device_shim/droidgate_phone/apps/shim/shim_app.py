"""The behaviour of each class of the shim's APK: the services and activities of shim.md 2 to 4, and the
user's screen with grants, switches and history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.borrowed_permission import SHELL_SERVICE
from droidgate_phone.apps.shim.caller_grants import HOST_PROVIDER, caller_of_start, caller_of_uid
from droidgate_phone.apps.shim.consent import CONSENT
from droidgate_phone.apps.shim.consent_screen import ConsentActivity
from droidgate_phone.apps.shim.extras import texts_of
from droidgate_phone.apps.shim.frontends import FunctionService, MmcpActivity, MmcpReceiver
from droidgate_phone.apps.shim.host_provider import HostProvider
from droidgate_phone.apps.shim.mobile_mcp_caller import EXTRA_CALLBACK, MESSAGE_INVOKE, MESSAGE_RESULT
from droidgate_phone.apps.shim.openers import number_of
from droidgate_phone.apps.shim.screen_calls import TRAMPOLINE, ScreenCall
from droidgate_phone.apps.shim.shell_service import (
    INSTRUMENTATION,
    ShellIdentityInstrumentation,
    ShellIdentityService,
)
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.apps.shim.shown_text import Texts
from droidgate_phone.java.app_values import ActivityResult, AndroidError, Message, View
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.system.behaviour import START_REDELIVER_INTENT, Activity, App, Service
from droidgate_shim.engine.authority import EVERYTHING, Carrier
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import write_failure
from droidgate_shim.engine.routes import AppActionBackend

_RESULT_OK: Final = -1


class TrampolineActivity(Activity):
    """Starts one tool for its result, or opens one screen; shows nothing of its own."""

    call: ScreenCall | None = None

    def on_create(self, intent: Intent) -> None:
        """Start the tool of the call that it was opened for."""
        shim = Shim.of(self.context)
        self.call = call = shim.screen.opened(number_of(intent), self.end)
        if call is None:
            self.finish()
            return
        if not shim.may_leave(call.send, call.reply):
            return
        begun = self.context.now()

        def receive(result: ActivityResult) -> None:
            shim.screen.finish(call, result, self.context.now() - begun)

        reports = not isinstance(call.send.backend, AppActionBackend)
        try:
            self.context.start_activity(call.intent, receive if reports else None)
        except AndroidError as error:
            shim.screen.fail(call, error.message)
            return
        if not reports:
            shim.screen.finish(call, ActivityResult(_RESULT_OK), 0)

    def end(self) -> None:
        """Leave the screen."""
        self.context.platform.finish_activity()


_SHOWN_CALLS: Final = 20


class ManageActivity(Activity):
    """What the user sees and changes; views are numbered in the order in which they are shown."""

    def view(self) -> View:
        """Return grants, switches and history."""
        shim = Shim.of(self.context)
        children = [View("switch", "asking", Texts.ASKING, checked=shim.grants.is_asking)]
        for number, grant in enumerate(shim.grants.all()):
            what = Texts.EVERYTHING if grant.capability == EVERYTHING else grant.capability
            text = f"{grant.package or Texts.ANY_APP}: {what}"
            children.append(View("text", f"grant_{number}", text))
            children.append(View("button", f"revoke_{number}", Texts.REVOKE))
        for number, capability in enumerate(shim.table.routes):
            on = capability not in shim.grants.switched_off
            children.append(View("switch", f"switch_{number}", capability, checked=on))
        for number, call in enumerate(reversed(shim.history.all()[-_SHOWN_CALLS:])):
            if isinstance(call, dict):
                label = f"{call['caller'] or Texts.UNNAMED_CALLER}: {call['capability']}"
                text = f"{label}: {call['token'] or Texts.SUCCESS} ({call['ms']} ms)"
                children.append(View("text", f"call_{number}", text))
        children.append(View("button", "clear", Texts.CLEAR))
        return View("column", children=tuple(children))

    def on_click(self, view_id: str) -> None:
        """Revoke, switch or clear."""
        shim = Shim.of(self.context)
        name, _, number = view_id.partition("_")
        if view_id == "clear":
            shim.history.clear()
        elif view_id == "asking":
            shim.grants.ask(on=not shim.grants.is_asking)
        elif name == "revoke" and number.isdecimal() and int(number) < len(shim.grants.all()):
            grant = shim.grants.all()[int(number)]
            shim.grants.remove(grant.package, grant.capability)
        elif name == "switch" and number.isdecimal() and int(number) < len(shim.table.routes):
            capability = list(shim.table.routes)[int(number)]
            shim.grants.turn(capability, on=capability in shim.grants.switched_off)


_SHORT: Final = 8_192
"""UTF-16 units of an answer that a shorter one would not help."""

TOOL_SERVICE: Final = "dev.droidgate.shim.frontends.ToolService"
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
        if message.what != MESSAGE_INVOKE or reply_to is None:
            return
        shim = Shim.of(self.context)

        request = texts_of(message.data)

        def send(extras: Mapping[str, str]) -> None:
            self.context.send_message(reply_to, Message(MESSAGE_RESULT, Bundle.of_strings(extras)))

        def deliver(extras: Mapping[str, str], token: str | None) -> None:
            del token
            if extras:
                _deliver(send, extras, "bind", request)

        caller = caller_of_uid(shim.platform, message.sending_uid)
        shim.receive("bind", caller, request, deliver, caller_token=reply_to)

    def on_start_command(self, intent: Intent) -> int | None:
        """Take a request; its callback's creator is where the answer goes, and no more."""
        shim = Shim.of(self.context)
        callback = _callback_of(intent)
        facts = None if callback is None else shim.platform.look_at_pending_intent(callback)
        has_facts = shim.platform.sdk >= _FIRST_WITH_FACTS
        if callback is None or facts is None or (has_facts and facts.is_activity):
            # Nobody would learn what was done.
            self._acknowledge(intent)
            return None
        is_immutable = has_facts and facts.is_immutable
        request = texts_of(intent.extras)

        def deliver(extras: Mapping[str, str], token: str | None) -> None:
            del token
            if extras or is_immutable:
                self._send(callback, extras, request)
            self._acknowledge(intent)

        caller = caller_of_start(shim.platform, facts.creator_uid)
        obstacle = _IMMUTABLE if is_immutable else None
        shim.receive("start", caller, request, deliver, obstacle=obstacle)
        return START_REDELIVER_INTENT

    def _send(self, callback: str, extras: Mapping[str, str], request: Mapping[str, Json]) -> None:
        def send(answer: Mapping[str, str]) -> None:
            self.context.send_pending_intent(callback, Intent(extras=Bundle.of_strings(answer)))

        _deliver(send, extras, "start", request)

    def _acknowledge(self, intent: Intent) -> None:
        """Let go of a start when what handles it has returned."""
        platform = self.context.platform
        platform.post(lambda: platform.acknowledge_start(TOOL_SERVICE, intent))


def _deliver(
    send: Callable[[Mapping[str, str]], None],
    extras: Mapping[str, str],
    carrier: Carrier,
    request: Mapping[str, Json],
) -> None:
    """Send an answer; in place of a long one that Android does not deliver, a short failure."""
    units = sum(map(utf16_length, extras.values()))
    read = read_incoming(carrier, request).request
    try:
        send(extras)
    except AndroidError:
        # The agent has no room for it, left before its answer or withdrew its callback.
        if read is None or units <= _SHORT:
            return
        text = (
            f"the call ran, but Android could not deliver its answer of {units} characters; "
            "ask for less, or for one answer at a time"
        )
        with suppress(AndroidError):
            send(write_failure(read, Failure("malformed_response", text)))


def _callback_of(intent: Intent) -> str | None:
    extra = intent.extras.values.get(EXTRA_CALLBACK)
    return str(extra.value) if extra is not None and extra.kind == "pending-intent" else None


_PACKAGE: Final = "dev.droidgate.shim"


class ShimApp(App):
    """Behaviour of every shim."""

    PACKAGE = _PACKAGE
    SERVICES = {TOOL_SERVICE: ToolService, SHELL_SERVICE: ShellIdentityService}
    ACTIVITIES = {
        TRAMPOLINE: TrampolineActivity,
        CONSENT: ConsentActivity,
        f"{_PACKAGE}.consent.ManageActivity": ManageActivity,
        f"{_PACKAGE}.frontends.MmcpActivity": MmcpActivity,
    }
    RECEIVERS = {f"{_PACKAGE}.frontends.MmcpReceiver": MmcpReceiver}
    PROVIDERS = {HOST_PROVIDER: HostProvider}
    APP_FUNCTION_SERVICES = {f"{_PACKAGE}.frontends.FunctionService": FunctionService}
    INSTRUMENTATIONS = {INSTRUMENTATION: ShellIdentityInstrumentation}
