"""Activities: starts, results and the rules for starts from the background, each rule with its pair."""

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
    raises_android,
    run,
    uid_of,
    wait,
)
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import ActivityResult, AndroidError
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.system import AndroidSystem

SAY = ComponentName(TOOL, f"{TOOL}.Say")
SCREEN = ComponentName(TOOL, f"{TOOL}.Screen")
ACTIVITIES = component("activity", "Say") + component("activity", "Screen")
NEW_TASK = 0x10000000


def ask(system: AndroidSystem, intent: Intent) -> ActivityResult | None:
    inbox: Inbox[ActivityResult] = Inbox(system)
    system.app_context(AGENT).start_activity(intent, inbox.put)
    return inbox.take()


def text_of(result: ActivityResult | None) -> tuple[int, str | None] | None:
    if result is None:
        return None
    return result.code, result.data.extras.get_string("text") if result.data is not None else None


def saying(text: str, *, flags: int = 0) -> Intent:
    return Intent(component=SAY, extras=Bundle.of_strings({"text": text}), flags=flags)


@pytest.mark.parametrize("sdk", ["26", "30", "34", "36.1", "37"], ids="API {}".format)
def test_an_activity_answers_the_one_that_started_it(sdk: str) -> None:
    with make_phone(sdk, make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        assert text_of(ask(system, saying("hello"))) == (-1, "hello")
        top = system.stack.top_record()
        assert top is not None
        assert top.match.package.name == AGENT


def test_an_activity_answers_what_the_user_does_on_the_screen() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        inbox: Inbox[ActivityResult] = Inbox(system)
        system.app_context(AGENT).start_activity(Intent(component=SCREEN), inbox.put)
        wait(system, 0.1)
        activity = system.stack.top()
        assert activity is not None
        assert activity.package == TOOL
        activity.activity.on_click("ok")
        assert text_of(inbox.take()) == (-1, "ok")


def test_going_back_and_a_crash_look_the_same_to_who_waits() -> None:
    for end in ("back", "crash", "fault"):
        with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
            open_agent(system)
            inbox: Inbox[ActivityResult] = Inbox(system)
            if end == "fault":
                system.faults = Faults(crashing=frozenset({TOOL}))
            intent = saying("crash") if end == "crash" else Intent(component=SCREEN)
            system.app_context(AGENT).start_activity(intent, inbox.put)
            wait(system, 0.1)
            if end == "back":
                system.stack.go_back()
            assert text_of(inbox.take()) == (0, None)
            assert bool(system.log.of_kind("app-crash")) == (end != "back")


def test_a_new_task_cancels_the_result_at_once() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        assert text_of(ask(system, saying("hello", flags=NEW_TASK))) == (0, None)
        assert [event["component"] for event in system.log.of_kind("activity-started")][-1] == f"{TOOL}/.Say"
    modes = {"singleInstancePerTask": (0, None), "singleTask": (-1, "hello"), "singleInstance": (-1, "hello")}
    for mode, expected in modes.items():
        with make_phone(
            "36.1", make_agent(), make_tool(component("activity", "Say", launchMode=mode))
        ) as system:
            open_agent(system)
            assert text_of(ask(system, saying("hello"))) == expected


def test_only_an_activity_starts_one_without_a_new_task() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).start_activity(saying("hello"))
        assert refused.value.message.startswith("Calling startActivity() from outside of an Activity context")
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
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        assert not blocked(system)


def test_an_app_may_open_an_activity_for_ten_seconds_after_its_own_but_not_after_home() -> None:
    for seconds, expected in ((4, True), (6, False), (9, False), (11, True)):
        with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
            open_agent(system)
            system.stack.go_home()
            wait(system, seconds)
            assert blocked(system) is expected
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        system.stack.go_back()
        assert not blocked(system)


def test_an_app_that_may_draw_over_others_opens_activities() -> None:
    overlay = '<uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>'
    with make_phone("36.1", make_agent(queries=overlay), make_tool(ACTIVITIES)) as system:
        assert blocked(system)
    with make_phone("36.1", make_agent(queries=overlay), make_tool(ACTIVITIES)) as system:
        run(system, "appops", "set", AGENT, "SYSTEM_ALERT_WINDOW", "allow")
        assert not blocked(system)
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        run(system, "appops", "set", AGENT, "SYSTEM_ALERT_WINDOW", "allow")
        assert blocked(system)


def test_a_visible_client_lends_its_right_through_a_binding_before_it_targets_android_14() -> None:
    keep = component("service", "Keep")
    for target, expected in ((33, False), (34, True)):
        seen = make_tool(
            ACTIVITIES, target=target, before=f'<queries><package android:name="{AGENT}"/></queries>'
        )
        with make_phone("36.1", make_agent(more=keep), seen) as system:
            run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
            bound = Intent(component=ComponentName(AGENT, f"{AGENT}.Keep"))
            assert system.app_context(TOOL).bind_service(bound, ignore) is not None
            assert blocked(system) is expected


def test_an_activity_that_is_not_exported_is_not_started_by_others() -> None:
    with make_phone(
        "36.1", make_agent(), make_tool(component("activity", "Say", exported="false"))
    ) as system:
        open_agent(system)
        not_exported = f"not exported from uid {uid_of(system, TOOL)}$"
        with pytest.raises(AndroidError, match=not_exported) as refused:
            system.app_context(AGENT).start_activity(Intent(component=SAY))
        assert refused.value.exception == "java.lang.SecurityException"
        ran = run(system, "am", "start", "-n", f"{TOOL}/.Say")
        assert ran.status == 255
        assert (
            "Permission Denial: starting Intent { flg=0x10000000 cmp=com.example.tool/.Say } from null"
            in ran.stderr
        )
        assert run(system, "am", "start", "-n", f"{TOOL}/.Say", uid=0).status == 0


def test_an_activity_with_a_permission_is_started_by_its_holders_only() -> None:
    for permission, expected in (("android.permission.DUMP", 0), ("com.example.P", 255)):
        tool = make_tool(component("activity", "Say", permission=permission))
        with make_phone("36.1", tool) as system:
            assert run(system, "am", "start", "-n", f"{TOOL}/.Say").status == expected


def test_implicit_intents_of_apps_for_android_14_reach_exported_activities_only() -> None:
    tool = make_tool(component("activity", "Say", exported="false"))
    for target, expected in (
        (33, "java.lang.SecurityException"),
        (34, "android.content.ActivityNotFoundException"),
    ):
        with make_phone("34", make_agent(target=target), tool) as system:
            open_agent(system)
            with raises_android(expected):
                system.app_context(AGENT).start_activity(Intent(ACTION))


def test_an_implicit_intent_needs_the_default_category() -> None:
    inside = f'<intent-filter><action android:name="{ACTION}"/></intent-filter>'
    with make_phone("36.1", make_tool(component("activity", "Say", inside=inside))) as system:
        ran = run(system, "am", "start", "-a", ACTION)
        intent = f"Intent {{ act={ACTION} flg=0x10000000 xflg=0x4 }}"
        assert (ran.status, ran.stderr) == (1, f"Error: Activity not started, unable to resolve {intent}\n")
    with make_phone("36.1", make_tool(component("activity", "Say"))) as system:
        assert run(system, "am", "start", "-a", ACTION).status == 0


# Android 17's bytecode: ParsingPackageUtils.parseQueries gives the intent the path `/*`, a type alone gets
# `content://*/*`; ComponentResolver.adjustPriority takes away the priority of an app's activities.
def test_queries_match_by_wildcards_and_an_app_does_not_put_its_activities_first() -> None:
    view = '<action android:name="android.intent.action.VIEW"/>'
    place = '<data android:scheme="https" android:host="h" android:port="8" android:pathPrefix="/p"/>'
    inside = f'<intent-filter android:priority="5">{view}{place}</intent-filter>'
    for data, is_seen in ((place, True), ('<data android:scheme="https" android:host="i"/>', False)):
        agent = make_agent(queries=f"<queries><intent>{view}{data}</intent></queries>")
        with make_phone("36.1", agent, make_tool(component("activity", "Say", inside=inside))) as system:
            package = system.packages.find(TOOL)
            assert package is not None
            assert system.resolver.can_see(uid_of(system, AGENT), package) == is_seen
            answer = run(system, "cmd", "package", "query-activities", "--brief", "-d", "https://h:8/p")
            assert "priority=0 preferredOrder=0 match=0x508000" in answer.stdout


# expo/expo#22286, flutter/flutter#110157: Android 13 refuses the shell's RUN to an activity with MAIN alone,
# and takes the class without an action. Data is compared without an action, too (`IntentFilter.match`).
@pytest.mark.parametrize(
    ("options", "sdk", "starts"),
    [
        (["-a", "android.intent.action.RUN"], "33", False),
        ([], "33", True),
        (["-d", "app://x"], "33", False),
        (["-a", "android.intent.action.RUN"], "34", True),
    ],
    ids=["another action", "no action", "a link", "Android 14"],
)
def test_the_shell_too_has_to_match_a_filter_on_android_13(
    options: list[str], sdk: str, *, starts: bool
) -> None:
    with make_phone(sdk, make_agent()) as system:
        ran = run(system, "am", "start", *options, "-n", f"{AGENT}/.Main")
        assert ("does not exist" not in ran.stdout + ran.stderr) is starts


def test_an_activity_that_is_not_there_is_named() -> None:
    with make_phone("36.1", make_agent()) as system:
        open_agent(system)
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).start_activity(Intent(component=SAY))
        assert refused.value.message == (
            f"Unable to find explicit activity class {{{TOOL}/{TOOL}.Say}}; have you declared this "
            "activity in your "
            "AndroidManifest.xml, or does your intent not match its declared <intent-filter>?"
        )
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).start_activity(Intent(ACTION))
        assert refused.value.message == f"No Activity found to handle Intent {{ act={ACTION} }}"


def test_a_task_that_is_there_already_is_brought_to_the_front() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        open_agent(system)
        ran = run(system, "am", "start", "-n", f"{TOOL}/.Screen")
        assert ran.stderr == "Warning: Activity not started, its current task has been brought to the front\n"
        assert [len(task.activities) for task in system.stack.tasks()] == [1, 1]
        # `Intent.filterEquals` compares the identifiers of intents, too.
        context = system.app_context(AGENT)
        context.start_activity(Intent(component=SCREEN, flags=NEW_TASK, identifier="another"))
        assert [len(task.activities) for task in system.stack.tasks()] == [1, 2]
        ran = run(system, "am", "start", "-W", "-S", "-n", f"{TOOL}/.Screen")
        assert ran.stdout.startswith(
            f"Stopping: {TOOL}\nStarting: Intent {{ cmp={TOOL}/.Screen }}\nStatus: ok\n"
        )


def test_the_wait_for_an_app_that_does_not_answer_ends() -> None:
    with make_phone("36.1", make_tool(ACTIVITIES), faults=Faults(silent=frozenset({TOOL}))) as system:
        ran = run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        assert "Status: timeout\n" in ran.stdout
        assert "TotalTime: 10000\n" in ran.stdout


def test_a_result_that_does_not_fit_the_binder_ends_the_app_that_sets_it() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        open_agent(system)
        assert text_of(ask(system, saying("x" * 519_000))) == (-1, "x" * 519_000)
        with raises_android("android.os.TransactionTooLargeException"):
            ask(system, saying("x" * 521_000))


def test_the_home_screen_starts_apps_and_the_display_shows_them() -> None:
    with make_phone("36.1", make_agent(), make_tool(ACTIVITIES)) as system:
        (entry,) = system.stack.launcher_entries()
        assert (entry.package, entry.label) == (AGENT, "Agent")
        entry.launch()
        activity = system.stack.top()
        assert activity is not None
        assert activity.package == AGENT
        assert (
            "mCurrentFocus=Window{0 u0 com.example.agent/com.example.agent.Main}"
            in run(system, "dumpsys", "window").stdout
        )
        assert (
            "topResumedActivity=ActivityRecord{0 u0 com.example.agent/.Main t1}"
            in run(system, "dumpsys", "activity", "activities").stdout
        )
        system.stack.go_home()
        assert system.stack.top() is None
