"""The events of a trace of calls, imported only where `droidgate.calls.traces` writes one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Frozen


class TracedRequest(Frozen):
    """The call as it was asked for.

    Attributes:
        time: When, in UTC.
        droidgate: Version of droidgate.
        serial: The phone.
        capability: As the caller names it.
        arguments: Name -> value, as the caller gives them.
        app: Only capabilities of this package.
        protocol: Only capabilities of this format.
        files: Argument -> file on this computer.
        deadline: Seconds that the call may take.
        client: Who calls.
        traceparent: The distributed trace that the call belongs to, by W3C Trace Context.
        tracestate: What tracing systems have added to it.
    """

    kind: Literal["request"] = "request"
    time: str
    droidgate: str
    serial: str
    capability: str
    arguments: Mapping[str, Json]
    app: str | None
    protocol: str | None
    files: Mapping[str, str]
    deadline: float
    client: str
    traceparent: str | None = None
    tracestate: str | None = None


class TracedDecision(Frozen):
    """What is called, and what the policy decides.

    Attributes:
        user: Android user number.
        package: Application id.
        component: Class name with its package; empty where the app as a whole declares the capability.
        protocol: Id of the format.
        capability: The capability's id.
        arguments: Name -> value, as they are sent.
        coerced: What was coerced, a sentence each without a period.
        effect: What the call may do, as far as it is known.
        decision: The policy's.
        rule: The rule that decides.
        reason: Its reason.
    """

    kind: Literal["decision"] = "decision"
    user: int
    package: str
    component: str
    protocol: str
    capability: str
    arguments: Mapping[str, Json]
    coerced: tuple[str, ...]
    effect: Literal["reads", "writes", "unknown"]
    decision: Literal["allow", "ask", "deny"]
    rule: str
    reason: str


class TracedApproval(Frozen):
    """Whether the capability was approved.

    Attributes:
        state: As it is declared now: `approved`, `new` or `changed`.
        allowed: The answer to the question; None where nobody was asked.
    """

    kind: Literal["approval"] = "approval"
    state: Literal["approved", "new", "changed"]
    allowed: bool | None


class TracedRoute(Frozen):
    """The route that the call takes.

    Attributes:
        route: Id of the route.
        title: The route, in a few words.
        passed_over: Why earlier routes cannot carry the call.
    """

    kind: Literal["route"] = "route"
    route: str
    title: str
    passed_over: tuple[str, ...]


class TracedCommand(Frozen):
    """A device command that ended.

    Attributes:
        arguments: The command and its arguments, before they were quoted.
        duration_ms: How long it took.
        stdin: What it read, bytes that are not UTF-8 by their code; None where it read nothing or a file.
        exit_status: None where the command did not end by itself.
        stdout: What it printed; bytes that are not UTF-8 are written by their code.
        stderr: The same of standard error.
        error: Why it did not end by itself.
    """

    kind: Literal["command"] = "command"
    arguments: tuple[str, ...]
    duration_ms: float
    stdin: str | None
    exit_status: int | None
    stdout: str
    stderr: str
    error: str | None


class TracedDelivery(Frozen):
    """What a shim sent to the app and what came back, as the shim reports it.

    `request`, `routes`, `sent`, `answers` and `response` are what a vector of the shim's engine consists of.

    Attributes:
        request: The request that the shim got, a Mobile-MCP request's text.
        routes: The route table that it carried the call by, without its other routes.
        to: The component or package that was called.
        id: The id of the outgoing Mobile-MCP request; None for other calls.
        sent: The extras of the intent, broadcast or message, or the function and its document.
        origin: The extras that name the caller.
        answers: What came from the app; `failure` where it could not be called.
        response: The shim's, a Mobile-MCP response's text.
    """

    kind: Literal["delivery"] = "delivery"
    request: str
    routes: Mapping[str, Json]
    to: str
    id: str | None
    sent: Mapping[str, Json]
    origin: Mapping[str, str]
    answers: tuple[Mapping[str, Json], ...]
    response: str


class TracedStep(Frozen):
    """A step of the call that ended, as `call --json` lists it."""

    kind: Literal["step"] = "step"
    name: str
    duration_ms: float


class TracedResult(Frozen):
    """The call succeeded.

    Attributes:
        value: The result as the capability declares it.
        outputs: The same by name.
        findings: What was coerced, and what is doubtful about the result.
    """

    kind: Literal["result"] = "result"
    value: Json
    outputs: Mapping[str, Json]
    findings: tuple[Finding, ...]


class TracedFailure(Frozen):
    """The call failed.

    Attributes:
        token: The failure's token; None for an error of the phone, of usage or of a file.
        message: What went wrong.
        hint: The fix.
    """

    kind: Literal["failure"] = "failure"
    token: str | None
    message: str
    hint: str | None


TracedEvent: TypeAlias = Annotated[
    TracedRequest
    | TracedDecision
    | TracedApproval
    | TracedRoute
    | TracedCommand
    | TracedDelivery
    | TracedStep
    | TracedResult
    | TracedFailure,
    Field(discriminator="kind"),
]
