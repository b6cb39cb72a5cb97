"""What is built installs our packages, all of them, and nothing else."""

import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from requirements_of_tests import CHECKOUT, GIT, require

pytestmark = pytest.mark.slow

PACKAGES = {
    "droidgate": "gateway",
    "droidgate_mobile_mcp": "adapters",
    "droidgate_mmcp": "adapters",
    "droidgate_appfunctions": "adapters",
    "droidgate_mcp": "adapters",
    "droidgate_observed": "adapters",
    "droidgate_android": "adapters",
    "droidgate_function_calling": "adapters",
    "droidgate_mobile_agent": "adapters",
    "droidgate_mappings": "mappings",
    "droidgate_phone": "device_shim",
    "droidgate_shim": "device_shim",
}
MOVED_INTO = {"droidgate_phone": {"apps": "app_sources"}}
PARTS_OF_THE_ARCHIVE = {
    "pyproject.toml",
    "Makefile",
    "LICENSE",
    "tests/conftest.py",
    "scripts/make_environment",
    "locks/dev.txt",
}
NOT_SHIPPED = {"__pycache__"}


def _run(*command: str | Path, cwd: Path | None = None) -> str:
    """Return what the command printed; it has to end well."""
    run = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


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


def _files_of_the_checkout(directory: Path) -> set[PurePosixPath]:
    return {
        PurePosixPath(path.relative_to(directory))
        for path in directory.rglob("*")
        if path.is_file() and NOT_SHIPPED.isdisjoint(path.parts)
    }


def _files_of_the_wheel(wheel: Path) -> set[PurePosixPath]:
    return {PurePosixPath(name) for name in zipfile.ZipFile(wheel).namelist()}


def test_wheel_installs_our_packages_only(wheel: Path) -> None:
    tops = {path.parts[0] for path in _files_of_the_wheel(wheel)}
    assert {top for top in tops if not top.endswith(".dist-info")} == PACKAGES.keys()
    assert {top for top in tops if top.endswith(".dist-info")} == {"droidgate-0.1.0.dist-info"}


@pytest.mark.parametrize("package", PACKAGES)
def test_wheel_has_every_file_of_the_package(wheel: Path, package: str) -> None:
    shipped = {path.relative_to(package) for path in _files_of_the_wheel(wheel) if path.parts[0] == package}
    in_checkout = _files_of_the_checkout(CHECKOUT / PACKAGES[package] / package)
    for source, target in MOVED_INTO.get(package, {}).items():
        in_checkout |= {target / path for path in _files_of_the_checkout(CHECKOUT / "device_shim" / source)}
    assert shipped == in_checkout
    assert PurePosixPath("py.typed") in shipped


def test_source_archive_has_what_builds_and_tests_it(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        names = {PurePosixPath(name).relative_to("droidgate-0.1.0") for name in opened.getnames()}
    assert {str(name) for name in names} >= PARTS_OF_THE_ARCHIVE
    assert not {path for path in names if path.parts and path.parts[0] in {".git", ".venv", "dist"}}


@pytest.mark.requires("git-checkout")
@pytest.mark.timeout(300)
def test_other_times_folders_permissions_and_locales_build_the_same_bytes(
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
    surroundings = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"}
    run = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", tmp_path / "again", copy],
        env={**os.environ, **surroundings},
        umask=0o077,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
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
    assert _run(scripts / "droidgate", "demo", cwd=tmp_path)
