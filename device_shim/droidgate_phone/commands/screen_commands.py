"""`screencap`, `uiautomator` and `monkey`."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.command_registry import refuse
from droidgate_phone.java.java_text import java_int
from droidgate_phone.system.instrumentations import ALREADY_REGISTERED

_USUAL_DUMP: Final = "/sdcard/window_dump.xml"
_TERMINALS: Final = frozenset({"/dev/tty", "/dev/stdout", "/proc/self/fd/1"})
_LAUNCHER: Final = "android.intent.category.LAUNCHER"
_NOTHING_TO_RUN: Final = 252
_KILLED: Final = 137


def screencap(call: CommandCall) -> int:
    """Run `screencap -p`: a PNG file, to a file or to standard output."""
    is_png, file = False, None
    arguments = list(call.arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument == "-p":
            is_png = True
        elif argument == "-d" and arguments[:1] == ["0"]:
            arguments.pop(0)
        elif argument.startswith("-"):
            return refuse(call, f"screencap {argument}")
        else:
            file = argument
    if not is_png and (file is None or not file.endswith(".png")):
        return refuse(call, "screencap without -p")
    content = call.system.window.png()
    if file is None:
        call.streams.output.write(content)
        return 0
    problem = _write_file(call, file, content)
    if problem is None:
        return 0
    call.write_error(f"Error opening file: {file} ({problem})\n")
    return 1


def uiautomator(call: CommandCall) -> int:
    """Run `uiautomator dump`."""
    verb, *operands = call.arguments or ("help",)
    if verb != "dump":
        return refuse(call, f"uiautomator {verb}")
    if operands and operands[0].startswith("-"):
        return refuse(call, f"uiautomator dump {operands[0]}")
    file = posixpath.join(call.directory, operands[-1]) if operands else _USUAL_DUMP
    if call.system.instrumentations.uses_accessibility:
        # UiAutomation.connect throws, and the runtime kills the program; the text is the shell's.
        call.system.log.record("uiautomator", problem=ALREADY_REGISTERED)
        call.write_error("Killed \n")
        return _KILLED
    xml = call.system.window.hierarchy()
    if file in _TERMINALS:
        call.write(xml)
    else:
        # As on Android, only the device's log names a file that cannot be written.
        problem = _write_file(call, file, xml.encode())
        if problem is not None:
            call.system.log.record("uiautomator", file=file, problem=problem)
    call.write(f"UI hierchary dumped to: {file}\n")
    return 0


def monkey(call: CommandCall) -> int:
    """Run `monkey` as far as it starts an app: one event for one package."""
    packages: list[str] = []
    categories: list[str] = []
    count = None
    for argument in call.arguments:
        call.write(f"  bash arg: {argument}\n")
    rest = list(call.arguments)
    while rest:
        argument = rest.pop(0)
        if argument in {"-p", "-c"} and rest:
            (packages if argument == "-p" else categories).append(rest.pop(0))
        elif not rest and java_int(argument) is not None:
            count = java_int(argument)
        elif argument != "-v":
            return refuse(call, f"monkey {argument}")
    if count != 1 or len(packages) != 1:
        return refuse(call, "monkey with other than one event for one package")
    _print_arguments(call, [*packages, *categories])
    entries = call.system.window.launcher_entries()
    matching_entries = [
        entry
        for entry in entries
        if entry.package == packages[0] and _LAUNCHER in (categories or [_LAUNCHER])
    ]
    if not matching_entries:
        call.write("** No activities found to run, monkey aborted.\n")
        return _NOTHING_TO_RUN
    matching_entries[0].launch()
    call.write("Events injected: 1\n")
    call.write("## Network stats: elapsed time=10ms (0ms mobile, 0ms wifi, 10ms not connected)\n")
    return 0


def _print_arguments(call: CommandCall, values: list[str]) -> None:
    call.write_error(f"args: [{', '.join(call.arguments)}]\n")
    call.write_error("".join(f' arg: "{argument}"\n' for argument in call.arguments))
    call.write_error("".join(f'data="{value}"\n' for value in values))


def _write_file(call: CommandCall, file: str, content: bytes) -> str | None:
    """Write a file as the caller; return why it cannot be, None where it was."""
    try:
        call.system.files.write(posixpath.join(call.directory, file), content, uid=call.uid)
    except OSError as error:
        return error.strerror or str(error)
    return None


COMMANDS: Final[Mapping[str, Command]] = {
    "screencap": screencap,
    "uiautomator": uiautomator,
    "monkey": monkey,
}
