"""One process of a shim on the JVM: what its Java code asks of Android is asked of the phone, in its name."""

from __future__ import annotations

import base64
import stat
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from droidgate.apk.signatures import read_certificates
from droidgate.model.errors import UsageError
from droidgate_phone.app_api.behaviour import PendingBroadcast
from droidgate_phone.app_api.platform import Binding, FunctionOutcome, Notification, ServiceConnection
from droidgate_phone.app_api.values import (
    ActivityResult,
    AndroidError,
    AppFunctionError,
    BroadcastResult,
    Message,
)
from droidgate_phone.apps.jvm_shim.machine import Machine, shared_machine
from droidgate_phone.apps.jvm_shim.parts import check_dex, classes_of_dex, kept_apk
from droidgate_phone.apps.jvm_shim.values import (
    Told,
    read_bundle,
    read_intent,
    read_message,
    tell_bundle,
    tell_intent,
    tell_message,
)
from droidgate_phone.intents import Intent

if TYPE_CHECKING:
    from collections.abc import Callable

    from droidgate_phone.app_api.behaviour import Activity, Context
    from droidgate_phone.app_api.platform import Platform
    from droidgate_phone.system.android_system import AndroidSystem
    from droidgate_phone.system.app_context import AppContext
    from droidgate_phone.system.package_records import InstalledPackage

_KEY: Final = "jvm"
_FUNCTION_SECONDS: Final = 600.0
_beginning = threading.RLock()


def process_of(context: Context) -> JvmProcess:
    """Return what stands for the context's process on the JVM, begun where it has not been."""
    # The main thread and Binder threads may be the first at the same time.
    with _beginning:
        statics = context.platform.statics
        found = statics.get(_KEY)
        if not isinstance(found, JvmProcess):
            found = statics[_KEY] = JvmProcess(shared_machine(), cast("AppContext", context))
        return found


class JvmProcess:
    """A process.

    Args:
        machine: The JVM.
        context: A context of the process.
    """

    def __init__(self, machine: Machine, context: AppContext) -> None:
        self._machine = machine
        self._context = context
        self._system: AndroidSystem = context.system
        self._lock = threading.Lock()
        self._bindings: dict[int, Binding] = {}
        self._notifications: dict[str, int] = {}
        self._windows: dict[str, Intent] = {}
        self._activities: dict[int, Activity] = {}
        self._starts: dict[tuple[str, int], Intent] = {}
        self._death_links: dict[int, Callable[[], None]] = {}
        self._broadcasts: dict[int, PendingBroadcast] = {}
        self._functions: dict[int, Callable[[FunctionOutcome], None]] = {}
        self._last = 0
        self._operations: Mapping[str, Callable[[Told], object]] = self._all_operations()
        package = self._package(context.package)
        dex = context.read_raw("classes.dex")
        if package is None or dex is None:
            raise AndroidError("java.lang.ClassNotFoundException", "the shim's APK has no classes.dex")
        try:
            check_dex(dex)
        except UsageError as refused:
            self._system.log.record("refused-code", package=package.name, reason=refused.message)
            raise AndroidError("java.lang.SecurityException", refused.message) from None
        self._number = machine.attach(self._system, self._take)
        self.call(
            "open",
            package=package.name,
            uid=package.uid,
            apk=str(kept_apk(_base_of(package))),
            classes=str(classes_of_dex(machine.parts, dex)),
            files=self._files(),
        )
        if context.process is not None:
            context.process.on_death(lambda: machine.detach(self._number))

    @property
    def _platform(self) -> Platform:
        return self._context.platform

    def call(self, operation: str, **told: object) -> Any:
        """Have the process do something on its main thread.

        Raises:
            AndroidError: what its code threw.
        """
        return self._machine.call(self._number, operation, told)

    def call_binder(self, operation: str, **told: object) -> Any:
        """Have the process do something on a Binder thread.

        Raises:
            AndroidError: what its code threw.
        """
        return self._machine.call(self._number, operation, told, binder=True)

    def _next(self) -> int:
        with self._lock:
            self._last += 1
            return self._last

    def begin_start(self, class_name: str, intent: Intent) -> int:
        """Return the number of a start, which the service acknowledges by it."""
        number = self._next()
        self._starts[class_name, number] = intent
        return number

    def add_activity(self, activity: Activity) -> int:
        """Return the number of an activity."""
        number = self._next()
        self._activities[number] = activity
        return number

    def remove_activity(self, number: int) -> None:
        """Forget an activity."""
        self._activities.pop(number, None)

    def add_broadcast(self, pending: PendingBroadcast) -> int:
        """Return the number of a broadcast whose result is told later."""
        number = self._next()
        self._broadcasts[number] = pending
        return number

    def add_function(self, on_outcome: Callable[[FunctionOutcome], None]) -> int:
        """Return the number of an execution whose outcome is told later."""
        number = self._next()
        self._functions[number] = on_outcome
        return number

    def certificates_of(self, name: str) -> list[str]:
        """Return the signing certificates of a package, whoever may see it, in hexadecimal."""
        package = self._package(name)
        return [] if package is None else _certificates(package, self._system.release.sdk)

    def _package(self, name: str) -> InstalledPackage | None:
        return self._system.packages.find(name)

    def _files(self) -> dict[str, str]:
        folder = f"/data/data/{self._context.package}/files"
        files = self._system.files
        if not files.exists(folder):
            return {}
        names = [one for one in files.list(folder) if stat.S_ISREG(files.stat(f"{folder}/{one}").mode)]
        return {name: base64.b64encode(files.read(f"{folder}/{name}")).decode() for name in names}

    def _take(self, operation: str, told: Told) -> object:
        return self._operations[operation](told)

    def _all_operations(self) -> Mapping[str, Callable[[Told], object]]:
        platform = self._platform
        return {
            "package": self._tell_package,
            "packages_of_uid": lambda told: list(platform.packages_of_uid(told["uid"])),
            "holds": lambda told: platform.holds(told["permission"], uid=told["uid"]),
            "is_locked": lambda _: platform.is_locked(),
            "is_battery_exempt": lambda _: platform.is_battery_exempt(),
            "may_draw_overlays": lambda _: platform.may_draw_overlays(),
            "may_notify": lambda _: platform.may_notify(),
            "start_service": self._start_service,
            "bind": self._bind,
            "unbind": self._unbind,
            "send_bound": self._send_bound,
            "create_messenger": self._create_messenger,
            "send_message": self._send_message,
            "ordered_broadcast": self._send_broadcast,
            "start_activity": self._start_activity,
            "create_pending": self._create_pending,
            "look_at_pending": self._look_at_pending,
            "link_to_death": self._link_to_death,
            "unlink_to_death": self._unlink_to_death,
            "start_foreground": lambda told: platform.start_foreground(told["class_name"]),
            "stop_foreground": lambda told: platform.stop_foreground(told["class_name"]),
            "request_permissions": self._request_permissions,
            "hide_overlays": self._hide_overlays,
            "connect_ui_automation": lambda told: platform.connect_ui_automation(told["flags"]),
            "adopt_shell_permissions": lambda told: platform.adopt_shell_permissions(*told["permissions"]),
            "drop_shell_permissions": lambda _: platform.drop_shell_permissions(),
            "send_pending": self._send_pending,
            "notify": self._notify,
            "cancel_notification": self._cancel_notification,
            "is_function_enabled": self._is_function_enabled,
            "execute_function": self._execute_function,
            "start_done": self._acknowledge,
            "finished": self._finish_activity,
            "finish_sub": lambda _: None,
            "received": self._finish_broadcast,
            "function_done": self._finish_function,
            "file": self._keep_file,
            "crash": self._crash,
        }

    def _tell_package(self, told: Told) -> Told | None:
        facts = self._platform.find_package(told["name"])
        package = self._package(told["name"])
        if facts is None or package is None:
            return None
        return {
            "name": facts.name,
            "uid": facts.uid,
            "label": facts.label,
            "version_code": facts.version_code,
            "updated": int(package.last_updated * 1000),
            "apk": str(kept_apk(_base_of(package))),
            "certificates": _certificates(package, self._system.release.sdk),
        }

    def _start_service(self, told: Told) -> str | None:
        name = self._context.start_service(read_intent(told["intent"]), foreground=told["foreground"])
        return None if name is None else name.flatten()

    def _bind(self, told: Told) -> bool:
        number = int(told["connection"])
        intent = read_intent(told["intent"])

        def tell(state: str) -> None:
            name = "" if intent.component is None else intent.component.flatten()
            self.call("connection", connection=number, component=name, state=state)

        connection = ServiceConnection(
            on_connected=lambda: tell("connected"),
            on_null_binding=lambda: tell("null"),
            on_disconnected=lambda: tell("disconnected"),
            flags=int(told["flags"]),
        )
        binding = self._platform.bind(intent, connection)
        if binding is not None:
            self._bindings[number] = binding
        return binding is not None

    def _unbind(self, told: Told) -> None:
        binding = self._bindings.pop(told["connection"], None)
        if binding is None:
            raise AndroidError("java.lang.IllegalArgumentException", "Service not registered")
        binding.unbind()

    def _send_bound(self, told: Told) -> None:
        binding = self._bindings.get(int(told["connection"]))
        if binding is None:
            raise AndroidError("android.os.DeadObjectException", "")
        binding.send(read_message(told["message"]))

    def _create_messenger(self, told: Told) -> str:
        return self._platform.create_messenger(lambda message: self.deliver(told["binder"], message))

    def deliver(self, binder: int, message: Message) -> None:
        """Hand a message to a Messenger of the process."""
        self.call("deliver", messenger=binder, message=tell_message(message), uid=message.sending_uid)

    def _send_message(self, told: Told) -> None:
        self._context.send_message(told["token"], read_message(told["message"]))

    def _send_broadcast(self, told: Told) -> None:
        intent = read_intent(told["intent"])

        def receive(result: BroadcastResult) -> None:
            self.call(
                "broadcast_result",
                receiver=told["receiver"],
                intent=tell_intent(intent),
                code=result.code,
                data=result.data,
                extras=tell_bundle(result.extras),
            )

        self._context.send_ordered_broadcast(intent, receive)

    def _start_activity(self, told: Told) -> None:
        intent = read_intent(told["intent"])
        asking = self._activities.get(told.get("activity", -1))
        request = int(told.get("request", -1))
        if asking is None or request < 0:
            (self._context if asking is None else asking.context).start_activity(intent)
            return

        def receive(result: ActivityResult) -> None:
            target = None if intent.component is None else self._package(intent.component.package)
            self.call(
                "activity_result",
                activity=told["activity"],
                request=request,
                code=result.code,
                data=None if result.data is None else tell_intent(result.data),
                uid=-1 if target is None else target.uid,
            )

        asking.context.start_activity(intent, receive)

    def _create_pending(self, told: Told) -> str:
        intent = read_intent(told["intent"])
        if told["kind"] == "activity":
            token = self._platform.create_activity_intent(intent)
            self._windows[token] = intent
            return token
        return self._context.create_pending_intent(
            lambda sent: self.call("pending_sent", intent=tell_intent(sent)), intent, mutable=told["mutable"]
        )

    def _look_at_pending(self, told: Told) -> Told | None:
        found = self._platform.look_at_pending_intent(told["token"])
        if found is None:
            return None
        return {
            "package": found.creator_package,
            "uid": found.creator_uid,
            "is_activity": found.is_activity,
            "is_immutable": found.is_immutable,
        }

    def _link_to_death(self, told: Told) -> None:
        number = int(told["recipient"])

        def tell() -> None:
            self._death_links.pop(number, None)
            self.call_binder("died", recipient=number)

        self._death_links[number] = self._platform.link_to_death(told["token"], tell)

    def _unlink_to_death(self, told: Told) -> None:
        unlink = self._death_links.pop(int(told["recipient"]), None)
        if unlink is not None:
            unlink()

    def _request_permissions(self, told: Told) -> None:
        activity = self._activities.get(told["activity"])
        if activity is not None:
            activity.context.platform.request_permissions(*told["permissions"])

    def _hide_overlays(self, told: Told) -> None:
        activity = self._activities.get(told["activity"])
        if activity is not None:
            activity.context.platform.hide_overlay_windows()

    def _send_pending(self, told: Told) -> None:
        self._context.send_pending_intent(told["token"], read_intent(told["intent"]))

    def _notify(self, told: Told) -> None:
        number = self._notifications.setdefault(told["key"], len(self._notifications) + 1)
        intent = self._windows.get(told.get("token") or "")
        notification = Notification(
            told["title"], told["text"], intent, cancel_on_tap=bool(told["cancel_on_tap"])
        )
        self._platform.notify(number, notification)

    def _cancel_notification(self, told: Told) -> None:
        number = self._notifications.get(told["key"])
        if number is not None:
            self._platform.cancel_notification(number)

    def _is_function_enabled(self, told: Told) -> bool | None:
        try:
            return self._platform.is_app_function_enabled(told["package"], told["function"])
        except AppFunctionError:
            return None

    def _execute_function(self, told: Told) -> None:
        def receive(outcome: FunctionOutcome) -> None:
            self.call("function_outcome", call=told["call"], **_tell_outcome(outcome))

        self._platform.execute_app_function(
            told["package"], told["function"], told["parameters"], receive, seconds=_FUNCTION_SECONDS
        )

    def _acknowledge(self, told: Told) -> None:
        """Let go of all starts up to the one that is told, as Android does."""
        name, last = told["class_name"], told["start"]
        for key in [one for one in list(self._starts) if one[0] == name and one[1] <= last]:
            intent = self._starts.pop(key)
            self._platform.post(lambda intent=intent: self._platform.acknowledge_start(name, intent))  # type: ignore[misc]

    def _finish_activity(self, told: Told) -> None:
        self.end_activity(told["result"])

    def end_activity(self, result: Told) -> None:
        """End an activity that has finished itself."""
        activity = self._activities.get(result["activity"])
        if activity is None:
            return
        data = result.get("data")
        activity.set_result(result["code"], None if data is None else read_intent(data))
        activity.context.platform.finish_activity()

    def _finish_broadcast(self, told: Told) -> None:
        pending = self._broadcasts.pop(told["receive"], None)
        if pending is not None:
            pending.finish(BroadcastResult(told["code"], told["data"], read_bundle(told["extras"])))

    def _finish_function(self, told: Told) -> None:
        on_outcome = self._functions.pop(told["call"], None)
        if on_outcome is None:
            return
        error = told.get("error")
        on_outcome(told["outcome"] if error is None else AppFunctionError(error["code"], error["message"]))

    def _keep_file(self, told: Told) -> None:
        self._context.files.write(told["name"], base64.b64decode(told["content"]))

    def _crash(self, told: Told) -> None:
        def die() -> None:
            raise AndroidError("java.lang.RuntimeException", told["text"])

        self._platform.post(die)


def _tell_outcome(outcome: FunctionOutcome) -> Told:
    if isinstance(outcome, AppFunctionError):
        return {"error": {"code": outcome.code, "message": outcome.message}}
    return {"outcome": dict(outcome)}


def _base_of(package: InstalledPackage) -> bytes:
    return next(iter(package.apks.values()))


def _certificates(package: InstalledPackage, sdk: int) -> list[str]:
    if package.apk is None:
        return []
    return [one.hex() for one in read_certificates(package.apk.archive, sdk)]
