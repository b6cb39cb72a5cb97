"""How a shim declares itself to callers of app functions (shim.md)."""

from __future__ import annotations

from typing import Final

from droidgate_appfunctions.format import TABLES
from droidgate_appfunctions.write import write
from droidgate_mappings.formats.format import Advertised, ShimOffer
from droidgate_mappings.formats.shim_frontend import (
    dialect_of_shim,
    findings_at,
    frontend_class,
    offered_provider,
    warning_at,
)
from droidgate_mappings.model.capability import Capability, references_of
from droidgate_mappings.model.findings import Finding, finding_code

FUNCTION_LEFT_OUT: Final = finding_code(
    "shim-function-left-out",
    "A capability whose parameters an app function cannot name alike; it is not advertised as one",
    __name__,
)


def advertise(offer: ShimOffer) -> Advertised:
    """Return the service and its assets, without functions whose parameters would have other names."""
    dialect = dialect_of_shim(TABLES.dialects[0], frontend_class("FunctionService"))
    whole = write(offered_provider(offer, offer.offered), dialect)
    renamed = {name.pointer for name in whole.names if "/properties/" in name.pointer}
    definitions_renamed = any(pointer.startswith("/definitions/") for pointer in renamed)
    usable: dict[int, Capability] = {}
    findings: list[Finding] = []
    for position, capability in enumerate(offer.offered):
        pointer = f"/capabilities/{position}/"
        reaches = definitions_renamed and _has_references(capability)
        if reaches or any(item.startswith(pointer) for item in renamed):
            message = (
                f"{capability.id!r} has names that no app function can have, and is not advertised as one"
            )
            findings.append(warning_at(FUNCTION_LEFT_OUT, position, message))
        else:
            usable[position] = capability
    written = whole
    if len(usable) < len(offer.offered):
        written = write(offered_provider(offer, [*usable.values()]), dialect)
    functions = {
        function.id: capability.id
        for capability, function in zip(usable.values(), written.provider.capabilities, strict=True)
    }
    return Advertised(written.artifacts, (*findings, *findings_at(written.findings, [*usable])), functions)


def _has_references(capability: Capability) -> bool:
    types = [capability.input, *([] if capability.output is None else [capability.output])]
    return any(True for type_ in types for _ in references_of(type_))
