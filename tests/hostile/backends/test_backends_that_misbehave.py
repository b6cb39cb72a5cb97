"""Whatever the app behind a shim does, its caller gets one answer with the token for it."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from device_shim.shim_phone.tool_apps import TOOL, agent_apk, tool_world
from device_shim.shim_phone.world import AGENT, World, outputs_of, token_of
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.faults import Faults
from droidgate_shim.engine.carried import MAX_CARRIED_UNITS
from hostile.shim_service import bound, send
from still_clock import StillClock
from waiting import wait_until

OTHER_AGENT = "com.example.other"


@pytest.fixture
def still() -> Iterator[World]:
    """A phone whose time only passes while everybody waits."""
    world = _world(clock=StillClock())
    yield world
    world.close()


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone whose time passes."""
    world = _world(shim_runtime=shim_runtime)
    yield world
    world.close()


@pytest.fixture
def short_world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone whose time passes, and whose calls end soon."""
    world = _world(shim_runtime=shim_runtime, deadline_ms=5_000)
    yield world
    world.close()


def _world(**more: Any) -> World:
    world = tool_world(**more)
    world.grant("any-app")
    world.allow_screens()
    world.show_agent()
    return world


@pytest.mark.parametrize(("capability", "how", "token"), [
    ("screen", "crash", "canceled"),
    ("screen", "cancel", "canceled"),
    ("screen", "silent", "timeout"),
    ("loner", "well", "canceled"),
    ("radio", "crash", "backend_failure"),
    ("radio", "silent", "backend_failure"),
    ("desk", "crash", "interrupted"),
    ("desk", "silent", "timeout"),
    ("desk", "late", "timeout"),
])  # fmt: skip
def test_silence_is_reported_by_its_token(still: World, capability: str, how: str, token: str) -> None:
    assert token_of(still.ask(capability, {"how": how})) == token


@pytest.mark.parametrize(
    ("capability", "answer"),
    [("screen", "did well"), ("radio", "did well"), ("desk", "did well"), ("starter", "started")],
)
def test_a_backend_that_behaves_is_answered_for(world: World, capability: str, answer: str) -> None:
    assert outputs_of(world.ask(capability, {"how": "well"})) == {"result": answer}


@pytest.mark.slow
def test_a_tool_that_answers_one_agent_to_another_gives_neither_anything(short_world: World) -> None:
    world = short_world
    world.install(agent_apk(OTHER_AGENT))
    first: list[dict[str, Any]] = []
    thread = threading.Thread(target=lambda: first.append(world.ask("desk", {"how": "crossed"})))
    thread.start()
    wait_until(lambda: world.host("status")["open"] == 1)
    second = world.ask("desk", {"how": "crossed"}, caller=OTHER_AGENT)
    thread.join(60)
    assert token_of(second) == token_of(first[0]) == "timeout"


@pytest.mark.parametrize("capability", ["screen", "desk"])
def test_a_success_without_a_result_is_a_success(world: World, capability: str) -> None:
    response = world.ask(capability, {"how": "empty"})
    assert response["status"] == "success"
    assert "output" not in response["capability"]


def test_a_result_that_is_not_a_text_is_not_the_text_null(world: World) -> None:
    response = world.ask("screen", {"how": "unreadable"})
    assert token_of(response) == "malformed_response"
    assert "not a text" in response["message"]


def test_an_answer_that_is_too_long_is_a_short_failure(world: World) -> None:
    # The request to the app fits; its answer has some more characters around the text.
    response = world.ask("desk", {"how": "a" * (MAX_CARRIED_UNITS - 145)}, request_id="u-2")
    assert token_of(response) == "malformed_response"
    assert (response["id"], response["capability"]) == ("u-2", {"id": "desk"})


def test_a_tool_in_a_task_of_its_own_is_named(still: World) -> None:
    message = still.ask("loner", {"how": "well"})["message"]
    assert message.startswith("canceled: callee_in_new_task")


def test_the_screen_is_free_again_after_a_tool_that_never_ends(still: World) -> None:
    assert token_of(still.ask("screen", {"how": "silent"})) == "timeout"
    assert outputs_of(still.ask("screen", {"how": "well"})) == {"result": "did well"}


def test_an_app_that_is_silent_as_a_whole_ends_in_a_timeout(still: World) -> None:
    still.system.faults = Faults(silent=frozenset({TOOL}))
    for capability in ("screen", "radio", "desk", "starter"):
        assert token_of(still.ask(capability, {"how": "well"})) == "timeout"


def test_of_three_answers_of_an_app_the_agent_gets_one(world: World) -> None:
    binding, answers = bound(world)
    send(binding, request_text("desk", {"how": "thrice"}, dialect="S0"))
    wait_until(lambda: answers)
    assert outputs_of(world.ask("desk", {"how": "well"})) == {"result": "did well"}
    assert len(answers) == 1
    binding.unbind()


def test_what_goes_out_holds_the_tools_extras_and_the_origin_and_no_more(world: World) -> None:
    world.ask("screen", {"how": "well"})
    sent = world.system.files.read(f"/data/data/{TOOL}/files/intent").decode()
    signer = world.system.packages.find(AGENT)
    assert signer is not None
    for name in ("tool_name", "parameters", "gateway_origin_package", "gateway_origin_certificate"):
        assert sent.count(f"'{name}'") == 1
    assert sent.count("Extra(") == 4
    assert f"value='{signer.signers[0]}'" in sent
    assert "flags=0" in sent
    assert "data=None" in sent


@pytest.mark.slow
def test_a_ninth_waiting_screen_call_is_reported_to_come_later(short_world: World) -> None:
    world = short_world
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(world.ask("screen", {"how": "silent"})))
        for _ in range(8)
    ]
    for item in threads:
        item.start()
    wait_until(lambda: world.host("status")["open"] == 8)
    assert token_of(world.ask("screen", {"how": "well"})) == "busy"
    for item in threads:
        item.join(60)
    assert {token_of(item) for item in answers} == {"timeout"}


def test_a_flood_is_refused_and_the_app_behind_sees_only_what_passes(world: World) -> None:
    binding, answers = bound(world)
    for number in range(50):
        send(binding, request_text("desk", {"how": "well"}, dialect="S0", request_id=f"u-{number}"))
    wait_until(lambda: len(answers) == 50)
    tokens = ["" if item["status"] == "success" else token_of(item) for item in answers]
    assert set(tokens) == {"", "busy"}
    assert sorted(item["id"] for item in answers) == sorted(f"u-{number}" for number in range(50))
    assert {item["capability"]["id"] for item in answers} == {"desk"}
    # What was too much is not in the history: it would push everything else out.
    assert [item["token"] for item in world.history(tokens.count(""))] == [None] * tokens.count("")
    binding.unbind()


def test_a_locked_screen_needs_the_user(world: World) -> None:
    world.system.is_locked = True
    assert token_of(world.ask("screen", {"how": "well"})) == "needs_user"
    assert outputs_of(world.ask("radio", {"how": "well"})) == {"result": "did well"}
