"""What pages show: one screen, findings in groups, access rules, marks on texts of apps, shared words."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from markdown_it import MarkdownIt

from device_shim.shim_builder.built_samples import PACKAGE, shim_of, source_app
from droidgate.cli import run
from droidgate.cli.output.grouped_findings import (
    common_prefix,
    count_levels,
    counted,
    findings_table,
    group_findings,
    remarks_table,
)
from droidgate.cli.output.markdown import markdown_page, plain_markdown
from droidgate.cli.output.marking import provider_marks_page
from droidgate.cli.output.page_length import PageLength, choose_page_length
from droidgate.cli.output.pages import (
    Block,
    Heading,
    Line,
    Table,
    drawn_height,
    file_line,
    file_lines,
    short_page,
)
from droidgate.cli.output.safe_text import visible
from droidgate.cli.output.summaries import provider_page
from droidgate.cli.shim.run_shim_build import built_record, shim_blocks
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Place, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.tables.android_names import android_name
from droidgate_mappings.text.counted_nouns import amount
from droidgate_phone.system.releases import load_release
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner, Terminal, run_on_terminal
from gateway.cli.samples import write_bare_project, write_tools
from titled_rows import titled

CELL = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


def part(name: str, rows: int) -> list[Block]:
    return [Heading(name), Table(("A",), [(f"{name} {row}",) for row in range(rows)]), Line()]


def texts(blocks: list[Block]) -> list[str]:
    return [block.text for block in blocks if not isinstance(block, Table) and block.text]


LONG_PAGE = [block for number in range(9) for block in part(f"part {number}", 12)]


def test_a_page_of_one_screen_is_shown_as_it_is() -> None:
    page = [*part("first", 15), *part("second", 15), Line("30 rows")]
    assert short_page(page, on_terminal=False) == page


def test_a_long_page_keeps_its_first_parts_and_its_summary_and_counts_the_rest() -> None:
    short = short_page([*LONG_PAGE, Line("108 rows"), Line("written: x")], on_terminal=False)
    assert [len(block.rows) for block in short if isinstance(block, Table)] == [4, 4, 4, 4]
    assert texts(short)[-9:] == [
        "More",
        *(f"part {number}" for number in range(4, 9)),
        "left out: 5 parts of this page, 107 lines; --details shows everything",
        "108 rows",
        "written: x",
    ]
    assert texts(short).count("and 8 more rows") == 4


def test_parts_have_fewer_rows_where_that_makes_all_of_them_fit() -> None:
    page = [block for number in range(3) for block in part(f"part {number}", 12)]
    short = short_page([*page, Line("end")], on_terminal=False)
    assert [len(block.rows) for block in short if isinstance(block, Table)] == [6] * 3
    assert "left out: 18 lines; --details shows everything" in texts(short)


def test_what_a_terminal_wraps_counts_as_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    page = [block for number in range(3) for block in [*part(f"part {number}", 6), Line("word " * 40)]]
    assert short_page(page, on_terminal=False) == page
    for width in ("60", "100"):
        monkeypatch.setenv("COLUMNS", width)
        assert drawn_height(short_page([*page, Line(), Line("end")], on_terminal=True)) <= 40


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
    assert texts(short_page(page, on_terminal=False))[:3] == ["first", "second", "and 30 more rows"]


def test_parts_about_security_are_never_left_out_as_a_whole() -> None:
    security: list[Block] = [
        Heading("Security: access rules"),
        *(Line(f"rule {number}", 1) for number in range(30)),
        Line(),
    ]
    short = texts(short_page([*LONG_PAGE, *security, Line("end")], on_terminal=False))
    assert "Security: access rules" in short
    assert [text for text in short if text.startswith("rule")] == [f"rule {number}" for number in range(10)]
    assert "and 20 more lines" in short


def test_a_part_that_a_page_is_for_keeps_every_row() -> None:
    whole: list[Block] = [Heading("whole", is_whole=True), *part("", 12)[1:]]
    short = short_page([*LONG_PAGE, *whole, Line("end")], on_terminal=False)
    assert max(len(block.rows) for block in short if isinstance(block, Table)) == 12


def test_a_part_about_what_the_user_has_to_do_is_never_left_out() -> None:
    to_do: list[Block] = [Heading("Left to do"), Line("write the handler", 1), Line()]
    assert "write the handler" in texts(short_page([*LONG_PAGE, *to_do, Line("end")], on_terminal=False))


def test_columns_with_details_are_left_out_and_counted() -> None:
    table = Table(("A", "B", "C"), [("1", "2", "3")], details=frozenset({"B"}))
    assert short_page([table, Line(), Line("end")], on_terminal=False) == [
        Table(["A", "C"], [["1", "3"]]),
        Line(),
        Line("left out: the column B; --details shows everything"),
        Line("end"),
    ]


def test_rows_of_a_short_page_replace_those_of_the_whole_one_and_the_difference_is_counted() -> None:
    rows = [("1", "here"), ("2", "there")]
    table = Table(("A", "B"), rows, details=frozenset({"B"}), short_rows=[("3",)])
    assert short_page([table, Line(), Line("end")], on_terminal=False)[::2] == [
        Table(["A"], [("3",)]),
        Line("left out: the column B, 1 line; --details shows everything"),
    ]


def test_no_part_is_shown_after_one_that_is_left_out() -> None:
    detail: list[Block] = [Heading("detail", is_detail=True), *part("", 1)[1:]]
    page = [*part("first", 20), *detail, *part("small", 1), Line("end"), *[Line("more")] * 20]
    short = texts(short_page(page, on_terminal=False))
    assert ("first" in short, "detail" in short, "small" in short) == (True, False, False)


def test_many_lines_at_the_end_are_shortened_too() -> None:
    page = [*part("first", 3), *(Line(f"created: {number}") for number in range(100))]
    short = texts(short_page(page, on_terminal=False))
    assert short[0] == "first"
    assert short[-1] == "and 90 more lines"
    assert "left out: 90 lines; --details shows everything" in short


def test_a_terminal_gets_a_page_a_pipe_all_of_it(droidgate: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
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


def _finding(code: str, level: Level, pointer: str, message: str = "m", line: int = 1) -> Finding:
    return Finding(
        code=code, level=level, pointer=pointer, message=message, source=Place(path="a.xml", line=line)
    )


FINDINGS = [
    _finding("renamed", Level.RENAMED, "/component"),
    _finding("enum", Level.MOVED, "/capabilities/0/input/properties/a/type/enum", "one"),
    _finding("enum", Level.MOVED, "/capabilities/0/input/properties/b/type/enum", "two", 2),
    _finding("enum", Level.MOVED, "/capabilities/1/input/properties/a/type/enum", "one"),
    _finding("gone", Level.DROPPED, "/capabilities/0/version"),
    _finding("gone", Level.DROPPED, "/capabilities/1/version"),
]


def test_findings_are_grouped_by_code_and_capability_gravest_first() -> None:
    groups = group_findings(FINDINGS, ["first", "second"])
    assert [
        (group.level.value, group.code, group.subjects, len(group.findings), group.prefix) for group in groups
    ] == [
        ("dropped", "gone", ("first", "second"), 2, "/version"),
        ("moved", "enum", ("first",), 2, "/input/properties"),
        ("moved", "enum", ("second",), 1, "/input/properties/a/type/enum"),
        ("renamed", "renamed", (), 1, "/component"),
    ]
    assert sum(len(group.findings) for group in groups) == len(FINDINGS)


def test_findings_on_different_fields_of_the_provider_are_separate_groups() -> None:
    pointers = ("/component", "/name", "/definitions/a/kind", "/definitions/b/kind")
    groups = group_findings([_finding("set", Level.DEFAULTED, pointer) for pointer in pointers])
    assert [group.prefix for group in groups] == ["/component", "/name", "/definitions"]


def test_a_table_of_findings_shows_the_place_of_each() -> None:
    (table,) = findings_table(FINDINGS, ["first", "second"])
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows] == [
        "2 capabilities /version",
        "first /input/properties",
        "second /input/properties/a/type/enum",
        "/component",
    ]
    assert list(table.rows[1])[:3] == ["moved", "2", "enum"]
    assert list(table.rows[1])[4:] == ["one (and 1 other message)"]
    assert findings_table([]) == []


def test_each_remark_has_its_own_place_and_words() -> None:
    elsewhere = _finding("c", Level.NOTE, "", "one").model_copy(
        update={"source": Place(path="b.xml", line=9)}
    )
    remarks = [
        _finding("c", Level.NOTE, "/a", "one", 3),
        _finding("c", Level.NOTE, "/b", "one", 7),
        _finding("c", Level.NOTE, "/c", "two", 8),
        elsewhere,
        _finding("d", Level.ERROR, "", "three", 1),
    ]
    (table,) = remarks_table(remarks)
    assert isinstance(table, Table)
    assert [(row[1], row[4], row[5]) for row in table.rows] == [
        ("1", "a.xml:1", "three"),
        ("2", "a.xml:3,7", "one"),
        ("1", "a.xml:8", "two"),
        ("1", "b.xml:9", "one"),
    ]


@pytest.mark.parametrize(("pointers", "prefix"), [
    (["/a/b", "/a/c"], "/a"),
    (["/a/bc", "/a/b"], "/a"),
    (["/a", "/a/b"], "/a"),
    (["/a", "/b"], ""),
    (["", "/b"], ""),
    (["/a/b"], "/a/b"),
], ids=str)  # fmt: skip
def test_a_prefix_is_made_of_whole_tokens(pointers: list[str], prefix: str) -> None:
    assert common_prefix(pointers) == prefix


@pytest.mark.parametrize(
    "pointer", ["/capabilities/x", "/capabilities/9", "/capabilities", "//service[1]", ""]
)
def test_pointers_that_name_no_capability_belong_to_the_whole(pointer: str) -> None:
    (group,) = group_findings([_finding("c", Level.ERROR, pointer)], ["only"])
    assert group.subjects == ()


def test_counts_begin_with_the_gravest() -> None:
    assert counted(count_levels(FINDINGS)) == "2 dropped, 3 moved, 1 renamed"
    assert counted({"error": 2, "warning": 1, "note": 3}) == "2 errors, 1 warning, 3 notes"


BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"


def _lines(
    component: dict[str, Any], *capabilities: dict[str, Any], protocol: str = "mobile-mcp"
) -> list[str]:
    provider = Provider(
        protocol=protocol,
        package="com.example",
        component=".Tools",
        access=ComponentAccess(**component),
        capabilities=tuple(
            Capability(id=f"c{number}", access=CapabilityAccess(**item))
            for number, item in enumerate(capabilities or ({},))
        ),
    )
    return [block.text for block in provider_page(provider) if isinstance(block, Line)]


@pytest.mark.parametrize(("component", "protocol", "rules"), [
    ({"exported": False}, "mobile-mcp", "not exported"),
    ({"enabled": False}, "mobile-mcp", "disabled"),
    ({"enabled": {"": False, "v36": False}}, "mobile-mcp", "disabled"),
    ({"enabled": {"": False, "v36": True}}, "mobile-mcp",
        "enabled only in configurations: Android 16 (API 36) and later"),
    ({"enabled": {"land": False}}, "mobile-mcp", "enabled only in configurations: default"),
    # A permission that Android itself holds is a rule in another protocol than that of app functions.
    ({"permission": BIND}, "mobile-mcp", f"callers need {BIND}"),
    ({"exported": False, "enabled": False, "permission": "a b"}, "mobile-mcp",
        "not exported; disabled; callers need a b"),
    ({}, "mobile-mcp", None),
    ({"exported": None}, "mobile-mcp", None),
    ({"enabled": {"": True, "v36": True}}, "mobile-mcp", None),
    ({"permission": ""}, "mobile-mcp", None),
    ({"permission": BIND}, "appfunctions", None),
], ids=str)  # fmt: skip
def test_the_rules_of_a_component_are_in_one_line(
    component: dict[str, Any], protocol: str, rules: str | None
) -> None:
    assert _lines(component, protocol=protocol) == ([f"access: {rules}"] if rules else [])


@pytest.mark.parametrize(("access", "words"), [
    ({"enabled_by_default": False}, "disabled until the app enables it"),
    ({"restrict_callers": True}, "restricts callers (restrictCallersWithExecuteAppFunctions)"),
    ({"scope": "activity"}, "available only while an activity of the app is open"),
    ({"access_level": "self"}, "only the app itself may call (access level self)"),
    ({"access_level": "system"}, "only the app itself and Android may call (access level system)"),
    ({"access_level": "vendor"}, "access level vendor"),
], ids=str)  # fmt: skip
def test_restricted_capabilities_are_listed_by_rule_below_a_table(access: dict[str, Any], words: str) -> None:
    opened = ({"restrict_callers": False}, {"access_level": "androidTrusted"})
    assert _lines({}, {}, access, *opened, access) == [f"{words}: c1, c4"]


ISOLATED = "has hidden characters: U+2066"
MARKED_TOOLS = {
    "tools": [
        {
            "name": "create_note",
            "description": "Creates a \u2066note.",
            "inputSchema": {
                "type": "object",
                "properties": {"title": {"type": "string", "description": "Its ti\u200btle"}},
            },
        },
        {"name": "list_notes", "description": "Lists notes.", "inputSchema": {"type": "object"}},
    ]
}
MARKED = [
    ("create_note", "description", "/capabilities/0/description", ISOLATED),
    ("create_note", "input.title.description", "/capabilities/0/input/properties/title/type/description",
     "has hidden characters: U+200B"),
]  # fmt: skip
LINES = (
    f"create_note description: {ISOLATED}",
    "create_note input.title.description: has hidden characters: U+200B",
)


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return write_tools(tmp_path / "tools.json", MARKED_TOOLS)


@given(st.tuples(CELL, CELL))
@example((" ", "0"))
@example(("\r", "0"))
@example(("|", "](https://x.example) @team <b>"))
@example(("```", "1. a\n# b"))
@example(("-", "2) page_count _a_ __b__ text-only - c"))
def test_markdown_shows_every_text_as_it_is(row: tuple[str, str]) -> None:
    """CommonMark with GitHub's tables, by markdown-it: what it shows is the text, without any mark-up."""
    page = markdown_page([Table(["A", "B"], [row]), Line(row[0], 1), Line("done")])
    parsed = MarkdownIt("commonmark").enable("table").parse(page)
    texts = [
        "".join(part.content for part in inline.children or ())
        for inline in parsed
        if inline.type == "inline"
    ]
    kinds = {part.type for inline in parsed for part in inline.children or ()}
    assert kinds <= {"text", "text_special", "strong_open", "strong_close"}
    words = [" ".join(visible(cell).split()) for cell in row]
    assert [" ".join(text.split()) for text in texts] == ["done", "A", "B", *words, *filter(None, words[:1])]


@titled(("text", "written"), {
    "a place and a code stay readable": ("app/src/AndroidManifest.xml:26, page_count (text-only)!/a: hint",
        "app/src/AndroidManifest.xml:26, page_count (text-only)!/a: hint"),
    "links": ("https://x.example www.x.example a@b.c", "https&#58;//x.example www&#46;x.example a&#64;b.c"),
    "what only GitHub links or draws": ("GH-12 o/r#1 @team :smile: :100: $a$",
        "GH&#45;12 o/r&#35;1 &#64;team &#58;smile: &#58;100: &#36;a&#36;"),
})  # fmt: skip
def test_markdown_escapes_what_github_marks_up_and_nothing_else(text: str, written: str) -> None:
    assert plain_markdown(text) == written


def test_a_comment_that_would_be_too_long_counts_what_it_leaves_out() -> None:
    page = markdown_page([Table(["A"], [["x" * 100]] * 1_000), Line("all breaking")])
    assert page.startswith("**all breaking**\n")
    assert len(page) < 65_536
    assert re.search(r"\n\n\d+ more lines of this report did not fit into a comment\n$", page)


def marked(document: dict[str, list[dict[str, str]]]) -> list[tuple[str, ...]]:
    fields = ("capability", "field", "pointer", "message")
    return [tuple(mark[name] for name in fields) for mark in document["marks"]]


def test_inspect_shows_marks_with_their_field(droidgate: Runner, tools: Path) -> None:
    output = droidgate("inspect", tools).out
    assert all(line in output for line in LINES)
    assert marked(json.loads(droidgate("inspect", tools, "--json").out)) == MARKED


def test_convert_shows_marks_that_reach_no_threshold(droidgate: Runner, tools: Path, tmp_path: Path) -> None:
    output = droidgate("convert", tools, "--to", "mmcp", "-o", tmp_path / "out").out
    assert all(line in output for line in LINES)
    (conversion,) = json.loads((tmp_path / "out" / "fidelity.json").read_text())["conversions"]
    assert marked(conversion) == MARKED
    sarif = droidgate("convert", tools, "--to", "mmcp", "-o", tmp_path / "out", "--force", "--sarif").out
    results = json.loads(sarif)["runs"][0]["results"]
    assert [result["ruleId"] for result in results].count("hidden-characters") == len(MARKED)
    run = droidgate("convert", tools, "--to", "mcp", "-o", tmp_path / "other", "--fail-on", "renamed")
    assert (run.code, run.err) == (0, "")


def test_convert_names_the_tool_whose_written_text_is_too_long(droidgate: Runner, tmp_path: Path) -> None:
    tool = {
        "name": "find",
        "title": "Find",
        "description": "d" * 1_015,
        "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    }
    source = write_tools(tmp_path / "tools.json", {"tools": [tool]})
    target = ("--to", "function-calling+openai-chat", "-o", tmp_path / "out")
    run = droidgate("convert", source, *target, "--fail-on", "impossible")
    assert run.code == 1
    assert "    find description: longer than a model should be shown\n" in run.out
    assert "the description has 1,049 characters; the target takes 1,024" in run.out
    (conversion,) = json.loads((tmp_path / "out" / "fidelity.json").read_text())["conversions"]
    marks = [(mark["capability"], mark["field"], mark["message"]) for mark in conversion["marks"]]
    assert marks == [("find", "description", "has 1,049 characters, more than 1,024")]


def test_lint_reports_marks_as_findings(droidgate: Runner, tools: Path) -> None:
    run = droidgate("lint", tools, "--json", "--fail-on", "warning")
    assert run.code == 1
    findings = [item for item in json.loads(run.out)["findings"] if item["code"] == "hidden-characters"]
    assert [(item["message"], item["pointer"]) for item in findings] == [
        (line, pointer) for line, (_, _, pointer, _) in zip(LINES, MARKED, strict=True)
    ]
    assert {item["source"]["path"] for item in findings} == {str(tools)}
    assert droidgate("lint", tools).code == 0


def test_migrate_shows_marks_of_the_source(droidgate: Runner, tools: Path, tmp_path: Path) -> None:
    arguments = ("migrate", tools, "--to", "mmcp", "--into", write_bare_project(tmp_path / "app"))
    assert all(line in droidgate(*arguments).err for line in LINES)
    (conversion,) = json.loads(droidgate(*arguments, "--json").out)["conversions"]
    assert marked(conversion) == MARKED


def test_marks_fit_a_terminal_of_80_columns(tools: Path) -> None:
    lines = run_on_terminal("inspect", tools, COLUMNS="80", NO_COLOR="1").splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in lines]
    assert all(f"    {line}" in plain for line in LINES)


def test_many_marks_are_a_short_part_of_a_page() -> None:
    many = [
        Capability(id=f"t{number}", title="hid\u200bden", description=f"A text.{chr(0xE000 + number)}")
        for number in range(100)
    ]
    provider = Provider(protocol="mmcp", package="com.acme", component=".Tools", capabilities=tuple(many))
    page = [item.text for item in provider_marks_page([provider]) if isinstance(item, Line)]
    assert len(page) < 20
    assert "t0 title, t1 title, t2 title and 97 more: has hidden characters: U+200B" in "\n".join(page)
    assert "and 89 more; --json lists all of them" in page


def test_a_built_shim_shows_the_marks_of_the_apps_behind_it() -> None:
    bad = "hid\u2066den"
    shim = shim_of(source_app(Capability(id="t", title=bad, description=bad)))
    page = [item.text for item in shim_blocks(shim) if isinstance(item, Line)]
    assert page[page.index(PACKAGE) + 1] == f"t title, t description: {ISOLATED}"
    record = built_record(shim, None)
    assert [(item.package, item.pointer) for item in record.marks] == [
        (PACKAGE, "/capabilities/0/title"),
        (PACKAGE, "/capabilities/0/description"),
    ]


@pytest.mark.parametrize(("level", "name"), [
    (18, "Android 4.3 (API 18)"),
    (24, "Android 7.0 (API 24)"),
    (32, "Android 12L (API 32)"),
    ("33", "Android 13 (API 33)"),
    ("36.0", "Android 16 (API 36)"),
    ("36.1", "Android 16 QPR2 (API 36.1)"),
    (99, "API 99"),
])  # fmt: skip
def test_an_api_level_has_the_version_that_users_know(level: str | int, name: str) -> None:
    assert android_name(level) == name


@pytest.mark.parametrize("release", ["26", "30", "33", "34", "36", "36.1", "37"], ids="API {}".format)
def test_the_names_are_the_versions_that_the_phones_state(release: str) -> None:
    stated = load_release(release).version
    match = re.match(r"Android ([\d.]+)", android_name(release))
    assert match is not None
    assert f"{stated}.".startswith(f"{match[1]}.")


def test_nouns_after_counts_are_singular_or_plural() -> None:
    assert (amount(1, "tool"), amount(2, "tool"), amount(0, "tool")) == ("1 tool", "2 tools", "0 tools")
    assert amount(2000, "capability", "capabilities") == "2,000 capabilities"


def test_a_file_is_named_on_one_line() -> None:
    assert file_line("created", Path("out/a\nb")) == "created: out/a b"
