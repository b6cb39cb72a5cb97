"""The manifest's JSON: the specification's sample, the draft's, and what is bent or refused."""

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

from adapters.mmcp.mmcp_apps import GREET, manifest_of, only, read_json, rows_of
from droidgate_mappings.formats.format import SourceFile
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ObjectType
from droidgate_mmcp.format import FORMAT
from model_types import int32, properties_of, record, required, string

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


def test_a_file_of_each_dialect_is_reported_from_other_tools() -> None:
    assert FORMAT.detect(SourceFile("a", SECTION_2.encode())) == 90
    assert FORMAT.detect(SourceFile("a", DRAFT.encode())) == 90
    assert FORMAT.detect(SourceFile("a", json.dumps({"tools": [GREET]}).encode())) == 60
    mcp: Json = {"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "instructions": "x"}
    others: list[Json] = [
        mcp,
        {"tools": [{"type": "function", "function": {}}]},
        {"tools": "a"},
        {},
        [],
        {"tools": []},
    ]
    for other in others:
        assert FORMAT.detect(SourceFile("a", json.dumps(other).encode())) == 0
    assert FORMAT.detect(SourceFile("a", b"<activity/>")) == 0
    assert FORMAT.detect(SourceFile("a", b"{not json")) == 0


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


@pytest.mark.row("M33")
@pytest.mark.parametrize("version", ["1.1", "1", 1, 1.0])
def test_other_spellings_of_version_1_are_read_and_kept(version: Json) -> None:
    reading = read_json(manifest_of(GREET, protocolVersion=version))
    assert rows_of(reading) == ["M33"]
    assert only(reading).extensions == {"mmcp": {"protocolVersion": version}}


@pytest.mark.parametrize("version", ["2.0", "0.9", "draft", None, [], True, 2, "1." + "9" * 40])
def test_another_version_is_refused(version: Json) -> None:
    with pytest.raises(InputError, match="protocol version"):
        read_json(manifest_of(GREET, protocolVersion=version))


@pytest.mark.row("M34")
def test_instructions_in_a_draft_are_its_description() -> None:
    reading = read_json({"instructions": "Says hello", "tools": [{**GREET, "return": {"a": "String"}}]})
    assert rows_of(reading) == ["M34"]
    provider = only(reading)
    assert (provider.dialect, provider.description) == ("draft", "Says hello")
    assert provider.extensions == {"mmcp": {"text_key": "instructions"}}


@pytest.mark.row("M34")
def test_both_texts_in_a_draft_are_kept() -> None:
    reading = read_json({"appDescription": "Hello", "instructions": "Be kind", "tools": [GREET]})
    assert rows_of(reading) == ["M34"]
    provider = only(reading)
    assert (provider.description, provider.extensions["mmcp"]) == ("Hello", {"instructions": "Be kind"})


@pytest.mark.row("M36")
def test_raw_line_breaks_inside_strings_are_kept() -> None:
    reading = read_json('{"instructions": "two\nlines\tand a tab", "tools": []}')
    assert rows_of(reading) == ["M36"]
    assert only(reading).instructions == "two\nlines\tand a tab"


@pytest.mark.row("M37")
@pytest.mark.parametrize("changes", [{"parameters": {}}, {"parameters": None}, {}])
def test_empty_and_missing_parameters_are_no_parameters(changes: dict[str, Json]) -> None:
    reading = read_json(manifest_of({"name": "a", "description": "b", **changes}))
    assert rows_of(reading) == ["M37"]
    (tool,) = only(reading).capabilities
    assert tool.input == ObjectType()
    form = "empty" if changes.get("parameters") is not None else "missing"
    assert tool.extensions == {"mmcp": {"parameters": form}}


@pytest.mark.row("M37")
def test_a_flat_map_is_required_parameters_of_its_words() -> None:
    flat = {"location": "string", "days": "Int", "raw": "any", "tags": "list"}
    reading = read_json(manifest_of({**GREET, "parameters": flat}))
    assert rows_of(reading) == ["M37"]
    (tool,) = only(reading).capabilities
    assert [(name, kept.type.kind, kept.required) for name, kept in properties_of(tool.input).items()] == [
        ("location", "string", True),
        ("days", "int32", True),
        ("raw", "any", True),
        ("tags", "array", True),
    ]
    assert properties_of(tool.input)["days"].extensions == {"mmcp": {"word-as-written": "Int"}}
    assert properties_of(tool.input)["location"].extensions == {}


@pytest.mark.parametrize(("parameters", "kind"), [
    ({"type": "object"}, "object"),
    ({"properties": {}}, "object"),
    ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "string"}, "string"),
    ({"location": "The city"}, "any"),
    (True, "any"),
    ({"oneOf": [{"type": "object"}, {"type": "object"}]}, "one-of"),
])  # fmt: skip
def test_a_json_schema_is_not_a_flat_map(parameters: Json, kind: str) -> None:
    reading = read_json(manifest_of({**GREET, "parameters": parameters}))
    assert not reading.findings
    assert only(reading).capabilities[0].input.kind == kind


@pytest.mark.row("M38")
@pytest.mark.parametrize("value", ["String", ["String"], {"type": "object", "properties": {"a": {}}}, None])
def test_a_return_that_is_not_a_map_of_words_is_kept(value: Json) -> None:
    reading = read_json({"appDescription": "a", "tools": [{**GREET, "return": value}]})
    assert rows_of(reading) == ["M38"]
    (tool,) = only(reading).capabilities
    assert tool.output is None
    assert tool.extensions == {"mmcp": {"return": value}}


@pytest.mark.row("M38")
def test_an_unknown_word_of_a_return_may_be_anything() -> None:
    reading = read_json({"appDescription": "a", "tools": [{**GREET, "return": {"when": "Date", "n": "INT"}}]})
    assert rows_of(reading) == ["M38"]
    output = only(reading).capabilities[0].output
    assert output == record(
        {
            "when": required(AnyType(), extensions={"mmcp": {"declared": "Date"}}),
            "n": required(int32(), extensions={"mmcp": {"word-as-written": "INT"}}),
        }
    )


@pytest.mark.row("S52")
def test_a_manifest_without_instructions_is_read() -> None:
    reading = read_json({"tools": [GREET]})
    assert rows_of(reading) == ["S52"]
    assert only(reading).instructions is None


@pytest.mark.row("S53")
def test_a_tool_without_a_description_is_read() -> None:
    reading = read_json(manifest_of({"name": "a", "parameters": {"type": "object"}}))
    assert rows_of(reading) == ["S53"]
    assert only(reading).capabilities[0].description is None


@pytest.mark.parametrize(("value", "message"), [
    ([], "is not a JSON object"),
    ({"instructions": "a"}, "no array `tools`"),
    ({"instructions": "a", "tools": {}}, "no array `tools`"),
    ({"instructions": 5, "tools": []}, "`instructions` is not a string"),
    (manifest_of("greet"), "a tool is not a JSON object"),  # type: ignore[arg-type]
    (manifest_of({"description": "a", "parameters": {}}), "no `name`"),
    (manifest_of({**GREET, "name": ""}), "no `name`"),
    (manifest_of({**GREET, "name": 7}), "no `name`"),
    (manifest_of({**GREET, "description": 7}), "`description` is not a string"),
    (manifest_of({**GREET, "parameters": []}), "are not a JSON Schema"),
    (manifest_of({**GREET, "parameters": "{}"}), "are not a JSON Schema"),
    (manifest_of(GREET, GREET), "two tools are called 'greet'"),
])  # fmt: skip
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
_WILD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


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
