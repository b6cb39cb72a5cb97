"""`shim doctor`: what keeps agents from the apps behind the shims, and the fix of each.

Each check is a step of docs/guides/prove-on-a-phone.md that adb can do. The shim is asked for what it knows;
`dumpsys`, whose output nobody promises, only adds what cannot be learnt otherwise. Where it says
something else, the check is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.devices.describing import wireless_warning
from droidgate.devices.device_errors import (
    CommandFailedError,
    DeviceOutputError,
    TransferError,
    UnsafeArgumentError,
)
from droidgate.devices.packages import InstalledPackage, query_components
from droidgate.devices.properties import build_of, get_properties
from droidgate.devices.quoting import check_package
from droidgate.devices.remote_apk import open_remote_apk
from droidgate.devices.screen_lock import SHOW_LOCK, read_lock
from droidgate.devices.service_shells import app_function_shell
from droidgate.shims.answers import StatusAnswer
from droidgate.shims.device_user import DeviceUser, InstalledShim, target_problem
from droidgate.shims.host_client import ANY_APP, EVERY_CAPABILITY
from droidgate.shims.installation_steps import (
    APP_FUNCTION_ALLOWLIST_SDK,
    APP_FUNCTIONS_SDK,
    BACKGROUND_ACTIVITIES_SDK,
    BACKGROUND_SERVICES_SDK,
    NOTIFICATIONS_SDK,
)
from droidgate.shims.shell_identity import END_COMMAND
from droidgate.shims.shim_facts import ShimFacts, installed_facts
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.android_names import android_name
from droidgate_shim.builder.shim_manifest import ACTIONS_OF_BACKENDS, SCREEN_BACKENDS

CheckState = Literal["ok", "problem", "risk", "not-needed", "unknown"]

MINIMUM_SDK: Final = 24
TOOL_ACTION: Final = "mobile.mcp.SERVICE"

_EXEMPT: Final = "exempt from battery optimisation"
_NOTIFY: Final = "allowed to notify"
_ON_TOP: Final = "allowed to appear on top"
_INSTALL_AGAIN: Final = "droidgate shim install"
_REMOVE: Final = "droidgate shim uninstall"
_SYNC: Final = "droidgate shim sync"
_STOPPED: Final = re.compile(r"^[ \t]*User (?P<user>\d+):.*\bstopped=(?P<stopped>true|false)\b", re.MULTILINE)
_BOUND: Final = re.compile(r"^[ \t]*Bound services:\{(?P<services>.*)\}[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CheckKind:
    """One check.

    Attributes:
        id: Its name.
        step: Number of its step in docs/guides/prove-on-a-phone.md.
        title: What it looks at.
    """

    id: str
    step: int
    title: str


@dataclass(frozen=True, slots=True)
class DoctorCheck:
    """What a check found.

    Attributes:
        kind: Which check.
        state: `ok`, `problem`, `risk` (the user allowed it, and should know of it), `not-needed` here, or
            `unknown` where the device does not report it.
        found: In words.
        fix: What to do about a problem.
        application_id: The shim that it is about; None where it is the device.
    """

    kind: CheckKind
    state: CheckState
    found: str
    fix: str | None = None
    application_id: str | None = None


OS_LEVEL: Final = CheckKind("os-level", 1, "Android's version and how adb reaches the device")
SCREEN_LOCK: Final = CheckKind("screen-lock", 2, "the screen is unlocked, so that tools' windows can open")
INSTALLED: Final = CheckKind("installed", 3, "a shim is installed")
HANDSHAKE: Final = CheckKind("handshake", 4, "host and shim speak the same version")
VISIBILITY: Final = CheckKind("visibility", 5, "agents that ask Android for tool apps find it")
TARGETS: Final = CheckKind("targets", 6, "the apps behind it are there, and as they were approved")
STOPPED: Final = CheckKind("stopped-state", 7, "whether the apps behind it are stopped")
BATTERY: Final = CheckKind("battery-exemption", 8, "agents may start it while it does not run")
NOTIFICATIONS: Final = CheckKind("notifications", 9, "it may notify, to ask and to open windows by a tap")
START_ROUTE: Final = CheckKind("activity-start-route", 10, "it may open windows while no agent is in front")
FLAGS: Final = CheckKind("app-function-shell", 14, "what Android's shell can do with app functions here")
APP_FUNCTIONS: Final = CheckKind(
    "app-functions-access", 15, f"{SHIM_PACKAGE} calls its app functions, with the shell's permission"
)
GRANTS: Final = CheckKind("grants", 16, "who may call it")
ACCESSIBILITY: Final = CheckKind(
    "accessibility", 21, "accessibility services run while the permission is lent"
)
TOOL_START: Final = CheckKind(
    "tool-start", 23, "Mobile-MCP services that cannot be bound may be started while their app does not run"
)
CONSENT: Final = CheckKind("consent", 24, "it can ask the user, and how")


@dataclass(frozen=True, slots=True)
class DeviceState:
    """A device with its shims, as the checks see it.

    Attributes:
        device_user: The device.
        shims: Its shims.
        packages: What is installed there.
        facts: What the shims' APKs say; nothing of one that cannot be read.
    """

    device_user: DeviceUser
    shims: Sequence[InstalledShim]
    packages: Mapping[str, InstalledPackage]
    facts: Mapping[str, ShimFacts]

    @property
    def holder(self) -> InstalledShim | None:
        """The shim that calls app functions for the others."""
        return next((shim for shim in self.shims if shim.application_id == SHIM_PACKAGE), None)

    @property
    def is_holder_needed(self) -> bool:
        """A shim calls app functions."""
        return any(fact.calls_functions for fact in self.facts.values())

    def kinds_of(self, application_id: str) -> frozenset[str]:
        """Return the kinds of the backends of a shim's routes; every kind where its APK cannot be read."""
        facts = self.facts.get(application_id)
        return frozenset(ACTIONS_OF_BACKENDS) if facts is None else facts.kinds


def examine(device_user: DeviceUser, shims: Sequence[InstalledShim]) -> tuple[DoctorCheck, ...]:
    """Return what every check found, the device's first, then each shim's.

    Raises:
        DeviceError: the device fails.
    """
    packages = device_user.packages()
    application_ids = [shim.application_id for shim in shims if shim.application_id in packages]
    read = {name: installed_facts(device_user, packages[name]) for name in application_ids}
    facts = {name: item for name, item in read.items() if item is not None}
    seen = DeviceState(device_user, shims, packages, facts)
    checks = list(_examine_device(seen))
    for shim in shims:
        checks += _examine_shim(seen, shim)
    return tuple(checks)


def _examine_device(seen: DeviceState) -> Iterator[DoctorCheck]:
    device_user, shims = seen.device_user, seen.shims
    yield _os_level(device_user)
    yield _screen_lock(device_user)
    if not shims:
        fix = f"{_INSTALL_AGAIN} --from adb:"
        yield DoctorCheck(INSTALLED, "problem", f"there is none for user {device_user.user}", fix)
    else:
        yield DoctorCheck(INSTALLED, "ok", f"{len(shims)} for user {device_user.user}")
    yield _flags(device_user)
    if device_user.sdk >= APP_FUNCTIONS_SDK and seen.holder is not None:
        yield accessibility(device_user)


def _examine_shim(seen: DeviceState, shim: InstalledShim) -> Iterator[DoctorCheck]:
    yield _handshake(shim)
    if shim.status is None:
        return
    device_user, status, kinds = seen.device_user, shim.status, seen.kinds_of(shim.application_id)
    if status.routes:
        yield _visibility(device_user, shim)
        yield from _targets(status)
        yield from _stopped(device_user, status)
        yield from _access(device_user, status, kinds)
    yield _app_functions(seen, status, kinds)
    if status.routes:
        facts = seen.facts.get(shim.application_id)
        yield _grants(status, () if facts is None else facts.read_only)
        yield from _tool_start(seen, status, facts)
        yield _consent(device_user, status)


def _os_level(device_user: DeviceUser) -> DoctorCheck:
    build = build_of(get_properties(device_user.device))
    fact = f"{android_name(build.sdk_full)}, {build.manufacturer} {build.model}".strip()
    if build.sdk < MINIMUM_SDK:
        return DoctorCheck(OS_LEVEL, "problem", fact, f"the shim needs {android_name(MINIMUM_SDK)} or later")
    warning = wireless_warning(device_user.device.serial, build)
    return DoctorCheck(OS_LEVEL, "ok" if warning is None else "problem", fact, warning)


def _screen_lock(device_user: DeviceUser) -> DoctorCheck:
    is_locked = read_lock(device_user.device.run(SHOW_LOCK))
    if is_locked is None:
        return DoctorCheck(
            SCREEN_LOCK, "unknown", "Android does not show it to a shell here", "look at the screen"
        )
    if is_locked:
        fix = "unlock the device; until then calls that open a window are answered needs_user"
        return DoctorCheck(SCREEN_LOCK, "problem", "the device is locked", fix)
    return DoctorCheck(SCREEN_LOCK, "ok", "the device is unlocked")


def accessibility(device_user: DeviceUser) -> DoctorCheck:
    """Check whether accessibility services that are switched on are bound.

    An instrumentation that connects without care suspends them (shim.md 4).
    """
    command = ["settings", "get", "--user", str(device_user.user), "secure", "enabled_accessibility_services"]
    result = device_user.device.run(command)
    enabled = result.text.strip()
    if result.exit_status != 0:
        return DoctorCheck(ACCESSIBILITY, "unknown", "Android does not show it to a shell here")
    if enabled in {"", "null"}:
        return DoctorCheck(ACCESSIBILITY, "not-needed", "no accessibility service is switched on")
    services = ", ".join(part for part in enabled.split(":") if part)
    result = device_user.device.run(["dumpsys", "accessibility"])
    bound = _BOUND.search(result.text) if result.exit_status == 0 else None
    if bound is None:
        fact = f"{services} switched on; Android does not show a shell here whether they run"
        return DoctorCheck(
            ACCESSIBILITY,
            "unknown",
            fact,
            "look at the service itself: it has to keep working during a call",
        )
    if bound["services"].strip():
        return DoctorCheck(ACCESSIBILITY, "ok", f"{services} switched on, and bound")
    fact = f"{services} switched on, and none is bound: something suspends them"
    fix = f"end other UI tests; where it stays so, `adb shell {END_COMMAND}`, and report it"
    return DoctorCheck(ACCESSIBILITY, "problem", fact, fix)


def _flags(device_user: DeviceUser) -> DoctorCheck:
    if device_user.sdk < APP_FUNCTIONS_SDK:
        needs = f"{android_name(APP_FUNCTIONS_SDK)} is the first with app functions"
        return DoctorCheck(FLAGS, "not-needed", needs)
    try:
        shell = app_function_shell(device_user.device)
    except (CommandFailedError, DeviceOutputError) as error:
        return DoctorCheck(FLAGS, "unknown", error.message)
    if not shell.executes:
        reason = shell.reason or "cmd app_function cannot call functions"
        return DoctorCheck(FLAGS, "problem", reason, "use a build of Android 16 QPR2 or later")
    words = [word for word, has in (("lists", shell.lists), ("calls", shell.executes)) if has]
    words += ["reports the enabled state"] if shell.reports_enabled else []
    return DoctorCheck(FLAGS, "ok", f"cmd app_function {', '.join(words)}")


def _handshake(shim: InstalledShim) -> DoctorCheck:
    if shim.status is not None:
        return DoctorCheck(HANDSHAKE, "ok", f"build {shim.status.build[:12]}", None, shim.application_id)
    problem = shim.problem
    fact = problem.message if problem is not None else "it does not answer"
    return DoctorCheck(HANDSHAKE, "problem", fact, (problem and problem.hint) or _SYNC, shim.application_id)


def _visibility(device_user: DeviceUser, shim: InstalledShim) -> DoctorCheck:
    try:
        services = query_components(device_user.device, "services", TOOL_ACTION, device_user.user)
    except DeviceOutputError as error:
        return DoctorCheck(VISIBILITY, "problem", error.message, None, shim.application_id)
    mine = [service for service in services if service.partition("/")[0] == shim.application_id]
    if not mine:
        fact = f"no service of it answers {TOOL_ACTION}"
        return DoctorCheck(VISIBILITY, "problem", fact, _SYNC, shim.application_id)
    return DoctorCheck(VISIBILITY, "ok", mine[0], None, shim.application_id)


def _targets(status: StatusAnswer) -> Iterator[DoctorCheck]:
    for target in status.targets:
        problem = target_problem(target)
        if problem is None:
            fact = f"{target.package} {'' if target.version_code is None else target.version_code}".strip()
            yield DoctorCheck(TARGETS, "ok", fact, None, status.application_id)
        else:
            fact, fix = problem
            yield DoctorCheck(TARGETS, "problem", f"{target.package} {fact}", fix, status.application_id)


def _stopped(device_user: DeviceUser, status: StatusAnswer) -> Iterator[DoctorCheck]:
    for package in dict.fromkeys(source.package for source in status.sources):
        stopped = _is_stopped(device_user, package)
        if stopped is None:
            fact = f"Android does not show it of {package} here; a call starts it"
            yield DoctorCheck(STOPPED, "unknown", fact, None, status.application_id)
        elif stopped:
            fact = f"{package} is stopped; a call starts it, a broadcast too, except on builds of some makers"
            yield DoctorCheck(
                STOPPED, "ok", fact, "open the app once where calls fail", status.application_id
            )
        else:
            yield DoctorCheck(STOPPED, "ok", f"{package} is not stopped", None, status.application_id)


def _is_stopped(device_user: DeviceUser, package: str) -> bool | None:
    """Return whether an app that a shim names is stopped; None where Android does not show it."""
    try:
        result = device_user.device.run(["dumpsys", "package", check_package(package)])
    except UnsafeArgumentError:
        return None
    users = {match["user"]: match["stopped"] for match in _STOPPED.finditer(result.text)}
    stopped = users.get(str(device_user.user)) if result.exit_status == 0 else None
    return None if stopped is None else stopped == "true"


def _access(device_user: DeviceUser, status: StatusAnswer, kinds: Collection[str]) -> Iterator[DoctorCheck]:
    granted_access, name = status.access, status.application_id
    since = BACKGROUND_SERVICES_SDK
    yield _allowed(device_user, status, BATTERY, since, has=granted_access.battery_exempt, words=_EXEMPT)
    since = NOTIFICATIONS_SDK
    yield _allowed(device_user, status, NOTIFICATIONS, since, has=granted_access.notifications, words=_NOTIFY)
    if not SCREEN_BACKENDS.isdisjoint(kinds):
        since = BACKGROUND_ACTIVITIES_SDK
        yield _allowed(device_user, status, START_ROUTE, since, has=granted_access.overlay, words=_ON_TOP)
    else:
        yield DoctorCheck(START_ROUTE, "not-needed", "none of its capabilities opens a window", None, name)


def _app_functions(seen: DeviceState, status: StatusAnswer, kinds: Collection[str]) -> DoctorCheck:
    name, is_holder = status.application_id, status.application_id == SHIM_PACKAGE
    if "app-function" not in kinds and not (is_holder and seen.is_holder_needed):
        words = "no shim calls app functions" if is_holder else "none of its capabilities is an app function"
        return DoctorCheck(APP_FUNCTIONS, "not-needed", words, None, name)
    if seen.device_user.sdk < APP_FUNCTIONS_SDK:
        fix = f"its app functions need {android_name(APP_FUNCTIONS_SDK)} or later"
        return DoctorCheck(APP_FUNCTIONS, "problem", "Android has no app functions here", fix, name)
    problem = _holder_problem(seen, name)
    if problem is not None:
        return DoctorCheck(APP_FUNCTIONS, "problem", *problem, name)
    if seen.device_user.sdk >= APP_FUNCTION_ALLOWLIST_SDK:
        fact = "the permission can be borrowed; Android asks its list of agents too, which it shows nobody"
        return DoctorCheck(
            APP_FUNCTIONS, "unknown", fact, "call a function, and see whether it is denied", name
        )
    words = "calls app functions for the shims" if is_holder else f"{SHIM_PACKAGE} calls them for it"
    return DoctorCheck(APP_FUNCTIONS, "ok", f"{words}; it can borrow the shell's permission", None, name)


def _holder_problem(seen: DeviceState, name: str) -> tuple[str, str] | None:
    """Return what is wrong with the shim that calls app functions for the others, and the fix."""
    holder, facts, own = seen.holder, seen.facts.get(SHIM_PACKAGE), seen.facts.get(name)
    if holder is None:
        return f"{SHIM_PACKAGE}, which calls app functions for all shims, is not installed", _INSTALL_AGAIN
    if holder.status is None:
        return f"{SHIM_PACKAGE} does not answer", _SYNC
    if facts is not None and own is not None and facts.signer != own.signer:
        fix = f"{_REMOVE} those of the other key, then {_INSTALL_AGAIN} --from adb: --key FILE"
        return f"{SHIM_PACKAGE} is signed with another key, and serves only shims of that key", fix
    if not holder.status.access.execute_app_functions:
        fact = f"the instrumentation of {SHIM_PACKAGE} does not run, as after a restart, or cannot borrow"
        return fact, _INSTALL_AGAIN
    return None


def _allowed(
    device_user: DeviceUser, status: StatusAnswer, kind: CheckKind, since: int, *, has: bool, words: str
) -> DoctorCheck:
    name = status.application_id
    if device_user.sdk < since:
        return DoctorCheck(
            kind, "not-needed", f"{android_name(since)} is the first that asks for it", None, name
        )
    if has:
        return DoctorCheck(kind, "ok", words, None, name)
    return DoctorCheck(kind, "problem", f"not {words}", _INSTALL_AGAIN, name)


def _grants(status: StatusAnswer, read_only: Collection[str]) -> DoctorCheck:
    name = status.application_id
    for_any = [_in_words(grant.capability) for grant in status.grants if grant.caller == ANY_APP]
    app_grants = [grant for grant in status.grants if not isinstance(grant.caller, str)]
    callers = dict.fromkeys(item.caller.package for item in app_grants if not isinstance(item.caller, str))
    granted = f"granted to {', '.join(callers)}" if callers else ""
    started = [
        f"{item.caller.package}: {capability}"
        for item in app_grants
        if not isinstance(item.caller, str)
        for capability in (read_only if item.capability == EVERY_CAPABILITY else (item.capability,))
        if capability in read_only
    ]
    also = f"also for started calls: {', '.join(dict.fromkeys(started))}" if started else ""
    if for_any:
        fact = f"any app on the device may call {', '.join(for_any)}, and which one did cannot be found out"
        fix = "droidgate shim install --no-allow-any-app, or the shim's own screen"
        return DoctorCheck(GRANTS, "risk", "; ".join(filter(None, (fact, granted, also))), fix, name)
    if callers:
        return DoctorCheck(GRANTS, "ok", "; ".join(filter(None, (granted, also))), None, name)
    if status.asking:
        return DoctorCheck(GRANTS, "ok", "nobody yet; the phone asks its user at the first call", None, name)
    fix = "grant in the shim's own screen, or let it ask again"
    return DoctorCheck(GRANTS, "problem", "nobody may call it, and it does not ask", fix, name)


def _in_words(capability: str) -> str:
    return "every capability" if capability == EVERY_CAPABILITY else capability


def _tool_start(seen: DeviceState, status: StatusAnswer, facts: ShimFacts | None) -> Iterator[DoctorCheck]:
    name = status.application_id
    if facts is None:
        yield DoctorCheck(TOOL_START, "unknown", "the shim's APK cannot be read", _SYNC, name)
        return
    if not facts.services:
        yield DoctorCheck(TOOL_START, "not-needed", "no capability is called by Mobile-MCP", None, name)
        return
    if seen.device_user.sdk < BACKGROUND_SERVICES_SDK:
        fact = f"{android_name(BACKGROUND_SERVICES_SDK)} is the first that limits it"
        yield DoctorCheck(TOOL_START, "not-needed", fact, None, name)
        return
    for service in facts.services:
        state, fact = _start_of(seen, service)
        yield DoctorCheck(TOOL_START, state, f"{service} {fact}", None, name)


def _start_of(seen: DeviceState, service: str) -> tuple[CheckState, str]:
    package_name, _, class_name = service.partition("/")
    package = seen.packages.get(package_name)
    if package is None:
        return "unknown", "is not installed"
    try:
        with open_apk(open_remote_apk(seen.device_user.device, package)) as apk:
            application = read_application(apk)
    except (InputError, TransferError) as error:
        return "unknown", f"cannot be read: {error.message}"
    for component in application.of_kind("service"):
        if application.qualified_name(component) == class_name:
            if "foregroundServiceType" in component.attributes:
                return "ok", "declares a foregroundServiceType, so it is started where it cannot be bound"
            return "ok", "declares no foregroundServiceType: where it cannot be bound, its app has to run"
    return "unknown", "is not declared"


def _consent(device_user: DeviceUser, status: StatusAnswer) -> DoctorCheck:
    granted_access, name = status.access, status.application_id
    if not status.asking:
        fact = "asking is switched off: a call without a grant is denied"
        return DoctorCheck(CONSENT, "not-needed", fact, None, name)
    if device_user.sdk < BACKGROUND_ACTIVITIES_SDK:
        return DoctorCheck(CONSENT, "ok", "asks by a window", None, name)
    ways = [
        words
        for words, has in (
            ("a window", granted_access.overlay),
            ("a notification", granted_access.notifications),
        )
        if has
    ]
    if ways:
        return DoctorCheck(
            CONSENT, "ok", f"asks by {' or '.join(ways)} while no agent is in front", None, name
        )
    fact = "neither a window nor a notification can be shown while no agent is in front: needs_user"
    return DoctorCheck(CONSENT, "problem", fact, _INSTALL_AGAIN, name)
