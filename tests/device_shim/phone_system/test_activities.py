"""Activities: starts, results and the rules for starts from the background, each rule with its pair."""

from collections.abc import Iterator

import pytest

from device_shim.phone_system.phone_system_apps import (
    ACTION,
    AGENT,
    TOOL,
    Inbox,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    open_agent,
    package_of,
    raises_android,
    run,
    text_bundle,
    uid_of,
    wait,
)
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import ActivityResult, AndroidError
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem

SAY = ComponentName(TOOL, f"{TOOL}.Say")
SCREEN = ComponentName(TOOL, f"{TOOL}.Screen")
ACTIVITIES = component("activity", "Say") + component("activity", "Screen")
NEW_TASK = 0x10000000


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    """A phone with a tool, on whose screen the agent is."""
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as phone:
        open_agent(phone)
        yield phone


def start(system: AndroidSystem, intent: Intent) -> Inbox[ActivityResult]:
    inbox: Inbox[ActivityResult] = Inbox(system)
    system.app_context(AGENT).start_activity(intent, inbox.put)
    return inbox


def text_of(inbox: Inbox[ActivityResult]) -> tuple[int, str | None] | None:
    result = inbox.take()
    if result is None:
        return None
    return result.code, result.data.extras.get_string("text") if result.data is not None else None


def saying(text: str, *, flags: int = 0) -> Intent:
    return Intent(component=SAY, extras=text_bundle(text), flags=flags)


@pytest.mark.parametrize("sdk", ["26", "30", "34", "36.1", "37"], ids="API {}".format)
def test_an_activity_answers_the_one_that_started_it(sdk: str) -> None:
    with make_phone(sdk, make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        assert text_of(start(system, saying("hello"))) == (-1, "hello")
        top = system.stack.top_record()
        assert top is not None
        assert top.match.package.name == AGENT


def test_an_activity_answers_what_the_user_does_on_the_screen(system: AndroidSystem) -> None:
    inbox = start(system, Intent(component=SCREEN))
    wait(system, 0.1)
    activity = system.stack.top()
    assert activity is not None
    assert activity.package == TOOL
    activity.activity.on_click("ok")
    assert text_of(inbox) == (-1, "ok")


@pytest.mark.parametrize("end", ["back", "crash", "fault"])
def test_going_back_and_a_crash_look_the_same_to_who_waits(system: AndroidSystem, end: str) -> None:
    if end == "fault":
        system.faults = Faults(crashing=frozenset({TOOL}))
    inbox = start(system, saying("crash") if end == "crash" else Intent(component=SCREEN))
    wait(system, 0.1)
    if end == "back":
        system.stack.go_back()
    assert text_of(inbox) == (0, None)
    assert bool(system.log.of_kind("app-crash")) == (end != "back")


def test_a_new_task_cancels_the_result_at_once(system: AndroidSystem) -> None:
    assert text_of(start(system, saying("hello", flags=NEW_TASK))) == (0, None)
    assert [event["component"] for event in system.log.of_kind("activity-started")][-1] == f"{TOOL}/.Say"


@pytest.mark.parametrize(("mode", "answer"), [
    ("singleInstancePerTask", (0, None)), ("singleTask", (-1, "hello")), ("singleInstance", (-1, "hello")),
], ids=str)  # fmt: skip
def test_one_launch_mode_is_a_new_task(mode: str, answer: tuple[int, str | None]) -> None:
    with make_phone("36.1", make_agent(), make_tool(component("activity", "Say", launchMode=mode))) as system:
        open_agent(system)
        assert text_of(start(system, saying("hello"))) == answer


def test_only_an_activity_starts_one_without_a_new_task(system: AndroidSystem) -> None:
    system.stack.go_back()
    with pytest.raises(AndroidError, match=r"Calling startActivity\(\) from outside of an Activity context"):
        system.app_context(AGENT).start_activity(saying("hello"))
    open_agent(system)
    system.app_context(AGENT).start_activity(saying("hello"))


def blocked(system: AndroidSystem) -> bool:
    context = system.app_context(AGENT)
    context.start_activity(saying("hello", flags=NEW_TASK))
    return bool(system.log.of_kind("background-activity-blocked"))


def test_an_app_in_the_background_opens_no_activity_from_android_10_on() -> None:
    with make_phone("30", make_agent(), make_tool(ACTIVITIES)) as system:
        assert blocked(system)
        (event,) = system.log.of_kind("background-activity-blocked")
        assert event["text"] == "Background activity launch blocked! goo.gle/android-bal"
        assert not system.log.of_kind("activity-started")
    with make_phone("26", make_agent(), make_tool(ACTIVITIES)) as system:
        assert not blocked(system)


@pytest.mark.parametrize(("seconds", "is_blocked"), [(4, True), (6, False), (9, False), (11, True)])
def test_after_home_an_app_opens_activities_from_the_fifth_to_the_tenth_second_of_its_own(
    system: AndroidSystem, seconds: int, *, is_blocked: bool
) -> None:
    system.stack.go_home()
    wait(system, seconds)
    assert blocked(system) is is_blocked


@pytest.mark.parametrize("goes_back", [False, True], ids=["in front", "after going back"])
def test_an_app_opens_an_activity_from_its_own(system: AndroidSystem, *, goes_back: bool) -> None:
    if goes_back:
        system.stack.go_back()
    assert not blocked(system)


@pytest.mark.parametrize(("declares", "mode", "is_blocked"), [
    (True, "default", True), (True, "allow", False), (False, "allow", True),
])  # fmt: skip
def test_an_app_that_may_draw_over_others_opens_activities(
    mode: str, *, declares: bool, is_blocked: bool
) -> None:
    overlay = '<uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>'
    with make_phone("36.1", make_agent(queries=overlay * declares), make_tool(ACTIVITIES)) as system:
        run(system, "appops", "set", AGENT, "SYSTEM_ALERT_WINDOW", mode)
        assert blocked(system) is is_blocked


@pytest.mark.parametrize(("target", "is_blocked"), [(33, False), (34, True)])
def test_a_visible_client_lends_its_right_through_a_binding_before_it_targets_android_14(
    target: int, *, is_blocked: bool
) -> None:
    queries = f'<queries><package android:name="{AGENT}"/></queries>'
    seen = make_tool(ACTIVITIES, target=target, before=queries)
    with make_phone("36.1", make_agent(more=component("service", "Keep")), seen) as system:
        run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        bound = Intent(component=ComponentName(AGENT, f"{AGENT}.Keep"))
        assert system.app_context(TOOL).bind_service(bound, ignore) is not None
        assert blocked(system) is is_blocked


def test_an_activity_that_is_not_exported_is_not_started_by_others() -> None:
    tool = make_tool(component("activity", "Say", exported="false"))
    with make_phone("36.1", make_agent(), tool) as system:
        open_agent(system)
        not_exported = f"not exported from uid {uid_of(system, TOOL)}$"
        with pytest.raises(AndroidError, match=f"java.lang.SecurityException: .*{not_exported}"):
            system.app_context(AGENT).start_activity(Intent(component=SAY))
        ran = run(system, "am", "start", "-n", f"{TOOL}/.Say")
        denial = f"Permission Denial: starting Intent {{ flg=0x10000000 cmp={TOOL}/.Say }} from null"
        assert (ran.status, denial in ran.stderr) == (255, True)
        assert run(system, "am", "start", "-n", f"{TOOL}/.Say", uid=0).status == 0


@pytest.mark.parametrize(("permission", "status"), [("android.permission.DUMP", 0), ("com.example.P", 255)])
def test_an_activity_with_a_permission_is_started_by_its_holders_only(permission: str, status: int) -> None:
    with make_phone("36.1", make_tool(component("activity", "Say", permission=permission))) as system:
        assert run(system, "am", "start", "-n", f"{TOOL}/.Say").status == status


@pytest.mark.parametrize(("target", "exception"), [
    (33, "java.lang.SecurityException"), (34, "android.content.ActivityNotFoundException"),
])  # fmt: skip
def test_implicit_intents_of_apps_for_android_14_reach_exported_activities_only(
    target: int, exception: str
) -> None:
    tool = make_tool(component("activity", "Say", exported="false"))
    with make_phone("34", make_agent(target=target), tool) as system:
        open_agent(system)
        with raises_android(exception):
            system.app_context(AGENT).start_activity(Intent(ACTION))


# Android 17's bytecode: ParsingPackageUtils.parseQueries gives the intent the path `/*`, a type alone gets
# `content://*/*`; ComponentResolver.adjustPriority takes away the priority of an app's activities.
@pytest.mark.parametrize(("host", "is_seen"), [("h", True), ("i", False)])
def test_queries_match_by_wildcards_and_an_app_does_not_put_its_activities_first(
    host: str, *, is_seen: bool
) -> None:
    view = '<action android:name="android.intent.action.VIEW"/>'
    place = '<data android:scheme="https" android:host="h" android:port="8" android:pathPrefix="/p"/>'
    inside = f'<intent-filter android:priority="5">{view}{place}</intent-filter>'
    data = place.replace('host="h"', f'host="{host}"')
    agent = make_agent(queries=f"<queries><intent>{view}{data}</intent></queries>")
    with make_phone("36.1", agent, make_tool(component("activity", "Say", inside=inside))) as system:
        assert system.resolver.can_see(uid_of(system, AGENT), package_of(system, TOOL)) == is_seen
        answer = run(system, "cmd", "package", "query-activities", "--brief", "-d", "https://h:8/p")
        assert "priority=0 preferredOrder=0 match=0x508000" in answer.stdout


# expo/expo#22286, flutter/flutter#110157: Android 13 refuses the shell's RUN to an activity with MAIN alone,
# and takes the class without an action. Data is compared without an action, too (`IntentFilter.match`).
@pytest.mark.parametrize(("options", "sdk", "starts"), [
    pytest.param(["-a", "android.intent.action.RUN"], "33", False, id="another action"),
    pytest.param([], "33", True, id="no action"),
    pytest.param(["-d", "app://x"], "33", False, id="a link"),
    pytest.param(["-a", "android.intent.action.RUN"], "34", True, id="Android 14"),
])  # fmt: skip
def test_the_shell_too_has_to_match_a_filter_on_android_13(
    options: list[str], sdk: str, *, starts: bool
) -> None:
    with make_phone(sdk, make_agent()) as system:
        ran = run(system, "am", "start", *options, "-n", f"{AGENT}/.Main")
        assert ("does not exist" not in ran.stdout + ran.stderr) is starts


NOT_DECLARED = (
    f"Unable to find explicit activity class {{{TOOL}/{TOOL}.Say}}; have you declared this activity in your "
    "AndroidManifest.xml, or does your intent not match its declared <intent-filter>?"
)


@pytest.mark.parametrize(("intent", "message"), [
    (Intent(component=SAY), NOT_DECLARED),
    (Intent(ACTION), f"No Activity found to handle Intent {{ act={ACTION} }}"),
], ids=["by name", "by action"])  # fmt: skip
def test_an_activity_that_is_not_there_is_named(intent: Intent, message: str) -> None:
    with make_phone("36.1", make_agent()) as system:
        open_agent(system)
        with raises_android("android.content.ActivityNotFoundException", message):
            system.app_context(AGENT).start_activity(intent)


def test_a_task_that_is_there_already_is_brought_to_the_front(system: AndroidSystem) -> None:
    screen = ("-n", f"{TOOL}/.Screen")
    run(system, "am", "start", "-W", *screen)
    open_agent(system)
    ran = run(system, "am", "start", *screen)
    assert ran.stderr == "Warning: Activity not started, its current task has been brought to the front\n"
    assert [len(task.activities) for task in system.stack.tasks()] == [1, 1]
    # `Intent.filterEquals` compares the identifiers of intents, too.
    start(system, Intent(component=SCREEN, flags=NEW_TASK, identifier="another"))
    assert [len(task.activities) for task in system.stack.tasks()] == [1, 2]
    ran = run(system, "am", "start", "-W", "-S", *screen)
    assert ran.stdout.startswith(f"Stopping: {TOOL}\nStarting: Intent {{ cmp={TOOL}/.Screen }}\nStatus: ok\n")


def test_the_wait_for_an_app_that_does_not_answer_ends() -> None:
    with make_phone("36.1", make_tool(ACTIVITIES), faults=Faults(silent=frozenset({TOOL}))) as system:
        ran = run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        assert "Status: timeout\n" in ran.stdout
        assert "TotalTime: 10000\n" in ran.stdout


def test_a_result_that_does_not_fit_the_binder_ends_the_app_that_sets_it(system: AndroidSystem) -> None:
    assert text_of(start(system, saying("x" * 519_000))) == (-1, "x" * 519_000)
    with raises_android("android.os.TransactionTooLargeException"):
        start(system, saying("x" * 521_000)).take()


def test_the_home_screen_starts_apps_and_the_display_shows_them(system: AndroidSystem) -> None:
    system.stack.go_home()
    assert system.stack.top() is None
    (entry,) = system.stack.launcher_entries()
    assert (entry.package, entry.label) == (AGENT, "Agent")
    entry.launch()
    activity = system.stack.top()
    assert activity is not None
    assert activity.package == AGENT
    focus, resumed = f"mCurrentFocus=Window{{0 u0 {AGENT}/{AGENT}.Main}}", f"{{0 u0 {AGENT}/.Main t1}}"
    assert focus in run(system, "dumpsys", "window").stdout
    activities = run(system, "dumpsys", "activity", "activities").stdout
    assert f"topResumedActivity=ActivityRecord{resumed}" in activities
