"""Each module that the wheel installs is reached by a command, by a format or by the Python API."""

import ast
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp

from requirements_of_tests import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
FORMATS = PROJECT["project"]["entry-points"]["droidgate.formats"]
ENTRIES = ("droidgate", "droidgate.__main__", *PROJECT["project"]["scripts"].values(), *FORMATS.values())
COMMANDS_OF_THE_PHONE = "droidgate_phone.commands"
"""A package whose registry names the modules in it by their last name."""


@cache
def graph() -> grimp.ImportGraph:
    packages = PROJECT["tool"]["importlinter"]["root_packages"]
    return grimp.build_graph(*packages, cache_dir=None)


def parents(module: str) -> Iterator[str]:
    """Yield the packages that Python imports before a module."""
    while "." in module:
        module = module.rpartition(".")[0]
        yield module


def path_of(module: str) -> Path:
    name = module.replace(".", "/")
    paths = (CHECKOUT / root / name for root in ("gateway", "adapters", "mappings", "device_shim"))
    return next(
        file for path in paths for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()
    )


@cache
def imported_late(module: str) -> set[str]:
    """Return the modules that a module names as texts, as `module` or `module:function`."""
    tree = ast.parse(path_of(module).read_text(encoding="utf-8"))
    texts = {
        node.value.partition(":")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    if module.startswith(f"{COMMANDS_OF_THE_PHONE}."):
        texts |= {f"{COMMANDS_OF_THE_PHONE}.{text}" for text in texts}
    return texts & graph().modules


def reached_from(entries: Iterable[str]) -> set[str]:
    pending = {entry.partition(":")[0] for entry in entries}
    reached: set[str] = set()
    while pending:
        module = pending.pop()
        reached.add(module)
        found = {*graph().find_modules_directly_imported_by(module), *parents(module)}
        pending |= (found | imported_late(module)) - reached
    return reached


def test_every_module_of_the_wheel_is_reached() -> None:
    assert graph().modules - reached_from(ENTRIES) == set()


def test_a_format_without_its_entry_point_is_not_reached() -> None:
    others = [entry for entry in ENTRIES if not entry.startswith("droidgate_observed.")]
    assert "droidgate_observed.format" not in reached_from(others)
