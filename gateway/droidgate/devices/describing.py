"""The phones that adb lists, each with its model and version, and what to say about one that is reached over
a network.

Debugging over Wi-Fi could be used without its authorisation until the patch of May 2026 (CVE-2026-0073,
Android 14 to 16 QPR2; reference android-runtime 0 and 3.2).
"""

from __future__ import annotations

import ipaddress
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Final

from droidgate.devices.adb_client import AdbClient
from droidgate.devices.device import Device
from droidgate.devices.device_list import ListedDevice
from droidgate.devices.properties import Build, build_of, get_properties
from droidgate_mappings.model.errors import DeviceError
from droidgate_mappings.records import dataclass, replace

PATCHED_SINCE: Final = date(2026, 5, 1)

_FIRST_SDK: Final = 34
_LAST_SDK: Final = 36
_HOST_AND_PORT: Final = re.compile(r"\[?(?P<host>[^\]]+?)\]?:(?P<port>\d{1,5})")
_DISCOVERED: Final = "._adb-tls-connect._tcp"


def is_on_network(serial: str) -> bool:
    """Return whether a serial is an address, of another machine than this."""
    if _DISCOVERED in serial:
        return True
    match = _HOST_AND_PORT.fullmatch(serial)
    if match is None:
        return False
    host = match["host"]
    if host == "localhost":
        return False
    try:
        return not ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return True


def wireless_warning(serial: str, build: Build) -> str | None:
    """Return what to say about a device on the network whose adb daemon lets strangers in; else None."""
    if not is_on_network(serial) or not _FIRST_SDK <= build.sdk <= _LAST_SDK:
        return None
    if build.security_patch is not None and build.security_patch >= PATCHED_SINCE:
        return None
    level = "unknown" if build.security_patch is None else build.security_patch.isoformat()
    return (
        f"debugging over the network can be used by strangers on this device (CVE-2026-0073; its security "
        f"patch level is {level}, fixed since {PATCHED_SINCE.isoformat()}): use a USB cable"
    )


_AT_ONCE: Final = 8


@dataclass(frozen=True, slots=True)
class DeviceDescription:
    """A phone that adb lists.

    Attributes:
        serial: Its name at the adb server.
        state: adb's word for its state; `device` is ready.
        ready: It takes commands, and answered.
        product: Name of the product; None where adb does not have it.
        model: Name of the model; None where neither adb nor the phone has it.
        android: Version as users read it, such as `16`; None where the phone was not asked or did not answer.
        sdk: API level; None as for `android`.
        sdk_full: API level with its minor level where there is one, such as `36.1`; None as for `android`.
        security_patch: Day of the security patch level, ISO 8601; None where it is unknown.
        features: What its adb daemon supports, in adb's words.
        hint: What to do where it is not ready.
        warning: A security problem of the connection.
    """

    serial: str
    state: str
    ready: bool
    product: str | None = None
    model: str | None = None
    android: str | None = None
    sdk: int | None = None
    sdk_full: str | None = None
    security_patch: str | None = None
    features: tuple[str, ...] = ()
    hint: str | None = None
    warning: str | None = None


def list_devices(server: AdbClient | None = None) -> tuple[DeviceDescription, ...]:
    """Return the phones that adb lists, in its order; those that are ready are asked for their version.

    Args:
        server: The adb server; the one that adb's variables name by default. It is started where none runs.

    Raises:
        DeviceError: no adb server runs, and it cannot be started.

    Example:
        >>> [(device.model, device.ready) for device in droidgate.list_devices()]
        [('Virtual Phone', True)]
    """
    client = server or AdbClient()
    listed = client.devices()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return tuple(pool.map(lambda device: describe_device(device, client), listed))


def describe_device(listed: ListedDevice, server: AdbClient) -> DeviceDescription:
    """Return the description of a phone; of one that does not answer, the error is the hint."""
    description = DeviceDescription(
        serial=listed.serial,
        state=listed.state,
        ready=listed.ready,
        product=listed.product,
        model=listed.model,
        hint=listed.hint,
    )
    if not listed.ready:
        return description
    device = Device(server, listed.serial)
    try:
        build = build_of(get_properties(device))
        features = sorted(device.features)
    except DeviceError as error:
        reason = error.message if error.hint is None else f"{error.message}; {error.hint}"
        return replace(description, ready=False, hint=reason)
    return replace(
        description,
        model=build.model or listed.model,
        android=build.release,
        sdk=build.sdk,
        sdk_full=build.sdk_full,
        security_patch=None if build.security_patch is None else build.security_patch.isoformat(),
        features=tuple(features),
        warning=wireless_warning(listed.serial, build),
    )
