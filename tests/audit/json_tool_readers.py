"""MCP `tools/list` and mMCP manifests, read from their specifications with json and lxml alone."""

import json
from typing import Any, Final

from audit.android_reader import (
    Files,
    attribute,
    component_access,
    components_with_action,
    manifest_of,
    meta_data,
    text_of,
)
from audit.declared import Declared, Shape, Tool, token
from audit.schema_reader import WORDS, read_root

_HINTS: Final = {
    "readOnlyHint": "read_only",
    "destructiveHint": "destructive",
    "idempotentHint": "idempotent",
    "openWorldHint": "open_world",
}
_MCP_KEYS: Final = frozenset(
    {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}
)
_ADVERTISE: Final = "com.example.mMCP.ACTION_TOOL_ADVERTISE"
_DRAFT_WORDS: Final = {**WORDS, "int": "int64", "float": "double", "bool": "boolean"}


def read_mcp(text: str) -> Declared:
    """Read a `tools/list` result, a JSON-RPC response around one, or a bare array of tools."""
    document = json.loads(text)
    declared = Declared("mcp")
    if isinstance(document, dict) and "result" in document:
        document = document["result"]
    tools = document["tools"] if isinstance(document, dict) else document
    if isinstance(document, dict):
        declared.notes.append(document.get("_meta", {}))
    for tool in tools:
        declared.tools.append(_read_mcp_tool(tool, declared))
    return declared


def _read_mcp_tool(tool: dict[str, Any], declared: Declared) -> Tool:
    annotations = tool.get("annotations") or {}
    declared.notes.append(tool.get("_meta", {}))
    facts = {f"mcp/{key}": value for key, value in tool.items() if key not in _MCP_KEYS}
    title = tool.get("title", annotations.get("title"))
    for key, value in annotations.items():
        if key not in _HINTS and not (key == "title" and value == title):
            facts[f"mcp/{token(f'/annotations/{token(key)}')}"] = value
    for key, value in tool.get("_meta", {}).items():
        if not key.startswith("dev.droidgate/"):
            facts[f"mcp/{token(f'/_meta/{token(key)}')}"] = value
    output = tool.get("outputSchema")
    return Tool(
        id=tool["name"],
        title=title,
        description=tool.get("description"),
        effects={_HINTS[key]: value for key, value in annotations.items() if key in _HINTS},
        input=read_root(tool.get("inputSchema", {"type": "object"}), declared.definitions, declared.notes),
        output=None if output is None else read_root(output, declared.definitions, declared.notes),
        input_schema=tool.get("inputSchema", {"type": "object"}),
        output_schema=output,
        facts=facts,
    )


def read_mmcp(files: Files) -> Declared:
    """Read the first activity that advertises tools: its access, and the JSON of its meta-data."""
    manifest = manifest_of(files)
    activity = next(components_with_action(manifest, ("activity", "service"), _ADVERTISE))
    application = activity.getparent()
    stated = meta_data(activity, "mMCP_manifest")
    text = text_of(attribute(stated, "value"), files)
    document = json.loads(text or "", strict=False)
    declared = Declared(
        "mmcp",
        package=manifest.get("package"),
        component=attribute(activity, "name"),
        name=text_of(attribute(activity, "label") or attribute(application, "label"), files),
        description=document.get("appDescription"),
        instructions=document.get("instructions"),
        access=component_access(activity, files),
    )
    for tool in document["tools"]:
        # Parameters are always sent as a JSON object, so an empty schema is one without properties.
        schema = tool.get("parameters") or {"type": "object"}
        declared.tools.append(
            Tool(
                id=tool["name"],
                description=tool.get("description"),
                input=read_root(schema, declared.definitions, declared.notes),
                output=_read_return(tool["return"]) if "return" in tool else None,
                input_schema=schema,
            )
        )
    return declared


def _read_return(words: dict[str, str]) -> Shape:
    """Read the first draft's `return`: a map from a name to a type word; a tool returns what it declares."""
    properties = {name: Shape(_DRAFT_WORDS[word.lower()]) for name, word in words.items()}
    return Shape("object", properties=properties, required=frozenset(properties))
