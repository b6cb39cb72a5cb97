"""Each observed protocol is recognised by its anchor; declarations in files are read into capabilities.

The apps are typed from the reference's paragraphs (mobile-mcp-and-mmcp 4 and 5). What is broken in one tool
costs that tool only.
"""

import json
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.apk_writing.packed_samples import signing_key
from droidgate_android.apk.apk_application import ApkResources, read_application
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format, load_formats
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.observed import ToolsForm, load_observed_protocols
from droidgate_observed.format import FORMAT
from droidgate_observed.read import read_tools
from model_types import array, float64, int64, properties_of, string
from strategies import damaged, json_values
from titled_rows import titled

PACKAGE = "org.example.tools"

MANIFEST = """<manifest xmlns:android="http://schemas.android.com/apk/res/android"
package="org.example.tools">
<application android:label="Example">{}</application></manifest>"""


def service(*actions: str, meta: str = "", name: str = ".Tools", more: str = "") -> str:
    elements = "".join(f'<action android:name="{action}"/>' for action in actions)
    return (
        f'<service android:name="{name}" android:exported="true" {more}>'
        f"<intent-filter>{elements}</intent-filter>{meta}</service>"
    )


def meta_value(name: str, value: str) -> str:
    return f'<meta-data android:name="{name}" android:value="{value}"/>'


def meta_resource(name: str, reference: str) -> str:
    return f'<meta-data android:name="{name}" android:resource="{reference}"/>'


def application(inner: str, files: Mapping[str, str] | None = None) -> Application:
    tree = {"AndroidManifest.xml": MANIFEST.format(inner), **(files or {})}
    return application_from_tree({name: text.encode() for name, text in tree.items()}, path="app")


def read(inner: str, files: Mapping[str, str] | None = None) -> Reading:
    return FORMAT.read_application(application(inner, files), ReadingContext())


def read_one(inner: str, files: Mapping[str, str] | None = None) -> Provider:
    (provider,) = read(inner, files).providers
    return provider


def facts(provider: Provider) -> Mapping[str, object]:
    return provider.extensions.get("observed", {})


PROVIDER = '<provider android:name=".P" android:exported="true" android:authorities="{}">{}</provider>'
FILTER = '<intent-filter><action android:name="{}"/></intent-filter>'

# Dialect -> the component that anchors it, as the reference's paragraph gives action or authority.
ANCHORS = {
    "rosenpin-mmcp": service("io.rosenpin.mmcp.action.MCP_TOOL_SERVICE"),
    "rosenpin-documented": service("io.mmcp.action.SERVER"),
    "capapp-v1": service("com.androidmcp.capapp.BIND_V1"),
    "capapp-v0": service("com.androidmcp.tool.EXECUTE", "com.androidmcp.tool.LIST_TOOLS"),
    "capapp-documented": service("com.llmintentions.ACTION_MCP_TOOL"),
    "cetp": service("com.clawseed.action.TOOL_PROVIDER"),
    "flint": PROVIDER.format("org.example.tools.flint", ""),
    "premex": PROVIDER.format("org.example.x", FILTER.format("se.premex.mcp.MCP_PROVIDER")),
    "mabl": service("com.penumbraos.mabl.sdk.action.TOOL_SERVICE"),
    "zwdroid": service("zwdroid.mcp.sdk.McpServerService"),
    "ari": service("com.ari_os.ari.action.TOOL_PROVIDER"),
    "agentos": service("org.agentos.intent.action.PLUGIN"),
    "swiftfloris": service("dev.patrickgold.florisboard.action.BIND_MCP_DAEMON"),
    "euno": service("com.joctaeng.euno.action.MCP_SERVER"),
    "floating-agent": PROVIDER.format(
        "org.example.x", FILTER.format("jp.co.u0235.floating_ai_robo.ACTION_TOOLS")
    ),
}


def test_every_protocol_has_a_fixture() -> None:
    assert {observed_protocol.id for observed_protocol in load_observed_protocols()} == set(ANCHORS)


@pytest.mark.parametrize("dialect", ANCHORS)
def test_an_anchor_alone_gives_the_protocol_and_how_its_tools_are_found(dialect: str) -> None:
    reading = read(ANCHORS[dialect])
    (provider,) = reading.providers
    assert (provider.protocol, provider.dialect, provider.package) == ("observed", dialect, PACKAGE)
    assert provider.capabilities == ()
    (finding,) = reading.findings
    assert finding.code == "observed-tools-not-in-files"
    assert finding.source == provider.source
    assert FORMAT.phones.found_by is not None
    assert finding.hint == FORMAT.phones.found_by(provider)
    assert finding.hint
    assert FORMAT.calls.call_routes is not None
    (route,) = FORMAT.calls.call_routes(provider, DeviceFacts("36.1"))
    assert not route.ready
    assert route.needs


@titled("inner", {
    "a service with another action":
        service("android.intent.action.SYNC") + PROVIDER.format("org.example.tools.flints", ""),
    "a content provider of another app": PROVIDER.format("org.other.flint", ""),
    "a flag that is false": meta_value("com.ari_os.ari.tools", "false"),
    "a file that is not there": meta_resource("com.ari_os.ari.tools", "@xml/ari_tools"),
})  # fmt: skip
def test_an_app_without_a_known_anchor_has_no_providers(inner: str) -> None:
    assert read(inner).providers == ()


def rosenpin() -> str:
    """Return the service of rosenpin's template."""
    texts = {"name": "Phone", "description": "Calls people", "version": "1.0.0"}
    meta = described("mcp.server", **texts, capabilities="tools,resources")
    meta += meta_value("mcp.protocol.version", "2024-11-05")
    permission = 'android:permission="io.rosenpin.mmcp.permission.ACCESS_MCP_SERVICE"'
    return service("io.rosenpin.mmcp.action.MCP_SERVICE", meta=meta, more=permission)


def described(prefix: str, **texts: str) -> str:
    return "".join(meta_value(f"{prefix}.{name}", text) for name, text in texts.items())


MABL = described("com.penumbraos.mabl.sdk.metadata", DISPLAY_NAME="Battery", DESCRIPTION="How full it is")
CAPAPP = described("com.androidmcp", NAMESPACE="files", PROTOCOL_VERSION="1")
FLINT_PROVIDER = PROVIDER.format("${applicationId}.flint", "")
CLOSED_FLINT = FLINT_PROVIDER.replace(' android:exported="true"', ' android:readPermission="a.READ"')
DOCUMENTED = meta_value("mcp.capabilities", "tools:list_files, read;resources:file")


def cetp(version: str, authority: str) -> str:
    meta = described("com.clawseed.tools", authority=authority, version=version)
    return service("com.clawseed.action.TOOL_PROVIDER", meta=meta)


def agentos() -> str:
    meta = meta_value("org.agentos.plugin.assets", "agent-plugin")
    return service("org.agentos.intent.action.PLUGIN", meta=meta)


def plugin(text: str) -> dict[str, str]:
    return {"assets/agent-plugin/plugin.json": text}


EUNO = service("com.joctaeng.euno.action.MCP_SERVER")
OLD_ROSENPIN = "io.rosenpin.mcp.action"


@titled(("component", "files", "expected"), {
    "one of several authorities is enough":
        (PROVIDER.format("org.example.a;org.example.tools.flint", ""), {}, {"dialect": "flint"}),
    "a library has a placeholder until it is merged": (FLINT_PROVIDER, {}, {"dialect": "flint"}),
    "a content provider that is exported": (FLINT_PROVIDER, {}, {"access": ComponentAccess(exported=True)}),
    "a content provider is exported only if it states that": (CLOSED_FLINT, {},
        {"access": ComponentAccess(exported=False, permission="a.READ")}),
    "mabl has name and description": (service("com.penumbraos.mabl.sdk.action.TOOL_SERVICE", meta=MABL), {},
        {"name": "Battery", "description": "How full it is"}),
    # McpConstants.kt of Mobile-MCP/Mobile-MCP at commit 2edd265, before the package was renamed.
    "rosenpin's first action": (service(f"{OLD_ROSENPIN}.MCP_SERVICE"), {}, {"dialect": "rosenpin-mmcp"}),
    "rosenpin's first action of tools": (service(f"{OLD_ROSENPIN}.MCP_TOOL_SERVICE"), {},
        {"dialect": "rosenpin-mmcp"}),
    "rosenpin's template describes its server": (rosenpin(), {}, {
        "name": "Phone", "description": "Calls people",
        "access": ComponentAccess(permission="io.rosenpin.mmcp.permission.ACCESS_MCP_SERVICE"),
        "facts": {"version": "1.0.0", "capabilities": "tools,resources", "protocol_version": "2024-11-05"}}),
    "rosenpin's documented form only names its tools": (
        service("io.mmcp.action.SERVER", meta=DOCUMENTED + meta_value("mcp.version", "1.0.0")), {},
        {"ids": ["list_files", "read"], "facts": {"resources": ["file"], "version": "1.0.0"}}),
    "cetp names the content provider, its version is a number": (cetp("1", "org.example.tools.cetp"), {},
        {"facts": {"authority": "org.example.tools.cetp", "protocol_version": 1}}),
    "a number has the digits that a device prints": (cetp("2.1", "1e2"), {},
        {"facts": {"authority": 100.0, "protocol_version": 2.1}}),
    "a capapp of both versions is counted once": (
        service("com.androidmcp.capapp.BIND_V1", "com.androidmcp.tool.EXECUTE", meta=CAPAPP), {},
        {"dialect": "capapp-v1", "facts": {"namespace": "files", "protocol_version": 1}}),
    "a component that no other app may call": (EUNO.replace('exported="true"', 'exported="false"'), {},
        {"access": ComponentAccess(exported=False), "facts": {}}),
    "agentos states name and description of the plugin": (agentos(),
        plugin('{"name": "notes", "description": "Keeps notes", "extensions": {}}'),
        {"name": "notes", "description": "Keeps notes"}),
    "a plugin file that ends leaves the app's own label": (agentos(), plugin("{"),
        {"name": "Example", "description": None}),
    "a plugin file with a list leaves it": (agentos(), plugin("[]"),
        {"name": "Example", "description": None}),
    "a plugin file with another name leaves it": (agentos(), plugin('{"name": 1}'),
        {"name": "Example", "description": None}),
})  # fmt: skip
def test_a_component_is_read_with_the_facts_of_its_protocol(
    component: str, files: dict[str, str], expected: dict[str, Any]
) -> None:
    provider = read_one(component, files)
    seen = {**dict(provider), "facts": facts(provider), "ids": [item.id for item in provider.capabilities]}
    assert {word: seen[word] for word in expected} == expected


def test_two_services_of_both_versions_are_two() -> None:
    inner = service("com.androidmcp.capapp.BIND_V1") + service("com.androidmcp.tool.EXECUTE", name=".Older")
    assert [provider.dialect for provider in read(inner).providers] == ["capapp-v1", "capapp-v0"]


def test_a_label_whose_string_is_missing_is_reported() -> None:
    inner = service("com.joctaeng.euno.action.MCP_SERVER", more='android:label="@string/none"')
    assert "S82" in [finding.rule for finding in read(inner).findings]


def test_an_ari_app_of_links_only_is_known_by_a_flag() -> None:
    assert read_one(meta_value("com.ari_os.ari.tools", "true")).component is None


@pytest.mark.parametrize(("dialect", "meta", "asset"), [
    ("ari", "", "ari_tools.json"),
    ("agentos", meta_value("org.agentos.plugin.assets", "plugin"), "plugin/plugin.json"),
])  # fmt: skip
def test_a_file_that_is_not_a_text_leaves_other_protocols_readable(
    dialect: str, meta: str, asset: str
) -> None:
    anchor = ANCHORS[dialect].replace("</service>", f"{meta}</service>")
    manifest = MANIFEST.format(anchor + ANCHORS["mabl"]).encode()
    tree = {"AndroidManifest.xml": manifest, f"assets/{asset}": b'{"name": "\xff\xfe"}'}
    built = pack_project(tree, key=signing_key("ec"))
    with open_apk(MemorySource(built, name="app.apk")) as apk:
        with pytest.raises(InputError):
            ApkResources(apk).read_asset(asset)
        reading = FORMAT.read_application(read_application(apk), ReadingContext())
    assert {provider.dialect for provider in reading.providers} == {dialect, "mabl"}


def test_a_declaration_that_cannot_be_read_is_reported_and_the_app_is_still_seen() -> None:
    reading = read(ANCHORS["ari"], {"assets/ari_tools.json": '{"tools": []}'})
    assert [provider.dialect for provider in reading.providers] == ["ari"]
    (finding,) = reading.findings
    assert "its declaration cannot be read" in finding.message
    assert "app/assets/ari_tools.json" in finding.message


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
    assert alone.changed({"capabilities": in_app.capabilities}).content_digest() == alone.content_digest()


@pytest.mark.parametrize("version", [None, 0, 3, "2", True], ids=repr)
def test_ari_reads_nothing_of_another_version(version: object) -> None:
    with pytest.raises(InputError, match="declaration version"):
        read_tools("ari", json.dumps({**ARI, "declarationVersion": version}), Place(path="p"))


@titled(("tool", "reason"), {
    "a tool that is a number": (1, "a tool is not a JSON object"),
    "a tool without a name": ({"description": "x"}, "it has no name"),
    "arguments that are a number": ({"name": "a", "args": 1}, "its arguments are not a list"),
    "an argument without a name": ({"name": "a", "args": [{"type": "int"}]}, "it has no name"),
    "an unknown type":
        ({"name": "a", "args": [{"name": "b", "type": "colour"}]}, "the type 'colour' is not known"),
    "an empty enum": ({"name": "a", "args": [{"name": "b", "type": "enum"}]}, "an enum lists no values"),
    "a tool that is there twice": (ARI["tools"][0], "'add_circle' is declared twice"),  # type: ignore[index]
})  # fmt: skip
def test_a_broken_tool_is_left_out_and_reported(tool: Any, reason: str) -> None:
    tools = [*ARI["tools"], tool]  # type: ignore[misc]
    declared = read_tools("ari", json.dumps({**ARI, "tools": tools}), Place(path="p"))
    assert [item.id for item in declared.capabilities] == ["add_circle", "remove_circles"]
    (finding,) = declared.findings
    assert finding.code == "observed-tool-left-out"
    assert reason in finding.message


def test_swiftfloris_keeps_each_schema_as_a_text() -> None:
    schema = '{"type": "object", "properties": {"days": {"type": "integer"}}}'
    following = {"name": "calendar.next", "description": "Next event", "parameterSchema": schema}
    catalog = json.dumps({"tools": [following, {"name": "ping"}, {"name": "bad", "parameterSchema": "{"}]})
    key = "dev.patrickgold.florisboard.mcp"
    meta = meta_resource(f"{key}.tool_catalog", "@raw/tools") + meta_value(f"{key}.protocol_version", "1")
    app = service("dev.patrickgold.florisboard.action.BIND_MCP_DAEMON", meta=meta)
    reading = read(app, {"res/raw/tools.json": catalog})
    (provider,) = reading.providers
    assert [item.id for item in provider.capabilities] == ["calendar.next", "ping"]
    assert properties_of(provider.capabilities[0].input)["days"].type == int64()
    assert facts(provider) == {"protocol_version": 1}
    assert [item.code for item in reading.findings] == ["observed-tool-left-out"]
    assert read_text(catalog).dialect == "swiftfloris"


def test_zwdroid_lists_functions_in_a_raw_resource() -> None:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    function = {"name": "forecast", "description": "Weather to come", "parameters": schema}
    meta = meta_resource("mcp.tools", "@raw/tools") + meta_value("mcp.description", "Weather")
    app = service("zwdroid.mcp.sdk.McpServerService", meta=meta)
    functions = json.dumps([{"type": "function", "function": function}])
    provider = read_one(app, {"res/raw/tools.json": functions})
    assert provider.description == "Weather"
    (capability,) = provider.capabilities
    assert (capability.id, capability.description) == ("forecast", "Weather to come")
    assert properties_of(capability.input)["place"].required


def test_a_list_of_functions_without_an_app_is_not_claimed() -> None:
    assert FORMAT.detect(SourceFile("a.json", b'[{"type": "function", "function": {"name": "a"}}]')) == 0


MCP_TOOLS = """<mcp-tools namespace="files" version="1.0">
<tool name="read" description="Reads a file" since="2">
<param name="path" type="string" required="true" description="Which one"/>
<param name="lines" type="integer"/></tool>
<tool description="nameless"/><note/></mcp-tools>"""


def test_the_first_capapp_specification_has_an_xml_of_tools() -> None:
    meta = meta_resource("com.llmintentions.mcp.tools", "@xml/tools")
    app = service("com.llmintentions.ACTION_MCP_TOOL", meta=meta)
    reading = read(app, {"res/xml/tools.xml": MCP_TOOLS})
    (provider,) = reading.providers
    (capability,) = provider.capabilities
    assert capability.extensions == {"observed": {"since": "2"}}
    assert capability.source is not None
    assert (capability.source.path, capability.source.line) == ("app/res/xml/tools.xml", 2)
    path, lines = properties_of(capability.input).values()
    assert path.required
    assert path.type.description == "Which one"
    assert lines.type == int64()
    assert facts(provider) == {"namespace": "files", "version": "1.0"}
    reasons = [finding.message.partition(": ")[2] for finding in reading.findings]
    assert reasons == ["it has no name", "<note> is not a <tool>"]
    assert read_text(MCP_TOOLS).dialect == "capapp-documented"


def test_a_flint_schema_is_flint_s_and_no_list_of_mcp() -> None:
    provider = read_text(json.dumps(FLINT))
    assert (provider.dialect, provider.name) == ("flint", "Music")
    assert provider.capabilities[0].extensions == {"observed": {"target": "home"}}
    assert facts(provider) == {"version": "1.0"}


JSON_VALUES = json_values(st.floats(allow_nan=False), most=12)
MEMBERS = ["name", "type", "values", "args", "tools", "function", "parameters", "parameterSchema", "required"]
TOOL = st.dictionaries(st.sampled_from(MEMBERS), JSON_VALUES | st.just("int"), max_size=5)


@pytest.mark.parametrize("form", ["ari", "catalog", "functions", "named-lists"])
@given(tools=st.lists(TOOL | JSON_VALUES, max_size=4) | JSON_VALUES, shape=st.sampled_from(["", "tools"]))
def test_any_input_is_read_or_refused_with_a_typed_error(form: ToolsForm, tools: Any, shape: str) -> None:
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
