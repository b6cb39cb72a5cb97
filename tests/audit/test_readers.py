"""The independent readers, each on one text typed by hand from its specification."""

import ast
import json
import sys
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

from audit.audits import compare, problems_of_leaves
from audit.declared import Declared, Finding, Renamed, Shape, Spelling, leaves_of, speaks_of, split
from audit.made_values import Declaration
from audit.readers import (
    read_appfunctions,
    read_mcp,
    read_mmcp,
    read_mobile_mcp,
    read_root,
    resource_values,
    text_of,
)
from titled_rows import titled

MANIFEST = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example">'
    "<application>{}</application></manifest>"
)
STRINGS = "<resources><string name='app'>My \\'app\\'</string></resources>"


def shape_of(schema: Any) -> Shape:
    return read_root(schema, {}, [])


def test_mcp_tools_are_read_with_hints_schemas_and_definitions() -> None:
    tool = {
        "name": "add",
        "description": "Add",
        "inputSchema": {
            "type": "object",
            "properties": {"who": {"$ref": "#/$defs/P"}, "n": {"type": "integer", "minimum": 1}},
            "required": ["n"],
            "$defs": {"P": {"type": "string", "enum": ["a"]}},
        },
        "annotations": {"readOnlyHint": True, "title": "Adds"},
    }
    assert leaves_of(read_mcp(json.dumps({"tools": [tool]}))) == {
        "/capabilities/0/id": "add",
        "/capabilities/0/title": "Adds",
        "/capabilities/0/description": "Add",
        "/capabilities/0/effects/read_only": True,
        "/capabilities/0/input/kind": "object",
        "/capabilities/0/input/properties/who/required": False,
        "/capabilities/0/input/properties/who/type/kind": "ref",
        "/capabilities/0/input/properties/who/type/name": "P",
        "/capabilities/0/input/properties/n/required": True,
        "/capabilities/0/input/properties/n/type/kind": "int64",
        "/capabilities/0/input/properties/n/type/keywords/minimum": 1,
        "/definitions/P/kind": "string",
        "/definitions/P/enum": ["a"],
    }


@pytest.mark.parametrize("wrap", [lambda tools: tools, lambda tools: {"result": {"tools": tools}}])
def test_mcp_tools_are_found_in_arrays_and_responses(wrap: Any) -> None:
    assert [tool.id for tool in read_mcp(json.dumps(wrap([{"name": "a"}]))).tools] == ["a"]


def test_an_mmcp_activity_is_read_with_its_access_rules() -> None:
    text = json.dumps({"instructions": 'Say "hi"', "tools": [{"name": "t", "return": {"m": "String"}}]})
    value = quoteattr(text.replace("\\", "\\\\"))
    component = (
        '<activity android:name=".A" android:exported="false" android:permission="p.Q" '
        'android:enabled="@bool/on">'
        '<intent-filter><action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE" /></intent-filter>'
        f'<meta-data android:name="mMCP_manifest" android:value={value} /></activity>'
    )
    files = {
        "AndroidManifest.xml": MANIFEST.format(component),
        "res/values/b.xml": "<resources><bool name='on'>false</bool></resources>",
        "res/values-v36/b.xml": "<resources><bool name='on'>true</bool></resources>",
    }
    assert leaves_of(read_mmcp(files)) == {
        "/package": "com.example",
        "/component": ".A",
        "/instructions": 'Say "hi"',
        "/access/exported": False,
        "/access/enabled": {"": False, "v36": True},
        "/access/permission": "p.Q",
        "/capabilities/0/id": "t",
        "/capabilities/0/input/kind": "object",
        "/capabilities/0/output/kind": "object",
        "/capabilities/0/output/properties/m/required": True,
        "/capabilities/0/output/properties/m/type/kind": "string",
    }


def test_a_mobile_mcp_service_is_read_with_its_descriptor() -> None:
    component = (
        '<service android:name=".S"><intent-filter><action android:name="mobile.mcp.SERVICE" />'
        "</intent-filter>"
        '<meta-data android:name="mobile.mcp.tool.name" android:value="@string/app" />'
        '<meta-data android:name="mobile.mcp.tool.description" android:value="2.1" />'
        '<meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/caps" /></service>'
    )
    capability = (
        '<mobile-mcp-capabilities version="1.0"><capability id="c" description="C" version="3">'
        '<input><param name="d" type="String" required="true" description="D" /></input>'
        '<output><param name="o" type="integer" description="O" /></output></capability>'
        "</mobile-mcp-capabilities>"
    )
    files = {
        "AndroidManifest.xml": MANIFEST.format(component),
        "res/xml/caps.xml": capability,
        "res/values/s.xml": STRINGS,
    }
    assert leaves_of(read_mobile_mcp(files)) == {
        "/package": "com.example",
        "/component": ".S",
        "/name": "My 'app'",
        "/description": "2.1",
        "/capabilities/0/id": "c",
        "/capabilities/0/description": "C",
        "/capabilities/0/version": "3",
        "/capabilities/0/input/kind": "object",
        "/capabilities/0/input/properties/d/required": True,
        "/capabilities/0/input/properties/d/type/kind": "string",
        "/capabilities/0/input/properties/d/type/description": "D",
        "/capabilities/0/output/kind": "object",
        "/capabilities/0/output/properties/o/required": True,
        "/capabilities/0/output/properties/o/type/kind": "int64",
        "/capabilities/0/output/properties/o/type/description": "O",
    }


def test_app_functions_are_read_with_types_by_number_and_access_rules() -> None:
    component = (
        '<service android:name=".F" android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">'
        '<property android:name="android.app.appfunctions.v2" android:value="f.xml" />'
        '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService" />'
        "</intent-filter></service>"
    )
    reference = "<dataTypeReference>P</dataTypeReference><isNullable>true</isNullable><type>11</type>"
    function = (
        "<appfunction><id>f</id><enabledByDefault>false</enabledByDefault><accessLevel>system</accessLevel>"
        f"<parameters><dataTypeMetadata>{reference}</dataTypeMetadata><isRequired>true</isRequired><name>p</name>"
        "<description>P it is</description></parameters>"
        "<response><valueType><type>0</type></valueType></response>"
        "<schemaVersion>2</schemaVersion><functionId>f</functionId></appfunction>"
    )
    entry = (
        "<dataTypes><dataTypeMetadata><isNullable>true</isNullable><enumValues>0</enumValues><type>7</type>"
        "</dataTypeMetadata><name>P</name></dataTypes>"
    )
    components = f"<AppFunctionComponentMetadataDocument>{entry}</AppFunctionComponentMetadataDocument>"
    files = {
        "AndroidManifest.xml": MANIFEST.format(component),
        "assets/f.xml": f"<appfunctions>{function}{components}</appfunctions>",
    }
    assert leaves_of(read_appfunctions(files)) == {
        "/package": "com.example",
        "/component": ".F",
        "/access/permission": "android.permission.EXECUTE_APP_FUNCTIONS",
        "/capabilities/0/id": "f",
        "/capabilities/0/access/enabled_by_default": False,
        "/capabilities/0/access/access_level": "system",
        "/capabilities/0/extensions/appfunctions/schemaVersion": 2,
        "/capabilities/0/input/kind": "object",
        "/capabilities/0/input/properties/p/required": True,
        "/capabilities/0/input/properties/p/type/kind": "ref",
        "/capabilities/0/input/properties/p/type/name": "P",
        "/capabilities/0/input/properties/p/type/nullable": True,
        "/capabilities/0/input/properties/p/type/description": "P it is",
        "/capabilities/0/output/kind": "null",
        "/definitions/P/kind": "int32",
        "/definitions/P/enum": [0],
    }


@titled(("schema", "kind", "nullable"), {
    "a list with null may be null": ({"type": ["string", "null"]}, "string", True),
    "an enum without null may not be null": ({"type": ["string", "null"], "enum": ["a"]}, "string", False),
    "an enum with null may be null": ({"type": ["string", "null"], "enum": ["a", None]}, "string", True),
    "null in any-of": ({"anyOf": [{"type": "integer", "format": "int32"}, {"type": "null"}]}, "int32", True),
    "one schema in all-of": ({"title": "T", "allOf": [{"type": "number"}]}, "double", False),
    "the bounds of int32 change nothing":
        ({"type": "integer", "format": "int32", "minimum": -(2**31), "maximum": 2**31 - 1}, "int32", False),
    "one of two types": ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, "one-of", False),
    "a list of types": ({"type": ["string", "number"]}, "any", False),
    "an empty schema": ({}, "any", False),
})  # fmt: skip
def test_a_schema_has_one_kind(schema: Any, kind: str, nullable: bool) -> None:  # noqa: FBT001
    shape = shape_of(schema)
    assert (shape.kind, shape.nullable) == (kind, nullable)


def test_a_choice_of_one_is_read_as_its_member_and_findings_about_it_are_found() -> None:
    shape = shape_of({"anyOf": [{"allOf": [{"type": "string", "enum": ["a"]}]}, {"type": "null"}]})
    assert shape.enum == ["a"]
    spelling = Spelling()
    spelling.add(shape, "/definitions/D")
    assert spelling.placed("/definitions/D/alternatives/0/members/0/enum") == "/definitions/D/enum"


def test_a_choice_inside_a_choice_of_one_keeps_its_alternatives() -> None:
    inner = {"anyOf": [{"type": "string"}, {"type": "integer", "multipleOf": 5}]}
    spelling = Spelling()
    spelling.add(shape_of({"anyOf": [inner, {"type": "null"}]}), "/definitions/D")
    place = "/definitions/D/alternatives/0/alternatives/1/keywords/multipleOf"
    assert spelling.placed(place) == "/definitions/D/alternatives/1/keywords/multipleOf"


def test_alternatives_are_counted_without_null() -> None:
    shape = shape_of({"anyOf": [{"type": "null"}, {"type": "string"}, {"type": "boolean"}]})
    assert [(steps, inner.kind) for steps, inner in shape.steps()] == [
        ("alternatives/0", "string"),
        ("alternatives/1", "boolean"),
    ]
    assert shape.nullable


def test_a_pointer_is_split_at_its_type() -> None:
    place = "/capabilities/0/input/properties/a~1b/type/items"
    assert split(f"{place}/keywords/minItems") == (place, "keywords/minItems")
    assert split("/access/permission") == ("/access", "permission")


@pytest.mark.parametrize(("finding", "leaf", "expected"), [
    ("/definitions/D/kind", "/definitions/D/kind", True),
    ("/definitions/D/keywords/type", "/definitions/D/kind", True),
    ("/definitions/D/keywords/anyOf", "/definitions/D/alternatives/0/enum", True),
    ("/definitions/D/kind", "/definitions/D/properties/a/type/enum", False),
    ("/definitions/D/description", "/definitions/D/kind", False),
    ("/definitions/D/keywords/additionalProperties", "/definitions/D/properties/a/required", False),
    ("/definitions/D/properties/a/type/kind", "/definitions/D/properties/b/type/kind", False),
])  # fmt: skip
def test_a_finding_speaks_of_its_leaf_and_of_what_it_replaces(
    finding: str,
    leaf: str,
    expected: bool,  # noqa: FBT001
) -> None:
    assert speaks_of(finding, leaf) is expected


def test_resources_are_resolved_as_on_a_device() -> None:
    files = {"res/values/s.xml": '<resources><string name="t">"a  b"  \\u0041 \\\\"</string></resources>'}
    assert resource_values(files, "string", "t") == {"": "a  b A \\"}
    assert text_of("@string/t", files) == "a  b A \\"
    assert text_of("\\@x\\ny", files) == "@x\ny"


@titled(("shape", "value", "expected"), {
    "int32 stops at 31 bits": (Shape("int32"), 2**31, False),
    "int64 has more": (Shape("int64"), 2**31, True),
    "a boolean is not an integer": (Shape("int64"), True, False),
    "a nullable string may be null": (Shape("string", nullable=True), None, True),
    "another string may not be null": (Shape("string"), None, False),
    "an array checks its items": (Shape("array", items=Shape("string")), ["a", 1], False),
    "an object has its required properties":
        (Shape("object", properties={"a": Shape("string")}, required=frozenset("a")), {"b": 1}, False),
    "an object may have more properties": (Shape("object"), {"b": 1}, True),
    "a fraction is no alternative": (Shape("one-of", parts=[Shape("string"), Shape("int64")]), 1.5, False),
    "all accept an object": (Shape("all-of", parts=[Shape("object"), Shape("ref", name="D")]), {}, True),
    "a reference is what it refers to": (Shape("ref", name="D"), "x", False),
})  # fmt: skip
def test_a_declaration_accepts_what_its_kinds_hold(shape: Shape, value: Any, expected: bool) -> None:  # noqa: FBT001
    assert Declaration({"D": Shape("object")}).accepts(shape, value) is expected


def declared(description: str, **properties: Shape) -> Declared:
    found = read_mcp(json.dumps([{"name": "t", "description": description}]))
    found.tools[0].input.properties = properties
    return found


@titled(("findings", "kinds"), {
    "a difference without a finding": ((), ["unreported", "unreported"]),
    "each difference has a finding":
        (("/capabilities/0/input/properties/a/type/enum", "/capabilities/0/description"), []),
    "a finding without a difference":
        (("/capabilities/0/input/properties/a/type/enum", "/capabilities/0/description",
        "/capabilities/0/input/properties/b/type/kind"), ["false-alarm"]),
})  # fmt: skip
def test_differences_and_findings_are_compared_with_each_other(
    findings: tuple[str, ...], kinds: list[str]
) -> None:
    source = declared("T", a=Shape("string", enum=["x"]), b=Shape("string"))
    target = declared('T ["x"]', a=Shape("string"), b=Shape("string"))
    reported = [Finding("c", "widened", item, "") for item in findings]
    assert [item.kind for item in problems_of_leaves(compare(source, target, reported, []))] == kinds


def test_what_is_called_moved_has_to_be_in_the_text() -> None:
    source, target = declared("T", a=Shape("string", format="date")), declared("T.", a=Shape("string"))
    places = ("/capabilities/0/input/properties/a/type/format", "/capabilities/0/description")
    reported = [Finding("c", "moved", item, "") for item in places]
    found = [(item.kind, item.pointer) for item in problems_of_leaves(compare(source, target, reported, []))]
    assert found == [("not-in-text", places[0])]


def test_names_of_the_target_lead_back() -> None:
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


def test_the_readers_are_among_the_independent_modules() -> None:
    assert {"readers.py", "audits.py", "made_descriptors.py", "made_values.py"} <= set(INDEPENDENT)
