"""Values that pass between Android and the code of an app, and the exceptions that Android throws."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from droidgate_phone.intents import Bundle, Intent

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
