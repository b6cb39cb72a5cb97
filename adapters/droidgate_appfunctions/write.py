"""Writing a provider: the functions file, its schema, the manifest, and the app's guidance for agents."""

from __future__ import annotations

from droidgate.component_access import enabled_resources
from droidgate.fit import Fitted, fit_provider
from droidgate.formats import Artifact, Writing
from droidgate.model.capability import Provider
from droidgate.model.errors import UsageError, WriteError
from droidgate.model.findings import Finding
from droidgate_appfunctions.constants import APP_LEVEL, FORMAT_ID, NAMES, PLATFORM, V1, facts_of
from droidgate_appfunctions.metadata import has_metadata, write_metadata
from droidgate_appfunctions.schema import Schema, schema_fact, usual_schema, write_schema_file
from droidgate_appfunctions.write_document import older_functions, write_functions_file
from droidgate_appfunctions.write_manifest import asset_name, write_manifest
from droidgate_mappings.tables import DialectTable


def write(provider: Provider, dialect: DialectTable) -> Writing:
    """Write one provider in one dialect.

    A provider that was read from one file alone has neither package nor component; it is written as that file
    alone.

    Returns:
        `assets/*.xml`, also one of version 1 where the source has both, its schema, `AndroidManifest.xml`,
        and where there is anything to say `res/xml/app_metadata.xml` with its string resource.

    Raises:
        UsageError: the dialect is only read.
        WriteError: a text cannot be carried, or the provider's facts of this format are no reader's.
    """
    alone = _is_one_file(provider, dialect.id)
    fitted = _fit(provider, dialect, alone=alone)
    try:
        make = _one_file if alone else _artifacts
        artifacts = make(fitted.provider, dialect.id)
    except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
        message = "the provider's facts of AppFunctions are not as a reader gives them"
        raise WriteError(message, hint="Read the source again, or remove its extensions") from error
    return Writing(artifacts, fitted.provider, fitted.findings, fitted.names)


def weigh(provider: Provider, dialect: DialectTable) -> tuple[Finding, ...]:
    """Return the findings of writing a provider of another format that holds no facts of this one.

    Raises:
        UsageError: the dialect is only read.
    """
    return _fit(provider, dialect).findings


def _fit(provider: Provider, dialect: DialectTable, *, alone: bool = False) -> Fitted:
    if dialect.capacity is None:
        message = f"{FORMAT_ID}+{dialect.id} is only read"
        raise UsageError(message, hint=dialect.not_written_because)
    capacity = dialect.capacity.model_copy(update={"component": None}) if alone else dialect.capacity
    return fit_provider(provider, capacity, FORMAT_ID, dialect.id)


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
    told = has_metadata(provider)
    older = older_functions(provider)
    files = {NAMES["property_v1" if dialect == V1 else "property_v2"]: asset_name(provider, dialect)}
    if older is not None:
        files[NAMES["property_v1"]] = asset_name(provider, V1)
    manifest = write_manifest(provider, dialect, files=files, schema=schema_name, metadata=told)
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
    if told:
        text, values = write_metadata(provider)
        artifacts.append(Artifact(f"res/xml/{NAMES['metadata_resource']}.xml", text, "resource"))
        if values is not None:
            artifacts.append(Artifact(f"res/values/{NAMES['metadata_string']}.xml", values, "resource"))
    return (*artifacts, *(() if dialect == APP_LEVEL else enabled_resources(provider)))
