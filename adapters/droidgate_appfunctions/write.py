"""Writing a provider: the functions file, its schema, the manifest, and the app's guidance for agents."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from droidgate_appfunctions.constants import (
    APP_LEVEL,
    FORMAT_ID,
    NAMES,
    PLATFORM,
    V1,
    as_extensions,
    facts_of,
)
from droidgate_appfunctions.file_names import asset_name
from droidgate_appfunctions.metadata import has_metadata, write_metadata
from droidgate_appfunctions.older_files import OTHER_FUNCTIONS, SAME_FUNCTIONS
from droidgate_appfunctions.schema import Schema, schema_fact, usual_schema, write_schema_file
from droidgate_appfunctions.write_document import has_own_elements, older_functions, write_functions_file
from droidgate_appfunctions.write_manifest import write_manifest
from droidgate_mappings.fit import Fitted, fit_provider, losses
from droidgate_mappings.formats.component_writing import enabled_resources
from droidgate_mappings.formats.format import Artifact, Writing
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import UsageError, WriteError
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import DialectTable

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


def weigh(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
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
        capability.model_copy(
            update={
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
    return provider.model_copy(update=changes), tuple(findings)


def _without_facts(
    extensions: Extensions, part: Provider | Capability, pointer: str, findings: list[Finding]
) -> Extensions:
    facts = facts_of(extensions)
    foreign = [
        name
        for name, fact in facts.items()
        if (name in _OLDER_FILES and isinstance(part, Provider))
        or (name in {"rootElements", "elements"} and has_own_elements(fact))
    ]
    findings.extend(
        losses.APPFUNCTIONS_FACT.finding(
            f"{pointer}/extensions/{FORMAT_ID}/{name}", source=part.source, fact=name
        )
        for name in foreign
    )
    if not foreign:
        return extensions
    kept = {name: fact for name, fact in facts.items() if name not in foreign}
    others = {name: values for name, values in extensions.items() if name != FORMAT_ID}
    return {**others, **as_extensions(kept)}


def _fit(provider: Provider, dialect: DialectTable, *, alone: bool = False) -> Fitted:
    if dialect.capacity is None:
        message = f"{FORMAT_ID}+{dialect.id} is only read"
        raise UsageError(message, hint=dialect.not_written_because)
    capacity = dialect.capacity.model_copy(update={"component": None}) if alone else dialect.capacity
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
    schema: Schema | None = facts_of(provider.extensions).get(schema_fact(dialect))
    if not declares and schema is not None:
        return (Artifact(NAMES["schema_asset"], write_schema_file(schema), "document"),)
    return (Artifact(asset_name(provider, dialect), write_functions_file(provider, dialect), "document"),)


def _artifacts(provider: Provider, dialect: str) -> tuple[Artifact, ...]:
    schema: Schema | None = facts_of(provider.extensions).get(schema_fact(dialect))
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
