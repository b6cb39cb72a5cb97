"""Denied unless granted: callers, transports, grants; consent; drift; what survives a death."""

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import run
from device_shim.shim_phone.conftest import ON_THE_JVM
from device_shim.shim_phone.hand_made_shim import MMCP_ACTIVITY, MMCP_RECEIVER
from device_shim.shim_phone.tool_apps import TOOL, agent_apk, tool_apk, tool_world
from device_shim.shim_phone.world import AGENT, SHIM, World, outputs_of, token_of
from droidgate_phone.apps.agent import request_text
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from hostile.shim_service import SERVICE, wait_until_ended
from waiting import wait_until

GRANTED = "com.example.granted"
OTHER = "com.example.other"
FIRST = "com.example.one"
SECOND = "com.example.two"


def _world(**more: Any) -> World:
    return tool_world(shim={"more": MMCP_ACTIVITY + MMCP_RECEIVER}, **more)


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone with a shim that asks nobody."""
    world = _world(shim_runtime=shim_runtime)
    world.host("ask", on=False)
    yield world
    world.close()


def _bring_to_life(world: World, package: str) -> None:
    """Make an app active, so that it may start services for the foreground."""
    world.system.uid_states.idle_whitelist.add(package)


CALLERS = ("granted", "not granted", "other certificate", "shared uid", "both of a shared uid")
GRANTS = ("one capability", "another capability", "everything", "nothing")
CAPABILITIES = ("desk", "starter")
PAIRS = list(itertools.product(CALLERS, GRANTS))


@pytest.mark.parametrize(("caller", "grant"), PAIRS)
def test_bound_callers_reach_what_their_certificate_may_use(world: World, caller: str, grant: str) -> None:
    package, granted = _set_up(world, caller, grant)
    # One of the two tools is started, which an app in the background may not do.
    _bring_to_life(world, SHIM)
    for capability in CAPABILITIES:
        response = world.ask(capability, {"how": "well"}, caller=package)
        if capability in granted:
            assert outputs_of(response)
        else:
            assert token_of(response) == "denied"


@pytest.mark.parametrize(("caller", "grant"), PAIRS)
def test_a_start_proves_nothing_so_no_package_s_grant_counts(world: World, caller: str, grant: str) -> None:
    package, _ = _set_up(world, caller, grant)
    _bring_to_life(world, package)
    for capability in CAPABILITIES:
        assert token_of(world.ask(capability, {"how": "well"}, carrier="start", caller=package)) == "denied"


@pytest.mark.slow
@pytest.mark.parametrize(("caller", "grant"), PAIRS)
def test_for_what_only_reads_a_start_s_receiver_s_grant_counts(world: World, caller: str, grant: str) -> None:
    package, _ = _set_up(world, caller, grant)
    _bring_to_life(world, package)
    response = world.ask("radio", {"how": "well"}, carrier="start", caller=package)
    if grant == "everything" and caller in ("granted", "both of a shared uid"):
        assert outputs_of(response) == {"result": "did well"}
    else:
        assert token_of(response) == "denied"


def _set_up(world: World, caller: str, grant: str) -> tuple[str, tuple[str, ...]]:
    """Install a caller, grant, and return the caller's package with what it may use."""
    granted = {"one capability": ("desk",), "everything": CAPABILITIES}.get(grant, ())
    expected = {"one capability": ["desk"], "another capability": ["screen"], "everything": ["*"]}
    packages = [FIRST, SECOND] if "shared" in caller else [GRANTED]
    for package in packages:
        world.install(agent_apk(package, shared="com.example.shared" if "shared" in caller else None))
    receivers = {"granted": [GRANTED], "other certificate": [GRANTED], "shared uid": [FIRST]}
    for package in receivers.get(caller, [FIRST, SECOND] if caller == "both of a shared uid" else []):
        for capability in expected.get(grant, []):
            world.grant(package, capability)
    if caller == "other certificate":
        world.system.packages.uninstall(GRANTED)
        world.install(agent_apk(GRANTED, signer="second"))
    if caller == "not granted":
        world.install(agent_apk(OTHER))
        return OTHER, ()
    return packages[0], granted if caller in ("granted", "both of a shared uid") else ()


@pytest.mark.parametrize("capability", ["desk", "*"])
def test_any_app_is_the_only_grant_for_starts_and_for_mmcp(world: World, capability: str) -> None:
    world.install(agent_apk(OTHER))
    _bring_to_life(world, OTHER)
    world.show_agent()
    activity = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpActivity")
    receiver = ComponentName(SHIM, "dev.droidgate.shim.frontends.MmcpReceiver")
    for is_granted in (False, True):
        if is_granted:
            world.grant("any-app", capability)
        started = world.ask("desk", {"how": "well"}, carrier="start", caller=OTHER)
        by_activity = world.agent().call_mmcp_activity(activity, "desk", {"how": "well"})
        by_broadcast = world.agent().call_broadcast(receiver, "desk", {"how": "well"})
        assert by_activity.data is not None
        text = by_activity.data.extras.get_string("error")
        if is_granted:
            assert outputs_of(started) == {"result": "did well"}
            assert (by_activity.code, text) == (-1, None)
            assert by_broadcast.code == -1
        else:
            assert token_of(started) == "denied"
            assert (text or "").startswith("Error: denied: ")
            assert (by_broadcast.code, (by_broadcast.data or "")[:14]) == (0, "Error: denied:")


def test_the_host_needs_no_grant_and_nobody_else_gets_in(world: World) -> None:
    assert outputs_of(world.ask_host("desk", {"how": "well"})) == {"result": "did well"}
    ran = world.run("content", "call", "--uri", f"content://{SHIM}.host", "--method", "hello", "--arg", "e30")
    assert "Bundle" in ran.stdout
    world.install(agent_apk(OTHER))
    package = world.system.packages.find(OTHER)
    assert package is not None
    package.granted.add("android.permission.DUMP")
    refused = run(
        world.system, "content", "call", "--uri", f"content://{SHIM}.host", "--method", "hello", "--arg",
        "e30", uid=package.uid,
    )  # fmt: skip
    assert "SecurityException" in refused.stderr or "Could not find provider" in refused.stderr


def test_a_denied_capability_and_one_that_does_not_exist_are_reported_alike(world: World) -> None:
    denied = world.ask("desk", {"how": "well"})["message"]
    assert world.ask("nothing", {"how": "well"})["message"] == denied


def test_a_capability_that_is_switched_off_is_disabled_for_everybody(world: World) -> None:
    world.grant(AGENT)
    world.switch_off("desk")
    assert token_of(world.ask("desk", {"how": "well"})) == "disabled"
    assert token_of(world.ask_host("desk", {"how": "well"})) == "disabled"


def test_grants_survive_the_process_and_go_when_they_are_revoked(world: World) -> None:
    world.grant(AGENT, "desk")
    world.system.force_stop(SHIM)
    assert outputs_of(world.ask("desk", {"how": "well"})) == {"result": "did well"}
    assert world.host("revoke", caller=AGENT, capability="desk") == {"revoked": 1}
    assert token_of(world.ask("desk", {"how": "well"})) == "denied"


def test_grants_that_cannot_be_read_grant_nothing(world: World) -> None:
    world.grant(AGENT)
    assert outputs_of(world.ask("desk", {"how": "well"}))
    world.system.force_stop(SHIM)
    grants = f"/data/data/{SHIM}/files/grants.json"
    written = world.system.files.read(grants)
    world.system.files.write(grants, bytes(written[: len(written) // 2]))
    assert token_of(world.ask("desk", {"how": "well"})) == "denied"


def test_the_certificate_of_an_app_that_the_shim_cannot_see_is_reported_by_the_host(world: World) -> None:
    refused = world.host("grant", caller=AGENT, capability="*")
    assert refused["error"]["token"] == "unavailable"
    wrong = world.host("grant", caller=AGENT, capability="*", signer="0" * 64)
    assert "grant" in wrong
    assert token_of(world.ask("desk", {"how": "well"})) == "denied"
    assert world.host("grant", caller=AGENT, capability="*", signer="0" * 64)["error"]["token"] == (
        "unavailable"
    )
    assert "grant" in world.host("grant", caller=AGENT, capability="*")
    assert outputs_of(world.ask("desk", {"how": "well"}))


@pytest.mark.parametrize(("change", "token", "state"), [
    ("removed", "unavailable", "absent"),
    ("other signer", "unavailable", "other-signer"),
    ("changed descriptor", "needs_approval", "changed"),
    ("new version", "", "as-approved"),
])  # fmt: skip
def test_what_became_of_the_app_decides_each_call(world: World, change: str, token: str, state: str) -> None:
    world.grant(AGENT)
    assert outputs_of(world.ask("desk", {"how": "well"}))
    if change in ("removed", "other signer"):
        world.system.packages.uninstall(TOOL)
    if change == "other signer":
        world.install(tool_apk(signer="second"))
    elif change == "changed descriptor":
        world.install(tool_apk(descriptor='{"tools":[1]}', version=2))
    elif change == "new version":
        world.install(tool_apk(version=2))
    response = world.ask("desk", {"how": "well"})
    assert ("" if response["status"] == "success" else token_of(response)) == token
    (reported,) = world.host("status")["targets"]
    assert (reported["package"], reported["state"]) == (TOOL, state)


def test_a_callback_that_opens_an_activity_is_not_sent(world: World) -> None:
    world.grant("any-app")
    world.show_agent()
    context = world.system.app_context(AGENT)
    token = context.platform.create_activity_intent(
        Intent(component=ComponentName(AGENT, f"{AGENT}.MainActivity"))
    )
    extras = Bundle.of_strings({"mobile-mcp-request": request_text("desk", {"how": "well"}, dialect="S0")})
    extras = extras.with_extra("mcp_callback", Extra("pending-intent", token))
    context.start_service(Intent(component=SERVICE, extras=extras), foreground=True)
    wait_until_ended(world)
    assert not world.system.log.of_kind("pending-intent-sent")
    assert world.history() == []


def test_a_message_without_an_answerable_form_is_dropped(world: World) -> None:
    world.grant(AGENT)
    answers: list[Message] = []
    binding = world.system.app_context(AGENT).bind_service(Intent(component=SERVICE), answers.append)
    assert binding is not None
    binding.send(Message(1, Bundle.of_strings({"something": "else"})))
    binding.send(Message(7, Bundle.of_strings({"mobile-mcp-request": "{}"})))
    assert outputs_of(world.ask("desk", {"how": "well"}))
    assert answers == []
    binding.unbind()


def test_the_users_screen_revokes_switches_and_clears(world: World) -> None:
    world.grant(AGENT, "desk")
    assert outputs_of(world.ask("desk", {"how": "well"}))
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
    world.run("am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
    assert f"{AGENT}: desk" in world.texts()
    world.tap_text("Revoke")
    assert world.host("status")["grants"] == []
    world.tap_text("screen")
    assert world.host("status")["switched_off"] == ["screen"]
    world.history(1)
    world.tap_text("Clear")
    wait_until(lambda: world.history() == [])


@ON_THE_JVM
def test_the_users_screen_asks_for_notifications(world: World) -> None:
    permission = "android.permission.POST_NOTIFICATIONS"

    def requests() -> int:
        events = world.system.log.of_kind("not-modelled")
        return sum(event["what"] == f"the dialog for {permission}" for event in events)

    world.run("am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
    wait_until(lambda: requests() == 1)
    world.tap_text("Allow notifications")
    wait_until(lambda: requests() == 2)
    world.run("pm", "grant", SHIM, permission)
    # Shown anew, the screen has nothing to ask.
    world.run("input", "keyevent", "BACK")
    world.run("am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
    assert "Allow notifications" not in world.texts()
    assert requests() == 2


def test_history_says_who_called_what_and_never_with_what(world: World) -> None:
    world.grant(AGENT)
    world.ask("desk", {"how": "well"})
    world.ask("radio", {"how": "SECRET"})
    calls = world.history(2)
    assert [(call["caller"], call["capability"], call["token"]) for call in calls] == [
        (AGENT, "desk", None),
        (AGENT, "radio", None),
    ]
    assert b"SECRET" not in world.files_of(SHIM)


def test_a_start_without_a_callback_does_nothing(world: World) -> None:
    world.grant("any-app")
    world.show_agent()
    text = request_text("screen", {"how": "well"}, dialect="S0")
    extras = Bundle.of_strings({"mobile-mcp-request": text})
    context = world.system.app_context(AGENT)
    context.start_service(Intent(component=SERVICE, extras=extras), foreground=True)
    wait_until_ended(world)
    assert world.history() == []
    assert world.files_of(TOOL) == b""
