"""Text from apps, shown as text: nothing in it can steer a terminal or hide.

Names and descriptions come from apps and are data. Their hidden characters
(`droidgate_mappings.text_safety`), tabs and line ends are shown by their code.
"""

from __future__ import annotations

import re
from typing import Final

from droidgate_mappings import text_safety
from droidgate_mappings.text_safety import one_line

__all__ = ["ascii_json", "cut", "one_line", "visible"]

_LINE_CONTROL: Final = re.compile("[\t\n\r]")
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")


def visible(text: str) -> str:
    r"""Return a text whose unsafe characters are written by their code, such as `\x1b`."""
    return _LINE_CONTROL.sub(lambda match: text_safety.escaped_character(match[0]), text_safety.visible(text))


def cut(text: str, most: int | None) -> str:
    """Return a text cut to a number of characters, where one is given."""
    return text if most is None or len(text) <= most else f"{text[: most - 3].rstrip()}..."


def ascii_json(text: str) -> str:
    """Return a JSON text with every character outside ASCII written as a JSON escape."""
    return _NOT_ASCII.sub(lambda match: text_safety.json_escape(match[0]), text)
