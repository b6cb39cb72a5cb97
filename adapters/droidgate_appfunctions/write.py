"""Writing a provider: the functions file, its schema, the manifest that puts it in force (reference 1.1), and
the app's guidance for agents.

A functions file is written element by element in the order of Jetpack's own compiler (reference 2.c).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from droidgate_android.projects.indexed_text import to_lower_camel_case
from droidgate_appfunctions.asset_names import asset_name
from droidgate_appfunctions.format import (
    APP_LEVEL,
    FORMAT_ID,
    NAMES,
    NUMBER_OF_KIND,
    PLATFORM,
    TABLES,
    UNUSED,
    V1,
    V2_LEGACY,
    facts_of,
)
from droidgate_appfunctions.metadata import has_metadata, write_metadata
from droidgate_appfunctions.older_files import OTHER_FUNCTIONS, SAME_FUNCTIONS
from droidgate_appfunctions.pattern_matcher import pattern_of, patterns_of
from droidgate_appfunctions.schema import SearchSchema, schema_fact, usual_schema, write_schema_file
from droidgate_appfunctions.xml_writing import XmlTag, render
from droidgate_mappings.fit import Fitted, Loss, fit_provider
from droidgate_mappings.formats.component_reading import enabled_attribute, enabled_resources
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.model.capability import Capability, CapabilityAccess, Provider
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import (
    AllOfType,
    ArrayType,
    Extensions,
    ObjectType,
    OneOfType,
    OpaqueType,
    Property,
    RefType,
    Type,
    as_extensions,
)
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text.aapt_text import escape_attribute_value
from droidgate_mappings.text.xml_text import quoted_attribute

_FOREIGN_FILE: Final = Loss(
    "extension-dropped",
    Level.DROPPED,
    "{fact!r} can declare functions and access rules that the source does not have",
    "convert the AppFunctions app itself to keep it",
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
    children: list[XmlTag] = []
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
    elements = facts.get("v1", facts.get("v1Repeated"))
    return None if elements is None else render((NAMES["root"], _unknown(elements)))


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


def _unknown(elements: Json) -> list[XmlTag]:
    return list(elements or ())


def _flag(value: bool) -> str:  # noqa: FBT001 - it is what is written
    return "true" if value else "false"


def _optional(facts: Mapping[str, Json], *names: str) -> list[XmlTag]:
    nodes: list[XmlTag] = []
    for name in names:
        if name in facts:
            value = facts[name]
            nodes.append((name, _flag(value) if isinstance(value, bool) else str(value)))
    return nodes


def _enabled(capability: Capability, facts: Mapping[str, Json]) -> list[XmlTag]:
    enabled = capability.access.enabled_by_default
    if enabled and facts.get("enabledByDefaultAbsent"):
        return []
    return [("enabledByDefault", _flag(enabled))]


def _application_access(access: CapabilityAccess) -> list[XmlTag]:
    """Return the scope of a function of the application; its `enabledByDefault` can only be false."""
    enabled: list[XmlTag] = [] if access.enabled_by_default else [("enabledByDefault", "false")]
    return [*enabled, ("scope", access.scope or "global")]


def _restricted(access: CapabilityAccess) -> list[XmlTag]:
    restricted = access.restrict_callers
    return [] if restricted is None else [("restrictCallersWithExecuteAppFunctions", _flag(restricted))]


def _renamed(nodes: list[XmlTag], names: Mapping[str, str]) -> list[XmlTag]:
    return [(names.get(tag, tag), content) for tag, content in nodes]


def _v1_function(capability: Capability) -> XmlTag:
    facts = facts_of(capability.extensions)
    nodes: list[XmlTag] = [
        ("functionId", capability.id),
        *_optional(facts, "schemaCategory", "schemaName", "schemaVersion"),
        *_enabled(capability, facts),
        *_restricted(capability.access),
        *_optional(facts, "displayNameStringRes"),
    ]
    return NAMES["function"], [*_renamed(nodes, _V1_SNAKE), *_unknown(facts.get("elements"))]


def _platform_function(capability: Capability) -> XmlTag:
    facts = facts_of(capability.extensions)
    nodes: list[XmlTag] = [
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
            own, usual = facts_of(property_.extensions), TABLES.words.write.get(property_.type.kind)
            word = own.get("paramType", own.get("paramWord", usual))
            nodes += [
                ("paramNames", name),
                ("paramTypes", str(word)),
                ("paramRequired", _flag(property_.required)),
            ]
    return NAMES["function_document"], [*nodes, *_unknown(facts.get("elements"))]


def _dynamic_function(capability: Capability, dialect: str) -> XmlTag:
    facts = facts_of(capability.extensions)
    legacy = dialect == V2_LEGACY
    name: list[XmlTag] = [("functionId", capability.id)]
    access = capability.access
    availability = _application_access(access) if dialect == APP_LEVEL else _enabled(capability, facts)
    nodes: list[XmlTag] = [
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


def _text(tag: str, text: str | None) -> list[XmlTag]:
    return [] if text is None else [(tag, text)]


def _parameters(type_: Type) -> list[XmlTag]:
    return [
        ("parameters", _parameter(name, property_))
        for name, property_ in (type_.properties.items() if isinstance(type_, ObjectType) else ())
    ]


def _parameter(name: str, property_: Property) -> list[XmlTag]:
    facts = facts_of(property_.extensions)
    outer, inner = _descriptions(property_.type)
    required: list[XmlTag] = [] if "isRequired" in facts else [("isRequired", _flag(property_.required))]
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


def _response(type_: Type | None, facts: Mapping[str, Json]) -> list[XmlTag]:
    if type_ is None:
        return []
    outer, inner = _descriptions(type_)
    nullable = facts.get("responseIsNullable")
    stated: list[XmlTag] = [] if nullable is None else [("isNullable", _flag(nullable))]
    content: list[XmlTag] = [
        ("id", facts.get("responseId", UNUSED)),
        *stated,
        ("valueType", _data_type(type_, inner)),
        *_text("description", outer),
        *_unknown(facts.get("responseElements")),
    ]
    return [("response", content)]


def _deprecation(facts: Mapping[str, Json]) -> list[XmlTag]:
    if "deprecation" not in facts:
        return []
    content: list[XmlTag] = [
        ("id", facts.get("deprecationId", UNUSED)),
        *_text("message", facts["deprecation"]),
        *_unknown(facts.get("deprecationElements")),
    ]
    return [("deprecation", content)]


def _components(provider: Provider, facts: Mapping[str, Json]) -> list[XmlTag]:
    usual: Json = [[UNUSED, None]] if provider.definitions else []
    documents = facts.get("components", usual)
    placed = {name for entry in documents for name in entry[1] or ()}
    unplaced = sorted(name for name in provider.definitions if name not in placed)
    if unplaced and all(entry[1] is not None for entry in documents):
        documents = [*documents, [UNUSED, None]]
    nodes: list[XmlTag] = []
    for entry in documents:
        names = unplaced if entry[1] is None else [name for name in entry[1] if name in provider.definitions]
        content: list[XmlTag] = [
            ("dataTypes", _definition(name, provider.definitions[name])) for name in names
        ]
        content.append(("id", entry[0]))
        content.extend(_unknown(entry[2] if len(entry) > 2 else None))  # noqa: PLR2004 - the third is optional
        nodes.append((NAMES["component_document"], content))
    return nodes


def _definition(name: str, type_: Type) -> list[XmlTag]:
    facts = facts_of(type_.extensions)
    return [
        ("dataTypeMetadata", _data_type(type_, type_.description, definition=True)),
        ("id", facts.get("nameId", UNUSED)),
        ("name", name),
        *_unknown(facts.get("nameElements")),
    ]


def _data_type(type_: Type, description: str | None, *, definition: bool = False) -> list[XmlTag]:
    facts = facts_of(type_.extensions)
    before: list[XmlTag] = []
    if isinstance(type_, AllOfType):
        before = [("allOf", _data_type(member, member.description)) for member in type_.members]
    elif isinstance(type_, OneOfType):
        before = [("oneOf", _data_type(each, each.description)) for each in type_.alternatives]
    elif isinstance(type_, RefType):
        before = [("dataTypeReference", type_.name)]
    nullable = _nullable(type_, facts, definition=definition)
    items: list[XmlTag] = []
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


def _type_number(type_: Type, facts: Mapping[str, Json]) -> list[XmlTag]:
    number = facts.get("type", NUMBER_OF_KIND.get(type_.kind))
    return [] if number is None else [("type", str(number))]


def _nullable(type_: Type, facts: Mapping[str, Json], *, definition: bool) -> list[XmlTag]:
    if "isNullable" not in facts:
        return [("isNullable", _flag(definition or type_.nullable))]
    stated = facts["isNullable"]
    return [] if stated is None else [("isNullable", _flag(stated))]


def _class_name(type_: Type) -> str | None:
    if isinstance(type_, OpaqueType):
        return type_.class_name
    return type_.qualified_name if isinstance(type_, ObjectType | AllOfType | OneOfType) else None


def _properties(type_: Type, facts: Mapping[str, Json]) -> list[XmlTag]:
    if not isinstance(type_, ObjectType):
        return []
    nodes: list[XmlTag] = []
    for name, property_ in type_.properties.items():
        of_part = facts_of(property_.extensions)
        content: list[XmlTag] = [
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


def _patterns(type_: Type, facts: Mapping[str, Json]) -> list[XmlTag]:
    patterns = patterns_of(facts)
    nodes: list[XmlTag] = []
    if type_.pattern is not None and (patterns is None or type_.pattern != pattern_of(patterns)):
        nodes.append(("pattern", type_.pattern))
    for each in patterns or ():
        content: list[XmlTag] = [
            ("id", each.get("id", UNUSED)),
            *_text("value", each.get("value")),
            *_optional(each, "type"),
            *_unknown(each.get("elements")),
        ]
        nodes.append(("patterns", content))
    return nodes


def write_manifest(
    provider: Provider, dialect: str, *, files: Mapping[str, str], schema: str | None, metadata: bool
) -> str:
    """Return a whole manifest that declares a provider's service and properties.

    Args:
        provider: The fitted provider.
        dialect: Its dialect.
        files: Its functions files by the properties that name them.
        schema: Name of its schema asset, or None.
        metadata: It has an `app_metadata` resource.

    Raises:
        WriteError: the name cannot be carried by a resource.
    """
    properties = [] if schema is None else [(NAMES["property_schema"], schema)]
    properties += files.items()
    package = f"\n    package={quoted_attribute(provider.package)}" if provider.package is not None else ""
    label = [] if provider.name is None else [("label", escape_attribute_value(provider.name))]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android"{package}>',
    ]
    at_service = dialect != APP_LEVEL
    lines.append(f"    <application{'' if at_service else _attributes(label, 8)}>")
    if metadata:
        lines.append(
            f'        <property\n            android:name="{NAMES["property_metadata"]}"\n'
            f'            android:resource="@xml/{NAMES["metadata_resource"]}" />'
        )
    if at_service:
        attributes = [*_before_label(provider), *label, *_after_label(provider)]
        lines.append(f"        <service{_attributes(attributes, 12)}>")
    indent = " " * (12 if at_service else 8)
    lines += [
        f'{indent}<property\n{indent}    android:name="{name}"\n'
        f"{indent}    android:value={quoted_attribute(escape_attribute_value(value))} />"
        for name, value in properties
    ]
    if at_service:
        lines += [
            "            <intent-filter>",
            f'                <action android:name="{NAMES["action"]}" />',
            "            </intent-filter>",
            "        </service>",
        ]
    lines += ["    </application>", "</manifest>"]
    return "\n".join(lines) + "\n"


def _before_label(provider: Provider) -> list[tuple[str, str]]:
    exported, enabled = provider.access.exported, enabled_attribute(provider)
    attributes = [("name", provider.component or "")]
    if exported is not None:
        attributes.append(("exported", "true" if exported else "false"))
    if enabled is not None:
        attributes.append(("enabled", enabled))
    return attributes


def _after_label(provider: Provider) -> list[tuple[str, str]]:
    permission = provider.access.permission
    return [] if permission is None else [("permission", permission)]


def _attributes(attributes: Iterable[tuple[str, str]], blanks: int) -> str:
    return "".join(f"\n{' ' * blanks}android:{name}={quoted_attribute(value)}" for name, value in attributes)


_OLDER_FILES: Final = frozenset({SAME_FUNCTIONS, OTHER_FUNCTIONS})


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write one provider in one dialect.

    A provider that was read from one file alone has neither package nor component; it is written as that file
    alone.

    Returns:
        `assets/*.xml`, also one of version 1 where the source has both, its schema, `AndroidManifest.xml`,
        and where there is anything to say `res/xml/app_metadata.xml` with its string resource.

    Raises:
        UsageError: the dialect is only read.
        WriteError: a text cannot be carried, or no reader gives the provider's facts of this format.
    """
    alone = _is_one_file(provider, dialect.id)
    fitted = _fit(provider, dialect, alone=alone)
    try:
        make = _one_file if alone else _artifacts
        artifacts = make(fitted.provider, dialect.id)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        message = "the provider's facts of AppFunctions are not as a reader gives them"
        raise WriteError(message, hint="read the source again, or remove its extensions") from error
    return Writing(artifacts, fitted.provider, fitted.findings, fitted.names)


def find_losses(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    """Return the findings of writing a provider of another format that holds no facts of this one.

    Raises:
        UsageError: the dialect is only read.
    """
    return _fit(provider, dialect).findings


def _without_foreign_files(provider: Provider) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider without facts that would declare more than its capabilities and their access.

    Only this format's own reader checks that such facts are what the source declares; another source, such as
    an MCP list, can hold any text there.

    Returns:
        The provider, and a finding for each fact that is left out.
    """
    if provider.protocol == FORMAT_ID:
        return provider, ()
    findings: list[Finding] = []
    extensions = _without_facts(provider.extensions, provider, "", findings)
    capabilities = tuple(
        capability.changed(
            {
                "extensions": _without_facts(
                    capability.extensions, capability, f"/capabilities/{position}", findings
                ),
            }
        )
        for position, capability in enumerate(provider.capabilities)
    )
    if not findings:
        return provider, ()
    changes = {"extensions": extensions, "capabilities": capabilities}
    return provider.changed(changes), tuple(findings)


def _without_facts(
    extensions: Extensions, part: Provider | Capability, pointer: str, findings: list[Finding]
) -> Extensions:
    facts = facts_of(extensions)
    if not facts:
        return extensions
    foreign = [
        name
        for name, fact in facts.items()
        if (name in _OLDER_FILES and isinstance(part, Provider))
        or (name in {"rootElements", "elements"} and has_own_elements(fact))
    ]
    findings.extend(
        _FOREIGN_FILE.finding(f"{pointer}/extensions/{FORMAT_ID}/{name}", source=part.source, fact=name)
        for name in foreign
    )
    if not foreign:
        return extensions
    own_facts = {name: fact for name, fact in facts.items() if name not in foreign}
    return as_extensions(FORMAT_ID, own_facts, extensions)


def _fit(provider: Provider, dialect: DialectTable, *, alone: bool = False) -> Fitted:
    if dialect.capacity is None:
        message = f"{FORMAT_ID}+{dialect.id} is only read"
        raise UsageError(message, hint=dialect.not_written_because)
    capacity = dialect.capacity.changed({"component": None}) if alone else dialect.capacity
    own, findings = _without_foreign_files(provider)
    fitted = fit_provider(own, capacity, FORMAT_ID, dialect.id)
    return replace(fitted, findings=(*findings, *fitted.findings)) if findings else fitted


def _is_one_file(provider: Provider, dialect: str) -> bool:
    if provider.protocol != FORMAT_ID or APP_LEVEL in {dialect, provider.dialect}:
        return False
    in_an_app = provider.package is not None or provider.component is not None or provider.name is not None
    return not in_an_app and not (provider.capabilities and has_metadata(provider))


def _one_file(provider: Provider, dialect: str) -> tuple[Artifact, ...]:
    declares = bool(provider.capabilities or provider.definitions)
    if not declares and has_metadata(provider):
        text, _ = write_metadata(provider, with_resources=False)
        return (Artifact(f"{NAMES['metadata_resource']}.xml", text, "document"),)
    schema: SearchSchema | None = facts_of(provider.extensions).get(schema_fact(dialect))
    if not declares and schema is not None:
        return (Artifact(NAMES["schema_asset"], write_schema_file(schema), "document"),)
    return (Artifact(asset_name(provider, dialect), write_functions_file(provider, dialect), "document"),)


def _artifacts(provider: Provider, dialect: str) -> tuple[Artifact, ...]:
    schema: SearchSchema | None = facts_of(provider.extensions).get(schema_fact(dialect))
    if schema is None:
        schema = usual_schema(provider, dialect)
    schema_name = (
        NAMES["platform_schema_asset" if dialect == PLATFORM else "schema_asset"] if schema else None
    )
    with_metadata = has_metadata(provider)
    older = older_functions(provider)
    files = {NAMES["property_v1" if dialect == V1 else "property_v2"]: asset_name(provider, dialect)}
    if older is not None:
        files[NAMES["property_v1"]] = asset_name(provider, V1)
    manifest = write_manifest(provider, dialect, files=files, schema=schema_name, metadata=with_metadata)
    artifacts = [
        Artifact("AndroidManifest.xml", manifest, "manifest"),
        Artifact(
            f"assets/{asset_name(provider, dialect)}", write_functions_file(provider, dialect), "descriptor"
        ),
    ]
    if older is not None:
        artifacts.append(Artifact(f"assets/{asset_name(provider, V1)}", older, "descriptor"))
    if schema is not None and schema_name is not None:
        artifacts.append(Artifact(f"assets/{schema_name}", write_schema_file(schema), "schema"))
    if with_metadata:
        text, values = write_metadata(provider)
        artifacts.append(Artifact(f"res/xml/{NAMES['metadata_resource']}.xml", text, "resource"))
        if values is not None:
            artifacts.append(Artifact(f"res/values/{NAMES['metadata_string']}.xml", values, "resource"))
    return (*artifacts, *(() if dialect == APP_LEVEL else enabled_resources(provider)))
