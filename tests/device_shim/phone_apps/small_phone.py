"""A phone that is small enough to see through: it runs behaviours without any of Android's rules.

Resources come from the sample apps' source trees; calls are delivered at once, in the caller's thread.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

from droidgate.sources.android_project import application_from_tree
from droidgate_mappings.formats.application import Application
from droidgate_phone.apps.sample_apps import sample_apps_directory
from droidgate_phone.java.app_values import ActivityResult, AndroidError, BroadcastResult, Message
from droidgate_phone.java.intents import ComponentName, Intent
from droidgate_phone.system.behaviour import (
    Activity,
    App,
    AppFunctionService,
    Context,
    PendingBroadcast,
    Platform,
    Service,
)

NOW = 1_771_065_000.0
"""14 February 2026, 10:30 UTC."""

MODULES = {
    "dev.droidgate.sample.clockin": "clock-in/app",
    "dev.droidgate.sample.notes": "notes/app",
    "dev.droidgate.sample.notes.legacy": "notes/legacy",
    "dev.droidgate.sample.pdftool": "pdf-tool/app",
    "dev.droidgate.sample.tally": "tally/app",
    "dev.droidgate.sample.weather": "weather/app",
    "dev.droidgate.sample.agent": "agent/app",
}


class Files(dict[str, bytes]):
    """Files of an app, by name."""

    def read(self, name: str) -> bytes | None:
        return self.get(name)

    def write(self, name: str, content: bytes) -> None:
        self[name] = content


@dataclass
class SmallPhone:
    """Apps by package, with what survives their processes."""

    apps: dict[str, type[App]] = field(default_factory=dict)
    shared: dict[str, bytes] = field(default_factory=dict)
    now: float = NOW
    files: dict[str, Files] = field(default_factory=dict)
    uids: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    messengers: dict[str, Callable[[Message], None]] = field(default_factory=dict)
    pending: dict[str, Callable[[Intent], None]] = field(default_factory=dict)

    def install(self, *apps: type[App]) -> None:
        for app in apps:
            self.apps[app.PACKAGE] = app

    def context(self, package: str) -> "SmallContext":
        return SmallContext(self, package)

    def service(self, package: str, name: str) -> Service:
        return self.apps[package].SERVICES[name](self.context(package))

    def activity(self, package: str, name: str) -> Activity:
        return self.apps[package].ACTIVITIES[name](self.context(package))

    def app_functions(self, package: str) -> AppFunctionService:
        (service,) = self.apps[package].APP_FUNCTION_SERVICES.values()
        return service(self.context(package))

    def new_token(self) -> str:
        return f"token {next(self.uids)}"


def application_of(package: str) -> Application:
    main = sample_apps_directory() / MODULES[package] / "src/main"
    names = [path for path in main.rglob("*") if path.is_file() and "java" not in path.parts]
    return application_from_tree({path.relative_to(main).as_posix(): path.read_bytes() for path in names})


@dataclass
class SmallContext:
    """What the phone offers to one app; a `Context`."""

    phone: SmallPhone
    package: str

    @property
    def files(self) -> Files:
        return self.phone.files.setdefault(self.package, Files())

    @property
    def platform(self) -> Platform:
        raise NotImplementedError

    def read_xml_resource(self, reference: str) -> str | None:
        folder = sample_apps_directory() / MODULES[self.package] / "src/main/res/xml"
        path = folder / f"{reference.rpartition('/')[2]}.xml"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def read_string_resource(self, reference: str) -> str | None:
        return reference.rpartition("/")[2]

    def read_meta_data(self, class_name: str, name: str) -> str | None:
        application = application_of(self.package)
        for component in application.components:
            found = component.find_meta_data(name)
            if application.qualified_name(component) == class_name and found is not None:
                return found.value if isinstance(found.value, str) else None
        return None

    def read_raw(self, path: str) -> bytes | None:
        del path
        return None

    def read_shared_file(self, path: str) -> bytes | None:
        return self.phone.shared.get(path)

    def write_shared_file(self, path: str, content: bytes) -> None:
        self.phone.shared[path] = content

    def now(self) -> float:
        return self.phone.now

    def start_service(self, intent: Intent, *, foreground: bool = False) -> ComponentName | None:
        del foreground
        component = intent.component
        if component is None or component.class_name not in self.phone.apps[component.package].SERVICES:
            return None
        self.phone.service(component.package, component.class_name).on_start_command(intent)
        return component

    def bind_service(
        self,
        intent: Intent,
        on_message: Callable[[Message], None],
        on_disconnected: Callable[[], None] | None = None,
        *,
        flags: int = 0,
    ) -> "SmallBinding | None":
        del on_disconnected, flags
        assert intent.component is not None
        handle = self.phone.service(intent.component.package, intent.component.class_name).on_bind(intent)
        token = self.phone.new_token()
        self.phone.messengers[token] = on_message
        return None if handle is None else SmallBinding(handle, token)

    def start_activity(
        self, intent: Intent, on_result: Callable[[ActivityResult], None] | None = None
    ) -> None:
        assert intent.component is not None
        activity = self.phone.activity(intent.component.package, intent.component.class_name)
        activity.on_create(intent)
        if on_result is not None and activity.finished:
            on_result(activity.result)

    def send_ordered_broadcast(self, intent: Intent, on_result: Callable[[BroadcastResult], None]) -> None:
        assert intent.component is not None
        app = self.phone.apps[intent.component.package]
        context = self.phone.context(intent.component.package)
        before = BroadcastResult()
        found = app.RECEIVERS[intent.component.class_name](context).on_receive(intent, before)
        assert not isinstance(found, PendingBroadcast)
        on_result(found if found is not None else before)

    def create_pending_intent(
        self, on_sent: Callable[[Intent], None], base: Intent | None = None, *, mutable: bool = True
    ) -> str:
        del base, mutable
        token = self.phone.new_token()
        self.phone.pending[token] = on_sent
        return token

    def send_pending_intent(self, token: str, fill_in: Intent) -> None:
        if token not in self.phone.pending:
            raise AndroidError("android.app.PendingIntent$CanceledException", "")
        self.phone.pending[token](fill_in)

    def send_message(self, messenger: str, message: Message) -> None:
        if messenger not in self.phone.messengers:
            raise AndroidError("android.os.DeadObjectException", "")
        self.phone.messengers[messenger](message)

    def query_services(self, intent: Intent) -> list[ComponentName]:
        return self._query(intent, "service")

    def query_activities(self, intent: Intent) -> list[ComponentName]:
        return self._query(intent, "activity")

    def query_receivers(self, intent: Intent) -> list[ComponentName]:
        return self._query(intent, "receiver")

    def _query(self, intent: Intent, kind: str) -> list[ComponentName]:
        packages = [package for package in self.phone.apps if package in MODULES]
        applications = [(package, application_of(package)) for package in packages]
        return [
            ComponentName(package, application.qualified_name(component))
            for package, application in applications
            for component in application.components
            if component.kind == kind and component.has_action(intent.action or "")
        ]


@dataclass
class SmallBinding:
    """A bound service."""

    handle: Callable[[Message], None]
    reply_to: str

    def send(self, message: Message) -> None:
        to = message.reply_to or self.reply_to
        self.handle(Message(message.what, message.data, to, sending_uid=10_100))

    def unbind(self) -> None:
        """Nothing is kept."""


def _is_a_context(context: SmallContext) -> Context:
    return context
