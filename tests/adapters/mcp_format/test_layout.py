"""Converted to another format, the layout of an MCP document is not a loss; each further field is one."""

import pytest

from adapters.mcp_format.tool_lists import read_one
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json

PLAIN = {"name": "a", "description": "Adds.", "inputSchema": {"type": "object"}}
TARGETS = ("appfunctions", "mmcp", "mobile-mcp")


def _convert(document: Json, target: str) -> list[Finding]:
    format = load_formats()[target]
    assert format.write is not None
    provider = read_one(document)
    findings = format.write(provider, format.dialect(None)).findings
    return [finding for finding in findings if "/extensions/mcp/" in finding.pointer]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("document", [
    [PLAIN],
    {"tools": [PLAIN], "nextCursor": "abc"},
    {"tools": [PLAIN], "serverInfo": {"name": "a", "title": "A", "version": "1"}},
    {"tools": [PLAIN], "server": {"name": "a", "version": "1"}},
    {"tools": [PLAIN], "name": "a", "version": "1"},
    {"tools": [{**PLAIN, "annotations": {"title": "A"}}]},
    {"tools": [{**PLAIN, "title": "A", "annotations": {"title": "A"}}]},
    {"tools": [{**PLAIN, "annotations": {}}]},
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": [PLAIN]}},
    {"tools": [PLAIN], "resultType": "complete", "ttlMs": 5, "cacheScope": "public"},
    {"tools": [PLAIN], "protocolVersion": "2025-06-18"},
    {"tools": [PLAIN], "$schema": "https://example.com/schema.json"},
    {"jsonrpc": "2.0", "id": 1, "result": {"tools": [PLAIN], "nextCursor": "abc"}},
])  # fmt: skip
def test_layout_is_never_more_than_a_spelling(document: Json, target: str) -> None:
    findings = _convert(document, target)
    assert {finding.level for finding in findings} <= {Level.RENAMED}
    assert {finding.code for finding in findings} <= {"notation-dropped"}


@pytest.mark.parametrize("target", TARGETS)
def test_each_further_field_has_a_finding_of_its_own(target: str) -> None:
    document = {
        "protocolVersion": "2025-06-18",
        "serverInfo": {"name": "a", "version": "1", "websiteUrl": "https://example.com"},
        "capabilities": {"tools": {}},
        "prompts": [],
        "resources": [{"uri": "x:y"}],
        "x/vendor": 1,
        "_meta": {"com.example/a": 1, "com.example/b": 2},
        "tools": [
            {
                **PLAIN,
                "icons": [{"src": "data:,"}],
                "annotations": {"vendorHint": True},
                "_meta": {"com.example/c": 3, "d": 4},
            }
        ],
    }
    dropped = [item.pointer for item in _convert(document, target) if item.level == Level.DROPPED]
    assert sorted(dropped) == sorted(
        [
            "/extensions/mcp/~1serverInfo~1websiteUrl",
            "/extensions/mcp/~1capabilities",
            "/extensions/mcp/~1prompts",
            "/extensions/mcp/~1resources",
            "/extensions/mcp/~1x~01vendor",
            "/extensions/mcp/~1_meta~1com.example~01a",
            "/extensions/mcp/~1_meta~1com.example~01b",
            "/capabilities/0/extensions/mcp/icons",
            "/capabilities/0/extensions/mcp/~1annotations~1vendorHint",
            "/capabilities/0/extensions/mcp/~1_meta~1com.example~01c",
            "/capabilities/0/extensions/mcp/~1_meta~1d",
        ]
    )


def test_a_title_of_annotations_that_no_client_shows_is_dropped() -> None:
    document = {"tools": [{**PLAIN, "title": "A", "annotations": {"title": "B"}}]}
    (finding,) = _convert(document, "mmcp")
    assert finding.level == Level.DROPPED
    assert finding.pointer == "/capabilities/0/extensions/mcp/~1annotations~1title"
