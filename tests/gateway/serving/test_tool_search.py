"""Search mode on the tools of the sample apps."""

import json
from typing import Any

import pytest

from droidgate.calls.subjects import last_part
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.tool_documents import write_tools
from droidgate.serving.tool_names import NamedCapability
from droidgate.serving.tool_search import SearchTools, ToolIndex
from droidgate.serving.tools import ServedTool
from droidgate.sources import read
from gateway.calls.phones_with_shims import NOTES, ReachedPhone
from gateway.serving.phone_servers import connected, tools_of
from gateway.serving.questions import FILES, QUESTIONS, QUESTIONS_OF_A_STRANGER
from gateway.serving.running_servers import text_of
from requirements_of_tests import require

pytestmark = pytest.mark.anyio


def tools_of_questions(phone: ReachedPhone) -> list[ServedTool]:
    """Return the tools of the phone's apps, also uncallable ones, of its screens and of the corpus."""
    of_phone = PhoneTools([ServedPhone(None, phone.caller, screens=True)])
    of_phone.look()
    tools = {tool.name: tool for tool in of_phone.snapshot().tools}
    providers = [
        (target.provider, NOTES) for target in phone.caller().targets.all() if target.key.package == NOTES
    ]
    for pattern, package in FILES.items():
        for path in sorted(require("corpus").glob(pattern)):
            providers += [(provider, package) for provider in read(path).providers]
    for provider, package in providers:
        documents, _ = write_tools(provider.changed({"package": package}))
        for capability, document in zip(provider.capabilities, documents, strict=True):
            name = NamedCapability("", package, capability.id).short_name
            tools.setdefault(name, ServedTool(name, document, package))
    return list(tools.values())


@pytest.mark.requires("corpus")
def test_nine_in_ten_questions_of_users_find_a_tool_that_answers_them(phone: ReachedPhone) -> None:
    tools = tools_of_questions(phone)
    assert len(tools) == 109
    index = ToolIndex(tools)
    missed: tuple[list[str], list[str]] = ([], [])
    for number, (question, right) in enumerate(QUESTIONS.items()):
        ends = tuple(f"_{last_part(name)}" for name in right.split())
        assert any(tool.name.endswith(ends) for tool in tools), question
        if not any(tool.name.endswith(ends) for (tool,) in index.find(question, 5)):
            missed[number % 2].append(question)
    assert (len(QUESTIONS), *(len(half) <= 6 for half in missed)) == (120, True, True), missed
    hits = [
        any(tool.name in right.split() for (tool,) in index.find(question, 5))
        for question, right in QUESTIONS_OF_A_STRANGER.items()
    ]
    assert (len(hits), hits.count(True) >= 108) == (120, True)


async def test_search_mode_finds_describes_and_calls(phone: ReachedPhone) -> None:
    async with connected(SearchTools(tools_of(phone)), "2025-11-25") as client:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == ["find_tools", "describe_tool", "call_tool"]
        tools = json.loads(text_of(await client.call_tool("find_tools", {"query": "points of a player"})))
        assert tools[0]["name"].startswith("tally_")
        outside = text_of(await client.call_tool("find_tools", {"query": "how hot is it outside"}))
        assert {tool["name"] for tool in json.loads(outside)} <= {
            f"weather_{name}" for name in ("currentWeather", "forecast", "warmestPlace")
        }
        nothing = text_of(await client.call_tool("find_tools", {"query": "qwertz"}))
        assert nothing.startswith("No tool has these words.")
        assert nothing.endswith(", dev.droidgate.sample.weather")
        described = await client.call_tool("describe_tool", {"name": "tally_read_total"})
        assert json.loads(text_of(described))["inputSchema"]["required"] == ["player"]
        arguments = {"name": "tally_read_total", "arguments": {"player": "Nobody"}}
        called = await client.call_tool("call_tool", arguments)
        assert text_of(called) == '{"player":"Nobody","total":0}'
        flat = {"name": "tally_read_total", "player": "Ada"}
        refused: list[tuple[str, dict[str, Any], str]] = [
            ("find_tools", {}, "'query' is required and missing"),
            ("find_tools", {"query": "x", "limit": 21}, "/limit: "),
            ("call_tool", flat, '/player: not a parameter; the parameters are "name", "arguments"'),
            ("call_tool", {"name": "tally_read_totl"}, "did you mean 'tally_read_total'?"),
            ("describe_tool", {"name": "tally_read_totl"}, "did you mean 'tally_read_total'?"),
        ]
        for name, wrong, words in refused:
            text = text_of(await client.call_tool(name, wrong))
            assert (text.partition(": ")[0], words in text) == ("invalid_argument", True), text
