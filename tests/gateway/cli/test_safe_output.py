"""Text from apps is data: nothing in it steers a terminal, hides, or breaks a document."""

import io
import json
import re
import unicodedata
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, strategies as st

from droidgate.cli.output.json_output import json_text, json_value
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.pages import Block, Heading, Line, Table, show
from droidgate.cli.output.safe_text import cut, one_line, visible
from droidgate_mappings.model.capability import Capability, Effects
from droidgate_mappings.model.types import ArrayType
from gateway.cli.program_runs import Terminal
from model_types import optional, record, string

HOSTILE = (
    "\x1b[31mred\x1b[0m \x9b31m \x07 \r\n\t \u202egnp\u2066 \ufeff \u200b \ud800 \U000e0041 "
    "[bold]x[/bold] :smile:"
)
DIRECTION_CHANGES = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


LONG = "a long sentence " * 20


def _shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, *blocks: Block, **more: str) -> str:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": str(columns), **more}.items():
        monkeypatch.setenv(name, value)
    stream = Terminal()
    show(blocks, stream)
    return stream.getvalue()


def _is_harmless(text: str) -> bool:
    return all(item == "\n" or (item.isprintable() and not 0xD800 <= ord(item) <= 0xDFFF) for item in text)


@given(st.text(st.characters()))
def test_visible_text_controls_nothing(text: str) -> None:
    output = visible(text)
    assert not {unicodedata.category(item) for item in output} & {"Cc", "Cs", "Zl", "Zp"}
    assert not {unicodedata.bidirectional(item) for item in output} & DIRECTION_CHANGES
    output.encode()


def test_each_unsafe_character_is_shown_by_its_code() -> None:
    assert visible("a\x1bb\x9bc\u202ed\ud800e\U000e0041f") == r"a\x1bb\x9bc\u202ed\ud800e\U000e0041f"


def test_words_of_every_language_are_not_changed() -> None:
    text = "Grüße, 日本語, می\u200cخواهم, 👩\u200d💻, a\u0301"
    assert visible(text) == text


def test_one_line_has_no_line_breaks_and_is_cut_by_characters() -> None:
    assert one_line(" a\n b\t\tc ") == "a b c"
    assert cut("x" * 30, 10) == "xxxxxxx..."
    assert cut("x" * 30, None) == "x" * 30


@pytest.mark.parametrize("terminal", [False, True], ids=["piped", "terminal"])
def test_a_page_shows_hostile_text_and_executes_none_of_it(
    monkeypatch: pytest.MonkeyPatch, *, terminal: bool
) -> None:
    blocks = (Heading(HOSTILE), Line(HOSTILE, 1), Table((HOSTILE, "b"), [(HOSTILE, HOSTILE)]))
    piped = io.StringIO()
    show(blocks, piped)
    shown = _shown_on_a_terminal(monkeypatch, 1000, *blocks, NO_COLOR="1") if terminal else piped.getvalue()
    output = shown.replace("\x1b[1m", "").replace("\x1b[0m", "")
    assert _is_harmless(output)
    assert output.count("[bold]x[/bold] :smile:") == 5
    assert output.count(r"\x1b[31mred") == 5


def test_a_narrow_terminal_has_no_line_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("done", "a step " * 6, "-"), ("refused", "another", LONG)]
    output = _shown_on_a_terminal(monkeypatch, 50, Table(("OUTCOME", "STEP", "WHY"), rows))
    assert "-" not in [line.strip() for line in output.splitlines()]
    assert "a long sentence" in output


def test_no_color_switches_colours_off(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(("LEVEL",), [("error",)])
    assert "\x1b[3" not in _shown_on_a_terminal(monkeypatch, 80, table, NO_COLOR="1")


def test_a_dumb_terminal_gets_plain_text(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = (Heading("h"), Table(("a", "b"), [("long cell", "x"), ("s", "y")]))
    shown = _shown_on_a_terminal(monkeypatch, 80, *blocks, TERM="dumb")
    assert shown == "h\n  a          b\n  long cell  x\n  s          y\n"


def test_a_short_page_of_a_terminal_cuts_and_counts_long_texts_and_others_have_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    blocks = (Line(LONG, longest=20), Table(("A", "B"), [(LONG, LONG)], {"B": 20}))
    choose_page_length(PageLength.SHORT_ON_TERMINALS)
    piped = io.StringIO()
    show(blocks, piped)
    short = _shown_on_a_terminal(monkeypatch, 1000, *blocks)
    choose_page_length(PageLength.WHOLE)
    for whole in (piped.getvalue(), _shown_on_a_terminal(monkeypatch, 1000, *blocks)):
        assert whole.count(LONG.strip()) == 3
    assert (short.count(LONG.strip()), short.count("a long sentence a...")) == (1, 2)
    assert "left out: the ends of 2 texts; --details shows everything" in short


def test_one_long_cell_in_a_pipe_moves_only_its_own_row() -> None:
    piped = io.StringIO()
    show([Table(("A", "B"), [("x" * 1000, "1"), ("y", "2")])], piped)
    assert [len(line) for line in piped.getvalue().splitlines()] == [205, 1005, 205]


def test_a_narrow_terminal_shows_the_last_column_below_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(("LEVEL", "WHERE", "MESSAGE"), [("error", "a" * 40, LONG)])
    narrow = re.sub("\x1b\\[[0-9;]*m", "", _shown_on_a_terminal(monkeypatch, 80, table)).splitlines()
    assert [line.split() for line in narrow[:3]] == [["LEVEL", "WHERE"], ["MESSAGE"], ["error", "a" * 40]]
    assert narrow[3].startswith("      a long sentence")
    assert max(map(len, narrow)) <= 80


def test_a_row_of_many_wide_columns_is_a_list_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"column{number}" for number in range(6)]
    table = Table(names, [["a" * 70, "b" * 90, "", *("c" * 70 for _ in range(3))]])
    shown = re.sub("\x1b\\[[0-9;]*m", "", _shown_on_a_terminal(monkeypatch, 80, table)).splitlines()
    assert [line.split()[0] for line in shown] == [
        *("column0", "a", "column1", "b" * 25),
        *(word for name in names[3:] for word in (name, "c" * 5)),
    ]
    assert max(map(len, shown)) <= 80


@pytest.mark.parametrize("columns", [60, 200], ids="{} columns".format)
def test_grave_levels_have_a_colour(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    rows = [("error", "/" * 40, LONG), ("warning", "/", "m"), ("note", "/", "m")]
    output = _shown_on_a_terminal(monkeypatch, columns, Table(("LEVEL", "W", "M"), rows))
    assert "\x1b[31merror" in output
    assert "\x1b[33mwarning" in output
    assert "\x1b[31mnote" not in output
    assert "\x1b[33mnote" not in output


@given(_JSON)
def test_json_text_means_the_same_and_is_harmless(value: Any) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert not set(text) & set("\x1b\x9b\x07\r\t\u202e\u2066\ufeff")
    text.encode()


def test_numbers_are_written_digit_for_digit() -> None:
    value = {"a": Decimal("1.10000000000000000000000000001"), "b": 10**30, "c": [], "d": {}}
    assert json_text(value) == (
        '{\n  "a": 1.10000000000000000000000000001,\n  "b": 1000000000000000000000000000000,\n'
        '  "c": [],\n  "d": {}\n}\n'
    )


def test_json_of_the_model_leaves_out_what_is_not_stated() -> None:
    given_ = record({"z": optional(ArrayType()), "a": optional(string())})
    capability = Capability(id="do", input=given_, effects=Effects(read_only=False))
    assert json_value(capability) == {
        "id": "do",
        "input": {
            "kind": "object",
            "properties": {"z": {"type": {"kind": "array"}}, "a": {"type": {"kind": "string"}}},
        },
        "effects": {"read_only": False},
    }
    assert list(json_value(capability)["input"]["properties"]) == ["z", "a"]
