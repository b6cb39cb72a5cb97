"""Conversions by droidgate's public path, and what the readers of this folder make of source and target.

The only module of this folder that imports droidgate, apart from the tests.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from audit.declared import Declared, Finding, Renamed
from audit.made_descriptors import Descriptor
from audit.readers import read_appfunctions, read_mcp, read_mmcp, read_mobile_mcp
from droidgate.sources import Providers, read_source
from droidgate_mappings.formats.format import find_format
from droidgate_mappings.translate import translate

TARGETS: Final = ("mcp", "mmcp", "mobile-mcp", "appfunctions")


@dataclass(frozen=True, slots=True)
class Conversion:
    """One provider's conversion: the files of both sides, and what droidgate reports.

    Attributes:
        reading: What was read otherwise than it is written; the pointers lead into the source's text.
        findings: What changes on the way to the target; the pointers are those of facts.
    """

    source: Descriptor
    target: Descriptor
    reading: tuple[Finding, ...]
    findings: tuple[Finding, ...]
    renamed: tuple[Renamed, ...]


_READERS: Final[dict[str, Callable[[Mapping[str, str]], Declared]]] = {
    "mcp": lambda files: read_mcp(files["tools.json"]),
    "mmcp": read_mmcp,
    "mobile-mcp": read_mobile_mcp,
    "appfunctions": read_appfunctions,
}


def read_by_specification(descriptor: Descriptor) -> Declared:
    """Return what the independent reader of a descriptor's protocol makes of it."""
    return _READERS[descriptor.protocol](descriptor.files)


def write_files(files: Mapping[str, str], folder: Path) -> None:
    """Write files below a folder."""
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")


def read_by_droidgate(descriptor: Descriptor, folder: Path) -> Providers:
    """Write a descriptor below a folder and let droidgate read it."""
    write_files(descriptor.files, folder)
    return read_source(str(folder / "tools.json" if descriptor.protocol == "mcp" else folder))


def convert(descriptor: Descriptor, reading: Providers, target: str) -> Conversion:
    """Convert the one provider of a reading."""
    chosen, dialect = find_format(target)
    (translation,) = translate(reading.providers, chosen, dialect)
    writing = translation.writing
    files = {item.path: item.text for item in writing.artifacts}
    return Conversion(
        descriptor,
        Descriptor(target, files),
        tuple(Finding(item.code, str(item.level), item.pointer, item.message) for item in reading.findings),
        tuple(Finding(item.code, str(item.level), item.pointer, item.message) for item in writing.findings),
        tuple(Renamed(item.pointer, item.original, item.written) for item in writing.names),
    )
