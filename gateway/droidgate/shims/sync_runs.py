"""Keeping the shims of a device current: what is installed against what its apps declare now, what is to be
done, and doing it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

from droidgate.devices.device_errors import TransferError
from droidgate.shims.answers import StatusAnswer
from droidgate.shims.broadcast_discovery import DiscoveredApps, ask_broadcast_apps
from droidgate.shims.building import KeyFile, Notify, chosen_key, unused_apps
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_shims
from droidgate.shims.installation_steps import InstallationStep, remove_shim
from droidgate.shims.installations import PreparedShim, install_ready
from droidgate.shims.scopes import Scope, load_scopes, scope_of_installed
from droidgate.shims.shell_identity import is_lending, needs_identity, release_identity, set_up_identity
from droidgate.shims.shim_facts import ShimFacts, facts_of, installed_facts, installed_routes
from droidgate.shims.source_apps import NothingDeclaredError, read_source_apps
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE
from droidgate_mappings.model.capability import Capability, reachable_definitions
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass, field, replace
from droidgate_shim.builder.protocols import LeftOut, choose_protocols, chosen_protocols
from droidgate_shim.builder.shims import BuiltShim, NothingToOfferError, build_bare_shim, build_shims
from droidgate_shim.builder.source_app import SourceApp
from droidgate_shim.engine.routes import RouteTable, read_route_table

ChangeKind = Literal["added", "changed", "removed", "same"]

_OTHERWISE: Final = "the app behind it, or how the shim is built, changed"
_FOR_OTHERS: Final = "it calls app functions for the other shims"


@dataclass(frozen=True, slots=True)
class PlannedChange:
    """What is to be done about one shim.

    Attributes:
        kind: Its app is `added`, `changed`, `removed` or declares nothing any more, or is the `same` as far
            as is known.
        application_id: Which shim.
        built: The shim as it should be; None where it should go, or is not known.
        why: In words.
        is_helper: The shim has no capabilities, and calls app functions for the others.
    """

    kind: ChangeKind
    application_id: str
    built: BuiltShim | None
    why: str
    is_helper: bool = False


def plan_changes(
    installed: Sequence[InstalledShim],
    built: Sequence[BuiltShim],
    packages: Collection[str] | None,
    unclear: Collection[str] = (),
) -> tuple[PlannedChange, ...]:
    """Return what makes the installed shims those that were built, by application id.

    Args:
        installed: The shims of the device.
        built: The shims as they should be.
        packages: The apps that are looked after; None is all. A shim of other apps stays as it is.
        unclear: Apps that are there and of which it is not known now what they declare. Their shims stay,
            since what was granted to a shim goes with it.
    """
    installed_by_id = {item.application_id: item for item in installed}
    built_by_id = {item.application_id: item for item in built}
    changes = [_change_of(item, installed_by_id.get(item.application_id)) for item in built]
    changes += [
        _change_without(item, unclear)
        for item in installed
        if item.application_id not in built_by_id and _is_looked_after(item, packages)
    ]
    return tuple(sorted(changes, key=lambda change: change.application_id))


def plan_identity(
    installed: ShimFacts | None,
    built: BuiltShim | None,
    *,
    is_installed: bool,
    is_lending: bool,
    is_unclear: bool = False,
) -> PlannedChange | None:
    """Return what is to be done about the bare shim, which calls app functions for the other shims.

    Args:
        installed: Facts of the one that is installed; None where there is none, or it cannot be read.
        built: As it should be; None where no shim calls app functions.
        is_installed: An app of its id is installed.
        is_lending: Its instrumentation runs.
        is_unclear: It is not known of some shim whether it calls app functions.
    """
    if built is None:
        if installed is None or not installed.is_bare or is_unclear:
            return None
        return _helper("removed", None, "no shim is left that calls app functions")
    if not is_installed:
        return _helper("added", built)
    if installed is None or installed.build != built.build:
        return _helper("changed", built, f"{_FOR_OTHERS}, and differs")
    if not is_lending:
        return _helper("changed", built, "its instrumentation does not run")
    return _helper("same", built)


def _helper(kind: ChangeKind, built: BuiltShim | None, why: str = _FOR_OTHERS) -> PlannedChange:
    return PlannedChange(kind, SHIM_PACKAGE, built, why, is_helper=True)


def _change_without(shim: InstalledShim, unclear: Collection[str]) -> PlannedChange:
    if any(source_package in unclear for source_package in shim.source_packages):
        return PlannedChange(
            "same", shim.application_id, None, "what its app declares now is not known, so it stays"
        )
    return PlannedChange("removed", shim.application_id, None, _why_removed(shim))


def _change_of(built: BuiltShim, installed: InstalledShim | None) -> PlannedChange:
    if installed is None:
        return PlannedChange("added", built.application_id, built, "it has no shim yet")
    if installed.status is None:
        reason = installed.problem.message if installed.problem is not None else "no answer"
        return PlannedChange("changed", built.application_id, built, f"the shim does not answer: {reason}")
    if installed.status.build == built.build:
        return PlannedChange("same", built.application_id, built, "the shim is as it should be")
    return PlannedChange("changed", built.application_id, built, _difference(installed.status, built))


def _difference(status: StatusAnswer, built: BuiltShim) -> str:
    new = [capability for capability in built.capabilities if capability not in status.routes]
    removed = [route for route in status.routes if route not in built.capabilities]
    others = [target.package for target in status.targets if target.state == "other-signer"]
    differences = [f"signed by another than the shim was built for: {', '.join(others)}"] if others else []
    differences += [f"new: {', '.join(new)}"] if new else []
    differences += [f"gone: {', '.join(removed)}"] if removed else []
    return "; ".join(differences) or _OTHERWISE


def _with_changed_capabilities(device_user: DeviceUser, change: PlannedChange) -> PlannedChange:
    """Return a change with the capabilities whose parameters or results are others than in the old shim."""
    if change.kind != "changed" or change.built is None:
        return change
    try:
        former = installed_routes(device_user, device_user.packages()[change.application_id])
    except (InputError, TransferError):
        return change
    now = read_route_table(dict(change.built.routes))
    names = [
        name
        for name in now.routes
        if name in former.routes and _declared(now, name) != _declared(former, name)
    ]
    if not names:
        return change
    words = [f"other parameters or results: {', '.join(names)}"]
    return replace(change, why="; ".join([change.why] * (change.why != _OTHERWISE) + words))


def _declared(table: RouteTable, name: str) -> tuple[Capability, dict[str, Type]]:
    """Return what a route takes and returns, with the definitions that these refer to."""
    capability = table.routes[name].capability
    definitions = dict(table.definitions)
    reached = reachable_definitions(capability, definitions)
    return capability, {name: type_ for name, type_ in definitions.items() if name in reached}


def _is_looked_after(shim: InstalledShim, packages: Collection[str] | None) -> bool:
    if shim.is_bare:
        return False
    if packages is None:
        return True
    return bool(shim.source_packages) and all(
        source_package in packages for source_package in shim.source_packages
    )


def _why_removed(shim: InstalledShim) -> str:
    if shim.application_id == SHIM_PACKAGE:
        return "none of its apps declares anything that was chosen"
    return "the app is not installed, is disabled, or declares nothing that was chosen"


@dataclass(frozen=True, slots=True)
class SyncedChange:
    """One change, and what was done about it; `works` is None where nothing had to be."""

    change: PlannedChange
    steps: tuple[InstallationStep, ...] = ()
    works: bool | None = None


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What is to be done.

    Attributes:
        device_user: The device.
        key: What signs the shims of the newest installation, and the one that calls app functions.
        changes: One for each shim.
        asked: The apps that were asked for their tools.
        unused: The apps that get no shim.
        callers: The shims that call app functions and are to be there.
        left_out: What gets no shim because of its protocol.
        signers: Application id of a shim that was built -> digest of the certificate that signed it.
    """

    device_user: DeviceUser
    key: KeyFile
    changes: tuple[PlannedChange, ...]
    asked: tuple[InstallationStep, ...]
    unused: tuple[SourceApp, ...]
    callers: tuple[ShimFacts, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)
    signers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _ScopeBuild:
    """What was built for one scope."""

    key: KeyFile
    built: tuple[BuiltShim, ...]
    asked: DiscoveredApps
    unused: tuple[SourceApp, ...]
    left_out: LeftOut


def plan_sync(device_user: DeviceUser, report: Notify) -> SyncPlan:
    """Return what makes the shims of a device fit its apps.

    Args:
        device_user: The device.
        report: Is called with what a person should know of it.

    Raises:
        DeviceError: the device fails, or has no shim.
        InputError: an app, the key or the record of what was installed cannot be read.
    """
    installed = installed_shims(device_user)
    scopes = load_scopes(device_user.device) or (_scope_of_installed(device_user, installed, report),)
    is_whole = any(scope.packages is None for scope in scopes)
    packages = {package for scope in scopes for package in scope.packages or ()}
    apps = _read_apps(device_user, None if is_whole else packages)
    builds: list[_ScopeBuild] = []
    assigned: set[str] = set()
    # An app belongs to the newest scope that has a shim for it.
    for scope in reversed(scopes):
        mine = [app for app in apps if app.package not in assigned and scope.includes(app.package, packages)]
        builds.append(_build_scope(device_user, scope, mine, report))
        assigned.update(package for item in builds[-1].built for package in item.packages)
    built = [item for build in builds for item in build.built]
    signers = {item.application_id: build.key.signing.digest for build in builds for item in build.built}
    asked_apps = [app for build in builds for app in build.asked.apps]
    unclear = {app.package for app in asked_apps if not app.signer or app.unasked_components}
    planned = plan_changes(installed, built, None if is_whole else packages, unclear)
    changes = tuple(_with_changed_capabilities(device_user, change) for change in planned)
    _report_broken(installed, changes, report)
    key = builds[0].key
    changes, callers = _with_identity_planned(device_user, changes, installed, built, key, signers)
    unused = {app.package: app for build in builds for app in build.unused if app.package not in assigned}
    return SyncPlan(
        device_user,
        key,
        changes,
        tuple(step for build in builds for step in build.asked.steps),
        tuple(unused.values()),
        callers,
        _left_out_of(builds),
        signers,
    )


def _build_scope(
    device_user: DeviceUser, scope: Scope, apps: Sequence[SourceApp], report: Notify
) -> _ScopeBuild:
    key = chosen_key(scope.options.key, report)
    chosen, left_out = choose_protocols(apps, chosen_protocols(scope.options))
    answers = ask_broadcast_apps(device_user, chosen, key.signing)
    built = _build(answers.apps, scope, key, report)
    return _ScopeBuild(key, built, answers, unused_apps(answers.apps, built, scope.options.only), left_out)


def _left_out_of(builds: Sequence[_ScopeBuild]) -> LeftOut:
    """Return what was left out of one scope and is not in an older one."""
    packages: set[str] = set()
    protocols: set[str] = set()
    for number, build in enumerate(builds):
        built = [item for older in builds[number + 1 :] for item in older.built]
        new_packages = set(build.left_out.packages).difference(*(item.packages for item in built))
        packages |= new_packages
        protocols.update(build.left_out.protocols if new_packages else ())
    return LeftOut(tuple(sorted(packages)), tuple(sorted(protocols)))


def _report_broken(
    installed: Sequence[InstalledShim], changes: Sequence[PlannedChange], report: Notify
) -> None:
    """Report shims that stay although an app behind them is not installed, since they are not synced."""
    planned = {change.application_id for change in changes}
    for shim in installed:
        absent = [target.package for target in shim.broken_targets if target.state == "absent"]
        if absent and shim.application_id not in planned:
            report(
                f"{shim.application_id} stays, and does not work: {', '.join(absent)} is not installed; "
                f"remove it with: droidgate shim uninstall {shim.application_id}"
            )


def carry_out(plan: SyncPlan, report: Notify) -> list[SyncedChange]:
    """Do what was planned, and return each change with its steps.

    Raises:
        DeviceError: the device fails.
    """
    return _with_identity(plan, [_carry_out(plan, change, report) for change in plan.changes])


def findings_of(synced: Sequence[SyncedChange]) -> list[Finding]:
    """Return what the shims that were built keep otherwise than their apps declare."""
    return [finding for item in synced if item.change.built for finding in item.change.built.findings]


def _with_identity_planned(
    device_user: DeviceUser,
    changes: Sequence[PlannedChange],
    installed: Sequence[InstalledShim],
    built: Sequence[BuiltShim],
    key: KeyFile,
    signers: Mapping[str, str],
) -> tuple[tuple[PlannedChange, ...], tuple[ShimFacts, ...]]:
    """Return the changes with that of the bare shim, and the shims that call app functions then."""
    packages = device_user.packages()
    replaced = {
        change.application_id for change in changes if change.built is not None or change.kind == "removed"
    }
    others = [
        installed_facts(device_user, packages[item.application_id])
        for item in installed
        if item.application_id not in replaced and item.application_id in packages
    ]
    facts = [facts_of(item, signers[item.application_id]) for item in built] + [
        item for item in others if item is not None
    ]
    callers = (
        tuple(item for item in facts if item.calls_functions) if needs_identity(device_user, facts) else ()
    )
    if any(item.application_id == SHIM_PACKAGE and not item.is_bare for item in facts):
        return tuple(changes), callers
    package = packages.get(SHIM_PACKAGE)
    identity = None if package is None else installed_facts(device_user, package)
    planned = plan_identity(
        identity,
        build_bare_shim(key.signing) if callers else None,
        is_installed=package is not None,
        is_lending=package is not None and is_lending(device_user.client(SHIM_PACKAGE)),
        is_unclear=None in others or (identity is not None and identity.signer != key.signing.digest),
    )
    is_planned = planned is not None or (identity is not None and identity.is_bare)
    rest = [change for change in changes if not is_planned or change.application_id != SHIM_PACKAGE]
    both = [*rest, *([] if planned is None else [planned])]
    return tuple(sorted(both, key=lambda item: item.application_id)), callers


def _build(apps: Sequence[SourceApp], scope: Scope, key: KeyFile, report: Notify) -> tuple[BuiltShim, ...]:
    """Build what there is; a capability that was chosen and went away leaves no shim, or a smaller one."""
    offered = {
        name
        for app in apps
        for provider in app.providers
        for capability in provider.capabilities
        for name in (capability.id, f"{app.package}/{capability.id}")
    }
    only = tuple(item for item in scope.options.only if item in offered)
    for gone in sorted({*scope.options.only}.difference(only)):
        report(f"no app offers {gone} any more")
    if scope.options.only and not only:
        return ()
    try:
        return build_shims(apps, scope.options.changed({"only": only}), key.signing)
    except NothingToOfferError:
        return ()


def _read_apps(device_user: DeviceUser, chosen: Collection[str] | None) -> tuple[SourceApp, ...]:
    """Return the apps of these packages that are there and declare something; None is all apps."""
    whole = f"{DEVICE_SCHEME}{device_user.device.serial}"
    present = device_user.packages()
    sources = (
        [whole]
        if chosen is None
        else [f"{whole}/{package}" for package in sorted(chosen) if package in present]
    )
    apps: list[SourceApp] = []
    for source in sources:
        with contextlib.suppress(NothingDeclaredError):
            apps += read_source_apps([source])
    return tuple(apps)


def _scope_of_installed(device_user: DeviceUser, installed: Sequence[InstalledShim], report: Notify) -> Scope:
    """Return the scope where none was kept: the apps of the shims that are there."""
    scope = scope_of_installed(installed)
    if scope is None:
        hint = f"install shims first: {INSTALL_SHIM}"
        raise DeviceError(
            "no shim is installed that could be kept current", place=device_user.device.serial, hint=hint
        )
    report("what was installed here is not on record; the apps of the shims that are there are looked after")
    return scope


def _with_identity(plan: SyncPlan, synced: Sequence[SyncedChange]) -> list[SyncedChange]:
    """Let `dev.droidgate.shim` call app functions for the shims that are there, or end that."""
    if plan.callers:
        done = set_up_identity(plan.device_user, plan.callers, plan.key.signing)
        steps = done.steps if any(step.outcome in {"done", "refused"} for step in done.steps) else ()
        works = done.works
    else:
        step = release_identity(plan.device_user, {plan.key.signing.digest})
        steps, works = (() if step is None else (step,)), step is None or step.outcome == "done"
    if not steps:
        return list(synced)
    if all(item.change.application_id != SHIM_PACKAGE for item in synced):
        return [SyncedChange(_helper("same", None), tuple(steps), works), *synced]
    return [
        replace(item, steps=(*item.steps, *steps), works=works and item.works is not False)
        if item.change.application_id == SHIM_PACKAGE
        else item
        for item in synced
    ]


def _carry_out(plan: SyncPlan, change: PlannedChange, report: Notify) -> SyncedChange:
    is_bare = change.application_id == SHIM_PACKAGE and change.built and not change.built.capabilities
    if change.kind == "same" or is_bare:
        return SyncedChange(change)
    if change.built is None:
        step = remove_shim(plan.device_user, change.application_id)
        return SyncedChange(change, (step,), step.outcome == "done")
    built = change.built
    signer = plan.signers.get(built.application_id, plan.key.signing.digest)
    ready = PreparedShim(facts_of(built, signer), built.file_name, built.apk, built.findings)
    installation = install_ready(plan.device_user, ready, report)
    return SyncedChange(change, installation.steps, installation.works)
