"""`wm size` and `wm density` (AOSP's WindowManagerShellCommand), `cmd statusbar` (StatusBarShellCommand)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.java.java_text import java_int
from droidgate_phone.screen.layout import Display

_DENSITY: Final = "ro.sf.lcd_density"
_OVERRIDE: Final = "display_density_forced"
_SIZE: Final = re.compile(r"([1-9]\d{1,4})x([1-9]\d{1,4})")
_LEAST_DENSITY: Final = 72
_LEAST_SIZE: Final = 200
_LARGEST_SCALE: Final = 2


def run_window(call: CommandCall) -> int:
    """`wm ARGUMENTS` and `cmd window ARGUMENTS`."""
    match call.arguments:
        case ("size", *value) if len(value) <= 1:
            return _size(call, *value)
        case ("density", *value) if len(value) <= 1:
            return _density(call, *value)
    return refuse(call, " ".join(("wm", *call.arguments)))


def _size(call: CommandCall, value: str | None = None) -> int:
    window, physical = call.system.window, Display()
    if value is None:
        call.write(f"Physical size: {physical.width}x{physical.height}\n")
        if (window.display.width, window.display.height) != (physical.width, physical.height):
            call.write(f"Override size: {window.display.width}x{window.display.height}\n")
        return 0
    if value == "reset":
        window.display = physical
        return 0
    match = _SIZE.fullmatch(value)
    if match is None:
        call.write_error(f"Error: bad size {value}\n")
        return FAILED
    window.display = Display(
        *map(_kept_in_bounds, map(int, match.groups()), (physical.width, physical.height))
    )
    return 0


def _kept_in_bounds(size: int, physical: int) -> int:
    """Return the size that WindowManagerService sets in place of one that is asked for."""
    return min(max(size, _LEAST_SIZE), physical * _LARGEST_SCALE)


def _density(call: CommandCall, value: str | None = None) -> int:
    system = call.system
    if value is None:
        call.write(f"Physical density: {system.properties.get(_DENSITY)}\n")
        override = system.settings.get("secure", _OVERRIDE)
        if override is not None:
            call.write(f"Override density: {override}\n")
        return 0
    if value == "reset":
        system.settings.delete("secure", _OVERRIDE)
        return 0
    density = java_int(value)
    if density is None or density < _LEAST_DENSITY:
        problem = f"bad number {value}" if density is None else f"density must be >= {_LEAST_DENSITY}"
        call.write_error(f"Error: {problem}\n")
        return FAILED
    system.settings.put("secure", _OVERRIDE, value)
    return 0


def run_status_bar(call: CommandCall) -> int:
    """`cmd statusbar expand-notifications` and `cmd statusbar collapse`."""
    if call.arguments not in (("expand-notifications",), ("collapse",)):
        return refuse(call, " ".join(("cmd statusbar", *call.arguments)))
    call.system.notifications.is_expanded = call.arguments == ("expand-notifications",)
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"wm": run_window}
