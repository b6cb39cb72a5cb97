"""The schema next to a functions file: read as Android's parser reads it (reference 2.f), and kept."""

import pytest
from hypothesis import given, strategies as st

from adapters.appfunctions.function_files import (
    artifact,
    facts_of,
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
from droidgate_android.app_search import events, schemas as indexer
from droidgate_appfunctions.schema import parse_schema, write_schema_file
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.xml_text import parse_xml
from titled_rows import titled

OWN = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:documentType name="AppFunctionStaticMetadata">
        <xs:element name="functionId" type="xs:string" cardinality="2" indexingType="1" tokenizerType="2" />
        <xs:element name="inner" cardinality="1" type="appfn:Inner" shouldIndexNestedProperties="true" />
        <xs:element name="functionId" type="xs:long" />
    </xs:documentType>
    <xs:documentType name="Inner">
        <xs:element name="value" type="xs:int" indexingType="0" />
    </xs:documentType>
</xs:schema>"""
READ = {
    "AppFunctionStaticMetadata": {
        "functionId": {"type": "xs:string", "indexingType": 1, "tokenizerType": 2},
        "inner": {"type": "appfn:Inner", "cardinality": 1, "shouldIndexNestedProperties": True},
    },
    "Inner": {"value": {"type": "xs:int"}},
}
ARTICLE = [
    *((name, "xs:string", {"indexingType": 1, "tokenizerType": 2})
      for name in ("functionId", "packageName", "schemaName")),
    ("schemaVersion", "xs:long", {"indexingType": 1}),
    ("schemaCategory", "xs:string", {"indexingType": 1, "tokenizerType": 2}),
    ("enabledByDefault", "xs:boolean", {}), ("restrictCallersWithExecuteAppFunctions", "xs:boolean", {}),
    ("displayNameStringRes", "xs:long", {}),
    ("mobileApplicationQualifiedId", "xs:string", {"joinableValueType": 1}),
    ("paramNames", "xs:string", {"cardinality": 1}), ("paramTypes", "xs:string", {"cardinality": 1}),
    ("paramRequired", "xs:boolean", {"cardinality": 1}), ("description", "xs:string", {}),
]  # fmt: skip
"""The schema of the article, section 4.1; its cardinality 2 is the default."""


def in_a_package(text: str) -> Provider:
    return only(read_text(text, strict=False)).model_copy(update={"package": "a.b"})


def test_a_schema_is_read_as_androids_parser_reads_it() -> None:
    assert parse_schema(OWN, "s.xsd") == READ


@pytest.mark.parametrize(("old", "new", "message"), [
    ("xs:int", "xs:double", "has the type 'xs:double'"),
    ('cardinality="1"', 'cardinality="one"', "cardinality is 'one'"),
    ('name="value"', 'name="a_value"', "letters and digits"),
    ('name="Inner"', 'name="Other"', "uses the type Inner and does not declare it"),
    ('"AppFunctionStaticMetadata"', '"Something"', "declares no AppFunctionStaticMetadata"),
    ('<xs:documentType name="Inner">', "<xs:documentType>", "does not declare it"),
])  # fmt: skip
def test_a_schema_that_android_rejects_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=r"s\.xsd") as caught:
        parse_schema(OWN.replace(old, new), "s.xsd")
    assert message in caught.value.message


def own(old: str, new: str) -> str:
    assert old in OWN
    return OWN.replace(old, new)


TYPE = '<xs:documentType name="T"/>'
END = "</xs:schema>"
DECLARATION = ' xmlns:xs="http://www.w3.org/2001/XMLSchema"'


@titled("text", {
    "no declaration of the prefix, since Android does not ask for one": own(DECLARATION, ""),
    "a number with a sign": own('cardinality="1"', 'cardinality="+1"'),
    "a letter that is not ASCII": own('name="value"', 'name="größe"'),
    "an element without a type, which is read over": own('type="xs:int" ', ""),
    "an attribute for tools": own(DECLARATION,
        f'{DECLARATION} xmlns:tools="http://schemas.android.com/tools"').replace('type="xs:int"',
        'type="xs:int" tools:ignore="x"'),
    "an attribute that Android does not know": own('type="xs:int"', 'type="xs:int" note="&lt;a&gt;"'),
    "a type that is declared again: the later one counts": own(END, f'<xs:documentType name="Inner"/>{END}'),
    "a type without a name, which is read over": own(END,
        f'<xs:documentType><xs:element name="a_b" type="xs:x"/></xs:documentType>{END}'),
})  # fmt: skip
def test_what_android_accepts_is_read_and_means_the_same_when_written_again(text: str) -> None:
    for_android = indexer.read_schema(text)
    again = write_schema_file(parse_schema(text, "s.xsd"))
    parse_xml(again)
    assert indexer.read_schema(again).types == for_android.types


@titled("text", {
    "another prefix, since Android looks for the letters xs": OWN.replace("xs:",
        "xsd:").replace("xmlns:xs=", "xmlns:xsd="),
    "no prefix": OWN.replace("<xs:", "<").replace("</xs:", "</").replace("xmlns:xs=", "xmlns="),
    "a cardinality that AppSearch does not have": own('cardinality="1"', 'cardinality="7"'),
    "blanks around a number": own('cardinality="1"', 'cardinality=" 1"'),
    "a number beyond 32 bits": own('cardinality="1"', 'cardinality="4294967297"'),
    "a tokenizer without indexing": own('indexingType="1" tokenizerType="2"', 'tokenizerType="2"'),
    "a repeated property that is joined by": own('cardinality="2" indexingType="1" tokenizerType="2"',
        'cardinality="1" joinableValueType="1"'),
    "more types than the indexer takes": own(END,
        "".join(f'<xs:documentType name="T{n}"/>' for n in range(20)) + END),
})  # fmt: skip
def test_what_android_rejects_neither_reader_takes(text: str) -> None:
    with pytest.raises(events.IndexerError):
        indexer.read_schema(text)
    with pytest.raises(InputError) as caught:
        parse_schema(text, "s.xsd")
    assert caught.value.hint == "Android rejects the whole schema for it"


TYPES = ["xs:string", "xs:long", "xs:boolean", "xs:double", "appfn:T", "appfn:U"]
NUMBERS = st.sampled_from(["0", "1", "2", "3", "4", "-1", "+1", "x", ""])
NUMBERED = ("cardinality", "indexingType", "tokenizerType", "joinableValueType")


@given(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["one", "two", "a_b", ""]), "type": st.sampled_from(TYPES)},
        optional=dict.fromkeys(NUMBERED, NUMBERS),
    )
)
def test_any_attributes_are_lossless_or_rejected(attributes: dict[str, str]) -> None:
    words = " ".join(f'{name}="{word}"' for name, word in attributes.items())
    functions = '<xs:documentType name="AppFunctionStaticMetadata">'
    text = f"<xs:schema>{functions}<xs:element {words}/></xs:documentType>{TYPE}</xs:schema>"
    try:
        for_android = indexer.read_schema(text)
    except events.IndexerError:
        with pytest.raises(InputError):
            parse_schema(text, "s.xsd")
        return
    schema = parse_schema(text, "s.xsd")
    again = write_schema_file(schema)
    assert indexer.read_schema(again).types == for_android.types
    assert parse_schema(again, "s.xsd") == schema


@titled("text", {"with a namespace": OWN, "without a namespace": OWN.replace(DECLARATION, "")})
def test_a_schema_file_by_itself_is_a_provider_without_functions(text: str) -> None:
    provider = only(read_text(text, "assets/s.xsd", strict=False))
    assert (provider.capabilities, facts_of(provider)) == ((), {"schema": READ})


def read_with(schema: str, *, strict: bool = True) -> Provider:
    """Read an app whose service names its functions file and a schema."""
    service = service_of(property_of("v2", "f.xml"), property_of("schema", "s.xsd"))
    files = {"assets/f.xml": file_of(function_of()), "assets/s.xsd": schema}
    return only(read_app(service, files=files, strict=strict))


def test_an_apps_own_schema_is_kept_and_written_again() -> None:
    provider = read_with(OWN, strict=False)
    assert facts_of(provider) == {"schema": READ}
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert parse_schema(artifact(writing, "schema"), "written") == READ


def test_the_schema_for_the_platform_is_that_of_the_article() -> None:
    text = file_of(
        "<AppFunctionStaticMetadata><id>f</id><functionId>f</functionId><paramNames>a</paramNames>"
        "<paramTypes>int</paramTypes><paramRequired>true</paramRequired></AppFunctionStaticMetadata>"
    )
    schema = artifact(write_in(in_a_package(text), "platform"), "schema")
    expected = {
        "AppFunctionStaticMetadata": {
            name: {"type": word, **attributes} for name, word, attributes in ARTICLE
        }
    }
    assert parse_schema(schema, "written") == expected
    assert [line.split('"')[1] for line in schema.splitlines() if "<xs:element" in line] == [
        name for name, _, _ in ARTICLE
    ]


def test_every_tag_that_is_written_is_in_the_schema() -> None:
    type_xml = typed("<pattern>^a$</pattern><minimum>1</minimum>", 8)
    writing = write_in(in_a_package(file_of(function_of(parameter_of(type_xml) + "<icon>x</icon>"))), "v2")
    schema = parse_schema(artifact(writing, "schema"), "written")
    data_type = schema["AppFunctionDataTypeMetadataDocument"]
    assert data_type["pattern"] == {"type": "xs:string"}
    for unknown in (data_type["minimum"], schema["AppFunctionStaticMetadata"]["icon"]):
        assert unknown == {"type": "xs:string", "cardinality": 1}


def test_the_usual_schema_needs_no_fact() -> None:
    usual = artifact(write_in(in_a_package(file_of(function_of())), "v2"), "schema")
    assert "pattern" not in parse_schema(usual, "w")["AppFunctionDataTypeMetadataDocument"]
    assert facts_of(read_with(usual)) == {}
