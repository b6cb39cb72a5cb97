"""App operations (`appops`): what the user allows an app beyond its permissions."""

from __future__ import annotations


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

    def of_package(self, package: str) -> dict[str, str]:
        """Return the modes that were set for a package, by operation."""
        return {name: mode for (owner, name), mode in sorted(self._modes.items()) if owner == package}
