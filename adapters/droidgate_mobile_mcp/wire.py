"""Requests and responses of every wire dialect of Mobile-MCP, to and from plain values (specification 3;
reference section 6, rows 1 to 32).

Pure functions over texts and string extras. What travels next to the text (the PendingIntent `mcp_callback`,
a Message's `replyTo`) belongs to the sender. Values are read as they are: coercing and checking them against
a capability's types is the business of `droidgate_mappings.values`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar, Final, Literal

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError
from droidgate_mappings.model.json_values import Json, canonical_json, json_equal
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.tables.failure_tokens import read_failure, write_failure
from droidgate_mappings.text.json_text import JsonParser
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mobile_mcp.extension_facts import facts_of
from droidgate_mobile_mcp.format import NAMES, TABLES, WORDS

REQUEST_EXTRAS: Final = (NAMES["request_extra"], NAMES["prototype_request_extra"], NAMES["command_extra"])
RESPONSE_EXTRAS: Final = (NAMES["response_extra"], NAMES["prototype_response_extra"], NAMES["result_extra"])
VERSION: Final = NAMES["version"]
Extras = Mapping[str, Json]
Carrier = Literal["start", "bind"]


@dataclass(frozen=True, slots=True)
class WireDialect:
    """One of the forms that requests and responses have had (reference mobile-mcp-and-mmcp 1, 2.4, 2.5).

    Attributes:
        id: Stable id, as in the reference.
        arguments_key: The capability's key that holds the arguments; None where they are next to the
            capability's id.
        wrapped: Request and response are in a document that names their version.
        request_extra: Extra or Bundle key of the request; None where the text itself is the argument of a
            call.
        response_extra: The same of the response.
        not_served_because: Why droidgate neither sends nor answers it; None where it does.
    """

    id: str
    arguments_key: Literal["args", "input"] | None = None
    wrapped: bool = False
    request_extra: str | None = None
    response_extra: str | None = None
    not_served_because: str | None = None

    @property
    def served(self) -> bool:
        """Whether droidgate sends and answers it."""
        return self.not_served_because is None

    @property
    def outputs_as_list(self) -> bool:
        """Outputs are a list of name, type and value; else an object."""
        return self.arguments_key == "args"

    @property
    def arguments_as_text(self) -> bool:
        """The arguments are JSON text inside the JSON."""
        return self.arguments_key is not None and not self.wrapped


_SPECIFIED: Final = (True, REQUEST_EXTRAS[0], RESPONSE_EXTRAS[0])
_PROTOTYPE: Final = (False, REQUEST_EXTRAS[1], RESPONSE_EXTRAS[1])
_PRE_SPEC: Final = (None, False, REQUEST_EXTRAS[2], RESPONSE_EXTRAS[2])
_BY_AIDL: Final = (None, False, None, None)

# fmt: off
S0: Final = WireDialect("S0", "args", *_SPECIFIED)
S1: Final = WireDialect("S1", "input", *_SPECIFIED)
MM_4: Final = WireDialect("MM-4", "args", *_PROTOTYPE)
MM_5: Final = WireDialect("MM-5", "input", *_PROTOTYPE)
MM_6: Final = WireDialect("MM-6", "input", *_PROTOTYPE)
MM_6_ARGS: Final = WireDialect("MM-6-args", "args", *_PROTOTYPE)
MM_0: Final = WireDialect("MM-0", *_BY_AIDL,
    "its interface is private to the prototype, and a call returns nothing")
MM_1: Final = WireDialect("MM-1", *_BY_AIDL,
    "its interface is private to the prototype, and requests have no id")
MM_2: Final = WireDialect("MM-2", *_PRE_SPEC,
    "the prototype had it for days before the specification, and arguments mix with the capability's id")
MM_2B: Final = WireDialect("MM-2b", *_PRE_SPEC,
    "a benchmark's form: two callbacks answer each request")
MM_3: Final = WireDialect("MM-3", *_PRE_SPEC,
    "a branch of the prototype had it for days, and a dropped connection leaves requests open")
# fmt: on

WIRE_DIALECTS: Final[dict[str, WireDialect]] = {
    item.id: item for item in (S0, S1, MM_4, MM_5, MM_6, MM_6_ARGS, MM_0, MM_1, MM_2, MM_2B, MM_3)
}
"""Every wire dialect by id, those that are served first."""

WIRE_OF_DIALECT: Final[dict[str, tuple[WireDialect, ...]]] = {
    dialect.id: tuple(WIRE_DIALECTS[item] for item in dialect.wire) for dialect in TABLES.dialects
}
"""Dialect of the descriptor -> its wire dialects, most usual first (table `formats/mobile-mcp.toml`)."""


class MobileMcpWireError(DroidgateError):
    """A request or response that cannot be used.

    Attributes:
        failure: The failure token in the response to the peer.
    """

    exit_code = 5
    failure: ClassVar[str] = "backend_failure"


class RequestError(MobileMcpWireError):
    """A request that cannot be used.

    Attributes:
        request: What was read of it, enough to answer it; None where not even its form is known.
    """

    def __init__(self, message: str, request: MobileMcpRequest | None) -> None:
        super().__init__(message)
        self.request = request


class MalformedRequestError(RequestError):
    """Not a request: not JSON, no id, no capability, or arguments that are not a map."""

    failure = "invalid_argument"


class UnsupportedVersionError(RequestError):
    """A request of another version."""

    failure = "unsupported_version"


class MalformedResponseError(MobileMcpWireError):
    """Not a response.

    Attributes:
        raw: Its text.
        request_id: The id of the request it answers; empty where it has none that can be read.
    """

    failure = "malformed_response"

    def __init__(self, message: str, raw: str, request_id: str = "") -> None:
        super().__init__(message)
        self.raw = raw
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class MobileMcpRequest:
    """A request.

    Attributes:
        dialect: Its wire dialect.
        request_id: Its id as text; empty where none was read.
        capability_id: The capability's id; empty where none was read.
        arguments: Name -> JSON value.
        wrapped: It was in the document that names a version.
        extra_key: The extra that held it; None where the text came alone.
        id_value: The id as the peer wrote it, which an answer repeats.
        version: The version it names, None where it names none.
    """

    dialect: WireDialect
    request_id: str = ""
    capability_id: str = ""
    arguments: Mapping[str, Json] = field(default_factory=dict)
    wrapped: bool = False
    extra_key: str | None = None
    id_value: Json = ""
    version: Json = None


@dataclass(frozen=True, slots=True)
class MobileMcpResponse:
    """A response.

    Attributes:
        request_id: The id of the request it answers; empty where it names none.
        succeeded: Whether the call succeeded.
        outputs: Name -> JSON value; None where the response has no output at all.
        message: Its text; a failure's without the token.
        token: A failure's token, None where it has none that is known.
        capability_id: The capability it names, None where it names none.
        dialect: The wire dialect it was read in; None for one that is to be written.
        extra_key: The extra that held it.
    """

    request_id: str
    succeeded: bool
    outputs: Mapping[str, Json] | None = None
    message: str | None = None
    token: str | None = None
    capability_id: str | None = None
    dialect: WireDialect | None = None
    extra_key: str | None = None


def refuse_unserved(dialect: WireDialect) -> None:
    """Raise UsageError for a dialect that droidgate does not speak."""
    if not dialect.served:
        raise UsageError(
            f"the wire dialect {dialect.id} is not served", hint=f"why: {dialect.not_served_because}"
        )


def find_message_text(content: Extras | str, names: tuple[str, ...]) -> tuple[str | None, str | None, bool]:
    """Return the extra that is there, its text (None where it is not a string), and whether a benchmark's
    extras are there.
    """
    if isinstance(content, str):
        return None, content, False
    trace = any(name.startswith(NAMES["trace_prefix"]) for name in content)
    for name in names:
        if name in content:
            text = content[name]
            return name, text if isinstance(text, str) else None, trace
    return None, None, trace


def parse_object(text: str | None, subject: str, parse: JsonParser) -> dict[str, Json]:
    """Return the JSON object of a text; raise InputError where it is not one."""
    if text is None:
        raise InputError(f"no extra holds {subject}")
    document = parse(text, path=subject)
    if not isinstance(document, dict):
        raise InputError(f"{subject} is not a JSON object")
    return document


def object_at(document: Mapping[str, Json], key: str) -> dict[str, Json]:
    """Return the object at a key that is there; raise InputError where it is not an object."""
    value = document[key]
    if not isinstance(value, dict):
        raise InputError(f"{key} is not a JSON object")
    return value


def is_command(document: Mapping[str, Json]) -> bool:
    """Return whether a bare document is a command of the time before the specification."""
    return isinstance(document.get("capability"), str) or "capabilityId" in document


def shown(value: Json) -> str:
    """Return a value's JSON for a message, its head where it is long."""
    text = canonical_json(value)
    return text if len(text) <= 100 else f"{text[:100]}..."  # noqa: PLR2004 - enough to recognise it


MAX_ID_UNITS: Final = 1_024
"""UTF-16 units of a request's or capability's id: an answer repeats both, and has a limit of its own."""

_ARGUMENT_KEYS: Final = ("args", "input")


def read_request(
    content: Extras | str,
    context: ReadingContext | None = None,
    *,
    carrier: Carrier = "start",
) -> MobileMcpRequest:
    """Read a request.

    Args:
        content: The intent's extras (or the message's Bundle), or the bare text of a call.
        context: Takes the deviations that were accepted; a strict one refuses them.
        carrier: Whether it came in a started service's intent or in a bound service's message.

    Returns:
        The request. One of the forms before the specification is read and named; `dialect.served` is false
        then.

    Raises:
        MalformedRequestError: it is not a request; `request` holds what an answer needs.
        UnsupportedVersionError: it names another version.
    """
    return _RequestReader(context or ReadingContext(), carrier).read(content)


def identify_request(
    document: Mapping[str, Json],
    extra_key: str | None,
    *,
    carrier: Carrier = "start",
) -> MobileMcpRequest:
    """Return the form, the ids and the version of a request, as far as the document has them.

    Args:
        document: The request, which may be incomplete or wrong anywhere.
        extra_key: The extra that held it.
        carrier: Whether it came in a started service's intent or in a bound service's message.

    Returns:
        What an answer needs: the ids are empty where the document has none that can be used.
    """
    return _RequestReader(ReadingContext(), carrier).identify(document, extra_key)


@dataclass(slots=True)
class _RequestReader:
    context: ReadingContext
    carrier: Carrier
    seen: MobileMcpRequest | None = None

    def read(self, content: Extras | str) -> MobileMcpRequest:
        try:
            extra_key, text, trace = find_message_text(content, REQUEST_EXTRAS)
            guess = self.first_guess(extra_key)
            separate_id = self.id_of_extra(extra_key, content)
            self.seen = MobileMcpRequest(
                guess, separate_id, wrapped=guess.wrapped, extra_key=extra_key, id_value=separate_id
            )
            document = parse_object(text, "the request", self.context.parse)
            if extra_key == NAMES["command_extra"] or (extra_key is None and is_command(document)):
                return self.read_command(document, extra_key, content, benchmark=trace)
            return self.read_document(document, extra_key)
        except InputError as error:
            raise self.malformed(error.message) from None

    def first_guess(self, extra_key: str | None) -> WireDialect:
        """Return the dialect in which such a request is answered if it states nothing more."""
        if extra_key == NAMES["prototype_request_extra"]:
            return MM_6 if self.carrier == "bind" else MM_5
        if extra_key == NAMES["command_extra"]:
            return MM_3 if self.carrier == "bind" else MM_2
        return S0

    def id_of_extra(self, extra_key: str | None, content: Extras | str) -> str:
        """Return the id in an extra of its own, as in the forms before the specification."""
        if extra_key != NAMES["command_extra"] or isinstance(content, str):
            return ""
        value = content.get(NAMES["request_id_extra"])
        return value if isinstance(value, str) and is_id(value) else ""

    def identify(self, document: Mapping[str, Json], extra_key: str | None) -> MobileMcpRequest:
        """Return what an answer needs of a document, whatever else is wrong with it."""
        has_wrapper = NAMES["request_wrapper"] in document
        inner = _members(document[NAMES["request_wrapper"]]) if has_wrapper else document
        has_request = "request" in inner
        wrapped = has_wrapper or has_request
        request = _members(inner["request"]) if has_request else inner
        capability = _members(request.get("capability"))
        id_value = request.get("id")
        id_value = id_value if is_id(id_value) else ""
        capability_id = capability.get("id")
        return MobileMcpRequest(
            self.dialect_of(self.argument_key(capability, request), wrapped=wrapped),
            request_id=str(id_value),
            capability_id=capability_id if isinstance(capability_id, str) and is_id(capability_id) else "",
            wrapped=wrapped,
            extra_key=extra_key,
            id_value=id_value,
            version=inner.get("version") if wrapped else None,
        )

    def read_document(self, document: dict[str, Json], extra_key: str | None) -> MobileMcpRequest:
        wrapper = NAMES["request_wrapper"]
        self.seen = seen = self.identify(document, extra_key)
        inner = object_at(document, wrapper) if wrapper in document else document
        self.note_form(extra_key, wrapped=seen.wrapped, named=wrapper in document)
        # The specification's order (3.2): the version, then the id, then the capability.
        if seen.wrapped:
            self.check_version(seen.version)
        request = object_at(inner, "request") if "request" in inner else inner
        self.check_id(request.get("id"))
        capability = request.get("capability")
        if not isinstance(capability, dict):
            raise self.malformed("the request has no capability object")
        self.check_capability_id(capability.get("id"))
        return replace(seen, arguments=self.read_arguments(capability, request, seen.dialect))

    def dialect_of(self, key: str | None, *, wrapped: bool) -> WireDialect:
        if wrapped:
            return S1 if key == "input" else S0
        if self.carrier == "bind":
            return MM_6_ARGS if key == "args" else MM_6
        return MM_4 if key == "args" else MM_5

    def argument_key(self, capability: Mapping[str, Json], request: Mapping[str, Json]) -> str | None:
        """Return the key that holds the arguments; `args` where both do."""
        return next((key for key in _ARGUMENT_KEYS if key in capability or key in request), None)

    def note_form(self, extra_key: str | None, *, wrapped: bool, named: bool) -> None:
        """Report a form that mixes two dialects."""
        if extra_key == NAMES["request_extra"] and not (wrapped and named):
            self.context.allow("M14", f"the extra {extra_key} holds the request without its wrapper")
        elif extra_key == NAMES["prototype_request_extra"] and wrapped:
            self.context.allow("M14", f"the extra {extra_key} holds a wrapped request")
        elif wrapped and not named:
            self.context.allow("M14", f"the document is not wrapped in {NAMES['request_wrapper']}")

    def check_id(self, value: Json) -> None:
        if not is_id(value):
            raise self.malformed(f"the request has {_id_mistake(value)}")
        if not isinstance(value, str):
            self.context.allow("M26", f"the request's id {value} is a number; it is read as text")

    def check_capability_id(self, value: Json) -> None:
        if not isinstance(value, str) or not is_id(value):
            raise self.malformed(f"the request's capability has {_id_mistake(value)}")

    def check_version(self, version: Json) -> None:
        if version == VERSION and isinstance(version, str):
            return
        if version is None:
            self.context.allow("M24", f"a wrapped request without a version is read as {VERSION}")
            return
        if version == "1" or json_equal(version, 1):
            self.context.allow("M24", f"the version {shown(version)} is read as {VERSION}")
            return
        message = f'the request has version {shown(version)}; the supported version is "{VERSION}"'
        raise UnsupportedVersionError(message, self.seen)

    def read_arguments(
        self, capability: Mapping[str, Json], request: Mapping[str, Json], dialect: WireDialect
    ) -> dict[str, Json]:
        argument_maps: list[dict[str, Json]] = []
        for key in _ARGUMENT_KEYS:
            if key in capability:
                argument_maps.append(self.argument_map(capability[key], dialect))
            elif key in request:
                self.context.allow("M01", f"{key} is next to the capability, not inside it")
                argument_maps.append(self.argument_map(request[key], dialect))
        if len(argument_maps) > 1:
            if not json_equal(argument_maps[0], argument_maps[1]):
                raise self.malformed("args and input hold different arguments")
            self.context.allow("M01", "args and input hold the same arguments")
        return argument_maps[0] if argument_maps else {}

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
            raise self.malformed("the arguments are not a map")
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
        self, document: dict[str, Json], extra_key: str | None, content: Extras | str, *, benchmark: bool
    ) -> MobileMcpRequest:
        """Read a request of the time before the specification: arguments are next to the capability's id."""
        if extra_key is None:
            dialect = MM_0 if "capabilityId" in document else MM_1
        else:
            dialect = MM_3 if self.carrier == "bind" else MM_2B if benchmark else MM_2
        request_id = self.id_of_extra(extra_key, content)
        self.seen = read = MobileMcpRequest(dialect, request_id, extra_key=extra_key, id_value=request_id)
        capability_id = document.get("capability", document.get("capabilityId"))
        if not isinstance(capability_id, str) or not is_id(capability_id):
            raise self.malformed("the command has no capability id")
        nested = document.get("args")
        names = {"capability", "capabilityId", *(["args"] if isinstance(nested, dict) else [])}
        flat = {name: value for name, value in document.items() if name not in names}
        arguments = {**nested, **flat} if isinstance(nested, dict) else flat
        return replace(read, capability_id=capability_id, arguments=arguments)

    def malformed(self, message: str) -> MalformedRequestError:
        return MalformedRequestError(message, self.seen)


def _members(value: Json) -> Mapping[str, Json]:
    """Return an object's members; none for any other value."""
    return value if isinstance(value, dict) else {}


def is_id(value: Json) -> bool:
    """Return whether a value can be an id: a text that is neither empty nor too long, or an integer."""
    if isinstance(value, str):
        return bool(value) and utf16_length(value) <= MAX_ID_UNITS
    return isinstance(value, int) and not isinstance(value, bool)


def _id_mistake(value: Json) -> str:
    if isinstance(value, str) and value:
        return f"an id of {utf16_length(value)} characters; at most {MAX_ID_UNITS} are allowed"
    return "no id"


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
    value: Json = canonical_json(dict(arguments)) if dialect.arguments_as_text else dict(arguments)
    capability = {"id": capability_id, str(dialect.arguments_key): value}
    request: Json = {"id": request_id, "capability": capability}
    if dialect.wrapped:
        request = {NAMES["request_wrapper"]: {"version": VERSION, "request": request}}
    return {str(dialect.request_extra): canonical_json(request)}


_SUCCESS: Final = "success"
_FAILURE: Final = "failure"
_KNOWN_FAILURES: Final = (
    (NAMES["text_unknown_capability"], "unknown_capability"),
    (NAMES["text_missing_arguments"], "invalid_argument"),
    (NAMES["text_no_arguments"], "invalid_argument"),
)


def is_trace(extras: Extras) -> bool:
    """Return whether a callback carries only a benchmark's timings, as the second one of MM-2b does (row
    28).
    """
    value = extras.get(NAMES["trace_only_extra"])
    return value is True or value == "true"


def read_response(
    content: Extras | str, context: ReadingContext | None = None, *, carrier: Carrier = "start"
) -> MobileMcpResponse | None:
    """Read a response.

    Args:
        content: The callback's extras (or the reply's Bundle), or the bare text that an AIDL call returns.
        context: Takes the deviations that were accepted; a strict one refuses them.
        carrier: Whether it came by PendingIntent or in a bound service's message.

    Returns:
        The response; None for a callback that only carries timings.

    Raises:
        MalformedResponseError: it is not a response.
    """
    context = context or ReadingContext()
    text: str | None = None
    request_id = _id_of_extra(content)
    try:
        if not isinstance(content, str) and is_trace(content):
            context.allow("M28", "a callback with timings only is passed over")
            return None
        extra_key, text, _ = find_message_text(content, RESPONSE_EXTRAS)
        document = parse_object(text, "the response", context.parse)
        reader = _ResponseReader(context, carrier, extra_key, content)
        response = reader.find_response(document)
        request_id = _written_id(response) or request_id
        return reader.read(document, response)
    except InputError as error:
        raise MalformedResponseError(error.message, text or "", request_id) from None


def _written_id(response: Mapping[str, Json]) -> str:
    """Return the id in a response's text; empty where it has none."""
    value = response.get("id")
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else ""


def _id_of_extra(content: Extras | str) -> str:
    """Return the id in an extra of its own; empty where there is none."""
    id_value = None if isinstance(content, str) else content.get(NAMES["request_id_extra"])
    return id_value if isinstance(id_value, str) else ""


@dataclass(slots=True)
class _ResponseReader:
    context: ReadingContext
    carrier: Carrier
    extra_key: str | None
    content: Extras | str

    def find_response(self, document: dict[str, Json]) -> dict[str, Json]:
        """Return the object that has the id, inside its wrappers."""
        wrapper = NAMES["response_wrapper"]
        inner = object_at(document, wrapper) if wrapper in document else document
        return object_at(inner, "response") if "response" in inner else inner

    def read(self, document: dict[str, Json], response: dict[str, Json]) -> MobileMcpResponse:
        wrapper = NAMES["response_wrapper"]
        inner = document.get(wrapper, document)
        wrapped = "response" in inner
        self.note_form(wrapped=wrapped, named=wrapper in document)
        if wrapped and inner.get("version") != VERSION:
            version = shown(inner["version"]) if "version" in inner else "none"
            self.context.allow("M24", f"the response's version is {version}; it is read as {VERSION}")
        capability = response.get("capability")
        capability_id = capability.get("id") if isinstance(capability, dict) else None
        output = capability.get("output") if isinstance(capability, dict) else None
        old = "data" in response
        if old:
            output = response["data"]
        as_list = isinstance(output, list)
        outputs = self.read_outputs(output)
        outcome = self.find_outcome(response)
        message = outcome.get("message")
        succeeded = self.read_status(outcome, outputs)
        token, text = (None, message) if succeeded else classify_failure(message)
        return MobileMcpResponse(
            request_id=self.read_id(response, old=old),
            succeeded=succeeded,
            outputs=outputs,
            message=text if isinstance(text, str) else None,
            token=token,
            capability_id=capability_id if isinstance(capability_id, str) else None,
            dialect=self.dialect_of(wrapped=wrapped, as_list=as_list, has_output=output is not None),
            extra_key=self.extra_key,
        )

    def dialect_of(self, *, wrapped: bool, as_list: bool, has_output: bool) -> WireDialect:
        bound = self.carrier == "bind"
        if wrapped:
            return S0 if as_list or not has_output else S1
        if self.extra_key == NAMES["result_extra"]:
            return MM_3 if bound else MM_2
        if self.extra_key is None:
            return MM_1
        if bound:
            return MM_6_ARGS if as_list else MM_6
        return MM_4 if as_list else MM_5

    def note_form(self, *, wrapped: bool, named: bool) -> None:
        """Report a form that mixes two dialects."""
        extra = self.extra_key
        if extra == NAMES["response_extra"] and not (wrapped and named):
            self.context.allow("M15", f"the extra {extra} holds the response without its wrapper")
        elif extra not in {NAMES["response_extra"], None} and wrapped:
            self.context.allow("M15", f"the extra {extra} holds a wrapped response")

    def read_id(self, response: Mapping[str, Json], *, old: bool) -> str:
        written = _written_id(response)
        if written:
            return written
        id_value = _id_of_extra(self.content)
        if id_value and not old and self.extra_key != NAMES["result_extra"]:
            self.context.allow("M27", "the response has no id; the id of its own extra is used")
        return id_value

    def read_outputs(self, output: Json) -> dict[str, Json] | None:
        if output is None:
            return None
        if isinstance(output, dict):
            return output
        if not isinstance(output, list):
            message = "the output is neither a list nor an object"
            raise InputError(message)
        outputs: dict[str, Json] = {}
        for entry in output:
            name = entry.get("name") if isinstance(entry, dict) else None
            if not isinstance(name, str):
                message = "an output of the list has no name"
                raise InputError(message)
            if name in outputs:
                raise InputError(f"duplicate output {name!r}")
            if "value" not in entry:
                self.context.allow("M18", f"the output {name!r} comes without a value and counts as missing")
                continue
            outputs[name] = entry["value"]
            if not isinstance(entry.get("type"), str):
                self.context.allow("M18", f"the output {name!r} comes without a type")
        return outputs

    def find_outcome(self, response: Mapping[str, Json]) -> Mapping[str, Json]:
        """Return the object that holds status and message: one edit of the specification had them inside the
        capability (reference 2.1).
        """
        capability = response.get("capability")
        if "status" in response or not isinstance(capability, dict) or "status" not in capability:
            return response
        self.context.allow("M21", "the status is inside the capability, not next to it")
        return capability

    def read_status(self, response: Mapping[str, Json], outputs: Mapping[str, Json] | None) -> bool:
        status = response.get("status")
        if status in (_SUCCESS, _FAILURE):
            return bool(status == _SUCCESS)
        if status is None:
            succeeded = outputs is not None
            outcome = "success, since it has output" if succeeded else "failure, since it has no output"
            self.context.allow("M21", f"a response without status is read as {outcome}")
            return succeeded
        self.context.allow("M21", f"the status {shown(status)} is read as {_FAILURE}")
        return False


def classify_failure(message: Json) -> tuple[str | None, str | None]:
    """Return the token of a failure's message and its text: the token at its head, or that of a known text
    (row 22).
    """
    if not isinstance(message, str):
        return None, None
    token, text = read_failure(message)
    if token is not None:
        return token, text
    return next((known for start, known in _KNOWN_FAILURES if message.startswith(start)), None), message


def write_response(
    response: MobileMcpResponse, request: MobileMcpRequest, *, output: Type | None = None
) -> dict[str, str]:
    """Return the string extras (or the Bundle) that answer a request in its own dialect.

    Args:
        response: What to say; a failure needs a token.
        request: The request, or the part of it that a `MobileMcpWireError` holds.
        output: The capability's declared output; its order and type words are used where the dialect names
            types.

    Raises:
        UsageError: the dialect is not served.
    """
    dialect = request.dialect
    refuse_unserved(dialect)
    capability_id = response.capability_id or request.capability_id
    capability: dict[str, Json] = {"id": capability_id}
    if response.succeeded and response.outputs is not None:
        ordered = _in_declared_order(response.outputs, output)
        capability["output"] = _output_list(ordered, output) if dialect.outputs_as_list else ordered
    inner: dict[str, Json] = {
        "id": request.id_value,
        "status": _SUCCESS if response.succeeded else _FAILURE,
    }
    if capability_id:
        inner["capability"] = capability
    message = _message_of(response)
    if message is not None:
        inner["message"] = message
    document = inner
    if request.wrapped:
        document = {NAMES["response_wrapper"]: {"version": VERSION, "response": inner}}
    extra_of_request = dict(zip(REQUEST_EXTRAS, RESPONSE_EXTRAS, strict=True))
    extra = extra_of_request.get(request.extra_key or "", str(dialect.response_extra))
    extras = {extra: canonical_json(document)}
    if not dialect.wrapped:
        extras[NAMES["request_id_extra"]] = request.request_id
    return extras


def _message_of(response: MobileMcpResponse) -> str | None:
    if response.succeeded or response.token is None:
        return response.message
    return write_failure(response.token, response.message or "")


def _in_declared_order(outputs: Mapping[str, Json], declared: Type | None) -> dict[str, Json]:
    names: Iterable[str] = declared.properties if isinstance(declared, ObjectType) else ()
    first = {name: outputs[name] for name in names if name in outputs}
    return {**first, **outputs}


def _output_list(outputs: Mapping[str, Json], declared: Type | None) -> list[Json]:
    properties = declared.properties if isinstance(declared, ObjectType) else {}
    return [
        {
            "name": name,
            "type": _declared_word(properties[name].type) if name in properties else _word_of_value(value),
            "value": value,
        }
        for name, value in outputs.items()
    ]


def _declared_word(type_: Type) -> str:
    word: str | None = facts_of(type_.extensions).get("word")
    return word or WORDS.write.get(type_.kind, WORDS.write["string"])


def _word_of_value(value: Json) -> str:
    if isinstance(value, bool):
        return WORDS.write["boolean"]
    if isinstance(value, int):
        return WORDS.write["int64"]
    if isinstance(value, str) or value is None:
        return WORDS.write["string"]
    if isinstance(value, list):
        return WORDS.write["array"]
    return WORDS.write["object" if isinstance(value, dict) else "double"]
