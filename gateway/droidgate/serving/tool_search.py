"""Search mode: three tools instead of hundreds, for clients whose model would be given all of them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any, Final

import jsonschema

from droidgate.serving.tools import (
    Change,
    ResourceContent,
    ServedTool,
    ToolCall,
    ToolOutcome,
    ToolProvider,
    ToolSnapshot,
    UnknownToolError,
)
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mcp.format import HANDSHAKE, MODERN
from droidgate_mcp.wire import McpToolFailure, McpToolResult, text_of

MANY_TOOLS: Final = 40
"""Above it search mode is the default: clients take 40 to 128 tools (reference style-and-peers 2.1)."""

_MOST_FOUND: Final = 20
_USUALLY_FOUND: Final = 5
_SATURATION: Final = 1.5
_LENGTH_WEIGHT: Final = 0.75
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+")

_NAME: Final[dict[str, Json]] = {"type": "string", "description": "Name of a tool, as find_tools gives it"}
_SCHEMAS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "find_tools": (
        "Find tools of the phone's apps by words. Returns names and the apps' own descriptions.",
        {
            "query": {"type": "string", "minLength": 1, "description": "Words, such as: create note"},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST_FOUND,
                "default": _USUALLY_FOUND,
                "description": "How many to return",
            },
        },
    ),
    "describe_tool": ("Return a tool's description and the JSON Schema of its arguments.", {"name": _NAME}),
    "call_tool": (
        "Call a tool of an app.",
        {
            "name": _NAME,
            "arguments": {
                "type": "object",
                "default": {},
                "description": "By the schema that describe_tool returns",
            },
        },
    ),
}


class SearchTools:
    """A provider whose three tools find, describe and call those of another.

    Args:
        inner: Has the tools.
        always: Whether the three are served. None serves the others themselves until there are more than
            `MANY_TOOLS`, and the three from then on.
    """

    def __init__(self, inner: ToolProvider, *, always: bool | None = True) -> None:
        self._inner = inner
        self._mode = always
        self._announced = False
        self._index: tuple[ToolSnapshot, ToolIndex] | None = None

    @property
    def is_searched(self) -> bool:
        """Whether the three tools are served; once they are, they stay."""
        if self._mode is None and len(self._inner.snapshot().tools) > MANY_TOOLS:
            self._mode = True
        return bool(self._mode)

    @property
    def instructions(self) -> str | None:
        """The instructions of the other provider, and how to find a tool."""
        inner = self._inner.instructions
        if self._mode is False:
            return inner
        condition = "" if self.is_searched else "If there is a tool find_tools: "
        return f"{inner or ''}\n{condition}Find a tool with find_tools, then call it with call_tool."

    @asynccontextmanager
    async def run(self, on_change: Callable[[Change], None]) -> AsyncIterator[None]:
        """Keep the other's snapshot up to date; the three tools never change."""

        def forward(change: Change) -> None:
            if change == "tools":
                before, self._announced = self._announced, self.is_searched
                if before and self._announced:
                    return
            on_change(change)

        async with self._inner.run(forward):
            self._announced = self.is_searched
            yield

    def snapshot(self) -> ToolSnapshot:
        """Return the tools that are served now, and the other's resources."""
        inner = self._inner.snapshot()
        return ToolSnapshot(_TOOLS, inner.resources) if self.is_searched else inner

    async def read_resource(self, uri: str) -> ResourceContent:
        """Return the content of one of the other's resources."""
        return await self._inner.read_resource(uri)

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Find, describe or call a tool; a client may know the others' names from before."""
        if call.tool not in _SCHEMAS or not self.is_searched:
            return await self._inner.call(call)
        schema = _input_schema(call.tool)
        problem = next(jsonschema.Draft202012Validator(schema).iter_errors(call.arguments), None)
        if problem is not None:
            return _refused(f"/{'/'.join(map(str, problem.absolute_path))}: {problem.message}")
        arguments: Mapping[str, Any] = call.arguments
        if call.tool == "find_tools":
            found = self._find(arguments["query"], arguments.get("limit", _USUALLY_FOUND))
            return ToolOutcome(McpToolResult(canonical_json(found)))
        name = arguments["name"]
        if call.tool == "describe_tool":
            tool = self._inner.snapshot().by_name.get(name)
            if tool is None:
                return _refused(f"/name: unknown tool {name!r}\nhint: find its name with find_tools")
            return ToolOutcome(McpToolResult(canonical_json(dict(tool.documents[MODERN]))))
        try:
            outcome = await self._inner.call(
                replace(call, tool=name, arguments=arguments.get("arguments", {}))
            )
        except UnknownToolError as error:
            return _refused(f"/name: {error}")
        # call_tool declares no output, so the value is a text.
        text = text_of(outcome.result.value, outcome.declared)
        return replace(outcome, result=replace(outcome.result, value=text), declared=None)

    def _find(self, query: str, limit: int) -> list[Json]:
        snapshot = self._inner.snapshot()
        if self._index is None or self._index[0] is not snapshot:
            self._index = snapshot, ToolIndex(snapshot.tools)
        return [
            {"name": tool.name, "description": tool.documents[MODERN].get("description", "")}
            for tool in self._index[1].find(query, limit)
        ]


class ToolIndex:
    """Finds tools by words, ranked by Okapi BM25 over names, titles, descriptions and parameters' names."""

    def __init__(self, tools: Sequence[ServedTool]) -> None:
        self._tools = tools
        self._counts = [Counter(_words_of(tool)) for tool in tools]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._average = sum(self._lengths) / len(tools) if tools else 1.0
        self._occurrences = Counter(word for counts in self._counts for word in counts)

    def find(self, query: str, limit: int) -> list[ServedTool]:
        """Return the tools that have a word of the query, the best first."""
        words = set(_words(query))
        scores = [(self._score(number, words), -number) for number in range(len(self._tools))]
        best = sorted((pair for pair in scores if pair[0] > 0), reverse=True)[:limit]
        return [self._tools[-number] for _, number in best]

    def _score(self, number: int, words: set[str]) -> float:
        counts, total = self._counts[number], len(self._tools)
        norm = 1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * self._lengths[number] / self._average
        score = 0.0
        for word in words & counts.keys():
            with_word = self._occurrences[word]
            rarity = math.log(1 + (total - with_word + 0.5) / (with_word + 0.5))
            score += rarity * counts[word] * (_SATURATION + 1) / (counts[word] + _SATURATION * norm)
        return score


def _words_of(tool: ServedTool) -> list[str]:
    document: Mapping[str, Any] = tool.documents[MODERN]
    texts = [tool.name, tool.group, str(document.get("title", "")), str(document.get("description", ""))]
    schema = document.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return _words(" ".join([*texts, *(properties if isinstance(properties, Mapping) else ())]))


def _words(text: str) -> list[str]:
    """Return the words, in lower case and without a plural `s`: `createNotes` is `create` and `note`."""
    words = (word.lower() for word in _WORD.findall(text))
    return [word.removesuffix("s") if len(word) > _SHORTEST_PLURAL else word for word in words]


_SHORTEST_PLURAL: Final = 3


def _input_schema(name: str) -> dict[str, Any]:
    properties = _SCHEMAS[name][1]
    required = [member for member, schema in properties.items() if "default" not in schema]
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _tool(name: str) -> ServedTool:
    document: dict[str, Json] = {
        "name": name,
        "description": _SCHEMAS[name][0],
        "inputSchema": _input_schema(name),
    }
    if name != "call_tool":
        document["annotations"] = {"readOnlyHint": True, "openWorldHint": False}
    return ServedTool(name, {HANDSHAKE: document, MODERN: document})


def _refused(message: str) -> ToolOutcome:
    return ToolOutcome(McpToolResult(failure=McpToolFailure("invalid_argument", message)))


_TOOLS: Final = tuple(map(_tool, _SCHEMAS))
