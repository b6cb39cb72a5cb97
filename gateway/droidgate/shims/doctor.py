"""`shim doctor`: what keeps agents from the apps behind the shims, and the fix of each.

Each check is a step of docs/guides/prove-on-a-phone.md that adb can do. The shim is asked for what it knows;
`dumpsys`, whose output nobody promises, only adds what cannot be learnt otherwise. Where it says
something else, the check is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from droidgate.devices.describing import wireless_warning
from droidgate.devices.device_errors import CommandFailedError, DeviceOutputError, TransferError
from droidgate.devices.packages import InstalledPackage, query_components
from droidgate.devices.properties import build_of, get_properties
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
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.android_names import android_name
from droidgate_shim.builder.shim_manifest import (
    ACTIONS_OF_BACKENDS,
    MINIMUM_SDK,
    SCREEN_BACKENDS,
    TOOL_ACTION,
)

CheckState = Literal["ok", "problem", "risk", "not-needed", "unknown"]

_INSTALL_AGAIN: Final = "droidgate shim install"
_REMOVE: Final = "droidgate shim uninstall"
_SYNC: Final = "droidgate shim sync"
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


class _Found(NamedTuple):
    """What a check found; the members are those of `DoctorCheck`."""

    state: CheckState
    found: str
    fix: str | None = None


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
    checks = [DoctorCheck(kind, *found) for kind, look in _OF_DEVICE for found in look(seen)]
    for shim in shims:
        name, status = shim.application_id, shim.status
        checks.append(DoctorCheck(HANDSHAKE, *_handshake(shim), name))
        if status is not None:
            # A shim without capabilities has no agents.
            rows = [row for row in _OF_SHIM if status.routes or not row.is_of_agents]
            checks += [
                DoctorCheck(row.kind, *found, name) for row in rows for found in row.look(seen, status)
            ]
    return tuple(checks)


def _os_level(seen: DeviceState) -> Iterator[_Found]:
    device = seen.device_user.device
    build = build_of(get_properties(device))
    fact = f"{android_name(build.sdk_full)}, {build.manufacturer} {build.model}".strip()
    needs = None if build.sdk >= MINIMUM_SDK else f"the shim needs {android_name(MINIMUM_SDK)} or later"
    fix = needs or wireless_warning(device.serial, build)
    yield _Found("ok" if fix is None else "problem", fact, fix)


def _screen_lock(seen: DeviceState) -> Iterator[_Found]:
    is_locked = read_lock(seen.device_user.device.run(SHOW_LOCK))
    if is_locked is None:
        yield _Found("unknown", "Android does not show it to a shell here", "look at the screen")
    elif is_locked:
        fix = "unlock the device; until then calls that open a window are answered needs_user"
        yield _Found("problem", "the device is locked", fix)
    else:
        yield _Found("ok", "the device is unlocked")


def _installed(seen: DeviceState) -> Iterator[_Found]:
    user, count = seen.device_user.user, len(seen.shims)
    if count:
        yield _Found("ok", f"{count} for user {user}")
    else:
        yield _Found("problem", f"there is none for user {user}", INSTALL_SHIM)


def _flags(seen: DeviceState) -> Iterator[_Found]:
    if seen.device_user.sdk < APP_FUNCTIONS_SDK:
        yield _Found("not-needed", f"{android_name(APP_FUNCTIONS_SDK)} is the first with app functions")
        return
    try:
        shell = app_function_shell(seen.device_user.device)
    except (CommandFailedError, DeviceOutputError) as error:
        yield _Found("unknown", error.message)
        return
    if not shell.executes:
        reason = shell.reason or "cmd app_function cannot call functions"
        yield _Found("problem", reason, "use a build of Android 16 QPR2 or later")
        return
    words = [word for word, has in (("lists", shell.lists), ("calls", shell.executes)) if has]
    words += ["reports the enabled state"] if shell.reports_enabled else []
    yield _Found("ok", f"cmd app_function {', '.join(words)}")


def _accessibility(seen: DeviceState) -> Iterator[_Found]:
    if seen.device_user.sdk >= APP_FUNCTIONS_SDK and seen.holder is not None:
        yield accessibility(seen.device_user)


def accessibility(device_user: DeviceUser) -> _Found:
    """Return whether accessibility services that are switched on are bound.

    An instrumentation that connects without care suspends them (shim.md 4).
    """
    command = ["settings", "get", "--user", str(device_user.user), "secure", "enabled_accessibility_services"]
    result = device_user.device.run(command)
    enabled = result.text.strip()
    if result.exit_status != 0:
        return _Found("unknown", "Android does not show it to a shell here")
    if enabled in {"", "null"}:
        return _Found("not-needed", "no accessibility service is switched on")
    services = ", ".join(part for part in enabled.split(":") if part)
    result = device_user.device.run(["dumpsys", "accessibility"])
    bound = _BOUND.search(result.text) if result.exit_status == 0 else None
    if bound is None:
        fact = f"{services} switched on; Android does not show a shell here whether they run"
        return _Found("unknown", fact, "look at the service itself: it has to keep working during a call")
    if bound["services"].strip():
        return _Found("ok", f"{services} switched on, and bound")
    fact = f"{services} switched on, and none is bound: something suspends them"
    fix = f"end other UI tests; where it stays so, `adb shell {END_COMMAND}`, and report it"
    return _Found("problem", fact, fix)


def _handshake(shim: InstalledShim) -> _Found:
    if shim.status is not None:
        return _Found("ok", f"build {shim.status.build[:12]}")
    problem = shim.problem
    fact = problem.message if problem is not None else "it does not answer"
    return _Found("problem", fact, (problem and problem.hint) or _SYNC)


def _visibility(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    device_user = seen.device_user
    try:
        services = query_components(device_user.device, "services", TOOL_ACTION, device_user.user)
    except DeviceOutputError as error:
        yield _Found("problem", error.message)
        return
    mine = [service for service in services if service.partition("/")[0] == status.application_id]
    if mine:
        yield _Found("ok", mine[0])
    else:
        yield _Found("problem", f"no service of it answers {TOOL_ACTION}", _SYNC)


def _targets(_seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    for target in status.targets:
        problem = target_problem(target)
        if problem is None:
            version = "" if target.version_code is None else target.version_code
            yield _Found("ok", f"{target.package} {version}".strip())
        else:
            fact, fix = problem
            yield _Found("problem", f"{target.package} {fact}", fix)


def _battery(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    since, has = BACKGROUND_SERVICES_SDK, status.access.battery_exempt
    yield _allowed(seen, since, has=has, words="exempt from battery optimisation")


def _notifications(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    yield _allowed(seen, NOTIFICATIONS_SDK, has=status.access.notifications, words="allowed to notify")


def _start_route(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    if SCREEN_BACKENDS.isdisjoint(seen.kinds_of(status.application_id)):
        yield _Found("not-needed", "none of its capabilities opens a window")
    else:
        since, has = BACKGROUND_ACTIVITIES_SDK, status.access.overlay
        yield _allowed(seen, since, has=has, words="allowed to appear on top")


def _allowed(seen: DeviceState, since: int, *, has: bool, words: str) -> _Found:
    if seen.device_user.sdk < since:
        return _Found("not-needed", f"{android_name(since)} is the first that asks for it")
    return _Found("ok", words) if has else _Found("problem", f"not {words}", _INSTALL_AGAIN)


def _app_functions(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    name, is_holder = status.application_id, status.application_id == SHIM_PACKAGE
    is_caller = "app-function" in seen.kinds_of(name)
    problem = _holder_problem(seen, name)
    if not is_caller and not (is_holder and seen.is_holder_needed):
        words = "no shim calls app functions" if is_holder else "none of its capabilities is an app function"
        yield _Found("not-needed", words)
    elif seen.device_user.sdk < APP_FUNCTIONS_SDK:
        fix = f"its app functions need {android_name(APP_FUNCTIONS_SDK)} or later"
        yield _Found("problem", "Android has no app functions here", fix)
    elif problem is not None:
        yield _Found("problem", *problem)
    elif seen.device_user.sdk >= APP_FUNCTION_ALLOWLIST_SDK:
        fact = "the permission can be borrowed; Android asks its list of agents too, which it shows nobody"
        yield _Found("unknown", fact, "call a function, and see whether it is denied")
    else:
        words = "calls app functions for the shims" if is_holder else f"{SHIM_PACKAGE} calls them for it"
        yield _Found("ok", f"{words}; it can borrow the shell's permission")


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


def _grants(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    facts = seen.facts.get(status.application_id)
    read_only: Collection[str] = () if facts is None else facts.read_only
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
    words = [part for part in (granted, also) if part]
    if for_any:
        fact = f"any app on the device may call {', '.join(for_any)}, and which one did cannot be found out"
        fix = "droidgate shim install --no-allow-any-app, or the shim's own screen"
        yield _Found("risk", "; ".join([fact, *words]), fix)
    elif callers:
        yield _Found("ok", "; ".join(words))
    elif status.asking:
        yield _Found("ok", "nobody yet; the phone asks its user at the first call")
    else:
        fix = "grant in the shim's own screen, or let it ask again"
        yield _Found("problem", "nobody may call it, and it does not ask", fix)


def _in_words(capability: str) -> str:
    return "every capability" if capability == EVERY_CAPABILITY else capability


def _tool_start(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    facts = seen.facts.get(status.application_id)
    if facts is None:
        yield _Found("unknown", "the shim's APK cannot be read", _SYNC)
    elif not facts.services:
        yield _Found("not-needed", "no capability is called by Mobile-MCP")
    elif seen.device_user.sdk < BACKGROUND_SERVICES_SDK:
        yield _Found("not-needed", f"{android_name(BACKGROUND_SERVICES_SDK)} is the first that limits it")
    else:
        for service in facts.services:
            state, fact = _start_of(seen, service)
            yield _Found(state, f"{service} {fact}")


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


def _consent(seen: DeviceState, status: StatusAnswer) -> Iterator[_Found]:
    possible = (("a window", status.access.overlay), ("a notification", status.access.notifications))
    ways = [words for words, has in possible if has]
    if not status.asking:
        yield _Found("not-needed", "asking is switched off: a call without a grant is denied")
    elif seen.device_user.sdk < BACKGROUND_ACTIVITIES_SDK:
        yield _Found("ok", "asks by a window")
    elif ways:
        yield _Found("ok", f"asks by {' or '.join(ways)} while no agent is in front")
    else:
        fact = "neither a window nor a notification can be shown while no agent is in front: needs_user"
        yield _Found("problem", fact, _INSTALL_AGAIN)


_OF_DEVICE: Final[Sequence[tuple[CheckKind, Callable[[DeviceState], Iterator[_Found]]]]] = (
    (OS_LEVEL, _os_level),
    (SCREEN_LOCK, _screen_lock),
    (INSTALLED, _installed),
    (FLAGS, _flags),
    (ACCESSIBILITY, _accessibility),
)


class _ShimRow(NamedTuple):
    """A check of a shim that answers; one of agents only where it has capabilities."""

    kind: CheckKind
    look: Callable[[DeviceState, StatusAnswer], Iterator[_Found]]
    is_of_agents: bool = True


_OF_SHIM: Final = (
    _ShimRow(VISIBILITY, _visibility),
    _ShimRow(TARGETS, _targets),
    _ShimRow(BATTERY, _battery),
    _ShimRow(NOTIFICATIONS, _notifications),
    _ShimRow(START_ROUTE, _start_route),
    _ShimRow(APP_FUNCTIONS, _app_functions, is_of_agents=False),
    _ShimRow(GRANTS, _grants),
    _ShimRow(TOOL_START, _tool_start),
    _ShimRow(CONSENT, _consent),
)
