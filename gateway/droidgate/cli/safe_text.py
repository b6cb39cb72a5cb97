"""Text from apps, shown as text: nothing in it can steer a terminal or hide.

Names and descriptions come from apps and are data. Control characters, escape sequences, characters that turn
the writing direction, invisible ones and lone surrogates are shown by their code.
"""

from __future__ import annotations

import re
from typing import Final

from droidgate.text_safety import code_escape, json_escape

_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
_BLANKS: Final = re.compile(r"[ \t\r\n]+")


def visible(text: str) -> str:
    r"""Return a text whose unsafe characters are written by their code, such as `\x1b`."""
    return _UNSAFE.sub(code_escape, text)


def one_line(text: str) -> str:
    """Return a text in one line, safe to show."""
    return visible(_BLANKS.sub(" ", text).strip())


def cut(text: str, most: int | None) -> str:
    """Return a text cut to a number of characters, where one is given."""
    return text if most is None or len(text) <= most else f"{text[: most - 3].rstrip()}..."


def visible_json(text: str) -> str:
    """Return a JSON text whose unsafe characters are written as JSON escapes; line breaks stay."""
    return _UNSAFE.sub(lambda match: match[0] if match[0] == "\n" else json_escape(match[0]), text)


def ascii_json(text: str) -> str:
    """Return a JSON text with every character outside ASCII written as a JSON escape."""
    return _NOT_ASCII.sub(lambda match: json_escape(match[0]), text)
