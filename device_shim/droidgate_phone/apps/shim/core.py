"""The shim's process: requests to the engine, its effects to what carries them out.

Everything here runs on the main thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_phone.app_api.behaviour import Context
from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.apps.shim.identity import GrantStore, Origin
from droidgate_phone.apps.shim.recognition import POLICY, ROUTES
from droidgate_phone.apps.shim.records import CallRecord, History, Journal, Settings
from droidgate_phone.apps.shim.targets import TargetReader
from droidgate_phone.intents import ComponentName
from droidgate_shim.engine.authority import Carrier, parse_policy
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, write_answer, write_outgoing
from droidgate_shim.engine.engine import Answer, Ask, Drop, Effect, Engine, Send, refuse
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import answer_journal_entry, write_journal_entry
from droidgate_shim.engine.routes import FunctionBackend, RouteTable, parse_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict

_LEFT_SECONDS: Final = 30.0
"""How long after a restart the journal of before is kept for those who come again."""

MOST_WAITING: Final = 64
"""Requests that wait for a discovery before the engine takes them."""

MOST_WAITING_OF_CALLER: Final = 8
"""Those of one caller."""

_BUSY: Final = "busy"
_FULL: Final = Failure(_BUSY, "this app has too many requests waiting; retry in 1 s")
_CALLER_GONE: Final = Failure("canceled", "the app that called has stopped")

Deliver = Callable[[Mapping[str, str], str | None], None]
"""Takes an answer's extras and the failure's token, None for a success."""


@dataclass(slots=True, eq=False)
class Receipt:
    """One request that came in, and where its answer goes; the engine's `reply_to`.

    Attributes:
        carrier: How it came.
        origin: Its caller.
        capability: What it asks for; empty where that cannot be read.
        began: When it came, in seconds.
        deliver: Takes its answer.
        call: The engine's call, once it is open.
        stage: How far it has come: `waiting`, `window` (the window that calls its app is not open) or `app`.
        trace: What went to the app and came from it (docs/shim.md 7); None where nobody wants to know.
        is_answered: Its answer has gone.
        on_end: What runs after its answer.
    """

    carrier: Carrier
    origin: Origin
    capability: str
    began: float
    deliver: Deliver
    call: int | None = None
    stage: str = "waiting"
    trace: dict[str, Json] | None = None
    is_answered: bool = False
    on_end: list[Callable[[], None]] = field(default_factory=list)


class Core(ABC):
    """One process of one shim, without what carries out the engine's effects (`process.ShimProcess`).

    Attributes:
        context: Its context.
        table: The routes.
        app: What the policy holds for the app.
        engine: The engine.
        grants: What the user granted.
        settings: Switches.
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
        self.grants = GrantStore(context.files)
        self.settings = Settings(context.files, policy.switched_off)
        self.history = History(context.files)
        self.journal = Journal(context.files)
        self.targets = TargetReader(self.table, self.platform)
        self.engine = Engine(self.table, policy, self.targets)
        self._waiting: list[Receipt] = []
        self._traced: dict[int, Receipt] = {}
        self._cancel_timer: Callable[[], None] | None = None
        self.platform.after(_LEFT_SECONDS, self._forget_left)

    @abstractmethod
    def ask_user(self, ask: Ask, receipt: Receipt) -> Failure | None:
        """Ask the user about a call; return why nobody is asked, None where the user is."""

    @abstractmethod
    def discover(self, component: ComponentName, then: Callable[[], None]) -> None:
        """Ask a receiver for its tools, and go on when it has answered or does not."""

    @abstractmethod
    def send(self, send: Send, receipt: Receipt) -> None:
        """Bring a call to its backend."""

    def now(self) -> int:
        """Return the phone's time in ms."""
        return round(self.context.now() * 1000)

    def receive(
        self,
        carrier: Carrier,
        origin: Origin,
        extras: Mapping[str, Json],
        deliver: Deliver,
        *,
        approved: bool = False,
        caller_token: str | None = None,
        obstacle: Failure | None = None,
        trace: dict[str, Json] | None = None,
    ) -> Receipt:
        """Receive a request.

        Args:
            carrier: How it came.
            origin: Its caller.
            extras: What came.
            deliver: Takes its answer.
            approved: It needs no grant.
            caller_token: The caller's Messenger; when its process dies, the call ends.
            obstacle: Why it goes no further than its rate, such as an answer that could not be sent.
            trace: Gets what goes to the app and comes from it, until the answer.
        """
        receipt = Receipt(carrier, origin, "", self.context.now(), deliver, trace=trace)
        refused = self.engine.admit(self.now(), carrier, origin.uid, extras, receipt)
        if refused:
            self.carry_out(refused)
            return receipt
        request = read_incoming(carrier, extras).request
        receipt.capability = "" if request is None else request.capability_id
        if obstacle is not None:
            self._answer(receipt, {}, obstacle.token)
        elif caller_token is None or self._watch(receipt, caller_token):
            self._prepare(receipt, extras, approved=approved)
        return receipt

    def _watch(self, receipt: Receipt, caller_token: str) -> bool:
        """End a call when its caller's process dies; return whether that process lives."""
        try:
            unlink = self.platform.link_to_death(caller_token, lambda: self.end(receipt, _CALLER_GONE))
        except AndroidError:
            self.end(receipt, _CALLER_GONE)
            return False
        receipt.on_end.append(unlink)
        return True

    def _prepare(self, receipt: Receipt, extras: Mapping[str, Json], *, approved: bool) -> None:
        """Hand a request to the engine, after its target was asked where only that knows its descriptor."""

        def go_on() -> None:
            if receipt.is_answered:
                return
            self._take_off(receipt)
            self._use_policy(receipt)
            effects = self.engine.receive(
                self.now(),
                receipt.carrier,
                receipt.origin.uid,
                extras,
                receipt,
                approved=approved,
                asks=self.settings.asking,
            )
            self.carry_out(effects)

        component = self._to_discover(receipt)
        if component is None or not (approved or self.settings.asking or self._may_have_grant(receipt)):
            go_on()
        elif self._has_room(receipt):
            self._waiting.append(receipt)
            receipt.on_end.append(lambda: self._take_off(receipt))
            self.discover(component, go_on)
        else:
            self.carry_out([refuse(receipt.carrier, extras, receipt, _FULL)])

    def _has_room(self, receipt: Receipt) -> bool:
        caller = (receipt.carrier, receipt.origin.uid)
        own = [other for other in self._waiting if (other.carrier, other.origin.uid) == caller]
        return len(own) < MOST_WAITING_OF_CALLER and len(self._waiting) < MOST_WAITING

    def _take_off(self, receipt: Receipt) -> None:
        if receipt in self._waiting:
            self._waiting.remove(receipt)

    def _may_have_grant(self, receipt: Receipt) -> bool:
        policy = self.grants.policy_for(receipt.origin, ())
        return policy.is_granted(receipt.carrier, receipt.origin.uid, receipt.capability, is_read_only=True)

    def _use_policy(self, receipt: Receipt) -> None:
        self.engine.use_policy(self.grants.policy_for(receipt.origin, self.settings.switched_off))

    def carry_out(self, effects: list[Effect]) -> None:
        """Do what the engine decided, and set the next deadline.

        A call is in the journal before it goes out, and until it is answered.
        """
        self._keep_journal()
        for effect in effects:
            receipt = effect.reply_to
            if not isinstance(receipt, Receipt):
                continue
            if isinstance(effect, Answer):
                self._answer(receipt, effect.extras, effect.token)
            elif isinstance(effect, Drop):
                self._answer(receipt, {}, effect.failure.token)
            elif isinstance(effect, Ask):
                receipt.call = effect.call
                self._ask(effect, receipt)
            else:
                receipt.call = effect.call
                self._keep_sent(effect, receipt)
                self.send(effect, receipt)
        self._settle()

    def _keep_sent(self, send: Send, receipt: Receipt) -> None:
        """Take note of what goes to an app."""
        receipt.stage = "app"
        if receipt.trace is None:
            return
        backend, outgoing = send.backend, send.outgoing
        receipt.trace |= {
            "to": send.target.package if isinstance(backend, FunctionBackend) else backend.component,
            "id": outgoing.request_id if isinstance(outgoing, ExtrasCall) else None,
            "sent": write_outgoing(outgoing),
            "origin": receipt.origin.extras(),
            "answers": [],
        }
        self._traced[send.call] = receipt

        def forget() -> None:
            del self._traced[send.call]

        receipt.on_end.append(forget)

    def _ask(self, ask: Ask, receipt: Receipt) -> None:
        refusal = self.ask_user(ask, receipt)
        if refusal is not None:
            self.decided(receipt, refusal)

    def decided(self, receipt: Receipt, refusal: Failure | None) -> None:
        """Take the user's decision about a call: None for a yes, else its failure."""
        call = receipt.call
        if call is None:
            return

        def go_on() -> None:
            self._use_policy(receipt)
            self.carry_out(self.engine.decided(self.now(), call, refusal))

        # Its app may have been updated while the user was asked.
        component = None if refusal is not None else self._to_discover(receipt)
        if component is None:
            go_on()
        else:
            self.discover(component, go_on)

    def _to_discover(self, receipt: Receipt) -> ComponentName | None:
        """Return the component that has to be asked before a request's target can be compared."""
        prepared = self.table.routes.get(receipt.capability)
        return None if prepared is None else self.targets.to_discover(prepared.route.target)

    def may_leave(self, send: Send, receipt: Receipt) -> bool:
        """Check a call for the last time, just before it leaves this app; end one that may not."""
        if receipt.is_answered:
            return False
        policy = self.grants.policy_for(receipt.origin, self.settings.switched_off)
        try:
            send.permission.check(policy, self.targets(send.target))
        except CallError as error:
            self.fail(send.call, error.failure.token, error.failure.text)
            return False
        return True

    def _answer(self, receipt: Receipt, extras: Mapping[str, str], token: str | None) -> None:
        if receipt.is_answered:
            return
        receipt.is_answered = True
        if token != _BUSY:
            elapsed = round((self.context.now() - receipt.began) * 1000)
            began = round(receipt.began * 1000)
            self.history.add(CallRecord(began, receipt.origin.name, receipt.capability, token, elapsed))
        receipt.deliver(extras, token)
        for end in receipt.on_end:
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

    def end(self, receipt: Receipt, failure: Failure) -> None:
        """End a request, also one that the engine has not taken."""
        if receipt.call is not None:
            self.carry_out(self.engine.fail(self.now(), receipt.call, failure))
        else:
            self._answer(receipt, {}, failure.token)

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
