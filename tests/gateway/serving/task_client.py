"""Tasks (SEP-2663) for the SDK's client, which knows none: requests and results are written out here."""

from collections.abc import Mapping
from typing import Any, Literal

import anyio
import mcp_types
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientSession

EXTENSION = "io.modelcontextprotocol/tasks"
ENDED = {"completed", "failed", "cancelled"}


class TaskRequest(mcp_types.Request[dict[str, Any], str]):
    name_param = "taskId"


class AnyResult(mcp_types.Result):
    """Any result, whose members are kept."""

    model_config = {"extra": "allow"}


class CreatedTask(AnyResult):
    result_type: Literal["task"] = "task"


async def until(session: ClientSession, task: str, status: str) -> dict[str, Any]:
    while (seen := await send(session, "get", task))["status"] != status:  # noqa: ASYNC110 - the server's
        await anyio.sleep(0.05)
    return seen


async def send(session: ClientSession, method: str, task: str, **parameters: Any) -> dict[str, Any]:
    request = TaskRequest(method=f"tasks/{method}", params={"taskId": task, **parameters})
    result = await session.send_request(request, AnyResult)
    return result.model_dump(by_alias=True, exclude_none=True)


class Tasks(ClientExtension):
    """Waits for the end of each task, and answers its questions.

    Attributes:
        states: What the server said of a task, in order, each state once.
        created: The tasks as they were named.
        answered: The keys of the questions that were answered.
    """

    identifier = EXTENSION

    def __init__(self, answer: Mapping[str, Any] | None = None) -> None:
        self.answer = answer or {"action": "cancel"}
        self.states: list[str] = []
        self.created: list[dict[str, Any]] = []
        self.has_created = anyio.Event()
        self.answered: list[str] = []

    def claims(self) -> list[ResultClaim[CreatedTask]]:
        return [ResultClaim(result_type="task", model=CreatedTask, resolve=self.wait)]

    async def wait(self, created: CreatedTask, context: ClaimContext) -> mcp_types.CallToolResult:
        seen = created.model_dump(by_alias=True)
        self.created.append(seen)
        self.has_created.set()
        while True:
            if seen["status"] not in self.states:
                self.states.append(seen["status"])
            if seen["status"] in ENDED:
                return mcp_types.CallToolResult.model_validate(
                    seen.get("result") or {"content": [{"type": "text", "text": seen["statusMessage"]}]}
                )
            requests = seen.get("inputRequests", {})
            answers = {key: self.answer for key in requests if key not in self.answered}
            if answers:
                self.answered += answers
                await send(context.session, "update", seen["taskId"], inputResponses=answers)
            await anyio.sleep(0.05)
            seen = await send(context.session, "get", seen["taskId"])
