"""Who sends a request, from what the MCP session knows of its client."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp.server.context import ServerRequestContext

from droidgate.serving.tools import Client
from droidgate_mappings.text_safety import MAX_NAME, without_hidden

_NOT_ID: Final = re.compile(r"[^a-z0-9._-]+")
_UNNAMED: Final = "unnamed"


def client_of(context: ServerRequestContext[Any, Any]) -> Client:
    """Return the client that sent a request, by the name it gave in its handshake or with its request."""
    session = context.session
    parameters = session.client_params
    given = "" if parameters is None else parameters.client_info.name
    name = without_hidden(given).strip()[:MAX_NAME]
    return Client(
        id=f"mcp:{_NOT_ID.sub('-', name.lower()).strip('-') or _UNNAMED}",
        name=name or _UNNAMED,
        revision=session.protocol_version,
    )
