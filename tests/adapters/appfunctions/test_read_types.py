"""Each of the fourteen type numbers, typed by hand from reference 2.c, and what else a data type says."""

import pytest
from lxml import etree

from adapters.appfunctions.function_files import (
    artifact,
    components_of,
    definition_of,
    facts_of,
    file_of,
    function_of,
    only,
    parameter_of,
    read_text,
    read_type_of,
    typed,
    write_in,
)
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
    properties_of,
    ref,
    required,
    string,
)

INT = typed("", 7)
NAMED = "<objectQualifiedName>a.B</objectQualifiedName>"
NAME = (
    "<properties><dataTypeMetadata>"
    + typed("<description>Who</description>", 8)
    + "</dataTypeMetadata><id>unused</id><name>name</name></properties>"
)


@pytest.mark.parametrize(
    ("inner", "number", "expected"),
    [
        ("", 0, null()),
        ("", 1, boolean()),
        ("", 2, binary()),
        (
            f"<objectQualifiedName>a.B</objectQualifiedName>{NAME}<required>name</required>",
            3,
            ObjectType(qualified_name="a.B", properties={"name": required(string(description="Who"))}),
        ),
        ("", 4, float64()),
        ("", 5, float32()),
        ("", 6, int64()),
        ("", 7, int32()),
        ("", 8, string()),
        (f"<itemType>{INT}</itemType>", 10, array(int32())),
        ("<dataTypeReference>a.B$C&lt;D?&gt;</dataTypeReference>", 11, ref("a.B$C<D?>")),
        (
            f"<allOf>{INT}</allOf><objectQualifiedName>a.B</objectQualifiedName>",
            12,
            all_of(int32(), qualified_name="a.B"),
        ),
        (
            "<objectQualifiedName>android.app.PendingIntent</objectQualifiedName>",
            13,
            OpaqueType(class_name="android.app.PendingIntent"),
        ),
        ("", 13, OpaqueType()),
        (
            f"<oneOf>{INT}</oneOf><oneOf>{typed('', 8)}</oneOf>{NAMED}",
            14,
            one_of(int32(), string(), qualified_name="a.B"),
        ),
    ],
)
def test_each_type_number_is_the_type_that_jetpack_gives_it(inner: str, number: int, expected: Type) -> None:
    assert read_type_of(typed(inner, number)) == expected
    nullable = expected.model_copy(update={"nullable": True})
    assert read_type_of(typed(inner, number, nullable=True)) == nullable


def test_the_items_of_a_list_are_nullable_by_themselves() -> None:
    kept = read_type_of(typed(f"<itemType>{typed('', 8, nullable=True)}</itemType>", 10))
    assert kept == array(string(nullable=True))


def test_enum_values_are_strings_of_a_string_and_integers_of_an_int() -> None:
    values = "<enumValues>0</enumValues><enumValues>1</enumValues>"
    assert read_type_of(typed(values, 8)) == string(enum=("0", "1"))
    assert read_type_of(typed(values, 7)) == int32(enum=(0, 1))


def test_enum_values_of_another_type_are_kept_as_they_are() -> None:
    kept = read_type_of(typed("<enumValues>1</enumValues>", 6))
    assert kept.enum is None
    assert facts_of(kept) == {"typeElements": [["enumValues", "1"]]}


def test_pattern_and_format_of_a_string_are_read() -> None:
    kept = read_type_of(typed("<pattern>^[a-z]+$</pattern><format>custom</format>", 8))
    assert kept == string(pattern="^[a-z]+$", format="custom")


@pytest.mark.parametrize(
    ("value", "number", "expected"),
    [
        ("a.b", 0, r"^a\.b$"),
        ("https://", 1, r"^https:\/\/[\s\S]*$"),
        ("a.*b", 2, r"^a[\s\S]*b$"),
        ("[a-c]+x{2,3}", 3, "^[a-c]+x{2,3}$"),
        (".pdf", 4, r"^[\s\S]*\.pdf$"),
    ],
)
def test_a_pattern_document_is_the_expression_it_means_and_is_kept(
    value: str, number: int, expected: str
) -> None:
    document = f"<patterns><id>unused</id><value>{value}</value><type>{number}</type></patterns>"
    kept = read_type_of(typed(document, 8))
    assert kept.pattern == expected
    assert facts_of(kept) == {"patterns": [{"value": value, "type": number}]}


def test_several_pattern_documents_are_alternatives() -> None:
    documents = "".join(
        f"<patterns><id>unused</id><value>{value}</value><type>0</type></patterns>" for value in ("a", "b")
    )
    assert read_type_of(typed(documents, 8)).pattern == "^(?:a|b)$"


def test_a_pattern_document_of_an_unknown_kind_gives_no_expression() -> None:
    document = "<patterns><id>unused</id><value>a</value><type>9</type></patterns>"
    kept = read_type_of(typed(document, 8))
    assert kept.pattern is None
    assert facts_of(kept) == {"otherPatterns": [{"value": "a", "type": 9}]}


@pytest.mark.parametrize(("tag", "number"), [("allOf", 12), ("oneOf", 14)])
def test_a_member_is_never_nullable_and_its_stated_flag_comes_back(tag: str, number: int) -> None:
    members = "".join(
        f"<{tag}>{flag}<id>unused</id><type>7</type></{tag}>"
        for flag in ("<isNullable>true</isNullable>", "<isNullable>false</isNullable>", "")
    )
    name = "<objectQualifiedName>a.B</objectQualifiedName>"
    text = file_of(function_of(parameter_of(typed(members + name, number, nullable=True))))
    (capability,) = only(read_text(text)).capabilities
    kept = properties_of(capability.input)["p"].type
    assert isinstance(kept, AllOfType | OneOfType)
    parts = kept.members if isinstance(kept, AllOfType) else kept.alternatives
    assert kept.nullable
    assert [part.nullable for part in parts] == [False, False, False]
    assert [facts_of(part) for part in parts] == [{"isNullable": True}, {}, {"isNullable": None}]
    written = artifact(write_in(only(read_text(text)), "v2"), "document")
    flags = etree.fromstring(written.encode()).xpath(f"//{tag}/isNullable/text()")
    assert flags == ["true", "false"]


def test_components_are_definitions_whose_own_nullability_says_nothing() -> None:
    recursive = typed(
        "<objectQualifiedName>a.B</objectQualifiedName><properties><dataTypeMetadata>"
        + typed("<dataTypeReference>a.B</dataTypeReference>", 11, nullable=True)
        + "</dataTypeMetadata><id>unused</id><name>next</name></properties><required>next</required>",
        3,
        nullable=True,
    )
    reference = typed("<dataTypeReference>a.B</dataTypeReference>", 11, nullable=True)
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
    kept = read_type_of(typed(f"{NAME}<required>gone</required><required>name</required>", 3))
    assert kept.properties["name"].required  # type: ignore[union-attr]
    assert facts_of(kept) == {"required": ["gone", "name"]}


def test_document_ids_and_unknown_elements_are_kept_where_they_are() -> None:
    kept = "<id>seven</id><isNullable>false</isNullable><type>7</type><minimum>1</minimum>"
    text = file_of(function_of(parameter_of(kept, after="<unit><name>m</name></unit>")))
    (capability,) = only(read_text(text, strict=False)).capabilities
    part = properties_of(capability.input)["p"]
    assert part.extensions == {"appfunctions": {"partElements": [["unit", [["name", "m"]]]]}}
    assert facts_of(part.type) == {"id": "seven", "typeElements": [["minimum", "1"]]}


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("<id>unused</id><isNullable>false</isNullable><type>many</type>", "not a 64-bit integer"),
        (typed("<description>of <b>weight</b></description>", 8), "<description> holds the element <b>"),
        (typed("<enumValues>a<br/>b</enumValues>", 8), "<enumValues> holds the element <br>"),
        ("<id>unused</id><isNullable><yes/></isNullable><type>8</type>", "<isNullable> holds the element"),
        ("<id>unused</id><isNullable>true</isNullable><type>8<x/></type>", "<type> holds the element <x>"),
    ],
)
def test_a_value_for_which_android_drops_the_file_is_refused_with_its_line(kept: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_type_of(kept, strict=False)
    assert said in caught.value.message
    assert caught.value.place == "assets/f.xml:1"
    assert caught.value.hint


def test_types_nested_without_end_are_refused() -> None:
    kept = INT
    for _ in range(80):
        kept = typed(f"<itemType>{kept}</itemType>", 10)
    with pytest.raises(BudgetError, match="64 levels"):
        read_type_of(kept)
