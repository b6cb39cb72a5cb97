"""Whatever a file holds, reading ends in a provider or in one error with a place; and quickly."""

import random

import pytest
from hypothesis import given, strategies as st

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
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from properties.matching import assert_same_declaration

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
    kept = typed(f"<itemType>{typed('', chance.choice((3, 7, 8, 12, 14)))}</itemType>", 10)
    good = file_of(
        function_of(parameter_of(kept) + "<description>d</description>"),
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


@pytest.mark.parametrize(
    "text",
    [
        "<appfunctions>" + "<a>" * 5000,
        "<!DOCTYPE appfunctions []><appfunctions/>",
        "<appfunctions>\0</appfunctions>",
        "<AppFunctionAppMetadata",
        "<version>1</version>",
        "",
    ],
)
def test_hostile_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read_text(text, strict=False)
