"""The shim as an app of other protocols: mMCP by activity and broadcast, app functions (shim.md 2, 6).

Each writes its request in the specification's form and hands it to the same engine.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_appfunctions.wire import AppFunctionWireError
from droidgate_appfunctions.wire_documents import read_document, write_document
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ObjectType
from droidgate_mappings.values.failures import Failure
from droidgate_mobile_mcp.wire import read_response
from droidgate_phone.apps.shim.app_function_caller import document_of, properties_of
from droidgate_phone.apps.shim.call_control import Reply
from droidgate_phone.apps.shim.caller_grants import Caller, caller_of_package
from droidgate_phone.apps.shim.shim_process import Shim
from droidgate_phone.java.app_values import (
    AppFunctionError,
    BroadcastResult,
    CallingPackage,
    CancellationSignal,
)
from droidgate_phone.java.intents import Bundle, ComponentName, Extra, Intent
from droidgate_phone.system.behaviour import Activity, AppFunctionService, PendingBroadcast, Receiver
from droidgate_shim.engine.authority import Carrier
from droidgate_shim.engine.engine import CANCELED
from droidgate_shim.engine.routes import NamedOutput, PreparedRoute
from droidgate_shim.engine.strict_json import BUILT, parse_strict, write_strict

ACTION_CALL: Final = "com.example.mMCP.ACTION_TOOL_CALL"
ACTION_DISCOVERY: Final = "com.example.ACTION_MMCP_DISCOVERY"
RECEIVER: Final = "dev.droidgate.shim.frontends.MmcpReceiver"
MANIFEST: Final = "mMCP_manifest"
_REQUEST: Final = "mobile-mcp-request"
_BROADCAST_MS: Final = 9_000
"""Agents wait 10 s for a broadcast, and Android calls a receiver dead after as many."""

_OK: Final = -1
_RETURN_VALUE: Final = "androidAppfunctionsReturnValue"
_ERROR_APP_UNKNOWN: Final = 3000

OnOutcome = Callable[[Mapping[str, Json] | None, Failure | None], None]
"""Takes the outputs (None where there are none) or the failure."""


def request_of(capability: str, arguments: Mapping[str, Json]) -> dict[str, Json]:
    """Return the extras of a request in the form of the specification's second edition."""
    call: dict[str, Json] = {"id": capability, "input": dict(arguments)}
    request: dict[str, Json] = {"id": str(uuid.uuid4()), "capability": call}
    return {_REQUEST: write_strict({_REQUEST: {"version": "1.0", "request": request}})}


def ask(
    shim: Shim, carrier: Carrier, caller: Caller, extras: Mapping[str, Json], on_outcome: OnOutcome
) -> Reply:
    """Hand a request to the engine and read its answer."""

    def deliver(answer: Mapping[str, str], token: str | None) -> None:
        read = read_response(dict(answer), ReadingContext(parse=parse_strict), carrier="bind")
        if token is None:
            on_outcome(None if read is None else read.outputs, None)
        else:
            message = "" if read is None else (read.message or "")
            on_outcome(None, Failure(token, message.removeprefix(f"{token}: ")))

    return shim.receive(carrier, caller, extras, deliver)


def text_of(prepared: PreparedRoute, outputs: Mapping[str, Json] | None) -> str:
    """Return the outputs as mMCP's one text: the one output `result` where it is a text, else all as JSON."""
    named_outputs = dict(outputs or {})
    single = isinstance(prepared.route.outputs, NamedOutput)
    value = named_outputs.get("result")
    if single and isinstance(value, str):
        return value
    return write_strict(named_outputs)


def _error_text(failure: Failure) -> str:
    return f"Error: {failure.message()}"


def _ask_tool(
    shim: Shim, tool: str, parameters: str | None, on_text: Callable[[str, bool], None]
) -> Reply | None:
    """Ask for a tool of mMCP; the text that comes is a result or an error.

    Returns:
        The request, None for one that is not a request.
    """
    try:
        arguments = parse_strict(parameters) if parameters else {}
    except InputError as error:
        on_text(f"Error: invalid_argument: {error.message}", False)
        return None
    if not isinstance(arguments, dict):
        on_text("Error: invalid_argument: the parameters are not a JSON object", False)
        return None

    def receive(outputs: Mapping[str, Json] | None, failure: Failure | None) -> None:
        prepared = shim.table.routes.get(tool)
        if failure is not None or prepared is None:
            on_text(
                _error_text(
                    failure
                    or Failure("unknown_capability", f"{write_strict(tool)} is not a capability of this app")
                ),
                False,
            )
        else:
            on_text(text_of(prepared, outputs), True)

    return ask(shim, "start", Caller(), request_of(tool, arguments), receive)


class MmcpActivity(Activity):
    """mMCP by activity result; shows nothing."""

    def on_create(self, intent: Intent) -> None:
        """Answer the call that started it; the action by which it is found calls nothing."""
        if intent.action != ACTION_CALL:
            self.finish()
            return
        tool = intent.extras.get_string("tool_name") or ""

        def reply(text: str, succeeded: bool) -> None:  # noqa: FBT001 - the shape of a callback
            extras = {"result": text} if succeeded else {"error": text, "result": text}
            self.set_result(_OK if succeeded else 0, Intent(extras=Bundle.of_strings(extras)))
            self.context.platform.finish_activity()

        _ask_tool(Shim.of(self.context), tool, intent.extras.get_string("parameters"), reply)


class MmcpReceiver(Receiver):
    """mMCP by ordered broadcast."""

    def on_receive(
        self, intent: Intent, current: BroadcastResult
    ) -> BroadcastResult | PendingBroadcast | None:
        """List the tools, or run one."""
        if intent.action == ACTION_DISCOVERY:
            return BroadcastResult(_OK, current.data, _described(Shim.of(self.context), current.extras))
        pending = PendingBroadcast(self.context.platform.signal())

        def reply(text: str, succeeded: bool) -> None:  # noqa: FBT001 - the shape of a callback
            pending.finish(BroadcastResult(_OK if succeeded else 0, text, current.extras))

        read, shim = intent.extras.get_string, Shim.of(self.context)
        call = _ask_tool(shim, read("tool") or "", read("params"), reply)
        if call is not None:
            stop = shim.platform.after(_BROADCAST_MS / 1000, lambda: shim.give_up(call))
            call.on_end.append(stop)
        return pending


def _described(shim: Shim, extras: Bundle) -> Bundle:
    """Return what a discovery is answered with, from the receiver's own meta-data."""
    package = shim.context.package
    meta_data = shim.platform.find_meta_data(ComponentName(package, RECEIVER), MANIFEST)
    reference = None if meta_data is None else meta_data.resource or meta_data.raw_value
    content = None if reference is None else shim.platform.read_raw_resource(package, reference)
    text = content.decode() if content is not None else str(None if meta_data is None else meta_data.value)
    try:
        manifest = parse_strict(text, limits=BUILT)
    except InputError:
        manifest = {}
    tools = manifest.get("tools") if isinstance(manifest, dict) else None
    fields: dict[str, Extra] = {}
    names: list[str] = []
    for tool in tools if isinstance(tools, list) else []:
        if not isinstance(tool, dict):
            continue
        name = str(tool.get("name"))
        names.append(name)
        fields[f"{name}.description"] = Extra("string", str(tool.get("description") or ""))
        fields[f"{name}.parameters"] = Extra("string", write_strict(tool.get("parameters") or {}))
    return Bundle({**extras.values, "tools": Extra("string[]", tuple(names)), **fields})


class FunctionService(AppFunctionService):
    """The shim's routes as app functions."""

    def on_execute_later(
        self,
        function_id: str,
        parameters: Mapping[str, Json],
        calling_package: CallingPackage,
        signal: CancellationSignal,
        on_outcome: Callable[[Mapping[str, Json] | AppFunctionError], None],
    ) -> None:
        """Execute a function that the builder advertised."""
        shim = Shim.of(self.context)
        functions = shim.app.get("functions")
        route_id = functions.get(function_id) if isinstance(functions, dict) else None
        prepared = shim.table.routes.get(route_id) if isinstance(route_id, str) else None
        if prepared is None or not isinstance(route_id, str):
            on_outcome(_error_of(Failure("unknown_capability")))
            return
        try:
            arguments = _arguments_of(shim, prepared, parameters)
        except AppFunctionWireError as error:
            on_outcome(_error_of(Failure("invalid_argument", error.message)))
            return
        caller = caller_of_package(shim.platform, calling_package.name, calling_package.signers)

        def receive(outputs: Mapping[str, Json] | None, failure: Failure | None) -> None:
            if failure is not None:
                on_outcome(_error_of(failure))
            else:
                on_outcome(_result_of(shim, prepared, outputs))

        reply = ask(shim, "bind", caller, request_of(route_id, arguments), receive)
        signal.set_on_cancel_listener(lambda: shim.end(reply, CANCELED))


def _error_of(failure: Failure) -> AppFunctionError:
    return AppFunctionError(failure.app_functions_code(), failure.message())


def _arguments_of(shim: Shim, prepared: PreparedRoute, parameters: Mapping[str, Json]) -> dict[str, Json]:
    read = read_document(document_of(parameters), prepared.route.input, shim.table.definitions)
    return dict(read) if isinstance(read, dict) else {}


def _result_of(
    shim: Shim, prepared: PreparedRoute, outputs: Mapping[str, Json] | None
) -> Mapping[str, Json] | AppFunctionError:
    if prepared.route.outputs is None:
        return {}
    declared: ObjectType = prepared.descriptor_output
    try:
        document = write_document(dict(outputs or {}), declared, shim.table.definitions)
    except AppFunctionWireError as error:
        return AppFunctionError(_ERROR_APP_UNKNOWN, error.message)
    return {_RETURN_VALUE: [properties_of(document)]}
