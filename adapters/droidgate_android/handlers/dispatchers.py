"""Finding the method of an app that does a capability, where one method chooses by the capability's id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from droidgate_mappings.formats.format import ExistingFunction, SourceFile
from droidgate_mappings.model.capability import Capability


def find_dispatched_functions(
    capabilities: Sequence[Capability], files: Sequence[SourceFile]
) -> Mapping[str, ExistingFunction]:
    """Return the functions."""
    del capabilities, files
    return {}
