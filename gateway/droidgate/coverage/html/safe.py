"""What makes texts of apps harmless in a page, in a script element and in a command that people copy."""

from __future__ import annotations

import shlex
from typing import Any, Final

from droidgate.computer.optional_packages import need
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.text_safety import visible, visible_json

_ENDS_TELL: Final = frozenset("/#")
_IN_SCRIPT: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def shown(text: str) -> str:
    r"""Return a text whose hidden characters are written by their code, such as `\u202e`."""
    return visible(text)


def shown_json(text: str) -> str:
    """Return a JSON text of the same meaning whose hidden characters are JSON escapes."""
    return visible_json(text)


def ends_tell(text: str | None) -> bool:
    """Return whether a long text loses its start: of paths and qualified names the end matters."""
    return text is not None and not _ENDS_TELL.isdisjoint(text)


def shortened(text: str, most: int) -> str:
    """Return a text, beyond so many characters with an ellipsis, as it is shown."""
    return shown(text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026")


def shortened_name(text: str, most: int) -> str:
    """Return a name as `shortened` does, of a path or qualified name the end."""
    if len(text) <= most or not ends_tell(text):
        return shortened(text, most)
    return shown(f"\u2026{text[1 - most :].lstrip()}")


def script_json(value: Json) -> str:
    """Return a value as JSON that may be in a script element.

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


def marked(text: str | None) -> Any:
    """Return one of our own sentences as markup: text between backticks is code."""
    markup: Any = need("markupsafe", "coverage").Markup
    parts = shown(text or "").split("`")
    return markup().join(
        markup("<code>{}</code>" if at % 2 else "{}").format(part) for at, part in enumerate(parts)
    )
