"""How a shim declares itself to mMCP agents: an activity, or a receiver of broadcasts (shim.md)."""

from __future__ import annotations

from typing import Final

from droidgate_android.projects.manifest_limits import MAX_META_DATA, REFUSED_BY
from droidgate_mappings.formats.format import Advertised, Artifact, ShimOffer, Writing
from droidgate_mappings.formats.shim_frontend import (
    dialect_of_shim,
    frontend_class,
    offered_provider,
    warning_at,
)
from droidgate_mappings.model.findings import Finding, finding_code
from droidgate_mappings.tables.loading import DialectTable
from droidgate_mmcp.android_manifest import ComponentElement, write_android_manifest
from droidgate_mmcp.format import BROADCAST, NAMES, TABLES
from droidgate_mmcp.tool_manifest import write_json
from droidgate_mmcp.write import MANIFEST_PATH, fit, fitting_tools, write, write_manifest

NAME_NOT_CALLED: Final = finding_code(
    "shim-name-not-called",
    "A capability's id that agents of this protocol cannot call; the others of the shim can be called",
    __name__,
)
TOOL_LEFT_OUT: Final = finding_code(
    "shim-tool-left-out",
    f"A capability that does not fit into the one manifest text that {REFUSED_BY} take; it is not "
    "advertised to mMCP agents",
    __name__,
)

_ROOM_HINT: Final = "offer fewer capabilities with --capability, or build without --aggregate"


def advertise_activity(offer: ShimOffer) -> Advertised:
    """Return the activity with its manifest text."""
    written, findings = _write_fitting(offer)
    return Advertised(() if written is None else written.artifacts, findings)


def advertise_receiver(offer: ShimOffer) -> Advertised:
    """Return the receiver of broadcasts with its manifest text."""
    written, findings = _write_fitting(offer)
    if written is None:
        return Advertised(findings=findings)
    component = ComponentElement(
        element="receiver",
        name=frontend_class("MmcpReceiver"),
        actions=(NAMES["discovery_action"], NAMES["invoke_action"]),
        meta_data={NAMES["manifest_meta_data"]: write_json(write_manifest(written.provider))},
    )
    manifest = Artifact(MANIFEST_PATH, write_android_manifest(written.provider, component), "manifest")
    capacity = next(dialect.capacity for dialect in TABLES.dialects if dialect.id == BROADCAST)
    rule = None if capacity is None or capacity.id_rule is None else capacity.id_rule.rule()
    not_called = (
        warning_at(
            NAME_NOT_CALLED,
            position,
            f"clients of the broadcast dialect cannot give {capability.id!r} to a language model",
        )
        for position, capability in enumerate(offer.offered)
        if rule is not None and not rule.permits(capability.id)
    )
    return Advertised((manifest,), (*findings, *not_called))


def _write_fitting(offer: ShimOffer) -> tuple[Writing | None, tuple[Finding, ...]]:
    """Return the mMCP manifest with the tools that fit into it, None where none does; and what is lost."""
    dialect = _with_ids_of_routes(dialect_of_shim(TABLES.dialects[0], frontend_class("MmcpActivity")))
    whole = fit(offered_provider(offer, offer.offered), dialect)
    positions = fitting_tools(whole.provider)
    findings = [finding for finding in whole.findings if finding.pointer.startswith("/capabilities/")]
    for position, capability in enumerate(offer.offered):
        if position not in positions:
            message = (
                f"{capability.id!r} does not fit into the manifest for mMCP agents, "
                f"of which {REFUSED_BY} take {MAX_META_DATA:,} characters"
            )
            findings.append(warning_at(TOOL_LEFT_OUT, position, message, _ROOM_HINT))
    if not positions:
        return None, tuple(findings)
    fitting = offered_provider(offer, [offer.offered[position] for position in positions])
    return write(fitting, dialect), tuple(findings)


def _with_ids_of_routes(dialect: DialectTable) -> DialectTable:
    """Return a dialect that writes every id as it is: a call names the route by it."""
    if dialect.capacity is None:
        raise TypeError(dialect.id)
    return dialect.changed({"capacity": dialect.capacity.changed({"id_rule": None})})
