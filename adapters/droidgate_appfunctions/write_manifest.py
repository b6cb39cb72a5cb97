"""Writing the manifest that puts a functions file in force (reference 1.1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from droidgate_appfunctions.constants import APP_LEVEL, NAMES
from droidgate_appfunctions.xml_writing import quoted_attribute
from droidgate_mappings.formats.component_writing import enabled_attribute
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.text.aapt_text import escape_attribute_value


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
