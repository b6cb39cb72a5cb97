"""Names and documents of tools, made of what apps declare, hostile or not."""

import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from adapters.mcp_format.tool_lists import read
from droidgate.serving.search import ToolIndex
from droidgate.serving.tool_documents import hidden_name, named, write_tools
from droidgate.serving.tools import ServedTool
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.types import ObjectType, Property, ScalarType
from droidgate_mcp.tool_facts import HANDSHAKE, MODERN


def provider_of(**texts: Any) -> Provider:
    parameters = ObjectType(
        properties={
            "description": Property(
                type=ScalarType(kind="string", description=texts.get("parameter"), enum=("a\u200bb",)),
                required=True,
            )
        }
    )
    capability = Capability(
        id="run", description=texts.get("description"), title=texts.get("title"), input=parameters
    )
    return Provider(
        protocol="mmcp", package="com.example.app", component=".Tools", capabilities=(capability,)
    )


@pytest.mark.parametrize("revision", [HANDSHAKE, MODERN])
def test_texts_of_apps_are_labelled_cleaned_and_cut(revision: str) -> None:
    hidden = "Adds\u200b a\u202e note.\x1b[31m"
    provider = provider_of(
        description=hidden + "x" * 5000, title="T\u200bitle" * 100, parameter=hidden + "y" * 5000
    )
    (tool,), _ = write_tools(provider)
    document: Mapping[str, Any] = tool[revision]
    assert document["description"].startswith("[Text of the app com.example.app] Adds a note.")
    assert document["description"].endswith("[cut]")
    assert len(document["description"]) == 1024
    assert len(document["title"]) == 128
    parameter = document["inputSchema"]["properties"]["description"]
    assert len(parameter["description"]) == 1024
    for text in (document["description"], document["title"], parameter["description"]):
        assert not re.search("[\u200b\u202e\x1b]", text)
    # A value is data: an app that compares it would not find the cleaned one, so it is left out.
    assert "enum" not in parameter


@pytest.mark.parametrize(("keywords", "shown"), [
    ({"$comment": "a\u200bb", "x-note": {"y": ["c\U000e0041d"]}},
     {"$comment": "ab", "x-note": {"y": ["cd"]}}),
    ({"contentMediaType": "text/\u202eplain"}, {"contentMediaType": "text/plain"}),
    ({"default": "a\u200bb"}, {}),
    ({"const": "a\u200bb"}, {}),
    ({"examples": ["a\u200bb", "c"]}, {"examples": ["c"]}),
    ({"enum": ["a\u200bb", "c"]}, {"enum": ["c"]}),
    ({"pattern": "[\u200b]"}, {"pattern": "[\\u200b]"}),
    ({"default": "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"},
     {"default": "\N{WOMAN}\u200d\N{PERSONAL COMPUTER}"}),
])  # fmt: skip
def test_no_member_of_a_schema_has_hidden_characters(keywords: dict[str, Any], shown: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"p": {"type": "string", **keywords}}}
    document = {"tools": [{"name": "run", "inputSchema": schema}]}
    (provider,) = read(document).providers
    (tool,), _ = write_tools(provider)
    parameter = dict(tool[MODERN]["inputSchema"]["properties"]["p"])
    assert parameter == {"type": "string", **shown}
    assert hidden_name(tool[MODERN]) is None


def test_a_hidden_character_in_the_name_of_a_parameter_is_found() -> None:
    schema = {"type": "object", "properties": {"p": {"type": "object", "properties": {"a\u200bb": {}}}}}
    (provider,) = read({"tools": [{"name": "run", "inputSchema": schema}]}).providers
    (tool,), _ = write_tools(provider)
    assert hidden_name(tool[MODERN]) == "a\u200bb"


def test_a_document_gets_the_name_that_is_served() -> None:
    (tool,), _ = write_tools(provider_of(description="x"))
    assert {document["name"] for document in named(tool, "app_run").values()} == {"app_run"}
    assert {document["name"] for document in tool.values()} != {"app_run"}


def tool_of(name: str, description: str) -> ServedTool:
    return ServedTool(name, {MODERN: {"name": name, "description": description, "inputSchema": {}}})


def test_the_tool_with_the_rarest_words_is_found_first() -> None:
    index = ToolIndex(
        [
            tool_of("notes_createNote", "Write a new note"),
            tool_of("notes_findNotes", "Find notes, the newest first"),
            tool_of("mail_sendMail", "Send a mail to a person"),
        ]
    )
    assert [tool.name for tool in index.find("create notes", 5)] == ["notes_createNote", "notes_findNotes"]
    assert [tool.name for tool in index.find("Mails", 5)] == ["mail_sendMail"]
    assert index.find("weather", 5) == []
    assert index.find("\0 ''", 5) == []
    assert len(index.find("note mail", 1)) == 1
    assert ToolIndex([]).find("note", 5) == []


def test_nothing_of_the_mcp_sdk_is_loaded_before_a_server_is_asked_for() -> None:
    code = (
        "import sys, droidgate.cli.program as program, droidgate; program.run(['serve', '--help']); "
        "sys.exit(any(name.partition('.')[0] in {'mcp', 'starlette', 'uvicorn'} for name in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert run.returncode == 0
