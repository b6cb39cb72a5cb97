"""The tools and resources that the official conformance suite calls, as a provider of our own application."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.exceptions import MCPError

from droidgate.serving.tool_documents import write_tools
from droidgate.serving.tools import (
    ListChange,
    ResourceContent,
    ServedResource,
    ServedTool,
    ToolCall,
    ToolOutcome,
    ToolSnapshot,
    UnknownResourceError,
    UnknownToolError,
    UserAnswer,
    UserQuestion,
)
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    AnyType,
    ArrayType,
    ObjectType,
    OneOfType,
    Property,
    RefType,
    ScalarType,
    Type,
)
from droidgate_mcp.format import HANDSHAKE, MODERN
from droidgate_mcp.wire import DeclaredOutput, McpToolFailure, McpToolResult

MISSING_CAPABILITY = -32021
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = base64.b64encode(
    b"RIFF\x25\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0data\1\0\0\0\x80"
).decode()

NOTHING: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
JSON_SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
     "contactMethod": {"type": "string", "enum": ["phone", "email"]}, "phone": {"type": "string"},
     "email": {"type": "string"}},
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}  # fmt: skip
CUSTOM_HEADERS: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"},
     "priority": {"type": "integer", "x-mcp-header": "Priority"}},
}  # fmt: skip
USER_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"username": {"type": "string", "description": "User's response"},
     "email": {"type": "string", "description": "User's email address"}},
    "required": ["username", "email"],
}  # fmt: skip
DEFAULTS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
}
ENUMS_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)],
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]},
        },
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": [{"const": f"value{n}", "title": f"Choice {n}"} for n in (1, 2, 3)]},
        },
    },
}


def form(**types: str) -> dict[str, Any]:
    properties = {name: {"type": type_} for name, type_ in types.items()}
    return {"type": "object", "properties": properties, "required": list(types)}


def text(words: str) -> ToolOutcome:
    return ToolOutcome(McpToolResult(words))


def blocks(*content: Mapping[str, Any]) -> ToolOutcome:
    return ToolOutcome(McpToolResult(content=tuple(dict(block) for block in content)))


def tool(name: str, schema: Mapping[str, Any] = NOTHING) -> ServedTool:
    document = {"name": name, "description": f"Fixture {name}", "inputSchema": dict(schema)}
    return ServedTool(name, {HANDSHAKE: document, MODERN: document})


Run = Callable[["FixtureTools", ToolCall], Awaitable[ToolOutcome]]


def returns(outcome: ToolOutcome) -> Run:
    async def run(_tools: "FixtureTools", _call: ToolCall) -> ToolOutcome:
        return outcome

    return run


def embedded(uri: str, mime_type: str, words: str) -> dict[str, Any]:
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": words}}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": SILENCE, "mimeType": "audio/wav"}
EMBEDDED = embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
MIXED = (
    {"type": "text", "text": "Multiple content types test:"},
    IMAGE,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
)
simple_text = returns(text("This is a simple text response for testing."))
failure = returns(
    ToolOutcome(McpToolResult(failure=McpToolFailure("backend_failure", "This tool always fails")))
)


async def progress(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    for done in (0, 50, 100):
        if call.report_progress is not None:
            await call.report_progress(done, 100)
        await anyio.sleep(0.05)
    return text("done")


def asking(key: str, message: str, schema: Mapping[str, Any], done: str = "Elicitation completed") -> Run:
    async def run(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
        answer = await call.ask(UserQuestion(key, str(call.arguments.get("message", message)), schema))
        return text(f"{done}: action={answer.outcome}, content={dict(answer.fields)}")

    return run


async def multi_round(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    name = await call.ask(UserQuestion("step1", "Step 1: What is your name?", form(name="string")))
    if name.outcome != "accepted":
        return text(f"step 1: {name.outcome}")
    color = await call.ask(
        UserQuestion("step2", "Step 2: What is your favorite color?", form(color="string"))
    )
    return text(f"{dict(name.fields)} {color.outcome} {dict(color.fields)}")


async def missing_capability(_tools: "FixtureTools", _call: ToolCall) -> ToolOutcome:
    needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
    raise MCPError(code=MISSING_CAPABILITY, message="sampling is required", data=needed)


async def change_tools(tools: "FixtureTools", _call: ToolCall) -> ToolOutcome:
    tools.report("tools")
    return text("changed")


async def greet(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    return text(f"Hello, {call.arguments['name']}!")


async def slow_compute(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    await anyio.sleep(float(str(call.arguments["seconds"])))
    return text("computed")


async def failing_job(tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    if not call.may_become_task:
        extensions: dict[str, Any] = {"io.modelcontextprotocol/tasks": {}}
        needed = {"requiredCapabilities": {"extensions": extensions}}
        raise MCPError(code=MISSING_CAPABILITY, message="it needs a task", data=needed)
    await anyio.sleep(1)
    return await failure(tools, call)


async def protocol_error_job(_tools: "FixtureTools", _call: ToolCall) -> ToolOutcome:
    await anyio.sleep(1)
    raise MCPError(code=-32603, message="it failed")


def later(run: Run) -> Run:
    async def run_later(tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
        await anyio.sleep(1)
        return await run(tools, call)

    return run_later


async def multi_input(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    async def ask(key: str) -> None:
        answers.append(await call.ask(UserQuestion(key, "What is your name?", form(name="string"))))

    answers: list[UserAnswer] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, "first")
        tasks.start_soon(ask, "second")
    return text(str(answers))


async def ask_twice(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    question = UserQuestion("confirm", "Delete it?", form(confirm="boolean"))
    return text(f"{(await call.ask(question)).outcome} {(await call.ask(question)).outcome}")


async def task_after_question(_tools: "FixtureTools", call: ToolCall) -> ToolOutcome:
    answer = await call.ask(UserQuestion("user_name", "What is your name?", form(name="string")))
    if answer.outcome == "accepted":
        await anyio.sleep(1)
    return text(f"Hello, {answer.fields.get('name')}!")


RUNS: dict[str, tuple[Run, Mapping[str, Any]]] = {
    "test_simple_text": (simple_text, NOTHING),
    "test_image_content": (returns(blocks(IMAGE)), NOTHING),
    "test_audio_content": (returns(blocks(AUDIO)), NOTHING),
    "test_embedded_resource": (returns(blocks(EMBEDDED)), NOTHING),
    "test_multiple_content_types": (returns(blocks(*MIXED)), NOTHING),
    "test_error_handling": (failure, NOTHING),
    "test_tool_with_progress": (progress, NOTHING),
    "test_logging_tool": (simple_text, NOTHING),
    "test_missing_capability": (missing_capability, NOTHING),
    "test_trigger_tool_change": (change_tools, NOTHING),
    "json_schema_2020_12_tool": (simple_text, JSON_SCHEMA_2020_12),
    "test_custom_headers": (simple_text, CUSTOM_HEADERS),
    "test_elicitation": (asking("user", "", USER_FORM), form(message="string")),
    "test_elicitation_sep1034_defaults": (asking("user", "Defaults", DEFAULTS_FORM), NOTHING),
    "test_elicitation_sep1330_enums": (asking("user", "Enums", ENUMS_FORM), NOTHING),
    "test_streaming_elicitation": (asking("user", "Stream", form(ok="boolean")), NOTHING),
    "test_input_required_result_elicitation":
        (asking("user_name", "What is your name?", form(name="string")), NOTHING),
    "test_input_required_result_request_state":
        (asking("confirm", "Please confirm", form(ok="boolean"), "state-ok"), NOTHING),
    "test_input_required_result_tampered_state":
        (asking("confirm", "Please confirm", form(ok="boolean")), NOTHING),
    "test_input_required_result_multi_round": (multi_round, NOTHING),
    "greet": (greet, form(name="string")),
    "slow_compute": (slow_compute, form(seconds="number")),
    "failing_job": (failing_job, NOTHING),
    "protocol_error_job": (protocol_error_job, NOTHING),
    "confirm_delete": (later(asking("confirm", "Delete it?", form(confirm="boolean"))), NOTHING),
    "multi_input": (later(multi_input), NOTHING),
    "ask_twice": (later(ask_twice), NOTHING),
    "test_tool_with_task": (task_after_question, NOTHING),
}  # fmt: skip

RESOURCES = {
    "test://static-text": ResourceContent("test://static-text", "text/plain", "This is the content."),
    "test://static-binary": ResourceContent("test://static-binary", "image/png", base64.b64decode(PIXEL)),
    "test://template/123/data": ResourceContent("test://template/123/data", "application/json",
     '{"id":"123","templateTest":true}'),
}  # fmt: skip


class FixtureTools:
    """A provider whose tools are functions."""

    instructions: str | None = None

    def __init__(self, runs: Mapping[str, tuple[Run, Mapping[str, Any]]] = RUNS) -> None:
        self.runs = dict(runs)
        self.report: Callable[[ListChange], None] = lambda _change: None
        self.calls: list[ToolCall] = []

    @asynccontextmanager
    async def run(self, on_change: Callable[[ListChange], None]) -> AsyncIterator[None]:
        self.report = on_change
        yield

    def snapshot(self) -> ToolSnapshot:
        return ToolSnapshot(
            tuple(tool(name, schema) for name, (_, schema) in self.runs.items()),
            tuple(
                ServedResource(resource.uri, resource.uri, resource.mime_type)
                for resource in RESOURCES.values()
            ),
        )

    async def call(self, call: ToolCall) -> ToolOutcome:
        self.calls.append(call)
        if call.tool not in self.runs:
            raise UnknownToolError(f"unknown tool {call.tool!r}")
        run, _ = self.runs[call.tool]
        return await run(self, call)

    async def read_resource(self, uri: str, client: str) -> ResourceContent:
        del client
        if uri not in RESOURCES:
            raise UnknownResourceError(f"unknown resource {uri!r}")
        return RESOURCES[uri]


TEXT = ScalarType(kind="string")
VOID = ScalarType(kind="null")
NOTE = ObjectType(properties={"title": Property(type=TEXT, required=True)})
MAYBE_NOTE = NOTE.model_copy(update={"nullable": True})
DEFINITIONS: dict[str, Type] = {"Note": NOTE, "MaybeNote": MAYBE_NOTE}

# Tool -> what it declares, what it returns, and the text of its result.
RESULTS: dict[str, tuple[Type | None, Json, str]] = {
    "void": (VOID, None, "Done."),
    "undeclared_nothing": (None, None, "Done."),
    "undeclared_empty_text": (None, "", '""'),
    "undeclared_empty_list": (None, [], "[]"),
    "any_null": (AnyType(), None, "null"),
    "any_text": (AnyType(), "x", "x"),
    "true_null": (AnyType(boolean=True), None, "null"),
    "object_of_any_null": (AnyType(keywords={"type": ["object", "null"]}), None, "null"),
    "text": (TEXT, "x", "x"),
    "empty_text": (TEXT, "", '""'),
    "zero": (ScalarType(kind="int32"), 0, "0"),
    "false": (ScalarType(kind="boolean"), False, "false"),
    "nullable_text_null": (TEXT.model_copy(update={"nullable": True}), None, "null"),
    "nullable_text": (TEXT.model_copy(update={"nullable": True}), "x", "x"),
    "empty_list": (ArrayType(items=TEXT), [], "[]"),
    "list_of_null": (ArrayType(items=AnyType()), [None], "[null]"),
    "nullable_list_null": (ArrayType(items=TEXT, nullable=True), None, "null"),
    "object": (NOTE, {"title": ""}, '{"title":""}'),
    "empty_object": (ObjectType(), {}, "{}"),
    "nullable_object_null": (MAYBE_NOTE, None, "null"),
    "nullable_object": (MAYBE_NOTE, {"title": "x"}, '{"title":"x"}'),
    "reference_null": (RefType(name="MaybeNote"), None, "null"),
    "nullable_reference_null": (RefType(name="Note", nullable=True), None, "null"),
    "one_of_null": (OneOfType(alternatives=(NOTE, VOID)), None, "null"),
    "any_of_null": (OneOfType(alternatives=(RefType(name="MaybeNote"), TEXT), exclusive=False), None, "null"),
    "all_of_null": (AllOfType(members=(MAYBE_NOTE, RefType(name="MaybeNote"))), None, "null"),
    "enum_null": (TEXT.model_copy(update={"nullable": True, "enum": ("a",)}), None, "null"),
}

# Tools whose app declares a result and returns none.
MISSING: dict[str, tuple[Type | None, Json, str]] = {
    "missing_text": (TEXT, None, ""),
    "missing_object": (NOTE, None, ""),
    "missing_reference": (RefType(name="Note"), None, ""),
    "missing_of_implicit_type": (ObjectType(implicit=True), None, ""),
}


def object_of(**members: Type) -> ObjectType:
    return ObjectType(
        properties={name: Property(type=type_, required=True) for name, type_ in members.items()}
    )


# What is written in few bytes: definitions that are used once, twice or in themselves, and bounds.
INT32 = ScalarType(kind="int32")
DEFINITIONS |= {
    "a.b.Moment": object_of(hour=INT32, minute=INT32),
    "a.b.Place": object_of(name=TEXT),
    "a.b.Step": object_of(text=TEXT, steps=ArrayType(items=RefType(name="a.b.Step"))),
    "a.b.Visit": object_of(
        start=RefType(name="a.b.Moment"),
        end=RefType(name="a.b.Moment", nullable=True),
        place=OneOfType(alternatives=(RefType(name="a.b.Place"), INT32)),
        steps=ArrayType(items=RefType(name="a.b.Step")),
    ),
}
VISIT: dict[str, Any] = {
    "start": {"hour": 8, "minute": 2**31 - 1},
    "end": None,
    "place": {"name": "Oslo"},
    "steps": [{"text": "a", "steps": [{"text": "b", "steps": []}]}],
}
OTHER_VISIT = {**VISIT, "end": VISIT["start"], "place": -(2**31), "steps": []}
UNFIT_VISITS: dict[str, Any] = {
    "no_member": {name: value for name, value in VISIT.items() if name != "steps"},
    "not_an_object": {**VISIT, "start": 8},
    "not_an_integer": {**VISIT, "end": {"hour": 8, "minute": 0.5}},
    "null_in_a_choice": {**VISIT, "place": None},
    "no_member_in_a_choice": {**VISIT, "place": {}},
    "no_member_in_itself": {**VISIT, "steps": [{"text": "a", "steps": [{"text": "b"}]}]},
}


class ResultTools(FixtureTools):
    """A provider whose tools are written of a model, and return `RESULTS` and `MISSING`, or others."""

    def __init__(self, results: Mapping[str, tuple[Type | None, Json, str]] | None = None) -> None:
        super().__init__({})
        self.results = {**RESULTS, **MISSING} if results is None else dict(results)
        provider = Provider(
            protocol="mmcp",
            package="com.example.results",
            component=".Tools",
            definitions=DEFINITIONS,
            capabilities=tuple(
                Capability(id=name, input=ObjectType(), output=output)
                for name, (output, _, _) in self.results.items()
            ),
        )
        documents, _ = write_tools(provider)
        self.tools = tuple(map(ServedTool, self.results, documents))

    def snapshot(self) -> ToolSnapshot:
        return ToolSnapshot(self.tools)

    async def call(self, call: ToolCall) -> ToolOutcome:
        output, value, _ = self.results[call.tool]
        return ToolOutcome(McpToolResult(value), DeclaredOutput(output, DEFINITIONS))
