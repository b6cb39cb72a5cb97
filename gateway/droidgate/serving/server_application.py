"""The MCP server over a provider of tools: one object for both transports and both protocol revisions.

It knows who sends a request from the MCP session, and estimates what the tools cost a model in tokens.
"""

from __future__ import annotations

import base64
import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import anyio
import mcp_types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import MCP_NAME_HEADER, decode_header_value
from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

from droidgate.calls.subjects import client_id
from droidgate.calls.trace_context import TRACEPARENT, read_traceparent
from droidgate.computer.version import VERSION
from droidgate.serving.call_tasks import EXTENSION, CallTask, CallTasks
from droidgate.serving.elicitation import Questions
from droidgate.serving.tool_results import KeptResults, write_outcome
from droidgate.serving.tools import (
    Client,
    ListChange,
    ServedTool,
    ToolCall,
    ToolProvider,
    UnknownResourceError,
    UnknownToolError,
    UserAnswer,
    UserQuestion,
)
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.token_estimates import estimate_tokens
from droidgate_mappings.text_safety import MAX_NAME, without_hidden
from droidgate_mcp.format import HANDSHAKE, MODERN


@dataclass(frozen=True, slots=True)
class PlannedApp:
    """The tools of one app.

    Attributes:
        group: The app's package, after its phone's serial number where there are several phones.
        tools: How many.
        tokens: Estimate of what a model is given for them, as in the coverage report.
        output_tokens: How many of these are for the schemas of outputs, which not every client gives to it.
    """

    group: str
    tools: int
    tokens: int
    output_tokens: int


def plan_tokens(tools: Iterable[ServedTool]) -> tuple[PlannedApp, ...]:
    """Return the cost of each app's tools, the most expensive first."""
    apps: dict[str, PlannedApp] = {}
    for tool in tools:
        document = tool.documents[MODERN]
        output = _tokens_of(document["outputSchema"]) if "outputSchema" in document else 0
        app = apps.get(tool.group, PlannedApp(tool.group, 0, 0, 0))
        tokens = app.tokens + _tokens_of(dict(document))
        apps[tool.group] = PlannedApp(app.group, app.tools + 1, tokens, app.output_tokens + output)
    return tuple(sorted(apps.values(), key=lambda app: (-app.tokens, app.group)))


def _tokens_of(value: Json) -> int:
    return estimate_tokens(len(canonical_json(value).encode("utf-8", "surrogatepass")))


def client_of(context: ServerRequestContext[Any, Any]) -> Client:
    """Return the client that sent a request, by the name it gave in its handshake or with its request."""
    session = context.session
    parameters = session.client_params
    client_name = "" if parameters is None else parameters.client_info.name
    name = without_hidden(client_name).strip()[:MAX_NAME]
    return Client(
        id=client_id(name),
        name=name or "unnamed",
        revision=session.protocol_version,
    )


NAME: Final = "droidgate"

_ALWAYS_STALE: Final = CacheHint(ttl_ms=0, scope="private")
"""Apps come, go and change at any time."""

_RESOURCE_NOT_FOUND: Final = -32002
_ANNOUNCE_SECONDS: Final = 5

_Context = ServerRequestContext[None, Any]


class _Server(Server[None]):
    """The SDK's server, which announces in every handshake that its lists change.

    Attributes:
        current_instructions: Returns the instructions as they are now; those of apps come and go.
    """

    current_instructions: Callable[[], str | None] = staticmethod(lambda: None)

    @property
    def instructions(self) -> str | None:
        """What a client reads about the server, which the SDK takes when a client asks."""
        return self.current_instructions()

    @instructions.setter
    def instructions(self, _value: str | None) -> None:
        """Ignore the text that the SDK's constructor keeps."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True, resources_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class McpServer:
    """The server, made of the official SDK's low-level one.

    Args:
        provider: Has the tools.

    Attributes:
        server: The SDK's server; each transport runs this one object.
    """

    def __init__(self, provider: ToolProvider) -> None:
        self._provider = provider
        self._kept = KeptResults()
        self._tasks: CallTasks
        self._bus = InMemorySubscriptionBus()
        self._sessions: set[ServerSession] = set()
        server = _Server(
            NAME,
            version=VERSION,
            title="Capabilities of Android apps",
            cache_hints={
                "server/discover": _ALWAYS_STALE,
                "tools/list": _ALWAYS_STALE,
                "resources/list": _ALWAYS_STALE,
                "resources/read": _ALWAYS_STALE,
            },
            lifespan=self._lifespan,
            get_tool_input_schema=self._input_schema,
            on_list_resources=self._list_resources,
            on_subscriptions_listen=_listen_handler(ListenHandler(self._bus)),
        )
        server.extensions[EXTENSION] = {}
        self.server: Server[None] = server
        server.current_instructions = lambda: provider.instructions
        # Registered here because these return JSON objects, which the SDK validates for the revision.
        add = self.server.add_request_handler
        add("tools/list", mcp_types.PaginatedRequestParams, self._list_tools)
        add("tools/call", mcp_types.CallToolRequestParams, self._call_tool)
        add("resources/read", mcp_types.ReadResourceRequestParams, self._read_resource)
        add("tasks/get", mcp_types.GetTaskRequestParams, self._get_task)
        add("tasks/update", _UpdateTaskParams, self._update_task)
        add("tasks/cancel", mcp_types.CancelTaskRequestParams, self._cancel_task)
        self.server.add_notification_handler(
            "notifications/initialized", mcp_types.NotificationParams, self._remember_session
        )
        if isinstance(get_tracer_provider(), ProxyTracerProvider):
            # Nobody has chosen what records the spans that the SDK's middleware makes of each request.
            self.server.middleware.clear()
        self.server.middleware.append(
            RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)
        )

    @asynccontextmanager
    async def _lifespan(self, _server: Server[None]) -> AsyncIterator[None]:
        changes = _Changes()
        async with anyio.create_task_group() as tasks, self._provider.run(changes.add):
            self._tasks = CallTasks(tasks)
            tasks.start_soon(self._announce, changes)
            yield None
            tasks.cancel_scope.cancel()

    async def _remember_session(
        self, context: _Context, _parameters: mcp_types.NotificationParams | None
    ) -> None:
        """Keep the session of a client of 2025-11-25, which is sent changes until it closes."""
        session = context.session
        self._sessions.add(session)
        # The SDK has no other notice of a connection's end.
        session._connection.exit_stack.callback(self._sessions.discard, session)  # noqa: SLF001

    async def _announce(self, changes: _Changes) -> None:
        while True:
            for change in await changes.take():
                if change == "tools":
                    await self._bus.publish(ToolsListChanged())
                else:
                    await self._bus.publish(ResourcesListChanged())
                async with anyio.create_task_group() as tasks:
                    for session in self._sessions:
                        tasks.start_soon(_send_change, session, change)

    async def _list_tools(
        self, context: _Context, parameters: mcp_types.PaginatedRequestParams | None
    ) -> dict[str, Any]:
        revision, snapshot = _revision(context), self._provider.snapshot()
        page, following = _page(snapshot.tool_pages, parameters)
        tools = [dict(tool.documents[revision]) for tool in snapshot.tools[page]]
        cursor = {} if following is None else {"nextCursor": following}
        return {**_result_type(revision), **cursor, "tools": tools}

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        tool: ServedTool | None = self._provider.snapshot().by_name.get(name)
        schema = None if tool is None else tool.documents[MODERN].get("inputSchema")
        return schema if isinstance(schema, Mapping) else None

    async def _call_tool(
        self, context: _Context, parameters: mcp_types.CallToolRequestParams
    ) -> dict[str, Any] | mcp_types.InputRequiredResult:
        if not _takes_tasks(context):
            return await self._make_call(context, parameters, None)
        work = functools.partial(self._make_call, context, parameters)
        result: dict[str, Any] | mcp_types.InputRequiredResult
        result = await self._tasks.run(client_of(context).id, work)
        return result

    async def _make_call(
        self, context: _Context, parameters: mcp_types.CallToolRequestParams, task: CallTask | None
    ) -> dict[str, Any] | mcp_types.InputRequiredResult:
        questions = Questions(context, parameters)
        wants_progress = _wants_progress(context)

        async def ask(question: UserQuestion) -> UserAnswer:
            if task is not None and task.is_detached and questions.can_ask:
                return await task.ask(question)
            answer = await questions.ask(question)
            if task is not None:
                task.is_asking |= answer.outcome == "pending"
            return answer

        async def report(progress: float, total: float | None = None, message: str | None = None) -> None:
            if task is not None:
                task.note(message)
            # A task has no notifications of progress.
            if wants_progress and not (task is not None and task.is_detached):
                await context.session.report_progress(progress, total, message)

        call = ToolCall(
            tool=parameters.name,
            arguments=parameters.arguments or {},
            client=client_of(context),
            ask=ask,
            report_progress=report if wants_progress or task is not None else None,
            traceparent=read_traceparent((context.meta or {}).get(TRACEPARENT)),
            may_become_task=task is not None,
            asked=questions.asked_before,
        )
        try:
            outcome = await self._provider.call(call)
        except UnknownToolError as error:
            raise MCPError(code=mcp_types.INVALID_PARAMS, message=str(error)) from None
        return questions.input_required() or write_outcome(outcome, context.protocol_version, self._kept)

    async def _get_task(
        self, context: _Context, parameters: mcp_types.GetTaskRequestParams
    ) -> dict[str, Any]:
        return self._task(context, parameters.task_id).document()

    async def _update_task(self, context: _Context, parameters: _UpdateTaskParams) -> dict[str, Any]:
        self._task(context, parameters.task_id).answer(parameters.input_responses)
        return {}

    async def _cancel_task(
        self, context: _Context, parameters: mcp_types.CancelTaskRequestParams
    ) -> dict[str, Any]:
        self._task(context, parameters.task_id).cancel()
        return {}

    def _task(self, context: _Context, identifier: str) -> CallTask:
        """Return the task that a request is about.

        Raises:
            MCPError: the revision has no tasks, or the client did not declare that it takes them, or it has
                no such task, or a header of HTTP names another one.
        """
        if context.protocol_version != MODERN:
            raise MCPError(code=mcp_types.METHOD_NOT_FOUND, message="Method not found", data=context.method)
        _require_tasks(context)
        headers = getattr(context.request, "headers", None)
        if headers is not None and decode_header_value(headers.get(MCP_NAME_HEADER)) != identifier:
            raise MCPError(
                code=mcp_types.HEADER_MISMATCH, message="the Mcp-Name header does not name the task"
            )
        return self._tasks.get(client_of(context).id, identifier)

    async def _list_resources(
        self, _context: _Context, parameters: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListResourcesResult:
        snapshot = self._provider.snapshot()
        page, following = _page(snapshot.resource_pages, parameters)
        return mcp_types.ListResourcesResult(
            next_cursor=following,
            resources=[
                mcp_types.Resource(
                    uri=resource.uri,
                    name=resource.name,
                    title=resource.title,
                    description=resource.description,
                    mime_type=resource.mime_type,
                )
                for resource in snapshot.resources[page]
            ],
        )

    async def _read_resource(
        self, context: _Context, parameters: mcp_types.ReadResourceRequestParams
    ) -> dict[str, Any]:
        uri = str(parameters.uri)
        try:
            kept = self._kept.get(uri)
            resource = kept or await self._provider.read_resource(uri, client_of(context).id)
        except UnknownResourceError as error:
            # -32002 up to 2025-11-25; 2026-07-28 took that code away (SEP-2164).
            code = mcp_types.INVALID_PARAMS if _revision(context) == MODERN else _RESOURCE_NOT_FOUND
            raise MCPError(code=code, message=str(error), data={"uri": uri}) from None
        written: dict[str, Any] = {"uri": resource.uri, "mimeType": resource.mime_type}
        if isinstance(resource.content, str):
            written["text"] = resource.content
        else:
            written["blob"] = base64.b64encode(resource.content).decode("ascii")
        return {**_result_type(_revision(context)), "contents": [written]}


class _UpdateTaskParams(mcp_types.RequestParams):
    """Answers of the user to the questions of a task."""

    task_id: str
    input_responses: dict[str, Any]


def _takes_tasks(context: _Context) -> bool:
    """Return whether a client has declared with its request that it takes tasks."""
    capabilities = context.session.client_capabilities
    extensions = None if capabilities is None else capabilities.extensions
    return context.protocol_version == MODERN and EXTENSION in (extensions or {})


def _require_tasks(context: _Context) -> None:
    if not _takes_tasks(context):
        raise MCPError(
            code=mcp_types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            message=f"the request does not declare the extension {EXTENSION}",
            data={"requiredCapabilities": {"extensions": {EXTENSION: {}}}},
        )


def _listen_handler(
    listen: ListenHandler,
) -> Callable[
    [_Context, mcp_types.SubscriptionsListenRequestParams], Awaitable[mcp_types.SubscriptionsListenResult]
]:
    """Return what serves subscriptions; tasks send no notifications, and clients poll."""

    async def handle(
        context: _Context, parameters: mcp_types.SubscriptionsListenRequestParams
    ) -> mcp_types.SubscriptionsListenResult:
        notifications = (context.params or {}).get("notifications")
        if isinstance(notifications, Mapping) and "taskIds" in notifications:
            _require_tasks(context)
        return await listen(context, parameters)

    return handle


class _Changes:
    """What has changed since it was last announced; a burst of one kind is one announcement."""

    def __init__(self) -> None:
        self._pending: set[ListChange] = set()
        self._wake = anyio.Event()

    def add(self, change: ListChange) -> None:
        """Note a change."""
        self._pending.add(change)
        self._wake.set()

    async def take(self) -> list[ListChange]:
        """Wait until something has changed, and return it."""
        await self._wake.wait()
        self._wake = anyio.Event()
        changes = sorted(self._pending)
        self._pending.clear()
        return changes


async def _send_change(session: ServerSession, change: ListChange) -> None:
    # A client that does not read would hold up the others.
    with anyio.move_on_after(_ANNOUNCE_SECONDS):
        if change == "tools":
            await session.send_tool_list_changed()
        else:
            await session.send_resource_list_changed()


def _page(
    pages: Sequence[slice], parameters: mcp_types.PaginatedRequestParams | None
) -> tuple[slice, str | None]:
    """Return the page that a client asks for, and the cursor of the next one; a cursor is where it begins.

    Raises:
        MCPError: no page begins there; the list may have changed since the client had the cursor.
    """
    cursor = None if parameters is None else parameters.cursor
    starts = [str(page.start) for page in pages]
    if cursor is not None and cursor not in starts:
        raise MCPError(code=mcp_types.INVALID_PARAMS, message="unknown cursor; list from the beginning")
    number = 0 if cursor is None else starts.index(cursor)
    return pages[number], next(iter(starts[number + 1 :]), None)


def _wants_progress(context: _Context) -> bool:
    return context.meta is not None and context.meta.get("progress_token") is not None


def _revision(context: _Context) -> str:
    return MODERN if context.protocol_version == MODERN else HANDSHAKE


def _result_type(revision: str) -> dict[str, Any]:
    return {"resultType": "complete"} if revision == MODERN else {}
