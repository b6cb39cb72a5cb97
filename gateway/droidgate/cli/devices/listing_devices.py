"""What `devices` does."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.documents import DeviceRecord, DevicesDocument
from droidgate.cli.output.json_output import print_json
from droidgate.cli.output.pages import Block, Line, Table, show
from droidgate.cli.phone.running_phones import running_phones, way_to
from droidgate.devices.device import device_of
from droidgate.devices.listing import ListedDevice
from droidgate.devices.properties import build_of, get_properties
from droidgate.devices.server import AdbServer
from droidgate.devices.wireless import wireless_warning
from droidgate.model.errors import DeviceError

_COLUMNS: Final = ("SERIAL", "STATE", "MODEL", "ANDROID", "SDK", "FEATURES", "TO DO")
_SHOWN_FEATURES: Final = ("shell_v2", "stat_v2", "ls_v2", "abb_exec")
_AT_ONCE: Final = 8
_NOTHING: Final = "No device is attached"
_WAY_OUT: Final = "Attach one with USB debugging on, or start one: droidgate phone start"


def list_devices(*, as_json: bool) -> int:
    """Show what is attached; devices that are ready are asked what they are.

    Raises:
        DeviceError: no adb server runs and none can be started.
    """
    server = AdbServer()
    listed = server.devices()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        records = tuple(pool.map(lambda item: describe_device(item, server), listed))
    if as_json:
        print_json(DevicesDocument(server=str(server.address), devices=records))
    else:
        show(devices_page(records))
    return ExitCode.OK


def describe_device(listed: ListedDevice, server: AdbServer) -> DeviceRecord:
    """Return what there is to say about a device; one that does not answer is described by its error."""
    record = DeviceRecord(
        serial=listed.serial,
        state=listed.state,
        ready=listed.ready,
        product=listed.product,
        model=listed.model,
        android=None,
        sdk=None,
        security_patch=None,
        features=(),
        hint=listed.hint,
        warning=None,
    )
    if not listed.ready:
        return record
    device = device_of(listed, server)
    try:
        build = build_of(get_properties(device))
        features = sorted(device.features)
    except DeviceError as error:
        why = error.message if error.hint is None else f"{error.message}; {error.hint}"
        return record.model_copy(update={"ready": False, "hint": why})
    asked = {
        "model": build.model or listed.model,
        "android": build.release,
        "sdk": build.sdk,
        "security_patch": None if build.security_patch is None else build.security_patch.isoformat(),
        "features": tuple(features),
        "warning": wireless_warning(listed.serial, build),
    }
    return record.model_copy(update=asked)


def devices_page(records: Iterable[DeviceRecord]) -> list[Block]:
    """Return what `devices` shows."""
    rows = [_row(record) for record in records]
    if not rows:
        running = running_phones()
        way_out = f"A virtual phone runs: {way_to(running[0])}" if running else _WAY_OUT
        return [Line(f"{_NOTHING}. {way_out}")]
    return [Table(_COLUMNS, rows)]


def _row(device_record: DeviceRecord) -> tuple[str, ...]:
    return (
        device_record.serial,
        device_record.state,
        device_record.model or "-",
        device_record.android or "-",
        "-" if device_record.sdk is None else str(device_record.sdk),
        " ".join(name for name in _SHOWN_FEATURES if name in device_record.features) or "-",
        ". ".join(text for text in (device_record.hint, device_record.warning) if text) or "-",
    )
