"""Instrumentation: an app's own code beside it, lent the shell's identity (`am instrument`).

Source: AOSP's ActivityManagerService.startInstrumentation and UiAutomationManager; reference android-runtime
1.8.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from droidgate_shim.phone.apps.behaviour import AndroidError
from droidgate_shim.phone.intents import ComponentName
from droidgate_shim.phone.system.clocks import Signal
from droidgate_shim.phone.system.processes import AppProcess, NotModelledError

if TYPE_CHECKING:
    from droidgate_shim.phone.system.android_system import AndroidSystem


class InstrumentationManager:
    """The instrumentations of one phone that run."""

    def __init__(self, system: AndroidSystem) -> None:
        self._system = system
        self._lock = threading.Lock()
        self._running: dict[int, Signal] = {}
        self._connected: set[int] = set()

    def start(self, name: ComponentName, arguments: Mapping[str, str], *, connected: bool) -> Signal | None:
        """Start an instrumentation in a fresh process of its app; None where there is none of that name.

        Args:
            name: Its component.
            arguments: What it is started with.
            connected: Somebody waits for it, which alone lets it borrow the shell's permissions.

        Returns:
            A signal that is set when its process has ended.

        Raises:
            NotModelledError: its code is not modelled.
        """
        system = self._system
        package = system.packages.find(name.package)
        if package is None or name.class_name not in package.manifest.instrumentations:
            return None
        app = system.code_of(package)
        code = app.INSTRUMENTATIONS.get(name.class_name) if app is not None else None
        if code is None:
            raise NotModelledError(f"the code of instrumentation {name.flatten_short()}")
        system.force_stop(package.name)
        process = system.start_process(package, package.name)
        ended = system.clock.signal()
        with self._lock:
            self._running[process.pid] = ended
            if connected:
                self._connected.add(process.pid)
        process.on_death(lambda: self._forget(process))
        made = code(system.context_for(package, process))
        system.log.record("instrumentation", component=name.flatten_short())
        system.processes.run_code(process, lambda: made.on_start(arguments))
        return ended

    def adopt_shell_permissions(self, process: AppProcess) -> None:
        """Let a process that is instrumented act with the shell's permissions, until it ends.

        Raises:
            AndroidError: it is not instrumented.
        """
        with self._lock:
            is_connected = process.pid in self._connected
        if not is_connected:
            raise AndroidError("java.lang.IllegalStateException", "UiAutomation not connected!")
        self._system.packages.permissions.adopt(process.uid)

    def _forget(self, process: AppProcess) -> None:
        self._system.packages.permissions.give_back(process.uid)
        with self._lock:
            ended = self._running.pop(process.pid, None)
            self._connected.discard(process.pid)
        if ended is not None:
            ended.set()
