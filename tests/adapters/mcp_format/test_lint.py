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

PLAIN: dict[str, Any] = {"name": "a", "description": "Does it.", "inputSchema": {"type": "object"}}
MODERN: dict[str, Json] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

UNSEEN_BY_TYPES = {"mcp-name-unique"}

FAILING: list[tuple[str, Json]] = [
    ("mcp-tool", result("a")),
    ("mcp-name", result({**PLAIN, "name": 3})),
    ("mcp-name", result({"description": "Does it.", "inputSchema": {"type": "object"}})),
    ("mcp-name-form", result({**PLAIN, "name": "a b"})),
    ("mcp-name-form", result({**PLAIN, "name": ""})),
    ("mcp-name-form", result({**PLAIN, "name": "n" * 129})),
    ("mcp-name-unique", result(PLAIN, PLAIN)),
    ("mcp-text", result({**PLAIN, "title": 3})),
    ("mcp-description", result({"name": "a", "inputSchema": {"type": "object"}})),
    ("mcp-input-schema", result({"name": "a", "description": "Does it."})),
    ("mcp-input-schema", result({**PLAIN, "inputSchema": {"properties": {}}})),
    ("mcp-input-schema", result({**PLAIN, "inputSchema": {"type": ["object"]}})),
    ("mcp-output-schema", result({**PLAIN, "outputSchema": {"type": "array"}})),
    ("mcp-output-schema", result({**PLAIN, "outputSchema": True}, **MODERN)),
    ("mcp-schema-properties", result({**PLAIN, "inputSchema": {"type": "object",
        "properties": {"x": "string"}}})),
    ("mcp-schema-properties", result({**PLAIN, "inputSchema": {"type": "object", "required": "x"}})),
    ("mcp-required-unknown", result({**PLAIN, "inputSchema": {"type": "object", "required": ["x"]}})),
    ("mcp-annotations", result({**PLAIN, "annotations": []})),
    ("mcp-annotations", result({**PLAIN, "annotations": {"readOnlyHint": "maybe"}})),
    ("mcp-annotations", result({**PLAIN, "annotations": {"title": 3}})),
    ("mcp-hints-disagree", result({**PLAIN, "annotations": {"readOnlyHint": True, "destructiveHint": True}})),
    ("mcp-meta", result({**PLAIN, "_meta": 3})),
    ("mcp-icons", result({**PLAIN, "icons": [{"mimeType": "image/png"}]})),
    ("mcp-member-unknown", result({**PLAIN, "strict": True})),
    ("mcp-caching", result(PLAIN, ttlMs=0)),
    ("mcp-caching", result(PLAIN, **{**MODERN, "ttlMs": -1})),
    ("mcp-caching", result(PLAIN, **{**MODERN, "cacheScope": []})),
    ("mcp-page", result(PLAIN, nextCursor="abc")),
]  # fmt: skip
PASSING: list[Json] = [
    result(PLAIN),
    result(WEATHER, {**TREE, "description": "Stores it."}, RICH),
    [PLAIN, {**PLAIN, "name": "b"}],
    result(PLAIN, **MODERN),
    result({**PLAIN, "outputSchema": {"type": "array"}}, **MODERN),
    result({**PLAIN, "inputSchema": {"type": "object", "required": ["x"], "properties": {"x": True}}}),
    result({**PLAIN, "annotations": {"readOnlyHint": False, "destructiveHint": True, "other": 1}}),
    {"jsonrpc": "2.0", "id": 1, "result": result(PLAIN)},
]


@pytest.mark.parametrize(("rule", "document"), FAILING)
def test_a_list_breaks_the_rule(rule: str, document: Json) -> None:
    assert {finding.code for finding in lint(document)} == {rule}


@pytest.mark.parametrize("document", PASSING)
def test_a_list_keeps_every_rule(document: Json) -> None:
    assert lint(document) == ()


def test_every_rule_has_a_list_that_breaks_it() -> None:
    assert RULES.keys() == {rule for rule, _ in FAILING}


@pytest.mark.requires("mcp-types")
@pytest.mark.parametrize("document", [*(item for _, item in FAILING), *PASSING])
def test_errors_are_what_the_sdk_objects_to(document: Json) -> None:
    from mcp_types import _v2025_11_25, _v2026_07_28  # noqa: PLC0415 - only where the part is there
    from pydantic import ValidationError  # noqa: PLC0415

    errors = {finding.code for finding in lint(document) if finding.level is Level.ERROR} - UNSEEN_BY_TYPES
    plain: Any = {"tools": document} if isinstance(document, list) else document.get("result", document)
    schema = _v2025_11_25 if plain.keys().isdisjoint(MODERN) else _v2026_07_28
    with pytest.raises(ValidationError) if errors else nullcontext():
        schema.ListToolsResult.model_validate_json(json.dumps(plain))


def test_null_is_not_a_text_though_the_sdk_takes_it_for_absent() -> None:
    assert [finding.code for finding in lint(result({**PLAIN, "title": None}))] == ["mcp-text"]


def test_a_finding_names_rule_place_and_way_out() -> None:
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
        assert {finding.level for finding in lint(artifact.text)} <= {Level.NOTE}
