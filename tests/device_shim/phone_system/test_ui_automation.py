"""Instrumentations: their UiAutomation, and the shell's permissions that they adopt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext

import pytest

from device_shim.phone_system.phone_system_apps import make_apk, make_phone, raises_android, run
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import App, Instrumentation, Platform
from droidgate_phone.system.instrumentations import (
    ALREADY_REGISTERED,
    FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES,
    FLAG_DONT_USE_ACCESSIBILITY,
)

FIRST, SECOND = "com.example.first", "com.example.second"
DUMP = "android.permission.DUMP"
QUERY = "android.permission.QUERY_ALL_PACKAGES"


class Quiet(Instrumentation):
    """Runs, and leaves the rest to the test."""

    def on_start(self, arguments: Mapping[str, str]) -> None:
        del arguments


class InstrumentedApp(App):
    """An app with an instrumentation."""

    INSTRUMENTATIONS = {f"{package}.Run": Quiet for package in (FIRST, SECOND)}


def make_instrumented(package: str, more: str = "") -> bytes:
    before = f'<instrumentation android:name=".Run" android:targetPackage="{package}"/>'
    return make_apk(package, before=before + more)


def phone(sdk: str = "36.1", more: str = "") -> AndroidSystem:
    apks = (make_instrumented(FIRST, more), make_instrumented(SECOND))
    return make_phone(sdk, *apks, behaviours=dict.fromkeys((FIRST, SECOND), InstrumentedApp))


def instrument(system: AndroidSystem, package: str = FIRST, *, connected: bool = True) -> Platform:
    name = ComponentName(package, f"{package}.Run")
    assert system.instrumentations.start(name, {}, connected=connected) is not None
    return system.app_context(package).platform


@pytest.mark.parametrize("is_instrumented", [False, True], ids=["an app", "an instrumentation"])
@pytest.mark.parametrize("call", [
    lambda platform: platform.connect_ui_automation(0),
    lambda platform: platform.adopt_shell_permissions(),
    lambda platform: platform.drop_shell_permissions(),
], ids=["connect", "adopt", "drop"])  # fmt: skip
def test_without_a_connection_nothing_is_connected_or_adopted(
    call: Callable[[Platform], None], *, is_instrumented: bool
) -> None:
    with phone() as system:
        if is_instrumented:
            instrument(system, connected=False)
        with raises_android("java.lang.IllegalStateException", "UiAutomation not connected!"):
            call(system.app_context(FIRST).platform)


def test_adopted_permissions_end_with_the_process() -> None:
    with phone() as system:
        platform = instrument(system)
        platform.connect_ui_automation(0)
        platform.adopt_shell_permissions(DUMP)
        system.end_processes(FIRST, "test")
        platform = system.app_context(FIRST).platform
        assert not platform.holds(DUMP)
        assert not system.instrumentations.uses_accessibility
        with pytest.raises(AndroidError, match="UiAutomation not connected!"):
            platform.adopt_shell_permissions(DUMP)


def test_a_permission_that_the_shell_lacks_is_lost_while_all_are_adopted() -> None:
    own = f"{FIRST}.OWN"
    declared = f'<permission android:name="{own}" android:protectionLevel="signature"/>'
    with phone(more=f'{declared}<uses-permission android:name="{own}"/>') as system:
        platform = instrument(system)
        platform.connect_ui_automation(0)
        assert platform.holds(own)
        platform.adopt_shell_permissions()
        assert not platform.holds(own)
        platform.adopt_shell_permissions(DUMP)
        assert platform.holds(own)


def test_the_shells_permissions_are_adopted_by_one_app_at_a_time() -> None:
    with phone() as system:
        first, second = instrument(system), instrument(system, SECOND)
        first.connect_ui_automation(FLAG_DONT_USE_ACCESSIBILITY)
        second.connect_ui_automation(FLAG_DONT_USE_ACCESSIBILITY)
        first.adopt_shell_permissions(DUMP)
        message = "Shell can delegate permissions only to one instrumentation at a time"
        with raises_android("java.lang.SecurityException", message):
            second.adopt_shell_permissions(QUERY)
        second.drop_shell_permissions()
        assert first.holds(DUMP)
        first.drop_shell_permissions()
        second.adopt_shell_permissions(QUERY)
        assert second.holds(QUERY)


@pytest.mark.parametrize(("sdk", "flags", "suppresses", "registers"), [
    pytest.param("36.1", 0, True, True, id="no flag"),
    pytest.param("36.1", FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES, False, True, id="services go on"),
    pytest.param("36.1", FLAG_DONT_USE_ACCESSIBILITY, False, False, id="no accessibility"),
    pytest.param("30", FLAG_DONT_USE_ACCESSIBILITY, True, True, id="Android 11 does not know the flag"),
])  # fmt: skip
def test_flags_decide_what_a_ui_automation_does_to_accessibility(
    sdk: str, flags: int, *, suppresses: bool, registers: bool
) -> None:
    with phone(sdk) as system:
        instrument(system).connect_ui_automation(flags)
        assert system.instrumentations.suppresses_accessibility is suppresses
        dumped = run(system, "uiautomator", "dump", "/dev/tty")
        assert dumped.status == (137 if registers else 0)
        assert dumped.stderr == ("Killed \n" if registers else "")
        other = instrument(system, SECOND)
        refused = raises_android("java.lang.IllegalStateException", ALREADY_REGISTERED)
        with refused if registers else nullcontext():
            other.connect_ui_automation(flags)
        system.end_processes(FIRST, "test")
        assert not system.instrumentations.suppresses_accessibility
        assert run(system, "uiautomator", "dump", "/dev/tty").status == 0
        other.connect_ui_automation(flags)


def test_a_ui_automation_is_connected_anew_with_other_flags() -> None:
    with phone() as system:
        platform = instrument(system)
        platform.connect_ui_automation(0)
        platform.connect_ui_automation(FLAG_DONT_USE_ACCESSIBILITY)
        assert not system.instrumentations.uses_accessibility
        # A registered UiAutomation keeps out also one that would not use accessibility.
        instrument(system, SECOND).connect_ui_automation(0)
        with pytest.raises(AndroidError, match="already registered"):
            platform.connect_ui_automation(FLAG_DONT_USE_ACCESSIBILITY)
