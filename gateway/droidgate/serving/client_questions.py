"""Asking the user of an MCP client whether a call may be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import anyio

from droidgate.calls.approvals import Approval, ApprovalRequest, refuse, shown_arguments
from droidgate.serving.questions import ANSWER_SECONDS
from droidgate.serving.tool_documents import cut
from droidgate.serving.tools import Question, ToolCall, UserAnswer
from droidgate_mappings.text_safety import one_line

_LONGEST_DESCRIPTION: Final = 256
_LONGEST_NAME: Final = 80
_SIGNER_DIGITS: Final = 16
_ONCE: Final = "once"
_ALWAYS: Final = "always"
_CHOICES: Final = {
    _ONCE: "This call",
    _ALWAYS: "This and later calls by this client, until the app changes it",
}


@dataclass(slots=True)
class ClientApprover:
    """Approves one call by asking.

    Attributes:
        call: The call; its client is asked.
        is_pending: The client asks now, and then repeats the call; this attempt ends without an answer.
    """

    call: ToolCall
    is_pending: bool = False

    def __call__(self, request: ApprovalRequest) -> Approval:
        """Ask; in the thread that makes the call."""
        answer: UserAnswer = anyio.from_thread.run(self.call.ask, question_of(request, self.call.client.name))
        if answer.outcome == "accepted":
            return Approval(allowed=True, remember=answer.fields["approve"] == _ALWAYS)
        if answer.outcome == "refused":
            return Approval(allowed=False, message="the user refused the call", token="denied")  # noqa: S106
        self.is_pending = answer.outcome == "pending"
        refusal = refuse(request)
        if answer.outcome == "unanswered":
            message = f"{refusal.message}, and the user did not answer within {ANSWER_SECONDS:g} s"
            return Approval(allowed=False, message=message, token=refusal.token)
        message = f"{refusal.message}, and this client cannot ask its user; only the user can approve it"
        return Approval(allowed=False, message=message, token=refusal.token)


def question_of(request: ApprovalRequest, client: str) -> Question:
    """Return what the user is asked; what the app says comes last, on a line of its own.

    Where an argument is not shown whole, only this call can be approved.
    """
    subject = request.subject
    changed = f"Attention: {request.change}.\n" if request.change else ""
    shown = shown_arguments(request.arguments)
    arguments = "".join(f"\n- {line}" for line in shown.lines) or " none"
    lengths = f" ({len(shown.lines)}, each with its length)" if shown.lines else ""
    description = cut(one_line(request.capability.description or ""), _LONGEST_DESCRIPTION)
    message = (
        f"{cut(one_line(client), _LONGEST_NAME)} wants to call {one_line(subject.capability)}\n"
        f"of the app {one_line(subject.package)} on {one_line(subject.serial)}, "
        f"signed by {request.pin.signer[:_SIGNER_DIGITS]}.\n"
        f"{changed}Arguments{lengths}:{arguments}\n"
        f"Text of the app: {description or 'none'}"
    )
    return Question(f"approve {request.pin.digest}", message, _schema(may_be_always=not shown.is_cut))


def _schema(*, may_be_always: bool) -> dict[str, Any]:
    offered = [_ONCE, _ALWAYS] if may_be_always else [_ONCE]
    choices = [{"const": choice, "title": _CHOICES[choice]} for choice in offered]
    return {
        "type": "object",
        "properties": {"approve": {"type": "string", "title": "Approve", "oneOf": choices}},
        "required": ["approve"],
    }
