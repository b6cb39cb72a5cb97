"""The commands of UFO's MobileAgent (reference mobile-agent 2), and the tools beyond them."""

from functools import cache
from typing import Any, Literal

from pydantic import Field

from droidgate_mappings.model.types import Frozen
from droidgate_mappings.tables.loading import load_table

ToolSet = Literal["compact", "find", "images", "gestures"]


class MobileAgentCommand(Frozen):
    """One command.

    Attributes:
        id: Its name, which is also the name of the tool.
        server: The server that has it, as UFO's `tool_type` names it.
        effect: What it sends to the phone: something that only reads, something that may change it, nothing.
        description: What it does, for users and language models.
        parameters: JSON Schema of each parameter, by name.
        required: Names of the parameters that must be given.
        unlisted: JSON Schema of each argument that clients send and `tools/list` does not have, by name.
        result: JSON Schema of its result.
        is_idempotent: A second call with the same arguments changes nothing more.
        tool_set: Which of the tools beyond UFO's it belongs to; None for UFO's 13.
        picture: Member of the result that is a picture, which MCP clients get as an image.
    """

    id: str
    server: Literal["data_collection", "action"]
    effect: Literal["reads", "acts", "none"]
    description: str
    parameters: dict[str, dict[str, Any]] = {}
    required: tuple[str, ...] = ()
    unlisted: dict[str, dict[str, Any]] = {}
    result: dict[str, Any]
    is_idempotent: bool = False
    tool_set: ToolSet | None = None
    picture: str | None = None

    @property
    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments."""
        schema: dict[str, Any] = {"type": "object", "properties": self.parameters}
        return {**schema, "required": list(self.required)} if self.required else schema


class MobileAgentTable(Frozen):
    """All commands.

    Attributes:
        definitions: JSON Schema of what results refer to as `#/$defs/NAME`, by name.
        commands: The commands, those of the data collection server first.
    """

    definitions: dict[str, dict[str, Any]]
    commands: tuple[MobileAgentCommand, ...] = Field(min_length=1)

    def output_schema(self, command: MobileAgentCommand) -> dict[str, Any]:
        """Return the JSON Schema of a command's result, with the definitions that it refers to."""
        if command.result.get("type") != "array":
            return command.result
        return {**command.result, "$defs": self.definitions}


@cache
def load_mobile_agent() -> MobileAgentTable:
    """Return the commands.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("mobile_agent/commands.toml", MobileAgentTable)


@cache
def mobile_agent_commands() -> dict[str, MobileAgentCommand]:
    """Return the commands by id, in the order of the table."""
    return {command.id: command for command in load_mobile_agent().commands}


class MoreToolsTable(Frozen):
    """All tools beyond UFO's.

    Attributes:
        tools: The tools, each in a set.
    """

    tools: tuple[MobileAgentCommand, ...] = Field(min_length=1)


@cache
def more_tools() -> tuple[MobileAgentCommand, ...]:
    """Return the tools beyond UFO's.

    Raises:
        ValueError: the TOML does not fit the schema.
    """
    return load_table("mobile_agent/more_tools.toml", MoreToolsTable).tools
