"""`wm size` and `wm density` (AOSP's WindowManagerShellCommand), `cmd statusbar` (StatusBarShellCommand)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentReader, NumberError, parse_decimal
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.screen.layout import Display

_DENSITY: Final = "ro.sf.lcd_density"
_OVERRIDE: Final = "display_density_forced"
_DENSITY_OF_DP: Final = 160
_LEAST_DENSITY: Final = 72
_LEAST_SIZE: Final = 200
_LARGEST_SCALE: Final = 2


def run_window(call: CommandCall) -> int:
    """`wm ARGUMENTS` and `cmd window ARGUMENTS`."""
    verb = call.arguments[0] if call.arguments else ""
    if verb not in _VERBS or {"-d", "-u"} & set(call.arguments):
        return refuse(call, " ".join(("wm", *call.arguments)))
    reader = ArgumentReader(call.arguments, 1)
    try:
        return _VERBS[verb](call, reader.next())
    except NumberError as error:
        call.write_error(f"Error: bad number {error.exception}: {error.message}\n")
        return FAILED


def _size(call: CommandCall, value: str | None) -> int:
    window, physical = call.system.window, Display()
    if value is None:
        call.write(f"Physical size: {physical.width}x{physical.height}\n")
        if (window.display.width, window.display.height) != (physical.width, physical.height):
            call.write(f"Override size: {window.display.width}x{window.display.height}\n")
        return 0
    width, height = -1, -1
    if value != "reset":
        before, x, after = value.partition("x")
        if not (before and x and after):
            call.write_error(f"Error: bad size {value}\n")
            return FAILED
        width, height = _dimension(call, before), _dimension(call, after)
    if width < 0 or height < 0:
        window.display = physical
        return 0
    window.display = Display(_kept_in_bounds(width, physical.width), _kept_in_bounds(height, physical.height))
    return 0


def _dimension(call: CommandCall, text: str) -> int:
    """Return pixels, where `dp` is after a number from the density."""
    if not text.endswith("dp"):
        return parse_decimal(text.removesuffix("px"))
    settings, properties = call.system.settings, call.system.properties
    density = int(settings.get("secure", _OVERRIDE) or properties.get(_DENSITY))
    return int(parse_decimal(text.removesuffix("dp")) * density / _DENSITY_OF_DP)


def _kept_in_bounds(size: int, physical: int) -> int:
    """Return the size that WindowManagerService sets in place of one that is asked for."""
    return min(max(size, _LEAST_SIZE), physical * _LARGEST_SCALE)


def _density(call: CommandCall, value: str | None) -> int:
    system = call.system
    physical = system.properties.get(_DENSITY)
    if value is None:
        call.write(f"Physical density: {physical}\n")
        override = system.settings.get("secure", _OVERRIDE)
        if override not in (None, physical):
            call.write(f"Override density: {override}\n")
        return 0
    if value == "reset":
        system.settings.delete("secure", _OVERRIDE)
        return 0
    density = parse_decimal(value)
    if density < _LEAST_DENSITY:
        call.write_error(f"Error: density must be >= {_LEAST_DENSITY}\n")
        return FAILED
    system.settings.put("secure", _OVERRIDE, str(density))
    return 0


_VERBS: Final = {"size": _size, "density": _density}


def run_status_bar(call: CommandCall) -> int:
    """`cmd statusbar expand-notifications` and `cmd statusbar collapse`."""
    if call.arguments not in (("expand-notifications",), ("collapse",)):
        return refuse(call, " ".join(("cmd statusbar", *call.arguments)))
    call.system.notifications.is_expanded = call.arguments == ("expand-notifications",)
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"wm": run_window}
