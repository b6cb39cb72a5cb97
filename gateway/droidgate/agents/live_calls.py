"""Requests and answers of each protocol, as an agent on the phone writes and reads them.

They are typed from the specifications and not imported from the adapters: an app is checked against its
protocol, not against droidgate's own writer and reader, whose mistakes would agree with themselves.

Sections are those of the specifications; mMCP by broadcast has none (reference mobile-mcp-and-mmcp 3.3).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from droidgate.agents.agent_client import AgentClient, AgentEvent, ToolComponent, Transport
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.json_text import parse_json

RequestDialect = Literal["S0", "S1", "MM-5", "MM-6"]
"""Wire forms of Mobile-MCP: both editions of the specification, and the prototype started and bound."""

MOBILE_MCP: Final = "mobile-mcp"
MMCP: Final = "mmcp"
APP_FUNCTIONS: Final = "appfunctions"

REQUEST: Final = "mobile-mcp-request"
RESPONSE: Final = "mobile-mcp-response"
MMCP_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
BROADCAST_DISCOVERY: Final = "com.example.ACTION_MMCP_DISCOVERY"
BROADCAST_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
_ENDINGS: Final = frozenset({"refused", "null-binding", "disconnected", "function-error"})
_ANSWERS: Final = frozenset({"message", "callback", "broadcast-result", "activity-result", "function-result"})
_TRANSPORTS: Final[Mapping[str, Sequence[Transport]]] = {
    "mobile-mcp": ("bind", "start", "start-foreground"),
    "mmcp": ("activity",),
    "mmcp-broadcast": ("broadcast",),
}


def chosen_transport(component: ToolComponent, transport: Transport | None) -> Transport:
    """Return how a component is reached; its protocol's first way where nothing is asked for.

    Raises:
        UsageError: its protocol has no such way.
    """
    possible = _TRANSPORTS[component.protocol]
    if transport is None:
        return possible[0]
    if transport not in possible:
        message = f'a component of {component.protocol} cannot be reached by "{transport}"'
        raise UsageError(message, hint=f"use {' or '.join(possible)}")
    return transport


def mobile_mcp_request(
    capability: str,
    arguments: Mapping[str, Json],
    *,
    dialect: RequestDialect = "S0",
    request_id: str | None = None,
    version: str = "1.0",
) -> str:
    """Return the text of a Mobile-MCP request (section 3.1)."""
    call: dict[str, Json] = {"id": capability}
    # The prototype's agent puts the arguments into the request as a text (reference 2.4).
    is_prototype = dialect in ("MM-5", "MM-6")
    call["args" if dialect == "S0" else "input"] = json.dumps(arguments) if is_prototype else dict(arguments)
    request: dict[str, Json] = {"id": request_id or str(uuid.uuid4()), "capability": call}
    if is_prototype:
        return json.dumps(request)
    return json.dumps({REQUEST: {"version": version, "request": request}})


def request_extras(request: str, dialect: RequestDialect) -> dict[str, str]:
    """Return the extras, or the bundle of a message, that take a request along."""
    return {"request" if dialect in ("MM-5", "MM-6") else REQUEST: request}


@dataclass(frozen=True, slots=True)
class LiveAnswer:
    """The outcome of a call.

    Attributes:
        event: The event that ended it; None where nothing came in time.
        events: All events since it was sent.
    """

    event: AgentEvent | None
    events: Sequence[AgentEvent]

    @property
    def is_answer(self) -> bool:
        """Whether the tool answered."""
        return self.event is not None and self.event.kind in _ANSWERS


def is_end_of(event: AgentEvent, call: str, component: str) -> bool:
    """Return whether an event ends a call: an answer to it, or that there will be none."""
    if event.kind in ("message", "null-binding", "disconnected"):
        return event.component == component
    return event.kind in _ENDINGS | _ANSWERS and event.call == call


def call_tool(
    client: AgentClient,
    component: ToolComponent,
    tool: str,
    arguments: Mapping[str, Json],
    *,
    transport: Transport | None = None,
    dialect: RequestDialect = "S0",
    seconds: float = 30.0,
) -> LiveAnswer:
    """Call a tool as the agent, and return the outcome.

    Raises:
        UsageError: the component cannot be reached in that way.
        DeviceError: the phone or the agent fails.
    """
    way = chosen_transport(component, transport)
    action: str | None = None
    if component.protocol == "mobile-mcp":
        extras = request_extras(mobile_mcp_request(tool, arguments, dialect=dialect), dialect)
    elif component.protocol == "mmcp":
        extras, action = {"tool_name": tool, "parameters": json.dumps(arguments)}, MMCP_CALL
    else:
        extras, action = {"tool": tool, "params": json.dumps(arguments)}, BROADCAST_INVOKE
    return ask(client, component.component, extras, transport=way, action=action, seconds=seconds)


def ask(
    client: AgentClient,
    component: str,
    extras: Mapping[str, str],
    *,
    transport: Transport,
    action: str | None = None,
    seconds: float,
) -> LiveAnswer:
    """Send one intent or message, and wait for what ends it.

    Raises:
        DeviceError: the phone or the agent fails.
    """
    after = client.last_event()
    call = client.send(component, extras, transport=transport, action=action)
    return wait_for_end(client, call, component, after, seconds)


def wait_for_end(client: AgentClient, call: str, component: str, after: int, seconds: float) -> LiveAnswer:
    """Return the outcome of a call, from its events after a given number.

    Raises:
        DeviceError: the phone or the agent fails.
    """

    def find(events: Sequence[AgentEvent]) -> AgentEvent | None:
        return next((event for event in events if is_end_of(event, call, component)), None)

    events = client.wait(after, lambda page: find(page) is not None, seconds)
    return LiveAnswer(find(events), events)


def response_texts(event: AgentEvent) -> list[str]:
    """Return the texts of an answer's extras; where the protocol names none, the tool chooses the key."""
    # The agent's own mark is in what comes back through a PendingIntent.
    own = {"call"} if event.kind == "callback" else set()
    values = [value for name, value in event.extras.items() if name not in own]
    texts = [item["value"] for item in values if item.get("kind") == "string"]
    return [text for text in texts if isinstance(text, str)]


@dataclass(frozen=True, slots=True)
class ReceivedResponse:
    """A response of Mobile-MCP.

    Attributes:
        text: Its text.
        document: What it holds; None where it is not a JSON object.
        is_cut: It is longer than what the agent keeps of a text, so nothing can be said of it.
    """

    text: str
    document: Mapping[str, Json] | None
    is_cut: bool = False

    @property
    def inner(self) -> Mapping[str, Json]:
        """The part with id, status and capability; empty where there is none."""
        wrapper = None if self.document is None else self.document.get(RESPONSE)
        response = wrapper.get("response") if isinstance(wrapper, dict) else None
        return response if isinstance(response, dict) else {}


def read_response(event: AgentEvent) -> ReceivedResponse:
    """Return the Mobile-MCP response in an event.

    The specification leaves the extra's name to the tool: the first text that holds a response counts, then
    the first that is a JSON object, then the first.
    """
    is_cut = any("length" in value for value in event.extras.values())
    read = [ReceivedResponse(text, _object_of(text), is_cut) for text in response_texts(event)]
    objects = [item for item in read if item.document is not None]
    wrapped = [item for item in objects if item.inner]
    return next(iter((*wrapped, *objects, *read)), ReceivedResponse("", None))


def answer_texts(answer: LiveAnswer) -> tuple[str, ...]:
    """Return what a tool answered: the text of a response, the data of a broadcast, or all texts."""
    if answer.event is None or not answer.is_answer:
        return ()
    if answer.event.kind == "function-result":
        return (json.dumps(answer.event.fields.get("document"), ensure_ascii=False),)
    data = answer.event.fields.get("data")
    if isinstance(data, str):
        return (data,)
    response = read_response(answer.event)
    return (response.text,) if response.inner else tuple(response_texts(answer.event))


def _object_of(text: str) -> dict[str, Json] | None:
    try:
        value = parse_json(text, path="answer")
    except InputError:
        return None
    return value if isinstance(value, dict) else None


def tool_names(client: AgentClient, component: ToolComponent, *, seconds: float) -> list[str] | None:
    """Return the names of a component's tools, asked for where only a broadcast returns them.

    None where they cannot be read.
    """
    if component.protocol == "mmcp-broadcast":
        action, name = BROADCAST_DISCOVERY, component.component
        return reported_tools(ask(client, name, {}, transport="broadcast", action=action, seconds=seconds))
    if component.protocol == "mmcp":
        manifest = _object_of(component.meta_data.get("mMCP_manifest", ""))
        tools = None if manifest is None else manifest.get("tools")
        return (
            [str(item.get("name")) for item in tools if isinstance(item, dict)]
            if isinstance(tools, list)
            else None
        )
    root = next(iter(component.xml.values()), None)
    return (
        None
        if root is None
        else [str(attributes_of(item).get("id")) for item in children_of(root, "capability")]
    )


def reported_tools(answer: LiveAnswer) -> list[str] | None:
    """Return the names in the answer to a discovery by broadcast; None where there is no array of them."""
    tools = None if answer.event is None else answer.event.extras.get("tools")
    names = None if tools is None or tools.get("kind") != "string[]" else tools.get("value")
    return [str(name) for name in names] if isinstance(names, list) else None


def children_of(node: Mapping[str, Json], name: str) -> list[Mapping[str, Json]]:
    """Return the elements of a name in an element of `ToolComponent.xml`."""
    children = node.get("children")
    items = children if isinstance(children, list) else []
    return [item for item in items if isinstance(item, dict) and item.get("name") == name]


def attributes_of(node: Mapping[str, Json]) -> Mapping[str, str]:
    """Return an element's attributes."""
    attributes = node.get("attributes")
    return {name: str(value) for name, value in attributes.items()} if isinstance(attributes, dict) else {}
