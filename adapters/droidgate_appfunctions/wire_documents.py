"""Calls of app functions as documents, the plain form of a GenericDocument (shim-engine.md 5; reference
appfunctions 4).

A document is `{"schemaType": text, "properties": {name: {"kind": kind, "values": [...]}}}`, and a nested one
is a value of the kind `document`. Unlike the shell's JSON this says the kind of every property, so nothing
has to be guessed, and empty lists and bytes cross. An app on a device turns it into a GenericDocument one to
one.

Whatever they are given, these functions raise `AppFunctionWireError` and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, TypeAlias

from droidgate_appfunctions.wire import (
    INTEGER_BITS,
    LONG_BITS,
    RETURN_KEY,
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    Walk,
    fits_bits,
    has_required,
    name_alternative,
    name_kind,
    point,
    read_number,
    shorten_single,
    to_single,
    without,
)
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AnyType,
    ArrayType,
    Definitions,
    ObjectType,
    OneOfType,
    OpaqueType,
    ScalarType,
    Type,
)
from droidgate_mappings.records import dataclass
from droidgate_mappings.values.coercion import is_base64

__all__ = ["KIND_OF_SCALAR", "read_document", "write_document"]

KIND_OF_SCALAR: Final[Mapping[str, str]] = {
    "string": "string",
    "boolean": "boolean",
    "int32": "long",
    "int64": "long",
    "float": "double",
    "double": "double",
    "bytes": "bytes",
}
"""Kind of scalar type -> kind of property."""

_DOCUMENT: Final = "document"
_REAL_KINDS: Final = frozenset({"long", "double"})
_MAX_WHOLE_DIGITS: Final = 18
_MAX_DIGITS: Final = 64
_MAX_STEPS: Final = 50_000
"""Choices in one document; alternatives in alternatives could go on for ever."""
_Item: TypeAlias = tuple[str, Json]
"""Kind and value."""


def write_document(values: Json, input_type: Type, definitions: Definitions) -> dict[str, Json]:
    """Return the document that carries a call's parameters.

    Args:
        values: Parameter -> value, fitted to the type.
        input_type: The declared input; one that declares nothing takes values by their own kind.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: a value is not of the declared type, or a document cannot hold it; its token
            is `invalid_argument`.
    """
    walk = Walk(definitions, "invalid_argument", iter(range(_MAX_STEPS)))
    kind, written = _DocumentWriter(walk).write_item(values, input_type, "", 0)
    if kind != _DOCUMENT:
        raise walk.error("not-an-object", "the parameters are not an object", "")
    return dict(written)


def read_document(document: Json, output_type: Type | None, definitions: Definitions) -> Json:
    """Return the value that an answer's document holds; None for an empty one.

    The declaration says what is a list and of which kind a property is; whether the value fits it is not
    looked at.

    Args:
        document: The document.
        output_type: The declared output, None where nothing is declared.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: it is not a document, or not of the declared kinds; its token is
            `malformed_response`.
    """
    walk = Walk(definitions, "malformed_response", iter(range(_MAX_STEPS)))
    return _DocumentReader(walk).read_answer(document, output_type)


@dataclass(frozen=True, slots=True)
class _DocumentWriter:
    walk: Walk

    def write_property(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        """Return a property; None where there is none."""
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        if isinstance(resolved, OneOfType) and isinstance(value, list | tuple):
            resolved = self._list_alternative(value, resolved, pointer, depth)
        if isinstance(resolved, ArrayType):
            return self._write_list(value, resolved.items, pointer, depth)
        if _is_open(resolved) and isinstance(value, list | tuple):
            return self._write_list(value, None, pointer, depth)
        if value is None:
            return None
        kind, written = self.write_item(value, resolved, pointer, depth)
        return {"kind": kind, "values": [written]}

    def _list_alternative(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> Type:
        fitting: list[Type] = []
        for _, item in self.walk.alternatives(declared, pointer):
            if not isinstance(item, ArrayType) and not _is_open(item):
                continue
            try:
                self.write_property(value, item, pointer, depth)
            except AppFunctionWireError as error:
                _raise_if_too_much(error)
                continue
            fitting.append(item)
        return self._only(fitting, pointer)

    def _only(self, fitting: list[Type], pointer: str) -> Type:
        if len(fitting) != 1:
            raise self.walk.error(
                "no-alternative", f"{len(fitting) or 'none'} of the declared alternatives fit", pointer
            )
        return fitting[0]

    def _write_list(self, value: Json, items: Type | None, pointer: str, depth: int) -> Json:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.walk.wrong_kind("a list", value, pointer)
        written: list[_Item] = []
        for index, item in enumerate(value):
            here = point(pointer, index)
            if item is None:
                raise self.walk.error("null-item", "a list in a document cannot hold null", here)
            written.append(self.write_item(item, items, here, depth + 1))
        kinds = {kind for kind, _ in written}
        if not kinds:
            empty = self._kind_of_items(items, pointer, depth)
            return None if empty is None else {"kind": empty, "values": []}
        if kinds == _REAL_KINDS:
            return {"kind": "double", "values": [_double_of(item) for _, item in written]}
        if len(kinds) > 1:
            message = (
                f"a list holds values of one kind in a document, and here are {', '.join(sorted(kinds))}"
            )
            raise self.walk.error("wrong-kind", message, pointer)
        return {"kind": kinds.pop(), "values": [item for _, item in written]}

    def _kind_of_items(self, items: Type | None, pointer: str, depth: int) -> str | None:
        """Return the kind of a list's values as far as it is declared."""
        self.walk.check_depth(pointer, depth)
        resolved = None if items is None else self.walk.resolve(items, pointer)
        if isinstance(resolved, ScalarType):
            return KIND_OF_SCALAR.get(resolved.kind)
        if isinstance(resolved, OneOfType):
            alternatives = self.walk.alternatives(resolved, pointer)
            kinds = {self._kind_of_items(item, pointer, depth + 1) for _, item in alternatives}
            return kinds.pop() if len(kinds) == 1 else None
        return _DOCUMENT if isinstance(resolved, ObjectType) else None

    def write_item(self, value: Json, declared: Type | None, pointer: str, depth: int) -> _Item:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                return self._write_scalar(value, resolved, pointer)
            case ObjectType():
                return _DOCUMENT, self._write_object(
                    value, resolved, resolved.qualified_name or "", pointer, depth
                )
            case OneOfType():
                return self._write_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                raise self.walk.error("opaque", "an object of the platform has no JSON value", pointer)
        if isinstance(value, list | tuple):
            raise self.walk.error("nested-array", "a list holds no lists in a document", pointer)
        if isinstance(resolved, ArrayType):
            raise self.walk.wrong_kind("a list", value, pointer)
        if isinstance(value, Mapping):
            return _DOCUMENT, self._write_object(value, ObjectType(), "", pointer, depth)
        return self._write_open(value, pointer)

    def _write_scalar(self, value: Json, declared: ScalarType, pointer: str) -> _Item:
        kind = declared.kind
        if isinstance(value, list | tuple):
            raise self.walk.wrong_kind(f"a {kind}", value, pointer)
        if kind in INTEGER_BITS:
            return "long", self._whole(value, INTEGER_BITS[kind], pointer)
        if kind in {"float", "double"}:
            return "double", self._real(value, single=kind == "float", pointer=pointer)
        if (kind == "string" and isinstance(value, str)) or (kind == "boolean" and isinstance(value, bool)):
            return kind, value
        if kind == "bytes" and is_base64(value):
            return kind, value
        raise self.walk.wrong_kind(f"a {kind}", value, pointer)

    def _whole(self, value: Json, bits: int, pointer: str) -> int:
        exact = None if isinstance(value, bool) else value
        if isinstance(value, float) and math.isfinite(value):
            exact = Decimal(repr(value))
        # A huge exponent would make an integer of as many digits.
        if isinstance(exact, Decimal) and exact.is_finite() and exact.adjusted() < _MAX_DIGITS:
            exact = int(exact) if exact == int(exact) else None
        if not isinstance(exact, int):
            raise self.walk.wrong_kind("a whole number", value, pointer)
        if not fits_bits(exact, bits):
            raise self.walk.error("out-of-range", f"the number does not fit into {bits} bits", pointer)
        return exact

    def _real(self, value: Json, *, single: bool, pointer: str) -> Decimal:
        number = read_number(value)
        if number is None:
            raise self.walk.wrong_kind("a number", value, pointer)
        try:
            return _double_of(shorten_single(to_single(float(number))) if single else number)
        except OverflowError:
            message = f"the number does not fit into a {'float' if single else 'double'}"
            raise self.walk.error("out-of-range", message, pointer) from None

    def _write_open(self, value: Json, pointer: str) -> _Item:
        """Write a value of which nothing is declared."""
        if isinstance(value, str):
            return "string", value
        if isinstance(value, bool):
            return "boolean", value
        if isinstance(value, int):
            return "long", self._whole(value, LONG_BITS, pointer)
        return "double", self._real(value, single=False, pointer=pointer)

    def _write_object(
        self, value: Json, declared: ObjectType, name: str, pointer: str, depth: int
    ) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        properties: dict[str, Json] = {}
        for key, item in value.items():
            here = point(pointer, key)
            field = declared.properties.get(key)
            if not isinstance(key, str) or not key:
                raise self.walk.error("empty-name", "a property's name is not empty", here)
            if field is None and declared.properties:
                raise self.walk.error("unknown-key", f"nothing named {key!r} is declared", here)
            written = self.write_property(item, None if field is None else field.type, here, depth + 1)
            if written is not None:
                properties[key] = written
        return {"schemaType": name, "properties": properties}

    def _write_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> _Item:
        alternatives = self.walk.alternatives(declared, pointer)
        stated = value.get(SCHEMA_TYPE_KEY) if isinstance(value, Mapping) else None
        if isinstance(stated, str):
            for name, item in alternatives:
                if name == stated and isinstance(item, ObjectType) and SCHEMA_TYPE_KEY not in item.properties:
                    members = without(value, SCHEMA_TYPE_KEY)
                    return _DOCUMENT, self._write_object(members, item, name, pointer, depth)
        fitting: list[_Item] = []
        for name, item in alternatives:
            try:
                if not isinstance(item, ObjectType):
                    fitting.append(self.write_item(value, item, pointer, depth + 1))
                    continue
                written = self._write_object(value, item, name or "", pointer, depth)
            except AppFunctionWireError as error:
                _raise_if_too_much(error)
                continue
            if has_required(value, item):
                fitting.append((_DOCUMENT, written))
        if len(fitting) != 1:
            raise self.walk.error(
                "no-alternative", f"{len(fitting) or 'none'} of the declared alternatives fit", pointer
            )
        return fitting[0]


@dataclass(frozen=True, slots=True)
class _DocumentReader:
    walk: Walk

    def read_answer(self, document: Json, output_type: Type | None) -> Json:
        properties = self._properties(document, "")
        if not properties:
            return None
        if RETURN_KEY in properties:
            return self._read_property(properties[RETURN_KEY], output_type, point("", RETURN_KEY), 0)
        return self._read_item(_DOCUMENT, document, output_type, "", 0)

    def _properties(self, document: Json, pointer: str) -> Mapping[str, Json]:
        if not isinstance(document, Mapping):
            raise self.walk.error("not-an-object", f"{name_kind(document)} is not a document", pointer)
        properties = document.get("properties", {})
        if not isinstance(properties, Mapping) or not isinstance(document.get("schemaType", ""), str):
            raise self.walk.error("not-an-object", "the document has no properties or schema type", pointer)
        return properties

    def _read_property(self, property_: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        kind = property_.get("kind") if isinstance(property_, Mapping) else None
        values = property_.get("values") if isinstance(property_, Mapping) else None
        if not isinstance(kind, str) or not isinstance(values, list):
            raise self.walk.error("not-a-list", "a property has a kind and a list of values", pointer)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        if isinstance(resolved, OneOfType):
            return self._read_choice(kind, values, resolved, pointer, depth)
        return self._read_values(kind, values, resolved, pointer, depth)

    def _read_values(
        self, kind: str, values: list[Json], resolved: Type | None, pointer: str, depth: int
    ) -> Json:
        if isinstance(resolved, ArrayType) or (_is_open(resolved) and len(values) != 1):
            items = resolved.items if isinstance(resolved, ArrayType) else None
            return [
                self._read_item(kind, value, items, point(pointer, index), depth + 1)
                for index, value in enumerate(values)
            ]
        if not values:
            return None
        if len(values) > 1:
            message = f"one value is declared and {len(values)} are given"
            raise self.walk.error("wrong-kind", message, pointer)
        return self._read_item(kind, values[0], resolved, pointer, depth + 1)

    def _read_choice(
        self, kind: str, values: list[Json], declared: OneOfType, pointer: str, depth: int
    ) -> Json:
        """Read a property of alternatives: one value is a list only where nothing else takes it."""
        lists = [item for _, item in self.walk.alternatives(declared, pointer) if _takes_lists(item)]
        for list_ in [declared, *lists] if len(values) == 1 else lists:
            try:
                if list_ is declared:
                    return self._read_item(kind, values[0], list_, pointer, depth + 1)
                return self._read_values(kind, values, list_, pointer, depth)
            except AppFunctionWireError as error:
                _raise_if_too_much(error)
        if values:
            raise self.walk.error("no-alternative", "no alternative of the declared ones fits", pointer)
        return None

    def _read_item(self, kind: str, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        if isinstance(resolved, OneOfType):
            return self._read_one_of(kind, value, resolved, pointer, depth)
        self._check_kind(kind, resolved, pointer)
        if kind == _DOCUMENT:
            return self._read_object(value, resolved, pointer, depth)
        single = isinstance(resolved, ScalarType) and resolved.kind == "float"
        read = _read_plain(kind, value, single=single)
        if read is None:
            raise self.walk.error("wrong-kind", f"{name_kind(value)} is not a value of a {kind}", pointer)
        bits = INTEGER_BITS.get(resolved.kind) if isinstance(resolved, ScalarType) else None
        if bits is not None and not fits_bits(read, bits):
            raise self.walk.error("out-of-range", f"the number does not fit into {bits} bits", pointer)
        return read

    def _check_kind(self, kind: str, declared: Type | None, pointer: str) -> None:
        if isinstance(declared, ScalarType):
            expected = KIND_OF_SCALAR.get(declared.kind)
        elif isinstance(declared, ObjectType):
            expected = _DOCUMENT
        elif isinstance(declared, ArrayType):
            raise self.walk.error("nested-array", "a document holds no lists of lists", pointer)
        else:
            return
        if expected is not None and kind != expected:
            raise self.walk.error("wrong-kind", f"a {expected} is declared and a {kind} is given", pointer)

    def _read_object(self, value: Json, declared: Type | None, pointer: str, depth: int) -> dict[str, Json]:
        declared_properties = declared.properties if isinstance(declared, ObjectType) else {}
        read: dict[str, Json] = {}
        for name, item in self._properties(value, pointer).items():
            property_ = declared_properties.get(name)
            read[name] = self._read_property(
                item, None if property_ is None else property_.type, point(pointer, name), depth + 1
            )
        return read

    def _read_one_of(self, kind: str, value: Json, declared: OneOfType, pointer: str, depth: int) -> Json:
        alternatives = self.walk.alternatives(declared, pointer)
        stated = value.get("schemaType") if kind == _DOCUMENT and isinstance(value, Mapping) else None
        if stated:
            for name, item in alternatives:
                if isinstance(item, ObjectType) and name == stated:
                    return name_alternative(self._read_object(value, item, pointer, depth), name, item)
        for name, item in alternatives:
            try:
                read = self._read_item(kind, value, item, pointer, depth + 1)
            except AppFunctionWireError as error:
                _raise_if_too_much(error)
                continue
            if not isinstance(item, ObjectType):
                return read
            unknown = bool(item.properties) and any(key not in item.properties for key in read)
            if not unknown and has_required(read, item):
                return name_alternative(read, name, item)
        raise self.walk.error("no-alternative", "no alternative of the declared ones fits", pointer)


def _is_open(declared: Type | None) -> bool:
    """Return whether nothing is declared."""
    return declared is None or isinstance(declared, AnyType)


def _takes_lists(declared: Type) -> bool:
    return isinstance(declared, ArrayType) or _is_open(declared)


def _raise_if_too_much(error: AppFunctionWireError) -> None:
    if error.problem == "too-much":
        raise error


def _read_plain(kind: str, value: Json, *, single: bool) -> Json:
    """Return the value of a kind other than `document`, None where it is not of that kind."""
    number = read_number(value)
    match kind:
        case "string":
            return value if isinstance(value, str) else None
        case "boolean":
            return value if isinstance(value, bool) else None
        case "bytes":
            return value if is_base64(value) else None
        case "long":
            fits = isinstance(number, int) and fits_bits(number, LONG_BITS)
            return number if fits else None
        case "double" if number is not None:
            try:
                return _double_of(shorten_single(float(number)) if single else number)
            except OverflowError:
                return None
    return None


def _double_of(number: Json) -> Decimal:
    """Return the shortest decimal that is the same 64-bit float, without needless zeros and exponent.

    Raises:
        OverflowError: it is beyond the doubles.
    """
    shortest = Decimal(repr(float(number)))
    if not shortest:
        return Decimal(0)
    plain = shortest.normalize()
    if plain == plain.to_integral_value() and plain.adjusted() < _MAX_WHOLE_DIGITS:
        return Decimal(int(plain))
    return plain
