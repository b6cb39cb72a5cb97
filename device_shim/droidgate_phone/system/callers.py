"""Who calls: an app, or the shell."""

from __future__ import annotations

from dataclasses import dataclass

from droidgate_phone.common.uids import SHELL_UID
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.system.permissions import SHELL_PACKAGE
from droidgate_phone.system.processes import FIRST_ISOLATED_UID, AppProcess, is_isolated


@dataclass(frozen=True, slots=True)
class CallerIdentity:
    """Who makes a call, as the system knows it.

    Attributes:
        uid: The uid.
        package: The package, None for one without (root).
        process: The process, None for the shell.
        activity: Token of the activity whose context makes the call, None for other contexts.
    """

    uid: int
    package: str | None = None
    process: AppProcess | None = None
    activity: object = None

    def refuse_isolated(self, call: str) -> None:
        """Refuse a call of an isolated process (ActivityManagerService.enforceNotIsolatedCaller).

        Raises:
            AndroidError: java.lang.SecurityException.
        """
        if is_isolated(self.uid):
            message = f"Isolated process not allowed to call {call}"
            raise AndroidError("java.lang.SecurityException", message)

    def describe(self) -> str:
        """Return the caller as Android's permission denials name it."""
        if self.process is None:
            return f"null (pid=4711, uid={self.uid})"
        process = self.process
        name = (
            f"u0i{process.uid - FIRST_ISOLATED_UID}"
            if is_isolated(process.uid)
            else f"u0a{process.uid - 10000}"
        )
        process_text = f"{process.pid}:{process.name}/{name}"
        return f"ProcessRecord{{0 {process_text}}} (pid={process.pid}, uid={self.uid})"


SHELL: CallerIdentity = CallerIdentity(SHELL_UID, SHELL_PACKAGE)
"""`adb shell`."""


def caller_of_uid(uid: int) -> CallerIdentity:
    """Return the caller that a command line's uid means."""
    return SHELL if uid == SHELL_UID else CallerIdentity(uid)
