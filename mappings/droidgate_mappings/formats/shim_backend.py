"""Calls that a shim makes: what a format says of them (shim.md).

A format says which of its components can be called, where a route leads and what a phone compares before a
call (`droidgate_mappings.formats.format.CallSupport.shim_backend`). So the shim's builder knows no protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

from droidgate_mappings.formats.application import Component
from droidgate_mappings.formats.leniency import ReadingContext
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.json_values import Json

AppFiles_contra = TypeVar("AppFiles_contra", contravariant=True)
"""What holds the files of an app; the built-in formats read a `droidgate_android.apk.reader.Apk`."""

DiscoveredTool = tuple[str, str | None, str | None]
"""What a component's own listing says of one tool: name, description, and the JSON text of its parameters."""


class ToolListing(Protocol):
    """Tools that a component lists in answer to a request on the phone, and in no file."""

    @property
    def finding(self) -> str:
        """The code of the finding with which the format's readers report such a component."""

    def lists(self, provider: Provider) -> bool:
        """Return whether a provider is such a component, asked or not."""

    def read(self, provider: Provider, tools: Sequence[DiscoveredTool], context: ReadingContext) -> Provider:
        """Return the provider with the tools that it listed, in their order.

        Raises:
            InputError: the listing cannot be read.
        """

    def digest(self, tools: Sequence[DiscoveredTool]) -> str:
        """Return the digest of a listing, as the shim on the phone makes it."""


class ShimBackend(Protocol[AppFiles_contra]):
    """How a shim calls the capabilities of one format; a format's own class says what differs from here.

    Attributes:
        is_native: The agents of every shim speak the format, so they reach its apps by themselves.
        answers_undeclared: A capability that declares no result answers with text nevertheless.
        listing: How tools are listed on request; None where files have them all.
    """

    is_native: bool = False
    answers_undeclared: bool = True
    listing: ToolListing | None = None

    def why_not_called(self, provider: Provider, component: Component | None) -> str | None:
        """Return why the shim does not speak to a component, apart from access rules; None where it does."""
        del provider, component
        return None

    def hides_parameters(self, provider: Provider) -> bool:
        """Return whether a provider's file says nothing of parameters that its capabilities may have."""
        del provider
        return False

    def digest(self, apk: AppFiles_contra, component: Component) -> str:
        """Return the digest of what a component declares, as the shim on the phone makes it.

        Raises:
            InputError: the APK holds nothing that a phone could compare.
        """

    def target(self, provider: Provider, capability: Capability) -> Mapping[str, Json]:
        """Return the `backend` of a route in `routes.json`; the provider has package and whole class name.

        Raises:
            InputError: the shim cannot call this capability; the message says why.
        """

    def longest_ms(self, provider: Provider) -> int | None:
        """Return after how many milliseconds Android itself ends a call, None where it does not."""
        del provider
        return None
