"""Permissions (protection levels, holders) and app operations (`appops`), which are what the user allows an
app beyond its permissions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

from droidgate_phone.common.uids import ROOT_UID, SHELL_UID, SYSTEM_UID
from droidgate_phone.system.package_records import InstalledPackage


class AppOps:
    """The modes of app operations that were set on one phone."""

    def __init__(self) -> None:
        self._modes: dict[tuple[str, str], str] = {}

    def mode(self, package: str, operation: str) -> str:
        """Return the mode of an operation: `allow`, `deny`, `ignore` or `default`."""
        return self._modes.get((package, operation), "default")

    def set_mode(self, package: str, operation: str, mode: str) -> None:
        """Set the mode of an operation."""
        self._modes[package, operation] = mode


SHELL_PACKAGE: Final = "com.android.shell"
POST_NOTIFICATIONS: Final = "android.permission.POST_NOTIFICATIONS"


@dataclass(frozen=True, slots=True)
class _Table:
    protection: Mapping[str, str]
    since: Mapping[str, int]
    shell: frozenset[str]


@cache
def _table() -> _Table:
    text = resources.files(__package__).joinpath("permissions.toml").read_text("utf-8")
    tables = tomllib.loads(text)
    return _Table(tables["protection"], tables["since"], frozenset(tables["shell"]["holds"]))


class Permissions:
    """What each permission is, on one phone.

    Args:
        sdk: The phone's SDK.
        packages: The installed packages by name; the same mapping for the phone's whole life.
    """

    def __init__(self, sdk: int, packages: Mapping[str, InstalledPackage]) -> None:
        self._sdk = sdk
        self._packages = packages
        self._adopted: dict[int, frozenset[str] | None] = {}

    def protection_of(self, permission: str) -> str | None:
        """Return a protection level, None where no package declares the permission."""
        table = _table()
        if permission in table.protection and table.since.get(permission, 0) <= self._sdk:
            return table.protection[permission]
        owner = self.owner_of(permission)
        return owner.manifest.declared_permissions[permission] if owner is not None else None

    def owner_of(self, permission: str) -> InstalledPackage | None:
        """Return the installed app that declares a permission."""
        return next(
            (
                package
                for package in self._packages.values()
                if permission in package.manifest.declared_permissions
            ),
            None,
        )

    def grant_at_install(self, package: InstalledPackage, *, runtime: bool) -> None:
        """Give an app what it gets without asking.

        Args:
            package: The app.
            runtime: Runtime permissions too, as `pm install -g`.
        """
        for permission in package.manifest.requested_permissions:
            level = (self.protection_of(permission) or "").split("|")[0]
            if (
                level == "normal"
                or (level == "dangerous" and runtime)
                or (level == "signature" and self._same_signer(package, permission))
            ):
                package.granted.add(permission)

    def _same_signer(self, package: InstalledPackage, permission: str) -> bool:
        owner = self.owner_of(permission)
        return owner is not None and owner.signers == package.signers

    def is_changeable(self, permission: str) -> bool:
        """Return whether `pm grant` may give it: runtime and development permissions."""
        level = (self.protection_of(permission) or "").split("|")
        return level[0] == "dangerous" or "development" in level

    def holds(self, uid: int, permission: str | None) -> bool:
        """Return whether a uid holds a permission; true for None, which requires nothing."""
        if permission is None or uid in (ROOT_UID, SYSTEM_UID):
            return True
        if uid == SHELL_UID:
            return permission in _table().shell
        if uid in self._adopted:
            names = self._adopted[uid]
            if names is None or permission in names:
                # The shell's answer replaces the app's own, and may be less.
                return permission in _table().shell
        return any(permission in package.granted for package in self._packages.values() if package.uid == uid)

    def adopt(self, uid: int, *permissions: str) -> None:
        """Have permissions of a uid checked as the shell's (AccessCheckDelegate.setShellPermissionDelegate).

        Args:
            uid: The uid.
            permissions: Which permissions; all of them by default.
        """
        self._adopted[uid] = frozenset(permissions) or None

    def give_back(self, uid: int) -> None:
        """Have permissions of a uid checked as its own again."""
        self._adopted.pop(uid, None)
