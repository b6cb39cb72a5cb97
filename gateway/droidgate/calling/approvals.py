"""Asking somebody whether a call may be made."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from droidgate.calling.pins import PinState
from droidgate.calling.policy import Decision
from droidgate.calling.subjects import CallSubject, Pin, literal_pattern
from droidgate.model.capability import Capability
from droidgate.model.json_values import Json


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """A call that needs an approval.

    Attributes:
        subject: The call.
        capability: What is called, as its app declares it; its texts are the app's.
        arguments: Name -> value, as they will be sent.
        pin: What an approval holds for.
        state: Whether an earlier version of the capability was approved.
        decision: Why the policy requires an approval.
    """

    subject: CallSubject
    capability: Capability
    arguments: Mapping[str, Json]
    pin: Pin
    state: PinState
    decision: Decision

    @property
    def way_out(self) -> str:
        """The command that approves the capability; if an MCP client calls, for that client only."""
        subject = self.subject
        pattern, serial = map(shlex.quote, (literal_pattern(subject), subject.serial))
        caller = f" --client {shlex.quote(subject.client)}" if subject.client.startswith("mcp:") else ""
        return f"droidgate pins approve {pattern} --serial {serial}{caller}"


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer.

    Attributes:
        allowed: The call may be made.
        remember: Later calls of the capability, as it is declared now, may be made too.
        message: Why it may not, one sentence without a period; empty for the usual words.
        token: The failure token where it may not: `needs_approval` where nobody answered, `denied` where
            somebody said no.
    """

    allowed: bool
    remember: bool = False
    message: str = ""
    token: str = "needs_approval"  # noqa: S105 - a failure token, no secret


Approver = Callable[[ApprovalRequest], Approval]
"""Asks for an approval, on the thread of the call, before anything is sent."""


def refuse(request: ApprovalRequest) -> Approval:
    """Refuse, since nobody can be asked."""
    changed = "has changed since it was approved" if request.state.kind == "changed" else "is not approved"
    return Approval(allowed=False, message=f"{request.subject.capability} {changed}")
