"""One process of a shim: requests to the engine, and its effects to what carries them out (shim.md 5).

Everything here runs on the main thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.apps.shim.backend_calls import AppFunctions, Backends
from droidgate_phone.apps.shim.borrowed_permission import ShellIdentity
from droidgate_phone.apps.shim.call_control import CallControl, Deliver, Reply
from droidgate_phone.apps.shim.caller_grants import POLICY, ROUTES, Caller, Grants
from droidgate_phone.apps.shim.consent import Consent
from droidgate_phone.apps.shim.installed_targets import Installed
from droidgate_phone.apps.shim.kept_calls import History
from droidgate_phone.apps.shim.mobile_mcp_caller import MobileMcpCaller
from droidgate_phone.apps.shim.receiver_calls import Broadcasts
from droidgate_phone.apps.shim.screen_calls import ScreenCalls
from droidgate_phone.apps.shim.shim_discovery import Discoveries
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system.behaviour import Context
from droidgate_shim.engine.authority import Carrier, parse_policy
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, write_answer, write_outgoing
from droidgate_shim.engine.engine import CANCELED, Answer, Ask, Drop, Effect, Engine, Send
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.routes import CapabilityBackend, ToolBackend, parse_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict


class Shim(CallControl):
    """What the components of the app share: the engine with its edges, wired once in a process.

    Attributes:
        app: What the policy holds for the app.
        engine: The engine.
        history: The last calls.
        discoveries: What receivers declared.
        consent: Asks the user.
        screen: Calls that need the screen.
        shell_identity: The borrowed right to call app functions.
        backends: Carries calls to their apps.
        host_calls: The computer's open calls, by the ids that it gave them.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        # What a process before this one has asked for, nobody waits for any more.
        self.platform.cancel_notifications()
        policy_text = _asset(context, POLICY)
        policy = parse_policy(policy_text)
        document = parse_strict(policy_text, path=POLICY, limits=BUILT)
        app = document.get("app") if isinstance(document, dict) else None
        self.app: Mapping[str, Json] = app if isinstance(app, dict) else {}
        self.table = parse_route_table(_asset(context, ROUTES))
        self.grants = Grants(context.files, policy.switched_off)
        self.history = History(context.files)
        self.installed = Installed(self.table, self.platform)
        self.discoveries = Discoveries(self)
        self.consent = Consent(self)
        self.screen = ScreenCalls(self)
        self.shell_identity = ShellIdentity(self.platform)
        self.backends = Backends(
            self.screen,
            Broadcasts(self, self.discoveries),
            AppFunctions(self, self.shell_identity),
            MobileMcpCaller(self),
        )
        self.host_calls: dict[str, Reply] = {}
        self.engine = Engine(self.table, policy, self.installed.now)
        self._traced: dict[int, Reply] = {}
        self._cancel_timer: Callable[[], None] | None = None

    @staticmethod
    def of(context: Context) -> Shim:
        """Return the shim of a component's process, made when it is first needed."""
        statics = context.platform.statics
        shim = statics.get(_STATIC)
        if not isinstance(shim, Shim):
            shim = statics[_STATIC] = Shim(context)
        return shim

    def receive(
        self,
        carrier: Carrier,
        caller: Caller,
        extras: Mapping[str, Json],
        deliver: Deliver,
        *,
        approved: bool = False,
        caller_token: str | None = None,
        obstacle: Failure | None = None,
        trace: dict[str, Json] | None = None,
    ) -> Reply:
        """Receive a request.

        Args:
            carrier: How it came.
            caller: Its caller.
            extras: What came.
            deliver: Takes its answer.
            approved: It needs no grant.
            caller_token: The caller's Messenger; when its process dies, the call ends.
            obstacle: Why it goes no further than its rate, such as an answer that could not be sent.
            trace: Gets what goes to the app and comes from it, until the answer.
        """
        reply = Reply(carrier, caller, "", self.context.now(), deliver, trace=trace)
        refused = self.engine.admit(self.now(), carrier, caller.uid, extras, reply)
        if refused:
            self.carry_out(refused)
            return reply
        request = read_incoming(carrier, extras).request
        reply.capability = "" if request is None else request.capability_id
        if obstacle is not None:
            self._answer(reply, {}, obstacle.token)
        elif caller_token is None or self._watch(reply, caller_token):
            self._use_policy(reply)
            effects = self.engine.receive(
                self.now(),
                carrier,
                caller.uid,
                extras,
                reply,
                approved=approved,
                is_asking=self.grants.is_asking,
            )
            self.carry_out(effects)
        return reply

    def _watch(self, reply: Reply, caller_token: str) -> bool:
        """End a call when its caller's process dies; return whether that process lives."""
        try:
            unlink = self.platform.link_to_death(caller_token, lambda: self.end(reply, CANCELED))
        except AndroidError:
            self.end(reply, CANCELED)
            return False
        reply.on_end.append(unlink)
        return True

    def _use_policy(self, reply: Reply) -> None:
        self.engine.use_policy(self.grants.policy_for(reply.caller))

    def carry_out(self, effects: list[Effect]) -> None:
        """Do what the engine decided, and set the next deadline."""
        for effect in effects:
            reply = effect.reply_to
            if not isinstance(reply, Reply):
                continue
            if isinstance(effect, Answer):
                self._answer(reply, effect.extras, effect.token)
            elif isinstance(effect, Drop):
                self._answer(reply, {}, effect.failure.token)
            elif isinstance(effect, Ask):
                reply.call = effect.call
                refusal = self.consent.ask(effect, reply)
                if refusal is not None:
                    self.decided(reply, refusal)
            else:
                reply.call = effect.call
                self._keep_sent(effect, reply)
                self.backends.call(effect, reply)
        self._settle()

    def _keep_sent(self, send: Send, reply: Reply) -> None:
        """Take note of what goes to an app."""
        reply.stage = "app"
        if reply.trace is None:
            return
        backend, outgoing = send.backend, send.outgoing
        reply.trace |= {
            "to": backend.component
            if isinstance(backend, ToolBackend | CapabilityBackend)
            else send.target.package,
            "id": outgoing.request_id if isinstance(outgoing, ExtrasCall) else None,
            "sent": write_outgoing(outgoing),
            "origin": reply.caller.extras(),
            "answers": [],
        }
        self._traced[send.call] = reply

        def forget() -> None:
            del self._traced[send.call]

        reply.on_end.append(forget)

    def decided(self, reply: Reply, refusal: Failure | None) -> None:
        """Take the user's decision about a call, as `Engine.decided` does."""
        if reply.call is not None:
            self._use_policy(reply)
            self.carry_out(self.engine.decided(self.now(), reply.call, refusal))

    def may_leave(self, send: Send, reply: Reply) -> bool:
        """Check a call for the last time, just before it leaves this app; end one that may not."""
        if reply.is_answered:
            return False
        policy = self.grants.policy_for(reply.caller)
        try:
            send.permission.check(policy, self.installed.now(send.target))
        except CallError as error:
            self.fail(send.call, error.failure)
            return False
        return True

    def _answer(self, reply: Reply, extras: Mapping[str, str], token: str | None) -> None:
        if reply.is_answered:
            return
        reply.is_answered = True
        elapsed = self.context.now() - reply.began
        self.history.add(reply.began, reply.caller.name, reply.capability, token, elapsed)
        reply.deliver(extras, token)
        for end in reply.on_end:
            end()

    def answered(self, call: int, answer: BackendAnswer) -> None:
        """Take a backend's answer, which changes nothing if it is late."""
        self._came(call, write_answer(answer))
        self.carry_out(self.engine.answered(self.now(), call, answer))

    def fail(self, call: int, failure: Failure) -> None:
        """End a call that could not be brought to its backend."""
        self._came(call, {"failure": {"token": failure.token, "message": failure.text}})
        self.carry_out(self.engine.fail(self.now(), call, failure))

    def _came(self, call: int, answer: Mapping[str, Json]) -> None:
        """Take note of what came from an app."""
        traced = self._traced.get(call)
        if traced is not None and traced.trace is not None:
            traced.trace["answers"].append(answer)

    def end(self, reply: Reply, failure: Failure) -> None:
        """End a request, also one that the engine has not taken."""
        self._answer(reply, {}, failure.token)
        if reply.call is not None:
            self.carry_out(self.engine.fail(self.now(), reply.call, failure))

    def give_up(self, reply: Reply) -> None:
        """End a request whose caller waits no longer, also one that the engine has not taken."""
        self.carry_out(self.engine.give_up(self.now(), reply))
        self._answer(reply, {}, "timeout")

    def open_count(self) -> int:
        """Return how many calls are open."""
        return self.engine.open_count()

    def _settle(self) -> None:
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        deadline = self.engine.next_deadline()
        if deadline is not None:
            self._cancel_timer = self.platform.after((deadline - self.now()) / 1000, self._expire)

    def _expire(self) -> None:
        self.carry_out(self.engine.expire(self.now()))


_STATIC: Final = "dev.droidgate.shim.Shim"


def _asset(context: Context, path: str) -> str:
    return (context.read_raw(path) or b"").decode()
