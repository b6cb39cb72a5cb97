"""A phone to work with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from droidgate.devices.device import Device
from droidgate.sources import chosen_formats
from droidgate.sources.device import PhoneReading, PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats


@dataclass(frozen=True, slots=True)
class ReadablePhone:
    """A phone that adb reaches, real or virtual.

    Attributes:
        device: Its connection.
    """

    device: Device

    @property
    def serial(self) -> str:
        """What adb calls it."""
        return self.device.serial

    def discover(
        self,
        *,
        formats: Iterable[str] | None = None,
        every_app: bool = False,
        keep: bool = True,
        own_apps: bool = False,
    ) -> PhoneReading:
        """Return what its apps declare, for the user in front; an app that cannot be read is a problem.

        Args:
            formats: Ids of the formats to look for; all installed ones by default.
            every_app: Read the manifest of every app, not only of those that answer a query.
            keep: Use and keep what was read of APKs.
            own_apps: Read shims and droidgate's agent apps, too.

        Raises:
            DeviceError: the phone fails.
            UsageError: a format is unknown.
        """
        chosen = tuple(chosen_formats(formats) or load_formats().values())
        request = PhoneRequest(chosen, every_app=every_app, keep=keep, own_apps=own_apps)
        return read_phone(self.device, request)
