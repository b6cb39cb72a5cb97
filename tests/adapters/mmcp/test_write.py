"""What is written: the manifest of the specification, exactly, and nothing lost when it is read again."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from adapters.mmcp.mmcp_apps import (
    GREET,
    application,
    artifact,
    component_xml,
    manifest_of,
    only,
    read_app,
    read_back,
    read_json,
    value_xml,
)
from conftest import Golden
from droidgate_android.projects.android_project import application_from_tree
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType, OpaqueType, ScalarType, Type
from droidgate_mmcp.format import FORMAT
from droidgate_mmcp.write import fit, fitting_tools
from mappings.fit.capacities import facts_of, write_for
from mappings.text.compiled_with_aapt2 import compile_application, elements_of_xml
from model_types import int32, one_of, optional, record, required, string
from properties.matching import assert_findings_match, assert_same_declaration
from strategies import NAMES, TEXTS
from titled_rows import titled

DIALECTS = ("1.0", "draft", "broadcast")
STATIC = ("1.0", "draft")


def write(provider: Provider, dialect: str) -> Writing:
    return write_for(provider, f"mmcp+{dialect}")


def provider_of(*capabilities: Capability, **fields: str) -> Provider:
    return Provider(protocol="test", package="com.example.app", capabilities=capabilities, **fields)  # type: ignore[arg-type]


TAKEN = record(
    {
        "file": required(string(description="Where it lies")),
        "what": optional(string(enum=("text", "pictures"))),
    }
)
DOCUMENTS = provider_of(
    Capability(
        id="read_document",
        description="Gets text or pictures out of a document",
        input=TAKEN,
        output=record({"pages": required(int32())}),
    ),
    name="Documents",
    instructions="Reads documents",
)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_written_app_is_as_its_golden_files(dialect: str, golden: Golden) -> None:
    for item in write(DOCUMENTS, dialect).artifacts:
        golden(f"mmcp/{dialect}/{item.path}", item.text)


def test_the_json_is_as_section_2_has_it() -> None:
    manifest = json.loads(artifact(write(DOCUMENTS, "1.0"), "mmcp_manifest.json"))
    pages = '{"pages":{"format":"int32","type":"integer"}}'
    returns = f'{{"properties":{pages},"required":["pages"],"type":"object"}}'
    what = {"type": "string", "enum": ["text", "pictures"]}
    properties = {"file": {"type": "string", "description": "Where it lies"}, "what": what}
    parameters = {"type": "object", "required": ["file"], "properties": properties}
    tool = {
        "name": "read_document",
        "description": f"Gets text or pictures out of a document [Returns: {returns}]",
        "parameters": parameters,
    }
    assert manifest == {"instructions": "Reads documents", "protocolVersion": "1.0", "tools": [tool]}


@pytest.mark.parametrize("output", [
    pytest.param(OpaqueType(class_name="android.app.PendingIntent", nullable=True), id="an opaque output"),
    pytest.param(AnyType(nullable=True), id="an output of any type"),
    pytest.param(ScalarType(kind="string", nullable=True), id="a text"),
])  # fmt: skip
@pytest.mark.parametrize("dialect", ["1.0", "broadcast"])
def test_the_description_of_a_tool_says_that_its_output_may_be_null(output: Type, dialect: str) -> None:
    writing = write(DOCUMENTS.changed({"capabilities": (Capability(id="a", output=output),)}), dialect)
    assert "null" in str(writing.provider.capabilities[0].description)


def test_the_json_is_as_the_draft_has_it() -> None:
    manifest = json.loads(artifact(write(DOCUMENTS, "draft"), "mmcp_manifest.json"))
    (tool,) = manifest.pop("tools")
    assert manifest == {"appDescription": "Reads documents", "protocolVersion": "1.0"}
    assert tool["return"] == {"pages": "Int"}
    assert tool["description"] == "Gets text or pictures out of a document"


def test_a_broadcast_answers_as_goose_mobile_reads_it() -> None:
    answer = json.loads(artifact(write(DOCUMENTS, "broadcast"), "mmcp_discovery.json"))
    description = answer.pop("read_document.description")
    assert "Where it lies" in description
    assert "pictures" in description
    assert json.loads(answer.pop("read_document.parameters")) == {"file": "string", "what": "string"}
    assert answer == {"tools": ["read_document"]}


OWN_FILES: dict[str, Json] = {
    "a file with an author": manifest_of(GREET, author="me"),
    "a newer version with any parameters": manifest_of({**GREET, "parameters": {}}, protocolVersion="1.2"),
    "types and icons of another spelling":
        manifest_of({"name": "a", "icon": [1, None]},
            {"name": "b", "parameters": {"x": "STRING", "y": "list"}}),
    "parameters as a schema":
        {"tools": [{**GREET, "parameters": True}, {**GREET, "name": "b", "parameters": {"type": "object"}}]},
    "a file with both texts about the app": {"appDescription": "a", "instructions": "b", "tools": [GREET]},
    "a file with a tool's return values":
        {"instructions": "b", "tools": [{**GREET, "return": {"a": "text", "b": "Date", "c": "Boolean"}}]},
    "a text as return value": {"tools": [{**GREET, "parameters": {"type": "object"}, "return": "Text"}]},
    "a file of the draft with an empty return":
        {"appDescription": "a", "tools": [{**GREET, "parameters": {}, "return": {}}]},
}  # fmt: skip


@titled("value", OWN_FILES)
def test_json_that_was_read_is_written_again_as_it_was(value: Json) -> None:
    provider = only(read_json(value))
    writing = write(provider, provider.dialect or "")
    assert not writing.findings
    assert [item.path for item in writing.artifacts] == ["mmcp_manifest.json"]
    expected = {"protocolVersion": "1.0", **value}
    for tool in expected["tools"]:
        assert tool.get("parameters") is not None or "parameters" not in tool
    assert json.loads(writing.artifacts[0].text) == expected
    assert_same_declaration(provider, only(read_json(writing.artifacts[0].text)))


CLOSED = 'android:exported="false" android:permission="a.b" android:enabled="false" android:label="@@"'


@titled("value", OWN_FILES)
@pytest.mark.parametrize("element", ["activity", "service"])
def test_an_app_that_was_read_is_written_again_as_it_was(value: Json, element: str) -> None:
    component = component_xml(value_xml(value), element=element, attributes=CLOSED)
    provider = only(read_app(application(component)))
    writing = write(provider, provider.dialect or "")
    assert not writing.findings
    text = artifact(writing, "AndroidManifest.xml")
    for attribute in (f"<{element}", 'exported="false"', 'permission="a.b"', 'enabled="false"'):
        assert attribute in text
    inner = text.partition("<application>")[2].partition("</application>")[0]
    assert_same_declaration(provider, only(read_app(application(inner))))


@titled("value", OWN_FILES)
def test_the_other_dialect_writes_its_own_forms(value: Json) -> None:
    provider = only(read_json(value))
    target = "1.0" if provider.dialect == "draft" else "draft"
    writing = write(provider, target)
    assert_findings_match(provider, writing)
    (document,) = writing.artifacts
    read = only(read_json(document.text, strict=True))
    assert read.dialect == target
    assert_same_declaration(writing.provider, read)


@titled("taken", {
    "any value": AnyType(), "true": AnyType(boolean=True), "false": AnyType(boolean=False),
    "an unknown keyword": AnyType(keywords={"location": "string"}),
    "a map of schemas": AnyType(keywords={"txHash": {"type": "string"}}),
    "a string": string(), "an integer": int32(), "an array": ArrayType(), "an object": ObjectType(),
    "an implicit object": ObjectType(implicit=True),
    "a property named properties": record({"properties": optional(string())}),
})  # fmt: skip
@pytest.mark.parametrize("dialect", STATIC)
def test_no_schema_is_taken_for_a_flat_or_empty_map(taken: Type, dialect: str) -> None:
    provider = provider_of(Capability(id="a", description="b", input=taken), component=".Tools")
    own = provider.model_copy(update={"protocol": "mmcp", "dialect": dialect, "instructions": "Greets"})
    own = own.model_copy(update={"description": "Greets"}) if dialect == "draft" else own
    assert read_back(write(own, dialect)).capabilities[0].input == taken


def test_a_schema_of_another_format_says_that_it_is_an_object() -> None:
    either = one_of(ObjectType(), record({"a": optional(AnyType())}))
    writing = write(provider_of(Capability(id="a", description="b", input=either)), "1.0")
    (tool,) = json.loads(artifact(writing, "mmcp_manifest.json"))["tools"]
    assert tool["parameters"]["type"] == "object"
    assert facts_of(writing)["/capabilities/0/input/keywords/type"][1] is Level.RENAMED


def test_what_the_source_leaves_out_is_filled_in_and_reported() -> None:
    writing = write(provider_of(Capability(id="a")), "1.0")
    manifest = json.loads(artifact(writing, "mmcp_manifest.json"))
    assert manifest["instructions"] == "Tools of com.example.app"
    assert manifest["tools"] == [{"name": "a", "description": "a", "parameters": {"type": "object"}}]
    levels = {pointer: level for pointer, (_, level) in facts_of(writing).items()}
    places = ("/instructions", "/component", "/capabilities/0/description")
    assert levels == dict.fromkeys(places, Level.DEFAULTED)


def test_a_name_of_another_format_becomes_what_a_language_model_takes() -> None:
    writing = write(provider_of(Capability(id="com.example.Notes#create", description="b")), "1.0")
    assert writing.provider.capabilities[0].id == "com_example_Notes_create"
    names = [(name.original, name.written) for name in writing.names if "/capabilities" in name.pointer]
    assert names == [("com.example.Notes#create", "com_example_Notes_create")]


def test_a_dialect_that_is_not_written_is_refused() -> None:
    assert FORMAT.write is not None
    unwritten = FORMAT.dialect("1.0").model_copy(update={"capacity": None})
    with pytest.raises(WriteError, match="only read"):
        FORMAT.write(DOCUMENTS, unwritten)


def test_numbers_are_written_digit_for_digit() -> None:
    exact = Decimal("0.1000000000000000000000000000001")
    input_type = ObjectType(keywords={"default": {"a": exact, "b": [10**30, 1e300], "c": {}}})
    writing = write(provider_of(Capability(id="a", input=input_type)), "1.0")
    for item in writing.artifacts:
        assert str(exact) in item.text
        assert str(10**30) in item.text
    assert read_back(writing).capabilities[0].input == input_type


@titled(("provider", "place", "written", "codes"), {
    "a description keeps them as escapes of JSON":
        (provider_of(Capability(id="a", description="\x00 and \uffff")), "/capabilities/0/description",
        "\x00 and \uffff", set()),
    "a name gets replacements": (provider_of(name="zero \x00 half \udfff"), "/name",
        "zero \ufffd half \ufffd", {"characters-replaced"}),
})  # fmt: skip
def test_characters_that_xml_cannot_hold_are_escaped_or_replaced(
    provider: Provider, place: str, written: str, codes: set[str]
) -> None:
    writing = write(provider, "1.0")
    assert {item.code for item in writing.findings if item.pointer == place} == codes
    for item in writing.artifacts:
        item.text.encode()
    for side in (writing.provider, read_back(writing)):
        assert (side.name if place == "/name" else side.capabilities[0].description) == written


def provider_with_manifest_of(length: int, dialect: str, filler: str = "x") -> Provider:
    """Return a provider whose manifest has this many UTF-16 units."""
    shortest = len(meta_data(write(provider_of(Capability(id="a", description="x")), dialect))) - 1
    count, rest = divmod(length - shortest - 1, len(filler.encode("utf-16-le")) // 2)
    return provider_of(Capability(id="a", description=filler * count + "x" * (rest + 1)))


def meta_data(writing: Writing) -> str:
    tree = {"AndroidManifest.xml": artifact(writing, "AndroidManifest.xml").encode()}
    (component,) = application_from_tree(tree).of_kind("activity")
    meta_data = component.find_meta_data("mMCP_manifest")
    assert meta_data is not None
    assert isinstance(meta_data.value, str)
    return meta_data.value


@pytest.mark.parametrize("dialect", STATIC)
@pytest.mark.parametrize("filler", ["x", "😀", '"', "\n"])
def test_a_manifest_is_written_up_to_the_length_that_android_15_takes(dialect: str, filler: str) -> None:
    escaped = {'"': '\\"', "\n": "\\n"}.get(filler, filler)
    room = provider_with_manifest_of(32_768, dialect, escaped)
    text = room.capabilities[0].description or ""
    longest = provider_of(Capability(id="a", description=text.replace(escaped, filler)))
    stored = meta_data(write(longest, dialect))
    assert len(stored.encode("utf-16-le")) == 2 * 32_768
    longer = provider_of(Capability(id="a", description=f"{longest.capabilities[0].description}x"))
    with pytest.raises(WriteError, match=r"'value' of <meta-data> mMCP_manifest has 32,769 char") as raised:
        write(longer, dialect)
    assert "Android 15 and later refuse" in raised.value.message
    assert "several activities" in (raised.value.hint or "")


def test_a_manifest_alone_and_a_broadcast_answer_may_be_longer() -> None:
    alone = only(read_json(manifest_of({**GREET, "description": "x" * 40_000})))
    assert read_back(write(alone, "1.0")).capabilities == write(alone, "1.0").provider.capabilities
    assert write(provider_of(Capability(id="a", description="x" * 40_000)), "broadcast").artifacts


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_that_no_newer_release_takes_is_refused(dialect: str) -> None:
    assert write(provider_of(name="n" * 32_768), dialect).provider.name == "n" * 32_768
    with pytest.raises(WriteError, match="'label' of <"):
        write(provider_of(name="n" * 32_769), dialect)


@pytest.mark.parametrize("dialect", STATIC)
def test_the_tools_that_fit_are_the_first_ones_and_smaller_ones_after_one_that_does_not(dialect: str) -> None:
    sizes = (10_000, 10_000, 40_000, 10_000, 10_000, 100)
    tools = [Capability(id=f"t{at}", description="x" * size) for at, size in enumerate(sizes)]
    fitted = fit(provider_of(*tools), FORMAT.dialect(dialect)).provider
    assert fitting_tools(fitted) == (0, 1, 3, 5)
    full = provider_with_manifest_of(32_768, dialect).capabilities[0]
    for description, fits in ((full.description, (0,)), (f"{full.description}x", ())):
        item = provider_of(Capability(id="a", description=description))
        assert fitting_tools(fit(item, FORMAT.dialect(dialect)).provider) == fits
    assert meta_data(write(provider_of(*(tools[at] for at in (0, 1, 3, 5))), dialect))


# Android's own compiler takes what is written, and a device sees the JSON that was meant

COMPILED = pytest.mark.requires("aapt2", "framework-res")
HOSTILE = (
    *(text for text in TEXTS if text.strip()),
    "all \"quotes\" and 'apostrophes'", "C:\\new\\table\\u0041", "\U0001f600\U0001f468\u200d\U0001f469",
    "first\nsecond\r\n\tthird", "@string/app_name", "?attr/x", "100% ${applicationId} %1$s",
    "half a pair \ud83d alone",
)  # fmt: skip


def provider_of_text(text: str) -> Provider:
    properties = {name: optional(string(description=text)) for name in NAMES}
    # As read from mMCP, so that ids stay what they are.
    tool = Capability(id=text, description=text, input=record(properties))
    provider = provider_of(tool, component=".MmcpToolActivity", name=text, instructions=text)
    return provider.changed({"protocol": "mmcp", "dialect": "1.0"})


def compiled(text: str, dialect: str, folder: Path) -> tuple[list[tuple[str, dict[str, Json]]], Writing]:
    writing = write(provider_of_text(text), dialect)
    strings = '<resources><string name="x">x</string></resources>'
    files = {"AndroidManifest.xml": artifact(writing, "AndroidManifest.xml"), "res/values/s.xml": strings}
    elements = [
        (name, {key: value.in_a_bundle() for key, value in attributes.items()})
        for name, attributes in elements_of_xml(compile_application(files, folder)["AndroidManifest.xml"])
        if name in {"activity", "service", "receiver", "action", "category", "meta-data"}
    ]
    return elements, writing


@COMPILED
@pytest.mark.parametrize(("dialect", "key"), [("1.0", "instructions"), ("draft", "appDescription")])
@pytest.mark.parametrize("text", HOSTILE, ids="{:.60}".format)
def test_the_compiled_value_is_the_json_that_was_meant(
    text: str, dialect: str, key: str, tmp_path: Path
) -> None:
    elements, writing = compiled(text, dialect, tmp_path)
    (value,) = [item["value"] for name, item in elements if name == "meta-data"]
    manifest = json.loads(value)
    assert manifest == json.loads(artifact(writing, "mmcp_manifest.json"))
    (tool,) = manifest["tools"]
    assert (manifest[key], tool["name"], tool["description"]) == (text, text, text)
    descriptions = {name: item["description"] for name, item in tool["parameters"]["properties"].items()}
    assert descriptions == dict.fromkeys(NAMES, text)


@COMPILED
@titled(("dialect", "expected"), {
    "an activity of 1.0": ("1.0", [
        ("activity", ".MmcpToolActivity"),
        ("action", "com.example.mMCP.ACTION_TOOL_ADVERTISE"),
        ("action", "com.example.mMCP.ACTION_TOOL_CALL"),
        ("category", "android.intent.category.DEFAULT"),
        ("meta-data", "mMCP_manifest"),
    ]),
    "a receiver of broadcasts": ("broadcast", [
        ("receiver", ".MmcpToolReceiver"),
        ("action", "com.example.ACTION_MMCP_DISCOVERY"),
        ("action", "com.example.ACTION_MMCP_INVOKE"),
    ]),
})  # fmt: skip
def test_the_compiled_component_is_as_sections_2_and_3_ask(
    dialect: str, expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    elements, _ = compiled("Greets", dialect, tmp_path)
    assert [(name, attributes["name"]) for name, attributes in elements] == expected
    assert elements[0][1]["exported"] is True
