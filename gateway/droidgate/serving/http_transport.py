"""Serving over Streamable HTTP: on loopback, or on a network with a token.

A web page that the user has open can send requests to loopback, and by DNS rebinding read the answers; so the
`Host` and `Origin` headers have to name this server (reference android-runtime 3.1). They, the token and the
body are checked before the MCP server sees a request: the SDK's own check accepts any text after a colon as a
port, and does not cover paths other than the MCP endpoint. A connection without a request is closed, since
uvicorn waits for the head of one without a limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Generator, Iterable, Iterator
from typing import Any, Final, Protocol

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from droidgate.serving.tokens import TokenCheck
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.records import dataclass

HEAD_SECONDS: Final = 10.0
"""Seconds for the whole head of a request to arrive."""

READ_SECONDS: Final = 60.0
"""For a client to read a part of an answer: at most a page of a list or a part of a result."""

MAX_CONNECTIONS: Final = 256
"""Most open connections. One more closes the connection that has waited longest without a request."""


class GuardedConnection(H11Protocol):
    """A connection that closes when no request arrives on it in time, or nobody reads the answer."""

    _timer: asyncio.TimerHandle | None = None
    _reading_timer: asyncio.TimerHandle | None = None
    _idle_since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept a connection, and close another or this one where there are too many."""
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > MAX_CONNECTIONS:
            others: list[Any] = [connection for connection in self.connections if connection is not self]
            idle = [
                connection
                for connection in others
                if isinstance(connection, GuardedConnection) and connection.is_idle
            ]
            oldest = min(idle, key=lambda connection: connection._idle_since, default=self)  # noqa: SLF001
            oldest.transport.abort()
            self.connections.discard(oldest)

    def data_received(self, data: bytes) -> None:
        """Take what the client sends."""
        super().data_received(data)
        if not self.is_idle:
            self._stop_timer()
        elif self._timer is None:
            self._wait_for_head()

    def on_response_complete(self) -> None:
        """Note that the next request may come."""
        self._idle_since = self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Wait until the client has read what it was sent, but not for ever."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(READ_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the client has read."""
        super().resume_writing()
        self._stop_reading_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that the connection is closed."""
        self._stop_timer()
        self._stop_reading_timer()
        super().connection_lost(exc)

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    def _wait_for_head(self) -> None:
        self._idle_since = self.loop.time()
        self._timer = self.loop.call_later(HEAD_SECONDS, self._close_if_idle)

    def _close_if_idle(self) -> None:
        self._timer = None
        if self.is_idle:
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _stop_reading_timer(self) -> None:
        if self._reading_timer is not None:
            self._reading_timer.cancel()
            self._reading_timer = None


MAX_BODY: Final = 4 * 1024 * 1024
"""Most bytes of a request's body."""

_MAX_DROPPED: Final = 4 * MAX_BODY

BODY_SECONDS: Final = 30.0
"""Seconds for a whole body to arrive."""

_RESUMED_FROM: Final = b"last-event-id"

_AUTHORITY: Final = re.compile(r"(\[[0-9a-f:]+\]|[a-z0-9.-]+)(?::([0-9]{1,5}))?")
_DEFAULT_PORT: Final = 80

Scope = Any
Receive = Any
Send = Any
Message = dict[str, Any]


class FrontDoor:
    """An ASGI application that refuses what is not for the application behind it.

    Args:
        application: What is behind the door.
        endpoint: What serves `PATH`.
        hosts: Names of this server, in lower case, IPv6 addresses in brackets.
        port: Its port.
        token: Checks the bearer token; None lets everybody in.
        body_seconds: How long a body may take.
    """

    def __init__(
        self,
        application: Any,
        endpoint: Any,
        *,
        hosts: Iterable[str],
        port: int,
        token: TokenCheck | None,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._application = application
        self._endpoint = endpoint
        self._hosts = frozenset(hosts)
        self._port = port
        self._token = token
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection or request (ASGI)."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        refusal = self._refusal(scope["headers"])
        if refusal is not None:
            await _respond(send, *refusal)
            return
        try:
            # Not `wait_for`, which makes a task for each request.
            async with asyncio.timeout(self._body_seconds):
                messages = await _read_body(receive)
        except TimeoutError:
            await _respond(send, 408, "the body did not arrive in time")
            return
        except _TooLargeError:
            await _respond(send, 413, f"the body has more than {MAX_BODY} bytes")
            return

        async def replay() -> Message:
            return messages.pop(0) if messages else await receive()

        # No server keeps events, so a stream begins without earlier ones; the SDK would send no response.
        headers = [pair for pair in scope["headers"] if pair[0].lower() != _RESUMED_FROM]
        response = _Response(send)
        # Not through the layers of the application, which have nothing to add for the endpoint.
        behind = self._endpoint if scope["path"] == PATH else self._application
        try:
            await behind({**scope, "headers": headers}, replay, response.send)
        except asyncio.CancelledError:
            # Only the end of the server cancels a request (`droidgate.serving.http_transport`).
            await response.end()

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        values: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            values.setdefault(name.lower(), []).append(value)
        hosts, origins = values.get(b"host", []), values.get(b"origin", [])
        if len(hosts) != 1 or not self._is_this_server(hosts[0]):
            return 421, "the Host header does not name this server"
        if len(origins) > 1 or not all(self._is_own_origin(origin) for origin in origins):
            return 403, "requests from this Origin are not accepted"
        tokens = values.get(b"authorization", [])
        if self._token is not None and not (len(tokens) == 1 and self._token.accepts(tokens[0])):
            return 401, "send the token of this server as Authorization: Bearer TOKEN"
        return None

    def _is_this_server(self, authority: bytes) -> bool:
        match = _AUTHORITY.fullmatch(authority.decode("latin-1").lower())
        if match is None:
            return False
        host, port = match.groups()
        return host in self._hosts and int(port or _DEFAULT_PORT) == self._port

    def _is_own_origin(self, origin: bytes) -> bool:
        scheme, separator, authority = origin.partition(b"://")
        return scheme.lower() == b"http" and bool(separator) and self._is_this_server(authority)


class _Response:
    """A response on its way, which may have to end early."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._has_begun = False
        self._is_complete = False

    async def send(self, message: Message) -> None:
        """Send a part of it."""
        await self._send(message)
        self._has_begun = True
        self._is_complete = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def end(self) -> None:
        """Complete it."""
        if not self._has_begun:
            await _respond(self._send, 503, "the server has ended; what the call did is not known")
        elif not self._is_complete:
            await self._send({"type": "http.response.body", "body": b""})


class _TooLargeError(Exception):
    """A body is over the limit."""


async def _read_body(receive: Receive) -> list[Message]:
    """Return the messages that the application reads instead of the body's own.

    Raises:
        _TooLargeError: the body has more than `MAX_BODY` bytes.
    """
    body = bytearray()
    size = 0
    while True:
        message: Message = await receive()
        if message["type"] != "http.request":
            return [{"type": "http.request", "body": bytes(body), "more_body": True}, message]
        part = message.get("body", b"")
        size += len(part)
        if size <= MAX_BODY:
            body += part
        is_complete = not message.get("more_body", False)
        # A client that is still sending would not read the refusal, so a little more is read and dropped.
        if size > MAX_BODY and (is_complete or size > _MAX_DROPPED):
            raise _TooLargeError
        if is_complete:
            return [{"type": "http.request", "body": bytes(body), "more_body": False}]


async def _respond(send: Send, status: int, text: str) -> None:
    body = f"{text}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        # What is left of a body that was not read is not the next request.
        (b"connection", b"close"),
    ]
    if status == 401:  # noqa: PLR2004
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


PATH: Final = "/mcp"

_ADDRESS: Final = re.compile(r"(?:(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):)?([0-9]{1,5})")
_BACKLOG: Final = 128
_MAX_PORT: Final = 65_535
_GRACE_SECONDS: Final = 3

_log = logging.getLogger(__name__)


class Served(Protocol):
    """An object that has a server of the SDK."""

    @property
    def server(self) -> Server[None]:
        """The server."""


@dataclass(frozen=True, slots=True)
class HttpAddress:
    """Where to listen: an address of this computer, and a port; 0 takes any free one."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """The address as a URL has it."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL of the MCP endpoint."""
        return f"http://{self.authority}{PATH}"


def parse_address(text: str) -> HttpAddress:
    """Read `[HOST:]PORT`; without a host it is 127.0.0.1.

    Raises:
        UsageError: it is not such a text, or the host is not a loopback address.
    """
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match[2]) > _MAX_PORT:
        raise UsageError(
            f"{text!r} is not an address", hint="write PORT or HOST:PORT, such as 127.0.0.1:8000"
        )
    host = (match[1] or "127.0.0.1").strip("[]")
    if host.lower() == "localhost":
        host = "127.0.0.1"
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(host).is_loopback:
            return HttpAddress(host, int(match[2]))
    raise UsageError(
        f"{host!r} is not a loopback address: other computers could call the phone's apps",
        hint="listen on 127.0.0.1, and let an SSH tunnel or a proxy with TLS carry it further",
    )


@contextlib.contextmanager
def listen(address: HttpAddress) -> Iterator[tuple[socket.socket, HttpAddress]]:
    """Open a listening socket, and return it with its address; for port 0 it has the port that was taken.

    Raises:
        UsageError: the address is in use or cannot be used.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    # With its protocol named, unlike what socket.create_server makes: asyncio sends small parts of an answer
    # at once (TCP_NODELAY) only where a connection's protocol is known to be TCP; without, each takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address.host, address.port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        free = "choose another port; 0 takes a free one"
        hints = {
            errno.EADDRINUSE: f"another program uses it: end it, or {free}",
            errno.EADDRNOTAVAIL: f"{address.host} is not an address of this computer",
        }
        hint = hints.get(error.errno or 0, free)
        raise UsageError(f"cannot listen on {address.authority}: {error.strerror}", hint=hint) from None
    with listener:
        yield listener, HttpAddress(address.host, listener.getsockname()[1])


def http_application(
    application: Served, address: HttpAddress, token: TokenCheck | None, *, stateless: bool = False
) -> FrontDoor:
    """Return the ASGI application of a server.

    Args:
        application: The MCP server.
        address: Where it listens: only requests to this address are answered.
        token: Checks the bearer token; None lets every program of this computer in.
        stateless: Each request has a JSON answer, without sessions; the server sends nothing by itself.
    """
    names = {"localhost", "127.0.0.1", "[::1]", f"[{address.host}]" if ":" in address.host else address.host}
    server = application.server
    inner: Any = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=stateless,
        stateless_http=stateless,
        max_request_body_size=MAX_BODY,
        # The front door has checked both headers, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    endpoint = server.session_manager.handle_request
    return FrontDoor(inner, endpoint, hosts=names, port=address.port, token=token)


class _Server(uvicorn.Server):
    """A server that ends requests which do not end by themselves."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, and wait for the requests that are being answered, but not for long."""
        timer = asyncio.get_running_loop().call_later(_GRACE_SECONDS, self._cancel_requests)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()

    def _cancel_requests(self) -> None:
        running = self.server_state.tasks
        if running:
            _log.warning("requests canceled that did not end in %g s: %d", _GRACE_SECONDS, len(running))
        for task in running:
            task.cancel()


class _ServerWithoutSignals(_Server):
    """A server that leaves signals alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def http_server(door: FrontDoor, *, takes_signals: bool = True) -> uvicorn.Server:
    """Return the server that runs an application; `await server.serve(sockets=[listener])` runs it.

    Args:
        door: The application.
        takes_signals: Ctrl-C and SIGTERM end it; where several run in one program, each would take them from
            the others.
    """
    return (_Server if takes_signals else _ServerWithoutSignals)(
        uvicorn.Config(
            door,
            http=GuardedConnection,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            # Nothing here asks who the client behind a proxy is.
            proxy_headers=False,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2 * _GRACE_SECONDS,
        )
    )
