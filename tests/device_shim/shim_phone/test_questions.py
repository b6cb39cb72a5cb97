"""The question to the user about a call without a grant (shim.md 3)."""

import contextlib
import functools
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from device_shim.phone_system.phone_system_apps import make_apk, package_of
from device_shim.shim_phone.hand_made_shim import make_shim
from device_shim.shim_phone.tool_apps import TOOL, ToolApp, agent_apk, tool_apk, tool_routes, tool_world
from device_shim.shim_phone.world import AGENT, SHIM, World, key, outputs_of, token_of
from droidgate_phone.apps.agent import NoAnswerError
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


def make_world(
    *, effects: Mapping[str, Any] | None = None, deadline_ms: int = PATIENT_MS, **more: Any
) -> World:
    """Return a phone with a shim that asks the user; the effects are those of `desk`."""
    world = World(behaviours={TOOL: ToolApp}, **more)
    world.install(tool_apk())
    routes = tool_routes(deadline_ms=deadline_ms)
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


def show_windows(world: World) -> World:
    """Let the shim open windows of its own."""
    world.allow_screens()
    world.show_agent()
    return world


@pytest.fixture
def world(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone whose shim asks the user, and may show the question."""
    world = show_windows(make_world(shim_runtime=shim_runtime))
    yield world
    world.close()


@dataclass
class Asked:
    """A call that is made on a thread of its own."""

    world: World
    capability: str
    more: dict[str, Any]
    answers: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(NoAnswerError):
            self.answers.append(self.world.ask(self.capability, {"how": "well"}, **self.more))

    def answer(self) -> dict[str, Any]:
        """Wait for the response."""
        self._thread.join(60)
        assert self.answers, "the call was not answered"
        return self.answers[0]


def ask(world: World, capability: str = "desk", **more: Any) -> Asked:
    """Begin a call, and wait until its question is shown."""
    question = Asked(world, capability, more)
    wait_until(lambda: is_asking(world))
    return question


def is_asking(world: World) -> bool:
    return "Deny" in world.texts()


def answer(world: World, button: str) -> None:
    """Tap a button of the question when answers count: half a second after it is there."""
    wait_until(lambda: is_asking(world))
    begun = world.system.clock.now()
    wait_until(lambda: world.system.clock.now() - begun > 0.6)
    world.tap_text(button)


def began(world: World) -> int:
    """Return how many activities were started so far."""
    return len(world.system.log.of_kind("activity-started"))


@pytest.mark.parametrize(
    ("button", "first", "second"), [("Deny", "denied", None), ("Once", "", None), ("Always", "", "")]
)
def test_the_answer_of_the_user_counts(world: World, button: str, first: str, second: str | None) -> None:
    question = ask(world)
    answer(world, button)
    response = question.answer()
    assert (token_of(response) if first else outputs_of(response)) == (first or {"result": "did well"})
    wait_until(lambda: not is_asking(world))
    world.host("ask", on=False)
    response = world.ask("desk", {"how": "well"})
    assert response["status"] == ("success" if second == "" else "failure")


def test_the_whole_certificates_are_shown_on_a_tap(world: World) -> None:
    question = ask(world)
    agent, tool = package_of(world.system, AGENT).signers[0], package_of(world.system, TOOL).signers[0]
    assert not any(agent in text for text in world.texts())
    world.tap_text("Details")
    wait_until(lambda: any(text == f"{AGENT}\n{agent}\n{TOOL}\n{tool}" for text in world.texts()))
    answer(world, "Deny")
    assert token_of(question.answer()) == "denied"


def test_under_an_overlay_the_users_screen_changes_nothing(world: World) -> None:
    world.install(make_apk(ATTACKER, before=OVERLAY))
    world.run("appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "allow")
    world.run("pm", "grant", SHIM, "android.permission.POST_NOTIFICATIONS")
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
    assert outputs_of(question.answer()) == {"result": "did well"}
    world.close()


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
    question.answer()


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
    question.answer()
    world.close()


def test_of_a_start_it_shows_who_receives_the_answer(world: World) -> None:
    question = ask(world, carrier="start")
    agent = package_of(world.system, AGENT)
    texts = world.texts()
    place = next(index for index, text in enumerate(texts) if text.startswith(f"{UNKNOWN_APP} wants"))
    assert texts[place + 1 : place + 3] == [f"The answer goes to {agent.application.label}", AGENT]
    # What it changes, it changes for somebody who is not known.
    assert "Always" not in texts
    answer(world, "Once")
    assert outputs_of(question.answer()) == {"result": "did well"}
    assert world.host("status")["grants"] == []


def test_what_only_reads_is_granted_to_the_receiver_of_a_starts_answer(world: World) -> None:
    question = ask(world, "radio", carrier="start")
    answer(world, "Always")
    assert outputs_of(question.answer()) == {"result": "did well"}
    (grant,) = world.host("status")["grants"]
    assert (grant["caller"]["package"], grant["capability"]) == (AGENT, "radio")
    world.host("ask", on=False)
    assert outputs_of(world.ask("radio", {"how": "well"}, carrier="start")) == {"result": "did well"}
    assert token_of(world.ask("desk", {"how": "well"}, carrier="start")) == "denied"
    world.install(agent_apk(OTHER))
    world.system.uid_states.idle_whitelist.add(OTHER)
    assert token_of(world.ask("radio", {"how": "well"}, carrier="start", caller=OTHER)) == "denied"


@pytest.mark.slow
def test_under_an_overlay_only_a_no_counts(world: World) -> None:
    world.install(make_apk(ATTACKER, before=OVERLAY))
    world.run("appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "allow")
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
    assert question.answer()["message"] == "denied: the user refused this call"
    assert world.host("status")["grants"] == []


def test_a_shim_that_may_hides_overlays(shim_runtime: ShimRuntime) -> None:
    permissions = ("android.permission.HIDE_OVERLAY_WINDOWS",)
    world = tool_world(shim={"permissions": permissions}, shim_runtime=shim_runtime)
    world.install(make_apk(ATTACKER, before=OVERLAY))
    world.run("appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "allow")
    question = ask(show_windows(world))
    world.system.window.show_overlay(ATTACKER, covers_all=True)
    answer(world, "Once")
    assert outputs_of(question.answer()) == {"result": "did well"}
    world.close()


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


@pytest.mark.parametrize("change", ["switched off", "replaced"])
def test_what_changes_while_the_user_is_asked_counts(world: World, change: str) -> None:
    question = ask(world)
    if change == "switched off":
        world.switch_off("desk")
    else:
        world.system.packages.uninstall(TOOL)
        world.install(tool_apk(signer="second"))
    answer(world, "Once")
    assert token_of(question.answer()) == ("disabled" if change == "switched off" else "unavailable")
    assert world.files_of(TOOL) == b""


def test_characters_that_turn_text_around_are_shown_by_their_number(world: World) -> None:
    text = "pay\N{RIGHT-TO-LEFT OVERRIDE}\N{ZERO WIDTH SPACE}\N{NO-BREAK SPACE}\u2800 e\u00e9"
    thread = threading.Thread(target=lambda: world.ask("desk", {"how": text}), daemon=True)
    thread.start()
    wait_until(lambda: is_asking(world))
    assert 'how\n"pay\\u{202e}\\u{200b}\\u{a0}\\u{2800} e\u00e9"' in world.texts()
    answer(world, "Deny")
    thread.join(60)


def test_going_back_is_a_no(world: World) -> None:
    question = ask(world)
    world.run("input", "keyevent", "BACK")
    assert question.answer()["message"].startswith("denied: the user closed the question")


@pytest.mark.parametrize(
    ("state", "value"), [("is_locked", True), ("is_keyguard_shown", True), ("is_interactive", False)]
)
def test_a_question_that_cannot_be_seen_waits_in_a_notification(
    world: World, state: str, *, value: bool
) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    setattr(world.system, state, value)
    windows = began(world)
    question = Asked(world, "desk", {})
    wait_until(world.system.notifications.all)
    assert began(world) == windows
    setattr(world.system, state, not value)
    world.system.notifications.tap(world.system.notifications.all()[0])
    answer(world, "Once")
    assert outputs_of(question.answer()) == {"result": "did well"}


def test_a_question_that_the_user_leaves_waits_in_a_notification(world: World) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    question = ask(world)
    world.run("input", "keyevent", "HOME")
    wait_until(world.system.notifications.all)
    assert world.host("status")["open"] == 1
    world.system.notifications.tap(world.system.notifications.all()[0])
    answer(world, "Once")
    assert outputs_of(question.answer()) == {"result": "did well"}
    assert world.system.notifications.all() == []


def test_the_notification_of_a_process_that_died_goes_when_the_next_one_begins(world: World) -> None:
    world.run("pm", "grant", SHIM, NOTIFICATIONS)
    world.system.is_interactive = False
    Asked(world, "desk", {})
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
    assert question.answer()["message"] == "denied: the user refused this call"
    windows = began(world)
    message = world.ask("desk", {"how": "well"})["message"]
    assert message == "denied: the user refused a call of this app a moment ago; retry in 60 s"
    clock.time += 59.5
    message = world.ask("desk", {"how": "well"})["message"]
    assert message == "denied: the user refused a call of this app a moment ago; retry in 1 s"
    assert began(world) == windows
    clock.time += 1
    question = ask(world)
    world.close()


def test_a_refused_start_does_not_silence_the_app_that_receives_its_answer(world: World) -> None:
    question = ask(world, carrier="start")
    answer(world, "Deny")
    assert token_of(question.answer()) == "denied"
    question = ask(world)
    answer(world, "Once")
    assert outputs_of(question.answer())


def test_a_second_question_of_the_same_caller_is_not_asked(world: World) -> None:
    question = ask(world)
    message = world.ask("radio", {"how": "well"})["message"]
    assert message == f"denied: {ANOTHER_CALL}"
    answer(world, "Once")
    assert outputs_of(question.answer())


@pytest.mark.slow
def test_four_questions_wait_and_the_fifth_caller_is_denied(shim_runtime: ShimRuntime) -> None:
    world = show_windows(tool_world(deadline_ms=60_000, shim_runtime=shim_runtime))
    callers = [f"com.example.caller{number}" for number in range(5)]
    for caller in callers:
        world.install(agent_apk(caller))
    waiting = []
    for number, caller in enumerate(callers[:4], 1):
        waiting.append(Asked(world, "desk", {"caller": caller}))
        wait_until(functools.partial(_is_open, world, number))
    message = world.ask("desk", {"how": "well"}, caller=callers[4])["message"]
    assert message == "denied: the user is being asked about too many calls; retry in 60 s"
    for caller in callers[:4]:
        wait_until(functools.partial(_is_shown, world, caller))
        answer(world, "Deny")
    assert [token_of(question.answer()) for question in waiting] == ["denied"] * 4
    world.close()


def _is_open(world: World, count: int) -> bool:
    return bool(world.host("status")["open"] == count)


def _is_shown(world: World, caller: str) -> bool:
    return any(caller in text for text in world.texts())


def test_a_question_without_an_answer_ends_after_two_minutes_whatever_the_deadline_of_its_call() -> None:
    world = show_windows(make_world(clock=StillClock()))
    message = world.ask("desk", {"how": "well"})["message"]
    assert message.startswith("needs_user: nobody answered the question about this call")
    (call,) = world.history(1)
    assert (call["token"], call["ms"]) == ("needs_user", ASKING_MS)
    assert not is_asking(world)
    assert world.files_of(TOOL) == b""
    world.close()


def test_a_yes_that_comes_after_the_deadline_allows_nothing(shim_runtime: ShimRuntime) -> None:
    clock = _StoppedClock()
    world = show_windows(make_world(clock=clock, shim_runtime=shim_runtime))
    question = ask(world)
    # The device slept: nobody has ended the question yet, or its alarm does so before the tap.
    clock.time += ASKING_MS / 1000
    with contextlib.suppress(ValueError):
        world.tap_text("Always")
    assert question.answer()["message"] == f"needs_user: {UNANSWERED.text}"
    assert world.host("status")["grants"] == []
    world.close()


@pytest.fixture
def hidden(shim_runtime: ShimRuntime) -> Iterator[World]:
    """A phone whose shim may open no window."""
    world = make_world(shim_runtime=shim_runtime)
    yield world
    world.close()


@pytest.mark.slow
def test_a_question_that_no_window_may_show_waits_in_a_notification(hidden: World) -> None:
    hidden.run("pm", "grant", SHIM, NOTIFICATIONS)
    question = Asked(hidden, "desk", {})
    wait_until(hidden.system.notifications.all)
    (posted,) = hidden.system.notifications.all()
    assert posted.package == SHIM
    hidden.system.notifications.tap(posted)
    answer(hidden, "Once")
    assert outputs_of(question.answer()) == {"result": "did well"}
    assert hidden.system.notifications.all() == []


def test_a_notification_that_nobody_taps_goes_with_its_question() -> None:
    hidden = make_world(clock=StillClock())
    hidden.run("pm", "grant", SHIM, NOTIFICATIONS)
    message = hidden.ask("desk", {"how": "well"})["message"]
    assert message == f"needs_user: {UNANSWERED.text}"
    assert hidden.system.log.of_kind("notification")
    assert not hidden.system.notifications.all()
    assert hidden.files_of(TOOL) == b""
    hidden.close()


@pytest.mark.slow
def test_what_the_user_has_to_allow_is_named_where_nothing_can_be_shown(hidden: World) -> None:
    message = hidden.ask("desk", {"how": "well"})["message"]
    assert message.startswith("needs_user: ")
    assert "notifications" in message


def test_the_death_of_the_agent_takes_its_question_away(world: World) -> None:
    world.install(agent_apk(OTHER))
    Asked(world, "desk", {"caller": OTHER})
    wait_until(lambda: is_asking(world))
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: not is_asking(world))
    assert world.host("status")["open"] == 0
    (call,) = world.history(1)
    assert (call["caller"], call["token"]) == (OTHER, "canceled")
    assert world.files_of(TOOL) == b""


def test_a_callers_death_is_a_no_for_its_own_question_only(world: World) -> None:
    world.install(agent_apk(OTHER))
    Asked(world, "desk", {"caller": OTHER})
    wait_until(lambda: is_asking(world))
    waiting = Asked(world, "desk", {})
    wait_until(lambda: world.host("status")["open"] == 2)
    world.system.end_processes(OTHER, "test")
    wait_until(lambda: _is_shown(world, AGENT))
    answer(world, "Once")
    assert outputs_of(waiting.answer()) == {"result": "did well"}


@pytest.mark.parametrize(("sdk", "is_offered"), [("33", False), ("34", True)])
def test_always_is_offered_where_accessibility_services_cannot_press_it(
    sdk: str, *, is_offered: bool
) -> None:
    world = show_windows(make_world(sdk=sdk))
    question = ask(world)
    assert ("Always" in world.texts()) is is_offered
    answer(world, "Deny")
    question.answer()
    world.close()
