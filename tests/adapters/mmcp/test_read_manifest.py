"""The manifest's JSON: the specification's sample, the draft's, and what is read leniently or refused."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, strategies as st

from adapters.mmcp.mmcp_apps import GREET, manifest_of, only, read_json, rows_of
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ArrayType, ObjectType
from droidgate_mmcp.format import FORMAT
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
DRAFT = """
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
    assert tool.input == record(
        {
            "file": required(string(description="Where it lies")),
            "what": required(string(enum=("text", "pictures"), description="What to get")),
        }
    )
    assert tool.output is None
    assert tool.source is not None
    assert (tool.source.path, tool.source.inner) == ("tools.json", "/tools/0")
    assert provider.extensions == tool.extensions == {}


def test_the_sample_of_the_draft_is_read_without_a_finding() -> None:
    reading = read_json(DRAFT, strict=True)
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
    "the sample of the draft": (DRAFT, 90),
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
})  # fmt: skip
def test_a_file_of_each_dialect_is_distinguished_from_other_tools(text: str, sure: int) -> None:
    assert FORMAT.detect(SourceFile("a", text.encode())) == sure


def test_unknown_keys_are_kept_where_they_are() -> None:
    provider = only(read_json(manifest_of({**GREET, "icon": "wave"}, author={"name": "me"})))
    assert provider.extensions == {"mmcp": {"keys": {"author": {"name": "me"}}}}
    assert provider.capabilities[0].extensions == {"mmcp": {"keys": {"icon": "wave"}}}


def test_definitions_of_several_tools_come_together() -> None:
    def tool(name: str, word: str) -> dict[str, Json]:
        schema = {
            "type": "object",
            "properties": {"at": {"$ref": "#/$defs/Place"}},
            "$defs": {"Place": {"type": word}},
        }
        return {**GREET, "name": name, "parameters": schema}

    provider = only(read_json(manifest_of(tool("a", "string"), tool("b", "string"), tool("c", "integer"))))
    assert len(provider.definitions) == 2
    assert provider.definitions["Place"] == string()


def case(title: str, mark: pytest.MarkDecorator, value: Json, **expected: Any) -> Any:
    """Return the case of a manifest that only the row of a mark lets in, and what is read of it."""
    return pytest.param(mark.args[0], value, expected, id=title, marks=mark)


M33, M34, M36 = pytest.mark.row("M33"), pytest.mark.row("M34"), pytest.mark.row("M36")
M37, M38 = pytest.mark.row("M37"), pytest.mark.row("M38")
S52, S53 = pytest.mark.row("S52"), pytest.mark.row("S53")
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
    *(case(f"the version {text!r}", M33,
        manifest_of(GREET, protocolVersion=text), extensions={"mmcp": {"protocolVersion": text}})
        for text in ("1.1", "1", 1, 1.0)),
    case("instructions next to a return type", M34,
        {"instructions": "Says hello", "tools": [{**GREET, "return": {"a": "String"}}]},
        dialect="draft", description="Says hello", extensions={"mmcp": {"text_key": "instructions"}}),
    case("a description next to instructions", M34,
        {"appDescription": "Hello", "instructions": "Be kind", "tools": [GREET]},
        description="Hello", extensions={"mmcp": {"instructions": "Be kind"}}),
    case("raw line breaks in a text", M36, '{"instructions": "two\nlines\tand a tab", "tools": []}',
        instructions="two\nlines\tand a tab"),
    case("empty parameters", M37,
        manifest_of({"name": "a", "description": "b", "parameters": {}}), input=ObjectType(),
        facts={"mmcp": {"parameters": "empty"}}),
    case("parameters that are null", M37,
        manifest_of({"name": "a", "description": "b", "parameters": None}), input=ObjectType(),
        facts={"mmcp": {"parameters": "missing"}}),
    case("no parameters", M37, manifest_of({"name": "a", "description": "b"}), input=ObjectType(),
        facts={"mmcp": {"parameters": "missing"}}),
    case("a flat map of type words", M37,
        manifest_of({**GREET, "parameters": {"location": "string", "days": "Int", "raw": "any",
        "tags": "list"}}), input=FLAT),
    case("a map of schemas", M37, manifest_of({**GREET, "parameters": {"txHash": {"type": "string"}}}),
        input=record({"txHash": optional(string())}), facts={"mmcp": {"parameters": "properties"}}),
    *(case(f"a return type that is not a map of words: {value!r}", M38,
        draft(value), output=None, facts={"mmcp": {"return": value}}) for value in NOT_WORDS),
    case("a flat map for the return type", M38, draft({"when": "Date", "n": "INT"}), output=RETURNED),
    case("no instructions", S52, {"tools": [GREET]}, instructions=None),
    case("no description of a tool", S53,
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
    optional={"parameters": st.just(GREET["parameters"]) | _WILD, "title": _WILD},
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


@given(parameters=_WILD, returned=_WILD)
def test_wild_tools_are_read_or_refused_but_never_crash(parameters: Json, returned: Json) -> None:
    with suppress(InputError):
        read_json(manifest_of({**GREET, "parameters": parameters, "return": returned}))


def test_damaged_files_are_read_or_refused_but_never_crash() -> None:
    random_ = random.Random(7)
    whole = DRAFT.encode()
    for _ in range(2_000):
        start = random_.randrange(len(whole))
        data = whole[:start] + random_.randbytes(random_.randrange(4)) + whole[start + random_.randrange(9) :]
        FORMAT.detect(SourceFile("a", data))
        with suppress(InputError):
            FORMAT.read_file(SourceFile("a", data), ReadingContext())
