"""Requests and responses of Mobile-MCP, to and from plain values (specification 3; reference section 6, rows
1 to 32).

Pure functions over texts and string extras. What travels next to the text (the PendingIntent `mcp_callback`,
a Message's `replyTo`) belongs to the sender. Values are read as they are: coercing and checking them
against a capability's types is the business of `droidgate_mappings.values`.
"""

from __future__ import annotations

from droidgate_mobile_mcp.wire_dialects import WIRE_DIALECTS, WIRE_OF_DIALECT, WireDialect
from droidgate_mobile_mcp.wire_messages import (
    MESSAGE_INVOKE,
    MESSAGE_RESULT,
    MalformedRequestError,
    MalformedResponseError,
    MobileMcpRequest,
    MobileMcpResponse,
    MobileMcpWireError,
    RequestError,
    UnsupportedVersionError,
)
from droidgate_mobile_mcp.wire_requests import identify_request, is_id, read_request, write_request
from droidgate_mobile_mcp.wire_responses import classify_failure, is_trace, read_response, write_response

__all__ = [
    "MESSAGE_INVOKE",
    "MESSAGE_RESULT",
    "WIRE_DIALECTS",
    "WIRE_OF_DIALECT",
    "MalformedRequestError",
    "MalformedResponseError",
    "MobileMcpRequest",
    "MobileMcpResponse",
    "MobileMcpWireError",
    "RequestError",
    "UnsupportedVersionError",
    "WireDialect",
    "classify_failure",
    "identify_request",
    "is_id",
    "is_trace",
    "read_request",
    "read_response",
    "write_request",
    "write_response",
]
