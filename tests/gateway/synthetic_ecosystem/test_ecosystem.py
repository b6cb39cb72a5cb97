"""Four hundred made-up apps: what they are, and that a scan with two processes finds what was put in."""

import importlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from droidgate.sources import read_source
from droidgate.sources.catalogs.catalog import Catalog
from gateway.coverage_scan.catalogs import ask, scan_into
from gateway.synthetic_ecosystem.ecosystem import PART, READ, UNREADABLE, Expected, make_ecosystem, read_truth
from requirements_of_tests import require

_DECLARED = """
SELECT s.source, p.protocol || '+' || p.dialect,
    (SELECT list(c.id ORDER BY c.capability) FROM capabilities c
     WHERE c.unit = p.unit AND c.provider = p.provider)
FROM sources s JOIN providers p USING (unit) WHERE s.outcome = 'read'
ORDER BY s.source, p.provider
"""


def scanned(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of the scan: the first one makes and scans the apps, which takes long next to others."""
    marked: Callable[..., None] = pytest.mark.slow(pytest.mark.timeout(900)(test))
    return marked


@pytest.fixture(scope="module")
def ecosystem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ecosystem")
    make_ecosystem(400, seed=11, folder=folder)
    yield folder
    # pytest keeps the folders of three runs, and this one is large.
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def truth(ecosystem: Path) -> list[Expected]:
    return list(read_truth(ecosystem))


@pytest.fixture(scope="module")
def catalog(ecosystem: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("scanned") / "catalog"
    return scan_into(folder, ecosystem / "apks", workers=2).catalog


@scanned
def test_every_file_is_a_row_with_its_outcome(catalog: Catalog, truth: list[Expected]) -> None:
    rows = ask(catalog, "SELECT source, outcome FROM sources ORDER BY source")
    assert rows == sorted((item.file, item.outcome) for item in truth)


@scanned
def test_broken_and_hostile_files_are_rows_with_a_reason(catalog: Catalog, truth: list[Expected]) -> None:
    where = "WHERE outcome NOT IN ('read', 'part') ORDER BY source"
    refused = ask(catalog, f"SELECT source, unit, reason FROM sources {where}")
    expected = sorted(item.file for item in truth if item.outcome == UNREADABLE)
    assert [source for source, _, _ in refused] == expected
    assert all(unit is None for _, unit, _ in refused)
    assert all(reason and "internal error" not in reason for _, _, reason in refused)
    reasons = {source: reason for source, _, reason in refused}
    kinds = {item.kind: reasons[item.file] for item in truth if item.outcome == UNREADABLE}
    assert "more than 16777216 bytes" in kinds["inflating manifest"]
    assert len(set(kinds.values())) >= 4


@scanned
def test_every_readable_app_is_a_row_with_its_facts(catalog: Catalog, truth: list[Expected]) -> None:
    rows = ask(
        catalog,
        "SELECT source, package, has_launcher FROM sources JOIN apps USING (unit) "
        "WHERE outcome = 'read' ORDER BY source",
    )
    assert rows == sorted(
        (item.file, item.package, item.has_launcher) for item in truth if item.outcome == READ
    )


@scanned
def test_every_app_has_exactly_the_capabilities_it_was_made_with(
    catalog: Catalog, truth: list[Expected]
) -> None:
    rows: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for source, protocol, ids in ask(catalog, _DECLARED):
        rows.setdefault(source, []).append((protocol, tuple(ids or ())))
    put_in = {
        item.file: [
            *zip(item.protocols, item.capabilities, strict=True),
            *((protocol, ()) for protocol in item.when_asked),
        ]
        for item in truth
        if item.outcome == READ and (item.protocols or item.when_asked)
    }
    assert {source: sorted(kept) for source, kept in rows.items()} == {
        source: sorted(kept) for source, kept in put_in.items()
    }
    assert sum(len(ids) for kept in put_in.values() for _, ids in kept) == catalog.rows["capabilities"] > 300


@scanned
def test_a_split_has_the_rows_of_its_base(catalog: Catalog, truth: list[Expected]) -> None:
    apart = ask(
        catalog,
        "SELECT s.source FROM sources s LEFT JOIN sources b ON b.unit = s.unit AND b.outcome = 'read' "
        "WHERE s.outcome = 'part' AND b.source IS NULL",
    )
    assert apart == []
    assert sum(item.outcome == PART for item in truth) >= 8


@scanned
def test_apps_that_hide_letters_are_marked(catalog: Catalog, truth: list[Expected]) -> None:
    marked = ask(
        catalog,
        "SELECT DISTINCT source FROM sources JOIN findings USING (unit) "
        "WHERE origin = 'security' AND code <> 'exported-without-permission' AND outcome = 'read' "
        "ORDER BY source",
    )
    hostile = [item.file for item in truth if item.kind == "words against models"]
    assert [source for (source,) in marked] == hostile != []


@pytest.mark.slow
def test_a_folder_of_synthetic_apps_is_read_as_it_was_made(tmp_path: Path) -> None:
    make_ecosystem(60, seed=11, folder=tmp_path)
    truth, reading = list(read_truth(tmp_path)), read_source(str(tmp_path / "apks"))
    rows = [
        (str(item.package), f"{item.protocol}+{item.dialect}", tuple(c.id for c in item.capabilities))
        for item in reading.providers
    ]
    assert sorted(rows) == sorted(
        (item.package, protocol, ids)
        for item in truth
        for protocol, ids in zip(item.protocols, item.capabilities, strict=True)
    )
    packages = sorted(item.package for item in truth if item.outcome == READ)
    assert sorted(str(item.package) for item in reading.applications) == packages
    refused = sorted(Path(str(problem.place).partition("!")[0]).name for problem in reading.problems)
    assert refused == sorted(Path(item.file).name for item in truth if item.outcome == UNREADABLE) != []


@pytest.mark.slow
def test_aapt_reads_the_same_packages_and_launchers(ecosystem: Path, truth: list[Expected]) -> None:
    aapt2 = require("aapt2")
    for item in _a_few(truth):
        run = subprocess.run(
            [aapt2, "dump", "badging", ecosystem / item.file], capture_output=True, text=True, check=False
        )
        assert f"package: name='{item.package}'" in run.stdout, item.file
        assert ("launchable-activity" in run.stdout) == item.has_launcher, item.file


@pytest.mark.slow
def test_androguard_finds_the_same_descriptors(ecosystem: Path, truth: list[Expected]) -> None:
    require("androguard")
    androguard_apk = importlib.import_module("androguard.core.apk")
    androguard_xml = importlib.import_module("androguard.core.axml")
    importlib.import_module("androguard.util").set_log("CRITICAL")
    speaking = [item for item in truth if "mobile-mcp+1.0" in item.protocols]
    shortened = [item for item in speaking if "short paths" in item.kind]
    assert shortened
    for item in (*speaking[:3], *shortened[:3]):
        apk = androguard_apk.APK(str(ecosystem / item.file))
        files = [path for path in apk.get_files() if path.startswith("res/") and path.endswith(".xml")]
        ids = [_ids_in(androguard_xml.AXMLPrinter(apk.get_file(path)).get_xml_obj()) for path in files]
        declared = dict(zip(item.protocols, item.capabilities, strict=True))
        assert apk.get_package() == item.package
        assert ids == [declared["mobile-mcp+1.0"]], item.file


def _ids_in(root: Any) -> tuple[str, ...]:
    return tuple(element.get("id") for element in root.iter("capability"))


def _a_few(truth: list[Expected]) -> list[Expected]:
    kinds: dict[str, Expected] = {}
    for item in truth:
        if item.outcome == READ and "climbing" not in item.kind:
            kinds.setdefault(item.kind, item)
    return list(kinds.values())
