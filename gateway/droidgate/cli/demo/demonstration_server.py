"""The last step of the demo: an MCP client calls every sample app through droidgate's own server."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from droidgate.calls.caller import Caller
from droidgate.calls.subjects import NamePattern
from droidgate.cli.demo.demonstration_calls import shorten
from droidgate.cli.output.pages import Line, Table, show
from droidgate.computer.optional_packages import install_command, need
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.user_folders import HOME_VARIABLE

if TYPE_CHECKING:
    from droidgate.devices.device import Device

REVISION: Final = "2026-07-28"
_COLUMNS: Final = ("TOOL", "ANSWER", "MS")
_LONGEST_ANSWER: Final = 60

# Tool -> its arguments, and a text that a right answer has.
_CALLS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "clockin_query_clock_in": ({"date": "2026-02-03"}, '"has_clocked_in":true'),
    "notes_findNotes": ({"query": {"text": "Umbrella"}}, "Umbrella"),
    "legacy_createNote": ({"title": "Eggs", "content": "Six"}, "noteId"),
    "tally_add_points": ({"player": "Grace", "points": 4}, '"total":4'),
    "weather_currentWeather": ({"location": "Bonn"}, "Bonn"),
}


@dataclass
class DemonstrationServer:
    """A server over HTTP with a token, and the SDK's own client.

    Args:
        device: The phone, with shims.
        folder: Where the token, the audit log and everything else of the user is kept.
        signed_by: SHA-256 of the certificate that signs the shims.
        path_of_pdf: A PDF file on the phone, and a phrase in it.
    """

    device: Device
    folder: Path
    signed_by: str
    path_of_pdf: tuple[str, str]
    problems: list[str] = field(default_factory=list)

    def run(self) -> list[str]:
        """Call every app, show the answers, and return what was not right."""
        try:
            anyio = need("anyio", "serve")
            need("mcp", "serve")
        except UsageError:
            show([Line(f"left out: the MCP SDK is not installed ({install_command('serve')})", 1)])
            return []
        rows: list[tuple[str, str, str]] = []
        with _home(self.folder):
            anyio.run(self._serve_and_call, rows)
        show([Table(_COLUMNS, rows)])
        return self.problems

    async def _serve_and_call(self, rows: list[tuple[str, str, str]]) -> None:
        import anyio
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        from droidgate.serving.http import HttpAddress, http_application, http_server, listen
        from droidgate.serving.phone_tools import PhoneTools, ServedPhone
        from droidgate.serving.server_application import McpServer
        from droidgate.serving.tokens import TokenCheck, read_or_make_token, token_file

        tools = PhoneTools([ServedPhone(None, self._caller)], allow=[NamePattern.parse("*")])
        token = read_or_make_token(token_file())
        headers = {"Authorization": f"Bearer {token}"}
        with listen(HttpAddress("127.0.0.1", 0)) as (listener, address):
            server = http_server(http_application(McpServer(tools), address, TokenCheck(token)))
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.serve, [listener])
                async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
                    transport = streamable_http_client(address.url, http_client=http)
                    async with Client(transport, mode=REVISION) as client:
                        count = len((await client.list_tools()).tools)
                        show([Line(f"{address.url}, MCP {REVISION}: {count} tools", 1)])
                        for tool, (arguments, expected) in self._calls().items():
                            rows.append(await self._call(client, tool, arguments, expected))
                server.should_exit = True

    def _calls(self) -> dict[str, tuple[dict[str, Any], str]]:
        path, phrase = self.path_of_pdf
        return {**_CALLS, "pdftool_search_text": ({"path": path, "query": phrase}, phrase)}

    def _caller(self) -> Caller:
        return Caller(self.device, signed_by=self.signed_by)

    async def _call(
        self, client: Any, tool: str, arguments: dict[str, Any], expected: str
    ) -> tuple[str, str, str]:
        begin = time.perf_counter()
        result = await client.call_tool(tool, arguments)
        spent = (time.perf_counter() - begin) * 1000
        answer = "\n".join(block.text for block in result.content if block.type == "text")
        if result.is_error or expected not in answer:
            self.problems.append(f"{tool}: the answer is not what is so: {answer}")
        return tool, shorten(answer, _LONGEST_ANSWER), f"{spent:.0f}"


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Keep everything of the user below a folder: the policy, approvals, the audit log, the token."""
    before = os.environ.get(HOME_VARIABLE)
    os.environ[HOME_VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[HOME_VARIABLE]
        else:
            os.environ[HOME_VARIABLE] = before
