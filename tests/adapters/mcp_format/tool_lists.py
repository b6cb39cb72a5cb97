"""Tool lists typed by hand after the MCP schema, and short ways to read, write and lint them."""

import json
from typing import Any

from droidgate_mappings.formats.format import Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json
from droidgate_mcp.format import FORMAT
from droidgate_mcp.lint import lint_file
from mappings.fit.capacities import write_for

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "title": "Weather",
    "description": "Returns the weather of a city.",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Name of the city"},
            "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "outputSchema":
        {"type": "object", "properties": {"temperature": {"type": "number"}}, "required": ["temperature"]},
    "annotations": {"readOnlyHint": True, "openWorldHint": True},
}  # fmt: skip
TREE: dict[str, Any] = {
    "name": "store_tree",
    "inputSchema": {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": {"type": "object", "properties": {"children": {"type": "array",
            "items": {"$ref": "#/$defs/Node"}}}}},
    },
}  # fmt: skip
RICH: dict[str, Any] = {
    "name": "scan.page",
    "description": "Scans a page.",
    "inputSchema": {"type": "object"},
    "annotations": {"title": "Scan", "destructiveHint": False, "vendorHint": [1, 2]},
    "icons": [{"src": "data:image/png;base64,AA==", "mimeType": "image/png", "sizes": ["48x48"]}],
    "execution": {"taskSupport": "optional"},
    "_meta": {"com.example/cost": 3},
}


def result(*tools: Json, **members: Json) -> dict[str, Json]:
    return {"tools": list(tools), **members}


def source(document: Json, path: str = "tools.json") -> SourceFile:
    text = document if isinstance(document, str) else json.dumps(document)
    return SourceFile(path, text.encode())


def read(document: Json, *, strict: bool = False) -> Reading:
    return FORMAT.read_file(source(document), ReadingContext(strict=strict))


def read_one(document: Json, *, strict: bool = True) -> Provider:
    (provider,) = read(document, strict=strict).providers
    return provider


def write(provider: Provider, dialect: str | None = None) -> Writing:
    return write_for(provider, f"mcp+{dialect}" if dialect else "mcp")


def written(provider: Provider, dialect: str | None = None) -> Any:
    (artifact,) = write(provider, dialect).artifacts
    return json.loads(artifact.text)


def lint(document: Json) -> tuple[Finding, ...]:
    return lint_file(source(document))
