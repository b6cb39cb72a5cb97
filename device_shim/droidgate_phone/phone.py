"""The virtual phone as a whole: an Android with this package's apps, commands and contexts, and its wire."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from droidgate_phone.apps.shim_runtimes import ShimRuntime, start_shim_runtime
from droidgate_phone.commands.command_registry import command_names
from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.common.streams import CommandStreams
from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.files.file_layout import lay_out
from droidgate_phone.files.phone_files import VirtualFiles
from droidgate_phone.shell import SHELL_ENVIRONMENT, run_shell
from droidgate_phone.system.android_system import AndroidSystem
from droidgate_phone.system.app_context import AppContext
from droidgate_phone.system.installation import InstallError, InstallOptions
from droidgate_phone.system.releases import ReleaseProfile, load_release
from droidgate_phone.transport.adb_keys import AuthorizedKeys, user_key_file
from droidgate_phone.transport.adb_services import Banner, Userland
from droidgate_phone.transport.packets import features_of
from droidgate_phone.transport.phone_wire import PhoneWire

if TYPE_CHECKING:
    from droidgate_phone.apps.sample_packages import SamplePackage
    from droidgate_phone.system.behaviour import App
    from droidgate_phone.system.package_records import InstalledPackage
    from droidgate_phone.transport.adb_server import AdbServer


def boot(
    release: str | ReleaseProfile,
    *,
    faults: Faults | None = None,
    log: EventLog | None = None,
    clock: Clock | None = None,
    behaviours: Mapping[str, type[App]] | None = None,
    seed: int | None = None,
    shim_runtime: ShimRuntime = "python",
) -> AndroidSystem:
    """Start an Android without apps.

    Args:
        release: A release, or its id (`36.1`).
        faults: What goes wrong on purpose.
        log: Where events go; in memory by default.
        clock: The phone's time; the host's by default.
        behaviours: What the apps' code does, by package; by default that of the sample apps.
        seed: Makes the random names of folders the same in each run.
        shim_runtime: What shims run on.

    Raises:
        UsageError: the release is unknown.
    """

    def code_of(package: InstalledPackage) -> type[App] | None:
        if behaviours is not None and package.name in behaviours:
            return behaviours[package.name]
        # The sample apps import much, and a phone may have others only.
        from droidgate_phone.apps.app_registry import BEHAVIOURS, recognise

        if behaviours is None and package.name in BEHAVIOURS:
            return BEHAVIOURS[package.name]
        return recognise(package, shim_runtime=shim_runtime)

    clock = clock or Clock()
    files = VirtualFiles(clock=clock.now)
    lay_out(files, programs=command_names())
    return AndroidSystem(
        load_release(release) if isinstance(release, str) else release,
        files=files,
        clock=clock,
        code_of=code_of,
        make_context=AppContext,
        faults=faults,
        log=log,
        seed=seed,
    )


DEFAULT_SDK: Final = "36.1"
"""The default release of a phone."""

_INTERACTIVE_SHELL: Final = "sh"
_TOO_OLD: Final = "INSTALL_FAILED_OLDER_SDK"


class VirtualPhone:
    """A phone that runs; a context manager that stops it.

    Attributes:
        system: Its Android.
        log: What happened on it.
        port: The port of the device protocol, on 127.0.0.1.
        server_port: The port of the adb server's protocol, None without a server.
        serial: What `adb devices` calls it: `127.0.0.1:PORT`.
    """

    def __init__(self, system: AndroidSystem, wire: PhoneWire) -> None:
        self.system = system
        self.log = system.log
        self.port = wire.port
        self.server_port = wire.server_port
        self.serial = wire.serial
        self._wire = wire

    @property
    def server(self) -> AdbServer | None:
        """The adb server that shows it; another phone can be started with it."""
        return self._wire.server

    def install(self, *apks: bytes) -> InstalledPackage:
        """Install a package: its base APK and, where it has them, its splits.

        Raises:
            InstallError: Android refuses it, with its own text.
        """
        return self.system.packages.install(*apks)

    def stop(self) -> None:
        """End every connection, command and process."""
        self._wire.end_connections()
        # A command that waits for an app goes on when the app's process has ended.
        self.system.processes.close()
        self._wire.close()
        self.system.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_phone(  # noqa: PLR0913 - each part of a phone can be chosen
    *,
    sdk: str = DEFAULT_SDK,
    packages: int = 0,
    apps: bool = True,
    faults: Faults | None = None,
    log: EventLog | None = None,
    port: int = 0,
    server_port: int | None = None,
    server: AdbServer | None = None,
    shim_runtime: ShimRuntime = "python",
    adb_keys: Iterable[Path] | None = None,
) -> VirtualPhone:
    """Start a phone.

    Args:
        sdk: Its Android release (`system/releases.toml`).
        packages: How many filler packages it has; the first of them speak agent protocols too.
        apps: Whether the sample apps are installed; those that need a newer Android are left out.
        faults: The faults of each connection.
        log: Where events go; in memory by default.
        port: The port of the device protocol, 0 for a free one.
        server_port: The port of the adb server's protocol, 0 for a free one, None for no server.
        server: The adb server of another phone that lists this one too; `server_port` is None then.
        shim_runtime: What shims run on: the engine in Python, or their own Java classes on a JVM.
        adb_keys: Files with the public keys of the adb hosts that may connect; the user's own by default.

    Raises:
        UsageError: the release is unknown, or the JVM is missing.
        OSError: a port is taken.
    """
    log = log or EventLog()
    release = load_release(sdk)
    start_shim_runtime(shim_runtime, release)
    system = boot(release, faults=faults, log=log, shim_runtime=shim_runtime)
    try:
        _install_packages(system, count=packages, apps=apps)
        wire = PhoneWire(
            _userland(system),
            keys=AuthorizedKeys((user_key_file(),) if adb_keys is None else adb_keys),
            log=log,
            faults=lambda: system.faults,
            port=port,
            server_port=server_port,
            server=server,
        )
    except BaseException:
        system.close()
        raise
    return VirtualPhone(system, wire)


def _install_packages(system: AndroidSystem, *, count: int, apps: bool) -> None:
    if not (apps or count):
        return
    from droidgate_phone.apps import sample_packages

    if apps:
        for sample_package in sample_packages.sample_packages():
            _install_where_it_can_run(system, sample_package)
        system.files.write(sample_packages.REPORT, sample_packages.report(), uid=SHELL_UID)
    for number in range(count):
        system.packages.install(sample_packages.filler_package(number))


def _install_where_it_can_run(system: AndroidSystem, package: SamplePackage) -> None:
    """Install a sample app, unless it needs a newer Android."""
    try:
        system.packages.install(package.apk, options=InstallOptions(grant=True))
    except InstallError as refused:
        if refused.code != _TOO_OLD:
            raise
        system.log.record("left-out", package=package.package, reason=refused.message)


def _userland(system: AndroidSystem) -> Userland:
    return Userland(
        run=functools.partial(_run, system),
        files=system.files,
        banner=functools.partial(_banner, system),
    )


def _run(system: AndroidSystem, command: str, streams: CommandStreams, environment: Mapping[str, str]) -> int:
    return run_shell(
        system, command or _INTERACTIVE_SHELL, streams, environment={**SHELL_ENVIRONMENT, **environment}
    )


def _banner(system: AndroidSystem) -> Banner:
    return Banner(
        product=system.properties.get("ro.product.name"),
        model=system.properties.get("ro.product.model"),
        device=system.properties.get("ro.product.device"),
        features=features_of(system.release.sdk),
    )
