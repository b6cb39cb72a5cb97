"""What both directions of the wire share: the values, the errors, the names, and finding a document among
extras.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.text.json_text import JsonParser
from droidgate_mobile_mcp.constants import NAMES
from droidgate_mobile_mcp.wire_dialects import WireDialect

MESSAGE_INVOKE: Final = int(NAMES["message_invoke"])
"""`Message.what` of a request over a Messenger."""
MESSAGE_RESULT: Final = int(NAMES["message_result"])
"""`Message.what` of its response."""

REQUEST_EXTRAS: Final = (NAMES["request_extra"], NAMES["prototype_request_extra"], NAMES["command_extra"])
RESPONSE_EXTRAS: Final = (NAMES["response_extra"], NAMES["prototype_response_extra"], NAMES["result_extra"])
VERSION: Final = NAMES["version"]
Extras = Mapping[str, Json]
Carrier = Literal["start", "bind"]


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
        output_types: Name -> type word, for outputs that came with one.
        dialect: The wire dialect it was read in; None for one that is to be written.
        extra_key: The extra that held it.
    """

    request_id: str
    succeeded: bool
    outputs: Mapping[str, Json] | None = None
    message: str | None = None
    token: str | None = None
    capability_id: str | None = None
    output_types: Mapping[str, str] = field(default_factory=dict)
    dialect: WireDialect | None = None
    extra_key: str | None = None


def refuse_unserved(dialect: WireDialect) -> None:
    """Raise UsageError for a dialect that droidgate does not speak."""
    if not dialect.served:
        raise UsageError(
            f"the wire dialect {dialect.id} is not served", hint=f"why: {dialect.not_served_because}"
        )


def find_text(given: Extras | str, names: tuple[str, ...]) -> tuple[str | None, str | None, bool]:
    """Return the extra that is there, its text (None where it is not a string), and whether a benchmark's
    extras are there.
    """
    if isinstance(given, str):
        return None, given, False
    trace = any(name.startswith(NAMES["trace_prefix"]) for name in given)
    for name in names:
        if name in given:
            text = given[name]
            return name, text if isinstance(text, str) else None, trace
    return None, None, trace


def parse_object(text: str | None, what: str, parse: JsonParser) -> dict[str, Json]:
    """Return the JSON object of a text; raise InputError where it is none."""
    if text is None:
        raise InputError(f"no extra holds {what}")
    document = parse(text, path=what)
    if not isinstance(document, dict):
        raise InputError(f"{what} is not a JSON object")
    return document


def object_at(document: Mapping[str, Json], key: str) -> dict[str, Json]:
    """Return the object at a key that is there; raise InputError where it is none."""
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
