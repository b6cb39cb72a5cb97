"""Each leniency of the registry: what is accepted, how it is read and reported (reference 1 to 3)."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.appfunctions.function_files import (
    ANDROID,
    RESPONSE,
    app_of,
    components_of,
    definition_of,
    facts_of,
    file_of,
    function_of,
    ids_of,
    kept_type,
    only,
    parameter_of,
    property_of,
    read_app,
    read_text,
    rows_of,
    service_of,
    typed,
    write_in,
)
from droidgate_android.app_search.indexed_packages import index_file
from droidgate_android.app_search.schemas import jetpack_schema
from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Reading
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ArrayType, OneOfType, OpaqueType
from model_types import int32, properties_of
from properties.matching import assert_same_declaration
from titled_rows import titled

FILE = file_of(function_of())
FILES = {"assets/f.xml": FILE}
PLAIN = only(read_text(FILE)).capabilities
SCHEMA = property_of("schema", "s.xsd")
V2 = property_of("v2", "f.xml")
FUNCTION = "/appfunctions/appfunction"
"""Where the only function of a file is."""

Seen = Callable[[Provider], object]


def accepted(reading: Reading, *rows: str) -> Reading:
    assert rows_of(reading) == list(rows)
    assert all(finding.message for finding in reading.findings)
    return reading


def losses_of(reading: Reading) -> list[tuple[str | None, str, Level]]:
    """Return the rows of the findings about what is left out, with where and how grave."""
    return [
        (finding.rule, finding.pointer, finding.level)
        for finding in reading.findings
        if finding.code == "lost-in-reading"
    ]


def lenient(text: str, *rows: str) -> Reading:
    return accepted(read_text(text, strict=False), *rows)


def case(title: str, row: str, *facts: Any) -> Any:
    """Return a row of a table, whose test has to fail where that leniency is off."""
    return pytest.param(row, *facts, id=title, marks=pytest.mark.row(row))


def facts_and_ids(provider: Provider) -> tuple[object, list[str]]:
    return facts_of(provider), ids_of(provider)


def descriptions(provider: Provider) -> list[str | None]:
    return [item.description for item in provider.capabilities]


def facts_of_first(provider: Provider) -> object:
    return facts_of(provider.capabilities[0])


def parameters(provider: Provider) -> list[tuple[str, str, bool]]:
    """Return name, kind and need of each parameter of the first function."""
    declared = properties_of(provider.capabilities[0].input)
    return [(name, item.type.kind, item.required) for name, item in declared.items()]


def enum_and_facts(provider: Provider) -> object:
    return kept_type(provider).enum, facts_of(kept_type(provider))


def guidance(provider: Provider) -> tuple[str | None, str | None]:
    return provider.instructions, provider.description


def component_and_ids(provider: Provider) -> tuple[str | None, list[str]]:
    return provider.component, ids_of(provider)


def guidance_of(attributes: str) -> str:
    names = {"new": "apk/androidx.appfunctions", "old": "apk/res-auto", "tools": "tools"}
    declared = " ".join(f'xmlns:{key}="http://schemas.android.com/{name}"' for key, name in names.items())
    return f"<AppFunctionAppMetadata {declared} {attributes}/>"


Z = function_of(name="z")
INT, STRING = parameter_of(typed("", 7)), parameter_of(typed("", 8))
TWICE = function_of("<description>a</description><description>b</description>")
PARALLEL = "<paramNames>a</paramNames><paramTypes>int</paramTypes><paramRequired>true</paramRequired>"
UNEVEN = (
    "<paramNames>a</paramNames><paramTypes>int</paramTypes><paramNames>b</paramNames>"
    "<paramRequired>true</paramRequired>"
)
NULLABLE = [definition_of("p", typed("", number, nullable=True)) for number in (7, 8)]
EMPTY_RESPONSE = "<response><id>unused</id></response>"
NEXT_TO_THE_ROOT = {
    "a second root": FILE + file_of(Z),
    "a version and a second root": f"<?xml version='1.0'?>\n<version>1</version>{FILE}\n{file_of(Z)}",
    "functions alone": function_of() + Z,
    "a function behind the root": FILE + Z,
}


def unknown_type(number: int) -> OpaqueType:
    facts = {"type": number, "typeElements": [["itemType", [["id", "x"]]]]}
    return OpaqueType(extensions={"appfunctions": facts})


def first_and_left(provider: Provider) -> object:
    first, second = provider.capabilities
    return list(properties_of(first.input)), [tag for tag, _ in facts_of(second)["elements"]]


# fmt: off
OF_FILES = [  # what the file's provider is, and where something is left out
    case("a version in front of the root is kept",
         "A01", f"<?xml version='1.0'?>\n<version>1</version>\n{FILE}",
         facts_and_ids, ({"version": "1"}, ["a.B#c"]), None),
    case("a version behind the root is kept",
         "A01", f"{FILE}<version>1</version>", facts_and_ids, ({"version": "1"}, ["a.B#c"]), None),
    *(case(f"{title} is read", "A01", text, ids_of, ["a.B#c", "z"], None)
           for title, text in NEXT_TO_THE_ROOT.items()),
    case("an attribute of a function is left out", "A02", FILE.replace("<appfunction>",
         '<appfunction lang="en">'), lambda provider: provider.capabilities, PLAIN, FUNCTION),
    case("an attribute of the root is left out", "A02", FILE.replace("<appfunctions>",
         '<appfunctions version="2">'), lambda provider: provider.capabilities, PLAIN, "/appfunctions"),
    case("stray text is left out", "A02", FILE.replace("<response>", "stray <response>"),
         lambda provider: provider.capabilities, PLAIN, FUNCTION),
    case("the last of two values counts",
         "A03", file_of(TWICE), descriptions, ["b"], f"{FUNCTION}/description[2]"),
    case("yes is false, as in Java", "A04", file_of(function_of(parameter_of(typed("", 7),
         required="yes"))), parameters, [("p", "int32", False)], None),
    case("1 is false, as in Java", "A04", file_of(function_of(parameter_of(typed("", 7),
         required="1"))), parameters, [("p", "int32", False)], None),
    case("TRUE is true, as in Java", "A04", file_of(function_of(parameter_of(typed("", 7),
         required="TRUE"))), parameters, [("p", "int32", True)], None),
    case("a function without an id has its function id",
         "A05", file_of(function_of().replace("<id>a.B#c</id>", "")), ids_of, ["a.B#c"], None),
    case("a nested document needs no id", "A05", file_of(function_of(INT.replace("<id>unused</id>",
         "", 1))), parameters, [("p", "int32", True)], None),
    case("a function without a function id has its id", "A06",
         file_of(function_of().replace("<functionId>a.B#c</functionId>", "")), ids_of, ["a.B#c"], None),
    *(case(f"the unknown type number {number} is kept with its elements", "A08",
           file_of(function_of(parameter_of(typed("<itemType><id>x</id></itemType>", number)))),
           kept_type, unknown_type(number), None) for number in (9, 15, -1, 2**40)),
    case("a function without a response declares no output", "A09", file_of(function_of(INT,
         response="")), lambda provider: provider.capabilities[0].output, None, None),
    case("a list without items is a list of anything",
         "A10", file_of(function_of(parameter_of(typed("", 10)))), kept_type, ArrayType(), None),
    case("a one-of without a class name is read",
         "A11", file_of(function_of(parameter_of(typed(f"<oneOf>{typed('', 7)}</oneOf>", 14)))),
         kept_type, OneOfType(alternatives=(int32(),)), None),
    case("the last of two parameters of one name counts", "A12", file_of(function_of(INT + STRING)),
         parameters, [("p", "string", True)], f"{FUNCTION}/parameters[2]"),
    case("the last of two data types of one name counts", "A12", file_of(function_of(),
         components=components_of(*NULLABLE)), lambda provider: provider.definitions["p"].kind,
         "string", "/appfunctions/AppFunctionComponentMetadataDocument/dataTypes[2]"),
    case("the last of two functions of one id counts", "A13",
         file_of(function_of("<description>a</description>"), function_of("<description>b</description>")),
         descriptions, ["b"], "/appfunctions/appfunction[2]"),
    case("a scope that Android does not know is global", "A15",
         file_of(function_of("<scope>window</scope>", enabled=None)), ids_of, ["a.B#c"], FUNCTION),
    case("an empty scope is global",
         "A15", file_of(function_of("<scope/>", enabled=None)), ids_of, ["a.B#c"], None),
    case("a function of the application is not enabled by default", "A16",
         file_of(function_of("<scope>global</scope>", enabled="true")), ids_of, ["a.B#c"], FUNCTION),
    case("parallel lists of different length are read by position",
         "A17", file_of(function_of(UNEVEN, response="")),
         parameters, [("a", "int32", True), ("b", "string", False)], None),
    case("an entry too many of a parallel list is left out",
         "A17", file_of(function_of(PARALLEL + "<paramRequired>true</paramRequired>", response="")),
         parameters, [("a", "int32", True)], FUNCTION),
    case("a missing flag of parallel lists is false", "A17",
         file_of(function_of(PARALLEL.replace("<paramRequired>true</paramRequired>", ""), response="")),
         parameters, [("a", "int32", False)], None),
    *(case(f"the enum value {word} of an int is kept",
           "A23", file_of(function_of(parameter_of(typed(f"<enumValues>{word}</enumValues>", 7)))),
           enum_and_facts, (None, {"typeElements": [["enumValues", word]]}), None)
           for word in ("one", "1.0", "01", str(2**31))),
    case("a response without a type is none", "A32", file_of(function_of(response=EMPTY_RESPONSE)),
         lambda provider: provider.capabilities[0].output, None, f"{FUNCTION}/response"),
    case("guidance without a namespace is left out",
         "A33", guidance_of('description="a" new:displayDescription="b"'),
         guidance, (None, "b"), "/AppFunctionAppMetadata"),
    case("a display text next to old guidance is read", "A33",
         guidance_of('old:description="a" new:displayDescription="b"'), guidance, ("a", "b"), None),
    case("old guidance next to new is left out",
         "A33", guidance_of('new:description="a" old:description="b"'),
         guidance, ("b", None), "/AppFunctionAppMetadata"),
    case("of two styles in a file the parallel lists count",
         "A34", file_of(function_of(PARALLEL, response=""), function_of(INT, name="z")),
         first_and_left, (["a"], ["parameters", "response"]), None),
]
META_DATA = (
    "androidx.appfunctions.APP_FUNCTIONS_METADATA",
        "android.app.appfunctions", "com.example.android.appfunctions",
)
GLOBAL = {"assets/f.xml": file_of(function_of("<scope>global</scope>"))}
NO_SCHEMA = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'


def meta_data(name: str) -> str:
    return f'<meta-data android:name="{name}" android:resource="@xml/f"/>'


OF_APPS = [  # the same of an app's only provider
    case("a scope in a service's file is left out", "A14", (service_of(V2),),
         GLOBAL, lambda provider: (provider.dialect, facts_of_first(provider)), ("v2", {}), True),
    *(case(f"a function of the application with the scope {scope!r} is global", "A15", (V2,),
           {"assets/f.xml": file_of(function_of(scope, enabled=None))}, facts_of_first, {}, scope != "")
           for scope in ("", "<scope>window</scope>")),
    *(case(f"the meta-data {name} is followed", "A18", (meta_data(name), service_of()),
           {"res/xml/f.xml": FILE}, component_and_ids, (".Service", ["a.B#c"]), False) for name in META_DATA),
    case("meta-data of the application is followed where nothing else declares functions",
         "A18", (meta_data("com.example.app_functions"),),
         {"res/xml/f.xml": FILE}, component_and_ids, (None, ["a.B#c"]), False),
    *(case(f"a service {title} has no functions",
           "A19", (service,), {}, component_and_ids, (".Service", []), False) for title,
           service in (("whose file a build makes", service_of(V2)), ("without a property", service_of()))),
    case("a file that no component names is read without a service", "A20",
         ("<activity android:name='.Main'/>",), FILES, component_and_ids, (None, ["a.B#c"]), False),
    case("a schema that Android rejects does not hide the functions", "A21", (service_of(V2,
         SCHEMA),), {**FILES, "assets/s.xsd": NO_SCHEMA}, facts_and_ids, ({}, ["a.B#c"]), True),
    case("of several files at a service the first is read",
         "A22", (service_of(property_of("v2", "f.xml, g.xml")),),
         {**FILES, "assets/g.xml": file_of(function_of(name="other"))}, ids_of, ["a.B#c"], True),
    case("a service without the action is read",
         "A29", (service_of(V2, filters=""),), FILES, ids_of, ["a.B#c"], False),
]
# fmt: on


@pytest.mark.parametrize(("row", "text", "seen", "expected", "lost"), OF_FILES)
def test_a_file_that_breaks_a_rule_is_read_by_its_row(
    row: str, text: str, seen: Seen, expected: object, lost: str | None
) -> None:
    reading = lenient(text, row)
    assert seen(only(reading)) == expected
    assert losses_of(reading) == ([] if lost is None else [(row, lost, Level.DROPPED)])
    assert {finding.level for finding in reading.findings} == {Level.READ if lost is None else Level.DROPPED}


@pytest.mark.parametrize(("row", "parts", "files", "seen", "expected", "is_lost"), OF_APPS)
def test_an_app_that_breaks_a_rule_is_read_by_its_row(
    row: str, parts: tuple[str, ...], files: Mapping[str, str], seen: Seen, expected: object, *, is_lost: bool
) -> None:
    reading = accepted(read_app(*parts, files=files, strict=False), row)
    assert seen(only(reading)) == expected
    assert [lost for lost, _, _ in losses_of(reading)] == [row] * is_lost


@titled("text", NEXT_TO_THE_ROOT)
def test_functions_next_to_the_root_are_indexed(text: str) -> None:
    assert [item.id for item in index_file(text, jetpack_schema(), "17").documents.values()] == ["a.B#c", "z"]


def test_a_function_without_an_id_is_indexed_from_android_17_on() -> None:
    text = file_of(function_of().replace("<id>a.B#c</id>", ""))
    assert "before Android 17" in lenient(text, "A05").findings[0].message
    indexed = {
        item: len(index_file(text, jetpack_schema(), item).documents) for item in ("16", "16-qpr2", "17")
    }
    assert indexed == {"16": 0, "16-qpr2": 0, "17": 1}


@pytest.mark.parametrize("content", ["<paths/>", "<AppFunctionAppMetadata/>"])
def test_meta_data_that_only_sounds_like_functions_is_not_followed(content: str) -> None:
    reading = read_app(meta_data("com.example.appfunctions.theme"), files={"res/xml/f.xml": content})
    assert (reading.providers, reading.findings) == ((), ())


@pytest.mark.row("A29")
@pytest.mark.parametrize("action", ["androidx.appfunctions.AppFunctionService", "android.app.function.Other"])
def test_a_service_of_another_action_is_read_where_it_is_meant_for_functions(action: str) -> None:
    filters = f'<intent-filter><action android:name="{action}"/></intent-filter>'
    service = service_of(meta_data("android.app.function.APP_FUNCTIONS"), filters=filters)
    reading = accepted(read_app(service, files={"res/xml/f.xml": FILE}, strict=False), "A18", "A29")
    assert component_and_ids(only(reading)) == (".Service", ["a.B#c"])


UNTYPED = "<id>unused</id><isNullable>false</isNullable>"
NAMELESS = typed("<properties><id>unused</id><name>x</name></properties><required>x</required>", 3)
# fmt: off
KEPT = [
    case("a type without a number", "A31", file_of(function_of(parameter_of(UNTYPED))), {"type": None}),
    case("a type with a format alone",
         "A31", file_of(function_of(parameter_of(f"{UNTYPED}<format>x</format>"))),
         {"type": None, "typeElements": [["format", "x"]]}),
    case("a reference to nothing", "A31", file_of(function_of(parameter_of(typed("", 11)))), {"type": 11}),
    case("a reference to a blank", "A31",
         file_of(function_of(parameter_of(typed("<dataTypeReference> </dataTypeReference>", 11)))),
         {"type": 11, "typeElements": [["dataTypeReference", " "]]}),
    case("a parameter without a type", "A32",
         file_of(function_of(INT + "<parameters><id>unused</id><name>q</name></parameters>")), {}),
    case("a parameter without a name",
         "A32", file_of(function_of(INT + parameter_of(typed("", 8), name=""))), {}),
    case("a data type without a name", "A32", file_of(function_of(INT),
         components=components_of(definition_of("", typed("", 8, nullable=True)))), {}),
    case("a property without a type", "A32", file_of(function_of(parameter_of(NAMELESS))),
         {"required": ["x"], "typeElements": [["properties", [["id", "unused"], ["name", "x"]]]]}),
]
# fmt: on


@pytest.mark.parametrize(("row", "text", "facts"), KEPT)
def test_an_incomplete_parameter_or_type_is_left_out_of_the_signature(
    row: str, text: str, facts: object
) -> None:
    reading = lenient(text, row)
    provider = only(reading)
    assert set(properties_of(provider.capabilities[0].input)) == {"p"}
    assert provider.definitions == {}
    assert isinstance(kept_type(provider), OpaqueType) is (row == "A31")
    assert facts_of(kept_type(provider)) == facts
    assert (losses_of(reading), {finding.level for finding in reading.findings}) == ([], {Level.READ})
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert_same_declaration(only(lenient(writing.artifacts[0].text, row)), provider)


def test_attributes_for_build_tools_have_no_finding() -> None:
    assert only(lenient(guidance_of('tools:ignore="X" new:description="a"'))).instructions == "a"


def test_each_element_with_attributes_is_a_loss_of_its_own() -> None:
    text = FILE.replace("<appfunction>", '<appfunction a="1">').replace("<response>", '<response b="2">')
    assert [pointer for _, pointer, _ in losses_of(read_text(text, strict=False))] == [
        "/appfunctions/appfunction",
        "/appfunctions/appfunction/response",
    ]


def test_of_very_many_elements_with_attributes_the_first_are_named_and_the_others_counted() -> None:
    text = file_of('<x a="1"/>' * 250, function_of())
    *losses, not_a_function = read_text(text, strict=False).findings
    assert len(losses) == 101
    assert losses[99].pointer == "/appfunctions/x[100]"
    assert losses[0].message == "<x> has the attribute a, which Android does not read"
    assert losses[100].message == "150 more elements have attributes"
    assert not_a_function.message.endswith("(250 times)")


@pytest.mark.parametrize("inside", ["stray", '<x a="1"/>', "<x>text<y/></x>"])
def test_what_guidance_holds_without_a_place_is_lost(inside: str) -> None:
    text = guidance_of('new:description="a"').replace("/>", f">{inside}</AppFunctionAppMetadata>")
    reading = read_text(text, strict=False)
    assert [row for row, _, _ in losses_of(reading)] == ["A02"]
    assert only(reading).instructions == "a"


def test_guidance_without_its_file_is_lost_and_a_functions_file_is_made_by_a_build() -> None:
    guidance = property_of("app_metadata", resource="@xml/guide")
    reading = read_app(guidance, service_of(V2), strict=False)
    assert rows_of(reading) == ["A19", "A19"]
    assert [row for row, _, _ in losses_of(reading)] == ["A19"]


def test_a_label_that_leads_nowhere_is_lost_and_the_apps_label_is_the_name() -> None:
    service = service_of(V2, attributes='android:label="@string/gone"')
    application = replace(app_of(service, files=FILES), label="Notes")
    reading = FORMAT.read_application(application, ReadingContext())
    assert only(reading).name == "Notes"
    assert losses_of(reading) == [("S82", "", Level.DROPPED)]


def test_an_application_whose_own_label_leads_nowhere_is_called_the_application() -> None:
    manifest = (
        f'<manifest {ANDROID} package="a.b"><application android:label="@string/gone">'
        f"{property_of('app_metadata', resource='@xml/guide')}</application></manifest>"
    )
    files = {"AndroidManifest.xml": manifest, "res/xml/guide.xml": guidance_of('new:description="a"')}
    application = application_from_tree({path: text.encode() for path, text in files.items()})
    reading = FORMAT.read_application(application, ReadingContext())
    assert [item.message.split(" is @")[0] for item in reading.findings if item.rule == "S82"] == [
        "android:label of the application"
    ]


SCHEMA_TEXT = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:documentType name="AppFunctionStaticMetadata">
        <xs:element name="functionId" type="xs:string" />
    </xs:documentType>
</xs:schema>"""
ELEMENT = '<xs:element name="functionId" type="xs:string" />'


# fmt: off
NOT_READ = [
    case("a duplicate property",
         "A36", SCHEMA_TEXT.replace(ELEMENT, ELEMENT + "\n" + ELEMENT.replace("string", "long")),
         "the duplicate property functionId of AppFunctionStaticMetadata is left out", 4),
    case("a property without a type",
         "A36", SCHEMA_TEXT.replace(ELEMENT, ELEMENT + '\n<xs:element name="x" />'),
         "the property x of AppFunctionStaticMetadata, which has no type, is left out", 4),
    case("a type that is declared again", "A36", SCHEMA_TEXT.replace("</xs:schema>",
         '<xs:documentType name="T"/>\n<xs:documentType name="T"/></xs:schema>'),
         "an earlier declaration of the type T is left out", 5),
    case("a type without a name", "A36", SCHEMA_TEXT.replace("</xs:schema>",
         "<xs:documentType/></xs:schema>"), "a document type without a name is left out", 5),
]
# fmt: on


@pytest.mark.parametrize(("row", "text", "message", "line"), NOT_READ)
def test_declarations_that_android_does_not_read_are_lost(
    row: str, text: str, message: str, line: int
) -> None:
    by_itself = read_text(text, "assets/s.xsd", strict=False)
    in_an_app = read_app(service_of(V2, SCHEMA), files={**FILES, "assets/s.xsd": text}, strict=False)
    for reading in (by_itself, in_an_app):
        # The schema declares one tag of the functions file; what Android does with the others is row A38.
        (finding,) = (item for item in reading.findings if item.rule != "A38")
        place = Place(path="assets/s.xsd", line=line)
        assert (finding.rule, finding.level, finding.source) == (row, Level.DROPPED, place)
        assert finding.message.startswith(message)


UNKNOWN = function_of("<colour>red</colour><colour>blue</colour>")


@pytest.mark.row("A38")
def test_a_tag_of_no_schema_is_kept_and_refused_in_strict_reading() -> None:
    reading = lenient(file_of(UNKNOWN), "A38")
    (finding,) = reading.findings
    assert "<colour> is not a property of AppFunctionStaticMetadata" in finding.message
    assert "(2 times)" in finding.message
    assert facts_of(only(reading).capabilities[0]) == {"elements": [["colour", "red"], ["colour", "blue"]]}
    with pytest.raises(InputError, match="A38"):
        read_text(file_of(UNKNOWN))


def test_releases_treat_an_unknown_tag_as_its_row_states() -> None:
    text = file_of(function_of("<colour>red</colour>"))
    reports = {item: index_file(text, jetpack_schema(), item) for item in ("15-qpr2", "16", "16-qpr2", "17")}
    counts = {item: len(report.documents) for item, report in reports.items()}
    assert counts == {"15-qpr2": 1, "16": 1, "16-qpr2": 0, "17": 1}


def test_very_many_unknown_tags_are_reported_together() -> None:
    inner = "".join(f"<x{number}/>" for number in range(500))
    reading = read_text(file_of(function_of(inner)), strict=False)
    assert len(reading.findings) == 101
    assert reading.findings[-1].message == "400 more tags are not known"


VERSION_1 = "<function_id>a.B#c</function_id><enabled_by_default>true</enabled_by_default>"


def test_tags_inside_an_unknown_tag_of_version_1_are_read_by_android_16() -> None:
    unknown = "<unknown_property><function_id>x</function_id></unknown_property>"
    text = file_of(f"<appfunction>{VERSION_1}{unknown}</appfunction>")
    (finding,) = read_text(text).findings
    assert "Android 16 reads the tags of version 1 inside it as the function's own" in finding.message
    assert list(index_file(text, None, "16").documents) == ["x"]


def test_a_signature_next_to_function_id_is_legacy_version_2() -> None:
    text = file_of(f"<appfunction>{VERSION_1}{parameter_of(typed('', 8))}</appfunction>")
    assert only(read_text(text, strict=False)).dialect == "v2-legacy"


ON_APPLICATION = 'xmlns:appfn="http://schemas.android.com/apk/res-auto" appfn:description="Search first" '


def app_with_guidance(*parts: str, files: dict[str, str] | None = None) -> Reading:
    application = f"<application {ON_APPLICATION}>{''.join(parts)}</application>"
    manifest = f'<manifest {ANDROID} package="a.b">{application}</manifest>'
    tree = {"AndroidManifest.xml": manifest, **(files or {})}
    read = application_from_tree({path: text.encode() for path, text in tree.items()})
    return FORMAT.read_application(read, ReadingContext())


@pytest.mark.row("A40")
def test_guidance_on_the_application_element_is_read_where_there_is_no_other() -> None:
    reading = accepted(app_with_guidance(), "A40")
    assert only(reading).instructions == "Search first"
    assert losses_of(reading) == []


@pytest.mark.row("A40")
def test_guidance_on_the_application_element_is_left_out_next_to_the_file() -> None:
    stated = property_of("app_metadata", resource="@xml/guide")
    files = {"res/xml/guide.xml": guidance_of('old:description="Write later"')}
    reading = accepted(app_with_guidance(stated, files=files), "A40")
    assert only(reading).instructions == "Write later"
    assert [row for row, _, _ in losses_of(reading)] == ["A40"]


def test_what_the_format_allows_is_read_without_a_finding() -> None:
    assert RESPONSE in FILE
    assert rows_of(read_text(FILE)) == []
