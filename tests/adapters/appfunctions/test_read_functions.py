"""Functions in each dialect, typed by hand from reference 2.a to 2.e."""

import pytest

from adapters.appfunctions.function_files import (
    RESPONSE,
    facts_of,
    file_of,
    function_of,
    only,
    only_function,
    parameter_of,
    read_text,
    typed,
    write_in,
)
from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, CapabilityAccess
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.types import ObjectType
from model_types import int32, null, optional, properties_of, record, required, string

V1 = """<appfunctions>
    <appfunction>
        <function_id>com.x.Foo#bar</function_id>
        <schema_category>todo</schema_category>
        <schema_name>addTodo</schema_name>
        <schema_version>1</schema_version>
        <enabled_by_default>TRUE</enabled_by_default>
    </appfunction>
</appfunctions>"""


@pytest.mark.parametrize(
    ("tag", "converted"),
    [
        ("enabled_by_default", "enabledByDefault"),
        ("scHema_veRsion", "schemaVersion"),
        ("function__id", "functionId"),
        ("functionid", "functionid"),
        ("isNullable", "isNullable"),
        ("_schema_version_", "SchemaVersion"),
        ("___", ""),
    ],
)
def test_tags_are_converted_as_aosp_converts_them(tag: str, converted: str) -> None:
    assert to_lower_camel_case(tag) == converted


def test_a_v2_function_is_read_with_everything_it_says() -> None:
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
    assert capability.model_copy(update={"source": None}) == Capability(
        id="a.B#c",
        description=" Does it. ",
        input=record(
            {"count": required(int32(description="How many")), "text": optional(string(nullable=True))}
        ),
        output=null(description="Nothing"),
        access=CapabilityAccess(access_level="self"),
        extensions={
            "appfunctions": {
                "schemaCategory": "notes",
                "schemaName": "do",
                "schemaVersion": 2,
                "deprecation": "Use d",
                "isCompatEnforcementEnabled": False,
            }
        },
    )
    assert str(capability.source) == "assets/f.xml:1"


@pytest.mark.parametrize(
    ("inside", "outside", "description", "facts"),
    [
        (None, "out", "out", {}),
        ("in", None, "in", {"descriptionInside": True}),
        ("in", "out", "out", {"typeDescription": "in"}),
        ("same", "same", "same", {"typeDescription": "same"}),
    ],
)
def test_a_parameters_own_description_wins_over_its_types(
    inside: str | None, outside: str | None, description: str, facts: dict[str, object]
) -> None:
    kept = typed(f"<description>{inside}</description>" if inside else "", 7)
    after = f"<description>{outside}</description>" if outside else ""
    capability = only_function(file_of(function_of(parameter_of(kept, after=after))))
    item = properties_of(capability.input)["p"].type
    assert (item.description, facts_of(item)) == (description, facts)


@pytest.mark.parametrize(
    ("enabled", "is_enabled", "facts"),
    [("true", True, {}), ("false", False, {}), (None, True, {"enabledByDefaultAbsent": True})],
)
def test_a_function_is_enabled_by_default_unless_it_is_false(
    enabled: str | None, *, is_enabled: bool, facts: dict[str, object]
) -> None:
    capability = only_function(file_of(function_of(enabled=enabled)))
    assert capability.access == CapabilityAccess(enabled_by_default=is_enabled)
    assert facts_of(capability) == facts


@pytest.mark.parametrize(("word", "restricts"), [("true", True), ("false", False)])
def test_restricted_callers_are_an_access_rule_in_every_dialect(word: str, restricts: object) -> None:
    flag = f"<restrictCallersWithExecuteAppFunctions>{word}</restrictCallersWithExecuteAppFunctions>"
    snake = "restrict_callers_with_execute_app_functions"
    v1 = file_of(f"<appfunction><function_id>f</function_id><{snake}>{word}</{snake}></appfunction>")
    for text in (file_of(function_of(flag)), v1):
        (capability,) = only(read_text(text, strict=False)).capabilities
        assert capability.access.restrict_callers is restricts


def test_a_v1_function_has_an_id_and_the_name_of_its_schema() -> None:
    provider = only(read_text(V1, strict=False))
    assert provider.dialect == "v1"
    (capability,) = provider.capabilities
    assert (capability.id, capability.input, capability.output) == ("com.x.Foo#bar", ObjectType(), None)
    assert facts_of(capability) == {"schemaCategory": "todo", "schemaName": "addTodo", "schemaVersion": 1}


def test_a_v1_function_without_an_id_is_refused() -> None:
    text = V1.replace("<function_id>com.x.Foo#bar</function_id>", "")
    with pytest.raises(InputError, match="without <function_id>") as caught:
        read_text(text)
    assert caught.value.place == "assets/f.xml:2"


def test_snake_case_and_camel_case_may_are_together() -> None:
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
    assert [item.access for item in provider.capabilities] == [
        CapabilityAccess(scope="activity"),
        CapabilityAccess(enabled_by_default=False),
    ]
    assert [facts_of(item) for item in provider.capabilities] == [{}, {}]


def test_documents_are_found_at_any_depth_and_by_both_names() -> None:
    alias = function_of(name="b").replace("appfunction>", "AppFunctionStaticMetadata>")
    provider = only(
        read_text(f"<appfunctions><group>{function_of(name='a')}<more>{alias}</more></group></appfunctions>")
    )
    assert [item.id for item in provider.capabilities] == ["a", "b"]


def test_unknown_elements_and_a_version_are_kept() -> None:
    text = file_of("<version>1</version><author>me</author>", function_of("<icon>@x</icon><a_><b>1</b></a_>"))
    provider = only(read_text(text, strict=False))
    assert facts_of(provider) == {"version": "1", "rootElements": [["author", "me"]]}
    assert facts_of(provider.capabilities[0]) == {"elements": [["icon", "@x"], ["a_", [["b", "1"]]]]}


@pytest.mark.parametrize(
    "text",
    [
        file_of(function_of("<description><![CDATA[Edits the <manifest> and <resources>]]></description>")),
        f"\ufeff<?xml version='1.0'?>\n<!-- <manifest> -->\n{file_of()}",
        f"<functions>{function_of()}</functions>",
        f"<version>1</version>{file_of()}",
        "<AppFunctionAppMetadata/>",
        "<app-functions><function/></app-functions>",
        "<App_Functions/>",
        "<xs:schema><xs:documentType/></xs:schema>",
    ],
)
def test_a_file_is_known_by_its_elements(text: str) -> None:
    assert FORMAT.detect(SourceFile("any.xml", text.encode())) > 0


@pytest.mark.parametrize(
    "text",
    [
        "<manifest><!-- <appfunctions> --></manifest>",
        "<?xml version='1.0'?><resources><string name='a'><![CDATA[<appfunction>]]></string></resources>",
        '{"description": "Writes <appfunctions>"}',
        "Writes <appfunctions>",
        "",
    ],
)
def test_a_file_that_only_speaks_of_functions_is_none(text: str) -> None:
    assert FORMAT.detect(SourceFile("any.xml", text.encode())) == 0


def test_an_element_that_only_looks_like_a_function_is_named() -> None:
    declared = "<function><name>f</name></function>"
    context = ReadingContext()
    source = SourceFile("f.xml", file_of(declared, declared, function_of()).encode())
    (provider,) = FORMAT.read_file(source, context).providers
    assert len(provider.capabilities) == 1
    (finding,) = context.findings
    assert (finding.code, finding.pointer) == ("unread-tag", "/appfunctions/function[1]")
    assert finding.message == "<function> is not a function, so Android does not read it (2 times)"


def test_a_misspelled_root_element_is_an_error_that_names_the_right_one() -> None:
    source = SourceFile("f.xml", b"<app-functions><function/></app-functions>")
    with pytest.raises(InputError, match="<app-functions> is not an AppFunctions file") as caught:
        FORMAT.read_file(source, ReadingContext())
    assert caught.value.hint is not None
    assert "<appfunctions>" in caught.value.hint


def test_an_unknown_element_is_kept_with_what_is_in_it() -> None:
    text = file_of("<meta><author>x</author><group><since>2</since></group></meta>", function_of())
    provider = only(read_text(text))
    meta = ["meta", [["author", "x"], ["group", [["since", "2"]]]]]
    assert facts_of(provider) == {"rootElements": [meta]}
    written = write_in(provider, "v2").artifacts[0].text
    assert only(read_text(written)).extensions == provider.extensions


def test_text_in_sections_and_around_comments_is_one_text() -> None:
    said = "<description>a <![CDATA[<b> & ]]><!-- not this -->c</description>"
    assert only_function(file_of(function_of(said))).description == "a <b> & c"


def test_a_file_that_is_none_of_ours_is_refused() -> None:
    with pytest.raises(InputError, match="<manifest> is not an AppFunctions file"):
        read_text("<manifest/>")
