"""What is written is what the vendors' own libraries take, within the limits that their references state."""

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from pydantic import TypeAdapter

from adapters.function_calling.test_tool_lists import CHAT, CLAUDE, GEMINI, RESPONSES, WEATHER_SCHEMA, only
from droidgate_function_calling.format import FORMAT
from droidgate_mappings.formats.format import Writing
from droidgate_mappings.json_schema import read_schema
from droidgate_mappings.model.capability import Capability, Effects, Provider
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import AnyType, ObjectType
from mappings.fit.capacities import facts_of, write_for
from properties.matching import assert_findings_match, assert_reads_back
from requirements_of_tests import require
from strategies import random_provider
from titled_rows import titled

DIALECTS = ("openai", "openai-chat", "anthropic", "gemini")
NAMES = {
    **dict.fromkeys(("openai", "openai-chat", "anthropic"), r"[a-zA-Z0-9_-]{1,64}"),
    "gemini": r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}",
}
"""OpenAI: FunctionDefinition.name; Anthropic: tools.name; Gemini: FunctionDeclaration.name."""
PARAMETERS = {"anthropic": r"[a-zA-Z0-9_.-]{1,64}", "gemini": r"[a-zA-Z_][a-zA-Z0-9_]{0,63}"}
"""Anthropic: the API's answer to another name; Gemini: FunctionDeclaration.parameters."""
CHOICES = {"oneOf", "anyOf", "allOf"}
OF_OPENAI = {*CHOICES, "enum", "const", "not"}
REFUSED_AT_THE_TOP = {
    "openai": OF_OPENAI,
    "openai-chat": OF_OPENAI,
    "anthropic": CHOICES,
    "gemini": {*CHOICES, "enum"},
}
"""The answers of the first three APIs name the words that they refuse."""
KEYWORDS_OF_GEMINI = {
    *("$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description", "enum", "items"),
    *("prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf", "oneOf", "properties"),
    *("additionalProperties", "required", "propertyOrdering"),
    # Of bytes, and what JSON Schema has no word for.
    *("contentEncoding", "x-droidgate"),
}
"""Gemini API, GenerationConfig.responseJsonSchema."""


def write(provider: Provider, dialect: str) -> Writing:
    return write_for(provider, f"function-calling+{dialect}")


def tools_of(writing: Writing) -> Any:
    (artifact,) = writing.artifacts
    assert artifact.path == "tools.json"
    return json.loads(artifact.text)


def functions(dialect: str, tools: list[Any]) -> list[dict[str, Any]]:
    """Return name and schema of each function, without our reader."""
    if dialect == "gemini":
        tools = [each for tool in tools for each in tool["functionDeclarations"]]
    if dialect == "openai-chat":
        tools = [tool["function"] for tool in tools]
    word = {"anthropic": "input_schema", "gemini": "parametersJsonSchema"}.get(dialect, "parameters")
    return [{"name": tool["name"], "schema": tool[word]} for tool in tools]


def schemas_in(schema: Any) -> Iterator[Mapping[str, Any]]:
    """Yield a schema and those inside of it at the places that Gemini knows."""
    if not isinstance(schema, dict):
        return
    yield schema
    for word in ("properties", "$defs"):
        for inner in schema.get(word, {}).values():
            yield from schemas_in(inner)
    for word in ("anyOf", "oneOf"):
        for inner in schema.get(word, []):
            yield from schemas_in(inner)
    yield from schemas_in(schema.get("items"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_whatever_is_written_keeps_the_limits_of_its_api(dialect: str) -> None:
    for seed in range(150):
        tools = tools_of(write(random_provider(Random(seed)), dialect))
        for function in functions(dialect, tools):
            assert re.fullmatch(NAMES[dialect], function["name"])
            schema = function["schema"]
            assert schema["type"] == "object"
            assert isinstance(schema["properties"], dict)
            assert not schema.keys() & REFUSED_AT_THE_TOP[dialect]
            if dialect in PARAMETERS:
                assert all(re.fullmatch(PARAMETERS[dialect], name) for name in schema["properties"])
            if dialect != "gemini":
                continue
            for inner in schemas_in(schema):
                assert inner.keys() <= KEYWORDS_OF_GEMINI
                if "$ref" in inner:
                    assert inner.keys() <= {"$ref", "x-droidgate"}


LIBRARIES = {
    "openai": ("openai", "openai.types.responses", "FunctionToolParam"),
    "openai-chat": ("openai", "openai.types.chat", "ChatCompletionFunctionToolParam"),
    "anthropic": ("anthropic", "anthropic.types", "ToolParam"),
    "gemini": ("google-genai", "google.genai.types", "Tool"),
}
"""Dialect -> distribution, module and type of an entry of `tools`."""


def validate(dialect: str, tools: Any) -> None:
    """Raise ValueError where the vendor's own library does not take a list."""
    distribution, module, name = LIBRARIES[dialect]
    require(distribution)
    type_ = getattr(importlib.import_module(module), name)
    TypeAdapter(list[type_]).validate_python(tools)  # type: ignore[valid-type]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_vendors_own_library_takes_what_is_written(dialect: str) -> None:
    for seed in range(40):
        provider = random_provider(Random(seed))
        validate(dialect, tools_of(write(provider, dialect)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_vendors_own_library_refuses_another_vendors_list(dialect: str) -> None:
    other = "anthropic" if dialect != "anthropic" else "openai-chat"
    tools = tools_of(write(only([CHAT]), other))
    with pytest.raises(ValueError, match=r"[Ff]ield required|Extra inputs|extra_forbidden"):
        validate(dialect, tools)


@titled(("document", "dialect"), {
    "Chat Completions": ([CHAT], "openai-chat"),
    "Responses": ([RESPONSES], "openai"),
    "not strict": ([{"type": "function", "name": "now", "parameters": {"type": "object"}}], "openai"),
    "a request of Responses": ({"model": "x", "tools": [RESPONSES], "tool_choice": "auto"}, "openai"),
    "a fact of a later tool": ([{**CHAT, "defer_loading": True}], "openai-chat"),
    "Claude": ([CLAUDE], "anthropic"),
    "a request to Claude": ({"max_tokens": 5, "tools": [CLAUDE]}, "anthropic"),
    "Gemini": ([{"functionDeclarations": [GEMINI]}], "gemini"),
    "an empty list": ([], "openai"),
    "a request without tools": ({"model": "x", "tools": []}, "openai"),
})  # fmt: skip
def test_a_list_is_written_again_in_its_own_dialect_without_a_loss(document: Json, dialect: str) -> None:
    provider = only(document, strict=False)
    writing = write(provider, dialect)
    assert writing.findings == ()
    assert_reads_back(writing, FORMAT, FORMAT.dialect(dialect))
    if dialect != "gemini" and document != [] and "strict" in json.dumps(document):
        assert tools_of(writing) == document


def test_words_of_one_vendor_are_not_sent_to_another() -> None:
    provider = only({"model": "x", "tools": [CLAUDE]})
    writing = write(provider, "openai")
    tool = {"type": "function", "name": "get_weather", "description": "Get the weather"}
    assert tools_of(writing) == [{**tool, "parameters": WEATHER_SCHEMA, "strict": False}]
    assert {pointer: level for pointer, (_, level) in facts_of(writing).items()} == {
        "/capabilities/0/extensions/function-calling/cache_control": Level.DROPPED,
        "/extensions/function-calling/~1model": Level.DROPPED,
    }
    assert_findings_match(provider, writing)


def test_how_strict_a_model_is_loses_nothing_of_the_declaration() -> None:
    facts = facts_of(write(only([RESPONSES]), "anthropic"))
    assert list(facts.values()) == [("notation-dropped", Level.RENAMED)]


def test_an_output_of_any_value_is_a_schema_object() -> None:
    capability = Capability(id="do", input=ObjectType(), output=AnyType(boolean=True))
    writing = write(Provider(protocol="test", capabilities=(capability,)), "openai")
    (tool,) = tools_of(writing)
    assert tool["output_schema"] == {}
    assert facts_of(writing)["/capabilities/0/output/boolean"][0] == "notation-dropped"


@pytest.mark.parametrize("count", [128, 129])
@pytest.mark.parametrize(("dialect", "most"), [("openai", 128), ("anthropic", 1_000), ("gemini", 128)])
def test_a_list_that_an_api_refuses_for_its_length_is_reported(dialect: str, most: int, count: int) -> None:
    input_type = read_schema({"type": "object", "properties": {}})[0]
    capabilities = tuple(Capability(id=f"do_{number}", input=input_type) for number in range(count))
    writing = write(Provider(protocol="test", capabilities=capabilities), dialect)
    assert len(functions(dialect, tools_of(writing))) == count
    reported = [item.level for item in writing.findings if item.code == "too-many-tools"]
    assert reported == ([Level.IMPOSSIBLE] if count > most else [])


@pytest.mark.parametrize(("dialect", "most"), [("openai", 1_048_576), ("openai-chat", 1_024)])
@pytest.mark.parametrize("excess", [0, 1])
def test_a_description_that_an_api_refuses_for_its_length_is_whole_and_reported(
    dialect: str, most: int, excess: int
) -> None:
    hint = " [Read only: no]"
    described = Capability(id="do", description="d" * (most + excess - len(hint)), input=ObjectType())
    capability = described.changed({"effects": Effects(read_only=False)})
    writing = write(Provider(protocol="test", capabilities=(capability,)), dialect)
    assert writing.provider.capabilities[0].description == f"{described.description}{hint}"
    too_long = [item for item in writing.findings if item.code == "text-too-long"]
    reported = [(item.level, item.pointer, item.message) for item in too_long]
    message = f"the description has {most + 1:,} characters; the target takes {most:,}"
    assert reported == [(Level.IMPOSSIBLE, "/capabilities/0/description", message)][:excess]
