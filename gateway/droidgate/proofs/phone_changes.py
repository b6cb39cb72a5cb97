"""What a proof changes on a phone, kept on the computer until it is restored, as a cable may be pulled."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from droidgate.computer.private_files import lock_file, private_file, read_private, replace_private
from droidgate.devices.app_installation import uninstall
from droidgate.devices.packages import disabled_packages
from droidgate.shims.device_user import DeviceUser
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.user_folders import state_folder

_LARGEST: Final = 4 * 1024 * 1024
_SETTINGS: Final = (
    ("secure", "enabled_accessibility_services"),
    ("secure", "default_input_method"),
    ("secure", "enabled_input_methods"),
    ("system", "accelerometer_rotation"),
    ("system", "user_rotation"),
    ("global", "stay_on_while_plugged_in"),
)

State = Mapping[str, tuple[str, ...]]
"""Lines by what they are of; what a device does not show is left out."""


class _ChangesFile(Frozen):
    version: Literal[1] = 1
    before: dict[str, tuple[str, ...]]
    packages: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def read_state(device_user: DeviceUser) -> State:
    """Return what a proof has to leave as it was: packages, exemptions, settings and keyboards.

    Raises:
        DeviceError: the device fails.
    """
    device, user = device_user.device, str(device_user.user)
    state = {
        "packages": tuple(f"{name} {item.version_code}" for name, item in device_user.packages().items()),
        "disabled packages": tuple(sorted(disabled_packages(device, device_user.user))),
    }
    listings = {
        "exemptions from battery optimisation": ["dumpsys", "deviceidle", "whitelist"],
        "keyboards": ["ime", "list", "-s"],
    }
    for table, name in _SETTINGS:
        listings[f"setting {name}"] = ["settings", "get", "--user", user, table, name]
    for title, command in listings.items():
        result = device.run(command)
        if result.exit_status == 0:
            state[title] = tuple(sorted(result.text.splitlines()))
    return state


class PhoneChanges:
    """What is changed on a phone, in a file of the user's state folder for each phone.

    Args:
        device_user: The phone.
        kept: What the file holds.
    """

    def __init__(self, device_user: DeviceUser, kept: _ChangesFile) -> None:
        self._device_user = device_user
        self._path = _path_of(device_user)
        self._kept = kept

    @classmethod
    def begin(cls, device_user: DeviceUser) -> PhoneChanges:
        """Note how a phone is before anything is changed.

        Raises:
            DeviceError: the device fails.
            WriteError: the file cannot be written.
        """
        changes = cls(device_user, _ChangesFile(before=dict(read_state(device_user))))
        changes._keep()
        return changes

    @classmethod
    def load(cls, device_user: DeviceUser) -> PhoneChanges | None:
        """Return what an earlier proof has left on a phone; None where it left nothing.

        Raises:
            DeviceError: the device fails.
            InputError: the file cannot be read.
        """
        path = _path_of(device_user)
        data = read_private(path, largest=_LARGEST)
        if data is None:
            return None
        try:
            return cls(device_user, _ChangesFile.model_validate_json(data))
        except ValidationError:
            hint = "remove dev.droidgate.agent, dev.droidgate.agent.second and the shim, then this file"
            raise InputError("the file is not what a proof keeps", place=str(path), hint=hint) from None

    @property
    def left(self) -> tuple[str, ...]:
        """What has to be done by hand where the phone does not come back."""
        return (
            *(f"adb uninstall {package}" for package in self._kept.packages),
            *(f"adb shell rm {file}" for file in self._kept.files),
        )

    def will_install(self, package: str) -> None:
        """Note a package before it is installed.

        Raises:
            WriteError: the file cannot be written.
        """
        self._kept = self._kept.changed({"packages": (*self._kept.packages, package)})
        self._keep()

    def will_write(self, file: str) -> None:
        """Note a file before it is written.

        Raises:
            WriteError: the file cannot be written.
        """
        self._kept = self._kept.changed({"files": (*self._kept.files, file)})
        self._keep()

    def put_back(self) -> tuple[str, ...]:
        """Undo the changes, and return what is still not as it was before.

        Raises:
            DeviceError: the device fails.
        """
        installed = self._device_user.packages()
        device = self._device_user.device
        for package in self._kept.packages:
            if package in installed:
                uninstall(device, package, user=self._device_user.user)
        for file in self._kept.files:
            device.check(["rm", "-f", file])
        device.run(["input", "keyevent", "HOME"])
        after = read_state(self._device_user)
        different = tuple(
            f"{title}: {line} {words}"
            for title, before in self._kept.before.items()
            for line, words in _differences(before, after.get(title, before))
        )
        self._path.unlink(missing_ok=True)
        return different

    def _keep(self) -> None:
        replace_private(self._path, self._kept.model_dump_json().encode())


def _differences(before: tuple[str, ...], after: tuple[str, ...]) -> list[tuple[str, str]]:
    gone = [(line, "is gone") for line in before if line not in after]
    return gone + [(line, "was not there") for line in after if line not in before]


@contextmanager
def only_proof(device_user: DeviceUser) -> Iterator[None]:
    """Keep other proofs off a phone, which would restore what this one has changed.

    Raises:
        UsageError: another one is running.
        DeviceError: the device fails.
    """
    with private_file(_path_of(device_user).with_suffix(".lock")) as descriptor:
        if not lock_file(descriptor, wait=False):
            raise UsageError("another proof of this phone is running", hint="wait until it ends")
        yield


def _path_of(device_user: DeviceUser) -> Path:
    # Not of adb's serial: over Wi-Fi a phone comes back by another one. All emulators of one image have one
    # serial number and fingerprint, and each its own android_id.
    device = device_user.device
    own = device.run(
        ["settings", "get", "--user", str(device_user.user), "secure", "android_id"]
    ).text.strip()
    identity = f"{device.identity.serial_number}\n{device.identity.fingerprint}\n{own}"
    return state_folder() / "proofs" / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"
