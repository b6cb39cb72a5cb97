"""Requests of every wire dialect (specification 3.1, 3.2; reference section 6, rows 1 to 4, 14, 24, 26)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from droidgate.leniency import ReadingContext
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json, canonical_json, json_equal
from droidgate_mobile_mcp.constants import NAMES
from droidgate_mobile_mcp.wire_dialects import (
    MM_0,
    MM_1,
    MM_2,
    MM_2B,
    MM_3,
    MM_4,
    MM_5,
    MM_6,
    MM_6_ARGS,
    S0,
    S1,
    WireDialect,
)
from droidgate_mobile_mcp.wire_messages import (
    REQUEST_EXTRAS,
    VERSION,
    Carrier,
    Extras,
    MalformedRequestError,
    Request,
    UnsupportedVersionError,
    find_text,
    is_command,
    object_at,
    parse_object,
    refuse_unserved,
    shown,
)

_ARGUMENT_KEYS: Final = ("args", "input")


def read_request(
    given: Extras | str,
    context: ReadingContext | None = None,
    *,
    carrier: Carrier = "start",
    usual: WireDialect = S0,
) -> Request:
    """Read a request.

    Args:
        given: The intent's extras (or the message's Bundle), or the bare text of a call.
        context: Takes what had to be bent; strict ones refuse it.
        carrier: Whether it came in a started service's intent or in a bound service's message.
        usual: The dialect of a wrapped request without arguments, whose text does not tell; S0 or S1.

    Returns:
        The request. One of the forms before the specification is read and named; `dialect.served` is false
        then.

    Raises:
        MalformedRequestError: it is no request; `request` holds what an answer needs.
        UnsupportedVersionError: it names another version.
    """
    return _RequestReader(context or ReadingContext(), carrier, usual).read(given)


@dataclass(slots=True)
class _RequestReader:
    context: ReadingContext
    carrier: Carrier
    usual: WireDialect
    seen: Request | None = None

    def read(self, given: Extras | str) -> Request:
        try:
            extra_key, text, trace = find_text(given, REQUEST_EXTRAS)
            guess = self.first_guess(extra_key)
            beside = self.id_beside(extra_key, given)
            self.seen = Request(guess, beside, wrapped=guess.wrapped, extra_key=extra_key, id_value=beside)
            document = parse_object(text, "the request", self.context.parse)
            if extra_key == NAMES["command_extra"] or (extra_key is None and is_command(document)):
                return self.read_command(document, extra_key, given, benchmark=trace)
            return self.read_document(document, extra_key)
        except InputError as error:
            raise self.malformed(error.message) from None

    def first_guess(self, extra_key: str | None) -> WireDialect:
        """Return the dialect in which a request is answered that tells nothing more."""
        if extra_key == NAMES["prototype_request_extra"]:
            return MM_6 if self.carrier == "bind" else MM_5
        if extra_key == NAMES["command_extra"]:
            return MM_3 if self.carrier == "bind" else MM_2
        return self.usual

    def id_beside(self, extra_key: str | None, given: Extras | str) -> str:
        """Return the id that stands in an extra of its own, as in the forms before the specification."""
        if extra_key != NAMES["command_extra"] or isinstance(given, str):
            return ""
        beside = given.get(NAMES["request_id_extra"])
        return beside if isinstance(beside, str) else ""

    def read_document(self, document: dict[str, Json], extra_key: str | None) -> Request:
        wrapper = NAMES["request_wrapper"]
        inner = document
        if wrapper in document:
            inner = object_at(document, wrapper)
        wrapped = "request" in inner
        version = inner.get("version") if wrapped else None
        request = object_at(inner, "request") if wrapped else inner
        capability = request.get("capability")
        key = self.argument_key(capability if isinstance(capability, dict) else {}, request)
        dialect = self.dialect_of(key, wrapped=wrapped)
        read = partial(Request, dialect, wrapped=wrapped, extra_key=extra_key, version=version)
        self.seen = read()
        self.note_form(extra_key, wrapped=wrapped, named=wrapper in document)
        request_id, id_value = self.read_id(request)
        self.seen = read(request_id=request_id, id_value=id_value)
        if wrapped:
            self.check_version(version)
        if not isinstance(capability, dict):
            raise self.malformed("the request names no capability")
        capability_id = capability.get("id")
        if not isinstance(capability_id, str) or not capability_id:
            raise self.malformed("the request's capability has no id")
        self.seen = read(request_id=request_id, id_value=id_value, capability_id=capability_id)
        arguments = self.read_arguments(capability, request, dialect)
        return read(
            request_id=request_id, id_value=id_value, capability_id=capability_id, arguments=arguments
        )

    def dialect_of(self, key: str | None, *, wrapped: bool) -> WireDialect:
        if wrapped:
            return {"args": S0, "input": S1}.get(key or "", self.usual)
        if self.carrier == "bind":
            return MM_6_ARGS if key == "args" else MM_6
        return MM_4 if key == "args" else MM_5

    def argument_key(self, capability: Mapping[str, Json], request: Mapping[str, Json]) -> str | None:
        """Return the key that holds the arguments; `args` where both do."""
        return next((key for key in _ARGUMENT_KEYS if key in capability or key in request), None)

    def note_form(self, extra_key: str | None, *, wrapped: bool, named: bool) -> None:
        """Tell a form that mixes two dialects."""
        if extra_key == NAMES["request_extra"] and not (wrapped and named):
            self.context.allow("M14", f"the extra {extra_key} holds the request without its wrapper")
        elif extra_key == NAMES["prototype_request_extra"] and wrapped:
            self.context.allow("M14", f"the extra {extra_key} holds a wrapped request")
        elif wrapped and not named:
            self.context.allow("M14", f"the document is not wrapped in {NAMES['request_wrapper']}")

    def read_id(self, request: Mapping[str, Json]) -> tuple[str, Json]:
        value = request.get("id")
        if isinstance(value, int) and not isinstance(value, bool):
            self.context.allow("M26", f"the request's id {value} is a number; it is read as text")
            return str(value), value
        if not isinstance(value, str) or not value:
            raise self.malformed("the request has no id")
        return value, value

    def check_version(self, version: Json) -> None:
        if version == VERSION and isinstance(version, str):
            return
        if version is None:
            self.context.allow("M24", f"a wrapped request without a version is read as {VERSION}")
            return
        if version == "1" or json_equal(version, 1):
            self.context.allow("M24", f"the version {shown(version)} is read as {VERSION}")
            return
        message = f"the request is of version {shown(version)}, and {VERSION} is what is known"
        raise UnsupportedVersionError(message, self.seen)

    def read_arguments(
        self, capability: Mapping[str, Json], request: Mapping[str, Json], dialect: WireDialect
    ) -> dict[str, Json]:
        found: list[dict[str, Json]] = []
        for key in _ARGUMENT_KEYS:
            if key in capability:
                found.append(self.argument_map(capability[key], dialect))
            elif key in request:
                self.context.allow("M01", f"{key} stands beside the capability, not inside it")
                found.append(self.argument_map(request[key], dialect))
        if len(found) > 1:
            if not json_equal(found[0], found[1]):
                raise self.malformed("args and input hold different arguments")
            self.context.allow("M01", "args and input hold the same arguments")
        return found[0] if found else {}

    def argument_map(self, value: Json, dialect: WireDialect) -> dict[str, Json]:
        if isinstance(value, str):
            if not dialect.arguments_as_text:
                self.context.allow("M03", "the arguments are JSON text inside the JSON")
            if not value.strip():
                return {}
            value = self.context.parse(value, path="arguments")
        elif dialect.arguments_as_text and value is not None:
            self.context.allow("M03", "the arguments are an object, where this dialect has JSON text")
        if value is None:
            return {}
        if isinstance(value, list):
            self.context.allow("M02", "the arguments are a list of name and value")
            return self.map_of_list(value)
        if not isinstance(value, dict):
            raise self.malformed("the arguments are no map")
        return value

    def map_of_list(self, entries: list[Json]) -> dict[str, Json]:
        arguments: dict[str, Json] = {}
        for entry in entries:
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str) or "value" not in entry:
                raise self.malformed("an argument of the list has no name or no value")
            if name in arguments:
                raise self.malformed(f"the argument {name!r} is given twice")
            arguments[name] = entry["value"]
        return arguments

    def read_command(
        self, document: dict[str, Json], extra_key: str | None, given: Extras | str, *, benchmark: bool
    ) -> Request:
        """Read a request of the time before the specification: arguments stand beside the capability's id."""
        if extra_key is None:
            dialect = MM_0 if "capabilityId" in document else MM_1
        else:
            dialect = MM_3 if self.carrier == "bind" else MM_2B if benchmark else MM_2
        request_id = self.id_beside(extra_key, given)
        self.seen = read = Request(dialect, request_id, extra_key=extra_key, id_value=request_id)
        capability_id = document.get("capability", document.get("capabilityId"))
        if not isinstance(capability_id, str) or not capability_id:
            raise self.malformed("the command names no capability")
        nested = document.get("args")
        names = {"capability", "capabilityId", *(["args"] if isinstance(nested, dict) else [])}
        flat = {name: value for name, value in document.items() if name not in names}
        arguments = {**nested, **flat} if isinstance(nested, dict) else flat
        return replace(read, capability_id=capability_id, arguments=arguments)

    def malformed(self, message: str) -> MalformedRequestError:
        return MalformedRequestError(message, self.seen)


def write_request(
    dialect: WireDialect, request_id: str, capability_id: str, arguments: Mapping[str, Json]
) -> dict[str, str]:
    """Return a request's string extras, or the message's Bundle.

    Args:
        dialect: One that is served.
        request_id: Unique within the agent, such as a UUID.
        capability_id: The capability.
        arguments: Name -> JSON value, typed as the descriptor says.

    Raises:
        UsageError: the dialect is not served.
    """
    refuse_unserved(dialect)
    held: Json = canonical_json(dict(arguments)) if dialect.arguments_as_text else dict(arguments)
    capability = {"id": capability_id, str(dialect.arguments_key): held}
    request: Json = {"id": request_id, "capability": capability}
    if dialect.wrapped:
        request = {NAMES["request_wrapper"]: {"version": VERSION, "request": request}}
    return {str(dialect.request_extra): canonical_json(request)}
