"""Writing the manifest that puts a functions file in force (reference 1.1)."""

from __future__ import annotations

import re

from droidgate.model.capability import Provider
from droidgate.parsing.aapt_text import escape_attribute_value
from droidgate_appfunctions.constants import APP_LEVEL, NAMES, V1
from droidgate_appfunctions.xml_writing import quoted_attribute

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


def asset_name(provider: Provider, dialect: str) -> str:
    """Return the name of a provider's functions file: its service's class in snake case, as with Jetpack."""
    if dialect == APP_LEVEL:
        return NAMES["app_level_asset"]
    simple = re.split(r"[.$]", provider.component or "")[-1]
    name = _NOT_WORD.sub("_", _WORD_START.sub("_", simple).lower()).strip("_") or NAMES["root"]
    return f"{name}-v1.xml" if dialect == V1 else f"{name}.xml"


def write_manifest(provider: Provider, dialect: str, *, schema: str | None, metadata: bool) -> str:
    """Return a whole manifest that declares a provider's service and properties.

    Args:
        provider: The fitted provider.
        dialect: Its dialect.
        schema: Name of its schema asset, or None.
        metadata: It has an `app_metadata` resource.

    Raises:
        WriteError: the name cannot be carried by a resource.
    """
    properties: list[tuple[str, str]] = []
    if schema is not None:
        properties.append((NAMES["property_schema"], schema))
    properties.append(
        (NAMES["property_v1" if dialect == V1 else "property_v2"], asset_name(provider, dialect))
    )
    package = f"\n    package={quoted_attribute(provider.package)}" if provider.package is not None else ""
    label = (
        f"\n{{0}}android:label={quoted_attribute(escape_attribute_value(provider.name))}"
        if provider.name is not None
        else ""
    )
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android"{package}>',
    ]
    at_service = dialect != APP_LEVEL
    lines.append(f"    <application{'' if at_service else _at(label, 8)}>")
    if metadata:
        lines.append(
            f'        <property\n            android:name="{NAMES["property_metadata"]}"\n'
            f'            android:resource="@xml/{NAMES["metadata_resource"]}" />'
        )
    if at_service:
        lines.append(
            f"        <service\n            android:name={quoted_attribute(provider.component or '')}"
            f'\n            android:exported="true"{_at(label, 12)}'
            f'\n            android:permission="{NAMES["permission"]}">'
        )
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


def _at(attribute: str, blanks: int) -> str:
    return attribute.replace("{0}", " " * blanks, 1)
