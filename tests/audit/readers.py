"""Readers of the four protocols, from their specifications, with json and lxml alone.

JSON Schema 2020-12 (json-schema.org, core and validation) becomes `Shape`; an Android app is its manifest and
the string, bool and XML resources of its source tree.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree

from audit.declared import Declared, Shape, Tool, token

WORDS: Final = {
    "integer": "int64",
    "number": "double",
    **{word: word for word in ("boolean", "string", "null", "array", "object")},
}
_KIND_OF_FORMAT: Final = {
    ("integer", "int32"): "int32",
    ("integer", "int64"): "int64",
    ("number", "float"): "float",
}
_INT32: Final = (-(2**31), 2**31 - 1)
_APPLICATORS: Final = ("oneOf", "anyOf", "allOf")
_CONTAINERS: Final = ("$defs", "definitions")
_OBJECT_WORDS: Final = frozenset({"type", "properties", "required"})
_NO_MEANING: Final = frozenset({"$schema", "$comment"})
_ANNOTATIONS: Final = frozenset({"title", "default", "deprecated", "readOnly", "writeOnly", "examples"})
"""Keywords that refuse no value (section 9 of JSON Schema validation)."""


def read_root(schema: Any, definitions: dict[str, Shape], notes: list[Any]) -> Shape:
    """Read a whole schema.

    Args:
        schema: A JSON Schema: an object or a boolean.
        definitions: Takes the schema's definitions by name; two of one name and another content are
            `name@2`, `name@3`...
        notes: Takes the values of keywords that start with `x-`, which mean nothing to a validator.
    """
    if not isinstance(schema, Mapping):
        return _Reader({}, notes).read(schema)
    local = {
        f"#/{word}/{name}": (name, item)
        for word in _CONTAINERS
        for name, item in schema.get(word, {}).items()
    }
    for reference in _references(schema):
        # A reference may lead to any part of the schema, as zod writes it; the part counts as a definition.
        place = _decoded(reference)
        if place == "#":
            local[place] = ("Root", {word: item for word, item in schema.items() if word not in _CONTAINERS})
        elif place not in local and place.startswith("#/"):
            local[place] = (place.rpartition("/")[2], _part_at(schema, reference))
    names = {pointer: name for pointer, (name, _) in local.items()}
    read: dict[str, Shape] = {}
    for pointer, (name, item) in local.items():
        shape = _Reader(names, notes).read(item)
        unique_name, number = name, 1
        while unique_name in definitions and definitions[unique_name] != shape:
            number += 1
            unique_name = f"{name}@{number}"
        names[pointer] = unique_name
        read[unique_name] = shape
    if any(name != pointer.rpartition("/")[2] for pointer, name in names.items()):
        read = {names[pointer]: _Reader(names, notes).read(item) for pointer, (_, item) in local.items()}
    definitions.update(read)
    return _Reader(names, notes).read(
        {word: item for word, item in schema.items() if word not in _CONTAINERS}
    )


def _decoded(reference: str) -> str:
    return unquote(reference).replace("~1", "/").replace("~0", "~")


def _references(schema: Any) -> Iterator[str]:
    """Yield the references in a schema."""
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for inner in schema.values():
            yield from _references(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _references(inner)


def _part_at(schema: Any, reference: str) -> Any:
    """Return the part of a schema at a JSON Pointer; the schema of any value where nothing is there."""
    for item in unquote(reference).split("/")[1:]:
        name = item.replace("~1", "/").replace("~0", "~")
        if not isinstance(schema, Mapping) or name not in schema:
            return {}
        schema = schema[name]
    return schema


class _Reader:
    def __init__(self, names: Mapping[str, str], notes: list[Any]) -> None:
        self.names = names
        self.notes = notes

    def read(self, schema: Any) -> Shape:
        if not isinstance(schema, Mapping):
            return Shape("any", keywords={} if schema is True else {"not": {}})
        rest = {word: value for word, value in schema.items() if word not in _NO_MEANING}
        self.notes.extend(rest.pop(word) for word in [word for word in rest if word.startswith("x-")])
        shape = self.shape_of(rest)
        self.read_enum(rest, shape)
        for word in ("description", "pattern", "format"):
            if isinstance(rest.get(word), str):
                setattr(shape, word, rest.pop(word))
        shape.keywords = rest
        return fold(shape)

    def shape_of(self, left: dict[str, Any]) -> Shape:
        """Return the kind of a schema with its inner types, and take the words that say so out of `left`."""
        stated = [word for word in _APPLICATORS if word in left]
        if left.get("type") == "object" and len(stated) == 1 and "properties" not in left:
            return self.shape_of_parts(left, stated[0])
        if "type" in left:
            return self.shape_of_word(left)
        if "$ref" in left:
            return Shape("ref", name=self.name_of(left.pop("$ref")))
        if len(stated) == 1 and "properties" not in left and "items" not in left:
            return self.shape_of_parts(left, stated[0])
        if stated:
            return Shape("any")
        if isinstance(left.get("properties"), Mapping):
            return self.read_object(left)
        if isinstance(left.get("items"), Mapping | bool):
            return Shape("array", items=self.read(left.pop("items")))
        values = left.get("enum")
        if values and all(isinstance(value, str) for value in values):
            return Shape("string")
        return Shape("any")

    def shape_of_word(self, left: dict[str, Any]) -> Shape:
        stated = left["type"]
        words = [stated] if isinstance(stated, str) else list(stated)
        others = [item for item in words if item != "null"]
        if len(others) > 1:
            return Shape("any")
        del left["type"]
        word = others[0] if others else "null"
        if word == "object":
            shape = self.read_object(left)
        elif word == "array" and isinstance(left.get("items"), Mapping | bool):
            shape = Shape("array", items=self.read(left.pop("items")))
        else:
            shape = Shape(_scalar_kind(word, left))
        shape.nullable = bool(others) and "null" in words
        return shape

    def read_object(self, left: dict[str, Any]) -> Shape:
        properties = {name: self.read(value) for name, value in left.pop("properties", {}).items()}
        stated = left.pop("required", [])
        others = [name for name in stated if name not in properties]
        if others:
            left["required"] = others
        return Shape("object", properties=properties, required=frozenset(stated) & properties.keys())

    def shape_of_parts(self, left: dict[str, Any], word: str) -> Shape:
        parts = [self.read_part(item) for item in left.pop(word)]
        if word == "allOf":
            return Shape("all-of", parts=parts)
        others = [item for item in parts if item != Shape("null")]
        if not others:
            return Shape("null")
        return Shape("one-of", parts=others, exclusive=word == "oneOf", nullable=len(others) < len(parts))

    def read_part(self, schema: Any) -> Shape:
        """Read a member of a choice; one that is tied to a class by a `const` property is that class."""
        members = schema.get("allOf", []) if isinstance(schema, Mapping) and len(schema) == 1 else []
        class_name = _discriminating_value(members[1]) if len(members) == 2 else None
        if class_name is None:
            return self.read(schema)
        shape = self.read(members[0])
        if shape.kind != "ref":  # a reference is its class already
            shape.class_name = class_name
        return shape

    def read_enum(self, left: dict[str, Any], shape: Shape) -> None:
        """Take `enum`; null is allowed only where it is listed, too."""
        values = left.get("enum")
        if values is None:
            return
        del left["enum"]
        shape.enum = [value for value in values if value is not None]
        allows_null = shape.nullable or shape.kind == "any"
        shape.nullable = allows_null and None in values

    def name_of(self, reference: str) -> str:
        place = _decoded(reference)
        return self.names.get(place, place)


def _discriminating_value(schema: Any) -> str | None:
    """Return the text that the only property of a schema has to have; None where it says anything else."""
    properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
    if len(properties) != 1 or schema.get("required") != list(properties) or not set(schema) <= _OBJECT_WORDS:
        return None
    (only,) = properties.values()
    value = only.get("const") if isinstance(only, Mapping) and len(only) == 1 else None
    return value if isinstance(value, str) else None


def _scalar_kind(word: str, left: dict[str, Any]) -> str:
    kind = WORDS[word]
    if word == "string" and left.get("contentEncoding") == "base64":
        del left["contentEncoding"]
        return "bytes"
    format_kind = _KIND_OF_FORMAT.get((word, left.get("format", "")))
    if format_kind is not None:
        kind = format_kind
        del left["format"]
    if kind == "int32" and (left.get("minimum"), left.get("maximum")) == _INT32:
        del left["minimum"], left["maximum"]
    return kind


def fold(shape: Shape) -> Shape:
    """Return the only part of an all-of or one-of with the facts of both, where no two facts compete."""
    if shape.kind not in {"all-of", "one-of"} or len(shape.parts) != 1:
        return shape
    inner = shape.parts[0]
    compete = [
        word for word in ("enum", "pattern", "format") if getattr(shape, word) and getattr(inner, word)
    ]
    compete += [word for word in shape.keywords if word in inner.keywords and word not in _ANNOTATIONS]
    if compete:
        return shape
    inner.folded = [*(steps for steps, _ in shape.steps()), *inner.folded]
    inner.nullable = inner.nullable or shape.nullable
    texts = [item for item in (shape.description, inner.description) if item is not None]
    inner.description = " ".join(texts) if texts else None
    for word in ("enum", "pattern", "format", "class_name"):
        if getattr(shape, word) is not None:
            setattr(inner, word, getattr(shape, word))
    inner.keywords = {**inner.keywords, **shape.keywords}
    return inner


ANDROID: Final = "{http://schemas.android.com/apk/res/android}"
_PIECE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|[ \t\r\n]+|.", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)

Files = Mapping[str, str]
"""The texts of an app's `src/main`, by path."""


def manifest_of(files: Files) -> Any:
    """Return the root of the manifest."""
    return etree.fromstring(files["AndroidManifest.xml"].encode())


def attribute(element: Any, name: str) -> str | None:
    """Return an attribute of Android's namespace."""
    value: str | None = element.get(f"{ANDROID}{name}")
    return value


def components_with_action(manifest: Any, kinds: tuple[str, ...], action: str) -> Iterator[Any]:
    """Yield the components of these kinds that have an intent filter with the action."""
    for component in manifest.iterfind("application/*"):
        actions = [attribute(item, "name") for item in component.iterfind("intent-filter/action")]
        if component.tag in kinds and action in actions:
            yield component


def meta_data(component: Any, name: str, tag: str = "meta-data") -> Any:
    """Return the meta-data (or property) element of that name, None without it."""
    return next((item for item in component.iterfind(tag) if attribute(item, "name") == name), None)


def text_of(value: str | None, files: Files) -> str | None:
    """Return a text attribute as a device has it: escapes replaced, a string reference resolved."""
    if value is None:
        return None
    if value.startswith("@string/"):
        values = resource_values(files, "string", value.removeprefix("@string/"))
        return values.get("", next(iter(values.values()), None))
    return unescaped(value)


def unescaped(text: str) -> str:
    """Return a text without aapt's backslash escapes (developer.android.com, string resources)."""

    def replaced(match: re.Match[str]) -> str:
        word = match[1]
        if len(word) == 5:
            return chr(int(word[1:], 16))
        return {"n": "\n", "t": "\t"}.get(word, word)

    return _ESCAPE.sub(replaced, text)


def resource_values(files: Files, kind: str, name: str) -> dict[str, str]:
    """Return the values of a string or bool resource by resource qualifier (`""` for res/values)."""
    values: dict[str, str] = {}
    for path, text in files.items():
        folder = path.split("/")[1] if path.startswith("res/values") else ""
        if not folder:
            continue
        for element in etree.fromstring(text.encode()).iterfind(kind):
            if element.get("name") == name:
                values[folder.removeprefix("values").removeprefix("-")] = _resource_text(element.text or "")
    return values


def _resource_text(text: str) -> str:
    """Return the text of a resource: white space outside double quotes is collapsed, then escapes."""
    built, is_quoted, has_quotes = "", False, False
    for piece in _PIECE.findall(text):
        if piece == '"':
            is_quoted, has_quotes = not is_quoted, True
        elif piece.isspace() and not is_quoted:
            built += " "
        else:
            built += unescaped(piece)
    return built if has_quotes else built.strip()


def component_access(component: Any, files: Files, *, binding: str | None = None) -> dict[str, Any]:
    """Return the rules of a component that keep callers out.

    Args:
        component: A service or activity with an intent filter.
        files: The app's files, for `@bool/`.
        binding: A permission that the platform requires of every such component; it says nothing of callers.
    """
    access: dict[str, Any] = {}
    exported = attribute(component, "exported")
    if exported == "false":
        access["exported"] = False
    # A component of a disabled application is disabled, too.
    stated = [attribute(item, "enabled") for item in (component.getparent(), component)]
    enabled = next((item for item in stated if item not in {None, "true"}), None)
    if enabled is not None and enabled.startswith("@bool/"):
        values = resource_values(files, "bool", enabled.removeprefix("@bool/"))
        access["enabled"] = {qualifier: value == "true" for qualifier, value in values.items()}
    elif enabled == "false":
        access["enabled"] = False
    permission = attribute(component, "permission") or attribute(component.getparent(), "permission")
    if permission is not None and permission != binding:
        access["permission"] = permission
    return access


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


_MOBILE_MCP: Final = "mobile.mcp.SERVICE"
TYPE_WORDS: Final = {
    "string": "string", "boolean": "boolean", "bool": "boolean", "integer": "int64", "int": "int64",
    "long": "int64", "short": "int64", "number": "double", "float": "double", "double": "double",
    "array": "array", "list": "array", "object": "object", "map": "object", "json": "object",
}  # fmt: skip
"""The six words, and those that reference 6 (row 5) has from real apps; any other word is a string."""


def read_mobile_mcp(files: Files) -> Declared:
    """Read the service, its name and description, and the descriptor that it points to."""
    manifest = manifest_of(files)
    service = next(components_with_action(manifest, ("service",), _MOBILE_MCP))
    resource = attribute(meta_data(service, "mobile.mcp.tool.capabilities"), "resource") or ""
    declared = Declared(
        "mobile-mcp",
        package=manifest.get("package"),
        component=attribute(service, "name"),
        name=_meta_text(service, "mobile.mcp.tool.name", files),
        description=_meta_text(service, "mobile.mcp.tool.description", files),
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


def _meta_text(service: Any, name: str, files: Files) -> str | None:
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


BIND: Final = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE: Final = "android.permission.EXECUTE_APP_FUNCTIONS"
_APP_FUNCTIONS: Final = "android.app.appfunctions.AppFunctionService"
KINDS: Final = {
    0: "null", 1: "boolean", 2: "bytes", 3: "object", 4: "double", 5: "float", 6: "int64", 7: "int32",
    8: "string", 10: "array", 11: "ref", 12: "all-of", 13: "opaque", 14: "one-of",
}  # fmt: skip
"""The type numbers of AppFunctionDataTypeMetadata (reference 2.c)."""

_METADATA_SPACES: Final = (
    "{http://schemas.android.com/apk/res-auto}",
    "{http://schemas.android.com/apk/androidx.appfunctions}",
)
_FACTS: Final[dict[str, Callable[[str], Any]]] = {
    "schemaCategory": str,
    "schemaName": str,
    "schemaVersion": int,
    "isCompatEnforcementEnabled": lambda word: word == "true",
}


def read_appfunctions(files: Files) -> Declared:
    """Read the first service with functions, or else the functions of the application element.

    Android requires EXECUTE_APP_FUNCTIONS of callers, whose calls it makes itself.
    """
    manifest = manifest_of(files)
    application = manifest.find("application")
    service = next(components_with_action(manifest, ("service",), _APP_FUNCTIONS), None)
    owner = application if service is None else service
    asset = attribute(meta_data(owner, "android.app.appfunctions.v2", "property"), "value")
    declared = Declared(
        "appfunctions",
        package=manifest.get("package"),
        name=text_of(attribute(owner, "label") or attribute(application, "label"), files),
        access=component_access(owner, files, binding=BIND),
    )
    if service is not None:
        declared.component = attribute(service, "name")
    if service is None or attribute(service, "permission") == BIND:
        declared.access["permission"] = EXECUTE
    _read_app_metadata(application, files, declared)
    root = etree.fromstring(files[f"assets/{asset}"].encode())
    for entry in root.iterfind("AppFunctionComponentMetadataDocument/dataTypes"):
        shape = _read_type(entry.find("dataTypeMetadata"))
        shape.nullable = False
        declared.definitions[_word(entry, "name") or ""] = shape
    for element in root.iterfind("appfunction"):
        function = _read_function(element)
        if service is None and _word(element, "scope") == "activity":  # a service's functions have no scope
            function.access["scope"] = "activity"
        declared.tools.append(function)
    return declared


def _read_app_metadata(application: Any, files: Files, declared: Declared) -> None:
    stated = meta_data(application, "android.app.appfunctions.app_metadata", "property")
    if stated is None:
        return
    path = (attribute(stated, "resource") or "").removeprefix("@")
    root = etree.fromstring(files[f"res/{path}.xml"].encode())
    texts: dict[str, str] = {}
    for space in reversed(_METADATA_SPACES):
        for word in ("instructions", "description", "displayDescription"):
            text = text_of(root.get(f"{space}{word}"), files)
            if text is not None:
                texts[word] = text
    declared.instructions = texts.get("instructions", texts.get("description"))
    declared.description = texts.get("displayDescription")


def _read_function(element: Any) -> Tool:
    function = Tool(id=_word(element, "functionId") or _word(element, "id") or "")
    function.description = _text(element, "description")
    if _word(element, "enabledByDefault") == "false":
        function.access["enabled_by_default"] = False
    restricted = _word(element, "restrictCallersWithExecuteAppFunctions")
    if restricted == "true":
        function.access["restrict_callers"] = True
    level = _word(element, "accessLevel")
    if level not in {None, "androidTrusted"}:
        function.access["access_level"] = level
    deprecation = element.find("deprecation")
    if deprecation is not None:
        function.facts["appfunctions/deprecation"] = _text(deprecation, "message")
    for word in _FACTS:
        stated = _word(element, word)
        if stated is not None:
            function.facts[f"appfunctions/{word}"] = _FACTS[word](stated)
    properties: dict[str, Shape] = {}
    required: set[str] = set()
    for entry in element.iterfind("parameters"):
        name = _word(entry, "name") or ""
        properties[name] = _described(_read_type(entry.find("dataTypeMetadata")), _text(entry, "description"))
        if _word(entry, "isRequired") == "true":
            required.add(name)
    function.input = Shape("object", properties=properties, required=frozenset(required))
    response = element.find("response")
    if response is not None:
        function.output = _described(_read_type(response.find("valueType")), _text(response, "description"))
    return function


def _described(shape: Shape, text: str | None) -> Shape:
    """Return a type with the description of its parameter, in front of that of a choice's only member."""
    if text is not None:
        inner = [shape.description] if shape.folded and shape.description else []
        if shape.description and not shape.folded:
            shape.facts["appfunctions/typeDescription"] = shape.description
        shape.description = " ".join([text, *inner])
    return shape


def _read_type(element: Any) -> Shape:
    kind = KINDS[int(_word(element, "type") or "")]
    shape = Shape(
        kind,
        nullable=kind != "null" and _word(element, "isNullable") == "true",
        description=_text(element, "description"),
    )
    shape.class_name = _word(element, "objectQualifiedName")
    shape.name = _word(element, "dataTypeReference")
    values = [item.text or "" for item in element.iterfind("enumValues")]
    if values:
        shape.enum = [int(item) for item in values] if kind == "int32" else list(values)
    if kind == "string":
        shape.format = _word(element, "format")
        shape.pattern = _word(element, "pattern")
    if element.find("itemType") is not None:
        shape.items = _read_type(element.find("itemType"))
    shape.properties = {
        _word(item, "name") or "": _read_type(item.find("dataTypeMetadata"))
        for item in element.iterfind("properties")
    }
    shape.required = (
        frozenset(item.text or "" for item in element.iterfind("required")) & shape.properties.keys()
    )
    tag = {"all-of": "allOf", "one-of": "oneOf"}.get(kind)
    if tag is not None:
        shape.parts = [_read_type(item) for item in element.iterfind(tag)]
        for part in shape.parts:
            part.nullable = False  # Jetpack looks at the nullability of the whole only
    return fold(shape)


def _text(element: Any, tag: str) -> str | None:
    child = element.find(tag)
    return None if child is None else child.text or ""


def _word(element: Any, tag: str) -> str | None:
    text = _text(element, tag)
    return None if text is None else text.strip()
