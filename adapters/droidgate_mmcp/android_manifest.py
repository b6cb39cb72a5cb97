"""The Android manifest that declares one component, as aapt2 compiles it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from droidgate_android.projects.manifest_limits import excess_of
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import WriteError
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.aapt_text import escape_attribute_value
from droidgate_mappings.text.utf16 import utf16_length

_TOO_LONG_HINT: Final = (
    "write fewer tools, or shorter descriptions; each of several activities can advertise some of the tools"
)


@dataclass(frozen=True, slots=True)
class ComponentElement:
    """One component with one intent filter.

    Attributes:
        element: Which element.
        name: Class name.
        label: Human-readable text, or None.
        exported: `android:exported`, None where it is not stated.
        enabled: `android:enabled`, None where it is not stated.
        permission: What callers need, or None.
        actions: Of its filter.
        categories: Of its filter.
        meta_data: Name to text, as a device should see it.
    """

    element: Literal["activity", "service", "receiver"]
    name: str
    label: str | None = None
    exported: bool | None = True
    enabled: str | None = None
    permission: str | None = None
    actions: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    meta_data: Mapping[str, str] = field(default_factory=dict)


def refuse_long_texts(provider: Provider, component: ComponentElement) -> None:
    """Compare what a manifest with one component would hold with what newer releases of Android take.

    Raises:
        WriteError: a text is too long (`manifest_limits`).
    """
    for element, attribute, text in _texts(provider, component):
        excess = excess_of(attribute, utf16_length(text), element)
        if excess is not None:
            raise WriteError(excess, hint=_TOO_LONG_HINT if attribute == "value" else "shorten it")


def write_android_manifest(provider: Provider, component: ComponentElement) -> str:
    """Return a whole manifest document that declares one component.

    Raises:
        WriteError: a text holds NUL or half of a surrogate pair, or is too long (`refuse_long_texts`).
    """
    refuse_long_texts(provider, component)
    package = f" {_attribute('package', provider.package)}" if provider.package is not None else ""
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        f'<manifest xmlns:android="http://schemas.android.com/apk/res/android"{package}>',
        "    <application>",
        *(f"        {line}" for line in _component_lines(component)),
        "    </application>",
        "</manifest>",
    ]
    return "\n".join(lines) + "\n"


def _texts(provider: Provider, component: ComponentElement) -> Iterator[tuple[str, str, str]]:
    """Yield element, attribute and text of all that may be long."""
    called = f"<{component.element}> {component.name[:80]}"
    texts = (
        ("<manifest>", "package", provider.package),
        (called, "name", component.name),
        (called, "label", component.label),
        (called, "permission", component.permission),
        *((f"<meta-data> {name}", "value", value) for name, value in component.meta_data.items()),
    )
    return ((element, attribute, text) for element, attribute, text in texts if text is not None)


def _component_lines(component: ComponentElement) -> Iterator[str]:
    yield f"<{component.element}"
    attributes = list(_component_attributes(component))
    for attribute in attributes[:-1]:
        yield f"    {attribute}"
    yield f"    {attributes[-1]}>"
    yield "    <intent-filter>"
    for action in component.actions:
        yield f"        <action {_attribute('android:name', action)} />"
    for category in component.categories:
        yield f"        <category {_attribute('android:name', category)} />"
    yield "    </intent-filter>"
    for name, value in component.meta_data.items():
        yield "    <meta-data"
        yield f"        {_attribute('android:name', name)}"
        yield f"        {_attribute('android:value', escape_attribute_value(value))} />"
    yield f"</{component.element}>"


def _component_attributes(component: ComponentElement) -> Iterator[str]:
    yield _attribute("android:name", component.name)
    if component.enabled is not None:
        yield _attribute("android:enabled", component.enabled)
    if component.exported is not None:
        yield _attribute("android:exported", str(component.exported).lower())
    if component.label is not None:
        yield _attribute("android:label", escape_attribute_value(component.label))
    if component.permission is not None:
        yield _attribute("android:permission", escape_attribute_value(component.permission))


def _attribute(name: str, value: str) -> str:
    escaped = value.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;").replace("\n", "&#10;")
    escaped = escaped.replace("\t", "&#9;")
    if '"' in escaped:
        return f"{name}='{escaped.replace(chr(39), '&apos;')}'"
    return f'{name}="{escaped}"'
