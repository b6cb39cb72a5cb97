"""Whether the capabilities of a phone's apps can be called from this computer, and how."""

from __future__ import annotations

from droidgate.sources.phone_source import InstalledApp, PhoneReading
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.installed import CallRoute
from droidgate_mappings.formats.reachability import SHIM, Verdict, interface_of, provider_verdict, verdict_of
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.records import dataclass, replace


@dataclass(frozen=True, slots=True)
class Callability:
    """Whether a provider's capabilities can be called from here: by a shim, or by the shell.

    Attributes:
        verdict: On the component.
        closed: The capabilities that cannot be called, with the reason of each.
        routes: How it could be called, none where its format does not say; a route to a closed component is
            not ready.
    """

    verdict: Verdict
    closed: tuple[tuple[str, str], ...]
    routes: tuple[CallRoute, ...]


def why_not_by_shell(provider: Provider, capability: Capability) -> str | None:
    """Return why Android's shell carries no call of a capability, whatever the arguments; None if it does."""
    format_ = load_formats().get(provider.protocol)
    if format_ is None or format_.calls.shell_calls is None:
        return None
    return format_.calls.shell_calls().why_never(capability, provider.definitions)


def callability_of(provider: Provider, app: InstalledApp, phone: PhoneReading) -> Callability:
    """Return whether and how a provider could be called from this computer.

    Args:
        provider: A provider of the app.
        app: The app, one of `phone.apps`.
        phone: What `Phone.discover` returned.

    Example:
        >>> found = droidgate.open_device().discover()
        >>> app = next(app for app in found.apps if app.package == "dev.droidgate.sample.weather")
        >>> routes = droidgate.callability_of(app.providers[0], app, found).routes
        >>> [route.title for route in routes if route.ready]
        ['shell: am broadcast']
    """
    verdict = provider_verdict(provider, app.application, SHIM, phone.facts.sdk)
    interface = interface_of(provider)
    verdicts = [
        (capability.id, verdict_of(capability, interface).closed_because)
        for capability in provider.capabilities
    ]
    closed = tuple((capability, reason) for capability, reason in verdicts if reason is not None)
    format_ = load_formats().get(provider.protocol)
    routes: tuple[CallRoute, ...] = ()
    if format_ is not None and format_.calls.call_routes is not None:
        routes = format_.calls.call_routes(provider, phone.facts)
    reason = verdict.closed_because
    if reason is not None:
        routes = tuple(replace(route, ready=False, needs=(*route.needs, reason)) for route in routes)
    return Callability(verdict, closed, routes)
