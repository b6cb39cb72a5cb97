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
        self.taps: list[int] = []

    def view(self) -> View:
        rows = tuple(View("button", f"button_{number}", "OK") for number in range(20))
        return View("column", children=rows)

    def on_click(self, view_id: str) -> None:
        del view_id
        self.taps.append(self.touch_flags)


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
    screen = record.instance
    assert isinstance(screen, Touched)
    run(system, "input", "tap", *map(str, point))
    flags = screen.taps.pop()
    assert (screen.taps, screen.touch_flags) == ([], 0)
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


@pytest.mark.parametrize("end", [
    "appops set APP SYSTEM_ALERT_WINDOW ignore", "am force-stop APP", "pm uninstall APP", None,
])  # fmt: skip
def test_an_overlay_goes_with_its_permission_its_app_and_its_process(end: str | None) -> None:
    with phone() as system:
        system.window.show_overlay(ATTACKER, covers_all=True)
        if end is None:
            system.core.start_process(package_of(system, ATTACKER), ATTACKER)
            system.end_processes(ATTACKER, "test")
        else:
            run(system, *end.replace("APP", ATTACKER).split())
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


@pytest.mark.parametrize(("sdk", "before", "app", "exception", "message"), [
    pytest.param("36.1", "", TOOL, "java.lang.SecurityException",
        "Permission denial: setHideOverlayWindows: HIDE_OVERLAY_WINDOWS", id="without the permission"),
    pytest.param("30", HIDE, TOOL, "java.lang.NoSuchMethodError", None, id="on Android 11"),
    pytest.param("36.1", HIDE, ATTACKER, "java.lang.IllegalStateException", None, id="without an activity"),
])  # fmt: skip
def test_overlays_are_not_hidden(
    sdk: str, before: str, app: str, exception: str, message: str | None
) -> None:
    with phone(sdk, before=before) as system, raises_android(exception, message):
        system.app_context(app).platform.hide_overlay_windows()


def test_an_apps_own_overlay_does_not_obscure_it() -> None:
    with phone(before=OVERLAY) as system:
        run(system, "appops", "set", TOOL, "SYSTEM_ALERT_WINDOW", "allow")
        system.window.show_overlay(TOOL, covers_all=True)
        assert tap(system, BUTTON) == 0
