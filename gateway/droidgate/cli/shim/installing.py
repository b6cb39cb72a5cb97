"""What `shim install` and `shim uninstall` do."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from droidgate.cli.descriptors.converting import reaches
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import CrossingThreshold
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Heading, Line, Table, show, tell
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.shim.building import findings_blocks, key_of, key_record, unused_blocks, unused_records
from droidgate.cli.shim.documents import (
    InstalledShimRecord,
    RemovedShim,
    ShimIdentityRecord,
    ShimInstallDocument,
    ShimStep,
    ShimUninstallDocument,
    UnusedApp,
)
from droidgate.devices.device import open_device
from droidgate.devices.packages import InstalledPackage
from droidgate.installed import SHIM_PACKAGE, is_shim
from droidgate.model.errors import DeviceError, InputError, UsageError
from droidgate.model.findings import Finding
from droidgate.parsing.project_files import read_project_file
from droidgate.sources.spelling import DEVICE_SCHEME
from droidgate_shim.builder.building import BuildRequest, Key, known_key, unused_apps
from droidgate_shim.builder.shims import build_shims
from droidgate_shim.builder.source_apps import read_source_apps
from droidgate_shim.host.discovering import ask_broadcast_apps
from droidgate_shim.host.installing import Installation, install_shim, remove_shim, set_up_shim
from droidgate_shim.host.place import InstalledShim, ShimPlace, installed_shims, place_of
from droidgate_shim.host.scopes import forget_scope, keep_scope, load_scope, scope_of
from droidgate_shim.host.shell_identity import needs_identity, release_identity, set_up_identity
from droidgate_shim.host.shim_facts import ShimFacts, facts_of, installed_facts, read_shim_facts
from droidgate_shim.host.steps import Step

_MAX_APK: Final = 512 * 1024 * 1024

_QUESTION: Final = (
    "Agents that call by an Intent, as the prototype of Mobile-MCP does, cannot be told apart. Either the",
    "phone asks its user for each such call, or any app on this phone may call what these shims offer:",
)


@dataclass(frozen=True, slots=True)
class InstallRequest:
    """What is asked for: APKs, or apps to build shims for, or neither; and who may call."""

    apks: tuple[Path, ...]
    build: BuildRequest
    any_app: bool | None


@dataclass(frozen=True, slots=True)
class Ready:
    """A shim that is ready to be installed; without bytes it is installed already."""

    facts: ShimFacts
    file_name: str
    apk: bytes | None
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that is to be installed, and how it came to be."""

    ready: tuple[Ready, ...]
    key: Key | None = None
    asked: tuple[Step, ...] = ()
    unused: tuple[UnusedApp, ...] = ()


def install_and_report(
    request: InstallRequest, serial: str | None, *, fail_on: CrossingThreshold | None, as_json: bool
) -> int:
    """Install and set up, and show each step; return 4 where a shim does not work then.

    Raises:
        DeviceError: the phone cannot be reached or used, or has no shim that could be set up.
        InputError: a source or an APK cannot be read, or nothing in it can be offered.
        UsageError: APKs and apps are named at once.
    """
    if request.apks and request.build.sources:
        raise UsageError("APKs of shims and --from exclude each other", hint="Choose one of them")
    place = place_of(open_device(serial))
    prepared = _prepare(request, place)
    any_app = request.any_app
    if any_app is None and any(one.facts.capabilities for one in prepared.ready):
        any_app = _ask_for_any_app(prepared.ready)
    installations = []
    is_kept = prepared.key is None
    for ready in prepared.ready:
        installations.append(_install(place, ready, any_app=any_app))
        if not is_kept and installations[-1].works:
            # After the first: where the phone goes away then, `shim sync` completes what was asked for.
            _keep_scope(place, request.build, prepared)
            is_kept = True
    identity = _set_up_identity(place, request, prepared)
    if as_json:
        print_json(_document(place, prepared, installations, identity))
    else:
        show(_page(place, prepared, installations, identity))
    if not all(one.works for one in (*installations, *([] if identity is None else [identity]))):
        return ExitCode.DEVICE
    every = [finding for one in prepared.ready for finding in one.findings]
    return ExitCode.FINDINGS if reaches(every, fail_on) else ExitCode.OK


def uninstall_and_report(
    named: tuple[str, ...], serial: str | None, *, every_shim: bool, as_json: bool
) -> int:
    """Remove shims and show it; return 4 where one stays.

    Raises:
        DeviceError: the phone cannot be reached or used.
        UsageError: nothing is named, or something that is no shim of the phone.
    """
    if bool(named) == every_shim:
        message = "no shim is named" if not named else "names and --all exclude each other"
        raise UsageError(message, hint="Name shims as `droidgate shim status` shows them, or take --all")
    place = place_of(open_device(serial))
    names = sorted(filter(is_shim, place.packages()))
    chosen = names if every_shim else _find_names(named, installed_shims(place))
    callers = _installed_callers(place)
    removed = [(one, remove_shim(place, one)) for one in dict.fromkeys(chosen)]
    signers = {one.signer for one in callers if one.application_id in chosen}
    released = release_identity(place, signers) if signers else None
    left = [one.application_id for one in callers if one.application_id not in chosen]
    if SHIM_PACKAGE in chosen and left:
        tell(f"app functions of {', '.join(left)} are called again after `droidgate shim install`")
    if every_shim:
        forget_scope(place.device)
    else:
        _leave_out_of_scope(place)
    if as_json:
        records = tuple(RemovedShim(application_id=one, step=step_record(step)) for one, step in removed)
        released_record = None if released is None else step_record(released)
        print_json(
            ShimUninstallDocument(
                serial=place.device.serial, user=place.user, shims=records, identity=released_record
            )
        )
    elif removed:
        rows = [(one, step.outcome, step.why or "-") for one, step in removed]
        if released is not None:
            rows.append((SHIM_PACKAGE, released.outcome, released.why or released.what))
        show([Table(("SHIM", "OUTCOME", "WHY"), rows)])
    else:
        show([Line(f"no shim is installed on {place.device.serial} for user {place.user}")])
    steps = [step for _, step in removed] + ([] if released is None else [released])
    return ExitCode.OK if all(one.outcome == "done" for one in steps) else ExitCode.DEVICE


def step_record(step: Step) -> ShimStep:
    """Return a step as documents tell it."""
    return ShimStep(what=step.what, outcome=step.outcome, command=step.command, why=step.why)


def steps_table(steps: Iterable[Step]) -> Table:
    """Return steps as a table."""
    return Table(
        ("OUTCOME", "STEP", "WHY"),
        [(one.outcome, one_line(one.what), one_line(one.why) or "-") for one in steps],
    )


def install_built(place: ShimPlace, ready: Ready) -> Installation:
    """Install a shim, without a change of who may call it."""
    return _install(place, ready, any_app=None)


def _prepare(request: InstallRequest, place: ShimPlace) -> Prepared:
    if request.apks:
        return Prepared(tuple(_read_apk(path) for path in _apk_files(request.apks)))
    if request.build.sources:
        return _build(request.build, place)
    packages = place.packages()
    names = sorted(filter(is_shim, packages))
    if not names:
        hint = "Name its apps: droidgate shim install --from adb:, or APKs that `droidgate shim build` made"
        raise DeviceError("no shim is installed", place=place.device.serial, hint=hint)
    ready = [_installed(place, packages[one]) for one in names]
    # The bare shim has nothing to set up but what the others need of it.
    return Prepared(tuple(one for one in ready if not one.facts.is_bare) or tuple(ready))


def _set_up_identity(place: ShimPlace, request: InstallRequest, prepared: Prepared) -> Installation | None:
    shims = [one.facts for one in prepared.ready]
    if any(one.application_id == SHIM_PACKAGE for one in shims):
        # Installing it anew ended what it did for the shims that are there.
        named = {one.application_id for one in shims}
        shims += [one for one in _installed_callers(place) if one.application_id not in named]
    if not needs_identity(place, shims):
        return None
    tell(f"set up {SHIM_PACKAGE}, which calls app functions for all shims ...")
    key = known_key(request.build.key) if prepared.key is None else prepared.key.signing
    return set_up_identity(place, shims, key)


def _installed_callers(place: ShimPlace) -> tuple[ShimFacts, ...]:
    """Return the shims of the phone that call app functions."""
    packages = place.packages()
    found = [installed_facts(place, packages[one]) for one in sorted(filter(is_shim, packages))]
    return tuple(one for one in found if one is not None and one.calls_functions)


def _build(request: BuildRequest, place: ShimPlace) -> Prepared:
    key = key_of(request)
    apps = read_source_apps(_on_this_phone(request.sources, place), signer=request.signer)
    asked = ask_broadcast_apps(place, apps, key.signing)
    built = build_shims(asked.apps, request.options, key.signing)
    unused = unused_records(unused_apps(asked.apps, built, request.only))
    signer = key.signing.digest
    ready = tuple(Ready(facts_of(one, signer), one.file_name, one.apk, one.findings) for one in built)
    return Prepared(ready, key, asked.steps, unused)


def _on_this_phone(sources: Iterable[str], place: ShimPlace) -> list[str]:
    """Return the sources, those of the phone that nobody named as those of the one that is installed on."""
    unnamed = (DEVICE_SCHEME, f"{DEVICE_SCHEME}/")
    serial = place.device.serial
    return [
        f"{DEVICE_SCHEME}{serial}{one.removeprefix(DEVICE_SCHEME)}"
        if one == unnamed[0] or one.startswith(unnamed[1])
        else one
        for one in sources
    ]


def _apk_files(named: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for one in named:
        found = sorted(one.glob("*.apk")) if one.is_dir() else [one]
        if not found:
            raise InputError("the folder holds no APK", place=str(one))
        files += found
    return files


def _read_apk(path: Path) -> Ready:
    data = read_project_file(path, root=None, most=_MAX_APK)
    return Ready(read_shim_facts(data, name=str(path)), path.name, data)


def _installed(place: ShimPlace, package: InstalledPackage) -> Ready:
    facts = installed_facts(place, package)
    if facts is None:
        hint = f"Remove it with `droidgate shim uninstall {package.name}`"
        raise DeviceError("its APK cannot be read as that of a shim", place=package.name, hint=hint)
    return Ready(facts, package.name, None)


def _install(place: ShimPlace, one: Ready, *, any_app: bool | None) -> Installation:
    tell(f"{'set up' if one.apk is None else 'install'} {one.facts.application_id} ...")
    if one.apk is None:
        return set_up_shim(place, one.facts, any_app=any_app)
    return install_shim(place, one.facts, one.apk, file_name=one.file_name, any_app=any_app)


def _ask_for_any_app(ready: Sequence[Ready]) -> bool | None:
    """Ask a person; None where there is none to ask, which grants nothing and takes nothing back."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    import typer

    for line in _QUESTION:
        tell(line)
    for one in ready:
        tell(f"  {one.facts.application_id}: {', '.join(map(one_line, one.facts.capabilities))}")
    return typer.confirm("Let any app on this phone call them?", default=False, err=True)


def _keep_scope(place: ShimPlace, request: BuildRequest, prepared: Prepared) -> None:
    """Keep what was asked for, for `shim sync`; apps of earlier installations with the same options stay."""
    whole = f"{DEVICE_SCHEME}{place.device.serial}" in _on_this_phone(request.sources, place)
    packages = {package for one in prepared.ready for package in one.facts.packages}
    packages |= {one.package for one in prepared.unused}
    key = None if request.key is None else str(request.key.resolve())
    asked = scope_of(None if whole else packages, request.options, key)
    earlier = load_scope(place.device)
    if earlier is not None and not earlier.is_alike(asked):
        tell("other options than before: from now on `droidgate shim sync` looks after these apps only")
    keep_scope(place.device, asked if earlier is None else asked.joined(earlier))


def _leave_out_of_scope(place: ShimPlace) -> None:
    """Let `shim sync` look after the apps whose shims are left, so that it does not bring the others back."""
    scope = load_scope(place.device)
    if scope is not None:
        if scope.packages is None:
            tell("from now on `droidgate shim sync` looks after the apps whose shims are left only")
        left = {package for one in installed_shims(place) for package in one.source_packages}
        keep_scope(place.device, scope.model_copy(update={"packages": tuple(sorted(left))}))


def _find_names(named: Iterable[str], shims: Sequence[InstalledShim]) -> list[str]:
    known = {one.source_packages[0]: one.application_id for one in shims if len(one.source_packages) == 1}
    known |= {one.application_id: one.application_id for one in shims}
    hint = f"There are: {', '.join(one.application_id for one in shims) or 'none'}"
    for one in named:
        if one not in known:
            raise UsageError(f"{one!r} is no shim of the phone", hint=hint)
    return [known[one] for one in named]


def _page(
    place: ShimPlace,
    prepared: Prepared,
    installations: Sequence[Installation],
    identity: Installation | None,
) -> list[Block]:
    blocks: list[Block] = []
    if prepared.asked:
        blocks += [Heading("Apps asked for their tools"), steps_table(prepared.asked), Line()]
    for ready, one in zip(prepared.ready, installations, strict=True):
        blocks += [Heading(one.application_id), steps_table(one.steps)]
        if prepared.key is not None:
            blocks += findings_blocks(ready.findings, ready.facts.capabilities)
        blocks.append(Line())
    if identity is not None:
        blocks += [
            Heading(f"{identity.application_id}, for all shims"),
            steps_table(identity.steps),
            Line(),
        ]
    blocks += unused_blocks(prepared.unused)
    if prepared.key is not None:
        blocks.append(Line(f"signed with {one_line(str(prepared.key.path))}"))
    working = sum(one.works for one in installations)
    blocks.append(
        Line(f"{working} of {len(installations)} shims work on {place.device.serial}, user {place.user}")
    )
    every = (*installations, *([] if identity is None else [identity]))
    if any(step.outcome == "refused" for one in every for step in one.steps):
        blocks.append(Line("see what is left to do with: droidgate shim doctor"))
    return blocks


def _document(
    place: ShimPlace,
    prepared: Prepared,
    installations: Sequence[Installation],
    identity: Installation | None,
) -> ShimInstallDocument:
    record = None
    if identity is not None:
        steps = tuple(map(step_record, identity.steps))
        record = ShimIdentityRecord(application_id=identity.application_id, works=identity.works, steps=steps)
    shims = tuple(
        InstalledShimRecord(
            application_id=one.application_id,
            works=one.works,
            build=ready.facts.build,
            capabilities=ready.facts.capabilities,
            steps=tuple(map(step_record, one.steps)),
            findings=ready.findings,
        )
        for ready, one in zip(prepared.ready, installations, strict=True)
    )
    return ShimInstallDocument(
        serial=place.device.serial,
        user=place.user,
        sdk=place.sdk,
        key=None if prepared.key is None else key_record(prepared.key),
        asked=tuple(map(step_record, prepared.asked)),
        shims=shims,
        identity=record,
        unused=prepared.unused,
    )
