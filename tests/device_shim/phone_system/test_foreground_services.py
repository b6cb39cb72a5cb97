"""Foreground services: who has to call `startForeground`, in which time, and with which types."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from device_shim.phone_system.phone_system_apps import (
    AGENT,
    BEHAVIOURS,
    TOOL,
    ToolApp,
    component,
    ignore,
    make_agent,
    make_phone,
    make_tool,
    run,
    uid_of,
)
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import Service

ECHO = ComponentName(TOOL, f"{TOOL}.Echo")
PERMISSIONS = (
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE"/>'
    '<uses-permission android:name="android.permission.FOREGROUND_SERVICE_DATA_SYNC"/>'
)
TYPED = component("service", "Echo", foregroundServiceType="dataSync")
NOT_CALLED = (
    "Context.startForegroundService() did not then call Service.startForeground(): "
    f"ServiceRecord{{0 u0 {TOOL}/.Echo}}"
)


class Careless(Service):
    """Handles starts and binds, and leaves `startForeground` to the test."""

    CALLS_START_FOREGROUND = False

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        del intent
        return ignore


class CarelessApp(ToolApp):
    """The tool app with that service."""

    SERVICES = {f"{TOOL}.Echo": Careless}


CARELESS = {**BEHAVIOURS, TOOL: CarelessApp}


def start(system: AndroidSystem, verb: str = "start-foreground-service") -> None:
    ran = run(system, "am", verb, "-n", f"{TOOL}/.Echo")
    assert ran.stderr == "", ran


def pass_time(system: AndroidSystem, seconds: float) -> None:
    system.clock.wait(system.clock.signal(), seconds)


def crashes(system: AndroidSystem) -> list[str]:
    return [str(event["cause"]) for event in system.log.of_kind("app-crash")]


@pytest.mark.parametrize(
    ("sdk", "seconds", "exception"),
    [
        ("26", 5, "android.app.RemoteServiceException"),
        ("30", 10, "android.app.RemoteServiceException"),
        ("33", 30, "android.app.RemoteServiceException$ForegroundServiceDidNotStartInTimeException"),
        ("37", 30, "android.app.RemoteServiceException$ForegroundServiceDidNotStartInTimeException"),
    ],
)
def test_a_service_that_does_not_call_start_foreground_in_time_ends_its_app(
    sdk: str, seconds: int, exception: str
) -> None:
    with make_phone(sdk, make_tool(TYPED, before=PERMISSIONS), behaviours=CARELESS) as system:
        start(system)
        pass_time(system, seconds - 0.5)
        assert crashes(system) == []
        pass_time(system, 1)
        assert crashes(system) == [f"{exception}: {NOT_CALLED}"]
        assert system.processes.of_package(TOOL) == []


def test_a_service_that_calls_start_foreground_in_time_lives_on() -> None:
    with make_phone("36.1", make_tool(TYPED, before=PERMISSIONS), behaviours=CARELESS) as system:
        start(system)
        pass_time(system, 29)
        system.app_context(TOOL).platform.start_foreground(ECHO.class_name)
        pass_time(system, 3600)
        assert crashes(system) == []
        (record,) = system.services.running()
        assert record.foreground


def test_a_service_that_calls_start_foreground_by_itself_has_no_deadline() -> None:
    with make_phone("36.1", make_tool(TYPED, before=PERMISSIONS)) as system:
        start(system)
        pass_time(system, 3600)
        assert crashes(system) == []


def test_a_service_that_stops_before_start_foreground_ends_its_app_at_once() -> None:
    with make_phone("36.1", make_tool(TYPED, before=PERMISSIONS), behaviours=CARELESS) as system:
        start(system)
        pass_time(system, 0.5)
        run(system, "am", "stopservice", "-n", f"{TOOL}/.Echo")
        (cause,) = crashes(system)
        assert cause.endswith(NOT_CALLED)


def test_a_bound_service_that_does_not_call_start_foreground_does_not_respond() -> None:
    tool = make_tool(TYPED, before=PERMISSIONS)
    with make_phone("36.1", make_agent(), tool, behaviours=CARELESS) as system:
        binding = system.app_context(AGENT).bind_service(Intent(component=ECHO), ignore)
        assert binding is not None
        start(system)
        pass_time(system, 39)
        binding.send(Message(1))
        pass_time(system, 2)
        (unresponsive,) = system.log.of_kind("app-not-responding")
        assert unresponsive["what"] == NOT_CALLED
        assert system.processes.of_package(TOOL) == []
        assert crashes(system) == []


def test_a_plain_start_has_no_deadline() -> None:
    with make_phone("36.1", make_tool(TYPED, before=PERMISSIONS), behaviours=CARELESS) as system:
        run(system, "dumpsys", "deviceidle", "whitelist", f"+{TOOL}")
        start(system, "startservice")
        pass_time(system, 3600)
        assert crashes(system) == []


def test_start_foreground_needs_a_type_and_its_permission_from_android_14_on() -> None:
    untyped, no_permission = make_tool(component("service", "Echo"), before=PERMISSIONS), make_tool(TYPED)
    for apk, exception in (
        (untyped, "android.app.MissingForegroundServiceTypeException"),
        (no_permission, "java.lang.SecurityException"),
    ):
        with make_phone("34", apk, behaviours=CARELESS) as system:
            start(system)
            pass_time(system, 0.5)
            with pytest.raises(AndroidError) as refused:
                system.app_context(TOOL).platform.start_foreground(ECHO.class_name)
            assert refused.value.exception == exception


def test_start_foreground_takes_types_of_the_manifest_only() -> None:
    types = "dataSync|shortService"
    tool = make_tool(component("service", "Echo", foregroundServiceType=types), before=PERMISSIONS)
    with make_phone("36.1", tool, behaviours=CARELESS) as system:
        start(system)
        pass_time(system, 0.5)
        platform = system.app_context(TOOL).platform
        with pytest.raises(AndroidError) as refused:
            platform.start_foreground(ECHO.class_name, ("location",))
        assert refused.value.exception == "java.lang.IllegalArgumentException"
        assert refused.value.message == (
            "foregroundServiceType 0x00000008 is not a subset of foregroundServiceType attribute 0x00000801 "
            "in service element of manifest file"
        )
        platform.start_foreground(ECHO.class_name, ("shortService",))


def test_a_plainly_started_service_of_an_idle_app_does_not_reach_the_foreground() -> None:
    tool = make_tool(TYPED, before=PERMISSIONS)
    with make_phone("36.1", tool, behaviours=CARELESS) as system:
        run(system, "dumpsys", "deviceidle", "whitelist", f"+{TOOL}")
        start(system, "startservice")
        run(system, "dumpsys", "deviceidle", "whitelist", f"-{TOOL}")
        pass_time(system, 0.5)
        platform = system.app_context(TOOL).platform
        with pytest.raises(AndroidError) as refused:
            platform.start_foreground(ECHO.class_name)
        assert refused.value.exception == "android.app.ForegroundServiceStartNotAllowedException"
        assert refused.value.message == (
            f"Service.startForeground() not allowed due to mAllowStartForeground false: service {TOOL}/.Echo"
        )
        run(system, "dumpsys", "deviceidle", "whitelist", f"+{TOOL}")
        platform.start_foreground(ECHO.class_name)


def test_an_app_with_a_foreground_service_may_start_services_until_it_stops_that() -> None:
    more = component("service", "Keep", foregroundServiceType="dataSync")
    agent = make_agent(more=more, queries=PERMISSIONS)
    with make_phone("36.1", agent) as system:
        context = system.app_context(AGENT)
        keep = Intent(component=ComponentName(AGENT, f"{AGENT}.Keep"))
        run(system, "am", "start-foreground-service", "-n", f"{AGENT}/.Keep")
        pass_time(system, 120)
        assert system.uid_states.is_active(uid_of(system, AGENT))
        context.platform.stop_foreground(f"{AGENT}.Keep")
        pass_time(system, 61)
        assert not system.uid_states.is_active(uid_of(system, AGENT))
        # A service that runs is started again at any time.
        assert context.start_service(keep) == keep.component


def test_the_types_of_a_service_that_an_app_sees_are_reported_from_android_10_on() -> None:
    tool = make_tool(component("service", "Echo", foregroundServiceType="shortService|dataSync"))
    for sdk, agent, expected in (
        ("36.1", make_agent(), ("dataSync", "shortService")),
        ("36.1", make_agent(queries=""), ()),
        ("26", make_agent(), ()),
    ):
        with make_phone(sdk, agent, tool) as system:
            platform = system.app_context(AGENT).platform
            assert platform.foreground_service_types(ECHO) == expected
            assert platform.foreground_service_types(ComponentName(TOOL, "not.There")) == ()
    with make_phone("36.1", make_agent(), make_tool(component("service", "Echo"))) as system:
        assert system.app_context(AGENT).platform.foreground_service_types(ECHO) == ()


def test_an_app_that_does_not_run_takes_no_plain_start_of_another_app_that_is_seen() -> None:
    with make_phone("36.1", make_agent(), make_tool(TYPED, before=PERMISSIONS)) as system:
        run(system, "am", "start", "-W", "-n", f"{AGENT}/.Main")
        with pytest.raises(AndroidError, match="app is in background uid null"):
            system.app_context(AGENT).start_service(Intent(component=ECHO))
