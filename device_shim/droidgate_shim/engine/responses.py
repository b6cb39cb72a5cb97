"""From a result to the answer that its agent can read (shim-engine.md 4, 6, 7)."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from droidgate_mappings.model.capability import Capability, type_behind
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType, ScalarType, Type
from droidgate_mappings.tables.failure_tokens import load_failure_tokens
from droidgate_mappings.values.coercion import fit_result
from droidgate_mappings.values.failures import CallError, Failure
from droidgate_mobile_mcp.wire import MobileMcpRequest, MobileMcpResponse, write_response
from droidgate_shim.engine.backends import Result
from droidgate_shim.engine.carried import MAX_CARRIED_UNITS, carried_units, shortened
from droidgate_shim.engine.routes import NamedOutput, PreparedRoute
from droidgate_shim.engine.strict_json import parse_strict, write_strict


def convert_outputs(
    prepared: PreparedRoute, result: Result, definitions: Mapping[str, Type]
) -> dict[str, Json] | None:
    """Return the outputs that a backend's result becomes, by name.

    None where the route has none, and where the backend succeeded without a result: an agent that was
    answered with a failure might repeat the effect.

    Raises:
        CallError: with the token `malformed_response`: the value does not fit what is declared.
    """
    outputs, value = prepared.route.outputs, result.value
    if outputs is None or result.is_missing:
        return None
    if isinstance(outputs, NamedOutput) and outputs.kind == "text":
        text = value if isinstance(value, str) else write_strict(value)
        return {outputs.name: text if result.text is None else result.text}
    fitted = _fit_result(prepared.capability, result, definitions)
    if isinstance(outputs, NamedOutput):
        return {outputs.name: fitted}
    if not isinstance(fitted, dict):
        raise CallError(Failure("malformed_response", "the result is not an object"))
    fields = prepared.fields
    return fitted if fields is None else {name: value for name, value in fitted.items() if name in fields}


def _fit_result(capability: Capability, result: Result, definitions: Mapping[str, Type]) -> Json:
    """Return a result as it is declared.

    Where a text is declared, a text is taken as it is, also if it is JSON, except a null that is allowed.
    Elsewhere it is the value that it spells. What does not fit so is tried the other way.

    Raises:
        CallError: with the token `malformed_response`: the value does not fit.
    """
    readings = [result.value] if result.text is None else [result.value, result.text]
    declared = None if capability.output is None else type_behind(capability.output, definitions)
    if isinstance(declared, ScalarType) and declared.kind == "string" and result.value is not None:
        readings.reverse()
    first, *others = readings
    try:
        return fit_result(first, capability, definitions, parse=parse_strict).value
    except CallError:
        for other in others:
            with suppress(CallError):
                return fit_result(other, capability, definitions, parse=parse_strict).value
        raise


def write_success(
    request: MobileMcpRequest, outputs: Mapping[str, Json] | None, declared: ObjectType
) -> tuple[dict[str, str], Failure | None]:
    """Return the extras that answer a request with its outputs; where these are too long, those of a failure,
    and the failure.
    """
    extras = write_response(
        MobileMcpResponse(request.request_id, succeeded=True, outputs=outputs), request, output=declared
    )
    units = carried_units(extras)
    if units <= MAX_CARRIED_UNITS:
        return extras, None
    failure = Failure(
        "malformed_response",
        f"the call ran, but its answer has {units} characters; at most {MAX_CARRIED_UNITS} can be sent; "
        "ask for less",
    )
    return write_failure(request, failure), failure


def write_failure(request: MobileMcpRequest, failure: Failure) -> dict[str, str]:
    """Return the extras that answer a request with a failure: always with a text, and never a long one."""
    text = shortened(failure.text or load_failure_tokens()[failure.token].meaning)
    response = MobileMcpResponse(request.request_id, succeeded=False, token=failure.token, message=text)
    return write_response(response, request)
