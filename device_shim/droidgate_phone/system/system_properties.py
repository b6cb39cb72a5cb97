"""System properties, settings and device configuration."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Final

from droidgate_phone.system.releases import ReleaseProfile

MAXIMUM_VALUE: Final = 91
"""Longest value of a property that is not `ro.` (PROP_VALUE_MAX less its end)."""


class PropertyError(Exception):
    """init refuses a property."""


class SystemProperties:
    """`getprop` and `setprop`.

    Args:
        release: The release, for the build's own properties.
        serial: ro.serialno.
    """

    def __init__(self, release: ReleaseProfile, serial: str) -> None:
        self._lock = threading.Lock()
        self._values = dict(sorted(_initial(release, serial).items()))

    def get(self, name: str) -> str:
        """Return a property, "" where it is not set."""
        with self._lock:
            return self._values.get(name, "")

    def all(self) -> dict[str, str]:
        """Return every property, by name."""
        with self._lock:
            return dict(sorted(self._values.items()))

    def set(self, name: str, value: str) -> None:
        """Set a property.

        Raises:
            PropertyError: it is read-only and set already, or the value is too long.
        """
        with self._lock:
            if name.startswith("ro.") and name in self._values:
                raise PropertyError(f"Failed to set property '{name}' to '{value}'.")
            if len(value.encode("utf-8", "surrogateescape")) > MAXIMUM_VALUE and not name.startswith("ro."):
                raise PropertyError(f"Failed to set property '{name}' to '{value}'.")
            self._values[name] = value


def _initial(release: ReleaseProfile, serial: str) -> dict[str, str]:
    properties = {
        "dev.bootcomplete": "1",
        "persist.sys.locale": "en-US",
        "persist.sys.timezone": "UTC",
        "ro.adb.secure": "0",
        "ro.boot.serialno": serial,
        "ro.build.characteristics": "default",
        "ro.build.display.id": f"{release.build} virtual",
        "ro.build.fingerprint": release.fingerprint,
        "ro.build.id": release.build,
        "ro.build.tags": "release-keys",
        "ro.build.type": "user",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": "1",
        "ro.build.version.release": release.version,
        "ro.build.version.sdk": str(release.sdk),
        "ro.build.version.security_patch": release.security_patch,
        "ro.crypto.state": "encrypted",
        "ro.debuggable": "0",
        "ro.hardware": "virtual",
        "ro.product.brand": "droidgate",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.cpu.abilist": "x86_64",
        "ro.product.device": "virtual",
        "ro.product.manufacturer": "droidgate",
        "ro.product.model": "Virtual Phone",
        "ro.product.name": "virtual",
        "ro.secure": "1",
        "ro.serialno": serial,
        "ro.sf.lcd_density": "420",
        "sys.boot_completed": "1",
    }
    if release.sdk_full is not None:
        properties["ro.build.version.sdk_full"] = release.sdk_full
    if release.at_least(30):
        properties["ro.build.version.release_or_codename"] = release.version
    return properties


class SettingsProvider:
    """Texts by namespace and key: settings, or the device configuration (`android.provider.DeviceConfig`).

    Args:
        values: What is set at first.
    """

    def __init__(self, values: Mapping[str, Mapping[str, str]]) -> None:
        self._lock = threading.Lock()
        self._values = {namespace: dict(texts) for namespace, texts in values.items()}

    def get(self, namespace: str, key: str) -> str | None:
        """Return a value."""
        with self._lock:
            return self._values.get(namespace, {}).get(key)

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a value."""
        with self._lock:
            self._values.setdefault(namespace, {})[key] = value

    def delete(self, namespace: str, key: str) -> bool:
        """Remove a value; return whether there was one."""
        with self._lock:
            return self._values.get(namespace, {}).pop(key, None) is not None

    def all(self, namespace: str) -> dict[str, str]:
        """Return the values of a namespace, by key."""
        with self._lock:
            return dict(sorted(self._values.get(namespace, {}).items()))


SETTINGS: Final = {
    "system": {"font_scale": "1.0", "screen_off_timeout": "60000"},
    "secure": {"default_input_method": "", "enabled_accessibility_services": ""},
    "global": {
        "adb_enabled": "1",
        "airplane_mode_on": "0",
        "animator_duration_scale": "1",
        "device_provisioned": "1",
        "transition_animation_scale": "1",
        "window_animation_scale": "1",
    },
}
"""The settings of a new phone, by namespace."""
