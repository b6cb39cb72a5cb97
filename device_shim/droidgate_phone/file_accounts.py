"""Android's users and groups: their numbers and names (AOSP `android_filesystem_config.h`)."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

ROOT_UID: Final = 0
SYSTEM_UID: Final = 1000
SHELL_UID: Final = 2000
FIRST_APP_UID: Final = 10000
LAST_APP_UID: Final = 19999
USERS_APART: Final = 100000
"""Distance between the uids of one app for two users."""

SDCARD_RW: Final = 1015
MEDIA_RW: Final = 1023

_NAMES: Final = {
    0: "root",
    1000: "system",
    1001: "radio",
    1002: "bluetooth",
    1003: "graphics",
    1004: "input",
    1005: "audio",
    1006: "camera",
    1007: "log",
    1011: "adb",
    1013: "media",
    1015: "sdcard_rw",
    1017: "keystore",
    1023: "media_rw",
    1028: "sdcard_r",
    1077: "external_storage",
    1078: "ext_data_rw",
    1079: "ext_obb_rw",
    2000: "shell",
    2001: "cache",
    3001: "net_bt_admin",
    3002: "net_bt",
    3003: "inet",
    3006: "net_bw_stats",
    3009: "readproc",
    3011: "uhid",
    3012: "readtracefs",
    9997: "everybody",
    9999: "nobody",
}
_NUMBERS: Final = {name: number for number, name in _NAMES.items()}

SHELL_GROUPS: Final = (1004, 1007, 1011, 1015, 1028, 1078, 1079, 3001, 3002, 3003, 3006, 3009, 3011, 3012)
"""Groups of the shell in addition to its own, as adbd sets them."""


@lru_cache(maxsize=1024)
def groups_of(uid: int) -> frozenset[int]:
    """Return the groups of a user's processes."""
    if uid == SHELL_UID:
        return frozenset({SHELL_UID, *SHELL_GROUPS})
    if uid % USERS_APART >= FIRST_APP_UID:
        return frozenset({uid, 9997, 3003})
    return frozenset({uid})


def name_of(number: int) -> str:
    """Return the name of a user or group: `shell`, `u0_a123`; the digits where it has none."""
    user, application = divmod(number, USERS_APART)
    if FIRST_APP_UID <= application <= LAST_APP_UID:
        return f"u{user}_a{application - FIRST_APP_UID}"
    return _NAMES.get(number, str(number))


def number_of(name: str) -> int | None:
    """Return the number of a user or group by its name or digits, None where there is none."""
    if name.isascii() and name.isdecimal():
        return int(name)
    user, underscore, application = name.partition("_a")
    if underscore and user[:1] == "u" and user[1:].isdecimal() and application.isdecimal():
        return int(user[1:]) * USERS_APART + FIRST_APP_UID + int(application)
    return _NUMBERS.get(name)
