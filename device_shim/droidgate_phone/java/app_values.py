"""Values that pass between Android and the code of an app (the view trees of its activities, too), and the
exceptions that Android throws.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol

from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.intents import Bundle, Intent

FLAG_WINDOW_IS_OBSCURED: Final = 0x1
"""`MotionEvent.FLAG_WINDOW_IS_OBSCURED`: another app's window covers the point that is touched."""
FLAG_WINDOW_IS_PARTIALLY_OBSCURED: Final = 0x2
"""`MotionEvent.FLAG_WINDOW_IS_PARTIALLY_OBSCURED` (29): another app's window covers another part."""


@dataclass(frozen=True, slots=True)
class ActivityResult:
    """`setResult` of an activity; code -1 is RESULT_OK, 0 RESULT_CANCELED."""

    code: int
    data: Intent | None = None


@dataclass(frozen=True, slots=True)
class BroadcastResult:
    """Result of an ordered broadcast: code, data, extras."""

    code: int = 0
    data: str | None = None
    extras: Bundle = field(default_factory=Bundle)


@dataclass(frozen=True, slots=True)
class Message:
    """`android.os.Message` as a Messenger delivers it.

    Attributes:
        what: The code.
        data: Its bundle.
        reply_to: Token of the Messenger to answer, None without one.
        sending_uid: Who sent it, as the system knows; -1 where it did not come through a Messenger.
    """

    what: int
    data: Bundle = field(default_factory=Bundle)
    reply_to: str | None = None
    sending_uid: int = -1


@dataclass(frozen=True, slots=True)
class CallingPackage:
    """Who executes an app function, for which the system vouches (`callingPackageSigningInfo`).

    Attributes:
        name: The package.
        signers: SHA-256 of each signing certificate, lower-case hexadecimal.
    """

    name: str
    signers: tuple[str, ...] = ()


class AndroidError(Exception):
    """What Android throws at an app or prints in a shell.

    Attributes:
        exception: Java's class name, such as `java.lang.SecurityException`.
        message: Android's own text.
    """

    def __init__(self, exception: str, message: str) -> None:
        super().__init__(f"{exception}: {message}")
        self.exception = exception
        self.message = message


class AppFunctionError(Exception):
    """`android.app.appfunctions.AppFunctionException`: a code (reference appfunctions 5.1) and a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class AppCrashError(Exception):
    """The app dies of an uncaught exception: its process ends; open calls see what Android lets them see."""


ViewKind = Literal["column", "row", "text", "button", "input", "switch", "list", "icon"]


@dataclass(frozen=True, slots=True)
class View:
    """One view; its place on the screen is laid out from the tree.

    Attributes:
        kind: What it is.
        id: Resource entry name (`date_field`); empty for a view that nothing refers to.
        text: Its text.
        description: `contentDescription`.
        hint: What an empty input shows.
        enabled: Whether it takes input.
        checked: State of a switch.
        long_clickable: Whether it takes long presses; inputs and icons look as if they did.
        children: Views inside it.
    """

    kind: ViewKind
    id: str = ""
    text: str = ""
    description: str = ""
    hint: str = ""
    enabled: bool = True
    checked: bool = False
    long_clickable: bool = False
    children: tuple[View, ...] = field(default=())

    def walk(self) -> Iterator[View]:
        """Yield the view and everything in it, in drawing order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True)
class PackageFacts:
    """`android.content.pm.PackageInfo`, as far as apps of the phone read it.

    Attributes:
        name: Package name.
        uid: Its uid.
        label: Its label; the package name where it has none.
        version_code: With its major half.
        signers: SHA-256 of each signing certificate, lower-case hexadecimal.
        code_path: Where its APKs lie; another folder after each update.
    """

    name: str
    uid: int
    label: str
    version_code: int
    signers: tuple[str, ...]
    code_path: str


@dataclass(frozen=True, slots=True)
class XmlAttributeText:
    """One attribute of compiled XML: a reference's value is `@type/entry`."""

    namespace: str
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class XmlNode:
    """One element of compiled XML, as `XmlResourceParser` goes through it.

    Attributes:
        name: Local name.
        attributes: In file order.
        children: Elements and texts, in order.
    """

    name: str
    attributes: tuple[XmlAttributeText, ...] = ()
    children: tuple[XmlNode | str, ...] = ()


@dataclass(frozen=True, slots=True)
class Notification:
    """`android.app.Notification`.

    Attributes:
        title: Its title.
        text: Its text.
        intent: The activity that a tap opens, in the name of the app that posted it.
        cancel_on_tap: A tap removes it.
    """

    title: str
    text: str
    intent: Intent | None = None
    cancel_on_tap: bool = True


def do_nothing() -> None:
    """Do nothing."""


def _ignore(message: Message) -> None:
    del message


@dataclass(frozen=True, slots=True)
class ServiceConnection:
    """`android.content.ServiceConnection`, and what receives the service's messages.

    Attributes:
        on_message: Receives what the service answers.
        on_connected: The service has handed out its binder.
        on_null_binding: The service returned no binder.
        on_disconnected: Its process ended while it was bound.
        flags: Of `bindService`; BIND_ALLOW_ACTIVITY_STARTS (512) counts.
    """

    on_message: Callable[[Message], None] = _ignore
    on_connected: Callable[[], None] = do_nothing
    on_null_binding: Callable[[], None] = do_nothing
    on_disconnected: Callable[[], None] = do_nothing
    flags: int = 0


@dataclass(frozen=True, slots=True)
class PendingIntentFacts:
    """What the system reports about a PendingIntent.

    Attributes:
        creator_package: `getCreatorPackage`.
        creator_uid: `getCreatorUid`.
        is_activity: Whether it opens an activity (`isActivity`, API 31).
        is_immutable: Whether extras of the sender are ignored (`isImmutable`, API 31).
    """

    creator_package: str
    creator_uid: int
    is_activity: bool
    is_immutable: bool


class CancellationSignal:
    """`android.os.CancellationSignal`: it is cancelled once, which its listener hears, also afterwards."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listener: Callable[[], None] | None = None
        self.is_canceled = False

    def set_on_cancel_listener(self, listener: Callable[[], None]) -> None:
        """Have something done when it is cancelled; at once where it has been."""
        with self._lock:
            self._listener = listener
            is_late = self.is_canceled
        if is_late:
            listener()

    def cancel(self) -> None:
        """Cancel it."""
        with self._lock:
            listener = None if self.is_canceled else self._listener
            self.is_canceled = True
        if listener is not None:
            listener()


FunctionOutcome = Mapping[str, Json] | AppFunctionError
"""The properties of a result document, each a list; or the error."""


class Binding(Protocol):
    """A bound service that returned a Messenger."""

    def send(self, message: Message) -> None:
        """Send a message; answers come to the binding's `on_message` where `reply_to` is left None."""

    def unbind(self) -> None:
        """Unbind the service."""
