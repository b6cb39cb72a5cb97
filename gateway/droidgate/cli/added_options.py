"""Options that many commands take without naming them in their bodies."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

Body = Callable[..., Any]


def add_options(
    body: Body, options: Mapping[str, tuple[object, Any]], take: Callable[..., None], *, before: str = ""
) -> Body:
    """Return the body of a command that takes more options.

    Args:
        body: The command's body, which does not get them.
        options: Their annotation and their default, by name.
        take: Called with their values, by name, before the body runs.
        before: Place the options before the command's last option, if it has this name; otherwise last.
    """

    @functools.wraps(body)
    def run(*arguments: Any, **given: Any) -> Any:
        take(**{name: given.pop(name, default) for name, (_, default) in options.items()})
        return body(*arguments, **given)

    signature = inspect.signature(body, eval_str=True)
    parameters = list(signature.parameters.values())
    position = len(parameters) - ([*signature.parameters][-1:] == [before])
    parameters[position:position] = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    annotations = {name: annotation for name, (annotation, _) in options.items()}
    run.__annotations__ = {**body.__annotations__, **annotations}
    return run
