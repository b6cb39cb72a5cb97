"""Installing, setting up and removing the shims of a device, and keeping what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from droidgate.devices.packages import InstalledPackage
from droidgate.shims.broadcast_discovery import ask_broadcast_apps
from droidgate.shims.building import KeyFile, Notify, chosen_key, known_key, unused_apps
from droidgate.shims.device_user import DeviceUser, InstalledShim, installed_shims
from droidgate.shims.installation_steps import (
    Installation,
    InstallationStep,
    allow_any_app,
    install_shim,
    remove_shim,
    set_up_shim,
)
from droidgate.shims.scopes import (
    Scope,
    forget_scope,
    join_scopes,
    keep_scopes,
    load_scopes,
    scope_of_installed,
)
from droidgate.shims.shell_identity import needs_identity, release_identity, set_up_identity
from droidgate.shims.shim_facts import ShimFacts, facts_of, installed_facts, read_shim_facts
from droidgate.shims.source_apps import read_source_apps
from droidgate.sources.source_schemes import DEVICE_SCHEME
from droidgate_android.projects.project_files import read_project_file
from droidgate_mappings.formats.installed import INSTALL_SHIM, SHIM_PACKAGE, is_shim
from droidgate_mappings.model.errors import DeviceError, InputError, UsageError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_shim.builder.protocols import (
    LeftOut,
    check_something_is_left,
    choose_protocols,
    chosen_protocols,
)
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shims import build_shims
from droidgate_shim.builder.source_app import SourceApp

_MOST_NAMED: Final = 10
_MAX_APK: Final = 512 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What is asked for: APKs, or apps to build shims for, or neither: the shims that are installed.

    `any_app` lets every app on the phone use the shims, or takes that back; None leaves it as it is.

    Raises:
        UsageError: APKs and apps are named at once, or options for building and no apps.
    """

    sources: tuple[str, ...]
    apks: tuple[Path, ...]
    options: ShimOptions
    any_app: bool | None = None

    def __post_init__(self) -> None:
        """Check that it does not contradict itself."""
        if self.apks and self.sources:
            raise UsageError("APKs of shims and --from exclude each other", hint="choose one of them")
        if not self.sources and self.options.changed({"key": None}) != ShimOptions():
            message = "options for building shims are given, and no apps to build them for"
            raise UsageError(message, hint="name the apps, such as --from adb:")


@dataclass(frozen=True, slots=True)
class PreparedShim:
    """A shim that is ready to be installed; without bytes it is installed already."""

    facts: ShimFacts
    file_name: str
    apk: bytes | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedInstallation:
    """All that is to be installed, and how it came to be."""

    ready: tuple[PreparedShim, ...]
    key: KeyFile | None = None
    asked: tuple[InstallationStep, ...] = ()
    unused: tuple[SourceApp, ...] = ()
    left_out: LeftOut = field(default_factory=LeftOut)


@dataclass(frozen=True, slots=True)
class InstalledShims:
    """The outcome of an installation.

    Attributes:
        device_user: The device.
        prepared: What was to be installed.
        installations: The steps of each, in the same order.
        identity: The steps for `dev.droidgate.shim` where the others need it to call app functions.
    """

    device_user: DeviceUser
    prepared: PreparedInstallation
    installations: tuple[Installation, ...]
    identity: Installation | None

    @property
    def all_work(self) -> bool:
        """Whether each of them works."""
        return all(item.works for item in self.every)

    @property
    def every(self) -> tuple[Installation, ...]:
        """The installations, with that of the identity."""
        return (*self.installations, *(() if self.identity is None else (self.identity,)))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the shims keep otherwise than their apps declare, where they were built now."""
        return tuple(finding for item in self.prepared.ready for finding in item.findings)


@dataclass(frozen=True, slots=True)
class RemovedShims:
    """The outcome of a removal: each shim with its step, and what ended the calling of app functions."""

    removed: tuple[tuple[str, InstallationStep], ...]
    released: InstallationStep | None

    @property
    def is_done(self) -> bool:
        """Whether every step was done."""
        steps = [step for _, step in self.removed] + ([] if self.released is None else [self.released])
        return all(step.outcome == "done" for step in steps)


def prepare_shims(device_user: DeviceUser, request: InstallRequest, report: Notify) -> PreparedInstallation:
    """Return what is to be installed on a device: read from APKs, built, or what is there already.

    Raises:
        DeviceError: the device has no shim that could be set up.
        InputError: a source or an APK cannot be read, or nothing in it can be offered.
    """
    if request.apks:
        return PreparedInstallation(tuple(_read_apk(path) for path in _apk_files(request.apks)))
    if request.sources:
        return _build(request, device_user, report)
    packages = device_user.packages()
    names = sorted(filter(is_shim, packages))
    if not names:
        hint = f"name its apps: {INSTALL_SHIM}, or APKs that `droidgate shim build` made"
        raise DeviceError("no shim is installed", place=device_user.device.serial, hint=hint)
    ready = [_installed_shim(device_user, packages[name]) for name in names]
    # The bare shim has nothing to set up but what the others need of it.
    return PreparedInstallation(tuple(item for item in ready if not item.facts.is_bare) or tuple(ready))


def install_prepared(
    device_user: DeviceUser, request: InstallRequest, prepared: PreparedInstallation, report: Notify
) -> InstalledShims:
    """Install and set up what was prepared.

    Args:
        device_user: The device.
        request: What was asked for; it is kept for `shim sync`.
        prepared: What `prepare_shims` returned for it.
        report: Is called with a line before each long step.

    Raises:
        DeviceError: the device fails.
    """
    installations = []
    is_kept = prepared.key is None
    for ready in prepared.ready:
        installations.append(install_ready(device_user, ready, report, any_app=request.any_app))
        if not is_kept and installations[-1].works:
            # After the first: where the phone goes away then, `shim sync` completes what was asked for.
            _keep_scope(device_user, request, prepared, report)
            is_kept = True
    identity = _set_up_identity(device_user, request, prepared, report)
    return InstalledShims(device_user, prepared, tuple(installations), identity)


def uninstall_shims(
    device_user: DeviceUser, named: Sequence[str], *, every_shim: bool, report: Notify
) -> RemovedShims:
    """Remove shims with everything that was granted to them and by them.

    Args:
        device_user: The device.
        named: Application ids of shims, or packages of their apps.
        every_shim: Remove all of them instead.
        report: Is called with what else changes.

    Raises:
        DeviceError: the device fails.
        UsageError: a name is not that of a shim of the device.
    """
    names = sorted(filter(is_shim, device_user.packages()))
    chosen = names if every_shim else _find_names(named, installed_shims(device_user))
    callers = _installed_callers(device_user)
    removed = [
        (application_id, remove_shim(device_user, application_id)) for application_id in dict.fromkeys(chosen)
    ]
    signers = {caller.signer for caller in callers if caller.application_id in chosen}
    released = release_identity(device_user, signers) if signers else None
    others = [caller.application_id for caller in callers if caller.application_id not in chosen]
    if SHIM_PACKAGE in chosen and others:
        report(f"app functions of {', '.join(others)} are called again after `droidgate shim install`")
    if every_shim:
        forget_scope(device_user.device)
    else:
        _leave_out_of_scope(device_user, report)
    return RemovedShims(tuple(removed), released)


def install_ready(
    device_user: DeviceUser, ready: PreparedShim, report: Notify, *, any_app: bool | None = None
) -> Installation:
    """Install one shim and set it up, or only set it up where it is installed; `any_app` as in a request."""
    report(f"{'set up' if ready.apk is None else 'install'} {ready.facts.application_id} ...")
    if ready.apk is None:
        installation = set_up_shim(device_user, ready.facts)
    else:
        installation = install_shim(device_user, ready.facts, ready.apk, file_name=ready.file_name)
    return allow_any_app(device_user, ready.facts, installation, any_app=any_app)


def _set_up_identity(
    device_user: DeviceUser, request: InstallRequest, prepared: PreparedInstallation, report: Notify
) -> Installation | None:
    shims = [item.facts for item in prepared.ready]
    if any(shim.application_id == SHIM_PACKAGE for shim in shims):
        # Installing it anew ended what it did for the shims that are there.
        application_ids = {shim.application_id for shim in shims}
        shims += [
            installed_caller
            for installed_caller in _installed_callers(device_user)
            if installed_caller.application_id not in application_ids
        ]
    if not needs_identity(device_user, shims):
        return None
    report(f"set up {SHIM_PACKAGE}, which calls app functions for all shims ...")
    key = known_key(request.options.key) if prepared.key is None else prepared.key.signing
    return set_up_identity(device_user, shims, key)


def _installed_callers(device_user: DeviceUser) -> tuple[ShimFacts, ...]:
    """Return the shims of the phone that call app functions."""
    packages = device_user.packages()
    facts = [installed_facts(device_user, packages[package]) for package in sorted(filter(is_shim, packages))]
    return tuple(item for item in facts if item is not None and item.calls_functions)


def _build(request: InstallRequest, device_user: DeviceUser, report: Notify) -> PreparedInstallation:
    options = request.options
    protocols = chosen_protocols(options)
    read = read_source_apps(_on_this_phone(request.sources, device_user), signer=options.signer)
    apps, left_out = choose_protocols(read, protocols)
    check_something_is_left(apps, left_out)
    key = chosen_key(options.key, report)
    answers = ask_broadcast_apps(device_user, apps, key.signing)
    built = build_shims(answers.apps, options, key.signing)
    unused = unused_apps(answers.apps, built, options.only)
    signer = key.signing.digest
    ready = tuple(
        PreparedShim(facts_of(item, signer), item.file_name, item.apk, item.findings) for item in built
    )
    return PreparedInstallation(ready, key, answers.steps, unused, left_out)


def _on_this_phone(sources: Iterable[str], device_user: DeviceUser) -> list[str]:
    """Replace `adb:` in each source by the serial of the phone that is installed on."""
    unnamed = (DEVICE_SCHEME, f"{DEVICE_SCHEME}/")
    serial = device_user.device.serial
    return [
        f"{DEVICE_SCHEME}{serial}{source.removeprefix(DEVICE_SCHEME)}"
        if source == unnamed[0] or source.startswith(unnamed[1])
        else source
        for source in sources
    ]


def _apk_files(named: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for item in named:
        apks = sorted(item.glob("*.apk")) if item.is_dir() else [item]
        if not apks:
            hint = f"`droidgate shim build` makes some; for the apps of a source, write --from {item}"
            raise InputError("the folder holds no APK", place=str(item), hint=hint)
        files += apks
    return files


def _read_apk(path: Path) -> PreparedShim:
    data = read_project_file(path, root=None, most=_MAX_APK)
    return PreparedShim(read_shim_facts(data, name=str(path)), path.name, data)


def _installed_shim(device_user: DeviceUser, package: InstalledPackage) -> PreparedShim:
    facts = installed_facts(device_user, package)
    if facts is None:
        hint = f"remove it with `droidgate shim uninstall {package.name}`"
        raise DeviceError("its APK cannot be read as that of a shim", place=package.name, hint=hint)
    return PreparedShim(facts, package.name, None)


def _keep_scope(
    device_user: DeviceUser, request: InstallRequest, prepared: PreparedInstallation, report: Notify
) -> None:
    """Add what was asked for to what `shim sync` looks after; apps of earlier installations stay."""
    whole = f"{DEVICE_SCHEME}{device_user.device.serial}" in _on_this_phone(request.sources, device_user)
    built = {package for item in prepared.ready for package in item.facts.packages}
    packages = built | {item.package for item in prepared.unused}
    key = None if request.options.key is None else request.options.key.resolve()
    protocols = tuple(sorted(chosen_protocols(request.options)))
    options = request.options.changed({"key": key, "protocols": protocols, "signer": None})
    new_scope = Scope(packages=None if whole else tuple(sorted(packages)), options=options)
    earlier = load_scopes(device_user.device) or _scope_of_others(device_user, prepared, built, key)
    scopes = join_scopes(earlier, new_scope, built)
    if new_scope.options.aggregate and any(
        scope.options.aggregate and not scope.is_within(scopes[-1]) for scope in earlier
    ):
        report("the shim for several apps was made anew with other options, for these apps only")
    keep_scopes(device_user.device, scopes)


def _scope_of_others(
    device_user: DeviceUser, prepared: PreparedInstallation, built: set[str], key: Path | None
) -> tuple[Scope, ...]:
    """Return the scope of the other shims that the same key signed, where none was kept."""
    packages = device_user.packages()
    signers = {item.facts.signer for item in prepared.ready}
    others = [
        item
        for item in installed_shims(device_user)
        if not built.issuperset(item.source_packages)
        and (facts := installed_facts(device_user, packages[item.application_id])) is not None
        and facts.signer in signers
    ]
    scope = scope_of_installed(others, key)
    return () if scope is None else (scope,)


def _leave_out_of_scope(device_user: DeviceUser, report: Notify) -> None:
    """Let `shim sync` look after the apps whose shims are left: it must not install the others again."""
    scopes = load_scopes(device_user.device)
    if any(scope.packages is None for scope in scopes):
        report("from now on `droidgate shim sync` looks after the apps whose shims are left only")
    apps = {
        package
        for installed_shim in installed_shims(device_user)
        for package in installed_shim.source_packages
    }
    unnamed = apps.difference(*(scope.packages or () for scope in scopes))
    packages = [unnamed if scope.packages is None else apps.intersection(scope.packages) for scope in scopes]
    keep_scopes(
        device_user.device,
        [
            scope.changed({"packages": tuple(sorted(names))})
            for scope, names in zip(scopes, packages, strict=True)
        ],
    )


def _find_names(named: Iterable[str], shims: Sequence[InstalledShim]) -> list[str]:
    names = {shim.source_packages[0]: shim.application_id for shim in shims if len(shim.source_packages) == 1}
    names |= {shim.application_id: shim.application_id for shim in shims}
    for item in named:
        if item not in names:
            hint = suggest_name(item, sorted(names), most=_MOST_NAMED)
            raise UsageError(f"{item!r} is not a shim of the phone", hint=hint)
    return [names[item] for item in named]
