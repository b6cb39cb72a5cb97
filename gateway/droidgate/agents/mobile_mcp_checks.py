"""What the specification of Mobile-MCP requires of a tool that is called (sections 3.1 to 3.3)."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from droidgate.agents.agent_client import AgentClient, AgentEvent, ToolComponent, Transport
from droidgate.agents.live_calls import (
    RESPONSE,
    ReceivedResponse,
    RequestDialect,
    attributes_of,
    children_of,
    mobile_mcp_request,
    read_response,
    request_extras,
)
from droidgate.agents.rule_checks import NOT_ALLOWED, UNKNOWN_NAME, RuleCheck
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import Level, LintRule, LintRules
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.nearest_names import suggest_name

_BOOK: Final = LintRules("Mobile-MCP", __name__, "mobile-mcp-live-")
_rule = partial(_BOOK.declare, Level.ERROR)

ANSWERS: Final = _rule(
    "answers", "3.1", "A tool answers an agent that binds its service, and one that starts it"
)
RUNNING: Final = _rule("keeps-running", "3.2", "A tool keeps running, whatever a request holds")
FORM: Final = _rule(
    "response-form", "3.2", "A response is a JSON object with mobile-mcp-response and response"
)
VERSION: Final = _rule("response-version", "3.2", 'A response has version "1.0"')
RESPONSE_ID: Final = _rule("response-id", "3.2", "A response has the id of its request")
CAPABILITY: Final = _rule(
    "response-capability", "3.2", "A response has the id of the capability that was called"
)
STATUS: Final = _rule("response-status", "3.2", 'The status of a response is "success" or "failure"')
OUTPUT: Final = _rule(
    "response-output", "3.2", "Outputs have the names and types that the descriptor declares"
)
CHECKED_VERSION: Final = _rule(
    "version-checked", "3.2", "A tool refuses a request of a version that it does not know"
)
UNKNOWN: Final = _rule("unknown-capability", "3.2", "A tool refuses a capability that it does not declare")
MISSING: Final = _rule("missing-argument", "3.2", "A tool refuses a call without a required argument")
TYPED: Final = _rule("argument-type", "3.2", "A tool refuses an argument that is not of the declared type")
ONCE: Final = _rule("one-response", "3.2", "A tool answers a request once")
OPEN: Final = _rule(
    "open-requests", "3.3", "A tool answers two requests that are open at once, each with its id"
)
AGENTS: Final = _rule(
    "two-agents", "3.1", "A tool answers two agents that use one id: an id is unique within an agent"
)

RULES: Final = _BOOK.by_id
"""Every rule by id, in the order in which a run reports them."""

_OTHER_VERSION: Final = "99.0"
_SETTLE_SECONDS: Final = 0.3
"""How long a second answer may take to be seen; those that come later are seen by later exchanges."""
_IN_BACKGROUND: Final = "app is in background"
_OPEN_IT: Final = "an app without a window, or that is closed, cannot be started by others"
_ENDINGS: Final = {
    "null-binding": "the service returns no binder",
    "disconnected": "the app's process ended",
}
_JSON_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list,),
    "object": (dict,),
}
_SAMPLES: Final[Mapping[str, Json]] = {
    "string": "droidgate", "boolean": True, "integer": 1, "number": 1.5, "array": [], "object": {},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Declared:
    """A capability as the descriptor declares it: parameters and outputs, each name with its type."""

    parameters: Mapping[str, str]
    required: tuple[str, ...]
    outputs: Mapping[str, str]


@dataclass(slots=True)
class _Probe:
    """A request and its outcome.

    Attributes:
        client: Who asks.
        capability: What is called.
        request_id: Its id.
        text: The request.
        call: The agent's id of the call.
        answers: The answers.
        ending: Why there is none; empty where nothing says so.
    """

    client: AgentClient
    capability: str
    request_id: str
    text: str
    call: str = ""
    answers: list[ReceivedResponse] = field(default_factory=list)
    ending: str = ""

    @property
    def is_refused(self) -> bool:
        """Whether the tool refuses the call."""
        return all(item.inner.get("status") != "success" for item in self.answers)


def check_service(
    agents: tuple[AgentClient, AgentClient],
    component: ToolComponent,
    calls: Mapping[str, Mapping[str, Json]],
    *,
    edition: RequestDialect,
    seconds: float,
    open_app: Callable[[], object],
) -> Iterator[RuleCheck]:
    """Yield what each rule says of a service, bound and started.

    Args:
        agents: Two callers.
        component: The service.
        calls: Calls that may be carried out, the arguments by capability.
        edition: How requests are written.
        seconds: How long an answer may take.
        open_app: Brings the app to the front, without which Android may not start its service.

    Raises:
        UsageError: the descriptor does not declare the capability of a call.
        DeviceError: the phone or an agent fails.
    """
    declared = _declared_by(component)
    for name in calls:
        if name not in declared:
            message = f'unknown capability "{name}" of {component.component}'
            raise UsageError(message, hint=suggest_name(name, declared))
    transports: tuple[Transport, ...] = ("bind", "start")
    for transport in transports:
        open_app()
        run = _Run(agents, component, calls, declared, edition, seconds, transport, open_app)
        yield from run.checks()


def _declared_by(component: ToolComponent) -> dict[str, _Declared]:
    root = next(iter(component.xml.values()), {})
    capabilities: dict[str, _Declared] = {}
    for item in children_of(root, "capability"):
        inputs, outputs = _parameters_in(item, "input"), _parameters_in(item, "output")
        capabilities[attributes_of(item).get("id", "")] = _Declared(
            {each.get("name", ""): each.get("type", "") for each in inputs},
            tuple(each.get("name", "") for each in inputs if each.get("required") == "true"),
            {each.get("name", ""): each.get("type", "") for each in outputs},
        )
    return capabilities


def _parameters_in(capability: Mapping[str, Json], part: str) -> list[Mapping[str, str]]:
    parts = children_of(capability, part)
    return [attributes_of(each) for item in parts for each in children_of(item, "param")]


class _Run:
    """The checks of one service in one way of calling it."""

    def __init__(
        self,
        agents: tuple[AgentClient, AgentClient],
        component: ToolComponent,
        calls: Mapping[str, Mapping[str, Json]],
        declared: Mapping[str, _Declared],
        edition: RequestDialect,
        seconds: float,
        transport: Transport,
        open_app: Callable[[], object],
    ) -> None:
        self._open_app = open_app
        self._agents = agents
        self._component = component.component
        self._calls = calls
        self._declared = declared
        self._edition = edition
        self._seconds = seconds
        self._transport = transport
        self._asked: list[_Probe] = []
        self._ends: list[tuple[str, _Probe]] = []

    def checks(self) -> list[RuleCheck]:
        """Call the service and return what each rule says, in the order of the rules."""
        (first,) = self._exchange(self._request(UNKNOWN_NAME, {}))
        if _IN_BACKGROUND in first.ending:
            return [self._not_checked(rule, f"{first.ending}; {_OPEN_IT}") for rule in RULES.values()]
        if not first.answers:
            reason = self._silence(first)
            seen = [self._failed(ANSWERS, reason, first), self._running()]
            done = {check.rule.id for check in seen}
            rest = [rule for rule in RULES.values() if rule.id not in done]
            return [*seen, *(self._not_checked(rule, "the service did not answer") for rule in rest)]
        checks = [
            self._passed(ANSWERS, first),
            self._refusal(UNKNOWN, [first]),
            self._missing(),
            self._typed(),
            *self._allowed(),
            self._open(),
            self._two_agents(),
        ]
        # These look back at all answers.
        checks += [self._running(), self._once(), *(self._form(*each) for each in _FORMS)]
        order = list(RULES)
        return sorted(checks, key=lambda check: order.index(check.rule.id))

    def _request(
        self,
        capability: str,
        arguments: Mapping[str, Json],
        *,
        version: str = "1.0",
        request_id: str | None = None,
        agent: int = 0,
    ) -> _Probe:
        chosen = request_id or str(uuid.uuid4())
        text = mobile_mcp_request(
            capability, arguments, dialect=self._edition, request_id=chosen, version=version
        )
        return _Probe(self._agents[agent], capability, chosen, text)

    def _exchange(self, *asked: _Probe) -> tuple[_Probe, ...]:
        """Send requests without waiting in between, and take what comes of them."""
        self._asked += asked
        clients = list(dict.fromkeys(item.client for item in asked))
        after = {client: client.last_event() for client in clients}
        for item in asked:
            extras = request_extras(item.text, self._edition)
            item.call = item.client.send(self._component, extras, transport=self._transport)
        for client in clients:
            mine = [item for item in asked if item.client is client]
            events = client.wait(after[client], partial(self._is_over, mine), self._seconds)
            time.sleep(_SETTLE_SECONDS)
            events += client.events(events[-1].number if events else after[client])
            for event in events:
                self._take(event, mine)
        return asked

    def _is_over(self, mine: Sequence[_Probe], events: Sequence[AgentEvent]) -> bool:
        """Return whether each request has an end; an answer to an earlier one, or a second one, is not."""
        earlier = {item.request_id for item in self._asked} - {item.request_id for item in mine}
        ends: set[object] = set()
        for event in events:
            if event.kind in _ENDINGS and self._is_ours(event):
                return True
            if event.kind in ("callback", "refused") and any(event.call == item.call for item in mine):
                ends.add(event.call)
            elif event.kind == "message" and self._is_ours(event):
                request_id = read_response(event).inner.get("id")
                if not isinstance(request_id, str):
                    ends.add(event.number)
                elif request_id not in earlier:
                    ends.add(request_id)
        return len(ends) >= len(mine)

    def _is_ours(self, event: AgentEvent) -> bool:
        return event.component == self._component

    def _take(self, event: AgentEvent, mine: Sequence[_Probe]) -> None:
        if event.kind == "refused":
            for item in (each for each in mine if each.call == event.call):
                item.ending = f"Android refused the call: {event.fields.get('message')}"
        elif event.kind in _ENDINGS and self._is_ours(event):
            for item in mine:
                item.ending = item.ending or _ENDINGS[event.kind]
            if event.kind == "disconnected":
                self._ends.append((_ENDINGS[event.kind], mine[-1]))
                self._open_app()
        elif event.kind in ("message", "callback"):
            answer = read_response(event)
            owner = self._owner(event, answer, mine)
            if owner is not None:
                owner.answers.append(answer)

    def _owner(self, event: AgentEvent, answer: ReceivedResponse, mine: Sequence[_Probe]) -> _Probe | None:
        """Return whose answer it is: of the call that Android names, of the id, or of the one that waits."""
        client = mine[0].client
        if event.kind == "callback":
            return next((item for item in self._asked if item.call == event.call), None)
        if self._transport != "bind" or not self._is_ours(event):
            return None
        request_id = answer.inner.get("id")
        same = [item for item in self._asked if item.request_id == request_id and item.client is client]
        waiting = [item for item in mine if not item.answers]
        return next(iter((*same, *waiting, *reversed(mine))), None)

    def _silence(self, probe: _Probe) -> str:
        return probe.ending or f"no answer in {self._seconds:g} seconds"

    def _passed(self, rule: LintRule, *asked: _Probe) -> RuleCheck:
        return RuleCheck(rule, self._component, self._transport, "passed", "", *_texts(asked))

    def _failed(self, rule: LintRule, reason: str, *asked: _Probe) -> RuleCheck:
        return RuleCheck(rule, self._component, self._transport, "failed", reason, *_texts(asked))

    def _not_checked(self, rule: LintRule, reason: str) -> RuleCheck:
        return RuleCheck(rule, self._component, self._transport, "not-checked", reason)

    def _not_applicable(self, rule: LintRule, reason: str) -> RuleCheck:
        return RuleCheck(rule, self._component, self._transport, "not-applicable", reason)

    def _running(self) -> RuleCheck:
        return self._failed(RUNNING, *self._ends[0]) if self._ends else self._passed(RUNNING)

    def _refusal(self, rule: LintRule, probes: Sequence[_Probe]) -> RuleCheck:
        for item in probes:
            if not item.answers:
                return self._failed(rule, self._silence(item), item)
            if not item.is_refused:
                return self._failed(rule, "the tool reports success", item)
        return self._passed(rule, *probes)

    def _missing(self) -> RuleCheck:
        capability = next((name for name, item in self._declared.items() if item.required), None)
        if capability is None:
            return self._not_applicable(MISSING, "no capability has a required parameter")
        return self._refusal(MISSING, self._exchange(self._request(capability, {})))

    def _typed(self) -> RuleCheck:
        requests: list[_Probe] = []
        for name, item in self._declared.items():
            typed = next((each for each, kind in item.parameters.items() if kind in _JSON_TYPES), None)
            if typed is not None and len(requests) < len(_JSON_TYPES):
                # No declared type but object takes an object, and none but number takes a number.
                wrong: Json = 17 if item.parameters[typed] in ("array", "object") else {"not": "this"}
                rest = {each: _SAMPLES.get(item.parameters[each], "droidgate") for each in item.required}
                requests += self._exchange(self._request(name, {**rest, typed: wrong}))
        if not requests:
            return self._not_applicable(TYPED, "no parameter has a type that Mobile-MCP's agents know")
        return self._refusal(TYPED, requests)

    def _allowed(self) -> Iterator[RuleCheck]:
        """Yield the checks that need a call which the app carries out."""
        if not self._calls:
            yield self._not_checked(OUTPUT, NOT_ALLOWED)
            yield self._not_checked(CHECKED_VERSION, NOT_ALLOWED)
            return
        name, arguments = next(iter(self._calls.items()))
        yield self._refusal(
            CHECKED_VERSION, self._exchange(self._request(name, arguments, version=_OTHER_VERSION))
        )
        requests = [self._exchange(self._request(*call))[0] for call in self._calls.items()]
        yield self._outputs(requests)

    def _outputs(self, probes: Sequence[_Probe]) -> RuleCheck:
        successes = 0
        for item in probes:
            if not item.answers:
                return self._failed(OUTPUT, self._silence(item), item)
            for answer in item.answers:
                if answer.inner.get("status") == "success":
                    successes += 1
                    problem = _output_problem(answer.inner, self._declared[item.capability], self._edition)
                    if problem is not None:
                        return self._failed(OUTPUT, problem, item)
        if any(answer.is_cut for item in probes for answer in item.answers):
            return self._not_checked(OUTPUT, "an answer is longer than the agent keeps")
        if not successes:
            refusals = (self._refusal_text(item) for item in probes)
            return self._not_checked(OUTPUT, "; ".join(refusals))
        return self._passed(OUTPUT, *probes)

    @staticmethod
    def _refusal_text(item: _Probe) -> str:
        message = item.answers[0].inner.get("message")
        return f"the app refuses {item.capability}" + (f": {message}" if message else "")

    def _open(self) -> RuleCheck:
        requests = self._exchange(self._request(UNKNOWN_NAME, {}), self._request(UNKNOWN_NAME, {}))
        return self._own_answers(OPEN, requests)

    def _two_agents(self) -> RuleCheck:
        shared = str(uuid.uuid4())
        both = (self._request(UNKNOWN_NAME, {}, request_id=shared, agent=number) for number in (0, 1))
        return self._own_answers(AGENTS, self._exchange(*both))

    def _own_answers(self, rule: LintRule, probes: Sequence[_Probe]) -> RuleCheck:
        for item in probes:
            if not item.answers:
                return self._failed(rule, f"{item.client.application_id}: {self._silence(item)}", item)
            if not any(answer.inner.get("id") == item.request_id for answer in item.answers):
                return self._failed(rule, "no answer has the id of this request", item)
        return self._passed(rule, *probes)

    def _form(self, rule: LintRule, problem: _Problem) -> RuleCheck:
        looked_at = [item for item in self._asked if item.answers]
        for item in looked_at:
            for answer in (each for each in item.answers if not each.is_cut):
                reason = problem(answer, item, self._declared)
                if reason is not None:
                    return RuleCheck(
                        rule, self._component, self._transport, "failed", reason, (item.text,), (answer.text,)
                    )
        return self._passed(rule)

    def _once(self) -> RuleCheck:
        twice = next((item for item in self._asked if len(item.answers) > 1), None)
        if twice is None:
            return self._passed(ONCE)
        return self._failed(ONCE, f"{len(twice.answers)} answers to one request", twice)


def _texts(probes: Sequence[_Probe]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    answers = (answer.text for probe in probes for answer in probe.answers)
    return tuple(probe.text for probe in probes), tuple(answers)


_Problem = Callable[[ReceivedResponse, _Probe, Mapping[str, _Declared]], str | None]


def _form_problem(answer: ReceivedResponse, probe: _Probe, declared: Mapping[str, _Declared]) -> str | None:
    del probe, declared
    if answer.document is None:
        return "the answer is not a JSON object"
    return None if answer.inner else "the answer has no mobile-mcp-response with a response"


def _version_problem(
    answer: ReceivedResponse, probe: _Probe, declared: Mapping[str, _Declared]
) -> str | None:
    del probe, declared
    wrapper = None if answer.document is None else answer.document.get(RESPONSE)
    if not isinstance(wrapper, dict):
        return None
    version = wrapper.get("version")
    if version is None:
        return "the response has no version"
    return None if version == "1.0" else f'the version is {version!r}, not "1.0"'


def _id_problem(answer: ReceivedResponse, probe: _Probe, declared: Mapping[str, _Declared]) -> str | None:
    del declared
    inner = answer.inner
    if not inner or inner.get("id") == probe.request_id:
        return None
    return f"the id is {inner.get('id')!r}, not {probe.request_id!r}"


def _capability_problem(
    answer: ReceivedResponse, probe: _Probe, declared: Mapping[str, _Declared]
) -> str | None:
    inner = answer.inner
    capability = inner.get("capability")
    capability_id = capability.get("id") if isinstance(capability, dict) else None
    # Of what is not a capability of the tool there is no id.
    if not inner or probe.capability not in declared or capability_id == probe.capability:
        return None
    return f"the capability's id is {capability_id!r}, not {probe.capability!r}"


def _status_problem(answer: ReceivedResponse, probe: _Probe, declared: Mapping[str, _Declared]) -> str | None:
    del probe, declared
    inner = answer.inner
    status = inner.get("status")
    return None if not inner or status in ("success", "failure") else f"the status is {status!r}"


_FORMS: Final[Sequence[tuple[LintRule, _Problem]]] = (
    (FORM, _form_problem),
    (VERSION, _version_problem),
    (RESPONSE_ID, _id_problem),
    (CAPABILITY, _capability_problem),
    (STATUS, _status_problem),
)


def _output_problem(response: Mapping[str, Json], declared: _Declared, edition: RequestDialect) -> str | None:
    capability = response.get("capability")
    output = capability.get("output") if isinstance(capability, dict) else None
    if output is None:
        return None
    if edition == "S1":
        if not isinstance(output, dict):
            return "output is not an object"
        values = {name: (None, value) for name, value in output.items()}
    else:
        if not isinstance(output, list) or not all(isinstance(item, dict) for item in output):
            return "output is not an array of objects"
        values = {
            str(item.get("name")): (item.get("type"), item.get("value"))
            for item in output
            if isinstance(item, dict)
        }
    for name, (kind, value) in values.items():
        if name not in declared.outputs:
            return f'output "{name}" is not declared'
        expected = declared.outputs[name]
        if edition == "S0" and kind != expected:
            return f'output "{name}" has the type {kind!r}, not {expected!r}'
        if not _is_of(value, expected):
            return f'output "{name}" is not of the type {expected!r}'
    return None


def _is_of(value: Json, kind: str) -> bool:
    types = _JSON_TYPES.get(kind)
    if types is None:
        return True
    return isinstance(value, types) and (kind == "boolean" or not isinstance(value, bool))
