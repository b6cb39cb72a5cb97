"""App Actions as `droidgate_mappings.formats.format` knows them: read, checked and called, never written."""

from __future__ import annotations

from typing import Final

from droidgate_mappings.formats.format import CallSupport, Format, PhoneSupport, lazily
from droidgate_mappings.formats.installed import CallRoute, ComponentQuery, DeviceFacts
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.tables.loading import load_format_tables

TABLES: Final = load_format_tables("app-actions")
FORMAT_ID: Final = TABLES.id
NAMES: Final = TABLES.names

SHORTCUTS: Final = "shortcuts"
ACTIONS: Final = "actions"

OWN_PACKAGE: Final = frozenset({None, "", "${applicationId}"})
"""Gradle does not replace the placeholder in resources; those who write it mean their own app."""

ENTITY_LINK: Final = "{@url}"
"""The URL template that is the link of the listed value; RFC 6570 has no such form."""

META_DATA: Final = {
    NAMES["shortcuts_meta_data"]: SHORTCUTS,
    NAMES["actions_meta_data"]: ACTIONS,
    NAMES["android_actions_meta_data"]: ACTIONS,
    NAMES["assistant_actions_meta_data"]: ACTIONS,
}
"""Name of a meta-data that names a file -> the form that it has; the last two are names that apps made up."""
MADE_UP: Final = frozenset(NAMES[f"{word}_actions_meta_data"] for word in ("android", "assistant"))

LOOKS_FOR: Final = tuple(ComponentQuery("activity", NAMES["main_action"], mark=name) for name in META_DATA)

ROUTE: Final = "am-start-activity"
"""The way through `am start-activity`."""


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return the one way: Android's shell starts the activity, which no release forbids it.

    Whether the activity lets anybody start it is the rule of `droidgate_mappings.formats.reachability`.
    """
    del provider, facts
    return (CallRoute(ROUTE, "shell: am start-activity", ready=True),)


FORMAT: Final = Format(
    tables=TABLES,
    detect=lazily("droidgate_app_actions.read:detect"),
    read_file=lazily("droidgate_app_actions.read:read_file"),
    endings=(".xml",),
    lint_file=lazily("droidgate_app_actions.lint:lint_file"),
    read_application=lazily("droidgate_app_actions.read:read_application"),
    lint_application=lazily("droidgate_app_actions.lint:lint_application"),
    write_functions=lazily("droidgate_app_actions.screen_code:write_functions"),
    phones=PhoneSupport(looks_for=LOOKS_FOR),
    calls=CallSupport(
        call_routes=call_routes,
        shell_calls=lazily("droidgate_app_actions.shell_calls:AppActionShellCalls"),
        shim_backend=lazily("droidgate_app_actions.shim_backend:AppActionBackend"),
    ),
)
