"""How the phone recognises a shim: by its provider's class and the builder's two assets."""

from __future__ import annotations

from typing import Final

from droidgate_phone.system.package_records import InstalledPackage

HOST_PROVIDER: Final = "dev.droidgate.shim.host.HostProvider"
ROUTES: Final = "assets/routes.json"
POLICY: Final = "assets/policy.json"


def is_shim(package: InstalledPackage) -> bool:
    """Return whether an installed package is a shim."""
    if package.apk is None or package.find_component("provider", HOST_PROVIDER) is None:
        return False
    return all(package.apk.part_with(item) is not None for item in (ROUTES, POLICY))
