"""What `droidgate call --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from droidgate.calls.caller import CallPlan
from droidgate.calls.requests import CallResult
from droidgate.calls.subjects import CapabilityKey
from droidgate.calls.traces import SCHEMA_ID, TracedEvent
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json


class CalledCapability(Document):
    """Which capability of which phone is meant.

    Attributes:
        serial: The phone.
        user: Android user number.
        package: Application id.
        component: Class name with its package; empty where the app as a whole declares the capability.
        protocol: Id of the format.
        id: The capability's id.
    """

    serial: str
    user: int
    package: str
    component: str
    protocol: str
    id: str


class CallHop(Document):
    """One step of a call, with the device commands that it ran, each as its arguments before quoting."""

    name: str
    milliseconds: float
    commands: tuple[tuple[str, ...], ...]


class CallDocument(PublishedDocument, schema="droidgate.call/1"):
    """What `call --json` prints of a call that succeeded.

    Attributes:
        capability: What was called.
        route: Id of the way: the format's own, such as `app-function-shell`, or `shim`.
        value: The result as the capability declares it.
        outputs: The same by name: an object's members; any other value is `result`.
        findings: What was coerced, and what is doubtful about the result.
        milliseconds: How long all of it took.
        hops: The steps in order.
    """

    capability: CalledCapability
    route: str
    value: Json
    outputs: Mapping[str, Json]
    findings: tuple[Finding, ...]
    milliseconds: float
    hops: tuple[CallHop, ...]


class CallTraceDocument(Document):
    """A line of the file that `call --trace` and `serve --trace` write.

    Attributes:
        call: Number of the call in the file, from 1.
        milliseconds: Since the call began.
        event: What happened; commands and steps are written when they end.
    """

    schema_id: Literal["droidgate.call-trace/1"] = Field(default=SCHEMA_ID, alias="schema")
    call: int
    milliseconds: float
    event: TracedEvent


class CallFile(Document):
    """A file on this computer, and its path on the phone for the time of the call."""

    argument: str
    source: str
    path: str


class CallPlanDocument(PublishedDocument, schema="droidgate.call-plan/1"):
    """What `call --explain --json` prints of a call that was not made.

    Attributes:
        capability: What would be called.
        arguments: As they would be sent.
        effect: What the call may do, as far as it is known.
        decision: The policy's: `allow`, `ask` or `deny`.
        rule: The rule that decides.
        approval: Whether the capability is approved as it is declared now: `approved`, `new` or `changed`.
        route: Id of the way.
        title: The way, in a few words.
        commands: The device commands in order, each as its arguments before quoting; those of files included.
        passed_over: Why earlier ways cannot carry the call.
        findings: What would be coerced.
        files: What would be put on the phone first.
        unmatched_rules: Rules of the policy that match nothing on the phone.
    """

    capability: CalledCapability
    arguments: Mapping[str, Json]
    effect: Literal["reads", "writes", "unknown"]
    decision: Literal["allow", "ask", "deny"]
    rule: str
    approval: Literal["approved", "new", "changed"]
    route: str
    title: str
    commands: tuple[tuple[str, ...], ...]
    passed_over: tuple[str, ...]
    findings: tuple[Finding, ...]
    files: tuple[CallFile, ...]
    unmatched_rules: tuple[str, ...]


def call_document(result: CallResult) -> CallDocument:
    """Return the document of a result."""
    return CallDocument.of(
        result,
        capability=_called(result.key, result.serial),
        milliseconds=round(result.milliseconds, 3),
        hops=tuple(CallHop.of(hop, milliseconds=round(hop.milliseconds, 3)) for hop in result.hops),
    )


def plan_document(plan: CallPlan) -> CallPlanDocument:
    """Return the document of a plan."""
    return CallPlanDocument.of(
        plan,
        capability=_called(plan.subject.key, plan.subject.serial),
        effect=plan.subject.effect.value,
        decision=plan.decision.kind,
        rule=plan.decision.rule,
        approval=plan.pin.kind,
        route=plan.route.route,
        title=plan.route.title,
        files=tuple(CallFile.of(file, source=str(file.source)) for file in plan.files),
    )


def _called(key: CapabilityKey, serial: str) -> CalledCapability:
    return CalledCapability.of(key, serial=serial, id=key.capability)
