"""What a server needs of a provider of tools: a snapshot, calls, resources and changes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.records import dataclass, field
from droidgate_mcp.wire import DeclaredOutput, McpToolResult

ListChange = Literal["tools", "resources"]
"""What changed: the list of tools, or the list of resources."""

MAX_PAGE: Final = 512 * 1024
"""Bytes of what one answer lists: the SDK's client takes no event of more than 1 MiB from a stream. A list
that is shorter is one page, because several clients read only the first one."""

_MEMBER_NAMES: Final = len('"uri":"name":"mimeType":"title":"description":')


@dataclass(frozen=True, slots=True)
class Client:
    """Who sends a request.

    Attributes:
        id: Stable between runs, such as `mcp:claude-code`. It is made of the name that the client gives
            itself: any client with the token may give any name.
        name: That name, with hidden characters removed.
        revision: The protocol revision that the client uses.
    """

    id: str
    name: str
    revision: str


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """What the client's user is asked during a call.

    Attributes:
        key: Distinguishes the questions of one call; the same in each attempt of the call.
        message: One or more sentences, plain text.
        schema: JSON Schema of a flat object: the fields of the answer (MCP 2025-11-25, elicitation).
        call: Id of the call in the audit log, by which its attempts are one call there.
    """

    key: str
    message: str
    schema: Mapping[str, Json]
    call: str = ""


@dataclass(frozen=True, slots=True)
class UserAnswer:
    """The outcome of a question.

    Attributes:
        outcome: `accepted`, `refused` (the user said no, or closed the form), `unanswered` (nobody answered
            in time), `invalid` (the answer is not what the form asks for), `unavailable` (the client cannot
            ask), or `pending` (2026-07-28: the client asks, then repeats the call; end this attempt without
            any effect).
        fields: The user's values, where accepted.
    """

    outcome: Literal["accepted", "refused", "unanswered", "invalid", "unavailable", "pending"]
    fields: Mapping[str, Json] = field(default_factory=dict)


class ReportProgress(Protocol):
    """Report how far a call is."""

    async def __call__(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Send one report; `progress` grows with each."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool.

    Attributes:
        tool: Its name in the snapshot.
        arguments: As the client sent them; nothing has checked them.
        client: Who calls.
        ask: Asks the client's user.
        report_progress: Reports how far the call is; None where nobody asks for it.
        traceparent: The distributed trace that the call belongs to.
        may_become_task: The call may go on when its request is answered, so it may take longer.
        asked: Key of each question that earlier attempts of the call asked (2026-07-28) -> its `call`.
    """

    tool: str
    arguments: Mapping[str, Json]
    client: Client
    ask: Callable[[UserQuestion], Coroutine[Any, Any, UserAnswer]]
    report_progress: ReportProgress | None
    traceparent: str | None = None
    may_become_task: bool = False
    asked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServedFile:
    """A file that belongs to a result.

    Attributes:
        name: What it is called where it comes from; any text.
        mime_type: By its bytes.
        data: Its bytes.
    """

    name: str
    mime_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of a call.

    Attributes:
        result: The value, or why there is none.
        declared: What the tool declares that it returns.
        files: What the value names or holds, for clients that do not reach the phone.
    """

    result: McpToolResult
    declared: DeclaredOutput | None = None
    files: tuple[ServedFile, ...] = ()


@dataclass(frozen=True, slots=True)
class ServedTool:
    """One tool.

    Attributes:
        name: At most 64 characters of `[A-Za-z0-9_-]`.
        documents: Protocol revision -> the tool's JSON object in `tools/list`.
        group: What it belongs to in `--plan` and `find_tools`, such as the app's package.
        capability: The same for tools that are one capability on several phones; empty where it is unknown.
    """

    name: str
    documents: Mapping[str, Mapping[str, Json]]
    group: str = ""
    capability: str = ""

    @property
    def size(self) -> int:
        """Bytes of the longest of its documents."""
        return max(_size(dict(document)) for document in self.documents.values())


@dataclass(frozen=True, slots=True)
class ServedResource:
    """One resource of `resources/list`."""

    uri: str
    name: str
    mime_type: str
    title: str | None = None
    description: str | None = None

    @property
    def size(self) -> int:
        """Bytes of its JSON object."""
        return _size([self.uri, self.name, self.mime_type, self.title, self.description]) + _MEMBER_NAMES


@dataclass(frozen=True)
class ToolSnapshot:
    """All tools and resources at one moment."""

    tools: tuple[ServedTool, ...] = ()
    resources: tuple[ServedResource, ...] = ()

    @cached_property
    def by_name(self) -> dict[str, ServedTool]:
        """Each tool by its name."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def tool_pages(self) -> tuple[slice, ...]:
        """The pages of the list of tools."""
        return _pages(tool.size for tool in self.tools)

    @cached_property
    def resource_pages(self) -> tuple[slice, ...]:
        """The pages of the list of resources."""
        return _pages(resource.size for resource in self.resources)


def _pages(sizes: Iterable[int]) -> tuple[slice, ...]:
    """Return the pages of what has these sizes in bytes, at least one; each has room for its items."""
    starts, room, number = [0], MAX_PAGE, 0
    for number, size in enumerate(sizes, 1):
        if size > room and number - 1 > starts[-1]:
            starts.append(number - 1)
            room = MAX_PAGE
        room -= size
    return tuple(map(slice, starts, [*starts[1:], number]))


def _size(value: Json) -> int:
    return len(canonical_json(value).encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """The content of a resource: a text, or bytes."""

    uri: str
    mime_type: str
    content: str | bytes


class UnknownToolError(DroidgateError):
    """The server has no tool of that name."""

    exit_code = 2


class UnknownResourceError(DroidgateError):
    """The server has no resource of that URI."""

    exit_code = 2


class ToolProvider(Protocol):
    """A provider of tools. The server calls all methods in its event loop."""

    @property
    def instructions(self) -> str | None:
        """What a client reads about the server as a whole."""

    def run(self, on_change: Callable[[ListChange], None]) -> AbstractAsyncContextManager[None]:
        """Keep the snapshot up to date while the context is open; report each change."""

    def snapshot(self) -> ToolSnapshot:
        """Return what is served now; never waits."""

    async def call(self, call: ToolCall) -> ToolOutcome:
        """Call a tool. A call that is cancelled ends with the event loop's cancellation.

        Raises:
            UnknownToolError: the snapshot has no such tool.
        """

    async def read_resource(self, uri: str, client: str) -> ResourceContent:
        """Return the content of a resource for the client with this id.

        Raises:
            UnknownResourceError: there is none of that URI.
        """
