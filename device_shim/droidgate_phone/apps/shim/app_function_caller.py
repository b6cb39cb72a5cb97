"""App functions, and their documents as the phone's Android has them (shim.md 4, 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.failures import Failure
from droidgate_phone.java.app_values import AppFunctionError, FunctionOutcome, do_nothing
from droidgate_shim.engine.backends import FunctionAnswer

if TYPE_CHECKING:
    from droidgate_phone.system.behaviour import Platform


FIRST_WITH_FUNCTIONS: Final = 36
EXECUTE: Final = "android.permission.EXECUTE_APP_FUNCTIONS"

OnAnswer = Callable[[FunctionAnswer | Failure], None]
"""Takes what an app function answers, or why it was not executed."""


@dataclass(frozen=True, slots=True)
class FunctionRequest:
    """An app function that is to be executed.

    Attributes:
        package: The app.
        function: The function's id.
        document: Its parameters, as the engine has documents.
    """

    package: str
    function: str
    document: Mapping[str, Json]


def run_function(platform: Platform, request: FunctionRequest, on_answer: OnAnswer) -> Callable[[], None]:
    """Execute an app function with the app's own permissions, where it is enabled; return what cancels it."""

    def receive(outcome: FunctionOutcome) -> None:
        on_answer(_answer_of(outcome))

    try:
        enabled = platform.is_app_function_enabled(request.package, request.function)
    except AppFunctionError as error:
        receive(error)
        return do_nothing
    if not enabled:
        on_answer(Failure("disabled", "the app has switched the function off"))
        return do_nothing
    parameters = properties_of(request.document, typed=True)
    return platform.execute_app_function(request.package, request.function, parameters, receive)


def _answer_of(outcome: FunctionOutcome) -> FunctionAnswer:
    if isinstance(outcome, AppFunctionError):
        return FunctionAnswer(code=outcome.code, message=outcome.message)
    return FunctionAnswer(document=document_of(outcome))


def properties_of(document: Mapping[str, Json], *, typed: bool = False) -> dict[str, Json]:
    """Return the properties that the phone's Android has for a document of the engine.

    Args:
        document: The engine's.
        typed: Each document in it keeps its schema type as a property, where the phone's apps read it.
    """
    properties = document.get("properties")
    if not isinstance(properties, Mapping):
        return {}
    return {
        name: _values_of(property_, typed=typed)
        for name, property_ in properties.items()
        if isinstance(property_, Mapping)
    }


def _values_of(property_: Mapping[str, Json], *, typed: bool) -> list[Json]:
    values = property_.get("values")
    listed = values if isinstance(values, list) else []
    if property_.get("kind") == "document":
        return [
            {**properties_of(item, typed=typed), **({"schemaType": [item["schemaType"]]} if typed else {})}
            for item in listed
            if isinstance(item, Mapping)
        ]
    if property_.get("kind") == "double":
        return [float(str(item)) for item in listed]
    return list(listed)


def document_of(properties: Mapping[str, Json]) -> dict[str, Json]:
    """Return the document of the engine for properties of the phone's Android.

    The phone's documents have no schema types, so there is none here.
    """
    return {
        "schemaType": "",
        "properties": {
            name: _property_of(property_ if isinstance(property_, list) else [property_])
            for name, property_ in properties.items()
        },
    }


def _property_of(values: list[Json]) -> dict[str, Json]:
    first = values[0] if values else ""
    if isinstance(first, Mapping):
        return {
            "kind": "document",
            "values": [document_of(value) for value in values if isinstance(value, Mapping)],
        }
    if isinstance(first, bool):
        return {"kind": "boolean", "values": values}
    if isinstance(first, int):
        return {"kind": "long", "values": values}
    if isinstance(first, float):
        return {"kind": "double", "values": [Decimal(repr(value)) for value in values]}
    return {"kind": "string", "values": values}
