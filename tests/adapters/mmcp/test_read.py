"""Manifests in JSON, the components that advertise them, and what is read leniently or refused."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.mmcp.mmcp_apps import (
    ADVERTISE,
    CALL,
    GREET,
    application,
    artifact,
    component_xml,
    manifest_of,
    only,
    read_app,
    read_json,
    rows_of,
    value_xml,
)
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import ComponentAccess, Place
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType
from droidgate_mmcp.discovery import read_discovery
from droidgate_mmcp.format import FORMAT
from mappings.fit.capacities import facts_of, write_for
from model_types import int32, optional, record, required, string
from strategies import json_values
from titled_rows import titled

# Keys and nesting as in the manifest sample of the specification, section 2; the words are our own.
SECTION_2 = """
{
  "instructions": "Reads documents",
  "tools": [
    {
      "name": "read_document",
      "description": "Gets text or pictures out of a document",
      "parameters": {
        "type": "object",
        "required": ["file", "what"],
        "properties": {
          "file": {"type": "string", "description": "Where it lies"},
          "what": {"type": "string", "enum": ["text", "pictures"], "description": "What to get"}
        }
      }
    }
  ]
}
"""

# Keys as in the manifest sample of the draft.
DRAFT_SAMPLE = """
{
  "appDescription": "Says hello",
  "protocolVersion": "1.0",
  "tools": [
    {"name": "hello", "description": "Says hello", "parameters": {}, "return": {"message": "String"}}
  ]
}
"""


def test_the_sample_of_section_2_is_read_without_a_finding() -> None:
    reading = read_json(SECTION_2, strict=True)
    assert not reading.findings
    provider = only(reading)
    assert (provider.protocol, provider.dialect) == ("mmcp", "1.0")
    assert (provider.instructions, provider.description) == ("Reads documents", None)
    (tool,) = provider.capabilities
    assert (tool.id, tool.description) == ("read_document", "Gets text or pictures out of a document")
    what = string(enum=("text", "pictures"), description="What to get")
    file = string(description="Where it lies")
    assert tool.input == record({"file": required(file), "what": required(what)})
    assert tool.output is None
    assert tool.source is not None
    assert (tool.source.path, tool.source.inner) == ("tools.json", "/tools/0")
    assert provider.extensions == tool.extensions == {}


def test_the_sample_of_the_draft_is_read_without_a_finding() -> None:
    reading = read_json(DRAFT_SAMPLE, strict=True)
    assert not reading.findings
    provider = only(reading)
    assert provider.dialect == "draft"
    assert (provider.instructions, provider.description) == (None, "Says hello")
    (tool,) = provider.capabilities
    assert tool.input == ObjectType()
    assert tool.output == record({"message": required(string())})
    assert tool.extensions == {}


@titled(("text", "sure"), {
    "the sample of the specification": (SECTION_2, 90),
    "the sample of the draft": (DRAFT_SAMPLE, 90),
    "tools and a version": (json.dumps({"protocolVersion": "1.0", "tools": [GREET]}), 60),
    "tools with what the draft's tools return": (json.dumps({"tools": [{**GREET, "return": {}}]}), 60),
    "tools alone, as many lists have them": (json.dumps({"tools": [GREET]}), 0),
    "a list with the version of its schema":
        (json.dumps({"schema_version": "v1", "instructions": "x", "tools": [GREET]}), 0),
    "tools of MCP":
        (json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "instructions": "x"}), 0),
    "functions of a vendor": (json.dumps({"tools": [{"type": "function", "function": {}}]}), 0),
    "tools that are a text": (json.dumps({"tools": "a"}), 0),
    "an empty object": ("{}", 0),
    "an empty list": ("[]", 0),
    "no tools": ('{"tools": []}', 0),
    "XML": ("<activity/>", 0),
    "not JSON": ("{not json", 0),
    "a manifest that is cut": ('{"instructions":"Notes","protocolVers', 20),
})  # fmt: skip
def test_a_file_of_each_dialect_is_distinguished_from_other_tools(text: str, sure: int) -> None:
    assert FORMAT.detect(SourceFile("a", text.encode())) == sure


@pytest.mark.parametrize("length", [1, 38, len(SECTION_2.strip()) - 1])
def test_a_manifest_that_is_cut_off_is_one_by_its_name(length: int) -> None:
    cut = SECTION_2.strip()[:length].encode()
    assert FORMAT.detect(SourceFile("a/mmcp_manifest.json", cut)) > 0


def test_unknown_keys_are_kept_where_they_are() -> None:
    provider = only(read_json(manifest_of({**GREET, "icon": "wave"}, author={"name": "me"})))
    assert provider.extensions == {"mmcp": {"keys": {"author": {"name": "me"}}}}
    assert provider.capabilities[0].extensions == {"mmcp": {"keys": {"icon": "wave"}}}


def test_definitions_of_several_tools_come_together() -> None:
    def tool(name: str, word: str) -> dict[str, Json]:
        properties = {"at": {"$ref": "#/$defs/Place"}}
        schema: Json = {"type": "object", "properties": properties, "$defs": {"Place": {"type": word}}}
        return {**GREET, "name": name, "parameters": schema}

    provider = only(read_json(manifest_of(tool("a", "string"), tool("b", "string"), tool("c", "integer"))))
    assert len(provider.definitions) == 2
    assert provider.definitions["Place"] == string()


def case(title: str, row: str, value: Json, **expected: Any) -> Any:
    """Return the case of a manifest that only a row lets in, and what is read of it."""
    return pytest.param(row, value, expected, id=title, marks=pytest.mark.row(row))


NOT_WORDS: tuple[Json, ...] = ("String", ["String"], {"type": "object", "properties": {"a": {}}}, None)
FLAT = record(
    {
        "location": required(string()),
        "days": required(int32(), extensions={"mmcp": {"word-as-written": "Int"}}),
        "raw": required(AnyType()),
        "tags": required(ArrayType(), extensions={"mmcp": {"word-as-written": "list"}}),
    }
)
RETURNED = record(
    {
        "when": required(AnyType(), extensions={"mmcp": {"declared": "Date"}}),
        "n": required(int32(), extensions={"mmcp": {"word-as-written": "INT"}}),
    }
)


def draft(returned: Json) -> Json:
    return {"appDescription": "a", "tools": [{**GREET, "return": returned}]}


@pytest.mark.parametrize(("row", "value", "expected"), [
    *(case(f"the version {text!r}", "M33",
        manifest_of(GREET, protocolVersion=text), extensions={"mmcp": {"protocolVersion": text}})
        for text in ("1.1", "1", 1, 1.0)),
    case("instructions next to a return type", "M34",
        {"instructions": "Says hello", "tools": [{**GREET, "return": {"a": "String"}}]},
        dialect="draft", description="Says hello", extensions={"mmcp": {"text_key": "instructions"}}),
    case("a description next to instructions", "M34",
        {"appDescription": "Hello", "instructions": "Be kind", "tools": [GREET]},
        description="Hello", extensions={"mmcp": {"instructions": "Be kind"}}),
    case("raw line breaks in a text", "M36", '{"instructions": "two\nlines\tand a tab", "tools": []}',
        instructions="two\nlines\tand a tab"),
    case("empty parameters", "M37",
        manifest_of({"name": "a", "description": "b", "parameters": {}}), input=ObjectType(),
        facts={"mmcp": {"parameters": "empty"}}),
    case("parameters that are null", "M37",
        manifest_of({"name": "a", "description": "b", "parameters": None}), input=ObjectType(),
        facts={"mmcp": {"parameters": "missing"}}),
    case("no parameters", "M37", manifest_of({"name": "a", "description": "b"}), input=ObjectType(),
        facts={"mmcp": {"parameters": "missing"}}),
    case("a flat map of type words", "M37",
        manifest_of({**GREET, "parameters": {"location": "string", "days": "Int", "raw": "any",
        "tags": "list"}}), input=FLAT),
    case("a map of schemas", "M37", manifest_of({**GREET, "parameters": {"txHash": {"type": "string"}}}),
        input=record({"txHash": optional(string())}), facts={"mmcp": {"parameters": "properties"}}),
    *(case(f"a return type that is not a map of words: {value!r}", "M38",
        draft(value), output=None, facts={"mmcp": {"return": value}}) for value in NOT_WORDS),
    case("a flat map for the return type", "M38", draft({"when": "Date", "n": "INT"}), output=RETURNED),
    case("no instructions", "S52", {"tools": [GREET]}, instructions=None),
    case("no description of a tool", "S53",
        manifest_of({"name": "a", "parameters": {"type": "object"}}), tool_description=None),
])  # fmt: skip
def test_what_apps_write_instead_is_read_by_its_row(row: str, value: Json, expected: dict[str, Any]) -> None:
    reading = read_json(value)
    assert rows_of(reading) == [row]
    seen = dict(only(reading))
    for tool in only(reading).capabilities:
        seen |= {"input": tool.input, "output": tool.output, "facts": tool.extensions}
        seen["tool_description"] = tool.description
    assert {word: seen[word] for word in expected} == expected


@pytest.mark.parametrize("version", ["2.0", "0.9", "draft", None, [], True, 2, "1." + "9" * 40], ids=str)
def test_another_version_is_refused(version: Json) -> None:
    with pytest.raises(InputError, match="protocol version"):
        read_json(manifest_of(GREET, protocolVersion=version))


@titled(("parameters", "kind"), {
    "a type alone": ({"type": "object"}, "object"),
    "properties alone": ({"properties": {}}, "object"),
    "with a draft": ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}, "string"),
    "words that are no type": ({"location": "The city"}, "any"),
    "a keyword that has a schema": ({"not": {"type": "string"}}, "any"),
    "true": (True, "any"),
    "a choice": ({"oneOf": [{"type": "object"}, {"type": "object"}]}, "one-of"),
})  # fmt: skip
def test_a_json_schema_is_not_a_flat_map(parameters: Json, kind: str) -> None:
    reading = read_json(manifest_of({**GREET, "parameters": parameters}))
    assert not reading.findings
    assert only(reading).capabilities[0].input.kind == kind


@titled(("value", "message"), {
    "a list": ([], "is not a JSON object"),
    "no tools": ({"instructions": "a"}, "no array `tools`"),
    "tools that are an object": ({"instructions": "a", "tools": {}}, "no array `tools`"),
    "instructions that are a number": ({"instructions": 5, "tools": []}, "`instructions` is not a string"),
    "a tool that is a string": (manifest_of("greet"), "a tool is not a JSON object"),  # type: ignore[arg-type]
    "a tool without a name": (manifest_of({"description": "a", "parameters": {}}), "no `name`"),
    "an empty name": (manifest_of({**GREET, "name": ""}), "no `name`"),
    "a name that is a number": (manifest_of({**GREET, "name": 7}), "no `name`"),
    "a number as description": (manifest_of({**GREET, "description": 7}), "`description` is not a string"),
    "parameters that are a list": (manifest_of({**GREET, "parameters": []}), "are not a JSON Schema"),
    "parameters that are a string": (manifest_of({**GREET, "parameters": "{}"}), "are not a JSON Schema"),
    "two tools of one name": (manifest_of(GREET, GREET), "two tools are called 'greet'"),
})  # fmt: skip
def test_what_cannot_be_called_or_understood_is_refused_in_one_sentence(value: Json, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_json(value)
    assert caught.value.place == "tools.json:1"
    assert not caught.value.message.endswith(".")
    assert caught.value.hint


def test_text_that_is_not_a_json_is_refused_at_its_line() -> None:
    with pytest.raises(InputError) as caught:
        read_json('{"instructions": "a",\n "tools": [}')
    assert caught.value.place == "tools.json:2:12"


_KEYS = st.sampled_from([
    "name", "description", "parameters", "return", "type", "properties", "required", "$defs", "$ref", "items",
    "object", "string", "anyOf", "enum", "x-droidgate", "kind", "format", "appDescription", "tools",
])  # fmt: skip
_WILD = json_values(st.floats(allow_nan=False), keys=_KEYS, most=12)
_TOOLS = st.fixed_dictionaries(
    {"name": st.text(min_size=1, max_size=6), "description": st.text(max_size=6)},
    optional={"parameters": st.just(GREET["parameters"]) | _WILD, "return": _WILD, "title": _WILD},
)


@given(
    st.fixed_dictionaries(
        {"tools": st.lists(_TOOLS, max_size=2) | st.lists(_WILD, max_size=3)},
        optional={"instructions": st.text() | _WILD},
    )
    | _WILD
)
def test_wild_json_is_read_or_refused_but_never_crashes(value: Json) -> None:
    with suppress(InputError):
        read_json(value)


def test_damaged_files_are_read_or_refused_but_never_crash() -> None:
    random_ = random.Random(7)
    whole = DRAFT_SAMPLE.encode()
    for _ in range(2_000):
        start = random_.randrange(len(whole))
        data = whole[:start] + random_.randbytes(random_.randrange(4)) + whole[start + random_.randrange(9) :]
        FORMAT.detect(SourceFile("a", data))
        with suppress(InputError):
            FORMAT.read_file(SourceFile("a", data), ReadingContext())


# Components that advertise: where the manifest may be, and what else calls need

VALUE = value_xml(manifest_of(GREET))


def test_an_activity_is_a_provider() -> None:
    labelled = component_xml(VALUE, attributes='android:exported="true" android:label="Greeter"')
    reading = read_app(application(labelled), strict=True)
    assert not reading.findings
    provider = only(reading)
    assert (provider.package, provider.component, provider.name) == ("com.example.app", ".Tools", "Greeter")
    assert provider.instructions == "Greets"
    assert [item.id for item in provider.capabilities] == ["greet"]
    assert provider.source is not None
    assert provider.source.line
    assert provider.extensions == {}


def test_other_components_are_no_providers() -> None:
    other = component_xml(VALUE, actions=("android.intent.action.MAIN",))
    assert read_app(application(other)).providers == ()


def test_an_activity_that_does_not_state_exported_is_written_without_it() -> None:
    provider = only(read_app(application(component_xml(VALUE, attributes=""))))
    assert provider.access.exported is None
    writing = write_for(provider, "mmcp+1.0")
    assert "exported" not in artifact(writing, "AndroidManifest.xml")
    assert writing.findings == ()


def test_the_json_of_a_manifest_has_no_access_rules() -> None:
    provider = only(read_json(manifest_of(GREET)))
    assert provider.access == ComponentAccess()
    closed = provider.model_copy(update={"access": ComponentAccess(exported=False, permission="a.CALL")})
    writing = write_for(closed, "mmcp+1.0")
    assert writing.provider.access == ComponentAccess()
    lost = {pointer: level for pointer, (_, level) in facts_of(writing, "/access/").items()}
    assert lost == {"exported": Level.SECURITY, "permission": Level.SECURITY}


JSON = json.dumps(manifest_of(GREET))
STRING_TOOLS = (
    f'<resources><string name="tools">"{JSON.replace(chr(34), chr(92) + chr(34))}"</string></resources>'
)
STRINGS = {"res/values/tools.xml": STRING_TOOLS}
ADVERTISES = component_xml(VALUE, actions=(ADVERTISE,))
SECOND = f'<intent-filter><action android:name="{CALL}"/></intent-filter>'
DRAFT = {"appDescription": "Greets", "protocolVersion": "1.0", "tools": [GREET]}
HARD = 'a "quoted" \\ word,\nanother line, \u00fc and \U0001f600'
CLOSED = 'android:exported="false" android:enabled="false" android:permission="a.b.CALL"'
NO_LABEL = 'android:exported="true" android:label="@string/none"'


def app_case(
    title: str, component: str, row: str = "", *, noted: str = "",
    message: str = "", files: dict[str, str] | None = None, **expected: Any,
) -> Any:  # fmt: skip
    """Return the case of an app with one component: what is read of it, and the row that lets it in."""
    rows = [item for item in (noted, row) if item]
    marks = [pytest.mark.row(row)] if row else []
    return pytest.param(component, files or {}, rows, message, expected, id=title, marks=marks)


@pytest.mark.parametrize(("component", "files", "rows", "message", "expected"), [
    app_case("a string as the value", component_xml('android:value="@string/tools"'), files=STRINGS),
    app_case("a string as the resource", component_xml('android:resource="@string/tools"'), "M35",
        files=STRINGS),
    app_case("a raw resource", component_xml('android:resource="@raw/tools"'), "M35",
        files={"res/raw/tools.json": JSON}),
    app_case("without the CALL action", ADVERTISES, "M39", message=CALL),
    app_case("without the DEFAULT category", component_xml(VALUE, categories=()), "M39", message="DEFAULT"),
    app_case("without exported", component_xml(VALUE, attributes=""), "M39", message="exported"),
    app_case("a service is marked as not callable", component_xml(VALUE, element="service"), "M42",
        extensions={"mmcp": {"element": "service"}}),
    app_case("the draft allows a service", component_xml(value_xml(DRAFT), element="service"),
        extensions={"mmcp": {"element": "service"}}),
    app_case("two filters are as good as one", ADVERTISES.replace("<meta-data", f"{SECOND}<meta-data")),
    app_case("JSON over many lines in single quotes, as in section 2",
        component_xml(f"android:value='{json.dumps(manifest_of(GREET), indent=10)}'")),
    app_case("what escapes say is what a device sees",
        component_xml(value_xml(manifest_of(GREET, instructions=HARD))), instructions=HARD),
    app_case("what keeps callers out is kept", component_xml(VALUE, attributes=CLOSED), extensions={},
        access=ComponentAccess(exported=False, enabled=False, permission="a.b.CALL")),
    app_case("a label whose string is missing", component_xml(VALUE, attributes=NO_LABEL), noted="S82",
        message="android:label of .Tools is @string/none", name=None),
])  # fmt: skip
def test_a_component_is_read_by_its_row(
    component: str, files: dict[str, str], rows: list[str], message: str, expected: dict[str, Any]
) -> None:
    app = application(component, **files)
    reading = read_app(app, strict=not rows and "false" not in component)
    assert rows_of(reading) == rows
    assert not message or message in reading.findings[0].message
    provider = dict(only(reading))
    assert [item.id for item in only(reading).capabilities] == ["greet"]
    assert {word: provider[word] for word in expected} == expected


@pytest.mark.row("S54")
def test_a_component_without_a_manifest_is_passed_over_and_dropped() -> None:
    reading = read_app(application(component_xml(None)))
    assert reading.providers == ()
    assert [(finding.rule, finding.level) for finding in reading.findings] == [("S54", Level.DROPPED)]


def test_a_receiver_of_broadcasts_is_named() -> None:
    receiver = (
        '<receiver android:name=".Tools" android:exported="true"><intent-filter>'
        '<action android:name="com.example.ACTION_MMCP_DISCOVERY"/></intent-filter></receiver>'
    )
    reading = read_app(application(receiver))
    assert reading.providers == ()
    (finding,) = reading.findings
    assert (finding.code, finding.level) == ("tools-not-in-files", Level.NOTE)


UNREADABLE = component_xml("android:value='{}'").replace(".Tools", ".Other")


def test_a_manifest_that_cannot_be_read_leaves_the_others_readable() -> None:
    reading = read_app(application(UNREADABLE, component_xml(VALUE)))
    assert only(reading).component == ".Tools"
    (problem,) = reading.problems
    assert "`tools`" in problem.message


def test_the_only_manifest_has_to_be_readable_and_so_has_every_one_in_a_strict_reading() -> None:
    with pytest.raises(InputError, match="`tools`"):
        read_app(application(UNREADABLE))
    with pytest.raises(InputError):
        read_app(application(component_xml(VALUE), UNREADABLE), strict=True)


UNESCAPED = json.dumps(manifest_of(GREET, instructions='say "hello"'))


@titled(("meta_data", "message", "hint"), {
    "an integer": ('android:value="5"', "is the integer 5", ""),
    "a boolean": ('android:value="true"', "is the boolean true", ""),
    "a number with one digit behind the point": ('android:value="1.5"', "is the number 1.5", ""),
    "a number that a float does not hold": ('android:value="2.1"', "is the number 2.1,", ""),
    "an exponent": ('android:value="1e10"', "is the number 1.0E10", ""),
    "no value": ("", "has no value", ""),
    "a raw resource that is not there": ('android:resource="@raw/none"', "not among the resources", ""),
    "a string resource that is not there": ('android:resource="@string/none"', "not among the resources", ""),
    "a text that is not JSON": ('android:value="nothing"', "not JSON", ""),
    "a reference inside a value that leads nowhere":
        ('android:value="@string/later"', "names @string/later, which is not among", "android:value"),
    "a raw resource as a value":
        ('android:value="@raw/tools"', "of which a device sees the path", "put the JSON into android:value"),
    "a placeholder of the build": ('android:value="${mmcpManifest}"', "not JSON", "the build fills in"),
    "an empty value": ('android:value=""', "not JSON", ""),
    "JSON that lost its backslashes": (f"android:value='{UNESCAPED}'", "not JSON", "double-escaped for aapt"),
})  # fmt: skip
def test_a_manifest_that_is_not_there_is_refused_with_the_fix(
    meta_data: str, message: str, hint: str
) -> None:
    app = application(component_xml(meta_data), **{"res/raw/tools.json": JSON})
    with pytest.raises(InputError, match=message) as refused:
        read_app(app)
    assert hint in (refused.value.hint or "")


def test_parameters_that_cannot_be_read_are_dropped() -> None:
    context = ReadingContext()
    answer = {"tools": ["bad"], "bad.parameters": "{"}
    read_discovery(answer, context, place=Place(path="answer"), package="a.b", component=".R")
    assert [(finding.rule, finding.level) for finding in context.findings] == [("M50", Level.DROPPED)]
