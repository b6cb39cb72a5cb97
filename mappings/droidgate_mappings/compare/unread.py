"""Capabilities that one side of a comparison cannot show, because a part of it was not read."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from droidgate_mappings.compare.changes import NotCompared, Side
from droidgate_mappings.model.capability import Capability, CapabilitySet, Provider, reachable_definitions


@dataclass(frozen=True, slots=True)
class Unread:
    """A part of a source that was not read.

    Attributes:
        place: `path` or `path:line`.
        reason: Why it was not read.
        ids: The capabilities in it; None where they are not known.
        is_whole: It is all of the source.
    """

    place: str
    reason: str
    ids: frozenset[str] | None = None
    is_whole: bool = False

    def may_hold(self, capability: Capability, provider: Provider) -> bool:
        """Return whether a capability of the other side may be in the part.

        Without known ids it may where both files have one name, or where they are of different kinds, as
        Kotlin in a source tree and the functions file in an APK are.
        """
        if self.ids is not None:
            return capability.id in self.ids
        source = capability.source or provider.source
        if self.is_whole or source is None:
            return True
        path, _, line = self.place.rpartition(":")
        own_name, other_name = (
            posixpath.basename(item) for item in (path if line.isdecimal() else self.place, source.path)
        )
        return own_name == other_name or posixpath.splitext(own_name)[1] != posixpath.splitext(other_name)[1]


def leave_out_unread(
    side: CapabilitySet, other: CapabilitySet, unread: Collection[Unread], missing_from: Side
) -> tuple[CapabilitySet, tuple[NotCompared, ...]]:
    """Return one side without the capabilities that the other side may have in a part that was not read.

    Args:
        side: The side that has them.
        other: The side that was not read completely.
        unread: What was not read of it.
        missing_from: Which side that is.
    """
    if not unread:
        return side, ()
    shown = {(item.protocol, each.id) for item in other.providers for each in item.capabilities}
    left_out: list[NotCompared] = []
    providers: list[Provider] = []
    for provider in side.providers:
        kept: list[Capability] = []
        for capability in provider.capabilities:
            found = next((item for item in unread if item.may_hold(capability, provider)), None)
            if found is None or (provider.protocol, capability.id) in shown:
                kept.append(capability)
            else:
                left_out.append(_not_compared(capability, provider, found, missing_from))
        if kept or not provider.capabilities:
            providers.append(_with_capabilities(provider, kept))
    return side.model_copy(update={"providers": tuple(providers)}), tuple(left_out)


def _not_compared(
    capability: Capability, provider: Provider, unread: Unread, missing_from: Side
) -> NotCompared:
    return NotCompared(
        id=capability.id,
        protocol=provider.protocol,
        package=provider.package,
        component=provider.component,
        missing_from=missing_from,
        place=unread.place,
        reason=unread.reason,
    )


def _with_capabilities(provider: Provider, kept: list[Capability]) -> Provider:
    """Return a provider with some of its capabilities, without the definitions that only the others reach."""
    if len(kept) == len(provider.capabilities):
        return provider
    gone = _reached(provider.capabilities, provider) - _reached(kept, provider)
    definitions = {name: definition for name, definition in provider.definitions.items() if name not in gone}
    return provider.model_copy(update={"capabilities": tuple(kept), "definitions": definitions})


def _reached(capabilities: Iterable[Capability], provider: Provider) -> set[str]:
    return {
        name
        for capability in capabilities
        for name in reachable_definitions(capability, provider.definitions)
    }
