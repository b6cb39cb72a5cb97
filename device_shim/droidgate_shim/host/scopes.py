"""What a user had installed on a device, and with which options: what `shim sync` keeps current.

One small file for each device in the user's state folder. Without it, the apps are those whose
shims are installed, and the options are the defaults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from droidgate.devices.device import Device
from droidgate.model.errors import WriteError
from droidgate.model.types import Frozen
from droidgate.user_folders import state_folder
from droidgate_shim.builder.shims import ShimOptions

ALL_APPS: Final = None


class Scope(Frozen):
    """Which apps of a device have shims, and what the shims are like.

    Attributes:
        version: Of the file.
        packages: The apps; None is every app that declares something.
        only, aggregate, advertise, deadline_ms: As in `ShimOptions`.
        key: File of the key that signs them; None is the user's own.
        protocols: Protocols whose apps have shims, by id; None is every protocol that a shim can call.
    """

    version: Literal[1] = 1
    packages: tuple[str, ...] | None = ALL_APPS
    only: tuple[str, ...] = ()
    aggregate: bool = False
    advertise: tuple[str, ...] = ()
    deadline_ms: int | None = None
    key: str | None = None
    protocols: tuple[str, ...] | None = None

    @property
    def options(self) -> ShimOptions:
        """The builder's options."""
        return ShimOptions(
            only=self.only,
            aggregate=self.aggregate,
            advertise=frozenset(self.advertise),
            deadline_ms=self.deadline_ms,
        )

    def is_alike(self, other: Scope) -> bool:
        """Return whether another scope has the same options and key, for whichever apps."""
        return self.model_copy(update={"packages": other.packages}) == other

    def joined(self, earlier: Scope) -> Scope:
        """Return this scope with the apps of an earlier one, where that one is alike."""
        if not self.is_alike(earlier) or self.packages is None:
            return self
        packages = earlier.packages
        joined = packages if packages is None else tuple(sorted({*self.packages, *packages}))
        return self.model_copy(update={"packages": joined})

    def sources(self, serial: str) -> tuple[str, ...]:
        """Return the apps as sources on the device of a serial."""
        if self.packages is None:
            return (f"adb:{serial}",)
        return tuple(f"adb:{serial}/{package}" for package in self.packages)


def scope_of(
    packages: Collection[str] | None, options: ShimOptions, key: str | None, protocols: Collection[str]
) -> Scope:
    """Return a scope of these apps and options."""
    return Scope(
        packages=None if packages is None else tuple(sorted(packages)),
        only=tuple(options.only),
        aggregate=options.aggregate,
        advertise=tuple(sorted(options.advertise)),
        deadline_ms=options.deadline_ms,
        key=key,
        protocols=tuple(sorted(protocols)),
    )


def load_scope(device: Device) -> Scope | None:
    """Return a device's scope; None where none was kept, or it cannot be read.

    Raises:
        DeviceError: the device cannot be reached.
    """
    try:
        return Scope.model_validate_json(_path_of(device).read_bytes())
    except (OSError, ValidationError):
        return None


def keep_scope(device: Device, scope: Scope) -> None:
    """Keep a device's scope in place of what was kept.

    Raises:
        DeviceError: the device cannot be reached.
        WriteError: it cannot be kept.
    """
    path = _path_of(device)
    draft = path.with_suffix(".new")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.write_text(scope.model_dump_json(indent=2) + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError as error:
        message = f"what was installed cannot be kept: {error.strerror}"
        raise WriteError(message, place=str(path)) from None


def forget_scope(device: Device) -> None:
    """Keep nothing of a device any more.

    Raises:
        DeviceError: the device cannot be reached.
    """
    _path_of(device).unlink(missing_ok=True)


def _path_of(device: Device) -> Path:
    named = f"{device.identity.serial_number}\n{device.serial}"
    return state_folder() / "shims" / f"{hashlib.sha256(named.encode()).hexdigest()[:32]}.json"
