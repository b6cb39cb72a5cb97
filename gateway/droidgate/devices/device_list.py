"""The list of devices, as the adb server prints it (AOSP packages/modules/adb, transport.cpp)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from droidgate.devices.device_errors import (
    DeviceOutputError,
    DeviceStateError,
    NoDeviceError,
    SeveralDevicesError,
    UnsafeArgumentError,
    excerpt,
)
from droidgate.devices.quoting import SERIAL
from droidgate_mappings.records import dataclass

READY: Final = "device"
_SERVICE: Final = "host:devices-l"
_MAX_DEVICES: Final = 256

STATE_HINTS: Final[Mapping[str, str]] = {
    "offline": "wake the device, or unplug it and plug it in again",
    "unauthorized": "unlock the device and allow USB debugging for this computer",
    "authorizing": "unlock the device and allow USB debugging for this computer",
    "connecting": "wait a moment and try again",
    "no permissions": "this user may not open the USB device: add a udev rule, then plug it in again",
    "recovery": "start Android: droidgate needs the running system",
    "sideload": "start Android: droidgate needs the running system",
    "rescue": "start Android: droidgate needs the running system",
    "bootloader": "start Android: droidgate needs the running system",
    "host": "turn USB debugging on in the developer options",
    "detached": "attach it again: adb attach SERIAL",
    "unknown": "unplug the device and plug it in again",
}
"""What to do about a state that is not `device`."""

_STATES: Final = "|".join([READY, *(state for state in STATE_HINTS if state != "no permissions")])
_LONGEST_LINE: Final = 1_024
_LINE: Final = re.compile(
    rf"(?P<serial>\S(?:.*?[^ \t])??)[ \t]++(?P<state>(?:{_STATES})(?=[ \t]|$)|"
    r"no permissions(?:[^\[\n]*\[[^\]\n]*\]|[^\[\n:]*))"
    r"(?P<rest>(?:[ \t]+\S.*)?)"
)
_TRANSPORT: Final = re.compile(r"(?:^|[ \t])transport_id:(\d{1,18})$")
_FIELD: Final = re.compile(r"(?:^|[ \t])(product|model|device):(.*?)(?=$|[ \t](?:product|model|device):)")


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """One line of the list.

    Attributes:
        serial: Its name at the server.
        state: One word of adb, `device` when it is ready; `no permissions` without its explanation.
        transport: The server's number for this connection; another one after a reconnect.
        product, model, device: What it calls itself; None where the server does not know.
    """

    serial: str
    state: str
    transport: int | None = None
    product: str | None = None
    model: str | None = None
    device: str | None = None

    @property
    def ready(self) -> bool:
        """Commands can be sent to it."""
        return self.state == READY and SERIAL.fullmatch(self.serial) is not None

    @property
    def hint(self) -> str | None:
        """What to do, where it is not ready."""
        if self.state == READY:
            fits = SERIAL.fullmatch(self.serial) is not None
            return None if fits else "its serial has odd characters: connect it as HOST:PORT (adb connect)"
        return STATE_HINTS.get(self.state, STATE_HINTS["unknown"])


def read_devices(text: str) -> tuple[ListedDevice, ...]:
    """Read the answer of `host:devices-l`.

    Raises:
        DeviceOutputError: a line is none of that list, or a serial is duplicate.
    """
    if text and not text.endswith("\n"):
        raise DeviceOutputError(_SERVICE, "the output is cut off", text=text[-40:])
    devices: list[ListedDevice] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            devices.append(_read_line(line, number))
        if len(devices) > _MAX_DEVICES:
            raise DeviceOutputError(_SERVICE, f"there are more than {_MAX_DEVICES} devices", line=number)
    serials = [device.serial for device in devices if SERIAL.fullmatch(device.serial)]
    twice = next((serial for serial in serials if serials.count(serial) > 1), None)
    if twice is not None:
        raise DeviceOutputError(_SERVICE, "duplicate serial", text=twice)
    return tuple(devices)


def _read_line(line: str, number: int) -> ListedDevice:
    plain = line.removesuffix("\r")
    is_line = len(plain) <= _LONGEST_LINE and plain.replace("\t", " ").isprintable()
    match = _LINE.fullmatch(plain) if is_line else None
    if match is None:
        raise DeviceOutputError(_SERVICE, "the line is not a device", line=number, text=line)
    rest = match["rest"].strip()
    transport = _TRANSPORT.search(rest)
    if transport is not None:
        rest = rest[: transport.start()]
    fields = dict(_FIELD.findall(rest))
    state = match["state"]
    return ListedDevice(
        serial=match["serial"],
        state="no permissions" if state.startswith("no permissions") else state,
        transport=int(transport[1]) if transport else None,
        product=fields.get("product"),
        model=fields.get("model"),
        device=fields.get("device"),
    )


def choose_device(devices: Sequence[ListedDevice], serial: str | None) -> ListedDevice:
    """Return the device of that serial, or the only one.

    Args:
        devices: What is attached.
        serial: Which one; None where only one is attached.

    Raises:
        UnsafeArgumentError: the serial does not fit the pattern of serials.
        NoDeviceError: there is none of that serial, or none at all.
        SeveralDevicesError: there are several and none was named.
        DeviceStateError: the device is not ready.
    """
    if serial is None:
        return _check_ready(_only_device(devices))
    if SERIAL.fullmatch(serial) is None:
        raise UnsafeArgumentError(f"{excerpt(serial)!r} is not a serial")
    for device in devices:
        if device.serial == serial:
            return _check_ready(device)
    attached = ", ".join(excerpt(device.serial) for device in devices)
    hint = f"attached: {attached}" if attached else "no device is attached at all"
    raise NoDeviceError("no such device is attached", place=serial, hint=hint)


def _only_device(devices: Sequence[ListedDevice]) -> ListedDevice:
    if not devices:
        raise NoDeviceError(
            "no device is attached",
            hint="attach one with USB debugging on, or start one: droidgate phone start",
        )
    if len(devices) > 1:
        raise SeveralDevicesError([excerpt(device.serial) for device in devices])
    return devices[0]


def _check_ready(listed_device: ListedDevice) -> ListedDevice:
    if listed_device.state == READY and not listed_device.ready:
        raise UnsafeArgumentError(
            f"droidgate sends nothing to {excerpt(listed_device.serial)!r}", hint=listed_device.hint
        )
    if not listed_device.ready:
        raise DeviceStateError(excerpt(listed_device.serial), listed_device.state, hint=listed_device.hint)
    return listed_device
