"""What makes texts of apps harmless in a page, in a script element and in a command that people copy."""

from __future__ import annotations

import shlex
from typing import Any, Final

from droidgate.model.json_values import Json, one_line_json
from droidgate.text_safety import HIDDEN, code_escape, json_escape

_IN_SCRIPT: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def shown(text: str) -> str:
    r"""Return a text whose hidden characters are written by their code, such as `\u202e`."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(code_escape, text)


def shown_json(text: str) -> str:
    """Return a JSON text of the same meaning whose hidden characters are JSON escapes."""
    if text.isascii() and text.isprintable():
        return text
    return HIDDEN.sub(_json_escape, text)


def shortened(text: str, most: int) -> str:
    """Return a text, beyond so many characters with an ellipsis, as it is shown."""
    return shown(text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026")


def script_json(value: Json) -> str:
    """Return a value as JSON that may stand in a script element.

    It has no `<`, `>` or `&`, so nothing in it ends the element, begins a comment or a script.
    """
    return one_line_json(value).translate(_IN_SCRIPT)


def shell_word(text: str) -> str:
    """Return a text as one word of a POSIX shell that no command takes for an option."""
    return shlex.quote(shown(f"./{text}" if text.startswith("-") else text))


def finalized(value: Any) -> Any:
    """Return what a template shows of a value: texts by `shown`, nothing for None."""
    if value is None:
        return ""
    return shown(value) if type(value) is str else value


def _json_escape(match: Any) -> str:
    character: str = match[0]
    return character if character in "\n\t\r" else json_escape(character)
