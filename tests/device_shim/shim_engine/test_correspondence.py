"""shim-engine.md, section 10: each part of one engine has its name in the other."""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import droidgate_shim.engine
from device_shim.shim_engine.jvm_core import ENGINE_SOURCES
from requirements_of_tests import CHECKOUT

PAGE = CHECKOUT / "docs" / "internals" / "shim-engine.md"
JAVA = ENGINE_SOURCES / "dev" / "droidgate" / "shim" / "core"
PYTHON = Path(droidgate_shim.engine.__path__[0])
MODULES = sorted(file.stem for file in PYTHON.glob("*.py") if file.stem != "__init__")
_ROW = re.compile(r"^\|(?: `([\w.]+)`)? \|(?: `([\w.]+)`)? \|", re.MULTILINE)
_MEMBER = re.compile(r"^    (?=\w)(?!private|return)(?:[\w<>\[\], ?]+ )(\w+)(?:\(| \{)", re.MULTILINE)

ROWS = [
    (python, java)
    for python, java in _ROW.findall(PAGE.read_text(encoding="utf-8").partition("## 10. ")[2])
    if python or java
]


@cache
def java_members(name: str) -> tuple[str, ...]:
    """Return the names of a class's members that are not private, in their order and each once."""
    text = re.sub(r"(?s)/\*.*?\*/", "", (JAVA / f"{name}.java").read_text(encoding="utf-8"))
    nested = re.findall(r"(?m)^    (?:\w+ )*(?:class|interface) (\w+)", text)
    return tuple(dict.fromkeys([*nested, *_MEMBER.findall(text)]))


def python_members() -> dict[str, list[str]]:
    """Return module -> its public functions, classes and methods, in their order, as the table has them."""
    found: dict[str, list[str]] = {}
    for module in MODULES:
        tree = ast.parse((PYTHON / f"{module}.py").read_text(encoding="utf-8"))
        names = found[module] = []
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                names.append(node.name)
            if isinstance(node, ast.ClassDef) and node.name in {
                "Engine",
                "OpenCalls",
                "CallKey",
                "Rates",
                "Policy",
                "CallPermission",
            }:
                names += [
                    f"{node.name}.{item.name}"
                    for item in node.body
                    if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")
                ]
    return found


def resolve(name: str) -> object:
    """Return the object behind a Python name of the table."""
    parts = name.split(".")
    if parts[0] in MODULES:
        parts = ["droidgate_shim", "engine", *parts]
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("name", sorted({python for python, _ in ROWS if python}))
def test_a_python_name_of_the_table_exists(name: str) -> None:
    assert resolve(name) is not None


@pytest.mark.parametrize("name", sorted({java for _, java in ROWS if java}))
def test_a_java_name_of_the_table_exists(name: str) -> None:
    holder, _, member = name.partition(".")
    assert not member or member in java_members(holder)
    assert (JAVA / f"{holder}.java").is_file()


def test_the_table_has_each_public_name_of_the_python_engine() -> None:
    listed = {python for python, _ in ROWS}
    public = {f"{module}.{name}" for module, names in python_members().items() for name in names}
    assert public - listed == set()
    assert len(public) > 60


def test_the_table_has_each_class_of_the_java_core() -> None:
    listed = {java.partition(".")[0] for _, java in ROWS}
    assert {file.stem for file in JAVA.glob("*.java")} - listed == set()


@pytest.mark.parametrize("holder", ["Engine", "OpenCalls"])
def test_the_table_has_each_method_of_a_java_class_that_is_the_same_in_python(holder: str) -> None:
    listed = {java for _, java in ROWS}
    ours = {f"{holder}.{java_member}" for java_member in java_members(holder) if java_member[0].islower()}
    assert ours - listed == set()


def test_methods_have_the_same_names_in_both() -> None:
    pairs = [
        (python.rpartition(".")[2], java.rpartition(".")[2])
        for python, java in ROWS
        if python.count(".") == 2
        and java
        and not python.startswith("droidgate")
        and python != "authority.Policy.has_grants"
    ]
    assert len(pairs) > 15
    for python, java in pairs:
        first, *rest = python.split("_")
        assert first + "".join(item.title() for item in rest) == java


def test_methods_are_in_the_same_order_in_both() -> None:
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    members = python_members()
    for python, java in ROWS:
        if python.count(".") == 2 and java and not python.startswith("droidgate"):
            module, _, name = python.partition(".")
            holder, _, member = java.partition(".")
            pairs[holder].append((members[module].index(name), java_members(holder).index(member)))
    assert len(pairs["Engine"]) > 8
    for places in pairs.values():
        assert all(item[0] < other[0] and item[1] <= other[1] for item, other in pairwise(places))
