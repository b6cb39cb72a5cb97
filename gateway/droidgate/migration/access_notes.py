"""What the access rules of a written component mean to the app's author."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from droidgate_android.manifest_edit import parse_manifest
from droidgate_mappings.formats.access_words import enabled_words
from droidgate_mappings.formats.format import Format
from droidgate_mappings.formats.reachability import Protection, protection_of
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.tables.loading import find_binding
from droidgate_mappings.text.xml_text import ANDROID, child_elements

_PLACEHOLDER: Final = re.compile(r"\$\{(?:[^}$]|\$(?!\{))*+\}")
_ANDROID_PREFIX: Final = "android."
_DEFAULT_LEVEL: Final = "normal"


def access_notes(provider: Provider, target: Format, manifest: str) -> Iterator[str]:
    """Yield a note for each rule that keeps callers from the component of a provider.

    Args:
        provider: The provider as written.
        target: Its format.
        manifest: The manifest of the app that it is written into.
    """
    access, component = provider.access, provider.component or "the component"
    if access.exported is False:
        yield (
            f"{component} is not exported, so only this app can call it; set android:exported to true "
            "to let other apps call it"
        )
    enabled = enabled_words(access.enabled)
    if enabled is not None:
        yield f"{component} is {enabled}; change android:enabled to let callers reach it everywhere"
    binding = find_binding(target.id)
    if access.permission and (binding is None or access.permission != binding.component):
        yield from _permission_notes(access.permission, component, _declared_permissions(manifest))


def _may_be(declared: str, permission: str) -> bool:
    """Return whether a declared name, whose placeholders have any values, can be a permission's."""
    first, *others = _PLACEHOLDER.split(declared)
    if not others:
        return first == permission
    *middle, last = others
    if not permission.startswith(first) or not permission.endswith(last):
        return False
    at, end = len(first), len(permission) - len(last)
    for item in middle:
        found = permission.find(item, at + 1, end)
        if found < 0:
            return False
        at = found + len(item)
    return at < end


def _permission_notes(permission: str, component: str, declared: Mapping[str, str]) -> Iterator[str]:
    declaration = next((name for name in declared if _may_be(name, permission)), None)
    levels = {} if declaration is None else {permission: declared[declaration]}
    is_closed = protection_of(permission, levels) is Protection.SIGNATURE
    closed = ", which ordinary apps cannot hold" if is_closed else ""
    yield (
        f"callers need {permission}{closed}; remove android:permission from {component} "
        "to let every app call it"
    )
    if declaration is None and not permission.startswith(_ANDROID_PREFIX):
        yield (
            f"{permission} is not declared in this app's manifest, and no app can hold a permission that is "
            f'not declared; declare it there: <permission android:name="{permission}" />'
        )


def _declared_permissions(manifest: str) -> dict[str, str]:
    """Return the permissions that a manifest declares, with their protection levels."""
    root = parse_manifest(manifest, path="AndroidManifest.xml")
    return {
        child.get(f"{ANDROID}name", ""): child.get(f"{ANDROID}protectionLevel", _DEFAULT_LEVEL)
        for child in child_elements(root)
        if child.tag == "permission"
    }
