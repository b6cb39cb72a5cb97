"""Writing functions files, element by element in the order of Jetpack's own compiler (reference 2.c)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_android.projects.java_text import to_lower_camel_case
from droidgate_appfunctions.constants import (
    APP_LEVEL,
    NAMES,
    NUMBER_OF_KIND,
    PLATFORM,
    TABLES,
    UNUSED,
    V1,
    V2_LEGACY,
    facts_of,
)
from droidgate_appfunctions.patterns import pattern_of, patterns_of
from droidgate_appfunctions.xml_writing import Node, render
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
)

_OWN_ELEMENTS: Final = frozenset(
    {
        *(NAMES[name] for name in ("function", "function_document", "component_document")),
        *("functionId", "enabledByDefault", "restrictCallersWithExecuteAppFunctions", "scope", "accessLevel"),
    }
)
_SNAKE: Final = {"functionId": "function_id", "enabledByDefault": "enabled_by_default"}
_V1_SNAKE: Final = {
    **_SNAKE,
    "schemaCategory": "schema_category",
    "schemaName": "schema_name",
    "schemaVersion": "schema_version",
    "restrictCallersWithExecuteAppFunctions": "restrict_callers_with_execute_app_functions",
    "displayNameStringRes": "display_name_string_res",
}


def write_functions_file(provider: Provider, dialect: str) -> str:
    """Return the text of a fitted provider's functions file.

    Raises:
        WriteError: a name holds a character that XML cannot.
    """
    make = {V1: _v1_function, PLATFORM: _platform_function}.get(dialect)
    children: list[Node] = []
    facts = facts_of(provider.extensions)
    if "version" in facts:
        children.append(("version", facts["version"]))
    children.extend(
        make(capability) if make is not None else _dynamic_function(capability, dialect)
        for capability in provider.capabilities
    )
    if dialect not in {V1, PLATFORM}:
        children.extend(_components(provider, facts))
    children.extend(_unknown(facts.get("rootElements")))
    return render((NAMES["root"], children))


def older_functions(provider: Provider) -> str | None:
    """Return the text of the source's file of version 1 next to the newer one, None without one."""
    facts = facts_of(provider.extensions)
    kept = facts.get("v1", facts.get("v1Repeated"))
    return None if kept is None else render((NAMES["root"], _unknown(kept)))


def has_own_elements(elements: Json) -> bool:
    """Return whether kept elements, at any depth, are those of functions, components or access rules.

    A reader keeps only elements that it does not know.
    """
    pending = [elements]
    while pending:
        current = pending.pop()
        if isinstance(current, list | tuple):
            pending.extend(current)
            if current and isinstance(current[0], str) and to_lower_camel_case(current[0]) in _OWN_ELEMENTS:
                return True
    return False


def _unknown(elements: Json) -> list[Node]:
    return list(elements or ())


def _flag(value: bool) -> str:  # noqa: FBT001 - it is what is written
    return "true" if value else "false"


def _optional(facts: Mapping[str, Json], *names: str) -> list[Node]:
    nodes: list[Node] = []
    for name in names:
        if name in facts:
            value = facts[name]
            nodes.append((name, _flag(value) if isinstance(value, bool) else str(value)))
    return nodes


def _enabled(capability: Capability, facts: Mapping[str, Json]) -> list[Node]:
    enabled = capability.access.enabled_by_default
    if enabled and facts.get("enabledByDefaultAbsent"):
        return []
    return [("enabledByDefault", _flag(enabled))]


def _application_access(access: CapabilityAccess) -> list[Node]:
    """Return the scope of a function of the application; its `enabledByDefault` can only be false."""
    enabled: list[Node] = [] if access.enabled_by_default else [("enabledByDefault", "false")]
    return [*enabled, ("scope", access.scope or "global")]


def _restricted(access: CapabilityAccess) -> list[Node]:
    restricted = access.restrict_callers
    return [] if restricted is None else [("restrictCallersWithExecuteAppFunctions", _flag(restricted))]


def _renamed(nodes: list[Node], names: Mapping[str, str]) -> list[Node]:
    return [(names.get(tag, tag), content) for tag, content in nodes]


def _v1_function(capability: Capability) -> Node:
    facts = facts_of(capability.extensions)
    nodes: list[Node] = [
        ("functionId", capability.id),
        *_optional(facts, "schemaCategory", "schemaName", "schemaVersion"),
        *_enabled(capability, facts),
        *_restricted(capability.access),
        *_optional(facts, "displayNameStringRes"),
    ]
    return NAMES["function"], [*_renamed(nodes, _V1_SNAKE), *_unknown(facts.get("elements"))]


def _platform_function(capability: Capability) -> Node:
    facts = facts_of(capability.extensions)
    nodes: list[Node] = [
        ("id", facts.get("documentId", capability.id)),
        ("functionId", capability.id),
        *_optional(facts, "schemaName", "schemaVersion", "schemaCategory"),
        *_enabled(capability, facts),
        *_restricted(capability.access),
        *_optional(facts, "displayNameStringRes"),
        *_text("description", capability.description),
    ]
    if isinstance(capability.input, ObjectType):
        for name, property_ in capability.input.properties.items():
            kept = facts_of(property_.extensions)
            word = kept.get("paramType", kept.get("paramWord", TABLES.words.write.get(property_.type.kind)))
            nodes += [
                ("paramNames", name),
                ("paramTypes", str(word)),
                ("paramRequired", _flag(property_.required)),
            ]
    return NAMES["function_document"], [*nodes, *_unknown(facts.get("elements"))]


def _dynamic_function(capability: Capability, dialect: str) -> Node:
    facts = facts_of(capability.extensions)
    legacy = dialect == V2_LEGACY
    name: list[Node] = [("functionId", capability.id)]
    access = capability.access
    availability = _application_access(access) if dialect == APP_LEVEL else _enabled(capability, facts)
    nodes: list[Node] = [
        ("id", facts.get("documentId", capability.id)),
        *(name if legacy else ()),
        *availability,
        *_text("description", capability.description),
        *_parameters(capability.input),
        *_response(capability.output, facts),
        *_optional(facts, "schemaCategory", "schemaName", "schemaVersion"),
        *_deprecation(facts),
        *_text("accessLevel", access.access_level),
        *_optional(facts, "isCompatEnforcementEnabled"),
        *_restricted(access),
        *_optional(facts, "displayNameStringRes"),
        *(() if legacy else name),
    ]
    if legacy:
        nodes = _renamed(nodes, _SNAKE)
    return NAMES["function"], [*nodes, *_unknown(facts.get("elements"))]


def _text(tag: str, text: str | None) -> list[Node]:
    return [] if text is None else [(tag, text)]


def _parameters(type_: Type) -> list[Node]:
    return [
        ("parameters", _parameter(name, property_))
        for name, property_ in (type_.properties.items() if isinstance(type_, ObjectType) else ())
    ]


def _parameter(name: str, property_: Property) -> list[Node]:
    facts = facts_of(property_.extensions)
    outer, inner = _descriptions(property_.type)
    required: list[Node] = [] if "isRequired" in facts else [("isRequired", _flag(property_.required))]
    return [
        ("dataTypeMetadata", _data_type(property_.type, inner)),
        ("id", facts.get("id", UNUSED)),
        *required,
        ("name", name),
        *_text("description", outer),
        *_unknown(facts.get("partElements")),
    ]


def _descriptions(type_: Type) -> tuple[str | None, str | None]:
    """Return what the parameter or response says, and what its type's own element says."""
    facts = facts_of(type_.extensions)
    if facts.get("descriptionInside"):
        return None, type_.description
    return type_.description, facts.get("typeDescription")


def _response(type_: Type | None, facts: Mapping[str, Json]) -> list[Node]:
    if type_ is None:
        return []
    outer, inner = _descriptions(type_)
    nullable = facts.get("responseIsNullable")
    stated: list[Node] = [] if nullable is None else [("isNullable", _flag(nullable))]
    content: list[Node] = [
        ("id", facts.get("responseId", UNUSED)),
        *stated,
        ("valueType", _data_type(type_, inner)),
        *_text("description", outer),
        *_unknown(facts.get("responseElements")),
    ]
    return [("response", content)]


def _deprecation(facts: Mapping[str, Json]) -> list[Node]:
    if "deprecation" not in facts:
        return []
    content: list[Node] = [
        ("id", facts.get("deprecationId", UNUSED)),
        *_text("message", facts["deprecation"]),
        *_unknown(facts.get("deprecationElements")),
    ]
    return [("deprecation", content)]


def _components(provider: Provider, facts: Mapping[str, Json]) -> list[Node]:
    usual: Json = [[UNUSED, None]] if provider.definitions else []
    documents = facts.get("components", usual)
    placed = {name for entry in documents for name in entry[1] or ()}
    left = sorted(name for name in provider.definitions if name not in placed)
    if left and all(entry[1] is not None for entry in documents):
        documents = [*documents, [UNUSED, None]]
    nodes: list[Node] = []
    for entry in documents:
        names = left if entry[1] is None else [name for name in entry[1] if name in provider.definitions]
        content: list[Node] = [("dataTypes", _definition(name, provider.definitions[name])) for name in names]
        content.append(("id", entry[0]))
        content.extend(_unknown(entry[2] if len(entry) > 2 else None))  # noqa: PLR2004 - the third is optional
        nodes.append((NAMES["component_document"], content))
    return nodes


def _definition(name: str, type_: Type) -> list[Node]:
    facts = facts_of(type_.extensions)
    return [
        ("dataTypeMetadata", _data_type(type_, type_.description, definition=True)),
        ("id", facts.get("nameId", UNUSED)),
        ("name", name),
        *_unknown(facts.get("nameElements")),
    ]


def _data_type(type_: Type, description: str | None, *, definition: bool = False) -> list[Node]:
    facts = facts_of(type_.extensions)
    before: list[Node] = []
    if isinstance(type_, AllOfType):
        before = [("allOf", _data_type(member, member.description)) for member in type_.members]
    elif isinstance(type_, OneOfType):
        before = [("oneOf", _data_type(each, each.description)) for each in type_.alternatives]
    elif isinstance(type_, RefType):
        before = [("dataTypeReference", type_.name)]
    nullable = _nullable(type_, facts, definition=definition)
    items: list[Node] = []
    if isinstance(type_, ArrayType) and type_.items is not None:
        items = [("itemType", _data_type(type_.items, type_.items.description))]
    return [
        *before,
        ("id", facts.get("id", UNUSED)),
        *nullable,
        *items,
        *_text("objectQualifiedName", _class_name(type_)),
        *(("enumValues", str(value)) for value in type_.enum or ()),
        *_text("description", description),
        *_properties(type_, facts),
        *_patterns(type_, facts),
        *_text("format", type_.format),
        *_type_number(type_, facts),
        *_unknown(facts.get("typeElements")),
    ]


def _type_number(type_: Type, facts: Mapping[str, Json]) -> list[Node]:
    number = facts.get("type", NUMBER_OF_KIND.get(type_.kind))
    return [] if number is None else [("type", str(number))]


def _nullable(type_: Type, facts: Mapping[str, Json], *, definition: bool) -> list[Node]:
    if "isNullable" not in facts:
        return [("isNullable", _flag(definition or type_.nullable))]
    stated = facts["isNullable"]
    return [] if stated is None else [("isNullable", _flag(stated))]


def _class_name(type_: Type) -> str | None:
    if isinstance(type_, OpaqueType):
        return type_.class_name
    return type_.qualified_name if isinstance(type_, ObjectType | AllOfType | OneOfType) else None


def _properties(type_: Type, facts: Mapping[str, Json]) -> list[Node]:
    if not isinstance(type_, ObjectType):
        return []
    nodes: list[Node] = []
    for name, property_ in type_.properties.items():
        of_part = facts_of(property_.extensions)
        content: list[Node] = [
            ("dataTypeMetadata", _data_type(property_.type, property_.type.description)),
            ("id", of_part.get("id", UNUSED)),
            ("name", name),
            *_unknown(of_part.get("partElements")),
        ]
        nodes.append(("properties", content))
    usual = [name for name, property_ in type_.properties.items() if property_.required]
    stated = facts.get("required", facts.get("requiredOrder", usual))
    nodes.extend(("required", name) for name in stated)
    return nodes


def _patterns(type_: Type, facts: Mapping[str, Json]) -> list[Node]:
    patterns = patterns_of(facts)
    nodes: list[Node] = []
    if type_.pattern is not None and (patterns is None or type_.pattern != pattern_of(patterns)):
        nodes.append(("pattern", type_.pattern))
    for each in patterns or ():
        content: list[Node] = [
            ("id", each.get("id", UNUSED)),
            *_text("value", each.get("value")),
            *_optional(each, "type"),
            *_unknown(each.get("elements")),
        ]
        nodes.append(("patterns", content))
    return nodes
