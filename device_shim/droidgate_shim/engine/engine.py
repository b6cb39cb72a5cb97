"""The engine: requests, decisions of the user and answers of backends in, effects out (shim-engine.md).

It decides and others act. Every method returns the effects that its caller has to carry out, in their order;
time is passed in, in milliseconds of one clock. One thread uses an engine.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.coercion import fit_arguments
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_mobile_mcp.wire import MobileMcpRequest
from droidgate_shim.deadlines import DEFAULT_DEADLINE_MS
from droidgate_shim.engine.authority import NO_GRANT, CallPermission, Carrier, Policy, check_target
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, Outgoing, read_answer, write_call
from droidgate_shim.engine.open_calls import CallKey, OpenCalls
from droidgate_shim.engine.rates import Rates
from droidgate_shim.engine.requests import read_incoming, read_refused
from droidgate_shim.engine.responses import convert_outputs, write_failure, write_success
from droidgate_shim.engine.routes import Backend, PreparedRoute, RouteTable, Target
from droidgate_shim.engine.strict_json import parse_strict, write_strict

UNANSWERED: Final = Failure(
    "needs_user",
    "nobody answered the question about this call on the phone in time; retry when somebody is there",
)
ASKING_MS: Final = 120_000
"""How long the user may take to answer a question, whatever the deadline of its call."""

TIMEOUT: Final = Failure("timeout", "no answer came in time; the call may have run")
CANCELED: Final = Failure("canceled", "the caller ended the call")

ReplyTo: TypeAlias = object
"""Where an answer goes, such as a PendingIntent or a Messenger: the engine returns it and never looks."""


Targets: TypeAlias = Callable[[Target], Target | None]
"""Returns the facts of a target's installed package, None if it is not installed."""


@dataclass(frozen=True, slots=True)
class Ask:
    """The user is to be asked about a call: `Engine.decided` takes the answer.

    Attributes:
        call: Its number, for `Engine.decided`.
        reply_to: Where its answer goes, as it came with the request.
        capability: The id of the capability.
        arguments: Its arguments as the request has them, under its names.
        deadline: When the question ends, in ms of the engine's clock.
    """

    call: int
    reply_to: ReplyTo
    capability: str
    arguments: Mapping[str, Json]
    deadline: int


@dataclass(frozen=True, slots=True)
class Send:
    """A call is to go out.

    Attributes:
        call: Its number, for `Engine.answered`.
        reply_to: Where its answer goes, as it came with the request.
        backend: What is called.
        target: The app behind it, as it was approved.
        permission: What to check where time passes before it leaves the shim.
        outgoing: What it is called with.
        deadline: When the engine gives up, in ms of its clock.
    """

    call: int
    reply_to: ReplyTo
    backend: Backend
    target: Target
    permission: CallPermission
    outgoing: Outgoing
    deadline: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer is to go out.

    Attributes:
        reply_to: Where to, as it came with the request.
        extras: The string extras, or the Bundle.
        token: The failure's token, None for a success.
    """

    reply_to: ReplyTo
    extras: Mapping[str, str]
    token: str | None


@dataclass(frozen=True, slots=True)
class Drop:
    """The extras are not a request of any form; they get no answer.

    Attributes:
        reply_to: What came with it.
        failure: Why it goes no further.
    """

    reply_to: ReplyTo
    failure: Failure


Effect: TypeAlias = Ask | Send | Answer | Drop


@dataclass(slots=True)
class CallState:
    """What the engine knows of a call while it is open.

    Attributes:
        request: The request.
        reply_to: Where its answer goes.
        prepared: Its route, None where there is none.
        permission: What it goes out by, None where there is no route.
        outgoing: What its backend is called with, once that is known.
        is_asking: The user is asked about it, and nothing has gone out.
    """

    request: MobileMcpRequest
    reply_to: ReplyTo
    prepared: PreparedRoute | None
    permission: CallPermission | None
    outgoing: Outgoing | None = None
    is_asking: bool = False


def refuse(
    carrier: Carrier, extras: Mapping[str, Json], reply_to: ReplyTo, failure: Failure
) -> Answer | Drop:
    """Return the answer to a request that is refused unread: for its rate, or because too many wait.

    Any thread may call this.
    """
    request = read_refused(carrier, extras)
    return Drop(reply_to, failure) if request is None else _failed(request, reply_to, failure)


def _random_id() -> str:
    return str(uuid.uuid4())


class Engine:
    """The engine of one shim.

    Args:
        table: Its routes.
        policy: What the user allows; its limits are those of the engine's whole life.
        targets: Looks up what is installed.
        new_id: Makes the ids of outgoing Mobile-MCP requests.
    """

    def __init__(
        self, table: RouteTable, policy: Policy, targets: Targets, *, new_id: Callable[[], str] = _random_id
    ) -> None:
        self._table = table
        self._policy = policy
        self._targets = targets
        self._new_id = new_id
        self.rates = Rates(policy.limits)
        self._calls: OpenCalls[CallState] = OpenCalls(policy.limits)

    def use_policy(self, policy: Policy) -> None:
        """Use other grants and switches from the next request on."""
        self._policy = policy

    def admit(
        self, now: int, carrier: Carrier, caller: int, extras: Mapping[str, Json], reply_to: ReplyTo
    ) -> list[Effect]:
        """Count a request in its caller's rate; return its refusal, nothing if it may be taken."""
        failure = self.rates.take(now, carrier, caller)
        return [] if failure is None else [*self.expire(now), refuse(carrier, extras, reply_to, failure)]

    def receive(
        self,
        now: int,
        carrier: Carrier,
        caller: int,
        extras: Mapping[str, Json],
        reply_to: ReplyTo,
        *,
        approved: bool = False,
        is_asking: bool = False,
    ) -> list[Effect]:
        """Take a request that was admitted; no content makes this raise.

        Args:
            now: The time.
            carrier: How it came.
            caller: The uid that sent the message, or that made a start's callback.
            extras: The intent's extras, or the message's Bundle.
            reply_to: Where its answer goes.
            approved: It needs no grant: the host sent it.
            asks: The user is asked where it has no grant.
        """
        effects = self.expire(now)
        incoming = read_incoming(carrier, extras)
        request = incoming.request
        if request is None or incoming.failure is not None:
            failure = incoming.failure or Failure("invalid_argument")
            refused = Drop(reply_to, failure) if request is None else _failed(request, reply_to, failure)
            return [*effects, refused]
        prepared = self._table.routes.get(request.capability_id)
        deadline_ms = DEFAULT_DEADLINE_MS if prepared is None else prepared.route.deadline_ms
        key = CallKey(carrier, caller, request.request_id)
        permission = None if prepared is None else CallPermission(prepared.route, carrier, caller, approved)
        state = CallState(request, reply_to, prepared, permission)
        try:
            call = self._calls.open(key, state, now, now + deadline_ms)
        except CallError as error:
            return [*effects, _failed(request, reply_to, error.failure)]
        route = None if prepared is None else prepared.route
        is_granted = approved or self._policy.is_granted(route, carrier, caller)
        try:
            begun = self._begin(now, call, state, is_granted=is_granted, is_asking=is_asking)
        except CallError as error:
            return [*effects, *self._fail(call, error.failure)]
        return [*effects, *begun]

    def decided(self, now: int, call: int, refusal: Failure | None) -> list[Effect]:
        """Take the user's decision about a call: its failure, None for a yes to this call.

        Of a yes to further calls it is `NO_GRANT`, which it is where the grant was revoked since.
        A decision about a call that has ended, or about which nobody was asked, changes nothing.
        """
        effects = self.expire(now)
        state = self._calls.find(call)
        if state is None or not state.is_asking or state.permission is None:
            return effects
        if refusal is None:
            state.permission = state.permission.allowed_once()
        elif refusal is not NO_GRANT:
            return [*effects, *self._fail(call, refusal)]
        try:
            state.permission.check(self._policy, self._targets(state.permission.route.target))
        except CallError as error:
            return [*effects, *self._fail(call, error.failure)]
        state.is_asking = False
        deadline = now + state.permission.route.deadline_ms
        self._calls.extend(call, deadline)
        return [*effects, *self._send(call, state, deadline)]

    def answered(self, now: int, call: int, answer: BackendAnswer) -> list[Effect]:
        """Take a backend's answer; a late or second one, or one to another request, changes nothing."""
        effects = self.expire(now)
        state = self._calls.find(call)
        if state is None or state.prepared is None or state.is_asking:
            return effects
        sent_id = state.outgoing.request_id if isinstance(state.outgoing, ExtrasCall) else None
        result = read_answer(state.prepared, answer, self._table.definitions, request_id=sent_id)
        if result is None:
            return effects
        if isinstance(result, Failure):
            return [*effects, *self._fail(call, result)]
        try:
            outputs = convert_outputs(state.prepared, result, self._table.definitions)
        except CallError as error:
            return [*effects, *self._fail(call, error.failure)]
        extras, failure = write_success(state.request, outputs, state.prepared.descriptor_output)
        self._calls.close(call)
        return [*effects, Answer(state.reply_to, extras, None if failure is None else failure.token)]

    def fail(self, now: int, call: int, failure: Failure) -> list[Effect]:
        """End a call that its edge cannot finish, such as with `needs_user`."""
        return [*self.expire(now), *self._fail(call, failure)]

    def cancel(self, now: int, reply_to: ReplyTo) -> list[Effect]:
        """End the call whose answer goes there, because its caller cancels it or has gone."""
        return self._end(now, reply_to, CANCELED, CANCELED)

    def give_up(self, now: int, reply_to: ReplyTo) -> list[Effect]:
        """End the call whose answer goes there, because its caller waits no longer."""
        return self._end(now, reply_to, UNANSWERED, TIMEOUT)

    def expire(self, now: int) -> list[Effect]:
        """End the calls whose deadline has passed."""
        self.rates.forget_full(now)
        expired = (call.state for call in self._calls.expire(now))
        return [_ended(state, UNANSWERED if state.is_asking else TIMEOUT) for state in expired]

    def next_deadline(self) -> int | None:
        """Return when to call `expire` next; None if no call is open."""
        return self._calls.next_deadline()

    def open_count(self) -> int:
        """Return how many calls are open."""
        return len(self._calls.all())

    def _end(self, now: int, reply_to: ReplyTo, asking: Failure, sent: Failure) -> list[Effect]:
        effects = self.expire(now)
        for call in self._calls.all():
            if call.state.reply_to is reply_to:
                effects += self._fail(call.number, asking if call.state.is_asking else sent)
        return effects

    def _fail(self, call: int, failure: Failure) -> list[Effect]:
        state = self._calls.close(call)
        return [] if state is None else [_ended(state, failure)]

    def _begin(
        self, now: int, call: int, state: CallState, *, is_granted: bool, is_asking: bool
    ) -> list[Effect]:
        """Send a call that has a grant, and ask about one that has none.

        Raises:
            CallError: the call is refused.
        """
        prepared, capability = state.prepared, state.request.capability_id
        is_off = capability in self._policy.switched_off
        if not is_granted and (prepared is None or is_off or not is_asking):
            raise CallError(NO_GRANT)
        if prepared is None:
            message = f"{write_strict(capability)} is not a capability of this app"
            raise CallError(Failure("unknown_capability", message))
        self._policy.check_switch(capability)
        state.outgoing = self._write_call(state.request, prepared)
        if is_granted:
            return self._send(call, state, now + prepared.route.deadline_ms)
        state.is_asking = True
        self._calls.extend(call, now + ASKING_MS)
        return [Ask(call, state.reply_to, capability, state.request.arguments, now + ASKING_MS)]

    def _write_call(self, request: MobileMcpRequest, prepared: PreparedRoute) -> Outgoing:
        """Return what goes out for a request whose arguments and target are right.

        Raises:
            CallError: an argument or the target is refused.
        """
        definitions = self._table.definitions
        fitted = fit_arguments(request.arguments, prepared.capability, definitions, parse=parse_strict)
        check_target(prepared.route.target, self._targets(prepared.route.target))
        return write_call(prepared, fitted.values, definitions, self._new_id)

    def _send(self, call: int, state: CallState, deadline: int) -> list[Effect]:
        if state.permission is None or state.outgoing is None:
            return []
        permission, outgoing = state.permission, state.outgoing
        route = permission.route
        return [Send(call, state.reply_to, route.backend, route.target, permission, outgoing, deadline)]


def _failed(request: MobileMcpRequest, reply_to: ReplyTo, failure: Failure) -> Answer:
    return Answer(reply_to, write_failure(request, failure), failure.token)


def _ended(state: CallState, failure: Failure) -> Answer:
    return _failed(state.request, state.reply_to, failure)
