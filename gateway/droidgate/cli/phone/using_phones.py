"""What `phone install`, `phone push` and `phone status` do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Line, Table, show
from droidgate.cli.output.safe_text import one_line
from droidgate.cli.phone.phone_outputs import (
    PhoneInstallDocument,
    PhonePackage,
    PhonePushDocument,
    PhoneStatus,
    PhoneStatusDocument,
)
from droidgate.cli.phone.running_phones import find_phone, running_phones
from droidgate.devices.app_installation import install_apks
from droidgate.devices.device import Device, connect_device
from droidgate_android.apk.bundle_files import open_app
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.android_names import android_name

_MOST_BYTES = 512 * 1024 * 1024


def install_on_phone(apps: Sequence[Path], port: int | None, *, as_json: bool) -> int:
    """Install apps on the virtual phone of a port, or on the only one.

    Args:
        apps: APKs, and containers with the splits of one app.
        port: The phone's port.
        as_json: Print a JSON document.

    Raises:
        InputError: a file is not an APK or a container.
        InstallError: the phone refuses an app; those before it are installed.
        DeviceError: no phone is running, several are and no port was given, or it does not answer.
    """
    device = _device_of(port)
    installed = [_install(device, path) for path in apps]
    if as_json:
        print_json(PhoneInstallDocument(serial=device.serial, installed=tuple(installed)))
    else:
        show([Line(f"installed: {app.package}, version {app.version_code}") for app in installed])
    return ExitCode.OK


def push_to_phone(local: Path, remote: str, port: int | None, *, as_json: bool) -> int:
    """Copy a file to the virtual phone of a port, or to the only one.

    Args:
        local: The file.
        remote: The file on the phone, or a folder of the phone, in which it keeps its name.
        port: The phone's port.
        as_json: Print a JSON document.

    Raises:
        InputError: the file cannot be read.
        TransferError: the phone cannot write it.
        DeviceError: no phone is running, several are and no port was given, or it does not answer.
    """
    device = _device_of(port)
    if not local.is_file():
        raise InputError("not a file", place=str(local), hint="name one regular file")
    status = device.status(remote.rstrip("/") or "/")
    is_folder = remote.endswith("/") or (status is not None and status.is_folder)
    target = str(PurePosixPath(remote) / local.name) if is_folder else remote
    with local.open("rb") as source:
        size = device.push(source, target)
    if as_json:
        print_json(PhonePushDocument(serial=device.serial, path=target, size=size))
    else:
        show([Line(f"pushed: {one_line(target)}, {size:,} bytes")])
    return ExitCode.OK


def print_phone_status(*, as_json: bool) -> int:
    """Print which virtual phones are running, and how to reach them."""
    phones = running_phones()
    if as_json:
        print_json(PhoneStatusDocument(phones=tuple(map(PhoneStatus.of, phones))))
    elif phones:
        columns = ("SERIAL", "ANDROID", "PROCESS", "WITHOUT ADB")
        rows = [
            (
                phone.serial,
                android_name(phone.sdk),
                str(phone.pid),
                f"ANDROID_ADB_SERVER_PORT={phone.server_port}",
            )
            for phone in phones
        ]
        show([Table(columns, rows)])
    else:
        show([Line("no virtual phone is running; `droidgate phone start` starts one")])
    return ExitCode.OK


def _device_of(port: int | None) -> Device:
    phone = find_phone(port)
    return connect_device(phone.serial, server=phone.server)


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
