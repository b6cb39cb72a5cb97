"""The SDK's own client, for each transport and each protocol revision."""

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from gateway.serving.running_servers import TOKEN, RunningServer

REVISIONS = {"2025-11-25": "legacy", "2026-07-28": "2026-07-28"}
TRANSPORTS = ("stdio", "http")
Ask = Callable[[str], mcp_types.ElicitResult]


def client_options(
    revision: str, ask: Ask | None = None, *, name: str = "Test Client", **options: Any
) -> dict[str, Any]:
    chosen: dict[str, Any] = {"mode": REVISIONS[revision], "cache": None, **options}
    chosen["client_info"] = mcp_types.Implementation(name=name, version="1")
    if ask is not None:

        async def answer(_context: Any, parameters: Any) -> mcp_types.ElicitResult:
            return ask(parameters.message)

        chosen["elicitation_callback"] = answer
    return chosen


@asynccontextmanager
async def http_client(
    server: RunningServer, revision: str, ask: Ask | None = None, **options: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(server.url, http_client=http)
        async with Client(transport, **client_options(revision, ask, **options)) as client:
            yield client


@asynccontextmanager
async def stdio_client(
    revision: str, ask: Ask | None = None, *words: str, **options: Any
) -> AsyncIterator[Client]:
    program = Path(__file__).with_name("stdio_server.py")
    parameters = StdioServerParameters(command=sys.executable, args=[str(program), *words])
    async with Client(parameters, **client_options(revision, ask, **options)) as client:
        yield client
