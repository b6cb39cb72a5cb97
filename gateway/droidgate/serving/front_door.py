"""What every HTTP request passes before the MCP server sees it: host, origin, token, and its body.

A web page that the user has open can send requests to loopback, and by DNS rebinding read the answers; so
the `Host` and `Origin` headers have to name this server (reference android-runtime 3.1). The SDK's own check
accepts any text after a colon as a port, and does not cover paths other than the MCP endpoint.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any, Final

from droidgate.serving.tokens import TokenCheck

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
        hosts: Names of this server, in lower case, IPv6 addresses in brackets.
        port: Its port.
        token: Checks the bearer token; None lets everybody in.
        body_seconds: How long a body may take.
    """

    def __init__(
        self,
        application: Any,
        *,
        hosts: Iterable[str],
        port: int,
        token: TokenCheck | None,
        body_seconds: float = BODY_SECONDS,
    ) -> None:
        self._application = application
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
        try:
            await self._application({**scope, "headers": headers}, replay, response.send)
        except asyncio.CancelledError:
            # Only the end of the server cancels a request (`droidgate.serving.http`).
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
