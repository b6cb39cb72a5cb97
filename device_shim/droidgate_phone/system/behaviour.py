"""What an app of the virtual phone does: the interface that its Python behaviour fills.

The manifest, descriptors and resources of an app are read from its installed APK; only what its code would
do is behind this interface. A class is found by package name. A package without one can be installed,
listed and discovered; a call of it fails, because its code is not modelled.

Everything here runs on the app's main thread, one call at a time, as Android promises. Components are created
by the system for each start, from the class names of the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, Protocol

from droidgate_mappings.formats.application import MetaData
from droidgate_mappings.model.json_values import Json
from droidgate_phone.common.clocks import Signal
from droidgate_phone.java.app_values import (
    ActivityResult,
    AppFunctionError,
    Binding,
    BroadcastResult,
    CallingPackage,
    CancellationSignal,
    FunctionOutcome,
    Message,
    Notification,
    PackageFacts,
    PendingIntentFacts,
    ServiceConnection,
    XmlNode,
)
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.screen.window import Touched

START_REDELIVER_INTENT: Final = 3
"""`Service.START_REDELIVER_INTENT`."""


class Context(Protocol):
    """What the system offers to an app; each call acts with the app's own uid, bound by Android's rules."""

    @property
    def package(self) -> str:
        """The app's package."""

    @property
    def files(self) -> PrivateFiles:
        """The app's private files; they survive its process."""

    @property
    def platform(self) -> Platform:
        """What Android offers beyond that, which few apps need."""

    def read_xml_resource(self, reference: str) -> str | None:
        """Return `@xml/name` of the installed APK as XML text."""

    def read_string_resource(self, reference: str) -> str | None:
        """Return `@string/name` of the installed APK."""

    def read_meta_data(self, class_name: str, name: str) -> str | None:
        """Return a meta-data text of one of the app's own components, as the installed manifest has it.

        None where the component or the entry is missing, or holds no text.
        """

    def read_raw(self, path: str) -> bytes | None:
        """Return an entry of the installed APK, such as `assets/x.xml`."""

    def read_shared_file(self, path: str) -> bytes | None:
        """Return a file of shared storage (`/sdcard/...`), None where there is none or it is not readable.

        An app reads the files of its own folder there. With READ_EXTERNAL_STORAGE it reads all files up to
        Android 9, and later where it targets Android 10 at most and requested legacy storage.
        """

    def write_shared_file(self, path: str, content: bytes) -> None:
        """Write a file of shared storage; folders of the app's own are made.

        Raises:
            AndroidError: java.io.IOException.
        """

    def now(self) -> float:
        """Return the phone's time, in seconds since 1970 UTC."""

    def start_service(self, intent: Intent, *, foreground: bool = False) -> ComponentName | None:
        """Start a service.

        Raises:
            AndroidError: Android refuses, with its own exception name and text.
        """

    def bind_service(
        self,
        intent: Intent,
        on_message: Callable[[Message], None],
        on_disconnected: Callable[[], None] | None = None,
        *,
        flags: int = 0,
    ) -> Binding | None:
        """Bind a service and wait for it; None where it gives no binder. `on_message` receives its answers.

        `on_disconnected` is called once where the service's process ends while it is bound. Of the flags
        BIND_ALLOW_ACTIVITY_STARTS (512) counts.

        Raises:
            AndroidError: Android refuses.
        """

    def start_activity(
        self, intent: Intent, on_result: Callable[[ActivityResult], None] | None = None
    ) -> None:
        """Start an activity, for a result where a receiver is given.

        As on Android, only an activity's own context starts one without FLAG_ACTIVITY_NEW_TASK (0x10000000),
        and with that flag the result is RESULT_CANCELED at once. A start from the background may be blocked:
        nothing is raised then.

        Raises:
            AndroidError: Android refuses.
        """

    def send_ordered_broadcast(self, intent: Intent, on_result: Callable[[BroadcastResult], None]) -> None:
        """Send an ordered broadcast and receive its final result.

        Raises:
            AndroidError: Android refuses.
        """

    def create_pending_intent(
        self, on_sent: Callable[[Intent], None], base: Intent | None = None, *, mutable: bool = True
    ) -> str:
        """Return the token of a broadcast PendingIntent to this app.

        Args:
            on_sent: Takes what was sent: the base with what the sender added, where the base wins key by key.
            base: The intent that it is made for, empty for None.
            mutable: Whether what a sender adds is merged.
        """

    def send_pending_intent(self, token: str, fill_in: Intent) -> None:
        """Send a PendingIntent.

        Raises:
            AndroidError: it was cancelled.
        """

    def send_message(self, messenger: str, message: Message) -> None:
        """Send a message to the Messenger of that token.

        Raises:
            AndroidError: its process is gone (`android.os.DeadObjectException`).
        """

    def query_services(self, intent: Intent) -> list[ComponentName]:
        """Return the services that match, of the packages that this app may see."""

    def query_activities(self, intent: Intent) -> list[ComponentName]:
        """Return the activities that match, of the packages that this app may see."""

    def query_receivers(self, intent: Intent) -> list[ComponentName]:
        """Return the receivers that match, of the packages that this app may see."""


class Platform(Protocol):
    """Android's managers, as one app's code reaches them; everything happens with its uid."""

    @property
    def sdk(self) -> int:
        """Build.VERSION.SDK_INT."""

    @property
    def statics(self) -> dict[str, object]:
        """What the app's code keeps for as long as its process lives (Java's static fields)."""

    def holds(self, permission: str, *, uid: int | None = None) -> bool:
        """Return whether a uid, by default the app's own, holds a permission."""

    def packages_of_uid(self, uid: int) -> Sequence[str]:
        """Return the packages of a uid (`getPackagesForUid`)."""

    def find_package(self, name: str) -> PackageFacts | None:
        """Return a package that is installed and that the app may see."""

    def find_meta_data(self, component: ComponentName, name: str) -> MetaData | None:
        """Return a component's meta-data, of a package that the app may see."""

    def read_xml(self, package: str, reference: str) -> XmlNode | None:
        """Return compiled XML (`@xml/name`) of a package that the app may see."""

    def read_raw_resource(self, package: str, reference: str) -> bytes | None:
        """Return the content of `@raw/name` of a package that the app may see."""

    def read_asset(self, package: str, name: str) -> bytes | None:
        """Return an asset of a package that the app may see."""

    def bind(self, intent: Intent, connection: ServiceConnection) -> Binding | None:
        """Bind a service; the connection reports the outcome later. None for an unknown service.

        Raises:
            AndroidError: Android refuses.
        """

    def create_messenger(self, on_message: Callable[[Message], None]) -> str:
        """Return the token of a Messenger whose messages come to the app's main thread."""

    def close_messenger(self, token: str) -> None:
        """Remove a Messenger of the app's own; sending to it fails from then on."""

    def link_to_death(self, token: str, on_death: Callable[[], None]) -> Callable[[], None]:
        """Run code when the process that owns a Messenger dies (`IBinder.linkToDeath`).

        Args:
            token: A Messenger's token, as in `Message.reply_to`.
            on_death: Runs once, on the app's main thread. It does not run if the app's process dies first.

        Returns:
            A function that unlinks (`IBinder.unlinkToDeath`).

        Raises:
            AndroidError: android.os.DeadObjectException, if the process has died or the Messenger is closed.
        """

    def finish_activity(self) -> None:
        """End the activity whose context this is of; nothing in any other context."""

    def acknowledge_start(self, class_name: str, intent: Intent) -> None:
        """End one start of a service of the app (`stopSelf(startId)`); it is stopped after the last."""

    def foreground_service_types(self, component: ComponentName) -> tuple[str, ...]:
        """Return the declared types of a service that the app may see.

        This is `ServiceInfo.getForegroundServiceType`, API 29.

        Returns:
            Words of `android:foregroundServiceType` in the order of their bits; empty for none, and below
            API 29.
        """

    def start_foreground(self, class_name: str, types: Sequence[str] | None = None) -> None:
        """Move a running service of the app to the foreground (`Service.startForeground`).

        Args:
            class_name: The service's class.
            types: Words of `android:foregroundServiceType`; those of the manifest by default.

        Raises:
            AndroidError: A permission or the type is missing (`java.lang.SecurityException`,
                `android.app.MissingForegroundServiceTypeException`), the types are not those of the manifest
                (`java.lang.IllegalArgumentException`), or the app is in the background
                (`android.app.ForegroundServiceStartNotAllowedException`, API 31).
        """

    def stop_foreground(self, class_name: str) -> None:
        """Move a service of the app back to the background (`Service.stopForeground`); it keeps running."""

    def look_at_pending_intent(self, token: str) -> PendingIntentFacts | None:
        """Return what the system reports about a PendingIntent, None for one that was cancelled."""

    def create_activity_intent(self, intent: Intent) -> str:
        """Return the token of a PendingIntent that opens an activity."""

    def is_app_function_enabled(self, package: str, function_id: str) -> bool:
        """Return whether an app function can be executed.

        Raises:
            AppFunctionError: the app has no function of that id.
        """

    def register_app_function(
        self, function_id: str, code: Callable[[str, Mapping[str, Json]], Mapping[str, Json]]
    ) -> Callable[[], None]:
        """Execute one of the application's own functions while the app runs (Android 17).

        Args:
            function_id: As the application's file declares it.
            code: As `AppFunctionService.on_execute`.

        Returns:
            What takes the function back.

        Raises:
            AndroidError: the application does not declare it, or it is registered already.
        """

    def execute_app_function(
        self,
        package: str,
        function_id: str,
        parameters: Mapping[str, Json],
        on_outcome: Callable[[FunctionOutcome], None],
    ) -> Callable[[], None]:
        """Execute an app function; the outcome comes later.

        Returns:
            What cancels it: its app hears that, and no outcome comes any more.
        """

    def notify(self, number: int, notification: Notification) -> bool:
        """Post a notification; false where the app may not."""

    def cancel_notification(self, number: int) -> None:
        """Remove a notification."""

    def cancel_notifications(self) -> None:
        """Remove all of the app's notifications."""

    def may_notify(self) -> bool:
        """Return whether notifications are shown (POST_NOTIFICATIONS from 33 on)."""

    def may_draw_overlays(self) -> bool:
        """Return whether the user allowed SYSTEM_ALERT_WINDOW (`Settings.canDrawOverlays`)."""

    def is_battery_exempt(self) -> bool:
        """Return whether the app is exempt from battery optimisation."""

    def is_locked(self) -> bool:
        """Return whether the phone is locked (`KeyguardManager.isDeviceLocked`)."""

    def is_keyguard_shown(self) -> bool:
        """Return whether a keyguard is before all windows (`KeyguardManager.isKeyguardLocked`)."""

    def is_interactive(self) -> bool:
        """Return whether the screen is on (`PowerManager.isInteractive`)."""

    def is_visible(self) -> bool:
        """Return whether the app shows an activity."""

    def post(self, code: Callable[[], None]) -> None:
        """Run code on the app's main thread, some time."""

    def after(self, seconds: float, code: Callable[[], None]) -> Callable[[], None]:
        """Run code on the main thread after so many seconds of the phone's time.

        Returns:
            What cancels it.
        """

    def signal(self) -> Signal:
        """Return a signal that a Binder thread can wait for."""

    def wait(self, signal: Signal, seconds: float) -> bool:
        """Wait on a Binder thread until a signal is set or the time is over; return whether it is set.

        The end of the process ends the wait.
        """

    def commit_text(self, text: str) -> bool:
        """Type into the field that has the keyboard (`InputConnection.commitText`).

        Returns:
            False where the app has no connection to it: its input method is not the current one.
        """

    def hide_overlay_windows(self, *, hide: bool = True) -> None:
        """Hide other apps' overlays while the context's activity is on top.

        This is `Window.setHideOverlayWindows`, API 31.

        Raises:
            AndroidError: java.lang.SecurityException without the permission HIDE_OVERLAY_WINDOWS,
                java.lang.NoSuchMethodError below API 31, java.lang.IllegalStateException outside of an
                activity.
        """

    def request_permissions(self, *permissions: str) -> None:
        """Ask the user for permissions, from an activity (`Activity.requestPermissions`).

        The dialog is not modelled: the request is logged, and nobody answers.

        Raises:
            AndroidError: java.lang.IllegalStateException outside of an activity.
        """

    def connect_ui_automation(self, flags: int) -> None:
        """Connect the UiAutomation of an instrumentation (`Instrumentation.getUiAutomation(flags)`).

        Args:
            flags: FLAG_DONT_SUPPRESS_ACCESSIBILITY_SERVICES (1), FLAG_DONT_USE_ACCESSIBILITY (2, API 31).

        Raises:
            AndroidError: java.lang.IllegalStateException, if the process does not run an instrumentation that
                `am instrument -w` waits for, or if another UiAutomation is registered.
        """

    def adopt_shell_permissions(self, *permissions: str) -> None:
        """Act with the shell's permissions (`UiAutomation.adoptShellPermissionIdentity`).

        The app's own grants of these permissions do not count meanwhile: the shell's do.

        Args:
            permissions: The permissions; all of them by default.

        Raises:
            AndroidError: java.lang.IllegalStateException without a connected UiAutomation,
                java.lang.SecurityException if another app has adopted the shell's permissions.
        """

    def drop_shell_permissions(self) -> None:
        """Act with the app's own permissions again (`UiAutomation.dropShellPermissionIdentity`).

        Raises:
            AndroidError: java.lang.IllegalStateException without a connected UiAutomation.
        """


class PrivateFiles(Protocol):
    """Private files of an app, by name."""

    def read(self, name: str) -> bytes | None:
        """Return a file's content, None where there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a file.

        Raises:
            AndroidError: java.io.FileNotFoundException in an isolated process, which has no files.
        """


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
            `START_REDELIVER_INTENT` where `acknowledge_start` ends the start later; no start comes again.
        """
        del intent
        return None

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

    def __init__(self, context: Context) -> None:
        self.context = context
        self.result = ActivityResult(0)
        self.finished = False

    def on_create(self, intent: Intent) -> None:
        """Handle the start; an activity that has nothing to show calls `finish` here."""

    def on_stop(self) -> None:
        """Handle that the user went home, so that nothing of it is seen."""

    def on_destroy(self) -> None:
        """Handle the end, by `finish` or because the user went back; not where the process dies."""

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


class ContentProvider:
    """A content provider."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def call(self, method: str, argument: str | None, caller_uid: int) -> Bundle | None:
        """Handle `ContentResolver.call`."""
        del method, argument, caller_uid
        return None

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        """Return what `openFile(uri, "r")` gives; None for an unknown file."""
        del uri, caller_uid
        return None

    def open_for_writing(self, uri: str, content: bytes, caller_uid: int) -> bool:
        """Take what was written through `openFile(uri, "w")`; false for an unknown file."""
        del uri, content, caller_uid
        return False


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
        signal: CancellationSignal,
        on_outcome: Callable[[Mapping[str, Json] | AppFunctionError], None],
    ) -> None:
        """Execute a function and hand over what comes of it, now or later.

        Args:
            function_id: Its identifier.
            parameters: As for `on_execute`.
            calling_package: Who calls.
            signal: Is cancelled where the caller, or the end of its process, cancels the call.
            on_outcome: Takes the properties of the result document, or the error; the first outcome counts.
        """
        del calling_package, signal
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
    PROVIDERS: ClassVar[Mapping[str, type[ContentProvider]]] = {}
    APP_FUNCTION_SERVICES: ClassVar[Mapping[str, type[AppFunctionService]]] = {}
    INSTRUMENTATIONS: ClassVar[Mapping[str, type[Instrumentation]]] = {}
