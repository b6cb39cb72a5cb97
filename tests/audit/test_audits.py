"""The audit sees differences without findings and findings without differences, and is independent."""

import ast
import json
import sys
from pathlib import Path

import pytest

from audit.audits import compare, problems_of_leaves
from audit.declared import Declared, Finding, Renamed, Shape
from audit.readers import read_mcp
from titled_rows import titled


def declared(description: str, **properties: Shape) -> Declared:
    tool_list = read_mcp(json.dumps([{"name": "t", "description": description}]))
    tool_list.tools[0].input.properties = properties
    return tool_list


@titled(("findings", "kinds"), {
    "a difference without a finding": ((), ["unreported", "unreported"]),
    "each difference has a finding":
        (("/capabilities/0/input/properties/a/type/enum", "/capabilities/0/description"), []),
    "a finding without a difference":
        (("/capabilities/0/input/properties/a/type/enum", "/capabilities/0/description",
        "/capabilities/0/input/properties/b/type/kind"), ["false-alarm"]),
})  # fmt: skip
def test_the_audit_reports_differences_without_findings_and_the_reverse(
    findings: tuple[str, ...], kinds: list[str]
) -> None:
    source = declared("T", a=Shape("string", enum=["x"]), b=Shape("string"))
    target = declared('T ["x"]', a=Shape("string"), b=Shape("string"))
    reported = [Finding("c", "widened", item, "") for item in findings]
    assert [item.kind for item in problems_of_leaves(compare(source, target, reported, []))] == kinds


def test_a_text_reported_as_moved_has_to_be_in_the_target() -> None:
    source, target = declared("T", a=Shape("string", format="date")), declared("T.", a=Shape("string"))
    places = ("/capabilities/0/input/properties/a/type/format", "/capabilities/0/description")
    reported = [Finding("c", "moved", item, "") for item in places]
    rows = [(item.kind, item.pointer) for item in problems_of_leaves(compare(source, target, reported, []))]
    assert rows == [("not-in-text", places[0])]


def test_names_of_the_target_are_mapped_back_to_the_source() -> None:
    source, target = declared("T", **{"a b": Shape("string")}), declared("T", a_b=Shape("string"))
    renamed = [Renamed("/capabilities/0/input/properties/a b", "a b", "a_b")]
    assert not list(problems_of_leaves(compare(source, target, [], renamed)))
    assert [
        problems_of_leave.kind for problems_of_leave in problems_of_leaves(compare(source, target, [], []))
    ] == ["unreported"] * 4


# The second side is one: what reads and judges here imports nothing of droidgate

FOLDER = Path(__file__).resolve().parent
INDEPENDENT = sorted(path.name for path in FOLDER.glob("*.py") if not path.name.startswith("test_"))
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
    assert not any(item.startswith("audit.test_") for item in imported)
