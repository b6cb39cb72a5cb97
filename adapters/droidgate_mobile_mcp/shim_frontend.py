"""How every shim declares itself to Mobile-MCP agents (shim.md)."""

from __future__ import annotations

from droidgate_mappings.formats.format import Advertised, ShimOffer
from droidgate_mappings.formats.shim_frontend import SHIM_SOURCE, dialect_of_shim, frontend_class
from droidgate_mappings.model.capability import Provider
from droidgate_mobile_mcp.format import TABLES
from droidgate_mobile_mcp.write import write


def advertise(offer: ShimOffer) -> Advertised:
    """Return the service and its descriptor."""
    provider = Provider(
        protocol=SHIM_SOURCE,
        package=offer.application_id,
        name=offer.label,
        description=offer.description,
        capabilities=offer.declared,
    )
    written = write(provider, dialect_of_shim(TABLES.dialects[0], frontend_class("ToolService")))
    findings = (finding for finding in written.findings if finding.pointer.startswith("/capabilities/"))
    return Advertised(written.artifacts, tuple(findings))
