"""Serving over standard input and output."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from droidgate.serving.application import McpServer


async def serve_stdio(application: McpServer) -> None:
    """Serve the one client at the other end until it closes standard input.

    The SDK moves standard output away first: what anything else prints goes to standard error.
    """
    server = application.server
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
