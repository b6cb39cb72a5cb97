"""Talking to the agent app over adb: its provider takes calls, and returns what came back as events.

Argument and answer of each method are one base64url token, as those of shims (reference android-runtime 1.8).
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from droidgate.devices.activities import intent_arguments, start_activity
from droidgate.devices.content import ProviderError, call_provider
from droidgate.devices.device import Device
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.shims.host_messages import LONG_ARGUMENT_CHARACTERS, VERSION, read_answer, write_argument
from droidgate_mappings.model.errors import DeviceError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass

FIRST_AGENT: Final = "dev.droidgate.agent"
SECOND_AGENT: Final = "dev.droidgate.agent.second"
AGENTS: Final = (FIRST_AGENT, SECOND_AGENT)
"""Application ids of the agent: Android distinguishes two callers."""

CALL_ACTIVITY: Final = "dev.droidgate.sample.agent.CallActivity"
Transport = Literal["bind", "start", "start-foreground", "activity", "broadcast"]
"""How a component is reached: a bound service, a started one, an activity for its result, an ordered
broadcast.
"""

_NEW_INSTANCE: Final = ("-f", "0x18000000")
"""FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_MULTIPLE_TASK: an activity of its own for each call."""
_PAUSE_SECONDS: Final = 0.05
_SECONDS: Final = 30.0
_NEWEST: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """Something that happened to the agent.

    Attributes:
        number: Its place in the log, from 1 on.
        at_ms: When, by the phone's clock.
        kind: `sent`, `refused`, `connected`, `null-binding`, `disconnected`, `message`, `callback`,
            `broadcast-result`, `activity-result`, `cancelled`, `function-result` or `function-error`.
        fields: Everything else, as the agent wrote it.
    """

    number: int
    at_ms: int
    kind: str
    fields: Mapping[str, Json]

    @property
    def call(self) -> str | None:
        """The call that it belongs to, where Android's interfaces say so."""
        return self._text("call")

    @property
    def component(self) -> str | None:
        """The bound service that it came from."""
        return self._text("component")

    def _text(self, name: str) -> str | None:
        value = self.fields.get(name)
        return value if isinstance(value, str) else None

    @property
    def extras(self) -> Mapping[str, Mapping[str, Json]]:
        """Values by key, each with its `kind` and `value`."""
        extras = self.fields.get("extras")
        values = extras.items() if isinstance(extras, dict) else ()
        return {name: value for name, value in values if isinstance(value, dict)}

    def document(self) -> dict[str, Json]:
        """Return it as the agent wrote it."""
        return {"number": self.number, "at_ms": self.at_ms, "kind": self.kind, **self.fields}


@dataclass(frozen=True, slots=True)
class ToolComponent:
    """A component that offers tools, as the agent's package manager reports it.

    Attributes:
        protocol: `mobile-mcp`, `mmcp` or `mmcp-broadcast`.
        component: `PACKAGE/CLASS`.
        meta_data: Texts by name.
        xml: Roots of the XML that meta-data refers to, by name: `name`, `attributes`, `children`.
    """

    protocol: str
    component: str
    meta_data: Mapping[str, str]
    xml: Mapping[str, Mapping[str, Json]]

    @property
    def package(self) -> str:
        """The package that it is of."""
        return self.component.partition("/")[0]


class AgentClient:
    """The computer's side of one agent app.

    Args:
        device: Where it is installed.
        application_id: Which agent.
        user: For whom it is installed.

    Every method raises:
        UsageError: the agent is not installed for this user.
        DeviceError: the device fails, or the answer is not one of the protocol.
    """

    def __init__(self, device: Device, application_id: str = FIRST_AGENT, *, user: int = 0) -> None:
        self.device = device
        self.application_id = application_id
        self.user = user

    def hello(self) -> int:
        """Return the API level of its phone, and be sure that it answers."""
        api_level = self._ask("hello").get("sdk")
        if not isinstance(api_level, int):
            raise self._malformed("hello", "`sdk` is not a number")
        return api_level

    def list_components(self) -> list[ToolComponent]:
        """Return what it may see that offers tools."""
        return [_component_of(item) for item in self._objects("list", "components", self._ask("list"))]

    def send(
        self,
        component: str,
        extras: Mapping[str, str],
        *,
        transport: Transport,
        action: str | None = None,
    ) -> str:
        """Call a component, and return the call's id; its outcome is in the log.

        Raises:
            UsageError: the extras are longer than the agent takes.
        """
        call = uuid.uuid4().hex
        values: dict[str, Json] = {
            "call": call,
            "transport": transport,
            "component": component,
            "action": action,
            "extras": dict(extras),
        }
        self._check_length(values)
        self._ask("send", values)
        if transport == "activity":
            intent = intent_arguments(
                component=f"{self.application_id}/{CALL_ACTIVITY}", strings={"call": call}, user=self.user
            )
            start_activity(self.device, [*intent, *_NEW_INSTANCE])
        return call

    def is_lent(self) -> bool:
        """Return whether adb runs the instrumentation with which the agent borrows the shell's right."""
        return self._ask("hello").get("is_lent") is True

    def execute(self, package: str, function: str, arguments: Mapping[str, Json]) -> str:
        """Execute an app function, and return the call's id; its outcome is in the log.

        Raises:
            UsageError: the arguments are longer than the agent takes.
        """
        call = uuid.uuid4().hex
        values = {"call": call, "package": package, "function": function, "arguments": dict(arguments)}
        self._check_length(values)
        self._ask("execute", values)
        return call

    def cancel(self, call: str) -> None:
        """Ask Android to cancel the execution of a function."""
        self._ask("cancel", {"call": call})

    @staticmethod
    def _check_length(values: Mapping[str, Json]) -> None:
        if len(write_argument(values)) > LONG_ARGUMENT_CHARACTERS:
            raise UsageError("the call is longer than the agent takes", hint="call with shorter arguments")

    def unbind(self, component: str) -> None:
        """Let go of a service that is bound."""
        self._ask("unbind", {"component": component})

    def events(self, after: int = 0) -> list[AgentEvent]:
        """Return the events after the one of a number, oldest first.

        Raises:
            DeviceError: the log has no such event; it begins anew when Android ends the agent's process.
        """
        events: list[AgentEvent] = []
        while True:
            answer = self._ask("log", {"after": after})
            page = [_event_of(item) for item in self._objects("log", "events", answer)]
            events += page
            last = answer.get("last")
            if isinstance(last, int) and last < after:
                message = f"the log of {self.application_id} has no event {after}; its newest is {last}"
                raise DeviceError(message, hint="it begins anew when Android ends the agent's process")
            if not page or page[-1].number == last:
                return events
            after = page[-1].number

    def last_event(self) -> int:
        """Return the number of the newest event, 0 where there is none."""
        last = self._ask("log", {"after": _NEWEST}).get("last")
        return last if isinstance(last, int) else 0

    def wait(
        self, after: int, is_enough: Callable[[Sequence[AgentEvent]], bool], seconds: float
    ) -> list[AgentEvent]:
        """Return the events after the one of a number, once they are enough or the time is over."""
        end = time.monotonic() + seconds
        events: list[AgentEvent] = []
        while True:
            events += self.events(events[-1].number if events else after)
            if is_enough(events) or time.monotonic() >= end:
                return events
            time.sleep(_PAUSE_SECONDS)

    def _objects(self, method: str, name: str, answer: Mapping[str, Json]) -> list[dict[str, Json]]:
        items = answer.get(name)
        if not isinstance(items, list):
            raise self._malformed(method, f"`{name}` is not a list")
        return [item for item in items if isinstance(item, dict)]

    def _ask(self, method: str, values: Mapping[str, Json] | None = None) -> dict[str, Json]:
        try:
            result = call_provider(
                self.device,
                f"content://{self.application_id}.computer",
                method,
                argument=write_argument(values or {}),
                user=self.user,
                deadline=_SECONDS,
            )
        except ProviderError as error:
            if not error.is_missing:
                raise
            message = f"the agent {self.application_id} is not installed for user {self.user}"
            raise UsageError(message, hint="install it with `droidgate agent install`") from None
        tokens = result.tokens()
        if tokens.keys() != {"result"}:
            raise self._malformed(method, "it is not a Bundle with the one key `result`")
        answer = read_answer(tokens["result"], f"{self.application_id} {method}")
        if answer.pop("version") != VERSION:
            message = f"the agent {self.application_id} is of another version of droidgate"
            raise DeviceError(message, hint="install it anew with `droidgate agent install`")
        if "error" in answer:
            raise self._malformed(method, str(answer["error"]))
        return answer

    def _malformed(self, method: str, message: str) -> DeviceOutputError:
        return DeviceOutputError(f"{self.application_id} {method}", message)


def _event_of(fields: Mapping[str, Json]) -> AgentEvent:
    number, at_ms, kind = fields.get("number"), fields.get("at_ms"), fields.get("kind")
    if not isinstance(number, int) or not isinstance(at_ms, int) or not isinstance(kind, str):
        raise DeviceOutputError("the agent's log", "an event has no number, time or kind")
    rest = {name: value for name, value in fields.items() if name not in ("number", "at_ms", "kind")}
    return AgentEvent(number, at_ms, kind, rest)


def _component_of(fields: Mapping[str, Json]) -> ToolComponent:
    meta_data, xml = fields.get("meta_data"), fields.get("xml")
    texts = meta_data.items() if isinstance(meta_data, dict) else ()
    roots = xml.items() if isinstance(xml, dict) else ()
    return ToolComponent(
        str(fields.get("protocol")),
        str(fields.get("component")),
        {
            name: str(item["value"])
            for name, item in texts
            if isinstance(item, dict) and item.get("kind") == "string" and "value" in item
        },
        {name: root for name, root in roots if isinstance(root, dict)},
    )
