"""What `devices` does, and its document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidgate.cli.devices.device_options import Devices
from droidgate.cli.output.json_output import PublishedDocument
from droidgate.cli.output.pages import Block, Line, Table
from droidgate.cli.output.reports import Report
from droidgate.cli.phone.running_phones import running_phones, way_to
from droidgate.devices.adb_client import AdbClient
from droidgate.devices.describing import DeviceDescription, list_devices
from droidgate_mappings.tables.android_names import android_name

_COLUMNS: Final = ("SERIAL", "STATE", "MODEL", "ANDROID", "FEATURES", "TO DO")
_SHOWN_FEATURES: Final = ("shell_v2", "stat_v2", "ls_v2", "abb_exec")
_NOTHING: Final = "No device is attached"
_FIX: Final = "attach one with USB debugging on, or start one: droidgate phone start"


class DevicesDocument(PublishedDocument, schema="droidgate.devices/1"):
    """What `devices --json` prints: the adb server that was asked, and what it sees."""

    server: str
    devices: tuple[DeviceDescription, ...]


def report_devices(_options: Devices) -> Report:
    """Report the phones that adb lists.

    Raises:
        DeviceError: no adb server runs and none can be started.
    """
    server = AdbClient()
    records = list_devices(server)
    return Report(
        lambda: devices_page(records),
        lambda: DevicesDocument(server=str(server.address), devices=records),
    )


def devices_page(records: Iterable[DeviceDescription]) -> list[Block]:
    """Return what `devices` shows."""
    rows = [_row(record) for record in records]
    if not rows:
        running = running_phones()
        fix = f"a virtual phone runs: {way_to(running[0])}" if running else _FIX
        return [Line(f"{_NOTHING}; {fix}")]
    return [Table(_COLUMNS, rows)]


def _row(device_record: DeviceDescription) -> tuple[str, ...]:
    return (
        device_record.serial,
        device_record.state,
        device_record.model or "-",
        "-" if device_record.sdk_full is None else android_name(device_record.sdk_full),
        " ".join(name for name in _SHOWN_FEATURES if name in device_record.features) or "-",
        "; ".join(text for text in (device_record.hint, device_record.warning) if text) or "-",
    )
