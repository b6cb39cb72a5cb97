"""Calls of app functions, and their documents as the phone's Android holds them (docs/shim.md 4, 6)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from droidgate.model.json_values import Json
from droidgate_shim.engine.backends import FunctionAnswer, FunctionCall
from droidgate_shim.engine.engine import Send
from droidgate_shim.engine.routes import FunctionBackend
from droidgate_shim.phone.apps.behaviour import AppFunctionError
from droidgate_shim.phone.apps.platform import FunctionOutcome

if TYPE_CHECKING:
    from droidgate_shim.phone.apps.shim.core import Core

_FIRST_WITH_FUNCTIONS: Final = 36


def execute_function(core: Core, send: Send, backend: FunctionBackend, call: FunctionCall) -> None:
    """Execute an app function, where this Android has them and it is enabled."""
    if core.platform.sdk < _FIRST_WITH_FUNCTIONS:
        core.fail(send.call, "unavailable", "this Android has no app functions")
        return

    def receive(outcome: FunctionOutcome) -> None:
        core.result(send.call, _answer_of(outcome))

    try:
        enabled = core.platform.is_app_function_enabled(backend.package, call.function)
    except AppFunctionError as error:
        receive(error)
        return
    if not enabled:
        core.fail(send.call, "disabled", "the app function is disabled")
        return
    core.platform.execute_app_function(
        backend.package,
        call.function,
        properties_of(call.document),
        receive,
        seconds=max(0.0, (send.deadline - core.now()) / 1000),
    )


def _answer_of(outcome: FunctionOutcome) -> FunctionAnswer:
    if isinstance(outcome, AppFunctionError):
        return FunctionAnswer(code=outcome.code, message=outcome.message)
    return FunctionAnswer(document=document_of(outcome))


def properties_of(document: Mapping[str, Json]) -> dict[str, Json]:
    """Return the properties that the phone's Android holds of a document of the engine."""
    properties = document.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {name: _values_of(one) for name, one in properties.items() if isinstance(one, Mapping)}


def _values_of(held: Mapping[str, Json]) -> list[Json]:
    values = held.get("values")
    listed = values if isinstance(values, list) else []
    if held.get("kind") == "document":
        return [properties_of(one) for one in listed if isinstance(one, Mapping)]
    if held.get("kind") == "double":
        return [float(str(one)) for one in listed]
    return list(listed)


def document_of(properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the document of the engine that properties of the phone's Android stand for.

    The phone's documents hold no schema types, so none is told.
    """
    return {
        "schemaType": "",
        "properties": {
            name: _property_of(one if isinstance(one, list) else [one]) for name, one in properties.items()
        },
    }


def _property_of(values: list[Json]) -> dict[str, Json]:
    first = values[0] if values else ""
    if isinstance(first, Mapping):
        return {
            "kind": "document",
            "values": [document_of(one) for one in values if isinstance(one, Mapping)],
        }
    if isinstance(first, bool):
        return {"kind": "boolean", "values": values}
    if isinstance(first, int):
        return {"kind": "long", "values": values}
    if isinstance(first, float):
        return {"kind": "double", "values": [Decimal(repr(one)) for one in values]}
    return {"kind": "string", "values": values}
