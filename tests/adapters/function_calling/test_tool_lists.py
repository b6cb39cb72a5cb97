"""Tool lists of vendors, typed from their API references; each is read as its vendor means it.

OpenAI API reference: Chat, `tools` and `functions`; Responses, `tools`. Anthropic API reference: Messages,
`tools`. Gemini API reference: `Tool`, `FunctionDeclaration`, `Schema`.
"""

import json
from typing import Any

import pytest

from droidgate_function_calling.format import FORMAT
from droidgate_function_calling.lint import lint_file
from droidgate_mappings.formats.format import Reading, SourceFile, detect_format, load_formats
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.json_schema import write_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from requirements_of_tests import require
from titled_rows import titled

WEATHER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "location": {"type": "string", "description": "City and country"},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": ["integer", "null"]},
    },
    "required": ["location", "days"],
    "additionalProperties": False,
}
WEATHER: dict[str, Any] = {"name": "get_weather", "description": "Get the weather"}
CHAT = {"type": "function", "function": {**WEATHER, "parameters": WEATHER_SCHEMA, "strict": True}}
RESPONSES = {"type": "function", **WEATHER, "parameters": WEATHER_SCHEMA, "strict": True}
CLAUDE = {**WEATHER, "input_schema": WEATHER_SCHEMA, "cache_control": {"type": "ephemeral"}}
GEMINI_SCHEMA = {
    "type": "OBJECT",
    "properties": {
        "location": {"type": "STRING", "description": "City and country"},
        "unit": {"type": "STRING", "format": "enum", "enum": ["celsius", "fahrenheit"]},
        "days": {"type": "INTEGER", "nullable": True},
    },
    "required": ["location", "days"],
}
GEMINI = {**WEATHER, "parameters": GEMINI_SCHEMA}


def source(document: Json) -> SourceFile:
    return SourceFile("tools.json", json.dumps(document).encode())


def read(document: Json, *, strict: bool = False) -> Reading:
    return FORMAT.read_file(source(document), ReadingContext(strict=strict))


def only(document: Json, *, strict: bool = True) -> Provider:
    (provider,) = read(document, strict=strict).providers
    return provider


def tool(document: Json, *, strict: bool = True) -> Capability:
    (capability,) = only(document, strict=strict).capabilities
    return capability


@titled(("document", "dialect", "facts"), {
    "Chat Completions": ([CHAT], "openai-chat", {"strict": True}),
    "Responses": ([RESPONSES], "openai", {"strict": True}),
    "a request of Chat Completions": ({"model": "x", "tools": [CHAT]}, "openai-chat", {"strict": True}),
    "a tool alone": (CHAT, "openai-chat", {"strict": True}),
    "Claude": ([CLAUDE], "anthropic", {"cache_control": {"type": "ephemeral"}}),
    "a custom tool": ([{"type": "custom", **CLAUDE}], "anthropic", {"cache_control": {"type": "ephemeral"}}),
})  # fmt: skip
def test_a_tool_has_the_schema_that_its_vendor_is_sent(
    document: Json, dialect: str, facts: dict[str, Json]
) -> None:
    assert only(document).dialect == dialect
    capability = tool(document)
    assert (capability.id, capability.description) == ("get_weather", "Get the weather")
    assert write_schema(capability.input) == WEATHER_SCHEMA
    assert capability.extensions == {"function-calling": facts}


@titled("document", {
    "a list of tools": [{"functionDeclarations": [GEMINI]}],
    "a tool alone": {"functionDeclarations": [GEMINI]},
    "a request in snake case": {"contents": [], "tools": [{"function_declarations": [GEMINI]}]},
})  # fmt: skip
def test_geminis_open_api_types_are_those_of_json_schema(document: Json) -> None:
    assert only(document).dialect == "gemini"
    schema = write_schema(tool(document).input)
    assert {**schema, "additionalProperties": False} == WEATHER_SCHEMA
    assert "additionalProperties" not in schema


def test_gemini_may_state_json_schema_and_a_response() -> None:
    declared = {
        **WEATHER,
        "parametersJsonSchema": WEATHER_SCHEMA,
        "response": {"type": "STRING", "nullable": True, "maxLength": "80"},
        "behavior": "NON_BLOCKING",
    }
    capability = tool([{"functionDeclarations": [declared]}])
    assert write_schema(capability.input) == WEATHER_SCHEMA
    assert capability.output is not None
    assert write_schema(capability.output) == {"type": ["string", "null"], "maxLength": 80}
    assert capability.extensions == {"function-calling": {"behavior": "NON_BLOCKING"}}


@titled("document", {
    "Responses": [{"type": "function", "name": "now"}],
    "Gemini": [{"functionDeclarations": [{"name": "now"}]}],
})  # fmt: skip
def test_a_function_without_parameters_takes_none(document: Json) -> None:
    assert write_schema(tool(document).input) == {"type": "object", "properties": {}}


def test_the_rest_of_a_request_is_kept() -> None:
    document = {"model": "m", "tools": [CLAUDE], "tool_choice": {"type": "auto"}}
    facts = {"/model": "m", "/tool_choice": {"type": "auto"}}
    assert only(document).extensions == {"function-calling": facts}


@titled(("entry", "pointer"), {
    "a web search of OpenAI": ({"type": "web_search"}, "/1"),
    "a custom tool with a format": ({"type": "custom", "name": "code", "format": {"type": "text"}}, "/1"),
    "a web search of Claude": ({"type": "web_search_20250305", "name": "web_search", "max_uses": 5}, "/1"),
    "a Google search": ({"googleSearch": {}}, "/1"),
    "a number": (5, "/1"),
})  # fmt: skip
def test_an_entry_without_a_function_is_left_out_and_reported(entry: Json, pointer: str) -> None:
    reading = read([CHAT, entry], strict=True)
    (finding,) = reading.findings
    assert (finding.code, finding.level, finding.pointer) == ("vendor-tool", Level.DROPPED, pointer)
    assert [item.id for item in reading.providers[0].capabilities] == ["get_weather"]


def test_each_further_member_of_a_gemini_tool_is_reported() -> None:
    reading = read([{"functionDeclarations": [GEMINI], "codeExecution": {}}], strict=True)
    assert [finding.pointer for finding in reading.findings] == ["/0/codeExecution"]


BARE = {**WEATHER, "parameters": WEATHER_SCHEMA}


@pytest.mark.row("F01")
@titled(("document", "dialect"), {
    "a list of declarations": ([BARE], "openai-chat"),
    "declarations under functions": ({"functions": [BARE]}, "openai-chat"),
    "one declaration": (BARE, "openai-chat"),
    "a declaration without its type": ([{"function": BARE}], "openai-chat"),
    "a list of Gemini's declarations": ([GEMINI], "gemini"),
    "a declaration with Gemini's own key": ([{**WEATHER, "parametersJsonSchema": WEATHER_SCHEMA}], "gemini"),
})  # fmt: skip
def test_a_bare_declaration_is_read_as_a_function(document: Json, dialect: str) -> None:
    reading = read(document)
    assert [item.rule for item in reading.findings] == ["F01"]
    assert [item.dialect for item in reading.providers] == [dialect]
    with pytest.raises(InputError, match="F01"):
        read(document, strict=True)


@pytest.mark.row("F02")
def test_a_list_for_two_vendors_is_read_tool_by_tool() -> None:
    reading = read([CHAT, {**CLAUDE, "name": "other"}])
    assert [item.rule for item in reading.findings] == ["F02"]
    (provider,) = reading.providers
    assert provider.dialect == "openai-chat"
    assert [write_schema(item.input) for item in provider.capabilities] == [WEATHER_SCHEMA, WEATHER_SCHEMA]


@pytest.mark.row("F03")
def test_parameters_without_a_type_are_an_object() -> None:
    document = [{"name": "a", "input_schema": {"properties": {"b": {"type": "string"}}}}]
    assert [finding.rule for finding in read(document).findings] == ["F03"]
    schema = {"type": "object", "properties": {"b": {"type": "string"}}}
    assert write_schema(tool(document, strict=False).input) == schema


@titled(("broken", "message"), {
    "an empty name": ({"type": "function", "name": "", "parameters": WEATHER_SCHEMA}, "a tool has no name"),
    "an array": ({"type": "function", "name": "a", "parameters": {"type": "array"}}, "are not an object"),
    "parameters that are a list": ({"type": "function", "name": "a", "parameters": [1]}, "are not an object"),
    "a number as description": ({"type": "function", "name": "a", "description": 5}, "is not a string"),
    "a name that is there already": (RESPONSES, "duplicate tool 'get_weather'"),
})  # fmt: skip
def test_a_broken_tool_hides_no_other(broken: Json, message: str) -> None:
    reading = read([CHAT, broken])
    assert [item.id for item in reading.providers[0].capabilities] == ["get_weather"]
    (problem,) = reading.problems
    assert message in problem.message
    assert problem.place is not None
    assert problem.place.startswith("tools.json:/1")
    assert problem.hint
    with pytest.raises(InputError):
        read([CHAT, broken], strict=True)


def test_a_list_of_which_nothing_can_be_read_is_an_error() -> None:
    with pytest.raises(InputError, match="a tool has no name"):
        read([{"type": "function", "parameters": WEATHER_SCHEMA}])


@titled(("document", "format_id"), {
    "a list of chat tools": ([CHAT], "function-calling"),
    "tools of responses": ({"tools": [RESPONSES]}, "function-calling"),
    "tools of Claude": ({"tools": [CLAUDE]}, "function-calling"),
    "a list with Claude's schema key": ([{**WEATHER, "input_schema": WEATHER_SCHEMA}], "function-calling"),
    "functions of Gemini": ({"tools": [{"functionDeclarations": [GEMINI]}]}, "function-calling"),
    "tools of MCP": ({"tools": [{**WEATHER, "inputSchema": WEATHER_SCHEMA}]}, "mcp"),
    "tools of MCP in another spelling":
        ({"tools": [{**WEATHER, "input_schema": WEATHER_SCHEMA, "annotations": None}]}, "mcp"),
    "a manifest of mMCP with instructions":
        ({"instructions": "x", "tools": [{**WEATHER, "parameters": WEATHER_SCHEMA}]}, "mmcp"),
    "a list of tools that names no kind of them":
        ({"tools": [{**WEATHER, "parameters": WEATHER_SCHEMA}]}, "function-calling"),
    "a list of tools with the version of its schema":
        ({"schema_version": "v1", "tools": [{**WEATHER, "parameters": WEATHER_SCHEMA}]}, "function-calling"),
    # The interface of a contract, which wallets ship as an asset.
    "the interface of a contract":
        ([{"type": "function", "name": "transfer", "inputs": [], "stateMutability": "view"}], None),
    "a schema": ({"type": "object", "parameters": {"type": "object"}}, None),
    "a list of numbers": ([1, 2], None),
})  # fmt: skip
def test_a_document_is_of_the_format_that_it_is_written_in(document: Json, format_id: str | None) -> None:
    format_ = detect_format(source(document), load_formats().values())
    assert (format_.id if format_ is not None else None) == format_id


@pytest.mark.requires("corpus")
@pytest.mark.parametrize("case", ["arrayType", "basicTypes", "referenceType"])
def test_declarations_of_googles_own_converter_are_read(case: str) -> None:
    name = f"android__appfunctions__GeminiToolConverterTest__convert_{case}_returnsCorrectSchema.json"
    data = (require("corpus") / "appfunctions" / name).read_bytes()
    expected = json.loads(data)
    (provider,) = FORMAT.read_file(SourceFile(name, data), ReadingContext()).providers
    (capability,) = provider.capabilities
    assert (capability.id, capability.description) == (expected["name"], expected["description"])
    assert write_schema(capability.input) == expected["parameters"]


def test_a_schema_that_is_nested_to_the_limit_is_read() -> None:
    schema: Json = {"type": "STRING"}
    for _ in range(25):
        schema = {"type": "ARRAY", "items": schema}
    declared = {"name": "deep", "parameters": {"type": "OBJECT", "properties": {"a": schema}}}
    assert tool({"functionDeclarations": [declared]}).id == "deep"


@pytest.mark.parametrize(("text", "format_id"), [
    ('[{"type": "function", "function": {"name": "a", "parameters": {', "function-calling"),
    ('[{"functionDeclarations": [{"name": "a"', "function-calling"),
    ('{"name": "x", "scripts": {', None),
    ('[{"type":"function","name":"se', "function-calling"),
    ('{"tools": [{"type": "function", "na', "function-calling"),
    ('[{"type": "function", "name": "balanceOf", "inputs": [', None),
])  # fmt: skip
def test_a_list_that_is_cut_off_is_a_problem_of_its_file(text: str, format_id: str | None) -> None:
    file = SourceFile("tools.json", text.encode())
    format_ = detect_format(file)
    assert (format_.id if format_ is not None else None) == format_id
    if format_ is not None:
        with pytest.raises(InputError, match="not JSON"):
            format_.read_file(file, ReadingContext())


@pytest.mark.parametrize("kind", [{"type": "function"}, ["function"], 3], ids=str)
def test_a_tool_whose_type_is_not_a_text_is_left_out_by_name(kind: Json) -> None:
    reading = read([RESPONSES, {"type": kind, "function": WEATHER}, {**CLAUDE, "type": kind}])
    ids = [capability.id for provider in reading.providers for capability in provider.capabilities]
    assert ids == ["get_weather"]
    assert [finding.code for finding in reading.findings].count("vendor-tool") == 2


BAD = {"type": "object", "properties": {"a": {"type": "str"}}}
BAD_OF_GEMINI = {"type": "OBJECT", "properties": {"a": {"type": "STR"}}}


@pytest.mark.parametrize(("document", "pointer"), [
    ([{"type": "function", "function": {**WEATHER, "parameters": BAD}}], "/0/function/parameters"),
    ({"tools": [{"type": "function", **WEATHER, "parameters": BAD}]}, "/tools/0/parameters"),
    ([{**CLAUDE, "input_schema": BAD}], "/0/input_schema"),
    ({"functionDeclarations": [{**WEATHER, "parameters": BAD_OF_GEMINI}]},
        "/functionDeclarations/0/parameters"),
    ({"functionDeclarations": [{**GEMINI, "responseJsonSchema": BAD}]},
        "/functionDeclarations/0/responseJsonSchema"),
])  # fmt: skip
def test_a_schema_that_is_not_one_is_found_in_each_vendors_list(document: Json, pointer: str) -> None:
    (finding,) = lint_file(source(document))
    assert (finding.code, finding.pointer) == ("schema-form", f"{pointer}/properties/a/type")


@pytest.mark.parametrize("document", [[CHAT], [RESPONSES], [CLAUDE], {"functionDeclarations": [GEMINI]}])
def test_a_correct_list_has_no_finding(document: Json) -> None:
    assert lint_file(source(document)) == ()
