"""What is written, against texts typed by hand from reference 1.1, 2.a to 2.e and the article's section 4.

Android's own compiler takes it, our linter finds nothing in it, and every fact comes back or is reported.
"""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings

from adapters.appfunctions.function_files import (
    ANDROID,
    RESPONSE,
    artifact,
    components_of,
    definition_of,
    file_of,
    function_of,
    only,
    parameter_of,
    property_of,
    read_app,
    read_text,
    service_of,
    typed,
    write_in,
)
from droidgate_android.apk.apk_application import read_application
from droidgate_android.apk.pack import pack_project
from droidgate_android.apk.reader import open_apk
from droidgate_android.apk.signing_keys import make_key
from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.types import AnyType, ArrayType
from mappings.text.compiled_with_aapt2 import compile_application, elements_of_xml, strings_of_table
from model_types import any_of, array, int32, int64, null, one_of, optional, record, ref, required, string
from properties.matching import assert_findings_match, assert_reads_back, assert_same_declaration
from strategies import TEXTS, providers
from titled_rows import titled

DIALECTS = [dialect.id for dialect in FORMAT.dialects]

NOTES = Provider(
    protocol="test",
    package="com.example.notes",
    name="Notes & more",
    description="Keeps notes",
    instructions="Search first.\nThen write.",
    definitions={"Note": record({"text": required(string())})},
    capabilities=(
        Capability(
            id="create",
            description="Makes a <note>",
            input=record(
                {
                    "tags": optional(array(string(), description="Words", nullable=True)),
                    "level": required(int32(enum=(1, 2))),
                }
            ),
            output=ref("Note", description="The note"),
        ),
        Capability(id="clear"),
    ),
)

V2 = (
    "<appfunctions><appfunction><id>create</id><enabledByDefault>true</enabledByDefault>"
    "<description>Makes a &lt;note&gt;</description><parameters><dataTypeMetadata><id>unused</id>"
    "<isNullable>true</isNullable><itemType><id>unused</id><isNullable>false</isNullable><type>8</type>"
    "</itemType><type>10</type></dataTypeMetadata><id>unused</id><isRequired>false</isRequired><name>tags"
    "</name><description>Words</description></parameters><parameters><dataTypeMetadata><id>unused</id>"
    "<isNullable>false</isNullable><enumValues>1</enumValues><enumValues>2</enumValues><type>7</type>"
    "</dataTypeMetadata><id>unused</id><isRequired>true</isRequired><name>level</name></parameters>"
    "<response><id>unused</id><valueType><dataTypeReference>Note</dataTypeReference><id>unused</id>"
    "<isNullable>false</isNullable><type>11</type></valueType><description>The note</description>"
    "</response><functionId>create</functionId></appfunction><appfunction><id>clear</id>"
    "<enabledByDefault>true</enabledByDefault><response><id>unused</id><valueType><id>unused</id>"
    "<isNullable>false</isNullable><type>0</type></valueType></response><functionId>clear</functionId>"
    "</appfunction><AppFunctionComponentMetadataDocument><dataTypes><dataTypeMetadata><id>unused</id>"
    "<isNullable>true</isNullable><properties><dataTypeMetadata><id>unused</id><isNullable>false"
    "</isNullable><type>8</type></dataTypeMetadata><id>unused</id><name>text</name></properties>"
    "<required>text</required><type>3</type></dataTypeMetadata><id>unused</id><name>Note</name>"
    "</dataTypes><id>unused</id></AppFunctionComponentMetadataDocument></appfunctions>"
)
"""What Jetpack would write, without blanks between elements; those are as in V1, and as in the corpus."""

V1 = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<appfunctions>
    <appfunction>
        <function_id>create</function_id>
        <enabled_by_default>true</enabled_by_default>
    </appfunction>
    <appfunction>
        <function_id>clear</function_id>
        <enabled_by_default>true</enabled_by_default>
    </appfunction>
</appfunctions>
"""

PLATFORM = """    <AppFunctionStaticMetadata>
        <id>clear</id>
        <functionId>clear</functionId>
        <enabledByDefault>true</enabledByDefault>
    </AppFunctionStaticMetadata>
"""

MANIFEST = """<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android"
    package="com.example.notes">
    <application>
        <property
            android:name="android.app.appfunctions.app_metadata"
            android:resource="@xml/app_metadata" />
        <service
            android:name=".AppFunctionService"
            android:exported="true"
            android:label="Notes &amp; more"
            android:permission="android.permission.BIND_APP_FUNCTION_SERVICE">
            <property
                android:name="android.app.appfunctions.schema"
                android:value="app_functions_schema.xsd" />
            <property
                android:name="android.app.appfunctions.v2"
                android:value="app_function_service.xml" />
            <intent-filter>
                <action android:name="android.app.appfunctions.AppFunctionService" />
            </intent-filter>
        </service>
    </application>
</manifest>
"""

EVERY_FACT = file_of(
    "<version>1</version><meta><author>me</author></meta>",
    function_of(
        "<description>Does</description>"
        + parameter_of(
            "<id>seven</id><isNullable>false</isNullable><description>in</description><type>7</type>",
            name="a",
            after="<description>out</description><unit>m</unit>",
        )
        + parameter_of(typed("<description>in</description>", 8, nullable=True), name="b", required="false")
        + parameter_of(
            typed("<patterns><id>unused</id><value>a b </value><type>1</type></patterns><x>y</x>", 8),
            name="c",
        ),
        enabled="false",
        response=RESPONSE.replace(
            "<id>unused</id><valueType>", "<id>r</id><isNullable>true</isNullable><valueType>", 1
        )
        + "<schemaCategory>notes</schemaCategory><schemaName>do</schemaName><schemaVersion>2</schemaVersion>"
        "<deprecation><id>d</id><message>Use d</message><since>1</since></deprecation>"
        "<accessLevel>self</accessLevel><isCompatEnforcementEnabled>false</isCompatEnforcementEnabled>"
        "<restrictCallersWithExecuteAppFunctions>true</restrictCallersWithExecuteAppFunctions>"
        "<displayNameStringRes>7</displayNameStringRes><icon><size>1</size></icon>",
    ).replace("<id>a.B#c</id>", "<id>other</id>"),
    function_of(name="d", enabled=None),
    components=components_of(definition_of("a.B", typed("", 7)), document_id="a.Service")
    + components_of(definition_of("a.C", "<id>unused</id><type>8</type>")),
)


def snake_case(text: str) -> str:
    return text.replace("functionId", "function_id").replace("enabledByDefault", "enabled_by_default")


def app_level(text: str) -> str:
    disabled = "<enabledByDefault>false</enabledByDefault>"
    scoped = text.replace(disabled, f"{disabled}<scope>activity</scope>")
    return scoped.replace("<id>d</id><response>", "<id>d</id><scope>global</scope><response>")


PLATFORM_FACTS = file_of(
    "<AppFunctionStaticMetadata><id>f</id><functionId>g</functionId><schemaName>s</schemaName>"
    "<displayNameStringRes>7</displayNameStringRes><paramNames>a</paramNames><paramTypes>Person</paramTypes>"
    "<paramRequired>true</paramRequired><description>Does</description><icon>x</icon></AppFunctionStaticMetadata>"
)
V1_FACTS = file_of(
    "<version>1</version><appfunction><function_id>f</function_id><schema_name>s</schema_name>"
    "<schema_version>3</schema_version><enabled_by_default>false</enabled_by_default><icon>x</icon></appfunction>"
    "<appfunction><function_id>g</function_id><display_name_string_res>7</display_name_string_res></appfunction>"
)
FACTS = {
    "v2": EVERY_FACT,
    "v2-legacy": snake_case(EVERY_FACT),
    "v1": V1_FACTS,
    "platform": PLATFORM_FACTS,
    "app-level": app_level(EVERY_FACT),
}


def read_in_an_app(text: str, dialect: str) -> Provider:
    stated = property_of("" if dialect == "v1" else "v2", "f.xml")
    application = (stated,) if dialect == "app-level" else (service_of(stated),)
    return only(read_app(*application, files={"assets/f.xml": text}, strict=False))


def elements_of(writing: Writing) -> str:
    """Return the functions file of a writing, without what is between its elements."""
    return re.sub(r">\s+<", "><", artifact(writing, "descriptor").partition("?>")[2]).strip()


def test_the_v2_file_is_as_jetpack_would_write_it() -> None:
    writing = write_in(NOTES, "v2")
    assert elements_of(writing) == V2
    assert [item.path for item in writing.artifacts] == [
        "AndroidManifest.xml",
        "assets/app_function_service.xml",
        "assets/app_functions_schema.xsd",
        "res/xml/app_metadata.xml",
        "res/values/app_functions_description.xml",
    ]
    assert [(item.level, item.pointer) for item in writing.findings] == [
        (Level.DEFAULTED, "/component"),
        (Level.DEFAULTED, "/access/permission"),
        (Level.DEFAULTED, "/capabilities/1/output/kind"),
    ]


def test_the_manifest_puts_it_in_force() -> None:
    assert artifact(write_in(NOTES, "v2"), "manifest") == MANIFEST


def test_the_legacy_file_has_scalars_in_snake_case() -> None:
    expected = V2.replace("enabledByDefault", "enabled_by_default")
    expected = re.sub("<functionId>.*?</functionId>", "", expected)
    expected = re.sub("<appfunction><id>(.*?)</id>", r"\g<0><function_id>\1</function_id>", expected)
    assert elements_of(write_in(NOTES, "v2-legacy")) == expected


def test_the_application_level_file_has_a_scope_and_no_enabled_flag() -> None:
    writing = write_in(NOTES, "app-level")
    enabled = "<enabledByDefault>true</enabledByDefault>"
    assert elements_of(writing) == V2.replace(enabled, "<scope>global</scope>")
    manifest = artifact(writing, "manifest")
    assert "<service" not in manifest
    assert 'android:value="app_level_app_functions.xml"' in manifest


def test_version_1_writes_ids_and_reports_everything_else() -> None:
    writing = write_in(NOTES, "v1")
    assert artifact(writing, "descriptor") == V1
    assert '"android.app.appfunctions"' in artifact(writing, "manifest")
    assert all(item.role != "schema" for item in writing.artifacts)
    levels = {item.pointer: item.level for item in writing.findings}
    assert levels["/capabilities/0/input/properties/level/type/kind"] is Level.DROPPED
    assert levels["/capabilities/0/description"] is Level.DROPPED
    assert_findings_match(NOTES, writing)


def test_the_file_for_the_platform_is_that_of_the_article() -> None:
    text = artifact(write_in(NOTES, "platform"), "descriptor")
    assert PLATFORM in text
    lists = [line.strip() for line in text.splitlines() if "<param" in line]
    assert "".join(lists) == (
        "<paramNames>tags</paramNames><paramTypes>string</paramTypes><paramRequired>false</paramRequired>"
        "<paramNames>level</paramNames><paramTypes>int</paramTypes><paramRequired>true</paramRequired>"
    )
    assert "[tags: Words" in text
    assert "[Returns: " in text


@pytest.mark.parametrize(("component", "asset"), [
    (".ChatAppFunctionService", "assets/chat_app_function_service.xml"),
    ("a.b.Outer$HTTPNotes2Service", "assets/http_notes2_service.xml"),
    (".Ünicode", "assets/nicode.xml"), (".Ü", "assets/appfunctions.xml"),
])  # fmt: skip
def test_the_file_is_called_after_its_service(component: str, asset: str) -> None:
    provider = Provider(protocol="appfunctions", dialect="v2", component=component)
    assert asset in [item.path for item in write_in(provider, "v2").artifacts]


def test_nothing_to_declare_is_an_empty_root() -> None:
    text = artifact(write_in(Provider(protocol="test"), "v2"), "descriptor")
    assert text == '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n<appfunctions/>\n'


RECORD = record({"a": required(string())})
OTHER_RECORD = record({"b": required(int32())})


@titled(("kept", "pointer", "level"), {
    "any value is narrowed": (AnyType(), "/kind", Level.NARROWED),
    "an array of anything is narrowed": (ArrayType(), "/items/kind", Level.NARROWED),
    "an enum of long integers is left out": (int64(enum=(1,)), "/enum", Level.WIDENED),
    "an enum value with an outer space is left out": (string(enum=(" a",)), "/enum", Level.WIDENED),
    "a keyword is left out": (string(keywords={"minLength": 1}), "/keywords/minLength", Level.WIDENED),
    "alternatives become exclusive": (any_of(RECORD, OTHER_RECORD), "/exclusive", Level.NARROWED),
    "an alternative gets a name": (one_of(RECORD, OTHER_RECORD), "/qualified_name", Level.DEFAULTED),
})  # fmt: skip
def test_what_v2_cannot_carry_is_reported(kept: AnyType, pointer: str, level: Level) -> None:
    capability = Capability(id="f", input=record({"p": required(kept)}), output=null())
    provider = Provider(protocol="test", component=".AppFunctionService", capabilities=(capability,))
    writing = write_in(provider, "v2")
    assert_findings_match(provider, writing)
    inside = f"/capabilities/0/input/properties/p/type{pointer}"
    assert [finding.level for finding in writing.findings if finding.pointer == inside] == [level]


def test_a_nullable_definition_is_reported_since_only_references_are_nullable() -> None:
    provider = NOTES.model_copy(update={"definitions": {"Note": string(nullable=True)}})
    writing = write_in(provider, "v2")
    assert writing.provider.definitions == {"Note": string(description="[May be null]")}
    assert_findings_match(provider, writing)


@pytest.mark.parametrize("target", DIALECTS)
@pytest.mark.parametrize("source", DIALECTS)
def test_facts_that_another_dialect_cannot_carry_are_reported_and_all_others_come_back(
    source: str, target: str
) -> None:
    provider = read_in_an_app(FACTS[source], source)
    assert provider.dialect == source
    writing = write_in(provider, target)
    assert_findings_match(provider, writing)
    assert_reads_back(writing, FORMAT, FORMAT.dialect(target), strict=False)
    if source == target:
        assert (writing.findings, writing.names) == ((), ())
        assert_same_declaration(provider, writing.provider)
    lost = different_leaves(dict(leaves_of_provider(provider)), dict(leaves_of_provider(writing.provider)))
    lossless = {("v2", "v2-legacy"), ("v2-legacy", "v2"), ("v1", "platform")}
    assert bool(lost) is not (source == target or (source, target) in lossless)


@titled("facts", {
    "components are a number": {"components": 5}, "a root element is a word": {"rootElements": ["x"]},
    "a schema is a word": {"schema": "x"}, "metadata attributes are a number": {"metadataAttributes": 1},
    "a root element is a list of numbers": {"rootElements": [[1, 2]]},
})  # fmt: skip
def test_facts_that_no_reader_gives_are_refused(facts: dict[str, object]) -> None:
    provider = Provider(protocol="appfunctions", dialect="v2", extensions={"appfunctions": facts})
    with pytest.raises(WriteError, match="not as a reader gives them"):
        write_in(provider, "v2")


def test_a_name_that_xml_cannot_hold_is_refused() -> None:
    provider = Provider(protocol="appfunctions", dialect="v2", capabilities=(Capability(id="a\x01"),))
    with pytest.raises(WriteError, match=r"U\+0001"):
        write_in(provider, "v2")


def test_a_description_too_long_for_a_string_resource_is_in_the_attribute() -> None:
    provider = NOTES.model_copy(update={"description": "\u65e5" * 20_000})
    writing = write_in(provider, "v2")
    assert [item.path for item in writing.artifacts if item.path.startswith("res/values")] == []
    tree = {item.path: item.text.encode() for item in writing.artifacts}
    reading = FORMAT.read_application(application_from_tree(tree), ReadingContext(strict=True))
    assert only(reading).description == provider.description


def test_a_file_by_itself_is_written_by_itself() -> None:
    provider = only(read_text(EVERY_FACT, strict=False))
    for dialect in ("v2", "v2-legacy"):
        writing = write_in(provider, dialect)
        assert [(item.path, item.role) for item in writing.artifacts] == [("appfunctions.xml", "document")]
        assert_findings_match(provider, writing)
        assert_reads_back(writing, FORMAT, FORMAT.dialect(dialect), strict=False)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(provider=providers())
@settings(max_examples=15)
def test_what_is_written_has_no_finding_of_our_linter(dialect: str, provider: Provider) -> None:
    assert FORMAT.lint_application is not None
    writing = write_in(provider, dialect)
    application = application_from_tree({item.path: item.text.encode() for item in writing.artifacts})
    problems = {item.code for item in FORMAT.lint_application(application) if item.level is not Level.NOTE}
    expected = set()
    if provider.access.enabled is not True and dialect != "app-level":
        expected.add("appfunctions-service-disabled")
    if not (provider.instructions or provider.description):
        # An empty text is written as it is.
        expected.add("appfunctions-metadata-content")
    if dialect in {"v1", "platform"}:
        # These forms have no response, so Jetpack's agents do not see their functions (reference 3.3).
        expected.add("appfunctions-no-signature")
    assert problems <= expected


PLAIN = [text for text in TEXTS if not re.search("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", text)]


@pytest.mark.requires("aapt2", "framework-res")
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", PLAIN)
def test_texts_survive_androids_own_compiler(text: str, dialect: str, tmp_path: Path) -> None:
    source = Provider(protocol="test", package="com.example.app", capabilities=(Capability(id="f"),))
    provider = source.changed({"name": text, "description": text, "instructions": text})
    artifacts = write_in(provider, dialect).artifacts
    files = {item.path: item.text for item in artifacts if "assets" not in item.path}
    archive = compile_application(files, tmp_path)
    elements = list(elements_of_xml(archive["AndroidManifest.xml"]))
    labelled = "application" if dialect == "app-level" else "service"
    (component,) = [attributes for name, attributes in elements if name == labelled]
    assert component["label"].text == text
    metadata = elements_of_xml(archive["res/xml/app_metadata.xml"])
    (guidance,) = [item for name, item in metadata if name[0] == "A"]
    assert guidance["description"].text == text
    assert strings_of_table(archive["resources.arsc"]) == {"app_functions_description": text}
    properties = {item["name"].text for name, item in elements if name == "property"}
    assert properties >= {"android.app.appfunctions.app_metadata"}


@pytest.mark.parametrize(("written", "compiled"), [
    (r"C:\\\\temp\\\\new", r"C:\\temp\\new"), (r"C:\\temp\\new", r"C:\temp\new"),
    (r"first\nsecond", "first\nsecond"),
])  # fmt: skip
def test_a_compiled_resource_is_not_unescaped_a_second_time(written: str, compiled: str) -> None:
    guidance = (
        '<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/androidx.appfunctions" '
        f'appfn:description="{written}" />'
    )
    stated = property_of("app_metadata", resource="@xml/guidance")
    manifest = f'<manifest {ANDROID} package="a.guided"><application>{stated}</application></manifest>'
    tree = {"AndroidManifest.xml": manifest.encode(), "res/xml/guidance.xml": guidance.encode()}
    with open_apk(pack_project(tree, key=make_key())) as opened:
        provider = only(FORMAT.read_application(read_application(opened), ReadingContext()))
    assert provider.instructions == compiled
