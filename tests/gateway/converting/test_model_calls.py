"""A model's call leads to the capability that its tool was made of; what is not such a call is refused.

The calls are typed from the API references of the vendors; their own libraries make some, where installed.
"""

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import droidgate
from droidgate.cli import run
from droidgate_mappings.model.errors import InputError, UsageError
from requirements_of_tests import require
from titled_rows import titled

ARGUMENTS = {"title": "Milk", "tags": ["a"], "count": 3}
TOOL = {
    "name": "notes#create",
    "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "tags": {},
        "due date": {"type": "string"}}},
}  # fmt: skip
FUNCTION = {"name": "notes_create", "arguments": json.dumps(ARGUMENTS)}
RESPONSES = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **FUNCTION}
CHAT = {"id": "call_1", "type": "function", "function": FUNCTION}
CLAUDE = {"type": "tool_use", "id": "toolu_1", "name": "notes_create", "input": ARGUMENTS}
GEMINI = {"functionCall": {"id": "1", "name": "notes_create", "args": ARGUMENTS}, "thoughtSignature": "eA=="}
CALLS: dict[str, dict[str, Any]] = {
    "openai": RESPONSES, "openai-chat": CHAT, "anthropic": CLAUDE, "gemini": GEMINI,
}  # fmt: skip


LIBRARIES = {
    "openai": ("openai", "openai.types.responses", "ResponseFunctionToolCall"),
    "openai-chat": ("openai", "openai.types.chat", "ChatCompletionMessageFunctionToolCall"),
    "anthropic": ("anthropic", "anthropic.types", "ToolUseBlock"),
    "gemini": ("google-genai", "google.genai.types", "Part"),
}
"""Dialect -> distribution, module and type of a call."""


@pytest.fixture
def names(tmp_path: Path) -> dict[str, Path]:
    """Return `names.json` of each dialect, as `droidgate convert` writes it."""
    source = tmp_path / "list.json"
    source.write_text(json.dumps({"tools": [TOOL, {**TOOL, "name": "plain"}]}))
    for dialect in CALLS:
        target = f"function-calling+{dialect}"
        assert run(["convert", str(source), "--to", target, "-o", str(tmp_path / dialect), "-qq"]) == 0
    return {dialect: tmp_path / dialect / "names.json" for dialect in CALLS}


@pytest.mark.parametrize("dialect", CALLS)
def test_a_models_call_is_resolved_to_its_capability_by_a_file_a_document_or_a_conversion(
    dialect: str, names: dict[str, Path], tmp_path: Path
) -> None:
    conversion = droidgate.convert(tmp_path / "list.json", to=f"function-calling+{dialect}")
    for call in (CALLS[dialect], json.dumps(CALLS[dialect])):
        for name_map in (names[dialect], json.loads(names[dialect].read_text()), conversion):
            meant = droidgate.read_function_call(dialect, call, name_map)
            assert (meant.capability, meant.arguments) == ("notes#create", ARGUMENTS)
            assert meant.call_id in {"call_1", "toolu_1", "1"}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_objects_of_the_vendors_libraries_are_read(names: dict[str, Path]) -> None:
    objects = {}
    for dialect, (distribution, module, name) in LIBRARIES.items():
        require(distribution)
        objects[dialect] = getattr(importlib.import_module(module), name).model_validate(CALLS[dialect])
    for dialect, call in objects.items():
        meant = droidgate.read_function_call(dialect, call.model_dump(), names[dialect])
        assert (meant.capability, meant.arguments) == ("notes#create", ARGUMENTS)


@titled(("dialect", "call", "arguments"), {
    "a renamed parameter gets its own name back":
        ("anthropic", {**CLAUDE, "input": {"due_date": "today"}}, {"due date": "today"}),
    "a parameter that is not renamed keeps its name":
        ("openai", {**RESPONSES, "arguments": '{"due date": "today"}'}, {"due date": "today"}),
    "a function without arguments may leave them out where its API does": ("gemini", {"name": "plain"}, {}),
})  # fmt: skip
def test_arguments_have_the_names_of_the_capability(
    dialect: str, call: Any, arguments: dict[str, Any], names: dict[str, Path]
) -> None:
    assert droidgate.read_function_call(dialect, call, names[dialect]).arguments == arguments


def test_a_parameter_that_is_given_by_both_of_its_names_is_refused(names: dict[str, Path]) -> None:
    call = {**CLAUDE, "input": {"due_date": "today", "due date": "tomorrow"}}
    with pytest.raises(InputError, match="'due_date' and 'due date' are the same parameter"):
        droidgate.read_function_call("anthropic", call, names["anthropic"])


def test_a_function_of_two_apps_and_tools_of_another_dialect_are_refused(names: dict[str, Path]) -> None:
    name_map = json.loads(names["anthropic"].read_text())
    with pytest.raises(UsageError, match="not of 'gemini' tools"):
        droidgate.read_function_call("gemini", GEMINI, name_map)
    name_map["providers"] *= 2
    with pytest.raises(InputError, match="several apps"):
        droidgate.read_function_call("anthropic", CLAUDE, name_map)


def test_an_unknown_function_is_refused_with_the_closest_one(names: dict[str, Path]) -> None:
    with pytest.raises(InputError, match="unknown function 'notes_creat'") as caught:
        droidgate.read_function_call("anthropic", {**CLAUDE, "name": "notes_creat"}, names["anthropic"])
    assert "did you mean 'notes_create'" in (caught.value.hint or "")


DEEP: Any = {}
for _ in range(5_000):
    DEEP = {"a": DEEP}


@titled(("dialect", "call"), {
    "a chat call for a response": ("openai", CHAT),
    "a response for a chat call": ("openai-chat", RESPONSES),
    "a call of Gemini for one of Claude": ("anthropic", GEMINI),
    "a call of Claude with a text of Gemini": ("gemini", CLAUDE | {"functionCall": "x"}),
    "a call in progress": ("openai", {**RESPONSES, "status": "in_progress"}),
    "a state that is not a text": ("openai", {**RESPONSES, "status": {}}),
    "arguments that are empty": ("openai", {**RESPONSES, "arguments": ""}),
    "arguments that are a list": ("openai", {**RESPONSES, "arguments": "[1]"}),
    "arguments that are not numbers of JSON": ("openai", {**RESPONSES, "arguments": '{"a": NaN}'}),
    "an argument twice": ("openai", {**RESPONSES, "arguments": '{"a": 1, "a": 2}'}),
    "arguments that are too deep": ("openai", {**RESPONSES, "arguments": '{"a":' * 500 + "1" + "}" * 500}),
    "arguments that are not a text": ("openai", {**RESPONSES, "arguments": ARGUMENTS}),
    "a name that is a number": ("openai", {**RESPONSES, "name": 5}),
    "no function": ("openai-chat", {**CHAT, "function": None}),
    "no input": ("anthropic", {**CLAUDE, "input": None}),
    "an input that is not a number": ("anthropic", {**CLAUDE, "input": {"a": float("nan")}}),
    "an input that JSON cannot say": ("anthropic", {**CLAUDE, "input": {"a": {1, 2}}}),
    "an input with a number for a name": ("anthropic", {**CLAUDE, "input": {1: 2}}),
    "an input that is too deep": ("anthropic", {**CLAUDE, "input": DEEP}),
    "an id that is a list": ("anthropic", {**CLAUDE, "id": []}),
    "a list of arguments": ("gemini", {"functionCall": {"name": "plain", "args": [1]}}),
    "a call that continues": ("gemini", {"functionCall": {"name": "plain", "willContinue": True}}),
    "nothing": ("gemini", {}),
    "a list of calls": ("gemini", []),
    "a text that ends too early": ("anthropic", "{"),
})  # fmt: skip
def test_what_is_not_a_whole_call_is_refused(dialect: str, call: Any, names: dict[str, Path]) -> None:
    with pytest.raises(InputError):
        droidgate.read_function_call(dialect, call, names[dialect])


@titled("known", {
    "a file that is not there": "missing.json", "an empty object": {},
    "a map without a provider": {"target": {}, "providers": []}, "a file that is not JSON": b"{",
})  # fmt: skip
def test_what_is_not_a_name_map_is_refused_with_the_place_of_one(known: Any, tmp_path: Path) -> None:
    if isinstance(known, bytes):
        (tmp_path / "names.json").write_bytes(known)
        known = tmp_path / "names.json"
    with pytest.raises(InputError) as caught:
        droidgate.read_function_call("anthropic", CLAUDE, known)
    assert caught.value.place is not None or "names.json" in (caught.value.hint or "")


def test_names_of_a_format_that_models_do_not_call_are_refused() -> None:
    name_map = {"target": {"format": "mcp", "dialect": "2025-11-25"}, "providers": []}
    with pytest.raises(UsageError, match="the names are of tools in mcp"):
        droidgate.read_function_call("2025-11-25", CLAUDE, name_map)
