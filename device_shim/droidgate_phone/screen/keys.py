"""Keys by name and number (`android.view.KeyEvent`)."""

from __future__ import annotations

import string
from typing import Final

from droidgate_phone.java.java_text import java_int

HOME: Final = 3
BACK: Final = 4
TAB: Final = 61
ENTER: Final = 66
DELETE: Final = 67
UNKNOWN: Final = 0
_LAST: Final = 340
"""The last key of Android 17."""

_NAMES: Final = {
    "HOME": HOME, "BACK": BACK, "TAB": TAB, "SPACE": 62, "ENTER": ENTER, "DEL": DELETE, "NUMPAD_ENTER": 160,
    "COMMA": 55, "PERIOD": 56, "MINUS": 69, "EQUALS": 70, "SEMICOLON": 74, "APOSTROPHE": 75, "SLASH": 76,
    "AT": 77, "PLUS": 81, "STAR": 17, "POUND": 18, "FORWARD_DEL": 112, "MOVE_END": 123, "WAKEUP": 224,
    "MENU": 82, "POWER": 26, "SLEEP": 223, "APP_SWITCH": 187, "MOVE_HOME": 122, "DPAD_UP": 19,
    "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23, "ESCAPE": 111,
    "VOLUME_UP": 24, "VOLUME_DOWN": 25,
    "SEARCH": 84, "PASTE": 279, "CAMERA": 27, "PAGE_UP": 92, "PAGE_DOWN": 93,
    **{digit: 7 + at for at, digit in enumerate(string.digits)},
    **{letter: 29 + at for at, letter in enumerate(string.ascii_uppercase)},
}  # fmt: skip

TYPED: Final = {
    **{_NAMES[digit]: digit for digit in string.digits},
    **{_NAMES[item]: item.lower() for item in string.ascii_uppercase},
    62: " ", 55: ",", 56: ".", 69: "-", 70: "=", 74: ";", 75: "'", 76: "/", 77: "@", 81: "+", 17: "*",
    18: "#",
}  # fmt: skip
"""What a key types."""

WITHOUT_EFFECT: Final = frozenset({UNKNOWN, 112, 123, 224})
"""Keys that change nothing here: unknown ones; deleting forward and going to the end, since text is always
typed at its end; waking a phone that does not sleep."""

CONFIRMING: Final = frozenset({ENTER, 160})
"""Keys that end the input of a line."""


def key_code(text: str) -> int:
    """Return the number of a key that is written as a name, with or without `KEYCODE_`, or as a number; 0 for
    anything else (`KeyEvent.keyCodeFromString`).
    """
    number = java_int(text)
    if number is not None and UNKNOWN <= number <= _LAST:
        return number
    return _NAMES.get(text.removeprefix("KEYCODE_"), UNKNOWN)
