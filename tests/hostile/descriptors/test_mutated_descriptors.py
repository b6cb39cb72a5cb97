"""A descriptor of any format with a few changes is read, checked and written, or refused with one error."""

import copy
import json
import random
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from lxml import etree

import droidgate
from adapters.appfunctions.function_files import (
    artifact,
    components_of,
    definition_of,
    file_of,
    function_of,
    only,
    parameter_of,
    read_text,
    typed,
    write_in,
)
from droidgate.sources import open_reader
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import DroidgateError, InputError
from properties.matching import assert_same_declaration
from titled_rows import titled

APPS = Path(__file__).resolve().parents[3] / "device_shim" / "apps"
ODD_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1e308, 10**40, "", "a\u202eb", "\U0001f642", [], {}, [None], ["string", "null"], [[]],
    {"type": "object"}, {"$ref": "#"}, {"$ref": "#/properties/none"}, "string", "object",
)  # fmt: skip
ODD_TEXTS = (
    "", "true", "-1", "1e400", "\U0001f642", " x ", "a" * 70_000, "../../x", "@string/none", "?attr/x", "{",
    "[]",
)  # fmt: skip
SCHEMA_WORDS = (
    "type", "enum", "default", "oneOf", "anyOf", "required", "properties", "items", "format", "pattern",
    "minimum", "const", "additionalProperties", "title", "description", "id", "name", "parameters",
    "annotations", "$ref", "$defs", "function", "input_schema", "inputSchema", "cacheScope", "_meta",
    "tools",
)  # fmt: skip


def written_dialects() -> list[str]:
    """Return each dialect that is written, as FORMAT+DIALECT."""
    return [
        f"{format_.tables.id}+{dialect.id}"
        for format_ in load_formats().values()
        if format_.write is not None
        for dialect in format_.tables.dialects
        if dialect.capacity is not None
    ]


@cache
def written_files(dialect: str) -> list[tuple[str, bytes]]:
    """Return path and content of what a dialect writes for the sample apps."""
    providers = droidgate.read(*(str(APPS / name) for name in ("notes", "pdf-tool", "tally", "weather")))
    files = droidgate.convert(providers, to=dialect).files.items()
    return [(path, text.encode()) for path, text in files if Path(path).suffix in CHANGES]


def places_of(value: Any) -> list[tuple[Any, Any]]:
    """Return each container in a JSON value with each of its keys or positions."""
    places: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        item = waiting.pop()
        keys = list(item) if isinstance(item, dict) else range(len(item)) if isinstance(item, list) else ()
        for key in keys:
            places.append((item, key))
            waiting.append(item[key])
    return places


def change_json(data: bytes, chance: random.Random) -> bytes:
    """Change some members: another value, gone, under another name, or a member more."""
    value = json.loads(data)
    for _ in range(chance.randint(1, 3)):
        if not (places := places_of(value)):
            break
        container, key = chance.choice(places)
        change = chance.randrange(4)
        if change == 0:
            container[key] = copy.deepcopy(chance.choice(ODD_VALUES))
        elif change == 1:
            del container[key]
        elif isinstance(container, list):
            container.append(copy.deepcopy(container[key]))
        elif change == 2:
            container[chance.choice(SCHEMA_WORDS)] = container.pop(key)
        else:
            container[chance.choice(SCHEMA_WORDS)] = copy.deepcopy(chance.choice(ODD_VALUES))
    return json.dumps(value).encode()


def change_xml(data: bytes, chance: random.Random) -> bytes:
    """Change some elements: other attributes or text, or the element is gone, renamed or there twice."""
    root = etree.fromstring(data)
    for _ in range(chance.randint(1, 3)):
        element = chance.choice([item for item in root.iter() if isinstance(item.tag, str)])
        parent, attributes = element.getparent(), list(element.attrib)
        change = chance.randrange(5)
        if change == 0 and attributes:
            element.attrib[chance.choice(attributes)] = chance.choice(ODD_TEXTS)
        elif change == 1 and attributes:
            del element.attrib[chance.choice(attributes)]
        elif change == 2 and parent is not None:
            parent.append(copy.deepcopy(element))
        elif change == 3 and parent is not None:
            parent.remove(element)
        elif change == 4:
            element.text = chance.choice(ODD_TEXTS)
        else:
            element.tag = "unknown"
    return etree.tostring(root)


CHANGES: dict[str, Callable[[bytes, random.Random], bytes]] = {".json": change_json, ".xml": change_xml}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", written_dialects())
@given(chance=st.randoms(use_true_random=False))
def test_a_changed_descriptor_is_read_and_written_or_refused(dialect: str, chance: random.Random) -> None:
    path, data = chance.choice(written_files(dialect))
    changed = CHANGES[Path(path).suffix](data, chance)
    source = SourceFile(path, changed)
    for format_ in load_formats().values():
        if format_.detect(source) and format_.lint_file is not None:
            with suppress(DroidgateError):
                format_.lint_file(source)
    try:
        reader = open_reader(None)
        reader.read_named(path, changed)
        providers = reader.result()
    except DroidgateError:
        return
    with suppress(DroidgateError):
        droidgate.convert(providers, to=chance.choice(written_dialects()))


# Whatever a file holds, reading ends in a provider or in one error with a place; and quickly


WORDS = (
    "appfunction", "AppFunctionStaticMetadata", "AppFunctionComponentMetadataDocument", "id", "functionId",
    "function_id", "scope", "enabledByDefault", "parameters", "dataTypeMetadata", "dataTypes", "name", "type",
    "itemType", "properties", "required", "allOf", "oneOf", "response", "valueType", "enumValues", "patterns",
    "value", "pattern", "isNullable", "paramNames", "paramTypes", "paramRequired", "deprecation", "message",
    "version", "dataTypeReference", "x_y", "description",
)  # fmt: skip
TEXTS = (
    "", "unused", "3", "7", "8", "10", "11", "12", "14", "99", "true", "no", "a", " b ", "global", "1e9", "٣",
)  # fmt: skip


def wild_tree(chance: random.Random, depth: int) -> str:
    tag = chance.choice(WORDS)
    if depth <= 0 or chance.random() < 0.35:
        return f"<{tag}>{chance.choice(TEXTS)}</{tag}>"
    inner = "".join(wild_tree(chance, depth - 1) for _ in range(chance.randrange(5)))
    return f"<{tag}>{inner}</{tag}>"


def likely_tree(chance: random.Random) -> str:
    """A good file with a few of its parts put elsewhere, left out or doubled."""
    type_xml = typed(f"<itemType>{typed('', chance.choice((3, 7, 8, 12, 14)))}</itemType>", 10)
    good = file_of(
        function_of(parameter_of(type_xml) + "<description>d</description>"),
        components=components_of(definition_of("a.B", typed("<required>x</required>", 3))),
    )
    pieces = good.replace("><", ">\0<").split("\0")
    for _ in range(chance.randrange(3)):
        position = chance.randrange(len(pieces))
        pieces[position : position + 1] = chance.choice(([], [pieces[position]] * 2, [wild_tree(chance, 2)]))
    return "".join(pieces)


@given(st.randoms(use_true_random=False))
def test_wild_files_are_read_or_refused(chance: random.Random) -> None:
    inner = "".join(wild_tree(chance, 5) for _ in range(3))
    likely = likely_tree(chance)
    text = chance.choice((f"<appfunctions>{inner}</appfunctions>", likely, likely, likely))
    refusal: InputError | None = None
    try:
        provider = only(read_text(text, strict=False))
    except InputError as error:
        refusal = error
    if refusal is not None:
        assert refusal.place is not None
        assert not refusal.message.endswith(".")
        return
    writing = write_in(provider, provider.dialect or "v2")
    role = "descriptor" if provider.dialect == "app-level" else "document"
    again = only(read_text(artifact(writing, role), strict=False))
    if provider.capabilities:
        assert_same_declaration(writing.provider, again)


@given(st.binary(max_size=300))
def test_bytes_are_read_or_refused(data: bytes) -> None:
    FORMAT.detect(SourceFile("f", data))
    with pytest.raises(InputError):
        FORMAT.read_file(SourceFile("f", data), ReadingContext())


@titled("text", {
    "5,000 levels": "<appfunctions>" + "<a>" * 5000,
    "a document type": "<!DOCTYPE appfunctions []><appfunctions/>",
    "a zero byte": "<appfunctions>\0</appfunctions>",
    "a tag without an end": "<AppFunctionAppMetadata",
    "another root": "<version>1</version>",
    "an empty text": "",
})  # fmt: skip
def test_hostile_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_text(text, strict=False)
