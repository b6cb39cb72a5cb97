"""Calls that outlive their request, over each transport: the SDK's client with the requests of SEP-2663."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from droidgate.serving import call_tasks
from droidgate.serving.tools import ToolCall, ToolOutcome
from gateway.serving.fixture_tools import NOTHING, RUNS, FixtureTools, text
from gateway.serving.running_servers import (
    TRANSPORTS,
    RunningServer,
    http_client,
    running_server,
    stdio_client,
    text_of,
)
from gateway.serving.task_client import Tasks, send, until

pytestmark = pytest.mark.anyio
MODERN = "2026-07-28"


async def confirm(_context: Any, _parameters: Any) -> mcp_types.ElicitResult:
    return mcp_types.ElicitResult(action="accept", content={"name": "Ada"})


@asynccontextmanager
async def connected(server: RunningServer, tasks: Tasks, **options: Any) -> AsyncIterator[Client]:
    async with http_client(
        server, MODERN, extensions=[tasks], elicitation_callback=confirm, **options
    ) as client:
        yield client


YES = {"action": "accept", "content": {"confirm": True, "name": "Ada"}}


# Tool, arguments -> what the client sees of the task, and what the result has.
CALLS: dict[str, tuple[dict[str, Any], list[str], str]] = {
    "greet": ({"name": "Ada"}, [], "Hello, Ada!"),
    "slow_compute": ({"seconds": 1}, ["working", "completed"], "computed"),
    "failing_job": ({}, ["working", "completed"], "This tool always fails"),
    "protocol_error_job": ({}, ["working", "failed"], "it failed"),
    "confirm_delete": ({}, ["working", "input_required", "completed"], "{'confirm': True"),
    "ask_twice": ({}, ["working", "input_required", "completed"], "accepted accepted"),
    "test_tool_with_task": ({}, ["working", "completed"], "Hello, Ada!"),
}


@pytest.mark.slow
@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_call_that_takes_long_or_asks_later_ends_as_a_task(transport: str) -> None:
    options: dict[str, Any] = {"elicitation_callback": confirm}
    for tool, (arguments, states, message) in CALLS.items():
        tasks = Tasks(YES)
        options["extensions"] = [tasks]
        if transport == "stdio":
            async with stdio_client(MODERN, **options) as client:
                result = await client.call_tool(tool, arguments)
        else:
            with running_server(FixtureTools()) as server:
                async with http_client(server, MODERN, **options) as client:
                    result = await client.call_tool(tool, arguments)
        assert message in text_of(result), tool
        assert tasks.states == states, tool
        answers = {"confirm_delete": 1, "ask_twice": 2}.get(tool, 0)
        assert len(tasks.answered) == len(set(tasks.answered)) == answers, tool


class EndlessTools(FixtureTools):
    """Has a tool that ends only when it is canceled, and says so."""

    def __init__(self) -> None:
        super().__init__({**RUNS, "endless": (EndlessTools.endless, NOTHING)})  # type: ignore[dict-item]
        self.canceled = anyio.Event()

    async def endless(self, call: ToolCall) -> ToolOutcome:
        assert call.report_progress is not None
        try:
            await call.report_progress(1, message="waiting for the app")
            await anyio.sleep(1)
            await call.report_progress(2, message="still waiting")
            await anyio.sleep_forever()
        finally:
            self.canceled.set()
        return text("never")


async def test_cancel_reaches_the_call_and_its_state_is_shown_until_then() -> None:
    tools, tasks = EndlessTools(), Tasks()
    with running_server(tools) as server, anyio.fail_after(60):
        async with connected(server, tasks) as client, anyio.create_task_group() as calls:
            results: list[str] = []
            reported: list[float] = []

            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                del total, message
                reported.append(progress)

            async def call() -> None:
                result = await client.call_tool("endless", {}, progress_callback=on_progress)
                results.append(text_of(result))

            calls.start_soon(call)
            await tasks.has_created.wait()
            task = tasks.created[0]["taskId"]
            seen = ["waiting for the app"]
            while seen[-1] != "still waiting":
                seen.append((await send(client.session, "get", task))["statusMessage"])
            assert set(seen) == {"waiting for the app", "still waiting"}
            assert reported == [1]
            await send(client.session, "cancel", task)
        assert tools.canceled.is_set()
        assert results == ["the call was canceled; the app may have finished it"]


async def test_a_client_that_leaves_before_its_call_is_a_task_ends_the_call() -> None:
    tools = EndlessTools()
    with running_server(tools) as server, anyio.fail_after(60):
        async with connected(server, Tasks()) as client:
            with anyio.move_on_after(0.2):
                await client.call_tool("endless", {})
            while not tools.canceled.is_set():  # noqa: ASYNC110 - set in another thread's loop
                await anyio.sleep(0.02)


async def test_a_server_that_ends_ends_its_tasks() -> None:
    tools = EndlessTools()
    with running_server(tools) as server:
        async with connected(server, Tasks()) as client:
            await client.session.call_tool("endless", {}, allow_claimed=True)
    assert tools.canceled.is_set()


async def test_another_client_has_no_such_task_and_an_answer_has_to_fit() -> None:
    with running_server(FixtureTools()) as server, anyio.fail_after(60):
        async with connected(server, Tasks()) as client, connected(server, Tasks(), name="Other") as other:
            created = await client.session.call_tool("confirm_delete", {}, allow_claimed=True)
            task = created.model_dump(by_alias=True)["taskId"]
            requests: dict[str, dict[str, Any]] = {"get": {}, "cancel": {}, "update": {"inputResponses": {}}}
            for method, parameters in requests.items():
                with pytest.raises(MCPError, match="unknown task") as raised:
                    await send(other.session, method, task, **parameters)
                assert raised.value.error.code == mcp_types.INVALID_PARAMS
            [key] = (await until(client.session, task, "input_required"))["inputRequests"]
            wrong = {key: {"action": "accept", "content": {"confirm": "perhaps"}}, "unknown": 1}
            with pytest.raises(MCPError, match="is not what its form asks for"):
                await send(client.session, "update", task, inputResponses=wrong)
            assert (await send(client.session, "get", task))["inputRequests"].keys() == {key}
            await send(client.session, "update", task, inputResponses={key: {"action": "decline"}, "x": 1})
            ended = await until(client.session, task, "completed")
            assert "action=refused" in str(ended["result"])


@pytest.mark.parametrize(("limit", "most"), [
    ("MAX_OF_CLIENT", 1), ("MAX_TASKS", 1), ("MAX_BYTES", 1),
])  # fmt: skip
async def test_while_there_is_no_room_calls_are_answered_by_their_requests(
    limit: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_tasks, limit, most)
    tasks = Tasks()
    with running_server(FixtureTools()) as server:
        async with connected(server, tasks) as client:
            for _ in range(2):
                assert text_of(await client.call_tool("slow_compute", {"seconds": 0.7})) == "computed"
    assert len(tasks.created) == 1


async def test_a_task_is_gone_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_tasks, "TTL_SECONDS", 1.0)
    tasks = Tasks()
    with running_server(FixtureTools()) as server:
        async with connected(server, tasks) as client:
            await client.call_tool("slow_compute", {"seconds": 0.7})
            assert tasks.created[0]["ttlMs"] == 1_000
            await anyio.sleep(0.5)
            with pytest.raises(MCPError, match="unknown task"):
                await send(client.session, "get", tasks.created[0]["taskId"])


async def test_older_revisions_have_no_tasks_and_notices_of_tasks_need_the_extension() -> None:
    with running_server(FixtureTools()) as server:
        async with http_client(server, "2025-11-25", extensions=[Tasks()]) as client:
            assert text_of(await client.call_tool("slow_compute", {"seconds": 0.6})) == "computed"
            with pytest.raises(MCPError, match="Method not found"):
                await send(client.session, "get", "x")
        async with http_client(server, MODERN) as client:
            listen = mcp_types.Request[dict[str, Any], str](
                method="subscriptions/listen", params={"notifications": {"taskIds": ["x"]}}
            )
            with pytest.raises(MCPError, match="does not declare the extension") as raised:
                await client.session.send_request(listen, mcp_types.EmptyResult)
            assert raised.value.error.code == mcp_types.MISSING_REQUIRED_CLIENT_CAPABILITY
