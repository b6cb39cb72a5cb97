"""Functions of each dialect and each of the fourteen types, typed by hand from reference 2.a to 2.e."""

import pytest
from lxml import etree

from adapters.appfunctions.function_files import (
    RESPONSE,
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
    read_text,
    read_type_of,
    typed,
    write_in,
)
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.model.capability import Capability, CapabilityAccess
from droidgate_mappings.model.errors import BudgetError, InputError
from droidgate_mappings.model.types import AllOfType, ObjectType, OneOfType, OpaqueType, Type
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
NAME = (
    "<properties><dataTypeMetadata>"
    + typed("<description>Who</description>", 8)
    + "</dataTypeMetadata><id>unused</id><name>name</name></properties>"
)
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
    facts = {
        "schemaCategory": "notes",
        "schemaName": "do",
        "schemaVersion": 2,
        "deprecation": "Use d",
        "isCompatEnforcementEnabled": False,
    }
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


@titled(("enabled", "is_enabled", "facts"), {
    "true is enabled": ("true", True, {}), "false is disabled": ("false", False, {}),
    "an absent element is enabled": (None, True, {"enabledByDefaultAbsent": True}),
})  # fmt: skip
def test_a_function_is_enabled_by_default_unless_it_is_false(
    enabled: str | None, *, is_enabled: bool, facts: dict[str, object]
) -> None:
    capability = only_function(file_of(function_of(enabled=enabled)))
    assert (capability.access, facts_of(capability)) == (
        CapabilityAccess(enabled_by_default=is_enabled),
        facts,
    )


@pytest.mark.parametrize(("word", "restricts"), [("true", True), ("false", False)])
def test_restricted_callers_are_an_access_rule_in_every_dialect(word: str, restricts: object) -> None:
    flag = f"<restrictCallersWithExecuteAppFunctions>{word}</restrictCallersWithExecuteAppFunctions>"
    snake = "restrict_callers_with_execute_app_functions"
    v1 = file_of(f"<appfunction><function_id>f</function_id><{snake}>{word}</{snake}></appfunction>")
    for text in (file_of(function_of(flag)), v1):
        assert only_function(text, strict=False).access.restrict_callers is restricts


def test_a_v1_function_has_an_id_and_the_name_of_its_schema() -> None:
    provider = only(read_text(V1, strict=False))
    assert provider.dialect == "v1"
    (capability,) = provider.capabilities
    assert (capability.id, capability.input, capability.output) == ("com.x.Foo#bar", ObjectType(), None)
    assert facts_of(capability) == {"schemaCategory": "todo", "schemaName": "addTodo", "schemaVersion": 1}


def test_names_in_snake_case_and_camel_case_may_be_in_one_file() -> None:
    text = file_of(
        function_of().replace("functionId", "function_id").replace("enabledByDefault", "enabled_by_default")
    )
    provider = only(read_text(text))
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


def test_functions_with_a_scope_are_the_applications() -> None:
    first = function_of("<scope>activity</scope>", name="a", enabled=None)
    second = function_of("<scope>global</scope>", name="b", enabled="false")
    provider = only(read_text(file_of(first, second)))
    assert provider.dialect == "app-level"
    assert [(item.access, facts_of(item)) for item in provider.capabilities] == [
        (CapabilityAccess(scope="activity"), {}),
        (CapabilityAccess(enabled_by_default=False), {}),
    ]


def test_documents_are_found_at_any_depth_and_by_both_names() -> None:
    alias = function_of(name="b").replace("appfunction>", "AppFunctionStaticMetadata>")
    text = f"<appfunctions><group>{function_of(name='a')}<more>{alias}</more></group></appfunctions>"
    assert ids_of(only(read_text(text))) == ["a", "b"]


def test_unknown_elements_and_a_version_are_kept() -> None:
    text = file_of("<version>1</version><author>me</author>", function_of("<icon>@x</icon><a_><b>1</b></a_>"))
    provider = only(read_text(text, strict=False))
    assert facts_of(provider) == {"version": "1", "rootElements": [["author", "me"]]}
    assert facts_of(provider.capabilities[0]) == {"elements": [["icon", "@x"], ["a_", [["b", "1"]]]]}


def test_an_unknown_element_is_kept_with_what_is_in_it() -> None:
    text = file_of("<meta><author>x</author><group><since>2</since></group></meta>", function_of())
    provider = only(read_text(text))
    meta = ["meta", [["author", "x"], ["group", [["since", "2"]]]]]
    assert facts_of(provider) == {"rootElements": [meta]}
    written = write_in(provider, "v2").artifacts[0].text
    assert only(read_text(written)).extensions == provider.extensions


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


def test_components_are_definitions_and_their_own_nullability_is_ignored() -> None:
    reference = typed("<dataTypeReference>a.B</dataTypeReference>", 11, nullable=True)
    recursive = typed(
        f"{NAMED}<properties><dataTypeMetadata>{reference}</dataTypeMetadata><id>unused</id>"
        "<name>next</name></properties><required>next</required>",
        3,
        nullable=True,
    )
    components = components_of(
        definition_of("a.B", recursive), definition_of("a.Alias", reference), definition_of("a.Not", INT)
    )
    provider = only(read_text(file_of(function_of(), components=components)))
    assert provider.definitions == {
        "a.B": ObjectType(qualified_name="a.B", properties={"next": required(ref("a.B", nullable=True))}),
        "a.Alias": ref("a.B"),
        "a.Not": int32(extensions={"appfunctions": {"isNullable": False}}),
    }
    assert facts_of(provider) == {}


def test_how_components_are_spread_over_documents_is_kept() -> None:
    first = components_of(definition_of("a.B", typed("", 7, nullable=True)), document_id="a.Service")
    second = components_of(definition_of("a.C", typed("", 8, nullable=True)))
    alone = only(read_text(file_of(function_of(), components=first)))
    both = only(read_text(file_of(function_of(), components=first + second)))
    assert facts_of(alone) == {"components": [["a.Service", None]]}
    assert facts_of(both) == {"components": [["a.Service", ["a.B"]], ["unused", ["a.C"]]]}
    assert list(both.definitions) == ["a.B", "a.C"]


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
