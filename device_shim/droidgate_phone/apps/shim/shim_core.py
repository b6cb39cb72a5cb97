"""The shim's process: requests to the engine, and its effects to what carries them out (shim.md 5).

Everything here runs on the main thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.apps.shim.caller_grants import POLICY, ROUTES, Caller, Grants
from droidgate_phone.apps.shim.installed_targets import Installed
from droidgate_phone.apps.shim.kept_calls import History, OpenJournal
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.system.behaviour import Context
from droidgate_shim.engine.authority import Carrier, parse_policy
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, write_answer, write_outgoing
from droidgate_shim.engine.engine import Answer, Ask, Drop, Effect, Engine, Send, refuse
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import answer_journal_entry, write_journal_entry
from droidgate_shim.engine.routes import CapabilityBackend, RouteTable, ToolBackend, parse_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict

_LEFT_SECONDS: Final = 30.0
"""How long after a restart the journal of before is kept for those who come again."""

MOST_WAITING: Final = 64
"""Requests that wait for a discovery before the engine takes them."""

MOST_WAITING_OF_CALLER: Final = 8
"""Those of one caller: as many as may be open, which in Java limits those that wait, too."""

_FULL: Final = Failure("busy", "this app has too many requests waiting; retry in 1 s")
CALLER_GONE: Final = Failure("canceled", "the caller ended the call")

Deliver = Callable[[Mapping[str, str], str | None], None]
"""Takes an answer's extras and the failure's token, None for a success."""


@dataclass(slots=True, eq=False)
class Reply:
    """One request that came in, and where its answer goes; the engine's `reply_to`.

    Attributes:
        carrier: How it came.
        caller: Its caller.
        capability: What it asks for; empty where that cannot be read.
        began: When it came, in seconds.
        deliver: Takes its answer.
        call: The engine's call, once it is open.
        stage: How far it has come: `waiting`, `window` (the window that calls its app is not open) or `app`.
        trace: What went to the app and came from it (shim.md 7); None where no trace is requested.
        is_answered: Its answer has gone.
        on_end: What runs after its answer.
    """

    carrier: Carrier
    caller: Caller
    capability: str
    began: float
    deliver: Deliver
    call: int | None = None
    stage: str = "waiting"
    trace: dict[str, Json] | None = None
    is_answered: bool = False
    on_end: list[Callable[[], None]] = field(default_factory=list)


class Core(ABC):
    """One process of one shim, without what carries out the engine's effects (`shim_process.ShimProcess`).

    Attributes:
        context: Its context.
        table: The routes.
        app: What the policy holds for the app.
        engine: The engine.
        grants: What the user granted and switched off.
        history: The last calls.
    """

    def __init__(self, context: Context) -> None:
        self.context = context
        self.platform = context.platform
        policy_text = _asset(context, POLICY)
        policy = parse_policy(policy_text)
        document = parse_strict(policy_text, path=POLICY, limits=BUILT)
        app = document.get("app") if isinstance(document, dict) else None
        self.app: Mapping[str, Json] = app if isinstance(app, dict) else {}
        self.table: RouteTable = parse_route_table(_asset(context, ROUTES))
        self.grants = Grants(context.files, policy.switched_off)
        self.history = History(context.files)
        self.journal = OpenJournal(context.files)
        self.installed = Installed(self.table, self.platform)
        self.engine = Engine(self.table, policy, self.installed)
        self._waiting: list[Reply] = []
        self._traced: dict[int, Reply] = {}
        self._cancel_timer: Callable[[], None] | None = None
        self.platform.after(_LEFT_SECONDS, self._forget_left)

    @abstractmethod
    def ask_user(self, ask: Ask, reply: Reply) -> Failure | None:
        """Ask the user about a call; return why nobody is asked, None where the user is."""

    @abstractmethod
    def discover(self, component: ComponentName, then: Callable[[], None]) -> None:
        """Ask a receiver for its tools, and go on when it has answered or does not."""

    @abstractmethod
    def send(self, send: Send, reply: Reply) -> None:
        """Bring a call to its backend."""

    def now(self) -> int:
        """Return the phone's time in ms."""
        return round(self.context.now() * 1000)

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
            self._prepare(reply, extras, approved=approved)
        return reply

    def _watch(self, reply: Reply, caller_token: str) -> bool:
        """End a call when its caller's process dies; return whether that process lives."""
        try:
            unlink = self.platform.link_to_death(caller_token, lambda: self.end(reply, CALLER_GONE))
        except AndroidError:
            self.end(reply, CALLER_GONE)
            return False
        reply.on_end.append(unlink)
        return True

    def _prepare(self, reply: Reply, extras: Mapping[str, Json], *, approved: bool) -> None:
        """Hand a request to the engine, after its target was asked where only that knows its descriptor."""

        def go_on() -> None:
            if reply.is_answered:
                return
            self._take_off(reply)
            self._use_policy(reply)
            effects = self.engine.receive(
                self.now(),
                reply.carrier,
                reply.caller.uid,
                extras,
                reply,
                approved=approved,
                asks=self.grants.is_asking,
            )
            self.carry_out(effects)

        component = self._to_discover(reply)
        if component is None or not (approved or self.grants.is_asking or self._may_have_grant(reply)):
            go_on()
        elif self._has_room(reply):
            self._waiting.append(reply)
            reply.on_end.append(lambda: self._take_off(reply))
            self.discover(component, go_on)
        else:
            self.carry_out([refuse(reply.carrier, extras, reply, _FULL)])

    def _has_room(self, reply: Reply) -> bool:
        line = (reply.carrier, reply.caller.uid)
        own = [other for other in self._waiting if (other.carrier, other.caller.uid) == line]
        return len(own) < MOST_WAITING_OF_CALLER and len(self._waiting) < MOST_WAITING

    def _take_off(self, reply: Reply) -> None:
        if reply in self._waiting:
            self._waiting.remove(reply)

    def _may_have_grant(self, reply: Reply) -> bool:
        policy = self.grants.policy_for(reply.caller)
        route = self.table.routes[reply.capability].route
        return policy.is_granted(route, reply.carrier, reply.caller.uid)

    def _use_policy(self, reply: Reply) -> None:
        self.engine.use_policy(self.grants.policy_for(reply.caller))

    def carry_out(self, effects: list[Effect]) -> None:
        """Do what the engine decided, and set the next deadline.

        A call is in the journal before it goes out, and until it is answered.
        """
        self._keep_journal()
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
                self._ask(effect, reply)
            else:
                reply.call = effect.call
                self._keep_sent(effect, reply)
                self.send(effect, reply)
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

    def _ask(self, ask: Ask, reply: Reply) -> None:
        refusal = self.ask_user(ask, reply)
        if refusal is not None:
            self.decided(reply, refusal)

    def decided(self, reply: Reply, refusal: Failure | None) -> None:
        """Take the user's decision about a call, as `Engine.decided` does."""
        call = reply.call
        if call is None:
            return

        def go_on() -> None:
            self._use_policy(reply)
            self.carry_out(self.engine.decided(self.now(), call, refusal))

        # Its app may have been updated while the user was asked.
        component = None if refusal is not None else self._to_discover(reply)
        if component is None:
            go_on()
        else:
            self.discover(component, go_on)

    def _to_discover(self, reply: Reply) -> ComponentName | None:
        """Return the component that has to be asked before a request's target can be compared."""
        prepared = self.table.routes.get(reply.capability)
        return None if prepared is None else self.installed.to_discover(prepared.route.target)

    def may_leave(self, send: Send, reply: Reply) -> bool:
        """Check a call for the last time, just before it leaves this app; end one that may not."""
        if reply.is_answered:
            return False
        policy = self.grants.policy_for(reply.caller)
        try:
            send.permission.check(policy, self.installed(send.target))
        except CallError as error:
            self.fail(send.call, error.failure.token, error.failure.text)
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
        traced = self._traced.get(call)
        if traced is not None and traced.trace is not None:
            traced.trace["answers"].append(write_answer(answer))
        self.carry_out(self.engine.answered(self.now(), call, answer))

    def fail(self, call: int, token: str, message: str) -> None:
        """End a call that could not be brought to its backend."""
        traced = self._traced.get(call)
        if traced is not None and traced.trace is not None:
            traced.trace["answers"].append({"failure": {"token": token, "message": message}})
        self.carry_out(self.engine.fail(self.now(), call, Failure(token, message)))

    def end(self, reply: Reply, failure: Failure) -> None:
        """End a request, also one that the engine has not taken."""
        self._answer(reply, {}, failure.token)
        if reply.call is not None:
            self.carry_out(self.engine.fail(self.now(), reply.call, failure))

    def give_up(self, reply: Reply) -> None:
        """End a request whose caller waits no longer, also one that the engine has not taken."""
        self.carry_out(self.engine.give_up(self.now(), reply))
        self._answer(reply, {}, "timeout")

    def interrupt(self, extras: Mapping[str, Json]) -> Mapping[str, str] | None:
        """Return the answer to a request that the process of before did not finish; None for any other."""
        request = read_incoming("start", extras).request
        entry = None if request is None else write_journal_entry(request)
        if entry is None or not self.journal.take(entry):
            return None
        self.journal.keep(self.engine.journal())
        return answer_journal_entry(entry)

    def open_count(self) -> int:
        """Return how many calls are open."""
        return self.engine.open_count()

    def _settle(self) -> None:
        self._keep_journal()
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        deadline = self.engine.next_deadline()
        if deadline is not None:
            self._cancel_timer = self.platform.after((deadline - self.now()) / 1000, self._expire)

    def _keep_journal(self) -> None:
        """Write the journal where the set of open calls has changed."""
        self.journal.keep(self.engine.journal())

    def _expire(self) -> None:
        self.carry_out(self.engine.expire(self.now()))

    def _forget_left(self) -> None:
        self.journal.forget_left()
        self.journal.keep(self.engine.journal())


def _asset(context: Context, path: str) -> str:
    return (context.read_raw(path) or b"").decode()
