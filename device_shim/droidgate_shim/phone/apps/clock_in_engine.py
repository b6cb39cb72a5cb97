"""One Mobile-MCP 1.0 request text in, one response text out: `RequestEngine.java` and `Descriptor.java`.

The sample app is a tool author's, so nothing here comes from the gateway's own adapter, which is to be tried
against it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from droidgate.model.errors import DroidgateError
from droidgate.model.json_values import Json
from droidgate.parsing.xml_text import parse_xml
from droidgate_shim.phone.apps.behaviour import AppCrashError
from droidgate_shim.phone.apps.strict_json import JsonTextError, named_object, read_object
from droidgate_shim.phone.java_text import java_length
from droidgate_shim.phone.org_json import java_text, write_json

_VERSION: Final = "1.0"
_LONGEST_REQUEST: Final = 64 * 1024
_FIRST_DAY: Final = "2000-01-01"
_MONTHS: Final = range(1, 13)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the descriptor declares."""

    name: str
    type: str
    is_required: bool


@dataclass(slots=True)
class Capability:
    """A capability that the descriptor declares."""

    inputs: dict[str, Parameter] = field(default_factory=dict)
    outputs: list[Parameter] = field(default_factory=list)

    def problem_with(self, arguments: Mapping[str, Json]) -> str | None:
        """Return what is wrong with arguments, None where nothing is."""
        for parameter in self.inputs.values():
            if parameter.is_required and parameter.name not in arguments:
                return f'"{parameter.name}" is missing'
        for name, value in arguments.items():
            found = self.inputs.get(name)
            if found is None:
                return f'"{name}" is not a parameter of this capability'
            if not isinstance(value, bool if found.type == "boolean" else str):
                return f'"{name}" must be a {found.type}'
        return None


def read_descriptor(xml: str | None) -> dict[str, Capability]:
    """Return what the app's own descriptor declares, by id.

    Raises:
        AppCrashError: it cannot be read; the service dies when it is made.
    """
    try:
        root = parse_xml(xml or "", path="mcp_capabilities.xml")
    except DroidgateError as error:
        message = f"java.lang.IllegalStateException: The app's own descriptor cannot be read: {error}"
        raise AppCrashError(message) from None
    capabilities = {}
    for element in root.iter("capability"):
        capability = Capability()
        for parameter in map(_parameter_of, element.iterfind("input/param")):
            capability.inputs[parameter.name] = parameter
        capability.outputs.extend(map(_parameter_of, element.iterfind("output/param")))
        capabilities[element.get("id", "")] = capability
    return capabilities


def _parameter_of(element: _Attributes) -> Parameter:
    name, kind = element.get("name", ""), element.get("type", "")
    return Parameter(name, kind, element.get("required", "") == "true")


class _Attributes(Protocol):
    def get(self, name: str, default: str) -> str: ...


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


class _RefusalError(Exception):
    def __init__(self, token: str, reason: str) -> None:
        super().__init__(f"{token}: {reason}")


@dataclass(frozen=True, slots=True)
class _Answer:
    message: str
    outputs: Mapping[str, Json] = field(default_factory=dict)


@dataclass(slots=True)
class _Naming:
    """What a refusal names: as much as was read before it."""

    request_id: str = ""
    capability_id: str = ""


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
        naming = _Naming()
        try:
            capability, answer = self._serve(request_text, naming)
        except _RefusalError as refusal:
            return _response(naming.request_id, {"id": naming.capability_id}, "failure", str(refusal))
        described: dict[str, Json] = {"id": naming.capability_id}
        if capability.outputs:
            described["output"] = [
                {"name": one.name, "type": one.type, "value": answer.outputs.get(one.name)}
                for one in capability.outputs
            ]
        return _response(naming.request_id, described, "success", answer.message)

    def _serve(self, request_text: str | None, naming: _Naming) -> tuple[Capability, _Answer]:
        envelope = _envelope_of(request_text)
        request = _object_in(envelope, "request")
        naming.request_id = _text_in(request, "id")
        named = named_object(request, "capability")
        naming.capability_id = java_text(named["id"]) if named is not None and "id" in named else ""
        if envelope.get("version") != _VERSION:
            raise _RefusalError("unsupported_version", f"this tool speaks version {_VERSION}")
        call = _object_in(request, "capability")
        naming.capability_id = _text_in(call, "id")
        capability = self.descriptor.get(naming.capability_id)
        if capability is None:
            raise _RefusalError("unknown_capability", f'there is no "{naming.capability_id}" here')
        arguments = _arguments_of(call)
        problem = capability.problem_with(arguments)
        if problem is not None:
            raise _RefusalError("invalid_argument", problem)
        return capability, self._run(naming.capability_id, arguments)

    def _run(self, capability_id: str, arguments: Mapping[str, Json]) -> _Answer:
        today = self.today()
        if capability_id == "clock_in_today":
            is_new = self.book.add(today)
            return _Answer(
                f"Clocked in for today, {today}." if is_new else f"Today, {today}, was on record already."
            )
        if capability_id == "make_up_clock_in":
            return self._make_up(_day_of(arguments, today), today)
        if capability_id == "query_clock_in":
            day = _day_of(arguments, today)
            found = day in self.book.days()
            message = f"There is {'a' if found else 'no'} clock-in for {day}."
            return _Answer(message, {"date": day, "has_clocked_in": found})
        raise _RefusalError("backend_failure", f"declared but not written: {capability_id}")

    def _make_up(self, missed: str, today: str) -> _Answer:
        problem = Calendar(today).problem_with(missed)
        if problem is not None:
            raise _RefusalError("invalid_argument", problem)
        if self.book.add(missed):
            return _Answer(f"Added a clock-in for {missed}.")
        return _Answer(f"A clock-in for {missed} was on record already.")


def _day_of(arguments: Mapping[str, Json], fallback: str) -> str:
    if "date" not in arguments:
        return fallback
    day = java_text(arguments["date"])
    problem = Calendar.problem_with_form(day)
    if problem is not None:
        raise _RefusalError("invalid_argument", problem)
    return day


def _envelope_of(request_text: str | None) -> Mapping[str, Json]:
    if request_text is None:
        raise _RefusalError("invalid_argument", "the request is missing")
    if java_length(request_text) > _LONGEST_REQUEST:
        raise _RefusalError("invalid_argument", f"the request is longer than {_LONGEST_REQUEST} characters")
    try:
        document = read_object(request_text)
    except JsonTextError as error:
        raise _RefusalError("invalid_argument", f"the request is not JSON: {error}") from None
    return _object_in(document, "mobile-mcp-request")


def _arguments_of(call: Mapping[str, Json]) -> Mapping[str, Json]:
    if "input" in call:
        raise _RefusalError("invalid_argument", 'arguments belong under "args", not under "input"')
    return _object_in(call, "args") if "args" in call else {}


def _object_in(parent: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    found = named_object(parent, name)
    if found is None:
        raise _RefusalError("invalid_argument", f'"{name}" must be an object')
    return found


def _text_in(parent: Mapping[str, Json], name: str) -> str:
    value = parent.get(name)
    if isinstance(value, str) and value:
        return value
    raise _RefusalError("invalid_argument", f'"{name}" must be a text that is not empty')


def _response(request_id: str, capability: Json, status: str, message: str) -> str:
    response = {"id": request_id, "capability": capability, "status": status, "message": message}
    return write_json({"mobile-mcp-response": {"version": _VERSION, "response": response}})
