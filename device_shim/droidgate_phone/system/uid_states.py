"""Which uids are in use, so that the limits of the background do not hold for them (AOSP's UidRecord)."""

from __future__ import annotations

from droidgate_phone.common.uids import FIRST_APP_UID
from droidgate_phone.system.activity_stack import ActivityStack
from droidgate_phone.system.processes import ProcessManager
from droidgate_phone.system.service_records import RunningServices


class UidStates:
    """The states of the uids of one phone.

    Attributes:
        idle_whitelist: Packages that are exempt from background limits (`dumpsys deviceidle whitelist`).
    """

    def __init__(self, processes: ProcessManager, stack: ActivityStack, services: RunningServices) -> None:
        self.idle_whitelist: set[str] = set()
        self._processes = processes
        self._stack = stack
        self._services = services

    def is_active(self, uid: int) -> bool:
        """Return whether a uid is in use: seen, in the foreground, bound by one that is, or lately."""
        return self._is_in_use(uid, frozenset()) or self._processes.was_just_active(uid)

    def is_background_limited(self, uid: int, package: str) -> bool:
        """Return whether the limits of the background hold for a package of a uid."""
        return not self.is_active(uid) and package not in self.idle_whitelist

    def _is_in_use(self, uid: int, asked: frozenset[int]) -> bool:
        if uid < FIRST_APP_UID or self._stack.is_visible(uid):
            return True
        for record in self._services.all():
            if record.process.uid != uid:
                continue
            if record.foreground or record.waits_for_foreground:
                return True
            clients = {binding.caller.uid for binding in record.bindings} - asked - {uid}
            if any(self._is_in_use(client, asked | {uid}) for client in clients):
                return True
        return False
