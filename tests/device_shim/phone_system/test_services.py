"""Services: each rule is shown by a call that works and one that fails when only the rule is turned.

Also binders, of which a service is asked for one for each different intent, and foreground services: who has
to call `startForeground`, in which time, and with which types.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from device_shim.phone_system.phone_system_apps import (
    ACTION,
    AGENT,
    BEHAVIOURS,
    TOOL,
    Inbox,
    ToolApp,
    bind,
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
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system import AndroidSystem, messengers
from droidgate_phone.system.behaviour import App, Service

ECHO = ComponentName(TOOL, f"{TOOL}.Echo")
TO_ECHO = Intent(component=ECHO)
SERVICE = component("service", "Echo")
HIDDEN = component("service", "Echo", exported="false")
STARTED = f"Starting service: Intent {{ cmp={TOOL}/.Echo }}\n"
FOREGROUND = (
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>'
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE_DATA_SYNC"/>'
)
TYPED = component("service", "Echo", foregroundServiceType="dataSync")
SEES_TOOL = f'<queries><package android:name="{TOOL}"/></queries>'
IN_BACKGROUND = "Error: app is in background uid null\n"
BACKGROUND = "android.app.BackgroundServiceStartNotAllowedException"
FOREGROUND_REFUSED = "android.app.ForegroundServiceStartNotAllowedException"


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    """A phone with an agent, and a tool with a service that echoes."""
    with make_phone("36.1", make_agent(), make_tool(SERVICE)) as phone:
        yield phone


@pytest.fixture
def typed() -> Iterator[AndroidSystem]:
    """A phone with an agent, and a tool with a foreground service."""
    with make_phone("36.1", make_agent(), make_tool(TYPED, before=FOREGROUND)) as phone:
        yield phone


def start(system: AndroidSystem, verb: str = "startservice") -> tuple[int, str, str]:
    ran = run(system, "am", verb, "-n", f"{TOOL}/.Echo", "--es", "text", "hello")
    return ran.status, ran.stdout.replace(" (has extras)", ""), ran.stderr


def start_foreground(system: AndroidSystem) -> tuple[int, str, str]:
    return start(system, "start-foreground-service")


def stop(system: AndroidSystem) -> None:
    run(system, "am", "stopservice", "-n", f"{TOOL}/.Echo")


def whitelist(system: AndroidSystem, sign: str) -> str:
    return run(system, "dumpsys", "deviceidle", "whitelist", f"{sign}{TOOL}").stdout


def file_of(system: AndroidSystem) -> bytes | None:
    wait(system)
    path = f"/data/data/{TOOL}/files/started"
    return system.files.read(path) if system.files.exists(path) else None


def crashes(system: AndroidSystem) -> list[str]:
    return [str(event["cause"]) for event in system.log.of_kind("app-crash")]


# Starts


@pytest.mark.parametrize("sdk", ["26", "30", "33", "34", "36", "36.1", "37"], ids="API {}".format)
def test_the_shell_starts_a_foreground_service_that_does_its_work(sdk: str) -> None:
    with make_phone(sdk, make_tool(TYPED, before=FOREGROUND)) as system:
        assert start_foreground(system) == (0, STARTED, "")
        assert file_of(system) == b"hello"


@pytest.mark.parametrize(("sdk", "target", "expected", "file"), [
    ("26", 36, (255, STARTED, IN_BACKGROUND), None),
    ("37", 36, (255, STARTED, IN_BACKGROUND), None),
    ("37", 25, (0, STARTED, ""), b"hello"),
], ids=["Android 8", "Android 17", "an app for Android 7"])  # fmt: skip
def test_a_service_of_an_app_in_the_background_is_not_started_unless_it_is_for_android_7(
    sdk: str, target: int, expected: tuple[int, str, str], file: bytes | None
) -> None:
    with make_phone(sdk, make_tool(SERVICE, target=target, minimum=24)) as system:
        assert start(system) == expected
        assert file_of(system) == file


def test_a_service_of_an_app_that_is_exempt_from_battery_optimisation_is_started(
    system: AndroidSystem,
) -> None:
    assert whitelist(system, "+") == f"Added: {TOOL}\n"
    assert start(system)[0] == 0
    assert run(system, "cmd", "deviceidle", "whitelist", f"-{TOOL}").stdout == f"Removed: {TOOL}\n"
    run(system, "am", "force-stop", TOOL)
    assert start(system)[2] == IN_BACKGROUND


def test_a_service_of_an_app_that_the_user_sees_is_started_until_it_is_idle() -> None:
    with make_phone("36.1", make_tool(SERVICE + component("activity", "Screen"))) as system:
        run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
        assert start(system)[0] == 0
        stop(system)
        system.stack.go_home()
        assert start(system)[0] == 0
        stop(system)
        wait(system, 61)
        status, _, error = start(system)
        assert (status, error[:50]) == (255, "Error: app is in background uid UidRecord{0 u0a0 S")


def test_a_service_that_is_not_exported_is_not_started_by_others() -> None:
    with make_phone("36.1", make_tool(HIDDEN)) as system:
        text = f"Error: Requires permission not exported from uid {uid_of(system, TOOL)}\n"
        assert start_foreground(system) == (255, STARTED, text)
        assert run(system, "am", "start-foreground-service", "-n", f"{TOOL}/.Echo", uid=0).status == 0


@pytest.mark.parametrize(("permission", "expected"), [
    ("com.example.P", (255, STARTED, "Error: Requires permission com.example.P\n")),
    ("android.permission.DUMP", (0, STARTED, "")),
], ids=["a permission that the shell lacks", "a permission that the shell has"])  # fmt: skip
def test_a_service_with_a_permission_is_not_started_without_it(
    permission: str, expected: tuple[int, str, str]
) -> None:
    guarded = component("service", "Echo", permission=permission, foregroundServiceType="dataSync")
    with make_phone("36.1", make_tool(guarded, before=FOREGROUND)) as system:
        assert start_foreground(system) == expected


def test_a_disabled_service_is_not_found(typed: AndroidSystem) -> None:
    assert run(typed, "pm", "disable-user", TOOL).stdout == f"Package {TOOL} new state: disabled-user\n"
    assert start_foreground(typed) == (255, STARTED, "Error: Not found; no service started.\n")
    assert run(typed, "pm", "enable", TOOL).stdout == f"Package {TOOL} new state: enabled\n"
    assert start_foreground(typed)[0] == 0


@pytest.mark.parametrize(("sdk", "service", "permissions", "target", "cause"), [
    ("34", SERVICE, FOREGROUND, 36, "MissingForegroundServiceTypeException: Starting FGS without a type"),
    ("34", SERVICE, FOREGROUND, 33, None),
    ("36", TYPED, "", 36, "android.permission.FOREGROUND_SERVICE"),
    ("36", TYPED, FOREGROUND.partition("/>")[0] + "/>", 36, "permission.FOREGROUND_SERVICE_DATA_SYNC"),
], ids=["no type on Android 14", "an app for Android 13", "no permission",
    "no permission of its type"])  # fmt: skip
def test_a_foreground_service_without_type_or_permission_crashes_its_app(
    sdk: str, service: str, permissions: str, target: int, cause: str | None
) -> None:
    with make_phone(sdk, make_tool(service, before=permissions, target=target)) as system:
        assert start_foreground(system) == (0, STARTED, "")
        assert file_of(system) == (None if cause else b"hello")
        assert len(crashes(system)) == bool(cause)
        assert (cause or "") in "".join(crashes(system))


def test_an_agent_in_the_background_starts_no_foreground_service_from_android_12_on() -> None:
    intent = Intent(component=ECHO, extras=text_bundle("hello"))
    text = f"startForegroundService() not allowed due to mAllowStartForeground false: service {TOOL}/.Echo"
    with make_phone("33", make_agent(), make_tool(TYPED, before=FOREGROUND)) as system:
        with raises_android(FOREGROUND_REFUSED, text):
            system.app_context(AGENT).start_service(intent, foreground=True)
        open_agent(system)
        assert system.app_context(AGENT).start_service(intent, foreground=True) == ECHO
    with make_phone("30", make_agent(), make_tool(TYPED, before=FOREGROUND)) as system:
        assert system.app_context(AGENT).start_service(intent, foreground=True) == ECHO


@pytest.mark.parametrize(("sdk", "name"), [("30", "java.lang.IllegalStateException"), ("33", BACKGROUND)])
def test_an_app_gets_androids_exception_where_the_shell_gets_a_text(sdk: str, name: str) -> None:
    text = f"Not allowed to start service Intent {{ cmp={TOOL}/.Echo }}: app is in background uid null"
    with make_phone(sdk, make_agent(), make_tool(SERVICE)) as system, raises_android(name, text):
        system.app_context(AGENT).start_service(TO_ECHO)


def test_code_that_the_phone_does_not_model_is_refused_loudly() -> None:
    with make_phone("36.1", make_tool(TYPED, before=FOREGROUND), behaviours={}) as system:
        status, _, error = start_foreground(system)
        assert (status, error) == (69, f"droidgate phone: not modelled: the code of service {TOOL}/.Echo\n")


def test_an_app_that_was_installed_is_stopped_until_somebody_starts_it(typed: AndroidSystem) -> None:
    package = package_of(typed, TOOL)
    assert package.stopped
    start_foreground(typed)
    assert not package.stopped
    run(typed, "am", "force-stop", TOOL)
    assert package.stopped


# Pending intents


@pytest.mark.parametrize(("mutable", "expected"), [
    # What the creator set wins over what the tool adds.
    (True, Intent(extras=Bundle.of_strings({"text": "hello", "id": "mine"}))),
    (False, Intent(extras=Bundle.of_strings({"id": "mine"}))),
], ids=["mutable", "immutable"])  # fmt: skip
def test_a_started_service_answers_through_the_pending_intent_unless_it_is_immutable(
    typed: AndroidSystem, *, mutable: bool, expected: Intent
) -> None:
    open_agent(typed)
    context = typed.app_context(AGENT)
    inbox: Inbox[Intent] = Inbox(typed)
    base = Intent(extras=Bundle.of_strings({"id": "mine"}))
    token = context.create_pending_intent(inbox.put, base, mutable=mutable)
    extras = text_bundle("hello").with_extra("callback", Extra("pending-intent", token))
    context.start_service(Intent(component=ECHO, extras=extras), foreground=True)
    answer = inbox.take()
    assert answer is not None
    assert answer.extras == expected.extras


def test_the_system_reports_whether_a_pending_intent_is_immutable(system: AndroidSystem) -> None:
    context, other = system.app_context(AGENT), system.app_context(TOOL).platform
    for mutable in (True, False):
        facts = other.look_at_pending_intent(context.create_pending_intent(ignore, mutable=mutable))
        assert facts is not None
        assert facts.is_immutable is not mutable
    facts = other.look_at_pending_intent(context.platform.create_activity_intent(Intent()))
    assert facts is not None
    assert (facts.is_immutable, facts.is_activity) == (True, True)


def test_a_pending_intent_of_an_app_that_was_force_stopped_is_cancelled(system: AndroidSystem) -> None:
    token = system.app_context(AGENT).create_pending_intent(ignore)
    system.app_context(TOOL).send_pending_intent(token, Intent())
    run(system, "am", "force-stop", AGENT)
    with raises_android("android.app.PendingIntent$CanceledException"):
        system.app_context(TOOL).send_pending_intent(token, Intent())


def test_old_pending_intents_are_let_go(system: AndroidSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messengers, "MOST_PENDING_INTENTS", 2)
    other = system.app_context(TOOL).create_pending_intent(ignore)
    tokens = [system.app_context(AGENT).create_pending_intent(ignore) for _ in range(3)]
    states = [system.messengers.find_pending_intent(token) is not None for token in (*tokens, other)]
    assert states == [False, True, True, True]


# Bindings


def test_a_service_that_is_not_exported_cannot_be_bound_by_others() -> None:
    text = f"Not allowed to bind to service Intent {{ cmp={TOOL}/.Echo }}"
    apks = (make_agent(queries=SEES_TOOL), make_tool(HIDDEN))
    with make_phone("36.1", *apks) as system, raises_android("java.lang.SecurityException", text):
        bind(system, TO_ECHO)


def test_binding_a_service_without_a_binder_gives_none() -> None:
    inside = '<intent-filter><action android:name="com.example.NO_BINDER"/></intent-filter>'
    tool = make_tool(component("service", "Echo", inside=inside))
    with make_phone("36.1", make_agent(queries=SEES_TOOL), tool) as system:
        intent = Intent("com.example.NO_BINDER", ECHO)
        assert system.app_context(AGENT).bind_service(intent, ignore) is None


@pytest.mark.parametrize(("sdk", "queries", "target", "sees"), [
    ("36.1", "", 36, False),
    ("26", "", 36, True),
    ("36.1", "", 29, True),
    ("36.1", f'<queries><intent><action android:name="{ACTION}"/></intent></queries>', 36, True),
    ("36.1", SEES_TOOL, 36, True),
    ("36.1", '<uses-permission android:name="android.permission.QUERY_ALL_PACKAGES"/>', 36, True),
], ids=["blind", "Android 8", "an agent for Android 10", "an action", "a package",
    "all packages"])  # fmt: skip
def test_a_package_that_the_agent_may_not_see_cannot_be_bound_on_android_11(
    sdk: str, queries: str, target: int, *, sees: bool
) -> None:
    with make_phone(sdk, make_agent(queries=queries, target=target), make_tool(SERVICE)) as system:
        context = system.app_context(AGENT)
        assert context.query_services(Intent(ACTION)) == ([ECHO] if sees else [])
        assert (context.bind_service(TO_ECHO, ignore) is not None) is sees


def test_whoever_binds_becomes_visible_to_the_app_it_binds(system: AndroidSystem) -> None:
    agent, uid = package_of(system, AGENT), uid_of(system, TOOL)
    assert not system.resolver.can_see(uid, agent)
    bind(system, TO_ECHO)
    assert system.resolver.can_see(uid, agent)


@pytest.mark.parametrize(("sdk", "target", "bound"), [
    ("33", 36, False), ("30", 36, True), ("33", 32, True), ("34", 36, True),
], ids=["Android 13", "Android 11", "an app for Android 12", "Android 14"])  # fmt: skip
def test_an_explicit_intent_with_an_action_has_to_match_a_filter_on_android_13(
    sdk: str, target: int, *, bound: bool
) -> None:
    with make_phone(sdk, make_agent(), make_tool(SERVICE, target=target)) as system:
        wrong = system.app_context(AGENT).bind_service(Intent("com.example.OTHER", ECHO), ignore)
        assert (wrong is not None) is bound
        bind(system, Intent(ACTION, ECHO))
        bind(system, TO_ECHO)


def test_an_implicit_service_intent_is_refused(system: AndroidSystem) -> None:
    text = f"Service Intent must be explicit: Intent {{ act={ACTION} }}"
    with raises_android("java.lang.IllegalArgumentException", text):
        bind(system, Intent(ACTION))
    bind(system, Intent(ACTION, package=TOOL))


def test_the_crash_of_a_bound_service_is_reported_once_and_sending_fails(system: AndroidSystem) -> None:
    lost: Inbox[str] = Inbox(system)
    binding = bind(system, TO_ECHO, ignore, lambda: lost.put("lost"))
    binding.send(Message(1, text_bundle("crash")))
    assert lost.take() == "lost"
    with raises_android("android.os.DeadObjectException"):
        binding.send(Message(1, text_bundle("hello")))


def test_a_silent_app_never_answers_and_a_crashing_app_dies(system: AndroidSystem) -> None:
    system.faults = Faults(silent=frozenset({TOOL}))
    assert system.app_context(AGENT).bind_service(TO_ECHO, ignore) is None
    system.faults = Faults(crashing=frozenset({TOOL}))
    assert system.app_context(AGENT).bind_service(TO_ECHO, ignore) is None
    assert system.log.of_kind("app-crash")
    system.faults = Faults()
    bind(system, TO_ECHO)


def test_calls_leave_nothing_behind_in_the_processes(system: AndroidSystem) -> None:
    messenger = bind(system, TO_ECHO)

    def listener_counts() -> list[int]:
        return [len(process._deaths) for process in system.processes.all()]

    before = listener_counts()
    for _ in range(20):
        inbox: Inbox[Message] = Inbox(system)
        binding = bind(system, TO_ECHO, inbox.put, lambda: None)
        binding.send(Message(1, text_bundle("hello")))
        assert inbox.take() is not None
        binding.unbind()
    assert listener_counts() == before
    messenger.send(Message(1, text_bundle("hello")))


def test_what_does_not_fit_the_binder_is_not_sent(system: AndroidSystem) -> None:
    inbox: Inbox[Message] = Inbox(system)
    binding = bind(system, TO_ECHO, inbox.put)
    with pytest.raises(AndroidError, match="data parcel size 540") as refused:
        binding.send(Message(1, text_bundle("x" * 270_000)))
    assert refused.value.exception == "android.os.TransactionTooLargeException"
    binding.send(Message(1, text_bundle("x" * 250_000)))
    answer = inbox.take()
    assert answer is not None
    assert len(answer.data.get_string("text") or "") == 250_000


# Binders


PLAIN = Intent(ACTION, ComponentName(TOOL, f"{TOOL}.Door"))
CALLS: list[str] = []


class Door(Service):
    """Records its calls; asks for `on_rebind`, unless the intent says otherwise."""

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        CALLS.append(f"bind {intent.identifier}")
        return ignore

    def on_unbind(self, intent: Intent) -> bool:
        CALLS.append(f"unbind {intent.identifier}")
        return intent.identifier != "deaf"

    def on_rebind(self, intent: Intent) -> None:
        CALLS.append(f"rebind {intent.identifier}")

    def on_destroy(self) -> None:
        CALLS.append("destroy")


class DoorApp(App):
    PACKAGE = TOOL
    SERVICES = {f"{TOOL}.Door": Door}


@pytest.fixture
def door() -> Iterator[Callable[[Intent], Callable[[], None]]]:
    """Return what binds as the agent does, and returns what lets go and waits until the service knows."""
    CALLS.clear()
    apps = make_agent(), make_tool(component("service", "Door"))
    with make_phone("36.1", *apps, behaviours={**BEHAVIOURS, TOOL: DoorApp}) as system:

        def open_door(intent: Intent) -> Callable[[], None]:
            binding = bind(system, intent)

            def let_go() -> None:
                binding.unbind()
                wait(system)

            return let_go

        yield open_door


def test_equal_intents_share_a_binder_and_others_get_one_of_their_own(
    door: Callable[[Intent], object],
) -> None:
    door(PLAIN)
    door(replace(PLAIN, flags=4, categories=()))
    assert CALLS == ["bind None"]
    door(replace(PLAIN, identifier="one"))
    door(replace(PLAIN, identifier="two"))
    assert CALLS == ["bind None", "bind one", "bind two"]


def test_a_service_ends_with_its_last_binding_and_the_next_one_asks_a_new_service(
    door: Callable[[Intent], Callable[[], None]],
) -> None:
    first, second = door(PLAIN), door(PLAIN)
    first()
    assert CALLS == ["bind None"]
    second()
    assert CALLS == ["bind None", "unbind None", "destroy"]
    door(PLAIN)
    assert CALLS[3:] == ["bind None"]


@pytest.mark.parametrize(("identifier", "calls"), [
    ("one", ["bind one", "unbind one", "rebind one", "unbind one"]),
    ("deaf", ["bind deaf", "unbind deaf"]),
], ids=["gets the earlier binder", "is not heard of where the service did not ask for it"])  # fmt: skip
def test_a_client_that_binds_again_while_the_service_lives(
    door: Callable[[Intent], Callable[[], None]], identifier: str, calls: list[str]
) -> None:
    door(PLAIN)
    for _ in range(2):
        door(replace(PLAIN, identifier=identifier))()
    assert ["bind None", *calls] == CALLS


# Foreground services


NOT_CALLED = (
    "Context.startForegroundService() did not then call Service.startForeground(): "
    f"ServiceRecord{{0 u0 {TOOL}/.Echo}}"
)
DID_NOT_START = "$ForegroundServiceDidNotStartInTimeException"


class Careless(Service):
    """Handles starts and binds, and leaves `startForeground` to the test."""

    CALLS_START_FOREGROUND = False

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        del intent
        return ignore


class CarelessApp(ToolApp):
    """The tool app with that service."""

    SERVICES = {f"{TOOL}.Echo": Careless}


def careless_phone(sdk: str = "36.1", tool: bytes | None = None) -> AndroidSystem:
    behaviours = {**BEHAVIOURS, TOOL: CarelessApp}
    return make_phone(sdk, make_agent(), tool or make_tool(TYPED, before=FOREGROUND), behaviours=behaviours)


@pytest.fixture
def careless() -> Iterator[AndroidSystem]:
    with careless_phone() as system:
        yield system


def call_start_foreground(system: AndroidSystem, *types: str) -> None:
    platform = system.app_context(TOOL).platform
    platform.start_foreground(ECHO.class_name, types) if types else platform.start_foreground(ECHO.class_name)


@pytest.mark.parametrize(("sdk", "seconds", "exception"), [
    ("26", 5, ""), ("30", 10, ""), ("33", 30, DID_NOT_START), ("37", 30, DID_NOT_START),
])  # fmt: skip
def test_a_service_that_does_not_call_start_foreground_in_time_ends_its_app(
    sdk: str, seconds: int, exception: str
) -> None:
    with careless_phone(sdk) as system:
        start_foreground(system)
        wait(system, seconds - 0.5)
        assert crashes(system) == []
        wait(system, 1)
        assert crashes(system) == [f"android.app.RemoteServiceException{exception}: {NOT_CALLED}"]
        assert system.processes.of_package(TOOL) == []


def test_a_service_that_calls_start_foreground_in_time_lives_on(careless: AndroidSystem) -> None:
    start_foreground(careless)
    wait(careless, 29)
    call_start_foreground(careless)
    wait(careless, 3600)
    assert crashes(careless) == []
    (record,) = careless.services.running()
    assert record.foreground


def test_a_service_that_stops_before_start_foreground_ends_its_app_at_once(careless: AndroidSystem) -> None:
    start_foreground(careless)
    wait(careless)
    stop(careless)
    (cause,) = crashes(careless)
    assert cause.endswith(NOT_CALLED)


def test_a_bound_service_that_does_not_call_start_foreground_does_not_respond(
    careless: AndroidSystem,
) -> None:
    binding = bind(careless, TO_ECHO)
    start_foreground(careless)
    wait(careless, 39)
    binding.send(Message(1))
    wait(careless, 2)
    (unresponsive,) = careless.log.of_kind("app-not-responding")
    assert unresponsive["what"] == NOT_CALLED
    assert careless.processes.of_package(TOOL) == []
    assert crashes(careless) == []


def test_a_plain_start_and_a_service_that_calls_start_foreground_by_itself_have_no_deadline(
    careless: AndroidSystem, typed: AndroidSystem
) -> None:
    whitelist(careless, "+")
    start(careless)
    start_foreground(typed)
    for system in (careless, typed):
        wait(system, 3600)
        assert crashes(system) == []


@pytest.mark.parametrize(("tool", "exception"), [
    (make_tool(SERVICE, before=FOREGROUND), "android.app.MissingForegroundServiceTypeException"),
    (make_tool(TYPED), "java.lang.SecurityException"),
], ids=["type", "permission"])  # fmt: skip
def test_start_foreground_needs_a_type_and_its_permission_from_android_14_on(
    tool: bytes, exception: str
) -> None:
    with careless_phone("34", tool) as system:
        start_foreground(system)
        wait(system)
        with raises_android(exception):
            call_start_foreground(system)


def test_start_foreground_takes_types_of_the_manifest_only() -> None:
    both = component("service", "Echo", foregroundServiceType="dataSync|shortService")
    text = (
        "foregroundServiceType 0x00000008 is not a subset of foregroundServiceType attribute 0x00000801 "
        "in service element of manifest file"
    )
    with careless_phone(tool=make_tool(both, before=FOREGROUND)) as system:
        start_foreground(system)
        wait(system)
        with raises_android("java.lang.IllegalArgumentException", text):
            call_start_foreground(system, "location")
        call_start_foreground(system, "shortService")


def test_a_plainly_started_service_of_an_idle_app_does_not_reach_the_foreground(
    careless: AndroidSystem,
) -> None:
    whitelist(careless, "+")
    start(careless)
    whitelist(careless, "-")
    wait(careless)
    text = f"Service.startForeground() not allowed due to mAllowStartForeground false: service {TOOL}/.Echo"
    with raises_android(FOREGROUND_REFUSED, text):
        call_start_foreground(careless)
    whitelist(careless, "+")
    call_start_foreground(careless)


def test_an_app_with_a_foreground_service_may_start_services_until_it_stops_that() -> None:
    more = component("service", "Keep", foregroundServiceType="dataSync")
    with make_phone("36.1", make_agent(more=more, queries=FOREGROUND)) as system:
        context = system.app_context(AGENT)
        keep = Intent(component=ComponentName(AGENT, f"{AGENT}.Keep"))
        run(system, "am", "start-foreground-service", "-n", f"{AGENT}/.Keep")
        wait(system, 120)
        assert system.uid_states.is_active(uid_of(system, AGENT))
        context.platform.stop_foreground(f"{AGENT}.Keep")
        wait(system, 61)
        assert not system.uid_states.is_active(uid_of(system, AGENT))
        # A service that runs is started again at any time.
        assert context.start_service(keep) == keep.component


@pytest.mark.parametrize(("sdk", "queries", "types", "expected"), [
    pytest.param("36.1", SEES_TOOL, "shortService|dataSync", ("dataSync", "shortService"),
        id="the app sees the service"),
    pytest.param("36.1", "", "shortService|dataSync", (), id="the app does not see the service"),
    pytest.param("26", SEES_TOOL, "shortService|dataSync", (), id="Android 8 reports none"),
    pytest.param("36.1", SEES_TOOL, "", (), id="the service has none"),
])  # fmt: skip
def test_the_types_of_a_service_that_an_app_sees_are_reported_from_android_10_on(
    sdk: str, queries: str, types: str, expected: tuple[str, ...]
) -> None:
    tool = make_tool(component("service", "Echo", foregroundServiceType=types))
    with make_phone(sdk, make_agent(queries=queries), tool) as system:
        platform = system.app_context(AGENT).platform
        assert platform.foreground_service_types(ECHO) == expected
        assert platform.foreground_service_types(ComponentName(TOOL, "not.There")) == ()


def test_an_app_that_does_not_run_takes_no_plain_start_of_another_app_that_is_seen(
    typed: AndroidSystem,
) -> None:
    open_agent(typed)
    with pytest.raises(AndroidError, match="app is in background uid null"):
        typed.app_context(AGENT).start_service(TO_ECHO)
