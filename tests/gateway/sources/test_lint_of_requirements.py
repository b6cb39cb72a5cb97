"""For each requirement of the five specifications that a descriptor can break: a planted breach that `lint`
finds, in an app that has no finding without it.

Not for a descriptor to break, and so not here:
- Mobile-MCP sections 2, 3.1 and 3.3 bind agents, and 3.2 binds a running tool; `droidgate verify` calls it.
- The paper of Mobile-MCP refers to the specification for what an app declares.
- mMCP section 3 names the extras of a call, and section 4 the query of a client; the version of the protocol
  has no place in the specification's manifest, so a manifest without one has a note.
- UFO's commands (tools 1 to 13) are fixed by the two servers: the required parameters of `type_text` and
  `click_control`, and the limits of `wait`, are those of a call. `serve-mobile-agent` checks them.
- The article on AppFunctions, sections 4.3 and 6: what a service's code does, and what a caller passes.
"""

from pathlib import Path
from typing import TypeAlias

import pytest

from droidgate.sources.linting import lint
from droidgate_mappings.model.findings import Level
from gateway.sources.formats_of_tests import write_tree
from titled_rows import titled

pytestmark = pytest.mark.usefixtures("own_folder")

NAMESPACE = 'xmlns:android="http://schemas.android.com/apk/res/android"'
MANIFEST = "AndroidManifest.xml"


def manifest_of(application: str) -> str:
    inside = f"<application>{application}</application>"
    return f'<manifest {NAMESPACE} package="com.example.app">\n{inside}\n</manifest>'


TOOL = """
<service android:name=".LampService" android:exported="true">
  <intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>
  <meta-data android:name="mobile.mcp.tool.name" android:value="Lamp"/>
  <meta-data android:name="mobile.mcp.tool.description" android:value="Switches the lamp"/>
  <meta-data android:name="mobile.mcp.tool.capabilities" android:resource="@xml/mcp_capabilities"/>
</service>"""
CAPABILITIES = "res/xml/mcp_capabilities.xml"
MOBILE_MCP = {
    MANIFEST: manifest_of(TOOL),
    CAPABILITIES: """<mobile-mcp-capabilities version="1.0">
  <capability id="dim" description="Dims the lamp" version="1">
    <input>
      <param name="level" type="integer" required="true" description="Percent"/>
    </input>
    <output>
      <param name="before" type="integer" description="Percent before"/>
    </output>
  </capability>
  <capability id="off" description="Switches off" version="1"/>
</mobile-mcp-capabilities>
""",
}

TOOLS = """{
  "instructions": "Reads documents",
  "protocolVersion": "1.0",
  "tools": [
    {
      "name": "read",
      "description": "Reads a document",
      "parameters": {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}
    },
    {"name": "close", "description": "Closes it", "parameters": {"type": "object", "properties": {}}}
  ]
}"""
ACTIVITY = f"""
<activity android:name=".Tools" android:exported="true">
  <intent-filter>
    <action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>
    <action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>
    <category android:name="android.intent.category.DEFAULT"/>
  </intent-filter>
  <meta-data android:name="mMCP_manifest" android:value='{TOOLS}'/>
</activity>"""
MMCP = {MANIFEST: manifest_of(ACTIVITY)}

SERVICE = """
<service android:name=".Notes" android:exported="true"
    android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
  <intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>
  <property android:name="android.app.appfunctions.schema" android:value="notes_schema.xml"/>
  <property android:name="android.app.appfunctions.v2" android:value="notes.xml"/>
</service>"""
SCHEMA, FUNCTIONS = "assets/notes_schema.xml", "assets/notes.xml"
APP_FUNCTIONS = {
    MANIFEST: manifest_of(SERVICE),
    SCHEMA: """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:documentType name="AppFunctionStaticMetadata">
    <xs:element name="functionId" type="xs:string" cardinality="2" indexingType="1" tokenizerType="2"/>
    <xs:element name="packageName" type="xs:string" cardinality="2" indexingType="1" tokenizerType="2"/>
    <xs:element name="schemaName" type="xs:string" cardinality="2" indexingType="1" tokenizerType="2"/>
    <xs:element name="schemaVersion" type="xs:long" cardinality="2" indexingType="1"/>
    <xs:element name="schemaCategory" type="xs:string" cardinality="2" indexingType="1" tokenizerType="2"/>
    <xs:element name="enabledByDefault" type="xs:boolean" cardinality="2"/>
    <xs:element name="restrictCallersWithExecuteAppFunctions" type="xs:boolean" cardinality="2"/>
    <xs:element name="displayNameStringRes" type="xs:long" cardinality="2"/>
    <xs:element name="mobileApplicationQualifiedId" type="xs:string" cardinality="2" joinableValueType="1"/>
    <xs:element name="paramNames" type="xs:string" cardinality="1"/>
    <xs:element name="paramTypes" type="xs:string" cardinality="1"/>
    <xs:element name="paramRequired" type="xs:boolean" cardinality="1"/>
    <xs:element name="description" type="xs:string" cardinality="2"/>
  </xs:documentType>
</xs:schema>
""",
    FUNCTIONS: """<appfunctions>
  <AppFunctionStaticMetadata>
    <id>makeNote</id>
    <functionId>makeNote</functionId>
    <schemaName>makeNote</schemaName>
    <schemaVersion>1</schemaVersion>
    <schemaCategory>notes</schemaCategory>
    <enabledByDefault>true</enabledByDefault>
    <description>Makes a note</description>
    <paramNames>title</paramNames>
    <paramTypes>string</paramTypes>
    <paramRequired>true</paramRequired>
    <paramNames>stars</paramNames>
    <paramTypes>int</paramTypes>
    <paramRequired>false</paramRequired>
  </AppFunctionStaticMetadata>
</appfunctions>
""",
}

Tree: TypeAlias = dict[str, str]
CLEAN: dict[str, Tree] = {"Mobile-MCP": MOBILE_MCP, "mMCP": MMCP, "AppFunctions": APP_FUNCTIONS}

META = '  <meta-data android:name="mobile.mcp.tool.{}" android:{}="{}"/>\n'
NAME = META.format("name", "value", "Lamp")
DESCRIPTION = META.format("description", "value", "Switches the lamp")
POINTER = META.format("capabilities", "resource", "@xml/mcp_capabilities")
LOOSE = '<param name="a" type="string" required="true" description="A"/>'
FILTER = '<intent-filter><action android:name="mobile.mcp.SERVICE"/></intent-filter>'
READ_INPUT = '{"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}'
NAMED = '<property android:name="android.app.appfunctions.{}" android:value="{}"/>'
BIND = 'android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"'

# Title with the section; the code that finds it; the file, what is replaced in it, and by what.
# fmt: off
BREACHES: dict[str, tuple[str, str, str, str]] = {
    "Mobile-MCP 1.1: a tool has exactly one service":
        ("one-service", MANIFEST, TOOL, TOOL + TOOL.replace(".Lamp", ".Other")),
    "Mobile-MCP 1.1: the filter and the meta-data are inside a service":
        ("meta-data-in-service", MANIFEST, TOOL,
        TOOL.replace("<service", "<activity").replace("</service", "</activity")),
    "Mobile-MCP 1.1: no meta-data is outside of the service":
        ("meta-data-in-service", MANIFEST, TOOL, TOOL + NAME),
    "Mobile-MCP 1.1.1: the filter has the action of the protocol":
        ("action", MANIFEST, "mobile.mcp.SERVICE", "mobile.mcp.TOOL"),
    "Mobile-MCP 1.1.1: there is a filter": ("action", MANIFEST, FILTER, ""),
    "Mobile-MCP 1.1.2: the name of the tool is required": ("tool-name", MANIFEST, NAME, ""),
    "Mobile-MCP 1.1.2: the name of the tool is a string":
        ("tool-name-text", MANIFEST, NAME, META.format("name", "value", "2048")),
    "Mobile-MCP 1.1.3: the description of the tool is required":
        ("tool-description", MANIFEST, DESCRIPTION, ""),
    "Mobile-MCP 1.1.3: the description of the tool is a string":
        ("tool-description-text", MANIFEST, DESCRIPTION, META.format("description", "value", "true")),
    "Mobile-MCP 1.1.4: the descriptor is required": ("tool-capabilities", MANIFEST, POINTER, ""),
    "Mobile-MCP 1.1.4: the descriptor is a resource":
        ("xml-resource", MANIFEST, POINTER, META.format("capabilities", "value", "@xml/mcp_capabilities")),
    "Mobile-MCP 1.1.4: the descriptor is an XML resource":
        ("xml-resource", MANIFEST, POINTER, META.format("capabilities", "resource", "@raw/mcp_capabilities")),
    "Mobile-MCP 1.1.4: the meta-data points to the descriptor":
        ("descriptor-file", MANIFEST, "@xml/mcp_capabilities", "@xml/capabilities"),
    "Mobile-MCP 1.2: the descriptor is an XML file":
        ("well-formed", CAPABILITIES, "</mobile-mcp-capabilities>", ""),
    "Mobile-MCP 1.2.1: the root has its name": ("root", CAPABILITIES, "mobile-mcp-capabilities", "mcp"),
    "Mobile-MCP 1.2.1: the version is required": ("version", CAPABILITIES, ' version="1.0"', ""),
    "Mobile-MCP 1.2.1: the version is 1.0": ("version", CAPABILITIES, 'version="1.0"', 'version="1"'),
    "Mobile-MCP 1.2.2: a capability is inside the root":
        ("part-in-place", CAPABILITIES, '<capability id="off" description="Switches off" version="1"/>',
        '<group><capability id="off" description="Switches off" version="1"/></group>'),
    "Mobile-MCP 1.2.2: a parameter is inside its list":
        ("part-in-place", CAPABILITIES, 'off" version="1"/>', f'off" version="1">{LOOSE}</capability>'),
    "Mobile-MCP 1.2.2: a capability has one input":
        ("one-input-output", CAPABILITIES, "<output>", "<input/><output>"),
    "Mobile-MCP 1.2.2: a capability has one output":
        ("one-input-output", CAPABILITIES, "<output>", "<output/><output>"),
    "Mobile-MCP 1.2.2: a capability has an id": ("capability-id", CAPABILITIES, 'id="off" ', ""),
    "Mobile-MCP 1.2.2: an id is unique in the tool":
        ("capability-id-unique", CAPABILITIES, 'id="off"', 'id="dim"'),
    "Mobile-MCP 1.2.2: a capability has a description":
        ("capability-description", CAPABILITIES, 'description="Switches off" ', ""),
    "Mobile-MCP 1.2.2: a capability has a version":
        ("capability-version", CAPABILITIES, 'off" version="1"', 'off"'),
    "Mobile-MCP 1.2.2: an input has a name": ("param-name", CAPABILITIES, 'name="level" ', ""),
    "Mobile-MCP 1.2.2: an input has a type":
        ("param-type", CAPABILITIES, 'type="integer" required', "required"),
    "Mobile-MCP 1.2.2: an input states whether it is required":
        ("param-required", CAPABILITIES, 'required="true" ', ""),
    "Mobile-MCP 1.2.2: required is true or false":
        ("param-required", CAPABILITIES, 'required="true"', 'required="1"'),
    "Mobile-MCP 1.2.2: an input has a description":
        ("param-description", CAPABILITIES, ' description="Percent"', ""),
    "Mobile-MCP 1.2.2: an output has a name": ("param-name", CAPABILITIES, 'name="before" ', ""),
    "Mobile-MCP 1.2.2: an output has a type":
        ("param-type", CAPABILITIES, 'name="before" type="integer"', 'name="before"'),
    "Mobile-MCP 1.2.2: an output has a description":
        ("param-description", CAPABILITIES, ' description="Percent before"', ""),
    "mMCP 1: a tool has a name": ("tool-name", MANIFEST, '"name": "close", ', ""),
    "mMCP 1: the name of a tool is unique": ("tool-name-unique", MANIFEST, '"close"', '"read"'),
    "mMCP 1: a tool has a description": ("tool-description", MANIFEST, '"description": "Closes it", ', ""),
    "mMCP 1: the description is readable": ("tool-description", MANIFEST, "Closes it", ""),
    "mMCP 1: a tool has parameters": ("parameters", MANIFEST, f',\n      "parameters": {READ_INPUT}', ""),
    "mMCP 1: the parameters are a JSON Schema": ("parameters-schema", MANIFEST, READ_INPUT, '["page"]'),
    "mMCP 1: the parameters are a JSON Schema, not a map of words":
        ("flat-parameters", MANIFEST, READ_INPUT, '{"page": "integer"}'),
    "mMCP 1: the types are those of JSON Schema": ("schema-form", MANIFEST, '"integer"', '"int"'),
    "mMCP 1: the required inputs are described":
        ("schema-required-unknown", MANIFEST, '["page"]', '["line"]'),
    "mMCP 1: the references of the schema lead to something":
        ("schema-reference", MANIFEST, '{"type": "integer"}', '{"$ref": "#/$defs/page"}'),
    "mMCP 1: the patterns of the schema are regular expressions":
        ("schema-pattern", MANIFEST, '{"type": "integer"}', '{"type": "string", "pattern": "[0-9"}'),
    "mMCP 2: an app advertises by the action":
        ("advertise-action", MANIFEST, '<action android:name="com.example.mMCP.ACTION_TOOL_ADVERTISE"/>', ""),
    "mMCP 2: the meta-data has the manifest": ("meta-data", MANIFEST, "mMCP_manifest", "mmcp_tools"),
    "mMCP 2: the manifest is JSON": ("json", MANIFEST, '"Reads documents",', '"Reads documents"'),
    "mMCP 2: the manifest has instructions":
        ("instructions", MANIFEST, '  "instructions": "Reads documents",\n', ""),
    "mMCP 2: the instructions are a string": ("instructions", MANIFEST, '"Reads documents"', "5"),
    "mMCP 2: the instructions give context": ("instructions", MANIFEST, '"Reads documents"', '""'),
    "mMCP 2: the tools are an array":
        ("tools", MANIFEST, TOOLS, '{"instructions": "Reads", "protocolVersion": "1.0", "tools": {}}'),
    "mMCP 2: the filter has the category DEFAULT":
        ("default-category", MANIFEST, '<category android:name="android.intent.category.DEFAULT"/>', ""),
    "mMCP 3: a tool is called by the action":
        ("call-action", MANIFEST, '<action android:name="com.example.mMCP.ACTION_TOOL_CALL"/>', ""),
    "mMCP 3: a tool is called by starting an activity":
        ("activity", MANIFEST, ACTIVITY,
        ACTIVITY.replace("<activity", "<service").replace("</activity", "</service")),
    "mMCP 3: other apps can start the activity":
        ("exported", MANIFEST, 'exported="true"', 'exported="false"'),
    "mMCP 4: a query finds the activity":
        ("enabled", MANIFEST, 'exported="true"', 'exported="true" android:enabled="false"'),
    "mMCP Protocol Version: the version is 1.0":
        ("version", MANIFEST, '"protocolVersion": "1.0"', '"protocolVersion": "2.0"'),
    "AppFunctions 4.1: the schema declares the type of functions":
        ("no-function-type", SCHEMA, "AppFunctionStaticMetadata", "NoteFunctions"),
    "AppFunctions 4.1: the schema declares functionId again":
        ("base-property", SCHEMA, "functionId", "callId"),
    "AppFunctions 4.1: the schema declares packageName again":
        ("base-property", SCHEMA, "packageName", "package"),
    "AppFunctions 4.1: a property is indexed as the platform does":
        ("base-property", SCHEMA, 'name="packageName" type="xs:string" cardinality="2" indexingType="1"',
        'name="packageName" type="xs:string" cardinality="2" indexingType="2"'),
    "AppFunctions 4.1: a property has the type of the platform":
        ("base-property", SCHEMA, 'name="enabledByDefault" type="xs:boolean"',
        'name="enabledByDefault" type="xs:string"'),
    "AppFunctions 4.1: the functions have the properties of the schema":
        ("unknown-tag", FUNCTIONS, "</AppFunctionStaticMetadata>",
        "<colour>red</colour></AppFunctionStaticMetadata>"),
    "AppFunctions 4.2: the root is appfunctions": ("root", FUNCTIONS, "appfunctions>", "functions>"),
    "AppFunctions 4.2: a function has its fixed tag":
        ("not-functions", FUNCTIONS, "AppFunctionStaticMetadata>", "NoteFunction>"),
    "AppFunctions 4.2: a function has an id": ("missing-id", FUNCTIONS, "<id>makeNote</id>", ""),
    "AppFunctions 4.2: a function has a functionId":
        ("no-function-id", FUNCTIONS, "<functionId>makeNote</functionId>", ""),
    "AppFunctions 4.2: names, types and flags of the parameters correspond":
        ("uneven-lists", FUNCTIONS, "<paramTypes>int</paramTypes>", ""),
    "AppFunctions 4.2: a flag of a parameter is true or false":
        ("bad-boolean", FUNCTIONS, "<paramRequired>false", "<paramRequired>maybe"),
    "AppFunctions 4.2: a version is a number":
        ("bad-number", FUNCTIONS, "<schemaVersion>1<", "<schemaVersion>1.0<"),
    "AppFunctions 4.4: the service requires the permission": ("missing-permission", MANIFEST, BIND, ""),
    "AppFunctions 4.4: the filter has the action":
        ("service-action", MANIFEST, "android.app.appfunctions.AppFunctionService", "com.example.NOTES"),
    "AppFunctions 4.4: the schema file is named":
        ("no-schema", MANIFEST, NAMED.format("schema", "notes_schema.xml"), ""),
    "AppFunctions 4.4: the file of functions is named":
        ("no-file", MANIFEST, NAMED.format("v2", "notes.xml"), ""),
    "AppFunctions 4.4: the named file is there": ("missing-file", MANIFEST, '"notes.xml"', '"note.xml"'),
    "AppFunctions 4.4: the files are named by properties":
        ("meta-data", MANIFEST, "property", "meta-data"),
}
# fmt: on
PREFIXES = {"Mobile-MCP": "mobile-mcp-", "mMCP": "mmcp-", "AppFunctions": "appfunctions-"}


def codes_of(tree: Tree) -> list[str]:
    write_tree(Path("app"), tree)
    return [finding.code for finding in lint("app").findings]


@pytest.mark.parametrize("specification", CLEAN)
def test_an_app_that_meets_every_requirement_has_no_finding(specification: str) -> None:
    assert codes_of(CLEAN[specification]) == []


@pytest.mark.parametrize(("title", "code", "path", "kept", "planted"), [
    pytest.param(title, *row, id=title) for title, row in BREACHES.items()
])  # fmt: skip
def test_a_planted_breach_is_found(title: str, code: str, path: str, kept: str, planted: str) -> None:
    specification = title.partition(" ")[0]
    tree = CLEAN[specification]
    assert kept in tree[path]
    codes = codes_of({**tree, path: tree[path].replace(kept, planted)})
    assert (code if code.startswith("schema-") else PREFIXES[specification] + code) in codes


APP = "app/src/main"
NAMED = (
    '<manifest xmlns:android="http://schemas.android.com/apk/res/android"><application>'
    '<activity android:name="{}"/></application></manifest>'
)
PROJECT = {
    "app/build.gradle.kts": 'android { namespace = "com.shop" }',
    f"{APP}/java/com/shop/Main.kt": "package com.shop\nclass Main\nclass Second",
    f"{APP}/java/com/shop/ui/Home.java": '@Entry(serviceName = "Made") package com.shop.ui; class Home {}',
}


@titled(("name", "files", "is_missing"), {
    "a class of a file": (".Main", {}, False),
    "a second class of a Kotlin file": (".Second", {}, False),
    "a class of a package below": (".ui.Home", {}, False),
    "a class that nothing holds": (".Gone", {}, True),
    "a class of the app that is written in full": ("com.shop.Gone", {}, True),
    "a class that no file of a package has": (".ui.Gone", {}, True),
    "a name that an annotation may generate": (".Made", {}, False),
    "a class of a library": ("androidx.work.Worker", {}, False),
    "a class of a package that is not here": (".other.Gone", {}, False),
    "a nested class": (".Main$Inner", {}, False),
    "a placeholder": ("${mainActivity}", {}, False),
    "a class of another module": (".Core", {"core/src/main/java/com/shop/Core.kt": "class Core"}, False),
    "a tree with compiled classes": (".Gone", {"app/libs/more.jar": ""}, False),
    "Gradle's own archive": (".Gone", {"gradle/wrapper/gradle-wrapper.jar": ""}, True),
    "a class of a manifest of one build type":
        (".Main", {"app/src/debug/AndroidManifest.xml": NAMED.format(".Gone")}, True),
    "an alias": ('.Gone" android:targetActivity=".Main', {}, False),
})  # fmt: skip
def test_a_component_is_reported_where_its_class_is_certainly_missing(
    name: str, files: dict[str, str], *, is_missing: bool
) -> None:
    write_tree(Path("shop"), {**PROJECT, f"{APP}/AndroidManifest.xml": NAMED.format(name), **files})
    found = [finding.source for finding in lint("shop").findings if finding.code == "component-class-missing"]
    assert [place and place.line for place in found] == [1] * is_missing


def test_lint_of_a_project_reports_a_manifest_that_only_a_sample_may_have() -> None:
    manifest = NAMED.format(".Main").replace("xmlns:", "")
    write_tree(Path("shop"), {**PROJECT, f"{APP}/AndroidManifest.xml": manifest})
    assert [(item.rule, item.level) for item in lint("shop").findings] == [("S80", Level.WARNING)]
    assert lint(f"shop/{APP}/AndroidManifest.xml").findings == ()


def test_lint_of_a_project_reads_the_texts_of_every_language() -> None:
    files = {f"{APP}/res/values-fr/s.xml": "<resources>\n<string name='a'>d'accord</string></resources>"}
    write_tree(Path("shop"), {**PROJECT, f"{APP}/AndroidManifest.xml": NAMED.format(".Main"), **files})
    (finding,) = lint("shop").findings
    assert (finding.code, finding.level, str(finding.source)) == (
        "unescaped-apostrophe",
        Level.ERROR,
        f"shop/{APP}/res/values-fr/s.xml:2",
    )


FILTERED = '<{0} android:name=".Main" {1}><intent-filter>{2}</intent-filter></{0}>'
VIEW = '<action android:name="android.intent.action.VIEW"/>'


# AOSP ParsedActivityUtils, ParsedServiceUtils, ParsedMainComponentUtils; Android 12 changes, "exported".
@titled(("component", "target", "levels"), {
    **{f"a {kind} for Android 12": (FILTERED.format(kind, "", VIEW), 31, [Level.ERROR])
        for kind in ("activity", "receiver", "service")},
    "an app for Android 11": (FILTERED.format("activity", "", VIEW), 30, []),
    "an app for a release that is not known": (FILTERED.format("activity", "", VIEW), None, [Level.WARNING]),
    "a provider": (FILTERED.format("provider", "", VIEW), 35, []),
    **{f"a filter of {kind} without an action": (FILTERED.format(kind, "", ""), 35, levels)
        for kind, levels in (("activity", []), ("receiver", []), ("service", [Level.ERROR]))},
    "exported is stated": (FILTERED.format("activity", 'android:exported="false"', VIEW), 35, []),
    "exported is a resource": (FILTERED.format("activity", 'android:exported="@bool/x"', VIEW), 35, []),
})  # fmt: skip
def test_a_component_with_a_filter_has_to_state_exported_in_an_app_for_android_12(
    component: str, target: int | None, levels: list[Level]
) -> None:
    sdk = "" if target is None else f"android {{ defaultConfig {{ targetSdk = {target} }} }}"
    write_tree(Path("p"), {"build.gradle": sdk, f"src/main/{MANIFEST}": manifest_of(component)})
    assert [item.level for item in lint("p").findings if item.code == "exported-unstated"] == levels
