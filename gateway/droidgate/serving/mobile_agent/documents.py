"""The tools as `tools/list` shows them, in shapes that UFO's client can read (reference mobile-agent 1).

That client makes a class of each schema that lists properties, and fails on what it then gets. So an object's
schema lists none, items refer to a definition, and what is not an object is wrapped as FastMCP does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.tables.mobile_agent import MobileAgentCommand, load_mobile_agent

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
    return command.model_copy(update={"parameters": {**command.parameters, DEVICE: device}})


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
    schema: dict[str, Any] = {
        "type": "object",
        # A picture may be a text or an object: with a type here, the client would refuse one of them.
        "properties": {_RESULT: command.result if is_list else {}},
        "required": [_RESULT],
        "x-fastmcp-wrap-result": True,
    }
    return {**schema, "$defs": load_mobile_agent().definitions} if is_list else schema
