"""What an app of the virtual phone does: the interface that its Python behaviour fills.

The manifest, descriptors and resources of an app are read from its installed APK; only what its code would
do is behind this interface. A class is found by package name. A package without one can be installed,
listed and discovered; a call of it fails, because its code is not modelled.

Everything here runs on the app's main thread, one call at a time, as Android promises. Components are created
by the system for each start, from the class names of the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from droidgate_mappings.model.json_values import Json
from droidgate_phone.common.clocks import Signal
from droidgate_phone.java.app_values import (
    FLAG_WINDOW_IS_OBSCURED,
    FLAG_WINDOW_IS_PARTIALLY_OBSCURED,
    ActivityResult,
    AppFunctionError,
    BroadcastResult,
    CallingPackage,
    Message,
)
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.screen.window import Touched

if TYPE_CHECKING:
    from droidgate_phone.system.app_context import Context

START_REDELIVER_INTENT: Final = 3
"""`Service.START_REDELIVER_INTENT`."""


class Service:
    """A service; override what its class in the APK does.

    Attributes:
        CALLS_START_FOREGROUND: Whether each start by `startForegroundService` begins with `startForeground`
            and the types of the manifest. Set it to False for a class that calls `Platform.start_foreground`
            itself, or that never does.
    """

    CALLS_START_FOREGROUND: ClassVar[bool] = True

    def __init__(self, context: Context) -> None:
        self.context = context

    def on_start_command(self, intent: Intent) -> int | None:
        """Handle a start.

        Returns:
            `START_REDELIVER_INTENT` where the start is delivered again (`on_redelivered`) if the process dies
            before the service is stopped.
        """
        del intent
        return None

    def on_redelivered(self, intent: Intent) -> int | None:
        """Handle a start again that a process of before did not finish (START_FLAG_REDELIVERY)."""
        return self.on_start_command(intent)

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        """Return what handles the messages of a Messenger; None where the service cannot be bound.

        As on Android a service is asked once for each intent that differs from the others
        (`Intent.filterEquals`); others that bind with an equal one get the same handler.
        """
        del intent
        return None

    def on_unbind(self, intent: Intent) -> bool:
        """Handle that the last client bound with this intent has unbound.

        Returns:
            Whether to call `on_rebind` when a client binds again while the service lives. Only then
            `on_unbind` is called again.
        """
        del intent
        return False

    def on_rebind(self, intent: Intent) -> None:
        """Handle that a client is bound again with this intent."""

    def on_destroy(self) -> None:
        """Handle the end of the service."""


class Activity(Touched):
    """An activity. It runs until `finish` is called or the user goes back.

    Without a view it is translucent.

    Attributes:
        touch_flags: `MotionEvent.getFlags` of the tap that `on_click` handles, 0 outside of it: of them
            `FLAG_WINDOW_IS_OBSCURED` and `FLAG_WINDOW_IS_PARTIALLY_OBSCURED` are set.
    """

    touch_flags: int = 0

    @property
    def is_touch_obscured(self) -> bool:
        """Whether another app's window covers this activity, all of it or a part, while `on_click` runs."""
        return self.touch_flags & (FLAG_WINDOW_IS_OBSCURED | FLAG_WINDOW_IS_PARTIALLY_OBSCURED) != 0

    def __init__(self, context: Context) -> None:
        self.context = context
        self.result = ActivityResult(0)
        self.finished = False

    def on_create(self, intent: Intent) -> None:
        """Handle the start; an activity that has nothing to show calls `finish` here."""

    def on_destroy(self) -> None:
        """Handle the end, by `finish` or because the user went back; not where the process dies."""

    def on_new_intent(self, intent: Intent) -> None:
        """Handle another start of this activity while it is on top (launch mode singleTop)."""
        del intent

    def set_result(self, code: int, data: Intent | None = None) -> None:
        """Set what the caller will be given."""
        self.result = ActivityResult(code, data)

    def finish(self) -> None:
        """End the activity."""
        self.finished = True


class PendingBroadcast:
    """`BroadcastReceiver.goAsync`: the result of a broadcast that comes later.

    Args:
        signal: What the system waits for.
    """

    def __init__(self, signal: Signal) -> None:
        self.signal = signal
        self.result: BroadcastResult | None = None

    def finish(self, result: BroadcastResult) -> None:
        """Set the result; the first one counts."""
        if self.result is None:
            self.result = result
            self.signal.set()


class Receiver:
    """A broadcast receiver, made for one broadcast."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def on_receive(
        self, intent: Intent, current: BroadcastResult
    ) -> BroadcastResult | PendingBroadcast | None:
        """Handle a broadcast; return the new result of an ordered one, now or later, None to leave it."""
        del intent, current
        return None


class Provider:
    """A content provider."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def call(self, method: str, argument: str | None, extras: Bundle, caller_uid: int) -> Bundle | None:
        """Handle `ContentResolver.call`."""
        del method, argument, extras, caller_uid
        return None

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        """Return what `openFile(uri, "r")` gives; None for an unknown file."""
        del uri, caller_uid
        return None

    def open_for_writing(self, uri: str, content: bytes, caller_uid: int) -> bool:
        """Take what was written through `openFile(uri, "w")`; false for an unknown file."""
        del uri, content, caller_uid
        return False

    def query(self, uri: str, caller_uid: int) -> list[Mapping[str, str | int | float | bytes | None]] | None:
        """Return rows; None where the URI is not known."""
        del uri, caller_uid
        return None


class AppFunctionService:
    """`android.app.appfunctions.AppFunctionService`."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def on_execute(self, function_id: str, parameters: Mapping[str, Json]) -> Mapping[str, Json]:
        """Execute a function.

        Args:
            function_id: Its identifier.
            parameters: Properties of the request's document, each a list as a GenericDocument holds it;
                nested documents are objects of lists.

        Returns:
            The properties of the result document, each a list; empty for void.

        Raises:
            AppFunctionError: with the code that the caller receives.
        """
        raise NotImplementedError

    def on_execute_later(
        self,
        function_id: str,
        parameters: Mapping[str, Json],
        calling_package: CallingPackage,
        on_outcome: Callable[[Mapping[str, Json] | AppFunctionError], None],
    ) -> None:
        """Execute a function and hand over what comes of it, now or later.

        Args:
            function_id: Its identifier.
            parameters: As for `on_execute`.
            calling_package: Who calls.
            on_outcome: Takes the properties of the result document, or the error; the first outcome counts.
        """
        del calling_package
        try:
            outcome = self.on_execute(function_id, parameters)
        except AppFunctionError as error:
            on_outcome(error)
            return
        on_outcome(outcome)


class Instrumentation:
    """`android.app.Instrumentation`, which runs in its app's process until `finish`."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def on_start(self, arguments: Mapping[str, str]) -> None:
        """Handle `am instrument`, with what its `-e` options gave."""
        del arguments


class App:
    """The behaviour of one package. Subclasses name their package and map class names to components."""

    PACKAGE: ClassVar[str]
    SERVICES: ClassVar[Mapping[str, type[Service]]] = {}
    ACTIVITIES: ClassVar[Mapping[str, type[Activity]]] = {}
    RECEIVERS: ClassVar[Mapping[str, type[Receiver]]] = {}
    PROVIDERS: ClassVar[Mapping[str, type[Provider]]] = {}
    APP_FUNCTION_SERVICES: ClassVar[Mapping[str, type[AppFunctionService]]] = {}
    INSTRUMENTATIONS: ClassVar[Mapping[str, type[Instrumentation]]] = {}
