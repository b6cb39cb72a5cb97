"""The object that the shell takes as `--parameters` (reference appfunctions 6.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from droidgate_appfunctions.wire_values import (
    SCHEMA_TYPE_KEY,
    AppFunctionWireError,
    Definitions,
    Walk,
    WireProblem,
    check_scalar,
    has_required,
    name_kind,
    point,
    read_scalar,
    without,
)
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import ArrayType, ObjectType, OneOfType, OpaqueType, ScalarType, Type

_PARAMETER_TOKEN: Final = "invalid_argument"  # noqa: S105 - a failure token, no secret


@dataclass(frozen=True, slots=True)
class Loss:
    """A value that is left out because the shell drops it, such as an empty list, by its JSON Pointer."""

    problem: WireProblem
    pointer: str


def write_parameters(
    values: Mapping[str, Json],
    input_type: Type,
    definitions: Definitions,
    *,
    losses: list[Loss] | None = None,
) -> dict[str, Json]:
    """Return the object to send as `--parameters`, as text of `json.dumps`.

    Args:
        values: Parameter -> value.
        input_type: The declared input; an object without properties declares nothing, and values go by their
            own kind.
        definitions: The provider's definitions.
        losses: Takes what is left out although it was given: empty lists, which the shell drops. Without it
            an empty list is an error. Nulls are left out silently, being the same as no value.

    Raises:
        AppFunctionWireError: a value that is none of the declared type, or that the shell cannot carry.
    """
    writer = _ParameterWriter(Walk(definitions, _PARAMETER_TOKEN), losses)
    return writer.write_input(values, input_type)


def read_parameters(document: Json, input_type: Type, definitions: Definitions) -> dict[str, Json]:
    """Return the values that a provider gets from a `--parameters` object: the inverse of `write_parameters`.

    A number has to be of the declared kind, as on a device: `5` is not a double and `5.0` not an integer. The
    alternative of a one-of is kept under `schemaType`.

    Args:
        document: The parsed object.
        input_type: The declared input.
        definitions: The provider's definitions.

    Raises:
        AppFunctionWireError: a value that the provider could not read.
    """
    reader = _ParameterReader(Walk(definitions, _PARAMETER_TOKEN))
    return reader.read_input(document, input_type)


@dataclass(frozen=True, slots=True)
class _ParameterWriter:
    walk: Walk
    losses: list[Loss] | None

    def write_input(self, values: Json, input_type: Type) -> dict[str, Json]:
        declared = self.walk.resolve(input_type, "")
        written = self.write(values, declared, "", 0)
        if not isinstance(written, dict):
            raise self.walk.error("not-an-object", "the parameters are not an object", "")
        return written

    def write(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                return read_scalar(self.walk, value, resolved, pointer)
            case ArrayType():
                return self._write_list(value, resolved.items, pointer, depth)
            case ObjectType():
                return self._write_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._write_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                message = "a platform object cannot be given through the shell"
                raise self.walk.error("opaque", message, pointer)
        return self._write_untyped(value, pointer, depth)

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
                hint = f"there are: {', '.join(declared.properties)}"
                raise self.walk.error("unknown-key", f"nothing named {name!r} is declared", here, hint)
            if item is None:
                continue
            entry = self.write(item, None if known is None else known.type, here, depth + 1)
            if not isinstance(entry, list) or entry:
                written[name] = entry
            elif self.losses is not None:
                self.losses.append(Loss("empty-array", here))
            else:
                message = "the shell drops an empty list, so the app would get none"
                raise self.walk.error("empty-array", message, here, "leave the parameter out")
        return written

    def _write_list(self, value: Json, items: Type | None, pointer: str, depth: int) -> list[Json]:
        if not isinstance(value, list | tuple):
            raise self.walk.wrong_kind("a list", value, pointer)
        written: list[Json] = []
        for index, item in enumerate(value):
            here = point(pointer, index)
            if item is None:
                raise self.walk.error("null-item", "a list holds no null on this wire", here)
            entry = self.write(item, items, here, depth + 1)
            if isinstance(entry, list):
                raise self.walk.error("nested-array", "a list holds no lists on this wire", here)
            written.append(entry)
        return _align_kinds(self.walk, written, pointer)

    def _write_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        fitting = [
            (name, written, losses)
            for name, item in self._candidates(value, declared, pointer)
            if (trial := self._try(value, item, pointer, depth)) is not None
            for written, losses in (trial,)
        ]
        if len(fitting) != 1:
            many = "none" if not fitting else str(len(fitting))
            names = ", ".join(str(name) for name, _ in self.walk.alternatives(declared, pointer))
            hint = f'say which as "{SCHEMA_TYPE_KEY}": one of {names}'
            raise self.walk.error("no-alternative", f"{many} of the alternatives fit", pointer, hint)
        name, written, losses = fitting[0]
        if losses and self.losses is None:
            message = "the shell drops an empty list, so the app would get none"
            raise self.walk.error("empty-array", message, losses[0].pointer, "leave the parameter out")
        if self.losses is not None:
            self.losses.extend(losses)
        return {**written, SCHEMA_TYPE_KEY: name} if name is not None else written

    def _candidates(
        self, value: Mapping[str, Json], declared: OneOfType, pointer: str
    ) -> list[tuple[str | None, ObjectType]]:
        named = value.get(SCHEMA_TYPE_KEY)
        found = self.walk.alternatives(declared, pointer)
        return [
            (name, item)
            for name, item in found
            if isinstance(item, ObjectType) and (not isinstance(named, str) or named == name)
        ]

    def _try(
        self, value: Mapping[str, Json], object_type: ObjectType, pointer: str, depth: int
    ) -> tuple[dict[str, Json], list[Loss]] | None:
        members = value if SCHEMA_TYPE_KEY in object_type.properties else without(value, SCHEMA_TYPE_KEY)
        trial = _ParameterWriter(self.walk, [])
        try:
            written = trial._write_object(members, object_type, pointer, depth)
        except AppFunctionWireError as error:
            if error.problem == "too-much":
                raise
            return None
        return (written, trial.losses or []) if has_required(members, object_type) else None

    def _write_untyped(self, value: Json, pointer: str, depth: int) -> Json:
        if isinstance(value, Mapping):
            return self._write_object(value, ObjectType(), pointer, depth)
        if isinstance(value, list | tuple):
            return self._write_list(value, None, pointer, depth)
        return check_scalar(self.walk, value, pointer)


def _align_kinds(walk: Walk, items: list[Json], pointer: str) -> list[Json]:
    """Make a list of one kind, since a document's list has the kind of its first element."""
    kinds = {name_kind(item) for item in items}
    if kinds == {"a whole number", "a number"}:
        return [float(item) for item in items]
    if len(kinds) > 1:
        message = f"a list holds values of one kind on this wire, and here are {' and '.join(sorted(kinds))}"
        raise walk.error("wrong-kind", message, pointer)
    return items


@dataclass(frozen=True, slots=True)
class _ParameterReader:
    walk: Walk

    def read_input(self, document: Json, input_type: Type) -> dict[str, Json]:
        declared = self.walk.resolve(input_type, "")
        read = self.read(document, declared, "", 0)
        if not isinstance(read, dict):
            raise self.walk.error("not-an-object", "the parameters are not an object", "")
        return read

    def read(self, value: Json, declared: Type | None, pointer: str, depth: int) -> Json:
        self.walk.check_depth(pointer, depth)
        resolved = None if declared is None else self.walk.resolve(declared, pointer)
        match resolved:
            case ScalarType():
                self._check_number(value, resolved, pointer)
                return read_scalar(self.walk, value, resolved, pointer)
            case ArrayType():
                return self._read_list(value, resolved.items, pointer, depth)
            case ObjectType():
                return self._read_object(value, resolved, pointer, depth)
            case OneOfType():
                return self._read_one_of(value, resolved, pointer, depth)
            case OpaqueType():
                raise self.walk.error("opaque", "a platform object cannot come through the shell", pointer)
        if isinstance(value, Mapping):
            return self._read_object(value, ObjectType(), pointer, depth)
        if isinstance(value, list):
            return self._read_list(value, None, pointer, depth)
        return check_scalar(self.walk, value, pointer)

    def _check_number(self, value: Json, declared: ScalarType, pointer: str) -> None:
        is_real = isinstance(value, float | Decimal)
        if declared.kind in {"int32", "int64"} and is_real:
            raise self.walk.wrong_kind("a whole number", value, pointer)
        if declared.kind in {"float", "double"} and not is_real:
            raise self.walk.wrong_kind("a number with a fraction", value, pointer)

    def _read_object(self, value: Json, declared: ObjectType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        read: dict[str, Json] = {}
        for name, item in value.items():
            here = point(pointer, name)
            if not name:
                raise self.walk.error("empty-name", "a property's name is not empty", here)
            known = declared.properties.get(name)
            if self._vanishes(item) or (known is None and declared.properties):
                continue
            read[name] = self.read(item, None if known is None else known.type, here, depth + 1)
        return read

    @staticmethod
    def _vanishes(value: Json) -> bool:
        """Return whether the shell drops a value: null, an empty list, or one with null or a list first."""
        return value is None or (
            isinstance(value, list) and (not value or value[0] is None or isinstance(value[0], list))
        )

    def _read_list(self, value: Json, items: Type | None, pointer: str, depth: int) -> list[Json]:
        if not isinstance(value, list):
            raise self.walk.wrong_kind("a list", value, pointer)
        return [self.read(item, items, point(pointer, index), depth + 1) for index, item in enumerate(value)]

    def _read_one_of(self, value: Json, declared: OneOfType, pointer: str, depth: int) -> dict[str, Json]:
        if not isinstance(value, Mapping):
            raise self.walk.wrong_kind("an object", value, pointer)
        named = value.get(SCHEMA_TYPE_KEY)
        for name, item in self.walk.alternatives(declared, pointer):
            if isinstance(item, ObjectType) and name == named:
                read = self._read_object(value, item, pointer, depth)
                return {**read, SCHEMA_TYPE_KEY: name} if name is not None else read
        message = f"{SCHEMA_TYPE_KEY} {named!r} names none of the declared alternatives"
        raise self.walk.error("no-alternative", message, pointer)
