"""Opening apps whole, each with its APK: APKs, containers, folders of them, phones, projects.

A project has no APK yet. It is packed in memory, so that everything is read from compiled content as from an
app on a phone.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from droidgate.sources.apk import open_archive, open_loose_archives
from droidgate.sources.archives import is_archive
from droidgate.sources.catalogs.rows import catalog_folder
from droidgate.sources.folders import scan_folder
from droidgate.sources.format_reading import FormatReader, ReadOptions
from droidgate.sources.spelling import DEVICE_SCHEME, printable
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.pack import pack
from droidgate_android.apk.reader import Apk, open_apk
from droidgate_android.apk.signing_keys import SigningKey, make_key
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError
from droidgate_mappings.model.findings import Finding

if TYPE_CHECKING:
    from droidgate.devices.device import Device
    from droidgate.devices.packages import InstalledPackage


@dataclass(frozen=True, slots=True)
class OpenedApp:
    """One app as it was opened; the APK can be read until the next one is asked for.

    Attributes:
        application: Its manifest and resources.
        apk: Its APK with splits.
        providers: What it declares in any format.
        findings: What was bent while it was read.
        problems: What of it could not be read.
        place: How messages name it.
        is_named: It is what the user named, not one of several in a folder or on a phone.
        is_project: It is a project, which has no signature.
        is_installed: It is on a phone, which verified the signature when it installed the app.
        version_code: Its version.
    """

    application: Application
    apk: Apk
    providers: tuple[Provider, ...]
    findings: tuple[Finding, ...]
    problems: tuple[InputError, ...]
    place: str
    is_named: bool
    is_project: bool = False
    version_code: int = 1
    is_installed: bool = False


@dataclass(frozen=True, slots=True)
class UnreadApp:
    """One app of several that cannot be read.

    Attributes:
        package: Its package, or its file where that is all that is known.
        place: How messages name it.
        error: Why.
    """

    package: str
    place: str
    error: DroidgateError


def open_apps(source: str) -> Iterator[OpenedApp | UnreadApp]:
    """Yield the apps of one source, each with its APK open.

    Args:
        source: As the user wrote it.

    Raises:
        InputError: it cannot be read, or holds no app.
        DeviceError: the phone cannot be reached or used.
        UsageError: it is not an app and has none in it, or is a catalog, which has no APKs.
    """
    if source.startswith(DEVICE_SCHEME):
        yield from _apps_of_phone(source)
        return
    if catalog_folder(source) is not None:
        message = "a catalog has no APKs, and a shim is made of what the APKs declare"
        hint = "name the APKs, projects or phones that the catalog was made of"
        raise UsageError(message, place=printable(source), hint=hint)
    mode = _mode_of(source)
    if stat.S_ISDIR(mode):
        yield from _apps_of_folder(source)
    elif is_archive(source):
        yield from _closing(open_archive(source), source, is_named=True)
    else:
        hint = "name an APK, a folder of APKs, a project's folder, or a phone as adb:SERIAL"
        raise UsageError("not an app", place=printable(source), hint=hint)


def _mode_of(source: str) -> int:
    try:
        return Path(source).stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"it cannot be read: {reason}", place=printable(source)) from None


def _apps_of_folder(folder: str) -> Iterator[OpenedApp | UnreadApp]:
    scan = scan_folder(folder, folder)
    folders = [
        Path(main.shown or folder)
        for module in scan.modules
        if not module.gradle.is_library and (main := module.source_sets.get("main")) is not None
    ]
    if not scan.archives and not folders:
        message = "the folder holds neither an APK nor an Android project"
        raise InputError(message, place=printable(folder))
    problems = list(scan.problems)
    for apk in open_loose_archives(scan.archives, problems):
        yield from _closing(apk, apk.name, is_named=False)
    for error in problems:
        place = error.place or folder
        yield UnreadApp(place, place, error)
    for project in folders:
        packed = pack(project, key=_project_key()).apk
        apk = open_apk(MemorySource(packed, name=project.as_posix()))
        yield from _closing(apk, project.as_posix(), is_named=True, is_project=True)


@cache
def _project_key() -> SigningKey:
    """Return a key for APKs that nobody keeps."""
    return make_key()


def _closing(apk: Apk, place: str, *, is_named: bool, is_project: bool = False) -> Iterator[OpenedApp]:
    with apk:
        application = read_application(apk)
        reader = FormatReader(ReadOptions(with_silent=True))
        reader.read_application(application)
        yield OpenedApp(
            application,
            apk,
            tuple(reader.providers),
            (*apk.findings, *reader.findings),
            tuple(reader.problems.values()),
            place,
            is_named,
            is_project,
            apk.version_code or 1,
        )


def _apps_of_phone(source: str) -> Iterator[OpenedApp | UnreadApp]:
    # Most shims are made for files, and these modules take their time to import.
    from droidgate.devices.device import connect_device  # noqa: PLC0415
    from droidgate.devices.device_errors import TransferError  # noqa: PLC0415
    from droidgate.devices.packages import list_packages  # noqa: PLC0415
    from droidgate.sources.phone_source import read_device_source  # noqa: PLC0415

    reading = read_device_source(source, formats=load_formats().values())
    device = connect_device(reading.serial)
    packages = {other.name: other for other in list_packages(device, reading.facts.user)}
    is_named = "/" in source
    for app in reading.apps:
        package = packages.get(app.package)
        if package is None or not (app.providers or app.problems or is_named):
            continue
        place = f"{DEVICE_SCHEME}{reading.serial}/{app.package}"
        try:
            with _open_installed(device, package, reading.facts.user) as apk:
                yield OpenedApp(
                    read_application(apk, reading.facts.sdk),
                    apk,
                    app.providers,
                    app.findings,
                    app.problems,
                    place,
                    is_named,
                    version_code=app.version_code,
                    is_installed=True,
                )
        except (InputError, TransferError) as error:
            yield UnreadApp(app.package, place, error)


def _open_installed(device: Device, package: InstalledPackage, user: int) -> Apk:
    from droidgate.devices.packages import package_paths  # noqa: PLC0415
    from droidgate.devices.remote_apk import file_statuses, open_remote_apk  # noqa: PLC0415

    paths = package_paths(device, package.name, user) or [package.path]
    statuses = file_statuses(device, paths)
    base, *splits = (open_remote_apk(device, package, path=path, status=statuses.get(path)) for path in paths)
    return open_apk(base, splits=splits)
