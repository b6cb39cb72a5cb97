"""The weather app: a broadcast receiver reports and runs its tools, as its Java sources do it."""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import parse_qs, urlsplit

from droidgate_mappings.model.json_values import Json
from droidgate_phone.java.app_values import BroadcastResult, View
from droidgate_phone.java.intents import Bundle, Extra, Intent
from droidgate_phone.java.java_text import java_length, java_trim
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_phone.system.behaviour import Activity, App, Receiver

ACTION_DISCOVERY: Final = "com.example.ACTION_MMCP_DISCOVERY"
ACTION_INVOKE: Final = "com.example.ACTION_MMCP_INVOKE"
EXTRA_TOOL: Final = "tool"
EXTRA_PARAMS: Final = "params"

_PACKAGE: Final = "dev.droidgate.sample.weather"
_SKIES: Final = ("sunny", "partly cloudy", "overcast", "light rain", "heavy rain", "snow")
_COLDEST: Final = -5
_TEMPERATURES: Final = 36
_WINDS: Final = 60
_SNOW: Final = 5
_SNOW_LIMIT: Final = 2
_LONGEST_PARAMS: Final = 16 * 1024
_LONGEST_NAME: Final = 80
_MOST_DAYS: Final = 7
_LEAST_PLACES: Final = 2
_MOST_PLACES: Final = 10
_RESULT_OK: Final = -1


@dataclass(frozen=True, slots=True)
class Weather:
    """The weather of one place on one day: °C, a word for the sky, wind in km/h."""

    temperature: int
    sky: str
    wind: int


def weather_of(place: str, day: int) -> Weather:
    """Return the weather of a place; day 0 is today (`Weather.java`)."""
    # Java writes half a surrogate pair as a question mark.
    drawn = zlib.crc32(f"{place.lower()}|{day}".encode("utf-8", "replace"))
    temperature = _COLDEST + (drawn & 0xFF) % _TEMPERATURES
    sky = (drawn >> 8 & 0xFF) % len(_SKIES)
    wind = (drawn >> 16 & 0xFF) % _WINDS
    if sky == _SNOW and temperature > _SNOW_LIMIT:
        sky -= 1
    return Weather(temperature, _SKIES[sky], wind)


class _RefusalError(Exception):
    """A call that the tools do not take; its message is the reason."""


@dataclass(frozen=True, slots=True)
class _Tool:
    description: str
    parameters: tuple[str, ...]


_TOOLS: Final = {
    "currentWeather": _Tool("Returns the weather in a place right now, in one sentence.", ("location",)),
    "forecast": _Tool(
        "Gives the weather of the coming days in a place as JSON. days is a number from 1 to 7.",
        ("location", "days"),
    ),
    "warmestPlace": _Tool(
        "Compares places and names the warmest one. "
        "places is a list of 2 to 10 names with semicolons between.",
        ("places",),
    ),
}


def describe_tools(into: Bundle) -> Bundle:
    """Return the bundle with the list of tools that the app answers a discovery with."""
    described = into
    for name, tool in _TOOLS.items():
        parameters = write_json(dict.fromkeys(tool.parameters, "string"))
        described = described.with_extra(f"{name}.description", Extra("string", tool.description))
        described = described.with_extra(f"{name}.parameters", Extra("string", parameters))
    return described.with_extra("tools", Extra("string[]", tuple(_TOOLS)))


def _run(tool_name: str | None, params: str | None) -> str:
    tool = _TOOLS.get(tool_name or "")
    if tool is None:
        raise _RefusalError("no tool is named" if tool_name is None else f'unknown tool "{tool_name}"')
    arguments = _arguments_for(str(tool_name), tool, params)
    if tool_name == "currentWeather":
        return _current(arguments["location"])
    if tool_name == "forecast":
        return _forecast(arguments["location"], arguments["days"])
    return _warmest(arguments["places"])


def _current(location: str) -> str:
    place = _place_from(location)
    now = weather_of(place, 0)
    return f"{place}: {now.sky}, {now.temperature} °C, wind {now.wind} km/h."


def _forecast(location: str, days: str) -> str:
    place = _place_from(location)
    count = int(days) if re.fullmatch("[1-9]", days) else 0
    if not 1 <= count <= _MOST_DAYS:
        raise _RefusalError(f"days must be a number from 1 to {_MOST_DAYS}")
    listed: list[Json] = []
    for day in range(1, count + 1):
        weather = weather_of(place, day)
        listed.append(
            {"day": day, "sky": weather.sky, "temperature": weather.temperature, "wind": weather.wind}
        )
    return write_json({"location": place, "days": listed})


def _warmest(places: str) -> str:
    names = places.split(";")
    if not _LEAST_PLACES <= len(names) <= _MOST_PLACES:
        raise _RefusalError(
            f"places must hold {_LEAST_PLACES} to {_MOST_PLACES} names with semicolons between"
        )
    measured = [(place, weather_of(place, 0).temperature) for place in map(_place_from, names)]
    best, temperature = max(measured, key=lambda item: item[1])
    return f"{best} is the warmest with {temperature} °C."


def _place_from(text: str) -> str:
    place = re.sub("[ \t\r\n]+", " ", java_trim(text))
    if not 1 <= len(place) <= _LONGEST_NAME:
        raise _RefusalError(f"a place needs a name of 1 to {_LONGEST_NAME} characters")
    if not any(unicodedata.category(character).startswith("L") for character in place):
        raise _RefusalError(f'"{place}" is not the name of a place')
    return place


def _arguments_for(name: str, tool: _Tool, params: str | None) -> dict[str, str]:
    members = _object_from(params)
    arguments = {}
    for parameter in tool.parameters:
        value = members.get(parameter)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise _RefusalError(parameter + (" must be a text" if parameter in members else " is missing"))
        arguments[parameter] = str(value)
    unknown = next((item for item in members if item not in arguments), None)
    if unknown is not None:
        raise _RefusalError(f'"{unknown}" is not a parameter of {name}')
    return arguments


def _object_from(params: str | None) -> Mapping[str, Json]:
    if not params:
        return {}
    if java_length(params) > _LONGEST_PARAMS:
        raise _RefusalError(f"the parameters are longer than {_LONGEST_PARAMS} characters")
    try:
        return parse_object(params)
    except JsonError:
        raise _RefusalError("the parameters are not a JSON object") from None


class WeatherReceiver(Receiver):
    """Lists its tools and runs them for senders of ordered broadcasts."""

    def on_receive(self, intent: Intent, current: BroadcastResult) -> BroadcastResult | None:
        """Answer a discovery with the tools, an invocation with the tool's text."""
        if intent.action == ACTION_DISCOVERY:
            return BroadcastResult(_RESULT_OK, current.data, describe_tools(current.extras))
        if intent.action != ACTION_INVOKE:
            return None
        try:
            text = _run(intent.extras.get_string(EXTRA_TOOL), intent.extras.get_string(EXTRA_PARAMS))
        except _RefusalError as refusal:
            return BroadcastResult(0, f"Error: {refusal}", current.extras)
        return BroadcastResult(_RESULT_OK, text, current.extras)


class MainActivity(Activity):
    """Shows the weather of a place that is typed in, or that it is opened with."""

    place = ""
    answer = ""

    def on_create(self, intent: Intent) -> None:
        """Look up the place of the link, or of the extra."""
        extra = intent.extras.get_string("place")
        places = [extra] if intent.data is None else parse_qs(urlsplit(intent.data).query).get("name", [None])
        if places[0] is not None:
            self.place = places[0]
            self.on_click("show_weather")

    def on_text(self, view_id: str, text: str) -> None:
        """Take the name of a place."""
        if view_id == "place":
            self.place = text

    def on_click(self, view_id: str) -> None:
        """Look up the place that was typed."""
        if view_id != "show_weather":
            return
        try:
            self.answer = _current(self.place)
        except _RefusalError as refusal:
            self.answer = str(refusal)

    def view(self) -> View:
        """Return the note about the app, the input and the answer."""
        read = self.context.read_string_resource
        children = [
            View("text", "about", read("@string/about") or ""),
            View("input", "place", self.place, hint=read("@string/place") or ""),
            View("button", "show_weather", read("@string/show_weather") or ""),
            View("text", "answer", self.answer),
        ]
        return View("column", children=tuple(children))


class WeatherApp(App):
    """Behaviour of the weather app."""

    PACKAGE = _PACKAGE
    ACTIVITIES = {f"{_PACKAGE}.MainActivity": MainActivity}
    RECEIVERS = {f"{_PACKAGE}.WeatherReceiver": WeatherReceiver}
