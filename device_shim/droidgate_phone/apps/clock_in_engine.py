"""What the clock-in app does for a request: `ClockInEngine.java`."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from droidgate_mappings.model.json_values import Json
from droidgate_phone.apps.tool_requests import Answer, Capability, RefusalError, answer_request
from droidgate_phone.org_json import java_text

_FIRST_DAY: Final = "2000-01-01"
_MONTHS: Final = range(1, 13)


class Book(Protocol):
    """The record of days, as ISO dates."""

    def days(self) -> frozenset[str]:
        """Return the days on record."""

    def add(self, day: str) -> bool:
        """Add a day; false when it was on record before."""


class Calendar:
    """Which texts are days that may be added.

    Days are compared as texts: four digits of year make that the order of time, and Java's calendar begins
    with a year 0 that Python's has not.
    """

    def __init__(self, today: str) -> None:
        self.today = today

    def problem_with(self, day: str) -> str | None:
        """Return what is wrong with a day that was missed, None where nothing is."""
        return self.problem_with_form(day) or (
            None
            if _FIRST_DAY <= day <= self.today
            else f'"date" must lie between {_FIRST_DAY} and {self.today}'
        )

    @staticmethod
    def problem_with_form(day: str) -> str | None:
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

    descriptor: Mapping[str, Capability]
    book: Book
    today: Callable[[], str]

    def answer(self, request_text: str | None) -> str:
        """Return the response to a request, whatever it looks like; None where the extra was missing."""
        return answer_request(self.descriptor, request_text, self._run)

    def _run(self, capability_id: str, arguments: Mapping[str, Json]) -> Answer:
        today = self.today()
        if capability_id == "clock_in_today":
            is_new = self.book.add(today)
            return Answer(
                f"Clocked in for today, {today}." if is_new else f"Today, {today}, was on record already."
            )
        if capability_id == "make_up_clock_in":
            return self._make_up(_day_of(arguments, today), today)
        if capability_id == "query_clock_in":
            day = _day_of(arguments, today)
            found = day in self.book.days()
            message = f"There is {'a' if found else 'no'} clock-in for {day}."
            return Answer(message, {"date": day, "has_clocked_in": found})
        raise RefusalError("backend_failure", f"declared but not written: {capability_id}")

    def _make_up(self, missed: str, today: str) -> Answer:
        problem = Calendar(today).problem_with(missed)
        if problem is not None:
            raise RefusalError("invalid_argument", problem)
        if self.book.add(missed):
            return Answer(f"Added a clock-in for {missed}.")
        return Answer(f"A clock-in for {missed} was on record already.")


def _day_of(arguments: Mapping[str, Json], fallback: str) -> str:
    if "date" not in arguments:
        return fallback
    day = java_text(arguments["date"])
    problem = Calendar.problem_with_form(day)
    if problem is not None:
        raise RefusalError("invalid_argument", problem)
    return day
