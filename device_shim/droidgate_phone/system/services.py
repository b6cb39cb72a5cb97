"""Services: started, bound, and in the foreground: who may start one, and when it must call `startForeground`
(AOSP's ActiveServices; reference android-runtime 0, 1.1, 1.3, 2.1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from droidgate_phone.common.uids import FIRST_APP_UID, ROOT_UID, SYSTEM_UID
from droidgate_phone.java.app_values import AndroidError, Message, ServiceConnection
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.behaviour import START_REDELIVER_INTENT, Service
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.manifests import SERVICE_TYPES
from droidgate_phone.system.messengers import MessengerRegistry
from droidgate_phone.system.parcels import ONEWAY_LIMIT, TRANSACTION_LIMIT, cross_intent
from droidgate_phone.system.processes import (
    AndroidNotModelledError,
    AppNotRespondingError,
    AppProcess,
    DeadProcessError,
)
from droidgate_phone.system.resolver import Match
from droidgate_phone.system.service_records import (
    Binder,
    BoundService,
    RunningServices,
    ServiceRecord,
    ServiceRefusedError,
)
from droidgate_phone.system.system_core import SystemCore
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

BIND_SECONDS: Final = 20.0
"""How long a service may take to come up (ActiveServices.SERVICE_TIMEOUT)."""
_FIRST_LIMITED_TARGET: Final = 26


class ServiceManager:
    """The services of one phone."""

    def __init__(
        self,
        core: SystemCore,
        services: RunningServices,
        uid_states: UidStates,
        messengers: MessengerRegistry,
        timers: Timers,
    ) -> None:
        self._core = core
        self._lock = services.lock
        self._records = services.by_name
        self._services = services
        self._uid_states = uid_states
        self._messengers = messengers
        self._timers = timers

    def running(self) -> list[ServiceRecord]:
        """Return the services that run."""
        return self._services.all()

    def start(
        self, caller: CallerIdentity, intent: Intent, *, foreground: bool = False
    ) -> ComponentName | None:
        """Start a service; None where there is none.

        Raises:
            ServiceRefusedError: Android refuses.
            AndroidError: the intent is too large, or the service's code is not modelled.
        """
        crossed = cross_intent(intent, ONEWAY_LIMIT)
        match = self._find(caller, crossed)
        if match is None:
            return None
        self._check_access(caller, match)
        service = self._modelled(match)
        with self._lock:
            self._check_background(caller, match, foreground=foreground)
            self._core.resolver.interacted(caller.uid, match.package.uid)
            record = self._bring_up(match, service)
            record.started = True
            record.pending.append(crossed)
        self._core.log.record(
            "service-started", component=match.name.flatten_short(), intent=show_intent(crossed),
            caller_uid=caller.uid, foreground=foreground,
        )  # fmt: skip
        clock = self._core.clock
        # A still clock must not run to the timeout before the start is handed over.
        clock.work_added()
        try:
            if foreground:
                self._require_foreground(record)
            self._core.processes.run_code(
                record.process, lambda: self._run_start(record, crossed, foreground=foreground)
            )
        finally:
            clock.work_dropped()
        return match.name

    def _run_start(self, record: ServiceRecord, intent: Intent, *, foreground: bool) -> None:
        instance = self._instance(record)
        if foreground and instance.CALLS_START_FOREGROUND:
            self._enter_foreground(record)
        self._run_tracked(record, intent, instance.on_start_command)

    def start_foreground(
        self, caller: CallerIdentity, name: ComponentName, types: Sequence[str] | None = None
    ) -> None:
        """Move a service to the foreground (ActiveServices.setServiceForegroundInnerLocked).

        Args:
            caller: The app; nothing happens for a service that does not run in the caller's process.
            name: The service.
            types: Types of the foreground service; those of the manifest by default.

        Raises:
            AndroidError: Android refuses.
        """
        record = self._records.get(name)
        if record is not None and record.process is caller.process:
            self._enter_foreground(record, types)

    def stop_foreground(self, caller: CallerIdentity, name: ComponentName) -> None:
        """Move a service of the caller's process back to the background; it keeps running."""
        record = self._records.get(name)
        if record is not None and record.process is caller.process:
            record.foreground = False
            self._core.processes.mark_active(record.process.uid)

    def _check_foreground_start(self, caller: CallerIdentity, match: Match) -> None:
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

    def _require_foreground(self, record: ServiceRecord) -> None:
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
            record.unfinished.clear()
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

    def _enter_foreground(self, record: ServiceRecord, types: Sequence[str] | None = None) -> None:
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
        app = (
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
        self._check_foreground_use(record)
        if not release.has("foreground-service-types", package.target_sdk):
            return
        if not chosen:
            message = f"Starting FGS without a type  callerApp={app} targetSDK={package.target_sdk}"
            raise AndroidError("android.app.MissingForegroundServiceTypeException", message)
        for item in sorted(chosen):
            needed = f"android.permission.FOREGROUND_SERVICE_{_TYPE_PERMISSIONS.get(item, '')}"
            if item in _TYPE_PERMISSIONS and not holds(package.uid, needed):
                message = (
                    f"Starting FGS with type {item} callerApp={app} targetSDK={package.target_sdk} requires "
                    f"permissions: all of the permissions allOf=true [{needed}]"
                )
                raise AndroidError("java.lang.SecurityException", message)

    def _check_foreground_use(self, record: ServiceRecord) -> None:
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

    def _crash_waiting(self, record: ServiceRecord) -> None:
        """End the app of a service that is brought down before it called `startForeground`.

        Source: ActiveServices.bringDownServiceLocked ("Bringing down service while still waiting for start
        foreground"), serviceForegroundCrashLocked.
        """
        names = _FOREGROUND_CRASHES
        name = next(names[since] for since in names if self._core.release.at_least(since))
        self._core.processes.crash(record.process, f"{name}: {_not_in_foreground(record)}")

    def stop(self, caller: CallerIdentity, intent: Intent) -> bool:
        """Stop a started service; False where it does not run.

        Raises:
            ServiceRefusedError: the caller may not.
        """
        match = self._find(caller, intent)
        record = self._records.get(match.name) if match is not None else None
        if match is None or record is None or not record.started:
            return False
        self._check_access(caller, match)
        record.started = False
        record.unfinished.clear()
        self._end_if_unused(record)
        return True

    def bind(
        self,
        caller: CallerIdentity,
        intent: Intent,
        on_message: Callable[[Message], None],
        on_disconnected: Callable[[], None] | None = None,
        flags: int = 0,
    ) -> BoundService | None:
        """Bind a service and wait for its binder; None without a service or a binder.

        Raises:
            AndroidError: Android refuses, or the service's code is not modelled.
        """
        begun = self._begin_binding(caller, intent, on_message, flags)
        if begun is None:
            return None
        record, binding = begun
        try:
            handle = self._core.processes.call_code(
                record.process, lambda: self._ask_for_binder(record, binding.binder), BIND_SECONDS
            )
        except (DeadProcessError, AppNotRespondingError):
            binding.unbind()
            return None
        self._log_bound(binding, handle)
        if handle is None:
            binding.unbind()
            return None
        binding.connect(handle)
        if on_disconnected is not None:
            binding.forget_death = record.process.on_death(
                lambda: self._notify_client(binding, on_disconnected)
            )
        return binding

    def bind_later(
        self, caller: CallerIdentity, intent: Intent, connection: ServiceConnection
    ) -> BoundService | None:
        """Bind a service as an app does: what comes of it is reported on the caller's main thread.

        Returns:
            The binding, None for an unknown service.

        Raises:
            AndroidError: Android refuses, or the service's code is not modelled.
        """
        begun = self._begin_binding(caller, intent, connection.on_message, connection.flags)
        if begun is None:
            return None
        record, binding = begun
        binding.forget_death = record.process.on_death(
            lambda: self._notify_client(binding, connection.on_disconnected)
        )

        def connect() -> None:
            handle = self._ask_for_binder(record, binding.binder)
            self._log_bound(binding, handle)
            if handle is None:
                self._notify_client(binding, connection.on_null_binding)
                return
            binding.connect(handle)
            self._notify_client(binding, connection.on_connected)

        self._core.processes.run_code(record.process, connect)
        return binding

    def _log_bound(self, binding: BoundService, handle: object) -> None:
        self._core.log.record(
            "service-bound",
            component=binding.component.flatten_short(),
            caller_uid=binding.caller.uid,
            bound=handle is not None,
        )

    def _begin_binding(
        self, caller: CallerIdentity, intent: Intent, on_message: Callable[[Message], None], flags: int
    ) -> tuple[ServiceRecord, BoundService] | None:
        crossed = cross_intent(intent, TRANSACTION_LIMIT)
        match = self._find(caller, crossed)
        if match is None:
            return None
        try:
            self._check_access(caller, match)
        except ServiceRefusedError:
            message = f"Not allowed to bind to service {show_intent(crossed)}"
            raise AndroidError("java.lang.SecurityException", message) from None
        service = self._modelled(match)
        with self._lock:
            self._core.resolver.interacted(caller.uid, match.package.uid)
            record = self._bring_up(match, service)
            binder = record.binders.setdefault(crossed.filter_comparison(), Binder(crossed))
            binding = BoundService(self._messengers, record, binder, caller, on_message, self._release, flags)
            binder.bindings.append(binding)
        return record, binding

    def _ask_for_binder(self, record: ServiceRecord, binder: Binder) -> Callable[[Message], None] | None:
        """Return the binder of a service for an intent; the service is asked once (bindServiceLocked)."""
        instance = self._instance(record)
        if not binder.is_asked:
            binder.handle = instance.on_bind(binder.intent)
            binder.is_asked = binder.has_bound = True
        elif binder.wants_rebind:
            binder.wants_rebind = False
            binder.has_bound = True
            instance.on_rebind(binder.intent)
        return binder.handle

    def _report_unbound(self, record: ServiceRecord, binder: Binder) -> None:
        """Report to a service that no client is bound with an intent any more (removeConnectionLocked)."""
        if record.instance is not None and binder.has_bound:
            binder.has_bound = False
            binder.wants_rebind = record.instance.on_unbind(binder.intent)

    def _notify_client(self, binding: BoundService, listener: Callable[[], None]) -> None:
        """Report to a client the outcome of its binding, unless it has unbound."""

        def notify() -> None:
            if binding.bound:
                listener()

        if binding.caller.process is None:
            notify()
        else:
            self._core.processes.run_code(binding.caller.process, notify)

    def _release(self, binding: BoundService) -> None:
        """Forget a binding."""
        record, binder = binding.record, binding.binder
        with self._lock:
            if binding not in binder.bindings:
                return
            binder.bindings.remove(binding)
            is_last = not binder.bindings
        if is_last:
            self._core.processes.run_code(record.process, lambda: self._report_unbound(record, binder))
        self._end_if_unused(record)

    def forget_process(self, process: AppProcess) -> None:
        """Forget the services of a process that ended, and its bindings to others."""
        with self._lock:
            for name, record in list(self._records.items()):
                if record.process is process:
                    del self._records[name]
                    record.stop_waiting()
            bound = [record for record in self._records.values() if record.bindings]
        for record in bound:
            for binding in [binding for binding in record.bindings if binding.caller.process is process]:
                binding.unbind()

    def _run_tracked(
        self, record: ServiceRecord, intent: Intent, deliver: Callable[[Intent], int | None]
    ) -> None:
        """Deliver a start, and keep one that is not over until it is acknowledged."""
        record.unfinished.append(intent)
        record.pending = [start for start in record.pending if start is not intent]
        if deliver(intent) != START_REDELIVER_INTENT and intent in record.unfinished:
            record.unfinished.remove(intent)

    def acknowledge(self, caller: CallerIdentity, name: ComponentName, intent: Intent) -> None:
        """End one start (`stopSelf(startId)`); the service is stopped when none is left."""
        record = self._records.get(name)
        if record is None or record.process is not caller.process:
            return
        with self._lock:
            record.unfinished = [start for start in record.unfinished if start is not intent]
            # A start that is on its way keeps the service (ActiveServices.stopServiceTokenLocked).
            if not record.unfinished and not record.pending:
                self.stop(caller, Intent(component=name))

    def _find(self, caller: CallerIdentity, intent: Intent) -> Match | None:
        matches = self._core.resolver.query("service", intent, caller_uid=caller.uid)
        return matches[0] if matches else None

    def _check_access(self, caller: CallerIdentity, match: Match) -> None:
        component = match.component
        if caller.uid in (ROOT_UID, SYSTEM_UID, match.package.uid):
            return
        if not component.exported:
            needed = f"not exported from uid {match.package.uid}"
        elif not self._core.packages.permissions.holds(caller.uid, component.permission):
            needed = component.permission or ""
        else:
            return
        raise ServiceRefusedError(
            f"Requires permission {needed}", "java.lang.SecurityException", f"without permission {needed}"
        )

    def _modelled(self, match: Match) -> type[Service]:
        app = self._core.code_of(match.package)
        service = app.SERVICES.get(match.component.code_class) if app is not None else None
        if service is None:
            # What Android would refuse it refuses all the same: only a start that works needs the code.
            return _NoCode
        return service

    def _check_background(self, caller: CallerIdentity, match: Match, *, foreground: bool) -> None:
        release, target = self._core.release, match.package.target_sdk
        if foreground:
            self._check_foreground_start(caller, match)
            return
        record = self._records.get(match.name)
        if record is not None and record.started and record.process.alive:
            return
        if not release.has("background-services") or target < _FIRST_LIMITED_TARGET:
            return
        uid = match.package.uid
        if not self._uid_states.is_background_limited(uid, match.package.name):
            return
        uid_record = f"UidRecord{{0 u0a{uid - FIRST_APP_UID} SVC  idle procs:1}}"
        text = f"app is in background uid {uid_record if self._core.processes.of_uid(uid) else 'null'}"
        exception = (
            "android.app.BackgroundServiceStartNotAllowedException"
            if release.at_least(31)
            else "java.lang.IllegalStateException"
        )
        raise ServiceRefusedError(text, exception, text)

    def _bring_up(self, match: Match, service: type[Service]) -> ServiceRecord:
        if service is _NoCode:
            raise AndroidNotModelledError(f"the code of service {match.name.flatten_short()}")
        record = self._records.get(match.name)
        if record is not None and record.process.alive:
            return record
        component = match.component
        name = f"{component.process}:{component.name}" if component.isolated else component.process
        process = self._core.start_process(match.package, name, isolated=component.isolated)
        record = self._records[match.name] = ServiceRecord(match, process)
        return record

    def _instance(self, record: ServiceRecord) -> Service:
        """Return the service's object, made on its main thread when it is first needed."""
        if record.instance is None:
            service = self._modelled(record.match)
            record.instance = service(self._core.context_for(record.match.package, record.process))
        return record.instance

    def _end_if_unused(self, record: ServiceRecord) -> None:
        with self._lock:
            if record.started or record.bindings or self._records.get(record.name) is not record:
                return
            del self._records[record.name]
            waited = record.waits_for_foreground
            record.foreground = False
            record.stop_waiting()
        if waited:
            self._crash_waiting(record)
        instance = record.instance
        if instance is not None:
            self._core.processes.run_code(record.process, instance.on_destroy)
        if record.match.component.isolated:
            # Nothing else runs in its process.
            self._core.processes.run_code(
                record.process, lambda: self._core.processes.end(record.process, "isolated not needed")
            )


class _NoCode(Service):
    """Replaces a service whose code the phone does not model."""


def _not_in_foreground(record: ServiceRecord) -> str:
    service_record = f"ServiceRecord{{0 u0 {record.name.flatten_short()}}}"
    return f"Context.startForegroundService() did not then call Service.startForeground(): {service_record}"


def _mask(types: frozenset[str]) -> int:
    return sum(bit for bit, word in SERVICE_TYPES.items() if word in types)
