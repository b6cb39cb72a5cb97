"""What to look for on a phone, which listing is wanted, and how a computer calls functions (reference 6)."""

from __future__ import annotations

from typing import Final

from droidgate_appfunctions.file_constants import NAMES
from droidgate_mappings.formats.format import lazily
from droidgate_mappings.formats.installed import (
    CallRoute,
    ComponentQuery,
    DeviceFacts,
    StateQuery,
    SystemListing,
)
from droidgate_mappings.model.capability import Provider

LOOKS_FOR: Final = (
    ComponentQuery("service", NAMES["action"]),
    # Functions of the application itself need no service (reference 1.1); the listing names their apps.
    ComponentQuery("application", mark=NAMES["property_v1"]),
)
LISTING: Final = SystemListing(
    service="app_function",
    title="AppFunctionManagerService commands:",
    command="list-app-functions",
    read=lazily("droidgate_appfunctions.listed:read_printed_listing"),
    state=StateQuery(
        "is-enabled",
        lazily("droidgate_appfunctions.shell_calls:state_command"),
        lazily("droidgate_appfunctions.shell_calls:read_state"),
    ),
)

EXECUTE: Final = "execute-app-function"
ROUTE: Final = "app-function-shell"
"""The way through `cmd app_function`."""

_FIRST_SDK: Final = 36


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the way through the shell, which Android has from some build of 16 on (reference 6.1)."""
    needs: list[str] = []
    if EXECUTE not in facts.shell_commands:
        if facts.sdk < _FIRST_SDK:
            needs.append("Android 16 or later: this release has no AppFunctions")
        else:
            needs.append("a build whose shell has `cmd app_function execute-app-function`")
    del (
        provider
    )  # whether its component lets anybody call is the rule of `droidgate_mappings.formats.reachability`
    return (CallRoute(ROUTE, "shell: app_function", not needs, tuple(needs)),)
