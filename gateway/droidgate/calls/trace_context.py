"""Which distributed trace a call belongs to: W3C Trace Context, as MCP carries it in `_meta` (SEP-414).

A client may send anything, and what is kept is written into the audit log. So a value that is not of the
grammar is dropped, and nothing is said about it: a trace is an aid, never a reason to refuse a call.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"

MAX_STATE: Final = 512
"""Characters of a state: what has to be carried on at least (W3C Trace Context, 3.3.1.5)."""

_MAX_MEMBERS: Final = 32
_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?")
_MEMBER: Final = re.compile(
    r"([a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})"
    r"=[ -+\--<>-~]{0,255}[!-+\--<>-~]"
)
_BLANKS: Final = " \t"
_SAMPLED: Final = 1


@dataclass(frozen=True, slots=True)
class TraceContext:
    """Where a call is in a distributed trace.

    Attributes:
        traceparent: `00-TRACE-PARENT-FLAGS`, each in lower-case hexadecimal.
        tracestate: What tracing systems add, as it was sent; None where it was not, or was dropped.
    """

    traceparent: str
    tracestate: str | None = None


def read_trace_context(values: Mapping[str, object]) -> TraceContext | None:
    """Return the trace context among the members of an object, None where it has none that is valid.

    Args:
        values: Has `traceparent` and maybe `tracestate`, and any other members.
    """
    parent = _read_parent(values.get(TRACEPARENT))
    if parent is None:
        return None
    state = values.get(TRACESTATE)
    return TraceContext(parent, state if isinstance(state, str) and _is_state(state) else None)


def trace_context_of_process() -> TraceContext | None:
    """Return the trace context that the caller of this process has put into the environment, if any."""
    return read_trace_context({name: os.environ.get(name.upper()) for name in (TRACEPARENT, TRACESTATE)})


def _read_parent(value: object) -> str | None:
    match = _PARENT.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        return None
    version, trace, parent, flags, more = match.groups()
    if version == "ff" or not trace.strip("0") or not parent.strip("0"):
        return None
    if version == "00":
        return None if more else match[0]
    # Of a later version, only what version 00 knows is carried on.
    return f"00-{trace}-{parent}-{int(flags, 16) & _SAMPLED:02x}"


def _is_state(text: str) -> bool:
    if len(text) > MAX_STATE:
        return False
    members = [_MEMBER.fullmatch(member) for part in text.split(",") if (member := part.strip(_BLANKS))]
    keys = {match[1] for match in members if match is not None}
    return 0 < len(keys) == len(members) <= _MAX_MEMBERS
