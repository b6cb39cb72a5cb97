"""The table of conversions is made when something asks for it, of what it does not have, and is kept."""

import json
from collections.abc import Sequence
from pathlib import Path

import duckdb
import pytest

from droidgate.coverage import conversion_table
from droidgate.coverage.catalog_writing import only_scan_of
from droidgate.coverage.conversion_table import complete_conversions
from droidgate.coverage.conversions import LEVELS, CapabilityConversion, estimate_conversions, targets
from droidgate.sources.catalogs.catalog import Catalog
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from gateway.cli.program_runs import Runner
from gateway.coverage_compare.made_catalogs import App, Tool, make_catalog, mmcp, mobile_mcp
from gateway.coverage_scan.catalogs import ask

APPS = (
    App("a.one", [mmcp(Tool("say"), Tool("add", parameters={"count": "int64"}))]),
    App("a.two", [mobile_mcp(Tool("say", access={"permission": "a.two.CALL"}), Tool("stop")), mmcp()]),
    App("a.three"),
    App(None, [mobile_mcp(Tool("stop"))], source="tools.xml"),
    App(None, [mobile_mcp(Tool("stop"))], source="same-tools.xml"),
)
DECLARATIONS = 3
LEVELS_OF_ROWS = "SELECT unit, provider, capability, target, level, provider_level, dropped, security FROM "


def make(folder: Path, *, kept: str = "FALSE") -> Catalog:
    """Return a catalog whose table has the conversions of a condition alone."""
    catalog = make_catalog(folder, *APPS)
    file = folder / "conversions/0000.parquet"
    duckdb.execute(f"COPY (SELECT * FROM '{file}' WHERE {kept}) TO '{folder}/kept' (FORMAT parquet)")
    (folder / "kept").replace(file)
    return catalog


def count(catalog: Catalog) -> int:
    return int(ask(catalog, "SELECT count(*) FROM conversions")[0][0])


def expected(catalog: Catalog) -> list[tuple[object, ...]]:
    """Return what the estimate says of each declaration, with names."""
    names = list(targets())
    return sorted(
        (unit, provider, item.capability, names[item.target], item.level, item.provider_level,
         item.counts[LEVELS.index("dropped") - 1], item.counts[-1])
        for unit, provider, declaration in ask(catalog, "SELECT unit, provider, declaration FROM providers")
        for item in estimate_conversions(Provider.model_validate(json.loads(declaration)))
        if names[item.target] in catalog.targets
    )  # fmt: skip


@pytest.mark.parametrize(("kept", "made"), [
    ("FALSE", DECLARATIONS), ("unit LIKE '%0'", DECLARATIONS - 1), ("unit LIKE '%3'", DECLARATIONS),
    ("TRUE", 0),
])  # fmt: skip
def test_each_declaration_without_conversions_is_converted_once(
    kept: str, made: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted: list[Provider] = []

    def noted(provider: Provider) -> Sequence[CapabilityConversion]:
        converted.append(provider)
        return estimate_conversions(provider)

    monkeypatch.setattr(conversion_table, "estimate_conversions", noted)
    catalog = make(tmp_path / "c", kept=kept)
    was = set(ask(catalog, LEVELS_OF_ROWS + "conversions"))
    completed = complete_conversions(catalog, tmp_path)
    assert len(converted) == made
    rows = ask(Catalog.open(tmp_path / "c"), LEVELS_OF_ROWS + "conversions")
    assert len(rows) == completed.rows["conversions"]
    units = {row[0] for row in was}
    assert {row for row in rows if row[0] in units} == was
    assert [row for row in rows if row[0] not in units] == [
        row for row in expected(catalog) if row[0] not in units
    ]
    assert {file.name for file in (tmp_path / "c").iterdir()} == {*completed.rows, "catalog.json"}


@pytest.mark.slow
def test_many_declarations_are_converted_by_other_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversion_table, "_FEW", 0)
    catalog = make(tmp_path / "c")
    assert ask(complete_conversions(catalog, tmp_path), LEVELS_OF_ROWS + "conversions") == expected(catalog)


def test_conversions_that_the_catalog_cannot_keep_are_used_all_the_same(tmp_path: Path) -> None:
    catalog = make(tmp_path / "c")
    with only_scan_of(catalog.folder):
        completed = complete_conversions(catalog, tmp_path)
    assert (count(catalog), count(completed)) == (0, len(expected(catalog)))


def test_a_mistake_of_ours_makes_the_conversions_of_its_capability_impossible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(provider: Provider) -> Sequence[CapabilityConversion]:
        if any(capability.id == "add" for capability in provider.capabilities):
            raise ValueError
        return estimate_conversions(provider)

    monkeypatch.setattr(conversion_table, "estimate_conversions", mistaken)
    catalog = make(tmp_path / "c")
    rows = ask(complete_conversions(catalog, tmp_path), LEVELS_OF_ROWS + "conversions")
    assert {row[4] for row in rows if row[:3] == (f"{0:064x}", 0, 1)} == {"impossible"}
    others = [row for row in expected(catalog) if row[:3] != (f"{0:064x}", 0, 1)]
    assert [row for row in rows if row[:3] != (f"{0:064x}", 0, 1)] == others


def test_a_broken_declaration_is_one_error(tmp_path: Path) -> None:
    catalog = make(tmp_path / "c")
    file = tmp_path / "c/providers/0000.parquet"
    broken = f"SELECT * REPLACE ('[]' AS declaration) FROM '{file}'"
    duckdb.execute(f"COPY ({broken}) TO '{tmp_path}/broken' (FORMAT parquet)")
    (tmp_path / "broken").replace(file)
    with pytest.raises(InputError) as raised:
        complete_conversions(catalog, tmp_path)
    assert raised.value.hint == "scan the apps again into a new folder"


def test_a_query_of_the_table_has_it_made_first(tmp_path: Path, droidgate: Runner) -> None:
    catalog = make(tmp_path / "c")
    sql = ("catalog", "sql", str(catalog.folder))
    assert droidgate(*sql, "SELECT count(*) AS n FROM capabilities", "--csv").out == "n\n6\n"
    assert count(catalog) == 0
    answer = droidgate(*sql, "SELECT count(*) AS n FROM Conversions", "--csv").out
    assert answer == f"n\n{len(expected(catalog))}\n"
