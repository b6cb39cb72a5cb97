"""Android's folders on a new phone: what is there, whose it is, and what the shell may do with it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from droidgate_phone.common.uids import ROOT_UID, SHELL_UID, SYSTEM_UID
from droidgate_phone.files.phone_files import MEDIA_RW, SDCARD_RW, VirtualFiles

SHARED_STORAGE: Final = "/storage/emulated/0"
PROGRAMS: Final = "/system/bin"
SHELL_PROGRAM: Final = "/system/bin/sh"
SEARCH_PATH: Final = (
    "/product/bin:/apex/com.android.runtime/bin:/apex/com.android.art/bin:/system_ext/bin:/system/bin:"
    "/system/xbin:/odm/bin:/vendor/bin:/vendor/xbin"
)
"""PATH of the shell, as `_PATH_DEFPATH` of bionic."""

# Path, mode, owner, group.
_FOLDERS: Final = (
    ("/acct", 0o755, ROOT_UID, ROOT_UID),
    ("/apex", 0o755, ROOT_UID, ROOT_UID),
    ("/cache", 0o770, SYSTEM_UID, 2001),
    ("/data", 0o771, SYSTEM_UID, SYSTEM_UID),
    ("/data/app", 0o771, SYSTEM_UID, SYSTEM_UID),
    ("/data/data", 0o771, SYSTEM_UID, SYSTEM_UID),
    ("/data/local", 0o751, ROOT_UID, ROOT_UID),
    ("/data/local/tmp", 0o771, SHELL_UID, SHELL_UID),
    ("/data/media", 0o770, MEDIA_RW, MEDIA_RW),
    ("/data/system", 0o775, SYSTEM_UID, SYSTEM_UID),
    ("/data/user", 0o711, SYSTEM_UID, SYSTEM_UID),
    ("/dev", 0o755, ROOT_UID, ROOT_UID),
    ("/mnt", 0o755, ROOT_UID, SYSTEM_UID),
    ("/odm", 0o755, ROOT_UID, ROOT_UID),
    ("/proc", 0o555, ROOT_UID, ROOT_UID),
    ("/product", 0o755, ROOT_UID, ROOT_UID),
    ("/storage", 0o755, ROOT_UID, ROOT_UID),
    ("/storage/emulated", 0o771, ROOT_UID, SDCARD_RW),
    (SHARED_STORAGE, 0o2770, MEDIA_RW, SDCARD_RW),
    ("/storage/self", 0o755, ROOT_UID, ROOT_UID),
    ("/sys", 0o755, ROOT_UID, ROOT_UID),
    ("/system", 0o755, ROOT_UID, ROOT_UID),
    ("/system/app", 0o755, ROOT_UID, ROOT_UID),
    ("/system/bin", 0o751, ROOT_UID, SHELL_UID),
    ("/system/etc", 0o755, ROOT_UID, ROOT_UID),
    ("/system/framework", 0o755, ROOT_UID, ROOT_UID),
    ("/system/priv-app", 0o755, ROOT_UID, ROOT_UID),
    ("/vendor", 0o755, ROOT_UID, SHELL_UID),
)
_SHARED_FOLDERS: Final = (
    "Alarms", "Android", "Android/data", "Android/media", "Android/obb", "DCIM", "Documents", "Download",
    "Movies", "Music", "Notifications", "Pictures", "Podcasts", "Ringtones",
)  # fmt: skip
_LINKS: Final = (
    ("/storage/self/primary", "/sdcard"),
    (SHARED_STORAGE, "/storage/self/primary"),
    ("/data/data", "/data/user/0"),
    ("/system/bin", "/bin"),
    ("/system/etc", "/etc"),
)
_WRITABLE: Final = ("/acct", "/cache", "/data", "/dev", "/mnt", "/proc", "/storage", "/sys")


def lay_out(files: VirtualFiles, *, programs: Iterable[str]) -> None:
    """Make the folders of a new phone, and a program in /system/bin for each name."""
    for path, mode, owner, group in _FOLDERS:
        files.make_directory(path)
        files.chmod(path, mode)
        files.chown(path, owner, group)
    for target, path in _LINKS:
        files.symlink(target, path)
    files.share_directory(SHARED_STORAGE)
    for name in _SHARED_FOLDERS:
        files.make_directory(f"{SHARED_STORAGE}/{name}", owner=MEDIA_RW)
    _make_devices(files)
    files.mount("/", read_only=True)
    for path in _WRITABLE:
        files.mount(path, read_only=False)
    for name in sorted({"sh", *programs}):
        path = f"{PROGRAMS}/{name}"
        files.write(path, b"", mode=0o755)
        files.chown(path, ROOT_UID, SHELL_UID)


def _make_devices(files: VirtualFiles) -> None:
    files.make_device("/dev/null", lambda _limit: b"")
    files.make_device("/dev/zero", bytes)
    files.make_device("/dev/urandom", os.urandom)
    files.make_device("/dev/random", os.urandom)
