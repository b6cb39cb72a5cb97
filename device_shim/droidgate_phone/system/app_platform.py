"""Android's managers as one app's code reaches them.

`droidgate_phone.app_api.platform.Platform` says what each method does and raises.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from droidgate_android.apk.budgets import MAX_ENTRY_BYTES
from droidgate_android.apk.reader import Apk
from droidgate_android.apk.values import value_text
from droidgate_android.apk.xml_tree import TypedValue, ValueType, XmlElement
from droidgate_mappings.formats.application import MetaData
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_phone.app_api.platform import (
    Binding,
    FunctionOutcome,
    Notification,
    PackageFacts,
    PendingIntentFacts,
    ServiceConnection,
    XmlAttributeText,
    XmlNode,
)
from droidgate_phone.app_api.values import AndroidError, AppFunctionError, Message
from droidgate_phone.clocks import Signal, start_work
from droidgate_phone.intents import ComponentName, Intent
from droidgate_phone.system.activity_records import ActivityRecord
from droidgate_phone.system.android_system import AndroidSystem
from droidgate_phone.system.callers import Caller
from droidgate_phone.system.generic_documents import in_map_order
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.manifests import SERVICE_TYPES
from droidgate_phone.system.messengers import PendingIntentRecord
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.processes import AndroidNotModelledError, AppProcess

_ERROR_SYSTEM: Final = 2000
_ERROR_CANCELLED: Final = 2001
_HIDE_OVERLAYS: Final = "android.permission.HIDE_OVERLAY_WINDOWS"
_FIRST_HIDING_OVERLAYS: Final = 31
_FIRST_SERVICE_TYPES: Final = 29
"""ServiceInfo.getForegroundServiceType is there from this API level on."""


class AppPlatform:
    """Android's managers for one app."""

    def __init__(
        self, system: AndroidSystem, package: InstalledPackage, process: AppProcess, caller: Caller
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
        found = self._find(name)
        if found is None:
            return None
        return PackageFacts(
            found.name,
            found.uid,
            found.application.label or found.name,
            found.version_code,
            found.signers,
            found.code_folder,
        )

    def find_meta_data(self, component: ComponentName, name: str) -> MetaData | None:
        package = self._find(component.package)
        if package is None:
            return None
        application = package.application
        for declared in application.components:
            if application.qualified_name(declared) == component.class_name:
                return declared.find_meta_data(name)
        return None

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
        found = self._find(package)
        return None if found is None or found.apk is None else _read_entry(found.apk, f"assets/{name}")

    def bind(self, intent: Intent, connection: ServiceConnection) -> Binding | None:
        if intent.component is None and intent.package is None:
            message = f"Service Intent must be explicit: {show_intent(intent)}"
            raise AndroidError("java.lang.IllegalArgumentException", message)
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
        found = None if package is None else package.find_component("service", component.class_name)
        if found is None or not self._system.release.at_least(_FIRST_SERVICE_TYPES):
            return ()
        return tuple(word for word in SERVICE_TYPES.values() if word in found.service_types)

    def start_foreground(self, class_name: str, types: Sequence[str] | None = None) -> None:
        name = ComponentName(self._package.name, class_name)
        self._system.services.start_foreground(self._caller, name, types)

    def stop_foreground(self, class_name: str) -> None:
        self._system.services.stop_foreground(self._caller, ComponentName(self._package.name, class_name))

    def look_at_pending_intent(self, token: str) -> PendingIntentFacts | None:
        found = self._system.messengers.find_pending_intent(token)
        if found is None:
            return None
        return PendingIntentFacts(found.package, found.uid, found.is_activity, is_immutable=not found.mutable)

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
        """Execute one of the application's own functions while the app runs."""
        functions = self._system.app_functions
        return functions.register(self._package.name, function_id, self._process, code)

    def execute_app_function(
        self,
        package: str,
        function_id: str,
        parameters: Mapping[str, Json],
        on_outcome: Callable[[FunctionOutcome], None],
        *,
        seconds: float,
    ) -> None:
        given = in_map_order(
            {name: values for name, values in parameters.items() if isinstance(values, list)}
        )
        functions = self._system.app_functions

        def run() -> None:
            outcome: FunctionOutcome
            try:
                outcome = functions.execute(self._caller, package, function_id, given, seconds=seconds)
            except AppFunctionError as error:
                outcome = error
            except AndroidNotModelledError as error:
                outcome = AppFunctionError(_ERROR_SYSTEM, error.message)
            except TimeoutError:
                outcome = AppFunctionError(_ERROR_CANCELLED, "the call was cancelled")
            self.post(lambda: on_outcome(outcome))

        start_work(self._system.clock, "phone:app-function", run)

    def notify(self, number: int, notification: Notification) -> bool:
        return self._system.notifications.post(self._package, number, notification)

    def cancel_notification(self, number: int) -> None:
        self._system.notifications.cancel(self._package.name, number)

    def may_notify(self) -> bool:
        return self._system.notifications.may_post(self._package)

    def may_draw_overlays(self) -> bool:
        return self._system.stack.may_overlay(self._package.uid)

    def is_battery_exempt(self) -> bool:
        return self._package.name in self._system.uid_states.idle_whitelist

    def is_locked(self) -> bool:
        return self._system.is_locked

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
        self._system.permission_dialogs.request(self._activity("requestPermissions"), permissions)

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
        found = self._system.packages.find(name)
        return found if found is not None and self._sees(found) else None

    def _file_of(self, package: str, reference: str) -> tuple[Apk | None, str | None]:
        found = self._find(package)
        if found is None or found.apk is None or found.apk.resources is None:
            return None, None
        identifier = found.apk.resources.find(reference)
        if identifier is None:
            return found.apk, None
        value = found.apk.resolve(TypedValue(ValueType.REFERENCE, identifier))
        return found.apk, None if value is None else value.text


def _read_entry(apk: Apk, name: str) -> bytes | None:
    part = apk.part_with(name)
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
