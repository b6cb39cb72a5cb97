"""What `call --json` and `call --explain --json` print."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from droidgate.calls.call_requests import Hop
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
    hops: tuple[Hop, ...]


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
