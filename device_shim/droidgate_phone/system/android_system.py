"""One running Android: its managers, each made from those that it uses."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import TracebackType
from typing import Self

from droidgate_mappings.model.errors import UsageError
from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.common.faults import Faults
from droidgate_phone.files.phone_files import VirtualFiles
from droidgate_phone.java.java_text import java_int
from droidgate_phone.screen.window import Window
from droidgate_phone.system.activity_stack import ActivityStack
from droidgate_phone.system.app_function_service import AppFunctionManager
from droidgate_phone.system.behaviour import Context
from droidgate_phone.system.broadcasts import BroadcastManager
from droidgate_phone.system.content_providers import ContentManager
from droidgate_phone.system.instrumentations import InstrumentationManager
from droidgate_phone.system.messengers import MessengerRegistry
from droidgate_phone.system.notifications import NotificationShade
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.package_service import PackageManager
from droidgate_phone.system.permissions import AppOps
from droidgate_phone.system.processes import AppProcess, ProcessManager
from droidgate_phone.system.releases import ReleaseProfile
from droidgate_phone.system.service_records import RunningServices
from droidgate_phone.system.services import ServiceManager
from droidgate_phone.system.system_core import CodeOf, SystemCore
from droidgate_phone.system.system_properties import SETTINGS, SettingsProvider, SystemProperties
from droidgate_phone.system.timers import Timers
from droidgate_phone.system.uid_states import UidStates


class AndroidSystem:
    """One running Android; a context manager that ends its processes. `droidgate_phone.phone` starts one.

    Args:
        release: The release's facts and rules.
        files: The phone's files.
        clock: The phone's time.
        code_of: Finds what an app's code does.
        make_context: Makes the context of a component.
        faults: What goes wrong on purpose.
        log: Where events go.
        serial: The phone's serial number.
        seed: Makes the random names of folders the same in each run.

    Attributes:
        release: The release's facts and rules.
        files: VirtualFiles.
        properties: SystemProperties (`getprop`).
        settings: Settings.
        core: What the managers have in common.
        packages: PackageManager.
        resolver: Which components an intent reaches.
        processes: The apps' processes.
        messengers: Messengers and PendingIntents.
        services: Services, started and bound.
        stack: Activities, also the window's stage.
        timers: What is to be done later.
        notifications: The notification shade.
        instrumentations: `am instrument`.
        broadcasts: Broadcasts.
        content: Content providers.
        app_functions: AppFunctions.
        window: The display.
        uid_states: Which apps are in use, and which are exempt from background limits.
        app_ops: What the user allows apps beyond their permissions.
        is_locked: The screen is locked; set it from inside.
        is_keyguard_shown: A keyguard without a lock is before all windows; set it from inside.
        is_interactive: The screen is on; set it from inside.
        faults: What goes wrong on purpose; may be replaced while the phone runs.
        log: Events.
        clock: The phone's time.
    """

    def __init__(  # noqa: PLR0913 - each part of a phone can be chosen
        self,
        release: ReleaseProfile,
        *,
        files: VirtualFiles,
        clock: Clock,
        code_of: CodeOf,
        make_context: Callable[[AndroidSystem, InstalledPackage, AppProcess, object], Context],
        faults: Faults | None = None,
        log: EventLog | None = None,
        serial: str = "droidgate-phone",
        seed: int | None = None,
    ) -> None:
        self.release = release
        self.clock = clock
        self.files = files
        self.faults = faults or Faults()
        self.log = log or EventLog()
        self.properties = SystemProperties(release, serial)
        self.settings = SettingsProvider(SETTINGS)
        self.is_locked = False
        self.is_keyguard_shown = False
        self.is_interactive = True
        self.timers = Timers(clock)
        self.packages = PackageManager(release, files, self.log, clock, seed=seed)
        # The faults may be replaced while the phone runs.
        self.processes = ProcessManager(clock, self.log, lambda: self.faults)
        self.core = SystemCore(
            release,
            clock,
            self.log,
            self.packages,
            self.processes,
            code_of=code_of,
            make_context=functools.partial(make_context, self),
            on_process_death=self._forget_process,
        )
        self.resolver = self.core.resolver
        self.app_ops = AppOps()
        running = RunningServices()
        self.stack = ActivityStack(self.core, running, self.app_ops)
        self.uid_states = UidStates(self.processes, self.stack, running)
        self.messengers = MessengerRegistry(self.core)
        self.services = ServiceManager(self.core, running, self.uid_states, self.messengers, self.timers)
        self.notifications = NotificationShade(self.core, self.stack)
        self.instrumentations = InstrumentationManager(self.core, self.force_stop)
        self.broadcasts = BroadcastManager(self.core, self.uid_states)
        self.content = ContentManager(self.core)
        self.app_functions = AppFunctionManager(self.core, self.timers)
        self.window = Window(
            self.notifications, rotation=self._rotation, may_overlay=self._may_overlay, sdk=release.sdk
        )
        self.packages.listen(self._package_changed)

    def force_stop(self, package: str) -> None:
        """End an app's processes; it is stopped until it is started again."""
        installed = self.packages.find(package)
        if installed is not None:
            self.end_processes(package, "force stop")
            self.messengers.cancel_pending_intents(package)
            self.notifications.cancel_all(package)
            self.window.hide_overlays(package)
            installed.stopped = True

    def end_processes(self, package: str, reason: str) -> None:
        """End an app's processes."""
        for process in self.processes.of_package(package):
            self.processes.end(process, reason)

    def app_context(self, package: str) -> Context:
        """Return a context of an installed app as its own code has it: its top activity's if it has one.

        The app's process is started where it does not run.

        Raises:
            UsageError: the package is not installed.
        """
        installed = self.packages.find(package)
        if installed is None:
            raise UsageError(f"the phone has no package {package}")
        record = self.stack.last_of(package)
        if record is not None:
            return self.core.context_for(installed, record.process, activity=record)
        return self.core.context_for(installed, self.core.start_process(installed, package))

    def _rotation(self) -> int:
        """Return by how many quarters the phone is turned: `user_rotation` while it is not automatic."""
        turned = self.settings.get("system", "user_rotation") or "0"
        automatic = self.settings.get("system", "accelerometer_rotation") or "0"
        return (java_int(turned) or 0) % 4 if automatic == "0" else 0

    def _may_overlay(self, package: str) -> bool:
        """Return whether the user allows a package to show overlays."""
        installed = self.packages.find(package)
        return installed is not None and self.stack.may_overlay(installed.uid)

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
