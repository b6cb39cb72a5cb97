"""The tools of a document, by the shapes of each vendor (docs/reference/formats/function-calling.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from droidgate_function_calling.format import ANTHROPIC, GEMINI, OPENAI, OPENAI_CHAT
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.records import dataclass, field

SCHEMA_WORDS: Final = frozenset({"type", "properties", "$ref", "anyOf", "oneOf", "allOf"})
_DECLARATIONS: Final = ("functionDeclarations", "function_declarations")
_GEMINI_WORDS: Final = frozenset(
    {"parametersJsonSchema", "parameters_json_schema", "responseJsonSchema", "response_json_schema"}
)
_ANTHROPIC_SCHEMA: Final = "input_schema"
_MCP_WORDS: Final = frozenset(
    {"inputSchema", "outputSchema", "output_schema", "annotations", "icons", "execution", "title", "_meta"}
)
"""Members that MCP's tools have and Anthropic's do not; a tool with one of them is MCP's in snake case."""

_CONTRACT_WORDS: Final = frozenset({"inputs", "outputs"})
"""Members of a function in the JSON interface of an Ethereum contract, which has `type: function` too."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """One entry of a tool list.

    Attributes:
        dialect: The dialect; None for an entry that declares no function, such as a vendor's own web search.
        pointer: JSON Pointer of the entry.
        function: The object that declares name and parameters.
        wrapper: Members of the object around it, without its `type` and the function itself.
        is_typed: The list says that the entry is a function.
    """

    dialect: str | None
    pointer: str
    function: Mapping[str, Json]
    wrapper: Mapping[str, Json] = field(default_factory=dict)
    is_typed: bool = True


@dataclass(frozen=True, slots=True)
class ToolList:
    """A document with tools.

    Attributes:
        entries: Its entries, in order; an entry that is not an object has no dialect.
        further: Other members of the document by JSON Pointer: the rest of a request.
    """

    entries: tuple[ToolEntry, ...]
    further: Mapping[str, Json] = field(default_factory=dict)

    @property
    def dialects(self) -> tuple[str, ...]:
        """The dialects of its functions, the first one first."""
        return tuple(dict.fromkeys(entry.dialect for entry in self.entries if entry.dialect is not None))

    @property
    def is_typed(self) -> bool:
        """Return whether an entry says that it is a function."""
        return any(entry.dialect is not None and entry.is_typed for entry in self.entries)


def find_tools(value: Json) -> ToolList | None:
    """Return the tools of a document, None where it is not a tool list of a vendor.

    A list of tools, a request or another object with one (`tools`, `functions`), and one tool alone are read.

    Args:
        value: The document.
    """
    tool_list = _find(value)
    return tool_list if tool_list is not None and tool_list.dialects else None


def find_no_tools(value: Json) -> ToolList | None:
    """Return the empty tool list of a document that has no tools, None where it is something else."""
    if value == []:
        return ToolList(())
    if not isinstance(value, Mapping) or value.get("tools") != []:
        return None
    return ToolList((), {f"/{pointer_token(key)}": item for key, item in value.items() if key != "tools"})


def _find(value: Json) -> ToolList | None:
    if isinstance(value, list):
        return ToolList(tuple(_entries(value, "")))
    if not isinstance(value, Mapping):
        return None
    for name in ("tools", "functions"):
        tools = value.get(name)
        if isinstance(tools, list):
            further = {f"/{pointer_token(key)}": item for key, item in value.items() if key != name}
            entries = tuple(_entries(tools, f"/{name}"))
            return ToolList(entries, further)
    return ToolList(tuple(_entry(value, "")))


def _entries(tools: list[Json], pointer: str) -> Iterator[ToolEntry]:
    for position, tool in enumerate(tools):
        yield from _entry(tool, f"{pointer}/{position}")


def _entry(tool: Json, pointer: str) -> Iterator[ToolEntry]:
    if not isinstance(tool, Mapping):
        yield ToolEntry(None, pointer, {"value": tool})
        return
    declarations = next((name for name in _DECLARATIONS if isinstance(tool.get(name), list)), None)
    if declarations is not None:
        yield from _gemini_entries(tool, declarations, pointer)
        return
    kind, function = tool.get("type"), tool.get("function")
    if isinstance(function, Mapping) and kind in (None, "function"):
        wrapper = {key: value for key, value in tool.items() if key not in {"type", "function"}}
        yield ToolEntry(OPENAI_CHAT, f"{pointer}/function", function, wrapper, is_typed=kind is not None)
    elif kind == "function" and ("parameters" in tool or tool.keys().isdisjoint(_CONTRACT_WORDS)):
        yield ToolEntry(OPENAI, pointer, {key: value for key, value in tool.items() if key != "type"})
    elif _ANTHROPIC_SCHEMA in tool and not tool.keys() & _MCP_WORDS and kind in (None, "custom"):
        yield ToolEntry(ANTHROPIC, pointer, {key: value for key, value in tool.items() if key != "type"})
    elif kind is None and _is_declaration(tool):
        dialect = GEMINI if _is_of_gemini(tool) else OPENAI_CHAT
        yield ToolEntry(dialect, pointer, tool, is_typed=False)
    else:
        yield ToolEntry(None, pointer, tool)


def _gemini_entries(tool: Mapping[str, Json], declarations: str, pointer: str) -> Iterator[ToolEntry]:
    for position, function in enumerate(tool[declarations]):
        place = f"{pointer}/{declarations}/{position}"
        if isinstance(function, Mapping):
            yield ToolEntry(GEMINI, place, function)
        else:
            yield ToolEntry(None, place, {"value": function})
    for name, value in tool.items():
        # One object holds functions and the vendor's own tools, each under its name.
        if name != declarations:
            yield ToolEntry(None, f"{pointer}/{pointer_token(name)}", {name: value})


def _is_declaration(tool: Mapping[str, Json]) -> bool:
    if not isinstance(tool.get("name"), str):
        return False
    parameters = tool.get("parameters")
    return bool(tool.keys() & _GEMINI_WORDS) or (
        isinstance(parameters, Mapping) and not SCHEMA_WORDS.isdisjoint(parameters)
    )


def _is_of_gemini(tool: Mapping[str, Json]) -> bool:
    parameters = tool.get("parameters")
    word = parameters.get("type") if isinstance(parameters, Mapping) else None
    return bool(tool.keys() & _GEMINI_WORDS) or (isinstance(word, str) and word.isupper())
