"""Writing providers as mMCP: the Android manifest with the tools in it, or a broadcast's answer.

`fit_provider` decides what can be said; what is left is written without loss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from droidgate_android.projects.manifest_limits import MAX_META_DATA
from droidgate_mappings.fit import Fitted, fit_provider, without_own_facts
from droidgate_mappings.formats.component_reading import enabled_attribute, enabled_resources
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.json_schema import add_discriminators, write_schema
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.json_values import Json, json_equal
from droidgate_mappings.model.types import ObjectType, Type
from droidgate_mappings.tables.capacity import Capacity
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mappings.text.utf16 import utf16_length
from droidgate_mmcp.android_manifest import ComponentElement, refuse_long_texts, write_android_manifest
from droidgate_mmcp.discovery import write_discovery
from droidgate_mmcp.format import BROADCAST, FORMAT_ID, JSON_PATH, NAMES, TABLES, TEXT_FIELDS, TEXT_KEYS
from droidgate_mmcp.tool_manifest import usual_form, write_json
from droidgate_mmcp.type_words import (
    FORM_NOTE,
    as_properties,
    is_flat_map,
    is_property_map,
    write_word_map,
)

MANIFEST_PATH: Final = "AndroidManifest.xml"
DISCOVERY_PATH: Final = "mmcp_discovery.json"

_OF_ONE_DIALECT: Final = frozenset({"protocolVersion", "text_key", "parameters", "instructions", "return"})
"""Facts that say how one dialect's file was written; another dialect has its own way, or no place for it."""

_NEVER_WRITTEN: Final = frozenset({"application-access"})
"""Facts that say where the source states what is always written at the component."""


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write a provider as an Android manifest and its JSON document.

    A provider that was read from a manifest's JSON alone has no component; it is written as that JSON alone.

    Raises:
        WriteError: the dialect cannot be written, a text holds what no Android resource can hold, or the
            manifest is so long that newer releases of Android would refuse the app.
    """
    alone = provider.component is None and provider.protocol == FORMAT_ID and provider.dialect != BROADCAST
    fitted = fit(provider, dialect, alone=alone)
    if dialect.id == BROADCAST:
        return _write_broadcast(fitted)
    manifest = write_manifest(fitted.provider)
    document = Artifact(JSON_PATH, write_json(manifest, lines=True) + "\n", "document")
    artifacts: tuple[Artifact, ...] = (document,)
    if not alone:
        text = write_android_manifest(fitted.provider, _activity(fitted.provider, write_json(manifest)))
        manifest_file = Artifact(MANIFEST_PATH, text, "manifest")
        artifacts = (manifest_file, document, *enabled_resources(fitted.provider))
    return Writing(artifacts, fitted.provider, fitted.findings, fitted.names)


def find_losses(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    """Return the findings of writing a provider of another format that holds no facts of this one.

    Raises:
        WriteError: the dialect cannot be written, or a text is too long, as `write` says.
    """
    fitted = fit(provider, dialect)
    written = fitted.provider
    is_broadcast = dialect.id == BROADCAST
    component = (
        _receiver(written) if is_broadcast else _activity(written, write_json(write_manifest(written)))
    )
    refuse_long_texts(written, component)
    return fitted.findings


def fit(provider: Provider, dialect: DialectTable, *, alone: bool = False) -> Fitted:
    """Return a provider as a dialect can hold it.

    Args:
        provider: The provider.
        dialect: The dialect.
        alone: The manifest's JSON is written without an Android manifest.

    Raises:
        WriteError: the dialect cannot be written.
    """
    if dialect.capacity is None:
        message = f"{FORMAT_ID}+{dialect.id} is only read"
        raise WriteError(message, hint=dialect.not_written_because)
    if dialect.id == BROADCAST:
        return fit_provider(provider, dialect.capacity, FORMAT_ID, dialect.id)
    again = provider.protocol == FORMAT_ID and provider.dialect == dialect.id
    reported: list[Finding] = []
    dropped = _NEVER_WRITTEN if again else _NEVER_WRITTEN | _OF_ONE_DIALECT
    writable_provider = without_own_facts(provider, TABLES, dropped.__contains__, reported)
    capacity = _capacity_for(dialect.capacity, again=again, alone=alone)
    fitted = fit_provider(writable_provider, capacity, FORMAT_ID, dialect.id)
    written, findings = fitted.provider, (*reported, *fitted.findings)
    if provider.protocol != FORMAT_ID:
        written, added = add_discriminators(written, fitted.names)
        findings = (*findings, *added)
    return Fitted(written, findings, fitted.names)


def write_manifest(provider: Provider) -> dict[str, Json]:
    """Return the manifest's JSON value of a fitted provider."""
    facts = provider.extensions.get(FORMAT_ID, {})
    dialect = provider.dialect or ""
    manifest: dict[str, Json] = {}
    text = getattr(provider, TEXT_FIELDS[dialect])
    if text is not None:
        manifest[facts.get("text_key", TEXT_KEYS[dialect])] = text
    if "instructions" in facts:
        manifest["instructions"] = facts["instructions"]
    manifest["protocolVersion"] = facts.get("protocolVersion", NAMES["protocol_version"])
    manifest["tools"] = [_write_tool(capability, provider) for capability in provider.capabilities]
    manifest.update(facts.get("keys", {}))
    return manifest


def fitting_tools(provider: Provider) -> tuple[int, ...]:
    """Return the positions of the tools that fit into the meta-data of one component.

    A tool that does not fit is passed over, and the next ones are tried.

    Args:
        provider: A fitted provider.
    """
    empty = write_manifest(provider.changed({"capabilities": ()}))
    room = MAX_META_DATA - utf16_length(write_json(empty))
    positions: list[int] = []
    for position, capability in enumerate(provider.capabilities):
        length = utf16_length(write_json(_write_tool(capability, provider))) + bool(positions)
        if length <= room:
            room -= length
            positions.append(position)
    return tuple(positions)


def write_parameters(taken: Type, definitions: Mapping[str, Type]) -> Json:
    """Return an input as the JSON Schema that reads as this input.

    A schema that a reader would take for a map of parameters (row M37) says in `x-droidgate` that it is one.
    """
    schema = write_schema(taken, definitions)
    if isinstance(schema, dict) and (not schema or is_flat_map(schema) or is_property_map(schema)):
        schema = {**schema, **FORM_NOTE}
    return schema


def _capacity_for(capacity: Capacity, *, again: bool, alone: bool) -> Capacity:
    changes: dict[str, Any] = {}
    if again:
        # What a file of the same dialect leaves out stays out.
        changes.update(provider_defaults={}, capability_defaults={}, input_shape="any")
    if alone:
        changes.update(
            component=None,
            provider_fields=capacity.provider_fields - {"package", "component", "name"},
            access=frozenset(),
            access_enforced=frozenset(),
        )
    return capacity.changed(changes) if changes else capacity


def _write_tool(capability: Capability, provider: Provider) -> dict[str, Json]:
    facts = capability.extensions.get(FORMAT_ID, {})
    tool: dict[str, Json] = {"name": capability.id}
    if capability.description is not None:
        tool["description"] = capability.description
    form = facts.get("parameters", usual_form(provider.dialect or "", capability.input))
    if form == "empty":
        tool["parameters"] = {}
    elif form == "flat" and isinstance(capability.input, ObjectType):
        tool["parameters"] = write_word_map(capability.input)
    elif form != "missing":
        schema = write_parameters(capability.input, provider.definitions)
        tool["parameters"] = schema
        if form == "properties" and isinstance(schema, Mapping):
            inner = schema.get("properties")
            is_whole = is_property_map(inner) and json_equal(as_properties(inner), schema)
            tool["parameters"] = inner if is_whole else schema
    if isinstance(capability.output, ObjectType):
        tool["return"] = write_word_map(capability.output, capital=True)
    elif "return" in facts:
        tool["return"] = facts["return"]
    tool.update(facts.get("keys", {}))
    return tool


def _activity(provider: Provider, manifest: str) -> ComponentElement:
    facts = provider.extensions.get(FORMAT_ID, {})
    return ComponentElement(
        element="service" if facts.get("element") == "service" else "activity",
        name=provider.component or "",
        label=provider.name,
        exported=provider.access.exported,
        enabled=enabled_attribute(provider),
        permission=provider.access.permission,
        actions=(NAMES["advertise_action"], NAMES["call_action"]),
        categories=(NAMES["default_category"],),
        meta_data={NAMES["manifest_meta_data"]: manifest},
    )


def _receiver(provider: Provider) -> ComponentElement:
    return ComponentElement(
        element="receiver",
        name=provider.component or "",
        label=provider.name,
        exported=provider.access.exported,
        enabled=enabled_attribute(provider),
        permission=provider.access.permission,
        actions=(NAMES["discovery_action"], NAMES["invoke_action"]),
    )


def _write_broadcast(fitted: Fitted) -> Writing:
    provider = fitted.provider
    artifacts = (
        Artifact(MANIFEST_PATH, write_android_manifest(provider, _receiver(provider)), "manifest"),
        Artifact(DISCOVERY_PATH, write_json(write_discovery(provider), lines=True) + "\n", "document"),
        *enabled_resources(provider),
    )
    return Writing(artifacts, provider, fitted.findings, fitted.names)
