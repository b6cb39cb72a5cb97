"""The engine: requests and backends' answers in, effects out (docs/shim-engine.md).

It decides and others do. Every method returns the effects that its caller has to carry out, in their order;
time is handed in, in milliseconds of one clock. All methods may be called from several threads at once.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeAlias

from droidgate.calls.arguments import fit_arguments
from droidgate.calls.failures import CallError, Failure
from droidgate.calls.requests import RequestKey
from droidgate.model.json_values import Json
from droidgate_mobile_mcp.wire import Request
from droidgate_shim.engine.authority import Carrier, Policy
from droidgate_shim.engine.backends import BackendAnswer, ExtrasCall, Outgoing, read_answer, write_call
from droidgate_shim.engine.lifecycle import Ended, Lifecycle
from droidgate_shim.engine.requests import read_incoming
from droidgate_shim.engine.responses import convert_outputs, write_failed, write_journal_entry, write_success
from droidgate_shim.engine.routes import (
    DEFAULT_DEADLINE_MS,
    Backend,
    PreparedRoute,
    Route,
    RouteTable,
    Target,
)
from droidgate_shim.engine.strict_json import parse_strict, write_strict

_CHANGED: Final = (
    "the app behind the capability has changed what it declares; the user has to approve it again"
)
_NO_GRANT: Final = Failure("denied", "the user has not allowed this app to call this capability")

ReplyTo: TypeAlias = object
"""Where an answer goes, such as a PendingIntent or a Messenger: the engine hands it back and never looks."""


@dataclass(frozen=True, slots=True)
class Installed:
    """What of a package is installed; the attributes are those of a route's `target`."""

    signer: str
    version_code: int
    digest: str


class Targets(Protocol):
    """Knows what is installed."""

    def __call__(self, target: Target, /) -> Installed | None:
        """Return what is installed of a target's package, None where it is not."""
        ...


@dataclass(frozen=True, slots=True)
class CallHandle:
    """One accepted request: its caller and id, and a number that no other call has."""

    key: RequestKey
    number: int


@dataclass(frozen=True, slots=True)
class Send:
    """A call is to go out.

    Attributes:
        call: Names the call to `Engine.result`.
        backend: What is called.
        target: The app behind it, as it was approved.
        outgoing: What it is called with.
        deadline: When the engine gives up, in ms of its clock.
    """

    call: CallHandle
    backend: Backend
    target: Target
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
    """Something came that is no request of any form; nobody is answered."""

    failure: Failure


Effect: TypeAlias = Send | Answer | Drop


@dataclass(frozen=True, slots=True)
class Preview:
    """What the user would be asked about a request.

    Attributes:
        capability: The id of what it asks for.
        arguments: What it says that the arguments are, whether they fit or not.
    """

    capability: str
    arguments: Mapping[str, Json]


@dataclass(slots=True)
class _Open:
    """An open call; `sent_id` is the id of the Mobile-MCP request that went out for it."""

    request: Request
    reply_to: ReplyTo
    prepared: PreparedRoute | None
    sent_id: str | None = None


def _random_id() -> str:
    return str(uuid.uuid4())


class Engine:
    """The engine of one shim.

    Args:
        table: Its routes.
        policy: What the user allows; its limits are those of the engine's whole life.
        targets: Knows what is installed.
        new_id: Makes the ids of outgoing Mobile-MCP requests.
    """

    def __init__(
        self, table: RouteTable, policy: Policy, targets: Targets, *, new_id: Callable[[], str] = _random_id
    ) -> None:
        self._table = table
        self._policy = policy
        self._targets = targets
        self._new_id = new_id
        self._lifecycle: Lifecycle[_Open] = Lifecycle(policy.limits)
        self._lock = threading.Lock()

    def use_policy(self, policy: Policy) -> None:
        """Use other grants and switches from the next request on."""
        self._policy = policy

    def preview(self, carrier: Carrier, caller: int, extras: Mapping[str, Json]) -> Preview | None:
        """Return what the user would be asked about a request; None where a yes would not help it.

        That is what can be read, asks for a capability that exists and is not switched off, and has no grant
        for it. Nothing changes by this; the arguments are those of `request`.
        """
        incoming = read_incoming(carrier, extras)
        request, policy = incoming.request, self._policy
        if request is None or incoming.failure is not None:
            return None
        capability = request.capability_id
        if capability not in self._table.routes or capability in policy.switched_off:
            return None
        if policy.refusal(carrier, caller, capability, known=True) is None:
            return None
        return Preview(capability, request.arguments)

    def request(
        self,
        now: int,
        carrier: Carrier,
        caller: int,
        extras: Mapping[str, Json],
        reply_to: ReplyTo,
        *,
        approved: bool = False,
        refusal: Failure | None = None,
    ) -> list[Effect]:
        """Take a request; whatever it holds, this raises nothing.

        Args:
            now: The time.
            carrier: How it came.
            caller: The uid that sent the message, or that made a start's callback.
            extras: The intent's extras, or the message's Bundle.
            reply_to: Where its answer goes.
            approved: It needs no grant: the user said yes to this one, or the host sent it.
            refusal: Its failure where it needs a grant and has none, such as the user's no.
        """
        incoming = read_incoming(carrier, extras)
        request = incoming.request
        if request is None or incoming.failure is not None:
            failure = incoming.failure or Failure("invalid_argument")
            answer = Drop(failure) if request is None else _failed(request, reply_to, failure)
            return [*self.advance(now), answer]
        prepared = self._table.routes.get(request.capability_id)
        deadline_ms = DEFAULT_DEADLINE_MS if prepared is None else prepared.route.deadline_ms
        key = RequestKey(caller, request.request_id)
        opened = _Open(request, reply_to, prepared)
        with self._lock:
            passed = self._lifecycle.advance(now)
            effects = self._timeouts(passed)
            try:
                number = self._lifecycle.begin(now, key, deadline_ms, opened)
            except CallError as error:
                return [*effects, _failed(request, reply_to, error.failure)]
        call = CallHandle(key, number)
        try:
            if not approved:
                self._check_grant(carrier, caller, request.capability_id, prepared, refusal)
            route, outgoing = self._find_call(request, prepared)
        except CallError as error:
            return [*effects, *self._end(now, call, error.failure)]
        with self._lock:
            opened.sent_id = outgoing.request_id if isinstance(outgoing, ExtrasCall) else None
            is_open = self._lifecycle.find(key, number) is not None
        deadline = now + deadline_ms
        sent = [Send(call, route.backend, route.target, outgoing, deadline)] if is_open else []
        return [*effects, *sent]

    def result(self, now: int, call: CallHandle, answer: BackendAnswer) -> list[Effect]:
        """Take a backend's answer; a late or second one, or one to another request, changes nothing."""
        effects = self.advance(now)
        with self._lock:
            held = self._lifecycle.find(call.key, call.number)
        if held is None or held.prepared is None:
            return effects
        result = read_answer(held.prepared, answer, self._table.definitions, request_id=held.sent_id)
        if result is None:
            return effects
        if isinstance(result, Failure):
            return [*effects, *self._end(now, call, result)]
        try:
            outputs = convert_outputs(held.prepared, result, self._table.definitions)
        except CallError as error:
            return [*effects, *self._end(now, call, error.failure)]
        extras, failure = write_success(held.request, outputs, held.prepared.descriptor_output)
        token = None if failure is None else failure.token
        with self._lock:
            ended = self._lifecycle.end(now, call.key, token, number=call.number)
        return effects if ended is None else [*effects, Answer(held.reply_to, extras, token)]

    def fail(self, now: int, call: CallHandle, failure: Failure) -> list[Effect]:
        """End a call that could not be brought to its backend, such as with `needs_user`."""
        return [*self.advance(now), *self._end(now, call, failure)]

    def cancel(self, now: int, caller: int, request_id: str) -> list[Effect]:
        """End a call because its caller wants that; nothing where it is not open."""
        effects = self.advance(now)
        with self._lock:
            ended = self._lifecycle.end(now, RequestKey(caller, request_id), "canceled")
        told = [] if ended is None else [_ended(ended, "the caller ended the call")]
        return [*effects, *told]

    def died(self, now: int, package: str) -> list[Effect]:
        """End the calls of a backend whose process died."""
        effects = self.advance(now)
        with self._lock:
            ended = self._lifecycle.end_where(now, "interrupted", lambda held: _package_of(held) == package)
        return [*effects, *(_ended(one, "the app behind the capability stopped") for one in ended)]

    def advance(self, now: int) -> list[Effect]:
        """End the calls whose deadline has passed."""
        with self._lock:
            return self._timeouts(self._lifecycle.advance(now))

    def next_deadline(self) -> int | None:
        """Return when `advance` is to be called next; None where nothing is open."""
        with self._lock:
            return self._lifecycle.next_deadline()

    def journal(self) -> list[str]:
        """Return an entry for each open call, to be kept where it survives this process."""
        with self._lock:
            held = self._lifecycle.held()
        return [write_journal_entry(one.request) for one in held]

    @property
    def size(self) -> tuple[int, int]:
        """How many calls are open, and how many callers' rates are being counted."""
        with self._lock:
            return self._lifecycle.size

    def _timeouts(self, passed: list[Ended[_Open]]) -> list[Effect]:
        return [_ended(one, "no answer came in time; the call may have run") for one in passed]

    def _end(self, now: int, call: CallHandle, failure: Failure) -> list[Effect]:
        with self._lock:
            ended = self._lifecycle.end(now, call.key, failure.token, number=call.number)
        return [] if ended is None else [_failed(ended.held.request, ended.held.reply_to, failure)]

    def _check_grant(
        self,
        carrier: Carrier,
        caller: int,
        capability: str,
        prepared: PreparedRoute | None,
        refusal: Failure | None,
    ) -> None:
        is_known = prepared is not None
        if self._policy.refusal(carrier, caller, capability, known=is_known) == "denied":
            raise CallError((refusal if is_known else None) or _NO_GRANT)

    def _find_call(self, request: Request, prepared: PreparedRoute | None) -> tuple[Route, Outgoing]:
        """Return the route that an authorised request takes and what goes out for it.

        Raises:
            CallError: it goes no further.
        """
        if prepared is None:
            raise CallError(
                Failure(
                    "unknown_capability",
                    f"{write_strict(request.capability_id)} is not a capability of this app",
                )
            )
        if request.capability_id in self._policy.switched_off:
            raise CallError(Failure("disabled", "the user has switched the capability off"))
        definitions = self._table.definitions
        fitted = fit_arguments(request.arguments, prepared.capability, definitions, parse=parse_strict)
        self._check_target(prepared.route.target)
        return prepared.route, write_call(prepared, fitted.values, definitions, self._new_id)

    def _check_target(self, approved: Target) -> None:
        installed = self._targets(approved)
        if installed is None:
            raise CallError(Failure("unavailable", "the app behind the capability is not installed"))
        if installed.signer != approved.signer:
            raise CallError(
                Failure("unavailable", "the app behind the capability has another signing certificate")
            )
        if installed.digest != approved.digest:
            raise CallError(Failure("needs_approval", _CHANGED))


def _package_of(held: _Open) -> str | None:
    return None if held.prepared is None else held.prepared.route.target.package


def _failed(request: Request, reply_to: ReplyTo, failure: Failure) -> Answer:
    return Answer(reply_to, write_failed(request, failure), failure.token)


def _ended(ended: Ended[_Open], text: str) -> Answer:
    return _failed(ended.held.request, ended.held.reply_to, Failure(ended.token or "interrupted", text))
