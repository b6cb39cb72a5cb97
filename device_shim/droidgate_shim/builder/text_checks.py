"""Texts of other apps that agents and users see: texts without hidden characters, and names that can be read.

The rules: `droidgate_mappings.text_safety`; reference android-runtime 2.3 and 3.1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from droidgate_mappings.model.capability import Capability, Place, Provider, reachable_definitions
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.text.aapt_text import MAX_STRING_RESOURCE_BYTES
from droidgate_mappings.text_safety import MAX_NAME, without_hidden
from droidgate_mappings.text_safety.marks import HIDDEN_CHARACTERS, TextMark, text_marks
from droidgate_shim.builder.source_app import SourceApp

_code = partial(finding_code, module=__name__)

HIDDEN_TEXT: Final = _code(
    "shim-hidden-text", "A text of the source app has hidden characters; the shim removes them"
)
NAME_SHORTENED: Final = _code(
    "shim-name-shortened",
    "The source app's name is too long or has several lines; the shim is called by its beginning in one line",
)
DESCRIPTION_SHORTENED: Final = _code(
    "shim-description-shortened",
    "The shim's description is too long for an Android manifest; agents see its beginning",
)
LOOK_ALIKE: Final = _code(
    "shim-look-alike",
    "An id that can be taken for another one of the same shim; users who allow calls see only the names",
)

_MOST_FIELDS: Final = 3

MAX_QUESTION_TEXT: Final = 500
"""Characters of a capability's description in the question to the user."""

_LONGEST_RESOURCE: Final = MAX_STRING_RESOURCE_BYTES // 2
"""In bytes of UTF-8, none of which takes more than two of the modified UTF-8 of resources."""


def capability_marks(provider: Provider, capability: Capability) -> tuple[TextMark, ...]:
    """Return the marks on the texts of a capability, and of the definitions that it refers to.

    Returns:
        The marks; each names the capability, and pointers begin below it or at `/definitions`.
    """
    reached = reachable_definitions(capability, provider.definitions)
    alone = Provider(
        protocol=provider.protocol,
        package=provider.package,
        component=provider.component,
        source=provider.source,
        definitions={
            name: definition for name, definition in provider.definitions.items() if name in reached
        },
        capabilities=(capability,),
    )
    changes = {"capability": capability.id, "source": capability.source or provider.source}
    return tuple(
        text_mark.changed({**changes, "pointer": text_mark.pointer.removeprefix("/capabilities/0")})
        for text_mark in text_marks(alone)
    )


def app_marks(app: SourceApp, source: Place | None) -> tuple[TextMark, ...]:
    """Return the marks on what an app says about itself."""
    return tuple(
        text_marks(
            Provider(
                protocol="",
                package=app.package,
                name=app.label,
                instructions=app.instructions,
                description=app.description,
                source=source,
            )
        )
    )


def text_findings(marks: Iterable[TextMark], what: str) -> Iterator[Finding]:
    """Yield a finding where texts have hidden characters.

    Args:
        marks: The marks on the texts of one thing.
        what: The thing, as the message names it.
    """
    hidden = {
        f"{mark.field} {mark.message.partition(': ')[2]}": mark
        for mark in marks
        if mark.code == HIDDEN_CHARACTERS
    }
    if hidden:
        more = f" and {len(hidden) - _MOST_FIELDS} more" if len(hidden) > _MOST_FIELDS else ""
        message = f"hidden characters are removed from texts of {what}: "
        message += ", ".join([*hidden][:_MOST_FIELDS]) + more
        yield _warning(HIDDEN_TEXT, message, "", next(iter(hidden.values())).source)


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
    """Return a shim's description for agents: a text that a string resource and a manifest can hold."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= _LONGEST_RESOURCE:
        return text
    return encoded[:_LONGEST_RESOURCE].decode("utf-8", "ignore") + "\u2026"


def description_findings(text: str, what: str, *, source: Place | None = None) -> Iterator[Finding]:
    """Yield a finding where `shown_description` leaves something out."""
    if shown_description(text) != text:
        message = f"the description of {what} has {len(text):,} characters; agents see only its beginning"
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
    texts = {
        "title": _beginning(" ".join(without_hidden(title or "").split()), MAX_NAME),
        "description": _beginning(" ".join(without_hidden(description or "").split()), MAX_QUESTION_TEXT),
    }
    return {name: text for name, text in texts.items() if text}


def _beginning(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}\u2026"


def look_alike_finding(first: str, second: str, pointer: str, source: Place | None) -> Finding:
    """Return the finding about two ids that look alike."""
    message = f"{second!r} can be taken for {first!r}"
    return _warning(LOOK_ALIKE, message, pointer, source)


def _warning(code: str, message: str, pointer: str, source: Place | None) -> Finding:
    return Finding(code=code, level=Level.WARNING, pointer=pointer, message=message, source=source)
