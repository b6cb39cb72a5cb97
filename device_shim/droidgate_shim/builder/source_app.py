"""The apps behind a shim: what they declare, who signed them, and what was approved of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.formats.shim_backend import DiscoveredTool
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, InputError, UsageError
from droidgate_mappings.model.findings import Finding, finding_code
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.records import dataclass, field, replace
from droidgate_shim.builder.shim_callability import listing_of

_code = partial(finding_code, module=__name__)

TOOLS_NOT_KNOWN: Final = _code(
    "shim-tools-not-known",
    "An app lists its tools only in answer to a broadcast on the phone, and has not listed them yet",
)

_DIGEST: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SourceApp:
    """One app that a shim can offer.

    Attributes:
        package: Application id.
        label: Its human-readable name.
        description: What it offers, or None.
        instructions: How to use it, for language models, or None.
        version_code: Its version.
        signer: SHA-256 of its signing certificate, lower-case hexadecimal.
        providers: What it declares and the shim can call; components are whole class names. A receiver of
            mMCP broadcasts that has not been asked has no capabilities.
        digests: Protocol and component (the empty text for the application itself) -> digest of what it
            declares.
        findings: What readers accepted beyond a specification, and what of it cannot be called and why.
    """

    package: str
    label: str
    version_code: int
    signer: str
    description: str | None = None
    instructions: str | None = None
    providers: tuple[Provider, ...] = ()
    digests: Mapping[tuple[str, str], str] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def digest_of(self, provider: Provider) -> str | None:
        """Return the digest of what a provider declares, None where it is not known yet."""
        return self.digests.get((provider.protocol, provider.component or ""))

    @property
    def unasked_components(self) -> tuple[str, ...]:
        """The receivers that have to be asked on a phone before their tools are known."""
        return tuple(
            provider.component
            for provider in self.providers
            if provider.component is not None and self.digest_of(provider) is None
        )


def certificate_digest(text: str) -> str:
    """Return the SHA-256 of a certificate in the form of `SourceApp.signer`.

    Args:
        text: The digest as a user or a tool writes it: in any case, with or without colons.

    Raises:
        UsageError: it is not a SHA-256 in hexadecimal.
    """
    digest = text.replace(":", "").strip().lower()
    if _DIGEST.fullmatch(digest) is None:
        message = f"the signer {text!r} is not a SHA-256 in hexadecimal"
        raise UsageError(message, hint="`apksigner verify --print-certs` and `keytool -list` print it")
    return digest


def complete_broadcast(app: SourceApp, component: str, tools: Sequence[DiscoveredTool]) -> SourceApp:
    """Return an app with the tools that one of its receivers listed.

    Args:
        app: The app.
        component: The receiver's class.
        tools: Name, description and the JSON text of the parameters of each, in the order listed.

    Raises:
        InputError: the app has no such receiver, or its answer cannot be read.
    """
    listings = [
        (position, listing)
        for position, provider in enumerate(app.providers)
        if provider.component == component and (listing := listing_of(provider)) is not None
    ]
    if not listings:
        message = f"{app.package} has no receiver {component} that lists tools"
        raise InputError(message, hint=f"its receivers: {', '.join(app.unasked_components) or 'none'}")
    position, listing = listings[0]
    context = ReadingContext()
    listing_provider = app.providers[position]
    answered = listing.read(listing_provider, tools, context)
    providers = (*app.providers[:position], answered, *app.providers[position + 1 :])
    other_findings = (finding for finding in app.findings if not _is_unasked(finding, component))
    return replace(
        app,
        providers=providers,
        digests={**app.digests, (listing_provider.protocol, component): listing.digest(tools)},
        findings=(*other_findings, *context.findings),
    )


def without_answer(app: SourceApp, component: str, error: DroidgateError) -> SourceApp:
    """Return an app of which a receiver was asked for its tools and did not list them, with the reason."""
    message = f"{component} was asked, and did not list its tools: {error.message}"
    hint = (
        error.hint or "`droidgate agent list` asks it too, and `droidgate agent log` prints what comes back"
    )
    findings = (
        finding.changed({"message": message, "hint": hint}) if _is_unasked(finding, component) else finding
        for finding in app.findings
    )
    return replace(app, findings=tuple(findings))


def is_unasked(provider: Provider) -> bool:
    """Return whether a provider is a receiver whose tools are only known when it has been asked."""
    if provider.capabilities or provider.component is None:
        return False
    return listing_of(provider) is not None


def with_discovered_tools(
    provider: Provider, tools: Sequence[DiscoveredTool], context: ReadingContext
) -> Provider:
    """Return a receiver of broadcasts with the tools that it listed.

    Args:
        provider: The receiver.
        tools: Name, description and the JSON text of the parameters of each, in the order listed.
        context: Takes the deviations that were accepted.

    Raises:
        InputError: the answer cannot be read.
        TypeError: the provider's files list its tools.
    """
    listing = listing_of(provider)
    if listing is None:
        raise TypeError(provider.component)
    return listing.read(provider, tools, context)


def _is_unasked(finding: Finding, component: str) -> bool:
    return finding.code == TOOLS_NOT_KNOWN and finding.pointer == f"/{pointer_token(component)}"
