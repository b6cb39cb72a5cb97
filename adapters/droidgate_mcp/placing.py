"""References such as `#`, which name a definition by its place in the schema.

Where the written schema has something else at that place, the definition goes into `$defs`.
"""

from __future__ import annotations

from typing import Any

from droidgate_mappings.fit import losses
from droidgate_mappings.json_schema import NAMESPACE, place_definitions, replace_references
from droidgate_mappings.model.capability import Capability, Provider, reachable_definitions
from droidgate_mappings.model.findings import Finding
from droidgate_mappings.model.leaves import different_leaves, leaves_of_provider
from droidgate_mappings.model.types import Type


def place_all_definitions(
    provider: Provider, findings: tuple[Finding, ...]
) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a provider whose schemas refer to the same definitions as before, and what changed for that.

    `#` is the root of a schema. Where an output is written inside an object, `#` would mean that object;
    the definition is written into `$defs` then.

    Args:
        provider: The provider as it is written.
        findings: What was reported so far; a leaf is not reported again.

    Returns:
        The provider, and all findings.
    """
    definitions = dict(provider.definitions)
    capabilities = tuple(_place_in(capability, definitions) for capability in provider.capabilities)
    if capabilities == provider.capabilities and definitions == provider.definitions:
        return provider, findings
    placed = provider.changed({"capabilities": capabilities, "definitions": definitions})
    reported = {finding.pointer for finding in findings}
    changed = different_leaves(dict(leaves_of_provider(provider)), dict(leaves_of_provider(placed)))
    return placed, (
        *findings,
        *(losses.MCP_DEFINITION.finding(leaf) for leaf in changed if leaf not in reported),
    )


def _place_in(capability: Capability, definitions: dict[str, Type]) -> Capability:
    changes: dict[str, Any] = {}
    for name in ("input", "output"):
        root = getattr(capability, name)
        if root is None:
            continue
        placed, replaced = place_definitions(root, definitions)
        if replaced:
            changes[name] = replace_references(placed, replaced)
            for definition in _definitions_of(root, definitions):
                definitions[definition] = replace_references(definitions[definition], replaced)
    return capability.changed(changes)


def _definitions_of(root: Type, definitions: dict[str, Type]) -> set[str]:
    """Return the definitions that a schema holds or reaches."""
    names = {*root.extensions[NAMESPACE]["definitions"].values()} & definitions.keys()
    parts = [root, *(definitions[name] for name in names)]
    return names.union(*(reachable_definitions(part, definitions) for part in parts))
