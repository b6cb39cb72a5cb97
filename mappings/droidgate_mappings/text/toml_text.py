"""Settings that a user writes in TOML: read into a model, each error at its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from droidgate_mappings.model.errors import InputError
from droidgate_mappings.text.nearest_names import closest_name, suggest_name

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

    Model = TypeVar("Model", bound=BaseModel)

_MOST_WORK: Final = 4
"""How often the length of a text is parsed to find a line in it."""

_MOST_DOTS: Final = 500
"""In a line: tomllib takes quadratic time for a key of many parts."""

_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def load_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML document from any source.

    Raises:
        ValueError: it is not TOML, or a line has too many dots; the text ends with the place, as tomllib's.
        RecursionError: it is nested too deeply.
    """
    if text.count(".") > _MOST_DOTS:
        for number, line in enumerate(text.split("\n"), 1):
            if line.count(".") > _MOST_DOTS:
                raise ValueError(f"More than {_MOST_DOTS} dots in a line (at line {number}, column 1)")
    return tomllib.loads(text)


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
    from pydantic import ValidationError

    try:
        text = data.decode()
        values = load_toml(text)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("the file is not UTF-8", place=f"{path}:{line}") from None
    except ValueError as error:
        raise _syntax_error(str(error), path) from None
    except RecursionError:
        raise InputError("the file is nested too deeply", place=path) from None
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise InputError.first_of(_problems(error, model, text, path)) from None


def _syntax_error(message: str, path: str) -> InputError:
    match = _PLACE.search(message)
    if match is None:
        return InputError(f"not TOML: {message}", place=path)
    reason = message[: match.start()]
    where = f":{match[1]}:{match[2]}" if match[1] else ""
    return InputError(f"not TOML: {reason[:1].lower()}{reason[1:]}", place=f"{path}{where}")


def _problems(error: ValidationError, model: type[Model], text: str, path: str) -> list[InputError]:
    problems = []
    for detail in error.errors(include_url=False):
        keys = [key for key in detail["loc"] if isinstance(key, int) or key in text]
        name = str(detail["loc"][-1])
        hint: str | None = None
        if detail["type"] == "extra_forbidden":
            message, hint = f'unknown key "{name}"', suggest_name(name, _keys_beside(model, detail["loc"]))
        elif detail["type"] == "missing":
            message = f'{_place_in_words(keys)}: the key "{name}" is missing'.removeprefix(": ")
        elif detail["type"] in {"literal_error", "enum"} and isinstance(detail["input"], str):
            allowed = detail["ctx"]["expected"]
            message = f'{_place_in_words(keys)}: "{detail["input"]}" is not {allowed}'
            closest = closest_name(detail["input"], re.findall("'([^']*)'", allowed))
            hint = closest and f'did you mean "{closest}"?'
        else:
            reason = detail["msg"].removeprefix("Value error, ")
            message = f"{_place_in_words(keys)}: {reason[:1].lower()}{reason[1:]}"
        line = next((line for end in range(len(keys), 0, -1) if (line := line_of(text, keys[:end]))), None)
        problems.append(InputError(message, place=path if line is None else f"{path}:{line}", hint=hint))
    return problems


def _place_in_words(keys: Sequence[str | int]) -> str:
    """Return a place in the settings in words: `rule 2, decision`."""
    words = [f" {key + 1}" if isinstance(key, int) else f", {key}" for key in keys]
    return "".join(words).removeprefix(", ")


def _keys_beside(model: type[BaseModel], location: Sequence[str | int]) -> list[str]:
    """Return the keys that are allowed where an unknown one is."""
    for key in location[:-1]:
        if isinstance(key, str):
            model = _model_inside(model.model_fields[key].annotation)
    return [field.alias or name for name, field in model.model_fields.items()]


def _model_inside(annotation: Any) -> type[BaseModel]:
    while not hasattr(annotation, "model_fields"):
        annotation = annotation.__args__[0]
    return annotation  # type: ignore[no-any-return]


def line_of(text: str, keys: Sequence[str | int]) -> int | None:
    """Return the line on which a value starts, counted from 1; None without such a value.

    Args:
        text: A TOML document.
        keys: Names of tables and keys, and positions in arrays of tables or values.

    tomllib says no lines, so each statement is parsed alone: a header, or a key with its value, whose lines
    are added until they are TOML. Work is bounded by the length of the text: a value of very many lines
    hides the lines below it.
    """
    place = tuple(keys)
    arrays: dict[tuple[str | int, ...], int] = {}
    table: tuple[str | int, ...] = ()
    for number, statement in _statements(text):
        if not statement.lstrip().startswith("["):
            inner = place[len(table) :]
            if inner and place[: len(table)] == table and _has(tomllib.loads(statement), inner):
                return number
            continue
        table = _table_of(statement, arrays)
        if table[: len(place)] == place:
            return number
    return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Yield the headers and the keys with their values, each with its first line."""
    work = _MOST_WORK * len(text)
    start, statement = 1, ""
    for number, line in enumerate(text.split("\n"), 1):
        start = start if statement else number
        statement += f"{line}\n"
        work -= len(statement)
        if work < 0:
            return
        try:
            is_empty = not tomllib.loads(statement)
        except (ValueError, RecursionError):
            # It ends inside of a value.
            continue
        if not is_empty:
            yield start, statement
        statement = ""


def _table_of(header: str, arrays: dict[tuple[str | int, ...], int]) -> tuple[str | int, ...]:
    """Return the table that a header begins, and count the elements of arrays of tables in `arrays`."""
    table: tuple[str | int, ...] = ()
    value: Any = tomllib.loads(header)
    while isinstance(value, dict) and value:
        name, value = next(iter(value.items()))
        table = (*table, name)
        if isinstance(value, list):
            arrays[table] = arrays.get(table, -1) + 1
        if table in arrays:
            table = (*table, arrays[table])
    return table


def _has(values: Any, keys: Sequence[str | int]) -> bool:
    for key in keys:
        if isinstance(key, int):
            if not isinstance(values, list) or key >= len(values):
                return False
        elif not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True
