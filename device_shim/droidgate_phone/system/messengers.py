"""Messengers and PendingIntents: what one app passes to another, under tokens that cannot be guessed."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass

from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.parcels import cross_intent, cross_message, read_intent, write_intent
from droidgate_phone.system.processes import AppProcess
from droidgate_phone.system.system_core import SystemCore

DEAD_OBJECT = "android.os.DeadObjectException"
CANCELED = "android.app.PendingIntent$CanceledException"


MOST_PENDING_INTENTS = 2000
"""How many of one package are kept; Android keeps those that are still referred to."""


@dataclass(slots=True)
class _Messenger:
    process: AppProcess | None
    handle: Callable[[Message], None]
    forget_death: Callable[[], None] | None = None


@dataclass(slots=True)
class PendingIntentRecord:
    """A broadcast PendingIntent to its own creator.

    Attributes:
        package: Its creator's package, the only thing that the system knows of it for sure.
        uid: The creator's uid.
        process: The process that waits for it, None for a caller outside of the apps.
        base: The intent that the creator set.
        mutable: What the sender adds is merged.
        on_sent: Takes the merged intent.
        is_activity: It opens an activity.
    """

    package: str
    uid: int
    process: AppProcess | None
    base: Intent
    mutable: bool
    on_sent: Callable[[Intent], None]
    is_activity: bool = False


def fill_in(base: Intent, added: Intent) -> Intent:
    """Return a PendingIntent's intent with what its sender adds (`Intent.fillIn` without flags).

    What the base says wins, key by key in the extras too; the component is never taken from the sender.
    """
    has_data = base.data is not None or base.mime_type is not None
    return Intent(
        action=base.action if base.action is not None else added.action,
        component=base.component,
        package=base.package if base.package is not None else added.package,
        categories=base.categories or added.categories,
        data=base.data if has_data else added.data,
        mime_type=base.mime_type if has_data else added.mime_type,
        flags=base.flags | added.flags,
        extras=Bundle({**added.extras.values, **base.extras.values}),
        identifier=base.identifier if base.identifier is not None else added.identifier,
    )


class MessengerRegistry:
    """The Messengers and PendingIntents of one phone."""

    def __init__(self, core: SystemCore) -> None:
        self._core = core
        self._lock = threading.Lock()
        self._messengers: dict[str, _Messenger] = {}
        self._pending: dict[str, PendingIntentRecord] = {}

    def add_messenger(self, process: AppProcess | None, handle: Callable[[Message], None]) -> str:
        """Return the token of a Messenger whose messages a process handles on its main thread."""
        token = f"messenger-{secrets.token_hex(8)}"
        messenger = _Messenger(process, handle)
        with self._lock:
            self._messengers[token] = messenger
        if process is not None:
            messenger.forget_death = process.on_death(lambda: self.remove_messenger(token))
        return token

    def remove_messenger(self, token: str) -> None:
        """Forget a Messenger."""
        with self._lock:
            removed = self._messengers.pop(token, None)
        if removed is not None and removed.forget_death is not None:
            removed.forget_death()

    def send_message(self, token: str, message: Message, sender_uid: int) -> None:
        """Send a message.

        Raises:
            AndroidError: its process is gone, or the message is too large.
        """
        with self._lock:
            entry = self._messengers.get(token)
        if entry is None:
            raise AndroidError(DEAD_OBJECT, "")
        crossed = cross_message(message, sender_uid)
        self._core.log.record("message", what=message.what, sender_uid=sender_uid, to=_name(entry.process))
        if entry.process is None:
            entry.handle(crossed)
        elif not self._core.processes.run_code(entry.process, lambda: entry.handle(crossed)):
            raise AndroidError(DEAD_OBJECT, "")

    def link_to_death(
        self, token: str, watcher: AppProcess, on_death: Callable[[], None]
    ) -> Callable[[], None]:
        """Report the death of a Messenger's process on the watcher's main thread (IBinder.linkToDeath).

        Args:
            token: The Messenger.
            watcher: The process that links.
            on_death: Runs once, unless it is unlinked before.

        Returns:
            A function that unlinks.

        Raises:
            AndroidError: android.os.DeadObjectException, if the process has died or the Messenger is closed.
        """
        with self._lock:
            entry = self._messengers.get(token)
        if entry is None or not (entry.process is None or entry.process.alive):
            raise AndroidError(DEAD_OBJECT, "")
        linked = [on_death]

        def report() -> None:
            if linked:
                linked.pop()()

        def unlink() -> None:
            linked.clear()
            forget()

        if entry.process is None:
            # The shell's side of a Messenger lives as long as the phone.
            return linked.clear

        def hand_over() -> None:
            self._core.processes.run_code(watcher, report)

        forget = entry.process.on_death(hand_over)
        return unlink

    def add_pending_intent(self, record: PendingIntentRecord) -> str:
        """Return the token of a PendingIntent."""
        token = f"pending-intent-{secrets.token_hex(8)}"
        with self._lock:
            self._pending[token] = record
            of_package = [
                name for name, pending in self._pending.items() if pending.package == record.package
            ]
            if len(of_package) > MOST_PENDING_INTENTS:
                del self._pending[of_package[0]]
        return token

    def find_pending_intent(self, token: str) -> PendingIntentRecord | None:
        """Return a PendingIntent that was not cancelled."""
        with self._lock:
            return self._pending.get(token)

    def cancel_pending_intents(self, package: str) -> None:
        """Cancel the PendingIntents of a package that is gone or was force-stopped."""
        with self._lock:
            self._pending = {
                token: record for token, record in self._pending.items() if record.package != package
            }

    def send_pending_intent(self, token: str, added: Intent) -> None:
        """Send a PendingIntent: its creator's process gets the merged intent.

        Where that process has ended nothing waits for the broadcast, as on Android. An intent
        that is too large for the way to that process ends it (`SystemCore.is_deliverable`).

        Raises:
            AndroidError: it was cancelled, or the intent is too large.
        """
        record = self.find_pending_intent(token)
        if record is None:
            raise AndroidError(CANCELED, "")
        crossed = cross_intent(added)
        sent = read_intent(write_intent(fill_in(record.base, crossed) if record.mutable else record.base))
        self._core.log.record("pending-intent-sent", package=record.package, intent=show_intent(sent))
        if record.process is None:
            record.on_sent(sent)
        elif self._core.is_deliverable(record.process, sent):
            self._core.processes.run_code(record.process, lambda: record.on_sent(sent))


def _name(process: AppProcess | None) -> str | None:
    return None if process is None else process.package
