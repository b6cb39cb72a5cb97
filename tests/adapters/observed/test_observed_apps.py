"""Each observed protocol is recognised by its anchor; its reader reports only what the files say."""

import pytest

from adapters.observed.observed_fixtures import (
    MANIFEST,
    facts,
    meta_resource,
    meta_value,
    read,
    read_one,
    service,
)
from droidgate_android.apk.apk_application import ApkResources, read_application
from droidgate_android.apk.apk_files import MemorySource
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_mappings.formats.installed import DeviceFacts
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.tables.observed import load_observed_protocols
from droidgate_observed.format import FORMAT
from droidgate_phone.apps.sample_packages import signing_key

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
def test_the_anchor_alone_says_the_protocol_and_what_would_find_its_tools(dialect: str) -> None:
    reading = read(ANCHORS[dialect])
    (provider,) = reading.providers
    assert (provider.protocol, provider.dialect, provider.package) == (
        "observed",
        dialect,
        "org.example.tools",
    )
    assert provider.capabilities == ()
    (finding,) = reading.findings
    assert finding.code == "observed-tools-not-in-files"
    assert finding.source == provider.source
    assert FORMAT.what_would_find is not None
    assert finding.hint == FORMAT.what_would_find(provider)
    assert finding.hint


@pytest.mark.parametrize("dialect", ANCHORS)
def test_it_is_said_that_only_its_own_agent_calls_it(dialect: str) -> None:
    provider = read_one(ANCHORS[dialect])
    assert FORMAT.call_routes is not None
    (route,) = FORMAT.call_routes(provider, DeviceFacts("36.1"))
    assert not route.ready
    assert route.needs


def test_an_ordinary_app_is_none_of_them() -> None:
    inner = service("android.intent.action.SYNC") + PROVIDER.format("org.example.tools.flints", "")
    assert read(inner).providers == ()


def test_an_authority_of_another_package_is_not_a_flint() -> None:
    assert read(PROVIDER.format("org.other.flint", "")).providers == ()


def test_one_of_several_authorities_is_enough() -> None:
    assert read_one(PROVIDER.format("org.example.a;org.example.tools.flint", "")).dialect == "flint"


def test_a_library_says_its_authority_by_a_placeholder_until_it_is_merged() -> None:
    source = (
        '<provider android:name=".P" android:exported="true" android:authorities="${applicationId}.flint"/>'
    )
    assert read_one(source).dialect == "flint"


def test_mabl_says_name_and_description() -> None:
    prefix = "com.penumbraos.mabl.sdk.metadata"
    meta = meta_value(f"{prefix}.DISPLAY_NAME", "Battery") + meta_value(
        f"{prefix}.DESCRIPTION", "How full it is"
    )
    provider = read_one(service("com.penumbraos.mabl.sdk.action.TOOL_SERVICE", meta=meta))
    assert (provider.name, provider.description) == ("Battery", "How full it is")


@pytest.mark.parametrize(
    "action", ["io.rosenpin.mcp.action.MCP_SERVICE", "io.rosenpin.mcp.action.MCP_TOOL_SERVICE"]
)
def test_rosenpins_first_action_names_are_known(action: str) -> None:
    # McpConstants.kt of Mobile-MCP/Mobile-MCP at commit 2edd265, before the package was renamed.
    assert read_one(service(action)).dialect == "rosenpin-mmcp"


def test_rosenpin_template_says_what_its_server_is() -> None:
    meta = (
        meta_value("mcp.server.name", "Phone")
        + meta_value("mcp.server.description", "Calls people")
        + meta_value("mcp.server.version", "1.0.0")
        + meta_value("mcp.server.capabilities", "tools,resources")
        + meta_value("mcp.protocol.version", "2024-11-05")
    )
    permission = 'android:permission="io.rosenpin.mmcp.permission.ACCESS_MCP_SERVICE"'
    provider = read_one(service("io.rosenpin.mmcp.action.MCP_SERVICE", meta=meta, more=permission))
    assert (provider.name, provider.description) == ("Phone", "Calls people")
    assert facts(provider) == {
        "version": "1.0.0",
        "capabilities": "tools,resources",
        "protocol_version": "2024-11-05",
    }
    assert provider.access.permission == "io.rosenpin.mmcp.permission.ACCESS_MCP_SERVICE"


def test_cetp_names_the_content_provider_and_its_version_is_a_number() -> None:
    meta = meta_value("com.clawseed.tools.authority", "org.example.tools.cetp") + meta_value(
        "com.clawseed.tools.version", "1"
    )
    provider = read_one(service("com.clawseed.action.TOOL_PROVIDER", meta=meta))
    assert facts(provider) == {"authority": "org.example.tools.cetp", "protocol_version": 1}


def test_a_capapp_of_both_versions_is_counted_once() -> None:
    meta = meta_value("com.androidmcp.NAMESPACE", "files") + meta_value(
        "com.androidmcp.PROTOCOL_VERSION", "1"
    )
    both = service("com.androidmcp.capapp.BIND_V1", "com.androidmcp.tool.EXECUTE", meta=meta)
    provider = read_one(both)
    assert provider.dialect == "capapp-v1"
    assert facts(provider) == {"namespace": "files", "protocol_version": 1}


def test_two_services_of_both_versions_are_two() -> None:
    inner = service("com.androidmcp.capapp.BIND_V1") + service("com.androidmcp.tool.EXECUTE", name=".Older")
    assert [provider.dialect for provider in read(inner).providers] == ["capapp-v1", "capapp-v0"]


def test_a_component_that_no_other_app_may_call_says_so() -> None:
    inner = service("com.joctaeng.euno.action.MCP_SERVER").replace('exported="true"', 'exported="false"')
    assert read_one(inner).access == ComponentAccess(exported=False)
    assert facts(read_one(inner)) == {}


def test_a_number_has_the_digits_that_a_device_prints() -> None:
    meta = meta_value("com.clawseed.tools.version", "2.1") + meta_value("com.clawseed.tools.authority", "1e2")
    provider = read_one(service("com.clawseed.action.TOOL_PROVIDER", meta=meta))
    assert facts(provider) == {"authority": 100.0, "protocol_version": 2.1}


def test_a_content_provider_is_exported_only_if_it_says_so() -> None:
    stated = PROVIDER.format("${applicationId}.flint", "")
    assert read_one(stated).access == ComponentAccess(exported=True)
    unstated = stated.replace(' android:exported="true"', ' android:readPermission="a.READ"')
    assert read_one(unstated).access == ComponentAccess(exported=False, permission="a.READ")


def test_a_label_whose_string_is_missing_is_reported() -> None:
    inner = service("com.joctaeng.euno.action.MCP_SERVER", more='android:label="@string/none"')
    assert "S82" in [finding.rule for finding in read(inner).findings]


def test_agentos_says_name_and_description_of_the_plugin() -> None:
    meta = meta_value("org.agentos.plugin.assets", "agent-plugin")
    plugin = '{"name": "notes", "description": "Keeps notes", "extensions": {}}'
    files = {"assets/agent-plugin/plugin.json": plugin}
    provider = read_one(service("org.agentos.intent.action.PLUGIN", meta=meta), files)
    assert (provider.name, provider.description) == ("notes", "Keeps notes")


@pytest.mark.parametrize("plugin", ["{", "[]", '{"name": 1}'])
def test_a_broken_plugin_file_leaves_the_app_s_own_label(plugin: str) -> None:
    meta = meta_value("org.agentos.plugin.assets", "agent-plugin")
    files = {"assets/agent-plugin/plugin.json": plugin}
    provider = read_one(service("org.agentos.intent.action.PLUGIN", meta=meta), files)
    assert (provider.name, provider.description) == ("Example", None)


def test_an_ari_app_of_links_only_is_known_by_a_flag() -> None:
    flagged = meta_value("com.ari_os.ari.tools", "true")
    assert read_one(flagged).component is None
    assert read(meta_value("com.ari_os.ari.tools", "false")).providers == ()
    assert read(meta_resource("com.ari_os.ari.tools", "@xml/ari_tools")).providers == ()


@pytest.mark.parametrize(
    ("dialect", "meta", "asset"),
    [
        ("ari", "", "ari_tools.json"),
        ("agentos", meta_value("org.agentos.plugin.assets", "plugin"), "plugin/plugin.json"),
    ],
)
def test_a_file_that_is_not_a_text_costs_its_own_protocol_alone(dialect: str, meta: str, asset: str) -> None:
    anchor = ANCHORS[dialect].replace("</service>", f"{meta}</service>")
    built = pack_project(
        {
            "AndroidManifest.xml": MANIFEST.format(anchor + ANCHORS["mabl"]).encode(),
            f"assets/{asset}": b'{"name": "\xff\xfe"}',
        },
        key=signing_key(),
    )
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
