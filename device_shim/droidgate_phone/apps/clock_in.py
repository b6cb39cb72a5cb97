"""The clock-in app: a Mobile-MCP service and a screen over one record of days, as its Java sources do it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Final

from droidgate_phone.app_api.behaviour import Activity, App, AppFiles, Context, Service
from droidgate_phone.app_api.values import Message
from droidgate_phone.app_api.views import View
from droidgate_phone.apps.clock_in_engine import Calendar, ClockInEngine
from droidgate_phone.apps.preferences import Preferences
from droidgate_phone.apps.tool_messages import answer_message, answer_start
from droidgate_phone.apps.tool_requests import read_descriptor
from droidgate_phone.intents import Intent

_PACKAGE: Final = "dev.droidgate.sample.clockin"


class ClockInBook:
    """The days on record, kept as ISO dates in the app's preferences."""

    def __init__(self, files: AppFiles) -> None:
        self._files = files

    def days(self) -> frozenset[str]:
        """Return the days on record."""
        return Preferences(self._files, "clock_in").sets.get("days", frozenset())

    def add(self, day: str) -> bool:
        """Add a day; false when it was on record before."""
        preferences = Preferences(self._files, "clock_in")
        days = preferences.sets.get("days", frozenset())
        if day in days:
            return False
        preferences.sets["days"] = days | {day}
        preferences.save()
        return True


def today(context: Context) -> str:
    """Return the day that it is in UTC, the phone's time zone, as an ISO date."""
    return dt.datetime.fromtimestamp(context.now(), dt.UTC).date().isoformat()


class ClockInService(Service):
    """Answers requests of assistants that bind it or start it."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        descriptor = read_descriptor(context.read_xml_resource("@xml/mcp_capabilities"))
        self._engine = ClockInEngine(descriptor, ClockInBook(context.files), lambda: today(context))

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        """Return what answers messages with `what` 1."""
        del intent
        return self._answer_message

    def on_start_command(self, intent: Intent) -> None:
        """Answer through the PendingIntent that came with the request; do nothing without one."""
        answer_start(self.context, intent, self._engine.answer)

    def _answer_message(self, message: Message) -> None:
        answer_message(self.context, message, self._engine.answer)


class MainActivity(Activity):
    """The same record for the person who holds the phone."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._book = ClockInBook(context.files)
        self._typed = ""
        self._problem = ""

    def on_text(self, view_id: str, text: str) -> None:
        """Take the day that is typed."""
        if view_id == "missed_day":
            self._typed = text

    def on_click(self, view_id: str) -> None:
        """Clock in today, or add the day that was typed."""
        if view_id == "clock_in_now":
            self._book.add(today(self.context))
        elif view_id == "add_missed_day":
            self._add_missed_day()

    def view(self) -> View:
        """Return today's state, the ways to add a day, and all days, newest first."""
        days = self._book.days()
        state = "clocked_in" if today(self.context) in days else "not_clocked_in"
        listed = tuple(View("text", text=day) for day in sorted(days, reverse=True))
        children = (
            View("text", "state", self._text(state)),
            View("button", "clock_in_now", self._text("clock_in_now")),
            View("input", "missed_day", self._typed, hint=self._text("missed_day")),
            View("button", "add_missed_day", self._text("add_missed_day")),
            View("text", "problem", self._problem),
            View("list", "days", children=listed or (View("text", text=self._text("no_days")),)),
        )
        return View("column", children=children)

    def _add_missed_day(self) -> None:
        self._problem = Calendar(today(self.context)).problem_with(self._typed) or ""
        if not self._problem:
            self._book.add(self._typed)
            self._typed = ""

    def _text(self, name: str) -> str:
        return self.context.read_string_resource(f"@string/{name}") or ""


class ClockInApp(App):
    """Behaviour of the clock-in app."""

    PACKAGE = _PACKAGE
    SERVICES = {f"{_PACKAGE}.ClockInService": ClockInService}
    ACTIVITIES = {f"{_PACKAGE}.MainActivity": MainActivity}
