"""Texts that are too long for Android's string pools, or for its manifests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from droidgate_android.projects.manifest_limits import MAX_META_DATA, utf16_length
from droidgate_mappings.model.capability import Capability, Provider
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import pointer_token
from droidgate_mappings.model.types import ObjectType, Property, Type
from droidgate_mappings.text.aapt_text import MAX_STRING_RESOURCE_BYTES, fits_a_resource

TEXT_TRUNCATED: Final = finding_code(
    "text-truncated",
    "A text longer than an Android string resource or manifest can hold is cut at its end",
    __name__,
)

_ELLIPSIS: Final = "\u2026"


def _fits_a_manifest(text: str) -> bool:
    return utf16_length(text) <= MAX_META_DATA


def _cut(text: str, fits: Callable[[str], bool]) -> str:
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(text[:middle] + _ELLIPSIS):
            low = middle
        else:
            high = middle - 1
    return text[:low] + _ELLIPSIS


def cut_long_texts(provider: Provider, findings: Iterable[Finding]) -> tuple[Provider, tuple[Finding, ...]]:
    """Return a fitted provider whose descriptor aapt2 can store and whose manifest Android takes
    (`manifest_limits`), and the findings, those about cut texts among them.

    A leaf that has a finding already keeps the one, of the graver level.
    """
    reported = tuple(findings)
    cutter = _Cutter({finding.pointer: finding for finding in reported})
    capabilities = [
        cutter.capability(capability, f"/capabilities/{at}")
        for at, capability in enumerate(provider.capabilities)
    ]
    texts = {
        field: cutter.text(getattr(provider, field), f"/{field}", of_manifest=True)
        for field in ("name", "description")
    }
    if not cutter.any_cut:
        return provider, reported
    update = {**texts, "capabilities": tuple(capabilities)}
    return provider.model_copy(update=update), tuple(cutter.findings.values())


@dataclass(slots=True)
class _Cutter:
    findings: dict[str, Finding]
    any_cut: bool = False

    def text(self, text: str | None, pointer: str, *, of_manifest: bool = False) -> str | None:
        fits = _fits_a_manifest if of_manifest else fits_a_resource
        if text is None or fits(text):
            return text
        self.any_cut = True
        limit = f"{MAX_META_DATA} characters" if of_manifest else f"{MAX_STRING_RESOURCE_BYTES} bytes"
        message = f"the text is longer than {limit} and is cut"
        finding = self.findings.get(pointer)
        if finding is not None:
            message = f"{finding.message}; {message}"
        source = finding.source if finding is not None else None
        self.findings[pointer] = Finding(
            code=TEXT_TRUNCATED, level=Level.DROPPED, pointer=pointer, message=message, source=source
        )
        return _cut(text, fits)

    def capability(self, capability: Capability, pointer: str) -> Capability:
        update = {
            "description": self.text(capability.description, f"{pointer}/description"),
            "version": self.text(capability.version, f"{pointer}/version"),
            "input": self.parameters(capability.input, f"{pointer}/input"),
            "output": self.parameters(capability.output, f"{pointer}/output"),
        }
        return capability.model_copy(update=update) if self.any_cut else capability

    def parameters(self, type_: Type | None, pointer: str) -> Type | None:
        if not isinstance(type_, ObjectType):
            return type_
        cut: dict[str, Property] = {}
        for name, property_ in type_.properties.items():
            text = property_.type.description
            shorter = self.text(text, f"{pointer}/properties/{pointer_token(name)}/type/description")
            if shorter is not text:
                changed = property_.type.model_copy(update={"description": shorter})
                cut[name] = property_.model_copy(update={"type": changed})
        return type_.model_copy(update={"properties": {**type_.properties, **cut}}) if cut else type_
