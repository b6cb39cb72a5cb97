"""What `phone stop`, `status`, `install`, `push` and `apps` do, and their documents."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Block, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.phone import phone_options
from droidgate.cli.phone.running_phones import (
    RunningPhone,
    find_phone,
    forget_phone,
    process_lives,
    running_phones,
)
from droidgate.devices.app_installation import install_apks
from droidgate.devices.device import Device, connect_device
from droidgate_android.apk.bundle_files import open_app
from droidgate_android.projects.project_files import check_regular
from droidgate_mappings.model.errors import DeviceError, InputError
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.counted_nouns import amount

_MOST_BYTES: Final = 512 * 1024 * 1024
_SECONDS_TO_STOP: Final = 20.0
_SECONDS_BETWEEN: Final = 0.02


class PhoneStopDocument(PublishedDocument, schema="droidgate.phone-stop/1"):
    """What `phone stop --json` prints: the phone that was stopped."""

    serial: str
    port: int


class PhoneApp(Document):
    """An app on a virtual phone, and the dialects that it speaks."""

    package: str
    version_code: int
    protocols: tuple[str, ...]


class PhoneAppsDocument(PublishedDocument, schema="droidgate.phone-apps/1"):
    """What `phone apps --json` prints."""

    serial: str
    sdk: str
    apps: tuple[PhoneApp, ...]


class PhonePackage(Document):
    """An app that was installed."""

    package: str
    version_code: int | None


class PhoneInstallDocument(PublishedDocument, schema="droidgate.phone-install/1"):
    """What `phone install --json` prints."""

    serial: str
    installed: tuple[PhonePackage, ...]


class PhonePushDocument(PublishedDocument, schema="droidgate.phone-push/1"):
    """What `phone push --json` prints.

    Attributes:
        path: The file on the phone.
        size: Its length in bytes.
    """

    serial: str
    path: str
    size: int


class PhoneStatusDocument(PublishedDocument, schema="droidgate.phone-status/1"):
    """What `phone status --json` prints."""

    phones: tuple[RunningPhone, ...]


def stop_phone(options: phone_options.PhoneStop) -> Report:
    """Stop the phone of a port, or the only one.

    Raises:
        DeviceError: there is none, there are several and no port was given, or it does not stop.
    """
    phone = find_phone(options.port)
    os.kill(phone.pid, signal.SIGTERM)
    end = time.monotonic() + _SECONDS_TO_STOP
    while process_lives(phone.pid):
        if time.monotonic() > end:
            raise DeviceError("the phone does not stop", place=phone.serial, hint=f"end process {phone.pid}")
        time.sleep(_SECONDS_BETWEEN)
    forget_phone(phone)
    return Report(lambda: [Line(f"{phone.serial} is stopped")], lambda: PhoneStopDocument.of(phone))


def show_running_phones(_options: phone_options.PhoneStatus) -> Report:
    """Report which virtual phones are running, and how to reach them."""
    phones = running_phones()
    return Report(
        lambda: _phones_page(phones),
        lambda: PhoneStatusDocument(phones=tuple(phones)),
    )


def _phones_page(phones: list[RunningPhone]) -> list[Block]:
    if not phones:
        return [Line("no virtual phone is running; `droidgate phone start` starts one")]
    rows = [
        (
            phone.serial,
            android_name(phone.sdk),
            str(phone.pid),
            f"ANDROID_ADB_SERVER_PORT={phone.server_port}",
        )
        for phone in phones
    ]
    return [Table(("SERIAL", "ANDROID", "PROCESS", "WITHOUT ADB"), rows)]


def install_on_phone(options: phone_options.PhoneInstall) -> Report:
    """Install apps on the virtual phone of a port, or on the only one.

    Raises:
        InputError: a file is not an APK or a container.
        InstallError: the phone refuses an app; those before it are installed.
        DeviceError: no phone is running, several are and no port was given, or it does not answer.
    """
    device = _device_of(find_phone(options.port))
    installed = tuple(_install(device, path) for path in options.apks)
    return Report(
        lambda: [Line(f"installed: {app.package}, version {app.version_code}") for app in installed],
        lambda: PhoneInstallDocument(serial=device.serial, installed=installed),
    )


def _install(device: Device, path: Path) -> PhonePackage:
    with open_app(path) as app:
        if sum(part.archive.source.size for part in app.parts) > _MOST_BYTES:
            raise InputError("larger than 512 MiB", place=str(path), hint="install a smaller app")
        names = ["base.apk", *(f"split_{number}.apk" for number in range(1, len(app.parts)))]
        apks = {
            name: part.archive.read_bytes(0, part.archive.source.size)
            for name, part in zip(names, app.parts, strict=True)
        }
        package, version = app.package, app.version_code
    install_apks(device, apks, grant=True)
    return PhonePackage(package=package, version_code=version)


def push_to_phone(options: phone_options.PhonePush) -> Report:
    """Copy a file to the virtual phone of a port, or to the only one; in a folder it keeps its name.

    Raises:
        InputError: the file cannot be read.
        TransferError: the phone cannot write it.
        DeviceError: no phone is running, several are and no port was given, or it does not answer.
    """
    device = _device_of(find_phone(options.port))
    local, remote = options.local, options.remote
    check_regular(local)
    status = device.status(remote.rstrip("/") or "/")
    is_folder = remote.endswith("/") or (status is not None and status.is_folder)
    target = str(PurePosixPath(remote) / local.name) if is_folder else remote
    with local.open("rb") as source:
        size = device.push(source, target)
    return Report(
        lambda: [Line(f"pushed: {one_line(target)}, {size:,} bytes")],
        lambda: PhonePushDocument(serial=device.serial, path=target, size=size),
    )


def list_apps(options: phone_options.PhoneApps) -> Report:
    """List the apps of the phone of a port, or of the only one, by the protocols that they speak.

    Raises:
        DeviceError: there is none, there are several and no port was given, or it does not answer.
    """
    from droidgate.cli.failure_texts import print_problem
    from droidgate.sources.phone_source import PhoneRequest, read_phone
    from droidgate_mappings.formats.format import load_formats
    from droidgate_mappings.translate import dialect_name

    running = find_phone(options.port)
    request = PhoneRequest(tuple(load_formats().values()), every_app=True, keep=False)
    reading = read_phone(_device_of(running), request)
    for problem in (*reading.problems, *(problem for app in reading.apps for problem in app.problems)):
        print_problem(problem)
    apps = tuple(
        PhoneApp.of(app, protocols=tuple(sorted(set(map(dialect_name, app.providers)))))
        for app in reading.apps
    )
    return Report(
        lambda: [
            Table(("PROTOCOL", "PACKAGE", "VERSION"), list(_app_rows(apps))),
            Line(),
            Line(f"{amount(len(apps), 'app')} on {running.serial}"),
        ],
        lambda: PhoneAppsDocument.of(running, apps=apps),
    )


def _app_rows(apps: tuple[PhoneApp, ...]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each protocol of an app; apps that speak none come last."""
    speaking = [(protocol, app) for app in apps for protocol in app.protocols]
    silent = [("-", app) for app in apps if not app.protocols]
    for protocol, app in [*sorted(speaking, key=lambda item: (item[0], item[1].package)), *silent]:
        yield protocol, one_line(app.package), str(app.version_code)


def _device_of(phone: RunningPhone) -> Device:
    return connect_device(phone.serial, server=phone.server)
