"""`shim doctor`: what stands between agents and the apps behind the shims, and the fix of each.

Each check is a step of docs/device-checklist.md that adb can do. What the shim itself knows is asked of it;
`dumpsys`, whose output nobody promises, only adds what can be told no other way, and where it says something
else the check knows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.devices.app_functions import app_function_shell
from droidgate.devices.components import query_components
from droidgate.devices.errors import CommandFailedError, DeviceOutputError, UnsafeArgumentError
from droidgate.devices.properties import build_of, get_properties
from droidgate.devices.quoting import check_package
from droidgate.devices.wireless import wireless_warning
from droidgate_shim.host import access
from droidgate_shim.host.answers import Status
from droidgate_shim.host.place import InstalledShim, ShimPlace
from droidgate_shim.host.shim_facts import installed_facts

CheckState = Literal["ok", "problem", "not-needed", "unknown"]

MINIMUM_SDK: Final = 24
TOOL_ACTION: Final = "mobile.mcp.SERVICE"

_EVERY_KIND: Final = frozenset({"mmcp-activity", "mmcp-broadcast", "app-function"})
_EXEMPT: Final = "exempt from battery optimisation"
_NOTIFY: Final = "allowed to notify"
_ON_TOP: Final = "allowed to appear on top"
_INSTALL_AGAIN: Final = "droidgate shim install"
_SYNC: Final = "droidgate shim sync"
_STOPPED: Final = re.compile(r"^\s*User (?P<user>\d+):.*\bstopped=(?P<stopped>true|false)\b", re.MULTILINE)
_LOCKED: Final = re.compile(r"\bUser .*\(current\):.*\bdeviceLocked=(?P<locked>[01])\b")


@dataclass(frozen=True, slots=True)
class CheckKind:
    """One check.

    Attributes:
        id: Its name.
        step: Number of its step in docs/device-checklist.md.
        title: What it looks at.
    """

    id: str
    step: int
    title: str


@dataclass(frozen=True, slots=True)
class Check:
    """What a check found.

    Attributes:
        kind: Which check.
        state: `ok`, `problem`, `not-needed` here, or `unknown` where the device does not tell.
        found: In words.
        fix: What to do about a problem.
        application_id: The shim that it is about; None where it is the device.
    """

    kind: CheckKind
    state: CheckState
    found: str
    fix: str | None = None
    application_id: str | None = None


OS_LEVEL: Final = CheckKind("os-level", 1, "Android's API level and how adb reaches the device")
SCREEN_LOCK: Final = CheckKind("screen-lock", 2, "the screen is unlocked, so that tools' windows can open")
INSTALLED: Final = CheckKind("installed", 3, "a shim is installed")
HANDSHAKE: Final = CheckKind("handshake", 4, "host and shim speak the same version")
VISIBILITY: Final = CheckKind("visibility", 5, "agents that ask Android for tool apps find it")
TARGETS: Final = CheckKind("targets", 6, "the apps behind it are there, and as they were approved")
STOPPED: Final = CheckKind("stopped-state", 7, "the apps behind it have been opened once")
BATTERY: Final = CheckKind("battery-exemption", 8, "agents may start it while it does not run")
NOTIFICATIONS: Final = CheckKind("notifications", 9, "it may notify")
START_ROUTE: Final = CheckKind("activity-start-route", 10, "it may open windows while no agent is in front")
FLAGS: Final = CheckKind("app-function-shell", 14, "what Android's shell can do with app functions here")
APP_FUNCTIONS: Final = CheckKind("app-functions-access", 15, "it may call app functions")
GRANTS: Final = CheckKind("grants", 16, "who may call it")

CHECKS: Final = (
    OS_LEVEL,
    SCREEN_LOCK,
    INSTALLED,
    HANDSHAKE,
    VISIBILITY,
    TARGETS,
    STOPPED,
    BATTERY,
    NOTIFICATIONS,
    START_ROUTE,
    FLAGS,
    APP_FUNCTIONS,
    GRANTS,
)
"""Every check, in the order of their steps."""


def examine(place: ShimPlace, shims: Sequence[InstalledShim]) -> tuple[Check, ...]:
    """Return what every check found, the device's first, then each shim's.

    Raises:
        DeviceError: the device fails.
    """
    packages = place.packages()
    found = list(_examine_device(place, shims))
    for one in shims:
        package = packages.get(one.application_id)
        facts = None if package is None else installed_facts(place, package)
        found += _examine_shim(place, one, _EVERY_KIND if facts is None else facts.kinds)
    return tuple(found)


def _examine_device(place: ShimPlace, shims: Sequence[InstalledShim]) -> Iterator[Check]:
    yield _os_level(place)
    yield _screen_lock(place)
    if not shims:
        fix = f"{_INSTALL_AGAIN} --from adb:"
        yield Check(INSTALLED, "problem", f"there is none for user {place.user}", fix)
    else:
        yield Check(INSTALLED, "ok", f"{len(shims)} for user {place.user}")
    yield _flags(place)


def _examine_shim(place: ShimPlace, shim: InstalledShim, kinds: Collection[str]) -> Iterator[Check]:
    yield _handshake(shim)
    if shim.status is None:
        return
    if shim.status.routes:
        yield _visibility(place, shim)
        yield from _targets(shim.status)
        yield from _stopped(place, shim.status, kinds)
    yield from _access(place, shim.status)
    yield from _access_of_kinds(place, shim.status, kinds)
    if shim.status.routes:
        yield _grants(shim.status)


def _os_level(place: ShimPlace) -> Check:
    build = build_of(get_properties(place.device))
    found = f"Android {build.release}, API level {build.sdk}, {build.manufacturer} {build.model}".strip()
    if build.sdk < MINIMUM_SDK:
        return Check(OS_LEVEL, "problem", found, f"The shim needs API level {MINIMUM_SDK}")
    warning = wireless_warning(place.device.serial, build)
    return Check(OS_LEVEL, "ok" if warning is None else "problem", found, warning)


def _screen_lock(place: ShimPlace) -> Check:
    result = place.device.run(["dumpsys", "trust"])
    found = _LOCKED.search(result.text) if result.exit_status == 0 else None
    if found is None:
        return Check(SCREEN_LOCK, "unknown", "Android does not tell it to a shell here", "Look at the screen")
    if found["locked"] == "1":
        fix = "Unlock the device; until then calls that open a window are answered needs_user"
        return Check(SCREEN_LOCK, "problem", "the device is locked", fix)
    return Check(SCREEN_LOCK, "ok", "the device is unlocked")


def _flags(place: ShimPlace) -> Check:
    if place.sdk < access.APP_FUNCTIONS_SDK:
        needs = f"Android has app functions from API level {access.APP_FUNCTIONS_SDK} on"
        return Check(FLAGS, "not-needed", needs)
    try:
        shell = app_function_shell(place.device)
    except (CommandFailedError, DeviceOutputError) as error:
        return Check(FLAGS, "unknown", error.message)
    if not shell.executes:
        reason = shell.reason or "cmd app_function cannot call functions"
        return Check(FLAGS, "problem", reason, "Use a build of Android 16 QPR2 or later")
    words = [word for word, has in (("lists", shell.lists), ("calls", shell.executes)) if has]
    words += ["tells the enabled state"] if shell.tells_enabled else []
    return Check(FLAGS, "ok", f"cmd app_function {', '.join(words)}")


def _handshake(shim: InstalledShim) -> Check:
    if shim.status is not None:
        return Check(HANDSHAKE, "ok", f"build {shim.status.build[:12]}", None, shim.application_id)
    problem = shim.problem
    found = problem.message if problem is not None else "it does not answer"
    return Check(HANDSHAKE, "problem", found, (problem and problem.hint) or _SYNC, shim.application_id)


def _visibility(place: ShimPlace, shim: InstalledShim) -> Check:
    services = query_components(place.device, "services", TOOL_ACTION, place.user)
    mine = [one for one in services if one.partition("/")[0] == shim.application_id]
    if not mine:
        found = f"no service of it answers {TOOL_ACTION}"
        return Check(VISIBILITY, "problem", found, _SYNC, shim.application_id)
    return Check(VISIBILITY, "ok", mine[0], None, shim.application_id)


def _targets(status: Status) -> Iterator[Check]:
    named = {
        "absent": ("is not installed, or the shim cannot see it", f"Install the app, or {_SYNC}"),
        "other-signer": (
            "is signed by another than was approved",
            f"Be sure where the app comes from; then {_SYNC}",
        ),
        "changed": ("declares something else than was approved", f"See what changed; then {_SYNC}"),
    }
    for one in status.targets:
        if one.state == "as-approved":
            found = f"{one.package} {'' if one.version_code is None else one.version_code}".strip()
            yield Check(TARGETS, "ok", found, None, status.application_id)
        else:
            found, fix = named[one.state]
            yield Check(TARGETS, "problem", f"{one.package} {found}", fix, status.application_id)


def _stopped(place: ShimPlace, status: Status, kinds: Collection[str]) -> Iterator[Check]:
    for package in dict.fromkeys(one.package for one in status.sources):
        stopped = _is_stopped(place, package)
        if stopped is None:
            found = f"Android does not tell it of {package} here"
            yield Check(STOPPED, "unknown", found, "Open the app once", status.application_id)
        elif stopped and "mmcp-broadcast" in kinds:
            fix = "Open the app once: Android sends no broadcast to apps that never ran or were force-stopped"
            yield Check(STOPPED, "problem", f"{package} is stopped", fix, status.application_id)
        elif stopped:
            found = f"{package} is stopped; a call starts it, except on builds of some makers"
            yield Check(STOPPED, "ok", found, "Open the app once where calls fail", status.application_id)
        else:
            yield Check(STOPPED, "ok", f"{package} is not stopped", None, status.application_id)


def _is_stopped(place: ShimPlace, package: str) -> bool | None:
    """Tell whether an app that a shim names is stopped; None where Android does not tell it."""
    try:
        result = place.device.run(["dumpsys", "package", check_package(package)])
    except UnsafeArgumentError:
        return None
    users = {found["user"]: found["stopped"] for found in _STOPPED.finditer(result.text)}
    stopped = users.get(str(place.user)) if result.exit_status == 0 else None
    return None if stopped is None else stopped == "true"


def _access(place: ShimPlace, status: Status) -> Iterator[Check]:
    held = status.access
    yield _allowed(
        place, status, BATTERY, access.BACKGROUND_SERVICES_SDK, has=held.battery_exempt, words=_EXEMPT
    )
    yield _allowed(
        place, status, NOTIFICATIONS, access.NOTIFICATIONS_SDK, has=held.notifications, words=_NOTIFY
    )


def _access_of_kinds(place: ShimPlace, status: Status, kinds: Collection[str]) -> Iterator[Check]:
    held, name = status.access, status.application_id
    if "mmcp-activity" in kinds:
        since = access.BACKGROUND_ACTIVITIES_SDK
        yield _allowed(place, status, START_ROUTE, since, has=held.overlay, words=_ON_TOP)
    else:
        yield Check(START_ROUTE, "not-needed", "none of its capabilities opens a window", None, name)
    if "app-function" not in kinds:
        yield Check(APP_FUNCTIONS, "not-needed", "none of its capabilities is an app function", None, name)
    elif place.sdk < access.APP_FUNCTIONS_SDK:
        fix = f"Its app functions need a device of API level {access.APP_FUNCTIONS_SDK} or later"
        yield Check(APP_FUNCTIONS, "problem", "Android has no app functions here", fix, name)
    elif held.execute_app_functions and place.sdk >= access.APP_FUNCTION_ALLOWLIST_SDK:
        found = "holds EXECUTE_APP_FUNCTIONS; Android asks its list of agents too, which it shows nobody"
        yield Check(APP_FUNCTIONS, "unknown", found, "Call a function, and see whether it is denied", name)
    elif held.execute_app_functions:
        yield Check(APP_FUNCTIONS, "ok", "holds EXECUTE_APP_FUNCTIONS", None, name)
    else:
        found = "does not hold EXECUTE_APP_FUNCTIONS, which a restart of the device takes away"
        yield Check(APP_FUNCTIONS, "problem", found, _INSTALL_AGAIN, name)


def _allowed(
    place: ShimPlace, status: Status, kind: CheckKind, since: int, *, has: bool, words: str
) -> Check:
    name = status.application_id
    if place.sdk < since:
        return Check(kind, "not-needed", f"Android asks for it from API level {since} on", None, name)
    if has:
        return Check(kind, "ok", words, None, name)
    return Check(kind, "problem", f"not {words}", _INSTALL_AGAIN, name)


def _grants(status: Status) -> Check:
    name = status.application_id
    callers = [one.caller if isinstance(one.caller, str) else one.caller.package for one in status.grants]
    if callers:
        return Check(GRANTS, "ok", f"granted to {', '.join(dict.fromkeys(callers))}", None, name)
    if status.asking:
        return Check(GRANTS, "ok", "nobody yet; the phone asks its user at the first call", None, name)
    fix = "Grant in the shim's own screen, or let it ask again"
    return Check(GRANTS, "problem", "nobody may call it, and it does not ask", fix, name)
