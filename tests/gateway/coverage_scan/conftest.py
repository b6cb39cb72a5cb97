"""One small ecosystem, scanned once."""

from pathlib import Path

import pytest

from droidgate.sources.catalogs.catalog import Catalog
from gateway.coverage_scan.catalogs import scan_into, write_apps


@pytest.fixture(scope="session")
def apps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_apps(tmp_path_factory.mktemp("ecosystem") / "apps")


@pytest.fixture(scope="session")
def catalog(apps: Path, tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    return scan_into(tmp_path_factory.mktemp("scanned") / "catalog", apps).catalog
