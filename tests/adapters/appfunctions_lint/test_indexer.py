"""The model of AppSearch's indexer: every rule by an example typed from reference appfunctions 1 to 3."""

import csv
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions_lint.app_fixtures import (
    PACKAGE,
    PARAMETER,
    PERMISSION,
    SCHEMA,
    SCHEMA_PROPERTY,
    V2,
    app,
    components,
    function,
    functions,
    named,
    service,
)
from droidgate_android.app_search import indexed_packages
from droidgate_android.app_search.events import IndexerError, PullParser
from droidgate_android.app_search.indexed_documents import java_hash
from droidgate_android.app_search.indexed_packages import AppFiles, index_file, simulate_indexing
from droidgate_android.app_search.indexer_reports import IndexingReport
from droidgate_android.app_search.schemas import AppSearchSchema, jetpack_schema, platform_schema, read_schema
from droidgate_android.projects.indexed_text import (
    java_trim,
    parse_boolean,
    parse_integer,
    to_lower_camel_case,
)
from droidgate_mappings.formats.application import Application, Resources, TextFile
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.tables.app_functions import Release, SchemaProperty, load_indexing
from requirements_of_tests import CHECKOUT, find
from strategies import damaged

RELEASES = ("16", "16-qpr1", "16-qpr2", "17")
BEFORE_17 = RELEASES[:3]
OF_VERSION_1 = "<function_id>a.B#c</function_id><schema_version>2</schema_version>"
V1 = functions(f"<appfunction>{OF_VERSION_1}</appfunction>")
ADD = "com.example.notes.Notes#add"
BAD_NUMBERS = ("1.0", "", "0x1", "9223372036854775808", "1_000", "one")


def on(releases: tuple[str, ...], value: Any) -> dict[str, Any]:
    return dict.fromkeys(releases, value)


def index(text: str, release: str, **facts: Any) -> IndexingReport:
    return index_file(text, jetpack_schema(), release, package=PACKAGE, **facts)


def reason_by_release(text: str, **facts: Any) -> dict[str, str | None]:
    dropped_files = {item: index(text, item, **facts).dropped_files for item in RELEASES}
    return {item: files[0].reason if files else None for item, files in dropped_files.items()}


def dropped(report: IndexingReport) -> list[tuple[str, str]]:
    return [(item.path, item.reason) for item in report.dropped_files]


def test_a_function_becomes_a_document_with_what_the_indexer_adds() -> None:
    report = index(functions(function()), "17", service="com.example.notes.NotesService")
    (document,) = report.documents.values()
    title = {"name": ["title"], "dataTypeMetadata": [{"type": [8]}]}
    assert document.properties == {
        "packageName": [PACKAGE],
        "mobileApplicationQualifiedId": [f"android$apps-db/apps#{PACKAGE}"],
        "packageNameHash": [java_hash(PACKAGE)],
        "enabledByDefault": [True],
        "serviceName": ["com.example.notes.NotesService"],
        "scope": ["global"],
        "description": ["Adds a note."],
        "parameters": [{**title, "isRequired": [True], "description": ["Its first line."]}],
        "response": [{"valueType": [{"type": [0]}]}],
        "functionId": [ADD],
    }
    assert document.place is not None
    assert (document.type, document.enabled, document.place.line) == ("AppFunctionStaticMetadata", True, 3)


def test_before_17_the_indexer_adds_only_package_and_application() -> None:
    for release in BEFORE_17:
        properties = index(functions(function()), release).functions()[ADD].properties
        assert not properties.keys() & {"serviceName", "scope", "packageNameHash"}


def test_the_hash_of_a_package_is_javas() -> None:
    # The value is from a listing of a real Android 17 device (reference appfunctions 3.2).
    assert java_hash("dev.shreyaspatil.noty.composeapp") == -678864315
    assert java_hash("") == 0


GROUP = "<group><id>inner</id><description>other</description></group>"
VERSIONED = functions(function()).replace("<appfunctions>", "<version>1</version>\n<appfunctions>")
GLOBAL, ACTIVITY = "<scope>global</scope>", "<scope>activity</scope>"
DISABLED = "<enabledByDefault>false</enabledByDefault>"
# fmt: off
REASONS_OF_FILES = [  # the service, and why releases drop the file
    pytest.param(functions(function()).replace(f"<id>{ADD}</id>", "<id> </id>").replace("functionId",
        "schemaName"), "", on(RELEASES, "missing-id"), id="a function without id"),
    pytest.param(functions(function(parameters=PARAMETER.replace("<id>unused</id>", "", 1))),
        "", on(RELEASES, "missing-id"), id="a parameter without id"),
    pytest.param(functions(function(), components("").replace("<id>unused</id>", "", 1)),
        "", on(RELEASES, "missing-id"), id="components without id"),
    pytest.param(functions(function(description="<description><b>a</b></description>")),
        "", on(RELEASES, "element-in-text"), id="an element inside a text"),
    pytest.param(VERSIONED.replace("<version>", "words <version>"),
        "", on(RELEASES, "malformed-xml"), id="loose text"),
    pytest.param(f"<anything><wrap>{function()}</wrap></anything>",
        "", on(RELEASES, None), id="documents are found at any depth and the root has any name"),
    pytest.param(functions(function(extra=GROUP)),
        "", {**on(RELEASES, None), **on(RELEASES[1:3], "unknown-tag")},
        id="an unknown tag is entered on 16, rejects the file on its updates, and is skipped on 17"),
    *(pytest.param(functions(function(extra=f"<schemaVersion>{number}</schemaVersion>")), "",
      on(RELEASES, "bad-number"), id=f"Java does not read the number {number!r}") for number in BAD_NUMBERS),
    *(pytest.param(functions(function(extra=f"<{tag}>1</{tag}>")),
      "", {"16": None, "17": "reserved-property"}, id=f"only the indexer sets {tag}")
      for tag in ("serviceName", "package_name_hash")),
    *(pytest.param(functions(function(extra=scope, enabled="")), service, {"17": reason},
      id=f"{scope or 'no scope'} at {service}") for scope, service, reason in (("", "@null", "bad-scope"),
      (GLOBAL, "@null", None), (ACTIVITY, "@null", None), ("<scope>screen</scope>", "@null", "bad-scope"),
      ("", "a.Service", None), (GLOBAL, "a.Service", None), (ACTIVITY, "a.Service", "bad-scope"))),
    pytest.param(functions(function(extra=GLOBAL)),
        "@null", {"17": "enabled-application-function"}, id="a function of the application is enabled"),
    pytest.param(functions(function(extra=GLOBAL, enabled=DISABLED)),
        "@null", {"17": None}, id="a function of the application is disabled"),
]
# fmt: on


@pytest.mark.parametrize(("text", "service", "reasons"), REASONS_OF_FILES)
def test_a_file_is_dropped_for_a_reason(text: str, service: str, reasons: dict[str, str | None]) -> None:
    actual = reason_by_release(text, **({"service": service} if service else {}))
    assert {release: actual[release] for release in reasons} == reasons


@pytest.mark.parametrize("number", BAD_NUMBERS)
def test_a_number_that_java_does_not_read_drops_a_file_of_version_1(number: str) -> None:
    text = V1.replace("<schema_version>2<", f"<schema_version>{number}<")
    assert index_file(text, None, "16").dropped_files[0].reason == "bad-number"


def test_elements_in_an_unknown_tag_belong_to_the_function_on_android_16() -> None:
    text = functions(function(extra=GROUP))
    # On 16 the inner description is a second one of a property that holds one, and the inner id wins.
    (ignored,) = (item for item in index(text, "16").ignored if item.kind == "function")
    assert (ignored.name, ignored.reason) == ("inner", "bad-count")
    assert list(index(text, "17").functions()) == [ADD]


def test_a_function_of_the_application_is_disabled_until_it_is_registered() -> None:
    text = functions(function(extra=GLOBAL, enabled=""))
    (document,) = index(text, "17", service="@null").documents.values()
    assert (document.enabled, document.properties["serviceName"]) == (False, ["@null"])


def test_an_unknown_tag_with_the_documents_own_name_ends_it_on_16() -> None:
    inner = "<appfunction><id>c#d</id></appfunction>"
    text = functions(f"<appfunction><id>a#b</id>{inner}<id>e#f</id></appfunction>")
    assert list(index(text, "16").documents) == ["c#d"]
    assert list(index(text, "17").documents) == ["e#f"]


def test_the_last_id_wins_on_17_and_both_stay_before() -> None:
    text = functions("<appfunction><id>a#one</id><function_id>a#two</function_id></appfunction>")
    for release in BEFORE_17:
        (document,) = index(text, release).documents.values()
        assert (document.id, document.function_id) == ("a#one", "a#two")
    (document,) = index(text, "17").documents.values()
    assert (document.id, document.function_id) == ("a#two", "a#two")


def test_a_function_that_does_not_say_enabled_is_disabled_before_17() -> None:
    text = functions(function(enabled=""))
    enabled = {item: [doc.enabled for doc in index(text, item).documents.values()] for item in RELEASES}
    assert enabled == {**on(BEFORE_17, [False]), "17": [True]}


def test_a_function_of_version_1_that_does_not_say_enabled_is_enabled() -> None:
    for release in RELEASES:
        (document,) = index_file(V1, None, release, package=PACKAGE).documents.values()
        assert (document.id, document.enabled, document.properties["schemaVersion"]) == ("a.B#c", True, [2])


@pytest.mark.parametrize(("text", "bits", "number"), [
    ("+7", 64, 7), ("-9223372036854775808", 64, -(2**63)), ("٣", 64, 3), ("2147483648", 32, None),
    ("-2147483648", 32, -(2**31)), ("+", 64, None), (" 1", 64, None),
])  # fmt: skip
def test_integers_are_read_as_java_reads_them(text: str, bits: int, number: int | None) -> None:
    assert parse_integer(text, bits) == number


def test_booleans_and_blanks_are_read_as_java_reads_them() -> None:
    assert [item for item in ("TRUE", "true", "yes", "1", "") if parse_boolean(item)] == ["TRUE", "true"]
    assert java_trim("\x00\t a\u00a0\n") == "a\u00a0"


@pytest.mark.parametrize(("tag", "property_name"), [
    ("scHema_veRsion", "schemaVersion"), ("function__id", "functionId"), ("functionid", "functionid"),
    ("schemaVersion", "schemaVersion"), ("_schema_version_", "SchemaVersion"), ("___", ""),
    ("enabledBy_Default", "enabledbyDefault"), ("enabled_by_default", "enabledByDefault"),
    ("isNullable", "isNullable"),
])  # fmt: skip
def test_tags_are_converted_as_the_dynamic_parser_does(tag: str, property_name: str) -> None:
    assert to_lower_camel_case(tag) == property_name


def test_a_second_element_at_the_documents_level_is_accepted() -> None:
    for release in RELEASES:
        (document,) = index(VERSIONED, release).documents.values()
        assert document.place is not None
        assert document.place.line == 4


def test_comments_and_cdata_do_not_break_a_text() -> None:
    text = functions(function(description="<description>a <!-- x -->b<![CDATA[ <c>]]></description>"))
    assert index(text, "17").functions()[ADD].properties["description"] == ["a b <c>"]


def test_no_more_than_the_limit_is_kept_and_the_last_are_lost() -> None:
    text = functions(*(function(f"a#f{number}") for number in range(250)), components(""))
    for release in RELEASES:
        report = index(text, release)
        assert len(report.documents) == 250
        assert [item.reason for item in report.ignored] == ["over-limit"]
        assert "1 more than the 250" in report.ignored[0].message


def test_a_repeated_id_overwrites_and_leaves_room_below_the_limit() -> None:
    limits = load_indexing().limits.model_copy(update={"documents_per_file": 2})
    text = functions(function("a#b"), function("a#b"), function("a#c"))
    report = index(text, "17", limits=limits)
    assert list(report.documents) == ["a#b", "a#c"]
    assert [item.reason for item in report.ignored] == ["overwritten"]


def test_a_function_without_a_required_type_is_not_indexed() -> None:
    text = functions(function(parameters=PARAMETER.replace("<type>8</type>", "")), function("a#b"))
    for release in RELEASES:
        report = index(text, release)
        assert list(report.documents) == ["a#b"]
        assert [item.reason for item in report.ignored] == ["bad-count"]


def resource(name: str) -> str:
    return named(name, "@xml/functions", attribute="resource")


OLD = named("", "old.xml")
SECOND = service(named(".v2", "more.xml"), SCHEMA_PROPERTY, name=".Second")
MORE = functions(function("a#more"))
ONE, TWO = (functions(function(f"a#{name}", extra=GLOBAL, enabled="")) for name in ("one", "two"))
NO_SCHEMA = app(service(V2, OLD), old_xml=V1)
DOUBLES = SCHEMA.replace("xs:boolean", "xs:double")
REJECTED = app(service(V2, SCHEMA_PROPERTY, OLD), old_xml=V1, app_functions_schema_xsd=DOUBLES)
TWO_SERVICES = app(service(name=".First"), SECOND, more_xml=MORE)
# fmt: off
READ = [  # the functions that releases list, and what they drop
    pytest.param(app(), on(RELEASES, [ADD]), [], id="an app is read through its service's properties"),
    pytest.param(app(""), on(RELEASES, []), [], id="an app without a service"),
    pytest.param(NO_SCHEMA, {**on(BEFORE_17, ["a.B#c"]), "17": [ADD]},
        [], id="without a schema older releases read version 1 and 17 reads version 2"),
    pytest.param(app(service(V2, SCHEMA_PROPERTY, OLD), old_xml=V1),
        on(RELEASES, [ADD]), [], id="with a schema version 1 is not read"),
    pytest.param(app(service(SCHEMA_PROPERTY, OLD), old_xml=V1),
        {**on(BEFORE_17, []), "17": ["a.B#c"]}, [], id="a schema with version 1 alone"),
    pytest.param(REJECTED, {**on(BEFORE_17, ["a.B#c"]), "17": [ADD]},
        [("app_functions_schema.xsd", "unsupported-type")], id="a rejected schema is not a schema"),
    pytest.param(app(service(resource(".v2"), SCHEMA_PROPERTY)),
        {"16": [], **on(RELEASES[1:], [ADD])}, [], id="version 2 may be a resource from 16 QPR1 on"),
    pytest.param(app(service(resource(""))),
        {**on(BEFORE_17, []), "17": [ADD]}, [], id="version 1 may be a resource on 17"),
    pytest.param(TWO_SERVICES, {**on(BEFORE_17, ["a#more"]), "17": ["a#more", ADD]},
        [], id="before 17 only the last service is read"),
    pytest.param(app(service(attributes=f'{PERMISSION} android:enabled="false"')),
        on(RELEASES, []), [], id="a disabled service is not there"),
    pytest.param(app(service(action="")),
        on(RELEASES, []), [], id="a service without the action is not there"),
    pytest.param(app(service(attributes="")),
        {**on(BEFORE_17, [ADD]), "17": []}, [], id="a service without the permission is skipped on 17"),
    pytest.param(app(SCHEMA_PROPERTY, named(".v2", " one.xml, ,two.xml"), one_xml=ONE, two_xml=TWO),
        {**on(BEFORE_17, []), "17": ["a#one", "a#two"]},
        [], id="files of the application are a list on 17 only"),
    pytest.param(app(service(),
        service(named(".v2", "bad.xml"), SCHEMA_PROPERTY, name=".Second"), bad_xml="<appfunctions>"),
        {"17": [ADD]}, [("bad.xml", "malformed-xml")], id="one bad file leaves the others"),
    pytest.param(app(service(), service(named(".v2", "bad.xml"), SCHEMA_PROPERTY, name=".Second"),
        bad_xml="\ufeff" + ONE), {"17": [ADD]}, [("bad.xml", "malformed-xml")], id="a byte order mark"),
    pytest.param(app(service(named(".v2", "none.xml"), SCHEMA_PROPERTY)),
        {"17": []}, [("none.xml", "missing-file")], id="a file that is not there is reported"),
]
# fmt: on


@pytest.mark.parametrize(("application", "listed", "left_out"), READ)
def test_each_release_indexes_the_functions_of_an_application(
    application: Application, listed: dict[str, list[str]], left_out: list[tuple[str, str]]
) -> None:
    reports = {item: simulate_indexing(application, item) for item in RELEASES}
    assert {item: sorted(reports[item].functions()) for item in listed} == listed
    for release in listed:
        assert dropped(reports[release]) == left_out


def test_on_17_a_function_has_its_own_service_and_without_a_schema_no_signature() -> None:
    more = simulate_indexing(TWO_SERVICES, "17").functions()["a#more"].properties
    assert more["serviceName"] == [f"{PACKAGE}.Second"]
    properties = simulate_indexing(NO_SCHEMA, "17").functions()[ADD].properties
    assert not properties.keys() & {"description", "parameters", "response"}


def test_services_with_different_schemas_get_the_platforms_on_17() -> None:
    second = service(named(".v2", "more.xml"), named(".schema", "other.xsd"), name=".Second")
    two = app(service(), second, more_xml=MORE, other_xsd=SCHEMA)
    report = simulate_indexing(two, "17")
    assert [item.reason for item in report.warnings] == ["different-schemas"]
    assert all("parameters" not in item.properties for item in report.functions().values())


def test_a_schema_may_use_prefixes_that_nobody_declares() -> None:
    undeclared = SCHEMA.replace(' xmlns:xs="http://www.w3.org/2001/XMLSchema"', "")
    assert read_schema(undeclared).types.keys() == read_schema(SCHEMA).types.keys()
    with pytest.raises(IndexerError) as caught:
        read_schema(SCHEMA.replace("xs:", "xsd:"))
    assert caught.value.reason == "no-function-type"


def test_the_first_declaration_of_a_property_counts() -> None:
    twice = SCHEMA.replace('name="isRequired" type="xs:boolean"', 'name="name" type="xs:long"')
    schema = read_schema(twice)
    assert schema.types["Parameter"]["name"].kind == "string"
    assert schema.duplicates == (("Parameter", "name"),)


@pytest.mark.parametrize("attributes", [
    'indexingType="1"', 'tokenizerType="2"', 'joinableValueType="1" cardinality="1"',
    'indexingType="3" tokenizerType="1"', 'indexingType="1" tokenizerType="4"', 'joinableValueType="2"',
    'cardinality="0"', 'cardinality="2.0"',
])  # fmt: skip
def test_attributes_that_appsearch_does_not_take_reject_the_schema(attributes: str) -> None:
    stated = f'name="d" type="xs:string" {attributes}'
    with pytest.raises(IndexerError) as caught:
        read_schema(SCHEMA.replace('name="description" type="xs:string"', stated))
    assert (caught.value.reason, caught.value.line) == ("bad-attribute", 8)


def test_on_17_the_platforms_own_properties_are_in_every_schema() -> None:
    in_force, before = (
        platform_schema().for_release(load_indexing().release(item)).types["AppFunctionStaticMetadata"]
        for item in ("17", "16")
    )
    assert {"serviceName", "scope", "packageNameHash"} <= in_force.keys()
    assert "scope" not in before


def test_a_pull_parser_steps_as_androids_does() -> None:
    parser = PullParser("<a>x<b/>y</a>")
    seen = [(parser.event.type, parser.event.name or parser.event.text)]
    while parser.event.type != "end-document":
        parser.next()
        seen.append((parser.event.type, parser.event.name or parser.event.text))
    assert seen == [
        ("start", "a"), ("text", "x"), ("start", "b"), ("end", "b"), ("text", "y"), ("end", "a"),
        ("end-document", ""),
    ]  # fmt: skip


# Files that several releases read: once read and once parsed, with the same outcome

APPS = {
    "an asset": app(),
    "a resource": app(service(resource(".v2"), SCHEMA_PROPERTY)),
    "two services": app(service(), SECOND, more_xml=MORE),
    "a broken file": app(service(named(".v2", "bad.xml"), SCHEMA_PROPERTY), bad_xml="<appfunctions>"),
    "a file that is not there": app(service(named(".v2", "none.xml"), SCHEMA_PROPERTY)),
}
Read = Callable[[Resources, str], TextFile | None]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what is read of the files of apps."""
    counts: Counter[str] = Counter()
    kind = type(APPS["an asset"].resources)

    def counted(read: Read) -> Read:
        def read_and_count(resources: Resources, name: str) -> TextFile | None:
            counts[name] += 1
            return read(resources, name)

        return read_and_count

    for name in ("read_file", "read_asset"):
        monkeypatch.setattr(kind, name, counted(getattr(kind, name)))
    return counts


@pytest.mark.parametrize("name", APPS)
@pytest.mark.parametrize("kept_characters", [0, 4 << 20])
def test_releases_checked_together_give_the_findings_of_each_alone(
    name: str, kept_characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed_packages, "_KEPT_CHARACTERS", kept_characters)
    files = AppFiles(APPS[name])
    for release in (*RELEASES, *RELEASES):
        shared = simulate_indexing(APPS[name], release, files=files)
        assert shared == simulate_indexing(APPS[name], release)


@pytest.mark.parametrize("name", APPS)
def test_the_linter_reads_a_file_once_for_all_releases(name: str, reads: Counter[str]) -> None:
    lint = load_formats()["appfunctions"].lint_application
    assert lint is not None
    lint(APPS[name])
    assert len(load_indexing().linted()) > 1
    assert set(reads.values()) == {1}


def test_large_files_are_not_cached(monkeypatch: pytest.MonkeyPatch, reads: Counter[str]) -> None:
    monkeypatch.setattr(indexed_packages, "_KEPT_CHARACTERS", 10)
    application = APPS["an asset"]
    files = AppFiles(application)
    for release in RELEASES:
        simulate_indexing(application, release, files=files)
    assert set(reads.values()) == {len(RELEASES)}


# AOSP's own test cases: each comes out as its name and the notes of the corpus say

AOSP = "GrapheneOS__platform_packages_modules_AppSearch__"


def read_cases() -> list[tuple[str, int]]:
    """The cases by file name, and the number of documents or schemas that the notes expect."""
    try:
        table = (find("corpus") / "appfunctions" / "index.tsv").read_text(encoding="utf-8")
    except Exception:  # noqa: BLE001 - without the corpus the marked tests are skipped, with the reason
        return [("corpus", 0)]
    rows = [row for row in csv.DictReader(table.splitlines(), delimiter="\t") if row["file"].startswith(AOSP)]
    notes = (re.search(r"expected: (\d+|nothing)", row["how obtained / notes"]) for row in rows)
    expected = [note[1] for note in notes if note is not None]
    counts = [int(text.replace("nothing", "0")) for text in expected]
    return list(zip((row["file"] for row in rows), counts, strict=True))


def schema_of_the_test() -> AppSearchSchema:
    """The schema that AOSP's tests make: functions with parameters that may hold themselves."""
    functions = dict(platform_schema().types["AppFunctionStaticMetadata"])
    parameter = "AppFunctionParameterMetadata"
    functions["appFunctionParameterMetadata"] = SchemaProperty("document", "repeated", parameter)
    inside = {
        "parameterName": SchemaProperty("string", "repeated"),
        "selfReference": SchemaProperty("document", "optional", parameter),
    }
    return AppSearchSchema({"AppFunctionStaticMetadata": functions, parameter: inside})


CASES = read_cases()


@pytest.mark.requires("corpus")
@pytest.mark.parametrize(("name", "expected"), CASES, ids=[name.removeprefix(AOSP) for name, _ in CASES])
def test_a_test_case_of_aosp_has_the_outcome_that_aosp_expects(name: str, expected: int) -> None:
    path: Path = find("corpus") / "appfunctions" / name
    release, _, case = path.stem.removeprefix(AOSP).split("__", 2)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".xsd":
        try:
            assert len(read_schema(text).types) == expected
        except IndexerError:
            assert expected == 0
        return
    of_version_1 = not case.startswith("parseIntoMapForGivenSchemas")
    limits = load_indexing().limits
    if "exceedMax" in case:
        limits = limits.model_copy(update={"documents_per_file": 2})
    report = index_file(text, None if of_version_1 else schema_of_the_test(), release, limits=limits)
    assert len(report.documents) == expected
    assert bool(report.dropped_files) == (expected == 0)


@pytest.mark.requires("corpus")
def test_nested_documents_keep_their_values() -> None:
    base = f"{AOSP}17__AppFunctionDocumentParserImplTest__parseIntoMapForGivenSchemas_singleAppFunctionWith"

    def parameters(case: str) -> object:
        text = (find("corpus") / "appfunctions" / f"{base}{case}.xml").read_text(encoding="utf-8")
        report = index_file(text, schema_of_the_test(), "17")
        return report.functions()["com.example.utils#print"].properties["appFunctionParameterMetadata"]

    assert parameters("DocumentProperties") == [{"parameterName": ["test"]}]
    repeated = [{"parameterName": ["test1", "test2"]}, {"parameterName": ["test3"]}]
    assert parameters("RepeatedProperties") == repeated
    inner = {"parameterName": ["selfReferencingParam"]}
    assert parameters("SelfReferencingSchema") == [{"parameterName": ["test"], "selfReference": [inner]}]


@pytest.mark.requires("corpus")
def test_the_jetpack_schema_that_is_kept_as_data_is_the_one_that_jetpack_ships() -> None:
    name = "androidx__androidx__appfunctions__appfunctions__src__main__assets__app_functions_schema.xsd"
    text = (find("corpus") / "appfunctions" / name).read_text(encoding="utf-8")
    assert read_schema(text).types == jetpack_schema().types


# Any text

TAGS = st.sampled_from([
    "appfunctions", "appfunction", "AppFunctionComponentMetadataDocument", "x", "___", "id", "functionId",
    "function_id", "enabledByDefault", "scope", "schemaVersion", "description", "parameters", "response",
    "valueType", "dataTypeMetadata", "dataTypes", "name", "type", "itemType", "properties", "oneOf", "allOf",
])  # fmt: skip
ELEMENTS = st.recursive(
    st.sampled_from(["", " ", "1", "a#b", "true", "global", "<!-- c -->", "&lt;"]),
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>", TAGS, st.lists(inner, max_size=4)
    ),
    max_leaves=20,
)


@given(ELEMENTS, st.sampled_from(["17", "16", "16-qpr1", "15-qpr2"]), st.sampled_from([None, "@null", "a.S"]))
def test_any_elements_are_indexed_or_dropped_for_a_reason(text: str, release: str, level: str | None) -> None:
    for schema in (None, jetpack_schema(), platform_schema()):
        report = index_file(f"<appfunctions>{text}</appfunctions>", schema, release, service=level)
        for document in report.documents.values():
            assert re.fullmatch(r"AppFunction(StaticMetadata|ComponentMetadataDocument)", document.type)
        assert not (report.documents and report.dropped_files)


@given(damaged(st.sampled_from([V1, SCHEMA]), st.text(max_size=4)))
def test_any_text_is_indexed_or_dropped(text: str) -> None:
    for release in RELEASES:
        report = index_file(text, jetpack_schema(), release)
        assert not (report.documents and report.dropped_files)
    with suppress(IndexerError):
        assert read_schema(text).types


# The page about indexing says what the data says that the indexer's model runs on

PAGE = (CHECKOUT / "docs" / "reference" / "formats" / "appfunctions-indexing.md").read_text(encoding="utf-8")
WITHOUT_SCHEMA: Final = {
    True: "the parser of v1's tags",
    False: "Android's own schema, which knows no signature",
}
UNKNOWN_TAG: Final = {
    "enter": "is read over, and its children go into the enclosing document",
    "reject": "drops the file",
    "skip": "is read over with everything in it",
}


def _resources(release: Release) -> str:
    names = (f"`.{name}`" if name != "v1" else name for name in sorted(release.resources))
    return " and ".join(names) or "none"


def _ids(release: Release) -> str:
    return " or ".join(f"`<{tag}>`" for tag in release.id_tags) or "`functionId`"


ROWS: Final[tuple[tuple[str, Callable[[Release], str]], ...]] = (
    ("services read", lambda item: "the last one of the app" if item.services == "last" else "all"),
    ("a service without `BIND_APP_FUNCTION_SERVICE`",
     lambda item: "is skipped" if item.needs_permission else "is read"),
    ("properties of `<application>`", lambda item: "are read" if item.application_level else "are not read"),
    ("file read",
     lambda item: f"`.v2`{' with a schema that is read' if item.choice == 'schema' else ''}, else v1"),
    ("without a schema that is read", lambda item: WITHOUT_SCHEMA[item.fixed_parser]),
    ("files as `android:resource`", _resources),
    ("unknown tag", lambda item: UNKNOWN_TAG[item.unknown_tag]),
    ("id of a document", _ids),
    ("`functionId`, by which a function is called",
     lambda item: "always the id" if item.function_id == "id" else "a property of its own"),
    ("`enabledByDefault` left out in `.v2`",
     lambda item: "means true" if item.enabled_when_missing else "means false"),
    ("`scope`, `serviceName`, `packageNameHash`",
     lambda item: "added, with rules of their own" if item.scoped else "unknown"),
)  # fmt: skip


def test_the_documented_table_of_releases_is_that_of_the_data() -> None:
    releases = load_indexing().linted()
    head = f"| | {' | '.join(release.title for release in releases)} |\n|---|{'---|' * len(releases)}\n"
    rows = (f"| {title} | {' | '.join(map(describe, releases))} |\n" for title, describe in ROWS)
    assert head + "".join(rows) in PAGE


def test_the_documented_limits_are_those_of_the_data() -> None:
    limits = load_indexing().limits
    text = " ".join(PAGE.split())
    assert f"first {limits.documents_per_file} functions" in text
    assert f"at most {limits.schema_types} document types" in text
    assert f"at most {limits.document_bytes // 1024} KiB" in text
