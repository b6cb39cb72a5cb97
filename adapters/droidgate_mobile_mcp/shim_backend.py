"""How a shim calls Mobile-MCP's services (shim.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from droidgate_android.apk.apk_budgets import MAX_XML_BYTES
from droidgate_android.apk.file_kinds import is_binary_xml
from droidgate_mappings.formats.application import Component
from droidgate_mappings.formats.shim_backend import ShimBackend
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mobile_mcp.format import FORMAT_ID, KEYS
from droidgate_mobile_mcp.wire import WIRE_OF_DIALECT

if TYPE_CHECKING:
    from droidgate_android.apk.reader import Apk


class MobileMcpBackend(ShimBackend["Apk"]):
    """Calls of services by messages."""

    is_native = True
    answers_undeclared = False

    def why_not_called(self, provider: Provider, component: Component | None) -> str | None:
        """Return that no served wire dialect belongs to a descriptor's dialect."""
        del component
        if any(item.served for item in WIRE_OF_DIALECT.get(provider.dialect or "", ())):
            return None
        return f"the dialect {provider.dialect} of Mobile-MCP is read, and not called by the shim"

    def digest(self, apk: Apk, component: Component) -> str:
        """Return the digest of a service's capabilities XML.

        Raises:
            InputError: there is none, or it is not an XML resource.
        """
        from droidgate_android.apk.declared_digests import entry_behind, events_of_entry, recipe_digest

        meta = component.find_meta_data(*KEYS["capabilities"])
        reference = None if meta is None else meta.resource
        archive, entry = entry_behind(apk, reference, meta)
        data = archive.read_entry(entry, MAX_XML_BYTES)
        if not is_binary_xml(data):
            message = f"the descriptor {reference} is not an XML resource, so a phone cannot compare it"
            raise InputError(message, place=archive.place_of(entry), hint="move it to res/xml")
        return recipe_digest(FORMAT_ID, events_of_entry(apk, archive, entry, data))

    def target(self, provider: Provider, capability: Capability) -> Mapping[str, Json]:
        """Return the service, the capability and the wire dialect that is served."""
        dialect = next(wire.id for wire in WIRE_OF_DIALECT[provider.dialect or ""] if wire.served)
        component = f"{provider.package}/{provider.component}"
        return {"kind": FORMAT_ID, "component": component, "capability": capability.id, "dialect": dialect}
