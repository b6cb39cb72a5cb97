"""Each module that the wheel installs is reached by a command, by a format or by the Python API."""

import ast
import tomllib
from importlib.util import find_spec
from pathlib import Path

import grimp

from requirements_of_tests import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))
FORMATS = PROJECT["project"]["entry-points"]["droidgate.formats"]
ENTRIES = ("droidgate", "droidgate.__main__", *PROJECT["project"]["scripts"].values(), *FORMATS.values())
COMMANDS_OF_THE_PHONE = "droidgate_phone.commands"
"""A package whose registry names the modules in it by their last name."""


def texts_of(module: str) -> set[str]:
    """Return the texts of a module; some are modules that it imports late: `module` or `module:function`."""
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    nodes = ast.walk(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    if module.startswith(f"{COMMANDS_OF_THE_PHONE}."):
        texts |= {f"{COMMANDS_OF_THE_PHONE}.{text}" for text in texts}
    return {text.partition(":")[0] for text in texts}


def test_every_module_of_the_wheel_is_reached() -> None:
    graph = grimp.build_graph(*PROJECT["tool"]["importlinter"]["root_packages"], cache_dir=None)
    pending = {entry.partition(":")[0] for entry in ENTRIES}
    reached: set[str] = set()
    while pending:
        module = pending.pop()
        reached.add(module)
        found = graph.find_modules_directly_imported_by(module) | (texts_of(module) & graph.modules)
        pending |= (found | {module.rpartition(".")[0]}) - reached - {""}
    assert graph.modules - reached == set()
