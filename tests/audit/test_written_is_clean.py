"""What droidgate writes passes droidgate's own lint for that dialect without warnings."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from audit.conversions import TARGETS, convert, read_by_droidgate, read_by_specification, write_files
from audit.made_descriptors import FORMATS, Descriptor, made_descriptor
from audit.test_real_descriptors import SAMPLE_APPS, sample_app
from droidgate.sources import read_source
from droidgate.sources.linting import check_reading
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.findings import Finding, Level

SEEDS_OF_A_PAIR: Final = 24
EXCEPTIONS: Final = {
    "mobile-mcp-permission": "the source's callers need a permission, and so do the target's",
    "mobile-mcp-exported": "the source's component is not exported, and so is the target's",
    "mobile-mcp-enabled": "the source's component is disabled, and so is the target's",
    "mmcp-exported": "the source's component is not exported, and so is the target's",
    "appfunctions-service-disabled": "the source's component is disabled, and so is the target's",
}
"""Codes of lint that what is written may have, where its source has access rules: it carries them."""


def warnings_of(folder: Path) -> Iterator[Finding]:
    formats = tuple(load_formats().values())
    reading = read_source(str(folder), formats=formats)
    for item in check_reading(reading, formats, lambda path: Path(path).read_bytes()):
        if item.level in {Level.WARNING, Level.ERROR}:
            yield item


def warnings_of_conversion(descriptor: Descriptor, target: str, folder: Path) -> Iterator[str]:
    """Yield the warnings of what is written; those of a source of the same protocol are its own."""
    conversion = convert(descriptor, read_by_droidgate(descriptor, folder / "source"), target)
    write_files(conversion.target.files, folder / "target")
    own = {item.code for item in warnings_of(folder / "source")} if descriptor.protocol == target else set()
    if read_by_specification(descriptor).access:
        own |= EXCEPTIONS.keys()
    for item in warnings_of(folder / "target"):
        if item.code not in own:
            yield f"{item.level} {item.code} {item.pointer}: {item.message}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("source", FORMATS)
def test_what_is_written_has_no_warnings(source: str, target: str, tmp_path: Path) -> None:
    found = [
        f"seed {seed}: {warning}"
        for seed in range(SEEDS_OF_A_PAIR)
        for warning in warnings_of_conversion(made_descriptor(source, seed), target, tmp_path / str(seed))
    ]
    codes = Counter(item.split(" ")[3] for item in found)
    assert not found, f"{codes}: {found[:8]}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SAMPLE_APPS)
def test_sample_apps_are_written_without_warnings(name: str, target: str, tmp_path: Path) -> None:
    assert list(warnings_of_conversion(sample_app(name), target, tmp_path)) == []
