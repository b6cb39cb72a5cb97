"""User ids of Android's processes (`android_filesystem_config.h`, `android.os.Process`)."""

from typing import Final

ROOT_UID: Final = 0
SYSTEM_UID: Final = 1000
SHELL_UID: Final = 2000
FIRST_APP_UID: Final = 10000
LAST_APP_UID: Final = 19999
USERS_APART: Final = 100000
"""Distance between the uids of one app for two users."""
