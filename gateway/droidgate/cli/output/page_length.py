"""How long a page is: about a screen, or with `--details` everything.

A command prints either requested content, such as the findings of `lint`, or a report of its work, such as
what `convert` lost. A report is always shortened to a page. Requested content is shortened on a terminal
only: a program may read a pipe.
"""

from __future__ import annotations

from enum import Enum


class PageLength(Enum):
    """Where a page that is longer than a screen is shortened."""

    WHOLE = "nowhere"
    SHORT_ON_TERMINALS = "on terminals"
    SHORT = "everywhere"


class _Chosen:
    """The page length of the command that runs."""

    length = PageLength.WHOLE


def is_short_page(*, on_terminal: bool) -> bool:
    """Return whether a page that is longer than a screen is shortened.

    Args:
        on_terminal: It goes to a terminal.
    """
    return _Chosen.length is PageLength.SHORT or (
        on_terminal and _Chosen.length is PageLength.SHORT_ON_TERMINALS
    )


def shows_details() -> bool:
    """Return whether a report has its details, not only its summary."""
    return _Chosen.length is not PageLength.SHORT


def choose_page_length(length: PageLength) -> None:
    """Choose how long the pages of the command that runs are; a run begins with whole pages."""
    _Chosen.length = length
