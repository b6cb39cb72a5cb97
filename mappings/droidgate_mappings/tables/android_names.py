"""The names of Android's releases, by the numbers that apps and phones state.

Source: developer.android.com, the table of `minSdkVersion` in "<uses-sdk>"; 36.1 is the first minor level
(reference android-runtime 0).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_VERSIONS: Final[Mapping[str, str]] = {
    "16": "4.1",
    "17": "4.2",
    "18": "4.3",
    "19": "4.4",
    "20": "4.4W",
    "21": "5.0",
    "22": "5.1",
    "23": "6.0",
    "24": "7.0",
    "25": "7.1",
    "26": "8.0",
    "27": "8.1",
    "28": "9",
    "29": "10",
    "30": "11",
    "31": "12",
    "32": "12L",
    "33": "13",
    "34": "14",
    "35": "15",
    "36": "16",
    "36.1": "16 QPR2",
    "37": "17",
}


def android_name(level: str | int) -> str:
    """Return an API level with the version that users know: `Android 13 (API 33)`.

    Args:
        level: As `ro.build.version.sdk` or `sdk_full` has it, such as 33, `36` or `36.1`; `36.0` is `36`.
    """
    text = str(level).removesuffix(".0")
    version = _VERSIONS.get(text)
    return f"API {text}" if version is None else f"Android {version} (API {text})"
