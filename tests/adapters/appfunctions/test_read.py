"""Files of each dialect and type, and apps that name them, typed by hand (reference 1, 2 and 7)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from lxml import etree

from adapters.appfunctions.function_files import (
    ACTION,
    PERMISSION,
    RESPONSE,
    app_of,
    artifact,
    components_of,
    definition_of,
    facts_of,
    file_of,
    function_of,
    ids_of,
    kept_type,
    only,
    only_function,
    parameter_of,
    property_of,
    read_app,
    read_text,
    read_type_of,
    rows_of,
    service_of,
    typed,
    write_in,
)
from droidgate_android.app_search.indexed_packages import simulate_indexing
from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, CapabilityAccess, ComponentAccess, Provider
from droidgate_mappings.model.errors import BudgetError, InputError, WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.types import AllOfType, ObjectType, OneOfType, OpaqueType, ScalarType, Type
from droidgate_mappings.tables.app_functions import load_indexing
from model_types import (
    all_of,
    array,
    binary,
    boolean,
    float32,
    float64,
    int32,
    int64,
    null,
    one_of,
    optional,
    properties_of,
    record,
    ref,
    required,
    string,
)
from properties.matching import assert_findings_match
from titled_rows import titled

V1 = """<appfunctions>
    <appfunction>
        <function_id>com.x.Foo#bar</function_id>
        <schema_category>todo</schema_category>
        <schema_name>addTodo</schema_name>
        <schema_version>1</schema_version>
        <enabled_by_default>TRUE</enabled_by_default>
    </appfunction>
</appfunctions>"""
INT = typed("", 7)
NAMED = "<objectQualifiedName>a.B</objectQualifiedName>"
WHO = typed("<description>Who</description>", 8)
NAME = f"<properties><dataTypeMetadata>{WHO}</dataTypeMetadata><id>unused</id><name>name</name></properties>"
INTENT = "android.app.PendingIntent"


def test_a_v2_function_is_read_with_all_of_its_facts() -> None:
    text = file_of(
        function_of(
            "<description> Does it. </description>"
            + parameter_of(typed("", 7), name="count", after="<description>How many</description>")
            + parameter_of(typed("", 8, nullable=True), name="text", required="false"),
            response=RESPONSE.replace("</valueType>", "</valueType><description>Nothing</description>")
            + "<schemaCategory>notes</schemaCategory><schemaName>do</schemaName>"
            + "<schemaVersion>2</schemaVersion>"
            + "<deprecation><id>unused</id><message>Use d</message></deprecation>"
            + "<accessLevel>self</accessLevel><isCompatEnforcementEnabled>false</isCompatEnforcementEnabled>",
        )
    )
    provider = only(read_text(text))
    assert (provider.protocol, provider.dialect) == ("appfunctions", "v2")
    (capability,) = provider.capabilities
    schema = {"schemaCategory": "notes", "schemaName": "do", "schemaVersion": 2}
    facts = {**schema, "deprecation": "Use d", "isCompatEnforcementEnabled": False}
    assert capability.model_copy(update={"source": None}) == Capability(
        id="a.B#c",
        description=" Does it. ",
        input=record(
            {"count": required(int32(description="How many")), "text": optional(string(nullable=True))}
        ),
        output=null(description="Nothing"),
        access=CapabilityAccess(access_level="self"),
        extensions={"appfunctions": facts},
    )
    assert str(capability.source) == "assets/f.xml:1"


@titled(("inside", "outside", "description", "facts"), {
    "only the parameter has one": (None, "out", "out", {}),
    "only its type has one": ("in", None, "in", {"descriptionInside": True}),
    "both have one": ("in", "out", "out", {"typeDescription": "in"}),
    "both have the same one": ("same", "same", "same", {"typeDescription": "same"}),
})  # fmt: skip
def test_the_description_of_a_parameter_counts_before_that_of_its_type(
    inside: str | None, outside: str | None, description: str, facts: dict[str, object]
) -> None:
    type_xml = typed(f"<description>{inside}</description>" if inside else "", 7)
    after = f"<description>{outside}</description>" if outside else ""
    item = kept_type(only(read_text(file_of(function_of(parameter_of(type_xml, after=after))))))
    assert (item.description, facts_of(item)) == (description, facts)


@pytest.mark.parametrize(("word", "restricts"), [("true", True), ("false", False)])
def test_restricted_callers_are_an_access_rule_in_every_dialect(word: str, restricts: object) -> None:
    flag = f"<restrictCallersWithExecuteAppFunctions>{word}</restrictCallersWithExecuteAppFunctions>"
    snake = "restrict_callers_with_execute_app_functions"
    v1 = file_of(f"<appfunction><function_id>f</function_id><{snake}>{word}</{snake}></appfunction>")
    for text in (file_of(function_of(flag)), v1):
        assert only_function(text, strict=False).access.restrict_callers is restricts


def test_names_in_snake_case_and_camel_case_may_be_in_one_file() -> None:
    mixed = function_of().replace("functionId", "function_id")
    provider = only(read_text(file_of(mixed.replace("enabledByDefault", "enabled_by_default"))))
    assert provider.dialect == "v2-legacy"
    assert [(item.id, facts_of(item)) for item in provider.capabilities] == [("a.B#c", {})]


def test_parallel_lists_are_parameters_with_type_words() -> None:
    rows = [("title", "string", "true"), ("count", "Int", "false"), ("who", "Person", "true")]
    lists = "".join(
        f"<paramNames>{name}</paramNames><paramTypes>{word}</paramTypes><paramRequired>{flag}</paramRequired>"
        for name, word, flag in rows
    )
    text = (
        "<appfunctions><AppFunctionStaticMetadata><id>x</id><functionId>createNote</functionId>"
        f"<enabledByDefault>true</enabledByDefault>{lists}<description>Notes</description>"
        "</AppFunctionStaticMetadata></appfunctions>"
    )
    provider = only(read_text(text))
    assert provider.dialect == "platform"
    (capability,) = provider.capabilities
    assert (capability.id, capability.description, capability.output) == ("createNote", "Notes", None)
    assert facts_of(capability) == {"documentId": "x"}
    assert capability.input == record(
        {
            "title": required(string()),
            "count": optional(int32(), extensions={"appfunctions": {"paramWord": "Int"}}),
            "who": required(string(), extensions={"appfunctions": {"paramType": "Person"}}),
        }
    )


def test_documents_are_found_at_any_depth_and_by_both_names() -> None:
    alias = function_of(name="b").replace("appfunction>", "AppFunctionStaticMetadata>")
    text = f"<appfunctions><group>{function_of(name='a')}<more>{alias}</more></group></appfunctions>"
    assert ids_of(only(read_text(text))) == ["a", "b"]


def test_unknown_elements_and_a_version_are_kept_with_what_is_in_them() -> None:
    meta = "<version>1</version><meta><author>x</author><group><since>2</since></group></meta>"
    provider = only(read_text(file_of(meta, function_of("<icon>@x</icon><a_><b>1</b></a_>")), strict=False))
    nested = ["meta", [["author", "x"], ["group", [["since", "2"]]]]]
    assert facts_of(provider) == {"version": "1", "rootElements": [nested]}
    assert facts_of(provider.capabilities[0]) == {"elements": [["icon", "@x"], ["a_", [["b", "1"]]]]}


@titled(("text", "is_ours"), {
    "CDATA with other roots hides no function":
        (file_of(function_of("<description><![CDATA[Edits the <manifest> and <resources>]]></description>")),
     True),
    "a byte order mark and a comment come before the root":
        (f"\ufeff<?xml version='1.0'?>\n<!-- <manifest> -->\n{file_of()}", True),
    "functions may have another root": (f"<functions>{function_of()}</functions>", True),
    "a version may come before the root": (f"<version>1</version>{file_of()}", True),
    "guidance of an app": ("<AppFunctionAppMetadata/>", True),
    "hyphens in the root": ("<app-functions><function/></app-functions>", True),
    "underscores in the root": ("<App_Functions/>", True),
    "a schema file": ("<xs:schema><xs:documentType/></xs:schema>", True),
    "a comment of a manifest is not an element": ("<manifest><!-- <appfunctions> --></manifest>", False),
    "CDATA of resources is not an element":
        ("<?xml version='1.0'?><resources><string name='a'><![CDATA[<appfunction>]]></string></resources>",
     False),
    "a JSON text with the word": ('{"description": "Writes <appfunctions>"}', False),
    "a plain text with the word": ("Writes <appfunctions>", False),
    "an empty file": ("", False),
})  # fmt: skip
def test_a_file_is_known_by_its_elements_not_by_its_words(text: str, *, is_ours: bool) -> None:
    assert (FORMAT.detect(SourceFile("any.xml", text.encode())) > 0) is is_ours


def test_an_element_that_only_looks_like_a_function_is_named() -> None:
    declared = "<function><name>f</name></function>"
    reading = read_text(file_of(declared, declared, function_of()), strict=False)
    assert ids_of(only(reading)) == ["a.B#c"]
    (finding,) = reading.findings
    assert (finding.code, finding.pointer) == ("unread-tag", "/appfunctions/function[1]")
    assert finding.message == "<function> is not a function, so Android does not read it (2 times)"


@titled(("text", "message", "hint", "place"), {
    "a manifest": ("<manifest/>", "<manifest> is not an AppFunctions file", "", None),
    "hyphens in the root have a hint": ("<app-functions><function/></app-functions>",
     "<app-functions> is not an AppFunctions file", "<appfunctions>", None),
    "a function of version 1 without an id": (V1.replace("<function_id>com.x.Foo#bar</function_id>", ""),
     "without <function_id>", "", "assets/f.xml:2"),
})  # fmt: skip
def test_a_file_of_no_known_format_is_refused(text: str, message: str, hint: str, place: str | None) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_text(text)
    assert hint in (caught.value.hint or "")
    assert place in {None, caught.value.place}


def test_text_in_sections_and_around_comments_is_one_text() -> None:
    message = "<description>a <![CDATA[<b> & ]]><!-- not this -->c</description>"
    assert only_function(file_of(function_of(message))).description == "a <b> & c"


@titled(("inner", "number", "expected"), {
    "null": ("", 0, null()),
    "a boolean": ("", 1, boolean()),
    "bytes": ("", 2, binary()),
    "a double": ("", 4, float64()),
    "a float": ("", 5, float32()),
    "a long": ("", 6, int64()),
    "an integer": ("", 7, int32()),
    "a string": ("", 8, string()),
    "an opaque value": ("", 13, OpaqueType()),
    "an object": (f"{NAMED}{NAME}<required>name</required>",
     3, ObjectType(qualified_name="a.B", properties={"name": required(string(description="Who"))})),
    "an array": (f"<itemType>{INT}</itemType>", 10, array(int32())),
    "a reference": ("<dataTypeReference>a.B$C&lt;D?&gt;</dataTypeReference>", 11, ref("a.B$C<D?>")),
    "an all-of": (f"<allOf>{INT}</allOf>{NAMED}", 12, all_of(int32(), qualified_name="a.B")),
    "an intent": (f"<objectQualifiedName>{INTENT}</objectQualifiedName>", 13, OpaqueType(class_name=INTENT)),
    "a one-of": (f"<oneOf>{INT}</oneOf><oneOf>{typed('', 8)}</oneOf>{NAMED}",
     14, one_of(int32(), string(), qualified_name="a.B")),
    "null items": (f"<itemType>{typed('', 8, nullable=True)}</itemType>", 10, array(string(nullable=True))),
    "a string enum": ("<enumValues>0</enumValues><enumValues>1</enumValues>", 8, string(enum=("0", "1"))),
    "an enum of integers": ("<enumValues>0</enumValues><enumValues>1</enumValues>", 7, int32(enum=(0, 1))),
    "values at a type without an enum": ("<enumValues>1</enumValues>",
     6, int64(extensions={"appfunctions": {"typeElements": [["enumValues", "1"]]}})),
    "a pattern and a format": ("<pattern>^[a-z]+$</pattern><format>custom</format>", 8,
        string(pattern="^[a-z]+$", format="custom")),
})  # fmt: skip
def test_each_type_number_is_the_type_that_jetpack_gives_it(inner: str, number: int, expected: Type) -> None:
    assert read_type_of(typed(inner, number)) == expected
    nullable = expected.model_copy(update={"nullable": True})
    assert read_type_of(typed(inner, number, nullable=True)) == nullable


def pattern_document(value: str, number: int) -> str:
    return f"<patterns><id>unused</id><value>{value}</value><type>{number}</type></patterns>"


@pytest.mark.parametrize(("value", "number", "expected"), [
    ("a.b", 0, r"^a\.b$"), ("https://", 1, r"^https:\/\/[\s\S]*$"), ("a.*b", 2, r"^a[\s\S]*b$"),
    ("[a-c]+x{2,3}", 3, "^[a-c]+x{2,3}$"), (".pdf", 4, r"^[\s\S]*\.pdf$"), ("a", 9, None),
])  # fmt: skip
def test_a_pattern_document_is_the_expression_it_means_and_is_kept(
    value: str, number: int, expected: str | None
) -> None:
    type_ = read_type_of(typed(pattern_document(value, number), 8))
    assert type_.pattern == expected
    kind = "otherPatterns" if expected is None else "patterns"
    assert facts_of(type_) == {kind: [{"value": value, "type": number}]}


def test_several_pattern_documents_are_alternatives() -> None:
    documents = pattern_document("a", 0) + pattern_document("b", 0)
    assert read_type_of(typed(documents, 8)).pattern == "^(?:a|b)$"


@pytest.mark.parametrize(("tag", "number"), [("allOf", 12), ("oneOf", 14)])
def test_a_member_is_never_nullable_and_a_stated_flag_is_written_again(tag: str, number: int) -> None:
    members = "".join(
        f"<{tag}>{flag}<id>unused</id><type>7</type></{tag}>"
        for flag in ("<isNullable>true</isNullable>", "<isNullable>false</isNullable>", "")
    )
    provider = only(
        read_text(file_of(function_of(parameter_of(typed(members + NAMED, number, nullable=True)))))
    )
    type_ = kept_type(provider)
    assert isinstance(type_, AllOfType | OneOfType)
    parts = type_.members if isinstance(type_, AllOfType) else type_.alternatives
    assert type_.nullable
    assert [part.nullable for part in parts] == [False, False, False]
    assert [facts_of(part) for part in parts] == [{"isNullable": True}, {}, {"isNullable": None}]
    written = artifact(write_in(provider, "v2"), "document")
    assert etree.fromstring(written.encode()).xpath(f"//{tag}/isNullable/text()") == ["true", "false"]


def test_required_names_in_another_order_or_of_nothing_are_kept() -> None:
    type_ = read_type_of(typed(f"{NAME}<required>gone</required><required>name</required>", 3))
    assert properties_of(type_)["name"].required
    assert facts_of(type_) == {"required": ["gone", "name"]}


def test_document_ids_and_unknown_elements_are_kept_where_they_are() -> None:
    content = "<id>seven</id><isNullable>false</isNullable><type>7</type><minimum>1</minimum>"
    text = file_of(function_of(parameter_of(content, after="<unit><name>m</name></unit>")))
    part = properties_of(only_function(text, strict=False).input)["p"]
    assert part.extensions == {"appfunctions": {"partElements": [["unit", [["name", "m"]]]]}}
    assert facts_of(part.type) == {"id": "seven", "typeElements": [["minimum", "1"]]}


@titled(("kept", "message"), {
    "a word type": ("<id>unused</id><isNullable>false</isNullable><type>many</type>", "not a 64-bit integer"),
    "a description with an element":
        (typed("<description>of <b>weight</b></description>", 8), "<description> holds the element <b>"),
    "an enum element": (typed("<enumValues>a<br/>b</enumValues>", 8), "<enumValues> holds the element <br>"),
    "a nullable flag with an element":
        ("<id>unused</id><isNullable><yes/></isNullable><type>8</type>", "<isNullable> holds the element"),
    "a type's number with an element":
        ("<id>unused</id><isNullable>true</isNullable><type>8<x/></type>", "<type> holds the element <x>"),
})  # fmt: skip
def test_a_value_for_which_android_drops_the_file_is_refused_with_its_line(kept: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read_type_of(kept, strict=False)
    assert message in caught.value.message
    assert caught.value.place == "assets/f.xml:1"
    assert caught.value.hint


def test_types_nested_without_end_are_refused() -> None:
    type_xml = INT
    for _ in range(80):
        type_xml = typed(f"<itemType>{type_xml}</itemType>", 10)
    with pytest.raises(BudgetError, match="64 levels"):
        read_type_of(type_xml)


# Apps: files by properties, access, a file of version 1

V2 = property_of("v2", "f.xml")
FILES = {"assets/f.xml": file_of(function_of())}
GLOBAL = {"assets/f.xml": file_of(function_of("<scope>global</scope>", enabled=None))}
OTHER_ACTIVITY = "<activity android:name='.Main'/>"
METADATA = (
    '<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/androidx.appfunctions" '
    'appfn:description="Use\\nit" appfn:displayDescription="@string/told"/>'
)
STRINGS = '<resources><string name="told">What it\\u0020does</string></resources>'
GUIDANCE = property_of("app_metadata", resource="@xml/guide")
UNCLOSED = "<appfunctions>\n<appfunction>\n</appfunctions>"


def places_of_problems(reading: Reading) -> list[str]:
    return [item.place.partition(":")[0] for item in reading.problems if item.place]


def levels_by_pointer(writing: Writing) -> dict[str, Level]:
    return {finding.pointer: finding.level for finding in writing.findings}


def older_function(name: str = "a.B#c", more: str = "", *, enabled: str = "true") -> str:
    return (
        f"<appfunction><function_id>{name}</function_id>{more}"
        f"<enabled_by_default>{enabled}</enabled_by_default></appfunction>"
    )


def of_application(name: str, scope: str = "global") -> str:
    return file_of(function_of(f"<scope>{scope}</scope>", name=name, enabled=None))


OLD = property_of("", "one.xml")
VERSION_1 = {"assets/one.xml": file_of(older_function("old"))}
LETTERS = {f"assets/{name}.xml": file_of(function_of(name=name)) for name in ("a", "b")}
ARRAY = '<resources><array name="all"><item>@xml/c</item><item>@xml/d</item></array></resources>'
RESOURCES = {f"res/xml/{name}.xml": of_application(name) for name in ("c", "d")}
# fmt: off
READ = [  # component, dialect, name and functions of each provider, and the leniencies
    pytest.param((service_of(OLD, V2),), {**FILES, **VERSION_1},
        [(".Service", "v2", None, ["a.B#c"])], ["A24"], id="version 2 wins over version 1"),
    pytest.param((service_of(OLD),),
        VERSION_1, [(".Service", "v1", None, ["old"])], [], id="version 1 is read alone"),
    pytest.param((service_of(OLD, V2),), VERSION_1, [(".Service", "v1", None, ["old"])],
        ["A19"], id="version 1 is read where the newer file does not exist"),
    pytest.param((OTHER_ACTIVITY,), VERSION_1,
        [(None, "v1", None, ["old"])], ["A20"], id="a file of version 1 that no component names is read"),
    pytest.param((property_of("v2", " c.xml ,, d.xml"), service_of(property_of("v2", "a.xml"), name=".A",
        attributes='android:label="First"'), service_of(property_of("v2", "b.xml"), name="com.other.B")),
        {**LETTERS, "assets/c.xml": of_application("c"), "assets/d.xml": of_application("d", "activity")},
        [(".A", "v2", "First", ["a"]), ("com.other.B", "v2", None, ["b"]), (None,
        "app-level", None, ["c", "d"])], [], id="each service is a provider and the application another"),
    pytest.param((property_of("v2", resource="@array/all"),), {"res/values/v.xml": ARRAY, **RESOURCES},
        [(None, "app-level", None, ["c", "d"])], [], id="an array of resources names several files"),
    pytest.param((f"<service android:name='.Other'>{ACTION.replace('appfunctions', 'other')}</service>",),
        {}, [], [], id="an app with neither functions nor guidance has no provider"),
]
# fmt: on


@pytest.mark.parametrize(("parts", "files", "providers", "rows"), READ)
def test_an_application_gives_its_providers_and_leniencies(
    parts: tuple[str, ...], files: dict[str, str], providers: list[tuple[object, ...]], rows: list[str]
) -> None:
    reading = read_app(*parts, files=files, strict=not rows)
    actual = [(item.component, item.dialect, item.name, ids_of(item)) for item in reading.providers]
    assert (actual, rows_of(reading)) == (providers, rows)


def test_a_property_may_point_to_a_resource() -> None:
    service = service_of(property_of("v2", resource="@xml/functions"))
    provider = only(read_app(service, files={"res/xml/functions.xml": file_of(function_of())}))
    assert str(provider.source) == "res/xml/functions.xml:1"


def test_names_of_components_are_the_whole_packages() -> None:
    reference = typed("<dataTypeReference>a.B</dataTypeReference>", 11)
    components = components_of(definition_of("a.B", typed("", 7, nullable=True)))
    files = {
        "assets/a.xml": file_of(function_of(parameter_of(reference), name="a")),
        "assets/b.xml": file_of(function_of(name="b"), components=components),
    }
    services = [service_of(property_of("v2", f"{item}.xml"), name=f".{item.upper()}") for item in ("a", "b")]
    first, second = read_app(*services, files=files).providers
    assert first.definitions == second.definitions == {"a.B": ScalarType(kind="int32")}


def test_a_reference_that_leads_nowhere_is_read() -> None:
    reference = typed("<dataTypeReference>a.Gone</dataTypeReference>", 11)
    files = {"assets/f.xml": file_of(function_of(parameter_of(reference)))}
    assert only(read_app(service_of(V2), files=files)).definitions == {}


def test_guidance_and_the_description_for_the_user_belong_to_every_provider() -> None:
    files = {"res/xml/guide.xml": METADATA, "res/values/s.xml": STRINGS}
    provider = only(read_app(GUIDANCE, service_of(V2), files={**FILES, **files}))
    assert (provider.instructions, provider.description) == ("Use\nit", "What it does")
    assert facts_of(provider) == {}
    alone = only(read_app(GUIDANCE, files=files))
    assert (alone.instructions, alone.component, alone.capabilities) == ("Use\nit", None, ())


@titled(("attributes", "instructions", "description", "facts"), {
    "a description alone is an older form of the instructions": ('appfn:description="Old"', "Old", None, {}),
    "instructions win over the older description, which is kept":
        ('appfn:instructions="New" appfn:description="Old" appfn:displayDescription="Told"',
     "New", "Told", {"metadataAttribute": "instructions", "legacyDescription": "Old"}),
    "a text that does not resolve is kept as it is written":
        ('appfn:description="Old" appfn:displayDescription="@string/gone" appfn:icon="x"',
     "Old", None, {"metadataAttributes": {"displayDescription": "@string/gone", "icon": "x"}}),
})  # fmt: skip
def test_how_guidance_is_written_is_kept(
    attributes: str, instructions: str, description: str | None, facts: dict[str, object]
) -> None:
    text = f'<AppFunctionAppMetadata xmlns:appfn="http://schemas.android.com/apk/res-auto" {attributes}/>'
    provider = only(read_app(GUIDANCE, files={"res/xml/guide.xml": text}))
    assert (provider.instructions, provider.description) == (instructions, description)
    assert facts_of(provider) == {"metadataNamespace": "res-auto", **facts}


def test_a_malformed_guidance_file_is_a_problem_of_that_file() -> None:
    files = {"res/xml/guide.xml": "<app-metadata description='Search first'/>", **FILES}
    reading = read_app(GUIDANCE, service_of(V2), files=files, strict=False)
    assert ids_of(only(reading)) == ["a.B#c"]
    (problem,) = reading.problems
    assert problem.place == "res/xml/guide.xml:1"
    assert problem.message == "the root element is <app-metadata>, not <AppFunctionAppMetadata>"


@titled("broken", {"a tag without an end": UNCLOSED, "a function without an id": file_of("<appfunction/>")})
def test_a_broken_functions_file_hides_no_other_service(broken: str) -> None:
    services = (service_of(property_of("v2", "broken.xml"), name=".Broken"), service_of(V2, name=".Good"))
    files = {"assets/broken.xml": broken, **FILES}
    reading = read_app(*services, files=files, strict=False)
    assert [item.component for item in reading.providers] == [".Good"]
    assert places_of_problems(reading) == ["assets/broken.xml"]
    with pytest.raises(InputError):
        read_app(*services, files=files)


@titled("part", {
    "one of several files of the application": property_of("v2", "broken.xml,f.xml"),
    "version 1 next to a newer one": service_of(property_of("", "broken.xml"), V2),
})  # fmt: skip
def test_a_broken_file_does_not_hide_another_one(part: str) -> None:
    files = {"assets/broken.xml": UNCLOSED, "assets/f.xml": file_of(function_of(enabled=None))}
    reading = read_app(part, files=files, strict=False)
    assert ids_of(only(reading)) == ["a.B#c"]
    assert places_of_problems(reading) == ["assets/broken.xml"]


def test_the_only_file_of_an_app_is_still_an_error() -> None:
    with pytest.raises(InputError, match="not well-formed"):
        read_app(service_of(V2), files={"assets/f.xml": UNCLOSED}, strict=False)


# Access

ANDROID = "{http://schemas.android.com/apk/res/android}"
BIND = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXPORTED = 'android:exported="true"'
BOUND_BY_ANDROID = {"exported": "true", "permission": BIND}


def service_with(attributes: str) -> str:
    return f'<service android:name=".Service" {attributes}>{V2}{ACTION}</service>'


def read_changed(*parts: str, files: Mapping[str, str] = FILES, **facts: Any) -> Provider:
    """Read an app with other facts of its last component, and `application` facts of its first."""
    application = app_of(*parts, files=files)
    *others, last = application.components
    if "application" in facts:
        others = [replace(others[0], **facts.pop("application"))]
    changed = replace(application, components=(*others, replace(last, **facts)))
    return only(FORMAT.read_application(changed, ReadingContext()))


def access_in(manifest: str) -> Mapping[str, str | None]:
    """Return the access attributes of the only service of a manifest; without our reader."""
    (service,) = etree.fromstring(manifest.encode()).iter("service")
    names = ("exported", "enabled", "permission")
    return {name: service.get(ANDROID + name) for name in names if service.get(ANDROID + name) is not None}


@titled(("attributes", "access", "written"), {
    "only Android may bind": (f"{EXPORTED} {PERMISSION}", ComponentAccess(permission=BIND), BOUND_BY_ANDROID),
    "a service that is neither exported nor enabled": ('android:exported="false" android:enabled="false"',
     ComponentAccess(exported=False, enabled=False), {"exported": "false", "enabled": "false"}),
    "a service without rules": ("", ComponentAccess(exported=None), {}),
    "a service with a permission of its own": (f'{EXPORTED} android:permission="com.example.MINE"',
     ComponentAccess(permission="com.example.MINE"), {"exported": "true", "permission": "com.example.MINE"}),
})  # fmt: skip
def test_the_access_rules_of_a_service_are_read_and_written_again(
    attributes: str, access: ComponentAccess, written: dict[str, str]
) -> None:
    provider = only(read_app(service_with(attributes), files=FILES))
    assert provider.access == access
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert access_in(artifact(writing, "manifest")) == written


def test_the_applications_rules_hold_for_its_services() -> None:
    closed = {"enabled": False, "permission": "com.example.APP"}
    provider = read_changed(service_with(EXPORTED), application=closed)
    assert provider.access == ComponentAccess(enabled=False, permission="com.example.APP")
    own = read_changed(service_with(EXPORTED), application=closed, permission=BIND)
    assert own.access.permission == BIND


def test_a_service_that_is_enabled_on_some_releases_is_written_so() -> None:
    by_configuration = {"": False, "v36": True}
    provider = read_changed(service_with(EXPORTED), enabled_by_configuration=by_configuration)
    assert provider.access.enabled == by_configuration
    writing = write_in(provider, "v2")
    assert access_in(artifact(writing, "manifest"))["enabled"] == "@bool/service_enabled"
    files = [item for item in writing.artifacts if "_enabled" in item.path]
    values = {item.path: etree.fromstring(item.text.encode()).findtext("bool") for item in files}
    assert values == {"res/values/service_enabled.xml": "false", "res/values-v36/service_enabled.xml": "true"}


def test_a_file_by_itself_has_no_service_and_no_rules_of_one() -> None:
    assert only(read_text(file_of(function_of()))).access == ComponentAccess()


RULES = {
    "enabledByDefault": (CapabilityAccess(enabled_by_default=False), "false"),
    "restrictCallersWithExecuteAppFunctions": (CapabilityAccess(restrict_callers=True), "true"),
    "accessLevel": (CapabilityAccess(access_level="system"), "system"),
    "scope": (CapabilityAccess(scope="activity"), "activity"),
}
SNAKE = {
    "enabledByDefault": "enabled_by_default",
    "restrictCallersWithExecuteAppFunctions": "restrict_callers_with_execute_app_functions",
}
NOT_WRITTEN = {
    ("v2", "scope"), ("v2-legacy", "scope"), ("v1", "scope"), ("platform", "scope"),
    ("v1", "accessLevel"), ("platform", "accessLevel"),
}  # fmt: skip


@pytest.mark.parametrize("dialect", [item.id for item in FORMAT.dialects])
@pytest.mark.parametrize("tag", RULES)
def test_a_functions_rule_is_written_by_its_tag_or_is_a_security_finding(dialect: str, tag: str) -> None:
    access, word = RULES[tag]
    function = Capability(id="f", input=ObjectType(), output=ScalarType(kind="null"), access=access)
    of_service = {"component": ".Service", "access": ComponentAccess(permission=BIND)}
    source = Provider(protocol="appfunctions", dialect=dialect, package="a.b", capabilities=(function,))
    provider = source if dialect == "app-level" else source.model_copy(update=of_service)
    writing = write_in(provider, dialect)
    root = etree.fromstring(artifact(writing, "descriptor").encode())
    written = [item.text for item in root.iter() if item.tag in {tag, SNAKE.get(tag)}]
    rules = [item.pointer.rpartition("/")[0] for item in writing.findings if item.level is Level.SECURITY]
    is_written = (dialect, tag) not in NOT_WRITTEN
    assert (written, rules) == (([word], []) if is_written else ([], ["/capabilities/0/access"]))
    assert_findings_match(provider, writing)


def test_the_new_service_of_functions_without_one_can_be_bound_by_android_only() -> None:
    of_the_application = only(read_app(V2, files=GLOBAL))
    loose = only(read_app(OTHER_ACTIVITY, files=FILES, strict=False))
    for provider in (of_the_application, loose):
        writing = write_in(provider, "v2")
        assert access_in(artifact(writing, "manifest")) == BOUND_BY_ANDROID
        assert levels_by_pointer(writing)["/access/permission"] is Level.RENAMED
        assert_findings_match(provider, writing)


def test_functions_of_a_disabled_application_are_disabled() -> None:
    provider = read_changed(V2, files=GLOBAL, enabled=False)
    assert provider.access == ComponentAccess(enabled=False)
    assert levels_by_pointer(write_in(provider, "app-level")) == {"/access/enabled": Level.SECURITY}


def test_the_new_service_of_another_protocol_can_be_bound_by_android_only() -> None:
    provider = Provider(protocol="mmcp", component=".Tools", capabilities=(Capability(id="f"),))
    assert access_in(artifact(write_in(provider, "v2"), "manifest")) == BOUND_BY_ANDROID


# A file of version 1 next to a newer one

BOTH = service_of(OLD, property_of("v2", "two.xml"))
RESTRICTED = "<restrict_callers_with_execute_app_functions>true</restrict_callers_with_execute_app_functions>"


def files_of(*older: str) -> dict[str, str]:
    return {"assets/one.xml": file_of(*older), "assets/two.xml": file_of(function_of())}


def older_text(writing: Writing) -> str:
    (text,) = [item.text for item in writing.artifacts if item.path.endswith("-v1.xml")]
    return text


def test_a_file_of_version_1_that_repeats_the_newer_one_is_kept_without_a_finding() -> None:
    reading = read_app(BOTH, files=files_of(older_function()))
    assert reading.findings == ()
    provider = only(reading)
    assert set(facts_of(provider)) == {"v1Repeated"}
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert 'android:value="service-v1.xml"' in artifact(writing, "manifest")
    _, *lines = (line.strip() for line in older_text(writing).splitlines())
    assert "".join(lines) == file_of(older_function())


@titled(("older", "words"), {
    "only it has the function": (older_function("a.B#gone"), ["'a.B#gone'", "only in the file of version 1"]),
    "only it disables the function":
        (older_function(enabled="false"), ["'a.B#c'", "enabledByDefault of the function 'a.B#c' differs in"]),
    "it has a schema": (older_function(more="<schema_name>note</schema_name>"), ["'a.B#c'", "schemaName"]),
    "only it restricts callers":
        (older_function(more=RESTRICTED), ["'a.B#c'", "restrictCallersWithExecuteAppFunctions"]),
})  # fmt: skip
def test_a_function_that_differs_is_reported_at_its_place_and_kept(older: str, words: list[str]) -> None:
    reading = read_app(BOTH, files=files_of(older))
    (finding,) = reading.findings
    assert (finding.code, finding.level, finding.rule) == ("older-function-differs", Level.READ, "A24")
    assert str(finding.source) == "assets/one.xml:1"
    assert all(word in finding.message for word in words)
    provider = only(reading)
    assert ids_of(provider) == ["a.B#c"]
    assert set(facts_of(provider)) == {"v1"}
    assert levels_by_pointer(write_in(provider, "v1"))["/extensions/appfunctions/v1"] is Level.DROPPED


def listed_by_release(application: Application) -> dict[str, list[str]]:
    releases = load_indexing().linted()
    return {item.id: sorted(simulate_indexing(application, item).functions()) for item in releases}


def test_each_release_lists_after_a_round_trip_what_it_listed_before() -> None:
    before = app_of(BOTH, files=files_of(older_function("a.B#old")))
    writing = write_in(only(FORMAT.read_application(before, ReadingContext())), "v2")
    tree = {item.path: item.text for item in writing.artifacts if item.role != "schema"}
    # The source names no schema file, so that Android 16 reads the file of version 1.
    tree["AndroidManifest.xml"] = tree["AndroidManifest.xml"].replace("appfunctions.schema", "other")
    after = application_from_tree({path: text.encode() for path, text in tree.items()})
    listed = listed_by_release(before)
    assert (listed["16"], listed["17"]) == (["a.B#old"], ["a.B#c"])
    assert listed_by_release(after) == listed


def test_files_that_no_component_names_are_kept_with_the_newer_file_of_the_same_functions() -> None:
    files = {**LETTERS, "assets/b_old.xml": file_of(older_function("b"), older_function("gone"))}
    reading = read_app(OTHER_ACTIVITY, files=files, strict=False)
    facts_by_id = {provider.capabilities[0].id: set(facts_of(provider)) for provider in reading.providers}
    assert facts_by_id == {"a": set(), "b": {"v1"}}
    assert rows_of(reading) == ["A20", "A20", "A20", "A24"]
    assert "'gone'" in reading.findings[-1].message


def test_functions_of_the_application_are_kept_in_both_files_too() -> None:
    files = {"assets/one.xml": file_of(older_function("x")), "assets/two.xml": of_application("x")}
    reading = read_app(OLD, property_of("v2", "two.xml"), files=files)
    assert reading.findings == ()
    assert "<function_id>x</function_id>" in older_text(write_in(only(reading), "app-level"))


# Facts of this format in a source of another one

FORGED = [["appfunction", [["function_id", "evil"], ["enabled_by_default", "true"]]]]


def written_from_tools(*, facts: dict[str, object], **of_tool: Any) -> Writing:
    """Write a provider of MCP, which has no facts of app functions by right, with such facts."""
    tool = Capability(id="tool", **of_tool)
    tools = Provider(protocol="mcp", package="a.b", component=".Tools", capabilities=(tool,))
    return write_in(tools.changed({"extensions": {"appfunctions": facts}}), "v2")


@pytest.mark.parametrize("fact", ["v1", "v1Repeated", "rootElements"])
def test_a_source_of_another_protocol_declares_no_functions_next_to_its_tools(fact: str) -> None:
    writing = written_from_tools(facts={fact: FORGED})
    assert not any("evil" in item.text for item in writing.artifacts)
    (finding,) = [item for item in writing.findings if item.pointer == f"/extensions/appfunctions/{fact}"]
    assert (finding.code, finding.level) == ("extension-dropped", Level.DROPPED)


def test_a_source_of_another_protocol_does_not_enable_a_function_by_an_unknown_element() -> None:
    closed = CapabilityAccess(enabled_by_default=False)
    element = {"appfunctions": {"elements": [["enabled_by_default", "true"]]}}
    writing = written_from_tools(facts={}, access=closed, extensions=element)
    descriptor = artifact(writing, "descriptor")
    assert "enabled_by_default" not in descriptor
    assert "<enabledByDefault>false</enabledByDefault>" in descriptor
    assert "/capabilities/0/extensions/appfunctions/elements" in levels_by_pointer(writing)


def test_an_element_whose_name_holds_markup_is_not_written() -> None:
    with pytest.raises(WriteError, match="is not the name of an XML element"):
        written_from_tools(facts={"rootElements": [["x/><appfunction", "evil"]]})
