"""Every rule of the linter has a file or app that breaks it, and the same one mended that does not."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_kotlin.kotlin_pairs import kotlin
from adapters.appfunctions_lint.app_fixtures import (
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
from droidgate_android.app_search.indexer_reports import REASONS
from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.lint import RULES, lint_application, lint_file, lint_source_code
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import FINDING_CODES, Finding, Level
from requirements_of_tests import require


def file_with(*arguments: str, **parts: str) -> str:
    return functions(function(*arguments, **parts))


GOOD = file_with()
NOTE = (
    "<dataTypeMetadata><id>unused</id><type>3</type><properties><id>unused</id><name>t</name>{}</properties>"
    "</dataTypeMetadata>"
)


def lint_text(text: str, name: str = "functions.xml") -> tuple[Finding, ...]:
    return lint_file(SourceFile(name, text.encode()))


def with_code(application: Application, code: str) -> list[Finding]:
    return [item for item in lint_application(application) if item.code == f"appfunctions-{code}"]


def codes_of(findings: tuple[Finding, ...]) -> set[str]:
    return {finding.code.removeprefix("appfunctions-") for finding in findings}


def rule(broken: str, mended: str = GOOD, level: Level = Level.WARNING) -> tuple[str, Level, str]:
    return broken, level, mended


ERROR, NOTED = Level.ERROR, Level.NOTE
REFERENCE = "<type>11</type><dataTypeReference>com.example.Note</dataTypeReference>"
PROPERTY = f"<properties><id>unused</id><name>t</name>{STRING}</properties>"
LISTED = "<paramNames>a</paramNames><paramTypes>string</paramTypes><paramRequired>true</paramRequired>"
UNEVEN = f"{LISTED}<paramNames>b</paramNames><paramTypes>int</paramTypes>"
PATTERN = "<type>8</type><patterns><id>u</id><value>a</value><type>{}</type></patterns>"


def with_types(number: int) -> str:
    types = "".join(f'<xs:documentType name="T{n}"></xs:documentType>' for n in range(number))
    return SCHEMA.replace("</xs:schema>", f"{types}</xs:schema>")


def with_functions(number: int) -> str:
    return functions(*(function(f"a.B#f{n}") for n in range(number)))


# fmt: off
FILES: dict[str, tuple[str, Level, str]] = {
    "malformed-xml": rule("<appfunctions><appfunction></appfunctions>", level=ERROR),
    "missing-id": rule(file_with(parameters=PARAMETER.replace("<id>unused</id>", "", 1)), level=ERROR),
    "unknown-tag": rule(file_with(extra="<colour>red</colour>")),
    "bad-number": rule(file_with(extra="<schemaVersion>1.0</schemaVersion>"),
        file_with(extra="<schemaVersion> 1 </schemaVersion>"), level=ERROR),
    "element-in-text": rule(file_with(description="<description>a <b>note</b></description>"),
        file_with(description="<description>a &lt;b> note</description>"), level=ERROR),
    "reserved-property": rule(file_with(extra="<serviceName>x</serviceName>"), level=ERROR),
    "bad-scope": rule(file_with(extra="<scope>screen</scope>", enabled=""),
        file_with(extra="<scope>activity</scope>", enabled=""), level=ERROR),
    "enabled-application-function": rule(file_with(extra="<scope>global</scope>"),
        file_with(extra="<scope>global</scope>", enabled=""), level=ERROR),
    "over-limit": rule(with_functions(251), with_functions(250), level=ERROR),
    "overwritten": rule(functions(function(), function()),
        functions(function(), function("a.B#c")), level=ERROR),
    "bad-count": rule(file_with(description="<description>a</description>" * 2), level=ERROR),
    "too-large": rule(file_with(description=f"<description>{'x' * 524_289}</description>"),
        file_with(description=f"<description>{'x' * 500_000}</description>"), level=ERROR),
    "id-differs": rule(GOOD.replace("<id>com.example.notes", "<id>other")),
    "no-function-id": rule(re.sub("<functionId>.*</functionId>", "", GOOD)),
    "enabled-not-stated": rule(file_with(enabled="")),
    "no-signature": rule(file_with(response="")),
    "schema-triple": rule(file_with(extra="<schemaName>addNote</schemaName>"),
        file_with(response="", extra="<schemaName>addNote</schemaName><schemaVersion>1</schemaVersion>"
        "<schemaCategory>notes</schemaCategory>")),
    "no-description": rule(file_with(description=""), level=NOTED),
    "no-parameter-description": rule(
        file_with(parameters=PARAMETER.replace("<description>Its first line.</description>", "")),
        level=NOTED),
    "unknown-type": rule(of_type("<type>9</type>"), of_type("<type>10</type>")),
    "empty-object": rule(of_type("<type>3</type>"), of_type(f"<type>3</type>{PROPERTY}")),
    "unnamed-one-of": rule(of_type("<type>14</type>"),
        of_type("<type>14</type><objectQualifiedName>a.B</objectQualifiedName>")),
    "bad-int-enum": rule(of_type("<type>7</type><enumValues>0</enumValues><enumValues>one</enumValues>"),
        of_type("<type>7</type><enumValues>0</enumValues><enumValues>-1</enumValues>")),
    "dangling-reference": rule(of_type(REFERENCE),
        of_type(REFERENCE).replace("</appfunctions>", components(NOTE.format(STRING)) + "</appfunctions>")),
    "untyped-array": rule(of_type("<type>10</type>"),
        of_type("<type>10</type><itemType><id>unused</id><type>8</type></itemType>")),
    "untyped": rule(file_with(parameters=PARAMETER.replace(STRING, ""))),
    "unnamed-parameter": rule(file_with(parameters=PARAMETER.replace("<name>title</name>", ""))),
    "duplicate-parameter": rule(file_with(parameters=PARAMETER * 2),
        file_with(parameters=PARAMETER + PARAMETER.replace("title", "text"))),
    "unreadable-name": rule(file_with(parameters=PARAMETER.replace("title", "note.title")),
        file_with(parameters=PARAMETER.replace("title", "note-title"))),
    "unknown-required": rule(of_type(f"<type>3</type>{PROPERTY}<required>x</required>"),
        of_type(f"<type>3</type>{PROPERTY}<required>t</required>")),
    "access-level": rule(file_with(extra="<accessLevel>public</accessLevel>"),
        file_with(extra="<accessLevel>system</accessLevel>")),
    "pattern-type": rule(of_type(PATTERN.format(5)), of_type(PATTERN.format(4))),
    "uneven-lists": rule(file_with(parameters=UNEVEN, response=""),
        file_with(parameters=LISTED, response="")),
    "no-functions": rule("<appfunctions/>", level=NOTED),
    "root": rule(GOOD.replace("appfunctions>", "functions>")),
    "not-functions": rule("<app-functions><function name='f'/></app-functions>"),
    "too-many-types": rule(with_types(17), with_types(16), level=ERROR),
    "bad-property-name": rule(SCHEMA.replace('"isRequired"', '"is_required"'), SCHEMA, level=ERROR),
    "unsupported-type": rule(SCHEMA.replace("xs:boolean", "xs:double", 1), SCHEMA, level=ERROR),
    "bad-attribute": rule(SCHEMA.replace('cardinality="3"', 'cardinality="4"'), SCHEMA, level=ERROR),
    "no-function-type": rule(SCHEMA.replace("AppFunctionStaticMetadata", "Functions"), SCHEMA, level=ERROR),
    "undefined-type": rule(SCHEMA.replace('name="Response"', 'name="Reply"'), SCHEMA, level=ERROR),
    "duplicate-property": rule(SCHEMA.replace('name="isRequired" type="xs:boolean"',
        'name="name" type="xs:long"'), SCHEMA),
    "base-property": rule(SCHEMA.replace('indexingType="1" tokenizerType="2"', "", 1), SCHEMA),
    "bad-boolean": rule(file_with(parameters=PARAMETER.replace("true", "maybe")),
        file_with(parameters=PARAMETER.replace("true", " TRUE "))),
    "metadata-content": rule(METADATA.replace("description", "text"), METADATA),
    "metadata-guidance": rule(METADATA.replace("description", "displayDescription"), METADATA, level=NOTED),
}
# fmt: on


def test_a_file_of_the_application_needs_a_schema_from_somewhere() -> None:
    of_application = named(".v2", "functions.xml")
    assert "no-schema" in codes_of(lint_application(app(of_application)))
    for parts in ((of_application, SCHEMA_PROPERTY), (of_application, service())):
        assert "no-schema" not in codes_of(lint_application(app(*parts)))


@pytest.mark.parametrize("value", ["2147483648", "9" * 30, "1.0", "+", ""], ids=repr)
def test_an_enum_value_that_is_not_an_int_of_java_is_reported(value: str) -> None:
    text = of_type(f"<type>7</type><enumValues>{value}</enumValues>")
    assert "bad-int-enum" in codes_of(lint_text(text))


def test_a_document_that_appsearch_refuses_is_named_with_the_releases_that_it_is_true_of() -> None:
    every = ("16", "16-qpr1", "16-qpr2", "17")
    (refused,) = [item for item in lint_text(FILES["bad-count"][0]) if item.code == "appfunctions-bad-count"]
    document = "the document com.example.notes.Notes#add"
    assert refused.message.endswith(f"AppSearch refuses {document} on every release from Android 16 on")
    assert refused.releases == every
    findings = {item.code: item for item in lint_application(app(named(".v2", "functions.xml")))}
    assert findings["appfunctions-application-level"].releases == every[:3]
    assert findings["appfunctions-no-schema"].releases == every[3:]
    assert findings["appfunctions-bad-scope"].releases == every[3:]


@pytest.mark.parametrize("rule", FILES)
def test_a_file_that_breaks_a_rule_has_a_finding_and_the_corrected_one_none(rule: str) -> None:
    broken, level, mended = FILES[rule]
    findings = [item for item in lint_text(broken) if item.code == f"appfunctions-{rule}"]
    assert {item.level for item in findings} == {level}
    assert all(item.hint and item.source and item.source.path == "functions.xml" for item in findings)
    assert rule not in codes_of(lint_text(mended))


Apps = Callable[[], Application]

OTHER_SCHEMA = named(".schema", "other_schema.xsd")


def built(application: Application) -> Application:
    """The same app as an APK, which has all that it will ever have."""
    return replace(application, is_built=True)


def app_rule(
    broken: Apps, mended: Apps = lambda: app(service()), level: Level = Level.WARNING
) -> tuple[Apps, Level, Apps]:
    return broken, level, mended


RES_AUTO = "http://schemas.android.com/apk/res-auto"


def guidance(name: str) -> str:
    return named(".app_metadata", f"@xml/{name}", attribute="resource")


GUIDED = guidance("app_metadata")
# fmt: off
APPS: dict[str, tuple[Apps, Level, Apps]] = {
    "meta-data": app_rule(lambda: app(service(V2.replace("property", "meta-data"), SCHEMA_PROPERTY)),
        level=ERROR),
    "unknown-property": app_rule(lambda: app(named(".app_functions_metadata", "@xml/app_metadata",
        attribute="resource"), service()), lambda: app(GUIDED, service())),
    "no-functions": app_rule(lambda: app(functions_xml="<appfunctions/>"), level=NOTED),
    "bad-boolean": app_rule(lambda: app(functions_xml=GOOD.replace("true</enabled", "yes</enabled"))),
    "base-property": app_rule(lambda: app(app_functions_schema_xsd=SCHEMA.replace(
        'name="packageName" type="xs:string"', 'name="packageName" type="xs:long"'))),
    "service-action": app_rule(lambda: app(service(action="")), level=ERROR),
    "service-disabled": app_rule(lambda: app(service(attributes=f'{PERMISSION} android:enabled="false"'))),
    "no-schema": app_rule(lambda: app(service(V2)), lambda: app(SCHEMA_PROPERTY, service(V2)), level=ERROR),
    "application-level": app_rule(lambda: app(named(".v2", "functions.xml"), service()), level=NOTED),
    "metadata-place": app_rule(lambda: app(service(V2,
        SCHEMA_PROPERTY, named(".app_metadata", "@xml/app_metadata"))), lambda: app(GUIDED, service())),
    "metadata-missing": app_rule(lambda: app(guidance("gone"), service()), lambda: app(GUIDED, service())),
    "metadata-content": app_rule(lambda: app(guidance("empty")), lambda: app(GUIDED)),
    "metadata-file": app_rule(lambda: app(guidance("wrong"), wrong_xml="<app-metadata/>"),
        lambda: app(GUIDED), level=ERROR),
    "metadata-attributes": app_rule(lambda: app(service(),
        attributes=f'xmlns:a="{RES_AUTO}" a:description="Search first"'),
        lambda: app(service(), attributes=f'xmlns:a="{RES_AUTO}" a:theme="dark"')),
    "missing-file": app_rule(lambda: built(app(service(named(".v2", "a.xml,functions.xml"),
        SCHEMA_PROPERTY))), level=ERROR),
    "not-a-file-property": app_rule(lambda: app(service(named(".v2", "@xml/functions", attribute="resource"),
        SCHEMA_PROPERTY))),
    "missing-permission": app_rule(lambda: app(service(attributes="")), level=ERROR),
    "another-service": app_rule(lambda: app(service(name=".First"), service(name=".Second"))),
    "no-file": app_rule(lambda: app(service(SCHEMA_PROPERTY)), level=ERROR),
    "different-schemas": app_rule(lambda: app(service(), service(V2, OTHER_SCHEMA, name=".Second"),
        other_schema_xsd=SCHEMA), lambda: app(service(), service(name=".Second")), level=ERROR),
    "undefined-type": app_rule(lambda: app(service(),
        app_functions_schema_xsd=SCHEMA.replace('name="Response"', 'name="Reply"')), level=ERROR),
    "unknown-tag": app_rule(lambda: app(service(),
        functions_xml=file_with(extra="<accessLevel>self</accessLevel>"))),
}
# fmt: on


@pytest.mark.parametrize("rule", APPS)
def test_an_app_that_breaks_a_rule_has_a_finding_and_the_corrected_one_none(rule: str) -> None:
    broken, level, mended = APPS[rule]
    findings = [item for item in lint_application(broken()) if item.code == f"appfunctions-{rule}"]
    assert {item.level for item in findings} == {level}
    assert all(item.hint and item.source is not None for item in findings)
    assert rule not in codes_of(lint_application(mended()))


@pytest.mark.parametrize(("mark", "found"), [
    ("/** Adds. */ @AppFunction", ["no-description"]),
    ("@AppFunction(isDescribedByKDoc = true)", ["no-description"]),
    ("/** Adds. */ @AppFunction(isDescribedByKDoc = true)", ["no-parameter-description"]),
    ("/** Adds.\n * @param x what is added\n */ @AppFunction(isDescribedByKDoc = true)", []),
], ids=["KDoc that is not used", "no KDoc", "KDoc of the function", "KDoc of both"])  # fmt: skip
def test_a_kotlin_function_that_agents_see_without_a_description_is_reported(
    mark: str, found: list[str]
) -> None:
    (provider,) = kotlin(f"""package a
import androidx.appfunctions.AppFunctionContext
import androidx.appfunctions.service.AppFunction
class Sums {{
    {mark} fun add(context: AppFunctionContext, x: Int): Int = x
}}
""").providers
    assert [item.code.removeprefix("appfunctions-") for item in lint_source_code(provider)] == found
    assert all(item.source is not None and item.source.line == 5 for item in lint_source_code(provider))


def test_every_rule_has_a_case_that_breaks_it() -> None:
    # `assumed` stands with every lone file, so no mended one lacks it.
    tried = FILES.keys() | APPS.keys() | {"assumed"}
    declared = {item.removeprefix("appfunctions-") for item in RULES} | REASONS.keys()
    assert declared == tried
    assert all(f"appfunctions-{item}" in FINDING_CODES for item in declared)


def test_a_correct_app_has_no_findings() -> None:
    assert lint_application(app()) == ()
    assert lint_application(app("")) == ()


def test_a_correct_file_has_only_the_note_about_what_is_assumed() -> None:
    findings = lint_text(GOOD)
    assert codes_of(findings) == {"assumed"}
    assert findings[0].message == "functions.xml is read with the newest Jetpack schema"


def test_a_missing_schema_is_reported_once_with_what_it_means() -> None:
    findings = lint_application(app(service(V2, named(".schema", "none.xsd"))))
    assert codes_of(findings) == {"missing-file", "no-signature", "no-description"}
    assert "no schema of its own on every release from Android 16 on" in findings[0].message


def test_an_old_schema_next_to_a_new_tag_is_reported_as_the_cause() -> None:
    broken, _, _ = APPS["unknown-tag"]
    (finding,) = with_code(broken(), "unknown-tag")
    assert finding.hint is not None
    assert "older than the tag" in finding.hint
    assert "Android 16 QPR1 and Android 16 QPR2" in finding.message
    assert "lost on Android 16 and Android 17" in finding.message
    assert finding.source is not None
    assert finding.source.line == 4


@pytest.mark.parametrize(("text", "line", "cause"), [
    ("<version>1</version>\n<appfunctions>\n<appfunction>\n<function_id>a\n</appfunction></appfunctions>", 5,
        "<function_id> of line 4 is not closed before </appfunction>"),
    ("<version>1</version>\n<appfunctions>\n<appfunction>\n", 4, "<appfunction> of line 3 is not closed"),
    ("<appfunctions>\n<appfunction>\n", 3, "<appfunction> of line 2 is not closed"),
], ids=["an id after a version", "a function after a version", "a function"])  # fmt: skip
def test_the_element_that_is_not_closed_is_the_cause(text: str, line: int, cause: str) -> None:
    (finding,) = lint_text(text)
    assert finding.message.startswith(f"not well-formed XML: {cause};")
    assert finding.source == Place(path="functions.xml", line=line)


def test_every_unknown_tag_of_a_file_is_reported_with_the_releases_that_drop_the_file() -> None:
    findings = lint_text(file_with(extra="<one>1</one><two>2</two>"))
    reported = [item.message for item in findings if item.code == "appfunctions-unknown-tag"]
    assert [message.split(">")[0] for message in reported] == ["<one", "<two"]
    assert all("Android 16 QPR1 and Android 16 QPR2" in message for message in reported)


def test_a_file_of_version_1_is_read_as_such() -> None:
    text = functions("<appfunction><function_id>a#b</function_id></appfunction>")
    findings = lint_text(text)
    assert codes_of(findings) == {"assumed", "no-signature", "no-description"}
    assert findings[0].message.endswith("with the tags of version 1")


def test_a_compilers_empty_file_is_only_noted() -> None:
    assert {item.level for item in lint_text("<appfunctions/>")} == {Level.NOTE}


def test_a_manifest_alone_is_refused() -> None:
    with pytest.raises(InputError, match="with the app it belongs to"):
        lint_text("<manifest/>")


@pytest.mark.requires("corpus")
def test_files_that_jetpacks_compiler_writes_have_no_finding() -> None:
    """But for two that the reference names: a pattern of an older build, and an empty object."""
    folder = require("corpus") / "appfunctions"
    odd = {}
    for path in sorted(folder.glob("androidx__*output__*.xml")):
        findings = lint_file(SourceFile(path.name, path.read_bytes()))
        codes = {finding.code for finding in findings if finding.level != Level.NOTE}
        if grave := codes - {"appfunctions-no-signature"}:
            odd[path.name.rpartition("output__")[2]] = grave
    assert odd == {
        "entrypoints__valid_uri_service.xml": {"appfunctions-unknown-tag"},
        "functionWithEmptySerializable_app_function_dynamic_schema.xml": {"appfunctions-empty-object"},
    }


PIECES = st.lists(st.sampled_from([
    GOOD, SCHEMA, METADATA, STRING, PARAMETER, function(), "", "<a>", "</a>", "<type>9</type>", "<id>x</id>",
    "<paramNames>a</paramNames>", "<scope>", "</scope>", "<!DOCTYPE a>", "\ufeff", "<xs:documentType>",
]), max_size=5).map("".join)  # fmt: skip


@given((PIECES.map(str.encode) | st.binary(max_size=60)).filter(lambda data: b"<manifest" not in data))
def test_linting_any_file_but_a_manifest_gives_declared_codes(data: bytes) -> None:
    findings = lint_file(SourceFile("any.xml", data))
    assert all(finding.code in FINDING_CODES for finding in findings)
    assert all("\n" not in finding.message and not finding.message.endswith(".") for finding in findings)


@given(PIECES, PIECES)
def test_linting_any_app_gives_declared_codes(text: str, schema: str) -> None:
    findings = lint_application(app(functions_xml=text, app_functions_schema_xsd=schema))
    assert all(finding.code in FINDING_CODES for finding in findings)


@pytest.mark.parametrize("guarded", [True, False])
def test_a_service_that_is_meant_for_functions_and_has_no_file_lacks_the_action(*, guarded: bool) -> None:
    permission = PERMISSION if guarded else ""
    action = "com.example.RUN" if guarded else "androidx.appfunctions.AppFunctionService"
    filters = f'<intent-filter><action android:name="{action}"/></intent-filter>'
    meant = f'<service android:name=".S" {permission}>{filters}</service>'
    (finding,) = with_code(app(meant), "service-action")
    assert "meant for app functions" in finding.message


@pytest.mark.parametrize("name", ["androidx.appfunctions.service.PlatformAppFunctionService",
    "androidx.appfunctions.ExtensionAppFunctionService"])  # fmt: skip
def test_a_service_that_gets_its_properties_from_jetpacks_manifest_has_a_file(name: str) -> None:
    of_source = app(service(SCHEMA_PROPERTY, name=name, attributes=""))
    for code in ("no-file", "missing-permission"):
        assert with_code(of_source, code) == []
        assert with_code(built(of_source), code)


def test_an_invented_property_is_reported_with_the_name_that_is_like_it() -> None:
    (finding,) = with_code(app(named(".app_functions_metadata", "a.xml"), service()), "unknown-property")
    assert finding.hint == "write android.app.appfunctions.app_metadata"


def test_a_file_that_a_source_tree_does_not_have_is_not_an_error() -> None:
    of_source = app(service(named(".v2", "made_by_the_build.xml"), SCHEMA_PROPERTY))
    assert [item.level for item in with_code(of_source, "missing-file")] == [Level.WARNING]
    assert [item.level for item in with_code(built(of_source), "missing-file")] == [Level.ERROR]


def test_the_schema_of_jetpack_is_there_before_the_build() -> None:
    tree = {"AndroidManifest.xml": manifest().encode(), "assets/functions.xml": file_with().encode()}
    of_source = application_from_tree(tree)
    assert lint_application(of_source) == ()
    assert "appfunctions-missing-file" in {item.code for item in lint_application(built(of_source))}


def test_a_file_that_is_elsewhere_in_the_app_is_named() -> None:
    as_asset = app(service(named(".v2", "empty.xml"), SCHEMA_PROPERTY))
    (finding,) = with_code(as_asset, "missing-file")
    assert finding.message.startswith("the app has no asset empty.xml, but it has @xml/empty;")
    assert finding.level is Level.ERROR
    (finding,) = with_code(app(guidance("functions_old"), functions_old_xml="<x/>"), "metadata-missing")
    assert finding.message == "the app has no @xml/functions_old, but it has assets/functions_old.xml"
