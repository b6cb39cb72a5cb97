"""What is built installs our packages, all of them, and nothing else."""

import os
import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from requirements_of_tests import CHECKOUT, GIT, require

pytestmark = pytest.mark.slow

PACKAGES = {
    path.parent.name: path.parts[-3]
    for root in ("gateway", "adapters", "mappings", "device_shim")
    for path in (CHECKOUT / root).glob("*/__init__.py")
}
SAMPLE_APPS = PurePosixPath("droidgate_shim/app_sources")


def _run(*command: str | Path, **options: Any) -> str:
    """Return what the command printed; it has to end well."""
    run: subprocess.CompletedProcess[str]
    run = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert run.returncode == 0, run.stdout + run.stderr
    output: str = run.stdout
    return output


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the source archive, and with the wheel that was built from that archive."""
    require("wheel-build")
    directory = tmp_path_factory.mktemp("built")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", directory, CHECKOUT)
    return directory


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


def _files_of(directory: Path) -> set[PurePosixPath]:
    return {
        PurePosixPath(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_wheel_has_every_file_of_our_packages_and_nothing_else(wheel: Path) -> None:
    expected: set[PurePosixPath] = set()
    for package, root in PACKAGES.items():
        expected |= {package / path for path in _files_of(CHECKOUT / root / package)}
        assert PurePosixPath(package, "py.typed") in expected
    expected |= {SAMPLE_APPS / path for path in _files_of(CHECKOUT / "device_shim/apps")}
    shipped = {PurePosixPath(name) for name in zipfile.ZipFile(wheel).namelist()}
    assert {path for path in shipped if path.parts[0] != "droidgate-0.1.0.dist-info"} == expected


@pytest.mark.requires("git-checkout")
@pytest.mark.timeout(300)
def test_time_folder_permissions_and_locale_do_not_change_the_bytes_of_a_wheel(
    built: Path, tmp_path: Path
) -> None:
    listed = _run(*GIT, "ls-files", "-z", "--cached", "--others", "--exclude-standard", cwd=CHECKOUT)
    copy = tmp_path / "another folder" / "of-another-name"
    for name in sorted((name for name in listed.split("\0") if (CHECKOUT / name).is_file()), reverse=True):
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(CHECKOUT / name, target)
        target.chmod(0o700 if os.access(CHECKOUT / name, os.X_OK) else 0o600)
        os.utime(target, (1_000_000_000, 1_000_000_000))
    surroundings = {**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    command = (sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path / "again", copy)
    _run(*command, env=surroundings, umask=0o077)
    first, second = (
        {path.name: path.read_bytes() for path in folder.iterdir()} for folder in (built, tmp_path / "again")
    )
    assert first.keys() == second.keys()
    assert [name for name in first if first[name] != second[name]] == []


@pytest.mark.requires("package-index")
@pytest.mark.timeout(300)
def test_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    scripts = environment / "bin"
    _run(scripts / "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    printed = _without_figures(_run(scripts / "droidgate", "demo", cwd=tmp_path))
    readme = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (report,) = [block for block in readme.split("```") if "Everything worked." in block]
    assert _without_figures(report) - printed == set()


def _without_figures(text: str) -> set[str]:
    """Return the lines of a text without what differs from run to run: times, widths of columns."""
    return {" ".join(re.sub(r"\d+$", "", line).split()) for line in text.splitlines()}
