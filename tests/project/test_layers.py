"""The layers of the house hold, and every module of ours has its place in them."""

import subprocess
import sys
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

from requirements_of_tests import CHECKOUT

PACKAGES = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]


def test_imports_keep_to_the_layers() -> None:
    command: list[str | Path] = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions and those for type checkers count."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()


def test_every_package_of_ours_is_linted() -> None:
    roots = ("gateway", "adapters", "mappings", "device_shim")
    packages = [path.parent.name for root in roots for path in (CHECKOUT / root).glob("*/__init__.py")]
    assert sorted(PACKAGES) == sorted(packages)
