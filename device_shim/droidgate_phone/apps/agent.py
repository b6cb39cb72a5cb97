"""The agent app: looks for tools in the protocols of the other sample apps and calls them.

A computer drives the app by its provider (`agent_calls`); tests and the demonstration by `Agent`. Everything
goes through the app's context, so Android's rules bind it: it sees only what its `<queries>` name, and starts
activities only where an app of its kind may.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Mapping
from typing import Final, Generic, Literal, TypeVar, cast

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.agent_calls import (
    CallActivity,
    ComputerProvider,
    ShellIdentityInstrumentation,
    list_tool_apps,
)
from droidgate_phone.java.app_values import ActivityResult, BroadcastResult, Message, View
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.behaviour import Activity, App, Context
from droidgate_phone.system.package_records import InstalledPackage

ACTION_MOBILE_MCP: Final = "mobile.mcp.SERVICE"
ACTION_MMCP_ADVERTISE: Final = "com.example.mMCP.ACTION_TOOL_ADVERTISE"
ACTION_MMCP_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
ACTION_BROADCAST_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
EXTRA_CALLBACK: Final = "mcp_callback"
EXTRA_REQUEST_ID: Final = "mcp_request_id"

Dialect = Literal["S0", "S1", "MM-5", "MM-6"]
"""Wire forms of Mobile-MCP (reference mobile-mcp-and-mmcp 1): the two editions of the specification, and the
prototype started and bound.
"""

_PACKAGE: Final = "dev.droidgate.sample.agent"
COMPUTER_PROVIDER: Final = f"{_PACKAGE}.ComputerProvider"
_NO_TOOLS: Final = "No app on this phone offers tools."
_MSG_REQUEST: Final = 1
_MSG_RESPONSE: Final = 2
_PATIENCE: Final = 10.0

_Found = TypeVar("_Found")


class NoAnswerError(Exception):
    """A tool app did not answer in time, or cannot be called in the way that was asked for."""


def request_text(
    capability: str, arguments: Mapping[str, Json], *, dialect: Dialect, request_id: str | None = None
) -> str:
    """Return a Mobile-MCP request as an agent of that dialect writes it."""
    call: dict[str, Json] = {"id": capability}
    if dialect == "S0":
        call["args"] = arguments
    elif dialect == "S1":
        call["input"] = arguments
    else:
        # The prototype's agent puts the arguments through org.json twice.
        call["input"] = json.dumps(arguments)
    request = {"id": request_id or str(uuid.uuid4()), "capability": call}
    if dialect in {"S0", "S1"}:
        return json.dumps({"mobile-mcp-request": {"version": "1.0", "request": request}})
    return json.dumps(request)


class Agent:
    """Calls tools on behalf of one installed agent app.

    Its methods wait for the answer, so they are called from outside the app's main thread.
    """

    def __init__(self, context: Context, *, patience: float = _PATIENCE) -> None:
        """Act through a context; give up after so many seconds without an answer."""
        self._context = context
        self._patience = patience

    def call_bound(
        self, component: ComponentName, request_json: str, *, dialect: Dialect = "S0", flags: int = 0
    ) -> str:
        """Bind a service, send it a request, and return its response.

        Args:
            component: The service.
            request_json: The request.
            dialect: Names the keys.
            flags: Of `bindService`: 512 lets the service open screens while the agent is visible.

        Raises:
            NoAnswerError: it returns no binder, died, or did not answer in time.
            AndroidError: Android refuses.
        """
        request_key, response_key = _names(dialect)
        waiting: _Waiting[str] = _Waiting(self._patience)

        def receive(message: Message) -> None:
            text = message.data.get_string(response_key)
            if message.what == _MSG_RESPONSE and text is not None:
                waiting.put(text)

        binding = self._context.bind_service(
            Intent(component=component), receive, waiting.give_up, flags=flags
        )
        if binding is None:
            raise NoAnswerError(f"{component.flatten()} returns no binder")
        try:
            binding.send(Message(_MSG_REQUEST, Bundle.of_strings({request_key: request_json})))
            return waiting.wait()
        finally:
            binding.unbind()

    def call_started(
        self,
        component: ComponentName,
        request_json: str,
        *,
        dialect: Dialect = "S0",
        foreground: bool | None = None,
    ) -> str:
        """Start a service with a request and a PendingIntent, and return the response that comes through it.

        Args:
            component: The service.
            request_json: The request.
            dialect: Names the extras.
            foreground: Whether with `startForegroundService`; by default as the dialect's agent does.

        Raises:
            NoAnswerError: the service does not exist, or it did not answer in time.
            AndroidError: Android refuses.
        """
        request_key, response_key = _names(dialect)
        waiting: _Waiting[str] = _Waiting(self._patience)

        def receive(sent: Intent) -> None:
            text = sent.extras.get_string(response_key)
            if text is not None:
                waiting.put(text)

        base = Intent(extras=Bundle.of_strings({EXTRA_REQUEST_ID: _request_id(request_json)}))
        callback = Extra("pending-intent", self._context.create_pending_intent(receive, base))
        extras = Bundle.of_strings({request_key: request_json}).with_extra(EXTRA_CALLBACK, callback)
        is_foreground = dialect == "MM-5" if foreground is None else foreground
        intent = Intent(component=component, extras=extras)
        if self._context.start_service(intent, foreground=is_foreground) is None:
            raise NoAnswerError(f'unknown service "{component.flatten()}"')
        return waiting.wait()

    def call_mmcp_activity(
        self, component: ComponentName, tool: str, parameters: Mapping[str, Json] | str
    ) -> ActivityResult:
        """Start an mMCP activity for a result and return it.

        Raises:
            NoAnswerError: no result came in time.
            AndroidError: Android refuses.
        """
        text = parameters if isinstance(parameters, str) else json.dumps(parameters)
        extras = Bundle.of_strings({"tool_name": tool, "parameters": text})
        waiting: _Waiting[ActivityResult] = _Waiting(self._patience)
        self._context.start_activity(Intent(ACTION_MMCP_CALL, component, extras=extras), waiting.put)
        return waiting.wait()

    def call_broadcast(
        self, component: ComponentName, tool: str, parameters: Mapping[str, Json] | str
    ) -> BroadcastResult:
        """Send an mMCP invocation to a receiver and return the broadcast's result.

        Raises:
            NoAnswerError: no result came in time.
            AndroidError: Android refuses.
        """
        text = parameters if isinstance(parameters, str) else json.dumps(parameters)
        extras = Bundle.of_strings({"tool": tool, "params": text})
        waiting: _Waiting[BroadcastResult] = _Waiting(self._patience)
        invocation = Intent(ACTION_BROADCAST_INVOKE, component, extras=extras)
        self._context.send_ordered_broadcast(invocation, waiting.put)
        return waiting.wait()


class _Waiting(Generic[_Found]):
    """The first answer of a call; later ones are dropped."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._there = threading.Event()
        self._answers: list[_Found] = []

    def put(self, answer: _Found) -> None:
        self._answers.append(answer)
        self._there.set()

    def give_up(self) -> None:
        self._there.set()

    def wait(self) -> _Found:
        if not self._there.wait(self._patience):
            raise NoAnswerError(f"no answer in {self._patience:g} seconds")
        if not self._answers:
            raise NoAnswerError("the app died")
        return self._answers[0]


def _request_id(request_json: str) -> str:
    """Return the id of a request of either form; empty where it has none."""
    try:
        request = json.loads(request_json)
        request_id = request.get("mobile-mcp-request", {}).get("request", request).get("id", "")
    except (ValueError, AttributeError):
        return ""
    return str(request_id)


def _names(dialect: Dialect) -> tuple[str, str]:
    """Return what request and response are called, as extras and in a Messenger's bundle."""
    if dialect in {"S0", "S1"}:
        return "mobile-mcp-request", "mobile-mcp-response"
    return "request", "response"


class MainActivity(Activity):
    """Lists the components that offer tools."""

    def view(self) -> View:
        """Return the list, a line for each."""
        tool_apps = [cast("dict[str, str]", item) for item in list_tool_apps(self.context)]
        lines = [f"{item['protocol']} {item['component']}" for item in tool_apps]
        return View("column", children=(View("text", text="\n".join(lines) or _NO_TOOLS),))


class AgentApp(App):
    """Behaviour of the agent app, whatever its application id."""

    PACKAGE = _PACKAGE
    ACTIVITIES = {f"{_PACKAGE}.MainActivity": MainActivity, f"{_PACKAGE}.CallActivity": CallActivity}
    PROVIDERS = {COMPUTER_PROVIDER: ComputerProvider}
    INSTRUMENTATIONS = {f"{_PACKAGE}.ShellIdentityInstrumentation": ShellIdentityInstrumentation}


def is_agent(package: InstalledPackage) -> bool:
    """Return whether an installed package is the agent, under whichever application id."""
    return package.find_component("provider", COMPUTER_PROVIDER) is not None
