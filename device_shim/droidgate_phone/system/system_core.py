"""What the managers of a phone have in common: the release's rules, time, packages, and the code of apps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_phone.common.clocks import Clock
from droidgate_phone.common.event_log import EventLog
from droidgate_phone.java.app_values import BroadcastResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import App, Context
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.package_service import PackageManager
from droidgate_phone.system.parcels import ONEWAY_LIMIT, write_bundle, write_intent
from droidgate_phone.system.processes import AppProcess, ProcessManager
from droidgate_phone.system.releases import ReleaseProfile
from droidgate_phone.system.resolver import Resolver

_UNDELIVERABLE_TYPES: Final = {
    31: "android.app.RemoteServiceException$CannotDeliverBroadcastException",
    0: "android.app.RemoteServiceException",
}
"""What a process dies of that a broadcast does not fit, by the first API level."""

CodeOf = Callable[[InstalledPackage], type[App] | None]
"""Returns what an app's code does, None where the phone does not model it."""


class SystemCore:
    """The parts that every manager uses.

    Args:
        release: The release's facts and rules.
        clock: The phone's time.
        log: Where events go.
        packages: The installed packages.
        processes: The apps' processes.
        code_of: Finds what an app's code does.
        make_context: Makes the context of a component: of a package, in a process, for an activity or None.
        on_process_death: Is called once for each process that has ended.
    """

    def __init__(
        self,
        release: ReleaseProfile,
        clock: Clock,
        log: EventLog,
        packages: PackageManager,
        processes: ProcessManager,
        *,
        code_of: CodeOf,
        make_context: Callable[[InstalledPackage, AppProcess, object], Context],
        on_process_death: Callable[[AppProcess], None],
    ) -> None:
        self.release = release
        self.clock = clock
        self.log = log
        self.packages = packages
        self.resolver = Resolver(release, packages)
        self.processes = processes
        self.code_of = code_of
        self._make_context = make_context
        self._on_process_death = on_process_death

    def start_process(self, package: InstalledPackage, name: str, *, isolated: bool = False) -> AppProcess:
        """Return an app's process of that name, started if it does not run; an isolated one is always new."""
        process = self.processes.start(package, name, isolated=isolated)
        if not process.watched:
            process.watched = True
            process.on_death(lambda: self._on_process_death(process))
        return process

    def context_for(
        self, package: InstalledPackage, process: AppProcess, *, activity: object = None
    ) -> Context:
        """Return the context of a component that runs in a process."""
        return self._make_context(package, process, activity)

    def is_deliverable(
        self, process: AppProcess, intent: Intent, result: BroadcastResult | None = None
    ) -> bool:
        """Return whether a broadcast fits the one-way call to its receiver; end the receiver if not.

        The sender's call has twice the room, so a sender can end every app that it reaches in this way
        (BroadcastQueue.performReceiveLocked, from Android 14 on BroadcastQueueImpl.dispatchReceivers).

        Args:
            process: The receiver's process.
            intent: The broadcast.
            result: The result so far, of an ordered broadcast.
        """
        size = len(write_intent(intent))
        if result is not None:
            size += len(write_bundle(result.extras)) + 2 * len(result.data or "")
        if size <= ONEWAY_LIMIT:
            return True
        names = _UNDELIVERABLE_TYPES
        name = next(names[since] for since in names if self.release.at_least(since))
        self.log.record("broadcast-undeliverable", package=process.package, size=size)
        self.processes.crash(process, f"{name}: can't deliver broadcast")
        return False
