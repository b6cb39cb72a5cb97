"""Which protocols a shim is made for: by default those that its agents do not reach by themselves."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.text.counted_nouns import amount
from droidgate_mappings.text.nearest_names import suggest_name
from droidgate_shim.builder.shim_callability import backends, native_protocols
from droidgate_shim.builder.shim_choices import EVERY_PROTOCOL, ShimOptions
from droidgate_shim.builder.shims import NothingToOfferError
from droidgate_shim.builder.source_app import SourceApp


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What was left out because of its protocol.

    Attributes:
        packages: The apps that have something that was left out, by name.
        protocols: The protocols, by id.
    """

    packages: tuple[str, ...] = ()
    protocols: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """What was left out and how to include it, in one line."""
        apps = amount(len(self.packages), "app")
        native = _native_titles(self.protocols)
        reason = f", which {native} agents reach by themselves" if native else ""
        return f"left out: {apps} ({', '.join(self.protocols)}){reason}; --format all includes every app"


def chosen_protocols(options: ShimOptions) -> frozenset[str]:
    """Return the protocols whose apps get a shim.

    Without a choice, that is every protocol but those that each agent of a shim speaks, since it reaches
    those apps by itself. A capability can be chosen without its protocol, and agents of the advertised
    protocols do not reach Mobile-MCP apps.

    Raises:
        UsageError: a name is not that of a format that a shim can call.
    """
    called = frozenset(backends())
    protocols = options.protocols
    for name in protocols:
        if name != EVERY_PROTOCOL and name not in called:
            hint = suggest_name(name, (*sorted(called), EVERY_PROTOCOL))
            raise UsageError(f"a shim cannot call {name!r}", hint=hint)
    if EVERY_PROTOCOL in protocols or (not protocols and (options.only or options.advertise)):
        return called
    return frozenset(protocols) or called - native_protocols()


def _native_titles(protocols: Sequence[str]) -> str:
    """Return the names of protocols whose apps agents reach by themselves; empty where one is not such."""
    if not native_protocols().issuperset(protocols):
        return ""
    return " and ".join(load_formats()[protocol].title for protocol in protocols)


def choose_protocols(
    apps: Sequence[SourceApp], protocols: Collection[str]
) -> tuple[tuple[SourceApp, ...], LeftOut]:
    """Return the apps with their providers of some protocols, and what was left out.

    An app of which everything is left out is not returned; one that has nothing that could be called stays,
    since its findings say why.
    """
    chosen_apps, packages, left_out = [], [], set()
    for app in apps:
        providers = tuple(provider for provider in app.providers if provider.protocol in protocols)
        if len(providers) < len(app.providers):
            packages.append(app.package)
            left_out.update({provider.protocol for provider in app.providers} - set(protocols))
        if providers or not app.providers:
            chosen_apps.append(replace(app, providers=providers))
    return tuple(chosen_apps), LeftOut(tuple(packages), tuple(sorted(left_out)))


def check_something_is_left(apps: Sequence[SourceApp], left_out: LeftOut) -> None:
    """Raise where every app was left out.

    Raises:
        NothingToOfferError: nothing but apps of other protocols was named.
    """
    if apps or not left_out.packages:
        return
    native = _native_titles(left_out.protocols)
    flags = " ".join(f"--format {protocol}" for protocol in left_out.protocols)
    reason = (
        f"{native} agents reach these apps by themselves"
        if native
        else f"these apps speak {', '.join(left_out.protocols)} only"
    )
    place = ", ".join(left_out.packages[:3])
    raise NothingToOfferError(
        f"no shim is made: {reason}", place=place, hint=f"make shims for them with {flags}"
    )
