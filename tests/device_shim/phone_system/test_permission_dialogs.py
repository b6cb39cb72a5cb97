"""The dialog that asks for POST_NOTIFICATIONS."""

from __future__ import annotations

import pytest

from device_shim.phone_system.phone_system_apps import (
    TOOL,
    component,
    make_phone,
    make_tool,
    package_of,
    run,
    tap,
)
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.permissions import POST_NOTIFICATIONS

ASKS = f'<uses-permission android:name="{POST_NOTIFICATIONS}"/>'
SCREEN = component("activity", "Screen")
ALLOW = "com.android.permissioncontroller:id/permission_allow_button"
DENY = "com.android.permissioncontroller:id/permission_deny_button"


def phone(sdk: str = "36.1", *, before: str = ASKS, target: int = 36) -> AndroidSystem:
    system = make_phone(sdk, make_tool(SCREEN, before=before, target=target))
    run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen")
    return system


def ask(system: AndroidSystem, *permissions: str) -> None:
    system.app_context(TOOL).platform.request_permissions(*permissions)


def dump(system: AndroidSystem) -> str:
    return run(system, "uiautomator", "dump", "/dev/tty").stdout


def press(system: AndroidSystem, resource_id: str) -> None:
    tap(system, lambda node: node.get("resource-id") == resource_id)


def test_a_user_allows_notifications_in_the_dialog() -> None:
    with phone() as system:
        platform = system.app_context(TOOL).platform
        assert not platform.may_notify()
        ask(system, "android.permission.CAMERA", POST_NOTIFICATIONS)
        hierarchy = dump(system)
        assert 'text="Allow"' in hierarchy
        assert 'text="Don\N{RIGHT SINGLE QUOTATION MARK}t allow"' in hierarchy
        assert f'text="Allow {TOOL} to send you notifications?"' in hierarchy
        assert "GrantPermissionsActivity" in run(system, "dumpsys", "window").stdout
        press(system, ALLOW)
        assert platform.may_notify()
        assert f'resource-id="{TOOL}:id/ok"' in dump(system)
        ask(system, POST_NOTIFICATIONS)
        assert ALLOW not in dump(system)


def test_a_user_who_denies_twice_is_not_asked_again() -> None:
    with phone() as system:
        for _ in range(2):
            ask(system, POST_NOTIFICATIONS)
            press(system, DENY)
        assert not system.app_context(TOOL).platform.may_notify()
        ask(system, POST_NOTIFICATIONS)
        assert ALLOW not in dump(system)
        run(system, "pm", "grant", TOOL, POST_NOTIFICATIONS)
        assert system.app_context(TOOL).platform.may_notify()


def test_going_back_closes_the_dialog_and_not_the_activity() -> None:
    with phone() as system:
        for _ in range(3):
            ask(system, POST_NOTIFICATIONS)
            assert ALLOW in dump(system)
            run(system, "input", "keyevent", "BACK")
            assert f'resource-id="{TOOL}:id/ok"' in dump(system)
        assert not system.app_context(TOOL).platform.may_notify()


def test_the_dialog_belongs_to_the_activity_that_asks() -> None:
    with phone() as system:
        ask(system, POST_NOTIFICATIONS)
        run(system, "input", "keyevent", "HOME")
        assert ALLOW not in dump(system)
        run(system, "am", "start", "-W", "-n", f"{TOOL}/.Screen", "-f", "0x30000000")
        assert ALLOW in dump(system)
        system.end_processes(TOOL, "test")
        assert ALLOW not in dump(system)


@pytest.mark.parametrize(("sdk", "before", "target", "permission"), [
    pytest.param("30", ASKS, 36, POST_NOTIFICATIONS, id="Android 11 has no such permission"),
    pytest.param("36.1", "", 36, POST_NOTIFICATIONS, id="the app does not declare it"),
    pytest.param("36.1", ASKS, 32, POST_NOTIFICATIONS, id="an app for Android 12"),
    pytest.param("36.1", ASKS, 36, "android.permission.CAMERA",
        id="a permission that is not of notifications"),
])  # fmt: skip
def test_nothing_is_asked_that_the_phone_would_not_ask(
    sdk: str, before: str, target: int, permission: str
) -> None:
    with phone(sdk, before=before, target=target) as system:
        ask(system, permission)
        assert ALLOW not in dump(system)


def test_only_an_activity_asks() -> None:
    with phone() as system:
        package = package_of(system, TOOL)
        (process,) = system.processes.of_package(TOOL)
        with pytest.raises(AndroidError, match="needs the context of an activity"):
            system.core.context_for(package, process).platform.request_permissions(POST_NOTIFICATIONS)
