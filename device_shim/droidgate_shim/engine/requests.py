"""Reading what an agent sends; what cannot be read is refused in a form that the agent knows
(docs/shim-engine.md 3.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from droidgate.calls.failures import Failure
from droidgate.leniency import ReadingContext
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json
from droidgate_mobile_mcp.constants import NAMES
from droidgate_mobile_mcp.wire import WIRE_DIALECTS, Request, RequestError, read_request
from droidgate_shim.engine.authority import Carrier
from droidgate_shim.engine.strict_json import parse_strict

_FORMS_OF_CARRIER = {"start": WIRE_DIALECTS["MM-5"], "bind": WIRE_DIALECTS["MM-6"]}


@dataclass(frozen=True, slots=True)
class Incoming:
    """What came of a request's extras.

    Attributes:
        request: The request, or what of it an answer needs; None where nobody can be answered.
        failure: Why it goes no further, None where it does.
    """

    request: Request | None
    failure: Failure | None = None


def read_incoming(carrier: Carrier, extras: Mapping[str, Json]) -> Incoming:
    """Read a request's extras; whatever they hold, this raises nothing."""
    context = ReadingContext(parse=parse_strict)
    try:
        request = read_request(extras, context, carrier=carrier)
    except RequestError as error:
        seen = error.request
        if seen is None or seen.extra_key is None:
            return Incoming(None, Failure(error.failure, error.message))
        if not seen.dialect.served:
            return _refuse_old(seen, carrier, extras)
        return Incoming(seen, Failure(error.failure, error.message))
    return Incoming(request) if request.dialect.served else _refuse_old(request, carrier, extras)


def _refuse_old(seen: Request, carrier: Carrier, extras: Mapping[str, Json]) -> Incoming:
    """Refuse a request of before MM-4, as MM-5 or MM-6 under the old extra's counterpart."""
    answerable = replace(seen, dialect=_FORMS_OF_CARRIER[carrier])
    text = extras.get(NAMES["command_extra"])
    try:
        readable = isinstance(text, str) and isinstance(parse_strict(text), dict)
    except InputError:
        readable = False
    if not readable:
        return Incoming(answerable, Failure("invalid_argument", "the command is no JSON object"))
    return Incoming(
        answerable, Failure("unsupported_version", f"the form {seen.dialect.id} of requests is not served")
    )
