"""Asking the user of an MCP client during a call: any question, and whether the call may be made.

Up to 2025-11-25 the server sends `elicitation/create` and waits. 2026-07-28 has no requests from a server:
the call ends with an input-required result, and the client repeats it with the answers. The server keeps
nothing in between; `requestState` says what was asked, sealed by the SDK for this tool and these arguments,
so that an answer counts for the question that was shown and for no other.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

import anyio
import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError, NoBackChannelError
from pydantic import ValidationError

from droidgate.calls.approvals import Approval, ApprovalRequest, refuse, shown_arguments
from droidgate.serving.tool_documents import cut
from droidgate.serving.tools import ToolCall, UserAnswer, UserQuestion
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text_safety import one_line
from droidgate_mcp.format import MODERN

ANSWER_SECONDS: Final = 300.0
"""Seconds to wait for an answer up to 2025-11-25; the call waits even if the client has gone."""

_OUTCOMES: Final[Mapping[str, Any]] = {"accept": "accepted", "decline": "refused", "cancel": "refused"}
_ACTIONS: Final = {"accepted": "accept", "refused": "decline"}
_UNAVAILABLE: Final = UserAnswer("unavailable")
_INVALID: Final = UserAnswer("invalid")


class Questions:
    """The questions of one call.

    Args:
        context: The request.
        parameters: Its parameters, with the answers of the user where this is a repeated call.

    Attributes:
        asked_before: Key of each question that earlier attempts of the call asked -> its `call`.
    """

    def __init__(
        self, context: ServerRequestContext[Any, Any], parameters: mcp_types.CallToolRequestParams
    ) -> None:
        self._context = context
        self._responses = parameters.input_responses or {}
        # Question's key -> its digest and call, and the answer where the user has given it.
        self._asked: dict[str, Any] = json.loads(parameters.request_state or "{}")
        self.asked_before = {key: str(record["call"]) for key, record in self._asked.items()}
        self._pending: dict[str, UserQuestion] = {}

    @property
    def can_ask(self) -> bool:
        """Whether the client shows forms to its user."""
        capabilities = self._context.session.client_capabilities
        elicitation = capabilities.elicitation if capabilities is not None else None
        # A client that names only `url` shows no forms; one that names neither shows them (2025-11-25).
        return elicitation is not None and (elicitation.form is not None or elicitation.url is None)

    async def ask(self, question: UserQuestion) -> UserAnswer:
        """Ask the user, or return what the user answered before this attempt of the call."""
        if not self.can_ask:
            return _UNAVAILABLE
        if self._context.protocol_version == MODERN:
            return self._answer_or_pending(question)
        try:
            with anyio.fail_after(ANSWER_SECONDS):
                result = await self._context.session.elicit_form(
                    question.message, dict(question.schema), related_request_id=self._context.request_id
                )
        except TimeoutError:
            return UserAnswer("unanswered")
        except ValidationError:
            return _INVALID
        except (MCPError, NoBackChannelError):
            return _UNAVAILABLE
        return answer_of(result, question) or _INVALID

    def _answer_or_pending(self, question: UserQuestion) -> UserAnswer:
        record = self._asked.get(question.key)
        if record is not None and record["digest"] == _digest(question):
            response = self._responses.get(question.key, record.get("answer"))
            if response is not None:
                answer = answer_of(response, question)
                if answer is None:
                    return _INVALID
                record["answer"] = {"action": _ACTIONS[answer.outcome], "content": dict(answer.fields)}
                return answer
        self._asked[question.key] = {"digest": _digest(question), "call": question.call}
        self._pending[question.key] = question
        return UserAnswer("pending")

    def input_required(self) -> mcp_types.InputRequiredResult | None:
        """Return the result that makes the client ask, or None where nothing is pending."""
        if not self._pending:
            return None
        requests: dict[str, mcp_types.InputRequest] = {
            question.key: elicit_request(question) for question in self._pending.values()
        }
        return mcp_types.InputRequiredResult(
            input_requests=requests, request_state=canonical_json(self._asked)
        )


def elicit_request(question: UserQuestion) -> mcp_types.ElicitRequest:
    """Return the request that asks a question."""
    form = mcp_types.ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
    return mcp_types.ElicitRequest(params=form)


def answer_of(response: Any, question: UserQuestion) -> UserAnswer | None:
    """Return the answer, or None where there is none or it is not what the form asks for."""
    try:
        result = mcp_types.ElicitResult.model_validate(response, from_attributes=True)
    except ValidationError:
        return None
    import jsonschema

    outcome = _OUTCOMES[result.action]
    fields: dict[str, Json] = dict(result.content or {})
    if outcome == "accepted" and not jsonschema.Draft202012Validator(question.schema).is_valid(fields):
        return None
    return UserAnswer(outcome, fields if outcome == "accepted" else {})


def _digest(question: UserQuestion) -> str:
    question_text = canonical_json({"message": question.message, "schema": dict(question.schema)})
    return hashlib.sha256(question_text.encode("utf-8", "surrogatepass")).hexdigest()


_LONGEST_IN_A_QUESTION: Final = 256
_LONGEST_NAME: Final = 80
_SIGNER_DIGITS: Final = 16
_CANNOT_ASK: Final = "this client cannot ask its user; only the user can approve it"
_WHY_NOT: Final = {
    "unanswered": f"the user did not answer within {ANSWER_SECONDS:g} s",
    "invalid": "the client's answer is not what its form asks for; nothing was sent",
}
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
        # A repeated call knows of another app only by what the client was asked before.
        is_asked_anew = request.is_asked_anew or bool(self.call.asked.keys() - {_key_of(request)})
        question = question_of(replace(request, is_asked_anew=is_asked_anew), self.call.client.name)
        answer: UserAnswer = anyio.from_thread.run(self.call.ask, question)
        if answer.outcome == "accepted":
            return Approval(allowed=True, remember=answer.fields["approve"] == _ALWAYS)
        if answer.outcome == "refused":
            return Approval(allowed=False, message="the user refused the call", token="denied")  # noqa: S106
        self.is_pending = answer.outcome == "pending"
        refusal = refuse(request)
        return replace(refusal, message=f"{refusal.message}, and {_WHY_NOT.get(answer.outcome, _CANNOT_ASK)}")


def question_of(request: ApprovalRequest, client: str) -> UserQuestion:
    """Return what the user is asked; what the app says comes last, on a line of its own.

    Where an argument is not shown whole, only this call can be approved.
    """
    subject = request.subject
    changed = f"Attention: {request.change}.\n" if request.change else ""
    arguments_text = shown_arguments(request.arguments)
    arguments = "".join(f"\n- {line}" for line in arguments_text.lines) or " none"
    lengths = f" ({len(arguments_text.lines)}, each with its length)" if arguments_text.lines else ""
    description = cut(one_line(request.capability.description or ""), _LONGEST_IN_A_QUESTION)
    message = (
        f"{cut(one_line(client), _LONGEST_NAME)} wants to call {one_line(subject.capability)}\n"
        f"of the app {one_line(subject.package)} on {one_line(subject.serial)}, "
        f"signed by {request.pin.signer[:_SIGNER_DIGITS]}.\n"
        f"{changed}Arguments{lengths}:{arguments}\n"
        f"Text of the app: {description or 'none'}"
    )
    schema = _approval_schema(may_be_always=not arguments_text.is_cut)
    return UserQuestion(_key_of(request), message, schema, request.call)


def _key_of(request: ApprovalRequest) -> str:
    return f"approve {request.pin.digest}"


def _approval_schema(*, may_be_always: bool) -> dict[str, Any]:
    offered = [_ONCE, _ALWAYS] if may_be_always else [_ONCE]
    choices = [{"const": choice, "title": _CHOICES[choice]} for choice in offered]
    return {
        "type": "object",
        "properties": {"approve": {"type": "string", "title": "Approve", "oneOf": choices}},
        "required": ["approve"],
    }
