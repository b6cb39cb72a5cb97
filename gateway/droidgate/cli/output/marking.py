"""Marks on the texts of apps, as commands show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from droidgate.cli.output.pages import Block, Heading, Line
from droidgate.cli.output.safe_text import cut, one_line
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.text_safety.marks import OVER_LONG_TEXT, TextMark, text_marks
from droidgate_mappings.translate import provider_name

_MOST_LINES: Final = 12
_MOST_PLACES: Final = 3
_LONGEST_PLACE: Final = 60
_TOO_LONG: Final = "longer than a model should be shown"


def marks_of_all(providers: Iterable[Provider]) -> tuple[TextMark, ...]:
    """Return the marks on the texts of providers, in their order."""
    return tuple(mark for provider in providers for mark in text_marks(provider))


def provider_marks_page(providers: Iterable[Provider]) -> list[Block]:
    """Return the marks of providers as `marks_page` does."""
    return marks_page((provider_name(provider), tuple(text_marks(provider))) for provider in providers)


def marks_page(marked: Iterable[tuple[str, Sequence[TextMark]]]) -> list[Block]:
    """Return marks under a heading, nothing where there are none.

    Each provider has a line for each kind of mark, with the fields it is about.

    Args:
        marked: Names of providers or apps, as they are shown, with their marks.
    """
    lines: list[tuple[str, str]] = []
    for name, marks in marked:
        places: dict[str, dict[str, None]] = {}
        for mark in marks:
            message = _TOO_LONG if mark.code == OVER_LONG_TEXT else mark.message
            places.setdefault(message, {})[mark.place] = None
        lines += [(name, _line(message, list(fields))) for message, fields in places.items()]
    if not lines:
        return []
    blocks: list[Block] = [Heading("Marks on texts of apps (hints only)")]
    last = None
    for name, line in lines[:_MOST_LINES]:
        if name != last:
            blocks.append(Line(name, 1))
            last = name
        blocks.append(Line(line, 2))
    if len(lines) > _MOST_LINES:
        blocks.append(Line(f"and {len(lines) - _MOST_LINES} more; --json lists all of them", 1))
    return [*blocks, Line()]


def _line(message: str, places: Sequence[str]) -> str:
    place_list = ", ".join(cut(one_line(place), _LONGEST_PLACE) for place in places[:_MOST_PLACES])
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"{place_list}{more}: {one_line(message)}" if place_list else one_line(message)
