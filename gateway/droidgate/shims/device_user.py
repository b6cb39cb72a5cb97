"""A device with its user and API level, and the shims on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate.devices.device import Device
from droidgate.devices.packages import InstalledPackage, disabled_packages, list_packages
from droidgate.devices.properties import build_of, current_user, get_properties
from droidgate.shims.answers import AppState, StatusAnswer, TargetState
from droidgate.shims.host_client import HostClient
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX, SYNC_SHIMS, is_shim
from droidgate_mappings.model.errors import DeviceError, DroidgateError, UsageError
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mappings.values.failures import CallError, Failure, call_error

_MOST_NAMED: Final = 10
_TARGET_PROBLEMS: Final[Mapping[TargetState, tuple[str, str]]] = {
    "absent": (
        "is not installed, or the shim cannot see it",
        f"install the app, or remove the shim with {SYNC_SHIMS}",
    ),
    "other-signer": (
        "is signed by another than its shim was built for",
        f"be sure where the app comes from; then {SYNC_SHIMS}",
    ),
    "changed": (
        "declares something else than its shim was built for",
        f"{SYNC_SHIMS}; with --dry-run it shows what it would change",
    ),
    "disabled": ("is disabled", "enable it in the phone's settings: Apps, the app, Enable"),
}


def target_problem(target: AppState) -> tuple[str, str] | None:
    """Return why calls of an app behind a shim fail, and the fix; None where it is as it was approved."""
    return _TARGET_PROBLEMS.get(target.state)


def failures_of_apps(status: StatusAnswer) -> dict[str, CallError]:
    """Return the apps behind a shim of which it refuses each call, with the failure of each."""
    failures: dict[str, CallError] = {}
    for target in status.targets:
        problem = target_problem(target)
        if problem is not None:
            token = "needs_approval" if target.state == "changed" else "unavailable"
            text = f"{target.package} {problem[0]}"
            if target.state in {"changed", "other-signer"}:
                text += f"; the phone's owner has to run {SYNC_SHIMS}"
            failures[target.package] = call_error(Failure(token, text), hint=problem[1])
    return failures


@dataclass(frozen=True, slots=True)
class DeviceUser:
    """Where shims are installed.

    Attributes:
        device: The device.
        user: The user in front, for whom everything is done.
        sdk_full: Its API level, with the minor level where there is one: `36.1`.
    """

    device: Device
    user: int
    sdk_full: str

    @property
    def sdk(self) -> int:
        """Its API level without a minor level."""
        return int(self.sdk_full.partition(".")[0])

    def client(self, application_id: str) -> HostClient:
        """Return what talks to one of its shims."""
        return HostClient(self.device, application_id, user=self.user)

    def packages(self) -> dict[str, InstalledPackage]:
        """Return the installed packages by name.

        Raises:
            DeviceError: the device fails.
        """
        return {package.name: package for package in list_packages(self.device, self.user)}


@dataclass(frozen=True, slots=True)
class InstalledShim:
    """A shim that is installed.

    Attributes:
        application_id: Which one.
        status: Its status; None where it does not answer as it should.
        problem: Why it does not.
    """

    application_id: str
    status: StatusAnswer | None
    problem: DroidgateError | None = None

    @property
    def is_bare(self) -> bool:
        """It has no capabilities, and only serves the host."""
        return self.application_id == SHIM_PACKAGE and self.status is not None and not self.status.routes

    @property
    def broken_targets(self) -> tuple[AppState, ...]:
        """The apps behind it that cannot be called: gone, or not as they were approved."""
        return (
            ()
            if self.status is None
            else tuple(target for target in self.status.targets if target.state != "as-approved")
        )

    @property
    def works(self) -> bool:
        """Whether it answers, and each app behind it can be called."""
        return self.status is not None and not self.broken_targets

    @property
    def source_packages(self) -> tuple[str, ...]:
        """The packages of the apps behind it; by its name where it does not answer."""
        if self.status is not None:
            return tuple(source.package for source in self.status.sources)
        package = self.application_id.removeprefix(SHIM_PREFIX)
        return (package,) if package != self.application_id else ()


def installed_package(packages: Mapping[str, InstalledPackage], name: str) -> InstalledPackage:
    """Return one of the installed packages.

    Raises:
        UsageError: there is none of this name.
    """
    if name not in packages:
        hint = suggest_name(name, sorted(packages), most=_MOST_NAMED)
        raise UsageError(f"{name!r} is not installed for the user in front", hint=hint)
    return packages[name]


def device_user_of(device: Device) -> DeviceUser:
    """Return a device with what commands to it need to know.

    Raises:
        DeviceError: the device does not answer.
    """
    level = build_of(get_properties(device)).sdk_full
    return DeviceUser(device, current_user(device), level)


def installed_shims(
    device_user: DeviceUser, packages: Mapping[str, InstalledPackage] | None = None
) -> tuple[InstalledShim, ...]:
    """Return the shims of a device, by application id; one that does not answer is there all the same.

    Args:
        device_user: The device.
        packages: What is installed there, where that is known already.

    Raises:
        DeviceError: the device cannot be reached or goes away.
    """
    names = sorted(filter(is_shim, device_user.packages() if packages is None else packages))
    disabled = disabled_packages(device_user.device, device_user.user) if names else frozenset()
    return tuple(_with_disabled(_look_at(device_user, name), disabled) for name in names)


def _with_disabled(shim: InstalledShim, disabled: frozenset[str]) -> InstalledShim:
    """Return a shim with the state of disabled apps, which the shim does not see."""
    if shim.status is None or disabled.isdisjoint(target.package for target in shim.status.targets):
        return shim
    targets = tuple(
        target.changed({"state": "disabled"})
        if target.package in disabled and target.state == "as-approved"
        else target
        for target in shim.status.targets
    )
    return replace(shim, status=shim.status.changed({"targets": targets}))


def _look_at(device_user: DeviceUser, application_id: str) -> InstalledShim:
    try:
        return InstalledShim(application_id, device_user.client(application_id).status())
    except DeviceError as error:
        # The next command says whether it was the device or only this shim.
        device_user.device.run(["true"])
        return InstalledShim(application_id, None, error)
    except DroidgateError as error:
        return InstalledShim(application_id, None, error)
