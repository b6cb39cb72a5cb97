"""Options that many commands take without naming them in their bodies."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

Body = Callable[..., Any]


def add_options(
    body: Body,
    options: Mapping[str, tuple[object, Any]],
    take: Callable[..., object],
    *,
    before: str = "",
    into: str = "",
) -> Body:
    """Return the body of a command that takes more options.

    Args:
        body: The command's body, which does not get them by themselves.
        options: Their annotation and their default, by name.
        take: Called with their values, by name, before the body runs.
        before: Place the options before the command's last option, if it has this name; otherwise last.
        into: A parameter of the body: the options are in its place, and it gets what `take` returns.
    """

    @functools.wraps(body)
    def run(*arguments: Any, **given: Any) -> Any:
        taken = take(**{name: given.pop(name, default) for name, (_, default) in options.items()})
        return body(*arguments, **given, **({into: taken} if into else {}))

    signature = inspect.signature(body, eval_str=True)
    parameters = list(signature.parameters.values())
    names = [*signature.parameters]
    position = names.index(into) if into else len(parameters) - (names[-1:] == [before])
    parameters[position : position + bool(into)] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    annotations = {name: annotation for name, (annotation, _) in options.items()}
    kept = {name: annotation for name, annotation in body.__annotations__.items() if name != into}
    run.__annotations__ = {**kept, **annotations}
    return run
