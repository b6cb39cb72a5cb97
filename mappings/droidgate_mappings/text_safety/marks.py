"""Marks on the texts of a provider: which app, which field, and what deserves a second look.

A mark is a hint (docs/concepts/text-marks.md). The boundary is the policy of calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from droidgate_mappings.model.capability import Place, Provider
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json, pointer_name, pointer_token
from droidgate_mappings.model.leaves import leaves_of_provider
from droidgate_mappings.model.types import Frozen
from droidgate_mappings.text_safety import MAX_DESCRIPTION, MAX_NAME, hidden_characters, look_alikes

_code = partial(finding_code, module=__name__)

HIDDEN_CHARACTERS: Final = _code(
    "hidden-characters", "A text has characters that are invisible or change what is visible"
)
LOOK_ALIKE_NAME: Final = _code("look-alike-name", "A name looks like another name of the same provider")
OVER_LONG_TEXT: Final = _code(
    "over-long-text", "A name or description is longer than a model should be shown"
)

TOO_MANY_MARKS: Final = _code("too-many-marks", "A provider has more marks on its texts than are listed")

_MOST_CHARACTERS: Final = 1_000_000
"""Of the marks of one provider, all together. Long names are repeated in the pointers of what is inside."""

_HINTS: Final = {
    HIDDEN_CHARACTERS: "remove them",
    LOOK_ALIKE_NAME: "rename one of them",
}
_OF_OTHER_FIELDS: Final = 100
_MAX_SHOWN: Final = 8
_NOT_TEXT: Final = ("/kind", "/package", "/component")
_NAMED: Final = frozenset(("properties", "definitions"))
_LEFT_OUT: Final = frozenset(("type", "keywords", "extensions"))
_CAPABILITY_TOKENS: Final = 3


class TextMark(Frozen):
    """A mark on one text.

    Attributes:
        code: `hidden-characters`, `look-alike-name`, `over-long-text` or `too-many-marks`.
        level: `warning`, or `note` for texts that are only long.
        package: The app that declares the text, or None where the source does not say.
        component: The component that declares it, or None.
        capability: The id of the capability that the text belongs to; None for texts of the provider.
        field: The field in words, such as `description` or `input.city.description`.
        pointer: JSON Pointer of the field in the provider.
        message: What is marked, without the place.
        source: Where the text is declared, or None.
    """

    code: str
    level: Level
    package: str | None
    component: str | None
    capability: str | None
    field: str
    pointer: str
    message: str
    source: Place | None = None

    @property
    def place(self) -> str:
        """The capability and the field."""
        return " ".join(part for part in (self.capability, self.field) if part)

    def as_finding(self, *, with_place: bool = True) -> Finding:
        """Return the mark as a finding.

        Args:
            with_place: Name the app, the capability and the field in the message.
        """
        place = ": ".join(part for part in (self.package, self.place) if part)
        return Finding(
            code=self.code,
            level=self.level,
            pointer=self.pointer,
            message=f"{place}: {self.message}" if with_place else self.message,
            hint=_HINTS.get(self.code),
            source=self.source,
        )


def text_marks(provider: Provider) -> Iterator[TextMark]:
    """Yield the marks on all texts of a provider: names, descriptions, values, and facts of one format.

    The last one is `too-many-marks` where there are more than fit into a million characters.
    """
    room = _MOST_CHARACTERS
    for mark in _all_marks(provider):
        room -= 2 * len(mark.pointer) + len(mark.message) + len(mark.capability or "") + _OF_OTHER_FIELDS
        if room < 0:
            yield _mark(
                provider, "", TOO_MANY_MARKS, Level.WARNING, "the provider has more marks than are listed"
            )
            return
        yield mark


def _all_marks(provider: Provider) -> Iterator[TextMark]:
    marks: dict[tuple[str, bool], tuple[tuple[str, Level, str], ...]] = {}
    for pointer, text in _texts_of(provider):
        is_name = pointer.endswith("/id")
        if (text, is_name) not in marks:
            marks[text, is_name] = tuple(_marks_of_text(text, MAX_NAME if is_name else MAX_DESCRIPTION))
        for code, level, message in marks[text, is_name]:
            yield _mark(provider, pointer, code, level, message)
    numbers: dict[str, int] = {}
    for number, capability in enumerate(provider.capabilities):
        numbers.setdefault(capability.id, number)
    for first, name in look_alikes(numbers):
        message = f"{name!a} looks like {first!a}"
        yield _mark(provider, f"/capabilities/{numbers[name]}/id", LOOK_ALIKE_NAME, Level.WARNING, message)


def _mark(provider: Provider, pointer: str, code: str, level: Level, message: str) -> TextMark:
    tokens = pointer.split("/")
    is_inside = len(tokens) > _CAPABILITY_TOKENS and tokens[1] == "capabilities"
    capability = provider.capabilities[int(tokens[2])] if is_inside else None
    source = capability.source if capability is not None else None
    return TextMark(
        code=code,
        level=level,
        package=provider.package,
        component=provider.component,
        capability=capability.id if capability is not None else None,
        field=_field(tokens[_CAPABILITY_TOKENS if is_inside else 1 :]),
        pointer=pointer,
        message=message,
        source=source or provider.source,
    )


def _field(tokens: list[str]) -> str:
    words: list[str] = []
    ends_with_name = False
    remaining_tokens = iter(tokens)
    for token in remaining_tokens:
        ends_with_name = token in _NAMED
        if ends_with_name:
            words.append(pointer_name(next(remaining_tokens, "")))
        elif token not in _LEFT_OUT:
            words.append(pointer_name(token))
    return f"name of {'.'.join(words)}" if ends_with_name else ".".join(words)


def _texts_of(provider: Provider) -> Iterator[tuple[str, str]]:
    """Yield each text with its pointer; a property's or definition's name has the pointer of that part."""
    for name in provider.definitions:
        yield f"/definitions/{pointer_token(name)}", name
    for pointer, value in leaves_of_provider(provider):
        parent, _, last = pointer.rpartition("/")
        if last == "required":
            group, _, name = parent.rpartition("/")
            if group.endswith("/properties"):
                yield parent, pointer_name(name)
        if isinstance(value, str):
            if not pointer.endswith(_NOT_TEXT):
                yield pointer, value
        elif isinstance(value, list | dict):
            yield from _texts_of_value(pointer, value)


def _texts_of_value(pointer: str, value: Json) -> Iterator[tuple[str, str]]:
    """Yield the texts inside of a JSON value, names of its members too."""
    pending = [(pointer, value)]
    while pending:
        at, item = pending.pop()
        if isinstance(item, str):
            yield at, item
        elif isinstance(item, list | tuple):
            pending.extend((f"{at}/{number}", part) for number, part in reversed(list(enumerate(item))))
        elif isinstance(item, dict):
            for name, part in reversed(list(item.items())):
                pending.extend(((f"{at}/{pointer_token(name)}", part), (at, name)))


def _marks_of_text(text: str, longest: int) -> Iterator[tuple[str, Level, str]]:
    hidden = hidden_characters(text)
    if hidden:
        more = f" and {len(hidden) - _MAX_SHOWN} more" if len(hidden) > _MAX_SHOWN else ""
        message = f"has hidden characters: {', '.join(hidden[:_MAX_SHOWN])}{more}"
        yield HIDDEN_CHARACTERS, Level.WARNING, message
    if len(text) > longest:
        yield OVER_LONG_TEXT, Level.NOTE, f"has {len(text):,} characters, more than {longest:,}"
