"""`input`: touches and keys, as AOSP's `InputShellCommand` of Android 12 and later reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Final

from droidgate_phone.commands import Command, CommandCall
from droidgate_phone.commands.argument_reader import (
    ArgumentError,
    ArgumentReader,
    NumberError,
    parse_decimal,
    parse_fraction,
)
from droidgate_phone.commands.command_registry import FAILED, refuse
from droidgate_phone.commands.service_commands import print_exception
from droidgate_phone.java.java_text import nearest_float
from droidgate_phone.screen.keys import ENTER, TAB, key_code
from droidgate_phone.screen.window import InputNotModelledError, Window

_SOURCES: Final = (
    "dpad", "gamepad", "joystick", "keyboard", "mouse", "rotaryencoder", "stylus", "touchnavigation",
    "touchpad", "touchscreen", "trackball",
)  # fmt: skip
_USUAL_SWIPE: Final = 300
_INVALID: Final = "java.lang.IllegalArgumentException"
_WITHOUT_KEYS: Final = re.compile(r"[^ -~\t\n]")
_KEYS_IN_TEXT: Final = re.compile(r"([\t\n])")
_KEY_OF: Final = {"\n": ENTER, "\t": TAB}


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
    except NumberError:
        print_exception(call, call.arguments[0], _INVALID, f"Error: Invalid arguments for command: {name}")
        return FAILED
    except ArgumentError as error:
        print_exception(call, call.arguments[0], error.exception, error.message)
        return FAILED
    except InputNotModelledError as error:
        return refuse(call, str(error))


def _run(call: CommandCall, name: str | None, reader: ArgumentReader) -> int:
    action = _ACTIONS.get(name or "")
    if action is not None:
        action(call.system.window, reader)
    elif name in {"roll", "scroll", "motionevent", "keycombination"}:
        return refuse(call, f"input {name}")
    elif name in {None, "help", "-h"}:
        return refuse(call, "the help of input")
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
    duration = _USUAL_SWIPE if word is None else parse_decimal(word)
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
    word: str | None = reader.require()
    times = 1
    while word is not None and word.startswith("--"):
        if word in {"--delay", "--duration"}:
            parse_decimal(reader.require(), long=True)
        elif word == "--doubletap":
            times = 2
        word = reader.next()
    if word is None:
        # Android looks for the key before it asks whether there is one.
        raise ArgumentError("symbolicName", "java.lang.NullPointerException")
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
    """Return a coordinate: a float, cut to an int as Java does it."""
    value = nearest_float(parse_fraction(reader.require()))
    return 0 if math.isnan(value) else int(min(max(value, -(2**31)), 2**31 - 1))


COMMANDS: Final[Mapping[str, Command]] = {"input": input_command}
