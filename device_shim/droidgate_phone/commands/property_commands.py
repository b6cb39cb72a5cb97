"""`getprop` and `setprop` (toolbox of AOSP's system/core)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import refuse
from droidgate_phone.system.system_properties import PropertyError


def run_getprop(call: CommandCall) -> int:
    """`getprop [NAME [DEFAULT]]`."""
    arguments = call.arguments
    if arguments and arguments[0].startswith("-"):
        return refuse(call, f"getprop {arguments[0]}")
    if not arguments:
        for name, value in call.system.properties.all().items():
            call.write(f"[{name}]: [{value}]\n")
        return 0
    default = arguments[1] if len(arguments) > 1 else ""
    call.write((call.system.properties.get(arguments[0]) or default) + "\n")
    return 0


def run_setprop(call: CommandCall) -> int:
    """`setprop NAME VALUE`."""
    if len(call.arguments) != len(("name", "value")):
        call.write_error("setprop: Need 2 arguments\n")
        return 1
    try:
        call.system.properties.set(*call.arguments)
    except PropertyError as error:
        call.write_error(f"setprop: {error}\n")
        return 1
    return 0


COMMANDS: Final[Mapping[str, Command]] = {"getprop": run_getprop, "setprop": run_setprop}
