"""Files that others wrote, and the sample apps: what is found in them is pinned."""

import importlib.util
import tarfile
from pathlib import Path

import pytest

from gateway.coverage_scan.catalogs import ask, scan_into
from requirements_of_tests import CHECKOUT, require

APP = "SELECT package, minimum_sdk, has_launcher, components, len(signers) FROM apps"
SAMPLE = "dev.droidgate.sample."


@pytest.mark.slow
def test_the_corpus_gives_the_same_counts_as_ever(tmp_path: Path) -> None:
    folders = [require("corpus") / name for name in ("appfunctions", "mmcp", "mobile_mcp", "other")]
    result = scan_into(tmp_path / "c", *folders, workers=2)
    assert result.outcomes == {"no-descriptor": 41, "read": 164, "unreadable": 3}
    counts = "count(*), count(DISTINCT unit), sum(capabilities)"
    providers = f"SELECT protocol, {counts} FROM providers GROUP BY 1 ORDER BY 1"
    assert ask(result.catalog, providers) == [
        ("appfunctions", 97, 94, 164),
        ("function-calling", 4, 4, 5),
        ("mmcp", 12, 12, 11),
        ("mobile-mcp", 11, 11, 24),
        ("observed", 24, 19, 6),
    ]
    assert ask(result.catalog, "SELECT count(*) FROM apps") == [(66,)]
    findings = "SELECT origin, count(*) FROM findings GROUP BY 1 ORDER BY 1"
    assert ask(result.catalog, findings) == [("lint", 431), ("reading", 118), ("security", 26)]
    levels = "SELECT level, count(*) FROM conversions WHERE target = 'mcp+2025-11-25' GROUP BY 1 ORDER BY 1"
    assert ask(result.catalog, levels) == [("dropped", 4), ("exact", 49), ("renamed", 157)]


@pytest.mark.slow
def test_the_sample_apps_give_the_same_counts_as_ever(tmp_path: Path) -> None:
    result = scan_into(tmp_path / "c", CHECKOUT / "device_shim/apps")
    assert result.outcomes == {"read": 7}
    declared = (
        "SELECT a.package, has_launcher, protocol, dialect, capabilities "
        "FROM apps a LEFT JOIN providers p USING (unit) ORDER BY ALL"
    )
    assert ask(result.catalog, declared) == [
        (SAMPLE + "agent", True, None, None, None),
        (SAMPLE + "clockin", True, "mobile-mcp", "1.0", 3),
        (SAMPLE + "notes", True, "appfunctions", "v2", 8),
        (SAMPLE + "notes.legacy", False, "appfunctions", "platform", 1),
        (SAMPLE + "pdftool", False, "mmcp", "1.0", 5),
        (SAMPLE + "tally", False, "mobile-mcp", "1.0", 3),
        (SAMPLE + "weather", True, "mmcp", "broadcast", 0),
    ]


@pytest.mark.requires("uiautomator2")
def test_an_apk_inside_a_package_of_the_python_index_is_an_app_without_tools(tmp_path: Path) -> None:
    found = importlib.util.find_spec("uiautomator2")
    assert found is not None
    assert found.origin is not None
    result = scan_into(tmp_path / "c", Path(found.origin).parent / "assets")
    assert ask(result.catalog, APP) == [("com.github.uiautomator", 19, True, 6, 1)]
    assert result.catalog.rows["capabilities"] == 0


@pytest.mark.slow
@pytest.mark.requires("appium-settings")
def test_an_apk_inside_a_package_of_the_node_index_is_an_app_without_tools(tmp_path: Path) -> None:
    with tarfile.open(require("appium-settings")) as archive:
        archive.extractall(tmp_path / "package", filter="data")
    result = scan_into(tmp_path / "c", tmp_path / "package")
    assert result.outcomes == {"no-descriptor": 1, "read": 1}
    assert ask(result.catalog, APP) == [("io.appium.settings", 26, True, 19, 1)]
    assert result.catalog.rows["capabilities"] == 0
