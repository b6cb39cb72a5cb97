"""One of the two servers: its tools, checked and answered as UFO's own are (reference mobile-agent 2).

`tools/list` shows them in shapes that UFO's client can read (reference mobile-agent 1): it makes a class of
each schema that lists properties, and fails on what it then gets. So an object's schema lists none, items
are all of one definition, and what is not an object is wrapped as FastMCP does it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence, Set as AbstractSet
from typing import Any, Final, Literal, get_args

import anyio
import anyio.to_thread
import jsonschema
import mcp_types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.computer.version import VERSION
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.mobile_agent import (
    MobileAgentCommand,
    load_mobile_agent,
    mobile_agent_commands,
    more_tools,
)
from droidgate_mcp.format import MODERN

_ANY_OBJECT: Final = {"type": "object", "additionalProperties": True}
_RESULT: Final = "result"

DEVICE: Final = "device"
"""The argument that chooses one of several phones."""


def is_wrapped(command: MobileAgentCommand) -> bool:
    """Return whether a tool's result is under `result` in its structured content."""
    return command.result.get("type") != "object"


def write_tool(command: MobileAgentCommand, *, is_annotated: bool = False) -> dict[str, Any]:
    """Return a tool of `tools/list`; UFO's own have no annotations."""
    tool = {
        "name": command.id,
        "description": command.description,
        "inputSchema": command.input_schema,
        "outputSchema": _output_schema(command),
    }
    return {**tool, "annotations": _annotations(command)} if is_annotated else tool


def with_devices(command: MobileAgentCommand, serials: Sequence[str]) -> MobileAgentCommand:
    """Return a tool that takes the serial number of a phone, the first one by default."""
    device = {
        "type": "string",
        "enum": list(serials),
        "default": serials[0],
        "description": "Serial number of the phone",
    }
    return command.changed({"parameters": {**command.parameters, DEVICE: device}})


def _annotations(command: MobileAgentCommand) -> dict[str, bool]:
    if command.effect != "acts":
        return {"readOnlyHint": True}
    # A tap can press any button.
    return {"readOnlyHint": False, "destructiveHint": True, "idempotentHint": command.is_idempotent}


def wrap(command: MobileAgentCommand, result: Json) -> Json:
    """Return a result as structured content."""
    return {_RESULT: result} if is_wrapped(command) else result


def _output_schema(command: MobileAgentCommand) -> dict[str, Any]:
    if not is_wrapped(command):
        return _ANY_OBJECT
    is_list = command.result["type"] == "array"
    # UFO's own items are the reference itself, which FastMCP 4.2 and later follow to a class.
    targets = {**command.result, "items": {"allOf": [command.result["items"]]}} if is_list else {}
    schema: dict[str, Any] = {
        "type": "object",
        # A picture may be a text or an object: with a type here, the client would refuse one of them.
        "properties": {_RESULT: targets},
        "required": [_RESULT],
        "x-fastmcp-wrap-result": True,
    }
    return {**schema, "$defs": load_mobile_agent().definitions} if is_list else schema


UfoRole = Literal["data_collection", "action"]
Extension = Literal["compact", "find", "images", "gestures", "annotations"]
"""What a server has beyond UFO's: a set of tools, or annotations of all tools."""

EXTENSIONS: Final[tuple[Extension, ...]] = get_args(Extension)

NAMES: Final[Mapping[UfoRole, str]] = {
    "data_collection": "Mobile Data Collection MCP Server",
    "action": "Mobile Action MCP Server",
}
_UNCHANGING: Final = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tools are the same as long as the server runs, for every client."""
_WAITING: Final = ("wait", "wait_for_element")
_CALLS: Final = 64
"""Calls that use the phone, or wait for it, at once."""
_WAITS: Final = 256
_LONGEST_VALUE: Final = 80

_Context = ServerRequestContext[None, Any]


class MobileAgentServer:
    """The data collection server or the action server.

    It has the tools of its role and no others: no request to the one can do what the other does.

    Args:
        role: Which of the two it is.
        phones: The phones by serial number, the default one first, which both servers share. If there is only
            one, its key does not matter, and no tool takes a serial number.
        extensions: What it has beyond UFO's.

    Attributes:
        server: The SDK's server.
    """

    def __init__(
        self,
        role: UfoRole,
        phones: Mapping[str, MobileAgentTools],
        extensions: AbstractSet[Extension] = frozenset(),
    ) -> None:
        self._phones = phones
        self._is_annotated = "annotations" in extensions
        further = [tool for tool in more_tools() if tool.tool_set in extensions]
        self._commands = {
            command.id: with_devices(command, tuple(phones)) if len(phones) > 1 else command
            for command in (*mobile_agent_commands().values(), *further)
            if command.server == role
        }
        self._running: set[threading.Event] = set()
        self._is_stopped = False
        self._calls = anyio.CapacityLimiter(_CALLS)
        self._waits = anyio.CapacityLimiter(_WAITS)
        self.server: Server[None] = Server(
            NAMES[role],
            version=VERSION,
            cache_hints={"server/discover": _UNCHANGING, "tools/list": _UNCHANGING},
        )
        add = self.server.add_request_handler
        add("tools/list", mcp_types.PaginatedRequestParams, self._list_tools)
        add("tools/call", mcp_types.CallToolRequestParams, self._call_tool)

    def stop(self) -> None:
        """End the running calls, and later ones as soon as they begin."""
        self._is_stopped = True
        for cancel in tuple(self._running):
            cancel.set()

    async def _list_tools(
        self, context: _Context, _parameters: mcp_types.PaginatedRequestParams | None
    ) -> dict[str, Any]:
        return {
            **_result_type(context),
            "tools": [
                write_tool(command, is_annotated=self._is_annotated) for command in self._commands.values()
            ],
        }

    async def _call_tool(
        self, context: _Context, parameters: mcp_types.CallToolRequestParams
    ) -> dict[str, Any]:
        name, arguments = parameters.name, dict(parameters.arguments or {})
        command = self._commands.get(name)
        problem = f"Unknown tool: {name}" if command is None else _problem_of(command, arguments)
        if command is None or problem is not None:
            return {**_result_type(context), **_error(problem or "")}
        try:
            result = await self._run(command, arguments)
        except DroidgateError as error:
            return {**_result_type(context), **_error(f"Error calling tool '{name}': {error.message}")}
        return {**_result_type(context), **_answer(command, result)}

    async def _run(self, command: MobileAgentCommand, arguments: dict[str, Any]) -> Json:
        """Run a tool in a thread; canceling the call does not wait for the thread."""
        cancel = threading.Event()
        phone = arguments.pop(DEVICE, next(iter(self._phones)))
        self._running.add(cancel)
        if self._is_stopped:
            cancel.set()
        try:
            return await anyio.to_thread.run_sync(
                self._phones[phone].run,
                command.id,
                arguments,
                cancel,
                abandon_on_cancel=True,
                limiter=self._waits if command.id in _WAITING else self._calls,
            )
        finally:
            cancel.set()
            self._running.discard(cancel)


def _problem_of(command: MobileAgentCommand, arguments: Mapping[str, Json]) -> str | None:
    """Return why arguments do not fit a tool, in UFO's words; None where they do."""
    parameters = {**command.parameters, **command.unlisted}
    validator = jsonschema.Draft202012Validator({**command.input_schema, "properties": parameters})
    error = jsonschema.exceptions.best_match(validator.iter_errors(arguments))
    if error is not None:
        return f"Input validation error: {error.message}"
    for name in arguments:
        if name not in parameters:
            value = json.dumps(arguments[name], ensure_ascii=False)[:_LONGEST_VALUE]
            return (
                f"Error calling tool '{command.id}': 1 validation error for call[{command.id}]\n"
                f"{name}\n  Unexpected keyword argument "
                f"[type=unexpected_keyword_argument, input_value={value}]"
            )
    return None


def _answer(command: MobileAgentCommand, result: Json) -> dict[str, Any]:
    images: list[dict[str, Any]] = []
    if command.picture is not None and isinstance(result, dict):
        picture = result.pop(command.picture)
        images = [{"type": "image", "data": picture, "mimeType": result["mimeType"]}]
    text = (
        result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    )
    return {
        "content": [*images, {"type": "text", "text": text}],
        "structuredContent": wrap(command, result),
        "isError": False,
    }


def _error(message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": message}], "isError": True}


def _result_type(context: _Context) -> dict[str, Any]:
    return {"resultType": "complete"} if context.protocol_version == MODERN else {}
