"""One Mobile-MCP 1.0 request text in, one response text out, and how the sample apps' services exchange them
(`RequestEngine.java`, `Descriptor.java`).

The sample apps are a tool author's, so nothing here comes from the gateway's own adapter, which is tried
against them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.xml_text import parse_xml
from droidgate_phone.java.app_values import AndroidError, AppCrashError, Message
from droidgate_phone.java.intents import Bundle, Intent
from droidgate_phone.java.java_text import java_length
from droidgate_phone.java.org_json import JsonError, parse_object, write_json
from droidgate_phone.system.behaviour import Context

MSG_REQUEST: Final = 1
MSG_RESPONSE: Final = 2
KEY_REQUEST: Final = "request"
KEY_RESPONSE: Final = "response"
EXTRA_REQUEST: Final = "mobile-mcp-request"
EXTRA_RESPONSE: Final = "mobile-mcp-response"
EXTRA_CALLBACK: Final = "mcp_callback"

AnswerRequest = Callable[[str | None], str]
"""Returns the response text to a request text, None where the extra was missing."""


def answer_start(context: Context, intent: Intent, answer: AnswerRequest) -> None:
    """Answer through the PendingIntent that came with a started request; do nothing without one."""
    callback = intent.extras.values.get(EXTRA_CALLBACK)
    if callback is None or callback.kind != "pending-intent":
        return
    response = answer(intent.extras.get_string(EXTRA_REQUEST))
    fill_in = Intent(extras=Bundle.of_strings({EXTRA_RESPONSE: response}))
    try:
        context.send_pending_intent(str(callback.value), fill_in)
    except AndroidError:
        # The assistant withdrew its callback.
        return


def answer_message(context: Context, message: Message, answer: AnswerRequest) -> None:
    """Answer a message with `what` 1 under the key that belongs to its own; others are none."""
    if message.what != MSG_REQUEST or message.reply_to is None:
        return
    is_long = EXTRA_REQUEST in message.data.values
    request_key, response_key = (EXTRA_REQUEST, EXTRA_RESPONSE) if is_long else (KEY_REQUEST, KEY_RESPONSE)
    response = answer(message.data.get_string(request_key))
    reply = Message(MSG_RESPONSE, Bundle.of_strings({response_key: response}))
    try:
        context.send_message(message.reply_to, reply)
    except AndroidError:
        # The assistant left before its answer.
        return


_VERSION: Final = "1.0"
_LONGEST_REQUEST: Final = 64 * 1024
_TYPES: Final[Mapping[str, type]] = {"boolean": bool, "integer": int}


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that the descriptor declares."""

    name: str
    type: str
    is_required: bool


@dataclass(slots=True)
class DeclaredCapability:
    """A capability that the descriptor declares."""

    inputs: dict[str, Parameter] = field(default_factory=dict)
    outputs: list[Parameter] = field(default_factory=list)

    def problem_with(self, arguments: Mapping[str, Json]) -> str | None:
        """Return what is wrong with arguments, None where nothing is."""
        for parameter in self.inputs.values():
            if parameter.is_required and parameter.name not in arguments:
                return f'"{parameter.name}" is missing'
        for name, value in arguments.items():
            declared = self.inputs.get(name)
            if declared is None:
                return f'"{name}" is not a parameter of this capability'
            if type(value) is not _TYPES.get(declared.type, str):
                return f'"{name}" must be {"an" if declared.type == "integer" else "a"} {declared.type}'
        return None


def read_descriptor(xml: str | None) -> dict[str, DeclaredCapability]:
    """Return what the app's own descriptor declares, by id.

    Raises:
        AppCrashError: it cannot be read; the service dies when it is made.
    """
    try:
        root = parse_xml(xml or "", path="mcp_capabilities.xml")
    except DroidgateError as error:
        message = f"java.lang.IllegalStateException: The app's own descriptor cannot be read: {error}"
        raise AppCrashError(message) from None
    capabilities = {}
    for element in root.iter("capability"):
        capability = DeclaredCapability()
        for parameter in map(_parameter_of, element.iterfind("input/param")):
            capability.inputs[parameter.name] = parameter
        capability.outputs.extend(map(_parameter_of, element.iterfind("output/param")))
        capabilities[element.get("id", "")] = capability
    return capabilities


def _parameter_of(element: _Attributes) -> Parameter:
    name, kind = element.get("name", ""), element.get("type", "")
    return Parameter(name, kind, element.get("required", "") == "true")


class _Attributes(Protocol):
    def get(self, name: str, default: str) -> str: ...


class RefusalError(Exception):
    """The tool refuses a request, with a token and a reason."""

    def __init__(self, token: str, reason: str) -> None:
        super().__init__(f"{token}: {reason}")


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a capability answers: a readable text and its outputs, by name."""

    message: str
    outputs: Mapping[str, Json] = field(default_factory=dict)


CapabilityRun = Callable[[str, Mapping[str, Json]], ToolAnswer]
"""Does what a capability does, by its id and its arguments, or raises `RefusalError`."""


@dataclass(slots=True)
class _Naming:
    """What a refusal names: as much as was read before it."""

    request_id: str = ""
    capability_id: str = ""


def answer_request(
    descriptor: Mapping[str, DeclaredCapability], request_text: str | None, run: CapabilityRun
) -> str:
    """Return the response to a request, whatever it looks like; None where the extra was missing.

    Args:
        descriptor: What the app declares, by id.
        request_text: The request.
        run: What the app does for a request that fits.
    """
    naming = _Naming()
    try:
        capability, answer = _serve(descriptor, request_text, run, naming)
    except RefusalError as refusal:
        return _response(naming.request_id, {"id": naming.capability_id}, "failure", str(refusal))
    described: dict[str, Json] = {"id": naming.capability_id}
    if capability.outputs:
        described["output"] = [
            {"name": output.name, "type": output.type, "value": answer.outputs.get(output.name)}
            for output in capability.outputs
        ]
    return _response(naming.request_id, described, "success", answer.message)


def _serve(
    descriptor: Mapping[str, DeclaredCapability],
    request_text: str | None,
    run: CapabilityRun,
    naming: _Naming,
) -> tuple[DeclaredCapability, ToolAnswer]:
    envelope = _envelope_of(request_text)
    request = _object_in(envelope, "request")
    naming.request_id = _text_in(request, "id")
    requested = request.get("capability")
    named_id = requested.get("id") if isinstance(requested, Mapping) else None
    naming.capability_id = named_id if isinstance(named_id, str) else ""
    if envelope.get("version") != _VERSION:
        raise RefusalError("unsupported_version", f"this tool speaks version {_VERSION}")
    call = _object_in(request, "capability")
    naming.capability_id = _text_in(call, "id")
    capability = descriptor.get(naming.capability_id)
    if capability is None:
        raise RefusalError("unknown_capability", f'there is no "{naming.capability_id}" here')
    arguments = _arguments_of(call)
    problem = capability.problem_with(arguments)
    if problem is not None:
        raise RefusalError("invalid_argument", problem)
    return capability, run(naming.capability_id, arguments)


def _envelope_of(request_text: str | None) -> Mapping[str, Json]:
    if request_text is None:
        raise RefusalError("invalid_argument", "the request is missing")
    if java_length(request_text) > _LONGEST_REQUEST:
        raise RefusalError("invalid_argument", f"the request is longer than {_LONGEST_REQUEST} characters")
    try:
        document = parse_object(request_text)
    except JsonError:
        raise RefusalError("invalid_argument", "the request is not a JSON object") from None
    return _object_in(document, "mobile-mcp-request")


def _arguments_of(call: Mapping[str, Json]) -> Mapping[str, Json]:
    if "input" in call:
        raise RefusalError("invalid_argument", 'arguments belong under "args", not under "input"')
    return _object_in(call, "args") if "args" in call else {}


def _object_in(parent: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = parent.get(name)
    if not isinstance(value, Mapping):
        raise RefusalError("invalid_argument", f'"{name}" must be an object')
    return value


def _text_in(parent: Mapping[str, Json], name: str) -> str:
    value = parent.get(name)
    if isinstance(value, str) and value:
        return value
    raise RefusalError("invalid_argument", f'"{name}" must be a text that is not empty')


def _response(request_id: str, capability: Json, status: str, message: str) -> str:
    response = {"id": request_id, "capability": capability, "status": status, "message": message}
    return write_json({"mobile-mcp-response": {"version": _VERSION, "response": response}})
