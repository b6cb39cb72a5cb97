"""What can be seen of an mMCP tool that is called: an activity (the specification's form), a receiver.

The form by broadcast has no specification; its rules are what its only agent needs (reference
mobile-mcp-and-mmcp 3.3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

from droidgate.agents.agent_client import AgentClient, ToolComponent
from droidgate.agents.live_calls import (
    BROADCAST_DISCOVERY,
    BROADCAST_INVOKE,
    MMCP_CALL,
    LiveAnswer,
    ask,
    reported_tools,
    tool_names,
)
from droidgate.agents.rule_checks import NOT_ALLOWED, UNKNOWN_NAME, CheckVerdict, RuleCheck
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.findings import Level, LintRule, LintRules
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import parse_json
from droidgate_mappings.text.nearest_names import suggest_name

_BOOK: Final = LintRules("mMCP", __name__, "mmcp-live-")
_rule = partial(_BOOK.declare, Level.ERROR)

ENDS: Final = _rule(
    "activity-result", "3", "The activity of a tool ends with a result, also for a call that it refuses"
)
RESULT: Final = _rule(
    "activity-output", "reference row 44", "A call that succeeds ends with RESULT_OK and the extra result"
)
TOOLS: Final = _rule(
    "broadcast-tools", "reference 3.3", "A receiver reports its tools as the string array tools"
)
DESCRIBED: Final = _rule(
    "broadcast-parameters",
    "reference 3.3",
    "A receiver reports a description of each tool, and its parameters as a JSON object",
)
DATA: Final = _rule(
    "broadcast-data", "reference 3.3", "A receiver answers each call with a text, also one that it refuses"
)

RULES: Final = _BOOK.by_id
"""Every rule by id."""

_RESULT_OK: Final = -1
_RESULT_CANCELED: Final = 0


def _check_calls(component: ToolComponent, names: list[str] | None, calls: Mapping[str, object]) -> None:
    for name in calls:
        if names is not None and name not in names:
            message = f'unknown tool "{name}" of {component.component}'
            raise UsageError(message, hint=suggest_name(name, names))


def _refused_calls(names: list[str] | None) -> list[tuple[str, str]]:
    """Return tools and parameters that a right app refuses."""
    return [(UNKNOWN_NAME, "{}"), *((name, "not JSON") for name in (names or [])[:1])]


def check_activity(
    client: AgentClient,
    component: ToolComponent,
    calls: Mapping[str, Mapping[str, Json]],
    *,
    seconds: float,
) -> Iterator[RuleCheck]:
    """Yield what each rule says of an activity.

    Args:
        client: The agent.
        component: The activity.
        calls: Calls that may be carried out, the arguments by tool.
        seconds: How long a result may take.

    Raises:
        UsageError: the manifest does not declare the tool of a call.
        DeviceError: the phone or the agent fails.
    """
    names = tool_names(client, component, seconds=seconds)
    _check_calls(component, names, calls)

    def call(tool: str, parameters: str) -> tuple[str, LiveAnswer]:
        extras = {"tool_name": tool, "parameters": parameters}
        answer = ask(
            client, component.component, extras, transport="activity", action=MMCP_CALL, seconds=seconds
        )
        return json.dumps(extras), answer

    def check(rule: LintRule, sent: str, answer: LiveAnswer, problem: str | None) -> RuleCheck:
        return _check(rule, component, "activity", sent, answer, problem)

    exchanges = [call(*each) for each in _refused_calls(names)]
    silent = next(((sent, answer) for sent, answer in exchanges if not answer.is_answer), None)
    sent, answer = silent or exchanges[0]
    yield check(ENDS, sent, answer, _unanswered(answer, seconds) if silent else None)
    for name, arguments in calls.items():
        sent, answer = call(name, json.dumps(arguments))
        refusal = _refusal(answer)
        if refusal is not None:
            reason = f"the app refuses {name}: {refusal}"
            yield RuleCheck(RESULT, component.component, "activity", "not-checked", reason)
            continue
        yield check(RESULT, sent, answer, _unanswered(answer, seconds) or _result_problem(answer))
    if not calls:
        yield RuleCheck(RESULT, component.component, "activity", "not-checked", NOT_ALLOWED)


def _refusal(answer: LiveAnswer) -> str | None:
    """Return why an activity did not carry a call out; None where it does not say so (reference row 45)."""
    if answer.event is None or answer.event.fields.get("code") != _RESULT_CANCELED:
        return None
    error = answer.event.extras.get("error")
    return str(error.get("value")) if error is not None and error.get("kind") == "string" else None


def _result_problem(answer: LiveAnswer) -> str | None:
    event = answer.event
    if event is None or event.fields.get("code") != _RESULT_OK:
        return "the result is not RESULT_OK"
    result = event.extras.get("result")
    return None if result is not None and result.get("kind") == "string" else "the extra result is not a text"


def check_receiver(
    client: AgentClient,
    component: ToolComponent,
    calls: Mapping[str, Mapping[str, Json]],
    *,
    seconds: float,
) -> Iterator[RuleCheck]:
    """Yield what each rule says of a receiver; arguments and errors as for `check_activity`."""
    discovery = ask(
        client, component.component, {}, transport="broadcast", action=BROADCAST_DISCOVERY, seconds=seconds
    )
    names = reported_tools(discovery)
    problem = _unanswered(discovery, seconds) or (
        None if names is not None else "there is no string array tools"
    )
    yield _check(TOOLS, component, "broadcast", BROADCAST_DISCOVERY, discovery, problem)
    if names is None:
        yield RuleCheck(DESCRIBED, component.component, "broadcast", "not-checked", "no tools are reported")
    else:
        problem = next(filter(None, (_description_problem(discovery, name) for name in names)), None)
        yield _check(DESCRIBED, component, "broadcast", BROADCAST_DISCOVERY, discovery, problem)
    _check_calls(component, names, calls)
    texts = _refused_calls(names) + [(name, json.dumps(arguments)) for name, arguments in calls.items()]
    first: tuple[str, LiveAnswer] | None = None
    for tool, params in texts:
        extras = {"tool": tool, "params": params}
        answer = ask(
            client,
            component.component,
            extras,
            transport="broadcast",
            action=BROADCAST_INVOKE,
            seconds=seconds,
        )
        first = first or (json.dumps(extras), answer)
        data = None if answer.event is None else answer.event.fields.get("data")
        problem = _unanswered(answer, seconds) or (
            None if isinstance(data, str) else "the result has no data"
        )
        if problem is not None:
            yield _check(DATA, component, "broadcast", json.dumps(extras), answer, problem)
            return
    if first is not None:
        yield _check(DATA, component, "broadcast", *first, None)


def _description_problem(answer: LiveAnswer, name: str) -> str | None:
    extras = {} if answer.event is None else answer.event.extras
    description, parameters = extras.get(f"{name}.description"), extras.get(f"{name}.parameters")
    if description is None or description.get("kind") != "string":
        return f'there is no text "{name}.description"'
    try:
        read = parse_json(str((parameters or {}).get("value")), path=f"{name}.parameters")
    except InputError:
        read = None
    return None if isinstance(read, dict) else f'"{name}.parameters" is not a JSON object'


def _unanswered(answer: LiveAnswer, seconds: float) -> str | None:
    if answer.event is None:
        return f"no answer in {seconds:g} seconds"
    return None if answer.is_answer else f"Android refused the call: {answer.event.fields.get('message')}"


def _check(
    rule: LintRule,
    component: ToolComponent,
    transport: str,
    sent: str,
    answer: LiveAnswer,
    problem: str | None,
) -> RuleCheck:
    event = answer.event
    verdict: CheckVerdict = "passed" if problem is None else "failed"
    received = () if event is None else (json.dumps(event.document(), ensure_ascii=False),)
    return RuleCheck(rule, component.component, transport, verdict, problem or "", (sent,), received)
