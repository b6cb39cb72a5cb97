"""Declaring a shim to the agents of a protocol: what the formats' frontends have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from droidgate_mappings.formats.format import ShimOffer
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.tables.loading import DialectTable

SHIM_SOURCE: Final = "shim-source"
"""The protocol of what a frontend's writer is given: none of them, so that names are mapped."""


def frontend_class(name: str) -> str:
    """Return a class of the shim's app that answers agents, with its package."""
    return f"{SHIM_PACKAGE}.frontends.{name}"


def dialect_of_shim(dialect: DialectTable, component: str) -> DialectTable:
    """Return a dialect whose new components are one of the shim's classes.

    The engine reads objects as objects, so a free-form one is not declared as text.
    """
    if dialect.capacity is None:
        raise TypeError(dialect.id)
    capacity = dialect.capacity.changed({"component": component, "records_only": False})
    return dialect.changed({"capacity": capacity})


def offered_provider(offer: ShimOffer, capabilities: Sequence[Capability]) -> Provider:
    """Return some capabilities of an offer as what an app declares."""
    return Provider(
        protocol=SHIM_SOURCE,
        package=offer.application_id,
        name=offer.label,
        instructions=offer.description,
        definitions=dict(offer.definitions),
        capabilities=tuple(capabilities),
    )


def split_pointer(pointer: str) -> tuple[int, str] | None:
    """Return the position of the capability that a pointer addresses and the pointer inside, or None."""
    _, part, *rest = pointer.split("/", 3) if pointer else ("", "")
    if part != "capabilities":
        return None
    return int(rest[0]), "".join(f"/{item}" for item in rest[1:])


def findings_at(findings: Iterable[Finding], positions: Sequence[int]) -> Iterator[Finding]:
    """Yield findings on capabilities, by the positions that they have in the offer."""
    for finding in findings:
        inside = split_pointer(finding.pointer)
        if inside is not None:
            pointer = f"/capabilities/{positions[inside[0]]}{inside[1]}"
            yield finding if pointer == finding.pointer else finding.changed({"pointer": pointer})


def warning_at(code: str, position: int, message: str, hint: str | None = None) -> Finding:
    """Return a warning on a capability of an offer."""
    pointer = f"/capabilities/{position}"
    return Finding(code=code, level=Level.WARNING, pointer=pointer, message=message, hint=hint)
