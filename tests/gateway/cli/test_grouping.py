"""Leaf findings are grouped in human-readable output."""

import pytest

from droidgate.cli.output.grouped_findings import (
    common_prefix,
    count_levels,
    counted,
    findings_table,
    group_findings,
)
from droidgate.cli.output.pages import Table
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level


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


def test_a_group_says_its_first_message_and_that_there_are_others() -> None:
    _, group, *_ = group_findings(FINDINGS, ["first", "second"])
    assert (group.message, group.place) == ("one (and 1 more like it)", "a.xml:1,2")


def test_what_is_said_of_different_fields_of_the_provider_is_not_one_group() -> None:
    fields = [_finding("set", Level.DEFAULTED, "/component"), _finding("set", Level.DEFAULTED, "/name")]
    parts = [_finding("set", Level.DEFAULTED, f"/definitions/{name}/kind") for name in "ab"]
    assert [group_finding.prefix for group_finding in group_findings([*fields, *parts])] == [
        "/component",
        "/name",
        "/definitions",
    ]


def test_a_message_is_never_cut() -> None:
    (group,) = group_findings([_finding("c", Level.ERROR, "", "word " * 1000)])
    assert group.message == ("word " * 1000).strip()


def test_the_table_shows_where() -> None:
    (table,) = findings_table(FINDINGS, ["first", "second"])
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows] == [
        "2 capabilities /version",
        "first /input/properties",
        "second /input/properties/a/type/enum",
        "/component",
    ]
    assert list(table.rows[1])[:3] == ["moved", "2", "enum"]
    assert list(table.rows[1])[4:] == ["one (and 1 more like it)"]
    assert findings_table([]) == []


def test_remarks_keep_the_place_and_the_words_of_each() -> None:
    elsewhere = Finding(
        code="c", level=Level.NOTE, pointer="", message="one", source=Place(path="b.xml", line=9)
    )
    remarks = [
        _finding("c", Level.NOTE, "/a", "one", 3),
        _finding("c", Level.NOTE, "/b", "one", 7),
        _finding("c", Level.NOTE, "/c", "two", 8),
        elsewhere,
        _finding("d", Level.ERROR, "", "three", 1),
    ]
    (table,) = findings_table(remarks, places=True)
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
])  # fmt: skip
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
