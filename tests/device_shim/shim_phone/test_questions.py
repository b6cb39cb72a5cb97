"""The question to the user about a call without a grant (shim.md 3)."""

import contextlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import make_apk, package_of
from device_shim.shim_phone.conftest import ON_THE_JVM
from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, agent_apk, tool_apk, tool_routes, tool_world
from device_shim.shim_phone.world import AGENT, SHIM, Begun, World, key, outputs_of, token_of
from droidgate_phone.apps.shim_runtimes import ShimRuntime
from droidgate_phone.common.clocks import Clock
from droidgate_shim.engine.engine import ASKING_MS, UNANSWERED
from still_clock import StillClock
from waiting import wait_until

OTHER = "com.example.other"
PATIENT_MS = 30_000
"""Enough for a question on a JVM that has just started on a busy machine."""
ATTACKER = "com.example.attacker"
OVERLAY = '<uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>'
NOTIFICATIONS = "android.permission.POST_NOTIFICATIONS"
COVERED = "Another app covers this screen: only Deny works. Close the other app first."
UNKNOWN_APP = "An unknown app"
CAPABILITIES = {"desk": {"title": "Help desk", "description": "Takes one wish."}}
ANOTHER_CALL = "the user is being asked about another call of this app; retry after its answer"
DENIED = "denied: the user has not allowed this app to call this capability"


def make_world(*, effects: Mapping[str, Any] | None = None, **more: Any) -> World:
    """Return a phone with a shim that asks the user; the effects are those of `desk`."""
    world = World(behaviours={TOOL: ToolApp}, **more)
    world.install(tool_apk())
    routes = tool_routes(deadline_ms=PATIENT_MS)
    for route in routes:
        if route["id"] == "desk" and effects is not None:
            route["effects"] = dict(effects)
    world.install(make_shim(routes, key=key(), capabilities=CAPABILITIES))
    return world


class _StoppedClock(Clock):
    """A time that passes only where a test says so."""

    time = 1_790_000_000.0

    def now(self) -> float:
        return self.time


def install_attacker(world: World) -> None:
    """Install an app that may draw over others."""
    world.install(make_apk(ATTACKER, before=OVERLAY))
    world.allow_screens(ATTACKER)


def show_windows(world: World) -> World:
    """Let the shim open windows of its own."""
    world.allow_screens()
    world.show_agent()
    return world


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> World:
    """A phone whose shim asks the user, and may show the question."""
    return show_windows(make_world(shim_runtime=shim_runtime))


def begin(world: World, capability: str = "desk", how: str = "well", **more: Any) -> Begun[dict[str, Any]]:
    return Begun(world.ask, capability, {"how": how}, **more)


def ask(world: World, capability: str = "desk", **more: Any) -> Begun[dict[str, Any]]:
    """Begin a call, and wait until its question is shown."""
    question = begin(world, capability, **more)
    wait_until(lambda: is_asking(world))
    return question


def is_asking(world: World) -> bool:
    return "Deny" in world.texts()


def is_open(world: World, count: int) -> bool:
    return bool(world.host("status")["open"] == count)


def is_shown(world: World, text: str) -> bool:
    return any(text in shown for shown in world.texts())


def answer(world: World, button: str) -> None:
    """Tap a button of the question when answers count: half a second after it is there."""
    wait_until(lambda: is_asking(world))
    begun = world.system.clock.now()
    wait_until(lambda: world.system.clock.now() - begun > 0.6)
    world.tap_text(button)


def answer_notification(world: World, question: Begun[dict[str, Any]]) -> None:
    """Tap the one notification, which is the shim's, and answer its question."""
    (posted,) = world.system.notifications.all()
    assert posted.package == SHIM
    world.system.notifications.tap(posted)
    answer(world, "Once")
    assert outputs_of(question.result()) == {"result": "did well"}
    assert world.system.notifications.all() == []


def began(world: World) -> int:
    """Return how many activities were started so far."""
    return len(world.system.log.of_kind("activity-started"))


@pytest.mark.parametrize(("button", "answers"), [
    ("Deny", ["failure", "failure"]), ("Once", ["success", "failure"]), ("Always", ["success", "success"]),
])  # fmt: skip
def test_the_answer_of_the_user_counts(world: World, button: str, answers: list[str]) -> None:
    question = ask(world)
    answer(world, button)
    first = question.result()
    wait_until(lambda: not is_asking(world))
    world.host("ask", on=False)
    second = world.ask("desk", {"how": "well"})
    assert [first["status"], second["status"]] == answers
    if button == "Deny":
        assert token_of(first) == "denied"
    else:
        assert outputs_of(first) == {"result": "did well"}


@ON_THE_JVM
def test_the_whole_certificates_are_shown_on_a_tap(world: World) -> None:
    question = ask(world)
    agent, tool = package_of(world.system, AGENT).signers[0], package_of(world.system, TOOL).signers[0]
    assert not is_shown(world, agent)
    world.tap_text("Details")
    wait_until(lambda: any(text == f"{AGENT}\n{agent}\n{TOOL}\n{tool}" for text in world.texts()))
    answer(world, "Deny")
    assert token_of(question.result()) == "denied"


@ON_THE_JVM
def test_under_an_overlay_the_users_screen_changes_nothing(world: World) -> None:
    install_attacker(world)
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    world.grant(AGENT)
    world.run("am", "start", "-W", "-n", f"{SHIM}/dev.droidgate.shim.consent.ManageActivity")
    for covers_all in (True, False):
        world.system.window.show_overlay(ATTACKER, covers_all=covers_all)
        world.tap_text("Revoke")
        world.system.window.hide_overlays()
    assert world.host("status")["grants"]
    world.tap_text("Revoke")
    wait_until(lambda: not world.host("status")["grants"])


def test_an_answer_counts_only_after_anybody_can_have_read_the_question(shim_runtime: ShimRuntime) -> None:
    clock = _StoppedClock()
    world = show_windows(make_world(clock=clock, shim_runtime=shim_runtime))
    question = ask(world)
    for passed in (0.0, 0.4):
        clock.time += passed
        world.tap_text("Once")
        assert is_asking(world)
    # A busy JVM may have shown the window at the second answer only.
    clock.time += 0.6
    world.tap_text("Once")
    assert outputs_of(question.result()) == {"result": "did well"}


@ON_THE_JVM
def test_the_screen_shows_who_asks_for_what(world: World) -> None:
    question = ask(world)
    agent, tool = package_of(world.system, AGENT), package_of(world.system, TOOL)
    texts = world.texts()
    lines = [
        f"{agent.application.label} wants to use desk of {tool.application.label or TOOL}",
        *(AGENT, "Changes something", "Arguments, as the caller wrote them:", 'how\n"well"'),
        *("The app describes it as", "\u201cHelp desk\u201d", "\u201cTakes one wish.\u201d"),
        *("Details", "Deny", "Once", "Always"),
    ]
    assert [text for text in texts if text in lines] == lines
    answer(world, "Deny")
    question.result()


@ON_THE_JVM
@pytest.mark.parametrize(("effects", "text"), [
    ({"read_only": True}, "Only reads"),
    ({"read_only": False}, "Changes something"),
    ({"destructive": True}, "May delete or overwrite something"),
    ({"idempotent": True}, "May change something"),
], ids=str)  # fmt: skip
def test_the_screen_shows_what_the_capability_does(
    shim_runtime: ShimRuntime, effects: dict[str, bool], text: str
) -> None:
    world = show_windows(make_world(effects=effects, shim_runtime=shim_runtime))
    question = ask(world)
    assert text in world.texts()
    answer(world, "Deny")
    question.result()


@ON_THE_JVM
def test_of_a_start_it_shows_who_receives_the_answer(world: World) -> None:
    question = ask(world, carrier="start")
    agent = package_of(world.system, AGENT)
    texts = world.texts()
    place = next(index for index, text in enumerate(texts) if text.startswith(f"{UNKNOWN_APP} wants"))
    assert texts[place + 1 : place + 3] == [f"The answer goes to {agent.application.label}", AGENT]
    # What it changes, it changes for somebody who is not known.
    assert "Always" not in texts
    answer(world, "Once")
    assert outputs_of(question.result()) == {"result": "did well"}
    assert world.host("status")["grants"] == []


def test_what_only_reads_is_granted_to_the_receiver_of_a_starts_answer(world: World) -> None:
    question = ask(world, "radio", carrier="start")
    answer(world, "Always")
    assert outputs_of(question.result()) == {"result": "did well"}
    (grant,) = world.host("status")["grants"]
    assert (grant["caller"]["package"], grant["capability"]) == (AGENT, "radio")
    world.host("ask", on=False)
    assert outputs_of(world.ask("radio", {"how": "well"}, carrier="start")) == {"result": "did well"}
    assert token_of(world.ask("desk", {"how": "well"}, carrier="start")) == "denied"
    world.install(agent_apk(OTHER))
    world.system.uid_states.idle_whitelist.add(OTHER)
    assert token_of(world.ask("radio", {"how": "well"}, carrier="start", caller=OTHER)) == "denied"


@ON_THE_JVM
def test_under_an_overlay_only_a_no_counts(world: World) -> None:
    install_attacker(world)
    question = ask(world)
    assert COVERED not in world.texts()
    for covers_all in (True, False):
        world.system.window.show_overlay(ATTACKER, covers_all=covers_all)
        for button in ("Once", "Always"):
            answer(world, button)
            assert is_asking(world)
            assert COVERED in world.texts()
        world.system.window.hide_overlays()
    world.system.window.show_overlay(ATTACKER, covers_all=True)
    answer(world, "Deny")
    assert question.result()["message"] == "denied: the user refused this call"
    assert world.host("status")["grants"] == []


@ON_THE_JVM
def test_a_shim_that_may_hides_overlays(shim_runtime: ShimRuntime) -> None:
    permissions = ("android.permission.HIDE_OVERLAY_WINDOWS",)
    world = tool_world(shim={"permissions": permissions}, shim_runtime=shim_runtime)
    install_attacker(world)
    question = ask(show_windows(world))
    world.system.window.show_overlay(ATTACKER, covers_all=True)
    answer(world, "Once")
    assert outputs_of(question.result()) == {"result": "did well"}


@pytest.mark.parametrize(("case", "token"), [
    ("missing argument", "invalid_argument"),
    ("unknown argument", "invalid_argument"),
    ("app gone", "unavailable"),
    ("app of another signer", "unavailable"),
    ("changed descriptor", "needs_approval"),
    ("switched off", "denied"),
    ("unknown capability", "denied"),
])  # fmt: skip
def test_nobody_is_asked_about_a_call_that_would_fail(world: World, case: str, token: str) -> None:
    arguments, capability = {"how": "well"}, "desk"
    if case == "missing argument":
        arguments = {}
    elif case == "unknown argument":
        arguments["why"] = "because"
    elif case == "unknown capability":
        capability = "nothing"
    elif case == "switched off":
        world.switch_off("desk")
    elif case == "changed descriptor":
        world.install(tool_apk(descriptor='{"tools":[1]}', version=2))
    else:
        world.system.packages.uninstall(TOOL)
        if case == "app of another signer":
            world.install(tool_apk(signer="second"))
    windows = began(world)
    response = world.ask(capability, arguments)
    assert token_of(response) == token
    assert began(world) == windows
    if token == "denied":
        assert response["message"] == DENIED


def test_arguments_are_not_checked_for_a_question_where_asking_is_off(world: World) -> None:
    world.host("ask", on=False)
    assert world.ask("desk", {})["message"] == DENIED
    assert world.ask("nothing", {})["message"] == DENIED


def test_arguments_that_nobody_reads_are_not_asked_about(world: World) -> None:
    message = world.ask("desk", {"how": "a" * 4_001})["message"]
    assert message == "denied: the arguments are too long to be shown to the user for approval"


@pytest.mark.parametrize(("change", "token"), [("switched off", "disabled"), ("replaced", "unavailable")])
def test_what_changes_while_the_user_is_asked_counts(world: World, change: str, token: str) -> None:
    question = ask(world)
    if change == "switched off":
        world.switch_off("desk")
    else:
        world.system.packages.uninstall(TOOL)
        world.install(tool_apk(signer="second"))
    answer(world, "Once")
    assert token_of(question.result()) == token
    assert world.files_of(TOOL) == b""


@ON_THE_JVM
def test_characters_that_turn_text_around_are_shown_by_their_number(world: World) -> None:
    text = "pay\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}\N{NO-BREAK SPACE}\u2800 e\u00e9"
    question = ask(world, how=text)
    assert 'how\n"pay\\u{202e}\\u{200b}\\u{a0}\\u{2800} e\u00e9"' in world.texts()
    answer(world, "Deny")
    assert token_of(question.result()) == "denied"


def test_going_back_is_a_no(world: World) -> None:
    question = ask(world)
    world.run("input", "keyevent", "BACK")
    assert question.result()["message"].startswith("denied: the user closed the question")


@pytest.mark.parametrize(
    ("state", "value"), [("is_locked", True), ("is_keyguard_shown", True), ("is_interactive", False)]
)
def test_a_question_that_cannot_be_seen_waits_in_a_notification(
    world: World, state: str, *, value: bool
) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    setattr(world.system, state, value)
    windows = began(world)
    question = begin(world)
    wait_until(world.system.notifications.all)
    assert began(world) == windows
    setattr(world.system, state, not value)
    answer_notification(world, question)


def test_a_question_that_the_user_leaves_waits_in_a_notification(world: World) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    question = ask(world)
    world.run("input", "keyevent", "HOME")
    wait_until(world.system.notifications.all)
    assert world.host("status")["open"] == 1
    answer_notification(world, question)


def test_the_notification_of_a_process_that_died_goes_when_the_next_one_begins(world: World) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    world.system.is_interactive = False
    begin(world)
    wait_until(world.system.notifications.all)
    world.system.end_processes(SHIM, "test")
    assert world.system.notifications.all()
    assert world.host("status")["open"] == 0
    assert world.system.notifications.all() == []


def test_a_caller_that_was_refused_may_ask_again_after_a_minute(shim_runtime: ShimRuntime) -> None:
    clock = _StoppedClock()
    world = show_windows(make_world(clock=clock, shim_runtime=shim_runtime))
    question = ask(world)
    clock.time += 0.6
    world.tap_text("Deny")
    assert question.result()["message"] == "denied: the user refused this call"
    windows = began(world)
    for passed, left in ((0, 60), (59.5, 1)):
        clock.time += passed
        message = world.ask("desk", {"how": "well"})["message"]
        assert message == f"denied: the user refused a call of this app a moment ago; retry in {left} s"
    assert began(world) == windows
    clock.time += 1
    ask(world)


def test_a_refused_start_does_not_silence_the_app_that_receives_its_answer(world: World) -> None:
    question = ask(world, carrier="start")
    answer(world, "Deny")
    assert token_of(question.result()) == "denied"
    question = ask(world)
    answer(world, "Once")
    assert outputs_of(question.result())


def test_a_second_question_of_the_same_caller_is_not_asked(world: World) -> None:
    question = ask(world)
    message = world.ask("radio", {"how": "well"})["message"]
    assert message == f"denied: {ANOTHER_CALL}"
    answer(world, "Once")
    assert outputs_of(question.result())


@pytest.mark.slow
def test_four_questions_wait_and_the_fifth_caller_is_denied(shim_runtime: ShimRuntime) -> None:
    world = show_windows(tool_world(deadline_ms=60_000, shim_runtime=shim_runtime))
    callers = [f"com.example.caller{number}" for number in range(5)]
    for caller in callers:
        world.install(agent_apk(caller))
    waiting = []
    for number, caller in enumerate(callers[:4], 1):
        waiting.append(begin(world, caller=caller))
        wait_until(partial(is_open, world, number))
    message = world.ask("desk", {"how": "well"}, caller=callers[4])["message"]
    assert message == "denied: the user is being asked about too many calls; retry in 60 s"
    for caller in callers[:4]:
        wait_until(partial(is_shown, world, caller))
        answer(world, "Deny")
    assert [token_of(question.result()) for question in waiting] == ["denied"] * 4


def test_a_question_without_an_answer_ends_after_two_minutes_whatever_the_deadline_of_its_call() -> None:
    world = show_windows(make_world(clock=StillClock()))
    message = world.ask("desk", {"how": "well"})["message"]
    assert message.startswith("needs_user: nobody answered the question about this call")
    (call,) = world.history(1)
    assert (call["token"], call["ms"]) == ("needs_user", ASKING_MS)
    assert not is_asking(world)
    assert world.files_of(TOOL) == b""


def test_a_yes_that_comes_after_the_deadline_allows_nothing(shim_runtime: ShimRuntime) -> None:
    clock = _StoppedClock()
    world = show_windows(make_world(clock=clock, shim_runtime=shim_runtime))
    question = ask(world)
    # The device slept: nobody has ended the question yet, or its alarm does so before the tap.
    clock.time += ASKING_MS / 1000
    with contextlib.suppress(ValueError):
        world.tap_text("Always")
    assert question.result()["message"] == f"needs_user: {UNANSWERED.text}"
    assert world.host("status")["grants"] == []


@pytest.fixture
def hidden(shim_runtime: ShimRuntime) -> World:
    """A phone whose shim may open no window."""
    return make_world(shim_runtime=shim_runtime)


@pytest.mark.slow
def test_a_question_that_no_window_may_show_waits_in_a_notification(hidden: World) -> None:
    hidden.run("pm", "grant", SHIM, NOTIFICATIONS)
    question = begin(hidden)
    wait_until(hidden.system.notifications.all)
    answer_notification(hidden, question)


def test_a_notification_that_nobody_taps_goes_with_its_question() -> None:
    hidden = make_world(clock=StillClock())
    hidden.run("pm", "grant", SHIM, NOTIFICATIONS)
    message = hidden.ask("desk", {"how": "well"})["message"]
    assert message == f"needs_user: {UNANSWERED.text}"
    assert hidden.system.log.of_kind("notification")
    assert not hidden.system.notifications.all()
    assert hidden.files_of(TOOL) == b""


@pytest.mark.slow
def test_what_the_user_has_to_allow_is_named_where_nothing_can_be_shown(hidden: World) -> None:
    message = hidden.ask("desk", {"how": "well"})["message"]
    assert message.startswith("needs_user: ")
    assert "notifications" in message


def test_the_death_of_the_agent_takes_its_question_away(world: World) -> None:
    world.install(agent_apk(OTHER))
    ask(world, caller=OTHER)
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: not is_asking(world))
    assert world.host("status")["open"] == 0
    (call,) = world.history(1)
    assert (call["caller"], call["token"]) == (OTHER, "canceled")
    assert world.files_of(TOOL) == b""


def test_a_callers_death_is_a_no_for_its_own_question_only(world: World) -> None:
    world.install(agent_apk(OTHER))
    ask(world, caller=OTHER)
    waiting = begin(world)
    wait_until(lambda: world.host("status")["open"] == 2)
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: is_shown(world, AGENT))
    answer(world, "Once")
    assert outputs_of(waiting.result()) == {"result": "did well"}


@pytest.mark.parametrize(("sdk", "is_offered"), [("33", False), ("34", True)])
def test_always_is_offered_where_accessibility_services_cannot_press_it(
    sdk: str, *, is_offered: bool
) -> None:
    world = show_windows(make_world(sdk=sdk))
    question = ask(world)
    assert ("Always" in world.texts()) is is_offered
    answer(world, "Deny")
    question.result()
