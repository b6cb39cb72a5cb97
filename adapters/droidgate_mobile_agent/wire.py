"""Commands and results as UFO's dispatcher passes them (reference mobile-agent 1)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Final, Literal

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, shown_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.mobile_agent import MobileAgentCommand, mobile_agent_commands
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_mobile_agent.format import ACTION, DATA_COLLECTION

NAMESPACES: Final = {DATA_COLLECTION: "MobileDataCollector", ACTION: "MobileActionExecutor"}
"""Names of the two servers in UFO's own settings."""

EARLY_EXIT: Final = "Early exit due to previous failure."

_COMMAND_MEMBERS: Final = ("tool_name", "parameters", "tool_type", "call_id")
_ACTION_MEMBERS: Final = ("function", "arguments")
_HINT: Final = (
    'write {"tool_name": "tap", "parameters": {"x": 1, "y": 2}, "tool_type": "action"} or '
    '{"action": {"function": "tap", "arguments": {"x": 1, "y": 2}}}'
)


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A command.

    Attributes:
        command: Which one.
        arguments: Name -> value; they are not validated.
        call_id: Names its result.
    """

    command: MobileAgentCommand
    arguments: Mapping[str, Json]
    call_id: str


@dataclass(frozen=True, slots=True)
class AgentCommandResult:
    """The outcome of a command; `skipped` where an earlier one failed.

    Attributes:
        status: How it ended.
        error: Why it failed or was skipped; None where it did not.
        result: What the tool returned; None for an empty list, object or text, as in UFO.
        namespace: The server that has the tool.
        call_id: Of the command.
    """

    status: Literal["success", "failure", "skipped"]
    error: str | None
    result: Json
    namespace: str
    call_id: str

    @classmethod
    def of_value(cls, command: AgentCommand, value: Json) -> AgentCommandResult:
        """Return the result of a tool that answered, whether it did what it was asked for or not."""
        result = None if value in ([], {}, "") else value
        return cls("success", None, result, NAMESPACES[command.command.server], command.call_id)

    @classmethod
    def of_failure(cls, command: AgentCommand, error: str) -> AgentCommandResult:
        """Return the result of a tool that did not answer."""
        return cls("failure", error, None, NAMESPACES[command.command.server], command.call_id)

    @classmethod
    def of_skipped(cls, command: AgentCommand) -> AgentCommandResult:
        """Return the result of a command that was not run, since one before it failed."""
        return cls("skipped", EARLY_EXIT, None, NAMESPACES[command.command.server], command.call_id)

    def record(self) -> dict[str, Json]:
        """Return the record, with every member that UFO's has."""
        return asdict(self)


def read_command(value: Json, place: str) -> AgentCommand:
    """Read a command in one of its two forms; without a `call_id` it gets a UUID.

    Args:
        value: `{"tool_name", "parameters", "tool_type", "call_id"}`, the last three optional, or
            `{"action": {"function", "arguments"}}`.
        place: Where it is, for errors.

    Raises:
        InputError: it is neither, or names no tool of MobileAgent or of the server that it states.
    """
    if not isinstance(value, Mapping):
        raise InputError("a command is not a JSON object", place=place, hint=_HINT)
    if "action" in value:
        return _read_action(value, place)
    _check_members(value, _COMMAND_MEMBERS, place)
    command = _find_command(value.get("tool_name"), "tool_name", place)
    tool_type = value.get("tool_type")
    if tool_type not in (None, command.server):
        message = f'"{command.id}" is not a tool of type {shown_json(tool_type)}'
        raise InputError(message, place=place, hint=f'write "tool_type": "{command.server}"')
    call_id = value.get("call_id")
    if call_id is not None and not isinstance(call_id, str):
        raise InputError('"call_id" is not a string', place=place, hint="write a string, or leave it out")
    arguments = _read_arguments(value.get("parameters"), "parameters", place)
    return AgentCommand(command, arguments, call_id or str(uuid.uuid4()))


def _read_action(value: Mapping[str, Json], place: str) -> AgentCommand:
    _check_members(value, ("action",), place)
    action = value["action"]
    if not isinstance(action, Mapping):
        raise InputError('"action" is not a JSON object', place=place, hint=_HINT)
    _check_members(action, _ACTION_MEMBERS, place)
    command = _find_command(action.get("function"), "function", place)
    return AgentCommand(
        command, _read_arguments(action.get("arguments"), "arguments", place), str(uuid.uuid4())
    )


def _check_members(value: Mapping[str, Json], known_names: Sequence[str], place: str) -> None:
    unknown = next((name for name in value if name not in known_names), None)
    if unknown is not None:
        message = f"a command has the unknown member {shown_json(unknown)}"
        raise InputError(message, place=place, hint=suggest_name(unknown[:100], known_names))


def _find_command(name: Json, member: str, place: str) -> MobileAgentCommand:
    if not isinstance(name, str):
        raise InputError(f'"{member}" is not a string', place=place, hint=_HINT)
    command = mobile_agent_commands().get(name)
    if command is None:
        hint = suggest_name(name[:100], mobile_agent_commands())
        raise InputError(f"unknown tool {shown_json(name)}", place=place, hint=hint)
    return command


def _read_arguments(value: Json, member: str, place: str) -> Mapping[str, Json]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise InputError(f'"{member}" is not a JSON object', place=place, hint=_HINT)
    return value
