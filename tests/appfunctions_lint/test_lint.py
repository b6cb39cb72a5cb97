"""Every rule of the linter has a file or app that breaks it, and the same one mended that does not."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from appfunctions_lint.app_fixtures import (
    METADATA,
    PARAMETER,
    PERMISSION,
    SCHEMA,
    SCHEMA_PROPERTY,
    STRING,
    V2,
    app,
    components,
    function,
    functions,
    manifest,
    named,
    of_type,
    service,
)
from droidgate.app_search import REASONS
from droidgate.application import Application
from droidgate.formats import SourceFile
from droidgate.model.errors import InputError
from droidgate.model.findings import FINDING_CODES, Finding, Level
from droidgate.sources.android_project import application_from_tree
from droidgate_appfunctions.lint import lint_application, lint_file
from droidgate_appfunctions.lint_rules import RULES
from requirements_of_tests import require

GOOD = functions(function())
NOTE = (
    "<dataTypeMetadata><id>unused</id><type>3</type><properties><id>unused</id><name>t</name>{}</properties>"
    "</dataTypeMetadata>"
)


def lint_text(text: str, name: str = "functions.xml") -> tuple[Finding, ...]:
    return lint_file(SourceFile(name, text.encode()))


def codes_of(findings: tuple[Finding, ...]) -> set[str]:
    return {one.code.removeprefix("appfunctions-") for one in findings}


FILES: dict[str, tuple[str, Level, str]] = {
    "malformed-xml": ("<appfunctions><appfunction></appfunctions>", Level.ERROR, GOOD),
    "missing-id": (
        functions(function(parameters=PARAMETER.replace("<id>unused</id>", "", 1))),
        Level.ERROR,
        GOOD,
    ),
    "unknown-tag": (functions(function(extra="<colour>red</colour>")), Level.WARNING, GOOD),
    "bad-number": (
        functions(function(extra="<schemaVersion>1.0</schemaVersion>")),
        Level.ERROR,
        functions(function(extra="<schemaVersion> 1 </schemaVersion>")),
    ),
    "element-in-text": (
        functions(function(description="<description>a <b>note</b></description>")),
        Level.ERROR,
        functions(function(description="<description>a &lt;b> note</description>")),
    ),
    "reserved-property": (functions(function(extra="<serviceName>x</serviceName>")), Level.ERROR, GOOD),
    "bad-scope": (
        functions(function(extra="<scope>screen</scope>", enabled="")),
        Level.ERROR,
        functions(function(extra="<scope>activity</scope>", enabled="")),
    ),
    "enabled-application-function": (
        functions(function(extra="<scope>global</scope>")),
        Level.ERROR,
        functions(function(extra="<scope>global</scope>", enabled="")),
    ),
    "over-limit": (
        functions(*(function(f"a.B#f{number}") for number in range(251))),
        Level.ERROR,
        functions(*(function(f"a.B#f{number}") for number in range(250))),
    ),
    "overwritten": (functions(function(), function()), Level.ERROR, functions(function(), function("a.B#c"))),
    "bad-count": (functions(function(description="<description>a</description>" * 2)), Level.ERROR, GOOD),
    "too-large": (
        functions(function(description=f"<description>{'x' * 524_289}</description>")),
        Level.ERROR,
        functions(function(description=f"<description>{'x' * 500_000}</description>")),
    ),
    "id-differs": (GOOD.replace("<id>com.example.notes", "<id>other"), Level.WARNING, GOOD),
    "no-function-id": (re.sub("<functionId>.*</functionId>", "", GOOD), Level.WARNING, GOOD),
    "enabled-unsaid": (functions(function(enabled="")), Level.WARNING, GOOD),
    "no-signature": (functions(function(response="")), Level.WARNING, GOOD),
    "schema-triple": (
        functions(function(extra="<schemaName>addNote</schemaName>")),
        Level.WARNING,
        functions(
            function(
                response="",
                extra="<schemaName>addNote</schemaName><schemaVersion>1</schemaVersion>"
                "<schemaCategory>notes</schemaCategory>",
            )
        ),
    ),
    "no-description": (functions(function(description="")), Level.NOTE, GOOD),
    "unknown-type": (of_type("<type>9</type>"), Level.WARNING, of_type("<type>10</type>")),
    "empty-object": (
        of_type("<type>3</type>"),
        Level.WARNING,
        of_type(f"<type>3</type><properties><id>unused</id><name>t</name>{STRING}</properties>"),
    ),
    "unnamed-one-of": (
        of_type("<type>14</type>"),
        Level.WARNING,
        of_type("<type>14</type><objectQualifiedName>a.B</objectQualifiedName>"),
    ),
    "bad-int-enum": (
        of_type("<type>7</type><enumValues>0</enumValues><enumValues>one</enumValues>"),
        Level.WARNING,
        of_type("<type>7</type><enumValues>0</enumValues><enumValues>-1</enumValues>"),
    ),
    "dangling-reference": (
        of_type("<type>11</type><dataTypeReference>com.example.Note</dataTypeReference>"),
        Level.WARNING,
        of_type("<type>11</type><dataTypeReference>com.example.Note</dataTypeReference>").replace(
            "</appfunctions>", components(NOTE.format(STRING)) + "</appfunctions>"
        ),
    ),
    "untyped-array": (
        of_type("<type>10</type>"),
        Level.WARNING,
        of_type("<type>10</type><itemType><id>unused</id><type>8</type></itemType>"),
    ),
    "untyped": (functions(function(parameters=PARAMETER.replace(STRING, ""))), Level.WARNING, GOOD),
    "unnamed-parameter": (
        functions(function(parameters=PARAMETER.replace("<name>title</name>", ""))),
        Level.WARNING,
        GOOD,
    ),
    "twin-parameters": (
        functions(function(parameters=PARAMETER * 2)),
        Level.WARNING,
        functions(function(parameters=PARAMETER + PARAMETER.replace("title", "text"))),
    ),
    "unreadable-name": (
        functions(function(parameters=PARAMETER.replace("title", "note.title"))),
        Level.WARNING,
        functions(function(parameters=PARAMETER.replace("title", "note-title"))),
    ),
    "unknown-required": (
        of_type(
            f"<type>3</type><properties><id>u</id><name>t</name>{STRING}</properties><required>x</required>"
        ),
        Level.WARNING,
        of_type(
            f"<type>3</type><properties><id>u</id><name>t</name>{STRING}</properties><required>t</required>"
        ),
    ),
    "access-level": (
        functions(function(extra="<accessLevel>public</accessLevel>")),
        Level.WARNING,
        functions(function(extra="<accessLevel>system</accessLevel>")),
    ),
    "pattern-type": (
        of_type("<type>8</type><patterns><id>u</id><value>a</value><type>5</type></patterns>"),
        Level.WARNING,
        of_type("<type>8</type><patterns><id>u</id><value>a</value><type>4</type></patterns>"),
    ),
    "uneven-lists": (
        functions(
            function(
                parameters="<paramNames>a</paramNames><paramTypes>string</paramTypes>"
                "<paramNames>b</paramNames><paramTypes>int</paramTypes><paramRequired>true</paramRequired>",
                response="",
            )
        ),
        Level.WARNING,
        functions(
            function(
                parameters="<paramNames>a</paramNames><paramTypes>string</paramTypes>"
                "<paramRequired>true</paramRequired>",
                response="",
            )
        ),
    ),
    "no-functions": ("<appfunctions/>", Level.NOTE, GOOD),
    "too-many-types": (
        SCHEMA.replace(
            "</xs:schema>",
            "".join(f'<xs:documentType name="T{n}"></xs:documentType>' for n in range(17)) + "</xs:schema>",
        ),
        Level.ERROR,
        SCHEMA.replace(
            "</xs:schema>",
            "".join(f'<xs:documentType name="T{n}"></xs:documentType>' for n in range(16)) + "</xs:schema>",
        ),
    ),
    "bad-property-name": (SCHEMA.replace('"isRequired"', '"is_required"'), Level.ERROR, SCHEMA),
    "unsupported-type": (SCHEMA.replace("xs:boolean", "xs:double", 1), Level.ERROR, SCHEMA),
    "bad-attribute": (SCHEMA.replace('cardinality="3"', 'cardinality="4"'), Level.ERROR, SCHEMA),
    "no-function-type": (SCHEMA.replace("AppFunctionStaticMetadata", "Functions"), Level.ERROR, SCHEMA),
    "undefined-type": (SCHEMA.replace('name="Response"', 'name="Reply"'), Level.ERROR, SCHEMA),
    "duplicate-property": (
        SCHEMA.replace('name="isRequired" type="xs:boolean"', 'name="name" type="xs:long"'),
        Level.WARNING,
        SCHEMA,
    ),
    "metadata-content": (METADATA.replace("description", "text"), Level.WARNING, METADATA),
    "metadata-guidance": (METADATA.replace("description", "displayDescription"), Level.NOTE, METADATA),
}


def test_a_file_of_the_application_needs_a_schema_from_somewhere() -> None:
    of_application = named(".v2", "functions.xml")
    assert "no-schema" in codes_of(lint_application(app(of_application)))
    for parts in ((of_application, SCHEMA_PROPERTY), (of_application, service())):
        assert "no-schema" not in codes_of(lint_application(app(*parts)))


@pytest.mark.parametrize("value", ["2147483648", "9" * 30, "1.0", "+", ""])
def test_an_enum_value_that_is_no_int_of_java_is_told(value: str) -> None:
    text = of_type(f"<type>7</type><enumValues>{value}</enumValues>")
    assert "bad-int-enum" in codes_of(lint_text(text))


def test_a_document_that_appsearch_refuses_is_named() -> None:
    (finding,) = [one for one in lint_text(FILES["bad-count"][0]) if one.code == "appfunctions-bad-count"]
    refused = "AppSearch refuses the document com.example.notes.Notes#add on every release from Android 16 on"
    assert finding.message.endswith(refused)


def test_a_finding_of_the_indexer_holds_the_releases_that_it_is_true_of() -> None:
    every = ("16", "16-qpr1", "16-qpr2", "17")
    (refused,) = [one for one in lint_text(FILES["bad-count"][0]) if one.code == "appfunctions-bad-count"]
    assert refused.releases == every
    found = {one.code: one for one in lint_application(app(named(".v2", "functions.xml")))}
    assert found["appfunctions-application-level"].releases == every[:3]
    assert found["appfunctions-no-schema"].releases == every[3:]
    assert found["appfunctions-bad-scope"].releases == every[3:]


@pytest.mark.parametrize("rule", FILES)
def test_a_file_that_breaks_a_rule_gets_its_finding_and_a_mended_one_does_not(rule: str) -> None:
    broken, level, mended = FILES[rule]
    found = [one for one in lint_text(broken) if one.code == f"appfunctions-{rule}"]
    assert {one.level for one in found} == {level}
    assert all(one.hint and one.source is not None and one.source.path == "functions.xml" for one in found)
    assert rule not in codes_of(lint_text(mended))


Apps = Callable[[], Application]

OTHER_SCHEMA = named(".schema", "other_schema.xsd")


def built(application: Application) -> Application:
    """The same app as an APK, which has all that it will ever have."""
    return replace(application, is_built=True)


RES_AUTO = "http://schemas.android.com/apk/res-auto"
APPS: dict[str, tuple[Apps, Level, Apps]] = {
    "meta-data": (
        lambda: app(service(V2.replace("property", "meta-data"), SCHEMA_PROPERTY)),
        Level.ERROR,
        lambda: app(service()),
    ),
    "service-action": (lambda: app(service(action="")), Level.ERROR, lambda: app(service())),
    "service-disabled": (
        lambda: app(service(attributes=f'{PERMISSION} android:enabled="false"')),
        Level.WARNING,
        lambda: app(service()),
    ),
    "no-schema": (lambda: app(service(V2)), Level.ERROR, lambda: app(SCHEMA_PROPERTY, service(V2))),
    "application-level": (
        lambda: app(named(".v2", "functions.xml"), service()),
        Level.NOTE,
        lambda: app(service()),
    ),
    "metadata-place": (
        lambda: app(service(V2, SCHEMA_PROPERTY, named(".app_metadata", "@xml/app_metadata"))),
        Level.WARNING,
        lambda: app(named(".app_metadata", "@xml/app_metadata", attribute="resource"), service()),
    ),
    "metadata-missing": (
        lambda: app(named(".app_metadata", "@xml/gone", attribute="resource"), service()),
        Level.WARNING,
        lambda: app(named(".app_metadata", "@xml/app_metadata", attribute="resource"), service()),
    ),
    "metadata-content": (
        lambda: app(named(".app_metadata", "@xml/empty", attribute="resource")),
        Level.WARNING,
        lambda: app(named(".app_metadata", "@xml/app_metadata", attribute="resource")),
    ),
    "metadata-file": (
        lambda: app(named(".app_metadata", "@xml/wrong", attribute="resource"), wrong_xml="<app-metadata/>"),
        Level.ERROR,
        lambda: app(named(".app_metadata", "@xml/app_metadata", attribute="resource")),
    ),
    "metadata-attributes": (
        lambda: app(service(), attributes=f'xmlns:a="{RES_AUTO}" a:description="Search first"'),
        Level.WARNING,
        lambda: app(service(), attributes=f'xmlns:a="{RES_AUTO}" a:theme="dark"'),
    ),
    "missing-file": (
        lambda: built(app(service(named(".v2", "a.xml,functions.xml"), SCHEMA_PROPERTY))),
        Level.ERROR,
        lambda: app(service()),
    ),
    "not-a-file-property": (
        lambda: app(service(named(".v2", "@xml/functions", attribute="resource"), SCHEMA_PROPERTY)),
        Level.WARNING,
        lambda: app(service()),
    ),
    "missing-permission": (lambda: app(service(attributes="")), Level.ERROR, lambda: app(service())),
    "another-service": (
        lambda: app(service(name=".First"), service(name=".Second")),
        Level.WARNING,
        lambda: app(service()),
    ),
    "no-file": (lambda: app(service(SCHEMA_PROPERTY)), Level.ERROR, lambda: app(service())),
    "different-schemas": (
        lambda: app(service(), service(V2, OTHER_SCHEMA, name=".Second"), other_schema_xsd=SCHEMA),
        Level.ERROR,
        lambda: app(service(), service(name=".Second")),
    ),
    "undefined-type": (
        lambda: app(service(), app_functions_schema_xsd=SCHEMA.replace('name="Response"', 'name="Reply"')),
        Level.ERROR,
        lambda: app(service()),
    ),
    "unknown-tag": (
        lambda: app(service(), functions_xml=functions(function(extra="<accessLevel>self</accessLevel>"))),
        Level.WARNING,
        lambda: app(service()),
    ),
}


@pytest.mark.parametrize("rule", APPS)
def test_an_app_that_breaks_a_rule_gets_its_finding_and_a_mended_one_does_not(rule: str) -> None:
    broken, level, mended = APPS[rule]
    found = [one for one in lint_application(broken()) if one.code == f"appfunctions-{rule}"]
    assert {one.level for one in found} == {level}
    assert all(one.hint and one.source is not None for one in found)
    assert rule not in codes_of(lint_application(mended()))


def test_every_rule_is_tried() -> None:
    # `assumed` stands with every lone file, so no mended one lacks it.
    tried = FILES.keys() | APPS.keys() | {"assumed"}
    declared = {one.removeprefix("appfunctions-") for one in RULES} | REASONS.keys()
    assert declared == tried
    assert all(f"appfunctions-{one}" in FINDING_CODES for one in declared)


def test_a_right_app_has_no_findings() -> None:
    assert lint_application(app()) == ()
    assert lint_application(app("")) == ()


def test_a_right_file_has_only_the_note_of_what_is_assumed() -> None:
    findings = lint_text(GOOD)
    assert codes_of(findings) == {"assumed"}
    assert findings[0].message == "functions.xml is read with the newest Jetpack schema"


def test_a_missing_schema_is_told_once_with_what_it_means() -> None:
    findings = lint_application(app(service(V2, named(".schema", "none.xsd"))))
    assert codes_of(findings) == {"missing-file", "no-signature", "no-description"}
    assert "no schema of its own on every release from Android 16 on" in findings[0].message


def test_an_old_schema_beside_a_new_tag_is_told_as_the_cause() -> None:
    broken, _, _ = APPS["unknown-tag"]
    (finding,) = (one for one in lint_application(broken()) if one.code == "appfunctions-unknown-tag")
    assert finding.hint is not None
    assert "older than the tag" in finding.hint
    assert "Android 16 QPR1 and Android 16 QPR2" in finding.message
    assert "lost on Android 16 and Android 17" in finding.message
    assert finding.source is not None
    assert finding.source.line == 4


def test_every_unknown_tag_of_a_file_is_told_with_the_releases_that_drop_the_file() -> None:
    found = lint_text(functions(function(extra="<one>1</one><two>2</two>")))
    told = [one.message for one in found if one.code == "appfunctions-unknown-tag"]
    assert [message.split(">")[0] for message in told] == ["<one", "<two"]
    assert all("Android 16 QPR1 and Android 16 QPR2" in message for message in told)


def test_a_file_of_version_1_is_read_as_such() -> None:
    text = functions("<appfunction><function_id>a#b</function_id></appfunction>")
    findings = lint_text(text)
    assert codes_of(findings) == {"assumed", "no-signature", "no-description"}
    assert findings[0].message.endswith("with the tags of version 1")


def test_a_compilers_empty_file_is_only_noted() -> None:
    assert {one.level for one in lint_text("<appfunctions/>")} == {Level.NOTE}


def test_a_manifest_alone_is_refused() -> None:
    with pytest.raises(InputError, match="with the app it belongs to"):
        lint_text("<manifest/>")


@pytest.mark.requires("corpus")
def test_files_that_jetpacks_compiler_writes_are_right() -> None:
    """But for two that the reference names: a pattern of an older build, and an empty object."""
    folder = require("corpus") / "appfunctions"
    odd = {}
    for path in sorted(folder.glob("androidx__*output__*.xml")):
        findings = lint_file(SourceFile(path.name, path.read_bytes()))
        grave = {one.code for one in findings if one.level != Level.NOTE} - {"appfunctions-no-signature"}
        if grave:
            odd[path.name.rpartition("output__")[2]] = grave
    assert odd == {
        "entrypoints__valid_uri_service.xml": {"appfunctions-unknown-tag"},
        "functionWithEmptySerializable_app_function_dynamic_schema.xml": {"appfunctions-empty-object"},
    }


PIECES = st.lists(
    st.sampled_from(
        [
            *(GOOD, SCHEMA, METADATA, STRING, PARAMETER, function(), ""),
            *("<a>", "</a>", "<type>9</type>", "<id>x</id>", "<paramNames>a</paramNames>"),
            *("<scope>", "</scope>", "<!DOCTYPE a>", "\ufeff", "<xs:documentType>"),
        ]
    ),
    max_size=5,
).map("".join)


@given(PIECES.map(str.encode) | st.binary(max_size=60))
def test_any_file_but_a_manifest_is_linted(data: bytes) -> None:
    findings = lint_file(SourceFile("any.xml", data))
    assert all(one.code in FINDING_CODES for one in findings)
    assert all("\n" not in one.message and not one.message.endswith(".") for one in findings)


@given(PIECES, PIECES)
def test_any_app_is_linted(text: str, schema: str) -> None:
    findings = lint_application(app(functions_xml=text, app_functions_schema_xsd=schema))
    assert all(one.code in FINDING_CODES for one in findings)


def with_code(application: Application, code: str) -> list[Finding]:
    return [one for one in lint_application(application) if one.code == f"appfunctions-{code}"]


def test_a_file_that_a_source_tree_does_not_have_is_no_error() -> None:
    of_source = app(service(named(".v2", "made_by_the_build.xml"), SCHEMA_PROPERTY))
    (finding,) = (one for one in lint_application(of_source) if one.code == "appfunctions-missing-file")
    assert finding.level is Level.WARNING
    (finding,) = (
        one for one in lint_application(built(of_source)) if one.code == "appfunctions-missing-file"
    )
    assert finding.level is Level.ERROR


def test_the_schema_of_jetpack_is_there_before_the_build() -> None:
    tree = {
        "AndroidManifest.xml": manifest().encode(),
        "assets/functions.xml": functions(function()).encode(),
    }
    of_source = application_from_tree(tree)
    assert lint_application(of_source) == ()
    assert "appfunctions-missing-file" in {one.code for one in lint_application(built(of_source))}


def test_a_file_that_is_elsewhere_in_the_app_is_named() -> None:
    as_asset = app(service(named(".v2", "empty.xml"), SCHEMA_PROPERTY))
    (finding,) = with_code(as_asset, "missing-file")
    assert finding.message.startswith("the app has no asset empty.xml, but it has @xml/empty;")
    assert finding.level is Level.ERROR
    guidance = app(
        named(".app_metadata", "@xml/functions_old", attribute="resource"), functions_old_xml="<x/>"
    )
    (finding,) = (one for one in lint_application(guidance) if one.code == "appfunctions-metadata-missing")
    assert finding.message == "the app has no @xml/functions_old, but it has assets/functions_old.xml"
