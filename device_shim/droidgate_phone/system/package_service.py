"""PackageManager: which apps are installed, and how they come and go."""

from __future__ import annotations

import base64
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.uids import FIRST_APP_UID
from droidgate_phone.files.phone_files import VirtualFileError, VirtualFiles
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system.installation import InstallError, InstallOptions, ParsedPackage, parse_package
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.permissions import Permissions
from droidgate_phone.system.releases import ReleaseProfile

_CODE_FOLDER: Final = "/data/app"
_DATA_FOLDER: Final = "/data/data"

PackageListener = Callable[[str, InstalledPackage | None], None]
"""Takes the name of a package that came, changed or went, and what it is now (None: gone)."""


@dataclass(slots=True)
class InstallSession:
    """An installation in steps (`pm install-create`, `-write`, `-commit`).

    Attributes:
        id: Its number.
        options: What was asked.
        parts: The APKs that were written, by name.
        reserved: Bytes of the phone's storage that they may take.
    """

    id: int
    options: InstallOptions
    parts: dict[str, bytes] = field(default_factory=dict)
    reserved: int = 0

    @property
    def stage(self) -> str:
        """The session's folder on the phone."""
        return f"{_CODE_FOLDER}/vmdl{self.id}.tmp"


class PackageManager:
    """The installed packages of one phone; every method may be called from any thread.

    Attributes:
        lock: Held while packages change.
        permissions: What permissions are and who holds them.
        sessions: Open installations by id.
    """

    def __init__(
        self,
        release: ReleaseProfile,
        files: VirtualFiles,
        log: EventLog,
        clock: Clock,
        *,
        seed: int | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self._release = release
        self._files = files
        self._log = log
        self._clock = clock
        self._random = random.Random(seed)  # noqa: S311  # names of folders, no secrets
        self._packages: dict[str, InstalledPackage] = {}
        self._listeners: list[PackageListener] = []
        self._next_uid = FIRST_APP_UID
        self.permissions = Permissions(release.sdk, self._packages)
        self.sessions: dict[int, InstallSession] = {}

    def listen(self, listener: PackageListener) -> None:
        """Call a listener for each change, while the lock is held."""
        self._listeners.append(listener)

    def find(self, name: str) -> InstalledPackage | None:
        """Return an installed package."""
        return self._packages.get(name)

    def all(self) -> list[InstalledPackage]:
        """Return the installed packages, by name."""
        with self.lock:
            return [self._packages[name] for name in sorted(self._packages)]

    def of_uid(self, uid: int) -> list[InstalledPackage]:
        """Return the packages of a uid, by name."""
        return [item for item in self.all() if item.uid == uid]

    def create_session(self, options: InstallOptions) -> InstallSession:
        """Open an installation."""
        with self.lock:
            number = self._random.randrange(1, 1 << 31)
            session = self.sessions[number] = InstallSession(number, options)
            return session

    def reserve(self, session: InstallSession, size: int) -> None:
        """Set storage aside for a part that is about to be written.

        Raises:
            AndroidError: too little storage is left.
        """
        with self.lock:
            used_bytes = self._files.used + sum(session.reserved for session in self.sessions.values())
            if used_bytes + size > self._files.capacity:
                message = "java.io.IOException: Requested internal only, but not enough space"
                raise AndroidError("android.os.ParcelableException", message)
            session.reserved += size

    def commit_session(self, session: InstallSession) -> InstalledPackage:
        """End an installation by installing what was written.

        Raises:
            InstallError: Android refuses.
        """
        with self.lock:
            self.sessions.pop(session.id, None)
            return self._install(session)

    def abandon_session(self, session_id: int) -> bool:
        """Give an installation up; False where there is none."""
        with self.lock:
            return self.sessions.pop(session_id, None) is not None

    def install(self, *apks: bytes, options: InstallOptions | None = None) -> InstalledPackage:
        """Install an app from the bytes of its APKs.

        Raises:
            InstallError: Android refuses.
        """
        session = self.create_session(options or InstallOptions())
        session.parts.update({f"{number}.apk": content for number, content in enumerate(apks)})
        return self.commit_session(session)

    def uninstall(self, name: str, *, keep_data: bool = False) -> bool:
        """Remove an app; False where it is not installed."""
        with self.lock:
            package = self._packages.pop(name, None)
            if package is None:
                return False
            self._remove_code(package)
            if not keep_data:
                self.clear_data(name, gone=True)
            self._notify_listeners(name, None)
            if package.apk is not None:
                package.apk.close()
            self._log.record("package-removed", package=name)
            return True

    def clear_data(self, name: str, *, gone: bool = False) -> None:
        """Remove an app's private files."""
        folder = f"{_DATA_FOLDER}/{name}"
        if self._files.exists(folder):
            self._files.remove(folder, recursive=True)
        package = self._packages.get(name)
        if package is not None and not gone:
            self._make_data_folder(package)

    def changed(self, package: InstalledPackage) -> None:
        """Notify the listeners that a package's state was set."""
        with self.lock:
            self._notify_listeners(package.name, package)

    def close(self) -> None:
        """Free what the opened APKs hold."""
        with self.lock:
            for package in self._packages.values():
                if package.apk is not None:
                    package.apk.close()
                    package.apk = None

    def _notify_listeners(self, name: str, package: InstalledPackage | None) -> None:
        for listener in self._listeners:
            listener(name, package)

    def _install(self, session: InstallSession) -> InstalledPackage:
        options = session.options
        parsed = parse_package(
            session.parts, session.stage, self._release, inherited=self._inherited(options)
        )
        try:
            earlier = self._packages.get(parsed.manifest.package)
            self._check(parsed, earlier, options)
            package = self._place(parsed, earlier, options)
        except BaseException:
            parsed.apk.close()
            raise
        if earlier is not None:
            self._remove_code(earlier)
            if earlier.apk is not None:
                earlier.apk.close()
        self._packages[package.name] = package
        self.permissions.grant_at_install(package, runtime=options.grant)
        self._notify_listeners(package.name, package)
        self._log.record(
            "package-installed", package=package.name, version_code=package.version_code, uid=package.uid
        )
        return package

    def _inherited(self, options: InstallOptions) -> Mapping[str, bytes]:
        if options.inherit is None:
            return {}
        earlier = self._packages.get(options.inherit)
        if earlier is None:
            raise InstallError(
                "INSTALL_FAILED_INVALID_APK", f"Missing existing base package for {options.inherit}"
            )
        return earlier.apks

    def _check(
        self, parsed: ParsedPackage, earlier: InstalledPackage | None, options: InstallOptions
    ) -> None:
        manifest = parsed.manifest
        if manifest.test_only and not options.test_only:
            text = "Failed to install test-only apk. Did you forget to add -t?"
            raise InstallError("INSTALL_FAILED_TEST_ONLY", text)
        if earlier is not None:
            self._check_update(parsed, earlier, options)
        for name in manifest.declared_permissions:
            owner = self.permissions.owner_of(name)
            if owner is not None and owner.name != manifest.package and owner.signers != parsed.signers:
                text = (
                    f"Package {manifest.package} attempting to redeclare permission {name} already "
                    f"owned by {owner.name}"
                )
                raise InstallError("INSTALL_FAILED_DUPLICATE_PERMISSION", text)
        self._check_authorities(parsed)

    def _check_update(
        self, parsed: ParsedPackage, earlier: InstalledPackage, options: InstallOptions
    ) -> None:
        if not options.replace:
            text = f"Attempt to re-install {earlier.name} without first uninstalling."
            raise InstallError("INSTALL_FAILED_ALREADY_EXISTS", text)
        if set(parsed.signers) != set(earlier.signers):
            if self._release.at_least(33):
                text = f"Existing package {earlier.name} signatures do not match newer version; ignoring!"
            else:
                text = (
                    f"Package {earlier.name} signatures do not match previously installed version; ignoring!"
                )
            raise InstallError("INSTALL_FAILED_UPDATE_INCOMPATIBLE", text)
        version = parsed.apk.version_code or 0
        if version < earlier.version_code and not options.downgrade:
            text = (
                f"Downgrade detected: Update version code {version} is older than current "
                f"{earlier.version_code}"
            )
            raise InstallError("INSTALL_FAILED_VERSION_DOWNGRADE", text)

    def _check_authorities(self, parsed: ParsedPackage) -> None:
        authority_owners = {
            authority: package.name
            for package in self._packages.values()
            if package.name != parsed.manifest.package
            for component in package.components("provider")
            for authority in component.authorities
        }
        for component in parsed.manifest.components:
            for authority in component.authorities:
                if authority in authority_owners:
                    text = (
                        f"Scanning Failed.: Can't install because provider name {authority} (in package "
                        f"{parsed.manifest.package}) is already used by {authority_owners[authority]}"
                    )
                    raise InstallError("INSTALL_FAILED_CONFLICTING_PROVIDER", text)

    def _place(
        self, parsed: ParsedPackage, earlier: InstalledPackage | None, options: InstallOptions
    ) -> InstalledPackage:
        now = self._clock.now()
        package = InstalledPackage(
            name=parsed.manifest.package,
            uid=earlier.uid if earlier is not None else self._uid_for(parsed),
            version_code=parsed.apk.version_code or 0,
            version_name=parsed.apk.version_name,
            target_sdk=parsed.target_sdk,
            minimum_sdk=parsed.minimum_sdk,
            signers=parsed.signers,
            code_folder=self._new_code_folder(parsed.manifest.package),
            apks=parsed.apks,
            manifest=parsed.manifest,
            application=parsed.application,
            apk=parsed.apk,
            granted=_kept_grants(parsed, earlier),
            stopped=earlier.stopped if earlier is not None else True,
            first_installed=earlier.first_installed if earlier is not None else now,
            last_updated=now,
            installer=options.installer,
        )
        if earlier is not None:
            package.enabled = earlier.enabled
            package.component_states = dict(earlier.component_states)
        try:
            self._write_code(package)
        except VirtualFileError as error:
            self._remove_code(package)
            raise InstallError("INSTALL_FAILED_INSUFFICIENT_STORAGE", str(error.strerror)) from error
        self._make_data_folder(package)
        return package

    def _uid_for(self, parsed: ParsedPackage) -> int:
        shared = parsed.manifest.shared_user
        for package in self._packages.values():
            if shared is not None and package.manifest.shared_user == shared:
                if package.signers != parsed.signers:
                    text = (
                        f"Package {parsed.manifest.package} has no signatures that match those in "
                        f"shared user {shared}; ignoring!"
                    )
                    raise InstallError("INSTALL_FAILED_SHARED_USER_INCOMPATIBLE", text)
                return package.uid
        self._next_uid += 1
        return self._next_uid - 1

    def _random_name(self) -> str:
        return base64.urlsafe_b64encode(self._random.randbytes(16)).decode("ascii")

    def _new_code_folder(self, name: str) -> str:
        last = f"{name}-{self._random_name()}"
        if self._release.has("random-code-paths"):
            return f"{_CODE_FOLDER}/~~{self._random_name()}/{last}"
        return f"{_CODE_FOLDER}/{last}"

    def _write_code(self, package: InstalledPackage) -> None:
        self._files.make_directory(package.code_folder, parents=True)
        for path, content in zip(package.paths, package.apks.values(), strict=True):
            self._files.write(path, content)

    def _remove_code(self, package: InstalledPackage) -> None:
        folder = package.code_folder
        upper = folder.rpartition("/")[0]
        self._files.remove(folder if upper == _CODE_FOLDER else upper, recursive=True)

    def _make_data_folder(self, package: InstalledPackage) -> None:
        folder = f"{_DATA_FOLDER}/{package.name}"
        if not self._files.exists(folder):
            self._files.make_directory(folder, mode=0o700, parents=True)
            self._files.chown(folder, package.uid)


def _kept_grants(parsed: ParsedPackage, earlier: InstalledPackage | None) -> set[str]:
    if earlier is None:
        return set()
    return earlier.granted & set(parsed.manifest.requested_permissions)
