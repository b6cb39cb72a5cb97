"""Services that run, who is bound to them, and how Android refuses a start."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.behaviour import Service
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.messengers import DEAD_OBJECT, MessengerRegistry
from droidgate_phone.system.processes import AppProcess
from droidgate_phone.system.resolver import Match


class ServiceRefusedError(Exception):
    """Android refuses a start, with the text that `am` prints behind `Error: `.

    Attributes:
        text: That text.
        exception: The Java exception that an app gets.
        reason: What follows the intent in the exception's message.
    """

    def __init__(self, text: str, exception: str, reason: str) -> None:
        super().__init__(text)
        self.text = text
        self.exception = exception
        self.reason = reason


@dataclass(slots=True)
class Binder:
    """What a service returned for one intent, and which clients are bound with it (AOSP's IntentBindRecord).

    All but the bindings changes on the service's main thread only.
    """

    intent: Intent
    bindings: list[BoundService] = field(default_factory=list)
    is_asked: bool = False
    handle: Callable[[Message], None] | None = None
    has_bound: bool = False
    wants_rebind: bool = False


@dataclass(slots=True)
class ServiceRecord:
    """A service that runs.

    Attributes:
        match: Its component.
        process: Where its code runs.
        instance: Its object; None until it is made.
        started: Whether it was started and not stopped since.
        foreground: Whether it is a foreground service.
        cancel_timeout: Cancels what happens if it does not call `startForeground`; None if it need not.
        pending: Starts that its code has not handled yet.
        unfinished: Starts that are not acknowledged yet.
        binders: What it returned, by the intent that it is bound with.
    """

    match: Match
    process: AppProcess
    instance: Service | None = None
    started: bool = False
    foreground: bool = False
    cancel_timeout: Callable[[], None] | None = None
    pending: list[Intent] = field(default_factory=list)
    unfinished: list[Intent] = field(default_factory=list)
    binders: dict[tuple[object, ...], Binder] = field(default_factory=dict)

    @property
    def name(self) -> ComponentName:
        """Its component."""
        return self.match.name

    @property
    def waits_for_foreground(self) -> bool:
        """Whether it must call `startForeground` (`ServiceRecord.fgRequired`)."""
        return self.cancel_timeout is not None

    def stop_waiting(self) -> None:
        """Cancel the time limit in which it must call `startForeground`."""
        if self.cancel_timeout is not None:
            self.cancel_timeout()
            self.cancel_timeout = None

    @property
    def bindings(self) -> list[BoundService]:
        """Who is bound to it."""
        return [binding for binder in list(self.binders.values()) for binding in binder.bindings]


class BoundService:
    """A binding of a caller to a service (`droidgate_phone.system.behaviour.Binding`)."""

    def __init__(
        self,
        messengers: MessengerRegistry,
        record: ServiceRecord,
        binder: Binder,
        caller: CallerIdentity,
        on_message: Callable[[Message], None],
        on_unbound: Callable[[BoundService], None],
        flags: int = 0,
    ) -> None:
        self.caller = caller
        self.flags = flags
        self.binder = binder
        self.bound = True
        self.forget_death: Callable[[], None] | None = None
        self.record = record
        self._messengers = messengers
        self._on_unbound = on_unbound
        self._answers = messengers.add_messenger(caller.process, on_message)
        self._service = ""

    def connect(self, handle: Callable[[Message], None]) -> None:
        """Take the binder that the service returned."""
        self._service = self._messengers.add_messenger(self.record.process, handle)

    @property
    def component(self) -> ComponentName:
        """The service."""
        return self.record.name

    def send(self, message: Message) -> None:
        if self.caller.process is not None:
            self.caller.process.require_alive()
        if not self.record.process.alive:
            raise AndroidError(DEAD_OBJECT, "")
        answered = message if message.reply_to is not None else replace(message, reply_to=self._answers)
        self._messengers.send_message(self._service, answered, self.caller.uid)

    def unbind(self) -> None:
        self.bound = False
        if self.forget_death is not None:
            self.forget_death()
        self._messengers.remove_messenger(self._answers)
        self._messengers.remove_messenger(self._service)
        self._on_unbound(self)


class RunningServices:
    """The services of one phone that run.

    Attributes:
        lock: Is held while a record is added, removed or changed.
        by_name: The records by component; those of ended processes until they are forgotten.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.by_name: dict[ComponentName, ServiceRecord] = {}

    def all(self) -> list[ServiceRecord]:
        """Return the services whose process runs."""
        with self.lock:
            return [record for record in self.by_name.values() if record.process.alive]
