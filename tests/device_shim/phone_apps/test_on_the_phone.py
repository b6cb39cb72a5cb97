"""The sample apps, installed from their APKs, run on the virtual phone under Android's rules."""

import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from PIL import Image

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate_phone.apps.agent import Agent, request_text
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.commands import SHELL_UID, CommandCall
from droidgate_phone.commands.command_registry import find_command
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.phone import boot
from droidgate_phone.system import AndroidSystem

AGENT = "dev.droidgate.sample.agent"
CLOCK_IN = ComponentName("dev.droidgate.sample.clockin", "dev.droidgate.sample.clockin.ClockInService")
TALLY = ComponentName("dev.droidgate.sample.tally", "dev.droidgate.sample.tally.TallyService")
PDF_TOOL = ComponentName("dev.droidgate.sample.pdftool", "dev.droidgate.sample.pdftool.ToolActivity")
WEATHER = ComponentName("dev.droidgate.sample.weather", "dev.droidgate.sample.weather.WeatherReceiver")


@dataclass
class Output:
    """A stream that keeps what is written."""

    data: bytes = b""

    def write(self, data: bytes) -> None:
        self.data += data


@dataclass
class Streams:
    """Standard streams in memory."""

    input: io.BytesIO = field(default_factory=io.BytesIO)
    output: Output = field(default_factory=Output)
    error: Output = field(default_factory=Output)


@dataclass
class Phone:
    """A phone with the sample apps on it."""

    system: AndroidSystem

    def run(self, *command: str) -> tuple[int, bytes, str]:
        """Run a command as the shell does; return its status and what it wrote."""
        found = find_command(command[0])
        assert found is not None
        streams = Streams()
        status = found(CommandCall(command[0], command[1:], streams, self.system))
        return status, streams.output.data, streams.error.data.decode()

    def launch(self, package: str) -> None:
        status, output, _ = self.run("monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1")
        assert (status, b"Events injected: 1" in output) == (0, True)

    def nodes(self) -> list[ET.Element]:
        status, output, error = self.run("uiautomator", "dump", "/dev/tty")
        assert (status, error) == (0, "")
        xml, rest, _ = output.decode().partition("UI hierchary dumped to: /dev/tty\n")
        assert rest
        return list(ET.fromstring(xml).iter("node"))

    def text_of(self, entry: str) -> str:
        (found,) = [node for node in self.nodes() if str(node.get("resource-id")).endswith(f":id/{entry}")]
        return str(found.get("text"))

    def tap(self, **attributes: str) -> None:
        names = {"entry": "resource-id"}
        (found,) = [
            node
            for node in self.nodes()
            if all(str(node.get(names.get(key, key))).endswith(value) for key, value in attributes.items())
        ]
        left, top, right, bottom = map(int, str(found.get("bounds"))[1:-1].replace("][", ",").split(","))
        assert self.run("input", "tap", str((left + right) // 2), str((top + bottom) // 2)) == (0, b"", "")


@pytest.fixture
def phone() -> Iterator[Phone]:
    with boot("36.1", seed=1) as system:
        for package in sample_packages():
            system.packages.install(package.apk)
        yield Phone(system)


@pytest.fixture
def agent(phone: Phone) -> Agent:
    """The agent, in front."""
    phone.launch(AGENT)
    return Agent(phone.system.app_context(AGENT))


def test_the_agent_sees_and_calls_all_three_protocols(phone: Phone, agent: Agent) -> None:
    assert agent.discover_mobile_mcp() == [CLOCK_IN, TALLY]
    assert agent.discover_mmcp() == [PDF_TOOL]
    phone.launch(WEATHER.package)
    phone.launch(AGENT)
    (weather,) = agent.discover_broadcast_tools()
    assert [tool.name for tool in weather.tools] == ["currentWeather", "forecast", "warmestPlace"]
    assert agent.call_broadcast(WEATHER, "currentWeather", {"location": "Paris"}).data == (
        "Paris: overcast, 26 °C, wind 56 km/h."
    )
    result = agent.call_mmcp_activity(PDF_TOOL, "page_count", {"path": "/sdcard/Download/nothing.pdf"})
    assert result.code == 0
    assert "mobile-mcp" in agent.call_bound(CLOCK_IN, request_text("clock_in_today", {}, dialect="S0"))


def test_records_outlive_the_app_s_process(phone: Phone, agent: Agent) -> None:
    agent.call_bound(CLOCK_IN, request_text("clock_in_today", {}, dialect="S0"))
    phone.system.end_processes(CLOCK_IN.package, "test")
    text = agent.call_bound(CLOCK_IN, request_text("query_clock_in", {}, dialect="S0"))
    output = json.loads(text)["mobile-mcp-response"]["response"]["capability"]["output"]
    assert {item["name"]: item["value"] for item in output}["has_clocked_in"] is True


def test_a_pdf_of_the_app_s_folder_is_read_and_others_with_the_permission(phone: Phone, agent: Agent) -> None:
    folder = f"/sdcard/Android/data/{PDF_TOOL.package}/files"
    phone.system.files.make_directory(folder, parents=True, uid=SHELL_UID)
    for path in (f"{folder}/a.pdf", "/sdcard/Download/a.pdf"):
        phone.system.files.write(path, pdf_with(["hello", "phone"]), uid=SHELL_UID)
    result = agent.call_mmcp_activity(PDF_TOOL, "extract_text", {"path": f"{folder}/a.pdf"})
    assert result.data is not None
    assert json.loads(str(result.data.extras.get_string("result")))["text"] == "hello\nphone"
    other = {"path": "/sdcard/Download/a.pdf"}
    permission = (PDF_TOOL.package, "android.permission.READ_EXTERNAL_STORAGE")
    phone.run("pm", "grant", *permission)
    shown = agent.call_mmcp_activity(PDF_TOOL, "extract_text", other)
    assert shown.data is not None
    assert json.loads(str(shown.data.extras.get_string("result")))["text"] == "hello\nphone"
    phone.run("pm", "revoke", *permission)
    hidden = agent.call_mmcp_activity(PDF_TOOL, "extract_text", other)
    assert hidden.data is not None
    assert str(hidden.data.extras.get_string("error")).endswith("is not a file that this app may read")


def test_a_person_uses_clock_in_by_what_uiautomator_shows(phone: Phone) -> None:
    phone.launch(CLOCK_IN.package)
    assert phone.text_of("state") == "You have not clocked in today."
    before = phone.run("screencap", "-p")[1]
    phone.tap(entry=":id/clock_in_now")
    assert phone.text_of("state") == "You are clocked in today."
    assert phone.run("screencap", "-p")[1] != before
    phone.tap(entry=":id/missed_day")
    assert phone.run("input", "text", "2020-02-2%s") == (0, b"", "")
    assert phone.run("input", "keyevent", "KEYCODE_DEL", "KEYCODE_9") == (0, b"", "")
    assert phone.text_of("missed_day") == "2020-02-29"
    phone.tap(text="Add that day")
    assert (phone.text_of("problem"), phone.text_of("missed_day")) == ("", "A day you missed, as YYYY-MM-DD")
    assert "2020-02-29" in [node.get("text") for node in phone.nodes()]
    phone.run("input", "keyevent", "HOME")
    phone.tap(text="Notes")
    phone.tap(entry=":id/title")
    phone.run("input", "text", "from%sthe%sscreen")
    phone.tap(entry=":id/create_note")
    assert "from the screen" in [node.get("text") for node in phone.nodes()]


def test_pictures_and_dumps_go_to_files(phone: Phone) -> None:
    assert phone.run("screencap", "-p", "/sdcard/a.png") == (0, b"", "")
    with Image.open(io.BytesIO(bytes(phone.system.files.read("/sdcard/a.png")))) as picture:
        assert picture.size == (1080, 2400)
    assert phone.run("screencap", "/system/a.png")[::2] == (
        1,
        "Error opening file: /system/a.png (Read-only file system)\n",
    )
    assert phone.run("uiautomator", "dump") == (0, b"UI hierchary dumped to: /sdcard/window_dump.xml\n", "")
    dumped = bytes(phone.system.files.read("/sdcard/window_dump.xml"))
    assert ET.fromstring(dumped).tag == "hierarchy"
    assert phone.run("uiautomator", "dump", "/no/such/folder/x.xml")[:2] == (
        0,
        b"UI hierchary dumped to: /no/such/folder/x.xml\n",
    )


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (
            ("monkey", "-p", "dev.made.gone", "-c", "android.intent.category.LAUNCHER", "1"),
            252,
            "monkey aborted.",
        ),
        (
            ("monkey", "-p", PDF_TOOL.package, "-c", "android.intent.category.LAUNCHER", "1"),
            252,
            "monkey aborted.",
        ),
        (("monkey", "-p", AGENT, "500"), 69, "not modelled"),
        (("input", "draganddrop", "1", "1", "2"), 255, "IllegalArgumentException: Argument expected after"),
        (("input", "roll", "1", "1"), 69, "not modelled"),
        (("input", "keyevent", "POWER"), 69, "not modelled: key 26"),
        (("input", "text", "Grüße"), 255, "java.lang.NullPointerException"),
        (("input", "tap", "1"), 255, "IllegalArgumentException: Argument expected after"),
        (("input", "tap", "a", "b"), 255, "For input string"),
        (("input", "dance"), 0, "Unknown command: dance"),
        (("input",), 0, "Usage: input [<source>]"),
        (("uiautomator", "events"), 69, "not modelled"),
        (("screencap", "-d", "7"), 69, "not modelled"),
    ],
)
def test_what_android_refuses_is_refused_in_its_words(
    command: tuple[str, ...], status: int, message: str
) -> None:
    with boot("36.1", seed=1) as system:
        for package in sample_packages():
            system.packages.install(package.apk)
        found, output, error = Phone(system).run(*command)
    assert found == status
    assert message in output.decode() + error


def test_monkey_prints_its_arguments_as_androids_script_does(phone: Phone) -> None:
    status, output, error = phone.run("monkey", "-p", AGENT, "-c", "android.intent.category.LAUNCHER", "1")
    assert status == 0
    assert output.decode().splitlines()[:6] == [
        "  bash arg: -p",
        f"  bash arg: {AGENT}",
        "  bash arg: -c",
        "  bash arg: android.intent.category.LAUNCHER",
        "  bash arg: 1",
        "Events injected: 1",
    ]
    assert error.splitlines() == [
        f"args: [-p, {AGENT}, -c, android.intent.category.LAUNCHER, 1]",
        ' arg: "-p"',
        f' arg: "{AGENT}"',
        ' arg: "-c"',
        ' arg: "android.intent.category.LAUNCHER"',
        ' arg: "1"',
        f'data="{AGENT}"',
        'data="android.intent.category.LAUNCHER"',
    ]
