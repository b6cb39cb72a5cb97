"""What reaches the MCP server over HTTP and what does not, and the token that opens it."""

import contextlib
import hmac
import os
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from droidgate.serving import http_transport
from droidgate.serving.http_transport import MAX_BODY, HttpAddress, listen, parse_address
from droidgate.serving.tokens import TokenCheck, read_or_make_token
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError
from gateway.serving.fixture_tools import RUNS, FixtureTools
from gateway.serving.running_servers import (
    HEADERS,
    HOSTILE_HEADERS,
    META,
    TOKEN,
    RunningServer,
    initialize,
    message,
    open_request,
    running_server,
    session_of,
    status_of,
)
from waiting import wait_until

PING = initialize()


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(FixtureTools()) as running:
        yield running


@contextlib.contextmanager
def connection_to(server: RunningServer, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=120) as raw:
        raw.sendall(sent)
        yield raw


# PORT is the server's own.
HOSTS = (
    "127.0.0.1:PORT", "localhost:PORT", "LocalHost:PORT", "[::1]:PORT", "evil.example:PORT", "127.0.0.1:1",
    "localhost.evil.example:PORT", "localhost.:PORT",
)  # fmt: skip
MORE_ORIGINS = {
    "http://127.0.0.1:PORT": 200, "http://[::1]:PORT": 200, "null": 403, "": 403, "file://": 403,
    "http://127.0.0.1:PORT.evil.example": 403, "http://127.0.0.1:PORT@evil.example": 403,
    "https://localhost:PORT": 403, "http://localhost": 403,
}  # fmt: skip
ASKED = [
    *((host, None, 200 if number < 4 else 421) for number, host in enumerate(HOSTS)),
    *((host, "http://localhost:PORT", 200 if number < 4 else 421) for number, host in enumerate(HOSTS)),
    *((host, "http://evil.example", 403 if number < 4 else 421) for number, host in enumerate(HOSTS)),
    *(("127.0.0.1:PORT", origin, status) for origin, status in MORE_ORIGINS.items()),
]


@pytest.mark.parametrize(("host", "origin", "status"), ASKED)
def test_a_request_passes_only_where_host_and_origin_name_this_server(
    server: RunningServer, host: str, origin: str | None, status: int
) -> None:
    headers = {
        name: None if value is None else value.replace("PORT", str(server.port)).encode()
        for name, value in (("Host", host), ("Origin", origin))
    }
    assert status_of(server.port, "POST", headers, PING) == status


@pytest.mark.parametrize("value", HOSTILE_HEADERS["Last-Event-ID"], ids=lambda value: value[:20])
def test_a_stream_that_cannot_be_resumed_begins_anew(server: RunningServer, value: bytes) -> None:
    """A server may replay events (2025-11-25, transports); the SDK answers nothing where it keeps none."""
    headers = {"Mcp-Session-Id": session_of(server).encode(), "Last-Event-ID": value}
    assert status_of(server.port, "GET", headers) == 200


@pytest.mark.parametrize("name", HOSTILE_HEADERS)
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_no_value_of_a_header_makes_the_server_fail(server: RunningServer, method: str, name: str) -> None:
    body = PING if method == "POST" else b""
    for value in HOSTILE_HEADERS[name]:
        headers = {"Mcp-Session-Id": session_of(server).encode(), name: value}
        assert status_of(server.port, method, headers, body) < 500, value


@pytest.mark.parametrize("path", ["/mcp", "/", "/.well-known/oauth-protected-resource", "/mcp/../x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
@pytest.mark.parametrize("authorization", [
    None, "", "Bearer", "Bearer ", "Bearer wrong", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}x",
    f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN}\r\nAuthorization: Bearer wrong",
])  # fmt: skip
def test_without_the_one_token_every_method_and_path_answers_401(
    server: RunningServer, method: str, path: str, authorization: str | None
) -> None:
    sent = None if authorization is None else authorization.encode()
    assert status_of(server.port, method, {"Authorization": sent}, PING, path) == 401


@pytest.mark.parametrize(
    ("size", "status"), [(MAX_BODY, 400), (MAX_BODY + 1, 413)], ids=["four mebibytes", "a byte more"]
)
def test_a_body_over_four_mebibytes_is_refused(server: RunningServer, size: int, status: int) -> None:
    # As much as is allowed is read, and then is not JSON-RPC.
    assert status_of(server.port, "POST", {}, b" " * size) == status


def test_chunks_over_the_limit_are_refused(server: RunningServer) -> None:
    chunks = (b" " * 65_536 for _ in range(MAX_BODY // 65_536 + 1))
    connection, response = open_request(server, "POST", {}, chunks)
    assert response.status == 413
    connection.close()


def test_a_body_that_does_not_arrive_ends_with_408_while_others_are_served() -> None:
    with running_server(FixtureTools()) as server:
        server.door._body_seconds = 0.5
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        with connection_to(server, f"{head}Content-Length: 100\r\n\r\n{{".encode()) as slow:
            assert status_of(server.port, "POST", {}, PING) == 200
            assert slow.recv(12) == b"HTTP/1.1 408"


def test_a_client_that_reads_no_answers_is_cut_off_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "READ_SECONDS", 0.5)
    run, schema = RUNS["test_simple_text"][0], {"type": "object", "description": "x" * 400_000}
    requests, body = 40, message("tools/list", _meta=META)
    with running_server(FixtureTools({"long": (run, schema)})) as server:
        sent = {**HEADERS, "Host": f"127.0.0.1:{server.port}", "Content-Length": len(body)}
        sent |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}
        head = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        with connection_to(server, (f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body) * requests) as lazy:
            time.sleep(2)
            assert status_of(server.port, "POST", {}, PING) == 200
            received = 0
            with contextlib.suppress(ConnectionError):
                while part := lazy.recv(1 << 20):
                    received += len(part)
            assert 0 < received < requests * 400_000


@pytest.mark.parametrize("sent", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127"])
def test_a_connection_without_a_whole_request_is_closed(sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "HEAD_SECONDS", 0.2)
    with running_server(FixtureTools()) as server, connection_to(server, sent) as idle:
        assert idle.recv(1) == b""


def test_a_slow_second_request_is_closed(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "HEAD_SECONDS", 0.2)
    connection, response = open_request(server, "POST", {}, PING)
    response.read()
    assert connection.sock is not None
    connection.sock.sendall(b"POST /mcp HTTP/1.1\r\n")
    assert connection.sock.recv(1) == b""
    connection.close()


def test_a_thousand_idle_connections_do_not_keep_others_out(server: RunningServer) -> None:
    with contextlib.ExitStack() as idle:
        for _ in range(1_000):
            idle.enter_context(connection_to(server))
        assert status_of(server.port, "POST", {}, PING) == 200


def test_a_request_that_is_being_answered_outlives_new_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_transport, "MAX_CONNECTIONS", 2)
    tools, tool = FixtureTools(), "test_tool_with_progress"
    body = message("tools/call", name=tool, arguments={}, _meta=META)
    headers = {"MCP-Protocol-Version": b"2026-07-28", "Mcp-Method": b"tools/call", "Mcp-Name": tool.encode()}
    with running_server(tools) as server, ThreadPoolExecutor(1) as pool:
        status = pool.submit(status_of, server.port, "POST", headers, body)
        wait_until(lambda: tools.calls)
        for _ in range(4):
            with connection_to(server):
                pass
        assert status.result(120) == 200


@pytest.mark.parametrize(
    "head",
    [b"GET / HTTP/9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n", b"X" * 200_000],
    ids=lambda head: head[:20],
)
def test_bytes_that_are_not_http_are_refused(server: RunningServer, head: bytes) -> None:
    with connection_to(server, head) as raw:
        assert raw.recv(12) == b"HTTP/1.1 400"


def test_small_parts_of_answers_go_at_once(server: RunningServer, monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[int] = []
    real = http_transport.GuardedConnection.connection_made

    def made(self: Any, transport: Any) -> None:
        accepted = transport.get_extra_info("socket")
        delays.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        real(self, transport)

    monkeypatch.setattr(http_transport.GuardedConnection, "connection_made", made)
    assert status_of(server.port, "POST", {}, PING) == 200
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


def test_an_address_that_cannot_be_taken_is_an_error_with_its_own_hint(server: RunningServer) -> None:
    hints = {
        server.address: "another program uses it",
        HttpAddress("192.0.2.1", 0): "192.0.2.1 is not an address",
    }
    for address, hint in hints.items():
        with pytest.raises(UsageError, match="cannot listen") as raised, listen(address):
            pass
        assert hint in (raised.value.hint or "")


def test_a_token_is_made_once_and_only_its_user_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "serve-token"
    token = read_or_make_token(path)
    assert len(token) == 43  # 256 bits in base64
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_or_make_token(path) == token
    assert read_or_make_token(tmp_path / "another") != token


def test_servers_that_start_at_once_have_one_token(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        tokens = list(pool.map(read_or_make_token, [tmp_path / "token"] * 16))
    assert len(set(tokens)) == 1


@pytest.mark.skipif(os.name != "posix", reason="modes are POSIX")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o622], ids=oct)
def test_a_token_that_others_can_read_or_write_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    path.write_text("x" * 43)
    path.chmod(mode)
    with pytest.raises(InputError, match="other users"):
        read_or_make_token(path)


@pytest.mark.parametrize("text", ["short", "x" * 21, "two words of more than 22", "ä" * 30, "x" * 30 + "\0"])
def test_a_text_that_is_not_a_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(InputError, match="does not hold a token"):
        read_or_make_token(path)


def test_a_link_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("x" * 43)
    (tmp_path / "token").symlink_to(tmp_path / "other")
    with pytest.raises(DroidgateError):
        read_or_make_token(tmp_path / "token")


def test_tokens_are_compared_in_time_that_does_not_depend_on_them(monkeypatch: pytest.MonkeyPatch) -> None:
    compare = Mock(side_effect=hmac.compare_digest)
    monkeypatch.setattr(hmac, "compare_digest", compare)
    check = TokenCheck("t" * 43)
    assert check.accepts(b"Bearer " + b"t" * 43)
    assert not check.accepts(b"Bearer t")
    assert not check.accepts(None)
    # Digests of one length: not even the token's length shows.
    assert [len(part) for call in compare.call_args_list for part in call.args] == [32] * 6
