"""Findings about an APK that can be read, but is not as a build makes it."""

from __future__ import annotations

from functools import partial
from typing import Final

from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.findings import Finding, Level, finding_code

_code = partial(finding_code, module=__name__)

EVASIVE_ARCHIVE: Final = _code(
    "evasive-archive",
    "The archive of an APK misleads analysis tools, but not Android",
)

BROKEN_RESOURCE_TABLE: Final = _code(
    "broken-resource-table",
    "An APK's resource table cannot be read, or in parts only; references into it stay unresolved",
)

BROKEN_SIGNATURE: Final = _code(
    "broken-signature", "An APK's signature cannot be read, so its signers are not known"
)

UNVERIFIED_SIGNATURE: Final = _code(
    "unverified-signature",
    "An APK's signature is not right, or cannot be verified; Android does not install such an APK",
)

BROKEN_SPLIT: Final = _code(
    "broken-split", "A split of an app cannot be read, or belongs to another app, and is left out"
)

_MAX_SHOWN: Final = 3


def warn(code: str, message: str, place: str, *, hint: str | None = None) -> Finding:
    """Return a warning about an archive or an entry of one."""
    return Finding(
        code=code, level=Level.WARNING, pointer="", message=message, hint=hint, source=Place(path=place)
    )


def shown_names(names: list[str]) -> str:
    """Return the first of some names, quoted and shortened, and how many more there are."""
    listed_names = ", ".join(repr(name[:80]) for name in names[:_MAX_SHOWN])
    rest = len(names) - _MAX_SHOWN
    return f"{listed_names} and {rest} more" if rest > 0 else listed_names
