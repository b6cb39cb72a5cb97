"""Results to write on the wire, as JSON values: `tools/call` in both revisions, and JSON-RPC errors.

Nothing here sends anything. Up to 2025-11-25 structured content is an object, so any other value is under
`result` in it, as the tool's output schema was written. 2026-07-28 takes every JSON value, but the official
SDK leaves null out, and its client then raises although the call was made: what may be null is under `result`
there, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Final

from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.type_qualities import is_always_object, may_be_null
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.tables.failure_tokens import load_failure_tokens, write_failure
from droidgate_mcp.format import HANDSHAKE, MODERN

INTERNAL_ERROR: Final = -32603

_DONE: Final = "Done."
_RESULT: Final = "result"
_COMPLETE: Final = "complete"


@dataclass(frozen=True)
class DeclaredOutput:
    """What a tool's provider declares that it returns: its output before it was fitted into MCP."""

    output: Type | None = None
    definitions: Mapping[str, Type] = field(default_factory=dict)

    def is_wrapped(self, revision: str) -> bool:
        """Return whether the value is under `result`, in the schema of revision 2025-11-25."""
        return not self._is_object and (revision == HANDSHAKE or self.may_be_null)

    @cached_property
    def _is_object(self) -> bool:
        return self.output is not None and is_always_object(self.output, self.definitions)

    @cached_property
    def may_be_null(self) -> bool:
        """Whether null is a value that the tool declares."""
        return self.output is not None and may_be_null(self.output, self.definitions)

    def misses(self, value: Json) -> bool:
        """Return whether a value is not there although the tool declares one."""
        return value is None and self.output is not None and not self.may_be_null

    @property
    def is_void(self) -> bool:
        """Nothing is returned."""
        return self.output is not None and self.output.kind == "null"


@dataclass(frozen=True, slots=True)
class McpToolFailure:
    """Why a call failed: a token of mappings' `failure_tokens`, and the words for it."""

    token: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class McpToolResult:
    """The outcome of a call.

    Attributes:
        value: The value returned, None where nothing is.
        failure: Why it failed, None where it did not.
        content: Further content blocks, such as images, as they are.
    """

    value: Json = None
    failure: McpToolFailure | None = None
    content: tuple[Json, ...] = ()


def write_result(
    result: McpToolResult, revision: str, declared: DeclaredOutput | None = None
) -> dict[str, Json]:
    """Return a `tools/call` result: structured content where an output is declared, and text for all.

    The schema of the output is that of the revision, or of 2025-11-25 if `DeclaredOutput.is_wrapped`.

    Args:
        result: The outcome of the call; a failure becomes a result with `isError`.
        revision: The protocol revision.
        declared: What the tool declares.
    """
    written: dict[str, Json] = {"resultType": _COMPLETE} if revision == MODERN else {}
    if result.failure is not None:
        text = write_failure(result.failure.token, result.failure.message)
        return {**written, "content": [_text_block(text), *result.content], "isError": True}
    declares_output = declared is not None and declared.output is not None
    if declares_output and declared is not None:
        written["structuredContent"] = _structured(result.value, revision, declared)
    return {**written, "content": [_text_block(result_text(result.value, declared)), *result.content]}


def _structured(value: Json, revision: str, declared: DeclaredOutput) -> Json:
    if not declared.is_wrapped(revision):
        return value
    return {} if declared.is_void else {_RESULT: value}


def _text_block(text: str) -> dict[str, Json]:
    return {"type": "text", "text": text}


def result_text(value: Json, declared: DeclaredOutput | None) -> str:
    """Return a result as a text, which is never empty: some clients and models refuse empty ones."""
    if value is None and (declared is None or declared.is_void or not declared.may_be_null):
        return _DONE
    return value if isinstance(value, str) and value else canonical_json(value)


def write_error(failure: McpToolFailure) -> dict[str, Json]:
    """Return a JSON-RPC error object for a failure."""
    code = load_failure_tokens()[failure.token].mcp_error
    message = write_failure(failure.token, failure.message)
    return {"code": INTERNAL_ERROR if code == "result" else code, "message": message}
