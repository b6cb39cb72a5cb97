"""mMCP on a phone: the receivers of the broadcast dialect, and what calls need.

Reference mobile-mcp-and-mmcp 3.3 and 7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from droidgate_mappings.formats.application import Application, Component
from droidgate_mappings.formats.component_reading import (
    LABEL,
    read_access,
    report_unknown_attributes,
    report_unknown_texts,
)
from droidgate_mappings.formats.format import Reading
from droidgate_mappings.formats.installed import CallRoute, DeviceFacts, InstalledState
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Provider
from droidgate_mmcp.format import BROADCAST, BROADCAST_ROUTE, FORMAT_ID
from droidgate_mmcp.read import ASKED_BY_SHIM, asked_receivers, element_facts, read_application

_SHIM: Final = "a shim, since `am start` gives no result back"


def read_installed(application: Application, state: InstalledState, context: ReadingContext) -> Reading:
    """Read an installed app: its manifests, and a provider without tools for each receiver of broadcasts.

    Raises:
        InputError: as `read_application`.
    """
    del state
    reading = read_application(application, context)
    for receiver in asked_receivers(application):
        report_unknown_attributes(application, receiver, context)
        report_unknown_texts(application, receiver, context, needed=LABEL)
    providers = (*reading.providers, *broadcast_providers(application))
    return replace(
        reading, providers=providers, findings=tuple(dict.fromkeys((*reading.findings, *context.findings)))
    )


def broadcast_providers(application: Application) -> tuple[Provider, ...]:
    """Return a provider without tools for each receiver that reports its tools to a broadcast."""
    return tuple(
        _broadcast_provider(application, asked_receiver) for asked_receiver in asked_receivers(application)
    )


def _broadcast_provider(application: Application, component: Component) -> Provider:
    facts = element_facts(application, component)
    return Provider(
        protocol=FORMAT_ID,
        dialect=BROADCAST,
        package=application.package,
        component=component.name,
        name=component.label if component.label is not None else application.label,
        access=read_access(application, component),
        source=component.place or application.place,
        extensions={FORMAT_ID: facts} if facts else {},
    )


def call_routes(provider: Provider, facts: DeviceFacts) -> tuple[CallRoute, ...]:
    """Return how a provider's tools could be called: broadcasts by the shell, activities through a shim.

    Whether the component lets anybody call is the rule of `droidgate_mappings.formats.reachability`.
    """
    if provider.dialect == BROADCAST:
        return (CallRoute(BROADCAST_ROUTE, "shell: am broadcast", ready=True),)
    if provider.extensions.get(FORMAT_ID, {}).get("element") == "service":
        return (CallRoute("none", "no client calls it", ready=False),)
    needs = () if facts.is_behind_a_shim(provider.package) else (_SHIM,)
    return (CallRoute("shim-activity", "shim: activity", not needs, needs),)


def found_by(provider: Provider) -> str | None:
    """Return what would find the tools of a receiver of broadcasts."""
    return ASKED_BY_SHIM.capitalize() if provider.dialect == BROADCAST and not provider.capabilities else None
