"""The AppFunctions format as `droidgate_mappings.formats.format` knows it: its names, what to look for on a
phone, which listing is read, and how a computer calls functions (reference 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_mappings.formats.format import CallSupport, CodeReader, Format, PhoneSupport, lazily
from droidgate_mappings.formats.installed import (
    CallRoute,
    ComponentQuery,
    DeviceFacts,
    StateQuery,
    SystemListing,
)
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.model.types import Extensions
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("appfunctions")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names
UNUSED: Final = NAMES["unused_id"]
"""The id that compilers give to every document that is not looked up."""

KIND_OF_NUMBER: Final[Mapping[int, str]] = {int(code): kind for code, kind in TABLES.numbers.items()}
NUMBER_OF_KIND: Final[Mapping[str, int]] = {kind: number for number, kind in KIND_OF_NUMBER.items()}

V2: Final = "v2"
V2_LEGACY: Final = "v2-legacy"
V1: Final = "v1"
PLATFORM: Final = "platform"
APP_LEVEL: Final = "app-level"

NOT_LISTED: Final = (
    b"No shell command implementation.",
    b"Can't find service: app_function",
    b"cmd: Can't find service: app_function",
    b"Unknown command: list-app-functions",
)
"""What Android prints where it cannot list functions (reference 6.1)."""


def facts_of(extensions: Extensions) -> Mapping[str, Json]:
    """Return what a part of the model keeps for this format."""
    return extensions.get(FORMAT_ID, {})


LOOKS_FOR: Final = (
    ComponentQuery("service", NAMES["action"]),
    # Functions of the application itself need no service (reference 1.1); the listing names their apps.
    ComponentQuery("application", mark=NAMES["property_v1"]),
)
LISTING: Final = SystemListing(
    service="app_function",
    title="AppFunctionManagerService commands:",
    command="list-app-functions",
    read=lazily("droidgate_appfunctions.listing_reader:read_printed_listing"),
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
    """Return the way through the shell, which Android has from some build of 16 on (reference 6.1).

    Whether the component lets anybody call is the rule of `droidgate_mappings.formats.reachability`.
    """
    needs: list[str] = []
    if EXECUTE not in facts.shell_commands:
        if facts.sdk < _FIRST_SDK:
            needs.append("Android 16 or later: this release has no AppFunctions")
        else:
            needs.append("a build whose shell has `cmd app_function execute-app-function`")
    del provider
    return (CallRoute(ROUTE, "shell: app_function", not needs, tuple(needs)),)


FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_appfunctions.read:detect"),
    read_file=lazily("droidgate_appfunctions.read:read_file"),
    endings=(".xml", ".json"),
    write=lazily("droidgate_appfunctions.write:write"),
    lint_file=lazily("droidgate_appfunctions.lint:lint_file"),
    read_application=lazily("droidgate_appfunctions.read:read_application"),
    lint_application=lazily("droidgate_appfunctions.lint:lint_application"),
    find_losses=lazily("droidgate_appfunctions.write:find_losses"),
    code=CodeReader(
        (".kt",),
        lazily("droidgate_appfunctions.kotlin:may_declare"),
        lazily("droidgate_appfunctions.kotlin.kotlin_sources:read_sources"),
        lazily("droidgate_appfunctions.asset_names:assets_of_code"),
        lazily("droidgate_appfunctions.lint:lint_source_code"),
        lazily("droidgate_appfunctions.kotlin.callable_functions:find_functions"),
    ),
    write_handlers=lazily("droidgate_appfunctions.handlers:write_handlers"),
    in_code=lazily("droidgate_appfunctions.handlers:in_code"),
    phones=PhoneSupport(
        looks_for=LOOKS_FOR,
        listing=LISTING,
        read_installed=lazily("droidgate_appfunctions.installed:read_installed"),
        why_not_indexed=lazily("droidgate_appfunctions.installed:why_not_indexed"),
    ),
    calls=CallSupport(
        call_routes=call_routes,
        shell_calls=lazily("droidgate_appfunctions.shell_calls:AppFunctionShellCalls"),
        shim_backend=lazily("droidgate_appfunctions.shim_backend:AppFunctionBackend"),
        shim_frontends={TABLES.id: lazily("droidgate_appfunctions.shim_frontend:advertise")},
    ),
)
