"""How long a page is: about a screen, or with `--details` everything.

A command prints either what it was asked for, such as the findings of `lint`, or a report of its work, such
as what `convert` lost. A report is a page wherever it goes. What was asked for is a page on a terminal; a
pipe gets all of it, since a program may read it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any, TypeAlias

import typer

Details: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Show everything where a terminal gets about a page")
]
DetailsOfReport: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Show the whole report in place of about a page")
]


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


def with_details(body: Callable[..., Any]) -> Callable[..., Any]:
    """Return the body of a command that shows what it was asked for, with the option `--details`."""
    return _with_details(body, PageLength.SHORT_ON_TERMINALS, Details)


def with_details_of_report(body: Callable[..., Any]) -> Callable[..., Any]:
    """Return the body of a command that reports its work, with the option `--details`."""
    return _with_details(body, PageLength.SHORT, DetailsOfReport)


def _with_details(body: Callable[..., Any], usual: PageLength, annotation: object) -> Callable[..., Any]:
    @functools.wraps(body)
    def run(*arguments: Any, details: bool = False, **options: Any) -> Any:
        choose_page_length(PageLength.WHOLE if details else usual)
        return body(*arguments, **options)

    signature = inspect.signature(body, eval_str=True)
    added = inspect.Parameter("details", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=annotation)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), added]
    )
    run.__annotations__ = {**body.__annotations__, "details": annotation}
    return run
