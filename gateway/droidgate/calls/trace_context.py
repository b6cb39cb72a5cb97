"""Which distributed trace a call belongs to: W3C Trace Context, as MCP carries it in `_meta` (SEP-414).

A client may send anything, and what is kept is written into the audit log. So a value that is not of the
grammar is dropped, and nothing is said about it: a trace is an aid, never a reason to refuse a call.
"""

from __future__ import annotations

import re
from typing import Final

TRACEPARENT: Final = "traceparent"

_PARENT: Final = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[!-~]*)?")
_SAMPLED: Final = 1


def read_traceparent(value: object) -> str | None:
    """Return `00-TRACE-PARENT-FLAGS`, each in lower-case hexadecimal; None for anything that is not valid."""
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
