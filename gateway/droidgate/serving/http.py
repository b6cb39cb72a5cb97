"""Serving over Streamable HTTP: on loopback, or on a network with a token."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import re
import socket
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any, Final, Protocol

import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from droidgate.serving.connections import GuardedConnection
from droidgate.serving.front_door import MAX_BODY, FrontDoor
from droidgate.serving.tokens import TokenCheck
from droidgate_mappings.model.errors import UsageError

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
        raise UsageError(
            f"cannot listen on {address.authority}: {error.strerror}", hint="choose another port, or 0"
        ) from None
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
    inner: Any = application.server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=stateless,
        stateless_http=stateless,
        max_request_body_size=MAX_BODY,
        # The front door has checked both headers, for every path.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    return FrontDoor(inner, hosts=names, port=address.port, token=token)


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
            timeout_keep_alive=5,
            timeout_graceful_shutdown=2 * _GRACE_SECONDS,
        )
    )
