"""`wm size` and `wm density` (AOSP's WindowManagerShellCommand), `cmd statusbar` (StatusBarShellCommand)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import refuse
from droidgate_phone.screen.layout import Display


def run_window(call: CommandCall) -> int:
    """`wm size`, `wm density` and the same with `cmd window`; nothing changes them."""
    if call.arguments == ("size",):
        display = Display()
        call.write(f"Physical size: {display.width}x{display.height}\n")
    elif call.arguments == ("density",):
        call.write(f"Physical density: {call.system.properties.get('ro.sf.lcd_density')}\n")
    else:
        return refuse(call, " ".join(("wm", *call.arguments)))
    return 0


def run_status_bar(call: CommandCall) -> int:
    """`cmd statusbar expand-notifications` and `cmd statusbar collapse`."""
    if call.arguments not in (("expand-notifications",), ("collapse",)):
        return refuse(call, " ".join(("cmd statusbar", *call.arguments)))
    call.system.notifications.is_expanded = call.arguments == ("expand-notifications",)
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"wm": run_window}
