"""What MCP tool lists say is read, and written back as it was."""

import contextlib
import copy
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.mcp_format.tool_lists import RICH, TREE, WEATHER, read, read_one, result, source, write, written
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Effects
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mappings.model.types import AnyType
from droidgate_mcp.format import FORMAT
from model_types import array, float64, properties_of, ref, string
from properties.matching import assert_same_declaration
from strategies import damaged, json_values
from titled_rows import titled


def test_every_member_of_a_tool_is_in_the_model() -> None:
    capability = read_one(result(WEATHER)).capabilities[0]
    assert (capability.id, capability.title) == ("get_weather", "Weather")
    assert capability.description == "Returns the weather of a city."
    assert capability.effects == Effects(read_only=True, open_world=True)
    assert properties_of(capability.input)["city"].required
    unit = string(enum=("celsius", "fahrenheit"), keywords={"default": "celsius"})
    assert properties_of(capability.input)["unit"].type == unit
    assert capability.input.keywords == {"additionalProperties": False}
    assert properties_of(capability.output)["temperature"].type == float64()
    assert capability.extensions == {}


def test_members_without_a_field_are_kept_one_by_one() -> None:
    capability = read_one(result(RICH)).capabilities[0]
    assert (capability.title, capability.effects) == ("Scan", Effects(destructive=False))
    assert capability.extensions["mcp"] == {
        "title": "annotations",
        "/annotations/vendorHint": [1, 2],
        "icons": RICH["icons"],
        "execution": RICH["execution"],
        "/_meta/com.example~1cost": 3,
    }
    assert capability.extensions.keys() == {"mcp"}


def test_recursive_definitions_belong_to_the_provider() -> None:
    provider = read_one(result(TREE))
    node = provider.definitions["Node"]
    assert properties_of(node)["children"].type == array(ref("Node"))


def test_a_title_that_is_twice_is_read_in_the_order_of_the_specification() -> None:
    tool = {**WEATHER, "annotations": {"title": "Old title"}}
    capability = read_one(result(tool)).capabilities[0]
    assert capability.title == "Weather"
    assert capability.extensions["mcp"] == {"/annotations/title": "Old title"}


SHAPES: dict[str, Json] = {
    "result": result(WEATHER, RICH, TREE),
    "nothing": result(),
    "page": result(WEATHER, nextCursor="abc", _meta={"com.example/x": 1}),
    "array": [WEATHER, TREE],
    "one tool": WEATHER,
    "response": {"jsonrpc": "2.0", "id": 7, "result": result(WEATHER)},
    "dump": {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "weather", "title": "Weather server", "version": "1.2"},
        "capabilities": {"tools": {"listChanged": True}},
        "instructions": "Ask for one city at a time.",
        "tools": [WEATHER],
    },
    "old dump": {"server": {"name": "weather", "description": "Knows the weather"}, "tools": [WEATHER]},
    "catalogue": {"name": "weather", "description": "Knows the weather", "version": "3", "tools": [RICH]},
    "fields of all kinds": {
        "server": {"name": "a", "version": "1", "websiteUrl": "https://example.com", "a/b": 1},
        "serverInfo": {"description": "d"},
        "name": 5,
        "description": "second",
        "prompts": [],
        "~x/y": {},
        "_meta": {"com.example/a": None},
        "tools": [{**WEATHER, "/annotations/x": 1, "a/b": 2, "annotations": {}}],
    },
    "envelope with fields": {
        "jsonrpc": "2.0",
        "id": None,
        "tools": 5,
        "_meta": {"x": 1},
        "result": {"tools": [WEATHER], "_meta": {"y": 2}, "name": "n", "vendor": {"z": 3}, "nextCursor": "c"},
    },
    "title in both": result({**WEATHER, "annotations": {"title": "Weather"}}),
    "modern": result(WEATHER, resultType="complete", ttlMs=0, cacheScope="private"),
    "modern and cached": result(RICH, resultType="complete", ttlMs=5, cacheScope="public"),
    "modern output": result({"name": "list", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "array"}}, resultType="complete", ttlMs=0, cacheScope="private"),
    "modern dump": {
        "protocolVersion": "2026-07-28",
        "serverInfo": {"name": "weather", "version": "1"},
        "tools": [WEATHER],
        "resultType": "complete",
        "ttlMs": 0,
        "cacheScope": "private",
    },
    "clashing definitions": [{**TREE, "name": f"tree_{kind}", "inputSchema": {**TREE["inputSchema"],
        "$defs": {"Node": {"type": kind}}}} for kind in ("object", "string", "array")],
}  # fmt: skip


@titled("shape", SHAPES)
def test_every_shape_of_document_is_written_as_it_was_read(shape: Json) -> None:
    provider = read_one(shape)
    writing = write(provider, provider.dialect)
    assert writing.findings == ()
    (artifact,) = writing.artifacts
    expected = _without_execution(provider.dialect, shape)
    assert canonical_json(json.loads(artifact.text)) == canonical_json(expected)
    assert_same_declaration(provider, read_one(artifact.text))


def _without_execution(dialect: str | None, shape: Json) -> Json:
    if dialect != "2026-07-28" or "execution" not in json.dumps(shape):
        return shape
    changed = copy.deepcopy(shape)
    for tool in changed["tools"]:
        members = {"execution": tool.pop("execution")}
        tool["_meta"] = {**tool["_meta"], "dev.droidgate/tool": {"members": members}}
    return changed


def test_a_dump_names_its_server() -> None:
    provider = read_one(SHAPES["dump"])
    assert (provider.name, provider.instructions) == ("Weather server", "Ask for one city at a time.")
    assert provider.dialect == "2025-11-25"
    assert read_one(SHAPES["catalogue"]).description == "Knows the weather"


def test_the_revision_is_read_from_the_document() -> None:
    assert read_one(SHAPES["modern"]).dialect == "2026-07-28"
    assert read_one(SHAPES["modern dump"]).dialect == "2026-07-28"
    assert read_one(SHAPES["array"]).dialect == "2025-11-25"


def case(title: str, row: str, tool: Json, expected: Json) -> Any:
    """Return the case of a list with one tool that only a row lets in, and how it is written."""
    written = [{"name": "a", **expected}]
    return pytest.param(row, [{"name": "a", **tool}], written, id=title, marks=pytest.mark.row(row))


EMPTY = {"inputSchema": {"type": "object"}}


@pytest.mark.parametrize(("row", "document", "expected"), [
    case("no input schema", "P01", {}, EMPTY),
    case("an input schema without a type", "P02", {"inputSchema": {"properties": {"x": {}}}},
        {"inputSchema": {"type": "object", "properties": {"x": {}}}}),
    case("an input schema that is true", "P02", {"inputSchema": True}, EMPTY),
    case("an output of an older list that is an array", "P03",
        {**EMPTY, "outputSchema": {"type": "array"}}, {**EMPTY,
        "outputSchema": {"type": "array"}}),
    case("an output schema that is false", "P03",
        {**EMPTY, "outputSchema": False}, {**EMPTY, "outputSchema": {"not": {}}}),
    case("null for what is absent", "P05", {"title": None, "inputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": None, "x": 1}}, {**EMPTY, "annotations": {"x": 1}}),
    case("another spelling of a member", "P06", {"input_schema": {"type": "object"}}, EMPTY),
    case("another spelling of a hint", "P06",
        {**EMPTY, "annotations": {"read_only_hint": True}}, {**EMPTY,
        "annotations": {"readOnlyHint": True}}),
])  # fmt: skip
def test_what_the_schema_does_not_allow_is_read_by_its_row(row: str, document: Json, expected: Json) -> None:
    reading = read(document)
    assert {finding.rule for finding in reading.findings} == {row}
    (provider,) = reading.providers
    writing = write(provider, provider.dialect)
    assert writing.findings == ()
    assert json.loads(writing.artifacts[0].text) == expected
    with pytest.raises(InputError, match=row):
        read(document, strict=True)


def test_a_tool_that_cannot_be_read_hides_no_other() -> None:
    of_array = {"name": "list", "inputSchema": {"type": "array"}}
    numbered = {"name": "number", "description": 5, "inputSchema": {"type": "object"}}
    document = result(3, of_array, numbered, WEATHER, WEATHER)
    reading = read(document)
    assert [item.id for item in reading.providers[0].capabilities] == ["get_weather"]
    places = ("0", "1/inputSchema", "2/description", "4")
    assert [item.place for item in reading.problems] == [f"tools.json:/tools/{place}" for place in places]
    with pytest.raises(InputError):
        read(document, strict=True)


def message(**members: Json) -> str:
    """Return a JSON-RPC message in one line."""
    return json.dumps({"jsonrpc": "2.0", **members})


BOTH = "get_weather store_tree"
STARTED = message(id=0, result={"protocolVersion": "2026-07-28", "serverInfo": {"name": "weather"},
    "instructions": "Ask for one city.", "capabilities": {}})  # fmt: skip
LISTED = message(id=1, result=result(WEATHER, TREE))
FIRST_PAGE = message(id=1, result=result(WEATHER, nextCursor="2"))
SECOND_PAGE = message(id=2, result=result(TREE))


@pytest.mark.row("P10")
@pytest.mark.parametrize(("text", "names", "server"), [
    pytest.param(f"{STARTED}\n{LISTED}\n", BOTH, "weather", id="lines of stdio"),
    pytest.param(f"{STARTED}\r\n{FIRST_PAGE}\r\n{SECOND_PAGE}", BOTH, "weather", id="pages"),
    pytest.param(f"{FIRST_PAGE}\n{LISTED}\n{LISTED}", BOTH, None, id="a list that is asked twice"),
    pytest.param(f"{LISTED}\n{SECOND_PAGE}", "store_tree", None, id="the last list counts"),
    pytest.param(f"event: message\nid: 1\ndata: {LISTED}\n\n", BOTH, None, id="an event"),
    pytest.param(f"2026-01-02T03:04:05Z [weather] [info] from server: {LISTED} {{ metadata: undefined }}\n",
        BOTH, None, id="a client's log"),
    pytest.param(f"connecting...\n{{not JSON}} \"jsonrpc\"\n{message(method='ping')}\n{LISTED}", BOTH,
        None, id="lines between"),
])  # fmt: skip
def test_a_recorded_conversation_is_read_as_a_dump_of_its_server(
    text: str, names: str, server: str | None
) -> None:
    file = SourceFile("talk.txt", text.encode())
    assert FORMAT.detect(file) > 0
    context = ReadingContext()
    (provider,) = FORMAT.read_file(file, context).providers
    assert " ".join(item.id for item in provider.capabilities) == names
    assert provider.name == server
    assert {finding.rule for finding in context.findings} == {"P10"}
    assert_same_declaration(provider, read_one(write(provider, provider.dialect).artifacts[0].text))
    with pytest.raises(InputError, match="P10"):
        FORMAT.read_file(file, ReadingContext(strict=True))


@pytest.mark.parametrize("text", [
    pytest.param(f"# How to\n{json.dumps(json.loads(LISTED), indent=1)}\n", id="a page with an answer"),
    pytest.param(f"<a>{message(method='tools/list')}</a>", id="a question without an answer"),
])  # fmt: skip
def test_a_recording_without_a_list_of_tools_is_left_to_other_formats(text: str) -> None:
    assert FORMAT.detect(SourceFile("page.md", text.encode())) == 0


@titled(("document", "message"), {
    "an object without tools": ({}, "no list of tools"),
    "a number is not a list": ("7", "no list of tools"),
    "an error is not a list":
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no such method"}},
        "the response is an error"),
    "a tool is a number": ([3], "a tool is not a JSON object"),
    "a tool has no name": ([{}], "a tool has no name"),
    "a tool has an empty name": ([{"name": ""}], "a tool has no name"),
    "a schema of another type": ([{"name": "a", "inputSchema": {"type": "string"}}], "not of type object"),
    "an input schema that is a number": ([{"name": "a", "inputSchema": 5}], "is not a JSON object"),
    "an input schema that is false": ([{"name": "a", "inputSchema": False}], "is not a JSON object"),
    "an output schema that is a string": ([{**WEATHER, "outputSchema": "x"}],
        "the output schema of the tool 'get_weather' is not a JSON object"),
    "annotations that are a list": ([{**WEATHER, "annotations": []}], "annotations"),
    "a description that is a number":
        ([{**WEATHER, "description": 1}], "'description' of the tool 'get_weather' is not a string"),
    "`_meta` of a tool that is a number": ([{**WEATHER, "_meta": 1}], "`_meta`"),
    "`_meta` of the list that is a list": (result(WEATHER, _meta=[]), "`_meta` is not a JSON object"),
    "facts of droidgate that are a number":
        (result({**WEATHER, "_meta": {"dev.droidgate/tool": 1}}), "wrote into `_meta` is not a JSON object"),
    "a fact of the server that droidgate never writes":
        (result(WEATHER, _meta={"dev.droidgate/provider": {"unheard-of": 1}}), "unheard-of"),
    "definitions that are not schemas":
        (result(WEATHER, _meta={"dev.droidgate/provider": {"definitions": {"A": 1}}}),
        "are not JSON Schemas"),
    "extensions that droidgate never writes":
        (result({**WEATHER, "_meta": {"dev.droidgate/tool": {"extensions": {"mcp": {}}}}}),
        "not what it writes"),
    "members that droidgate never writes":
        (result({**WEATHER, "_meta": {"dev.droidgate/tool": {"members": {"name": "x"}}}}),
        "not what it writes"),
    "a text that is not JSON": ("{", "not JSON"),
})  # fmt: skip
def test_what_cannot_be_read_is_refused_in_one_sentence(document: Json, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(document)
    assert message in caught.value.message
    assert not caught.value.message.endswith(".")
    assert caught.value.place is not None
    assert caught.value.place.startswith("tools.json")


@titled(("document", "is_ours"), {
    "a result": (result(WEATHER), True),
    "an array with another spelling": ([{"name": "a", "input_schema": {}}], True),
    "a result without tools": (result(), True),
    "mMCP": ({"instructions": "", "tools": [{"name": "a", "description": "", "parameters": {}}]}, False),
    "XML": ("<mcp/>", False),
    "an empty file": ("", False),
    "a word of JSON": ('"inputSchema":', False),
    "a list that is cut in its first tool": ('{"tools":[{"name":"x",', True),
    "a response that is cut": ('{"jsonrpc":"2.0","id":1,"resu', True),
    "a dump of a server that is cut": ('{"serverInfo":{"name":"files",', True),
    "an array that is cut in a description": ('[{"name":"add_event","descr', True),
    "an array of other things that is cut": ('[{"name":"Ann","age":3},{', False),
    "another list of tools that is cut": ('{"tools":["eslint","pr', False),
    "a package that is cut": ('{"name":"left-pad","ver', False),
    "JSON with comments": ('{ // options\n"compilerOptions":{}}', False),
})  # fmt: skip
def test_a_list_of_tools_is_known_by_its_schemas(document: Json, *, is_ours: bool) -> None:
    assert (FORMAT.detect(source(document)) > 0) is is_ours


def test_numbers_keep_their_digits_through_a_file() -> None:
    schema = '{"type": "object", "x-ratio": 0.10000000000000000001}'
    text = '{"tools": [{"name": "a", "inputSchema": SCHEMA}]}'.replace("SCHEMA", schema)
    (artifact,) = write(read_one(text)).artifacts
    assert "0.10000000000000000001" in artifact.text


def test_any_output_is_in_meta_where_its_schema_is_a_boolean() -> None:
    provider = read_one(result(WEATHER))
    capability = provider.capabilities[0].model_copy(update={"output": AnyType(boolean=True)})
    document = written(provider.model_copy(update={"capabilities": (capability,)}), "2026-07-28")
    assert "outputSchema" not in document["tools"][0]
    assert document["tools"][0]["_meta"] == {"dev.droidgate/tool": {"output": True}}
    assert read_one(document).capabilities[0].output == AnyType(boolean=True)


_JSON = json_values(most=6)
_HINTS = st.sampled_from(["title", "readOnlyHint", "x"])
_KEPT = st.sampled_from(["version", "extensions", "members", "output"])
_OBJECT = st.just({"type": "object"}) | _JSON


def _meta(key: str, names: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    return st.dictionaries(st.sampled_from([key, "x"]), st.dictionaries(names, _JSON) | _JSON)


_MEMBERS = st.fixed_dictionaries({}, optional={
    "name": st.sampled_from(["a", "b"]) | _JSON,
    "inputSchema": _OBJECT,
    "outputSchema": _OBJECT,
    "annotations": st.dictionaries(_HINTS, _JSON) | _JSON,
    "_meta": _meta("dev.droidgate/tool", _KEPT),
    **dict.fromkeys(("title", "description", "icons"), _JSON),
})  # fmt: skip
_FIELDS = st.sampled_from(["name", "extensions", "definitions"])
_DOCUMENTS = st.fixed_dictionaries({"tools": st.lists(_MEMBERS, max_size=3)}, optional={
    "_meta": _meta("dev.droidgate/provider", _FIELDS),
    **dict.fromkeys(("ttlMs", "serverInfo", "instructions", "result"), _JSON),
})  # fmt: skip


@pytest.mark.slow
@given(_DOCUMENTS | _JSON)
def test_wild_documents_are_read_and_written_back_or_refused(document: Any) -> None:
    try:
        (provider,) = read(document).providers
    except InputError:
        return
    writing = write(provider, provider.dialect)
    assert writing.findings == ()
    assert_same_declaration(provider, read_one(writing.artifacts[0].text))


@given(damaged(st.just(canonical_json(result(WEATHER)).encode()), st.binary(max_size=4)))
def test_bytes_are_read_or_refused(data: bytes) -> None:
    FORMAT.detect(SourceFile("tools.json", data))
    with contextlib.suppress(InputError):
        (provider,) = FORMAT.read_file(SourceFile("tools.json", data), ReadingContext()).providers
        assert provider.protocol == "mcp"


@pytest.mark.requires("mcp-types")
@titled("dump", {
    "names of the protocol, without null": {"by_alias": True, "exclude_none": True},
    "names of the protocol, with null": {"by_alias": True}, "names of Python": {},
})  # fmt: skip
def test_lists_that_the_sdk_dumps_are_read(dump: dict[str, bool]) -> None:
    from mcp_types import Icon, ListToolsResult, Tool, ToolAnnotations

    tool = Tool(
        name="get_weather",
        title="Weather",
        input_schema=WEATHER["inputSchema"],
        output_schema=WEATHER["outputSchema"],
        annotations=ToolAnnotations(read_only_hint=True),
        icons=[Icon(src="data:image/png;base64,AA==")],
    )
    text = ListToolsResult(tools=[tool]).model_dump_json(**dump)  # type: ignore[arg-type]
    capability = read(text).providers[0].capabilities[0]
    assert (capability.id, capability.title) == ("get_weather", "Weather")
    assert capability.input == read_one(result(WEATHER)).capabilities[0].input
    assert capability.output == read_one(result(WEATHER)).capabilities[0].output
    assert capability.effects == Effects(read_only=True)


@titled(("document", "is_ours"), {
    "tools alone": ({"tools": []}, True),
    "a result of 2026": ({"resultType": "complete", "tools": [], "_meta": {}}, True),
    "a page that is not the last": ({"nextCursor": "b", "_meta": {}, "tools": []}, True),
    "a response": ({"jsonrpc": "2.0", "id": 1, "result": {"tools": []}}, True),
    "a request to a model is not one": ({"model": "a", "tools": []}, False),
    "tools inside the settings of a plugin": ({"name": "plugin", "settings": {"tools": []}}, False),
    "a result outside of a response": ({"result": {"tools": []}}, False),
    "a list of pages": ([{"tools": []}], False),
})  # fmt: skip
def test_a_list_without_tools_is_an_mcp_list_where_nothing_else_has_it(
    document: Json, *, is_ours: bool
) -> None:
    assert (FORMAT.detect(source(document)) > 0) is is_ours
    if is_ours:
        assert read_one(document).capabilities == ()
