"""The sample apps are found in a checkout and in an installation."""

from pathlib import Path

import pytest

from droidgate_phone import sample_apps


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder in which the module now believes to stand."""
    directory = tmp_path / "root" / "droidgate_phone"
    directory.mkdir(parents=True)
    monkeypatch.setattr(sample_apps, "__file__", str(directory / "sample_apps.py"))
    return directory


def test_installed_package_has_them_inside(package: Path) -> None:
    (package.parent / "apps").mkdir()
    (package / "app_sources").mkdir()
    assert sample_apps.sample_apps_directory() == package / "app_sources"


def test_checkout_has_them_next_to_the_package(package: Path) -> None:
    (package.parent / "apps").mkdir()
    assert sample_apps.sample_apps_directory() == package.parent / "apps"


@pytest.mark.usefixtures("package")
def test_damaged_installation_is_reported() -> None:
    with pytest.raises(FileNotFoundError, match="The sample apps are neither at"):
        sample_apps.sample_apps_directory()
