"""A Mobile-MCP service and its descriptor (Mobile MCP Specification 1.0, section 1), read with lxml alone."""

from typing import Any, Final

from lxml import etree

from audit.android_reader import (
    Files,
    attribute,
    component_access,
    components_with_action,
    manifest_of,
    meta_data,
    text_of,
)
from audit.declared import Declared, Shape, Tool

_ACTION: Final = "mobile.mcp.SERVICE"
TYPE_WORDS: Final = {
    "string": "string", "boolean": "boolean", "bool": "boolean", "integer": "int64", "int": "int64",
    "long": "int64", "short": "int64", "number": "double", "float": "double", "double": "double",
    "array": "array", "list": "array", "object": "object", "map": "object", "json": "object",
}  # fmt: skip
"""The six words, and those that reference 6 (row 5) has from real apps; any other word is a string."""


def read_mobile_mcp(files: Files) -> Declared:
    """Read the service, its name and description, and the descriptor that it points to."""
    manifest = manifest_of(files)
    service = next(components_with_action(manifest, ("service",), _ACTION))
    resource = attribute(meta_data(service, "mobile.mcp.tool.capabilities"), "resource") or ""
    declared = Declared(
        "mobile-mcp",
        package=manifest.get("package"),
        component=attribute(service, "name"),
        name=_text(service, "mobile.mcp.tool.name", files),
        description=_text(service, "mobile.mcp.tool.description", files),
        access=component_access(service, files),
    )
    foreground = attribute(service, "foregroundServiceType")
    if foreground is not None:
        declared.facts["mobile-mcp/foregroundServiceType"] = foreground
    root = etree.fromstring(files[f"res/{resource.removeprefix('@')}.xml"].encode())
    text = (root.text or "").strip()
    if text:
        declared.facts["mobile-mcp/text"] = text
    declared.tools.extend(_read_capability(item, files) for item in root.iterfind("capability"))
    return declared


def _text(service: Any, name: str, files: Files) -> str | None:
    stated = meta_data(service, name)
    return None if stated is None else text_of(attribute(stated, "value"), files)


def _read_capability(element: Any, files: Files) -> Tool:
    inputs, outputs = element.find("input"), element.find("output")
    return Tool(
        id=text_of(element.get("id"), files) or "",
        description=text_of(element.get("description"), files),
        version=text_of(element.get("version", "1"), files),
        input=Shape("object") if inputs is None else _read_parameters(inputs, files, is_output=False),
        output=None if outputs is None else _read_parameters(outputs, files, is_output=True),
    )


def _read_parameters(element: Any, files: Files, *, is_output: bool) -> Shape:
    """Read parameters; every output counts as required, since a tool returns what it declares."""
    properties: dict[str, Shape] = {}
    required: set[str] = set()
    for item in element.iterfind("param"):
        name = text_of(item.get("name"), files) or ""
        word = item.get("type") or ""
        shape = Shape(
            TYPE_WORDS.get(word.lower(), "string"), description=text_of(item.get("description"), files)
        )
        if word.lower() not in TYPE_WORDS:
            shape.facts["mobile-mcp/word"] = word
        properties[name] = shape
        if is_output or (item.get("required") or "").lower() in {"true", "1"}:
            required.add(name)
    return Shape("object", properties=properties, required=frozenset(required))
