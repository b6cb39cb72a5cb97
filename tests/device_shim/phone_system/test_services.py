"""Services: each rule is shown by a call that works and one that fails when only the rule is turned."""

import pytest

from device_shim.phone_system.phone_system_apps import (
    ACTION,
    AGENT,
    BEHAVIOURS,
    TOOL,
    Inbox,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    open_agent,
    run,
    uid_of,
)
from droidgate_phone.common.faults import Faults
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system import AndroidSystem, messengers

ECHO = ComponentName(TOOL, f"{TOOL}.Echo")
SERVICE = component("service", "Echo")
STARTED = f"Starting service: Intent {{ cmp={TOOL}/.Echo }}\n"
FOREGROUND = (
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>'
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE_DATA_SYNC"/>'
)
TYPED = component("service", "Echo", foregroundServiceType="dataSync")


def saying(text: str) -> Bundle:
    return Bundle.of_strings({"text": text})


def start(system: AndroidSystem, verb: str = "startservice", *more: str) -> tuple[int, str, str]:
    ran = run(system, "am", verb, "-n", f"{TOOL}/.Echo", "--es", "text", "hello", *more)
    return ran.status, ran.stdout.replace(" (has extras)", ""), ran.stderr


def wait_idle(system: AndroidSystem) -> None:
    system.clock.wait(system.clock.signal(), 0.5)


def file_of(system: AndroidSystem, package: str = TOOL) -> bytes | None:
    wait_idle(system)
    path = f"/data/data/{package}/files/started"
    return system.files.read(path) if system.files.exists(path) else None


@pytest.mark.parametrize("sdk", ["26", "30", "33", "34", "36", "36.1", "37"])
def test_the_shell_starts_a_foreground_service_that_does_its_work(sdk: str) -> None:
    with make_phone(sdk, make_tool(TYPED, before=FOREGROUND)) as system:
        assert start(system, "start-foreground-service") == (0, STARTED, "")
        assert file_of(system) == b"hello"


@pytest.mark.parametrize("sdk", ["26", "37"])
def test_a_service_of_an_app_in_the_background_is_not_started(sdk: str) -> None:
    with make_phone(sdk, make_tool(SERVICE)) as system:
        assert start(system) == (255, STARTED, "Error: app is in background uid null\n")
        assert file_of(system) is None


def test_a_service_of_an_app_for_android_7_is_started_from_the_background() -> None:
    with make_phone("37", make_tool(SERVICE, target=25, minimum=24)) as system:
        assert start(system) == (0, STARTED, "")
        assert file_of(system) == b"hello"


def test_a_service_of_an_app_that_is_exempt_from_battery_optimisation_is_started() -> None:
    with make_phone("36.1", make_tool(SERVICE)) as system:
        assert run(system, "dumpsys", "deviceidle", "whitelist", f"+{TOOL}").stdout == f"Added: {TOOL}\n"
        assert start(system)[0] == 0
        assert run(system, "cmd", "deviceidle", "whitelist", f"-{TOOL}").stdout == f"Removed: {TOOL}\n"
        run(system, "am", "force-stop", TOOL)
        assert start(system)[2] == "Error: app is in background uid null\n"


def test_a_service_of_an_app_that_the_user_sees_is_started_until_it_is_idle() -> None:
    tool = make_tool(SERVICE + component("activity", "Screen"))
    with make_phone("36.1", tool) as system:
        run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        assert start(system)[0] == 0
        run(system, "am", "stopservice", "-n", f"{TOOL}/.Echo")
        system.stack.go_home()
        assert start(system)[0] == 0
        run(system, "am", "stopservice", "-n", f"{TOOL}/.Echo")
        system.clock.wait(system.clock.signal(), 61)
        status, _, error = start(system)
        assert (status, error[:50]) == (255, "Error: app is in background uid UidRecord{0 u0a0 S")


def test_a_service_that_is_not_exported_is_not_started_by_others() -> None:
    with make_phone("36.1", make_tool(component("service", "Echo", exported="false"))) as system:
        text = f"Error: Requires permission not exported from uid {system.packages.all()[0].uid}\n"
        assert start(system, "start-foreground-service") == (255, STARTED, text)
        assert run(system, "am", "start-foreground-service", "-n", f"{TOOL}/.Echo", uid=0).status == 0


def test_a_service_with_a_permission_is_not_started_without_it() -> None:
    guarded = component("service", "Echo", permission="com.example.P", foregroundServiceType="dataSync")
    with make_phone("36.1", make_tool(guarded, before=FOREGROUND)) as system:
        text = "Error: Requires permission com.example.P\n"
        assert start(system, "start-foreground-service") == (255, STARTED, text)
    protected = component(
        "service", "Echo", permission="android.permission.DUMP", foregroundServiceType="dataSync"
    )
    with make_phone("36.1", make_tool(protected, before=FOREGROUND)) as system:
        assert start(system, "start-foreground-service") == (0, STARTED, "")


def test_a_disabled_service_is_not_found() -> None:
    with make_phone("36.1", make_tool(TYPED, before=FOREGROUND)) as system:
        assert run(system, "pm", "disable-user", TOOL).stdout == f"Package {TOOL} new state: disabled-user\n"
        error = "Error: Not found; no service started.\n"
        assert start(system, "start-foreground-service") == (255, STARTED, error)
        assert run(system, "pm", "enable", TOOL).stdout == f"Package {TOOL} new state: enabled\n"
        assert start(system, "start-foreground-service")[0] == 0


def test_a_foreground_service_without_a_type_crashes_its_app_on_android_14() -> None:
    with make_phone("34", make_tool(SERVICE, before=FOREGROUND)) as system:
        assert start(system, "start-foreground-service") == (0, STARTED, "")
        assert file_of(system) is None
        (crash,) = system.log.of_kind("app-crash")
        assert crash["cause"].startswith(
            "android.app.MissingForegroundServiceTypeException: Starting FGS without a type"
        )
    with make_phone("34", make_tool(SERVICE, before=FOREGROUND, target=33)) as system:
        start(system, "start-foreground-service")
        assert file_of(system) == b"hello"


def test_a_foreground_service_without_its_permissions_crashes_its_app() -> None:
    base = '<uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>'
    needed = {"": "FOREGROUND_SERVICE", base: "FOREGROUND_SERVICE_DATA_SYNC"}
    for before, permission in needed.items():
        with make_phone("36", make_tool(TYPED, before=before)) as system:
            start(system, "start-foreground-service")
            assert file_of(system) is None
            (crash,) = system.log.of_kind("app-crash")
            assert f"android.permission.{permission}" in crash["cause"]


def test_an_agent_in_the_background_starts_no_foreground_service_from_android_12_on() -> None:
    intent = Intent(component=ECHO, extras=saying("hello"))
    tool = make_tool(TYPED, before=FOREGROUND)
    with make_phone("33", make_agent(), tool) as system:
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).start_service(intent, foreground=True)
        assert refused.value.exception == "android.app.ForegroundServiceStartNotAllowedException"
        assert refused.value.message == (
            "startForegroundService() not allowed due to mAllowStartForeground false: service "
            "com.example.tool/.Echo"
        )
        open_agent(system)
        assert system.app_context(AGENT).start_service(intent, foreground=True) == ECHO
    with make_phone("30", make_agent(), tool) as system:
        assert system.app_context(AGENT).start_service(intent, foreground=True) == ECHO


def test_an_app_gets_androids_exception_where_the_shell_gets_a_text() -> None:
    expected = {
        "30": "java.lang.IllegalStateException",
        "33": "android.app.BackgroundServiceStartNotAllowedException",
    }
    for sdk, exception in expected.items():
        with make_phone(sdk, make_agent(), make_tool(SERVICE)) as system:
            with pytest.raises(AndroidError) as refused:
                system.app_context(AGENT).start_service(Intent(component=ECHO))
            assert refused.value.exception == exception
            assert refused.value.message == (
                f"Not allowed to start service Intent {{ cmp={TOOL}/.Echo }}: app is in background uid null"
            )


def test_a_started_service_answers_through_the_pending_intent() -> None:
    with make_phone("36.1", make_agent(), make_tool(TYPED, before=FOREGROUND)) as system:
        open_agent(system)
        context = system.app_context(AGENT)
        inbox: Inbox[Intent] = Inbox(system)
        token = context.create_pending_intent(inbox.put, Intent(extras=Bundle.of_strings({"id": "mine"})))
        extras = saying("hello").with_extra("callback", Extra("pending-intent", token))
        context.start_service(Intent(component=ECHO, extras=extras), foreground=True)
        answer = inbox.take()
        assert answer is not None
        # What the creator set wins over what the tool adds.
        assert answer.extras == Bundle.of_strings({"text": "hello", "id": "mine"})


def test_an_immutable_pending_intent_takes_nothing_from_its_sender() -> None:
    with make_phone("36.1", make_agent(), make_tool(TYPED, before=FOREGROUND)) as system:
        open_agent(system)
        context = system.app_context(AGENT)
        inbox: Inbox[Intent] = Inbox(system)
        token = context.create_pending_intent(inbox.put, mutable=False)
        extras = saying("hello").with_extra("callback", Extra("pending-intent", token))
        context.start_service(Intent(component=ECHO, extras=extras), foreground=True)
        assert inbox.take() == Intent()


def test_the_system_reports_whether_a_pending_intent_is_immutable() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        context, other = system.app_context(AGENT), system.app_context(TOOL).platform
        for mutable in (True, False):
            facts = other.look_at_pending_intent(context.create_pending_intent(ignore, mutable=mutable))
            assert facts is not None
            assert facts.is_immutable is not mutable
        facts = other.look_at_pending_intent(context.platform.create_activity_intent(Intent()))
        assert facts is not None
        assert facts.is_immutable
        assert facts.is_activity


def test_a_pending_intent_of_an_app_that_was_force_stopped_is_cancelled() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        token = system.app_context(AGENT).create_pending_intent(ignore)
        system.app_context(TOOL).send_pending_intent(token, Intent())
        run(system, "am", "force-stop", AGENT)
        with pytest.raises(AndroidError) as refused:
            system.app_context(TOOL).send_pending_intent(token, Intent())
        assert refused.value.exception == "android.app.PendingIntent$CanceledException"


def test_a_bound_service_answers_and_knows_who_sends() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        inbox: Inbox[Message] = Inbox(system)
        binding = system.app_context(AGENT).bind_service(Intent(component=ECHO), inbox.put)
        assert binding is not None
        binding.send(Message(1, saying("hello")))
        answer = inbox.take()
        agent = system.packages.find(AGENT)
        assert answer is not None
        assert agent is not None
        assert (answer.what, answer.data.get_string("text")) == (2, "hello")
        assert answer.data.get_string("uid") == str(agent.uid)
        assert answer.sending_uid == uid_of(system, TOOL)


def test_a_service_that_is_not_exported_cannot_be_bound_by_others() -> None:
    with make_phone(
        "36.1", make_agent(), make_tool(component("service", "Echo", exported="false"))
    ) as system:
        queries = make_agent(queries=f'<queries><package android:name="{TOOL}"/></queries>', version=2)
        system.packages.install(queries)
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore)
        assert refused.value.message == f"Not allowed to bind to service Intent {{ cmp={TOOL}/.Echo }}"


def test_a_service_without_a_binder_is_none() -> None:
    inside = '<intent-filter><action android:name="com.example.NO_BINDER"/></intent-filter>'
    tool = make_tool(component("service", "Echo", inside=inside))
    with make_phone(
        "36.1", make_agent(queries=f'<queries><package android:name="{TOOL}"/></queries>'), tool
    ) as system:
        intent = Intent("com.example.NO_BINDER", ECHO)
        assert system.app_context(AGENT).bind_service(intent, ignore) is None


def test_a_package_that_the_agent_may_not_see_cannot_be_bound_on_android_11() -> None:
    intent = Intent(component=ECHO)
    blind = make_agent(queries="")
    with make_phone("36.1", blind, make_tool(SERVICE)) as system:
        assert system.app_context(AGENT).bind_service(intent, ignore) is None
        assert system.app_context(AGENT).query_services(Intent(ACTION)) == []
    with make_phone("26", blind, make_tool(SERVICE)) as system:
        assert system.app_context(AGENT).query_services(Intent(ACTION)) == [ECHO]
    with make_phone("36.1", make_agent(queries="", target=29), make_tool(SERVICE)) as system:
        assert system.app_context(AGENT).query_services(Intent(ACTION)) == [ECHO]
    for seeing in (
        make_agent(),
        make_agent(queries=f'<queries><package android:name="{TOOL}"/></queries>'),
        make_agent(queries='<uses-permission android:name="android.permission.QUERY_ALL_PACKAGES"/>'),
    ):
        with make_phone("36.1", seeing, make_tool(SERVICE)) as system:
            assert system.app_context(AGENT).query_services(Intent(ACTION)) == [ECHO]


def test_whoever_binds_becomes_visible_to_the_app_it_binds() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        agent, tool = system.packages.find(AGENT), system.packages.find(TOOL)
        assert agent is not None
        assert tool is not None
        assert not system.resolver.can_see(tool.uid, agent)
        system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore)
        assert system.resolver.can_see(tool.uid, agent)


def test_an_explicit_intent_with_an_action_has_to_match_a_filter_from_android_13_on() -> None:
    wrong = Intent("com.example.OTHER", ECHO)
    with make_phone("33", make_agent(), make_tool(SERVICE)) as system:
        context = system.app_context(AGENT)
        assert context.bind_service(wrong, ignore) is None
        assert context.bind_service(Intent(ACTION, ECHO), ignore) is not None
        assert context.bind_service(Intent(component=ECHO), ignore) is not None
    with make_phone("30", make_agent(), make_tool(SERVICE)) as system:
        assert system.app_context(AGENT).bind_service(wrong, ignore) is not None
    with make_phone("33", make_agent(), make_tool(SERVICE, target=32)) as system:
        assert system.app_context(AGENT).bind_service(wrong, ignore) is not None


def test_an_implicit_service_intent_is_refused() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        with pytest.raises(AndroidError) as refused:
            system.app_context(AGENT).bind_service(Intent(ACTION), ignore)
        assert refused.value.message == f"Service Intent must be explicit: Intent {{ act={ACTION} }}"
        explicit = Intent(ACTION, package=TOOL)
        assert system.app_context(AGENT).bind_service(explicit, ignore) is not None


def test_the_crash_of_a_bound_service_is_reported_once_and_sending_fails() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        lost: Inbox[str] = Inbox(system)
        binding = system.app_context(AGENT).bind_service(
            Intent(component=ECHO), ignore, lambda: lost.put("lost")
        )
        assert binding is not None
        binding.send(Message(1, saying("crash")))
        assert lost.take() == "lost"
        with pytest.raises(AndroidError) as refused:
            binding.send(Message(1, saying("hello")))
        assert refused.value.exception == "android.os.DeadObjectException"


def test_a_silent_app_never_answers_and_a_crashing_app_dies() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        system.faults = Faults(silent=frozenset({TOOL}))
        assert system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore) is None
        system.faults = Faults(crashing=frozenset({TOOL}))
        assert system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore) is None
        assert system.log.of_kind("app-crash")
        system.faults = Faults()
        assert system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore) is not None


def test_calls_leave_nothing_behind_in_the_processes() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        context = system.app_context(AGENT)
        kept = context.bind_service(Intent(component=ECHO), ignore)
        assert kept is not None

        def listener_counts() -> list[int]:
            return [len(process._deaths) for process in system.processes.all()]

        before = listener_counts()
        for _ in range(20):
            inbox: Inbox[Message] = Inbox(system)
            binding = context.bind_service(Intent(component=ECHO), inbox.put, lambda: None)
            assert binding is not None
            binding.send(Message(1, saying("hello")))
            assert inbox.take() is not None
            binding.unbind()
        assert listener_counts() == before
        kept.send(Message(1, saying("hello")))


def test_old_pending_intents_are_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messengers, "MOST_PENDING_INTENTS", 2)
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        other = system.app_context(TOOL).create_pending_intent(ignore)
        tokens = [system.app_context(AGENT).create_pending_intent(ignore) for _ in range(3)]
        found = [system.messengers.find_pending_intent(token) is not None for token in (*tokens, other)]
        assert found == [False, True, True, True]


def test_what_does_not_fit_the_binder_is_not_sent() -> None:
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as system:
        inbox: Inbox[Message] = Inbox(system)
        binding = system.app_context(AGENT).bind_service(Intent(component=ECHO), inbox.put)
        assert binding is not None
        with pytest.raises(AndroidError) as refused:
            binding.send(Message(1, saying("x" * 270_000)))
        assert refused.value.exception == "android.os.TransactionTooLargeException"
        assert refused.value.message.startswith("data parcel size 540")
        binding.send(Message(1, saying("x" * 250_000)))
        answer = inbox.take()
        assert answer is not None
        assert len(answer.data.get_string("text") or "") == 250_000


def test_code_that_the_phone_does_not_model_is_refused_loudly() -> None:
    with make_phone("36.1", make_tool(TYPED, before=FOREGROUND), behaviours={}) as system:
        status, _, error = start(system, "start-foreground-service")
        assert (status, error) == (69, f"droidgate phone: not modelled: the code of service {TOOL}/.Echo\n")


def test_an_app_that_was_installed_is_stopped_until_somebody_starts_it() -> None:
    with make_phone("36.1", make_tool(TYPED, before=FOREGROUND)) as system:
        package = system.packages.find(TOOL)
        assert package is not None
        assert package.stopped
        start(system, "start-foreground-service")
        assert not package.stopped
        run(system, "am", "force-stop", TOOL)
        assert package.stopped


def test_records_survive_the_process() -> None:
    assert set(BEHAVIOURS) == {TOOL, AGENT}
    with make_phone("36.1", make_tool(TYPED, before=FOREGROUND)) as system:
        start(system, "start-foreground-service")
        assert file_of(system) == b"hello"
        run(system, "am", "force-stop", TOOL)
        assert system.app_context(TOOL).files.read("started") == b"hello"
        run(system, "pm", "clear", TOOL)
        assert system.app_context(TOOL).files.read("started") is None
