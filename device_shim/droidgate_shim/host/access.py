"""What adb may allow a shim: to start activities, to be started, to notify, to call app functions
(reference android-runtime 0 to 1.3, appfunctions 7.3).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from typing import Final

from droidgate.devices.app_functions import app_function_shell
from droidgate.devices.quoting import check_component, check_user
from droidgate.model.errors import DroidgateError
from droidgate_shim.host.client import HostClient
from droidgate_shim.host.place import ShimPlace
from droidgate_shim.host.steps import Step, not_needed, run_step

BACKGROUND_SERVICES_SDK: Final = 26
BACKGROUND_ACTIVITIES_SDK: Final = 29
NOTIFICATIONS_SDK: Final = 33
APP_FUNCTIONS_SDK: Final = 36
APP_FUNCTION_ALLOWLIST_SDK: Final = 37

INSTRUMENTATION: Final = "dev.droidgate.shim.ShellIdentityInstrumentation"

OVERLAY: Final = "open the windows of mMCP tools while no agent is in front"
BATTERY: Final = "be started by agents while it does not run"
NOTIFICATIONS: Final = "show notifications, the last way to open a tool's window or to ask the user"
APP_FUNCTIONS: Final = "call app functions, with the shell's permission"
ALLOWLIST_READ: Final = "let Android read its list of agents anew"
ALLOWLIST: Final = "be on Android's list of agents that may call app functions"

_PURGE: Final = "purge-allowlist-cache"
_AGENTS: Final = "2"
"""Number of the list of agents, as Google's own testing agent names it (reference appfunctions 7.3)."""

_SECONDS_TO_LEND: Final = 10.0
_PAUSE: Final = 0.25


def set_up_access(
    place: ShimPlace, client: HostClient, kinds: Collection[str], signer: str
) -> Iterator[Step]:
    """Allow a shim what it needs and adb may give, and yield what came of each step.

    Args:
        place: Where it is installed.
        client: The shim.
        kinds: Kinds of the backends of its routes.
        signer: SHA-256 of its certificate, hexadecimal.

    Raises:
        DeviceError: the device fails.
    """
    yield allow_overlay(place, client.application_id, kinds)
    yield exempt_from_battery_rules(place, client.application_id)
    yield allow_notifications(place, client.application_id)
    if "app-function" not in kinds:
        yield not_needed(APP_FUNCTIONS, "none of its capabilities is an app function")
    elif place.sdk < APP_FUNCTIONS_SDK:
        yield not_needed(APP_FUNCTIONS, f"Android has app functions from API level {APP_FUNCTIONS_SDK} on")
    else:
        if place.sdk >= APP_FUNCTION_ALLOWLIST_SDK:
            yield from list_as_agent(place, client.application_id, signer)
        yield lend_shell_identity(place, client)


def allow_overlay(place: ShimPlace, application_id: str, kinds: Collection[str]) -> Step:
    """Allow SYSTEM_ALERT_WINDOW, which exempts from the rules about starting activities."""
    if "mmcp-activity" not in kinds:
        return not_needed(OVERLAY, "none of its capabilities opens a window")
    if place.sdk < BACKGROUND_ACTIVITIES_SDK:
        return not_needed(OVERLAY, f"Android forbids it from API level {BACKGROUND_ACTIVITIES_SDK} on")
    command = ["appops", "set", "--user", check_user(place.user), application_id]
    return run_step(
        place.device,
        OVERLAY,
        [*command, "SYSTEM_ALERT_WINDOW", "allow"],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )


def exempt_from_battery_rules(place: ShimPlace, application_id: str) -> Step:
    """Take the shim out of the rules about background services."""
    if place.sdk < BACKGROUND_SERVICES_SDK:
        return not_needed(BATTERY, f"Android forbids it from API level {BACKGROUND_SERVICES_SDK} on")
    return run_step(
        place.device,
        BATTERY,
        ["dumpsys", "deviceidle", "whitelist", f"+{application_id}"],
        accept=lambda result: result.text.strip() == f"Added: {application_id}",
    )


def allow_notifications(place: ShimPlace, application_id: str) -> Step:
    """Grant POST_NOTIFICATIONS."""
    if place.sdk < NOTIFICATIONS_SDK:
        return not_needed(NOTIFICATIONS, f"every app may before API level {NOTIFICATIONS_SDK}")
    permission = "android.permission.POST_NOTIFICATIONS"
    return run_step(
        place.device,
        NOTIFICATIONS,
        ["pm", "grant", "--user", check_user(place.user), application_id, permission],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )


def list_as_agent(place: ShimPlace, application_id: str, signer: str) -> Iterator[Step]:
    """Put the shim on the list of agents; Android's service for that is not on every build."""
    commands = app_function_shell(place.device).commands
    if _PURGE in commands:
        yield run_step(
            place.device,
            ALLOWLIST_READ,
            ["cmd", "app_function", _PURGE],
            accept=lambda result: not result.stderr,
        )
    arguments = ["cmd", "allowlist", "add-package-multimap", _AGENTS, f"{application_id}:{signer}", "*"]
    yield run_step(place.device, ALLOWLIST, arguments, accept=lambda result: not result.stderr.strip())


def lend_shell_identity(place: ShimPlace, client: HostClient) -> Step:
    """Start the shim's instrumentation, which takes over the shell's EXECUTE_APP_FUNCTIONS.

    It lasts as long as the command on the device, so the command stays there in the background; it ends with
    a reboot, or when the shim is installed anew.
    """
    component = check_component(f"{client.application_id}/{INSTRUMENTATION}")
    command = f"am instrument -w --user {check_user(place.user)} '{component}'"
    script = f"{command} </dev/null >/dev/null 2>&1 &"
    step = run_step(
        place.device, APP_FUNCTIONS, ["sh", "-c", script], accept=lambda result: not result.stderr.strip()
    )
    if step.outcome != "done":
        return Step(step.what, "refused", f"{command} &", step.why)
    if _wait_for_permission(client):
        return Step(
            step.what, "done", f"{command} &", "until the device restarts; then run shim install again"
        )
    return Step(step.what, "refused", f"{command} &", "the shim does not hold EXECUTE_APP_FUNCTIONS after it")


def _wait_for_permission(client: HostClient) -> bool:
    end = time.monotonic() + _SECONDS_TO_LEND
    while True:
        try:
            if client.status().access.execute_app_functions:
                return True
        except DroidgateError:
            # Starting an instrumentation ends the app's process, and this call with it.
            client.device.run(["true"])
        if time.monotonic() >= end:
            return False
        time.sleep(_PAUSE)
