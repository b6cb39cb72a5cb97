"""Functions files and apps in memory, typed by hand, and ways to read them."""

from collections.abc import Mapping

from droidgate_android.projects.android_project import application_from_tree
from droidgate_appfunctions.format import FORMAT
from droidgate_mappings.formats.application import Application
from droidgate_mappings.formats.format import Reading, SourceFile, Writing
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Extensions, Type
from mappings.fit.capacities import write_for
from model_types import properties_of

ANDROID = 'xmlns:android="http://schemas.android.com/apk/res/android"'
ACTION = '<intent-filter><action android:name="android.app.appfunctions.AppFunctionService"/></intent-filter>'
PERMISSION = 'android:permission="android.permission.BIND_APP_FUNCTION_SERVICE"'
VOID = "<id>unused</id><isNullable>false</isNullable><type>0</type>"
RESPONSE = f"<response><id>unused</id><valueType>{VOID}</valueType></response>"


def file_of(*functions: str, components: str = "") -> str:
    return f"<appfunctions>{''.join(functions)}{components}</appfunctions>"


def function_of(
    inner: str = "", *, name: str = "a.B#c", response: str = RESPONSE, enabled: str | None = "true"
) -> str:
    stated = "" if enabled is None else f"<enabledByDefault>{enabled}</enabledByDefault>"
    return (
        f"<appfunction><id>{name}</id>{stated}{inner}{response}<functionId>{name}</functionId></appfunction>"
    )


def typed(inner: str, number: int, *, nullable: bool = False) -> str:
    """The children of a data type."""
    return f"<id>unused</id><isNullable>{str(nullable).lower()}</isNullable>{inner}<type>{number}</type>"


def parameter_of(kept: str, *, name: str = "p", required: str = "true", after: str = "") -> str:
    return (
        f"<parameters><dataTypeMetadata>{kept}</dataTypeMetadata><id>unused</id>"
        f"<isRequired>{required}</isRequired><name>{name}</name>{after}</parameters>"
    )


def components_of(*definitions: str, document_id: str = "unused") -> str:
    inner = "".join(definitions)
    tag = "AppFunctionComponentMetadataDocument"
    return f"<{tag}>{inner}<id>{document_id}</id></{tag}>"


def definition_of(name: str, kept: str) -> str:
    part = f"<dataTypeMetadata>{kept}</dataTypeMetadata>"
    return f"<dataTypes>{part}<id>unused</id><name>{name}</name></dataTypes>"


def read_text(text: str, path: str = "assets/f.xml", *, strict: bool = True) -> Reading:
    return FORMAT.read_file(SourceFile(path, text.encode()), ReadingContext(strict=strict))


def only(reading: Reading) -> Provider:
    (provider,) = reading.providers
    return provider


def only_function(text: str, *, strict: bool = True) -> Capability:
    (capability,) = only(read_text(text, strict=strict)).capabilities
    return capability


def read_type_of(kept: str, *, components: str = "", strict: bool = True) -> Type:
    """The type of the only parameter of a function."""
    text = file_of(function_of(parameter_of(kept)), components=components)
    return kept_type(only(read_text(text, strict=strict)))


def ids_of(provider: Provider) -> list[str]:
    return [item.id for item in provider.capabilities]


def kept_type(provider: Provider) -> Type:
    """Return the type of the parameter `p` of the first function."""
    return properties_of(provider.capabilities[0].input)["p"].type


def facts_of(part: Capability | Provider | Type) -> Mapping[str, Json]:
    extensions: Extensions = part.extensions
    return extensions.get("appfunctions", {})


def service_of(*properties: str, name: str = ".Service", filters: str = ACTION, attributes: str = "") -> str:
    stated = f'android:name="{name}" android:exported="true" {PERMISSION} {attributes}'
    return f"<service {stated}>{''.join(properties)}{filters}</service>"


def property_of(name: str, value: str | None = None, *, resource: str | None = None) -> str:
    suffix = f".{name}" if name else ""
    where = f'android:value="{value}"' if resource is None else f'android:resource="{resource}"'
    return f'<property android:name="android.app.appfunctions{suffix}" {where}/>'


def app_of(*parts: str, files: Mapping[str, str]) -> Application:
    """An app with the given parts of its application element, and files by path."""
    inner = f"<application>{''.join(parts)}</application>"
    manifest = f'<manifest {ANDROID} package="com.example.app">{inner}</manifest>'
    return application_from_tree(
        {"AndroidManifest.xml": manifest.encode()} | {path: text.encode() for path, text in files.items()}
    )


def read_app(*parts: str, files: Mapping[str, str] | None = None, strict: bool = True) -> Reading:
    return FORMAT.read_application(app_of(*parts, files=files or {}), ReadingContext(strict=strict))


def rows_of(reading: Reading) -> list[str | None]:
    return [finding.rule for finding in reading.findings]


def write_in(provider: Provider, dialect: str) -> Writing:
    return write_for(provider, f"appfunctions+{dialect}")


def artifact(writing: Writing, role: str) -> str:
    """The text of the only artifact of a role."""
    (text,) = [item.text for item in writing.artifacts if item.role == role]
    return text
