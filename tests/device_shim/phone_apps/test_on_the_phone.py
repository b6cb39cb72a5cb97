"""The sample apps, installed from their APKs, run on the virtual phone under Android's rules.

The agent app finds tools and calls them in each wire form.
"""

import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.phone_system.phone_system_apps import make_apk, nodes_of, run, run_bytes, tap
from droidgate_phone.apps.agent import (
    ACTION_MMCP_ADVERTISE,
    ACTION_MOBILE_MCP,
    Agent,
    Dialect,
    NoAnswerError,
    request_text,
)
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.java.app_values import ActivityResult, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.phone import boot
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import App, Service

SAMPLE = "dev.droidgate.sample"
AGENT = f"{SAMPLE}.agent"
CLOCK_IN = ComponentName(f"{SAMPLE}.clockin", f"{SAMPLE}.clockin.ClockInService")
TALLY = ComponentName(f"{SAMPLE}.tally", f"{SAMPLE}.tally.TallyService")
PDF_TOOL = ComponentName(f"{SAMPLE}.pdftool", f"{SAMPLE}.pdftool.ToolActivity")
WEATHER = ComponentName(f"{SAMPLE}.weather", f"{SAMPLE}.weather.WeatherReceiver")
PROTOTYPE = ComponentName("com.example.mcpdemo", "com.example.mcpdemo.CommandGatewayService")
SILENT = ComponentName(PROTOTYPE.package, f"{PROTOTYPE.package}.Silent")
LAUNCHER = "android.intent.category.LAUNCHER"


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
    SERVICES = {PROTOTYPE.class_name: PrototypeService, SILENT.class_name: Service}


def launch(system: AndroidSystem, package: str) -> None:
    status, output, _ = run_bytes(system, "monkey", "-p", package, "-c", LAUNCHER, "1")
    assert (status, b"Events injected: 1" in output) == (0, True)


def text_of(system: AndroidSystem, entry: str) -> str:
    (element,) = [node for node in nodes_of(system) if str(node.get("resource-id")).endswith(f":id/{entry}")]
    return str(element.get("text"))


def texts(system: AndroidSystem) -> list[str | None]:
    return [node.get("text") for node in nodes_of(system)]


def tap_entry(system: AndroidSystem, entry: str) -> None:
    tap(system, lambda node: str(node.get("resource-id")).endswith(f":id/{entry}"))


@pytest.fixture
def phone() -> Iterator[AndroidSystem]:
    with boot("36.1", seed=1, behaviours={**BEHAVIOURS, PROTOTYPE.package: PrototypeApp}) as system:
        for package in sample_packages():
            system.packages.install(package.apk)
        yield system


@pytest.fixture
def agent(phone: AndroidSystem) -> Agent:
    """The agent, in front."""
    launch(phone, AGENT)
    return Agent(phone.app_context(AGENT))


@pytest.fixture
def with_prototype(phone: AndroidSystem) -> None:
    """A phone with a tool of the prototype and one that stays silent, both of which may be started."""
    services = "".join(
        f'<service android:name="{name.class_name}" android:exported="true"><intent-filter>'
        '<action android:name="mobile.mcp.SERVICE"/></intent-filter></service>'
        for name in (PROTOTYPE, SILENT)
    )
    phone.packages.install(make_apk(PROTOTYPE.package, services, target=25, minimum=24))


def test_the_agent_sees_and_calls_all_three_protocols(phone: AndroidSystem, agent: Agent) -> None:
    context = phone.app_context(AGENT)
    assert context.query_services(Intent(ACTION_MOBILE_MCP)) == [CLOCK_IN, TALLY]
    assert context.query_activities(Intent(ACTION_MMCP_ADVERTISE)) == [PDF_TOOL]
    launch(phone, WEATHER.package)
    launch(phone, AGENT)
    answer = agent.call_broadcast(WEATHER, "currentWeather", {"location": "Paris"})
    assert (answer.code, answer.data) == (-1, "Paris: overcast, 26 °C, wind 56 km/h.")
    refused = agent.call_broadcast(WEATHER, "getWeather", {})
    assert (refused.code, refused.data) == (0, 'Error: unknown tool "getWeather"')
    result = agent.call_mmcp_activity(PDF_TOOL, "page_count", {"path": "/sdcard/Download/nothing.pdf"})
    assert result.code == 0
    (listed,) = [str(text) for text in texts(phone) if "/" in str(text)]
    assert listed.splitlines() == [
        f"mobile-mcp {CLOCK_IN.flatten()}",
        f"mobile-mcp {TALLY.flatten()}",
        f"mmcp {PDF_TOOL.flatten()}",
        f"mmcp-broadcast {WEATHER.flatten()}",
    ]


@pytest.mark.parametrize("way", ["call_bound", "call_started"])
@pytest.mark.parametrize(
    ("dialect", "message"),
    [("S0", None), ("S1", 'invalid_argument: arguments belong under "args", not under "input"')],
)
def test_clock_in_speaks_s0_and_understands_s1(
    phone: AndroidSystem, agent: Agent, way: str, dialect: Dialect, message: str | None
) -> None:
    phone.uid_states.idle_whitelist.add(CLOCK_IN.package)
    text = request_text("query_clock_in", {"date": "2020-02-13"}, dialect=dialect, request_id="r")
    answer = json.loads(getattr(agent, way)(CLOCK_IN, text, dialect=dialect))
    response = answer["mobile-mcp-response"]["response"]
    assert (response["id"], response["status"]) == ("r", "failure" if message else "success")
    assert message is None or response["message"] == message


@pytest.mark.usefixtures("with_prototype")
@pytest.mark.parametrize(("way", "dialect"), [("call_started", "MM-5"), ("call_bound", "MM-6")])
def test_the_prototype_s_forms_reach_the_prototype(agent: Agent, way: str, dialect: Dialect) -> None:
    arguments: dict[str, Any] = {"date": "2026-02-24", "nested": {"a": [1]}}
    text = request_text("x", arguments, dialect=dialect, request_id="7f3c")
    assert isinstance(json.loads(text)["capability"]["input"], str)
    answer = json.loads(getattr(agent, way)(PROTOTYPE, text, dialect=dialect))
    assert answer == {"id": "7f3c", "capability": {"id": "x", "output": arguments}}


@pytest.mark.usefixtures("with_prototype", "agent")
def test_a_tool_that_does_not_answer_is_reported(phone: AndroidSystem) -> None:
    agent = Agent(phone.app_context(AGENT), patience=0.01)
    with pytest.raises(NoAnswerError, match="returns no binder"):
        agent.call_bound(SILENT, "{}")
    with pytest.raises(NoAnswerError, match="no answer in"):
        agent.call_started(SILENT, "{}")
    with pytest.raises(NoAnswerError, match="unknown service"):
        agent.call_started(ComponentName(PROTOTYPE.package, "x"), "{}")


def test_records_outlive_the_app_s_process(phone: AndroidSystem, agent: Agent) -> None:
    agent.call_bound(CLOCK_IN, request_text("clock_in_today", {}, dialect="S0"))
    phone.end_processes(CLOCK_IN.package, "test")
    text = agent.call_bound(CLOCK_IN, request_text("query_clock_in", {}, dialect="S0"))
    output = json.loads(text)["mobile-mcp-response"]["response"]["capability"]["output"]
    assert {item["name"]: item["value"] for item in output}["has_clocked_in"] is True


def extra_of(result: ActivityResult, name: str) -> str:
    assert result.data is not None
    return str(result.data.extras.get_string(name))


def test_a_pdf_of_the_app_s_folder_is_read_and_others_with_the_permission(
    phone: AndroidSystem, agent: Agent
) -> None:
    folder, other = f"/sdcard/Android/data/{PDF_TOOL.package}/files", "/sdcard/Download"
    phone.files.make_directory(folder, parents=True, uid=SHELL_UID)

    def extract(place: str) -> ActivityResult:
        return agent.call_mmcp_activity(PDF_TOOL, "extract_text", {"path": f"{place}/a.pdf"})

    for place in (folder, other):
        phone.files.write(f"{place}/a.pdf", pdf_with(["hello", "phone"]), uid=SHELL_UID)
    permission = (PDF_TOOL.package, "android.permission.READ_EXTERNAL_STORAGE")
    run(phone, "pm", "grant", *permission)
    for place in (folder, other):
        assert json.loads(extra_of(extract(place), "result"))["text"] == "hello\nphone"
    run(phone, "pm", "revoke", *permission)
    assert json.loads(extra_of(extract(folder), "result"))["text"] == "hello\nphone"
    assert extra_of(extract(other), "error").endswith("is not a file that this app may read")


def test_a_person_uses_clock_in_by_what_uiautomator_shows(phone: AndroidSystem) -> None:
    launch(phone, CLOCK_IN.package)
    assert text_of(phone, "state") == "You have not clocked in today."
    before = run_bytes(phone, "screencap", "-p")
    tap_entry(phone, "clock_in_now")
    assert text_of(phone, "state") == "You are clocked in today."
    assert run_bytes(phone, "screencap", "-p") != before
    tap_entry(phone, "missed_day")
    assert run_bytes(phone, "input", "text", "2020-02-2%s") == (0, b"", "")
    assert run_bytes(phone, "input", "keyevent", "KEYCODE_DEL", "KEYCODE_9") == (0, b"", "")
    assert text_of(phone, "missed_day") == "2020-02-29"
    tap(phone, lambda node: node.get("text") == "Add that day")
    assert text_of(phone, "problem") == ""
    assert text_of(phone, "missed_day") == "A day you missed, as YYYY-MM-DD"
    assert "2020-02-29" in texts(phone)
    run(phone, "input", "keyevent", "HOME")
    tap(phone, lambda node: node.get("text") == "Notes")
    tap_entry(phone, "title")
    run(phone, "input", "text", "from%sthe%sscreen")
    tap_entry(phone, "create_note")
    assert "from the screen" in texts(phone)


def test_pictures_and_dumps_go_to_files_or_to_the_output(phone: AndroidSystem) -> None:
    assert run_bytes(phone, "screencap", "-p", "/sdcard/a.png") == (0, b"", "")
    with Image.open(io.BytesIO(bytes(phone.files.read("/sdcard/a.png")))) as picture:
        assert picture.size == (1080, 2400)
    error = "Error opening file: /system/a.png (Read-only file system)\n"
    assert run_bytes(phone, "screencap", "/system/a.png")[::2] == (1, error)
    done = "UI hierchary dumped to: "
    assert run(phone, "uiautomator", "dump").stdout == f"{done}/sdcard/window_dump.xml\n"
    dumped = bytes(phone.files.read("/sdcard/window_dump.xml"))
    assert ET.fromstring(dumped).tag == "hierarchy"
    ran = run(phone, "uiautomator", "dump", "/dev/tty")
    assert (ran.status, ran.stdout, ran.stderr) == (0, f"{dumped.decode()}{done}/dev/tty\n", "")
    ran = run(phone, "uiautomator", "dump", "/no/such/folder/x.xml")
    assert (ran.status, ran.stdout) == (0, f"{done}/no/such/folder/x.xml\n")


@pytest.mark.parametrize(("command", "status", "message"), [
    (f"monkey -p dev.made.gone -c {LAUNCHER} 1", 252, "monkey aborted."),
    (f"monkey -p {PDF_TOOL.package} -c {LAUNCHER} 1", 252, "monkey aborted."),
    (f"monkey -p {AGENT} 500", 69, "not modelled"),
    ("input roll 1 1", 69, "not modelled"),
    ("input keyevent POWER", 69, "not modelled: key 26"),
    ("input text Grüße", 255, "java.lang.NullPointerException"),
    ("uiautomator events", 69, "not modelled"),
    ("screencap -d 7", 69, "not modelled"),
    ("screencap", 69, "not modelled: screencap without -p"),
])  # fmt: skip
def test_what_android_refuses_is_refused_in_its_words(
    phone: AndroidSystem, command: str, status: int, message: str
) -> None:
    ran = run(phone, *command.split())
    assert ran.status == status
    assert message in ran.stdout + ran.stderr


def test_monkey_prints_its_arguments_as_androids_script_does(phone: AndroidSystem) -> None:
    words = ("-p", AGENT, "-c", LAUNCHER, "1")
    ran = run(phone, "monkey", *words)
    assert ran.status == 0
    assert ran.stdout.splitlines()[:6] == [*(f"  bash arg: {word}" for word in words), "Events injected: 1"]
    assert ran.stderr.splitlines() == [
        f"args: [{', '.join(words)}]",
        *(f' arg: "{word}"' for word in words),
        *(f'data="{word}"' for word in (AGENT, LAUNCHER)),
    ]
