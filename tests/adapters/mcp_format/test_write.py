"""What is written is what the MCP SDK's own types take, and says where everything went."""

import json
import os
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest

from adapters.mcp_format.tool_lists import RICH, WEATHER, read_one, result, write, written
from droidgate_mappings.model.capability import Capability, Effects, Provider
from droidgate_mappings.model.findings import Level
from model_types import array, int64, optional, record, ref, string
from requirements_of_tests import require
from strategies import random_provider

SCHEMAS = {"2025-11-25": "mcp_types._v2025_11_25", "2026-07-28": "mcp_types._v2026_07_28"}


def _validated(dialect: str, text: str) -> Any:
    require("mcp-types")
    module = pytest.importorskip(SCHEMAS[dialect])
    return module.ListToolsResult.model_validate_json(text)


@pytest.mark.parametrize("dialect", SCHEMAS)
def test_whatever_is_written_is_a_result_for_the_sdk(dialect: str) -> None:
    for seed in range(300):
        provider = random_provider(Random(seed))
        (artifact,) = write(provider, dialect).artifacts
        tools = _validated(dialect, artifact.text).tools
        assert len(tools) == len(provider.capabilities)
        for tool, capability in zip(tools, provider.capabilities, strict=True):
            assert tool.title == capability.title
            assert tool.input_schema.type == "object"


@pytest.mark.parametrize("dialect", SCHEMAS)
def test_the_sdk_reads_the_same_from_a_tool(dialect: str) -> None:
    (artifact,) = write(read_one(result(WEATHER)), dialect).artifacts
    (tool,) = _validated(dialect, artifact.text).tools
    assert (tool.name, tool.title, tool.description) == ("get_weather", "Weather", WEATHER["description"])
    assert tool.annotations.read_only_hint is True
    assert tool.annotations.destructive_hint is None
    dumped = tool.model_dump(by_alias=True, exclude_none=True)
    assert dumped["inputSchema"] == WEATHER["inputSchema"]
    assert dumped["outputSchema"] == WEATHER["outputSchema"]


def test_the_modern_revision_says_how_long_the_list_is_good() -> None:
    document = written(read_one(result(WEATHER)), "2026-07-28")
    assert (document["resultType"], document["ttlMs"], document["cacheScope"]) == ("complete", 0, "private")


def test_a_document_of_one_revision_is_not_the_frame_of_the_other_and_comes_back() -> None:
    provider = read_one([WEATHER])
    modern = write(provider, "2026-07-28")
    assert modern.findings == ()
    document = json.loads(modern.artifacts[0].text)
    assert document["ttlMs"] == 0
    assert written(read_one(document), "2025-11-25") == [WEATHER]


def test_fields_of_a_document_come_back_from_the_other_revision() -> None:
    dump = {
        "serverInfo": {"name": "a", "version": "1", "websiteUrl": "https://example.com"},
        "capabilities": {"tools": {}},
        "tools": [WEATHER],
    }
    modern = written(read_one(dump), "2026-07-28")
    fields = {"/serverInfo/websiteUrl": "https://example.com", "/capabilities": {"tools": {}}}
    assert modern["_meta"]["dev.droidgate/provider"]["fields"] == fields
    assert written(read_one(modern), "2025-11-25") == dump


def test_a_file_is_laid_out_for_people() -> None:
    (artifact,) = write(read_one(result(RICH))).artifacts
    assert (artifact.path, artifact.role) == ("tools.json", "document")
    assert artifact.text.startswith('{\n  "tools": [\n    {\n      "name": "scan.page",\n')
    assert artifact.text.endswith("}\n")
    tool = json.loads(artifact.text)["tools"][0]
    assert list(tool) == ["name", "description", "inputSchema", "annotations", "icons", "execution", "_meta"]


def test_what_mcp_has_no_field_for_is_in_meta() -> None:
    provider = Provider(
        protocol="test",
        package="com.example.app",
        component=".Service",
        name="App",
        instructions="Be brief.",
        definitions={"Unused": int64()},
        capabilities=(Capability(id="a", version="2", extensions={"other": {"level": 3}}),),
        extensions={"other": {"flag": True}},
    )
    document = written(provider)
    assert document["_meta"] == {
        "dev.droidgate/provider": {
            "package": "com.example.app",
            "component": ".Service",
            "name": "App",
            "instructions": "Be brief.",
            "definitions": {"Unused": {"type": "integer"}},
            "extensions": {"other": {"flag": True}},
        }
    }
    assert document["tools"] == [
        {
            "name": "a",
            "inputSchema": {"type": "object"},
            "_meta": {"dev.droidgate/tool": {"version": "2", "extensions": {"other": {"level": 3}}}},
        }
    ]


def test_an_array_of_tools_with_facts_about_its_server_becomes_a_result() -> None:
    provider = read_one([WEATHER]).model_copy(update={"package": "com.example.app"})
    writing = write(provider)
    (finding,) = writing.findings
    assert (finding.level, finding.pointer) == (Level.RENAMED, "/extensions/mcp/document 2025-11-25")
    assert read_one(writing.artifacts[0].text).package == "com.example.app"


def test_a_document_does_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    server = {"name": "n", "version": "1", "description": "d"}
    source = tmp_path / "tools.json"
    source.write_text(json.dumps({"serverInfo": server, "instructions": "i", "tools": [WEATHER]}))
    program = f"import droidgate; print(droidgate.convert(droidgate.read({str(source)!r}), 'mcp').files)"
    documents = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in "0123"
    }
    assert len(documents) == 1
    assert b"instructions" in documents.pop()


def test_definitions_are_in_the_schemas_that_reach_them() -> None:
    kept = optional(ref("Text"))
    provider = Provider(
        protocol="test",
        definitions={"Text": string(), "Other": array(ref("Text"))},
        capabilities=(Capability(id="a", input=record({"x": kept})),),
    )
    document = written(provider)
    assert document["tools"][0]["inputSchema"]["$defs"] == {"Text": {"type": "string"}}
    meta = document["_meta"]["dev.droidgate/provider"]["definitions"]
    assert meta == {"Other": {"type": "array", "items": {"$ref": "#/$defs/Text"}}, "Text": {"type": "string"}}


def test_an_output_that_is_not_an_object_is_wrapped_up_to_2025() -> None:
    provider = Provider(protocol="test", capabilities=(Capability(id="a", output=array(string())),))
    listed = {"type": "array", "items": {"type": "string"}}
    wrapped = {"type": "object", "properties": {"result": listed}, "required": ["result"]}
    assert written(provider, "2025-11-25")["tools"][0]["outputSchema"] == wrapped
    assert written(provider, "2026-07-28")["tools"][0]["outputSchema"] == listed


@pytest.mark.parametrize(("name", "is_kept"), [
    ("a.b-C_9", True),
    ("n" * 128, True),
    ("n" * 129, False),
    ("a b", False),
    ("Notes#create", False),
    ("ü", False),
])  # fmt: skip
def test_names_outside_the_rule_are_mapped(name: str, *, is_kept: bool) -> None:
    writing = write(Provider(protocol="test", capabilities=(Capability(id=name),)))
    (capability,) = writing.provider.capabilities
    assert (capability.id == name) is is_kept
    assert [entry.original for entry in writing.names] == ([] if is_kept else [name])


def test_hints_are_written_only_where_something_is_said() -> None:
    provider = Provider(
        protocol="test",
        capabilities=(Capability(id="a", effects=Effects(idempotent=False)), Capability(id="b")),
    )
    tools = written(provider)["tools"]
    assert tools[0]["annotations"] == {"idempotentHint": False}
    assert "annotations" not in tools[1]
