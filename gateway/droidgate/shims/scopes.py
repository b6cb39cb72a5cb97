"""What a user had installed on a device, and with which options: what `shim sync` keeps current.

One small file for each device in the user's state folder. Installing further apps adds to it, whatever their
options are. Without it, the apps are those whose shims are installed, and the options are the defaults.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from droidgate.computer.private_files import read_private, replace_private
from droidgate.devices.device import Device
from droidgate.shims.device_user import InstalledShim
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.user_folders import state_folder
from droidgate_shim.builder.shim_choices import EVERY_PROTOCOL, ShimOptions

_MAX_BYTES: Final = 16 * 1024 * 1024


class Scope(Frozen):
    """Which apps of a device have shims of one kind, and what these are like.

    Attributes:
        packages: The apps; None is every app that declares something and that no other scope names.
        options: How the shims are made, with the protocols that were chosen then.
    """

    packages: tuple[str, ...] | None = None
    options: ShimOptions = ShimOptions(protocols=(EVERY_PROTOCOL,))

    def includes(self, package: str, named: Collection[str]) -> bool:
        """Return whether an app is one of its own; a scope of every app leaves out those that others name."""
        return package not in named if self.packages is None else package in self.packages

    def is_within(self, other: Scope) -> bool:
        """Return whether all of its apps are another scope's, too."""
        return _union(self.packages, other.packages) == other.packages


class _ScopeFile(Frozen):
    version: Literal[4] = 4
    scopes: tuple[Scope, ...] = ()


def join_scopes(scopes: Sequence[Scope], new_scope: Scope, built: Collection[str]) -> tuple[Scope, ...]:
    """Return the scopes of a device after an installation, the newest last; the apps of earlier ones stay.

    There is one shim for several apps only. Where it is made anew and capabilities were chosen, its earlier
    apps are left out, since the choice cannot hold for both.

    Args:
        scopes: The scopes before it.
        new_scope: What was asked for.
        built: The apps whose shims were built, which now belong to what was asked for.
    """
    other_scopes: list[Scope] = []
    for scope in scopes:
        is_one_shim = scope.options.aggregate and new_scope.options.aggregate
        is_whole = scope.packages is None and new_scope.packages is None
        same_protocols = {"protocols": new_scope.options.protocols} if is_whole or is_one_shim else {}
        if scope.options.changed(same_protocols) == new_scope.options or (
            is_one_shim and not scope.options.only and not new_scope.options.only
        ):
            protocols = _union(scope.options.protocols, new_scope.options.protocols)
            options = new_scope.options.changed({"protocols": protocols})
            new_scope = Scope(packages=_union(scope.packages, new_scope.packages), options=options)
        elif scope.packages is None:
            other_scopes += [] if is_one_shim else [scope]
        elif not is_one_shim:
            packages = tuple(package for package in scope.packages if package not in built)
            other_scopes += [scope.changed({"packages": packages})] if packages else []
    return (*other_scopes, new_scope)


def _union(first: tuple[str, ...] | None, second: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if first is None or second is None else tuple(sorted({*first, *second}))


def scope_of_installed(installed: Sequence[InstalledShim], key: Path | None = None) -> Scope | None:
    """Return the scope of shims of which nothing was kept: their apps; None where there is none.

    Args:
        installed: The shims.
        key: PEM file of the key that signed them; None is the user's own.
    """
    packages = sorted({package for item in installed for package in item.source_packages})
    is_aggregate = any(item.application_id == SHIM_PACKAGE and not item.is_bare for item in installed)
    options = ShimOptions(aggregate=is_aggregate, protocols=(EVERY_PROTOCOL,), key=key)
    return Scope(packages=tuple(packages), options=options) if packages else None


def load_scopes(device: Device) -> tuple[Scope, ...]:
    """Return a device's scopes, the newest last; none where none were kept, or they are of another form.

    Raises:
        DeviceError: the device cannot be reached.
        InputError: another user of this computer may write the file, whose keys are trusted.
    """
    data = read_private(_path_of(device), largest=_MAX_BYTES)
    try:
        return () if data is None else _ScopeFile.model_validate_json(data).scopes
    except ValidationError:
        return ()


def keep_scopes(device: Device, scopes: Sequence[Scope]) -> None:
    """Keep a device's scopes in place of what was kept.

    Raises:
        DeviceError: the device cannot be reached.
        WriteError: they cannot be kept.
    """
    text = _ScopeFile(scopes=tuple(scopes)).model_dump_json(indent=2)
    replace_private(_path_of(device), f"{text}\n".encode())


def forget_scope(device: Device) -> None:
    """Keep nothing of a device any more.

    Raises:
        DeviceError: the device cannot be reached.
    """
    _path_of(device).unlink(missing_ok=True)


def _path_of(device: Device) -> Path:
    identity = f"{device.identity.serial_number}\n{device.serial}"
    return state_folder() / "shims" / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"
