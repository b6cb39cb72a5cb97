"""AppFunctions of one service (reference appfunctions 1, 2): manifest, v2 XML, app_metadata."""

from collections.abc import Callable
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
from audit.schema_reader import fold

BIND: Final = "android.permission.BIND_APP_FUNCTION_SERVICE"
EXECUTE: Final = "android.permission.EXECUTE_APP_FUNCTIONS"
_ACTION: Final = "android.app.appfunctions.AppFunctionService"
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
    service = next(components_with_action(manifest, ("service",), _ACTION), None)
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
    found: dict[str, str] = {}
    for space in reversed(_METADATA_SPACES):
        for word in ("instructions", "description", "displayDescription"):
            text = text_of(root.get(f"{space}{word}"), files)
            if text is not None:
                found[word] = text
    declared.instructions = found.get("instructions", found.get("description"))
    declared.description = found.get("displayDescription")


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
    found = element.find(tag)
    return None if found is None else found.text or ""


def _word(element: Any, tag: str) -> str | None:
    text = _text(element, tag)
    return None if text is None else text.strip()
