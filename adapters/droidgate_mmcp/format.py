"""The mMCP format as `droidgate_mappings.formats.format` knows it."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import Format, lazily
from droidgate_mmcp.installed import (
    LOOKS_FOR,
    broadcast_providers,
    call_routes,
    read_installed,
    what_would_find,
)
from droidgate_mmcp.read import detect, read_application, read_file
from droidgate_mmcp.type_words import TABLES

FORMAT: Final = Format(
    tables=TABLES,
    detect=detect,
    read_file=read_file,
    read_application=read_application,
    write=lazily("droidgate_mmcp.write:write"),
    find_losses=lazily("droidgate_mmcp.write:find_losses"),
    lint_file=lazily("droidgate_mmcp.lint:lint_file"),
    lint_application=lazily("droidgate_mmcp.lint:lint_application"),
    write_handlers=lazily("droidgate_mmcp.handlers:write_handlers"),
    looks_for=LOOKS_FOR,
    read_installed=read_installed,
    find_silent=broadcast_providers,
    call_routes=call_routes,
    shell_calls=lazily("droidgate_mmcp.shell_calls:BroadcastShellCalls"),
    shim_frontends={
        "mmcp": lazily("droidgate_mmcp.shim_frontend:advertise_activity"),
        "mmcp-broadcast": lazily("droidgate_mmcp.shim_frontend:advertise_receiver"),
    },
    shim_backend=lazily("droidgate_mmcp.shim_backend:MmcpBackend"),
    what_would_find=what_would_find,
    endings=(".json", ".xml"),
)
