"""Responses of every wire dialect (specification 3.2, 3.3; reference section 6, rows 15, 18 to 22, 27, 28,
32).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.tables.failure_tokens import read_failure, write_failure
from droidgate_mobile_mcp.constants import NAMES, WORDS
from droidgate_mobile_mcp.facts import facts_of
from droidgate_mobile_mcp.wire_dialects import (
    MM_1,
    MM_2,
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
    RESPONSE_EXTRAS,
    VERSION,
    Carrier,
    Extras,
    MalformedResponseError,
    MobileMcpRequest,
    MobileMcpResponse,
    find_text,
    object_at,
    parse_object,
    refuse_unserved,
    shown,
)

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
    given: Extras | str, context: ReadingContext | None = None, *, carrier: Carrier = "start"
) -> MobileMcpResponse | None:
    """Read a response.

    Args:
        given: The callback's extras (or the reply's Bundle), or the bare text that an AIDL call returns.
        context: Takes the deviations that were accepted; a strict one refuses them.
        carrier: Whether it came by PendingIntent or in a bound service's message.

    Returns:
        The response; None for a callback that only carries timings.

    Raises:
        MalformedResponseError: it is not a response.
    """
    context = context or ReadingContext()
    text: str | None = None
    request_id = _id_of_extra(given)
    try:
        if not isinstance(given, str) and is_trace(given):
            context.allow("M28", "a callback with timings only is passed over")
            return None
        extra_key, text, _ = find_text(given, RESPONSE_EXTRAS)
        document = parse_object(text, "the response", context.parse)
        reader = _ResponseReader(context, carrier, extra_key, given)
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


def _id_of_extra(given: Extras | str) -> str:
    """Return the id in an extra of its own; empty where there is none."""
    id_value = None if isinstance(given, str) else given.get(NAMES["request_id_extra"])
    return id_value if isinstance(id_value, str) else ""


@dataclass(slots=True)
class _ResponseReader:
    context: ReadingContext
    carrier: Carrier
    extra_key: str | None
    given: Extras | str

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
        outputs, types = self.read_outputs(output)
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
            output_types=types,
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
        id_value = _id_of_extra(self.given)
        if id_value and not old and self.extra_key != NAMES["result_extra"]:
            self.context.allow("M27", "the response has no id; the id of its own extra is used")
        return id_value

    def read_outputs(self, output: Json) -> tuple[dict[str, Json] | None, dict[str, str]]:
        if output is None:
            return None, {}
        if isinstance(output, dict):
            return output, {}
        if not isinstance(output, list):
            message = "the output is neither a list nor an object"
            raise InputError(message)
        outputs: dict[str, Json] = {}
        types: dict[str, str] = {}
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
            word = entry.get("type")
            if isinstance(word, str):
                types[name] = word
            else:
                self.context.allow("M18", f"the output {name!r} comes without a type")
        return outputs, types

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
    response: MobileMcpResponse,
    request: MobileMcpRequest,
    *,
    output: Type | None = None,
    dialect: WireDialect | None = None,
) -> dict[str, str]:
    """Return the string extras (or the Bundle) that answer a request in its own dialect.

    Args:
        response: What to say; a failure needs a token.
        request: The request, or the part of it that a `MobileMcpWireError` holds.
        output: The capability's declared output; its order and type words are used where the dialect names
            types.
        dialect: Another dialect than the request's.

    Raises:
        UsageError: the dialect is not served.
    """
    dialect = dialect or request.dialect
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
    wrapped = request.wrapped if dialect is request.dialect else dialect.wrapped
    document = {NAMES["response_wrapper"]: {"version": VERSION, "response": inner}} if wrapped else inner
    extras = {_response_extra(request, dialect): canonical_json(document)}
    if not dialect.wrapped:
        extras[NAMES["request_id_extra"]] = request.request_id
    return extras


def _response_extra(request: MobileMcpRequest, dialect: WireDialect) -> str:
    """Return the extra that answers the extra the request came in."""
    pairs = dict(zip(REQUEST_EXTRAS, RESPONSE_EXTRAS, strict=True))
    return pairs.get(request.extra_key or "", str(dialect.response_extra))


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
