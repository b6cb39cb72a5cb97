"""When a server goes to search mode, and what a client then still can call."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import anyio
import pytest

from droidgate.serving.search import MANY_TOOLS, SearchTools
from droidgate.serving.tools import Change, Client, ServedTool, ToolCall, ToolOutcome, ToolSnapshot
from droidgate_mcp.tool_facts import HANDSHAKE, MODERN
from droidgate_mcp.wire import McpToolResult
from gateway.serving.fixture_tools import FixtureTools

SEARCH = ["find_tools", "describe_tool", "call_tool"]


class GrowingTools(FixtureTools):
    """Tools of which more come; a call returns the name."""

    def __init__(self, count: int) -> None:
        super().__init__({})
        self.count = count
        self.report: Callable[[Change], None] = lambda _change: None

    def snapshot(self) -> ToolSnapshot:
        documents = [
            {"name": f"app_run{number}", "inputSchema": {"type": "object"}} for number in range(self.count)
        ]
        tools = (ServedTool(str(each["name"]), {HANDSHAKE: each, MODERN: each}) for each in documents)
        return ToolSnapshot(tuple(tools))

    @asynccontextmanager
    async def run(self, on_change: Callable[[Change], None]) -> AsyncIterator[None]:
        self.report = on_change
        yield

    def grow(self, count: int) -> None:
        self.count = count
        self.report("tools")

    async def call(self, call: ToolCall) -> ToolOutcome:
        return ToolOutcome(McpToolResult(call.tool))


def names(tools: SearchTools) -> list[str]:
    return [tool.name for tool in tools.snapshot().tools]


@pytest.mark.parametrize(("always", "count", "searched"), [
    (None, MANY_TOOLS, False),
    (None, MANY_TOOLS + 1, True),
    (None, 2_000, True),
    (True, 1, True),
    (False, 2_000, False),
])  # fmt: skip
def test_search_mode_is_for_many_tools_unless_the_user_decides(
    *, always: bool | None, count: int, searched: bool
) -> None:
    tools = SearchTools(GrowingTools(count), always=always)
    assert (names(tools) == SEARCH) is searched
    assert ("find_tools" in (tools.instructions or "")) is (always is not False)


def test_a_server_stays_in_search_mode_and_announces_it_once() -> None:
    inner = GrowingTools(1)
    tools = SearchTools(inner, always=None)
    announced: list[str] = []

    async def main() -> None:
        async with tools.run(announced.append):
            inner.grow(2)
            assert announced == ["tools"]
            inner.grow(MANY_TOOLS + 1)
            assert announced == ["tools", "tools"]
            assert names(tools) == SEARCH
            inner.grow(3)
            assert announced == ["tools", "tools"]
            assert names(tools) == SEARCH

    anyio.run(main)


def test_a_tool_whose_name_a_client_knows_is_called_in_search_mode() -> None:
    tools = SearchTools(GrowingTools(2), always=True)
    ask: Any = None
    call = ToolCall("app_run1", {}, Client("mcp:test", "Test", MODERN), ask, ask)

    async def main() -> None:
        assert (await tools.call(call)).result.value == "app_run1"
        by_name = replace(call, tool="call_tool", arguments={"name": "app_run0"})
        assert (await tools.call(by_name)).result.value == "app_run0"

    anyio.run(main)
