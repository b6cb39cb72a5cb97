"""What goes out to the app behind a route, and what its answer means (shim-engine.md 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from droidgate_appfunctions.wire import AppFunctionWireError
from droidgate_appfunctions.wire_documents import read_document, write_document
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import Type
from droidgate_mappings.records import dataclass
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mappings.values.failures import CallError, Failure, failure_of_code
from droidgate_mmcp.wire import (
    MmcpToolCall,
    MmcpToolResult,
    read_activity_result,
    read_broadcast_result,
    write_activity_call,
    write_broadcast_call,
)
from droidgate_mobile_mcp.wire import WIRE_DIALECTS, MalformedResponseError, read_response, write_request
from droidgate_shim.engine.carried import MAX_CARRIED_UNITS, carried_units
from droidgate_shim.engine.routes import (
    AppActionBackend,
    CapabilityBackend,
    FunctionBackend,
    PreparedRoute,
    ToolBackend,
)
from droidgate_shim.engine.screen_starts import write_start
from droidgate_shim.engine.strict_json import parse_strict, write_strict

_FALLBACK: Final = "backend_failure"
_OPENED: Final = "The screen was opened. The app does not report what it does with the call."
_NO_MESSAGE: Final = "gave no message"


@dataclass(frozen=True, slots=True)
class ExtrasCall:
    """A call that travels as texts: an mMCP intent or broadcast, a Mobile-MCP request, or a whole intent.

    Attributes:
        extras: The extras.
        request_id: The id of the Mobile-MCP request, which its response has to repeat; None for mMCP.
    """

    extras: Mapping[str, str]
    request_id: str | None = None


@dataclass(frozen=True, slots=True)
class AppFunctionCall:
    """A call of an app function."""

    function: str
    document: Mapping[str, Json]


Outgoing = ExtrasCall | AppFunctionCall


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
    """A successful answer's value, before it becomes outputs.

    Attributes:
        value: The value.
        text: The text that the value was read from, None where the answer has values of their own kinds.
        is_missing: The backend succeeded and gave no result at all.
    """

    value: Json
    text: str | None = None
    is_missing: bool = False


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
    request_id: str | None = None
    match prepared.route.backend:
        case FunctionBackend(function=function):
            return AppFunctionCall(function, _write_document(prepared, arguments, definitions))
        case ToolBackend(kind=kind, tool=tool):
            call = MmcpToolCall(tool, _renamed(arguments, names))
            extras = write_activity_call(call) if kind == "mmcp-activity" else write_broadcast_call(call)
        case CapabilityBackend(capability=capability, dialect=dialect):
            renamed_arguments = _renamed(arguments, names)
            request_id = new_id()
            extras = write_request(WIRE_DIALECTS[dialect], request_id, capability, renamed_arguments)
        case AppActionBackend() as backend:
            extras = {"intent": write_start(backend, _renamed(arguments, names))}
    _check_size(carried_units(extras))
    return ExtrasCall(extras, request_id)


def _check_size(units: int) -> None:
    if units > MAX_CARRIED_UNITS:
        message = f"the call has {units} characters; at most {MAX_CARRIED_UNITS} can be sent to an app"
        raise CallError(Failure("invalid_argument", message))


def write_outgoing(outgoing: Outgoing) -> dict[str, Json]:
    """Return what goes out as a vector has it (shim-engine.md 9)."""
    if isinstance(outgoing, ExtrasCall):
        return {"extras": dict(outgoing.extras)}
    return {"function": outgoing.function, "document": outgoing.document}


def write_answer(answer: BackendAnswer) -> dict[str, Json]:
    """Return an answer as a vector has it (shim-engine.md 9)."""
    match answer:
        case ActivityAnswer(code=code, extras=extras):
            return {"code": code, "extras": dict(extras or {})}
        case BroadcastAnswer(code=code, data=data):
            return {"code": code, "data": data}
        case FunctionAnswer(document=document, code=None):
            return {"document": document}
        case FunctionAnswer(code=code, message=message):
            return {"error": {"code": code, "message": message}}
        case ResponseAnswer(extras=extras):
            return {"extras": dict(extras)}


def read_answer(
    prepared: PreparedRoute,
    answer: BackendAnswer,
    definitions: Mapping[str, Type],
    *,
    request_id: str | None = None,
) -> Result | Failure | None:
    """Return the backend's result, or its failure; no answer makes this raise.

    None where it does not answer this call: a Mobile-MCP response to another request, or a callback that
    only carries timings.

    Args:
        prepared: The call's route.
        answer: What came.
        definitions: The route table's.
        request_id: The id of the Mobile-MCP request that was sent.
    """
    context = ReadingContext(parse=parse_strict)
    try:
        match prepared.route.backend, answer:
            case ToolBackend(kind="mmcp-activity"), ActivityAnswer(code=code, extras=extras):
                return _of_tool(read_activity_result(code, extras, context))
            case ToolBackend(kind="mmcp-broadcast"), BroadcastAnswer(code=code, data=data):
                return _of_tool(read_broadcast_result(code, data, context, hints_count=True))
            case AppActionBackend(), ActivityAnswer():
                return Result(_OPENED, _OPENED)
            case FunctionBackend(), FunctionAnswer():
                return _of_function(prepared, answer, definitions)
            case CapabilityBackend(), ResponseAnswer(extras=extras):
                return _of_response(extras, context, request_id)
    except DroidgateError as error:
        return Failure("malformed_response", error.message)
    return Failure("malformed_response", "the answer is of another form than the backend's")


def _of_tool(result: MmcpToolResult) -> Result | Failure:
    if result.failure is not None:
        return Failure(result.failure.token, result.failure.message)
    return Result(result.value, result.text, is_missing=result.is_missing)


def _of_function(
    prepared: PreparedRoute, answer: FunctionAnswer, definitions: Mapping[str, Type]
) -> Result | Failure:
    if answer.code is not None:
        failure = failure_of_code(answer.code)
        return Failure(failure.token, f"{answer.code} {answer.message or _NO_MESSAGE}", answer.code)
    value = read_document(answer.document, prepared.route.output, definitions)
    return Result(value, is_missing=value is None and prepared.route.output is None)


def _of_response(
    extras: Mapping[str, Json], context: ReadingContext, request_id: str | None
) -> Result | Failure | None:
    """Return the content of a response, None if it answers another request (specification 3.3)."""
    try:
        response = read_response(extras, context, carrier="bind")
    except MalformedResponseError as error:
        is_other = error.request_id not in {"", request_id}
        return None if is_other else Failure("malformed_response", error.message)
    if response is None:
        return None
    if not response.request_id:
        return Failure("malformed_response", "the app's response has no id, so it may answer another request")
    if response.request_id != request_id:
        return None
    if not response.succeeded:
        return Failure(response.token or _FALLBACK, response.message or f"the app failed and {_NO_MESSAGE}")
    outputs = response.outputs
    return Result(None if outputs is None else dict(outputs), is_missing=outputs is None)


def _write_document(
    prepared: PreparedRoute, arguments: Mapping[str, Json], definitions: Mapping[str, Type]
) -> dict[str, Json]:
    try:
        document = write_document(arguments, prepared.route.input, definitions)
    except AppFunctionWireError as error:
        where = f"{error.pointer}: " if error.pointer else ""
        raise CallError(
            Failure("invalid_argument", f"{where}{error.message}"), pointer=error.pointer
        ) from None
    renamed = {**document, "properties": _renamed(document["properties"], prepared.route.names)}
    _check_size(utf16_length(write_strict(renamed)))
    return renamed


def _renamed(arguments: Mapping[str, Json], names: Mapping[str, str]) -> dict[str, Json]:
    """Return the arguments by their names at the backend.

    Raises:
        CallError: with the token `invalid_argument`: one that is not declared has the name of a parameter at
            the backend, and would evade that parameter's constraints.
    """
    parameters = {backend_name: name for name, backend_name in names.items()}
    for name in arguments:
        if name not in names and name in parameters:
            pointer = f"/{pointer_token(name)}"
            message = f'{pointer}: not a parameter; did you mean "{parameters[name]}"?'
            raise CallError(Failure("invalid_argument", message), pointer=pointer)
    return {names.get(name, name): value for name, value in arguments.items()}
