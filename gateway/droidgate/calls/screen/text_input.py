"""How a text reaches a field: as key events, or through an input method for what has no keys.

`input text` types what Android's virtual keyboard has keys for: the printable characters of ASCII. Its Enter
and Tab keys leave a field of one line instead of writing into it, and a text with a character that has no key
fails as a whole (reference mobile-agent 5). The shell has no command for the clipboard, so other texts need
an input method that listens to the shell: ADBKeyBoard, where it is installed.
"""

from __future__ import annotations

import base64
import re
from typing import Final, Literal

TypedBy = Literal["keys", "input-method"]

KEYBOARD: Final = "com.android.adbkeyboard/.AdbIME"
"""ADBKeyBoard's input method (github.com/senzhk/ADBKeyBoard)."""

LONGEST_TEXT: Final = 10_000
"""Characters of one text; a key event takes some milliseconds."""

_KEYS: Final = re.compile(r"[ -~]*")
_BLANK: Final = "%s"
_END: Final = "123"
_DELETE: Final = "67"
_DELETE_FORWARD: Final = "112"


def way_of(text: str) -> TypedBy:
    """Return how a text is typed."""
    return "keys" if _KEYS.fullmatch(text) else "input-method"


def pieces_of(text: str) -> list[str]:
    """Return a text of keys in pieces that `input text` types as they are: it types `%s` as a blank."""
    first, *others = text.split(_BLANK)
    pieces = [first]
    for other in others:
        pieces[-1] += _BLANK[0]
        pieces.append(_BLANK[1] + other)
    return [piece for piece in pieces if piece]


def keys_that_clear(text: str) -> list[str]:
    """Return the keys that delete a field's text, wherever the cursor is: as many as it has characters."""
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if not units:
        return []
    # In a field of several lines the end key goes to the end of a line only.
    forward = [_DELETE_FORWARD] * units if "\n" in text else []
    return [_END, *[_DELETE] * units, *forward]


def keyboard_text(text: str) -> str:
    """Return a text as ADBKeyBoard's broadcast `ADB_INPUT_B64` takes it.

    Raises:
        UnicodeEncodeError: it holds half of a surrogate pair.
    """
    return base64.b64encode(text.encode()).decode("ascii")
