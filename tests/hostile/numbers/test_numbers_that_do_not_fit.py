"""Numbers beyond every machine type, in what apps declare and in what catalogs hold."""

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage import scan_one as scan_one_module
from droidgate.coverage.scan_inputs import Item
from droidgate.coverage.scan_one import scan_one
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_rows import read_part
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mcp import read as mcp_reader, write as mcp_writer
from gateway.cli.program_runs import run_process
from gateway.cli.samples import write_bare_project
from titled_rows import titled

TARGETS = ["mobile-mcp", "mmcp", "mmcp+draft", "appfunctions", "mcp"]
LARGE = "1e400"
HUGE = "1e99999999"


def write_tools(path: Path, number: str) -> Path:
    """Write a list of two tools, of which the second one has a number in every place of its schema."""
    words = "".join(
        f'"{word}":{number},'
        for word in ("maximum", "minimum", "multipleOf", "default", "minLength", "maxItems", "const", "x-own")
    )
    schema = f'{{"type":"object","properties":{{"n":{{{words}"type":"number","enum":[{number},2]}}}}}}'
    good = '{"name":"good","description":"A good tool.","inputSchema":{"type":"object"}}'
    bad = f'{{"name":"bad","description":"A bad tool.","inputSchema":{schema},"outputSchema":{schema}}}'
    path.write_text(f'{{"tools":[{good},\n{bad}]}}')
    return path


@pytest.mark.slow
@titled("number", {
    "a large number with an exponent": LARGE, "a large negative number": "-1e400",
    "a number next to zero": "1e-400", "1,000 digits as an exponent": "1e1000", "400 digits": "1" * 400,
    "60 digits behind the point": "0." + "1" * 60,
})  # fmt: skip
def test_a_number_beyond_a_double_hides_no_app_from_a_scan(number: str, tmp_path: Path) -> None:
    tools = write_tools(tmp_path / "tools.json", number)
    run = run_process("scan", tools, "--catalog", tmp_path / "catalog", "--json")
    assert run.code == 0, run.err
    reported = json.loads(run.out)
    assert reported["outcomes"] == {"read": 1}
    assert reported["rows"]["capabilities"] == 2
    (declaration,) = next(
        iter(Catalog.open(tmp_path / "catalog").read_rows("SELECT declaration FROM providers"))
    )
    input_type = read_part(Provider, declaration).capabilities[1].input
    assert input_type.properties["n"].type.enum[0] == Decimal(number)  # type: ignore[union-attr, index]


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_a_number_beyond_a_double_is_converted(target: str, tmp_path: Path) -> None:
    tools = write_tools(tmp_path / "tools.json", LARGE)
    run = run_process("convert", tools, "--to", target, "-o", tmp_path / "out", "--json")
    assert run.code == 0, run.err
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any("1E+400" in path.read_text(encoding="utf-8") for path in written)


@pytest.mark.slow
@pytest.mark.parametrize("number", [LARGE, HUGE])
@pytest.mark.parametrize("target", ["mobile-mcp", "mmcp", "mmcp+broadcast", "appfunctions"])
def test_no_number_ends_a_migration_as_a_mistake_of_ours(number: str, target: str, tmp_path: Path) -> None:
    tools = write_tools(tmp_path / "tools.json", number)
    run = run_process("migrate", tools, "--to", target, "--into", write_bare_project(tmp_path / "project"))
    assert run.code == (0 if number == LARGE else 3), run.err
    assert "internal error" not in run.err


@pytest.mark.slow
@pytest.mark.parametrize("command", ["inspect", "lint", "convert", "migrate", "diff"])
@titled("number", {"a huge exponent": HUGE, "5,000 digits": "9" * 5_000, "NaN": "NaN"})
def test_a_number_that_fills_pages_is_refused_at_its_place(command: str, number: str, tmp_path: Path) -> None:
    tools = write_tools(tmp_path / "tools.json", number)
    more: dict[str, list[str | Path]] = {
        "convert": ["--to", "mmcp", "-o", tmp_path / "out"],
        "migrate": ["--to", "mmcp", "--into", write_bare_project(tmp_path / "project")],
        "diff": [tools],
    }
    run = run_process(command, tools, *more.get(command, []))
    assert run.code == 3, run
    assert f"{tools}:2:" in run.err + run.out
    assert "hint: write " in run.err or command == "lint"


def test_a_number_that_fills_pages_is_a_row_with_its_reason(tmp_path: Path) -> None:
    write_tools(tmp_path / "apps.json", HUGE)
    scanned = scan_one(Item("apps.json", "file", str(tmp_path / "apps.json")))
    assert (scanned.outcome, scanned.reason) == ("unreadable", "a number has an exponent beyond 1024")


@pytest.mark.slow
def test_numbers_of_any_size_are_compared(tmp_path: Path) -> None:
    old, new = write_tools(tmp_path / "old.json", "1e1000"), write_tools(tmp_path / "new.json", "0.3")
    run = run_process("diff", old, new)
    assert run.code == 0, run.err
    assert "no longer allowed: 1E+1000; newly allowed: 0.3" in run.out


@titled(("module", "function", "name_of", "capabilities", "problem"), {
    "a capability that is read": (mcp_reader._DocumentReader, "read_tool",
        lambda _, members, __: members["name"], ["good"], "a capability is left out"),
    "the rows of a capability": (mcp_writer, "_size_of", lambda tool: tool["name"], ["good"],
        'the capability "bad" is left out'),
    "all linters": (scan_one_module, "check_reading", lambda *_: "bad", ["good", "bad"],
        "what the linters find is left out"),
})  # fmt: skip
def test_a_crash_at_one_part_of_an_app_loses_it_alone_and_a_row_reports_it(
    module: Any,
    function: str,
    name_of: Callable[..., str],
    capabilities: list[str],
    problem: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = getattr(module, function)

    def crash(*arguments: Any) -> Any:
        if name_of(*arguments) == "bad":
            raise ValueError("made up")
        return original(*arguments)

    monkeypatch.setattr(module, function, crash)
    scanned = scan_one(Item("tools.json", "file", str(write_tools(tmp_path / "tools.json", "1"))))
    tables: Any = scanned.rows
    assert scanned.outcome == "read"
    assert [item.id for item in tables["capabilities"]] == capabilities
    assert [item.message for item in tables["problems"]] == [
        f"{problem}: internal error: ValueError: made up"
    ]


class TestCatalogsOfOthers:
    """A catalog may come from somebody else; what its files hold is read as strictly as an app's."""

    @pytest.fixture
    def catalog(self, tmp_path: Path) -> Path:
        tools = write_tools(tmp_path / "tools.json", "1")
        assert run_process("scan", tools, "--catalog", tmp_path / "catalog").code == 0
        return tmp_path / "catalog"

    @pytest.mark.slow
    @pytest.mark.parametrize("number", [LARGE, HUGE, "Infinity", "NaN", "1.5", "true", '"1"', "[]", "null"])
    def test_the_counts_of_a_catalog_are_integers(self, number: str, catalog: Path) -> None:
        file = catalog / "catalog.json"
        reported = json.loads(file.read_text())
        reported["rows"]["apps"] = "HERE"
        file.write_text(json.dumps(reported).replace('"HERE"', number))
        with pytest.raises(InputError, match="it is not a catalog"):
            Catalog.open(catalog)
        run = run_process("catalog", "sql", catalog, "SHOW TABLES")
        assert run.code == 3
        assert "internal error" not in run.err

    @pytest.mark.parametrize(
        "text", ["", "[", "[]", "1e99999999", '{"protocol":NaN}', '{"a":1,"a":2}', '{"protocol":"mcp","x":1}']
    )
    def test_a_declaration_that_is_none_is_one_error(self, text: str) -> None:
        with pytest.raises(
            InputError, match=r"row of the catalog|not JSON|duplicate key|exponent|not a JSON"
        ):
            read_part(Provider, text)
