"""The components of a shim and of the agent, each of which hands what it is asked to its Java class."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, TypeVar

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.agent import AgentApp
from droidgate_phone.apps.jvm_shim.jvm_process import process_of
from droidgate_phone.apps.jvm_shim.jvm_values import read_bundle, read_view, write_bundle, write_intent
from droidgate_phone.java.app_values import (
    AndroidError,
    AppFunctionError,
    BroadcastResult,
    CallingPackage,
    CancellationSignal,
    Message,
    View,
)
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.java.uris import Uri
from droidgate_phone.system.behaviour import (
    Activity,
    App,
    AppFunctionService,
    ContentProvider,
    Instrumentation,
    PendingBroadcast,
    Receiver,
    Service,
)

_PACKAGE: Final = "dev.droidgate.shim"
_NOT_FOUND: Final = "java.io.FileNotFoundException"
_Class = TypeVar("_Class")


class JvmService(Service):
    """A service, which goes to the foreground itself."""

    CLASS: ClassVar[str]
    CALLS_START_FOREGROUND = False

    def on_start_command(self, intent: Intent) -> int | None:
        """Hand a start on."""
        process = process_of(self.context)
        start = process.begin_start(self.CLASS, intent)
        outcome: int = process.call(
            "service_start", class_name=self.CLASS, intent=write_intent(intent), flags=0, start=start
        )
        return outcome

    def on_bind(self, intent: Intent) -> Callable[[Message], None] | None:
        """Return what hands messages to the Java service's Messenger."""
        process = process_of(self.context)
        binder = process.call("service_bind", class_name=self.CLASS, intent=write_intent(intent))
        return None if binder is None else lambda message: process.deliver(binder, message)

    def on_destroy(self) -> None:
        """Report the end."""
        process_of(self.context).call("service_destroy", class_name=self.CLASS)


class ShellIdentityInstrumentation(Instrumentation):
    """The instrumentation that adb runs so that the shim can borrow the shell's permissions."""

    CLASS: ClassVar[str]

    def on_start(self, arguments: Mapping[str, str]) -> None:
        """Hand the start on."""
        del arguments
        process_of(self.context).call("instrument", class_name=self.CLASS)


class JvmActivity(Activity):
    """An activity that shows nothing."""

    CLASS: ClassVar[str]
    number = 0

    def on_create(self, intent: Intent) -> None:
        """Begin it; it may end at once."""
        process = process_of(self.context)
        self.number = process.add_activity(self)
        ended = process.call(
            "activity_create", class_name=self.CLASS, activity=self.number, intent=write_intent(intent)
        )
        if ended is not None:
            process.end_activity(ended)

    def on_destroy(self) -> None:
        """Report the end."""
        process = process_of(self.context)
        process.remove_activity(self.number)
        process.call("activity_close", activity=self.number)


class JvmScreen(JvmActivity):
    """An activity that shows views."""

    def view(self) -> View | None:
        """Return its current views."""
        fields = process_of(self.context).call("activity_view", activity=self.number)
        return View("column") if fields is None else read_view(fields)

    def on_stop(self) -> None:
        """Report that nothing of it is seen."""
        process_of(self.context).call("activity_stop", activity=self.number)

    def on_click(self, view_id: str) -> None:
        """Tap a view."""
        process = process_of(self.context)
        process.call("activity_click", activity=self.number, view=view_id, flags=self.touch_flags)


class MmcpReceiver(Receiver):
    """mMCP by ordered broadcast."""

    CLASS: ClassVar[str]

    def on_receive(
        self, intent: Intent, current: BroadcastResult
    ) -> BroadcastResult | PendingBroadcast | None:
        """Hand a broadcast on; its result comes later."""
        process = process_of(self.context)
        pending = PendingBroadcast(self.context.platform.signal())
        process.call(
            "broadcast",
            class_name=self.CLASS,
            intent=write_intent(intent),
            receive=process.add_broadcast(pending),
            code=current.code,
            data=current.data,
            extras=write_bundle(current.extras),
        )
        return pending


class HostProvider(ContentProvider):
    """The host's entrance; runs on Binder threads."""

    CLASS: ClassVar[str]
    AUTHORITY = "host"

    def call(self, method: str, argument: str | None, caller_uid: int) -> Bundle | None:
        """Hand a call on."""
        answer = process_of(self.context).call_binder(
            "provider_call",
            **self._call_fields(caller_uid),
            method=method,
            argument=argument,
        )
        return None if answer is None else read_bundle(answer)

    def open_for_reading(self, uri: str, caller_uid: int) -> bytes | None:
        """Return the content of the file that is opened."""
        content = self._open(uri, None, caller_uid)
        return None if content is None else base64.b64decode(str(content))

    def open_for_writing(self, uri: str, content: bytes, caller_uid: int) -> bool:
        """Write to the file that is opened."""
        return self._open(uri, base64.b64encode(content).decode(), caller_uid) is not None

    def _open(self, uri: str, content: str | None, caller_uid: int) -> object:
        try:
            answer: object = process_of(self.context).call_binder(
                "provider_open", **self._call_fields(caller_uid, Uri(uri).provider), uri=uri, content=content
            )
        except AndroidError as error:
            if error.exception == _NOT_FOUND:
                return None
            raise
        return answer

    def _call_fields(self, caller_uid: int, authority: str | None = None) -> dict[str, object]:
        name = authority or f"{self.context.package}.{self.AUTHORITY}"
        return {"class_name": self.CLASS, "authority": name, "uid": caller_uid}


class FunctionService(AppFunctionService):
    """The shim's routes as app functions."""

    CLASS: ClassVar[str]

    def on_execute_later(
        self,
        function_id: str,
        parameters: Mapping[str, Json],
        calling_package: CallingPackage,
        signal: CancellationSignal,
        on_outcome: Callable[[Mapping[str, Json] | AppFunctionError], None],
    ) -> None:
        """Hand an execution on; its outcome comes later."""
        process = process_of(self.context)
        number = process.call(
            "function",
            class_name=self.CLASS,
            function=function_id,
            parameters=dict(parameters),
            caller=calling_package.name,
            certificates=process.certificates_of(calling_package.name),
            call=process.add_function(on_outcome),
        )
        signal.set_on_cancel_listener(lambda: process.call("function_cancel", signal=number))


class ComputerProvider(HostProvider):
    """The agent's entrance for a computer."""

    AUTHORITY = "computer"


def _classes(*bases: tuple[type[_Class], str], package: str = _PACKAGE) -> dict[str, type[_Class]]:
    """Return a class for each Java class: the base that hands on what it is asked, with its name."""
    bases_by_name = {f"{package}.{name}": base for base, name in bases}
    return {name: type(name, (base,), {"CLASS": name}) for name, base in bases_by_name.items()}


class JvmShimApp(App):
    """Behaviour of every shim whose Java classes run."""

    PACKAGE = _PACKAGE
    SERVICES = _classes((JvmService, "frontends.ToolService"), (JvmService, "backends.ShellIdentityService"))
    ACTIVITIES = _classes(
        (JvmActivity, "backends.TrampolineActivity"),
        (JvmActivity, "frontends.MmcpActivity"),
        (JvmScreen, "consent.ConsentActivity"),
        (JvmScreen, "consent.ManageActivity"),
    )
    RECEIVERS = _classes((MmcpReceiver, "frontends.MmcpReceiver"))
    PROVIDERS = _classes((HostProvider, "host.HostProvider"))
    APP_FUNCTION_SERVICES = _classes((FunctionService, "frontends.FunctionService"))
    INSTRUMENTATIONS = _classes((ShellIdentityInstrumentation, "backends.ShellIdentityInstrumentation"))


class JvmAgentApp(App):
    """Behaviour of every agent app whose Java classes run."""

    PACKAGE = AgentApp.PACKAGE
    ACTIVITIES = _classes((JvmScreen, "MainActivity"), (JvmActivity, "CallActivity"), package=PACKAGE)
    PROVIDERS = _classes((ComputerProvider, "ComputerProvider"), package=PACKAGE)
    INSTRUMENTATIONS = _classes(
        (ShellIdentityInstrumentation, "ShellIdentityInstrumentation"), package=PACKAGE
    )
