"""The agent app finds tools and calls them in each wire form."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.phone_apps.small_phone import SmallPhone
from droidgate_phone.apps.agent import Agent, AgentApp, Dialect, NoAnswerError, request_text
from droidgate_phone.apps.clock_in import ClockInApp
from droidgate_phone.apps.pdf_tool import PdfToolApp
from droidgate_phone.apps.weather import WeatherApp
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.system.behaviour import App, Service

CLOCK_IN = ComponentName("dev.droidgate.sample.clockin", "dev.droidgate.sample.clockin.ClockInService")
PDF_TOOL = ComponentName("dev.droidgate.sample.pdftool", "dev.droidgate.sample.pdftool.ToolActivity")
WEATHER = ComponentName("dev.droidgate.sample.weather", "dev.droidgate.sample.weather.WeatherReceiver")
PROTOTYPE = ComponentName("com.example.mcpdemo", "com.example.mcpdemo.CommandGatewayService")


class PrototypeService(Service):
    """A tool of the reference's MM-5 (started) and MM-6 (bound): unwrapped, arguments as JSON inside JSON."""

    def on_start_command(self, intent: Intent) -> None:
        callback = intent.extras.values["mcp_callback"]
        extras = {"mcp_request_id": "", "response": echo(str(intent.extras.get_string("request")))}
        self.context.send_pending_intent(str(callback.value), Intent(extras=Bundle.of_strings(extras)))

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        del intent

        def handle(message: Message) -> None:
            answer = Bundle.of_strings({"response": echo(str(message.data.get_string("request")))})
            self.context.send_message(str(message.reply_to), Message(2, answer))

        return handle


def echo(request: str) -> str:
    document = json.loads(request)
    arguments = json.loads(document["capability"]["input"])
    return json.dumps({"id": document["id"], "capability": {"id": "x", "output": arguments}})


class PrototypeApp(App):
    PACKAGE = PROTOTYPE.package
    SERVICES = {PROTOTYPE.class_name: PrototypeService}


@pytest.fixture
def phone() -> SmallPhone:
    phone = SmallPhone()
    phone.install(AgentApp, ClockInApp, PdfToolApp, WeatherApp, PrototypeApp)
    return phone


@pytest.fixture
def agent(phone: SmallPhone) -> Agent:
    return Agent(phone.context("dev.droidgate.sample.agent"), patience=0.01)


def test_it_finds_the_tools_of_three_protocols(agent: Agent) -> None:
    assert agent.discover_mobile_mcp() == [CLOCK_IN]
    assert agent.discover_mmcp() == [PDF_TOOL]
    (weather,) = agent.discover_broadcast_tools()
    assert weather.component == WEATHER
    assert [(tool.name, json.loads(tool.parameters)) for tool in weather.tools] == [
        ("currentWeather", {"location": "string"}),
        ("forecast", {"location": "string", "days": "string"}),
        ("warmestPlace", {"places": "string"}),
    ]
    assert all(tool.description for tool in weather.tools)


@pytest.mark.parametrize("way", ["call_bound", "call_started"])
def test_s0_is_what_clock_in_speaks(agent: Agent, way: str) -> None:
    text = request_text("query_clock_in", {"date": "2026-02-13"}, dialect="S0", request_id="r")
    response = json.loads(getattr(agent, way)(CLOCK_IN, text))["mobile-mcp-response"]["response"]
    assert (response["id"], response["status"]) == ("r", "success")


@pytest.mark.parametrize("way", ["call_bound", "call_started"])
def test_s1_is_understood_and_refused_by_clock_in(agent: Agent, way: str) -> None:
    text = request_text("query_clock_in", {"date": "2026-02-13"}, dialect="S1")
    response = json.loads(getattr(agent, way)(CLOCK_IN, text, dialect="S1"))["mobile-mcp-response"][
        "response"
    ]
    assert response["message"] == 'invalid_argument: arguments belong under "args", not under "input"'


@pytest.mark.parametrize(("way", "dialect"), [("call_started", "MM-5"), ("call_bound", "MM-6")])
def test_the_prototype_s_forms_reach_the_prototype(agent: Agent, way: str, dialect: Dialect) -> None:
    arguments: dict[str, Any] = {"date": "2026-02-24", "nested": {"a": [1]}}
    text = request_text("x", arguments, dialect=dialect, request_id="7f3c")
    assert isinstance(json.loads(text)["capability"]["input"], str)
    found = json.loads(getattr(agent, way)(PROTOTYPE, text, dialect=dialect))
    assert found == {"id": "7f3c", "capability": {"id": "x", "output": arguments}}


def test_it_calls_activities_and_receivers(agent: Agent, phone: SmallPhone) -> None:
    phone.shared["/storage/emulated/0/a.pdf"] = pdf_with(["a"], ["b"])
    result = agent.call_mmcp_activity(PDF_TOOL, "page_count", {"path": "/sdcard/a.pdf"})
    assert result.code == -1
    assert result.data is not None
    assert result.data.extras.get_string("result") == '{"page_count":2}'
    answer = agent.call_broadcast(WEATHER, "currentWeather", {"location": "Paris"})
    assert (answer.code, answer.data) == (-1, "Paris: overcast, 26 °C, wind 56 km/h.")
    refused = agent.call_broadcast(WEATHER, "getWeather", {})
    assert (refused.code, refused.data) == (0, 'Error: unknown tool "getWeather"')


def test_a_tool_that_does_not_answer_is_reported(agent: Agent, phone: SmallPhone) -> None:
    class SilentApp(App):
        PACKAGE = "dev.made.silent"
        SERVICES = {"dev.made.silent.Tool": Service}

    phone.install(SilentApp)
    silent = ComponentName("dev.made.silent", "dev.made.silent.Tool")
    with pytest.raises(NoAnswerError, match="returns no binder"):
        agent.call_bound(silent, "{}")
    with pytest.raises(NoAnswerError, match="no answer in"):
        agent.call_started(silent, "{}")
    with pytest.raises(NoAnswerError, match="unknown service"):
        agent.call_started(ComponentName("dev.made.silent", "x"), "{}")


def test_its_screen_lists_what_it_finds(phone: SmallPhone) -> None:
    view = phone.activity("dev.droidgate.sample.agent", "dev.droidgate.sample.agent.MainActivity").view()
    assert view is not None
    (tools,) = (node for node in view.walk() if node.id == "tools")
    assert [child.text for child in tools.children] == [
        "MOBILE_MCP dev.droidgate.sample.clockin/.ClockInService",
        "MMCP dev.droidgate.sample.pdftool/.ToolActivity",
        "BROADCAST dev.droidgate.sample.weather/.WeatherReceiver",
    ]
