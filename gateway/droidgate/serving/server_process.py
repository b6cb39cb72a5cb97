"""`droidgate.serve`: phones, transport and options put together."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from droidgate.calls.caller import CapabilityCaller
from droidgate.devices.device import connect_device
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_files import SharedFolders
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.server_application import McpServer
from droidgate.serving.stdio_transport import run_stdio
from droidgate.serving.tokens import TokenCheck, read_or_make_token, token_file
from droidgate.serving.tool_search import SearchTools
from droidgate.serving.tools import ToolProvider
from droidgate_mappings.records import dataclass
from droidgate_shim.deadlines import check_seconds

if TYPE_CHECKING:
    from droidgate.serving.http_transport import HttpAddress


@dataclass(frozen=True, slots=True)
class Listening:
    """An HTTP server that accepts connections.

    Attributes:
        url: The MCP endpoint.
        token_file: Where the bearer token is, None where no token is needed.
    """

    url: str
    token_file: Path | None


def phone_tools(
    serials: Sequence[str] = (),
    *,
    select: Sequence[str] = (),
    allow: Sequence[str] = (),
    screens: bool = False,
    files: Sequence[str | PathLike[str]] = (),
    app_instructions: bool = False,
    deadline: float | None = None,
) -> PhoneTools:
    """Return the tools of phones, with the options of `serve`; the phones are asked at the first look.

    Raises:
        UsageError: a folder is not there.
    """
    phones = [
        ServedPhone(serial, functools.partial(_connect, serial), screens=screens)
        for serial in serials or (None,)
    ]
    return PhoneTools(
        phones,
        select=select,
        allow=allow,
        shared=SharedFolders.of(files),
        app_instructions=app_instructions,
        deadline=deadline,
    )


def _connect(serial: str | None) -> CapabilityCaller:
    return CapabilityCaller(connect_device(serial))


def serve(  # noqa: PLR0913
    *serials: str,
    http: str | None = None,
    select: Sequence[str] = (),
    search: bool | None = None,
    screens: bool = False,
    allow: Sequence[str] = (),
    files: Sequence[str | PathLike[str]] = (),
    app_instructions: bool = False,
    deadline: float | None = None,
    needs_token: bool = True,
    on_listening: Callable[[Listening], None] | None = None,
) -> None:
    """Serve what the apps of phones declare to MCP clients, until the client leaves or a signal ends it.

    Args:
        serials: The phones; the only one that is attached by default.
        http: `[HOST:]PORT` on loopback, to serve over Streamable HTTP; standard input and output by default.
        select: Glob patterns of the packages to serve; all by default.
        search: Serve three tools that find, describe and call the others, or every tool by itself; by
            default the three where there are more than 40 others.
        screens: Serve MobileAgent's commands too, which work on the screens of every app.
        allow: Capabilities that need no approval: glob patterns, `CAPABILITY` or `PACKAGE/CAPABILITY`.
        files: Folders of this computer whose files a client may send to apps.
        app_instructions: Put what the apps' authors wrote for models into the instructions, marked as theirs.
        deadline: Seconds that a call may take, 1 to 150; by default 30, or 150 where the client takes tasks.
        needs_token: Over HTTP, serve only clients that send the token of this user.
        on_listening: Called when an HTTP server accepts connections.

    Raises:
        UsageError: a folder is not there, the deadline is out of range, or the address is not one of loopback
            or is in use.
        InputError: the token's file or the user's policy cannot be used.
    """
    address = http_address(http)
    if deadline is not None:
        check_seconds(deadline)
    phones = phone_tools(
        serials,
        select=select,
        allow=allow,
        screens=screens,
        files=files,
        app_instructions=app_instructions,
        deadline=deadline,
    )
    tools = SearchTools(phones, always=search)
    serve_tools(tools, address=address, needs_token=needs_token, on_listening=on_listening)


def http_address(text: str | None) -> HttpAddress | None:
    """Return the address that a user wrote as `[HOST:]PORT`; None for standard input and output.

    Raises:
        UsageError: it is written otherwise, or is not one of loopback.
    """
    if text is None:
        return None
    from droidgate.serving.http_transport import parse_address

    return parse_address(text)


def serve_tools(
    tools: ToolProvider,
    *,
    address: HttpAddress | None = None,
    needs_token: bool = True,
    on_listening: Callable[[Listening], None] | None = None,
) -> None:
    """Serve tools that may have been looked at before; the rest is as for `serve`."""
    application = McpServer(tools)
    # What is imported lives as long as the server: no collection has to look through it. Calls leave few
    # cycles, and their objects are gone when there are so many.
    gc.freeze()
    gc.set_threshold(10_000)
    if address is None:
        run_stdio(application)
        return
    from droidgate.serving.http_transport import (
        http_application,
        http_server,
        listen,
    )

    path = token_file() if needs_token else None
    check = None if path is None else TokenCheck(read_or_make_token(path))
    with listen(address) as (listener, endpoint):
        server = http_server(http_application(application, endpoint, check))
        if on_listening is not None:
            on_listening(Listening(endpoint.url, path))
        # The event loop of uvloop takes a tenth less processor time for a call than Python's own.
        options = {"use_uvloop": find_spec("uvloop") is not None}
        anyio.run(functools.partial(server.serve, sockets=[listener]), backend_options=options)
