"""A phone that is small enough to see through: it runs behaviours without any of Android's rules.

Resources come from the sample apps' source trees; answers are delivered at once, in the caller's thread.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from droidgate_android.projects.android_project import application_from_tree
from droidgate_phone.java.app_values import AndroidError, Message
from droidgate_phone.java.intents import Intent
from droidgate_phone.system.behaviour import Activity, App, AppFunctionService, Context, Service
from droidgate_shim.builder.sample_apps import sample_apps_directory

NOW = 1_771_065_000.0
"""14 February 2026, 10:30 UTC."""

MODULES = {
    "dev.droidgate.sample.clockin": "clock-in/app",
    "dev.droidgate.sample.notes": "notes/app",
    "dev.droidgate.sample.notes.legacy": "notes/legacy",
    "dev.droidgate.sample.pdftool": "pdf-tool/app",
    "dev.droidgate.sample.tally": "tally/app",
    "dev.droidgate.sample.weather": "weather/app",
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
    files: dict[str, Files] = field(default_factory=dict)
    messengers: dict[str, Callable[[Message], None]] = field(default_factory=dict)
    pending: dict[str, Callable[[Intent], None]] = field(default_factory=dict)

    def install(self, *apps: type[App]) -> None:
        for app in apps:
            self.apps[app.PACKAGE] = app

    def context(self, package: str) -> Context:
        return cast("Context", SmallContext(self, package))

    def service(self, package: str, name: str) -> Service:
        return self.apps[package].SERVICES[name](self.context(package))

    def activity(self, package: str, name: str) -> Activity:
        return self.apps[package].ACTIVITIES[name](self.context(package))

    def app_functions(self, package: str) -> AppFunctionService:
        (service,) = self.apps[package].APP_FUNCTION_SERVICES.values()
        return service(self.context(package))


@dataclass
class SmallContext:
    """What the phone offers to one app: the part of a `Context` with which it answers."""

    phone: SmallPhone
    package: str

    @property
    def files(self) -> Files:
        return self.phone.files.setdefault(self.package, Files())

    def read_xml_resource(self, reference: str) -> str | None:
        folder = sample_apps_directory() / MODULES[self.package] / "src/main/res/xml"
        path = folder / f"{reference.rpartition('/')[2]}.xml"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    def read_string_resource(self, reference: str) -> str | None:
        return reference.rpartition("/")[2]

    def read_meta_data(self, class_name: str, name: str) -> str | None:
        main = sample_apps_directory() / MODULES[self.package] / "src/main"
        paths = [path for path in main.rglob("*") if path.is_file() and "java" not in path.parts]
        files = {path.relative_to(main).as_posix(): path.read_bytes() for path in paths}
        application = application_from_tree(files)
        for component in application.components:
            meta_data = component.find_meta_data(name)
            if application.qualified_name(component) == class_name and meta_data is not None:
                return meta_data.value if isinstance(meta_data.value, str) else None
        return None

    def read_shared_file(self, path: str) -> bytes | None:
        return self.phone.shared.get(path)

    def write_shared_file(self, path: str, content: bytes) -> None:
        self.phone.shared[path] = content

    def now(self) -> float:
        return NOW

    def send_pending_intent(self, token: str, fill_in: Intent) -> None:
        if token not in self.phone.pending:
            raise AndroidError("android.app.PendingIntent$CanceledException", "")
        self.phone.pending[token](fill_in)

    def send_message(self, messenger: str, message: Message) -> None:
        if messenger not in self.phone.messengers:
            raise AndroidError("android.os.DeadObjectException", "")
        self.phone.messengers[messenger](message)
