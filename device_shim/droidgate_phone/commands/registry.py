"""Which command stands behind a name. Modules are loaded when one of their commands is first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Final

from droidgate_phone.commands import Command

# Names of a module's commands, so that a name finds its module without loading the others.
_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "activity_commands": ("am",),
    "content_commands": ("content",),
    "dumpsys_commands": ("dumpsys",),
    "input_commands": ("input",),
    "package_commands": ("pm",),
    "property_commands": ("getprop", "setprop"),
    "service_commands": ("cmd", "service"),
    "screen_commands": ("monkey", "screencap", "uiautomator"),
    "settings_commands": ("settings", "device_config", "appops"),
    "window_commands": ("wm",),
    "files_listing": ("ls", "stat", "find", "du", "df"),
    "files_changing": (
        "chmod", "chown", "chgrp", "cp", "ln", "mkdir", "mktemp", "mv", "rm", "rmdir", "touch", "truncate",
    ),
    "files_content": (
        "cat", "cmp", "dd", "head", "tail", "tee", "md5sum", "sha1sum", "sha256sum", "base64", "xxd",
    ),
    "files_names": ("basename", "dirname", "readlink", "realpath", "pwd"),
    "text_lines": ("cut", "grep", "egrep", "fgrep", "sort", "tr", "uniq", "wc", "rev", "tac"),
    "text_values": ("echo", "expr", "printf", "seq", "yes"),
    "shell_programs": (
        "sh", "env", "printenv", "test", "[", "true", "false", "toybox", "xargs", "sleep",
    ),
    "shell_identity": (
        "date", "groups", "hostname", "id", "kill", "nproc", "ps", "pidof", "sync", "uname", "whoami",
    ),
}  # fmt: skip
TOYBOX: Final = frozenset(
    name
    for module, names in _MODULES.items()
    if module.startswith(("files_", "text_", "shell_"))
    for name in names
) - {"sh"}
"""Names that toybox answers to."""

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
