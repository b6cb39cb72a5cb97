"""What the shim gives to those who carry calls to apps, and to those who ask the user (shim.md 5).

Everything here runs on the main thread.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import Failure
from droidgate_phone.apps.shim.caller_grants import Caller, Grants
from droidgate_phone.apps.shim.installed_targets import Installed
from droidgate_phone.system.behaviour import Context
from droidgate_shim.engine.authority import Carrier
from droidgate_shim.engine.backends import BackendAnswer
from droidgate_shim.engine.engine import Send
from droidgate_shim.engine.routes import RouteTable

Deliver = Callable[[Mapping[str, str], str | None], None]
"""Takes an answer's extras and the failure's token, None for a success."""


@dataclass(slots=True, eq=False)
class Reply:
    """One request that came in, and where its answer goes; the engine's `reply_to`.

    Attributes:
        carrier: How it came.
        caller: Its caller.
        capability: What it asks for; empty where that cannot be read.
        began: When it came, in seconds.
        deliver: Takes its answer.
        call: The engine's call, once it is open.
        stage: How far it has come: `waiting`, `window` (the window that calls its app is not open) or `app`.
        trace: What went to the app and came from it (shim.md 7); None where no trace is requested.
        is_answered: Its answer has gone.
        on_end: What runs after its answer.
    """

    carrier: Carrier
    caller: Caller
    capability: str
    began: float
    deliver: Deliver
    call: int | None = None
    stage: str = "waiting"
    trace: dict[str, Json] | None = None
    is_answered: bool = False
    on_end: list[Callable[[], None]] = field(default_factory=list)


class CallControl(ABC):
    """The shim, as those who carry its calls see it.

    Attributes:
        context: Its context.
        platform: What Android gives it.
        table: The routes.
        grants: What the user granted and switched off.
        installed: What is installed of the apps behind it.
    """

    table: RouteTable
    grants: Grants
    installed: Installed

    def __init__(self, context: Context) -> None:
        self.context = context
        self.platform = context.platform

    def now(self) -> int:
        """Return the phone's time in ms."""
        return round(self.context.now() * 1000)

    @abstractmethod
    def may_leave(self, send: Send, reply: Reply) -> bool:
        """Check a call for the last time, just before it leaves this app; end one that may not."""

    @abstractmethod
    def answered(self, call: int, answer: BackendAnswer) -> None:
        """Take a backend's answer, which changes nothing if it is late."""

    @abstractmethod
    def fail(self, call: int, failure: Failure) -> None:
        """End a call that could not be brought to its backend."""

    @abstractmethod
    def decided(self, reply: Reply, refusal: Failure | None) -> None:
        """Take the user's decision about a call, as `Engine.decided` does."""
