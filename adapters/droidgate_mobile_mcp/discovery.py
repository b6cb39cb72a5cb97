"""What to look for on a phone, and what calls from a computer need (reference mobile-mcp-and-mmcp 7)."""

from __future__ import annotations

from typing import Final

from droidgate.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate.model.capability import Provider
from droidgate_mobile_mcp.constants import ACTIONS, FORMAT_ID, TABLES

LOOKS_FOR: Final = tuple(ComponentQuery("service", action) for action in ACTIONS)

_SERVED: Final = frozenset(one.id for one in TABLES.dialects if one.id != "pre-spec")

_SHIM: Final = (
    "a shim (`droidgate shim install`), since a shell command cannot pass the callback for the answer"
)


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the one way there is: through an app on the phone.

    A request carries a PendingIntent or a Messenger for the answer, which no shell command can pass.
    """
    needs = [] if facts.is_behind_a_shim(provider.package) else [_SHIM]
    held = provider.extensions.get(FORMAT_ID, {})
    if held.get("exported", True) is not True:
        needs.append("an exported service: this one is the app's own")
    if held.get("enabled", True) is not True:
        needs.append("an enabled service: the app's manifest disables it")
    if held.get("permission") is not None:
        needs.append(f"the permission {held['permission']} for the caller")
    if provider.dialect not in _SERVED:
        needs.append("an older wire form, which is read and not called")
    return (CallRoute("shim-service", "service, through a shim", not needs, tuple(needs)),)
