"""`droidgate.serve_mobile_agent`: one or both servers in one event loop, until a signal ends them."""

from __future__ import annotations

import contextlib
import functools
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

import anyio
import uvicorn

from droidgate.calls.screen.screen_tools import DEFAULT_SECONDS, MobileAgentTools
from droidgate.devices.device import connect_device
from droidgate.serving.http_transport import HttpAddress, http_application, http_server, listen
from droidgate.serving.mobile_agent.mobile_agent_server import (
    EXTENSIONS,
    Extension,
    MobileAgentServer,
    UfoRole,
)
from droidgate.serving.stop_signals import stopped_by_signals
from droidgate.serving.tokens import TokenCheck, is_token, read_or_make_token, token_file
from droidgate_mappings.model.errors import UsageError, option_hint
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.nearest_names import suggest_name

DATA_PORT: Final = 8020
ACTION_PORT: Final = 8021

ServerChoice = Literal["data", "action", "both"]

_TOKEN_FILES: Final = {
    "data_collection": "mobile-agent-data-token",
    "action": "mobile-agent-action-token",
}
_GIVING_IDS: Final = ("compact", "find", "images")
"""Sets of tools that give ids of controls: then a control has one id in all lists."""

_LEAST_SECONDS: Final = 1.0
_MOST_SECONDS: Final = 600.0


@dataclass(frozen=True, slots=True)
class ListeningServer:
    """A server that accepts connections.

    Attributes:
        role: Which of the two it is.
        url: Its MCP endpoint.
        token_file: Where its bearer token is; None where the caller gave one, or no token is needed.
    """

    role: UfoRole
    url: str
    token_file: Path | None


def serve_mobile_agent(  # noqa: PLR0913
    serial: str | Sequence[str] | None = None,
    *,
    server: ServerChoice = "both",
    host: str = "localhost",
    data_port: int = DATA_PORT,
    action_port: int = ACTION_PORT,
    seconds: float = DEFAULT_SECONDS,
    token: str | bool = False,
    extensions: Collection[Extension] = (),
    on_listening: Callable[[ListeningServer], None] | None = None,
) -> None:
    """Serve a phone to UFO's MobileAgent, until Ctrl-C, which raises `KeyboardInterrupt`, or SIGTERM.

    Args:
        serial: The phone; the only one that is attached by default. It may be attached later. Of several, the
            tools take the serial number as `device`, and use the first one without it.
        server: `both`, or `data` alone, which then keeps nothing of the screen, as it cannot know of actions.
        host: The address to listen on. Away from loopback, each server needs its token.
        data_port: Port of the data collection server; 0 takes a free one.
        action_port: Port of the action server.
        seconds: Longest time of one call, 1 to 600.
        token: What clients have to send. A text: that, to both servers; UFO does so from 3.0.8 on, with the
            value of its UFO_MCP_API_KEY (GHSA-24fq-m9rr-g3mm). True: each server's own token. False: the same
            away from loopback, and none on loopback; UFO before 3.0.8 sends none.
        extensions: What the servers have beyond UFO's: sets of tools, `annotations`.
        on_listening: Called for each server when it accepts connections.

    Raises:
        UsageError: an address or the token cannot be used, the seconds are out of range, or `action` is asked
            for alone.
        InputError: a token's file cannot be used.
    """
    address = _check_request(server, host, seconds, token, extensions)
    if server == "both" and data_port == action_port != 0:
        raise UsageError(
            f"both servers have the port {data_port}", hint="choose another port for one of them"
        )
    is_loopback = ipaddress.ip_address(address).is_loopback
    serials = (serial,) if serial is None or isinstance(serial, str) else tuple(serial) or (None,)
    phones = {
        each or "": MobileAgentTools(
            functools.partial(connect_device, each),
            seconds=seconds,
            keeps_screen=server == "both",
            keeps_ids=any(name in _GIVING_IDS for name in extensions),
        )
        for each in serials
    }
    ports: dict[UfoRole, int] = {"data_collection": data_port}
    if server == "both":
        ports["action"] = action_port
    with contextlib.ExitStack() as stack:
        servers = {role: MobileAgentServer(role, phones, frozenset(extensions)) for role in ports}
        addresses = {role: HttpAddress(address, port) for role, port in ports.items()}
        running = _listen_all(
            stack, servers, addresses, token if is_loopback else token or True, on_listening
        )

        def stop() -> None:
            for served in servers.values():
                served.stop()
            for http, _ in running:
                http.force_exit = http.should_exit
                http.should_exit = True

        with stopped_by_signals(stop):
            anyio.run(_run_all, running)


def _check_request(
    server: ServerChoice,
    host: str,
    seconds: float,
    token: str | bool,  # noqa: FBT001
    extensions: Collection[Extension],
) -> str:
    """Return the address to listen on.

    Raises:
        UsageError: it, the token or an extension cannot be used, the seconds are out of range, or `action` is
            asked for alone.
    """
    if server not in get_args(ServerChoice):
        raise UsageError(f"unknown server {server!r}", hint=suggest_name(server, get_args(ServerChoice)))
    if server == "action":
        raise UsageError(
            "the action server alone does not know the ids that the data collection server gives",
            hint=option_hint("run both servers in one process: {}", "--server both", 'server="both"'),
        )
    unknown = next((name for name in extensions if name not in EXTENSIONS), None)
    if unknown is not None:
        raise UsageError(f"unknown extension {unknown!r}", hint=f"choose of {', '.join(EXTENSIONS)}")
    if not _LEAST_SECONDS <= seconds <= _MOST_SECONDS:
        raise UsageError(f"{seconds:g} is not from {_LEAST_SECONDS:g} to {_MOST_SECONDS:g} seconds")
    address = check_host(host)
    is_loopback = ipaddress.ip_address(address).is_loopback
    if isinstance(token, str) and not is_token(token, strong=not is_loopback):
        raise UsageError(
            "the token is too short, or has characters that a bearer token cannot have",
            hint="give another one, in UFO_MCP_API_KEY or from Python; this makes one: "
            "python -c 'import secrets; print(secrets.token_urlsafe(32))'",
        )
    return address


def _listen_all(
    stack: contextlib.ExitStack,
    servers: Mapping[UfoRole, MobileAgentServer],
    addresses: Mapping[UfoRole, HttpAddress],
    token: str | bool,  # noqa: FBT001
    on_listening: Callable[[ListeningServer], None] | None,
) -> list[tuple[uvicorn.Server, socket.socket]]:
    """Return each server with the socket on which it accepts connections, until the stack is closed."""
    running = []
    for role, served in servers.items():
        listener, endpoint = stack.enter_context(listen(addresses[role]))
        path, check = _check_of(role, token)
        http = http_server(http_application(served, endpoint, check, stateless=True), takes_signals=False)
        running.append((http, listener))
        if on_listening is not None:
            on_listening(ListeningServer(role, endpoint.url, path))
    return running


def _check_of(role: UfoRole, token: str | bool) -> tuple[Path | None, TokenCheck | None]:  # noqa: FBT001
    """Return the file of a server's own token, and what checks tokens; each None if there is none."""
    if isinstance(token, str):
        return None, TokenCheck(token)
    if not token:
        return None, None
    path = token_file(_TOKEN_FILES[role])
    return path, TokenCheck(read_or_make_token(path))


def check_host(host: str) -> str:
    """Return the IP address that a host names.

    Raises:
        UsageError: it is not `localhost` or one address: clients have to name the server that they call.
    """
    if host.lower() == "localhost":
        return "127.0.0.1"
    with contextlib.suppress(ValueError):
        address = ipaddress.ip_address(host.strip("[]"))
        if not address.is_unspecified:
            return str(address)
    raise UsageError(
        f"{host!r} is not an address to listen on",
        hint="write localhost, or the one address of this computer that clients use",
    )


async def _run_all(running: Sequence[tuple[uvicorn.Server, socket.socket]]) -> None:
    """Run servers until all have ended; one that ends by itself ends the others."""

    async def run(http: uvicorn.Server, listener: socket.socket) -> None:
        await http.serve(sockets=[listener])
        for server, _ in running:
            server.should_exit = True

    async with anyio.create_task_group() as tasks:
        for http, listener in running:
            tasks.start_soon(run, http, listener)
