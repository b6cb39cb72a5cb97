"""A thousand made-up apps are scanned with two processes; the catalog is held against the truth."""

from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.process_pool import PoolSettings
from droidgate.coverage.scan import ScanRequest, run_scan as scan
from droidgate.sources.catalogs.catalog import Catalog
from gateway.synthetic_ecosystem.apks import PART, READ, UNREADABLE, Expected

# The apps are made and scanned in the first test; both take long where other work goes on.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

_DECLARED = """
SELECT s.source, p.protocol || '+' || p.dialect,
    (SELECT list(c.id ORDER BY c.capability) FROM capabilities c
     WHERE c.unit = p.unit AND c.provider = p.provider)
FROM sources s JOIN providers p USING (unit) WHERE s.outcome = 'read'
ORDER BY s.source, p.provider
"""


@pytest.fixture(scope="module")
def catalog(ecosystem: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    folder = tmp_path_factory.mktemp("scanned") / "catalog"
    return scan(ScanRequest([str(ecosystem / "apks")], folder, PoolSettings(workers=2))).catalog


def _ask(catalog: Catalog, sql: str) -> list[tuple[Any, ...]]:
    connection = catalog.connect()
    rows: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
    connection.close()
    return rows


def test_every_file_is_a_row_with_the_outcome_that_it_should_have(
    catalog: Catalog, truth: list[Expected]
) -> None:
    found = _ask(catalog, "SELECT source, outcome FROM sources ORDER BY source")
    assert found == sorted((item.file, item.outcome) for item in truth)


def test_the_broken_and_the_hostile_files_are_rows_that_say_why(
    catalog: Catalog, truth: list[Expected]
) -> None:
    refused = _ask(
        catalog,
        "SELECT source, unit, reason FROM sources WHERE outcome NOT IN ('read', 'part') ORDER BY source",
    )
    assert [source for source, _, _ in refused] == sorted(
        item.file for item in truth if item.outcome == UNREADABLE
    )
    assert all(unit is None for _, unit, _ in refused)
    assert all(reason and "internal error" not in reason for _, _, reason in refused)
    said = {source: reason for source, _, reason in refused}
    kinds = {item.kind: said[item.file] for item in truth if item.outcome == UNREADABLE}
    assert "more than 16777216 bytes" in kinds["inflating manifest"]
    assert len(set(kinds.values())) >= 4


def test_every_readable_app_is_a_row_with_its_package_and_launcher(
    catalog: Catalog, truth: list[Expected]
) -> None:
    found = _ask(
        catalog,
        "SELECT source, package, has_launcher FROM sources JOIN apps USING (unit) "
        "WHERE outcome = 'read' ORDER BY source",
    )
    assert found == sorted(
        (item.file, item.package, item.has_launcher) for item in truth if item.outcome == READ
    )


def test_every_app_has_exactly_the_protocols_and_capabilities_that_were_put_in(
    catalog: Catalog, truth: list[Expected]
) -> None:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for source, protocol, ids in _ask(catalog, _DECLARED):
        found.setdefault(source, []).append((protocol, tuple(ids or ())))
    put_in = {
        item.file: [
            *zip(item.protocols, item.capabilities, strict=True),
            *((protocol, ()) for protocol in item.when_asked),
        ]
        for item in truth
        if item.outcome == READ and (item.protocols or item.when_asked)
    }
    assert {source: sorted(kept) for source, kept in found.items()} == {
        source: sorted(kept) for source, kept in put_in.items()
    }
    assert sum(len(ids) for kept in put_in.values() for _, ids in kept) == catalog.rows["capabilities"] > 300


def test_a_split_has_the_rows_of_its_base(catalog: Catalog, truth: list[Expected]) -> None:
    apart = _ask(
        catalog,
        "SELECT s.source FROM sources s LEFT JOIN sources b ON b.unit = s.unit AND b.outcome = 'read' "
        "WHERE s.outcome = 'part' AND b.source IS NULL",
    )
    assert apart == []
    assert sum(item.outcome == PART for item in truth) >= 8


def test_apps_that_hide_letters_are_marked(catalog: Catalog, truth: list[Expected]) -> None:
    marked = _ask(
        catalog,
        "SELECT DISTINCT source FROM sources JOIN findings USING (unit) "
        "WHERE origin = 'security' AND code <> 'exported-without-permission' AND outcome = 'read' "
        "ORDER BY source",
    )
    hostile = [item.file for item in truth if item.kind == "words against models"]
    assert [source for (source,) in marked] == hostile != []
