"""The SDK's client against our server: each transport, each revision."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import Mock

import anyio
import mcp_types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from opentelemetry.trace import (
    NoOpTracer,
    NoOpTracerProvider,
    ProxyTracerProvider,
    SpanKind,
    TracerProvider,
)

from droidgate.serving.tool_results import MAX_STRUCTURED, MAX_TEXT
from droidgate.serving.tools import ServedTool, ToolCall, ToolOutcome, ToolSnapshot
from droidgate_mappings.model.types import AnyType, RefType
from droidgate_mcp.format import HANDSHAKE, MODERN
from droidgate_mcp.wire import DeclaredOutput, McpToolResult
from gateway.serving.fixture_tools import (
    MISSING,
    NOTHING,
    OTHER_VISIT,
    RESULTS,
    RUNS,
    UNFIT_VISITS,
    VISIT,
    FixtureTools,
    ResultTools,
    asking,
    form,
    tool,
)
from gateway.serving.running_servers import (
    REVISIONS,
    TRANSPORTS,
    Ask,
    http_client,
    running_server,
    stdio_client,
    text_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("revision", REVISIONS)]


@asynccontextmanager
async def connected(
    transport: str, revision: str, ask: Ask | None = None, tools: FixtureTools | None = None, **options: Any
) -> AsyncIterator[Client]:
    if transport == "stdio":
        words = ("results",) if isinstance(tools, ResultTools) else ()
        async with stdio_client(revision, ask, *words, **options) as client:
            yield client
    else:
        with running_server(tools or FixtureTools()) as server:
            async with http_client(server, revision, ask, **options) as client:
                yield client


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_tools_and_resources_are_listed_called_and_read(transport: str, revision: str) -> None:
    async with connected(transport, revision) as client:
        listed = (await client.list_tools()).tools
        assert {item.name for item in listed} >= RUNS.keys()
        called = await client.call_tool("test_simple_text", {})
        assert text_of(called) == "This is a simple text response for testing."
        failed = await client.call_tool("test_error_handling", {})
        assert failed.is_error
        resources = (await client.list_resources()).resources
        read = await client.read_resource(resources[0].uri)
        assert read.contents[0].text == "This is the content."  # type: ignore[union-attr]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_an_unknown_tool_or_resource_is_an_error_of_the_protocol(transport: str, revision: str) -> None:
    async with connected(transport, revision) as client:
        with pytest.raises(MCPError, match="unknown tool 'nothing'"):
            await client.call_tool("nothing", {})
        with pytest.raises(MCPError, match="unknown resource"):
            await client.read_resource("test://nothing")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_user_is_asked_through_the_client(transport: str, revision: str) -> None:
    questions: list[str] = []

    def ask(message: str) -> mcp_types.ElicitResult:
        questions.append(message)
        fields: dict[str, Any] = {"name": "Ada"} if "name" in message else {"color": "green"}
        return mcp_types.ElicitResult(action="accept", content=fields)

    async with connected(transport, revision, ask) as client:
        result = await client.call_tool("test_input_required_result_multi_round", {})
        assert text_of(result) == "{'name': 'Ada'} accepted {'color': 'green'}"
    assert questions == ["Step 1: What is your name?", "Step 2: What is your favorite color?"]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(("action", "outcome"), [
    ("decline", "refused"), ("cancel", "refused"), (None, "unavailable"),
])  # fmt: skip
async def test_a_user_who_says_no_refuses_and_a_client_that_cannot_ask_is_not_asked(
    transport: str, revision: str, action: Any, outcome: str
) -> None:
    ask = (lambda _message: mcp_types.ElicitResult(action=action)) if action else None
    async with connected(transport, revision, ask) as client:
        result = await client.call_tool("test_input_required_result_elicitation", {})
        assert f"action={outcome}" in text_of(result)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_progress_arrives_in_order(transport: str, revision: str) -> None:
    seen: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        assert (total, message) == (100, None)
        seen.append(progress)

    async with connected(transport, revision) as client:
        await client.call_tool("test_tool_with_progress", {}, progress_callback=on_progress)
    assert seen == [0, 50, 100]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_change_of_the_tools_is_announced(transport: str, revision: str) -> None:
    changed = anyio.Event()

    async def on_message(message: Any) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            changed.set()

    async with connected(transport, revision, message_handler=on_message) as client:
        with anyio.fail_after(20):
            if revision == MODERN:
                async with client.listen(tools_list_changed=True) as events:
                    await client.call_tool("test_trigger_tool_change", {})
                    assert type(await anext(aiter(events))).__name__ == "ToolsListChanged"
                return
            while not changed.is_set():  # the client's standing stream may not be open yet
                await client.call_tool("test_trigger_tool_change", {})
                with anyio.move_on_after(0.2):
                    await changed.wait()


async def test_what_a_tool_prints_is_not_part_of_the_protocol(revision: str) -> None:
    async with stdio_client(revision) as client:
        for _ in range(3):
            result = await client.call_tool("printing", {})
            assert text_of(result) == "printed"


async def test_an_abandoned_call_is_canceled(revision: str) -> None:
    begun, ended = threading.Event(), threading.Event()

    async def endless(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()
        raise AssertionError

    tools = FixtureTools({**RUNS, "endless": (endless, NOTHING)})
    async with connected("http", revision, tools=tools) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "endless", {})
        assert await anyio.to_thread.run_sync(begun.wait, 60)
        tasks.cancel_scope.cancel()
    assert ended.wait(60)


async def answer_of(revision: str, value: str, declared: DeclaredOutput | None = None) -> tuple[Any, str]:
    """Return what a client gets from a tool that returns a value, and the text that its links lead to."""

    async def run(_tools: FixtureTools, _call: ToolCall) -> ToolOutcome:
        return ToolOutcome(McpToolResult(value), declared)

    async with connected("http", revision, tools=FixtureTools({"large": (run, NOTHING)})) as client:
        result = await client.call_tool("large", {})
        links = [block for block in result.content if isinstance(block, mcp_types.ResourceLink)]
        read: list[Any] = [await client.read_resource(link.uri) for link in links]
        return result, "".join(part.contents[0].text for part in read)


async def test_a_text_over_the_limit_is_cut_and_the_whole_is_a_resource(revision: str) -> None:
    result, linked = await answer_of(revision, "x" * MAX_TEXT)
    assert (text_of(result), linked, len(result.content)) == ("x" * MAX_TEXT, "", 1)
    result, linked = await answer_of(revision, "ä" * MAX_TEXT)
    cut = "ä" * (MAX_TEXT // 2) + f"\n[truncated: {MAX_TEXT} of {2 * MAX_TEXT} bytes"
    assert text_of(result).startswith(cut)
    assert (linked, len(result.content)) == ("ä" * MAX_TEXT, 2)


async def test_structured_content_is_never_cut(revision: str) -> None:
    declared = DeclaredOutput(AnyType())
    result, _ = await answer_of(revision, "x" * MAX_TEXT * 2, declared)
    assert result.structured_content == {"result": "x" * MAX_TEXT * 2}
    too_long = "x" * MAX_STRUCTURED
    result, linked = await answer_of(revision, too_long, declared)
    assert result.is_error
    assert "the call succeeded" in text_of(result)
    assert "do not repeat" in text_of(result)
    assert too_long in linked


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_no_result_makes_the_client_fail_after_the_call(transport: str, revision: str) -> None:
    """The SDK's client raises where structured content is missing or unfit, and a model repeats the call."""
    async with connected(transport, revision, tools=ResultTools()) as client:
        for name, (output, value, expected) in RESULTS.items():
            result = await client.call_tool(name, {})
            (block,) = result.content
            assert isinstance(block, mcp_types.TextContent)
            assert (result.is_error, block.text) == (False, expected), name
            structured = result.structured_content
            if isinstance(structured, dict) and set(structured) == {"result"}:
                structured = structured["result"]
            declared = None if output is None else {} if name == "void" else value
            assert structured == declared, name
        for name in MISSING:
            missing = await client.call_tool(name, {})
            assert missing.is_error, name
            assert "do not repeat the call" in text_of(missing), name


async def test_clients_refuse_an_output_that_breaks_its_schema(revision: str) -> None:
    """They check it against the listed schema, which has fewer bytes than the app's."""
    visits = {"visit": VISIT, "other_visit": OTHER_VISIT, **UNFIT_VISITS}
    type_ = RefType(name="a.b.Visit")
    tools = ResultTools({name: (type_, visit, "") for name, visit in visits.items()})
    async with connected("http", revision, tools=tools) as client:
        for name in visits.keys() - UNFIT_VISITS.keys():
            assert (await client.call_tool(name, {})).structured_content == visits[name]
        for name in UNFIT_VISITS:
            with pytest.raises(RuntimeError, match="Invalid structured content"):
                await client.call_tool(name, {})
        schema = (await client.list_tools()).tools[0].output_schema
    assert schema is not None
    assert {name: set(definition) for name, definition in schema["$defs"].items()} == {
        "Moment": {"type", "properties", "required"},
        "Step": {"type", "properties", "required"},
    }


async def test_an_answer_that_nobody_asked_for_does_not_count(revision: str) -> None:
    """2026-07-28: an approval without the sealed state of its question is not an approval."""
    if revision != MODERN:
        pytest.skip("2025-11-25 has no such answers")
    tools = FixtureTools({"ask": (asking("confirm", "Delete all?", form(ok="boolean")), NOTHING)})

    def ask(_message: str) -> mcp_types.ElicitResult:
        return mcp_types.ElicitResult(action="accept", content={"ok": True})

    async with connected("http", revision, ask, tools) as client:

        async def answer(state: str | None, arguments: dict[str, Any], **fields: Any) -> str | None:
            responses: dict[str, Any] = {
                "confirm": mcp_types.ElicitResult(action="accept", content={"ok": True, **fields})
            }
            result = await client.session.call_tool(
                "ask", arguments, input_responses=responses, request_state=state, allow_input_required=True
            )
            if isinstance(result, mcp_types.InputRequiredResult):
                return result.request_state
            return text_of(result)

        state = await answer(None, {})
        with pytest.raises(MCPError, match="requestState"):
            await answer(state, {"all": True})
        # The question has changed since.
        tools.runs["ask"] = (asking("confirm", "Delete everything else?", form(ok="boolean")), NOTHING)
        assert "action=invalid" in str(await answer(await answer(state, {}), {}, ok="yes"))


@pytest.mark.parametrize("provider", [NoOpTracerProvider, ProxyTracerProvider], ids=["somebody", "nobody"])
async def test_a_request_is_a_span_where_somebody_records_them(
    revision: str, provider: type[TracerProvider], monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = Mock(wraps=NoOpTracer().start_as_current_span)
    monkeypatch.setattr("mcp.shared._otel._tracer.start_as_current_span", begin)
    monkeypatch.setattr("droidgate.serving.server_application.get_tracer_provider", provider)
    async with connected("http", revision) as client:
        await client.call_tool("test_simple_text")
    made = [call.kwargs["kind"] for call in begin.call_args_list]
    assert (SpanKind.SERVER in made) == (provider is NoOpTracerProvider)


async def test_each_tool_is_listed_as_its_revision_has_it(revision: str) -> None:
    class TwoDocuments(FixtureTools):
        def snapshot(self) -> ToolSnapshot:
            old, new = tool("t").documents[HANDSHAKE], {**tool("t").documents[MODERN], "title": "new"}
            return ToolSnapshot((ServedTool("t", {HANDSHAKE: old, MODERN: new}),))

    async with connected("http", revision, tools=TwoDocuments()) as client:
        (listed,) = (await client.list_tools()).tools
        assert listed.title == ("new" if revision == MODERN else None)


async def test_a_list_of_two_thousand_tools_comes_in_pages_that_every_client_takes(revision: str) -> None:
    run = RUNS["test_simple_text"][0]
    schema = {"type": "object", "properties": {"p": {"type": "string", "description": "x" * 700}}}
    names = [f"tool_{number}" for number in range(2_000)]
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
