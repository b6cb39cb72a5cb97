"""The shim's process: requests to the engine, its decisions to whoever carries them out.

Everything here runs on the main thread. One core lives as long as the process; its components find it there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from droidgate.calls.failures import Failure
from droidgate.model.json_values import Json
from droidgate_shim.engine.authority import Carrier, parse_policy
from droidgate_shim.engine.backends import BackendAnswer
from droidgate_shim.engine.engine import Answer, CallHandle, Drop, Effect, Engine, Preview, Send
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import answer_journal_entry, write_journal_entry
from droidgate_shim.engine.routes import RouteTable, parse_route_table
from droidgate_shim.engine.strict_json import BUILT, parse_strict
from droidgate_shim.phone.apps.behaviour import Context
from droidgate_shim.phone.apps.shim.identity import GrantStore, Origin
from droidgate_shim.phone.apps.shim.recognition import POLICY, ROUTES
from droidgate_shim.phone.apps.shim.records import CallRecord, History, Journal, Settings
from droidgate_shim.phone.apps.shim.targets import TargetReader

if TYPE_CHECKING:
    from droidgate_shim.phone.apps.shim.bindings import Bindings
    from droidgate_shim.phone.apps.shim.consent import ConsentDesk
    from droidgate_shim.phone.apps.shim.discovery import Discoveries
    from droidgate_shim.phone.apps.shim.screen import ScreenCalls

_STATIC: Final = "dev.droidgate.shim.Core"
_LEFT_SECONDS: Final = 30.0
"""How long after a restart the journal of before is kept for those who come again."""

Deliver = Callable[[Mapping[str, str], str | None], None]
"""Takes an answer's extras and the failure's token, None for a success."""


@dataclass(slots=True, eq=False)
class Receipt:
    """One request that came in, and where its answer goes; the engine's `reply_to`.

    Attributes:
        origin: Who sent it.
        capability: What it asks for; empty where that cannot be read.
        began: When it came, in seconds.
        deliver: Takes its answer.
        flags: Of the binding that it came through.
        handle: The engine's call, once it has gone out.
    """

    origin: Origin
    capability: str
    began: float
    deliver: Deliver
    handle: CallHandle | None = None


class Core:
    """One process of one shim.

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
        held = parse_strict(policy_text, path=POLICY, limits=BUILT)
        app = held.get("app") if isinstance(held, dict) else None
        self.app: Mapping[str, Json] = app if isinstance(app, dict) else {}
        self.table: RouteTable = parse_route_table(_asset(context, ROUTES))
        self.grants = GrantStore(context.files)
        self.settings = Settings(context.files, policy.switched_off)
        self.history = History(context.files)
        self.journal = Journal(context.files)
        self.targets = TargetReader(self.table, self.platform)
        self.engine = Engine(self.table, policy, self.targets)
        self._cancel_timer: Callable[[], None] | None = None
        self.platform.after(_LEFT_SECONDS, self._forget_left)

    def now(self) -> int:
        """Return the phone's time in ms."""
        return round(self.context.now() * 1000)

    def take(
        self,
        carrier: Carrier,
        origin: Origin,
        extras: Mapping[str, Json],
        deliver: Deliver,
        *,
        approved: bool = False,
    ) -> Receipt:
        """Take a request: ask the user where a grant is missing, then hand it to the engine."""
        incoming = read_incoming(carrier, extras)
        capability = "" if incoming.request is None else incoming.request.capability_id
        receipt = Receipt(origin, capability, self.context.now(), deliver)
        self._use_policy(origin)
        asked = None if approved or not self.settings.asking else self._preview(carrier, origin, extras)
        if asked is None:
            self._enter(carrier, extras, receipt, approved=approved)
            return receipt

        def go_on(refusal: Failure | None) -> None:
            self._enter(carrier, extras, receipt, approved=refusal is None, refusal=refusal)

        not_asked = self.desk.ask(asked, origin, carrier, go_on)
        if not_asked is not None:
            go_on(not_asked)
        return receipt

    def _preview(self, carrier: Carrier, origin: Origin, extras: Mapping[str, Json]) -> Preview | None:
        return self.engine.preview(carrier, origin.uid, extras)

    def _use_policy(self, origin: Origin) -> None:
        self.engine.use_policy(self.grants.policy_for(origin, self.settings.switched_off))

    def _enter(
        self,
        carrier: Carrier,
        extras: Mapping[str, Json],
        receipt: Receipt,
        *,
        approved: bool,
        refusal: Failure | None = None,
    ) -> None:
        """Hand a request to the engine, after its target was asked where only that tells its descriptor."""
        self._use_policy(receipt.origin)
        policy = self.grants.policy_for(receipt.origin, self.settings.switched_off)
        prepared = self.table.routes.get(receipt.capability)
        component = None if prepared is None else self.targets.to_discover(prepared.route.target)
        may_pass = approved or (
            policy.refusal(carrier, receipt.origin.uid, receipt.capability, known=True) is None
        )
        if component is not None and may_pass:
            self.discoveries.ask(
                component, lambda _: self._request(carrier, extras, receipt, approved=approved)
            )
        else:
            self._request(carrier, extras, receipt, approved=approved, refusal=refusal)

    def _request(
        self,
        carrier: Carrier,
        extras: Mapping[str, Json],
        receipt: Receipt,
        *,
        approved: bool,
        refusal: Failure | None = None,
    ) -> None:
        self._use_policy(receipt.origin)
        uid = receipt.origin.uid
        effects = self.engine.request(
            self.now(), carrier, uid, extras, receipt, approved=approved, refusal=refusal
        )
        for one in effects:
            if isinstance(one, Send):
                receipt.handle = one.call
            elif isinstance(one, Drop):
                self._answered(receipt, {}, one.failure.token)
        self.carry_out(effects, receipt)

    def carry_out(self, effects: list[Effect], receipt: Receipt | None = None) -> None:
        """Do what the engine decided, and set the next deadline.

        A call is in the journal before it goes out, and until it is answered.
        """
        if any(isinstance(one, Send) for one in effects):
            self.journal.keep(self.engine.journal())
        for one in effects:
            if isinstance(one, Answer) and isinstance(one.reply_to, Receipt):
                self._answered(one.reply_to, one.extras, one.token)
            elif isinstance(one, Send) and receipt is not None:
                self._send(one, receipt.origin)
        self._settle()

    def _send(self, send: Send, origin: Origin) -> None:
        from droidgate_shim.phone.apps.shim.outgoing import dispatch  # noqa: PLC0415 - they need the core

        dispatch(self, send, origin)

    def _answered(self, receipt: Receipt, extras: Mapping[str, str], token: str | None) -> None:
        elapsed = round((self.context.now() - receipt.began) * 1000)
        self.history.add(
            CallRecord(round(receipt.began * 1000), receipt.origin.name, receipt.capability, token, elapsed)
        )
        receipt.deliver(extras, token)

    def result(self, call: CallHandle, answer: BackendAnswer) -> bool:
        """Take a backend's answer, which changes nothing if it is late; tell whether it ended something."""
        effects = self.engine.result(self.now(), call, answer)
        self.carry_out(effects)
        return bool(effects)

    def fail(self, call: CallHandle, token: str, message: str) -> None:
        """End a call that could not be brought to its backend."""
        self.carry_out(self.engine.fail(self.now(), call, Failure(token, message)))

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
        return self.engine.size[0]

    def _settle(self) -> None:
        self.journal.keep(self.engine.journal())
        if self._cancel_timer is not None:
            self._cancel_timer()
            self._cancel_timer = None
        deadline = self.engine.next_deadline()
        if deadline is not None:
            self._cancel_timer = self.platform.after((deadline - self.now()) / 1000, self._advance)

    def _advance(self) -> None:
        self.carry_out(self.engine.advance(self.now()))

    def _forget_left(self) -> None:
        self.journal.forget_left()
        self.journal.keep(self.engine.journal())

    desk: ConsentDesk
    screen: ScreenCalls
    bindings: Bindings
    discoveries: Discoveries


def core_of(context: Context) -> Core:
    """Return the core of a component's process, made when it is first needed."""
    statics = context.platform.statics
    found = statics.get(_STATIC)
    if isinstance(found, Core):
        return found
    from droidgate_shim.phone.apps.shim.bindings import Bindings  # noqa: PLC0415 - they need the core
    from droidgate_shim.phone.apps.shim.consent import ConsentDesk  # noqa: PLC0415
    from droidgate_shim.phone.apps.shim.discovery import Discoveries  # noqa: PLC0415
    from droidgate_shim.phone.apps.shim.screen import ScreenCalls  # noqa: PLC0415

    core = Core(context)
    core.desk = ConsentDesk(core)
    core.screen = ScreenCalls(core)
    core.bindings = Bindings(core)
    core.discoveries = Discoveries(core)
    statics[_STATIC] = core
    return core


def _asset(context: Context, path: str) -> str:
    return (context.read_raw(path) or b"").decode()
