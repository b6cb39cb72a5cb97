"""Asking the user of an MCP client whether a call may be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import anyio

from droidgate.calling.approvals import Approval, ApprovalRequest, refuse
from droidgate.model.json_values import canonical_json
from droidgate.serving.documents import cut
from droidgate.serving.questions import ANSWER_SECONDS
from droidgate.serving.tools import Question, ToolCall, UserAnswer
from droidgate.text_safety import one_line

_LONGEST_ARGUMENTS: Final = 1_024
_LONGEST_DESCRIPTION: Final = 256
_ONCE: Final = "once"
_ALWAYS: Final = "always"
_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "approve": {
            "type": "string",
            "title": "Approve",
            "oneOf": [
                {"const": _ONCE, "title": "This call"},
                {"const": _ALWAYS, "title": "This and later calls by this client, until the app changes it"},
            ],
        }
    },
    "required": ["approve"],
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
    """Return what the user is asked; what the app says comes last, on a line of its own."""
    subject = request.subject
    changed = (
        "The app has changed what it declares since you approved it.\n"
        if request.state.kind == "changed"
        else ""
    )
    arguments = one_line(cut(canonical_json(dict(request.arguments)), _LONGEST_ARGUMENTS))
    description = cut(one_line(request.capability.description or ""), _LONGEST_DESCRIPTION)
    message = (
        f"{one_line(client)} wants to call {one_line(subject.capability)}\n"
        f"of the app {one_line(subject.package)} on {one_line(subject.serial)}.\n"
        f"{changed}Arguments: {arguments}\n"
        f"Text of the app: {description or 'none'}"
    )
    return Question(f"approve {request.pin.digest[:16]}", message, _SCHEMA)
