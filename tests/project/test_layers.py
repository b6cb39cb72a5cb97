"""The layers of the house hold, and every module of ours has its place in them."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT

CONFIGURATION = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
SOURCE_ROOTS = ("gateway", "adapters", "mappings", "device_shim")
# Leaves, which import nothing of ours.
WITHOUT_LAYER = {"droidgate_phone.sample_apps"}


def test_imports_keep_to_the_layers() -> None:
    command: list[str | Path] = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def _modules_in_layers() -> set[str]:
    (contract,) = [one for one in CONFIGURATION["contracts"] if one["type"] == "layers"]
    return {name for layer in contract["layers"] for name in re.findall(r"[\w.]+", layer)}


def _our_packages() -> list[Path]:
    return [path.parent for root in SOURCE_ROOTS for path in (CHECKOUT / root).glob("*/__init__.py")]


def test_every_package_of_ours_is_linted() -> None:
    assert sorted(CONFIGURATION["root_packages"]) == sorted(package.name for package in _our_packages())


@pytest.mark.parametrize("package", _our_packages(), ids=lambda package: package.name)
def test_every_module_has_its_layer(package: Path) -> None:
    layers = _modules_in_layers()
    if package.name in layers:
        return
    paths = [path for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    modules = {f"{package.name}.{path.stem}" for path in paths if path.name != "__init__.py"}
    assert modules <= layers | WITHOUT_LAYER
