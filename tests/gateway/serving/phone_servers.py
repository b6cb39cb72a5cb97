"""Servers of the virtual phone's tools, clients of them, and what their users answer."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import mcp_types
from mcp import Client

from droidgate.calls.approvals import refuse
from droidgate.calls.policy import Policy
from droidgate.serving.phone_tools import PhoneTools
from droidgate.serving.served_phones import ServedPhone
from gateway.calls.phones_with_shims import ReachedPhone
from gateway.serving.running_servers import Ask, http_client, running_server


class Answers:
    """What a user answers, question by question; the last answer is that to all others. None is a refusal."""

    def __init__(self, *choices: str | None, before_first: Callable[[], object] = lambda: None) -> None:
        self.choices, self.before_first, self.questions = choices, before_first, list[str]()

    def __call__(self, message: str) -> mcp_types.ElicitResult:
        choice = self.choices[min(len(self.questions), len(self.choices) - 1)]
        if not self.questions:
            self.before_first()
        self.questions.append(message)
        if choice is None:
            return mcp_types.ElicitResult(action="decline")
        return mcp_types.ElicitResult(action="accept", content={"approve": choice})


def tools_of(phone: ReachedPhone, *, allow: str | None = "*", **options: Any) -> PhoneTools:
    served = ServedPhone(None, lambda: phone.caller(approver=refuse, policy=Policy.load(phone.folder)))
    allowed = [] if allow is None else [allow]
    return PhoneTools([served], **{"allow": allowed, "poll_seconds": 0.2, **options})


@asynccontextmanager
async def connected(tools: Any, revision: str, ask: Ask | None = None) -> AsyncIterator[Client]:
    with running_server(tools) as server:
        async with http_client(server, revision, ask) as client:
            yield client


# Tool -> arguments, and what its result holds.
CALLS: dict[str, tuple[dict[str, Any], str]] = {
    "clockin_query_clock_in": ({"date": "2026-01-02"}, '"date":"2026-01-02"'),
    "notes_createNote": ({"title": "Milk", "content": "two litres"}, '"title":"Milk"'),
    "legacy_createNote": ({"title": "Milk", "content": "two litres"}, '"noteId"'),
    "pdftool_page_count": ({"path": "/sdcard/Download/nothing.pdf"}, "nothing.pdf"),
    "tally_read_total": ({"player": "Nobody"}, '{"player":"Nobody","total":0}'),
    "weather_currentWeather": ({"location": "Oslo"}, "Oslo"),
}
