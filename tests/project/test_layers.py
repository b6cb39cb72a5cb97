"""The layers of the house hold, and every module of ours has its place in them."""

import subprocess
import sys
import tomllib
from collections import Counter
from graphlib import TopologicalSorter
from pathlib import Path

import grimp

from requirements_of_tests import CHECKOUT

ROOTS = ("gateway", "device_shim", "adapters", "mappings")
PARTS_OF_FORMATS = {
    *("format", "read", "write", "wire", "lint", "discovery", "handlers", "installed"),
    *("shell_calls", "shim_backend", "shim_frontend"),
}
"""What each format may have, and `droidgate_mappings.formats` defines."""

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


def test_a_module_name_occurs_once() -> None:
    paths = [path for root in ROOTS for path in (CHECKOUT / root).glob("droidgate*/**/*.py")]
    names = Counter(path.stem for path in paths if not path.stem.startswith("__"))
    assert {name for name, count in names.items() if count > 1} <= PARTS_OF_FORMATS


def test_every_package_of_ours_is_linted() -> None:
    packages = [path.parent.name for root in ROOTS for path in (CHECKOUT / root).glob("*/__init__.py")]
    assert sorted(PACKAGES) == sorted(packages)
