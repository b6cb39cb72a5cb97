"""Which JSON values a declaration accepts, for each protocol.

MCP and mMCP declare JSON Schemas: jsonschema decides. Mobile-MCP and AppFunctions declare kinds:
`Declaration` decides, from the specifications. Properties that are not declared are neither allowed nor
refused there, so they count as accepted.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from jsonschema import Draft202012Validator

from audit.declared import Declared, Shape

Accepts = Callable[[Any], bool]
_WHOLE: Final = {"int32": 32, "int64": 64}


def accepts_by_schema(schema: Any) -> Accepts:
    """Return whether a value is valid by a JSON Schema."""
    validator = Draft202012Validator(schema)
    return validator.is_valid


def accepts_anything(_value: Any) -> bool:
    """Return true: where nothing is declared, nothing is refused."""
    return True


def acceptance_of(declared: Declared, shape: Shape, schema: Any) -> Accepts:
    """Return how a protocol decides about values of a root type.

    Args:
        declared: What the type belongs to.
        shape: The type.
        schema: The JSON Schema behind it, where the protocol has one.
    """
    if schema is not None:
        return accepts_by_schema(schema)
    return Declaration(declared.definitions).checker(shape)


class Declaration:
    """Decides about values by shapes."""

    def __init__(self, definitions: Mapping[str, Shape]) -> None:
        self.definitions = definitions

    def checker(self, shape: Shape) -> Accepts:
        return lambda value: self.accepts(shape, value)

    def accepts(self, shape: Shape, value: Any) -> bool:
        """Return whether a type accepts a value."""
        if value is None:
            return shape.nullable or shape.kind in {"null", "any"}
        if shape.enum is not None and value not in shape.enum:
            return False
        check = getattr(self, f"accepts_{shape.kind.replace('-', '_')}", None)
        return check(shape, value) if check is not None else True

    def accepts_null(self, _shape: Shape, value: Any) -> bool:
        return value is None

    def accepts_boolean(self, _shape: Shape, value: Any) -> bool:
        return isinstance(value, bool)

    def accepts_int32(self, shape: Shape, value: Any) -> bool:
        limit = 2 ** (_WHOLE[shape.kind] - 1)
        return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit

    accepts_int64 = accepts_int32

    def accepts_float(self, _shape: Shape, value: Any) -> bool:
        return isinstance(value, int | float) and not isinstance(value, bool)

    accepts_double = accepts_float

    def accepts_string(self, shape: Shape, value: Any) -> bool:
        return isinstance(value, str) and (
            shape.pattern is None or re.search(shape.pattern, value) is not None
        )

    accepts_bytes = accepts_string

    def accepts_array(self, shape: Shape, value: Any) -> bool:
        return isinstance(value, list) and (
            shape.items is None or all(self.accepts(shape.items, item) for item in value)
        )

    def accepts_object(self, shape: Shape, value: Any) -> bool:
        if not isinstance(value, dict) or any(name not in value for name in shape.required):
            return False
        return all(
            self.accepts(inner, value[name]) for name, inner in shape.properties.items() if name in value
        )

    def accepts_ref(self, shape: Shape, value: Any) -> bool:
        definition = self.definitions.get(shape.name or "")
        return definition is None or self.accepts(definition, value)

    def accepts_all_of(self, shape: Shape, value: Any) -> bool:
        return all(self.accepts(part, value) for part in shape.parts)

    def accepts_one_of(self, shape: Shape, value: Any) -> bool:
        """Return whether an alternative accepts the value: that of its `schemaType`, if it has one."""
        named = value.get("schemaType") if isinstance(value, dict) else None
        is_name = isinstance(named, str)
        parts = [item for item in shape.parts if is_name and named in {item.class_name, item.name}]
        return any(self.accepts(item, value) for item in parts or shape.parts)
