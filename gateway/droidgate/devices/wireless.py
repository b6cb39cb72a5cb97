"""What to say about a device that is reached over a network.

Debugging over Wi-Fi could be used without its authorisation until the patch of May 2026 (CVE-2026-0073,
Android 14 to 16 QPR2; reference android-runtime 0 and 3.2).
"""

from __future__ import annotations

import ipaddress
import re
from datetime import date
from typing import Final

from droidgate.devices.properties import Build

PATCHED_SINCE: Final = date(2026, 5, 1)

_FIRST_SDK: Final = 34
_LAST_SDK: Final = 36
_HOST_AND_PORT: Final = re.compile(r"\[?(?P<host>[^\]]+?)\]?:(?P<port>\d{1,5})")
_DISCOVERED: Final = "._adb-tls-connect._tcp"


def is_on_network(serial: str) -> bool:
    """Return whether a serial is an address, of another machine than this."""
    if _DISCOVERED in serial:
        return True
    found = _HOST_AND_PORT.fullmatch(serial)
    if found is None:
        return False
    host = found["host"]
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
