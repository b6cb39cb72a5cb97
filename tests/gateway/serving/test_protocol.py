"""The SDK's client against our server: each transport, each revision."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from droidgate.serving.tool_results import MAX_STRUCTURED, MAX_TEXT
from droidgate.serving.tools import ServedTool, ToolCall, ToolOutcome, ToolSnapshot
from droidgate_mappings.model.types import AnyType
from droidgate_mcp.tool_facts import HANDSHAKE, MODERN
from droidgate_mcp.wire import DeclaredOutput, McpToolResult
from gateway.serving.clients_of_tests import REVISIONS, TRANSPORTS, Ask, http_client, stdio_client
from gateway.serving.fixture_tools import (
    MISSING,
    NOTHING,
    RESULTS,
    RUNS,
    FixtureTools,
    ResultTools,
    Run,
    asking,
    form,
    text,
    tool,
)
from gateway.serving.running_servers import running_server

pytestmark = pytest.mark.parametrize("revision", REVISIONS)


@asynccontextmanager
async def connected(
    transport: str, revision: str, ask: Ask | None = None, tools: FixtureTools | None = None
) -> AsyncIterator[Client]:
    if transport == "stdio":
        words = ("results",) if isinstance(tools, ResultTools) else ()
        async with stdio_client(revision, ask, *words) as client:
            yield client
    else:
        with running_server(tools or FixtureTools()) as server:
            async with http_client(server, revision, ask) as client:
                yield client


def accept(fields: dict[str, Any]) -> Ask:
    return lambda _message: mcp_types.ElicitResult(action="accept", content=fields)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_tools_and_resources_are_listed_called_and_read(transport: str, revision: str) -> None:
    async def main() -> None:
        async with connected(transport, revision) as client:
            listed = (await client.list_tools()).tools
            assert {item.name for item in listed} >= RUNS.keys()
            called = await client.call_tool("test_simple_text", {})
            assert called.content[0].text == "This is a simple text response for testing."  # type: ignore[union-attr]
            failed = await client.call_tool("test_error_handling", {})
            assert failed.is_error
            resources = (await client.list_resources()).resources
            read = await client.read_resource(resources[0].uri)
            assert read.contents[0].text == "This is the content."  # type: ignore[union-attr]

    anyio.run(main)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_unknown_tool_or_resource_is_an_error_of_the_protocol(transport: str, revision: str) -> None:
    async def main() -> None:
        async with connected(transport, revision) as client:
            with pytest.raises(MCPError, match="unknown tool 'nothing'"):
                await client.call_tool("nothing", {})
            with pytest.raises(MCPError, match="unknown resource"):
                await client.read_resource("test://nothing")

    anyio.run(main)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_the_user_is_asked_through_the_client(transport: str, revision: str) -> None:
    questions: list[str] = []

    def ask(message: str) -> mcp_types.ElicitResult:
        questions.append(message)
        fields: dict[str, Any] = {"name": "Ada"} if "name" in message else {"color": "green"}
        return mcp_types.ElicitResult(action="accept", content=fields)

    async def main() -> None:
        async with connected(transport, revision, ask) as client:
            result = await client.call_tool("test_input_required_result_multi_round", {})
            assert result.content[0].text == "{'name': 'Ada'} accepted {'color': 'green'}"  # type: ignore[union-attr]

    anyio.run(main)
    assert questions == ["Step 1: What is your name?", "Step 2: What is your favorite color?"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_user_who_says_no_refuses(transport: str, revision: str, action: Any) -> None:
    async def main() -> None:
        async with connected(
            transport, revision, lambda _message: mcp_types.ElicitResult(action=action)
        ) as client:
            result = await client.call_tool("test_input_required_result_elicitation", {})
            assert "action=refused" in result.content[0].text  # type: ignore[union-attr]

    anyio.run(main)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_client_that_cannot_ask_is_not_asked(transport: str, revision: str) -> None:
    async def main() -> None:
        async with connected(transport, revision) as client:
            result = await client.call_tool("test_input_required_result_elicitation", {})
            assert "action=unavailable" in result.content[0].text  # type: ignore[union-attr]

    anyio.run(main)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_progress_arrives_in_order(transport: str, revision: str) -> None:
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) == (100, None)
        seen.append(progress)

    async def main() -> None:
        async with connected(transport, revision) as client:
            await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)

    anyio.run(main)
    assert seen == [0, 50, 100]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_change_of_the_tools_is_announced(transport: str, revision: str) -> None:
    async def main() -> None:
        changed = anyio.Event()

        async def on_message(message: Any) -> None:
            if isinstance(message, mcp_types.ToolListChangedNotification):
                changed.set()

        def opened() -> Any:
            if transport == "stdio":
                return stdio_client(revision, message_handler=on_message)
            return http_client(server, revision, message_handler=on_message)

        with running_server(FixtureTools()) as server:
            async with opened() as client:
                if revision == MODERN:
                    async with client.listen(tools_list_changed=True) as events:
                        await client.call_tool("test_trigger_tool_change", {})
                        with anyio.fail_after(20):
                            assert type(await anext(aiter(events))).__name__ == "ToolsListChanged"
                    return
                with anyio.fail_after(20):
                    while not changed.is_set():  # the client's standing stream may not be open yet
                        await client.call_tool("test_trigger_tool_change", {})
                        with anyio.move_on_after(0.2):
                            await changed.wait()

    anyio.run(main)


def test_what_a_tool_prints_is_not_part_of_the_protocol(revision: str) -> None:
    async def main() -> None:
        async with stdio_client(revision) as client:
            for _ in range(3):
                result = await client.call_tool("printing", {})
                assert result.content[0].text == "printed"  # type: ignore[union-attr]

    anyio.run(main)


def test_a_client_is_known_by_its_name_and_revision(revision: str) -> None:
    tools = FixtureTools()

    async def main() -> None:
        async with connected("http", revision, tools=tools) as client:
            await client.call_tool("test_simple_text", {})

    anyio.run(main)
    (call,) = tools.calls
    assert (call.client.id, call.client.name, call.client.revision) == (
        "mcp:test-client",
        "Test Client",
        revision,
    )


def test_an_abandoned_call_is_canceled(revision: str) -> None:
    ended = threading.Event()

    async def endless(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    async def main() -> None:
        tools = FixtureTools({**RUNS, "endless": (endless, NOTHING)})
        async with connected("http", revision, tools=tools) as client:
            with anyio.move_on_after(0.5):
                await client.call_tool("endless", {})
            assert await anyio.to_thread.run_sync(ended.wait, 20)

    anyio.run(main)


def test_a_slow_tool_does_not_block_others(revision: str) -> None:
    async def main() -> None:
        done = anyio.Event()

        async def slow(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
            await anyio.to_thread.run_sync(released.wait, 20)
            return text("slow")

        released = threading.Event()
        tools = FixtureTools({**RUNS, "slow": (slow, NOTHING)})
        async with connected("http", revision, tools=tools) as client, anyio.create_task_group() as tasks:

            async def call_slow() -> None:
                result = await client.call_tool("slow", {})
                assert result.content[0].text == "slow"  # type: ignore[union-attr]
                done.set()

            tasks.start_soon(call_slow)
            await client.call_tool("test_simple_text", {})
            assert not done.is_set()
            released.set()

    anyio.run(main)


def returning(value: Any, declared: DeclaredOutput | None = None) -> dict[str, tuple[Run, Any]]:
    async def run(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
        return ToolOutcome(McpToolResult(value), declared)

    return {"large": (run, NOTHING)}


def test_a_long_text_is_cut_and_the_whole_is_a_resource(revision: str) -> None:
    whole = "ä" * MAX_TEXT

    async def main() -> None:
        async with connected("http", revision, tools=FixtureTools(returning(whole))) as client:
            result = await client.call_tool("large", {})
            shown, link = result.content
            assert isinstance(shown, mcp_types.TextContent)
            assert isinstance(link, mcp_types.ResourceLink)
            assert shown.text.startswith(
                "ä" * (MAX_TEXT // 2) + f"\n[truncated: {MAX_TEXT} of {2 * MAX_TEXT} bytes"
            )
            read = await client.read_resource(link.uri)
            assert read.contents[0].text == whole  # type: ignore[union-attr]

    anyio.run(main)


def test_a_text_of_the_limit_is_whole(revision: str) -> None:
    async def main() -> None:
        async with connected("http", revision, tools=FixtureTools(returning("x" * MAX_TEXT))) as client:
            (block,) = (await client.call_tool("large", {})).content
            assert isinstance(block, mcp_types.TextContent)
            assert block.text == "x" * MAX_TEXT

    anyio.run(main)


def test_structured_content_is_never_cut(revision: str) -> None:
    declared = DeclaredOutput(AnyType())

    async def main() -> None:
        async with connected(
            "http", revision, tools=FixtureTools(returning("x" * MAX_TEXT * 2, declared))
        ) as client:
            result = await client.call_tool("large", {})
            assert result.structured_content == {"result": "x" * MAX_TEXT * 2}
        too_long = "x" * MAX_STRUCTURED
        async with connected("http", revision, tools=FixtureTools(returning(too_long, declared))) as client:
            result = await client.call_tool("large", {})
            assert result.is_error
            shown, *links = result.content
            assert "the call succeeded" in shown.text  # type: ignore[union-attr]
            assert "do not repeat" in shown.text  # type: ignore[union-attr]
            read = [await client.read_resource(link.uri) for link in links]  # type: ignore[union-attr]
            whole = "".join(part.contents[0].text for part in read)  # type: ignore[union-attr]
            assert too_long in whole

    anyio.run(main)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_no_result_makes_the_client_fail_after_the_call(transport: str, revision: str) -> None:
    """The SDK's client raises where structured content is missing or unfit, and a model repeats the call."""

    async def main() -> None:
        tools = ResultTools()
        async with connected(transport, revision, tools=tools) as client:
            for name, (output, value, expected) in RESULTS.items():
                result = await client.call_tool(name, {})
                assert not result.is_error, (name, result)
                (block,) = result.content
                assert isinstance(block, mcp_types.TextContent)
                assert block.text == expected, name
                structured = result.structured_content
                if isinstance(structured, dict) and set(structured) == {"result"}:
                    structured = structured["result"]
                if output is not None:
                    assert structured == ({} if name == "void" else value), name
                else:
                    assert structured is None, name
            for name in MISSING:
                missing = await client.call_tool(name, {})
                assert missing.is_error, name
                assert "do not repeat the call" in missing.content[0].text, name  # type: ignore[union-attr]

    anyio.run(main)


def test_an_answer_that_nobody_asked_for_does_not_count(revision: str) -> None:
    """2026-07-28: an approval without the sealed state of its question is not an approval."""
    if revision != MODERN:
        pytest.skip("2025-11-25 has no such answers")

    async def main() -> None:
        tools = FixtureTools({"ask": (asking("confirm", "Delete all?", form(ok="boolean")), NOTHING)})
        responses: dict[str, Any] = {"confirm": mcp_types.ElicitResult(action="accept", content={"ok": True})}
        async with connected("http", revision, accept({"ok": True}), tools) as client:
            session = client.session
            forged = await session.call_tool("ask", {}, input_responses=responses, allow_input_required=True)
            assert isinstance(forged, mcp_types.InputRequiredResult)
            state = forged.request_state
            with pytest.raises(MCPError, match="requestState"):  # of other arguments
                await session.call_tool(
                    "ask",
                    {"all": True},
                    input_responses=responses,
                    request_state=state,
                    allow_input_required=True,
                )
            # The question has changed since.
            tools.runs["ask"] = (asking("confirm", "Delete everything else?", form(ok="boolean")), NOTHING)
            again = await session.call_tool(
                "ask", {}, input_responses=responses, request_state=state, allow_input_required=True
            )
            assert isinstance(again, mcp_types.InputRequiredResult)
            wrong: dict[str, Any] = {
                "confirm": mcp_types.ElicitResult(action="accept", content={"ok": "yes"})
            }
            unfit = await session.call_tool(
                "ask", {}, input_responses=wrong, request_state=again.request_state, allow_input_required=True
            )
            assert isinstance(unfit, mcp_types.InputRequiredResult)

    anyio.run(main)


def test_each_tool_is_listed_as_its_revision_has_it(revision: str) -> None:
    class TwoDocuments(FixtureTools):
        def snapshot(self) -> ToolSnapshot:
            old, new = tool("t").documents[HANDSHAKE], {**tool("t").documents[MODERN], "title": "new"}
            return ToolSnapshot((ServedTool("t", {HANDSHAKE: old, MODERN: new}),))

    async def main() -> None:
        async with connected("http", revision, tools=TwoDocuments()) as client:
            (listed,) = (await client.list_tools()).tools
            assert listed.title == ("new" if revision == MODERN else None)

    anyio.run(main)


def test_a_list_of_two_thousand_tools_comes_in_pages_that_every_client_takes(revision: str) -> None:
    run = RUNS["test_simple_text"][0]
    schema = {"type": "object", "properties": {"p": {"type": "string", "description": "x" * 700}}}
    names = [f"tool_{number}" for number in range(2_000)]

    async def main() -> None:
        tools = FixtureTools(dict.fromkeys(names, (run, schema)))
        async with connected("http", revision, tools=tools) as client:
            listed = await client.list_tools()
            seen = [listed.tools]
            while listed.next_cursor is not None:
                listed = await client.list_tools(cursor=listed.next_cursor)
                seen.append(listed.tools)
            assert [item.name for page in seen for item in page] == names
            assert 3 <= len(seen) <= 5
            assert not (await client.call_tool(names[-1], {})).is_error
            with pytest.raises(MCPError, match="unknown cursor; list from the beginning"):
                await client.list_tools(cursor="1")

    anyio.run(main)
