"""Notifications: who may post, what the shade shows, what a tap opens (AOSP's NotificationManagerService)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from droidgate_phone.java.app_values import AndroidError, Notification, View
from droidgate_phone.screen.window import LauncherEntry, Shown, Touched
from droidgate_phone.system.activity_stack import ActivityStack
from droidgate_phone.system.callers import SHELL
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.permissions import POST_NOTIFICATIONS
from droidgate_phone.system.system_core import SystemCore

_FIRST_ASKED: Final = 33
SYSTEM_UI: Final = "com.android.systemui"
MOST_PER_PACKAGE: Final = 50
"""How many an app may show (NotificationManagerService.MAX_PACKAGE_NOTIFICATIONS)."""


@dataclass(frozen=True, slots=True)
class PostedNotification:
    """A notification in the shade."""

    package: str
    number: int
    notification: Notification


class NotificationShade(Touched):
    """The notifications of one phone; the shade is over the activities while it is expanded.

    Attributes:
        is_expanded: The shade has the display.
    """

    def __init__(self, core: SystemCore, stack: ActivityStack) -> None:
        self._core = core
        self._stack = stack
        self._lock = threading.Lock()
        self._posted: dict[tuple[str, int], PostedNotification] = {}
        self.is_expanded = False

    def may_post(self, package: InstalledPackage) -> bool:
        """Return whether an app's notifications are shown."""
        if not self._core.release.at_least(_FIRST_ASKED):
            return True
        return self._core.packages.permissions.holds(package.uid, POST_NOTIFICATIONS)

    def post(self, package: InstalledPackage, number: int, notification: Notification) -> bool:
        """Show a notification in place of the app's one of that number; false where it may not."""
        key = (package.name, number)
        with self._lock:
            count = sum(posted.package == package.name for posted in self._posted.values())
            posted = self.may_post(package) and (key in self._posted or count < MOST_PER_PACKAGE)
            if posted:
                self._posted[key] = PostedNotification(package.name, number, notification)
        self._core.log.record(
            "notification", package=package.name, number=number, title=notification.title, posted=posted
        )
        return posted

    def cancel(self, package: str, number: int) -> None:
        """Remove a notification."""
        with self._lock:
            self._posted.pop((package, number), None)

    def cancel_all(self, package: str) -> None:
        """Remove an app's notifications, as when it is removed or force-stopped."""
        with self._lock:
            self._posted = {key: posted for key, posted in self._posted.items() if posted.package != package}

    def all(self) -> list[PostedNotification]:
        """Return what the shade shows, oldest first."""
        with self._lock:
            return list(self._posted.values())

    def tap(self, posted: PostedNotification) -> None:
        """Do what a tap of the user does: open the notification's activity, which is always allowed.

        Raises:
            AndroidError: Android refuses the start.
        """
        intent = posted.notification.intent
        if posted.notification.cancel_on_tap:
            self.cancel(posted.package, posted.number)
        if intent is None:
            return
        package = self._core.packages.find(posted.package)
        if package is None:
            raise AndroidError("android.app.PendingIntent$CanceledException", "")
        self._stack.start(SHELL, intent, created_by=package)

    def view(self) -> View:
        """Return the shade: a row for each notification, in the order in which they came."""
        rows = [View("button", str(row), item.notification.title) for row, item in enumerate(self.all())]
        return View("column", "notification_stack_scroller", children=tuple(rows))

    def on_click(self, view_id: str) -> None:
        """Tap a row, which closes the shade."""
        posted = self.all()
        self.is_expanded = False
        if view_id.isdecimal() and int(view_id) < len(posted):
            self.tap(posted[int(view_id)])

    def top(self) -> Shown | None:
        """Return the shade while it is expanded, else what the activities show."""
        return Shown(self, SYSTEM_UI, self) if self.is_expanded else self._stack.top()

    def go_back(self) -> None:
        """Close the shade, or end the top activity."""
        if self.is_expanded:
            self.is_expanded = False
        else:
            self._stack.go_back()

    def go_home(self) -> None:
        """Close the shade, and show the home screen."""
        self.is_expanded = False
        self._stack.go_home()

    def launcher_entries(self) -> Sequence[LauncherEntry]:
        """Return the apps of the home screen."""
        return self._stack.launcher_entries()
