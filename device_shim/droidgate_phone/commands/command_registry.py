"""The commands by name, each loaded when it is first used, and how commands refuse what the phone does not
model.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Final

from droidgate_phone.commands import Command, CommandCall

NOT_MODELLED: Final = 69
"""Exit status of whatever the phone does not model (EX_UNAVAILABLE of sysexits.h)."""

FAILED: Final = 255
"""Exit status of a command of Android that returns -1."""


def refuse(call: CommandCall, what: str) -> int:
    """Say on standard error that the phone does not model something; return the status for it."""
    call.write_error(f"droidgate phone: not modelled: {what}\n")
    call.system.log.record("not-modelled", command=call.name, what=what)
    return NOT_MODELLED


# Names of a module's commands, so that a name finds its module without loading the others.
_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "activity_commands": ("am",),
    "content_commands": ("content",),
    "dumpsys_commands": ("dumpsys",),
    "input_commands": ("input",),
    "input_method_commands": ("ime",),
    "package_commands": ("pm",),
    "property_commands": ("getprop", "setprop"),
    "service_commands": ("cmd",),
    "screen_commands": ("monkey", "screencap", "uiautomator"),
    "settings_commands": ("settings", "appops"),
    "window_commands": ("wm",),
    "file_commands": ("cat", "dd", "grep", "head", "ls", "md5sum", "mkdir", "rm", "touch", "wc"),
    "process_commands": (
        "false", "id", "kill", "pidof", "printf", "ps", "sh", "sleep", "toybox", "true", "whoami",
    ),
}  # fmt: skip
TOYBOX: Final = frozenset({*_MODULES["file_commands"], *_MODULES["process_commands"]} - {"sh", "toybox"})
"""Names that toybox answers to."""

_PROGRAMS_OF_ANDROID: Final = """
[ echo pwd test
app_process base64 basename bc blkid bootstat bugreport bugreportz bunzip2 bzcat bzip2 cal cksum chattr
chcon chgrp chmod chown chroot chrt clear cmp comm cp cpio cut date devmem df diff dirname dmesg dos2unix du
dumpstate egrep env expand expr fallocate fgrep file find flock fmt free fsync getconf getenforce getevent
getfattr groups gunzip gzip help hostname hwclock iconv ifconfig inotifyd ionice iorenice iotop ip
killall ln load_policy locksettings log logcat logname losetup lsattr lsmod lsof lspci lsusb microcom mkfifo
mknod mkswap mktemp modinfo modprobe more mount mountpoint mv nc netcat netstat nice nl nohup nproc nsenter
od paste patch perfetto pgrep ping ping6 pkill pmap printenv prlimit pwdx readelf readlink realpath reboot
renice restorecon rev rmdir rmmod run-as runcon screenrecord sed sendevent seq setenforce setfattr setsid
sha1sum sha224sum sha256sum sha384sum sha512sum simpleperf sort split start stat stop strings stty svc
swapoff swapon sync sysctl tac tail tar taskset tee telecom time timeout top tr traceroute truncate
tty umount uname uniq unix2dos unlink unshare uptime usleep uudecode uuencode uuidgen vmstat watch which
xargs xxd yes zcat device_config service
"""

REFUSED_PROGRAMS: Final = frozenset(_PROGRAMS_OF_ANDROID.split())
"""Programs that Android has and the phone does not: "not found" would be a wrong answer."""

_PACKAGE: Final = "droidgate_phone.commands"


def command_names() -> frozenset[str]:
    """Return the names of all commands of the table."""
    return frozenset(name for names in _MODULES.values() for name in names)


@cache
def _module_commands(module: str) -> Mapping[str, Command]:
    full_name = f"{_PACKAGE}.{module}"
    try:
        loaded = importlib.import_module(full_name)
    except ModuleNotFoundError as error:
        if error.name != full_name:
            raise
        return {}
    commands: Mapping[str, Command] = loaded.COMMANDS
    return commands


def find_command(name: str) -> Command | None:
    """Return the command of that name, None where the device has none."""
    for module, names in _MODULES.items():
        if name in names:
            return _module_commands(module).get(name)
    return None
