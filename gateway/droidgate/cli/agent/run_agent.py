"""What the commands of `droidgate agent` do, and their documents."""

from __future__ import annotations

import json
from typing import cast

from droidgate.agents.agent_client import (
    FIRST_AGENT,
    SECOND_AGENT,
    AgentClient,
    ToolComponent,
    Transport,
)
from droidgate.agents.agent_installation import install_agents, uninstall_agents
from droidgate.agents.function_calls import attachment_lines, call_function, error_text, lend_identity
from droidgate.agents.live_calls import LiveAnswer, answer_texts, call_tool, tool_names
from droidgate.cli.agent import agent_options
from droidgate.cli.calls.typed_arguments import read_arguments
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.json_output import Document, PublishedDocument
from droidgate.cli.output.pages import Line, Table, print_note
from droidgate.cli.output.reports import Report
from droidgate.cli.output.safe_text import one_line
from droidgate.devices.device import connect_device
from droidgate.shims.device_user import device_user_of
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.json_values import Json

_DISCOVERY_SECONDS = 10.0


class AgentAppsDocument(PublishedDocument, schema="droidgate.agent-apps/1"):
    """What `agent install --json` and `agent uninstall --json` print.

    Attributes:
        serial: The phone.
        application_ids: The agents that were installed, or removed.
    """

    serial: str
    application_ids: tuple[str, ...]


class ListedComponent(Document):
    """A component that offers tools.

    Attributes:
        protocol: `mobile-mcp`, `mmcp` or `mmcp-broadcast`.
        component: `PACKAGE/CLASS`.
        tools: Names of its tools; None where they cannot be read.
        meta_data: Texts of its manifest, as Android reports them.
    """

    protocol: str
    component: str
    tools: tuple[str, ...] | None
    meta_data: dict[str, str]


class AgentListDocument(PublishedDocument, schema="droidgate.agent-list/1"):
    """What `agent list --json` prints.

    Attributes:
        serial: The phone.
        application_id: The agent.
        components: What it sees.
    """

    serial: str
    application_id: str
    components: tuple[ListedComponent, ...]


class AgentCallDocument(PublishedDocument, schema="droidgate.agent-call/1"):
    """What `agent call --json` prints.

    Attributes:
        serial: The phone.
        application_id: The agent.
        component: What was called; the package of an app function.
        answered: Whether the tool answered.
        texts: Texts of the answer.
        events: What happened, raw.
    """

    serial: str
    application_id: str
    component: str
    answered: bool
    texts: tuple[str, ...]
    events: tuple[dict[str, Json], ...]


class AgentLogDocument(PublishedDocument, schema="droidgate.agent-log/1"):
    """What `agent log --json` prints.

    Attributes:
        serial: The phone.
        application_id: The agent.
        events: What happened, raw, oldest first.
    """

    serial: str
    application_id: str
    events: tuple[dict[str, Json], ...]


def install_and_report(options: agent_options.AgentInstall) -> Report:
    """Install the agents and report them.

    Raises:
        InputError: the key cannot be read.
        DeviceError: the phone fails, or refuses.
    """
    device_user = device_user_of(connect_device(options.serial))
    names = tuple(item.application_id for item in install_agents(device_user, options.key, print_note))
    return Report(
        lambda: [Line(f"installed: {name}") for name in names],
        lambda: AgentAppsDocument(serial=device_user.device.serial, application_ids=names),
    )


def uninstall_and_report(options: agent_options.AgentUninstall) -> Report:
    """Remove the agents and report which there were.

    Raises:
        DeviceError: the phone fails, or refuses.
    """
    device_user = device_user_of(connect_device(options.serial))
    names = uninstall_agents(device_user)
    return Report(
        lambda: [Line(f"removed: {name}") for name in names] or [Line("the agent is not installed")],
        lambda: AgentAppsDocument(serial=device_user.device.serial, application_ids=names),
    )


def list_and_report(options: agent_options.AgentList) -> Report:
    """List what an agent sees.

    Raises:
        UsageError: the agent is not installed.
        DeviceError: the phone or the agent fails.
    """
    client = _client(options.serial, second=options.second)
    components = tuple(_listed_component(client, item) for item in client.list_components())
    rows = [
        (item.protocol, item.component, "-" if item.tools is None else ", ".join(item.tools))
        for item in components
    ]
    return Report(
        lambda: (
            [Table(("PROTOCOL", "COMPONENT", "TOOLS"), [tuple(map(one_line, row)) for row in rows])]
            if rows
            else [Line("the agent sees no tools")]
        ),
        lambda: AgentListDocument(
            serial=client.device.serial, application_id=client.application_id, components=components
        ),
        is_data=True,
    )


def call_and_report(options: agent_options.AgentCall) -> Report:
    """Call a tool and report its answer.

    Raises:
        UsageError: the agent is not installed, or there is no such tool app.
        DeviceError: the phone or the agent fails.
    """
    arguments = read_arguments(options.arguments, options.values or ())
    client = _client(options.serial, second=options.second)
    transport, called = options.transport, options.component
    if transport is agent_options.CallTransport.APP_FUNCTION:
        reason = lend_identity(device_user_of(client.device), client)
        if reason:
            print_note(f"the agent cannot borrow the shell's permission: {reason}")
        answer = call_function(client, called, options.tool, arguments, seconds=options.deadline)
    else:
        component = _component(client, options.component)
        called = component.component
        answer = call_tool(
            client,
            component,
            options.tool,
            arguments,
            transport=None if transport is None else cast("Transport", transport.value),
            dialect=options.dialect.value,
            seconds=options.deadline,
        )
        client.unbind(called)
    texts = answer_texts(answer)
    lines = [*(texts or [_reason(answer, options.deadline)]), *map(one_line, attachment_lines(answer))]
    return Report(
        lambda: [Line(line) for line in lines],
        lambda: AgentCallDocument(
            serial=client.device.serial,
            application_id=client.application_id,
            component=called,
            answered=answer.is_answer,
            texts=texts,
            events=tuple(item.document() for item in answer.events),
        ),
        ExitCode.OK if answer.is_answer else ExitCode.CALL_FAILED,
        is_data=True,
    )


def log_and_report(options: agent_options.AgentLog) -> Report:
    """Report the log of an agent.

    Raises:
        UsageError: the agent is not installed.
        DeviceError: the phone or the agent fails.
    """
    client = _client(options.serial, second=options.second)
    events = tuple(item.document() for item in client.events(options.after))
    return Report(
        lambda: [Line(json.dumps(item, ensure_ascii=False)) for item in events] or [Line("no events")],
        lambda: AgentLogDocument(
            serial=client.device.serial, application_id=client.application_id, events=events
        ),
        is_data=True,
    )


def _client(serial: str | None, *, second: bool) -> AgentClient:
    device_user = device_user_of(connect_device(serial))
    return AgentClient(device_user.device, SECOND_AGENT if second else FIRST_AGENT, user=device_user.user)


def _listed_component(client: AgentClient, component: ToolComponent) -> ListedComponent:
    tools = tool_names(client, component, seconds=_DISCOVERY_SECONDS)
    return ListedComponent(
        protocol=component.protocol,
        component=component.component,
        tools=None if tools is None else tuple(tools),
        meta_data=dict(component.meta_data),
    )


def _component(client: AgentClient, name: str) -> ToolComponent:
    components = [item for item in client.list_components() if name in (item.package, item.component)]
    if len(components) == 1:
        return components[0]
    if not components:
        raise UsageError(
            f'the agent sees no tool app "{name}"', hint="`droidgate agent list` lists what it sees"
        )
    names = " or ".join(item.component for item in components)
    raise UsageError(f'"{name}" has {len(components)} components that offer tools', hint=f"use {names}")


def _reason(answer: LiveAnswer, seconds: float) -> str:
    event = answer.event
    if event is None:
        return f"no answer in {seconds:g} seconds"
    if event.kind == "refused":
        return f"Android refused the call: {event.fields.get('message')}"
    if event.kind == "function-error":
        return error_text(answer)
    if event.kind == "null-binding":
        return "the service returns no binder; try --transport start"
    return "the app's process ended" if event.kind == "disconnected" else "the answer has no text"
