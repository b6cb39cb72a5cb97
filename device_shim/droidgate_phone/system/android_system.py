"""One running Android: its managers, tied together."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from droidgate.model.errors import UsageError
from droidgate_phone.clocks import Clock, SystemClock
from droidgate_phone.commands.registry import command_names
from droidgate_phone.event_log import EventLog
from droidgate_phone.faults import Faults
from droidgate_phone.file_layout import lay_out
from droidgate_phone.files import VirtualFiles
from droidgate_phone.java_text import java_int
from droidgate_phone.screen.window import Window
from droidgate_phone.system.activity_stack import ActivityStack
from droidgate_phone.system.app_context import AppContext
from droidgate_phone.system.app_functions import AppFunctionManager
from droidgate_phone.system.broadcasts import BroadcastManager
from droidgate_phone.system.content_providers import ContentManager
from droidgate_phone.system.instrumentations import InstrumentationManager
from droidgate_phone.system.messengers import MessengerRegistry
from droidgate_phone.system.notifications import NotificationShade
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.packages import FIRST_APP_UID, PackageManager
from droidgate_phone.system.permission_dialogs import PermissionDialogs
from droidgate_phone.system.processes import AppProcess, ProcessManager
from droidgate_phone.system.properties import Settings, SystemProperties
from droidgate_phone.system.releases import ReleaseProfile, load_release
from droidgate_phone.system.resolver import Resolver
from droidgate_phone.system.services import ServiceManager
from droidgate_phone.system.timers import Timers

if TYPE_CHECKING:
    from droidgate_phone.app_api.behaviour import App
    from droidgate_phone.apps.shim_runtimes import ShimRuntime


class AndroidSystem:
    """One running Android; a context manager that ends its processes.

    Args:
        release: A release, or its id (`36.1`).
        files: The phone's files; by default those of a new phone.
        faults: What goes wrong on purpose.
        log: Where events go.
        clock: The phone's time.
        behaviours: What the apps' code does, by package; by default that of the sample apps.
        serial: The phone's serial number.
        seed: Makes the random names of folders the same in each run.
        shim_runtime: What shims run on.

    Attributes:
        release: The release's facts and rules.
        files: VirtualFiles.
        properties: SystemProperties (`getprop`).
        settings: Settings and device configuration.
        packages: PackageManager.
        resolver: Which components an intent reaches.
        processes: The apps' processes.
        messengers: Messengers and PendingIntents.
        services: Services, started and bound.
        stack: Activities, also the window's stage.
        timers: What is to be done later.
        notifications: The notification shade.
        permission_dialogs: Dialogs of the permission controller.
        instrumentations: `am instrument`.
        broadcasts: Broadcasts.
        content: Content providers.
        app_functions: AppFunctions.
        window: The display.
        idle_whitelist: Packages that are exempt from background limits (`dumpsys deviceidle whitelist`).
        is_locked: The screen is locked; set it from inside.
        faults: What goes wrong on purpose; may be replaced while the phone runs.
        log: Events.
        clock: The phone's time.
    """

    def __init__(  # noqa: PLR0913 - each part of a phone can be chosen
        self,
        release: str | ReleaseProfile,
        *,
        files: VirtualFiles | None = None,
        faults: Faults | None = None,
        log: EventLog | None = None,
        clock: Clock | None = None,
        behaviours: Mapping[str, type[App]] | None = None,
        serial: str = "droidgate-phone",
        seed: int | None = None,
        shim_runtime: ShimRuntime = "python",
    ) -> None:
        self.release = load_release(release) if isinstance(release, str) else release
        self.clock: Clock = clock or SystemClock()
        self.files = files if files is not None else _new_files(self.clock)
        self.faults = faults or Faults()
        self.log = log or EventLog()
        self.properties = SystemProperties(self.release, serial)
        self.settings = Settings()
        self.packages = PackageManager(self.release, self.files, self.log, self.clock, seed=seed)
        self.resolver = Resolver(self.release, self.packages)
        self.processes = ProcessManager(self)
        self.messengers = MessengerRegistry(self)
        self.services = ServiceManager(self)
        self.stack = ActivityStack(self)
        self.timers = Timers(self.clock)
        self.notifications = NotificationShade(self)
        self.instrumentations = InstrumentationManager(self)
        self.broadcasts = BroadcastManager(self)
        self.content = ContentManager(self)
        self.app_functions = AppFunctionManager(self)
        self.permission_dialogs = PermissionDialogs(self)
        self.window = Window(
            self.stack, rotation=self._rotation, may_overlay=self._may_overlay, sdk=self.release.sdk
        )
        self.idle_whitelist: set[str] = set()
        self.is_locked = False
        self._behaviours = behaviours
        self._shim_runtime = shim_runtime
        self._app_ops: dict[tuple[str, str], str] = {}
        self.packages.listen(self._package_changed)

    @property
    def behaviours(self) -> Mapping[str, type[App]]:
        """What the apps' code does, by package."""
        if self._behaviours is None:
            # The sample apps import much, and a phone may have others only.
            from droidgate_phone.apps.registry import BEHAVIOURS  # noqa: PLC0415

            self._behaviours = BEHAVIOURS
        return self._behaviours

    def code_of(self, package: InstalledPackage) -> type[App] | None:
        """Return what an app's code does: by its package, else by what is inside its APK."""
        found = self.behaviours.get(package.name)
        if found is not None:
            return found
        from droidgate_phone.apps.registry import recognise  # noqa: PLC0415 - as above

        return recognise(package, shim_runtime=self._shim_runtime)

    def force_stop(self, package: str) -> None:
        """End an app's processes; it is stopped until somebody starts it again."""
        found = self.packages.find(package)
        if found is not None:
            self.end_processes(package, "force stop")
            self.messengers.cancel_pending_intents(package)
            self.notifications.cancel_all(package)
            self.window.hide_overlays(package)
            found.stopped = True

    def end_processes(self, package: str, reason: str) -> None:
        """End an app's processes."""
        for process in self.processes.of_package(package):
            self.processes.end(process, reason)

    def start_process(self, package: InstalledPackage, name: str, *, isolated: bool = False) -> AppProcess:
        """Return an app's process of that name, started if it does not run; an isolated one is always new."""
        process = self.processes.start(package, name, isolated=isolated)
        if not process.watched:
            process.watched = True
            process.on_death(lambda: self._forget_process(process))
        return process

    def context_for(
        self, package: InstalledPackage, process: AppProcess, *, activity: object = None
    ) -> AppContext:
        """Return the context of a component that runs in a process."""
        return AppContext(self, package, process, activity=activity)

    def app_context(self, package: str) -> AppContext:
        """Return a context of an installed app as its own code has it: its top activity's if it has one.

        The app's process is started where it does not run.

        Raises:
            UsageError: the package is not installed.
        """
        found = self.packages.find(package)
        if found is None:
            raise UsageError(f"the phone has no package {package}")
        record = self.stack.last_of(package)
        if record is not None:
            return self.context_for(found, record.process, activity=record)
        return self.context_for(found, self.start_process(found, package))

    def is_uid_active(self, uid: int) -> bool:
        """Tell whether a uid is in use: seen, in the foreground, bound by such a one, or so a moment ago."""
        return self._is_active(uid, frozenset()) or self.processes.was_just_active(uid)

    def _is_active(self, uid: int, asked: frozenset[int]) -> bool:
        if uid < FIRST_APP_UID or self.stack.is_visible(uid):
            return True
        for record in self.services.running():
            if record.process.uid != uid:
                continue
            if record.foreground or record.waits_for_foreground:
                return True
            clients = {one.caller.uid for one in record.bindings} - asked - {uid}
            if any(self._is_active(one, asked | {uid}) for one in clients):
                return True
        return False

    def app_op(self, package: str, operation: str) -> str:
        """Return the mode of an app operation: `allow`, `deny`, `ignore` or `default`."""
        return self._app_ops.get((package, operation), "default")

    def set_app_op(self, package: str, operation: str, mode: str) -> None:
        """Set the mode of an app operation."""
        self._app_ops[package, operation] = mode

    def app_ops(self, package: str) -> dict[str, str]:
        """Return the modes that were set for a package."""
        return {name: mode for (one, name), mode in sorted(self._app_ops.items()) if one == package}

    def _rotation(self) -> int:
        """Return by how many quarters the phone is turned: `user_rotation` while it is not automatic."""
        turned = self.settings.get("system", "user_rotation") or "0"
        automatic = self.settings.get("system", "accelerometer_rotation") or "0"
        return (java_int(turned) or 0) % 4 if automatic == "0" else 0

    def _may_overlay(self, package: str) -> bool:
        """Return whether the user allows a package to show overlays."""
        found = self.packages.find(package)
        return found is not None and self.stack.may_overlay(found.uid)

    def _package_changed(self, name: str, package: InstalledPackage | None) -> None:
        if package is None:
            self.messengers.cancel_pending_intents(name)
            self.notifications.cancel_all(name)
            self.window.hide_overlays(name)
        self.end_processes(name, "package removed" if package is None else "package changed")

    def _forget_process(self, process: AppProcess) -> None:
        self.window.hide_overlays(process.package)
        self.services.forget_process(process)
        self.stack.forget_process(process)

    def close(self) -> None:
        """End every process and free what APKs hold."""
        self.timers.close()
        self.processes.close()
        self.broadcasts.close()
        self.packages.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _new_files(clock: Clock) -> VirtualFiles:
    files = VirtualFiles(clock=clock.now)
    lay_out(files, programs=command_names())
    return files
