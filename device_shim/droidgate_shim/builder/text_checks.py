"""What agents and users are told of other apps: texts without hidden characters, and marks of commands.

The rules: `droidgate.text_safety`; reference android-runtime 2.3 and 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from droidgate.model.capability import Place
from droidgate.model.findings import Finding, Level, finding_code
from droidgate.parsing.aapt_text import MAX_STRING_RESOURCE_BYTES
from droidgate.text_safety import MAX_NAME, hidden_characters, injection_marks, without_hidden

HIDDEN_TEXT: Final = finding_code(
    "shim-hidden-text",
    "A text of the source app holds characters that nobody sees; the shim leaves them out",
    __name__,
)
COMMANDING_TEXT: Final = finding_code(
    "shim-commanding-text",
    "A text of the source app reads as if it wanted to command a language model; the shim tells it as it is",
    __name__,
)
NAME_SHORTENED: Final = finding_code(
    "shim-name-shortened",
    "The source app's name is too long or has several lines; the shim is called by its beginning in one line",
    __name__,
)
DESCRIPTION_SHORTENED: Final = finding_code(
    "shim-description-shortened",
    "What agents would be told of the shim is too long for an Android manifest; they are told its beginning",
    __name__,
)
LOOK_ALIKE: Final = finding_code(
    "shim-look-alike",
    "An id that can be taken for another one of the same shim; users who allow calls see only the names",
    __name__,
)

MAX_QUESTION_TEXT: Final = 500
"""Characters of a capability's description in the question to the user."""

_LONGEST_DESCRIPTION: Final = MAX_STRING_RESOURCE_BYTES // 2
"""In bytes of UTF-8, none of which takes more than two of the modified UTF-8 of resources."""


def text_findings(
    texts: Iterable[str | None], what: str, *, pointer: str = "", source: Place | None = None
) -> Iterator[Finding]:
    """Yield what is unsafe in the texts of one thing: once that they hide something, once that they command.

    Args:
        texts: The texts.
        what: How messages name the thing.
        pointer: Where it stands.
        source: Where it is declared.
    """
    told = "\n".join(one for one in texts if one)
    hidden = hidden_characters(told)
    if hidden:
        message = f"the texts of {what} hold {', '.join(hidden[:5])}, which nobody sees; they are left out"
        yield _warning(HIDDEN_TEXT, message, pointer, source)
    for reason in injection_marks(told):
        yield _warning(COMMANDING_TEXT, f"a text of {what} is told to agents, and {reason}", pointer, source)


def shown_name(label: str, package: str) -> str:
    """Return an app's name as a shim shows it: one line of what can be seen, not longer than a name.

    Args:
        label: As the app has it.
        package: Its package, the name of an app whose label shows nothing.
    """
    return _beginning(" ".join(without_hidden(label).split()), MAX_NAME) or package


def name_findings(label: str, package: str, *, source: Place | None = None) -> Iterator[Finding]:
    """Yield a finding where `shown_name` leaves out what can be seen of a name, or joins its lines."""
    if len(label.strip().splitlines()) > 1 or len(" ".join(label.split())) > MAX_NAME:
        message = f"the name of {package} is shown as {shown_name(label, package)!r}"
        yield _warning(NAME_SHORTENED, message, "", source)


def shown_description(text: str) -> str:
    """Return what a shim tells agents of itself: a text that a string resource and a manifest can hold."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= _LONGEST_DESCRIPTION:
        return text
    return encoded[:_LONGEST_DESCRIPTION].decode("utf-8", "ignore") + "\u2026"


def description_findings(text: str, what: str, *, source: Place | None = None) -> Iterator[Finding]:
    """Yield a finding where `shown_description` leaves something out."""
    if shown_description(text) != text:
        message = f"the description of {what} has {len(text):,} characters, and only its beginning is told"
        yield _warning(DESCRIPTION_SHORTENED, message, "", source)


def question_texts(title: str | None, description: str | None) -> dict[str, str]:
    """Return what the user is shown of a capability before deciding about a call.

    Args:
        title: As its app declares it, if it does.
        description: Likewise.

    Returns:
        `title` and `description`, each in one line, without hidden characters and not longer than there is
        room for; only what still shows something.
    """
    shown = {
        "title": _beginning(" ".join(without_hidden(title or "").split()), MAX_NAME),
        "description": _beginning(" ".join(without_hidden(description or "").split()), MAX_QUESTION_TEXT),
    }
    return {name: text for name, text in shown.items() if text}


def _beginning(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026"


def look_alike_finding(first: str, second: str, pointer: str, source: Place | None) -> Finding:
    """Return the finding about two ids that look alike."""
    message = f"{second!r} can be taken for {first!r}"
    return _warning(LOOK_ALIKE, message, pointer, source)


def _warning(code: str, message: str, pointer: str, source: Place | None) -> Finding:
    return Finding(code=code, level=Level.WARNING, pointer=pointer, message=message, source=source)
