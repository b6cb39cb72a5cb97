"""Declarations in files are read into capabilities; what is broken in one tool costs that tool only."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.observed.observed_fixtures import facts, meta_resource, meta_value, read, read_one, service
from droidgate_mappings.formats.format import SourceFile, detect_format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.observed import ToolsForm
from droidgate_observed.format import FORMAT
from droidgate_observed.read import read_tools
from model_types import array, float64, int64, properties_of, string
from strategies import damaged

ARI = {
    "declarationVersion": 2,
    "protocolVersion": 1,
    "capabilities": ["cancel"],
    "label": "Circles",
    "tools": [
        {
            "name": "add_circle",
            "description": "Draws a circle",
            "args": [{"name": "color", "type": "enum", "values": ["red", "blue"],
                "description": "Which colour"}, {"name": "radius", "type": "number", "required": True}],
        },
        {"name": "remove_circles", "description": "Takes circles away", "confirm": True,
            "args": [{"name": "numbers", "type": "int_list", "required": True, "description": "Which ones"}]},
    ],
}  # fmt: skip

FLINT = {
    "protocol": "flint",
    "version": "1.0",
    "name": "Music",
    "tools": [{"name": "home", "target": "home", "inputSchema": {"type": "object"}}],
}


def read_text(text: str) -> Provider:
    source = SourceFile("tools", text.encode())
    assert detect_format(source) is load_formats()["observed"]
    (provider,) = FORMAT.read_file(source, ReadingContext()).providers
    return provider


def test_ari_tools_have_typed_arguments() -> None:
    app = service("com.ari_os.ari.action.TOOL_PROVIDER")
    provider = read_one(app, {"assets/ari_tools.json": json.dumps(ARI)})
    assert provider.name == "Circles"
    add, remove = provider.capabilities
    color, radius = properties_of(add.input)["color"], properties_of(add.input)["radius"]
    assert color.type == string(enum=("red", "blue"), description="Which colour")
    assert not color.required
    assert radius.type == float64()
    assert radius.required
    assert properties_of(remove.input)["numbers"].type == array(int64(), description="Which ones")
    assert remove.extensions == {"observed": {"confirm": True}}
    assert facts(provider) == {"declarationVersion": 2, "protocolVersion": 1, "capabilities": ["cancel"]}


def test_an_ari_file_by_itself_is_the_same_declaration() -> None:
    alone = read_text(json.dumps(ARI))
    app = service("com.ari_os.ari.action.TOOL_PROVIDER")
    assert alone.capabilities[0].id == "add_circle"
    in_app = read_one(app, {"assets/ari_tools.json": json.dumps(ARI)})
    assert [item.model_copy(update={"source": None}) for item in alone.capabilities] == [
        item.model_copy(update={"source": None}) for item in in_app.capabilities
    ]


@pytest.mark.parametrize("version", [None, 0, 3, "2", True])
def test_ari_reads_nothing_of_another_version(version: object) -> None:
    with pytest.raises(InputError, match="declaration version"):
        read_tools("ari", json.dumps({**ARI, "declarationVersion": version}), Place(path="p"))


@pytest.mark.parametrize(("tool", "reason"), [
    (1, "a tool is not a JSON object"),
    ({"description": "x"}, "it has no name"),
    ({"name": "a", "args": 1}, "its arguments are not a list"),
    ({"name": "a", "args": [{"type": "int"}]}, "it has no name"),
    ({"name": "a", "args": [{"name": "b", "type": "colour"}]}, "the type 'colour' is not known"),
    ({"name": "a", "args": [{"name": "b", "type": "enum"}]}, "an enum lists no values"),
    (ARI["tools"][0], "'add_circle' is declared twice"),  # type: ignore[index]
])  # fmt: skip
def test_a_broken_tool_is_left_out_and_reported(tool: Any, reason: str) -> None:
    tools = [*ARI["tools"], tool]  # type: ignore[misc]
    declared = read_tools("ari", json.dumps({**ARI, "tools": tools}), Place(path="p"))
    assert [item.id for item in declared.capabilities] == ["add_circle", "remove_circles"]
    (finding,) = declared.findings
    assert finding.code == "observed-tool-left-out"
    assert reason in finding.message


def test_swiftfloris_keeps_each_schema_as_a_text() -> None:
    catalog = {
        "tools": [
            {
                "name": "calendar.next",
                "description": "Next event",
                "parameterSchema": '{"type": "object", "properties": {"days": {"type": "integer"}}}',
            },
            {"name": "ping"},
            {"name": "bad", "parameterSchema": "{"},
        ]
    }
    key = "dev.patrickgold.florisboard.mcp"
    meta = meta_resource(f"{key}.tool_catalog", "@raw/tools") + meta_value(f"{key}.protocol_version", "1")
    app = service("dev.patrickgold.florisboard.action.BIND_MCP_DAEMON", meta=meta)
    reading = read(app, {"res/raw/tools.json": json.dumps(catalog)})
    (provider,) = reading.providers
    assert [item.id for item in provider.capabilities] == ["calendar.next", "ping"]
    given = provider.capabilities[0].input
    assert properties_of(given)["days"].type == int64()
    assert facts(provider) == {"protocol_version": 1}
    assert [item.code for item in reading.findings] == ["observed-tool-left-out"]
    assert read_text(json.dumps(catalog)).dialect == "swiftfloris"


def test_zwdroid_lists_functions_in_a_raw_resource() -> None:
    functions = [
        {
            "type": "function",
            "function": {
                "name": "forecast",
                "description": "Weather to come",
                "parameters": {
                    "type": "object",
                    "properties": {"place": {"type": "string"}},
                    "required": ["place"],
                },
            },
        }
    ]
    meta = meta_resource("mcp.tools", "@raw/tools") + meta_value("mcp.description", "Weather")
    app = service("zwdroid.mcp.sdk.McpServerService", meta=meta)
    provider = read_one(app, {"res/raw/tools.json": json.dumps(functions)})
    assert provider.description == "Weather"
    (capability,) = provider.capabilities
    assert (capability.id, capability.description) == ("forecast", "Weather to come")
    assert properties_of(capability.input)["place"].required


def test_a_list_of_functions_by_itself_is_nobody_s_in_particular() -> None:
    assert FORMAT.detect(SourceFile("a.json", b'[{"type": "function", "function": {"name": "a"}}]')) == 0


MCP_TOOLS = """<mcp-tools namespace="files" version="1.0">
<tool name="read" description="Reads a file" since="2">
<param name="path" type="string" required="true" description="Which one"/>
<param name="lines" type="integer"/></tool>
<tool description="nameless"/><note/></mcp-tools>"""


def test_the_first_capapp_specification_has_an_xml_of_tools() -> None:
    app = service(
        "com.llmintentions.ACTION_MCP_TOOL", meta=meta_resource("com.llmintentions.mcp.tools", "@xml/tools")
    )
    reading = read(app, {"res/xml/tools.xml": MCP_TOOLS})
    (provider,) = reading.providers
    (capability,) = provider.capabilities
    assert capability.extensions == {"observed": {"since": "2"}}
    assert capability.source is not None
    assert (capability.source.path, capability.source.line) == ("app/res/xml/tools.xml", 2)
    path, lines = properties_of(capability.input)["path"], properties_of(capability.input)["lines"]
    assert path.required
    assert path.type.description == "Which one"
    assert lines.type == int64()
    assert facts(provider) == {"namespace": "files", "version": "1.0"}
    assert [finding.message.partition(": ")[2] for finding in reading.findings] == [
        "it has no name",
        "<note> is not a <tool>",
    ]
    assert read_text(MCP_TOOLS).dialect == "capapp-documented"


def test_rosenpin_s_documented_form_only_names_its_tools() -> None:
    meta = meta_value("mcp.capabilities", "tools:list_files, read;resources:file") + meta_value(
        "mcp.version", "1.0.0"
    )
    provider = read_one(service("io.mmcp.action.SERVER", meta=meta))
    assert [item.id for item in provider.capabilities] == ["list_files", "read"]
    assert facts(provider) == {"resources": ["file"], "version": "1.0.0"}


def test_a_flint_schema_is_flint_s_and_no_list_of_mcp() -> None:
    provider = read_text(json.dumps(FLINT))
    assert (provider.dialect, provider.name) == ("flint", "Music")
    assert provider.capabilities[0].extensions == {"observed": {"target": "home"}}
    assert facts(provider) == {"version": "1.0"}


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=12,
)
MEMBERS = ["name", "type", "values", "args", "tools", "function", "parameters", "parameterSchema", "required"]
TOOL = st.dictionaries(st.sampled_from(MEMBERS), JSON_VALUES | st.just("int"), max_size=5)


@pytest.mark.parametrize("form", ["ari", "catalog", "functions", "named-lists"])
@given(tools=st.lists(TOOL | JSON_VALUES, max_size=4) | JSON_VALUES, shape=st.sampled_from(["", "tools"]))
def test_wild_input_is_read_or_refused_and_nothing_else(form: ToolsForm, tools: Any, shape: str) -> None:
    value = {"declarationVersion": 1, shape: tools} if shape else tools
    try:
        declared = read_tools(form, json.dumps(value), Place(path="p"))
    except InputError:
        return
    assert len({item.id for item in declared.capabilities}) == len(declared.capabilities)


@given(
    damaged(st.just(MCP_TOOLS), st.sampled_from(["x", "tool", "true", "", " ", "<!-- -->", "/>", '"', "&"]))
)
def test_a_damaged_list_of_the_first_capapp_is_read_or_refused(text: str) -> None:
    try:
        declared = read_tools("mcp-tools", text, Place(path="p"))
    except InputError:
        return
    assert len({item.id for item in declared.capabilities}) == len(declared.capabilities)


CATALOG = {"tools": [{"name": "go", "description": "Goes", "parameterSchema": {"type": "object"}}]}
DECLARATIONS = [json.dumps(item).encode() for item in (ARI, FLINT, CATALOG)]
PIECES = [b"", b'"', b"{", b"}", b"[]", b"null", b",", b":", b"1e999", b"\\ud800", b"\xff", b"\x00"]


def damaged_declaration(random: Random) -> bytes:
    """Return a declaration in which one stretch, often an empty one, is something else."""
    data = random.choice(DECLARATIONS)
    start = random.randrange(len(data))
    return data[:start] + random.choice(PIECES) + data[start + random.choice([0, 0, 1, 1, 2, 40]) :]


def test_a_damaged_declaration_is_read_or_refused_and_what_is_not_detected_is_refused() -> None:
    random = Random(20261122)
    outcomes = Counter[str]()
    for _ in range(3_000):
        source = SourceFile("a", damaged_declaration(random))
        detected = FORMAT.detect(source) > 0
        try:
            (provider,) = FORMAT.read_file(source, ReadingContext()).providers
        except InputError:
            outcomes["refused" if detected else "not detected"] += 1
            continue
        assert detected
        assert len({item.id for item in provider.capabilities}) == len(provider.capabilities)
        outcomes["read"] += 1
    assert min(outcomes[item] for item in ("read", "refused", "not detected")) >= 50, outcomes
