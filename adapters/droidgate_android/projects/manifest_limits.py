"""How long the texts of an Android manifest may be.

Android 15 (API 35) and later refuse to install an app with a longer one; Android 14 has no limit
(`android.content.res.Validator` and `Element`: alike in Android 15 and 16, absent in 14's first build).
Lengths are of what the package parser reads, in UTF-16 units: without escapes, and behind a reference to a
string, since that is followed first. A file that is referred to is as long as its path. The limits are those
of the elements that apps declare most of; a few, such as `package` in `queries`, allow longer names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

REFUSED_BY: Final = "Android 15 and later"
MAX_META_DATA: Final = 32_768
"""The `android:value` of one meta-data element."""

MAX_META_DATA_OF_COMPONENT: Final = 262_144
"""All `android:value` texts of the meta-data of one component, or of the application element, together."""

_DEFAULT: Final = MAX_META_DATA
_LIMITS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("host", "port", "scheme"), 256),
    **dict.fromkeys(("permissionGroup", "sharedUserId", "package", "targetPackage"), 256),
    "mimeType": 255,
    **dict.fromkeys(
        (
            *("name", "permission", "readPermission", "writePermission", "process", "targetProcesses"),
            *(
                "backupAgent",
                "manageSpaceActivity",
                "parentActivityName",
                "targetActivity",
                "zygotePreloadName",
            ),
            *("category", "mimeGroup", "taskAffinity", "targetName", "versionName"),
            *("requiredAccountType", "restrictedAccountType", "requiredSystemPropertyName"),
        ),
        1024,
    ),
    **{
        part + kind: 4000
        for part in ("path", "query", "fragment")
        for kind in ("", "Pattern", "Prefix", "Suffix", "AdvancedPattern")
    },
    "requiredSystemPropertyValue": 91,
}


_READ_AS_NUMBERS: Final = frozenset({"description"})
"""The package parser takes the number of the resource (`TypedArray.getResourceId`), never its text."""


def longest_text(attribute: str) -> int | None:
    """Return how many UTF-16 units an attribute, named without its prefix, may have; None for any number."""
    return None if attribute in _READ_AS_NUMBERS else _LIMITS.get(attribute, _DEFAULT)


def excess_of(attribute: str, length: int, element: str) -> str | None:
    """Return the sentence that an attribute is too long, None where it is not.

    Args:
        attribute: Its name without a prefix.
        length: How long its text is, in UTF-16 units.
        element: Whose attribute it is, as the sentence names it.
    """
    limit = longest_text(attribute)
    if limit is None or length <= limit:
        return None
    return (
        f"{attribute!r} of {element} has {length:,} characters; "
        f"{REFUSED_BY} refuse an app with more than {limit:,} there"
    )


def excess_of_meta_data(length: int, element: str) -> str | None:
    """Return the sentence that the meta-data of an element are too long together, None where they are not."""
    if length <= MAX_META_DATA_OF_COMPONENT:
        return None
    return (
        f"the meta-data of {element} have {length:,} characters together; "
        f"{REFUSED_BY} refuse an app with more than {MAX_META_DATA_OF_COMPONENT:,}"
    )
