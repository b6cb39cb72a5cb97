"""Marks on texts of apps are where people and programs read about these texts."""

import json
import re
from pathlib import Path

import pytest

from device_shim.shim_builder.built_samples import PACKAGE, shim_of, source_app
from droidgate.cli.output.marking import provider_marks_page
from droidgate.cli.output.pages import Line
from droidgate.cli.shim.shim_builds import built_record, shim_blocks
from droidgate_mappings.model.capability import Capability, Provider
from gateway.cli.program_runs import Runner, run_on_terminal

ISOLATED = "has hidden characters: U+2066"
TOOLS = {
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
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return path


def marked(document: dict[str, list[dict[str, str]]]) -> list[tuple[str, ...]]:
    fields = ("capability", "field", "pointer", "message")
    return [tuple(mark[name] for name in fields) for mark in document["marks"]]


def test_inspect_shows_marks_with_their_field(droidgate: Runner, tools: Path) -> None:
    shown = droidgate("inspect", tools).out
    assert all(line in shown for line in LINES)
    assert marked(json.loads(droidgate("inspect", tools, "--json").out)) == MARKED


def test_convert_shows_marks_of_the_source(droidgate: Runner, tools: Path, tmp_path: Path) -> None:
    shown = droidgate("convert", tools, "--to", "mmcp", "-o", tmp_path / "out").out
    assert all(line in shown for line in LINES)
    (conversion,) = json.loads((tmp_path / "out" / "fidelity.json").read_text())["conversions"]
    assert marked(conversion) == MARKED
    sarif = droidgate("convert", tools, "--to", "mmcp", "-o", tmp_path / "out", "--force", "--sarif").out
    results = json.loads(sarif)["runs"][0]["results"]
    assert [result["ruleId"] for result in results].count("hidden-characters") == len(MARKED)


def test_marks_reach_no_threshold_of_a_conversion(droidgate: Runner, tools: Path, tmp_path: Path) -> None:
    run = droidgate("convert", tools, "--to", "mcp", "-o", tmp_path / "out", "--fail-on", "renamed")
    assert (run.code, run.err) == (0, "")


def test_lint_reports_marks_as_findings(droidgate: Runner, tools: Path) -> None:
    run = droidgate("lint", tools, "--json", "--fail-on", "warning")
    assert run.code == 1
    found = [item for item in json.loads(run.out)["findings"] if item["code"] == "hidden-characters"]
    assert [(item["message"], item["pointer"]) for item in found] == [
        (line, pointer) for line, (_, _, pointer, _) in zip(LINES, MARKED, strict=True)
    ]
    assert {item["source"]["path"] for item in found} == {str(tools)}
    assert droidgate("lint", tools).code == 0


def test_migrate_shows_marks_of_the_source(droidgate: Runner, tools: Path, tmp_path: Path) -> None:
    main = tmp_path / "app" / "src" / "main"
    main.mkdir(parents=True)
    (main / "AndroidManifest.xml").write_text(
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.acme">'
        "<application/></manifest>"
    )
    arguments = ("migrate", tools, "--to", "mmcp", "--into", tmp_path / "app")
    assert all(line in droidgate(*arguments).err for line in LINES)
    (conversion,) = json.loads(droidgate(*arguments, "--json").out)["conversions"]
    assert marked(conversion) == MARKED


def test_marks_fit_a_terminal_of_80_columns(tools: Path) -> None:
    shown = run_on_terminal("inspect", tools, COLUMNS="80", NO_COLOR="1").splitlines()
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in shown]
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
