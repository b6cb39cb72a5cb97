"""What to look for on a phone, and what calls from a computer need (reference mobile-mcp-and-mmcp 7)."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mobile_mcp.constants import ACTIONS, TABLES

LOOKS_FOR: Final = tuple(ComponentQuery("service", action) for action in ACTIONS)

_SERVED: Final = frozenset(dialect.id for dialect in TABLES.dialects if dialect.id != "pre-spec")

_SHIM: Final = (
    "a shim (`droidgate shim install --from adb: --protocol mobile-mcp`), which can pass a callback"
)


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the one way there is: through an app on the phone.

    A request carries a PendingIntent or a Messenger for the answer, which no shell command can pass. Whether
    the component lets anybody call is the rule of `droidgate_mappings.formats.reachability`.
    """
    needs = [] if facts.is_behind_a_shim(provider.package) else [_SHIM]
    if provider.dialect not in _SERVED:
        needs.append("an older wire form, which is read and not called")
    return (CallRoute("shim-service", "shim: service", not needs, tuple(needs)),)
