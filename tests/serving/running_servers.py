"""A server of fixture tools in a thread, on a free port of loopback."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from droidgate.serving.application import McpServer
from droidgate.serving.front_door import FrontDoor
from droidgate.serving.http import HttpAddress, http_application, http_server, listen
from droidgate.serving.tokens import TokenCheck
from droidgate.serving.tools import ToolProvider

TOKEN = "test-token-of-at-least-22-characters"


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
def running_server(
    provider: ToolProvider, *, token: str | None = TOKEN, host: str = "127.0.0.1", port: int = 0
) -> Iterator[RunningServer]:
    with listen(HttpAddress(host, port)) as (listener, address):
        check = None if token is None else TokenCheck(token)
        door = http_application(McpServer(provider), address, check)
        server = http_server(door)
        thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listener]),))
        thread.start()
        try:
            yield RunningServer(address, door)
        finally:
            server.should_exit = True
            thread.join(120)
