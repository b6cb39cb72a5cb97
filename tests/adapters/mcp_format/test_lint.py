"""Each rule fails on one list and passes on another, and the MCP SDK's types object to the same lists."""

import json
from contextlib import nullcontext
from random import Random
from typing import Any

import pytest

from adapters.mcp_format.tool_lists import RICH, TREE, WEATHER, lint, result, write
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.findings import Level
from droidgate_mappings.model.json_values import Json
from droidgate_mcp.lint import RULES
from strategies import random_provider
from titled_rows import titled

PLAIN: dict[str, Any] = {"name": "a", "description": "Does it.", "inputSchema": {"type": "object"}}
MODERN: dict[str, Json] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

UNSEEN_BY_TYPES = {"mcp-name-unique"}

FAILING: dict[str, tuple[str, Json]] = {
    "a tool is a text": ("mcp-tool", result("a")),
    "a name is a number": ("mcp-name", result({**PLAIN, "name": 3})),
    "no name": ("mcp-name", result({"description": "Does it.", "inputSchema": {"type": "object"}})),
    "a name has a space": ("mcp-name-form", result({**PLAIN, "name": "a b"})),
    "a name is empty": ("mcp-name-form", result({**PLAIN, "name": ""})),
    "a name has 129 characters": ("mcp-name-form", result({**PLAIN, "name": "n" * 129})),
    "two tools have one name": ("mcp-name-unique", result(PLAIN, PLAIN)),
    "a title is a number": ("mcp-text", result({**PLAIN, "title": 3})),
    "no description": ("mcp-description", result({"name": "a", "inputSchema": {"type": "object"}})),
    "a tool has no input schema": ("mcp-input-schema", result({"name": "a", "description": "Does it."})),
    "an input schema has no type": ("mcp-input-schema", result({**PLAIN, "inputSchema": {"properties": {}}})),
    "a list as input type": ("mcp-input-schema", result({**PLAIN, "inputSchema": {"type": ["object"]}})),
    "an array before 2026": ("mcp-output-schema", result({**PLAIN, "outputSchema": {"type": "array"}})),
    "an output schema is true": ("mcp-output-schema", result({**PLAIN, "outputSchema": True}, **MODERN)),
    "a property is a text": ("schema-form", result({**PLAIN, "inputSchema": {"type": "object",
        "properties": {"x": "string"}}})),
    "the required names are a text":
        ("schema-form", result({**PLAIN, "inputSchema": {"type": "object", "required": "x"}})),
    "a required name is not a property":
        ("schema-required-unknown", result({**PLAIN, "inputSchema": {"type": "object", "required": ["x"]}})),
    "annotations are a list": ("mcp-annotations", result({**PLAIN, "annotations": []})),
    "a hint is a text": ("mcp-annotations", result({**PLAIN, "annotations": {"readOnlyHint": "maybe"}})),
    "a number as title": ("mcp-annotations", result({**PLAIN, "annotations": {"title": 3}})),
    "a tool is read-only and destructive": ("mcp-hints-disagree",
        result({**PLAIN, "annotations": {"readOnlyHint": True, "destructiveHint": True}})),
    "_meta is a number": ("mcp-meta", result({**PLAIN, "_meta": 3})),
    "an icon has no address": ("mcp-icons", result({**PLAIN, "icons": [{"mimeType": "image/png"}]})),
    "a member is unknown": ("mcp-member-unknown", result({**PLAIN, "strict": True})),
    "only one member of the caching is there": ("mcp-caching", result(PLAIN, ttlMs=0)),
    "a list is kept for less than nothing": ("mcp-caching", result(PLAIN, **{**MODERN, "ttlMs": -1})),
    "a scope of caching is a list": ("mcp-caching", result(PLAIN, **{**MODERN, "cacheScope": []})),
    "an execution is a text": ("mcp-execution", result({**PLAIN, "execution": "forbidden"})),
    "support of tasks is another word":
        ("mcp-execution", result({**PLAIN, "execution": {"taskSupport": "maybe"}})),
    "a list has further pages": ("mcp-page", result(PLAIN, nextCursor="abc")),
}  # fmt: skip
PASSING: dict[str, Json] = {
    "the plainest tool": result(PLAIN),
    "tools with all that there is": result(WEATHER, {**TREE, "description": "Stores it."}, RICH),
    "a bare array of tools": [PLAIN, {**PLAIN, "name": "b"}],
    "a list of 2026": result(PLAIN, **MODERN),
    "an output is an array in 2026": result({**PLAIN, "outputSchema": {"type": "array"}}, **MODERN),
    "a required property takes any value":
        result({**PLAIN, "inputSchema": {"type": "object", "required": ["x"], "properties": {"x": True}}}),
    "a tool that is not read-only may be destructive":
        result({**PLAIN, "annotations": {"readOnlyHint": False, "destructiveHint": True, "other": 1}}),
    "support of tasks is required": result({**PLAIN, "execution": {"taskSupport": "required"}}),
    "a whole answer of JSON-RPC": {"jsonrpc": "2.0", "id": 1, "result": result(PLAIN)},
}  # fmt: skip


@titled(("rule", "document"), FAILING)
def test_a_list_breaks_the_rule(rule: str, document: Json) -> None:
    assert {finding.code for finding in lint(document)} == {rule}


@titled("document", PASSING)
def test_a_list_keeps_every_rule(document: Json) -> None:
    assert lint(document) == ()


def test_every_rule_has_a_list_that_breaks_it() -> None:
    assert RULES.keys() == {rule for rule, _ in FAILING.values() if rule.startswith("mcp-")}


@pytest.mark.requires("mcp-types")
@pytest.mark.parametrize(
    "document", [*(item for _, item in FAILING.values()), *PASSING.values()], ids=[*FAILING, *PASSING]
)
def test_errors_are_what_the_sdk_objects_to(document: Json) -> None:
    from mcp_types import _v2025_11_25, _v2026_07_28
    from pydantic import ValidationError

    errors = {finding.code for finding in lint(document) if finding.level is Level.ERROR} - UNSEEN_BY_TYPES
    plain: Any = {"tools": document} if isinstance(document, list) else document.get("result", document)
    schema = _v2025_11_25 if plain.keys().isdisjoint(MODERN) else _v2026_07_28
    with pytest.raises(ValidationError) if errors else nullcontext():
        schema.ListToolsResult.model_validate_json(json.dumps(plain))


def test_null_is_not_a_text_though_the_sdk_takes_it_for_absent() -> None:
    assert [finding.code for finding in lint(result({**PLAIN, "title": None}))] == ["mcp-text"]


def test_a_finding_names_rule_place_and_fix() -> None:
    (finding,) = lint(result({**PLAIN, "name": "a b"}))
    assert (finding.pointer, finding.level) == ("/tools/0/name", Level.WARNING)
    assert finding.rule == "MCP server/tools Tool Names"
    assert finding.hint
    assert finding.source is not None
    assert finding.source.path == "tools.json"


def test_what_holds_no_tools_cannot_be_linted() -> None:
    with pytest.raises(InputError):
        lint({"name": "a"})


@pytest.mark.parametrize("dialect", ["2025-11-25", "2026-07-28"])
def test_what_droidgate_writes_breaks_no_rule_above_a_note(dialect: str) -> None:
    for seed in range(300):
        (artifact,) = write(random_provider(Random(seed)), dialect).artifacts
        # What is wrong with a schema is wrong in the provider.
        findings = [finding for finding in lint(artifact.text) if not finding.code.startswith("schema-")]
        assert {finding.level for finding in findings} <= {Level.NOTE}
