"""Write a component's access rules into a manifest and its resources, for every format that writes one."""

from __future__ import annotations

from droidgate_mappings.formats.format import Artifact
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.names import class_name_in_snake_case


def enabled_attribute(provider: Provider) -> str | None:
    """Return the value of `android:enabled` for a provider's component.

    Returns:
        `false`, a reference `@bool/...` to the resource that `enabled_resources` writes, or None where the
        component is enabled and the attribute is not needed.
    """
    enabled = provider.access.enabled
    if isinstance(enabled, bool):
        return None if enabled else "false"
    return f"@bool/{_resource_name(provider)}"


def enabled_resources(provider: Provider) -> tuple[Artifact, ...]:
    """Return the boolean resource behind `enabled_attribute`: a values file for each configuration."""
    enabled = provider.access.enabled
    if isinstance(enabled, bool):
        return ()
    name = _resource_name(provider)
    return tuple(
        Artifact(
            f"res/values{'-' if qualifier else ''}{qualifier}/{name}.xml",
            '<?xml version="1.0" encoding="utf-8"?>\n<resources>\n'
            f'    <bool name="{name}">{"true" if value else "false"}</bool>\n</resources>\n',
            "resource",
        )
        for qualifier, value in enabled.items()
    )


def _resource_name(provider: Provider) -> str:
    return f"{class_name_in_snake_case(provider.component or '') or 'component'}_enabled"
