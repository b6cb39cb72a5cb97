"""Serving over standard input and output."""

from __future__ import annotations

import logging
from typing import Final

from mcp.server.stdio import stdio_server

from droidgate.serving.application import McpServer

_log: Final = logging.getLogger(__name__)


async def serve_stdio(application: McpServer) -> None:
    """Serve the one client at the other end until it closes standard input, or reads no more.

    The SDK moves standard output away first: what anything else prints goes to standard error.
    """
    server = application.server
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    except* BrokenPipeError:
        _log.info("the client has gone")
