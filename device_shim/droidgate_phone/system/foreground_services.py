"""Foreground services: who may start one, when it must call `startForeground`, and what that throws.

Sources: AOSP's ActiveServices; reference android-runtime 1.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from droidgate_phone.app_api.values import AndroidError
from droidgate_phone.system.callers import Caller
from droidgate_phone.system.core import SystemCore
from droidgate_phone.system.manifests import SERVICE_TYPES
from droidgate_phone.system.packages import FIRST_APP_UID
from droidgate_phone.system.resolver import Match
from droidgate_phone.system.service_records import RunningServices, ServiceRecord, ServiceRefusedError
from droidgate_phone.system.timers import Timers
from droidgate_phone.system.uid_states import UidStates

FOREGROUND_SECONDS: Final = {33: 30.0, 28: 10.0, 0: 5.0}
"""How long a service may take to call `startForeground`, by the first API level.

Source: ActiveServices.SERVICE_START_FOREGROUND_TIMEOUT, ActivityManagerConstants; reference
android-runtime 1.3.
"""
ANR_DELAY_SECONDS: Final = 10.0
"""How much longer it may be bound before its app does not respond (ActivityManagerConstants, from 33 on)."""
_FIRST_ANR_DELAY: Final = 33
_FIRST_CHOSEN_TYPES: Final = 29
_FOREGROUND_CRASHES: Final = {
    31: "android.app.RemoteServiceException$ForegroundServiceDidNotStartInTimeException",
    0: "android.app.RemoteServiceException",
}
"""What the app of a service dies of that does not call `startForeground`, by the first API level."""
_FIRST_PERMISSION_TARGET: Final = 28

# Permission that each type of foreground service needs from Android 14 on.
_TYPE_PERMISSIONS: Final = {
    "camera": "CAMERA",
    "connectedDevice": "CONNECTED_DEVICE",
    "dataSync": "DATA_SYNC",
    "health": "HEALTH",
    "location": "LOCATION",
    "mediaPlayback": "MEDIA_PLAYBACK",
    "mediaProcessing": "MEDIA_PROCESSING",
    "mediaProjection": "MEDIA_PROJECTION",
    "microphone": "MICROPHONE",
    "phoneCall": "PHONE_CALL",
    "remoteMessaging": "REMOTE_MESSAGING",
    "specialUse": "SPECIAL_USE",
}


class ForegroundServices:
    """The rules of foreground services on one phone.

    Args:
        core: What managers have in common.
        services: The services that run.
        uid_states: Which apps are in the background.
        timers: What is to be done later.
        end_if_unused: Ends a service that is neither started nor bound.
    """

    def __init__(
        self,
        core: SystemCore,
        services: RunningServices,
        uid_states: UidStates,
        timers: Timers,
        end_if_unused: Callable[[ServiceRecord], None],
    ) -> None:
        self._core = core
        self._lock = services.lock
        self._uid_states = uid_states
        self._timers = timers
        self._end_if_unused = end_if_unused

    def check_start(self, caller: Caller, match: Match) -> None:
        """Raise what `startForegroundService` throws from Android 12 on in an app in the background.

        The shell may start one at any time.

        Raises:
            ServiceRefusedError: Android refuses.
        """
        if caller.uid < FIRST_APP_UID or not self._core.release.has(
            "background-foreground-services", match.package.target_sdk
        ):
            return
        if not self._uid_states.is_background_limited(caller.uid, caller.package or ""):
            return
        text = (
            "startForegroundService() not allowed due to mAllowStartForeground false: service "
            f"{match.name.flatten_short()}"
        )
        raise ServiceRefusedError(text, "android.app.ForegroundServiceStartNotAllowedException", text)

    def require(self, record: ServiceRecord) -> None:
        """Limit the time in which a service that `startForegroundService` starts calls `startForeground`."""
        with self._lock:
            if record.foreground or record.waits_for_foreground:
                return
            release = self._core.release
            seconds = next(
                seconds for since, seconds in FOREGROUND_SECONDS.items() if release.at_least(since)
            )
            record.cancel_timeout = self._timers.after(seconds, lambda: self._time_out(record))

    def _time_out(self, record: ServiceRecord) -> None:
        """Stop a service that did not call `startForeground` (ActiveServices.serviceForegroundTimeout)."""
        with self._lock:
            if not record.waits_for_foreground or not record.process.alive:
                return
            record.started = False
            record.redelivered.clear()
        self._end_if_unused(record)
        if record.process.alive:
            # A client is bound to it, so it is not stopped: the app does not respond instead.
            delay = ANR_DELAY_SECONDS if self._core.release.at_least(_FIRST_ANR_DELAY) else 0.0
            self._timers.after(delay, lambda: self._end_unresponsive(record))

    def _end_unresponsive(self, record: ServiceRecord) -> None:
        if record.process.alive and record.waits_for_foreground:
            package = record.match.package.name
            self._core.log.record("app-not-responding", package=package, what=_not_in_foreground(record))
            self._core.processes.end(record.process, "anr")

    def enter(self, record: ServiceRecord, types: Sequence[str] | None = None) -> None:
        """Move a service to the foreground (ActiveServices.setServiceForegroundInnerLocked).

        Args:
            record: The service.
            types: Types of the foreground service; those of the manifest by default.

        Raises:
            AndroidError: Android refuses.
        """
        self._check_types(record, types)
        with self._lock:
            record.foreground = True
            record.stop_waiting()

    def _check_types(self, record: ServiceRecord, types: Sequence[str] | None = None) -> None:
        """Raise what `startForeground` throws."""
        package, component = record.match.package, record.match.component
        declared = component.service_types
        chosen = declared if types is None else frozenset(types)
        release = self._core.release
        holds = self._core.packages.permissions.holds
        who = (
            f"ProcessRecord{{0 {record.process.pid}:{record.process.name}/u0a{package.uid - FIRST_APP_UID}}}"
        )
        if release.at_least(_FIRST_PERMISSION_TARGET) and package.target_sdk >= _FIRST_PERMISSION_TARGET:
            needed = "android.permission.FOREGROUND_SERVICE"
            if not holds(package.uid, needed):
                message = (
                    f"Permission Denial: startForeground from pid={record.process.pid}, uid={package.uid} "
                    f"requires {needed}"
                )
                raise AndroidError("java.lang.SecurityException", message)
        if release.at_least(_FIRST_CHOSEN_TYPES) and not chosen <= declared:
            message = (
                f"foregroundServiceType {_mask(chosen):#010x} is not a subset of foregroundServiceType "
                f"attribute {_mask(declared):#010x} in service element of manifest file"
            )
            raise AndroidError("java.lang.IllegalArgumentException", message)
        self._check_background(record)
        if not release.has("foreground-service-types", package.target_sdk):
            return
        if not chosen:
            message = f"Starting FGS without a type  callerApp={who} targetSDK={package.target_sdk}"
            raise AndroidError("android.app.MissingForegroundServiceTypeException", message)
        for item in sorted(chosen):
            needed = f"android.permission.FOREGROUND_SERVICE_{_TYPE_PERMISSIONS.get(item, '')}"
            if item in _TYPE_PERMISSIONS and not holds(package.uid, needed):
                message = (
                    f"Starting FGS with type {item} callerApp={who} targetSDK={package.target_sdk} requires "
                    f"permissions: all of the permissions allOf=true [{needed}]"
                )
                raise AndroidError("java.lang.SecurityException", message)

    def _check_background(self, record: ServiceRecord) -> None:
        """Raise what `startForeground` throws from Android 12 on in an app in the background.

        A start by `startForegroundService` allows it.
        """
        package = record.match.package
        if not self._core.release.has("background-foreground-services", package.target_sdk):
            return
        if record.foreground or record.waits_for_foreground:
            return
        if not self._uid_states.is_background_limited(package.uid, package.name):
            return
        message = (
            "Service.startForeground() not allowed due to mAllowStartForeground false: service "
            f"{record.name.flatten_short()}"
        )
        raise AndroidError("android.app.ForegroundServiceStartNotAllowedException", message)

    def crash(self, record: ServiceRecord) -> None:
        """End the app of a service that is brought down before it called `startForeground`.

        Source: ActiveServices.bringDownServiceLocked ("Bringing down service while still waiting for start
        foreground"), serviceForegroundCrashLocked.
        """
        names = _FOREGROUND_CRASHES
        name = next(names[since] for since in names if self._core.release.at_least(since))
        self._core.processes.crash(record.process, f"{name}: {_not_in_foreground(record)}")


def _not_in_foreground(record: ServiceRecord) -> str:
    shown = f"ServiceRecord{{0 u0 {record.name.flatten_short()}}}"
    return f"Context.startForegroundService() did not then call Service.startForeground(): {shown}"


def _mask(types: frozenset[str]) -> int:
    return sum(bit for bit, word in SERVICE_TYPES.items() if word in types)
