"""Calls of the virtual phone's apps through a real MCP client, over each transport and in each revision.

Also two phones and two clients on one server, where nobody waits for an app that never answers.
"""

import asyncio
import base64
import json
import os
import random
import subprocess
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from unittest.mock import AsyncMock, Mock, patch

import anyio
import mcp_types
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from device_shim.phone_apps.pdf_files import pdf_with
from droidgate.calls import shell_route
from droidgate.calls.approvals import refuse
from droidgate.calls.audit_log import HEAD_NAME, AuditLog
from droidgate.calls.audit_reading import read_calls
from droidgate.calls.call_files import read_files
from droidgate.calls.call_requests import CallRequest
from droidgate.calls.call_steps import Work
from droidgate.computer.private_files import exclusive_file
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import CommandResult, Device
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_files import SharedFolders
from droidgate.serving.served_phones import ServedPhone
from droidgate.serving.tool_search import SearchTools
from droidgate.serving.tools import Client as ServedClient, ToolCall, UserAnswer, UserQuestion
from droidgate.shims.host_client import HostClient
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.common.faults import Faults
from droidgate_phone.phone import start_phone
from gateway.calls.phones_with_shims import CLOCK_IN, NOTES, PDF_TOOL, ReachedPhone
from gateway.mobile_agent.made_phone import device_on
from gateway.serving.phone_servers import CALLS, Answers, connected, tools_of
from gateway.serving.running_servers import (
    REVISIONS,
    TOKEN,
    RunningServer,
    http_client,
    running_server,
    text_of,
)
from gateway.serving.soak import FAULTS, FaultyAdb, soak
from gateway.serving.task_client import Tasks, send as send_of_task, until
from requirements_of_tests import node, require
from waiting import wait_until

pytestmark = pytest.mark.anyio
PROGRAM = Path(sys.executable).with_name("droidgate")
CREATE = ("notes_createNote", {"title": "a", "content": "b"})


async def ask_nobody(_question: UserQuestion) -> UserAnswer:
    raise AssertionError


async def called_once(own: ReachedPhone, tool: str, arguments: dict[str, Any]) -> tuple[PhoneTools, ToolCall]:
    """Return tools and a call that was made: the first one writes the files next to the log, in a thread."""
    tools = tools_of(own)
    tools.look()
    client = ServedClient("mcp:test", "Test", "2026-07-28")
    call = ToolCall(tool, arguments, client, ask_nobody, None)
    await tools.call(call)
    return tools, call


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


@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_long_call_reports_what_it_waits_for_and_a_cancel_ends_it_on_the_phone(
    phone: ReachedPhone, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.calls.call_requests.EVERY_SECONDS", 0.05)
    shim = HostClient(phone.device, "dev.droidgate.shim.of.dev.droidgate.sample.clockin")
    reports: list[tuple[float, float | None, str | None]] = []

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
            await anyio.to_thread.run_sync(wait_until, lambda: not shim.status().open)
    finally:
        phone.phone.system.faults = Faults()
    moments = [progress for progress, _, _ in reports]
    assert moments == sorted(set(moments))
    assert {total for _, total, _ in reports} == {None}


async def test_the_end_of_the_server_ends_a_call_in_one_line_and_records_it(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("droidgate.serving.http_transport._GRACE_SECONDS", 0.2)
    monkeypatch.setattr(own.phone.system, "faults", Faults(silent=frozenset({NOTES})))

    async def call_until_the_end(server: RunningServer) -> None:
        async with http_client(server, "2026-07-28") as client:
            with pytest.raises(MCPError):
                await client.call_tool("notes_createNote", {"title": "a"})

    async with anyio.create_task_group() as tasks:
        with running_server(tools_of(own)) as server:
            tasks.start_soon(call_until_the_end, server)
            await anyio.to_thread.run_sync(wait_until, lambda: results_in(own))
    [logged] = read_calls(own.folder / "audit")
    assert logged.end is not None
    assert (logged.start["client"], logged.end["result"]) == ("mcp:test-client", "canceled")
    assert caplog.messages[-1] == "requests canceled that did not end in 0.2 s: 1"


async def test_a_call_that_is_canceled_while_its_start_is_written_is_recorded_and_not_sent(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, call = await called_once(own, *CREATE)
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
    assert results_in(own) == ["ok", "canceled"]


async def test_a_canceled_call_waits_for_the_lock_of_the_log_for_a_limited_time(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("droidgate.calls.call_steps.END_SECONDS", 0.1)
    tools, call = await called_once(own, *CREATE)
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
    tools, call = await called_once(own, *CREATE)
    readers: list[threading.Thread] = []

    def read(*given: Any) -> Any:
        readers.append(threading.current_thread())
        return shell_output(*given)

    shell_output = shell_route._output_of
    monkeypatch.setattr(Device, "run_on_loop", AsyncMock(return_value=output))
    monkeypatch.setattr(shell_route, "_output_of", read)
    await tools.call(call)
    assert readers
    assert threading.main_thread() not in readers


async def test_nobody_waits_for_a_phone_whose_apps_are_read_again(
    own: ReachedPhone, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools, call = await called_once(own, "tally_read_total", {"player": "Nobody"})
    askers: list[threading.Thread] = []
    run = Device.run

    def ask(self: Device, *given: Any, **options: Any) -> CommandResult:
        askers.append(threading.current_thread())
        return run(self, *given, **options)

    monkeypatch.setattr(Device, "run", ask)
    # What its receiver has said is forgotten.
    caller = tools._phones[0].caller
    assert caller is not None
    await anyio.to_thread.run_sync(caller.targets.refresh)
    outcome = await tools.call(call)
    assert outcome.result.failure is None
    assert threading.main_thread() not in askers


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


@pytest.mark.parametrize(("call", "warning"), [
    (("weather_currentWeather", {"location": " "}), "the text resembles a failure (backend_failure)"),
    (("legacy_createNote", {"title": "a", "content": "b", "priority": None}), "argument /priority: null"),
    (("notes_createNote", {"title": "a", "content": "b"}), "result /reminder: it is required and missing"),
    (("tally_read_total", {"player": "Ada"}), "the end of the call is not in the audit log: no room"),
], ids=["a doubtful result", "a coerced argument", "a coerced result", "no end in the log"])  # fmt: skip
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
    monkeypatch.setattr("droidgate.serving.call_outcomes.MAX_NOTES", 0)
    async with connected(tools_of(own), "2026-07-28") as client:
        arguments = {"title": "a", "content": "b", "priority": None}
        result = await client.call_tool("legacy_createNote", arguments)
    assert text_of(result).endswith("\n[Note from droidgate] and 1 more")


async def test_a_trace_context_is_in_the_log_where_it_follows_the_grammar(own: ReachedPhone) -> None:
    trace_id = "4bf92f3577b34da6a3ce929d0e0e4736"
    sent: list[Any] = [
        {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01"},
        {"traceparent": f"00-{trace_id}-00f067aa0ba902b7-01\nx"},
    ]
    async with connected(tools_of(own), "2026-07-28") as client:
        for meta in sent:
            arguments = {"player": "Nobody"}
            assert not (await client.call_tool("tally_read_total", arguments, meta=meta)).is_error
    expected = [sent[0], dict.fromkeys(sent[0])]
    logged = [call.start for call in read_calls(own.folder / "audit")]
    assert [{name: start.get(name) for name in sent[0]} for start in logged] == expected


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


def inspect(*arguments: str | Path) -> dict[str, Any]:
    command = [str(node()), require("mcp-inspector"), "--cli", *arguments]
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
    environment = ["-e", f"ANDROID_ADB_SERVER_PORT={phone.phone.server_port}"]
    environment += ["-e", f"DROIDGATE_HOME={os.environ['DROIDGATE_HOME']}"]
    call = ["--method", "tools/call", "--tool-name", "weather_currentWeather", "--tool-arg", "location=Oslo"]
    called = inspect(*environment, PROGRAM, "serve", "--allow", "*weather/*", *call)
    assert "Oslo" in called["content"][0]["text"]


async def is_silent(phone: ReachedPhone) -> None:
    """Wait until an app of the phone has a call that it does not answer."""
    await anyio.to_thread.run_sync(wait_until, lambda: phone.phone.log.of_kind("app-silent"))


@pytest.fixture
def phones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[ReachedPhone]]:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path))
    with start_phone(server_port=0) as first, start_phone(server=first.server) as second:
        server = device_on(first).server
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
                await is_silent(first)
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
    with patch.object(own.phone.system, "faults", Faults(silent=frozenset({NOTES}))), anyio.fail_after(15):
        async with connected(tools_of(own, deadline=1), "2026-07-28") as client:
            assert text_of(await client.call_tool(*CREATE)).startswith("timeout")
    own.device.run(["am", "force-stop", NOTES])


@pytest.mark.slow
async def test_a_canceled_task_ends_the_call_of_its_app_and_may_take_longer_than_a_request(
    own: ReachedPhone,
) -> None:
    tasks = Tasks()
    request = patch("droidgate.serving.phone_tools.CallRequest", wraps=CallRequest)
    silent = patch.object(own.phone.system, "faults", Faults(silent=frozenset({PDF_TOOL})))
    with silent, request as made, running_server(tools_of(own)) as server:
        async with http_client(server, "2026-07-28", extensions=[tasks]) as client:
            created = await client.session.call_tool(
                "pdftool_page_count", {"path": "/sdcard/Download/x.pdf"}, allow_claimed=True
            )
            task = created.model_dump(by_alias=True)["taskId"]
            with anyio.fail_after(60):
                await is_silent(own)
                await send_of_task(client.session, "cancel", task)
                await until(client.session, task, "cancelled")
    own.device.run(["am", "force-stop", PDF_TOOL])
    [logged] = read_calls(own.folder / "audit")
    assert (logged.end or {})["result"] == "canceled"
    assert made.call_args.kwargs["deadline"] == 150


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
