"""Runtime permission dialogs (GrantPermissionsActivity of AOSP's PermissionController).

Only POST_NOTIFICATIONS is modelled, for apps that target Android 13 or later.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

from droidgate_phone.java.app_values import View
from droidgate_phone.screen.window import Shown, Touched
from droidgate_phone.system.activity_records import ActivityRecord
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.permissions import POST_NOTIFICATIONS
from droidgate_phone.system.system_core import SystemCore

CONTROLLER: Final = "com.android.permissioncontroller"
DIALOG_ACTIVITY: Final = f"{CONTROLLER}.permission.ui.GrantPermissionsActivity"
ALLOW_BUTTON: Final = "permission_allow_button"
DENY_BUTTON: Final = "permission_deny_button"
MOST_DENIALS: Final = 2
"""After so many denials the user is not asked again (PackageManager.FLAG_PERMISSION_USER_FIXED)."""
_FIRST_ASKED: Final = 33


class PermissionDialogs:
    """The open permission dialogs of one phone, each over the activity that asked."""

    def __init__(self, core: SystemCore) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._open: dict[ActivityRecord, _Dialog] = {}

    def request(self, record: ActivityRecord, permissions: Sequence[str]) -> None:
        """Open the dialog for an activity, if there is something to ask.

        Args:
            record: The activity.
            permissions: The permissions that it requests.
        """
        package = record.match.package
        if POST_NOTIFICATIONS not in permissions or record.ended or not self._is_asked(package):
            return
        with self._lock:
            if record in self._open:
                return
            self._open[record] = _Dialog(self, record)
        self._core.log.record("permission-dialog", package=package.name, permission=POST_NOTIFICATIONS)

    def over(self, record: ActivityRecord) -> Shown | None:
        """Return the dialog over an activity; None without one."""
        with self._lock:
            self._open = {asking: dialog for asking, dialog in self._open.items() if not asking.ended}
            dialog = self._open.get(record)
        # The controller hides overlays over its own dialog.
        return None if dialog is None else Shown(dialog, CONTROLLER, dialog, hides_overlays=True)

    def dismiss(self, record: ActivityRecord) -> bool:
        """Close the dialog over an activity without an answer; False without one."""
        with self._lock:
            return self._open.pop(record, None) is not None

    def answer(self, record: ActivityRecord, *, is_allowed: bool) -> None:
        """Grant or deny the permission, and close the dialog."""
        if not self.dismiss(record):
            return
        package = record.match.package
        if is_allowed:
            package.granted.add(POST_NOTIFICATIONS)
        else:
            package.denials[POST_NOTIFICATIONS] += 1
        self._core.log.record(
            "permission-answered", package=package.name, permission=POST_NOTIFICATIONS, allowed=is_allowed
        )

    def _is_asked(self, package: InstalledPackage) -> bool:
        return (
            self._core.release.at_least(_FIRST_ASKED)
            and package.target_sdk >= _FIRST_ASKED
            and POST_NOTIFICATIONS in package.manifest.requested_permissions
            and POST_NOTIFICATIONS not in package.granted
            and package.denials[POST_NOTIFICATIONS] < MOST_DENIALS
        )


class _Dialog(Touched):
    """What the dialog shows and does."""

    def __init__(self, dialogs: PermissionDialogs, record: ActivityRecord) -> None:
        self._dialogs = dialogs
        self._record = record

    def view(self) -> View:
        package = self._record.match.package
        label = package.application.label or package.name
        message = f"Allow {label} to send you notifications?"
        return View(
            "column",
            "grant_dialog",
            children=(
                View("text", "permission_message", message),
                View("button", ALLOW_BUTTON, "Allow"),
                View("button", DENY_BUTTON, "Don\N{RIGHT SINGLE QUOTATION MARK}t allow"),
            ),
        )

    def on_click(self, view_id: str) -> None:
        if view_id in {ALLOW_BUTTON, DENY_BUTTON}:
            self._dialogs.answer(self._record, is_allowed=view_id == ALLOW_BUTTON)
