"""How a shim calls mMCP's activities and receivers of broadcasts (shim.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_mappings.formats.application import Component
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shim_backend import DiscoveredTool, ShimBackend
from droidgate_mappings.model.capability import Capability, Place, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json, canonical_json
from droidgate_mmcp.discovery import read_discovered_tools
from droidgate_mmcp.format import BROADCAST, NAMES
from droidgate_mmcp.read import TOOLS_NOT_IN_FILES

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk

_RECIPE: Final = "mmcp"
_LONGEST_BROADCAST_MS: Final = 10_000
"""An ordered broadcast that takes longer is ended by Android."""


class BroadcastListing:
    """The tools that a receiver lists in answer to a broadcast."""

    finding = TOOLS_NOT_IN_FILES

    def lists(self, provider: Provider) -> bool:
        """Return whether a provider is a receiver of broadcasts."""
        return provider.dialect == BROADCAST

    def read(self, provider: Provider, tools: Sequence[DiscoveredTool], context: ReadingContext) -> Provider:
        """Return a receiver with the tools that it listed.

        Raises:
            InputError: the listing cannot be read.
        """
        place = provider.source or Place(path=f"{provider.package}/{provider.component}")
        read = read_discovered_tools(
            tools, context, place=place, package=provider.package, component=provider.component
        )
        return read.changed(
            {"name": provider.name, "access": provider.access, "extensions": provider.extensions}
        )

    def digest(self, tools: Sequence[DiscoveredTool]) -> str:
        """Return the digest of a listing; an absent description is empty, absent parameters are `{}`."""
        from droidgate_android.apk.declared_digests import recipe_digest

        entries: list[Json] = [
            [name, description or "", "{}" if parameters is None else parameters]
            for name, description, parameters in tools
        ]
        return recipe_digest("broadcast", canonical_json({"tools": entries}).encode("utf-8", "surrogatepass"))


class MmcpBackend(ShimBackend["Apk"]):
    """Calls of activities, and of receivers of broadcasts."""

    listing = BroadcastListing()

    def why_not_called(self, provider: Provider, component: Component | None) -> str | None:
        """Return that a service is not called, as mMCP's own clients call none."""
        del provider
        if component is None or component.kind != "service":
            return None
        return f"{component.name} is a service, and calls of mMCP are made to activities"

    def digest(self, apk: Apk, component: Component) -> str:
        """Return the digest of a component's `mMCP_manifest`.

        Raises:
            InputError: there is none, or it cannot be read.
        """
        from droidgate_android.apk.declared_digests import (
            entry_behind,
            events_of_entry,
            recipe_digest,
            value_behind,
        )

        meta = component.find_meta_data(NAMES["manifest_meta_data"])
        if meta is None:
            raise InputError("the component has no mMCP manifest", place=str(component.place or apk.name))
        if isinstance(meta.value, str):
            return recipe_digest(_RECIPE, meta.value.encode("utf-8", "surrogatepass"))
        reference = meta.resource or meta.raw_value
        if reference is not None and reference.startswith("@string/"):
            text = apk.text_of(value_behind(apk, reference))
            if text is not None:
                return recipe_digest(_RECIPE, text.encode("utf-8", "surrogatepass"))
        archive, entry = entry_behind(apk, reference, meta)
        data = archive.read_entry(entry, MAX_XML_BYTES)
        if not is_binary_xml(data):
            return recipe_digest(_RECIPE, data)
        return recipe_digest(_RECIPE, events_of_entry(apk, archive, entry, data))

    def target(self, provider: Provider, capability: Capability) -> Mapping[str, Json]:
        """Return the component and the tool."""
        kind = "mmcp-broadcast" if provider.dialect == BROADCAST else "mmcp-activity"
        component = f"{provider.package}/{provider.component}"
        return {"kind": kind, "component": component, "tool": capability.id}

    def longest_ms(self, provider: Provider) -> int | None:
        """Return the limit of ordered broadcasts; an activity has none."""
        return _LONGEST_BROADCAST_MS if provider.dialect == BROADCAST else None
