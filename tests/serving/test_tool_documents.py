"""Names and documents of tools, made of what apps declare, hostile or not."""

import re
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidgate.model.capability import Capability, Provider
from droidgate.model.types import ObjectType, Property, ScalarType
from droidgate.serving.documents import named, write_tools
from droidgate.serving.names import tool_names
from droidgate.serving.search import ToolIndex
from droidgate.serving.tools import ServedTool
from droidgate_mcp.tables import HANDSHAKE, MODERN

ALLOWED = re.compile("[A-Za-z][A-Za-z0-9_-]{0,63}")


def names_of(*capabilities: tuple[str, str]) -> list[str]:
    keyed = [
        (f"{number}/{package}/{name}", "", package, name)
        for number, (package, name) in enumerate(capabilities)
    ]
    return list(tool_names(keyed).values())


def test_a_name_is_the_end_of_the_package_and_of_the_id() -> None:
    assert names_of(("com.example.notes", "com.example.notes.NotesService#createNote"), ("a.b", "x/y")) == [
        "notes_createNote",
        "b_y",
    ]


def test_equal_names_each_get_a_suffix_of_their_own() -> None:
    first, second = names_of(("com.one.notes", "create"), ("com.two.notes", "create"))
    assert first != second
    assert re.fullmatch("notes_create_[0-9a-f]{8}", first)
    assert re.fullmatch("notes_create_[0-9a-f]{8}", second)


def test_names_that_differ_in_case_only_get_suffixes() -> None:
    names = names_of(("a.notes", "create"), ("a.notes", "Create"))
    assert len({name.lower() for name in names}) == 2
    assert all(re.search("_[0-9a-f]{8}$", name) for name in names)


@given(st.lists(st.tuples(st.text(max_size=90), st.text(max_size=90)), max_size=8))
def test_names_are_safe_and_no_two_alike_whatever_apps_declare(capabilities: list[tuple[str, str]]) -> None:
    names = names_of(*capabilities)
    assert all(ALLOWED.fullmatch(name) for name in names)
    assert len({name.lower() for name in names}) == len(capabilities)


@given(
    st.permutations([("a.notes", "create"), ("b.notes", "create"), ("a.notes", "Create"), ("c", "ü" * 80)])
)
def test_names_do_not_depend_on_the_order(capabilities: list[tuple[str, str]]) -> None:
    keyed = [(f"{package}/{name}", "", package, name) for package, name in capabilities]
    assert tool_names(keyed) == tool_names(sorted(keyed))


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
    # A value is data: an app that compares it would not find the cleaned one.
    assert parameter["enum"] == ["a\u200bb"]


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
