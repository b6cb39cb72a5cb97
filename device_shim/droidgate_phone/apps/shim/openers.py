"""Getting an activity of the shim onto the screen: the routes of shim.md 4, in their order.

A start that Android blocks raises nothing, so each is watched. A visible window, the agent's bind flag and
the user's permission to draw over apps all show in the first attempt; the notification is left then.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidgate_phone.apps.shim.call_control import CallControl
from droidgate_phone.java.app_values import AndroidError, Notification, do_nothing
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent

FLAG_NEW_TASK: Final = 0x10000000
EXTRA_NUMBER: Final = "dev.droidgate.shim.NUMBER"
WATCH_MS: Final = 2_500
_numbers: Final = itertools.count(1)

NOT_OPENED: Final = (
    "Android does not let the shim open a window or show a notification now; "
    "allow its notifications, or open its app and retry"
)


@dataclass(frozen=True, slots=True)
class Opening:
    """An activity that is to open.

    Attributes:
        class_name: The activity's class.
        title: The title of the notification in its place.
        seconds: How long to keep trying.
        on_failed: Called once with the reason if neither it nor a notification can be shown.
        on_ignored: Called once if nobody taps the notification in time.
        is_seen: A window would be seen; otherwise there is a notification at once.
    """

    class_name: str
    title: str
    seconds: float
    on_failed: Callable[[str], None]
    on_ignored: Callable[[], None] | None = None
    is_seen: bool = True


class Opener:
    """One attempt to open an activity; `number` comes with its intent."""

    def __init__(self, control: CallControl, opening: Opening) -> None:
        self.number = next(_numbers)
        self._control = control
        self._opening = opening
        self._ends_at = control.context.now() + opening.seconds
        self._settled = False
        self._cancel: Callable[[], None] = do_nothing
        self._notified = False

    def start(self) -> None:
        """Try the routes."""
        if not self._opening.is_seen:
            self._notify()
            return
        try:
            self._control.context.start_activity(self._intent())
        except AndroidError as error:
            self._fail(error.message)
            return
        self._cancel = self._control.platform.after(min(WATCH_MS / 1000, self._opening.seconds), self._notify)

    def opened(self) -> None:
        """The activity is there."""
        self._settle()

    def give_up(self) -> None:
        """The activity is not needed any more."""
        self._settle()

    def _intent(self) -> Intent:
        extras = Bundle({EXTRA_NUMBER: Extra("int", self.number)})
        component = ComponentName(self._control.context.package, self._opening.class_name)
        return Intent(component=component, flags=FLAG_NEW_TASK, extras=extras)

    def _notify(self) -> None:
        if self._settled:
            return
        remaining_seconds = self._ends_at - self._control.context.now()
        notification = Notification(self._opening.title, "", self._intent())
        if remaining_seconds <= 0 or not self._control.platform.notify(self.number, notification):
            self._fail(NOT_OPENED)
            return
        self._notified = True
        if self._opening.on_ignored is not None:
            self._cancel = self._control.platform.after(remaining_seconds, self._ignored)

    def _ignored(self) -> None:
        if not self._settled and self._opening.on_ignored is not None:
            self._settle()
            self._opening.on_ignored()

    def _fail(self, reason: str) -> None:
        if not self._settled:
            self._settle()
            self._opening.on_failed(reason)

    def _settle(self) -> None:
        self._settled = True
        self._cancel()
        if self._notified:
            self._control.platform.cancel_notification(self.number)


def number_of(intent: Intent) -> int:
    """Return the number that an intent of an opener carries; 0 for any other."""
    extra = intent.extras.values.get(EXTRA_NUMBER)
    return extra.value if extra is not None and isinstance(extra.value, int) else 0
