"""The response document as the shell prints it (reference appfunctions 6.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from droidgate_appfunctions.constants import NAMES
from droidgate_appfunctions.wire_values import (
    LONG_BITS,
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    Definitions,
    Walk,
    check_scalar,
    has_required,
    name_alternative,
    name_kind,
    point,
    read_scalar,
    shorten_single,
    without,
)
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, ObjectType, OneOfType, OpaqueType, ScalarType, Type

RETURN_KEY: Final = NAMES["return_value"]
"""Property of the response that holds the result (ExecuteAppFunctionResponse.PROPERTY_RETURN_VALUE)."""

_RESULT_TOKEN: Final = "malformed_response"  # noqa: S105 - a failure token, no secret


def write_result(value: Json, output_type: Type | None, definitions: Definitions) -> dict[str, Json]:
    """Return the response document of a value, as the shell prints it: every property a list.

    Args:
        value: The result; None for void, null and a platform object.
        output_type: The declared output, None where nothing is declared.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: a value is not of the declared type, or a GenericDocument cannot hold it.
    """
    writer = _ResultWriter(Walk(definitions, _RESULT_TOKEN))
    if value is None:
        return {}
    written = writer.write(value, output_type, "", 0)
    return {} if written is None else {RETURN_KEY: written}


def read_result(document: Json, output_type: Type | None, definitions: Definitions) -> Json:
    """Return the value of a response document.

    Lists are unwrapped by the declared type; where nothing is declared, lists of one element are. A document
    without the return key has its properties as the value. An empty document is None: void, null, or a
    platform object.

    Args:
        document: The parsed JSON object.
        output_type: The declared output, None where nothing is declared.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: the document is none, or does not fit the declaration.
    """
    reader = _ResultReader(Walk(definitions, _RESULT_TOKEN))
    return reader.read_document(document, output_type)


def _is_void(declared: Type) -> bool:
    return isinstance(declared, OpaqueType) or (isinstance(declared, ScalarType) and declared.kind == "null")


@dataclass(frozen=True, slots=True)
class _ResultWriter:
    walk: Walk

    def write(self, value: Json, declared: Type | None, pointer: str, depth: int) -> list[Json] | None:
        """Return a property's list; None where the property is not set."""
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        if value is None or (resolved is not None and _is_void(resolved)):
            return None
        if isinstance(resolved, ArrayType):
            items = resolved.items
        elif resolved is None or resolved.kind == "any":
            if not isinstance(value, list | tuple):
                return [self._write_item(value, resolved, pointer, depth)]
            items = None
        else:
            return [self._write_item(value, resolved, pointer, depth)]
        if not isinstance(value, list | tuple):
            raise self.walk.wrong_kind("a list", value, pointer)
        return [
            self._write_item(item, items, point(pointer, index), depth) for index, item in enumerate(value)
        ]

    def _write_item(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        if value is None:
            raise self.walk.error("null-item", "a list holds no null on this wire", pointer)
        if isinstance(value, list | tuple) and not isinstance(resolved, ScalarType | ObjectType):
            raise self.walk.error("nested-array", "a list holds no lists on this wire", pointer)
        match resolved:
            case ScalarType():
                return _print_number(read_scalar(self.walk, value, resolved, pointer))
            case ObjectType():
                return self._write_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._write_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                raise self.walk.error("opaque", "a platform object has no place in a document", pointer)
        if isinstance(value, Mapping):
            return self._write_object(value, ObjectType(), pointer, depth)
        return _print_number(check_scalar(self.walk, value, pointer))

    def _write_object(self, value: Json, declared: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        written: dict[str, Json] = {}
        for name, item in value.items():
            here = point(pointer, name)
            known = declared.properties.get(name)
            if not isinstance(name, str) or not name:
                raise self.walk.error("empty-name", "a property's name is not empty", here)
            if known is None and declared.properties:
                raise self.walk.error("unknown-key", f"nothing named {name!r} is declared", here)
            entry = self.write(item, None if known is None else known.type, here, depth + 1)
            if entry is not None:
                written[name] = entry
        return written

    def _write_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> Json:
        named = value.get(SCHEMA_TYPE_KEY) if isinstance(value, Mapping) else None
        for name, item in self.walk.alternatives(declared, pointer):
            if isinstance(named, str) and named != name:
                continue
            own_key = isinstance(item, ObjectType) and SCHEMA_TYPE_KEY in item.properties
            members = without(value, SCHEMA_TYPE_KEY) if isinstance(value, Mapping) and not own_key else value
            try:
                written = self._write_item(members, item, pointer, depth)
            except AppFunctionWireError as error:
                if error.problem == "too-much":
                    raise
                continue
            if not isinstance(item, ObjectType) or has_required(members, item):
                return written
        raise self.walk.error("no-alternative", "no alternative of the declared ones fits", pointer)


def _print_number(value: Json) -> Json:
    """Return a number as org.json prints it: a double without a fraction as a whole number."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1 << (LONG_BITS - 1):
        return value if math.copysign(1.0, value) < 0 and value == 0 else int(value)
    return value


@dataclass(frozen=True, slots=True)
class _ResultReader:
    walk: Walk
    _no_object: ObjectType = field(default_factory=ObjectType)

    def read_document(self, document: Json, output_type: Type | None) -> Json:
        if not isinstance(document, Mapping):
            raise self.walk.error("not-an-object", f"the response is {name_kind(document)}, no document", "")
        declared = None if output_type is None else self.walk.resolve(output_type, "")
        if not document or (declared is not None and _is_void(declared)):
            return None
        if RETURN_KEY in document:
            return self._read_property(document[RETURN_KEY], declared, point("", RETURN_KEY), 0)
        if declared is None or declared.kind in {"object", "one-of", "any"}:
            return self._read_item(document, declared, "", 0)
        raise self.walk.error("no-result", f"the response has no {RETURN_KEY}", "")

    def _read_property(self, values: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        """Read a property's list by its declared type."""
        self.walk.check_depth(pointer, depth)
        if not isinstance(values, list):
            raise self.walk.error("not-a-list", "every property of a response is a list", pointer)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        is_list = isinstance(resolved, ArrayType)
        if resolved is None or resolved.kind == "any":
            is_list = len(values) != 1
        if is_list:
            items = resolved.items if isinstance(resolved, ArrayType) else None
            return [
                self._read_item(item, items, point(pointer, index), depth + 1)
                for index, item in enumerate(values)
            ]
        if not values:
            return None
        if len(values) > 1:
            message = f"one value is declared and {len(values)} are given"
            raise self.walk.error("wrong-kind", message, pointer)
        return self._read_item(values[0], resolved, point(pointer, 0), depth + 1)

    def _read_item(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                read = read_scalar(self.walk, value, resolved, pointer)
                return shorten_single(read) if resolved.kind == "float" else read
            case ObjectType():
                return self._read_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._read_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                return None
            case ArrayType():
                raise self.walk.error("nested-array", "a response holds no lists of lists", pointer)
        if isinstance(value, Mapping):
            return self._read_object(value, self._no_object, pointer, depth)
        if isinstance(value, list):
            raise self.walk.error("nested-array", "a response holds no lists of lists", pointer)
        return check_scalar(self.walk, value, pointer)

    def _read_object(self, value: Json, declared: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        read: dict[str, Json] = {}
        for name, item in value.items():
            known = declared.properties.get(name)
            known_type = None if known is None else known.type
            read[name] = self._read_property(item, known_type, point(pointer, name), depth + 1)
        return read

    def _read_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> Json:
        """Guess the alternative, which the shell does not print: the first that fits by names and kinds.

        The value states it under `schemaType`: schemas of other formats require it.
        """
        for name, item in self.walk.alternatives(declared, pointer):
            known = item.properties if isinstance(item, ObjectType) else {}
            if isinstance(item, ObjectType) and isinstance(value, Mapping):
                unknown = bool(known) and any(name not in known for name in value)
                if unknown or not has_required(value, item):
                    continue
            try:
                read = self._read_item(value, item, pointer, depth)
            except AppFunctionWireError as error:
                if error.problem == "too-much":
                    raise
                continue
            return name_alternative(read, name, item) if isinstance(item, ObjectType) else read
        raise self.walk.error("no-alternative", "no alternative of the declared ones fits", pointer)
