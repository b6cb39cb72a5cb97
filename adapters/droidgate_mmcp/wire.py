"""Calls and results on the wire, as values: extras of a call, and the code, extras and data of a result.

Nothing here sends anything. A Bundle is a mapping; a result is the code with its data and extras.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.failure_tokens import read_failure
from droidgate_mappings.text.json_text import JsonParser
from droidgate_mmcp.format import NAMES
from droidgate_mmcp.tool_manifest import write_json

RESULT_OK: Final = int(NAMES["result_ok"])
RESULT_CANCELED: Final = int(NAMES["result_canceled"])
BROADCAST_ERROR: Final = int(NAMES["broadcast_error_code"])
BROADCAST_INITIAL: Final = 0
"""The code of a broadcast whose receiver sets none; it is the one with which droidgate and `am` send."""

NO_DETAILS: Final = "cancelled or unknown tool"
_NO_ANSWER: Final = "the receiver set no result, or its app ended; the call may have run"
_NO_ERROR_TEXT: Final = "the receiver reported a failure and gave no message"
_UNREADABLE: Final = "the app reported success, but its result is not a text"

_RESULT: Final = Place(path="<result>")
_TOKEN_OF_TEXT: Final = (
    (NAMES["unknown_tool_text"], "unknown_capability"),
    (NAMES["missing_argument_text"], "invalid_argument"),
    (NAMES["invalid_argument_text"], "invalid_argument"),
    (NAMES["error_text"], "backend_failure"),
)


@dataclass(frozen=True, slots=True)
class MmcpToolCall:
    """One call: the tool's name and its arguments."""

    tool: str
    arguments: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MmcpToolFailure:
    """Why a call failed: a token of mappings' `failure_tokens`, and the app's own words."""

    token: str
    message: str


@dataclass(frozen=True, slots=True)
class MmcpToolResult:
    """The outcome of a call.

    Attributes:
        values: The named results; empty where it failed.
        failure: Why it failed, None where it did not.
        hint: The token that a successful result's text resembles, where the wire does not mark failures.
        value: The result as it came, before it had names: the JSON value, or the text where it is not JSON.
        text: The text that the value was read from, None where the app answered with no text.
        is_missing: The call succeeded and its answer has no result.
    """

    values: dict[str, Json] = field(default_factory=dict)
    failure: MmcpToolFailure | None = None
    hint: str | None = None
    value: Json = field(default=None, compare=False)
    text: str | None = field(default=None, compare=False)
    is_missing: bool = field(default=False, compare=False)


def write_activity_call(call: MmcpToolCall) -> dict[str, str]:
    """Return the String extras of an ACTION_TOOL_CALL Intent (mMCP spec section 3)."""
    return {NAMES["tool_extra"]: call.tool, NAMES["parameters_extra"]: write_json(call.arguments)}


def read_activity_result(
    code: int, extras: Mapping[str, Json] | None, context: ReadingContext
) -> MmcpToolResult:
    """Read an activity's result code and extras (rows M44, M45).

    A strict context takes a successful result's text as it is, even if it begins as an error.
    """
    result_extras = extras or {}
    result = result_extras.get(NAMES["result_extra"])
    if code == RESULT_OK:
        is_missing = NAMES["result_extra"] not in result_extras
        return MmcpToolResult(is_missing=True) if is_missing else _read_ok(result, context)
    if code != RESULT_CANCELED:
        text = _first_text(result_extras, result) or f"the activity answered with the result code {code}"
        return _failed(text, "backend_failure")
    reason = _first_text(result_extras, result)
    return _failed(NO_DETAILS, "canceled") if reason is None else _failed(reason, "backend_failure")


def write_broadcast_call(call: MmcpToolCall) -> dict[str, str]:
    """Return the String extras of an invoke broadcast."""
    return {
        NAMES["broadcast_tool_extra"]: call.tool,
        NAMES["broadcast_parameters_extra"]: write_json(call.arguments),
    }


def read_broadcast_result(
    code: int, data: str | None, context: ReadingContext, *, hints_count: bool = False
) -> MmcpToolResult:
    """Read a broadcast's result code and data (row M48).

    A code that the receiver set is an answer, also without data.

    Args:
        code: The result code.
        data: The result data.
        context: Takes the deviations that were accepted.
        hints_count: A text that resembles a failure is one. The data is what the receiver set, so the text
            `null` is an answer.
    """
    if data is None and code == BROADCAST_ERROR:
        return MmcpToolResult(failure=MmcpToolFailure("backend_failure", _NO_ERROR_TEXT))
    if data is None:
        is_set = code != BROADCAST_INITIAL
        return MmcpToolResult(
            is_missing=is_set, failure=None if is_set else MmcpToolFailure("backend_failure", _NO_ANSWER)
        )
    value = _value_of(data, context.parse)
    error = value.get(NAMES["error_extra"]) if isinstance(value, dict) else None
    if code == BROADCAST_ERROR and isinstance(error, str):
        message = f"result code {BROADCAST_ERROR} with an error text is read as a failure"
        context.allow("M48", message, source=_RESULT)
        return _failed(error, "backend_failure")
    # A client that got no answer in time passes on the text `null`.
    hint = "timeout" if data.strip() == NAMES["no_answer_text"] else _token_of(data)
    if hints_count and hint is not None and hint != "timeout":
        return _failed(data, hint)
    return MmcpToolResult(_named_values(value, data), hint=hint, value=value, text=data)


def _read_ok(result: Json, context: ReadingContext) -> MmcpToolResult:
    if result is None:
        return MmcpToolResult(failure=MmcpToolFailure("malformed_response", _UNREADABLE))
    token = _token_of(result) if isinstance(result, str) and not context.strict else None
    if token is not None:
        context.allow(
            "M45", "RESULT_OK with a text that begins as an error is read as a failure", source=_RESULT
        )
        return _failed(result, token)
    value = _value_of(result, context.parse)
    return MmcpToolResult(
        _named_values(value, result), value=value, text=result if isinstance(result, str) else None
    )


def _first_text(extras: Mapping[str, Json], result: Json) -> str | None:
    texts = (extras.get(NAMES["error_extra"]), result)
    return next((text for text in texts if isinstance(text, str) and text), None)


def _failed(text: str, otherwise: str) -> MmcpToolResult:
    stripped = text.removeprefix(NAMES["error_text"]).strip()
    token, message = read_failure(stripped)
    return MmcpToolResult(failure=MmcpToolFailure(token or _token_of(text) or otherwise, message))


def _token_of(text: str) -> str | None:
    return next((token for beginning, token in _TOKEN_OF_TEXT if text.startswith(beginning)), None)


def _value_of(result: Json, parse: JsonParser) -> Json:
    """Return the JSON value of a result's text, the text itself where it is not JSON."""
    if not isinstance(result, str):
        return result
    try:
        return parse(result)
    except InputError:
        return result


def _named_values(value: Json, result: Json) -> dict[str, Json]:
    """Return a result as named values (row M44)."""
    if result is None:
        return {}
    if value is result and isinstance(result, str):
        return {"text": result}
    return value if isinstance(value, dict) and isinstance(result, str) else {"value": value}
