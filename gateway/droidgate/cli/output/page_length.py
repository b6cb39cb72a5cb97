"""How long a page on a terminal is: about a screen, or with `--details` everything."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import typer

Details: TypeAlias = Annotated[
    bool, typer.Option("--details", help="Show everything where a terminal gets about a page")
]


class PageLength:
    """How long the pages of the command that runs are.

    Attributes:
        is_short: A terminal gets about a screen of them.
    """

    is_short = False


def shows_short_pages() -> bool:
    """Return whether a page that is longer than a screen is shortened on a terminal."""
    return PageLength.is_short


def choose_page_length(*, details: bool) -> None:
    """Let the command that runs show short pages on a terminal, or whole ones."""
    PageLength.is_short = not details


def show_whole_pages() -> None:
    """Begin and end a run with whole pages, as commands without `--details` show."""
    choose_page_length(details=True)


def with_details(body: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command's body that takes `--details` as well, and shows short pages without it."""

    @functools.wraps(body)
    def run(*arguments: Any, details: bool = False, **options: Any) -> Any:
        choose_page_length(details=details)
        return body(*arguments, **options)

    signature = inspect.signature(body, eval_str=True)
    added = inspect.Parameter("details", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Details)
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), added]
    )
    run.__annotations__ = {**body.__annotations__, "details": Details}
    return run
