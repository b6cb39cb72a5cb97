"""The clock-in app: a Mobile-MCP service and a screen over one record of days, as its Java sources do it
(`ClockInEngine.java`).
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.preferences import Preferences
from droidgate_phone.apps.tool_requests import (
    DeclaredCapability,
    RefusalError,
    ToolAnswer,
    answer_message,
    answer_request,
    answer_start,
    read_descriptor,
)
from droidgate_phone.java.app_values import Message, View
from droidgate_phone.java.intents import Intent
from droidgate_phone.java.org_json import java_text
from droidgate_phone.system.behaviour import Activity, App, Context, PrivateFiles, Service

_FIRST_DAY: Final = "2000-01-01"
_MONTHS: Final = range(1, 13)


class Book(Protocol):
    """The record of days, as ISO dates."""

    def days(self) -> frozenset[str]:
        """Return the days on record."""

    def add(self, day: str) -> bool:
        """Add a day; false when it was on record before."""


def _problem_with_missed(day: str, today: str) -> str | None:
    """Return what is wrong with a day that was missed, None where nothing is.

    Days are compared as texts: four digits of year make that the order of time, and Java's calendar begins
    with a year 0 that Python's has not.
    """
    problem = _problem_with_form(day)
    if problem is None and not _FIRST_DAY <= day <= today:
        return f'"date" must lie between {_FIRST_DAY} and {today}'
    return problem


def _problem_with_form(day: str) -> str | None:
    """Return why a text names no day, None where it names one."""
    if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", day):
        return '"date" must look like YYYY-MM-DD'
    year, month, number = map(int, day.split("-"))
    is_day = month in _MONTHS and 1 <= number <= calendar.monthrange(year, month)[1]
    return None if is_day else '"date" names a day that does not exist'


@dataclass(slots=True)
class ClockInEngine:
    """Answers requests over one record of days.

    Attributes:
        descriptor: What the app declares, by id.
        book: The record.
        today: Gives the ISO date of today.
    """

    descriptor: Mapping[str, DeclaredCapability]
    book: Book
    today: Callable[[], str]

    def answer(self, request_text: str | None) -> str:
        """Return the response to a request, whatever it looks like; None where the extra was missing."""
        return answer_request(self.descriptor, request_text, self._run)

    def _run(self, capability_id: str, arguments: Mapping[str, Json]) -> ToolAnswer:
        today = self.today()
        if capability_id == "clock_in_today":
            is_new = self.book.add(today)
            return ToolAnswer(
                f"Clocked in for today, {today}." if is_new else f"Today, {today}, was on record already."
            )
        if capability_id == "make_up_clock_in":
            return self._make_up(_day_of(arguments, today), today)
        if capability_id == "query_clock_in":
            day = _day_of(arguments, today)
            has_clocked_in = day in self.book.days()
            message = f"There is {'a' if has_clocked_in else 'no'} clock-in for {day}."
            return ToolAnswer(message, {"date": day, "has_clocked_in": has_clocked_in})
        raise RefusalError("backend_failure", f"declared but not written: {capability_id}")

    def _make_up(self, missed: str, today: str) -> ToolAnswer:
        problem = _problem_with_missed(missed, today)
        if problem is not None:
            raise RefusalError("invalid_argument", problem)
        if self.book.add(missed):
            return ToolAnswer(f"Added a clock-in for {missed}.")
        return ToolAnswer(f"A clock-in for {missed} was on record already.")


def _day_of(arguments: Mapping[str, Json], fallback: str) -> str:
    if "date" not in arguments:
        return fallback
    day = java_text(arguments["date"])
    problem = _problem_with_form(day)
    if problem is not None:
        raise RefusalError("invalid_argument", problem)
    return day


_PACKAGE: Final = "dev.droidgate.sample.clockin"


class ClockInBook:
    """The days on record, kept as ISO dates in the app's preferences."""

    def __init__(self, files: PrivateFiles) -> None:
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
        self._problem = _problem_with_missed(self._typed, today(self.context)) or ""
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
