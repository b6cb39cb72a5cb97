"""Overlay windows: who may show them, and the flags of a tap through them."""

from __future__ import annotations

import pytest

from device_shim.phone_system.phone_system_apps import (
    BEHAVIOURS,
    TOOL,
    ToolApp,
    component,
    make_apk,
    make_phone,
    make_tool,
    package_of,
    raises_android,
    run,
)
from droidgate_phone.java.app_values import (
    FLAG_WINDOW_IS_OBSCURED,
    FLAG_WINDOW_IS_PARTIALLY_OBSCURED,
    AndroidError,
    View,
)
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.behaviour import (
    Activity,
    Context,
)

ATTACKER = "com.example.attacker"
OVERLAY = '<uses-permission android:name="android.permission.SYSTEM_ALERT_WINDOW"/>'
HIDE = '<uses-permission android:name="android.permission.HIDE_OVERLAY_WINDOWS"/>'
BUTTON = (500, 100)
LOW_BUTTON = (500, 1000)


class Touched(Activity):
    """Notes the flags of each tap."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.taps: list[tuple[str, int, bool]] = []

    def view(self) -> View:
        rows = tuple(View("button", f"button_{number}", "OK") for number in range(20))
        return View("column", children=rows)

    def on_click(self, view_id: str) -> None:
        self.taps.append((view_id, self.touch_flags, self.is_touch_obscured))


class TouchedApp(ToolApp):
    """The tool app with that activity."""

    ACTIVITIES = {f"{TOOL}.Screen": Touched}


def phone(sdk: str = "36.1", *, before: str = "") -> AndroidSystem:
    system = make_phone(
        sdk,
        make_tool(component("activity", "Screen"), before=before),
        make_apk(ATTACKER, before=OVERLAY),
        behaviours={**BEHAVIOURS, TOOL: TouchedApp},
    )
    run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
    run(system, "appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "allow")
    return system


def tap(system: AndroidSystem, point: tuple[int, int]) -> int:
    """Tap a button; return the flags that the activity saw."""
    record = system.stack.top_record()
    assert record is not None
    assert isinstance(record.instance, Touched)
    record.instance.taps.clear()
    run(system, "input", "tap", *map(str, point))
    ((_, flags, is_obscured),) = record.instance.taps
    assert is_obscured is (flags != 0)
    assert (record.instance.touch_flags, record.instance.is_touch_obscured) == (0, False)
    return flags


def test_a_tap_through_an_overlay_is_obscured() -> None:
    with phone() as system:
        assert tap(system, BUTTON) == 0
        system.window.show_overlay(ATTACKER, covers_all=True)
        assert tap(system, BUTTON) == FLAG_WINDOW_IS_OBSCURED
        assert tap(system, LOW_BUTTON) == FLAG_WINDOW_IS_OBSCURED
        system.window.hide_overlays()
        assert tap(system, BUTTON) == 0


@pytest.mark.parametrize(
    ("sdk", "elsewhere"), [("36.1", FLAG_WINDOW_IS_PARTIALLY_OBSCURED), ("26", 0)], ids=["API 36.1", "API 26"]
)
def test_a_tap_next_to_an_overlay_is_partially_obscured_from_android_10_on(sdk: str, elsewhere: int) -> None:
    with phone(sdk) as system:
        system.window.show_overlay(ATTACKER, covers_all=False)
        assert tap(system, BUTTON) == FLAG_WINDOW_IS_OBSCURED
        assert tap(system, LOW_BUTTON) == elsewhere


def test_an_overlay_needs_the_users_permission() -> None:
    with phone() as system:
        run(system, "appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "deny")
        with raises_android("android.view.WindowManager$BadTokenException"):
            system.window.show_overlay(ATTACKER, covers_all=True)
        with pytest.raises(AndroidError):
            system.window.show_overlay("not.there", covers_all=True)


@pytest.mark.parametrize("end", ["permission", "process", "force-stop", "uninstall"])
def test_an_overlay_goes_with_its_permission_and_its_app(end: str) -> None:
    with phone() as system:
        system.window.show_overlay(ATTACKER, covers_all=True)
        if end == "permission":
            run(system, "appops", "set", ATTACKER, "SYSTEM_ALERT_WINDOW", "ignore")
        elif end == "process":
            package = package_of(system, ATTACKER)
            system.core.start_process(package, ATTACKER)
            system.end_processes(ATTACKER, "test")
        elif end == "force-stop":
            run(system, "am", "force-stop", ATTACKER)
        else:
            run(system, "pm", "uninstall", ATTACKER)
        assert system.window.seen_overlays() == []
        assert tap(system, BUTTON) == 0


def test_an_activity_that_hides_overlays_is_touched_without_them() -> None:
    with phone(before=HIDE) as system:
        system.window.show_overlay(ATTACKER, covers_all=True)
        platform = system.app_context(TOOL).platform
        platform.hide_overlay_windows()
        assert tap(system, BUTTON) == 0
        assert system.window.seen_overlays() == []
        platform.hide_overlay_windows(hide=False)
        assert tap(system, BUTTON) == FLAG_WINDOW_IS_OBSCURED
        platform.hide_overlay_windows()
        system.stack.go_home()
        assert [overlay.package for overlay in system.window.seen_overlays()] == [ATTACKER]


def test_hiding_overlays_needs_a_permission_an_activity_and_android_12() -> None:
    with phone() as system, pytest.raises(AndroidError) as refused:
        system.app_context(TOOL).platform.hide_overlay_windows()
    assert refused.value.exception == "java.lang.SecurityException"
    assert refused.value.message == "Permission denial: setHideOverlayWindows: HIDE_OVERLAY_WINDOWS"
    with phone("30", before=HIDE) as system, pytest.raises(AndroidError) as refused:
        system.app_context(TOOL).platform.hide_overlay_windows()
    assert refused.value.exception == "java.lang.NoSuchMethodError"
    with phone(before=HIDE) as system, pytest.raises(AndroidError) as refused:
        system.app_context(ATTACKER).platform.hide_overlay_windows()
    assert refused.value.exception == "java.lang.IllegalStateException"


def test_an_apps_own_overlay_does_not_obscure_it() -> None:
    with phone(before=OVERLAY) as system:
        run(system, "appops", "set", TOOL, "SYSTEM_ALERT_WINDOW", "allow")
        system.window.show_overlay(TOOL, covers_all=True)
        assert tap(system, BUTTON) == 0
