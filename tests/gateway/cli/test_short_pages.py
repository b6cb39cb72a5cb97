"""A terminal gets about a page, a pipe and `--details` everything."""

import io
import sys
from pathlib import Path

import pytest

from droidgate.cli import run
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.pages import (
    Block,
    Heading,
    Line,
    Table,
    drawn_height,
    file_lines,
    plain_height,
    short_page,
)
from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner
from gateway.cli.test_terminal_pages import Terminal
from requirements_of_tests import require


def part(name: str, rows: int) -> list[Block]:
    return [Heading(name), Table(("A",), [(f"{name} {row}",) for row in range(rows)]), Line()]


def texts(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks if not isinstance(block, Table) and block.text]


def test_a_page_of_one_screen_is_shown_as_it_is() -> None:
    page = [*part("first", 15), *part("second", 15), Line("30 rows")]
    assert short_page(page, plain_height) == page


def test_a_long_page_keeps_its_first_parts_and_its_summary_and_counts_the_rest() -> None:
    page = [block for number in range(9) for block in part(f"part {number}", 12)]
    page += [Line("108 rows"), Line("written: x")]
    short = short_page(page, plain_height)
    tables = [block for block in short if isinstance(block, Table)]
    assert [len(table.rows) for table in tables] == [4, 4, 4, 4]
    assert texts(short)[-9:] == [
        "More",
        *(f"part {number}" for number in range(4, 9)),
        "left out: 5 parts of this page, 107 lines; --details shows everything",
        "108 rows",
        "written: x",
    ]
    assert texts(short).count("and 8 more rows") == 4


def test_parts_have_fewer_rows_where_all_of_them_fit_then() -> None:
    page = [block for number in range(3) for block in part(f"part {number}", 12)]
    short = short_page([*page, Line("end")], plain_height)
    assert [len(block.rows) for block in short if isinstance(block, Table)] == [6] * 3
    assert "left out: 18 lines; --details shows everything" in texts(short)


def test_what_a_terminal_wraps_counts_as_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    page = [block for number in range(3) for block in [*part(f"part {number}", 6), Line("word " * 40)]]
    assert short_page(page, plain_height) == page
    for width in ("60", "100"):
        monkeypatch.setenv("COLUMNS", width)
        assert drawn_height(short_page([*page, Line(), Line("end")], drawn_height)) <= 40


def test_many_files_have_a_line_together_but_with_details_each_its_own() -> None:
    statuses = {Path(f"out/app/{number}.xml"): "created" for number in range(7)} | {Path("x"): "updated"}
    choose_page_length(PageLength.WHOLE)
    assert len(file_lines(statuses)) == 8
    choose_page_length(PageLength.SHORT)
    lines = texts(file_lines(statuses))
    choose_page_length(PageLength.WHOLE)
    assert lines == ["created: 7 files in out/app; --details lists them", "updated: x"]


def test_a_table_keeps_a_last_row_that_takes_no_more_than_its_count() -> None:
    page = [*part("first", 11), *part("second", 40)]
    assert texts(short_page(page, plain_height))[:3] == ["first", "second", "and 30 more rows"]


def test_parts_about_security_are_never_left_out_as_a_whole() -> None:
    page = [block for number in range(9) for block in part(f"part {number}", 12)]
    page += [Heading("Security: access rules"), *(Line(f"rule {number}", 1) for number in range(30)), Line()]
    short = texts(short_page([*page, Line("end")], plain_height))
    assert "Security: access rules" in short
    assert [text for text in short if text.startswith("rule")] == [f"rule {number}" for number in range(10)]
    assert "and 20 more lines" in short


def test_what_is_left_to_do_is_never_left_out_as_a_whole() -> None:
    page = [block for number in range(9) for block in part(f"part {number}", 12)]
    page += [Heading("Left to do"), Line("write the handler", 1), Line()]
    assert "write the handler" in texts(short_page([*page, Line("end")], plain_height))


def test_columns_with_details_are_left_out_and_counted() -> None:
    table = Table(("A", "B", "C"), [("1", "2", "3")], details=frozenset({"B"}))
    assert short_page([table, Line(), Line("end")], plain_height) == [
        Table(["A", "C"], [["1", "3"]]),
        Line(),
        Line("left out: the column B; --details shows everything"),
        Line("end"),
    ]


def test_rows_of_a_short_page_replace_those_of_the_whole_one_and_the_difference_is_counted() -> None:
    rows = [("1", "here"), ("2", "there")]
    table = Table(("A", "B"), rows, details=frozenset({"B"}), short_rows=[("3",)])
    assert short_page([table, Line(), Line("end")], plain_height)[::2] == [
        Table(["A"], [("3",)]),
        Line("left out: the column B, 1 line; --details shows everything"),
    ]


def test_no_part_is_shown_after_one_that_is_left_out() -> None:
    detail: list[Block] = [Heading("detail", is_detail=True), *part("", 1)[1:]]
    page = [*part("first", 20), *detail, *part("small", 1), Line("end"), *[Line("more")] * 20]
    short = texts(short_page(page, plain_height))
    assert ("first" in short, "detail" in short, "small" in short) == (True, False, False)


def test_many_lines_at_the_end_are_shortened_too() -> None:
    page = [*part("first", 3), *(Line(f"created: {number}") for number in range(100))]
    short = texts(short_page(page, plain_height))
    assert short[0] == "first"
    assert short[-1] == "and 90 more lines"
    assert "left out: 90 lines; --details shows everything" in short


def test_a_terminal_gets_a_page_and_a_pipe_everything(
    droidgate: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = str(sample_apps_directory())
    piped = droidgate("inspect", source).out
    assert "left out:" not in piped
    assert "query_clock_in" in piped

    def shown(*arguments: str) -> str:
        terminal = Terminal()
        with monkeypatch.context() as patched:
            patched.setenv("COLUMNS", "100")
            patched.setattr(sys, "stdout", terminal)
            run(["inspect", source, *arguments])
        return terminal.getvalue()

    short, whole = shown(), shown("--details")
    assert "--details shows everything" in short
    assert short.splitlines()[-1] == whole.splitlines()[-1] == piped.splitlines()[-1]
    assert "--details shows everything" not in whole
    assert len(whole.splitlines()) > len(short.splitlines())
    assert "--details shows everything" in shown(), "one run does not change the next"


@pytest.mark.parametrize("command", ["inspect", "lint"])
def test_the_corpus_takes_about_a_page_or_two(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = require("corpus")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "140")
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", terminal)
        run([command, str(corpus)])
    assert 20 < len(terminal.getvalue().splitlines()) < 110
