"""The layers of the house hold, and every module of ours has its place in them."""

import subprocess
import sys
import tomllib
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

from requirements_of_tests import CHECKOUT

CONFIGURATION = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]
SOURCE_ROOTS = ("gateway", "adapters", "mappings", "device_shim")


def test_imports_keep_to_the_layers() -> None:
    command: list[str | Path] = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def _check_no_circle(*packages: str) -> None:
    """Raise CycleError if modules of these packages import each other in a circle.

    Imports inside functions and those for type checkers count.
    """
    graph = grimp.build_graph(*packages, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    TopologicalSorter(imports).prepare()


def test_no_modules_import_each_other_in_a_circle() -> None:
    _check_no_circle(*CONFIGURATION["root_packages"])


@pytest.mark.parametrize(
    "import_of_a",
    [
        "from circle_of_two import a",
        "def run():\n    from circle_of_two import a",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from circle_of_two import a",
    ],
)
def test_a_circle_is_found_however_late_its_import_is(
    import_of_a: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "circle_of_two"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "a.py").write_text("from circle_of_two import b\n")
    (package / "b.py").write_text(f"{import_of_a}\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(CycleError):
        _check_no_circle(package.name)


def _our_packages() -> list[Path]:
    return [path.parent for root in SOURCE_ROOTS for path in (CHECKOUT / root).glob("*/__init__.py")]


def test_every_package_of_ours_is_linted() -> None:
    assert sorted(CONFIGURATION["root_packages"]) == sorted(package.name for package in _our_packages())
