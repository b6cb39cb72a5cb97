"""Broadcasts to receivers of manifests (AOSP's BroadcastQueue; reference mobile-mcp-and-mmcp 3.3)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from droidgate_phone.common.clocks import start_work
from droidgate_phone.common.uids import FIRST_APP_UID, ROOT_UID, SYSTEM_UID
from droidgate_phone.java.app_values import AndroidError, BroadcastResult
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import PendingBroadcast, Receiver
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.parcels import ONEWAY_LIMIT, cross_bundle, cross_intent
from droidgate_phone.system.processes import (
    AndroidNotModelledError,
    AppNotRespondingError,
    AppProcess,
    DeadProcessError,
)
from droidgate_phone.system.resolver import FLAG_EXCLUDE_STOPPED_PACKAGES, Match
from droidgate_phone.system.system_core import SystemCore
from droidgate_phone.system.uid_states import UidStates

FLAG_FOREGROUND: Final = 0x10000000
FLAG_INCLUDE_BACKGROUND: Final = 0x01000000
FOREGROUND_SECONDS: Final = 10.0
BACKGROUND_SECONDS: Final = 60.0
"""How long a receiver may take before its app is said not to respond."""
_FIRST_LIMITED_TARGET: Final = 26
# What only the system may send (`<protected-broadcast>` of the framework), as far as a shell tries it.
_PROTECTED: Final = frozenset(
    {
        "android.intent.action.BOOT_COMPLETED",
        "android.intent.action.LOCKED_BOOT_COMPLETED",
        "android.intent.action.MY_PACKAGE_REPLACED",
        "android.intent.action.PACKAGE_ADDED",
        "android.intent.action.PACKAGE_REMOVED",
        "android.intent.action.PACKAGE_REPLACED",
        "android.intent.action.SCREEN_OFF",
        "android.intent.action.SCREEN_ON",
        "android.intent.action.USER_PRESENT",
    }
)


class BroadcastManager:
    """Broadcasts of one phone."""

    def __init__(self, core: SystemCore, uid_states: UidStates) -> None:
        self._core = core
        self._uid_states = uid_states
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def send_and_wait(self, caller: CallerIdentity, intent: Intent) -> BroadcastResult:
        """Send an ordered broadcast and return its final result.

        Raises:
            AndroidError: the caller may not send it, it is too large, or a receiver's code is not modelled.
        """
        crossed = self._checked(caller, intent)
        return self._run(self._receivers(caller, crossed), crossed)

    def send_ordered(
        self, caller: CallerIdentity, intent: Intent, on_result: Callable[[BroadcastResult], None]
    ) -> None:
        """Send an ordered broadcast; the final result is handed over on the caller's main thread.

        Raises:
            AndroidError: as `send_and_wait`.
        """
        crossed = self._checked(caller, intent)
        receivers = self._receivers(caller, crossed)

        def run() -> None:
            result = self._run(receivers, crossed)
            if caller.process is None:
                on_result(result)
            elif self._core.is_deliverable(caller.process, crossed, result):
                self._core.processes.run_code(caller.process, lambda: on_result(result))

        with self._lock:
            # Kept once it runs: `close` may not meet a thread that has not begun.
            thread = start_work(self._core.clock, "phone:broadcast", run)
            self._threads = [*(thread for thread in self._threads if thread.is_alive()), thread]

    def close(self) -> None:
        """Wait for the broadcasts that are under way; their receivers' processes have ended."""
        with self._lock:
            threads, self._threads = self._threads, []
        for thread in threads:
            thread.join(1.0)

    def _checked(self, caller: CallerIdentity, intent: Intent) -> Intent:
        if intent.action in _PROTECTED and caller.uid not in (ROOT_UID, SYSTEM_UID):
            message = (
                f"Permission Denial: not allowed to send broadcast {intent.action} from pid=4711, "
                f"uid={caller.uid}"
            )
            raise AndroidError("java.lang.SecurityException", message)
        return cross_intent(replace(intent, flags=intent.flags | FLAG_EXCLUDE_STOPPED_PACKAGES))

    def _receivers(self, caller: CallerIdentity, intent: Intent) -> list[tuple[Match, type[Receiver]]]:
        matches = self._core.resolver.query("receiver", intent, caller_uid=caller.uid)
        reached = [match for match in matches if self._reaches(caller, match, intent)]
        return [(match, self._modelled(match)) for match in reached]

    def _reaches(self, caller: CallerIdentity, match: Match, intent: Intent) -> bool:
        component, package = match.component, match.package
        foreign = caller.uid not in (ROOT_UID, SYSTEM_UID, package.uid)
        if foreign and not component.exported:
            reason = f"not exported from uid {package.uid}"
        elif foreign and not self._core.packages.permissions.holds(caller.uid, component.permission):
            reason = f"requires {component.permission} due to receiver {match.name.flatten_short()}"
        elif self._is_background_limited(match, intent):
            self._core.log.record(
                "broadcast-skipped", why=f"Background execution not allowed: receiving {show_intent(intent)}"
            )
            return False
        else:
            return True
        subject = f"{caller.package or 'null'} (pid=4711, uid={caller.uid})"
        self._core.log.record(
            "broadcast-skipped",
            why=f"Permission Denial: broadcasting {show_intent(intent)} from {subject} {reason}",
        )
        return False

    def _is_background_limited(self, match: Match, intent: Intent) -> bool:
        """Return whether a background app's receiver misses an implicit broadcast (Android 8)."""
        if (
            intent.component is not None
            or intent.package is not None
            or intent.flags & FLAG_INCLUDE_BACKGROUND
        ):
            return False
        package = match.package
        if not self._core.release.has("background-services") or package.target_sdk < _FIRST_LIMITED_TARGET:
            return False
        return package.uid >= FIRST_APP_UID and not self._uid_states.is_active(package.uid)

    def _modelled(self, match: Match) -> type[Receiver]:
        app = self._core.code_of(match.package)
        receiver = app.RECEIVERS.get(match.component.code_class) if app is not None else None
        if receiver is None:
            raise AndroidNotModelledError(f"the code of receiver {match.name.flatten_short()}")
        return receiver

    def _run(self, receivers: list[tuple[Match, type[Receiver]]], intent: Intent) -> BroadcastResult:
        seconds = FOREGROUND_SECONDS if intent.flags & FLAG_FOREGROUND else BACKGROUND_SECONDS
        result = BroadcastResult()
        for match, receiver in receivers:
            result = self._deliver(match, receiver, intent, result, seconds)
        self._core.log.record("broadcast-finished", intent=show_intent(intent), result_code=result.code)
        return result

    def _deliver(
        self, match: Match, receiver: type[Receiver], intent: Intent, current: BroadcastResult, seconds: float
    ) -> BroadcastResult:
        core = self._core
        process = core.start_process(match.package, match.component.process)

        def receive() -> BroadcastResult | PendingBroadcast | None:
            context = core.context_for(match.package, process)
            return receiver(context).on_receive(replace(intent, component=match.name), current)

        core.log.record(
            "broadcast-delivered", component=match.name.flatten_short(), intent=show_intent(intent)
        )
        if not self._core.is_deliverable(process, intent, current):
            return current
        try:
            begun = core.clock.now()
            result = core.processes.call_code(process, receive, seconds)
            if isinstance(result, PendingBroadcast):
                result = self._wait(process, result, seconds - (core.clock.now() - begun))
            if result is not None:
                return replace(result, extras=cross_bundle(result.extras, ONEWAY_LIMIT))
        except AppNotRespondingError:
            core.log.record("app-not-responding", package=match.package.name, what="broadcast")
        except DeadProcessError:
            pass
        return current

    def _wait(self, process: AppProcess, pending: PendingBroadcast, seconds: float) -> BroadcastResult | None:
        """Wait for a receiver that runs beyond `onReceive`.

        Raises:
            AppNotRespondingError: it did not finish in time.
        """
        forget = process.on_death(pending.signal.set)
        try:
            if not self._core.clock.wait(pending.signal, max(0.0, seconds)):
                raise AppNotRespondingError
        finally:
            forget()
        return pending.result
