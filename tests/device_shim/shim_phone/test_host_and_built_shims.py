"""The host's provider, and shims that the builder made for the sample apps."""

import hashlib
import json
import struct
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from device_shim.phone_apps.pdf_files import pdf_with
from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, response_of, tool_apk, tool_routes, tool_world
from device_shim.shim_phone.world import (
    AGENT,
    CLOCK_IN,
    LENDING_FLAG,
    NOTES,
    PDF_TOOL,
    PLAIN_NOTES,
    SHIM,
    Begun,
    World,
    key,
    outputs_of,
    sample_shims,
    token_of,
    token_of_host,
)
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle
from droidgate_phone.system.parcels import bundle_size, cross_message
from droidgate_shim.builder.shims import build_bare_shim
from waiting import wait_until

OF = "dev.droidgate.shim.of."
GRANT = {"caller": "any-app", "capability": "desk", "since": 1}


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> World:
    """A phone with a tool app and a shim before it."""
    return tool_world(shim_runtime=shim_runtime)


def _frame(text: str) -> bytes:
    payload = text.encode()
    return b"DGF1" + struct.pack(">I", len(payload)) + hashlib.sha256(payload).digest() + payload


def _is_at_its_app(world: World, name: str) -> bool:
    return bool(world.host("progress", id=name)["stage"] == "app")


def _uri(name: str) -> str:
    return f"content://{SHIM}.host/calls/{name}"


def test_a_long_request_goes_as_a_frame_and_its_answer_comes_as_one_once(world: World) -> None:
    uri = _uri("0a" * 16)
    request = request_text("desk", {"how": "well" + "x" * 60_000}, dialect="S1")
    assert world.run("content", "write", "--uri", uri, stdin=_frame(request)).stderr == ""
    answer = world.read_content(uri)
    assert answer[:4] == b"DGF1"
    payload = answer[40:]
    assert answer == _frame(payload.decode())
    response = json.loads(payload)["mobile-mcp-response"]["response"]
    assert outputs_of(response) == {"result": "did well" + "x" * 60_000}
    assert "FileNotFoundException" in world.run("content", "read", "--uri", uri).stderr


def test_long_calls_that_the_host_canceled_make_room_for_others(world: World) -> None:
    silent, well = (_frame(request_text("desk", {"how": how}, dialect="S1")) for how in ("silent", "well"))
    for number in range(17):
        name = f"{number:032x}"
        assert world.run("content", "write", "--uri", _uri(name), stdin=silent).stderr == ""
        wait_until(partial(_is_at_its_app, world, name))
        assert world.host("cancel", id=name) == {"canceled": True}
    uri = _uri("0e" * 16)
    assert world.run("content", "write", "--uri", uri, stdin=well).stderr == ""
    assert b"did well" in world.read_content(uri)


@pytest.mark.parametrize(
    "content",
    [b"", b"DGF1", _frame("x")[:-1], b"DGF2" + _frame("x")[4:], _frame("x")[:-1] + b"y", _frame("x") + b"z"],
)
def test_what_is_not_a_frame_is_refused(world: World, shim_runtime: ShimRuntime, content: bytes) -> None:
    uri = _uri("0b" * 16)
    ran = world.run("content", "write", "--uri", uri, stdin=content)
    if shim_runtime == "jvm":
        # Written through a pipe, of which the writer learns nothing.
        assert world.read_content(uri) == _frame("")
    else:
        assert "FileNotFoundException" in ran.stderr
    assert "FileNotFoundException" in world.run("content", "read", "--uri", uri).stderr


@pytest.mark.parametrize(("method", "argument", "token"), [
    ("hello", {"version": 2}, "unsupported_version"),
    ("hello", {"version": ...}, "unsupported_version"),
    ("dance", {}, "invalid_argument"),
    ("ask", {"on": "yes"}, "invalid_argument"),
    ("ask", {}, "invalid_argument"),
    ("ask", {"on": None}, "invalid_argument"),
    ("grant", {"caller": "any-app", "capability": "nothing"}, "unknown_capability"),
    ("call", {"request": "no request"}, "invalid_argument"),
    ("call", {"request": "{}", "trace": 1}, "invalid_argument"),
    ("call", {"request": "{}", "deadline_ms": True}, "invalid_argument"),
    ("discover-broadcast", {"component": "x"}, "invalid_argument"),
    ("discover-broadcast", {"component": "not.there/.X"}, "unavailable"),
], ids=str)  # fmt: skip
def test_what_the_host_asks_wrongly_is_reported_by_a_token(
    world: World, method: str, argument: dict[str, Any], token: str
) -> None:
    assert token_of_host(world.host(method, **argument)) == token


def test_the_hosts_deadline_ends_a_call(world: World) -> None:
    request = request_text("desk", {"how": "silent"}, dialect="S1")
    assert token_of_host(world.host("call", request=request, deadline_ms=100)) == "timeout"


@pytest.mark.parametrize("how", ["silent", "late"])
def test_a_call_that_the_host_cancels_ends_once_and_a_late_answer_is_dropped(world: World, how: str) -> None:
    name = "0c" * 16
    call = Begun(world.host, "call", request=request_text("desk", {"how": how}, dialect="S1"), id=name)
    wait_until(lambda: world.host("progress", id=name) == {"stage": "app"})
    assert world.host("call", request="{}", id=name)["error"]["token"] == "busy"
    assert world.host("cancel", id=name) == {"canceled": True}
    assert "canceled" in json.dumps(call.result())
    assert world.host("status")["open"] == 0
    assert world.host("progress", id=name) == {"stage": None}
    assert world.host("cancel", id=name) == {"canceled": False}
    assert outputs_of(world.ask_host("desk", {"how": "well"})) == {"result": "did well"}


def test_a_trace_has_what_went_to_the_app_and_what_came_back(world: World) -> None:
    request = request_text("desk", {"how": "well"}, dialect="S1")
    trace = world.host("call", request=request, trace=True)["trace"]
    sent = json.loads(trace["sent"]["extras"]["mobile-mcp-request"])["mobile-mcp-request"]["request"]
    assert (sent["id"], sent["capability"]["args"]) == (trace["id"], {"how": "well"})
    (answer,) = trace["answers"]
    assert trace["id"] in answer["extras"]["mobile-mcp-response"]
    assert "trace" not in world.host("call", request=request)


def test_an_answer_that_the_agents_binder_has_no_room_for_is_a_short_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.grant("any-app", "desk")
    shim = world.system.packages.find(SHIM)
    assert shim is not None

    def cross(message: Message, sending_uid: int) -> Message:
        if sending_uid == shim.uid and message.what == 2 and bundle_size(message.data) > 20_000:
            raise AndroidError("android.os.TransactionTooLargeException", "the agent's buffer is full")
        return cross_message(message, sending_uid)

    monkeypatch.setattr("droidgate_phone.system.messengers.cross_message", cross)
    response = world.ask("desk", {"how": "a" * 15_000}, request_id="u-3")
    assert (token_of(response), response["id"]) == ("malformed_response", "u-3")
    assert "the call ran" in response["message"]
    assert outputs_of(world.ask("desk", {"how": "well"})) == {"result": "did well"}


def test_an_app_that_a_tool_lent_its_messenger_cannot_answer_the_call(world: World) -> None:
    name = "0d" * 16
    call = Begun(world.host, "call", request=request_text("desk", {"how": "silent"}, dialect="S1"), id=name)
    files = world.system.app_context(TOOL).files
    wait_until(lambda: files.read("open") is not None)
    reply_to, request_id = json.loads(files.read("open") or b"")
    answer = Bundle.of_strings({"mobile-mcp-response": response_of(request_id, {"result": "forged"})})
    world.system.app_context(AGENT).send_message(reply_to, Message(2, answer))
    world.system.app_context(TOOL).send_message(reply_to, Message(3, answer))
    assert world.host("progress", id=name) == {"stage": "app"}
    assert world.host("cancel", id=name) == {"canceled": True}
    assert "forged" not in json.dumps(call.result())


@pytest.mark.parametrize(("files", "switched_off", "asking", "grants"), [
    ({}, ["radio"], True, 0),
    ({"switches.json": {"asking": False}}, ["radio"], False, 0),
    ({"switches.json": {"switched_off": ["desk"]}}, ["desk"], True, 0),
    ({"switches.json": {"switched_off": []}, "grants.json": [GRANT]}, [], True, 1),
    ({"switches.json": {"switched_off": 1}, "grants.json": [GRANT]}, ["radio"], True, 0),
    ({"switches.json": {"asking": 1}, "grants.json": [GRANT]}, ["radio"], True, 0),
    ({"grants.json": [GRANT, {"caller": 1, "capability": "*"}]}, ["radio"], True, 0),
    ({"grants.json": [{"caller": "any-app"}]}, ["radio"], True, 0),
], ids=str)  # fmt: skip
def test_a_damaged_file_of_the_shim_allows_nothing_more(
    shim_runtime: ShimRuntime, files: dict[str, object], switched_off: list[str], asking: Any, grants: int
) -> None:
    world = tool_world(shim_runtime=shim_runtime, shim={"policy": {"switched_off": ["radio"]}})
    for name, content in files.items():
        world.system.app_context(SHIM).files.write(name, json.dumps(content).encode())
    status = world.host("status")
    assert (status["switched_off"], status["asking"], len(status["grants"])) == (switched_off, asking, grants)


def test_a_repeated_grant_is_the_first_one(world: World) -> None:
    first, second = (world.host("grant", caller="any-app", capability="*") for _ in range(2))
    assert first == second
    assert world.host("status")["grants"] == [first["grant"]]


@pytest.mark.parametrize("changed_first", [True, False])
def test_the_worst_state_of_a_targets_routes_counts(shim_runtime: ShimRuntime, changed_first: Any) -> None:
    world = World(behaviours={TOOL: ToolApp}, shim_runtime=shim_runtime)
    world.install(tool_apk())
    desk, plain, starter = tool_routes()[3:]
    desk["target"]["digest"] = "mmcp:" + "0" * 64
    plain["target"]["signer"] = "0" * 64
    routes = [starter, desk, plain] if changed_first else [starter, plain, desk]
    world.install(make_shim(routes, key=key()))
    (target,) = world.host("status")["targets"]
    assert target["state"] == "other-signer"


@pytest.mark.parametrize("shim_runtime", ["python"], indirect=True)
def test_a_trace_that_is_too_long_is_left_out(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate_phone.apps.shim.host_provider.LONGEST_TRACE", 1_000)
    for how, is_there in (("well", True), ("well" + "x" * 1_000, False)):
        request = request_text("desk", {"how": how}, dialect="S1")
        assert ("trace" in world.host("call", request=request, trace=True)) is is_there


def test_the_host_is_answered_while_other_calls_wait(world: World) -> None:
    call = Begun(world.ask_host, "desk", {"how": "silent"})
    wait_until(lambda: world.host("status")["open"] == 1)
    assert outputs_of(world.ask_host("desk", {"how": "well"})) == {"result": "did well"}
    world.system.end_processes(TOOL, "test")
    assert token_of(call.result()) == "interrupted"


def test_the_bare_shim_serves_the_host() -> None:
    world = World()
    bare = build_bare_shim(key())
    world.install(bare.apk)
    hello = world.host("hello", shim=bare.application_id)
    assert (hello["application_id"], hello["routes"]) == (bare.application_id, [])


@pytest.fixture
def built(tmp_path: Path, shim_runtime: ShimRuntime) -> World:
    """A phone with the shims that the builder makes of the sample apps' APKs."""
    names = ("clock-in", "notes", "notes-legacy", "pdf-tool")
    world = World(*names, shim_runtime=shim_runtime)
    for item in sample_shims(tmp_path, *names):
        world.install(item.apk)
        world.grant(AGENT, shim=item.application_id)
        targets = world.host("status", shim=item.application_id)["targets"]
        assert [target["state"] for target in targets] == ["as-approved"]
        assert world.host("hello", shim=item.application_id)["build"] == item.build
    world.show_agent()
    return world


def test_a_pdf_of_the_test_is_read_through_the_shim_that_was_built(built: World) -> None:
    path = f"/sdcard/Android/data/{PDF_TOOL}/made.pdf"
    built.system.files.make_directory(f"/sdcard/Android/data/{PDF_TOOL}", parents=True)
    built.system.files.write(path, pdf_with(["first words"], ["second"]))
    response = built.ask("extract_text", {"path": path}, shim=OF + PDF_TOOL, flags=LENDING_FLAG)
    assert "first words" in outputs_of(response)["result"]


def test_a_missed_day_comes_into_the_record_through_the_shim_that_was_built(built: World) -> None:
    day = {"date": "2026-03-04"}
    assert built.ask("make_up_clock_in", day, shim=OF + CLOCK_IN)["status"] == "success"
    assert b"2026-03-04" in built.files_of(CLOCK_IN)


def test_the_platforms_create_note_writes_a_note_with_the_shells_identity(built: World) -> None:
    note = {"title": "Bread", "content": "Rye, sliced"}
    refused = built.ask("createNote", note, shim=OF + PLAIN_NOTES)
    assert token_of(refused) == "denied"
    with built.instrumented():
        response = built.ask("createNote", note, shim=OF + PLAIN_NOTES)
    assert "Bread" in outputs_of(response)["result"]
    assert b"Rye, sliced" in built.files_of(PLAIN_NOTES)


def test_a_note_with_types_of_its_own_is_made_and_found(built: World) -> None:
    service = f"{NOTES}.NotesService"
    with built.instrumented():
        creation = built.ask(
            f"{service}#createNote", {"title": "Trip", "content": "Pack"}, shim=OF + NOTES, dialect="S1"
        )
        assert creation["status"] == "success", creation
        notes = built.ask(f"{service}#findNotes", {"query": {"text": "Trip"}}, shim=OF + NOTES, dialect="S1")
    assert "Trip" in json.dumps(notes)
    assert b"Trip" in built.files_of(NOTES)


def test_an_instrumentation_that_is_not_there_is_reported_in_androids_words(world: World) -> None:
    ran = world.run("am", "instrument", "-w", f"{SHIM}/.Nothing")
    assert "Unable to find instrumentation info for: ComponentInfo{" in ran.stdout
    assert "INSTRUMENTATION_FAILED" in ran.stderr
    assert ran.status == 1
