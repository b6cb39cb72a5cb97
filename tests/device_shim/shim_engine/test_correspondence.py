"""shim-engine.md, section 10: each part of one engine, and of one edge, has its name in the other."""

from __future__ import annotations

import ast
import importlib
import math
import pkgutil
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import droidgate_phone.apps.shim
import droidgate_shim.engine
from device_shim.shim_engine.jvm_core import ENGINE_SOURCES
from droidgate_phone.apps.shim.shown_text import Texts
from requirements_of_tests import CHECKOUT

PAGE = CHECKOUT / "docs" / "internals" / "shim-engine.md"
JAVA = ENGINE_SOURCES / "dev" / "droidgate" / "shim" / "core"
PYTHON = Path(droidgate_shim.engine.__path__[0])
MODULES = sorted(file.stem for file in PYTHON.glob("*.py") if file.stem != "__init__")
_ROW = re.compile(r"^\|(?: `([\w.]+)`)? \|(?: `([\w.]+)`)? \|", re.MULTILINE)
_MEMBER = re.compile(r"^    (?=\w)(?!private|return)(?:[\w<>\[\], ?]+ )(\w+)(?:\(| \{)", re.MULTILINE)

_ENGINES, _, _EDGES = PAGE.read_text(encoding="utf-8").partition("## 10. ")[2].partition("### 10.1 ")
EDGE = Path(droidgate_phone.apps.shim.__path__[0])
APP = CHECKOUT / "device_shim" / "android" / "app" / "src" / "main" / "java" / "dev" / "droidgate" / "shim"
CLASSES = {"Engine", "OpenCalls", "CallKey", "Rates", "Policy", "CallPermission"}
"""Classes whose methods are in the table, too."""
_LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*\+\s*"(?:[^"\\\n]|\\.)*")*')


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
            if isinstance(node, ast.ClassDef) and node.name in CLASSES:
                methods = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
                names += [f"{node.name}.{method}" for method in methods if not method.startswith("_")]
    return found


def alike() -> list[tuple[str, str]]:
    """Return the classes and methods with one name in both engines, which the table leaves out."""
    pairs = []
    for module, names in python_members().items():
        for name in names:
            holder, _, method = name.partition(".")
            first, *rest = method.split("_")
            member = first + "".join(item.title() for item in rest)
            if (JAVA / f"{holder}.java").is_file() and (not member or member in java_members(holder)):
                pairs.append((f"{module}.{name}", f"{holder}.{member}".rstrip(".")))
    return pairs


def edge_classes() -> list[str]:
    """Return the public classes of the Python edge, as the table has them."""
    return [
        f"{file.stem}.{node.name}"
        for file in sorted(EDGE.glob("*.py"))
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def java_classes() -> dict[str, Path]:
    """Return the classes of the Java edge by their names in the table."""
    files = {file.relative_to(APP).with_suffix("").as_posix(): file for file in APP.rglob("*.java")}
    return {name.replace("/", "."): file for name, file in files.items() if not name.startswith("platform/")}


def edge_alike() -> list[tuple[str, str]]:
    """Return the classes with one name in both edges, which the table leaves out."""
    by_name = {java.rpartition(".")[2]: java for java in java_classes()}
    names = ((python, python.rpartition(".")[2]) for python in edge_classes())
    return [(python, by_name[name]) for python, name in names if name in by_name]


LISTED, EDGE_LISTED = ([row for row in _ROW.findall(part) if any(row)] for part in (_ENGINES, _EDGES))
ROWS = [*LISTED, *alike()]
EDGE_ROWS = [*EDGE_LISTED, *edge_alike()]

PYTHON_NAMES = {
    *(f"{'droidgate_shim.engine.' * (name.partition('.')[0] in MODULES)}{name}" for name, _ in ROWS if name),
    *(f"{droidgate_phone.apps.shim.__name__}.{name}" for name, _ in EDGE_ROWS if name),
}


@pytest.mark.parametrize("name", sorted(PYTHON_NAMES))
def test_a_python_name_of_the_tables_exists(name: str) -> None:
    assert pkgutil.resolve_name(name) is not None


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


def test_methods_have_the_same_order_in_both() -> None:
    places: dict[str, list[int]] = defaultdict(list)
    pairs = dict(ROWS)
    for module, names in python_members().items():
        for name in names:
            holder, _, member = pairs.get(f"{module}.{name}", "").partition(".")
            if "." in name and member:
                places[holder].append(java_members(holder).index(member))
    assert len(places["Engine"]) > 8
    assert {holder: at for holder, at in places.items() if at != sorted(at)} == {}


# The edges


def python_texts() -> list[tuple[str, str]]:
    """Return the texts of several words in the Python edge's code, each with its module."""
    found = []
    for file in sorted(EDGE.glob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
                found += [(file.stem, node.value)] if len(node.value.split()) > 2 else []
    return found


def java_texts() -> str:
    """Return the texts in the Java code, one a line; one that a value divides is several."""
    sources = [*APP.rglob("*.java"), *JAVA.glob("*.java")]
    joined = (_LITERALS.findall(file.read_text(encoding="utf-8")) for file in sources)
    return "\n".join(re.sub(r'"\s*\+\s*"', "", text)[1:-1] for texts in joined for text in texts)


def java_numbers(path: Path) -> dict[str, int]:
    """Return the constant numbers of a Java class by name."""
    text = path.read_text(encoding="utf-8")
    written = re.findall(r"static final (?:int|long) (\w+) =\s+([\d_ *<]+);", text)
    factors = {name: [part.partition("<<") for part in value.split("*")] for name, value in written}
    return {
        name: math.prod(int(number) << int(shift or 0) for number, _, shift in parts)
        for name, parts in factors.items()
    }


def test_the_table_has_each_class_of_both_edges() -> None:
    assert {java for _, java in EDGE_ROWS if java} == set(java_classes())
    assert {*edge_classes()} - {python for python, _ in EDGE_ROWS} == set()


def test_classes_and_methods_with_one_name_in_both_are_found() -> None:
    assert min(len(alike()), len(edge_alike())) > 20


@pytest.mark.parametrize("name", [text.name for text in Texts])
def test_people_read_the_same_in_both(name: str) -> None:
    text = (APP / "windows" / "Texts.java").read_text(encoding="utf-8")
    assert re.search(rf'String {name} =\s+"{re.escape(Texts[name])}";', text)


PYTHON_ONLY = {
    "Error: invalid_argument: the parameters are not a JSON object": "in Java the engine reads them",
    "the argument is not a JSON object": "in Java the text has two parts",
    "the shim's process ended": "in Java the computer's side sees that",
    "the shim did not answer in time": "in Java nothing waits for the main thread",
    "package, function and document are needed": "in Java what is missing fails as it is used",
    "app is in background": "Android's own words",
}
"""Texts of the Python edge that Java has in another place, and why."""


@pytest.mark.parametrize(("module", "text"), python_texts(), ids=str)
def test_an_agent_or_a_computer_reads_the_same_of_both(module: str, text: str) -> None:
    assert text in java_texts() or text in PYTHON_ONLY, module


# Limits of both

_LIMIT = re.compile(r"_?(?:MAX|MOST|LONGEST|MESSAGE)_\w+|\w+_(?:MS|UNITS|SECONDS)|VERSION|FORMAT")
PYTHON_ONLY_LIMITS = {
    "partial_json._MOST_DEPTH": "in Java eight times that of what is read in full",
    "host_provider._PATIENCE_MS": "in Java each command waits for itself",
}
"""Limits in Python that Java does not have, and why."""


def limits() -> list[tuple[str, int, list[Path]]]:
    """Return each limit of the Python engine and edge, with the Java classes that are its module's."""
    found = []
    modules = re.findall(r"^\| ((?:`[a-z_.]+`(?:, )?)+) \| (.*) \|$", _ENGINES, re.MULTILINE)
    classes = {
        name: re.findall(r"`(\w+)`", java) for names, java in modules for name in names[1:-1].split("`, `")
    }
    for package in (droidgate_shim.engine, droidgate_phone.apps.shim):
        for file in sorted(Path(package.__path__[0]).glob("[a-z]*.py")):
            module = importlib.import_module(f"{package.__name__}.{file.stem}")
            files = [APP / "platform" / "Names.java"]
            files += [JAVA / f"{name}.java" for name in classes.get(file.stem, [])]
            rows = (java for python, java in EDGE_ROWS if java and python.partition(".")[0] == file.stem)
            files += [java_classes()[java] for java in rows]
            # Constants are annotated; what is imported from another module is not.
            for name in getattr(module, "__annotations__", {}):
                value = getattr(module, name, None)
                if isinstance(value, int) and _LIMIT.fullmatch(name):
                    found.append((f"{file.stem}.{name}", value, files))
    return found


@pytest.mark.parametrize(("name", "value", "counterparts"), limits(), ids=[row[0] for row in limits()])
def test_a_limit_has_its_name_and_value_in_both(name: str, value: int, counterparts: list[Path]) -> None:
    constant = name.rpartition(".")[2].lstrip("_")
    found = {numbers[constant] for numbers in map(java_numbers, counterparts) if constant in numbers}
    assert found == (set() if name in PYTHON_ONLY_LIMITS else {value})


def test_there_are_limits_to_compare_and_each_exception_is_one() -> None:
    assert len(limits()) > 35
    assert PYTHON_ONLY_LIMITS.keys() <= {name for name, _, _ in limits()}
