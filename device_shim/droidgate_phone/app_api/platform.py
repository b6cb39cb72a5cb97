"""What Android offers to an app beyond `Context`: other packages, notifications, timers, app functions.

Also here: view trees: what an activity shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from droidgate_mappings.formats.application import MetaData
from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.app_values import AppFunctionError, Message
from droidgate_phone.clocks import Signal
from droidgate_phone.intents import ComponentName, Intent

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


def _nothing() -> None:
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
    on_connected: Callable[[], None] = _nothing
    on_null_binding: Callable[[], None] = _nothing
    on_disconnected: Callable[[], None] = _nothing
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


FunctionOutcome = Mapping[str, Json] | AppFunctionError
"""The properties of a result document, each a list; or the error."""


class Binding(Protocol):
    """A bound service that returned a Messenger."""

    def send(self, message: Message) -> None:
        """Send a message; answers come to the binding's `on_message` where `reply_to` is left None."""

    def unbind(self) -> None:
        """Unbind the service."""


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
            AppFunctionError: there is none of that id.
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
        *,
        seconds: float,
    ) -> None:
        """Execute an app function; the outcome comes later. It is cancelled after so many seconds."""

    def notify(self, number: int, notification: Notification) -> bool:
        """Post a notification; false where the app may not."""

    def cancel_notification(self, number: int) -> None:
        """Remove a notification."""

    def may_notify(self) -> bool:
        """Return whether notifications are shown (POST_NOTIFICATIONS from 33 on)."""

    def may_draw_overlays(self) -> bool:
        """Return whether the user allowed SYSTEM_ALERT_WINDOW (`Settings.canDrawOverlays`)."""

    def is_battery_exempt(self) -> bool:
        """Return whether the app is exempt from battery optimisation."""

    def is_locked(self) -> bool:
        """Return whether the screen is locked (`KeyguardManager.isKeyguardLocked`)."""

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

        Only android.permission.POST_NOTIFICATIONS is modelled, from API 33 on. Its dialog is on the phone's
        screen until the user answers or goes back. Nothing happens if the permission is held, if the manifest
        does not request it, or after the user has denied it twice.

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
