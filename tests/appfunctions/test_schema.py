"""The schema beside a functions file: read as Android's parser reads it (reference 2.f), and kept."""

import pytest

from appfunctions.function_files import (
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
from droidgate.model.capability import Provider
from droidgate.model.errors import InputError
from droidgate_appfunctions.schema import parse_schema

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
    ("functionId", "xs:string", {"indexingType": "1", "tokenizerType": "2"}),
    ("packageName", "xs:string", {"indexingType": "1", "tokenizerType": "2"}),
    ("schemaName", "xs:string", {"indexingType": "1", "tokenizerType": "2"}),
    ("schemaVersion", "xs:long", {"indexingType": "1"}),
    ("schemaCategory", "xs:string", {"indexingType": "1", "tokenizerType": "2"}),
    ("enabledByDefault", "xs:boolean", {}),
    ("restrictCallersWithExecuteAppFunctions", "xs:boolean", {}),
    ("displayNameStringRes", "xs:long", {}),
    ("mobileApplicationQualifiedId", "xs:string", {"joinableValueType": "1"}),
    ("paramNames", "xs:string", {"cardinality": "1"}),
    ("paramTypes", "xs:string", {"cardinality": "1"}),
    ("paramRequired", "xs:boolean", {"cardinality": "1"}),
    ("description", "xs:string", {}),
]
"""The schema of the article, section 4.1; its cardinality 2 is the default."""


def in_a_package(text: str) -> Provider:
    return only(read_text(text)).model_copy(update={"package": "a.b"})


def test_a_schema_is_read_as_androids_parser_reads_it() -> None:
    assert parse_schema(OWN, "s.xsd") == READ


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("xs:int", "xs:double", "unknown type 'xs:double'"),
        ('cardinality="1"', 'cardinality="one"', "'one', which is no number"),
        ('name="value"', 'name="a_value"', "letters and digits"),
        ('name="Inner"', 'name="Other"', "does not define"),
        ('"AppFunctionStaticMetadata"', '"Something"', "has no AppFunctionStaticMetadata"),
        ('<xs:documentType name="Inner">', "<xs:documentType>", "without a name"),
    ],
)
def test_a_schema_that_android_rejects_is_refused(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=r"s\.xsd:") as caught:
        parse_schema(OWN.replace(old, new), "s.xsd")
    assert said in caught.value.message


def test_an_apps_own_schema_is_kept_and_written_again() -> None:
    service = service_of(property_of("v2", "f.xml"), property_of("schema", "s.xsd"))
    files = {"assets/f.xml": file_of(function_of()), "assets/s.xsd": OWN}
    provider = only(read_app(service, files=files))
    assert facts_of(provider) == {"schema": READ}
    writing = write_in(provider, "v2")
    assert writing.findings == ()
    assert parse_schema(artifact(writing, "schema"), "written") == READ


def test_a_schema_file_by_itself_is_a_provider_without_functions() -> None:
    provider = only(read_text(OWN, "assets/s.xsd"))
    assert (provider.capabilities, facts_of(provider)) == ((), {"schema": READ})


def test_the_platforms_schema_is_the_articles() -> None:
    text = file_of(
        "<AppFunctionStaticMetadata><id>f</id><functionId>f</functionId><paramNames>a</paramNames>"
        "<paramTypes>int</paramTypes><paramRequired>true</paramRequired></AppFunctionStaticMetadata>"
    )
    schema = artifact(write_in(in_a_package(text), "platform"), "schema")
    expected = {
        "AppFunctionStaticMetadata": {
            name: {"type": word, **{key: int(value) for key, value in attributes.items()}}
            for name, word, attributes in ARTICLE
        }
    }
    assert parse_schema(schema, "written") == expected
    assert [line.split('"')[1] for line in schema.splitlines() if "<xs:element" in line] == [
        name for name, _, _ in ARTICLE
    ]


def test_every_tag_that_is_written_is_in_the_schema() -> None:
    held = typed("<pattern>^a$</pattern><minimum>1</minimum>", 8)
    writing = write_in(in_a_package(file_of(function_of(parameter_of(held) + "<icon>x</icon>"))), "v2")
    schema = parse_schema(artifact(writing, "schema"), "written")
    data_type = schema["AppFunctionDataTypeMetadataDocument"]
    assert data_type["pattern"] == {"type": "xs:string"}
    assert (
        data_type["minimum"]
        == schema["AppFunctionStaticMetadata"]["icon"]
        == {
            "type": "xs:string",
            "cardinality": 1,
        }
    )


def test_the_usual_schema_needs_no_fact() -> None:
    writing = write_in(in_a_package(file_of(function_of())), "v2")
    assert (
        "pattern" not in parse_schema(artifact(writing, "schema"), "w")["AppFunctionDataTypeMetadataDocument"]
    )
    service = service_of(property_of("v2", "f.xml"), property_of("schema", "s.xsd"))
    files = {"assets/f.xml": file_of(function_of()), "assets/s.xsd": artifact(writing, "schema")}
    assert facts_of(only(read_app(service, files=files))) == {}
