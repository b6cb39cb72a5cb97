"""Settings that a user writes in TOML: read into a model, each error at its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from droidgate.model.errors import InputError
from droidgate.parsing.suggestions import suggest_name

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    Model = TypeVar("Model", bound=BaseModel)

_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(data: bytes, model: type[Model], *, path: str) -> Model:
    """Return settings as a model.

    Args:
        data: The bytes of a TOML file.
        model: Its fields are the keys that are allowed.
        path: The file, for errors.

    Raises:
        InputError: it is not TOML, has an unknown key, or a value that is not allowed; all of these at once,
            each with its line.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - not needed without settings

    try:
        text = data.decode()
        values = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("the file is not UTF-8", place=f"{path}:{line}") from None
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(error), path) from None
    except RecursionError:
        raise InputError("the file is nested too deeply", place=path) from None
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InputError.first_of(_problems(error, model, text, path)) from None


def _syntax_error(message: str, path: str) -> InputError:
    found = _PLACE.search(message)
    if found is None:
        return InputError(f"not TOML: {message}", place=path)
    said = message[: found.start()]
    where = f":{found[1]}:{found[2]}" if found[1] else ""
    return InputError(f"not TOML: {said[:1].lower()}{said[1:]}", place=f"{path}{where}")


def _problems(error: ValidationError, model: type[Model], text: str, path: str) -> list[InputError]:
    problems = []
    for detail in error.errors(include_url=False):
        keys = [key for key in detail["loc"] if isinstance(key, int) or key in text]
        name = str(detail["loc"][-1])
        if detail["type"] == "extra_forbidden":
            message, hint = f'unknown key "{name}"', suggest_name(name, _keys_beside(model, detail["loc"]))
        else:
            said = detail["msg"].removeprefix("Value error, ")
            message, hint = f"{_named(keys)}: {said[:1].lower()}{said[1:]}", None
        line = next((line for end in range(len(keys), 0, -1) if (line := line_of(text, keys[:end]))), None)
        problems.append(InputError(message, place=path if line is None else f"{path}:{line}", hint=hint))
    return problems


def _named(keys: Sequence[str | int]) -> str:
    """Return a place in the settings in words: `rule 2, decision`."""
    words = [f" {key + 1}" if isinstance(key, int) else f", {key}" for key in keys]
    return "".join(words).removeprefix(", ")


def _keys_beside(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the keys that are allowed where an unknown one is."""
    for key in location[:-1]:
        if isinstance(key, str):
            model = _model_inside(model.model_fields[key].annotation)
    return list(model.model_fields)


def _model_inside(annotation: Any) -> type[BaseModel]:
    while not hasattr(annotation, "model_fields"):
        annotation = annotation.__args__[0]
    return annotation  # type: ignore[no-any-return]


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """Return the line on which a value starts, counted from 1, None without such a value.

    tomllib says no lines. A file up to the end of a line is TOML again, unless the line ends inside a value:
    the first such beginning that has the value ends with it.
    """
    start = 1
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        try:
            values = tomllib.loads("".join(lines[:number]))
        except tomllib.TOMLDecodeError:
            continue
        if _has(values, keys):
            return start
        start = number + 1
    return None


def _has(values: Any, keys: Sequence[str | int]) -> bool:
    for key in keys:
        if isinstance(key, int):
            if not isinstance(values, list) or key >= len(values):
                return False
        elif not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
