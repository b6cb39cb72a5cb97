"""Reading what an agent sends; what cannot be read is refused in a form that the agent knows
(shim-engine.md 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.values.failures import Failure
from droidgate_mobile_mcp.format import NAMES
from droidgate_mobile_mcp.wire import (
    WIRE_DIALECTS,
    MobileMcpRequest,
    RequestError,
    identify_request,
    is_id,
    read_request,
)
from droidgate_shim.engine.authority import Carrier
from droidgate_shim.engine.partial_json import read_partial
from droidgate_shim.engine.strict_json import parse_strict

_FORMS_OF_CARRIER = {"start": WIRE_DIALECTS["MM-5"], "bind": WIRE_DIALECTS["MM-6"]}
REFUSED_UNITS: Final = 4_096
"""UTF-16 units of a request that is refused before it is read."""

_KEYS_OF_A_FORM = frozenset({NAMES["request_wrapper"], "request", "id", "capability"})
"""A broken text has a form if one of these could be read."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """The result of reading a request's extras.

    Attributes:
        request: The request, or what of it an answer needs; None where nobody can be answered.
        failure: Why it goes no further, None where it does.
    """

    request: MobileMcpRequest | None
    failure: Failure | None = None


def read_incoming(carrier: Carrier, extras: Mapping[str, Json]) -> Incoming:
    """Read a request's extras; no content makes this raise."""
    context = ReadingContext(parse=_parse_explained)
    try:
        request = read_request(extras, context, carrier=carrier)
    except RequestError as error:
        seen = error.request
        failure = Failure(error.failure, error.message)
        if seen is None or seen.extra_key is None:
            return Incoming(None, failure)
        if not seen.dialect.served:
            return _refuse_old(seen, failure, carrier, extras)
        return Incoming(_identify(seen, carrier, extras), failure)
    if request.dialect.served:
        return Incoming(request)
    return _refuse_old(request, None, carrier, extras)


def read_refused(carrier: Carrier, extras: Mapping[str, Json]) -> MobileMcpRequest | None:
    """Return the form and ids of a request that is refused before it is read; None for no request."""
    beginnings = {
        name: _beginning_of(value) if isinstance(value, str) else value for name, value in extras.items()
    }
    return read_incoming(carrier, beginnings).request


def _beginning_of(text: str) -> str:
    units = 0
    for at, character in enumerate(text[:REFUSED_UNITS]):
        units += 2 if character > "\uffff" else 1
        if units > REFUSED_UNITS:
            return text[:at]
    return text[:REFUSED_UNITS]


def _parse_explained(text: str, *, path: str = "the request") -> Json:
    """Parse one document; the error names the problem and its key.

    Raises:
        InputError: it is malformed, or over a limit.
    """
    try:
        return parse_strict(text, path=path)
    except InputError as error:
        mistake = read_partial(text).mistake or error.message
        raise InputError(f"{path} cannot be read as JSON: {mistake}", place=path) from None


def _identify(seen: MobileMcpRequest, carrier: Carrier, extras: Mapping[str, Json]) -> MobileMcpRequest:
    """Return the form and ids of a request as far as its text can be read."""
    document = _readable_members(extras.get(seen.extra_key or ""))
    if _KEYS_OF_A_FORM.isdisjoint(document):
        return seen
    return identify_request(document, seen.extra_key, carrier=carrier)


def _readable_members(text: Json) -> Mapping[str, Json]:
    value = read_partial(text).value if isinstance(text, str) else None
    return value if isinstance(value, dict) else {}


def _refuse_old(
    seen: MobileMcpRequest, failure: Failure | None, carrier: Carrier, extras: Mapping[str, Json]
) -> Incoming:
    """Refuse a request of before MM-4, as MM-5 or MM-6 under the old extra's counterpart."""
    answerable = replace(seen, dialect=_FORMS_OF_CARRIER[carrier])
    text = extras.get(NAMES["command_extra"])
    if isinstance(text, str) and _is_object(text):
        message = f"requests of the form {seen.dialect.id} are not supported; use Mobile-MCP 1.0"
        return Incoming(answerable, Failure("unsupported_version", message))
    capability_id = _readable_members(text).get("capability")
    if isinstance(capability_id, str) and is_id(capability_id):
        answerable = replace(answerable, capability_id=capability_id)
    return Incoming(answerable, failure or Failure("invalid_argument", "the command is not a JSON object"))


def _is_object(text: str) -> bool:
    try:
        return isinstance(parse_strict(text), dict)
    except InputError:
        return False
