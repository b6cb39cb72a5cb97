"""The mMCP format as `droidgate_mappings.formats.format` knows it."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import CallSupport, Format, PhoneSupport, lazily
from droidgate_mappings.formats.installed import ComponentQuery
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("mmcp")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names

CURRENT: Final = "1.0"
DRAFT: Final = "draft"
BROADCAST: Final = "broadcast"

TEXT_KEYS: Final = {CURRENT: "instructions", DRAFT: "appDescription"}
"""The key of a manifest's text, by dialect."""

TEXT_FIELDS: Final = {CURRENT: "instructions", DRAFT: "description"}
"""The provider's field for it."""

JSON_PATH: Final = "mmcp_manifest.json"
"""The name of a file with a manifest's JSON."""

LOOKS_FOR: Final = (
    ComponentQuery("activity", NAMES["advertise_action"]),
    ComponentQuery("service", NAMES["advertise_action"]),
    ComponentQuery("receiver", NAMES["discovery_action"]),
)

BROADCAST_ROUTE: Final = "am-broadcast"
"""The way through `am broadcast`."""

FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_mmcp.read:detect"),
    read_file=lazily("droidgate_mmcp.read:read_file"),
    endings=(".json", ".xml"),
    write=lazily("droidgate_mmcp.write:write"),
    lint_file=lazily("droidgate_mmcp.lint:lint_file"),
    read_application=lazily("droidgate_mmcp.read:read_application"),
    lint_application=lazily("droidgate_mmcp.lint:lint_application"),
    find_losses=lazily("droidgate_mmcp.write:find_losses"),
    write_handlers=lazily("droidgate_mmcp.handlers:write_handlers"),
    phones=PhoneSupport(
        looks_for=LOOKS_FOR,
        read_installed=lazily("droidgate_mmcp.installed:read_installed"),
        find_silent=lazily("droidgate_mmcp.installed:broadcast_providers"),
        found_by=lazily("droidgate_mmcp.installed:found_by"),
    ),
    calls=CallSupport(
        call_routes=lazily("droidgate_mmcp.installed:call_routes"),
        shell_calls=lazily("droidgate_mmcp.shell_calls:BroadcastShellCalls"),
        shim_backend=lazily("droidgate_mmcp.shim_backend:MmcpBackend"),
        shim_frontends={
            "mmcp": lazily("droidgate_mmcp.shim_frontend:advertise_activity"),
            "mmcp-broadcast": lazily("droidgate_mmcp.shim_frontend:advertise_receiver"),
        },
    ),
)
