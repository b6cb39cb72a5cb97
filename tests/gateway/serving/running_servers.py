"""A server of fixture tools in a thread, on a free port of loopback, and the SDK's own clients."""

import asyncio
import http.client
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import mcp_types
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from droidgate.serving.http_transport import FrontDoor, HttpAddress, http_application, http_server, listen
from droidgate.serving.mobile_agent.mobile_agent_server import MobileAgentServer
from droidgate.serving.server_application import McpServer
from droidgate.serving.tokens import TokenCheck
from droidgate.serving.tools import ToolProvider

TOKEN = "test-token-of-at-least-22-characters"
HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "Authorization": f"Bearer {TOKEN}",
}
META: dict[str, Any] = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass(frozen=True)
class RunningServer:
    address: HttpAddress
    door: FrontDoor

    @property
    def port(self) -> int:
        return self.address.port

    @property
    def url(self) -> str:
        return self.address.url


@contextmanager
def running_application(
    application: McpServer | MobileAgentServer, token: str | None, *, stateless: bool = False
) -> Iterator[RunningServer]:
    with listen(HttpAddress("127.0.0.1", 0)) as (listener, address):
        check = None if token is None else TokenCheck(token)
        door = http_application(application, address, check, stateless=stateless)
        server = http_server(door)
        thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listener]),))
        thread.start()
        try:
            yield RunningServer(address, door)
        finally:
            server.should_exit = True
            thread.join(120)


@contextmanager
def running_server(provider: ToolProvider, *, token: str | None = TOKEN) -> Iterator[RunningServer]:
    with running_application(McpServer(provider), token) as server:
        yield server


def message(method: str, identifier: Any = 1, **parameters: Any) -> bytes:
    """Return a request as JSON, or a notification where the id is `...`."""
    sent = {"jsonrpc": "2.0", "method": method, "params": parameters}
    return json.dumps(sent if identifier is ... else {**sent, "id": identifier}).encode()


def initialize(version: str = "2025-11-25", **capabilities: Any) -> bytes:
    client = {"name": "test", "version": "1"}
    return message("initialize", protocolVersion=version, capabilities=capabilities, clientInfo=client)


INITIALIZED = message("notifications/initialized", ...)


def open_request(
    server: RunningServer, method: str, headers: Mapping[str, str | None], body: bytes | Iterable[bytes]
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    """Send a request with `HEADERS` and others, without those that are None."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    sent = {name: value for name, value in {**HEADERS, **headers}.items() if value is not None}
    connection.request(method, "/mcp", body, sent)
    return connection, connection.getresponse()


def session_of(server: RunningServer) -> str:
    """Return a new session of an older client."""
    session = ""
    for body in (initialize(), INITIALIZED):
        connection, response = open_request(server, "POST", {"Mcp-Session-Id": session or None}, body)
        session = session or str(response.headers["Mcp-Session-Id"])
        response.read()
        connection.close()
    return session


HOSTILE_HEADERS = {
    "Last-Event-ID": (b"x", b"0", b"\xff", b"a" * 8_000),
    "Mcp-Session-Id": (b"", b"x", b"\xff\xfe", b"a" * 8_000),
    "Accept": (b"", b"x", b"*/*", b"\xff", b",", b"application/json;q=x", b"text/event-stream"),
    "Content-Type": (b"", b"x", b"\xff", b",", b"text/plain", b"application/json; charset=\xff"),
    "Content-Length": (b"", b"-1", b"x", b"1e3", b"9" * 30, b"0, 1", b"\xff"),
    "Transfer-Encoding": (b"", b"x", b"gzip, chunked", b"\xff"),
    "MCP-Protocol-Version": (b"", b"x", b"2026-07-28", b"2099-01-01", b"\xff"),
    "Mcp-Method": (b"x", b"\xff", b"=?base64?x?="),
    "Mcp-Name": (b"x", b"\xff", b"=?base64?//8=?="),
    "Expect": (b"x",),
    "Connection": (b"Upgrade", b"x", b"\xff"),
    "Upgrade": (b"websocket", b"h2c", b"\xff"),
    "Content-Encoding": (b"gzip", b"\xff"),
    "X-Forwarded-Host": (b"evil.example", b"\xff"),
}


def status_of(
    port: int, method: str, headers: Mapping[str, bytes | None], body: bytes = b"", path: str = "/mcp"
) -> int:
    """Send a request byte for byte without headers that are None, and return the status of its answer."""
    sent: dict[str, bytes | None] = {
        "Host": f"127.0.0.1:{port}".encode(),
        "Authorization": f"Bearer {TOKEN}".encode(),
        "Accept": b"application/json, text/event-stream",
        "Content-Type": b"application/json",
        "Content-Length": str(len(body)).encode(),
        **headers,
    }
    lines = b"".join(
        name.encode() + b": " + value + b"\r\n" for name, value in sent.items() if value is not None
    )
    with socket.create_connection(("127.0.0.1", port), timeout=60) as raw:
        raw.sendall(f"{method} {path} HTTP/1.1\r\n".encode() + lines + b"\r\n" + body)
        return int(raw.recv(12).split(b" ")[1])


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
    async with httpx2.AsyncClient(headers=headers, timeout=60) as client_of_http:
        transport = streamable_http_client(server.url, http_client=client_of_http)
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


def text_of(result: mcp_types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, mcp_types.TextContent))
