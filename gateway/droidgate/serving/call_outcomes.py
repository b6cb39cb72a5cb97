"""What a client gets of a call: its value as the output schema requires it, notes, and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from droidgate.calls.caller import ARGUMENT_COERCED, RESULT_COERCED
from droidgate.serving.tools import ToolOutcome
from droidgate_mappings.model.capability import type_behind
from droidgate_mappings.model.errors import DeviceError, DroidgateError, UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, ObjectType, Type
from droidgate_mappings.text_safety import visible
from droidgate_mappings.values.failures import CallError
from droidgate_mcp.wire import McpToolFailure, McpToolResult

MAX_NOTES: Final = 20
"""Most texts in a result that say what droidgate noticed."""

_OF_CODES: Final = {ARGUMENT_COERCED: "argument", RESULT_COERCED: "result"}


def with_nulls(value: Json, declared: Type, definitions: Mapping[str, Type]) -> Json:
    """Return a value in which each property that is required, may be null and is absent, is null.

    Args:
        value: As `droidgate_mappings.values` fitted it.
        declared: What the capability declares.
        definitions: Its provider's.
    """
    behind = type_behind(declared, definitions)
    if isinstance(behind, ArrayType) and isinstance(value, list) and behind.items is not None:
        return [with_nulls(item, behind.items, definitions) for item in value]
    if not isinstance(behind, ObjectType) or not isinstance(value, Mapping):
        return value
    properties = behind.properties
    completed: dict[str, Json] = {
        name: with_nulls(item, properties[name].type, definitions) if name in properties else item
        for name, item in value.items()
    }
    for name, member in properties.items():
        may_be_null = member.type.nullable or type_behind(member.type, definitions).nullable
        if member.required and may_be_null and name not in completed:
            completed[name] = None
    return completed


def warning_text(finding: Finding) -> str:
    """Return a finding of a call in one line."""
    place = f"{_OF_CODES.get(finding.code, '')} {finding.pointer}".strip()
    return f"{place}: {finding.message}" if place else finding.message


def notes_of(texts: Sequence[str]) -> tuple[Json, ...]:
    """Return what droidgate noticed as texts of a result; the app decides how much that is."""
    omitted_count = len(texts) - MAX_NOTES
    notes = [*texts[:MAX_NOTES], *([f"and {omitted_count:,} more"] if omitted_count > 0 else [])]
    return tuple({"type": "text", "text": f"[Note from droidgate] {visible(text)}"} for text in notes)


def failed_call(token: str, message: str) -> ToolOutcome:
    """Return a failed call, given the token and words of its failure."""
    # The message may have texts of the app.
    return ToolOutcome(McpToolResult(failure=McpToolFailure(token, visible(message))))


def failure_of(error: DroidgateError) -> ToolOutcome:
    """Return what a model reads of an error: its message without the hint, which may say how to approve."""
    if isinstance(error, CallError):
        # Every problem has the pointer of its argument.
        return failed_call(
            error.failure.token, "\n".join(problem.failure.text for problem in (error, *error.others))
        )
    if isinstance(error, DeviceError):
        if error.is_of_sent_call:
            return failed_call("interrupted", f"the app may have finished the call: {error.located}")
        return failed_call("unavailable", error.located)
    return failed_call("unavailable" if isinstance(error, UsageError) else "backend_failure", error.message)
