"""The observed protocols as the registry has them: one format that is only read, a dialect each, with what to
look for on a phone and what would call or find the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.formats.format import CallSupport, Format, PhoneSupport, lazily
from droidgate_mappings.formats.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.tables.loading import load_format_tables
from droidgate_mappings.tables.observed import ObservedProtocol, load_observed_protocols

TABLES: Final = load_format_tables("observed")
FORMAT_ID: Final = TABLES.id
PROTOCOLS: Final[Mapping[str, ObservedProtocol]] = {
    observed_protocol.id: observed_protocol for observed_protocol in load_observed_protocols()
}
"""Protocol id, which is the id of its dialect, to what is known of it."""

LOOKS_FOR: Final = tuple(
    query
    for protocol in PROTOCOLS.values()
    for anchor in protocol.anchors
    for query in (
        [ComponentQuery(anchor.kind, action) for action in anchor.actions]
        or [ComponentQuery(anchor.kind, mark=anchor.authority_suffix or anchor.flag)]
    )
)


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the one way there is: the protocol's own agent."""
    del provider, facts
    needs = ("the protocol's own agent, since droidgate only reads the protocol",)
    return (CallRoute("own-agent", "by the protocol's own agent", ready=False, needs=needs),)


def found_by(provider: Provider) -> str | None:
    """Return what would find the tools of a provider that no file lists."""
    protocol = PROTOCOLS.get(provider.dialect or "")
    return None if provider.capabilities or protocol is None else protocol.found_by


FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_observed.read:detect"),
    read_file=lazily("droidgate_observed.read:read_file"),
    endings=(".json",),
    read_application=lazily("droidgate_observed.read:read_application"),
    phones=PhoneSupport(looks_for=LOOKS_FOR, found_by=found_by),
    calls=CallSupport(call_routes=call_routes),
)
