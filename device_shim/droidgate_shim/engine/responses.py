"""From a result to the answer that its agent can read (docs/shim-engine.md 4, 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping

from droidgate.calls.arguments import fit_result
from droidgate.calls.failures import CallError, Failure
from droidgate.model.errors import InputError
from droidgate.model.json_values import Json
from droidgate.model.types import ObjectType, Type
from droidgate_mobile_mcp.wire import WIRE_DIALECTS, Request, Response, write_response
from droidgate_shim.engine.routes import NamedOutput, PreparedRoute
from droidgate_shim.engine.strict_json import fits_units, parse_strict, write_strict

_TOO_LONG = Failure("malformed_response", "the answer is too long to be sent")


def convert_outputs(
    prepared: PreparedRoute, value: Json, definitions: Mapping[str, Type]
) -> dict[str, Json] | None:
    """Return the outputs that a backend's value becomes, by name; None where the route has none.

    Raises:
        CallError: with the token `malformed_response`: the value does not fit what is declared.
    """
    outputs = prepared.route.outputs
    if outputs is None:
        return None
    if isinstance(outputs, NamedOutput) and outputs.kind == "text":
        return {outputs.name: value if isinstance(value, str) else write_strict(value)}
    fitted = fit_result(value, prepared.capability, definitions, parse=parse_strict).value
    if isinstance(outputs, NamedOutput):
        return {outputs.name: fitted}
    if not isinstance(fitted, dict):
        raise CallError(Failure("malformed_response", "the result is no object"))
    kept = prepared.fields
    return fitted if kept is None else {name: held for name, held in fitted.items() if name in kept}


def write_success(
    request: Request, outputs: Mapping[str, Json] | None, declared: ObjectType
) -> tuple[dict[str, str], Failure | None]:
    """Return the extras that answer a request with its outputs; where these are too long, those of a failure,
    and the failure.
    """
    extras = write_response(
        Response(request.request_id, succeeded=True, outputs=outputs), request, output=declared
    )
    if all(map(fits_units, extras.values())):
        return extras, None
    return write_failed(request, _TOO_LONG), _TOO_LONG


def write_failed(request: Request, failure: Failure) -> dict[str, str]:
    """Return the extras that answer a request with a failure; a text that is too long is left out."""
    response = Response(request.request_id, succeeded=False, token=failure.token, message=failure.text)
    extras = write_response(response, request)
    if all(map(fits_units, extras.values())):
        return extras
    return write_response(Response(request.request_id, succeeded=False, token=failure.token), request)


def write_journal_entry(request: Request) -> str:
    """Return what has to survive the shim's death for the request to be answered then: JSON text."""
    return write_strict(
        {
            "dialect": request.dialect.id,
            "request_id": request.request_id,
            "id": request.id_value,
            "capability": request.capability_id,
            "wrapped": request.wrapped,
            "extra": request.extra_key,
        }
    )


def answer_journal_entry(entry: str) -> dict[str, str]:
    """Return the extras that answer a request of before the shim's death: `interrupted`.

    Raises:
        InputError: the entry is not one that `write_journal_entry` wrote.
    """
    held = parse_strict(entry, path="journal")
    try:
        request = Request(
            WIRE_DIALECTS[held["dialect"]],
            request_id=held["request_id"],
            capability_id=held["capability"],
            wrapped=held["wrapped"],
            extra_key=held["extra"],
            id_value=held["id"],
        )
    except (KeyError, TypeError):
        raise InputError("the journal holds something else", place="journal") from None
    return write_failed(request, Failure("interrupted", "the shim was stopped during the call"))
