"""Calls that outlive their request: the MCP extension Tasks of 2026-07-28 (SEP-2663).

A call by a client that takes tasks begins as every other call does. If it has not ended after
`GRACE_SECONDS`, its request is answered with the id of a task, and the client asks how far the task is. A
question for the user ends the request if it comes before that, as it does without tasks; later it is part of
the task.

A task belongs to the client that called: to any other the id is an unknown task. Nothing is
removed before its time; while there is no room, calls are answered by their own requests.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import anyio
import mcp_types
from anyio.abc import TaskGroup
from mcp.shared.exceptions import MCPError

from droidgate.serving.elicitation import ANSWER_SECONDS, answer_of, elicit_request
from droidgate.serving.tools import UserAnswer, UserQuestion
from droidgate_mappings.model.json_values import canonical_json
from droidgate_mappings.records import dataclass, field

EXTENSION: Final = "io.modelcontextprotocol/tasks"

GRACE_SECONDS: Final = 0.5
"""A call that ends within this time is answered by its own request."""

TTL_SECONDS: Final = 900.0
"""How long a task is kept, from the call's beginning: longer than a call and a question take."""

POLL_SECONDS: Final = 1.0
MAX_OF_CLIENT: Final = 128
"""Most tasks of one client that are kept at once, those that run included."""

MAX_TASKS: Final = 512
MAX_BYTES: Final = 32 * 1024 * 1024
"""No task is made while the results that are kept have more bytes."""

_log: Final = logging.getLogger(__name__)

CallWork = Callable[["CallTask"], Awaitable[Any]]
"""A call, to be made as a task; returns the result of `tools/call`."""


@dataclass(slots=True)
class _Pending:
    """A question that the client has not answered."""

    question: UserQuestion
    is_answered: anyio.Event = field(default_factory=anyio.Event)
    answer: UserAnswer = field(default_factory=lambda: UserAnswer("unanswered"))


class CallTask:
    """A call that may become a task.

    Args:
        owner: The client's id.

    Attributes:
        id: 192 random bits.
        is_detached: It is a task: its request is answered.
        is_asking: The client was asked by the answer to its request, and so repeats the call.
        ended: Set when the call has ended.
        size: Bytes of the result of a task that has ended.
    """

    def __init__(self, owner: str) -> None:
        self.id = secrets.token_urlsafe(24)
        self.owner = owner
        self.is_detached = False
        self.is_asking = False
        self.ended = anyio.Event()
        self.size = 0
        self._scope = anyio.CancelScope()
        self._began = time.monotonic()
        self._created = self._updated = datetime.now(UTC)
        self._message: str | None = None
        self._result: Any = None
        self._error: Exception | None = None
        self._pending: dict[str, _Pending] = {}
        self._asked = 0

    async def work(self, work: CallWork) -> None:
        """Make the call and keep its outcome."""
        try:
            with self._scope:
                self._result = await work(self)
        except Exception as error:  # noqa: BLE001
            self._error = error
            if self.is_detached and not isinstance(error, MCPError):
                _log.exception("a task failed")
        finally:
            self.note(None)
            if self.is_detached:
                self.size = len(canonical_json(self._result or {}).encode("utf-8", "surrogatepass"))
            self.ended.set()

    def cancel(self) -> None:
        """End the call; what the app has done is not undone."""
        self._scope.cancel()

    def result(self) -> Any:
        """Return the result of a call that has ended, or raise its error."""
        if self._error is not None:
            raise self._error
        return self._result

    def note(self, message: str | None) -> None:
        """Keep what the call waits for."""
        self._message, self._updated = message, datetime.now(UTC)

    @property
    def is_expired(self) -> bool:
        """Whether nobody may rely on the task any more."""
        return self.ended.is_set() and time.monotonic() - self._began > TTL_SECONDS

    async def ask(self, question: UserQuestion) -> UserAnswer:
        """Ask the user through the client, which finds the question in the task."""
        pending = _Pending(question)
        # A key is never used twice in a task, whatever is asked.
        self._asked += 1
        key = f"{self._asked} {question.key}"
        self._pending[key] = pending
        self.note(None)
        try:
            with anyio.move_on_after(ANSWER_SECONDS):
                await pending.is_answered.wait()
        finally:
            self._pending.pop(key, None)
            self.note(None)
        return pending.answer

    def answer(self, responses: Mapping[str, Any]) -> None:
        """Take answers of the user; those to what is not asked are ignored.

        Raises:
            MCPError: an answer is not what the form asks for; nothing was taken.
        """
        answers = {
            key: answer_of(responses[key], self._pending[key].question)
            for key in self._pending.keys() & responses
        }
        for key, answer in answers.items():
            if answer is None:
                message = f"the answer {key!r} is not what its form asks for"
                raise MCPError(code=mcp_types.INVALID_PARAMS, message=message)
        for key, answer in answers.items():
            pending = self._pending.pop(key)
            pending.answer = answer or pending.answer
            pending.is_answered.set()

    def created(self) -> dict[str, Any]:
        """Return the result that names the task, in place of that of its request."""
        return {"resultType": "task", **self._head("working")}

    def document(self) -> dict[str, Any]:
        """Return the result of `tasks/get`."""
        if not self.ended.is_set():
            if not self._pending:
                return self._head("working")
            requests = {key: elicit_request(pending.question) for key, pending in self._pending.items()}
            dumped = {key: _dump_model(request) for key, request in requests.items()}
            return {**self._head("input_required"), "inputRequests": dumped}
        if self._error is not None:
            error = self._error.error if isinstance(self._error, MCPError) else _INTERNAL
            return {**self._head("failed"), "statusMessage": error.message, "error": _dump_model(error)}
        if self._scope.cancelled_caught:
            return {**self._head("cancelled"), "statusMessage": _CANCELED}
        return {**self._head("completed"), "result": self._result}

    def _head(self, status: str) -> dict[str, Any]:
        message = {} if self._message is None else {"statusMessage": self._message}
        return {
            "taskId": self.id,
            "status": status,
            **message,
            "createdAt": self._created.isoformat(timespec="milliseconds"),
            "lastUpdatedAt": self._updated.isoformat(timespec="milliseconds"),
            "ttlMs": int(TTL_SECONDS * 1000),
            "pollIntervalMs": int(POLL_SECONDS * 1000),
        }


_CANCELED: Final = "the call was canceled; the app may have finished it"
_INTERNAL: Final = mcp_types.ErrorData(code=mcp_types.INTERNAL_ERROR, message="internal error")


def _dump_model(model: mcp_types.ElicitRequest | mcp_types.ErrorData) -> dict[str, Any]:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


class CallTasks:
    """The calls that may become tasks, and the tasks of all clients.

    Args:
        group: Runs them; they end with it.
    """

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._tasks: dict[str, CallTask] = {}

    async def run(self, owner: str, work: CallWork) -> Any:
        """Make a call, and return its result, or the task that it has become.

        Args:
            owner: Id of the client that calls, which has declared that it takes tasks.
            work: The call.

        Raises:
            MCPError: as the call, if it is not a task by then.
        """
        task = CallTask(owner)
        self._group.start_soon(task.work, work)
        try:
            with anyio.move_on_after(GRACE_SECONDS):
                await task.ended.wait()
            if not (task.ended.is_set() or task.is_asking) and self._has_room(owner):
                task.is_detached = True
                self._tasks[task.id] = task
                return task.created()
            await task.ended.wait()
        finally:
            if not task.is_detached:
                task.cancel()
        return task.result()

    def get(self, owner: str, identifier: str) -> CallTask:
        """Return a task of a client.

        Raises:
            MCPError: the client has no such task, or its time is over.
        """
        task = self._tasks.get(identifier)
        if task is None or task.owner != owner or task.is_expired:
            raise MCPError(code=mcp_types.INVALID_PARAMS, message=f"unknown task {identifier!r}")
        return task

    def _has_room(self, owner: str) -> bool:
        self._tasks = {name: task for name, task in self._tasks.items() if not task.is_expired}
        tasks = self._tasks.values()
        return (
            len(tasks) < MAX_TASKS
            and sum(task.owner == owner for task in tasks) < MAX_OF_CLIENT
            and sum(task.size for task in tasks) < MAX_BYTES
        )
