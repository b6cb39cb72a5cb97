"""The tables of the format: whole, and joined with what the code uses."""

from droidgate_mappings.model.types import TYPE_KINDS
from droidgate_mappings.tables.loading import load_divergences, load_format_tables
from droidgate_mobile_mcp.format import FORMAT


def test_every_row_of_the_reference_is_there() -> None:
    rows = {divergence.id for divergence in load_divergences().values() if divergence.format == "mobile-mcp"}
    assert {f"M{number:02}" for number in range(1, 33)} <= rows


def test_every_kind_of_type_has_a_written_word() -> None:
    tables = load_format_tables("mobile-mcp")
    for dialect in tables.dialects:
        assert dialect.capacity is not None
        assert dialect.capacity.types.keys() == set(TYPE_KINDS)
        for row in dialect.capacity.types.values():
            assert tables.words.write[row.written_as]


def test_every_written_word_is_read_as_its_kind() -> None:
    words = FORMAT.tables.words
    assert {words.read[word]: word for word in words.write.values()} == words.write


def test_1_0_is_the_default_and_every_dialect_is_read_and_written() -> None:
    assert [dialect.id for dialect in FORMAT.dialects] == ["1.0", "1.0-input", "prototype", "pre-spec"]
    assert all(dialect.readable and dialect.capacity is not None for dialect in FORMAT.dialects)
