"""Each leniency of the registry: what is accepted, how it is read and reported (reference 1 to 3)."""

from dataclasses import replace

import pytest

from adapters.appfunctions.function_files import (
    ANDROID,
    RESPONSE,
    app_of,
    artifact,
    components_of,
    definition_of,
    facts_of,
    file_of,
    function_of,
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
from droidgate.sources.android_project import application_from_tree
from droidgate_android.app_search import index_file, jetpack_schema
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import Reading
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import ArrayType, OneOfType, OpaqueType
from droidgate_mappings.tables.loading import load_divergences
from model_types import properties_of
from properties.matching import assert_same_declaration

FILE = file_of(function_of())
FILES = {"assets/f.xml": FILE}
SCHEMA = property_of("schema", "s.xsd")
V2 = property_of("v2", "f.xml")


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


@pytest.mark.row("A01")
@pytest.mark.parametrize(
    "text", [f"<?xml version='1.0'?>\n<version>1</version>\n{FILE}", f"{FILE}<version>1</version>"]
)
def test_a_version_outside_the_root_is_kept(text: str) -> None:
    reading = lenient(text, "A01")
    assert facts_of(only(reading)) == {"version": "1"}
    assert [item.id for item in only(reading).capabilities] == ["a.B#c"]


@pytest.mark.row("A01")
@pytest.mark.parametrize(
    "text",
    [
        FILE + file_of(function_of(name="z")),
        f"<?xml version='1.0'?>\n<version>1</version>{FILE}\n{file_of(function_of(name='z'))}",
        function_of() + function_of(name="z"),
        FILE + function_of(name="z"),
    ],
)
def test_functions_next_to_the_root_are_read(text: str) -> None:
    reading = lenient(text, "A01")
    assert [item.id for item in only(reading).capabilities] == ["a.B#c", "z"]
    assert [item.id for item in index_file(text, jetpack_schema(), "17").documents.values()] == ["a.B#c", "z"]


@pytest.mark.row("A02")
@pytest.mark.parametrize(
    "text",
    [
        FILE.replace("<appfunction>", '<appfunction lang="en">'),
        FILE.replace("<appfunctions>", '<appfunctions version="2">'),
        FILE.replace("<response>", "stray <response>"),
    ],
)
def test_attributes_and_stray_text_are_left_out(text: str) -> None:
    assert only(lenient(text, "A02")).capabilities == only(read_text(FILE)).capabilities


@pytest.mark.row("A03")
def test_the_last_of_two_values_counts() -> None:
    text = file_of(function_of("<description>a</description><description>b</description>"))
    assert only(lenient(text, "A03")).capabilities[0].description == "b"


@pytest.mark.row("A04")
@pytest.mark.parametrize(("word", "required"), [("yes", False), ("1", False), ("TRUE", True)])
def test_booleans_are_read_as_java_reads_them(word: str, required: object) -> None:
    text = file_of(function_of(parameter_of(typed("", 7), required=word)))
    parameters = only(lenient(text, "A04")).capabilities[0].input
    assert parameters.properties["p"].required is required  # type: ignore[union-attr]


@pytest.mark.row("A05")
def test_a_function_without_an_id_is_called_by_its_function_id() -> None:
    text = file_of(function_of().replace("<id>a.B#c</id>", ""))
    reading = lenient(text, "A05")
    assert only(reading).capabilities[0].id == "a.B#c"
    assert "before Android 17" in reading.findings[0].message
    indexed = {
        item: len(index_file(text, jetpack_schema(), item).documents) for item in ("16", "16-qpr2", "17")
    }
    assert indexed == {"16": 0, "16-qpr2": 0, "17": 1}


@pytest.mark.row("A05")
def test_a_nested_document_needs_no_id() -> None:
    text = file_of(function_of(parameter_of(typed("", 7).replace("<id>unused</id>", ""))))
    lenient(text, "A05")


@pytest.mark.row("A06")
def test_a_function_without_function_id_is_called_by_its_id() -> None:
    text = file_of(function_of().replace("<functionId>a.B#c</functionId>", ""))
    assert only(lenient(text, "A06")).capabilities[0].id == "a.B#c"


@pytest.mark.row("A08")
@pytest.mark.parametrize("number", [9, 15, -1, 2**40])
def test_an_unknown_type_number_is_kept_with_its_elements(number: int) -> None:
    text = file_of(function_of(parameter_of(typed("<itemType><id>x</id></itemType>", number))))
    item = properties_of(only(lenient(text, "A08")).capabilities[0].input)["p"].type
    facts = {"type": number, "typeElements": [["itemType", [["id", "x"]]]]}
    assert item == OpaqueType(extensions={"appfunctions": facts})


@pytest.mark.row("A09")
def test_a_function_without_a_response_declares_no_output() -> None:
    text = file_of(function_of(parameter_of(typed("", 7)), response=""))
    assert only(lenient(text, "A09")).capabilities[0].output is None


@pytest.mark.row("A10")
def test_a_list_without_items_is_a_list_of_anything() -> None:
    text = file_of(function_of(parameter_of(typed("", 10))))
    item = properties_of(only(lenient(text, "A10")).capabilities[0].input)["p"].type
    assert item == ArrayType()


@pytest.mark.row("A11")
def test_a_one_of_without_a_class_name_is_read() -> None:
    text = file_of(function_of(parameter_of(typed(f"<oneOf>{typed('', 7)}</oneOf>", 14))))
    item = properties_of(only(lenient(text, "A11")).capabilities[0].input)["p"].type
    assert isinstance(item, OneOfType)
    assert item.qualified_name is None


@pytest.mark.row("A12")
@pytest.mark.parametrize(
    "text",
    [
        file_of(function_of(parameter_of(typed("", 7)) + parameter_of(typed("", 8)))),
        file_of(
            function_of(),
            components=components_of(
                definition_of("p", typed("", 7, nullable=True)),
                definition_of("p", typed("", 8, nullable=True)),
            ),
        ),
    ],
)
def test_the_last_of_two_names_counts(text: str) -> None:
    provider = only(lenient(text, "A12"))
    kept = provider.definitions.get("p") or properties_of(provider.capabilities[0].input)["p"].type
    assert kept.kind == "string"


@pytest.mark.row("A13")
def test_the_last_of_two_functions_counts() -> None:
    text = file_of(function_of("<description>a</description>"), function_of("<description>b</description>"))
    assert [item.description for item in only(lenient(text, "A13")).capabilities] == ["b"]


@pytest.mark.row("A14")
def test_a_scope_in_a_services_file_is_left_out() -> None:
    files = {"assets/f.xml": file_of(function_of("<scope>global</scope>"))}
    reading = accepted(read_app(service_of(V2), files=files, strict=False), "A14")
    assert only(reading).dialect == "v2"
    assert facts_of(only(reading).capabilities[0]) == {}


@pytest.mark.row("A15")
@pytest.mark.parametrize("scope", ["", "<scope>window</scope>"])
def test_a_function_of_the_application_without_a_scope_is_global(scope: str) -> None:
    files = {"assets/f.xml": file_of(function_of(scope, enabled=None))}
    reading = accepted(read_app(V2, files=files, strict=False), "A15")
    assert facts_of(only(reading).capabilities[0]) == {}


@pytest.mark.row("A16")
def test_a_function_of_the_application_is_not_enabled_by_default() -> None:
    lenient(file_of(function_of("<scope>global</scope>", enabled="true")), "A16")


@pytest.mark.row("A17")
def test_parallel_lists_of_different_length_are_read_by_position() -> None:
    text = (
        "<appfunctions><AppFunctionStaticMetadata><id>f</id><functionId>f</functionId>"
        "<enabledByDefault>true</enabledByDefault><paramNames>a</paramNames><paramTypes>int</paramTypes>"
        "<paramNames>b</paramNames><paramRequired>true</paramRequired>"
        "</AppFunctionStaticMetadata></appfunctions>"
    )
    kept = properties_of(only(lenient(text, "A17")).capabilities[0].input)
    assert [(name, item.type.kind, item.required) for name, item in kept.items()] == [
        ("a", "int32", True),
        ("b", "string", False),
    ]


@pytest.mark.row("A18")
@pytest.mark.parametrize(
    "name",
    [
        "androidx.appfunctions.APP_FUNCTIONS_METADATA",
        "android.app.appfunctions",
        "com.example.android.appfunctions",
    ],
)
def test_meta_data_in_place_of_a_property_is_followed(name: str) -> None:
    mistake = f'<meta-data android:name="{name}" android:resource="@xml/f"/>'
    reading = read_app(mistake, service_of(), files={"res/xml/f.xml": FILE}, strict=False)
    provider = only(accepted(reading, "A18"))
    assert (provider.component, len(provider.capabilities)) == (".Service", 1)


@pytest.mark.row("A18")
def test_meta_data_of_the_application_is_followed_where_nothing_else_declares_functions() -> None:
    mistake = '<meta-data android:name="com.example.app_functions" android:resource="@xml/f"/>'
    reading = read_app(mistake, files={"res/xml/f.xml": FILE}, strict=False)
    provider = only(accepted(reading, "A18"))
    assert (provider.component, len(provider.capabilities)) == (None, 1)


@pytest.mark.parametrize("content", ["<paths/>", "<AppFunctionAppMetadata/>"])
def test_meta_data_that_only_sounds_like_functions_is_not_followed(content: str) -> None:
    other = '<meta-data android:name="com.example.appfunctions.theme" android:resource="@xml/f"/>'
    reading = read_app(other, files={"res/xml/f.xml": content})
    assert (reading.providers, reading.findings) == ((), ())


@pytest.mark.row("A29")
@pytest.mark.parametrize("action", ["androidx.appfunctions.AppFunctionService", "android.app.function.Other"])
def test_a_service_of_another_action_is_read_where_it_is_meant_for_functions(action: str) -> None:
    mistake = '<meta-data android:name="android.app.function.APP_FUNCTIONS" android:resource="@xml/f"/>'
    filters = f'<intent-filter><action android:name="{action}"/></intent-filter>'
    reading = read_app(service_of(mistake, filters=filters), files={"res/xml/f.xml": FILE}, strict=False)
    assert [finding.rule for finding in reading.findings] == ["A18", "A29"]
    assert [(item.component, len(item.capabilities)) for item in reading.providers] == [(".Service", 1)]


@pytest.mark.row("A19")
@pytest.mark.parametrize("service", [service_of(V2), service_of()])
def test_a_service_whose_file_a_build_makes_has_no_functions(service: str) -> None:
    provider = only(accepted(read_app(service, strict=False), "A19"))
    assert (provider.component, provider.capabilities) == (".Service", ())


@pytest.mark.row("A20")
def test_a_file_that_no_component_names_is_read_without_a_service() -> None:
    reading = read_app("<activity android:name='.Main'/>", files=FILES, strict=False)
    provider = only(accepted(reading, "A20"))
    assert (provider.component, [item.id for item in provider.capabilities]) == (None, ["a.B#c"])


@pytest.mark.row("A21")
def test_a_schema_that_android_rejects_does_not_hide_the_functions() -> None:
    files = {**FILES, "assets/s.xsd": '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>'}
    provider = only(accepted(read_app(service_of(V2, SCHEMA), files=files, strict=False), "A21"))
    assert facts_of(provider) == {}
    assert len(provider.capabilities) == 1


@pytest.mark.row("A22")
def test_of_several_files_at_a_service_the_first_is_read() -> None:
    files = {**FILES, "assets/g.xml": file_of(function_of(name="other"))}
    reading = read_app(service_of(property_of("v2", "f.xml, g.xml")), files=files, strict=False)
    assert [item.id for item in only(accepted(reading, "A22")).capabilities] == ["a.B#c"]


@pytest.mark.row("A23")
@pytest.mark.parametrize("word", ["one", "1.0", "01", str(2**31)])
def test_enum_values_of_an_int_that_are_none_are_kept(word: str) -> None:
    text = file_of(function_of(parameter_of(typed(f"<enumValues>{word}</enumValues>", 7))))
    item = properties_of(only(lenient(text, "A23")).capabilities[0].input)["p"].type
    assert item.enum is None
    assert facts_of(item) == {"typeElements": [["enumValues", word]]}


@pytest.mark.row("A29")
def test_a_service_without_the_action_is_read() -> None:
    reading = read_app(service_of(V2, filters=""), files=FILES, strict=False)
    assert len(only(accepted(reading, "A29")).capabilities) == 1


@pytest.mark.row("A31")
@pytest.mark.parametrize(
    ("kept", "facts"),
    [
        ("<id>unused</id><isNullable>false</isNullable>", {"type": None}),
        ("<id>unused</id><isNullable>false</isNullable><format>x</format>", None),
        (typed("", 11), {"type": 11}),
        (typed("<dataTypeReference> </dataTypeReference>", 11), None),
    ],
)
def test_a_type_that_says_nothing_is_kept_as_it_is(kept: str, facts: dict[str, object] | None) -> None:
    provider = only(lenient(file_of(function_of(parameter_of(kept))), "A31"))
    item = properties_of(provider.capabilities[0].input)["p"].type
    assert isinstance(item, OpaqueType)
    assert facts is None or facts_of(item) == facts
    assert_written_again(provider, "A31")


@pytest.mark.row("A32")
@pytest.mark.parametrize(
    "text",
    [
        file_of(
            function_of(parameter_of(typed("", 7)) + "<parameters><id>unused</id><name>q</name></parameters>")
        ),
        file_of(function_of(parameter_of(typed("", 7)) + parameter_of(typed("", 8), name=""))),
        file_of(
            function_of(parameter_of(typed("", 7))),
            components=components_of(definition_of("", typed("", 8, nullable=True))),
        ),
        file_of(
            function_of(
                parameter_of(
                    typed("<properties><id>unused</id><name>x</name></properties><required>x</required>", 3)
                )
            )
        ),
    ],
)
def test_an_entry_without_name_or_type_is_not_a_part_of_the_signature_and_kept(text: str) -> None:
    provider = only(lenient(text, "A32"))
    assert set(properties_of(provider.capabilities[0].input)) == {"p"}
    assert provider.definitions == {}
    assert_written_again(provider, "A32")


@pytest.mark.row("A32")
def test_a_response_without_a_type_is_none() -> None:
    text = file_of(function_of(response="<response><id>unused</id></response>"))
    assert only(lenient(text, "A32")).capabilities[0].output is None


def assert_written_again(provider: Provider, row: str) -> None:
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    again = only(lenient(writing.artifacts[0].text, row))
    assert_same_declaration(again, provider)


GUIDANCE = {
    "http://schemas.android.com/apk/androidx.appfunctions": "new",
    "http://schemas.android.com/apk/res-auto": "old",
    "http://schemas.android.com/tools": "tools",
}


@pytest.mark.row("A33")
@pytest.mark.parametrize(
    ("attributes", "instructions", "description"),
    [
        ('description="a" new:displayDescription="b"', None, "b"),
        ('old:description="a" new:displayDescription="b"', "a", "b"),
        ('new:description="a" old:description="b"', "b", None),
    ],
)
def test_attributes_of_the_guidance_where_android_does_not_look_are_reported(
    attributes: str, instructions: str | None, description: str | None
) -> None:
    provider = only(lenient(guidance_of(attributes), "A33"))
    assert (provider.instructions, provider.description) == (instructions, description)


def test_attributes_for_tools_are_no_news() -> None:
    assert only(lenient(guidance_of('tools:ignore="X" new:description="a"'))).instructions == "a"


def guidance_of(attributes: str) -> str:
    declared = " ".join(f'xmlns:{prefix}="{name}"' for name, prefix in GUIDANCE.items())
    return f"<AppFunctionAppMetadata {declared} {attributes}/>"


@pytest.mark.row("A34")
def test_of_two_styles_in_a_file_the_parallel_lists_count() -> None:
    listed = "<paramNames>a</paramNames><paramTypes>int</paramTypes><paramRequired>true</paramRequired>"
    text = file_of(function_of(listed, response=""), function_of(parameter_of(typed("", 7)), name="z"))
    first, second = only(lenient(text, "A34")).capabilities
    assert list(properties_of(first.input)) == ["a"]
    assert [tag for tag, _ in facts_of(second)["elements"]] == ["parameters", "response"]


TWICE = function_of("<description>a</description><description>b</description>")
PARALLEL = "<paramNames>a</paramNames><paramTypes>int</paramTypes><paramRequired>true</paramRequired>"


@pytest.mark.parametrize(
    ("text", "row", "pointer"),
    [
        (FILE.replace("<appfunction>", '<appfunction lang="en">'), "A02", "/appfunctions/appfunction"),
        (FILE.replace("<response>", "stray <response>"), "A02", "/appfunctions/appfunction"),
        (file_of(TWICE), "A03", "/appfunctions/appfunction/description[2]"),
        (
            file_of(function_of(parameter_of(typed("", 7)) + parameter_of(typed("", 8)))),
            "A12",
            "/appfunctions/appfunction/parameters[2]",
        ),
        (file_of(function_of(), function_of()), "A13", "/appfunctions/appfunction[2]"),
        (file_of(function_of("<scope>window</scope>", enabled=None)), "A15", "/appfunctions/appfunction"),
        (file_of(function_of("<scope>global</scope>")), "A16", "/appfunctions/appfunction"),
        (
            file_of(function_of(PARALLEL + "<paramRequired>true</paramRequired>", response="")),
            "A17",
            "/appfunctions/appfunction",
        ),
        (
            file_of(function_of(response="<response><id>unused</id></response>")),
            "A32",
            "/appfunctions/appfunction/response",
        ),
    ],
)
def test_what_is_left_out_of_a_file_is_dropped_at_its_place(text: str, row: str, pointer: str) -> None:
    assert losses_of(read_text(text, strict=False)) == [(row, pointer, Level.DROPPED)]


@pytest.mark.parametrize(
    "text",
    [
        f"{FILE}<version>1</version>",
        file_of(function_of(parameter_of(typed("", 7), required="TRUE"))),
        file_of(function_of().replace("<id>a.B#c</id>", "")),
        file_of(function_of(parameter_of(typed("", 99)))),
        file_of(function_of(parameter_of(typed("", 10)))),
        file_of(function_of("<scope/>", enabled=None)),
        file_of(function_of(PARALLEL.replace("<paramRequired>true</paramRequired>", ""), response="")),
        file_of(function_of("<parameters><id>unused</id><name>q</name></parameters>")),
    ],
)
def test_what_is_kept_or_only_assumed_is_not_lost(text: str) -> None:
    reading = read_text(text, strict=False)
    assert losses_of(reading) == []
    assert {finding.level for finding in reading.findings} == {Level.READ}


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
    assert losses[100].message.startswith("150 more elements")
    assert not_a_function.message.endswith("(250 times)")


@pytest.mark.parametrize("inside", ["stray", '<x a="1"/>', "<x>text<y/></x>"])
def test_what_guidance_holds_without_a_place_is_lost(inside: str) -> None:
    text = guidance_of('new:description="a"').replace("/>", f">{inside}</AppFunctionAppMetadata>")
    reading = read_text(text, strict=False)
    assert [row for row, _, _ in losses_of(reading)] == ["A02"]
    assert only(reading).instructions == "a"


def test_a_second_file_and_a_rejected_schema_are_lost() -> None:
    files = {**FILES, "assets/g.xml": FILE, "assets/s.xsd": "<xs:schema/>"}
    service = service_of(property_of("v2", "f.xml, g.xml"), SCHEMA)
    assert [row for row, _, _ in losses_of(read_app(service, files=files, strict=False))] == ["A21", "A22"]


def test_guidance_without_its_file_is_lost_and_a_functions_file_is_made_by_a_build() -> None:
    guidance = property_of("app_metadata", resource="@xml/guide")
    reading = read_app(guidance, service_of(V2), strict=False)
    assert rows_of(reading) == ["A19", "A19"]
    assert [row for row, _, _ in losses_of(reading)] == ["A19"]


@pytest.mark.parametrize(
    ("attributes", "rows"),
    [
        ('description="a"', ["A33"]),
        ('new:description="a" old:description="b"', ["A33"]),
        ('old:description="a" new:displayDescription="b"', []),
    ],
)
def test_guidance_that_android_does_not_read_is_lost(attributes: str, rows: list[str]) -> None:
    assert [row for row, _, _ in losses_of(read_text(guidance_of(attributes), strict=False))] == rows


def test_a_label_that_leads_nowhere_is_lost_and_the_apps_label_is_the_name() -> None:
    service = service_of(V2, attributes='android:label="@string/gone"')
    application = replace(app_of(service, files=FILES), label="Notes")
    reading = FORMAT.read_application(application, ReadingContext())
    assert only(reading).name == "Notes"
    assert losses_of(reading) == [("S82", "", Level.DROPPED)]


def test_an_apps_label_that_leads_nowhere_is_lost_where_it_is_needed() -> None:
    unresolved = ("label=@string/gone", "description=@string/gone")
    services = service_of(V2, attributes='android:label="Own"'), service_of(V2, name=".B")
    for service, rows in zip(services, ([], ["S82"]), strict=True):
        application = replace(app_of(service, files=FILES), unresolved=unresolved)
        reading = FORMAT.read_application(application, ReadingContext())
        assert [row for row, _, _ in losses_of(reading)] == rows


SCHEMA_TEXT = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:documentType name="AppFunctionStaticMetadata">
        <xs:element name="functionId" type="xs:string" />
    </xs:documentType>
</xs:schema>"""
ELEMENT = '<xs:element name="functionId" type="xs:string" />'


@pytest.mark.row("A36")
@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        (
            SCHEMA_TEXT.replace(ELEMENT, ELEMENT + "\n" + ELEMENT.replace("string", "long")),
            "the duplicate property functionId of AppFunctionStaticMetadata is left out",
            4,
        ),
        (
            SCHEMA_TEXT.replace(ELEMENT, ELEMENT + '\n<xs:element name="x" />'),
            "the property x of AppFunctionStaticMetadata, which has no type, is left out",
            4,
        ),
        (
            SCHEMA_TEXT.replace(
                "</xs:schema>", '<xs:documentType name="T"/>\n<xs:documentType name="T"/></xs:schema>'
            ),
            "an earlier declaration of the type T is left out",
            5,
        ),
        (
            SCHEMA_TEXT.replace("</xs:schema>", "<xs:documentType/></xs:schema>"),
            "a document type without a name is left out",
            5,
        ),
    ],
)
def test_declarations_that_android_does_not_read_are_lost(text: str, message: str, line: int) -> None:
    by_itself = read_text(text, "assets/s.xsd", strict=False)
    in_an_app = read_app(service_of(V2, SCHEMA), files={**FILES, "assets/s.xsd": text}, strict=False)
    for reading in (by_itself, in_an_app):
        # The schema declares one tag of the functions file; what Android does with the others is row A38.
        (finding,) = (item for item in reading.findings if item.rule != "A38")
        assert (finding.rule, finding.level, finding.source) == (
            "A36",
            Level.DROPPED,
            Place(path="assets/s.xsd", line=line),
        )
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


def test_what_the_releases_do_with_an_unknown_tag_is_what_the_row_says() -> None:
    text = file_of(function_of("<colour>red</colour>"))
    reports = {item: index_file(text, jetpack_schema(), item) for item in ("15-qpr2", "16", "16-qpr2", "17")}
    assert {item: len(report.documents) for item, report in reports.items()} == {
        "15-qpr2": 1,
        "16": 1,
        "16-qpr2": 0,
        "17": 1,
    }


def test_a_tag_that_the_apps_own_schema_declares_is_known() -> None:
    written = artifact(write_in(only(read_text(FILE)).model_copy(update={"package": "a.b"}), "v2"), "schema")
    declared = written.replace(
        '<xs:documentType name="AppFunctionStaticMetadata">',
        '<xs:documentType name="AppFunctionStaticMetadata"><xs:element name="colour" type="xs:string" '
        'cardinality="1"/>',
    )
    files = {"assets/f.xml": file_of(UNKNOWN)}
    assert rows_of(read_app(service_of(V2, SCHEMA), files={**files, "assets/s.xsd": declared})) == []
    reading = read_app(service_of(V2, SCHEMA), files={**files, "assets/s.xsd": written}, strict=False)
    assert rows_of(reading) == ["A38"]


def test_very_many_unknown_tags_are_reported_together() -> None:
    inner = "".join(f"<x{number}/>" for number in range(500))
    reading = read_text(file_of(function_of(inner)), strict=False)
    assert len(reading.findings) == 101
    assert reading.findings[-1].message == "400 more tags are not known"


VERSION_1 = "<function_id>a.B#c</function_id><enabled_by_default>true</enabled_by_default>"


@pytest.mark.parametrize(
    "unknown",
    [
        "<description>Adds</description>",
        "<parameters><name>title</name></parameters>",
        "<response>text</response>",
        "<unknown_property><size>1</size></unknown_property>",
    ],
)
def test_unknown_tags_of_version_1_are_reported_and_not_refused(unknown: str) -> None:
    text = file_of(f"<appfunction>{VERSION_1}{unknown}</appfunction>")
    reading = read_text(text, strict=True)
    provider = only(reading)
    assert provider.dialect == "v1"
    assert [(item.code, item.rule) for item in reading.findings] == [("unread-tag", "A39")]
    assert [item.id for item in provider.capabilities] == ["a.B#c"]
    # Android's parsers of version 1 look for their own tags, and 17 skips what its schema does not have.
    for release in ("15-qpr2", "16", "16-qpr2"):
        assert list(index_file(text, None, release).documents) == ["a.B#c"]


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


def test_every_lenient_row_has_a_test_here() -> None:
    tested = {
        mark.args[0]
        for test in globals().values()
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "row"
    }
    rows = {row.id for row in load_divergences().values() if row.format == "appfunctions" and row.lenient}
    assert tested == rows


def test_what_the_format_says_is_read_without_a_word() -> None:
    assert RESPONSE in FILE
    assert rows_of(read_text(FILE)) == []
