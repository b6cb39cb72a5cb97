"""What reaches the MCP server over HTTP, and what does not."""

import contextlib
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from droidgate.serving import http as front_door
from droidgate.serving.http import MAX_BODY, listen, parse_address
from droidgate_mappings.model.errors import UsageError
from gateway.serving.fixture_tools import RUNS, FixtureTools
from gateway.serving.running_servers import HOSTILE_HEADERS, TOKEN, RunningServer, running_server, status_of

PING = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }
).encode()
HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(FixtureTools()) as running:
        yield running


def request(
    server: RunningServer,
    headers: dict[str, str],
    *,
    method: str = "POST",
    path: str = "/mcp",
    body: bytes = PING,
) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {**HEADERS, "Content-Length": str(len(body)), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
# PORT is the server's own; True where it may pass.
HOSTS = {
    "127.0.0.1:PORT": True,
    "localhost:PORT": True,
    "LocalHost:PORT": True,
    "[::1]:PORT": True,
    "evil.example:PORT": False,
    "127.0.0.1:1": False,
    "localhost.evil.example:PORT": False,
    "localhost.:PORT": False,
}
ORIGINS = {None: True, "http://localhost:PORT": True, "http://evil.example": False}
MORE_ORIGINS = {
    "null": False,
    "http://127.0.0.1:PORT": True,
    "http://127.0.0.1:PORT.evil.example": False,
    "http://127.0.0.1:PORT@evil.example": False,
    "https://localhost:PORT": False,
    "http://localhost": False,
    "http://[::1]:PORT": True,
    "file://": False,
    "": False,
}


@pytest.mark.parametrize("origin", ORIGINS, ids=str)
@pytest.mark.parametrize("host", HOSTS)
def test_a_request_passes_only_where_host_and_origin_name_this_server(
    server: RunningServer, host: str, origin: str | None
) -> None:
    port = str(server.port)
    headers = {**AUTHORIZED, "Host": host.replace("PORT", port)}
    if origin is not None:
        headers["Origin"] = origin.replace("PORT", port)
    expected = 421 if not HOSTS[host] else 200 if ORIGINS[origin] else 403
    assert request(server, headers) == expected


@pytest.mark.parametrize("origin", MORE_ORIGINS)
def test_an_origin_that_only_resembles_this_server_is_refused(server: RunningServer, origin: str) -> None:
    port = str(server.port)
    headers = {**AUTHORIZED, "Host": f"127.0.0.1:{port}", "Origin": origin.replace("PORT", port)}
    assert request(server, headers) == (200 if MORE_ORIGINS[origin] else 403)


def session_of(server: RunningServer) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", "/mcp", PING, {**HEADERS, **AUTHORIZED})
    session = connection.getresponse().headers["Mcp-Session-Id"]
    connection.close()
    return str(session).encode()


@pytest.mark.parametrize("value", HOSTILE_HEADERS["Last-Event-ID"])
def test_a_stream_that_cannot_be_resumed_begins_anew(server: RunningServer, value: bytes) -> None:
    """A server may replay events (2025-11-25, transports); the SDK answers nothing where it keeps none."""
    headers = {"Mcp-Session-Id": session_of(server), "Last-Event-ID": value}
    assert status_of(server.port, "GET", headers) == 200


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_no_value_of_a_header_makes_the_server_fail(server: RunningServer, method: str, name: str) -> None:
    body = PING if method == "POST" else b""
    for value in HOSTILE_HEADERS[name]:
        headers = {"Mcp-Session-Id": session_of(server), name: value}
        assert status_of(server.port, method, headers, body) < 500, value


@pytest.mark.parametrize("path", ["/mcp", "/", "/.well-known/oauth-protected-resource", "/mcp/../x"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("authorization", [
    None, "", "Bearer", "Bearer ", "Bearer wrong", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x",
    f"Basic {TOKEN}", TOKEN,
])  # fmt: skip
def test_without_the_token_every_method_and_path_answers_401(
    server: RunningServer, method: str, path: str, authorization: str | None
) -> None:
    headers = {"Host": f"127.0.0.1:{server.port}"}
    if authorization is not None:
        headers["Authorization"] = authorization
    assert request(server, headers, method=method, path=path) == 401


def test_two_tokens_in_one_request_are_refused(server: RunningServer) -> None:
    lines = (
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        f"Authorization: Bearer {TOKEN}\r\nAuthorization: Bearer wrong\r\nContent-Length: 0\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as raw:
        raw.sendall(lines.encode())
        assert raw.recv(12) == b"HTTP/1.1 401"


@pytest.mark.parametrize(("size", "status"), [(MAX_BODY, 400), (MAX_BODY + 1, 413)])
def test_a_body_over_four_mebibytes_is_refused(server: RunningServer, size: int, status: int) -> None:
    headers = {**AUTHORIZED, "Host": f"127.0.0.1:{server.port}"}
    # As much as is allowed is read, and then is not JSON-RPC.
    assert request(server, headers, body=b" " * size) == status


def test_chunks_over_the_limit_are_refused(server: RunningServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    chunks = (b" " * 65_536 for _ in range(MAX_BODY // 65_536 + 1))
    connection.request("POST", "/mcp", chunks, {**HEADERS, **AUTHORIZED}, encode_chunked=True)
    assert connection.getresponse().status == 413
    connection.close()


def test_a_body_that_does_not_arrive_ends_with_408_while_others_are_served() -> None:
    with running_server(FixtureTools()) as server:
        server.door._body_seconds = 0.5
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as slow:
            head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
            slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
            assert request(server, {**AUTHORIZED, "Host": f"127.0.0.1:{server.port}"}) == 200
            assert slow.recv(12) == b"HTTP/1.1 408"


def test_a_client_that_does_not_read_its_answers_is_cut_off_while_others_are_served(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front_door, "READ_SECONDS", 0.5)
    run, schema = RUNS["test_simple_text"][0], {"type": "object", "description": "x" * 400_000}
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}).encode()
    with running_server(FixtureTools({"long": (run, schema)})) as server:
        lines = {
            **HEADERS,
            **AUTHORIZED,
            "Host": f"127.0.0.1:{server.port}",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/list",
            "Content-Length": str(len(body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        requests = 40
        with socket.create_connection(("127.0.0.1", server.port), timeout=120) as lazy:
            lazy.sendall((f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body) * requests)
            time.sleep(2)
            assert request(server, {**AUTHORIZED, "Host": f"127.0.0.1:{server.port}"}) == 200
            received = 0
            with contextlib.suppress(ConnectionError):
                while part := lazy.recv(1 << 20):
                    received += len(part)
            assert 0 < received < requests * 400_000


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127"])
def test_a_connection_without_a_whole_request_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front_door, "HEAD_SECONDS", 0.2)
    with (
        running_server(FixtureTools()) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=120) as idle,
    ):
        idle.sendall(sent)
        assert idle.recv(1) == b""


def test_a_slow_second_request_on_a_connection_is_closed_too(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_door, "HEAD_SECONDS", 0.2)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
    connection.request("POST", "/mcp", PING, {**HEADERS, **AUTHORIZED})
    response = connection.getresponse()
    response.read()
    assert connection.sock is not None
    connection.sock.sendall(b"POST /mcp HTTP/1.1\r\n")
    assert connection.sock.recv(1) == b""
    connection.close()


def test_a_thousand_idle_connections_do_not_keep_others_out(server: RunningServer) -> None:
    idle: list[socket.socket] = []
    try:
        for _ in range(1_000):
            idle.append(socket.create_connection(("127.0.0.1", server.port), timeout=120))  # noqa: PERF401
        assert request(server, {**AUTHORIZED, "Host": f"127.0.0.1:{server.port}"}) == 200
    finally:
        for connection in idle:
            connection.close()


def test_a_request_that_is_being_answered_is_not_closed_for_a_new_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(front_door, "MAX_CONNECTIONS", 2)
    tools = FixtureTools()
    with running_server(tools) as server:
        statuses: list[Any] = []
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        body["params"] = {"name": "test_tool_with_progress", "arguments": {}, "_meta": meta}
        headers = {
            **AUTHORIZED,
            "Host": f"127.0.0.1:{server.port}",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "test_tool_with_progress",
        }
        call = threading.Thread(
            target=lambda: statuses.append(request(server, headers, body=json.dumps(body).encode()))
        )
        call.start()
        while not tools.calls:
            time.sleep(0.005)
        for _ in range(4):
            socket.create_connection(("127.0.0.1", server.port), timeout=120).close()
        call.join(120)
        assert statuses == [200]


@pytest.mark.parametrize(
    "head", [b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"X" * 200_000]
)
def test_what_is_not_http_is_refused(server: RunningServer, head: bytes) -> None:
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as raw:
        raw.sendall(head)
        assert raw.recv(12) == b"HTTP/1.1 400"


def test_small_parts_of_an_answer_are_sent_at_once(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[int] = []
    real = front_door.GuardedConnection.connection_made

    def made(self: Any, transport: Any) -> None:
        accepted = transport.get_extra_info("socket")
        delays.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        real(self, transport)

    monkeypatch.setattr(front_door.GuardedConnection, "connection_made", made)
    assert request(server, {**AUTHORIZED, "Host": f"127.0.0.1:{server.port}"}) == 200
    assert delays == [1]


@pytest.mark.parametrize(
    "address", ["0.0.0.0:8000", "example.org:80", "[::]:80", "70000", "x", "", "127.0.0.1", "10.0.0.1:80"]
)
def test_only_loopback_is_listened_on(address: str) -> None:
    with pytest.raises(UsageError):
        parse_address(address)


@pytest.mark.parametrize(("text", "url"), [
    ("8000", "http://127.0.0.1:8000/mcp"),
    ("localhost:1", "http://127.0.0.1:1/mcp"),
    ("127.0.0.2:9", "http://127.0.0.2:9/mcp"),
    ("[::1]:8000", "http://[::1]:8000/mcp"),
])  # fmt: skip
def test_an_address_has_a_url(text: str, url: str) -> None:
    assert parse_address(text).url == url


def test_an_address_in_use_is_an_error_with_a_hint(server: RunningServer) -> None:
    with pytest.raises(UsageError, match="cannot listen"), listen(server.address):
        pass
