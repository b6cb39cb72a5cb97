"""System properties and the current user: `getprop`, `am get-current-user`."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeviceOutputError, command_failed, output_lines
from droidgate_mappings.records import dataclass

_GETPROP: Final = "getprop"
_USER: Final = "am get-current-user"
_PROPERTY: Final = re.compile(r"\[([^\]\n]+)\]: \[(.*)\]", re.DOTALL)
_NEXT: Final = re.compile(r"\n(?=\[[A-Za-z_][\w.@:-]*\]: \[)", re.ASCII)
_SDK: Final = re.compile(r"\d{1,3}(?:\.\d{1,3})?")
_SDK_WITH_MINOR: Final = re.compile(r"(\d{1,3})\.(\d{1,3})", re.ASCII)
_DAY: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_MAX_PROPERTIES: Final = 20_000


@dataclass(frozen=True, slots=True)
class Build:
    """What a device says about itself; every text comes from the device.

    Attributes:
        sdk: API level, such as 36.
        sdk_full: API level with its minor level where that is not 0, such as `36.1`.
        release: Android's version as shown to users, such as `16`.
        model, manufacturer: What is printed on it.
        serial_number: `ro.serialno`.
        fingerprint: `ro.build.fingerprint`.
        security_patch: Day of the security patch level; None where it is not reported.
    """

    sdk: int
    sdk_full: str
    release: str
    model: str
    manufacturer: str
    serial_number: str
    fingerprint: str
    security_patch: date | None


def read_properties(text: str, exit_status: int = 0, error_text: str = "") -> dict[str, str]:
    """Read what `getprop` printed: `[name]: [value]` for each property; a value may have several lines.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: a piece is not a property, or one is duplicate.
    """
    if exit_status != 0:
        raise command_failed(_GETPROP, exit_status, text, error_text)
    plain = text.replace("\r\n", "\n")
    if not plain.endswith("]\n"):
        raise DeviceOutputError(_GETPROP, "the output is cut off", text=plain[-40:])
    properties: dict[str, str] = {}
    for number, piece in enumerate(_NEXT.split(plain.removesuffix("\n")), 1):
        match = _PROPERTY.fullmatch(piece)
        if match is None or match[1] in properties:
            raise DeviceOutputError(_GETPROP, "the piece is not a property", line=number, text=piece)
        properties[match[1]] = match[2]
        if number > _MAX_PROPERTIES:
            raise DeviceOutputError(_GETPROP, f"there are more than {_MAX_PROPERTIES} properties")
    return properties


def get_properties(device: Device) -> dict[str, str]:
    """Return all system properties.

    Raises:
        DeviceError: the device fails, or its output is not that of `getprop`.
    """
    result = device.run(["getprop"])
    return read_properties(result.text, result.exit_status, result.error_text)


def build_of(properties: dict[str, str]) -> Build:
    """Return what a device says about itself.

    Raises:
        DeviceOutputError: it does not report its API level.
    """
    sdk = properties.get("ro.build.version.sdk", "")
    if _SDK.fullmatch(sdk) is None or "." in sdk:
        raise DeviceOutputError(_GETPROP, "ro.build.version.sdk is not an API level", text=sdk)
    return Build(
        sdk=int(sdk),
        sdk_full=_full_level(sdk, properties.get("ro.build.version.sdk_full", "")),
        release=properties.get("ro.build.version.release", ""),
        model=properties.get("ro.product.model", ""),
        manufacturer=properties.get("ro.product.manufacturer", ""),
        serial_number=properties.get("ro.serialno", ""),
        fingerprint=properties.get("ro.build.fingerprint", ""),
        security_patch=_read_day(properties.get("ro.build.version.security_patch", "")),
    )


def _full_level(level: str, full: str) -> str:
    """Return an API level with its minor level; without it where that is 0, or belongs to another level."""
    match = _SDK_WITH_MINOR.fullmatch(full)
    return full if match is not None and match[1] == level and match[2] != "0" else level


def _read_day(text: str) -> date | None:
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def read_current_user(text: str, exit_status: int = 0, error_text: str = "") -> int:
    """Read what `am get-current-user` printed: one number.

    Raises:
        CommandFailedError: it ended with an error.
        DeviceOutputError: it is not a number.
    """
    if exit_status != 0:
        raise command_failed(_USER, exit_status, text, error_text)
    lines = [line for _, line in output_lines(_USER, text)]
    if len(lines) != 1 or re.fullmatch(r"\d{1,9}", lines[0]) is None:
        raise DeviceOutputError(_USER, "it is not a user", text=text)
    return int(lines[0])


def current_user(device: Device) -> int:
    """Return the user in front; pass it to every command that takes a user (reference android-runtime 1.6).

    Raises:
        DeviceError: the device fails, or its output is not that of `am get-current-user`.
    """
    result = device.run(["am", "get-current-user"])
    return read_current_user(result.text, result.exit_status, result.error_text)
