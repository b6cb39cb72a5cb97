"""The virtual phone's apps through a real MCP client, over each transport and in each revision.

Also two phones and two clients on one server, where nobody waits for an app that never answers, and functions
that an app registers while it runs.
"""

import asyncio
import base64
import json
import os
import queue
import random
import re
import secrets
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from unittest.mock import Mock, patch

import anyio
import mcp_types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.phone_system.phone_system_apps import make_apk
from device_shim.phone_system.test_app_functions import SCHEMA
from droidgate.calls import shell_route
from droidgate.calls.approvals import refuse
from droidgate.calls.audit_log import HEAD_NAME, AuditLog
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_files import read_files
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.call_steps import Work
from droidgate.calls.caller import CapabilityCaller
from droidgate.calls.pins import PinStore
from droidgate.calls.policy import Policy
from droidgate.calls.subjects import NamePattern, last_part
from droidgate.calls.traces import open_trace
from droidgate.computer.private_files import exclusive_file
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.app_installation import uninstall
from droidgate.devices.device import CommandResult, Device
from droidgate.serving import call_tasks
from droidgate.serving.http_transport import FrontDoor
from droidgate.serving.phone_tools import MAX_CALLS, PhoneTools, ServedPhone
from droidgate.serving.served_files import SharedFolders
from droidgate.serving.server_application import plan_tokens
from droidgate.serving.tool_documents import write_tools
from droidgate.serving.tool_names import NamedCapability
from droidgate.serving.tool_search import SearchTools, ToolIndex
from droidgate.serving.tools import Client as ServedClient, ServedTool, ToolCall, UserAnswer, UserQuestion
from droidgate.shims.device_user import device_user_of
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import install_archive
from droidgate.sources import read
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_android.apk.signing_keys import load_or_make_key, make_key
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX
from droidgate_mappings.model.errors import DeviceError, DroidgateError, WriteError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.values.failures import CallError
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.sample_packages import sample_packages
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.phone import start_phone
from droidgate_phone.system.behaviour import App, Receiver
from gateway.calls.phones_with_shims import (
    CLOCK_IN,
    LEGACY,
    NOTES,
    PDF_TOOL,
    TALLY,
    WEATHER,
    ReachedPhone,
    reached_phone,
)
from gateway.devices.conftest import unused_port
from gateway.serving.questions import FILES, QUESTIONS, QUESTIONS_OF_A_STRANGER
from gateway.serving.running_servers import (
    REVISIONS,
    TOKEN,
    Ask,
    RunningServer,
    client_options,
    http_client,
    running_server,
    text_of,
)
from gateway.serving.soak import FAULTS, FaultyAdb, soak
from gateway.serving.task_client import AnyResult, Tasks, send as send_of_task, until
from requirements_of_tests import node, require
from waiting import wait_until

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReachedPhone]:
    with reached_phone(tmp_path_factory.mktemp("phone")) as reached:
        yield reached


@pytest.fixture
def own(phone: ReachedPhone, tmp_path: Path) -> ReachedPhone:
    """Return the phone with approvals and a log of calls for one test."""
    return ReachedPhone(phone.phone, phone.device, tmp_path)


class Answers:
    """What a user answers, question by question; the last answer is that to all others. None is a refusal."""

    def __init__(self, *choices: str | None, before_first: Callable[[], object] = lambda: None) -> None:
        self.choices, self.before_first, self.questions = choices, before_first, list[str]()

    def __call__(self, message: str) -> mcp_types.ElicitResult:
        choice = self.choices[min(len(self.questions), len(self.choices) - 1)]
        if not self.questions:
            self.before_first()
        self.questions.append(message)
        if choice is None:
            return mcp_types.ElicitResult(action="decline")
        return mcp_types.ElicitResult(action="accept", content={"approve": choice})


CLIENT = ServedClient("mcp:test", "Test", "2026-07-28")


async def ask_nobody(_question: UserQuestion) -> UserAnswer:
    raise AssertionError


def tools_of(phone: ReachedPhone, *, allow: str | None = "*", **options: Any) -> PhoneTools:
    served = ServedPhone(None, lambda: phone.caller(approver=refuse, policy=Policy.load(phone.folder)))
    allowed = [] if allow is None else [NamePattern.parse(allow)]
    return PhoneTools([served], **{"allow": allowed, "poll_seconds": 0.2, **options})


@asynccontextmanager
async def connected(tools: Any, revision: str, ask: Ask | None = None) -> AsyncIterator[Client]:
    with running_server(tools) as server:
        async with http_client(server, revision, ask) as client:
            yield client


# Tool -> arguments, and what its result holds.
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "clockin_query_clock_in": ({"date": "2026-01-02"}, '"date":"2026-01-02"'),
    "notes_createNote": ({"title": "Milk", "content": "two litres"}, '"title":"Milk"'),
    "legacy_createNote": ({"title": "Milk", "content": "two litres"}, '"noteId"'),
    "pdftool_page_count": ({"path": "/sdcard/Download/nothing.pdf"}, "nothing.pdf"),
    "tally_read_total": ({"player": "Nobody"}, '{"player":"Nobody","total":0}'),
    "weather_currentWeather": ({"location": "Oslo"}, "Oslo"),
}


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_sample_app_answers_over_http(phone: ReachedPhone, revision: str) -> None:
    async with connected(tools_of(phone), revision) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        packages = {name.partition("_")[0] for name in listed}
        assert packages == {name.partition("_")[0] for name in CALLS}
        for name, (arguments, expected) in CALLS.items():
            # The SDK's client checks structured content against the output schema.
            result = await client.call_tool(name, arguments)
            assert expected in text_of(result), (name, result)
            assert (result.structured_content is not None) == (listed[name].output_schema is not None)


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_sample_app_answers_over_standard_streams(phone: ReachedPhone, revision: str) -> None:
    assert phone.phone.server_port is not None
    environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": str(phone.phone.server_port)}
    program = Path(sys.executable).with_name("droidgate")
    parameters = StdioServerParameters(command=str(program), args=["serve", "--allow", "*"], env=environment)
    async with Client(parameters, **client_options(revision)) as client:
        for name, (arguments, expected) in CALLS.items():
            assert expected in text_of(await client.call_tool(name, arguments)), name


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_long_call_reports_what_it_waits_for_and_a_cancel_ends_it_on_the_phone(
    phone: ReachedPhone, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.calls.call_requests.EVERY_SECONDS", 0.05)
    shim = HostClient(phone.device, "dev.droidgate.shim.of.dev.droidgate.sample.clockin")
    reports: list[tuple[float, float | None, str | None]] = []

    def wait_for_cancel() -> None:
        while shim.status().open:
            threading.Event().wait(0.05)

    phone.phone.system.faults = Faults(silent=frozenset({CLOCK_IN}))
    try:
        async with connected(tools_of(phone), revision) as client:
            with anyio.CancelScope() as scope:

                async def take(progress: float, total: float | None, message: str | None) -> None:
                    reports.append((progress, total, message))
                    if message == "waiting for the app's answer":
                        scope.cancel()

                arguments = CALLS["clockin_query_clock_in"][0]
                await client.call_tool("clockin_query_clock_in", arguments, progress_callback=take)
            assert scope.cancelled_caught
            await anyio.to_thread.run_sync(wait_for_cancel)
    finally:
        phone.phone.system.faults = Faults()
    assert shim.status().open == 0
    moments = [progress for progress, _, _ in reports]
    assert moments == sorted(set(moments))
    assert {total for _, total, _ in reports} == {None}


async def test_the_end_of_the_server_ends_a_call_in_one_line_and_records_it(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("droidgate.serving.http_transport._GRACE_SECONDS", 0.2)
    monkeypatch.setattr(own.phone.system, "faults", Faults(silent=frozenset({NOTES})))

    def wait_for_start() -> None:
        while not list(read_calls(own.folder / "audit")):
            threading.Event().wait(0.02)

    async def call_until_the_end(server: RunningServer) -> None:
        async with http_client(server, "2026-07-28") as client:
            with pytest.raises(MCPError):
                await client.call_tool("notes_createNote", {"title": "a"})

    async with anyio.create_task_group() as tasks:
        with running_server(tools_of(own)) as server:
            tasks.start_soon(call_until_the_end, server)
            await anyio.to_thread.run_sync(wait_for_start)
    [logged] = read_calls(own.folder / "audit")
    assert logged.end is not None
    assert (logged.start["client"], logged.end["result"]) == ("mcp:test-client", "canceled")
    assert caplog.messages[-1] == "requests canceled that did not end in 0.2 s: 1"


async def test_a_call_that_is_canceled_while_its_start_is_written_is_recorded_and_not_sent(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tools_of(own)
    tools.look()
    call = ToolCall("notes_createNote", {"title": "a", "content": "b"}, CLIENT, ask_nobody, None)
    # The first call writes the files next to the log, in a thread.
    await tools.call(call)
    with anyio.CancelScope() as scope:
        sync, loop = os.fsync, asyncio.get_running_loop()

        def cancel_and_sync(descriptor: int) -> None:
            loop.call_soon_threadsafe(scope.cancel)
            threading.Event().wait(0.1)
            sync(descriptor)

        monkeypatch.setattr(os, "fsync", cancel_and_sync)
        with own.counted() as commands:
            await tools.call(call)
    monkeypatch.undo()
    assert scope.cancelled_caught
    assert not [command for command in commands if "execute-app-function" in command]
    _, logged = read_calls(own.folder / "audit")
    assert logged.end is not None
    assert logged.end["result"] == "canceled"


async def test_a_canceled_call_waits_for_whoever_holds_the_log_but_not_for_ever(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.calls.call_steps.END_SECONDS", 0.1)
    tools = tools_of(own)
    tools.look()
    call = ToolCall("notes_createNote", {"title": "a", "content": "b"}, CLIENT, ask_nobody, None)
    await tools.call(call)
    with own.counted() as commands, exclusive_file(own.folder / "audit" / HEAD_NAME):
        with anyio.move_on_after(0.1) as scope:
            await tools.call(call)
        # The end of the program waits for no such thread.
        assert any(thread.daemon for thread in threading.enumerate() if "lock_file" in stack_of(thread))
    assert scope.cancelled_caught
    assert commands == []
    await anyio.to_thread.run_sync(wait_until, lambda: results_in(own) == ["ok", "canceled"])


def results_in(own: ReachedPhone) -> list[Json]:
    return [call.end and call.end["result"] for call in read_calls(own.folder / "audit")]


def stack_of(thread: threading.Thread) -> str:
    return "".join(traceback.format_stack(sys._current_frames().get(thread.ident or 0)))


@pytest.mark.parametrize("output", [
    CommandResult(b"\xff" * 100_000, b"", 0),
    CommandResult(b"", b"\xff" * 100_000, 1),
], ids=["on standard output", "on standard error"])  # fmt: skip
async def test_nobody_waits_while_a_long_output_is_read(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch, output: CommandResult
) -> None:
    tools = tools_of(own)
    tools.look()
    call = ToolCall("notes_createNote", {"title": "a", "content": "b"}, CLIENT, ask_nobody, None)
    await tools.call(call)
    readers: list[threading.Thread] = []

    async def answer(*_given: object, **_options: object) -> CommandResult:
        return output

    def read(*given: Any) -> Any:
        readers.append(threading.current_thread())
        return shell_output(*given)

    shell_output = shell_route._output_of
    monkeypatch.setattr(Device, "run_on_loop", answer)
    monkeypatch.setattr(shell_route, "_output_of", read)
    await tools.call(call)
    assert readers
    assert threading.main_thread() not in readers


async def test_nobody_waits_for_a_phone_whose_apps_are_read_again(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tools_of(own)
    tools.look()
    call = ToolCall("tally_read_total", {"player": "Nobody"}, CLIENT, ask_nobody, None)
    await tools.call(call)
    askers: list[threading.Thread] = []
    run = Device.run

    def ask(self: Device, *given: Any, **options: Any) -> CommandResult:
        askers.append(threading.current_thread())
        return run(self, *given, **options)

    monkeypatch.setattr(Device, "run", ask)
    # What its receiver has said is forgotten.
    await anyio.to_thread.run_sync(caller_of(tools).targets.refresh)
    outcome = await tools.call(call)
    assert outcome.result.failure is None
    assert threading.main_thread() not in askers


def caller_of(tools: PhoneTools) -> CapabilityCaller:
    caller = tools._phones[0].caller
    assert caller is not None
    return caller


def test_texts_of_apps_are_labelled_and_names_are_safe(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    assert tools.look() == {"tools", "resources"}
    assert tools.look() == set()
    for tool in tools.snapshot().tools:
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_-]{0,63}", tool.name)
        for document in tool.documents.values():
            description = document["description"]
            assert isinstance(description, str)
            assert description.startswith(f"[Text of the app {tool.group}]")
            assert len(description) <= 1024
            assert "_meta" not in document
    own = tools.instructions
    assert "dev.droidgate.sample" not in own
    assert "\n" not in own
    opted_in = tools_of(phone, app_instructions=True)
    opted_in.look()
    same, marked = opted_in.instructions.split("\n\n", 1)
    assert same == own
    assert "untrusted text of the app dev.droidgate.sample.notes\n" in marked


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_list_of_tools_is_short(phone: ReachedPhone, revision: str) -> None:
    tools = tools_of(phone)
    tools.look()
    documents: list[Json] = [dict(tool.documents[revision]) for tool in tools.snapshot().tools]
    assert len(documents) == 21
    # 36,800 with the schemas as they are converted, and without titles.
    assert len(canonical_json(documents).encode()) < 22_000


def test_select_serves_the_chosen_apps_only(phone: ReachedPhone) -> None:
    tools = tools_of(phone, select=("*.notes", WEATHER))
    tools.look()
    assert {tool.group for tool in tools.snapshot().tools} == {NOTES, WEATHER}
    planned = plan_tokens(tools.snapshot().tools)
    assert {app.group for app in planned} == {NOTES, WEATHER}
    assert all(app.tokens > 20 * app.tools for app in planned)


async def test_wrong_arguments_name_each_place_and_the_fix(phone: ReachedPhone) -> None:
    async with connected(tools_of(phone), "2026-07-28") as client:
        result = await client.call_tool("tally_add_points", {"player": 3.5, "pionts": 3})
        assert result.is_error
        assert text_of(result).splitlines()[:2] == [
            'invalid_argument: /pionts: not a parameter; did you mean "points"?',
            "/player: a text is declared and a number is given",
        ]
        hidden = text_of(await client.call_tool("tally_add_points", {"play\u200ber": "Ada"}))
        assert hidden.startswith(r"invalid_argument: /play\u200ber: not a parameter")
        with pytest.raises(MCPError, match="did you mean 'tally_add_points'"):
            await client.call_tool("tally_add_point", {})


ADD = ("tally_add_points", {"player": "Ada", "points": 1})


@pytest.mark.slow
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_call_needs_the_approval_of_the_clients_user(
    own: ReachedPhone, revision: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def call(ask: Ask | None) -> mcp_types.CallToolResult:
        async with connected(tools_of(own, allow=None), revision, ask) as client:
            return await client.call_tool(*ADD)

    cannot = "add_points is not approved, and this client cannot ask its user; only the user can approve it"
    assert text_of(await call(None)) == f"needs_approval: {cannot}"
    # People read the log, a model does not.
    approved = f"dev.droidgate.sample.tally/add_points --serial {own.device.serial}"
    assert caplog.messages[-1].endswith(f"droidgate pins approve {approved} --client mcp:test-client")
    user = Answers(None, "once", "always")
    assert text_of(await call(user)) == "denied: the user refused the call"
    assert not (await call(user)).is_error
    assert not (await call(user)).is_error
    assert len(user.questions) == 3
    assert ["cannot ask" in line for line in caplog.messages].count(True) == 1
    question = "Test Client wants to call add_points\nof the app dev.droidgate.sample.tally on"
    assert user.questions[0].startswith(question)
    lines = '\n- player (3): "Ada"\n- points (1): 1\n'
    assert f"Arguments (2, each with its length):{lines}" in user.questions[0]
    # It is pinned now: nobody is asked.
    assert not (await call(None)).is_error


@pytest.mark.parametrize("replacement", [{"other_signer": True}, {"other_text": True}], ids=str)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_yes_counts_only_for_the_app_that_the_client_showed(
    own: ReachedPhone, revision: str, replacement: dict[str, bool]
) -> None:
    title = secrets.token_hex(8)
    user = Answers("always", None, before_first=lambda: own.replace_legacy(**replacement))
    try:
        # As rarely as usual: a look at the phone between the two apps would find neither.
        tools = tools_of(own, allow=None, poll_seconds=60)
        async with connected(tools, revision, user) as client:
            result = await client.call_tool("legacy_createNote", {"title": title, "content": "b"})
    finally:
        own.restore_legacy()
    assert text_of(result).startswith("denied")
    assert len(set(user.questions)) == len(user.questions) == 2
    assert ["Attention: the app was replaced" in question for question in user.questions] == [False, True]
    assert not [command for command in own.commands() if title in command]
    assert PinStore(own.folder).list() == ()


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_cut_argument_hides_no_other_and_is_not_remembered(own: ReachedPhone, revision: str) -> None:
    user = Answers("always", None)  # the form does not offer the first
    arguments = {"content": "x" * 5000, "priority": 5, "title": "to me"}
    async with connected(tools_of(own, allow=None), revision, user) as client:
        assert text_of(await client.call_tool("legacy_createNote", arguments)).startswith("denied")
    for line in ('- title (5): "to me"', '- content (5,000): "xxx', "- priority (1): 5"):
        assert f"\n{line}" in user.questions[0]
    assert PinStore(own.folder).list() == ()


@pytest.mark.slow
async def test_a_user_who_does_not_answer_delays_nobody_else_and_not_for_ever(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.serving.elicitation.ANSWER_SECONDS", 5.0)
    results: list[str] = []
    questions: list[str] = []

    async def wait(_context: Any, parameters: Any) -> Any:
        questions.append(parameters.message)
        await anyio.sleep_forever()

    async def call(client: Client) -> None:
        results.append(text_of(await client.call_tool(*ADD)))

    options: dict[str, Any] = {"name": "Silent", "elicitation_callback": wait}
    with running_server(tools_of(own, allow=None)) as server:
        async with (
            http_client(server, "2025-11-25", **options) as silent,
            http_client(server, "2025-11-25", Answers("once"), name="Other") as other,
            anyio.create_task_group() as calls,
        ):
            for _ in range(MAX_CALLS):
                calls.start_soon(call, silent)
            with anyio.fail_after(60):
                while len(questions) < MAX_CALLS:  # noqa: ASYNC110 - asked by another task
                    await anyio.sleep(0.02)
                assert not (await other.call_tool(*ADD)).is_error
            assert results == []
    assert len(results) == MAX_CALLS
    unanswered = "needs_approval: add_points is not approved, and the user did not answer"
    assert all(unanswered in text for text in results)


def test_a_tool_that_is_longer_than_clients_take_leaves_the_others_their_list(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_PAGE", 2_000)
    tools = tools_of(phone)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert "tally_add_points" in names
    assert "notes_createNote" not in names
    apk = next(sample.apk for sample in sample_packages() if sample.package == WEATHER)
    phone.device.check(["pm", "uninstall", WEATHER])
    assert "tools" in tools.look()
    install_archive(device_user_of(phone.device), apk, "weather.apk")
    # It is said once, however often the list changes.
    left_out = "NotesService#createNote of dev.droidgate.sample.notes is left out: "
    assert [left_out in line for line in caplog.messages].count(True) == 1


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_client_sends_a_file_and_gets_the_images_that_the_app_wrote(
    phone: ReachedPhone, tmp_path: Path, revision: str
) -> None:
    (tmp_path / "report.pdf").write_bytes(pdf_with("first", "second"))
    async with connected(tools_of(phone, shared=SharedFolders.of([tmp_path])), revision) as client:
        arguments = {"path": "droidgate://files/report.pdf", "format": "png"}
        called = await client.call_tool("pdftool_render_pages", arguments)
        assert not called.is_error, called
        images = [block for block in called.content if isinstance(block, mcp_types.ImageContent)]
        assert [image.mime_type for image in images] == ["image/png"] * 2
        assert all(base64.b64decode(image.data).startswith(b"\x89PNG") for image in images)
        absent = {"path": "droidgate://files/absent.pdf", "format": "png"}
        refused = await client.call_tool("pdftool_render_pages", absent)
        assert text_of(refused).startswith("invalid_argument: /path: no shared file")
        assert "report.pdf" in text_of(refused)


def test_only_files_in_the_apps_own_folders_are_read(phone: ReachedPhone) -> None:
    caller = phone.caller()
    target = caller.targets.find("page_count")
    own, others = f"/sdcard/Android/data/{PDF_TOOL}/files/own.txt", "/sdcard/Download/private.txt"
    phone.device.check(["mkdir", "-p", str(PurePosixPath(own).parent)])
    for path in (own, others):
        phone.device.push(b"content", path)
    files: list[Json] = [
        own,
        others,
        f"/sdcard/Android/data/{NOTES}/files/x",
        f"{own}.absent",
        f"/storage/emulated/10/Android/data/{PDF_TOOL}/files/own.txt",
        f"/sdcard/Android/data/{PDF_TOOL}/../{NOTES}/x",
    ]
    reading = read_files({"files": files}, target, phone.device)
    assert [(file.path, file.data) for file in reading.files] == [(own, b"content")]
    assert [problem.partition(" ")[0] for problem in reading.problems] == files[1:5]


_GRANTING = re.compile(r"droidgate (?!is |and )[a-z-]+|--(yes|allow|signed-by|files)|\.(toml|json)\b|/tmp/")


DENY = '[[rule]]\ndecision = "deny"\npackage = "*.tally"\n'
DENY_IT = f'{DENY}client = "mcp:test-*"\n'
DENIED = "denied: a rule of the policy denies it"


PAGES = ("pdftool_page_count", {"path": "/sdcard/Download/x.pdf"})
READS = ("resources/read", {"uri": "droidgate://absent"})
NOT_THERE = DeviceError("the device is not there", place="emulator-1", hint="droidgate phone start")


@pytest.mark.parametrize(("call", "ask", "kept", "allow", "fault", "message"), [
    (ADD, None, {}, None, None, "needs_approval"),
    (ADD, Answers(None), {}, None, None, "denied"),
    (ADD, None, {"pins.json": "{"}, None, None, "backend_failure"),
    (ADD, None, {"policy.toml": DENY_IT}, None, None, DENIED),
    (ADD, None, {"policy.toml": DENY_IT}, "*", None, DENIED),
    (("pdftool_page_count", {"path": "droidgate://files/a.pdf"}), None, {}, None, None, "invalid_argument"),
    (("notes_createNote", {"title": 1}), None, {}, None, None, "invalid_argument"),
    (PAGES, None, {}, "*", Faults(silent=frozenset({PDF_TOOL})), "timeout"),
    (ADD, None, {}, "*", WriteError("no room", hint="droidgate audit"), "backend_failure: no room"),
    (ADD, None, {}, "*", NOT_THERE, "unavailable: emulator-1: the device is not there"),
    (("tally_add_point", {}), None, {}, None, None, "unknown tool"),
    (READS, None, {}, None, None, "unknown resource"),
    (("prompts/get", {"name": "x"}), None, {}, None, None, "Method not found"),
], ids=["no approval", "a refusal", "damaged pins", "a rule", "a rule over --allow", "no such file",
    "no text", "no answer", "no room for the log", "no phone", "no such tool", "no such resource",
    "no prompts"])  # fmt: skip
@pytest.mark.parametrize(
    "way",
    ["tools", *(pytest.param(way, marks=pytest.mark.slow) for way in ("search", "tasks", "2025-11-25"))],
)
async def test_nothing_that_a_model_reads_names_a_command_that_grants(
    own: ReachedPhone,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    call: tuple[str, dict[str, Any]],
    ask: Answers | None,
    kept: dict[str, str],
    allow: str | None,
    fault: Faults | DroidgateError | None,
    message: str,
    way: str,
) -> None:
    for name, text in kept.items():
        (own.folder / name).write_text(text)
        (own.folder / name).chmod(0o600)
    if isinstance(fault, Faults):
        monkeypatch.setattr(own.phone.system, "faults", fault)
    elif fault is not None:
        monkeypatch.setattr(AuditLog, "start", Mock(side_effect=fault))
    read: list[str] = []

    async def keep_and_serve(door: FrontDoor, scope: Any, receive: Any, send: Any) -> None:
        async def keep(message: Any) -> None:
            read.append(message.get("body", b"").decode())
            await send(message)

        await serve(door, scope, receive, keep)

    serve = FrontDoor.__call__
    monkeypatch.setattr(FrontDoor, "__call__", keep_and_serve)
    # Every call that takes any time is a task for a client that takes tasks.
    monkeypatch.setattr(call_tasks, "GRACE_SECONDS", 0.0)
    options: dict[str, Any] = {"extensions": [Tasks({"action": "decline"})]} if way == "tasks" else {}
    tools = SearchTools(tools_of(own, allow=allow, deadline=2), always=way == "search")
    revision = way if way in REVISIONS else "2026-07-28"
    with running_server(tools) as server:
        async with http_client(server, revision, ask, **options) as client:
            await client.list_tools()
            for resource in (await client.list_resources()).resources:
                await client.read_resource(resource.uri)
            text = await _refusal(client, call, is_found=way == "search")
    assert message in text
    assert [match for text in read for match in _GRANTING.finditer(text)] == []
    assert any(message in text for text in read)
    if message == DENIED:
        assert caplog.messages[-1].endswith(f"; hint: see rule 1 of {own.folder / 'policy.toml'}")


async def _refusal(client: Client, call: tuple[str, dict[str, Any]], *, is_found: bool) -> str:
    name, arguments = call
    try:
        if "/" in name:
            request = mcp_types.Request[dict[str, Any], str](method=name, params=arguments)
            await client.session.send_request(request, AnyResult)
        search_call = ("call_tool", {"name": name, "arguments": arguments})
        result = await client.call_tool(*(search_call if is_found else call))
    except MCPError as error:
        return f"{error.message} {error.data}"
    assert result.is_error
    return text_of(result)


@pytest.mark.parametrize(("rule", "listed"), [
    ("", ""),
    ('client = "*"', ""),
    ('client = ["cli", "mcp:*"]', ""),
    ('client = "mcp:other"', "add_points read_total start_over"),
    ('client = "cli"', "add_points read_total start_over"),
    ('capability = "add_points"', "read_total start_over"),
    ('effect = "unknown"', "read_total"),
    ('device = "another"', "add_points read_total start_over"),
], ids=str)  # fmt: skip
def test_a_tool_that_the_policy_denies_to_every_client_is_not_listed(
    own: ReachedPhone, caplog: pytest.LogCaptureFixture, rule: str, listed: str
) -> None:
    reads = '[[effect]]\ncapability = "read_total"\nis = "reads"\n'
    (own.folder / "policy.toml").write_text(f"{DENY}{rule}\n{reads}")
    tools = tools_of(own)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert {name for name in names if name.startswith("tally_")} == {
        f"tally_{name}" for name in listed.split()
    }
    number = 3 - len(listed.split())
    left_out = [line for line in caplog.messages if line.startswith("left out: ") and "denied" in line]
    assert [f"left out: {number} " in line for line in left_out] == [True] * (number > 0)
    assert "weather_forecast" in names


@pytest.mark.parametrize("revision", REVISIONS)
async def test_what_the_policy_says_of_effects_is_in_the_hints_of_a_tool(
    own: ReachedPhone, revision: str
) -> None:
    effects = {"read_total": "reads", "start_over": "writes"}
    texts = (f'[[effect]]\ncapability = "{name}"\nis = "{effect}"\n' for name, effect in effects.items())
    (own.folder / "policy.toml").write_text("".join(texts))
    async with connected(tools_of(own), revision) as client:
        listed = {tool.name: tool.annotations for tool in (await client.list_tools()).tools}
    hints = {name: hint.read_only_hint for name, hint in listed.items() if hint is not None}
    assert hints == {"tally_read_total": True, "tally_start_over": False}


async def test_a_tool_is_listed_once_a_shim_of_the_user_leads_to_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with start_phone(server_port=0) as phone:
        assert phone.server_port is not None
        device = Device(AdbClient(ServerAddress(port=phone.server_port)), phone.serial)
        reached = ReachedPhone(phone, device, tmp_path)
        apks = {sample.package: tmp_path / f"{sample.package}.apk" for sample in sample_packages()}
        for sample in sample_packages():
            apks[sample.package].write_bytes(sample.apk)
        tools = tools_of(reached)
        tools.look()
        assert {tool.group for tool in tools.snapshot().tools} == {NOTES, LEGACY}
        missing = f"left out: 5 tools of {PDF_TOOL}; unavailable: {PDF_TOOL} has no shim on the phone"
        way = f"run `droidgate shim install --from adb:{phone.serial}/{PDF_TOOL} --serial {phone.serial}`"
        assert f"{missing}; hint: {way}" in caplog.messages
        reached.install_shims(apks[TALLY], make_key())
        assert "tools" not in tools.look()
        assert f"{SHIM_PREFIX}{TALLY}: your key did not sign this shim" in caplog.text
        uninstall(device, SHIM_PACKAGE)
        reached.install_shims(apks[PDF_TOOL], load_or_make_key())
        assert "tools" in tools.look()
        # The user's own shim asks the receiver of weather for its tools, too.
        assert {tool.group for tool in tools.snapshot().tools} == {NOTES, LEGACY, PDF_TOOL, WEATHER}


@pytest.mark.parametrize(("call", "warning"), [
    (("weather_currentWeather", {"location": " "}), "the text resembles a failure (backend_failure)"),
    (("legacy_createNote", {"title": "a", "content": "b", "priority": None}), "/priority: null"),
    (("tally_read_total", {"player": "Ada"}), "the end of the call is not in the audit log: no room"),
], ids=["a doubtful result", "a coerced argument", "no end in the log"])  # fmt: skip
@pytest.mark.parametrize("search", [False, True], ids=["tools", "search"])
@pytest.mark.parametrize("revision", REVISIONS)
async def test_each_warning_of_a_call_reaches_the_client(
    own: ReachedPhone,
    monkeypatch: pytest.MonkeyPatch,
    revision: str,
    call: tuple[str, dict[str, Any]],
    warning: str,
    search: bool,  # noqa: FBT001
) -> None:
    if call[0].startswith("tally"):
        unwritten = Work(Mock(side_effect=WriteError("no room")))
        monkeypatch.setattr(AuditLog, "end", Mock(return_value=unwritten))
    async with connected(SearchTools(tools_of(own), always=search), revision) as client:
        request = ("call_tool", {"name": call[0], "arguments": call[1]})
        result = await client.call_tool(*(request if search else call))
    assert not result.is_error
    [note] = text_of(result).split("[Note from droidgate] ")[1:]
    assert note.startswith(warning)


async def test_an_app_cannot_fill_a_result_with_warnings(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_NOTES", 0)
    async with connected(tools_of(own), "2026-07-28") as client:
        arguments = {"title": "a", "content": "b", "priority": None}
        result = await client.call_tool("legacy_createNote", arguments)
    assert text_of(result).endswith("\n[Note from droidgate] and 1 more")


def test_one_warning_for_each_rule_and_option_without_matches(
    own: ReachedPhone, caplog: pytest.LogCaptureFixture
) -> None:
    names = ("creatNote", "createNote", "tap")
    rules = "".join(f'[[rule]]\ndecision = "deny"\ncapability = "{name}"\n' for name in names)
    (own.folder / "policy.toml").write_text(rules)
    tools = tools_of(own, allow="*note/*", select=["dev.droidgate.sample.nots", "*.pdftool", "x"])
    for _ in range(2):
        tools.look()
    assert [message for message in caplog.messages if " on the phone " in message or "rule" in message] == [
        f'rule 1 (decision = "deny") of {own.folder / "policy.toml"} matches no capability that is installed',
        f"no app on the phone is selected by 'dev.droidgate.sample.nots'; did you mean {NOTES!r}?",
        "no app on the phone is selected by 'x'",
        "no capability on the phone is allowed by '*note/*'",
    ]


async def test_the_trace_of_a_server_keeps_parallel_calls_apart(phone: ReachedPhone, tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    with open_trace(path) as trace:
        tools = tools_of(phone, trace=trace)
        async with connected(tools, "2026-07-28") as client, anyio.create_task_group() as tasks:
            for player in ("Ada", "Bob"):
                tasks.start_soon(client.call_tool, "tally_read_total", {"player": player})
    events: dict[int, list[dict[str, Any]]] = {}
    for line in map(json.loads, path.read_text().splitlines()):
        events.setdefault(line["call"], []).append(line["event"])
    assert sorted(events) == [1, 2]
    assert {steps[0]["arguments"]["player"] for steps in events.values()} == {"Ada", "Bob"}
    for request, *_, result in events.values():
        player = request["arguments"]["player"]
        [delivery] = [event for event in events[1] + events[2] if player in str(event.get("request"))]
        assert delivery["kind"] == "delivery"
        assert result["kind"] == "result"


async def test_a_trace_context_is_in_the_log_and_the_trace_and_not_in_what_the_app_gets(
    own: ReachedPhone,
) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    sent: list[Any] = [
        {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01", "tracestate": "vendor=x"},
        {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01\nx", "tracestate": "vendor=x"},
    ]
    path = own.folder / "trace.jsonl"
    with open_trace(path) as trace:
        async with connected(tools_of(own, trace=trace), "2026-07-28") as client:
            for meta in sent:
                arguments = {"player": "Nobody"}
                assert not (await client.call_tool("tally_read_total", arguments, meta=meta)).is_error
    expected = [sent[0], dict.fromkeys(sent[0])]
    logged = [call.start for call in read_calls(own.folder / "audit")]
    assert [{name: start.get(name) for name in sent[0]} for start in logged] == expected
    events = [json.loads(line)["event"] for line in path.read_text().splitlines()]
    requests = [event for event in events if event["kind"] == "request"]
    assert [{name: request[name] for name in sent[0]} for request in requests] == expected
    assert "delivery" in {event["kind"] for event in events}
    assert trace_id not in json.dumps([event for event in events if event["kind"] != "request"])


async def test_an_installed_app_is_announced_and_a_removed_one_leaves(phone: ReachedPhone) -> None:
    tools = tools_of(phone)

    apk = next(sample.apk for sample in sample_packages() if sample.package == WEATHER)
    send, changes = anyio.create_memory_object_stream[str](100)
    async with send, changes, tools.run(send.send_nowait):
        before = {tool.name for tool in tools.snapshot().tools}
        assert "weather_forecast" in before
        with anyio.fail_after(60):
            await anyio.to_thread.run_sync(phone.device.check, ["pm", "uninstall", WEATHER])
            assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
            assert "weather_forecast" not in {tool.name for tool in tools.snapshot().tools}
            device_user = device_user_of(phone.device)
            await anyio.to_thread.run_sync(install_archive, device_user, apk, "weather.apk")
            assert {await changes.receive(), await changes.receive()} == {"tools", "resources"}
        assert {tool.name for tool in tools.snapshot().tools} == before


def test_a_look_that_finds_no_change_is_one_command_with_a_short_answer(phone: ReachedPhone) -> None:
    tools = tools_of(phone)
    for _ in range(2):
        tools.look()
    before = len(phone.commands())
    assert tools.look() == set()
    (command,) = phone.commands()[before:]
    assert command.endswith("| md5sum'")


async def test_a_phone_is_asked_ever_more_rarely_while_no_client_asks_and_at_once_when_one_does(
    phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As if hours had passed since a client asked for anything.
    monkeypatch.setattr("droidgate.serving.phone_tools._IDLE_SHARE", 1e-6)
    tools = tools_of(phone, poll_seconds=0.01)
    look = tools.look
    looks = queue.SimpleQueue[str]()

    def count() -> object:
        looks.put("look")
        return look()

    monkeypatch.setattr(tools, "look", count)
    async with tools.run(lambda _change: None):
        await anyio.sleep(0.5)
        assert looks.qsize() == 1
        looks.get()
        tools.snapshot()
        await anyio.to_thread.run_sync(looks.get, True, 60)


async def test_a_phone_that_is_not_there_yet_is_waited_for(phone: ReachedPhone) -> None:
    present = threading.Event()

    def connect() -> CapabilityCaller:
        if not present.is_set():
            raise DeviceError("no device")
        return phone.caller()

    tools = PhoneTools([ServedPhone("later", connect)], poll_seconds=0.1)
    changed = anyio.Event()
    async with tools.run(lambda _change: changed.set()):
        assert tools.snapshot().tools == ()
        present.set()
        with anyio.fail_after(60):
            await changed.wait()
        assert tools.snapshot().tools


async def test_a_phone_may_go_away_and_return(tmp_path: Path) -> None:
    port, server_port = unused_port(), unused_port()
    device = Device(AdbClient(ServerAddress(port=server_port)), f"127.0.0.1:{port}")
    audit = AuditLog(tmp_path / "audit", tmp_path)

    def connect() -> CapabilityCaller:
        return CapabilityCaller(device, policy=Policy(), pins=PinStore(tmp_path), audit=audit)

    tools = PhoneTools([ServedPhone(None, connect)], allow=[NamePattern.parse("*")], poll_seconds=0.1)
    call = ("legacy_createNote", {"title": "Milk", "content": "two litres"})
    with start_phone(port=port, server_port=server_port):
        tools.look()
    async with connected(tools, "2026-07-28") as client:
        gone = await client.call_tool(*call)
        assert gone.is_error
        assert text_of(gone).startswith("unavailable: tcp:127.0.0.1:")
        assert len((await client.list_tools()).tools) == len(tools.snapshot().tools) > 0
        with start_phone(port=port, server_port=server_port):
            returned = await client.call_tool(*call)
            assert not returned.is_error, returned


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_phone_that_goes_away_during_a_call_leaves_it_interrupted(
    own: ReachedPhone, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.serving.soak.FAULTS", ("dropped",))
    monkeypatch.setattr("gateway.serving.soak.FAULT_RATE", 1.0)
    assert own.phone.server_port is not None
    faulty = FaultyAdb(own.phone.server_port, own.device.serial, random.Random(18), Counter())
    with faulty.running() as port:
        spoiled = replace(own, device=Device(AdbClient(ServerAddress(port=port)), own.device.serial))
        # As rarely as usual: a look at the phone may go on when the proxy has ended.
        async with connected(tools_of(spoiled, poll_seconds=60), revision) as client:
            result = text_of(await client.call_tool("notes_createNote", {"title": "Milk"}))
            assert result.startswith("interrupted: the app may have finished the call: ")
    [logged] = read_calls(own.folder / "audit")
    assert (logged.end or {})["result"] == "interrupted"


def test_tools_of_several_phones_have_the_phone_in_their_names(phone: ReachedPhone) -> None:
    served = [ServedPhone(serial, phone.caller) for serial in ("first", "second")]
    tools = PhoneTools(served)
    tools.look()
    names = {tool.name for tool in tools.snapshot().tools}
    assert {"first_tally_read_total", "second_tally_read_total"} <= names
    assert {tool.group.partition("/")[0] for tool in tools.snapshot().tools} == {"first", "second"}
    matches = ToolIndex(tools.snapshot().tools).find("note", 5)
    assert [{tool.name.partition("_")[0] for tool in same} for same in matches] == [{"first", "second"}] * 5
    assert len({same[0].name for same in matches}) == 5


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
        refused: list[tuple[str, dict[str, Any]]] = [
            *(("find_tools", {}), ("find_tools", {"query": "x", "limit": 21})),
            *((name, {"name": "nothing"}) for name in ("call_tool", "describe_tool")),
        ]
        for name, wrong in refused:
            result = await client.call_tool(name, wrong)
            assert text_of(result).startswith("invalid_argument"), (name, result)


async def test_resources_hold_declarations_losses_and_instructions(phone: ReachedPhone) -> None:
    async with connected(tools_of(phone), "2026-07-28") as client:
        resources = (await client.list_resources()).resources
        # The characters of a scheme, an authority and a path (RFC 3986, 3).
        uris = re.compile(r"droidgate://[\w.:-]+(/[\w.:$-]+)+", re.ASCII)
        assert all(uris.fullmatch(str(resource.uri)) for resource in resources)
        declarations = [resource for resource in resources if resource.name.endswith(" declaration")]
        assert len(declarations) >= len(CALLS)
        (reasons,) = [resource for resource in resources if resource.name.endswith(" why")]
        (content,) = (await client.read_resource(reasons.uri)).contents
        assert isinstance(content, mcp_types.TextResourceContents)
        rows = {row["capability"].rpartition("#")[2]: row for row in json.loads(content.text)}
        assert (rows["deleteNote"]["verdict"], rows["deleteNote"]["gate"]) == ("cannot", "access")
        assert rows["createNote"] == {"capability": rows["createNote"]["capability"], "verdict": "can"}
        for resource in resources:
            (content,) = (await client.read_resource(resource.uri)).contents
            assert isinstance(content, mcp_types.TextResourceContents)
            if content.mime_type == "application/json":
                json.loads(content.text)
            else:
                assert content.text.startswith("[Text of the app dev.droidgate.sample.")


async def test_a_long_declaration_has_parts(phone: ReachedPhone, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, parted = tools_of(phone, select=(NOTES,)), tools_of(phone, select=(NOTES,))
    tools.look()
    (whole,) = [item.uri for item in tools.snapshot().resources if item.uri.endswith("/declaration")]
    monkeypatch.setattr("droidgate.serving.phone_tools.MAX_PART", 10_000)
    parted.look()
    parts = [item.uri for item in parted.snapshot().resources if item.uri.startswith(whole)]
    text = str((await tools.read_resource(whole)).content)
    assert parts == [f"{whole}/{number}" for number in range(1, len(text) // 10_000 + 2)]
    assert "".join([str((await parted.read_resource(uri)).content) for uri in parts]) == text


def inspect(*arguments: str) -> dict[str, Any]:
    command = [str(node()), str(require("mcp-inspector")), "--cli", *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    return dict(json.loads(run.stdout))


@pytest.mark.slow
def test_the_mcp_inspector_lists_and_calls_over_http(phone: ReachedPhone) -> None:
    with running_server(tools_of(phone)) as server:
        reach = [server.url, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}"]
        listed = inspect(*reach, "--method", "tools/list", "--strict")
        assert {tool["name"] for tool in listed["tools"]} >= CALLS.keys()
        call = ["--method", "tools/call", "--tool-name", "tally_read_total", "--tool-arg", "player=Nobody"]
        called = inspect(*reach, *call)
        assert called["structuredContent"] == {"player": "Nobody", "total": 0}


@pytest.mark.slow
def test_the_mcp_inspector_starts_and_calls_droidgate_serve(phone: ReachedPhone) -> None:
    program = str(Path(sys.executable).with_name("droidgate"))
    environment = ["-e", f"ANDROID_ADB_SERVER_PORT={phone.phone.server_port}"]
    environment += ["-e", f"DROIDGATE_HOME={os.environ['DROIDGATE_HOME']}"]
    call = ["--method", "tools/call", "--tool-name", "weather_currentWeather", "--tool-arg", "location=Oslo"]
    called = inspect(*environment, program, "serve", "--allow", "*weather/*", *call)
    assert "Oslo" in called["content"][0]["text"]


@pytest.fixture
def phones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ReachedPhone]]:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    with start_phone(server_port=0) as first, start_phone(server=first.server) as second:
        assert first.server_port is not None
        server = AdbClient(ServerAddress(port=first.server_port))
        yield [ReachedPhone(each, Device(server, each.serial), tmp_path) for each in (first, second)]


@pytest.mark.slow
async def test_a_silent_app_blocks_no_other_and_each_client_has_its_approvals(
    phones: list[ReachedPhone],
) -> None:
    first, _ = phones
    served = [ServedPhone(each.device.serial, partial(each.caller, approver=refuse)) for each in phones]
    tools = PhoneTools(served)
    tools.look()
    names = {(tool.group, tool.name.rpartition("_")[2]): tool.name for tool in tools.snapshot().tools}
    on_first, on_second = (names[f"{each.device.serial}/{NOTES}", "createNote"] for each in phones)
    asked_patient, asked_other = Answers("always"), Answers("always")
    ended: list[str] = []

    async def create(client: Client, name: str) -> mcp_types.CallToolResult:
        result = await client.call_tool(name, {"title": "Milk", "content": "two litres"})
        ended.append(name)
        return result

    with running_server(tools) as server:
        async with (
            http_client(server, "2025-11-25", asked_patient, name="Patient") as patient,
            http_client(server, "2025-11-25", asked_other, name="Other") as other,
        ):
            for _ in range(2):
                assert not (await create(patient, on_first)).is_error
                assert (len(asked_patient.questions), asked_other.questions) == (1, [])
            first.phone.system.faults = Faults(silent=frozenset({NOTES}))
            async with anyio.create_task_group() as waiting:
                waiting.start_soon(create, patient, on_first)
                with anyio.fail_after(20):
                    while not first.phone.log.of_kind("app-silent"):  # noqa: ASYNC110 - another thread's
                        await anyio.sleep(0.02)
                # The first phone still waits for its app; the second one, and lists, are served.
                with anyio.fail_after(20):
                    assert '"title":"Milk"' in text_of(await create(other, on_second))
                    assert (await other.list_tools()).tools
                assert len(asked_other.questions) == 1
                assert ended == [on_first, on_first, on_second]
                waiting.cancel_scope.cancel()
    first.device.run(["am", "force-stop", NOTES])
    clients = {call.start["client"] for call in read_calls(first.folder / "audit")}
    assert clients == {"mcp:patient", "mcp:other"}


@pytest.mark.slow
async def test_a_call_takes_no_longer_than_the_server_allows(own: ReachedPhone) -> None:
    with patch.object(own.phone.system, "faults", Faults(silent=frozenset({NOTES}))):
        async with connected(tools_of(own, deadline=1), "2026-07-28") as client:
            with anyio.fail_after(15):
                assert text_of(await client.call_tool("notes_createNote", {"title": "Milk"})).startswith(
                    "timeout"
                )
    own.device.run(["am", "force-stop", NOTES])


@pytest.mark.slow
async def test_a_canceled_task_ends_the_call_of_its_app_and_may_take_longer_than_a_request(
    own: ReachedPhone,
) -> None:
    tasks, path = Tasks(), own.folder / "trace.jsonl"
    silent = patch.object(own.phone.system, "faults", Faults(silent=frozenset({PDF_TOOL})))
    with silent, open_trace(path) as trace, running_server(tools_of(own, trace=trace)) as server:
        async with http_client(server, "2026-07-28", extensions=[tasks]) as client:
            created = await client.session.call_tool(
                "pdftool_page_count", {"path": "/sdcard/Download/x.pdf"}, allow_claimed=True
            )
            task = created.model_dump(by_alias=True)["taskId"]
            with anyio.fail_after(60):
                while not own.phone.log.of_kind("app-silent"):  # noqa: ASYNC110 - another thread's
                    await anyio.sleep(0.02)
                await send_of_task(client.session, "cancel", task)
                await until(client.session, task, "cancelled")
    own.device.run(["am", "force-stop", PDF_TOOL])
    [logged] = read_calls(own.folder / "audit")
    assert (logged.end or {})["result"] == "canceled"
    assert json.loads(path.read_text().splitlines()[0])["event"]["deadline"] == 150


PLAYER = "dev.made.player"
SKIP = "player#skip"
MANIFEST = """<property android:name="android.app.appfunctions.schema" android:value="schema.xsd"/>
<property android:name="android.app.appfunctions.v2" android:value="player.xml"/>
<receiver android:name=".Screen" android:exported="true"/>"""
FUNCTIONS = f"""<appfunctions><appfunction><id>{SKIP}</id><functionId>{SKIP}</functionId>
<scope>global</scope><description>Play the next song</description></appfunction></appfunctions>"""


class Screen(Receiver):
    """Registers the function while a song is open."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        del current
        statics = self.context.platform.statics
        if intent.action == "open":
            statics["registration"] = self.context.platform.register_app_function(SKIP, lambda *_: {})
        else:
            take_back = statics["registration"]
            assert callable(take_back)
            take_back()
        return None


class PlayerApp(App):
    PACKAGE = PLAYER
    RECEIVERS = {f"{PLAYER}.Screen": Screen}


@pytest.fixture
def player(tmp_path: Path) -> Iterator[ReachedPhone]:
    files = {"assets/schema.xsd": SCHEMA, "assets/player.xml": FUNCTIONS}
    with patch.dict(BEHAVIOURS, {PLAYER: PlayerApp}), start_phone(sdk="37", server_port=0) as phone:
        assert phone.server_port is not None
        device = Device(AdbClient(ServerAddress(port=phone.server_port)), phone.serial)
        install_archive(device_user_of(device), make_apk(PLAYER, MANIFEST, files=files), "player.apk")
        yield ReachedPhone(phone, device, tmp_path)


def send(player: ReachedPhone, action: str) -> None:
    player.device.check(["am", "broadcast", "-a", action, "-n", f"{PLAYER}/.Screen"])


async def test_a_registered_function_is_announced_called_and_gone_in_the_end(player: ReachedPhone) -> None:
    changed = anyio.Event()

    async def note(message: object) -> None:
        if isinstance(message, mcp_types.ToolListChangedNotification):
            changed.set()

    with running_server(tools_of(player, select=[PLAYER])) as server, anyio.fail_after(60):
        async with http_client(server, "2025-11-25", message_handler=note) as client:
            assert (await client.list_tools()).tools == []
            await anyio.to_thread.run_sync(send, player, "open")
            await changed.wait()
            [tool] = (await client.list_tools()).tools
            assert "Play the next song" in str(tool.description)
            assert not (await client.call_tool(tool.name, {})).is_error
            changed = anyio.Event()
            await anyio.to_thread.run_sync(player.device.check, ["am", "force-stop", PLAYER])
            await changed.wait()
            assert (await client.list_tools()).tools == []


def test_discovery_reads_whether_a_function_is_registered_now(player: ReachedPhone) -> None:
    request = PhoneRequest(tuple(load_formats().values()), package=PLAYER, keep=False)
    states: list[bool | None] = []
    for action in ("open", "close"):
        send(player, action)
        [provider] = read_phone(player.device, request).declared.providers
        states += [function.state.enabled for function in provider.capabilities if function.state]
    assert states == [True, False]
    with pytest.raises(CallError) as raised:
        player.caller().call(CallRequest(SKIP))
    assert raised.value.failure.token == "disabled"


# under load, while connections drop, output is spoiled and apps die


CALLS_OF_THE_SOAK, CLIENTS = 5_000, 8


@pytest.mark.slow
def test_no_answer_is_that_of_another_call_and_memory_stays(tmp_path: Path) -> None:
    report = soak(tmp_path, CALLS_OF_THE_SOAK, clients=CLIENTS, seed=18)
    assert report.wrong == []
    assert report.right + report.refused + report.failed == CALLS_OF_THE_SOAK
    assert set(report.faults) == set(FAULTS)
    assert report.failed <= report.most_failures(CLIENTS)
    # Faults are not only made: the answers of these are lost.
    assert report.failed >= report.faults["dropped"] + report.faults["malformed"]
    assert report.broken is None
    assert report.ended >= CALLS_OF_THE_SOAK
    assert report.drift(report.resident) < 0.05
    assert report.drift(report.objects) < 0.05
