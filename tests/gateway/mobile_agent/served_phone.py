"""Both servers of a made phone, in threads on free ports of loopback, and clients that call them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import mcp_types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.serving.http import HttpAddress, http_application, http_server, listen
from droidgate.serving.mobile_agent.mobile_agent_server import Extension, MobileAgentServer, Role
from droidgate.serving.tokens import TokenCheck
from droidgate_mappings.tables.mobile_agent import mobile_agent_commands, more_tools
from gateway.mobile_agent.made_phone import MadePhone, made_phone

ROLES: tuple[Role, Role] = ("data_collection", "action")
MODES = ("legacy", "2026-07-28")


@dataclass(frozen=True)
class ServedPhone:
    made: MadePhone
    ports: dict[Role, int]

    def url(self, role: Role) -> str:
        return f"http://localhost:{self.ports[role]}/mcp"

    def call(
        self, tool: str, /, mode: str = "legacy", role: Role | None = None, **arguments: Any
    ) -> mcp_types.CallToolResult:
        """Call a tool with the official client, in a session of its own, as UFO does."""
        commands = {command.id: command for command in (*mobile_agent_commands().values(), *more_tools())}
        url = self.url(role or commands[tool].server)

        async def run() -> Any:
            async with httpx2.AsyncClient(timeout=60) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, mode=mode, cache=None) as client:
                    return await client.call_tool(tool, arguments)

        result: mcp_types.CallToolResult = anyio.run(run)
        return result

    def value(self, tool: str, /, **arguments: Any) -> Any:
        """Return what a tool answered, unwrapped."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result
        assert result.structured_content is not None
        is_wrapped = set(result.structured_content) == {"result"}
        return result.structured_content["result"] if is_wrapped else result.structured_content


@contextmanager
def served(
    made: MadePhone,
    tokens: dict[Role, str] | None = None,
    *,
    extensions: Collection[Extension] = (),
    phones: dict[str, MobileAgentTools] | None = None,
) -> Iterator[ServedPhone]:
    with ExitStack() as stack:
        ports: dict[Role, int] = {}
        for role in ROLES:
            listener, address = stack.enter_context(listen(HttpAddress("127.0.0.1", 0)))
            check = None if tokens is None else TokenCheck(tokens[role])
            application = MobileAgentServer(role, phones or {"": made.tools}, frozenset(extensions))
            server = http_server(http_application(application, address, check, stateless=True))
            thread = threading.Thread(target=asyncio.run, args=(server.serve(sockets=[listener]),))
            thread.start()
            stack.callback(thread.join, 30)
            stack.callback(setattr, server, "should_exit", True)
            ports[role] = address.port
        yield ServedPhone(made, ports)


@contextmanager
def served_phone(*, extensions: Collection[Extension] = (), **options: Any) -> Iterator[ServedPhone]:
    with made_phone(**options) as made, served(made, extensions=extensions) as phone:
        yield phone
