"""Instrumentations, their UiAutomation, and the shell's permissions that they adopt (`am instrument`).

Sources: AOSP's ActivityManagerService.startInstrumentation, startDelegateShellPermissionIdentity
(AccessCheckDelegateHelper), UiAutomation, UiAutomationConnection, UiAutomationManager; reference
android-runtime 1.8.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from droidgate_phone.common.clocks import Signal
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import ComponentName
from droidgate_phone.system.processes import AndroidNotModelledError, AppProcess
from droidgate_phone.system.system_core import SystemCore

FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES: Final = 0x1
FLAG_DONT_USE_ACCESSIBILITY: Final = 0x2
"""`UiAutomation.FLAG_DONT_USE_ACCESSIBILITY`, known from API 31 on."""
ALREADY_REGISTERED: Final = (
    "UiAutomationService "
    "android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@0already registered!"
)
"""UiAutomationManager.registerUiTestAutomationServiceLocked, which forgets the blank."""
_FIRST_WITHOUT_ACCESSIBILITY: Final = 31
_ILLEGAL_STATE: Final = "java.lang.IllegalStateException"


class InstrumentationManager:
    """The instrumentations of one phone that run."""

    def __init__(self, core: SystemCore, force_stop: Callable[[str], None]) -> None:
        self._core = core
        self._force_stop = force_stop
        self._lock = threading.Lock()
        self._running: dict[int, Signal] = {}
        self._connected: set[int] = set()
        self._automations: dict[int, int] = {}
        self._delegate_uid: int | None = None

    @property
    def uses_accessibility(self) -> bool:
        """Whether a UiAutomation is registered as an accessibility service; then no other one can be."""
        with self._lock:
            return self._registered() is not None

    @property
    def suppresses_accessibility(self) -> bool:
        """Whether a UiAutomation suppresses the user's accessibility services."""
        with self._lock:
            pid = self._registered()
            return pid is not None and not self._automations[pid] & FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES

    def start(self, name: ComponentName, arguments: Mapping[str, str], *, connected: bool) -> Signal | None:
        """Start an instrumentation in a new process of its app; None if no app declares it.

        Args:
            name: Its component.
            arguments: What it is started with.
            connected: Whether the command waits for it (`-w`): only then it has a UiAutomationConnection.

        Returns:
            A signal that is set when its process has ended.

        Raises:
            AndroidNotModelledError: its code is not modelled.
        """
        core = self._core
        package = core.packages.find(name.package)
        if package is None or name.class_name not in package.manifest.instrumentations:
            return None
        app = core.code_of(package)
        code = app.INSTRUMENTATIONS.get(name.class_name) if app is not None else None
        if code is None:
            raise AndroidNotModelledError(f"the code of instrumentation {name.flatten_short()}")
        self._force_stop(package.name)
        process = core.start_process(package, package.name)
        ended = core.clock.signal()
        with self._lock:
            self._running[process.pid] = ended
            if connected:
                self._connected.add(process.pid)
        process.on_death(lambda: self._forget(process))
        instrumentation = code(core.context_for(package, process))
        core.log.record("instrumentation", component=name.flatten_short())
        core.processes.run_code(process, lambda: instrumentation.on_start(arguments))
        return ended

    def connect(self, process: AppProcess, flags: int) -> None:
        """Connect the UiAutomation of a process; with other flags than before it is connected anew.

        Args:
            process: The instrumented process.
            flags: FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES, FLAG_DONT_USE_ACCESSIBILITY.

        Raises:
            AndroidError: java.lang.IllegalStateException, if the process is not instrumented with a
                connection, or if another UiAutomation is registered.
        """
        with self._lock:
            if process.pid not in self._connected:
                raise AndroidError(_ILLEGAL_STATE, "UiAutomation not connected!")
            self._automations.pop(process.pid, None)
            # AOSP checks this first, also for a UiAutomation that will not use accessibility.
            if self._registered() is not None:
                raise AndroidError(_ILLEGAL_STATE, ALREADY_REGISTERED)
            self._automations[process.pid] = flags
        self._core.log.record("ui-automation", package=process.package, flags=flags)

    def adopt_shell_permissions(self, process: AppProcess, permissions: Sequence[str] = ()) -> None:
        """Have permissions of a process's uid checked as the shell's until it drops them or ends.

        Args:
            process: The instrumented process.
            permissions: Which permissions; all of them by default.

        Raises:
            AndroidError: java.lang.IllegalStateException without a connected UiAutomation,
                java.lang.SecurityException if another uid has adopted them.
        """
        self._require_connection(process)
        with self._lock:
            if self._delegate_uid not in (None, process.uid):
                message = "Shell can delegate permissions only to one instrumentation at a time"
                raise AndroidError("java.lang.SecurityException", message)
            self._delegate_uid = process.uid
            self._core.packages.permissions.adopt(process.uid, *permissions)

    def drop_shell_permissions(self, process: AppProcess) -> None:
        """Have permissions of a process's uid checked as its own again.

        Raises:
            AndroidError: java.lang.IllegalStateException without a connected UiAutomation.
        """
        self._require_connection(process)
        self._give_back(process.uid)

    def _give_back(self, uid: int) -> None:
        with self._lock:
            if self._delegate_uid == uid:
                self._delegate_uid = None
                self._core.packages.permissions.give_back(uid)

    def _require_connection(self, process: AppProcess) -> None:
        with self._lock:
            if process.pid not in self._automations:
                raise AndroidError(_ILLEGAL_STATE, "UiAutomation not connected!")

    def _registered(self) -> int | None:
        """Return the pid whose UiAutomation uses accessibility; the lock is held."""
        for pid, flags in self._automations.items():
            if not (
                flags & FLAG_DONT_USE_ACCESSIBILITY
                and self._core.release.at_least(_FIRST_WITHOUT_ACCESSIBILITY)
            ):
                return pid
        return None

    def _forget(self, process: AppProcess) -> None:
        if process.pid in self._connected:
            self._give_back(process.uid)
        with self._lock:
            ended = self._running.pop(process.pid, None)
            self._connected.discard(process.pid)
            self._automations.pop(process.pid, None)
        if ended is not None:
            ended.set()
