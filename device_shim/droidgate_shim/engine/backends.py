"""What goes out to the app behind a route, and what its answer means (docs/shim-engine.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from droidgate.calls.failures import CallError, Failure, failure_of_code
from droidgate.leniency import ReadingContext
from droidgate.model.errors import DroidgateError
from droidgate.model.json_values import Json
from droidgate.model.types import Type
from droidgate_appfunctions.wire import WireError
from droidgate_appfunctions.wire_documents import read_document, write_document
from droidgate_mmcp.wire import (
    ToolCall,
    ToolResult,
    read_activity_result,
    read_broadcast_result,
    write_activity_call,
    write_broadcast_call,
)
from droidgate_mobile_mcp.wire import WIRE_DIALECTS, read_response, write_request
from droidgate_shim.engine.routes import CapabilityBackend, FunctionBackend, PreparedRoute, ToolBackend
from droidgate_shim.engine.strict_json import fits_units, parse_strict

_FALLBACK: Final = "backend_failure"


@dataclass(frozen=True, slots=True)
class ExtrasCall:
    """A call that travels as string extras: an mMCP intent or broadcast, or a Mobile-MCP request."""

    extras: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of an app function."""

    function: str
    document: Mapping[str, Json]


Outgoing = ExtrasCall | FunctionCall


@dataclass(frozen=True, slots=True)
class ActivityAnswer:
    """An activity's result code and extras."""

    code: int
    extras: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class BroadcastAnswer:
    """A broadcast's result code and data."""

    code: int
    data: str | None = None


@dataclass(frozen=True, slots=True)
class FunctionAnswer:
    """An app function's document, or its error code and message where it has no document."""

    document: Json = None
    code: int | None = None
    message: str = ""


@dataclass(frozen=True, slots=True)
class ResponseAnswer:
    """The extras or the Bundle of a Mobile-MCP response."""

    extras: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Result:
    """A successful answer's value, before it becomes outputs."""

    value: Json


BackendAnswer = ActivityAnswer | BroadcastAnswer | FunctionAnswer | ResponseAnswer


def write_call(
    prepared: PreparedRoute,
    arguments: Mapping[str, Json],
    definitions: Mapping[str, Type],
    new_id: Callable[[], str],
) -> Outgoing:
    """Return what goes out for a call.

    Args:
        prepared: Its route.
        arguments: Parameter of the shim -> value, fitted to the route's input.
        definitions: The route table's.
        new_id: Makes the id of a Mobile-MCP request.

    Raises:
        CallError: with the token `invalid_argument`: the backend's form cannot say it.
    """
    names = prepared.route.names
    match prepared.route.backend:
        case FunctionBackend(function=function):
            return FunctionCall(function, _write_document(prepared, arguments, definitions))
        case ToolBackend(kind=kind, tool=tool):
            call = ToolCall(tool, _renamed(arguments, names))
            extras = write_activity_call(call) if kind == "mmcp-activity" else write_broadcast_call(call)
        case CapabilityBackend(capability=capability, dialect=dialect):
            given = _renamed(arguments, names)
            extras = write_request(WIRE_DIALECTS[dialect], new_id(), capability, given)
    if not all(map(fits_units, extras.values())):
        raise CallError(Failure("invalid_argument", "the arguments are too long to be sent on"))
    return ExtrasCall(extras)


def read_answer(
    prepared: PreparedRoute, answer: BackendAnswer, definitions: Mapping[str, Type]
) -> Result | Failure | None:
    """Return what the backend answered with, or its failure; whatever it is, this raises nothing.

    None where it is no answer, as a Mobile-MCP callback that only carries timings.
    """
    context = ReadingContext(parse=parse_strict)
    try:
        match prepared.route.backend, answer:
            case ToolBackend(kind="mmcp-activity"), ActivityAnswer(code=code, extras=extras):
                return _of_tool(read_activity_result(code, extras, context))
            case ToolBackend(kind="mmcp-broadcast"), BroadcastAnswer(code=code, data=data):
                return _of_tool(read_broadcast_result(code, data, context, hints_count=True))
            case FunctionBackend(), FunctionAnswer():
                return _of_function(prepared, answer, definitions)
            case CapabilityBackend(), ResponseAnswer(extras=extras):
                return _of_response(extras, context)
    except DroidgateError as error:
        return Failure("malformed_response", error.message)
    return Failure("malformed_response", "the answer is of another form than the backend's")


def _of_tool(result: ToolResult) -> Result | Failure:
    if result.failure is not None:
        return Failure(result.failure.token, result.failure.message)
    return Result(result.value)


def _of_function(
    prepared: PreparedRoute, answer: FunctionAnswer, definitions: Mapping[str, Type]
) -> Result | Failure:
    if answer.code is not None:
        failure = failure_of_code(answer.code)
        return Failure(failure.token, f"{answer.code} {answer.message}".rstrip(), answer.code)
    return Result(read_document(answer.document, prepared.route.output, definitions))


def _of_response(extras: Mapping[str, Json], context: ReadingContext) -> Result | Failure | None:
    response = read_response(extras, context, carrier="bind")
    if response is None:
        return None
    if not response.succeeded:
        return Failure(response.token or _FALLBACK, response.message or "")
    return Result(None if response.outputs is None else dict(response.outputs))


def _write_document(
    prepared: PreparedRoute, arguments: Mapping[str, Json], definitions: Mapping[str, Type]
) -> dict[str, Json]:
    try:
        document = write_document(arguments, prepared.route.input, definitions)
    except WireError as error:
        where = f"{error.pointer}: " if error.pointer else ""
        raise CallError(
            Failure("invalid_argument", f"{where}{error.message}"), pointer=error.pointer
        ) from None
    return {**document, "properties": _renamed(document["properties"], prepared.route.names)}


def _renamed(arguments: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    """Return the arguments by their names at the backend.

    One that is not declared and has such a name would pass by its parameter's constraints; it is left out.
    """
    taken = frozenset(names.values())
    return {
        names.get(name, name): value
        for name, value in arguments.items()
        if name in names or name not in taken
    }
