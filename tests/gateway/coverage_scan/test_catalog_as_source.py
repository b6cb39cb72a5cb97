"""A catalog is a source like the apps that it was made of."""

import json
import shutil
from pathlib import Path

import pytest

import droidgate
from droidgate.sources.catalogs import catalog_reading
from droidgate.sources.catalogs.catalog import Catalog
from droidgate.sources.catalogs.catalog_reading import DECLARATIONS_ALONE
from droidgate.sources.opened_apps import open_apps
from droidgate_mappings.model.errors import BudgetError, InputError, UsageError
from droidgate_phone.apps.sample_packages import sample_packages
from gateway.coverage_scan.catalogs import scan_into

SAMPLES = Path("device_shim/apps")


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A catalog of the projects of the sample apps, under their relative names."""
    return scan_into(tmp_path_factory.mktemp("projects") / "samples", SAMPLES).catalog.folder


def package_of(name: str) -> bytes:
    return next(package.apk for package in sample_packages() if package.name == name)


def places(findings: tuple[droidgate.Finding, ...], prefix: str = "") -> set[tuple[str, str, str]]:
    return {
        (finding.code, finding.message, str(finding.source).removeprefix(prefix))
        for finding in findings
        if finding.code != DECLARATIONS_ALONE
    }


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A folder with an APK, a file that needs a leniency and one that cannot be read; its catalog."""
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "a").mkdir()
    (folder / "a/broken.apk").write_bytes(b"PK\x03\x04")
    (folder / "a/tally.apk").write_bytes(package_of("tally"))
    tools = [{"name": "a", "description": None, "inputSchema": {"type": "object"}}]
    (folder / "a/tools.json").write_text(json.dumps({"tools": tools}))
    return folder / "a", scan_into(folder / "c", folder / "a").catalog.folder


def test_a_catalog_of_an_apk_has_what_the_apk_declares(mixed: tuple[Path, Path]) -> None:
    direct, read = map(droidgate.read, mixed)
    assert {provider.protocol for provider in direct} == {"mcp", "mobile-mcp"}
    assert sorted(item.content_digest() for item in read) == sorted(item.content_digest() for item in direct)


def test_a_catalog_of_projects_has_their_places_too(projects: Path) -> None:
    read, direct = droidgate.read(projects), droidgate.read(SAMPLES)
    assert [str(item.source) for item in read] == [f"{projects}/{item.source}" for item in direct]
    assert [[str(capability.source) for capability in provider.capabilities] for provider in read] == [
        [f"{projects}/{capability.source}" for capability in provider.capabilities] for provider in direct
    ]


def test_the_file_in_a_catalog_names_it_as_its_folder_does(projects: Path) -> None:
    read = droidgate.read(projects / "catalog.json")
    assert read.providers == droidgate.read(projects).providers
    assert Catalog.open(projects / "catalog.json") == Catalog.open(projects)


def test_a_reading_says_what_a_catalog_does_not_have(projects: Path) -> None:
    read = droidgate.read(projects)
    (missing,) = (finding for finding in read.findings if finding.code == DECLARATIONS_ALONE)
    assert "manifests, resources, signatures and archives of the apps are not in it" in missing.message
    assert read.applications == ()


def test_lint_of_a_catalog_reports_what_the_linters_of_the_scan_found(projects: Path) -> None:
    stored, direct = droidgate.lint(projects), droidgate.lint(SAMPLES)
    assert places(direct.findings)
    assert places(stored.findings, f"{projects}/") == places(direct.findings)


def test_a_catalog_converts_as_its_apps_do(projects: Path) -> None:
    stored = droidgate.convert(droidgate.read(projects), to="mcp")
    direct = droidgate.convert(droidgate.read(SAMPLES), to="mcp")
    assert stored.files == direct.files
    assert places(stored.findings, f"{projects}/") == places(direct.findings)


def test_a_catalog_does_not_differ_from_its_apps(projects: Path) -> None:
    assert not droidgate.diff(droidgate.read(SAMPLES), droidgate.read(projects)).all_changes()


def test_only_the_chosen_formats_of_a_catalog_are_read(projects: Path) -> None:
    read = droidgate.read(projects, formats=["mmcp"])
    assert {provider.protocol for provider in read} == {"mmcp"}


def test_strict_reading_refuses_what_the_scan_accepted_by_a_leniency(mixed: tuple[Path, Path]) -> None:
    folder, catalog = mixed
    assert places(droidgate.read(folder).findings, f"{folder}/")
    assert places(droidgate.read(catalog).findings, f"{catalog}/a/") == places(
        droidgate.read(folder).findings, f"{folder}/"
    )
    with pytest.raises(InputError, match="P05"):
        droidgate.read(catalog, strict=True)


def test_what_the_scan_could_not_read_is_a_problem_of_the_reading(mixed: tuple[Path, Path]) -> None:
    folder, catalog = mixed
    expected = [problem.message for problem in droidgate.read(folder).problems]
    assert [(problem.place, problem.message) for problem in droidgate.read(catalog).problems] == [
        (f"{catalog}/a/broken.apk", message) for message in expected
    ]


def test_a_shim_is_not_made_of_a_catalog(projects: Path) -> None:
    with pytest.raises(UsageError, match="a catalog has no APKs"):
        list(open_apps(str(projects)))


def test_the_file_in_a_catalog_is_scanned_as_the_catalog(projects: Path, tmp_path: Path) -> None:
    result = scan_into(tmp_path / "c", projects / "catalog.json")
    assert result.catalog.rows == Catalog.open(projects).rows


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schema": "someone/1"}', "\0" * 300])
def test_a_catalog_file_of_another_program_leaves_its_folder_a_folder(text: str, tmp_path: Path) -> None:
    shutil.copytree(SAMPLES / "tally", tmp_path / "tally")
    (tmp_path / "tally/catalog.json").write_text(text)
    assert [provider.protocol for provider in droidgate.read(tmp_path / "tally")] == ["mobile-mcp"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("declaration", "[]"),
        ("declaration", '{"protocol": "mcp"}'),
        ("declaration", '{"protocol": "no-such-format"}'),
        ("declaration", '{"protocol": "mobile-mcp", "capabilities": 7}'),
    ],
)
def test_a_catalog_with_a_broken_row_is_refused(
    column: str, value: str, projects: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "c"
    shutil.copytree(projects, folder)
    replace_values(Catalog.open(folder), "providers", column, value)
    with pytest.raises(InputError, match="a row of the catalog"):
        droidgate.read(folder)


def test_a_finding_of_no_known_level_is_refused(projects: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    shutil.copytree(projects, folder)
    replace_values(Catalog.open(folder), "findings", "level", "catastrophe")
    with pytest.raises(InputError, match="does not hold a finding"):
        droidgate.read(folder)


def test_a_format_that_is_not_installed_is_a_problem(projects: Path, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    shutil.copytree(projects, folder)
    replace_values(Catalog.open(folder), "providers", "protocol", "someone-elses")
    with pytest.raises(InputError, match="nothing in it can be read"):
        droidgate.read(folder)


def test_a_catalog_too_large_for_memory_is_refused(projects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(catalog_reading._MOST, "capabilities", 1)
    with pytest.raises(BudgetError, match="capabilities, and 1 are read at most"):
        droidgate.read(projects)


def replace_values(catalog: Catalog, table: str, column: str, value: str) -> None:
    """Write one value into every row of a column."""
    (path,) = catalog.paths_of(table)
    connection = catalog.connect()
    connection.execute(
        f"COPY (SELECT * REPLACE (CAST($1 AS VARCHAR) AS {column}) FROM {table}) "
        f"TO '{path}.new' (FORMAT parquet)",
        [value],
    )
    connection.close()
    Path(f"{path}.new").replace(path)
