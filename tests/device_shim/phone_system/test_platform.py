"""What Android offers to an app beyond its context: timers, notifications, other packages, null bindings."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from device_shim.phone_system.phone_system_apps import (
    TOOL,
    MemoryStreams,
    component,
    make_apk,
    make_phone,
    make_tool,
    package_of,
    run,
)
from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.java.app_values import Notification, ServiceConnection
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.shell import run_shell
from droidgate_phone.system import AndroidSystem
from droidgate_phone.system.installation import InstallOptions
from droidgate_phone.system.timers import Timers
from still_clock import StillClock
from waiting import wait_until

NOISY = "com.example.noisy"


@pytest.fixture
def system() -> Iterator[AndroidSystem]:
    """An Android with a tool app and one that notifies, whose time passes."""
    main = '<activity android:name=".Main" android:exported="false"/>'
    asks = '<uses-permission android:name="android.permission.POST_NOTIFICATIONS"/>'
    noisy = make_apk(NOISY, main, before=asks)
    with make_phone("36.1", make_tool(component("service", "Echo")), noisy, clock=Clock()) as system:
        yield system


def test_timers_run_in_their_order_at_their_times() -> None:
    clock = StillClock()
    timers, begun = Timers(clock), clock.now()
    ran: list[tuple[str, float]] = []
    done = clock.signal()

    def note(name: str) -> None:
        ran.append((name, clock.now() - begun))

    clock.work_added()
    with clock.working():
        cancel = timers.after(2.0, lambda: note("cancelled"))
        timers.after(3.0, lambda: note("third"))
        timers.after(1.0, lambda: note("first"))
        cancel()
        timers.after(4.0, done.set)
        assert clock.wait(done, 100.0)
    assert ran == [("first", 1.0), ("third", 3.0)]
    timers.close()


def test_notifications_need_their_permission_from_android_13_on(system: AndroidSystem) -> None:
    platform = system.app_context(NOISY).platform
    assert not platform.notify(1, Notification("Title", "text"))
    run(system, "pm", "grant", NOISY, "android.permission.POST_NOTIFICATIONS")
    assert platform.notify(1, Notification("Title", "text"))
    assert [(each.package, each.number) for each in system.notifications.all()] == [(NOISY, 1)]
    system.force_stop(NOISY)
    assert system.notifications.all() == []


def test_an_app_shows_fifty_notifications_at_most(system: AndroidSystem) -> None:
    run(system, "pm", "grant", NOISY, "android.permission.POST_NOTIFICATIONS")
    platform = system.app_context(NOISY).platform
    assert [platform.notify(number, Notification("T", "t")) for number in range(51)] == [True] * 50 + [False]


def test_a_package_that_is_not_seen_is_not_reported(system: AndroidSystem) -> None:
    platform = system.app_context(NOISY).platform
    assert platform.find_package(TOOL) is None
    assert platform.read_asset(TOOL, "x") is None
    own, package = platform.find_package(NOISY), package_of(system, NOISY)
    assert own is not None
    assert (own.uid, own.signers, own.code_path) == (package.uid, package.signers, package.code_folder)


def test_a_service_without_a_binder_and_a_dead_one_are_reported(system: AndroidSystem) -> None:
    events: list[str] = []
    queries = f'<queries><package android:name="{TOOL}"/></queries>'
    system.packages.install(make_apk(NOISY, before=queries, version=2))
    platform = system.app_context(NOISY).platform
    connection = ServiceConnection(
        on_connected=lambda: events.append("connected"),
        on_null_binding=lambda: events.append("null"),
        on_disconnected=lambda: events.append("gone"),
    )
    echo = ComponentName(TOOL, f"{TOOL}.Echo")
    assert platform.bind(Intent("com.example.NO_BINDER", echo), connection) is not None
    wait_until(lambda: events == ["null"])
    assert platform.bind(Intent(component=echo), connection) is not None
    wait_until(lambda: events == ["null", "connected"])
    system.end_processes(TOOL, "test")
    wait_until(lambda: events[2:] == ["gone", "gone"])
    assert platform.bind(Intent(component=ComponentName(TOOL, "not.There")), connection) is None


def test_a_command_with_streams_of_its_own_goes_on_in_the_background(system: AndroidSystem) -> None:
    streams = MemoryStreams()
    script = "echo made >/sdcard/made.txt </dev/null 2>/dev/null & echo after"
    assert run_shell(system, script, streams) == 0
    assert bytes(streams.output.data) == b"after\n"
    wait_until(lambda: system.files.exists("/sdcard/made.txt") and system.files.read("/sdcard/made.txt"))
    refused = MemoryStreams()
    assert run_shell(system, "sleep 5 &", refused) == 69
    assert b"not modelled" in bytes(refused.error.data)


# Shared storage: the release, the app's target, legacy storage and the permission decide


DOWNLOAD = "/sdcard/Download/a.txt"


@pytest.mark.parametrize(("sdk", "target", "legacy", "path", "seen"), [
    pytest.param("26", 36, "false", DOWNLOAD, b"text", id="Android 8 knows no other storage"),
    pytest.param("36.1", 28, None, DOWNLOAD, b"text", id="an app for Android 9 has the legacy storage"),
    pytest.param("36.1", 28, "false", DOWNLOAD, None, id="an app for Android 9 may do without it"),
    pytest.param("36.1", 29, "true", DOWNLOAD, b"text", id="an app for Android 10 may ask for it"),
    pytest.param("36.1", 29, None, DOWNLOAD, None, id="an app for Android 10 has to ask for it"),
    pytest.param("30", 30, "true", DOWNLOAD, None, id="an app for Android 11 cannot ask for it"),
    pytest.param("30", 29, "true", "/sdcard/Android/data/com.example.other/a.txt", None,
        id="folders of other apps are closed"),
    pytest.param("30", 36, None, f"/sdcard/Android/data/{TOOL}/a.txt", b"text",
        id="the app's own folder is open"),
    pytest.param("26", 36, "not granted", DOWNLOAD, None, id="without the permission"),
])  # fmt: skip
def test_an_app_sees_files_of_others_by_its_permission_target_and_legacy_storage(
    sdk: str, target: int, legacy: str | None, path: str, seen: bytes | None
) -> None:
    permission = '<uses-permission android:name="android.permission.READ_EXTERNAL_STORAGE"/>'
    flag = f'android:requestLegacyExternalStorage="{legacy}"' if legacy in ("true", "false") else ""
    apk = make_tool("", before=permission, of_application=flag, target=target)
    with make_phone(sdk) as system:
        system.packages.install(apk, options=InstallOptions(grant=legacy != "not granted"))
        system.files.make_directory(path.rpartition("/")[0], parents=True, uid=SHELL_UID)
        system.files.write(path, b"text", uid=SHELL_UID)
        assert system.app_context(TOOL).read_shared_file(path) == seen
