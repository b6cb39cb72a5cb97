"""`input`: touches and keys, as AOSP's `InputShellCommand` of Android 12 and later reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import ArgumentError, ArgumentReader
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import print_exception
from droidgate_phone.screen.keys import ENTER, TAB, key_code
from droidgate_phone.screen.window import InputNotModelledError, Window

_SOURCES: Final = (
    "dpad", "gamepad", "joystick", "keyboard", "mouse", "rotaryencoder", "stylus", "touchnavigation",
    "touchpad", "touchscreen", "trackball",
)  # fmt: skip
_USUAL_SWIPE: Final = 300
_WITHOUT_KEYS: Final = re.compile(r"[^ -~\t\n]")
_KEYS_IN_TEXT: Final = re.compile(r"([\t\n])")
_KEY_OF: Final = {"\n": ENTER, "\t": TAB}
_USAGE: Final = """Usage: input [<source>] [-d DISPLAY_ID] <command> [<arg>...]

The sources are:
{sources}

-d: specify the display ID.
      (Default: -1 for key event, 0 for motion event if not specified.)
The commands and default sources are:
      text <string> (Default: touchscreen)
      keyevent [--longpress|--doubletap] <key code number or name> ... (Default: keyboard)
      tap <x> <y> (Default: touchscreen)
      swipe <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      draganddrop <x1> <y1> <x2> <y2> [duration(ms)] (Default: touchscreen)
      press (Default: trackball)
      roll <dx> <dy> (Default: trackball)
      motionevent <DOWN|UP|MOVE|CANCEL> <x> <y> (Default: touchscreen)
      keycombination <key code 1> <key code 2> ... (Default: keyboard)
"""


def input_command(call: CommandCall) -> int:
    """Run `input`; exit status 255 where Android's own would throw."""
    reader = ArgumentReader(call.arguments)
    name = reader.next()
    try:
        if name in _SOURCES:
            name = reader.require()
        if name == "-d":
            if reader.require() not in {"0", "-1", "DEFAULT_DISPLAY", "INVALID_DISPLAY"}:
                return refuse(call, "a second display")
            name = reader.require()
        return _run(call, name, reader)
    except ArgumentError as error:
        print_exception(call, call.arguments[0] if call.arguments else "", error.exception, error.message)
        return FAILED
    except InputNotModelledError as error:
        return refuse(call, str(error))


def _run(call: CommandCall, name: str | None, reader: ArgumentReader) -> int:
    action = _ACTIONS.get(name or "")
    if action is not None:
        action(call.system.window, reader)
    elif name in {"roll", "motionevent", "keycombination"}:
        return refuse(call, f"input {name}")
    elif name in {None, "help", "-h"}:
        call.write(_USAGE.format(sources="\n".join(f"      {source}" for source in _SOURCES)))
    else:
        call.write(f"Unknown command: {name}\n")
    return 0


def _tap(window: Window, reader: ArgumentReader) -> None:
    x, y = _number(reader), _number(reader)
    window.tap(x, y)


def _swipe(window: Window, reader: ArgumentReader) -> None:
    window.swipe(*_way(reader))


def _drag(window: Window, reader: ArgumentReader) -> None:
    start, end, _ = _way(reader)
    window.drag(start, end)


def _way(reader: ArgumentReader) -> tuple[tuple[int, int], tuple[int, int], int]:
    """Return where a finger goes from and to, and in how many milliseconds."""
    start_x, start_y, end_x, end_y = (_number(reader) for _ in range(4))
    word = reader.next()
    duration = _USUAL_SWIPE if word is None else _whole(word)
    return (start_x, start_y), (end_x, end_y), duration if duration >= 0 else _USUAL_SWIPE


def _text(window: Window, reader: ArgumentReader) -> None:
    text = reader.require().replace("%s", " ")
    if _WITHOUT_KEYS.search(text):
        # Its virtual keyboard (Virtual.kcm) gives null for the whole text.
        message = "Attempt to get length of null array"
        raise ArgumentError(message, "java.lang.NullPointerException")
    # Its virtual keyboard has keys for a line break and a tab, and they do what these keys do.
    for piece in _KEYS_IN_TEXT.split(text):
        key = _KEY_OF.get(piece)
        if key is not None:
            window.press_key(key)
        elif piece:
            window.type_text(piece)


def _keys(window: Window, reader: ArgumentReader) -> None:
    word = reader.require()
    times = 2 if word == "--doubletap" else 1
    if word in {"--longpress", "--doubletap"}:
        word = reader.require()
    for item in (word, *reader.rest()):
        for _ in range(times):
            window.press_key(key_code(item))


def _press(window: Window, reader: ArgumentReader) -> None:
    """Do nothing: a trackball presses what is selected, and a touch screen selects nothing."""
    del window, reader


_ACTIONS: Final[Mapping[str, Callable[[Window, ArgumentReader], None]]] = {
    "tap": _tap,
    "swipe": _swipe,
    "draganddrop": _drag,
    "text": _text,
    "keyevent": _keys,
    "press": _press,
}


def _number(reader: ArgumentReader) -> int:
    """Return a coordinate; `Float.parseFloat` takes fractions too."""
    word = reader.require()
    try:
        return int(float(word))
    except (ValueError, OverflowError):
        raise _not_a_number(word) from None


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise _not_a_number(word) from None


def _not_a_number(word: str) -> ArgumentError:
    return ArgumentError(f'For input string: "{word}"', "java.lang.NumberFormatException")


COMMANDS: Final[Mapping[str, Command]] = {"input": input_command}
