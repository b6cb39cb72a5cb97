"""What adb may allow a shim: to start activities, to be started, to notify (reference android-runtime 0 to
1.3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

from droidgate.devices.quoting import check_user
from droidgate.shims.install_steps import Step, not_needed, run_step
from droidgate.shims.place import ShimPlace
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.tables.android_names import android_name

BACKGROUND_SERVICES_SDK: Final = 26
BACKGROUND_ACTIVITIES_SDK: Final = 29
NOTIFICATIONS_SDK: Final = 33
APP_FUNCTIONS_SDK: Final = 36
APP_FUNCTION_ALLOWLIST_SDK: Final = 37

OVERLAY: Final = "open the windows of mMCP tools while no agent is in front"
BATTERY: Final = "be started by agents while it does not run"
NOTIFICATIONS: Final = "show notifications, by which it asks the user where no window may open"
APP_FUNCTIONS: Final = "call app functions"

_NO_AGENTS: Final = "it has no capabilities, so no agent calls it"


def set_up_access(place: ShimPlace, application_id: str, kinds: Collection[str]) -> Iterator[Step]:
    """Allow a shim what its routes need and adb may give, and yield what came of each step.

    App functions are called for all shims by one of them; see `droidgate.shims.shell_identity`.

    Args:
        place: Where it is installed.
        application_id: Which shim.
        kinds: Kinds of the backends of its routes.

    Raises:
        DeviceError: the device fails.
    """
    if not kinds:
        for item in (OVERLAY, BATTERY, NOTIFICATIONS):
            yield not_needed(item, _NO_AGENTS)
        return
    yield allow_overlay(place, application_id, kinds)
    yield exempt_from_battery_rules(place, application_id)
    yield allow_notifications(place, application_id)
    yield _about_app_functions(place, kinds)


def _about_app_functions(place: ShimPlace, kinds: Collection[str]) -> Step:
    if "app-function" not in kinds:
        return not_needed(APP_FUNCTIONS, "none of its capabilities is an app function")
    if place.sdk < APP_FUNCTIONS_SDK:
        first = android_name(APP_FUNCTIONS_SDK)
        return not_needed(APP_FUNCTIONS, f"{first} is the first with app functions")
    return not_needed(APP_FUNCTIONS, f"{SHIM_PACKAGE} calls them for all shims")


def allow_overlay(place: ShimPlace, application_id: str, kinds: Collection[str]) -> Step:
    """Allow SYSTEM_ALERT_WINDOW, which exempts from the rules about starting activities."""
    if "mmcp-activity" not in kinds:
        return not_needed(OVERLAY, "none of its capabilities opens a window")
    if place.sdk < BACKGROUND_ACTIVITIES_SDK:
        return not_needed(OVERLAY, f"{android_name(BACKGROUND_ACTIVITIES_SDK)} is the first that forbids it")
    command = ["appops", "set", "--user", check_user(place.user), application_id]
    step = run_step(
        place.device,
        OVERLAY,
        [*command, "SYSTEM_ALERT_WINDOW", "allow"],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )
    return _noted(step, "SYSTEM_ALERT_WINDOW, as it has mMCP tools with windows")


def exempt_from_battery_rules(place: ShimPlace, application_id: str) -> Step:
    """Take the shim out of the rules about background services."""
    if place.sdk < BACKGROUND_SERVICES_SDK:
        return not_needed(BATTERY, f"{android_name(BACKGROUND_SERVICES_SDK)} is the first that forbids it")
    return run_step(
        place.device,
        BATTERY,
        ["dumpsys", "deviceidle", "whitelist", f"+{application_id}"],
        accept=lambda result: result.text.strip() == f"Added: {application_id}",
    )


def allow_notifications(place: ShimPlace, application_id: str) -> Step:
    """Grant POST_NOTIFICATIONS."""
    if place.sdk < NOTIFICATIONS_SDK:
        return not_needed(NOTIFICATIONS, f"every app may before {android_name(NOTIFICATIONS_SDK)}")
    permission = "android.permission.POST_NOTIFICATIONS"
    step = run_step(
        place.device,
        NOTIFICATIONS,
        ["pm", "grant", "--user", check_user(place.user), application_id, permission],
        accept=lambda result: not result.stdout.strip() and not result.stderr.strip(),
    )
    return _noted(step, "POST_NOTIFICATIONS, as every shim with capabilities may have to ask")


def _noted(step: Step, why: str) -> Step:
    return replace(step, why=why) if step.outcome == "done" else step
