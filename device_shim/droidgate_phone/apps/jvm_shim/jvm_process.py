"""One process of a shim on the JVM: what its Java code asks of Android is asked of the phone, in its name."""

from __future__ import annotations

import base64
import stat
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from droidgate_android.apk.signatures import read_signature
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.apps.jvm_shim.jvm_machine import Machine, shared_machine
from droidgate_phone.apps.jvm_shim.jvm_parts import check_dex, classes_of_dex, kept_apk
from droidgate_phone.apps.jvm_shim.jvm_values import (
    WireFields,
    read_bundle,
    read_intent,
    read_message,
    write_bundle,
    write_intent,
    write_message,
)
from droidgate_phone.java.app_values import (
    ActivityResult,
    AndroidError,
    AppFunctionError,
    Binding,
    BroadcastResult,
    FunctionOutcome,
    Message,
    Notification,
    ServiceConnection,
)
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import PendingBroadcast

if TYPE_CHECKING:
    from collections.abc import Callable

    from droidgate_phone.system.android_system import AndroidSystem
    from droidgate_phone.system.app_context import AppContext
    from droidgate_phone.system.behaviour import Activity, Context, Platform
    from droidgate_phone.system.package_records import InstalledPackage

_KEY: Final = "jvm"
_beginning = threading.RLock()


def process_of(context: Context) -> JvmProcess:
    """Return the counterpart of the context's process on the JVM, begun where it has not been."""
    # The main thread and Binder threads may be the first at the same time.
    with _beginning:
        statics = context.platform.statics
        process = statics.get(_KEY)
        if not isinstance(process, JvmProcess):
            app = cast("AppContext", context)
            process = statics[_KEY] = JvmProcess(shared_machine(app.system.release.sdk), app)
        return process


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
        self._cancels: dict[int, Callable[[], None]] = {}
        self._last = 0
        self._operations: Mapping[str, Callable[[WireFields], object]] = self._all_operations()
        package = self._package(context.package)
        dex = context.read_raw("classes.dex")
        if package is None or dex is None:
            raise AndroidError("java.lang.ClassNotFoundException", "the APK has no classes.dex")
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

    def call(self, operation: str, **fields: object) -> Any:
        """Run an operation on the process's main thread.

        Raises:
            AndroidError: what its code threw.
        """
        return self._machine.call(self._number, operation, fields)

    def call_binder(self, operation: str, **fields: object) -> Any:
        """Run an operation on a Binder thread of the process.

        Raises:
            AndroidError: what its code threw.
        """
        return self._machine.call(self._number, operation, fields, binder=True)

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
        """Return the number of a broadcast whose result comes later."""
        number = self._next()
        self._broadcasts[number] = pending
        return number

    def add_function(self, on_outcome: Callable[[FunctionOutcome], None]) -> int:
        """Return the number of an execution whose outcome comes later."""
        number = self._next()
        self._functions[number] = on_outcome
        return number

    def certificates_of(self, name: str) -> list[str]:
        """Return the signing certificates of a package, visible to the asking app or not, in hexadecimal."""
        package = self._package(name)
        return [] if package is None else _certificates(package, self._system.release.sdk)

    def _package(self, name: str) -> InstalledPackage | None:
        return self._system.packages.find(name)

    def _files(self) -> dict[str, str]:
        folder = f"/data/data/{self._context.package}/files"
        files = self._system.files
        if not files.exists(folder):
            return {}
        names = [item for item in files.list(folder) if stat.S_ISREG(files.stat(f"{folder}/{item}").mode)]
        return {name: base64.b64encode(files.read(f"{folder}/{name}")).decode() for name in names}

    def _take(self, operation: str, fields: WireFields) -> object:
        return self._operations[operation](fields)

    def _all_operations(self) -> Mapping[str, Callable[[WireFields], object]]:
        platform = self._platform
        return {
            "package": self._describe_package,
            "packages_of_uid": lambda fields: list(platform.packages_of_uid(fields["uid"])),
            "holds": lambda fields: platform.holds(fields["permission"], uid=fields["uid"]),
            "is_locked": lambda _: platform.is_locked(),
            "is_keyguard_shown": lambda _: platform.is_keyguard_shown(),
            "is_interactive": lambda _: platform.is_interactive(),
            "is_battery_exempt": lambda _: platform.is_battery_exempt(),
            "may_draw_overlays": lambda _: platform.may_draw_overlays(),
            "may_notify": lambda _: platform.may_notify(),
            "query": self._query,
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
            "start_foreground": lambda fields: platform.start_foreground(fields["class_name"]),
            "stop_foreground": lambda fields: platform.stop_foreground(fields["class_name"]),
            "request_permissions": self._request_permissions,
            "hide_overlays": self._hide_overlays,
            "connect_ui_automation": lambda fields: platform.connect_ui_automation(fields["flags"]),
            "adopt_shell_permissions": lambda fields: platform.adopt_shell_permissions(
                *fields["permissions"]
            ),
            "drop_shell_permissions": lambda _: platform.drop_shell_permissions(),
            "send_pending": self._send_pending,
            "notify": self._notify,
            "cancel_notification": self._cancel_notification,
            "cancel_notifications": lambda _: platform.cancel_notifications(),
            "is_function_enabled": self._is_function_enabled,
            "execute_function": self._execute_function,
            "cancel_function": self._cancel_function,
            "start_done": self._acknowledge,
            "finished": self._finish_activity,
            "received": self._finish_broadcast,
            "function_done": self._finish_function,
            "file": self._keep_file,
            "crash": self._crash,
        }

    def _describe_package(self, fields: WireFields) -> WireFields | None:
        facts = self._platform.find_package(fields["name"])
        package = self._package(fields["name"])
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

    def _query(self, fields: WireFields) -> list[str]:
        context = self._context
        queries = {
            "service": context.query_services,
            "activity": context.query_activities,
            "receiver": context.query_receivers,
        }
        return [item.flatten() for item in queries[fields["kind"]](Intent(fields["action"]))]

    def _start_service(self, fields: WireFields) -> str | None:
        name = self._context.start_service(read_intent(fields["intent"]), foreground=fields["foreground"])
        return None if name is None else name.flatten()

    def _bind(self, fields: WireFields) -> bool:
        number = int(fields["connection"])
        intent = read_intent(fields["intent"])

        def report(state: str) -> None:
            name = "" if intent.component is None else intent.component.flatten()
            self.call("connection", connection=number, component=name, state=state)

        connection = ServiceConnection(
            on_connected=lambda: report("connected"),
            on_null_binding=lambda: report("null"),
            on_disconnected=lambda: report("disconnected"),
            flags=int(fields["flags"]),
        )
        binding = self._platform.bind(intent, connection)
        if binding is not None:
            self._bindings[number] = binding
        return binding is not None

    def _unbind(self, fields: WireFields) -> None:
        binding = self._bindings.pop(fields["connection"], None)
        if binding is None:
            raise AndroidError("java.lang.IllegalArgumentException", "Service not registered")
        binding.unbind()

    def _send_bound(self, fields: WireFields) -> None:
        binding = self._bindings.get(int(fields["connection"]))
        if binding is None:
            raise AndroidError("android.os.DeadObjectException", "")
        binding.send(read_message(fields["message"]))

    def _create_messenger(self, fields: WireFields) -> str:
        return self._platform.create_messenger(lambda message: self.deliver(fields["binder"], message))

    def deliver(self, binder: int, message: Message) -> None:
        """Hand a message to a Messenger of the process."""
        self.call("deliver", messenger=binder, message=write_message(message), uid=message.sending_uid)

    def _send_message(self, fields: WireFields) -> None:
        self._context.send_message(fields["token"], read_message(fields["message"]))

    def _send_broadcast(self, fields: WireFields) -> None:
        intent = read_intent(fields["intent"])

        def receive(result: BroadcastResult) -> None:
            self.call(
                "broadcast_result",
                receiver=fields["receiver"],
                intent=write_intent(intent),
                code=result.code,
                data=result.data,
                extras=write_bundle(result.extras),
            )

        self._context.send_ordered_broadcast(intent, receive)

    def _start_activity(self, fields: WireFields) -> None:
        intent = read_intent(fields["intent"])
        asking = self._activities.get(fields.get("activity", -1))
        request = int(fields.get("request", -1))
        if asking is None or request < 0:
            (self._context if asking is None else asking.context).start_activity(intent)
            return

        def receive(result: ActivityResult) -> None:
            target = None if intent.component is None else self._package(intent.component.package)
            self.call(
                "activity_result",
                activity=fields["activity"],
                request=request,
                code=result.code,
                data=None if result.data is None else write_intent(result.data),
                uid=-1 if target is None else target.uid,
            )

        asking.context.start_activity(intent, receive)

    def _create_pending(self, fields: WireFields) -> str:
        intent = read_intent(fields["intent"])
        if fields["kind"] == "activity":
            token = self._platform.create_activity_intent(intent)
            self._windows[token] = intent
            return token
        return self._context.create_pending_intent(
            lambda sent: self.call("pending_sent", intent=write_intent(sent)),
            intent,
            mutable=fields["mutable"],
        )

    def _look_at_pending(self, fields: WireFields) -> WireFields | None:
        pending_intent = self._platform.look_at_pending_intent(fields["token"])
        if pending_intent is None:
            return None
        return {
            "package": pending_intent.creator_package,
            "uid": pending_intent.creator_uid,
            "is_activity": pending_intent.is_activity,
            "is_immutable": pending_intent.is_immutable,
        }

    def _link_to_death(self, fields: WireFields) -> None:
        number = int(fields["recipient"])

        def report() -> None:
            self._death_links.pop(number, None)
            self.call_binder("died", recipient=number)

        self._death_links[number] = self._platform.link_to_death(fields["token"], report)

    def _unlink_to_death(self, fields: WireFields) -> None:
        unlink = self._death_links.pop(int(fields["recipient"]), None)
        if unlink is not None:
            unlink()

    def _request_permissions(self, fields: WireFields) -> None:
        activity = self._activities.get(fields["activity"])
        if activity is not None:
            activity.context.platform.request_permissions(*fields["permissions"])

    def _hide_overlays(self, fields: WireFields) -> None:
        activity = self._activities.get(fields["activity"])
        if activity is not None:
            activity.context.platform.hide_overlay_windows()

    def _send_pending(self, fields: WireFields) -> None:
        self._context.send_pending_intent(fields["token"], read_intent(fields["intent"]))

    def _notify(self, fields: WireFields) -> None:
        number = self._notifications.setdefault(fields["key"], len(self._notifications) + 1)
        intent = self._windows.get(fields.get("token") or "")
        notification = Notification(
            fields["title"], fields["text"], intent, cancel_on_tap=bool(fields["cancel_on_tap"])
        )
        self._platform.notify(number, notification)

    def _cancel_notification(self, fields: WireFields) -> None:
        number = self._notifications.get(fields["key"])
        if number is not None:
            self._platform.cancel_notification(number)

    def _is_function_enabled(self, fields: WireFields) -> bool | None:
        try:
            return self._platform.is_app_function_enabled(fields["package"], fields["function"])
        except AppFunctionError:
            return None

    def _execute_function(self, fields: WireFields) -> None:
        def receive(outcome: FunctionOutcome) -> None:
            self._cancels.pop(fields["call"], None)
            self.call("function_outcome", call=fields["call"], **_write_outcome(outcome))

        self._cancels[fields["call"]] = self._platform.execute_app_function(
            fields["package"], fields["function"], fields["parameters"], receive
        )

    def _cancel_function(self, fields: WireFields) -> None:
        cancel = self._cancels.pop(fields["call"], None)
        if cancel is not None:
            cancel()

    def _acknowledge(self, fields: WireFields) -> None:
        """Let go of all starts up to the given one, as Android does."""
        name, last = fields["class_name"], fields["start"]
        for key in [start for start in list(self._starts) if start[0] == name and start[1] <= last]:
            intent = self._starts.pop(key)
            self._platform.post(lambda intent=intent: self._platform.acknowledge_start(name, intent))  # type: ignore[misc]

    def _finish_activity(self, fields: WireFields) -> None:
        self.end_activity(fields["result"])

    def end_activity(self, result: WireFields) -> None:
        """End an activity that has finished itself."""
        activity = self._activities.get(result["activity"])
        if activity is None:
            return
        data = result.get("data")
        activity.set_result(result["code"], None if data is None else read_intent(data))
        activity.context.platform.finish_activity()

    def _finish_broadcast(self, fields: WireFields) -> None:
        pending = self._broadcasts.pop(fields["receive"], None)
        if pending is not None:
            pending.finish(BroadcastResult(fields["code"], fields["data"], read_bundle(fields["extras"])))

    def _finish_function(self, fields: WireFields) -> None:
        on_outcome = self._functions.pop(fields["call"], None)
        if on_outcome is None:
            return
        error = fields.get("error")
        on_outcome(fields["outcome"] if error is None else AppFunctionError(error["code"], error["message"]))

    def _keep_file(self, fields: WireFields) -> None:
        self._context.files.write(fields["name"], base64.b64decode(fields["content"]))

    def _crash(self, fields: WireFields) -> None:
        def die() -> None:
            raise AndroidError("java.lang.RuntimeException", fields["text"])

        self._platform.post(die)


def _write_outcome(outcome: FunctionOutcome) -> WireFields:
    if isinstance(outcome, AppFunctionError):
        return {"error": {"code": outcome.code, "message": outcome.message}}
    return {"outcome": dict(outcome)}


def _base_of(package: InstalledPackage) -> bytes:
    return next(iter(package.apks.values()))


def _certificates(package: InstalledPackage, sdk: int) -> list[str]:
    if package.apk is None:
        return []
    return [certificate.hex() for certificate in read_signature(package.apk.archive, sdk).certificates]
