"""Arguments and results of a call, fitted to what a capability declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from droidgate_mappings.model.capability import Capability
from droidgate_mappings.model.json_values import Json, pointer_token
from droidgate_mappings.model.types import ObjectType, RefType, ScalarType, Type
from droidgate_mappings.text.json_text import JsonParser, parse_json
from droidgate_mappings.text.nearest_names import nearest_names
from droidgate_mappings.values.coercion import Coercion, Definitions, UnfitValueError, ValueFitter
from droidgate_mappings.values.failures import CallError, Failure

_MAX_LISTED: Final = 20


@dataclass(frozen=True, slots=True)
class FittedArguments:
    """Arguments as the capability declares them.

    Attributes:
        values: In the declared order, further ones behind.
        coercions: What was read as another kind than it came in, or left out.
    """

    values: dict[str, Json]
    coercions: tuple[Coercion, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedResult:
    """A result as the capability declares it.

    Attributes:
        value: The value; None for a declared void.
        coercions: What was read as another kind than it came in.
    """

    value: Json
    coercions: tuple[Coercion, ...] = ()


def fit_arguments(
    arguments: Mapping[str, Json],
    capability: Capability,
    definitions: Definitions,
    *,
    exact: bool = False,
    parse: JsonParser = parse_json,
) -> FittedArguments:
    """Validate a call's arguments and bring them into the declared types.

    A null for a parameter that is neither nullable nor required is the same as no value. A name that is not
    declared is refused (reference mobile-mcp-and-mmcp 6, row 25): a misspelled optional parameter would
    otherwise be its default. An input that allows further names has `additionalProperties`, or is not
    an object.

    Args:
        arguments: Name -> JSON value.
        capability: What is called.
        definitions: Its provider's definitions.
        exact: Nothing is bent.
        parse: Reads the JSON that a text spells.

    Raises:
        CallError: with the token `invalid_argument`, and the pointer of the argument.
    """
    fitter = ValueFitter(definitions, exact=exact, parse=parse)
    declared = type_behind(capability.input, definitions)
    given = dict(arguments)
    left_out: list[Coercion] = []
    if isinstance(declared, ObjectType):
        is_closed = declared.keywords.get("additionalProperties", False) is False
        for name in list(given):
            pointer = f"/{pointer_token(name)}"
            known = declared.properties.get(name)
            if known is None and is_closed:
                raise _invalid(pointer, _unknown_name(name, tuple(declared.properties)))
            if known is not None and given[name] is None and not known.required and not known.type.nullable:
                left_out.append(Coercion(pointer, "null stands for no value"))
                del given[name]
    if exact and left_out:
        raise _invalid(left_out[0].pointer, left_out[0].message)
    try:
        fitted = fitter.fit(given, capability.input)
    except UnfitValueError as error:
        raise _invalid(error.pointer, error.reason) from None
    order = declared.properties if isinstance(declared, ObjectType) else {}
    ordered = {name: fitted[name] for name in order if name in fitted}
    return FittedArguments({**ordered, **fitted}, (*left_out, *fitter.coercions))


def argument_problems(
    arguments: Mapping[str, Json], capability: Capability, definitions: Definitions
) -> tuple[CallError, ...]:
    """Return everything that is wrong with a call's arguments, by their order; nothing where they fit.

    `fit_arguments` raises only the first problem, which is all that the engine of the shim answers with.
    """
    declared = type_behind(capability.input, definitions)
    given = dict(arguments)
    unknown: list[CallError] = []
    if isinstance(declared, ObjectType):
        known = declared.properties
        is_closed = declared.keywords.get("additionalProperties", False) is False
        for name in [name for name in given if name not in known and is_closed]:
            unknown.append(_invalid(f"/{pointer_token(name)}", _unknown_name(name, tuple(known))))
            del given[name]
        for name in [name for name in given if name in known and given[name] is None]:
            if not known[name].required and not known[name].type.nullable:
                del given[name]
    fitter = ValueFitter(definitions, problems=[])
    found = fitter.problems if fitter.problems is not None else []
    try:
        fitter.fit(given, capability.input)
    except UnfitValueError as error:
        found.append(error)
    return (*unknown, *(_invalid(error.pointer, error.reason) for error in found))


def fit_result(
    value: Json,
    capability: Capability,
    definitions: Definitions,
    *,
    exact: bool = False,
    parse: JsonParser = parse_json,
) -> FittedResult:
    """Bring a result into the type that the capability declares.

    Args:
        value: What the callee answered.
        capability: What was called; one without a declared output takes any value.
        definitions: Its provider's definitions.
        exact: Nothing is bent.
        parse: Reads the JSON that a text spells.

    Raises:
        CallError: with the token `malformed_response`, and the pointer of the value.
    """
    declared = capability.output
    if declared is None:
        return FittedResult(value)
    if isinstance(declared, ScalarType) and declared.kind == "null":
        dropped = () if value in (None, {}) else (Coercion("", "a value came where none is declared"),)
        if dropped and exact:
            raise _malformed("", dropped[0].message)
        return FittedResult(None, dropped)
    fitter = ValueFitter(definitions, exact=exact, parse=parse)
    try:
        return FittedResult(fitter.fit(value, declared), tuple(fitter.coercions))
    except UnfitValueError as error:
        raise _malformed(error.pointer, error.reason) from None


def type_behind(declared: Type, definitions: Definitions) -> Type:
    """Return the type behind references; the last one itself where it leads nowhere or in a circle."""
    seen: set[str] = set()
    while isinstance(declared, RefType) and declared.name in definitions and declared.name not in seen:
        seen.add(declared.name)
        declared = definitions[declared.name]
    return declared


def _unknown_name(name: str, declared: tuple[str, ...]) -> str:
    """Return why a name is refused: with the nearest parameters, or all of them where none is near."""
    if not declared:
        return "not a parameter; the capability has no parameters"
    near = nearest_names(name, declared)
    if near:
        return f"not a parameter; did you mean {' or '.join(map(_quoted, near))}?"
    more = f" and {len(declared) - _MAX_LISTED} more" if len(declared) > _MAX_LISTED else ""
    return f"not a parameter; the parameters are {', '.join(map(_quoted, declared[:_MAX_LISTED]))}{more}"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _invalid(pointer: str, reason: str) -> CallError:
    where = f"{pointer}: " if pointer else ""
    return CallError(Failure("invalid_argument", f"{where}{reason}"), pointer=pointer)


def _malformed(pointer: str, reason: str) -> CallError:
    where = f"{pointer}: " if pointer else ""
    return CallError(Failure("malformed_response", f"{where}{reason}"), pointer=pointer)
