"""What the system offers to an app.

`droidgate_phone.app_api.behaviour.Context` says what each method does and raises.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from typing import Final

from droidgate_android.apk.budgets import MAX_ENTRY_BYTES
from droidgate_mappings.model.errors import InputError
from droidgate_phone.app_api.platform import Binding
from droidgate_phone.app_api.values import ActivityResult, AndroidError, BroadcastResult, Message
from droidgate_phone.files import VirtualFileError
from droidgate_phone.intents import ComponentName, Intent
from droidgate_phone.system.activity_stack import FLAG_NEW_TASK, ActivityNotFoundError
from droidgate_phone.system.android_system import AndroidSystem
from droidgate_phone.system.app_platform import AppPlatform
from droidgate_phone.system.callers import Caller
from droidgate_phone.system.intent_text import show_intent
from droidgate_phone.system.manifests import PartKind
from droidgate_phone.system.messengers import PendingIntentRecord
from droidgate_phone.system.package_records import InstalledPackage
from droidgate_phone.system.processes import AppProcess, is_isolated
from droidgate_phone.system.service_records import ServiceRefusedError

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
        self._caller = Caller(process.uid, package.name, process, activity)
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
        found = self._package.application.resources.read_file(reference)
        return None if found is None else found.text

    def read_string_resource(self, reference: str) -> str | None:
        return self._package.application.resources.read_text(reference)

    def read_meta_data(self, class_name: str, name: str) -> str | None:
        application = self._package.application
        for component in application.components:
            if application.qualified_name(component) == class_name:
                found = component.find_meta_data(name)
                return found.value if found is not None and isinstance(found.value, str) else None
        return None

    def read_raw(self, path: str) -> bytes | None:
        apk = self._package.apk
        part = apk.part_with(path) if apk is not None else None
        if part is None:
            return None
        try:
            return part.archive.read_entry(path, MAX_ENTRY_BYTES)
        except InputError:
            return None

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
        asked = self._package.manifest.legacy_storage
        sees_all = target < _SCOPED_STORAGE if asked is None else asked
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
        self._require_explicit(intent)
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
        self._require_explicit(intent)
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
        found = self._system.resolver.query(kind, intent, caller_uid=self._caller.uid)
        return [match.name for match in found]

    def _require_explicit(self, intent: Intent) -> None:
        if intent.component is None and intent.package is None:
            message = f"Service Intent must be explicit: {show_intent(intent)}"
            raise AndroidError("java.lang.IllegalArgumentException", message)

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
