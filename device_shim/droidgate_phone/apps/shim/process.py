"""One process of a shim: the core, and what carries out the engine's effects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_mappings.values.failures import Failure
from droidgate_phone.app_api.behaviour import Context
from droidgate_phone.apps.shim.bindings import Bindings
from droidgate_phone.apps.shim.consent import ConsentDesk
from droidgate_phone.apps.shim.core import Core, Receipt
from droidgate_phone.apps.shim.discovery import Discoveries
from droidgate_phone.apps.shim.function_calls import execute_function
from droidgate_phone.apps.shim.outgoing import broadcast
from droidgate_phone.apps.shim.screen import ScreenCalls
from droidgate_phone.apps.shim.shell_identity import ShellIdentity
from droidgate_phone.intents import Bundle, ComponentName
from droidgate_shim.engine.backends import ExtrasCall, FunctionCall
from droidgate_shim.engine.engine import Ask, Send
from droidgate_shim.engine.routes import CapabilityBackend, FunctionBackend

_STATIC: Final = "dev.droidgate.shim.Core"


class ShimProcess(Core):
    """A process of a shim.

    Attributes:
        desk: Asks the user.
        screen: Calls that need the screen.
        bindings: Calls of services.
        discoveries: What receivers declared.
        host_calls: The computer's open calls, by the ids that it gave them.
        shell_identity: The borrowed right to call app functions.
    """

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.desk = ConsentDesk(self)
        self.screen = ScreenCalls(self)
        self.bindings = Bindings(self)
        self.discoveries = Discoveries(self)
        self.host_calls: dict[str, Receipt] = {}
        self.shell_identity = ShellIdentity(self.platform)

    def ask_user(self, ask: Ask, receipt: Receipt) -> Failure | None:
        """Ask the user about a call."""
        return self.desk.ask(ask, receipt)

    def discover(self, component: ComponentName, then: Callable[[], None]) -> None:
        """Ask a receiver for its tools."""
        self.discoveries.ask(component, lambda _: then())

    def send(self, send: Send, receipt: Receipt) -> None:
        """Bring a call to its backend, in the backend's way."""
        backend, outgoing = send.backend, send.outgoing
        if isinstance(backend, FunctionBackend) and isinstance(outgoing, FunctionCall):
            execute_function(self, self.shell_identity, send, backend, outgoing, receipt)
            return
        if isinstance(backend, FunctionBackend) or not isinstance(outgoing, ExtrasCall):
            self.fail(send.call, "unavailable", "the route and its call do not belong together")
            return
        component = ComponentName.parse(backend.component)
        if component is None:
            self.fail(send.call, "unavailable", "the route names no component")
            return
        extras = Bundle.of_strings({**outgoing.extras, **receipt.origin.extras()})
        if isinstance(backend, CapabilityBackend):
            self.bindings.call(send, component, extras, receipt)
        elif backend.kind == "mmcp-activity":
            self.screen.call(send, component, extras, receipt)
        else:
            broadcast(self, send, component, extras, receipt)


def core_of(context: Context) -> ShimProcess:
    """Return the core of a component's process, made when it is first needed."""
    statics = context.platform.statics
    found = statics.get(_STATIC)
    if not isinstance(found, ShimProcess):
        found = statics[_STATIC] = ShimProcess(context)
    return found
