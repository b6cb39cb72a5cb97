"""Android's public attributes and resources: their ids for ever, and what an attribute takes.

The tables below `android/` hold Android 16's, which contain those of every older release under the same ids;
`scripts/write_framework_attributes.py` writes them. They are read when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntFlag
from functools import cache
from importlib.resources import files

from droidgate_mappings.records import dataclass


class AttributeFormat(IntFlag):
    """What an attribute takes (`ResTable_map`, `TYPE_*`)."""

    REFERENCE = 1 << 0
    STRING = 1 << 1
    INTEGER = 1 << 2
    BOOLEAN = 1 << 3
    COLOR = 1 << 4
    FLOAT = 1 << 5
    DIMENSION = 1 << 6
    FRACTION = 1 << 7
    ANY = 0xFFFF
    ENUM = 1 << 16
    FLAGS = 1 << 17


@dataclass(frozen=True, slots=True)
class AttributeType:
    """One attribute.

    Attributes:
        id: Resource id, 0 for an attribute that belongs to nobody.
        name: Name without a prefix.
        formats: What it takes.
        values: The values of an enum's words or of flags, by word; unsigned 32 bits.
    """

    id: int
    name: str
    formats: AttributeFormat
    values: Mapping[str, int]


def attribute_id(name: str) -> int | None:
    """Return the resource id of a public attribute `android:name`, None where Android has none."""
    return _ids_of_attributes().get(name)


def attribute_name(resource_id: int) -> str | None:
    """Return the name of the public attribute with this resource id, None where there is none."""
    row = _rows().get(resource_id)
    return row.partition("\t")[0] if row is not None else None


@cache
def attribute_type(name: str) -> AttributeType | None:
    """Return what the public attribute `android:name` takes, None where Android has none."""
    resource_id = attribute_id(name)
    if resource_id is None:
        return None
    _, words, values = _rows()[resource_id].split("\t")
    pairs = (pair.partition("=") for pair in values.split())
    return AttributeType(
        resource_id, name, formats_of(words), {word: int(value, 16) for word, _, value in pairs}
    )


def formats_of(words: str) -> AttributeFormat:
    """Return the formats that words such as `reference|string` name.

    Raises:
        KeyError: a word names none.
    """
    formats = AttributeFormat(0)
    for word in words.split("|"):
        formats |= AttributeFormat[word.strip().upper()]
    return formats


def resource_id(kind: str, name: str) -> int | None:
    """Return the id of the public resource `@android:kind/name`, None where Android has none."""
    return attribute_id(name) if kind == "attr" else _ids_of_resources().get(f"{kind}/{name}")


def resource_name(identifier: int) -> str | None:
    """Return `kind/name` of the public resource with this id, None where Android has none."""
    attribute = attribute_name(identifier)
    return f"attr/{attribute}" if attribute is not None else _names_of_resources().get(identifier)


def _read_lines(name: str) -> list[str]:
    text = files("droidgate_mappings.tables").joinpath("android", name).read_text(encoding="utf-8")
    return text.split("\n")[:-1]


@cache
def _rows() -> dict[int, str]:
    return {int(line[:8], 16): line[9:] for line in _read_lines("attributes.tsv")}


@cache
def _ids_of_attributes() -> dict[str, int]:
    return {row.partition("\t")[0]: identifier for identifier, row in _rows().items()}


@cache
def _names_of_resources() -> dict[int, str]:
    return {int(line[:8], 16): line[9:] for line in _read_lines("resources.tsv")}


@cache
def _ids_of_resources() -> dict[str, int]:
    return {name: identifier for identifier, name in _names_of_resources().items()}
