"""Which values a dialect whose enumerations are of one kind of scalar can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.xml_text import NOT_XML


def is_plain_text(value: Json) -> bool:
    """Return whether a value is text that XML's attributes hold as it is."""
    return isinstance(value, str) and value == value.strip() and not NOT_XML.search(value)


def _is_integer_of(bits: int) -> Callable[[Json], bool]:
    limit = 2 ** (bits - 1)
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


KIND_CHECKS: Final[dict[str, Callable[[Json], bool]]] = {
    "string": is_plain_text,
    "int32": _is_integer_of(32),
    "int64": _is_integer_of(64),
}
"""Kind of a scalar -> whether a value is of it."""
