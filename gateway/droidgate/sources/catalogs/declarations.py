"""The JSON texts in a catalog's columns, read strictly: a catalog may be somebody else's."""

from __future__ import annotations

from typing import TypeVar

from pydantic import ValidationError

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.text.json_text import WRITTEN, parse_json

Part = TypeVar("Part", bound=Frozen)

_SCAN_AGAIN = "scan the apps again into a new folder"


def read_part(kind: type[Part], text: str) -> Part:
    """Return the part of the model that a column holds, such as a `Provider`.

    Raises:
        InputError: the column holds something else.
    """
    try:
        return kind.model_validate(read_members(text))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = "/".join(map(str, first["loc"]))
        message = f"a row of the catalog does not hold a {kind.__name__}: {first['msg']} (at {where})"
        raise InputError(message, hint=_SCAN_AGAIN) from None


def read_members(text: str) -> dict[str, Json]:
    """Return the JSON object that a column holds.

    Raises:
        InputError: the column holds something else.
    """
    value = parse_json(text, path="a row of the catalog", limits=WRITTEN)
    if not isinstance(value, dict):
        raise InputError("a row of the catalog does not hold a JSON object", hint=_SCAN_AGAIN)
    return value
