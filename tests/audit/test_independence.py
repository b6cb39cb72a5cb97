"""The second side is one: what reads and judges here imports nothing of droidgate."""

import ast
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent
USES_DROIDGATE = {"conversions.py"}
INDEPENDENT = sorted(
    path.name
    for path in FOLDER.glob("*.py")
    if not path.name.startswith("test_") and path.name not in USES_DROIDGATE
)
ALLOWED = {*sys.stdlib_module_names, "audit", "lxml", "jsonschema"}


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(item.name for item in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("name", INDEPENDENT)
def test_a_reader_imports_only_lxml_json_and_this_folder(name: str) -> None:
    imported = imported_modules(FOLDER / name)
    assert {item.partition(".")[0] for item in imported} <= ALLOWED
    assert not imported & {f"audit.{item.removesuffix('.py')}" for item in USES_DROIDGATE}


def test_the_readers_are_among_the_independent_modules() -> None:
    assert {"readers.py", "audits.py", "made_descriptors.py", "made_values.py"} <= set(INDEPENDENT)
