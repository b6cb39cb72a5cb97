"""What the system offers to an app: its context, and Android's managers as one app's code reaches them.

`droidgate_phone.system.behaviour` says what each method does and raises.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from droidgate_android.apk.apk_budgets import MAX_ENTRY_BYTES
from droidgate_android.apk.reader import Apk
from droidgate_android.apk.resource_values import value_text
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_mappings.formats.application import MetaData
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.common.clocks import Signal, start_work
from droidgate_phone.files.phone_files import VirtualFileError
from droidgate_phone.java.app_values import (
    ActivityResult,
    AndroidError,
    AppFunctionError,
    Binding,
    BroadcastResult,
    CancellationSignal,
    FunctionOutcome,
    Message,
    Notification,
    PackageFacts,
    PendingIntentFacts,
    ServiceConnection,
    XmlAttributeText,
    XmlNode,
)
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.activity_records import ActivityRecord
from droidgate_phone.system.activity_stack import FLAG_NEW_TASK, ActivityNotFoundError
from droidgate_phone.system.android_system import AndroidSystem
from droidgate_phone.system.callers import CallerIdentity
from droidgate_phone.system.generic_documents import in_map_order
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.manifests import SERVICE_TYPES, PartKind
from droidgate_phone.system.messengers import PendingIntentRecord
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.processes import AndroidNotModelledError, AppProcess, is_isolated
from droidgate_phone.system.service_records import ServiceRefusedError

_ERROR_SYSTEM: Final = 2000
_FUNCTION_SECONDS: Final = 600.0
"""How long the phone waits for an app function; Android waits for ever."""
_HIDE_OVERLAYS: Final = "android.permission.HIDE_OVERLAY_WINDOWS"
_FIRST_HIDING_OVERLAYS: Final = 31
_FIRST_SERVICE_TYPES: Final = 29
"""ServiceInfo.getForegroundServiceType is there from this API level on."""


class AppPlatform:
    """Android's managers for one app."""

    def __init__(
        self, system: AndroidSystem, package: InstalledPackage, process: AppProcess, caller: CallerIdentity
    ) -> None:
        self._android = system
        self._package = package
        self._process = process
        self._caller = caller

    @property
    def _system(self) -> AndroidSystem:
        self._process.require_alive()
        return self._android

    @property
    def sdk(self) -> int:
        return self._system.release.sdk

    @property
    def statics(self) -> dict[str, object]:
        return self._process.statics

    def holds(self, permission: str, *, uid: int | None = None) -> bool:
        return self._system.packages.permissions.holds(self._caller.uid if uid is None else uid, permission)

    def packages_of_uid(self, uid: int) -> Sequence[str]:
        return [package.name for package in self._system.packages.of_uid(uid) if self._sees(package)]

    def find_package(self, name: str) -> PackageFacts | None:
        installed = self._find(name)
        if installed is None:
            return None
        return PackageFacts(
            installed.name,
            installed.uid,
            installed.application.label or installed.name,
            installed.version_code,
            installed.signers,
            installed.code_folder,
        )

    def find_meta_data(self, component: ComponentName, name: str) -> MetaData | None:
        package = self._find(component.package)
        return None if package is None else _find_meta_data(package, component.class_name, name)

    def read_xml(self, package: str, reference: str) -> XmlNode | None:
        apk, file = self._file_of(package, reference)
        if apk is None or file is None:
            return None
        try:
            return _node(apk.read_xml(file), apk)
        except InputError:
            return None

    def read_raw_resource(self, package: str, reference: str) -> bytes | None:
        apk, file = self._file_of(package, reference)
        return None if apk is None or file is None else _read_entry(apk, file)

    def read_asset(self, package: str, name: str) -> bytes | None:
        installed = self._find(package)
        return None if installed is None else _read_entry(installed.apk, f"assets/{name}")

    def bind(self, intent: Intent, connection: ServiceConnection) -> Binding | None:
        _require_explicit(intent)
        self._caller.refuse_isolated("bindService")
        return self._system.services.bind_later(self._caller, intent, connection)

    def create_messenger(self, on_message: Callable[[Message], None]) -> str:
        return self._system.messengers.add_messenger(self._process, on_message)

    def close_messenger(self, token: str) -> None:
        self._system.messengers.remove_messenger(token)

    def link_to_death(self, token: str, on_death: Callable[[], None]) -> Callable[[], None]:
        return self._system.messengers.link_to_death(token, self._process, on_death)

    def finish_activity(self) -> None:
        if isinstance(self._caller.activity, ActivityRecord):
            self._system.stack.finish(self._caller.activity)

    def acknowledge_start(self, class_name: str, intent: Intent) -> None:
        name = ComponentName(self._package.name, class_name)
        self._system.services.acknowledge(self._caller, name, intent)

    def foreground_service_types(self, component: ComponentName) -> tuple[str, ...]:
        package = self._find(component.package)
        service = None if package is None else package.find_component("service", component.class_name)
        if service is None or not self._system.release.at_least(_FIRST_SERVICE_TYPES):
            return ()
        return tuple(word for word in SERVICE_TYPES.values() if word in service.service_types)

    def start_foreground(self, class_name: str, types: Sequence[str] | None = None) -> None:
        name = ComponentName(self._package.name, class_name)
        self._system.services.start_foreground(self._caller, name, types)

    def stop_foreground(self, class_name: str) -> None:
        self._system.services.stop_foreground(self._caller, ComponentName(self._package.name, class_name))

    def look_at_pending_intent(self, token: str) -> PendingIntentFacts | None:
        intent = self._system.messengers.find_pending_intent(token)
        if intent is None:
            return None
        return PendingIntentFacts(
            intent.package, intent.uid, intent.is_activity, is_immutable=not intent.mutable
        )

    def create_activity_intent(self, intent: Intent) -> str:
        self._caller.refuse_isolated("getIntentSender")

        def open_it(sent: Intent) -> None:
            # A PendingIntent outlives the process that made it.
            self._android.stack.start(self._caller, sent, created_by=self._package)

        record = PendingIntentRecord(
            self._package.name,
            self._package.uid,
            None,
            intent,
            mutable=False,
            on_sent=open_it,
            is_activity=True,
        )
        return self._system.messengers.add_pending_intent(record)

    def is_app_function_enabled(self, package: str, function_id: str) -> bool:
        return self._system.app_functions.is_enabled(package, function_id)

    def register_app_function(
        self, function_id: str, code: Callable[[str, Mapping[str, Json]], Mapping[str, Json]]
    ) -> Callable[[], None]:
        functions = self._system.app_functions
        return functions.register(self._package.name, function_id, self._process, code)

    def execute_app_function(
        self,
        package: str,
        function_id: str,
        parameters: Mapping[str, Json],
        on_outcome: Callable[[FunctionOutcome], None],
    ) -> Callable[[], None]:
        inputs = in_map_order(
            {name: values for name, values in parameters.items() if isinstance(values, list)}
        )
        functions, signal = self._system.app_functions, CancellationSignal()
        forget = self._process.on_death(signal.cancel)

        def run() -> None:
            outcome: FunctionOutcome
            try:
                outcome = functions.execute(
                    self._caller, package, function_id, inputs, seconds=_FUNCTION_SECONDS, signal=signal
                )
            except AppFunctionError as error:
                outcome = error
            except AndroidNotModelledError as error:
                outcome = AppFunctionError(_ERROR_SYSTEM, error.message)
            except TimeoutError:
                # Nobody hears of a cancelled call any more; Android cancels none for its length.
                return
            finally:
                forget()
            self.post(lambda: on_outcome(outcome))

        start_work(self._system.clock, "phone:app-function", run)
        return signal.cancel

    def notify(self, number: int, notification: Notification) -> bool:
        return self._system.notifications.post(self._package, number, notification)

    def cancel_notification(self, number: int) -> None:
        self._system.notifications.cancel(self._package.name, number)

    def cancel_notifications(self) -> None:
        self._system.notifications.cancel_all(self._package.name)

    def may_notify(self) -> bool:
        return self._system.notifications.may_post(self._package)

    def may_draw_overlays(self) -> bool:
        return self._system.stack.may_overlay(self._package.uid)

    def is_battery_exempt(self) -> bool:
        return self._package.name in self._system.uid_states.idle_whitelist

    def is_locked(self) -> bool:
        return self._system.is_locked

    def is_keyguard_shown(self) -> bool:
        """Return whether a keyguard is before all windows."""
        return self._system.is_locked or self._system.is_keyguard_shown

    def is_interactive(self) -> bool:
        """Return whether the screen is on."""
        return self._system.is_interactive

    def is_visible(self) -> bool:
        return self._system.stack.is_visible(self._package.uid)

    def post(self, code: Callable[[], None]) -> None:
        self._android.processes.run_code(self._process, code)

    def after(self, seconds: float, code: Callable[[], None]) -> Callable[[], None]:
        return self._system.timers.after(seconds, lambda: self.post(code))

    def signal(self) -> Signal:
        return self._system.clock.signal()

    def wait(self, signal: Signal, seconds: float) -> bool:
        forget = self._process.on_death(signal.set)
        try:
            return self._android.clock.wait(signal, seconds)
        finally:
            forget()

    def commit_text(self, text: str) -> bool:
        current = self._system.settings.get("secure", "default_input_method") or ""
        if current.partition("/")[0] != self._package.name:
            return False
        self._system.window.type_text(text)
        return True

    def hide_overlay_windows(self, *, hide: bool = True) -> None:
        record = self._activity("setHideOverlayWindows")
        if self.sdk < _FIRST_HIDING_OVERLAYS:
            message = "No virtual method setHideOverlayWindows(Z)V in class Landroid/view/Window;"
            raise AndroidError("java.lang.NoSuchMethodError", message)
        if not self.holds(_HIDE_OVERLAYS):
            message = "Permission denial: setHideOverlayWindows: HIDE_OVERLAY_WINDOWS"
            raise AndroidError("java.lang.SecurityException", message)
        record.hides_overlays = hide

    def request_permissions(self, *permissions: str) -> None:
        asking = self._activity("requestPermissions").match.package.name
        what = f"the dialog for {', '.join(permissions)}"
        self._system.log.record("not-modelled", package=asking, what=what)

    def _activity(self, call: str) -> ActivityRecord:
        if not isinstance(self._caller.activity, ActivityRecord):
            message = f"{call} needs the context of an activity"
            raise AndroidError("java.lang.IllegalStateException", message)
        return self._caller.activity

    def connect_ui_automation(self, flags: int) -> None:
        self._system.instrumentations.connect(self._process, flags)

    def adopt_shell_permissions(self, *permissions: str) -> None:
        self._system.instrumentations.adopt_shell_permissions(self._process, permissions)

    def drop_shell_permissions(self) -> None:
        self._system.instrumentations.drop_shell_permissions(self._process)

    def _sees(self, package: InstalledPackage) -> bool:
        return self._system.resolver.can_see(self._caller.uid, package)

    def _find(self, name: str) -> InstalledPackage | None:
        installed = self._system.packages.find(name)
        return installed if installed is not None and self._sees(installed) else None

    def _file_of(self, package: str, reference: str) -> tuple[Apk | None, str | None]:
        installed = self._find(package)
        if installed is None or installed.apk is None or installed.apk.resources is None:
            return None, None
        identifier = installed.apk.resources.find(reference)
        if identifier is None:
            return installed.apk, None
        value = installed.apk.resolve(TypedValue(ValueType.REFERENCE, identifier))
        return installed.apk, None if value is None else value.text


def _require_explicit(intent: Intent) -> None:
    if intent.component is None and intent.package is None:
        message = f"Service Intent must be explicit: {show_intent(intent)}"
        raise AndroidError("java.lang.IllegalArgumentException", message)


def _find_meta_data(package: InstalledPackage, class_name: str, name: str) -> MetaData | None:
    application = package.application
    for declared in application.components:
        if application.qualified_name(declared) == class_name:
            return declared.find_meta_data(name)
    return None


def _read_entry(apk: Apk | None, name: str) -> bytes | None:
    part = None if apk is None else apk.part_with(name)
    if part is None:
        return None
    try:
        return part.archive.read_entry(name, MAX_ENTRY_BYTES)
    except InputError:
        return None


def _node(element: XmlElement, apk: Apk) -> XmlNode:
    return XmlNode(
        element.tag,
        tuple(
            XmlAttributeText(
                attribute.namespace or "", attribute.name, value_text(attribute.value, apk.name_of) or ""
            )
            for attribute in element.attributes
        ),
        tuple(child if isinstance(child, str) else _node(child, apk) for child in element.children),
    )


_REAL_SHARED: Final = "/storage/emulated/0/"
_SHARED: Final = ("/sdcard/", _REAL_SHARED)
_OF_APPS: Final = (f"{_REAL_SHARED}Android/data/", f"{_REAL_SHARED}Android/obb/")
_SCOPED_STORAGE: Final = 29


class PrivateFiles:
    """The private files of an app, in its folder of the phone."""

    def __init__(self, system: AndroidSystem, package: InstalledPackage, process: AppProcess) -> None:
        self._files = system.files
        self._folder = f"/data/data/{package.name}/files"
        self._process = process
        self._uid = process.uid

    def read(self, name: str) -> bytes | None:
        try:
            return bytes(self._files.read(self._path(name), uid=self._uid))
        except VirtualFileError:
            return None

    def write(self, name: str, content: bytes) -> None:
        path = self._path(name)
        if is_isolated(self._uid):
            message = f"{path}: open failed: EACCES (Permission denied)"
            raise AndroidError("java.io.FileNotFoundException", message)
        self._files.make_directory(posixpath.dirname(path), parents=True, mode=0o771, uid=self._uid)
        self._files.write(path, bytes(content), mode=0o600, uid=self._uid)

    def _path(self, name: str) -> str:
        self._process.require_alive()
        path = posixpath.normpath(posixpath.join(self._folder, name))
        if not path.startswith(self._folder + "/"):
            raise AndroidError("java.lang.IllegalArgumentException", f"File {name} contains a path separator")
        return path


class AppContext:
    """The context of one component of an app."""

    def __init__(
        self, system: AndroidSystem, package: InstalledPackage, process: AppProcess, activity: object = None
    ) -> None:
        self._android = system
        self._package = package
        self._process = process
        self._caller = CallerIdentity(process.uid, package.name, process, activity)
        self._files = PrivateFiles(system, package, process)
        self._platform = AppPlatform(system, package, process, self._caller)

    @property
    def package(self) -> str:
        return self._package.name

    @property
    def system(self) -> AndroidSystem:
        """The phone's Android, for behaviours that only replace code elsewhere."""
        return self._android

    @property
    def _system(self) -> AndroidSystem:
        self._process.require_alive()
        return self._android

    @property
    def process(self) -> AppProcess:
        """The process that it is of."""
        return self._process

    @property
    def files(self) -> PrivateFiles:
        return self._files

    @property
    def platform(self) -> AppPlatform:
        return self._platform

    def read_xml_resource(self, reference: str) -> str | None:
        file = self._package.application.resources.read_file(reference)
        return None if file is None else file.text

    def read_string_resource(self, reference: str) -> str | None:
        return self._package.application.resources.read_text(reference)

    def read_meta_data(self, class_name: str, name: str) -> str | None:
        meta_data = _find_meta_data(self._package, class_name, name)
        return meta_data.value if meta_data is not None and isinstance(meta_data.value, str) else None

    def read_raw(self, path: str) -> bytes | None:
        return _read_entry(self._package.apk, path)

    def read_shared_file(self, path: str) -> bytes | None:
        files = self._system.files
        if not path.startswith(_SHARED):
            raise AndroidError("java.io.IOException", f"{path}: open failed: EACCES (Permission denied)")
        try:
            real = files.real_path(path)
            return bytes(files.read(real)) if self._may_read_shared(real) else None
        except VirtualFileError:
            return None

    def _may_read_shared(self, path: str) -> bool:
        if path.startswith(f"{_REAL_SHARED}Android/data/{self.package}/"):
            return True
        is_granted = "android.permission.READ_EXTERNAL_STORAGE" in self._package.granted
        return path.startswith(_REAL_SHARED) and is_granted and not self._is_hidden(path)

    def _is_hidden(self, path: str) -> bool:
        """Return whether scoped storage hides a file of others (reference android-runtime 1.9)."""
        sdk, target = self._system.release.sdk, self._package.target_sdk
        legacy_storage = self._package.manifest.legacy_storage
        sees_all = target < _SCOPED_STORAGE if legacy_storage is None else legacy_storage
        if sdk < _SCOPED_STORAGE or (sees_all and target <= _SCOPED_STORAGE):
            return sdk > _SCOPED_STORAGE and path.startswith(_OF_APPS)
        return True

    def write_shared_file(self, path: str, content: bytes) -> None:
        files = self._system.files
        if not path.startswith(_SHARED):
            raise AndroidError("java.io.IOException", f"{path}: open failed: EACCES (Permission denied)")
        try:
            if f"/Android/data/{self.package}/" in path:
                files.make_directory(posixpath.dirname(path), parents=True, owner=self._package.uid)
                files.write(path, bytes(content), owner=self._package.uid)
            else:
                files.write(path, bytes(content), uid=self._package.uid)
        except VirtualFileError as error:
            raise AndroidError("java.io.IOException", str(error)) from error

    def now(self) -> float:
        return self._system.clock.now()

    def start_service(self, intent: Intent, *, foreground: bool = False) -> ComponentName | None:
        self._caller.refuse_isolated("startService")
        _require_explicit(intent)
        try:
            return self._system.services.start(self._caller, intent, foreground=foreground)
        except ServiceRefusedError as refused:
            if refused.exception == "java.lang.SecurityException":
                message = f"Not allowed to start service {show_intent(intent)} {refused.reason}"
            elif refused.exception.startswith("android.app.Foreground"):
                message = refused.reason
            else:
                message = f"Not allowed to start service {show_intent(intent)}: {refused.reason}"
            raise AndroidError(refused.exception, message) from None

    def bind_service(
        self,
        intent: Intent,
        on_message: Callable[[Message], None],
        on_disconnected: Callable[[], None] | None = None,
        *,
        flags: int = 0,
    ) -> Binding | None:
        self._caller.refuse_isolated("bindService")
        _require_explicit(intent)
        return self._system.services.bind(self._caller, intent, on_message, on_disconnected, flags)

    def start_activity(
        self, intent: Intent, on_result: Callable[[ActivityResult], None] | None = None
    ) -> None:
        self._caller.refuse_isolated("startActivity")
        if self._caller.activity is None and not intent.flags & FLAG_NEW_TASK:
            message = (
                "Calling startActivity() from outside of an Activity context requires the "
                "FLAG_ACTIVITY_NEW_TASK "
                "flag. Is this really what you want?"
            )
            raise AndroidError("android.util.AndroidRuntimeException", message)
        try:
            self._system.stack.start(self._caller, intent, on_result)
        except ActivityNotFoundError:
            raise AndroidError("android.content.ActivityNotFoundException", self._not_found(intent)) from None

    def send_ordered_broadcast(self, intent: Intent, on_result: Callable[[BroadcastResult], None]) -> None:
        self._caller.refuse_isolated("broadcastIntent")
        self._system.broadcasts.send_ordered(self._caller, intent, on_result)

    def create_pending_intent(
        self, on_sent: Callable[[Intent], None], base: Intent | None = None, *, mutable: bool = True
    ) -> str:
        self._caller.refuse_isolated("getIntentSender")
        record = PendingIntentRecord(
            self.package, self._caller.uid, self._process, base or Intent(), mutable, on_sent
        )
        return self._system.messengers.add_pending_intent(record)

    def send_pending_intent(self, token: str, fill_in: Intent) -> None:
        self._system.messengers.send_pending_intent(token, fill_in)

    def send_message(self, messenger: str, message: Message) -> None:
        self._system.messengers.send_message(messenger, message, self._caller.uid)

    def query_services(self, intent: Intent) -> list[ComponentName]:
        return self._query("service", intent)

    def query_activities(self, intent: Intent) -> list[ComponentName]:
        return self._query("activity", intent)

    def query_receivers(self, intent: Intent) -> list[ComponentName]:
        return self._query("receiver", intent)

    def _query(self, kind: PartKind, intent: Intent) -> list[ComponentName]:
        matches = self._system.resolver.query(kind, intent, caller_uid=self._caller.uid)
        return [match.name for match in matches]

    def _not_found(self, intent: Intent) -> str:
        if intent.component is None:
            return f"No Activity found to handle {show_intent(intent)}"
        name = intent.component
        end = (
            ", or does your intent not match its declared <intent-filter>?"
            if self._system.release.at_least(33)
            else "?"
        )
        return (
            f"Unable to find explicit activity class {{{name.flatten()}}}; have you declared this "
            "activity in your "
            f"AndroidManifest.xml{end}"
        )
