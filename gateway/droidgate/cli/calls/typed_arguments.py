"""The arguments of a call as users write them, `NAME=VALUE` or `--args JSON`; its outputs as lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from droidgate.cli.output.json_output import json_text
from droidgate.cli.output.pages import Line
from droidgate.cli.output.safe_text import one_line
from droidgate.shims.host_messages import MAX_PAYLOAD_BYTES
from droidgate.sources import STANDARD_INPUT
from droidgate_mappings.model.errors import InputError, UsageError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.text.json_text import parse_json

_EXAMPLE: Final = 'such as --args \'{"date": "2026-03-01"}\', or date=2026-03-01 without --args'


def read_arguments(text: str, values: Iterable[str] = ()) -> dict[str, Json]:
    """Return the arguments by name.

    Args:
        text: A JSON object; `-` reads it from standard input.
        values: `NAME=TEXT` or `NAME:=JSON` each; the text becomes what the capability declares.

    Raises:
        UsageError: the text is not a JSON object, or a value has no name, is not JSON, or is there twice.
    """
    try:
        value = parse_json(_standard_input() if text == STANDARD_INPUT else text, path="--args")
    except InputError as error:
        raise UsageError(error.message, place=error.place, hint=_EXAMPLE) from None
    if not isinstance(value, dict):
        raise UsageError("--args is not a JSON object", hint=_EXAMPLE)
    for written in values:
        name, equals, value_text = written.partition("=")
        is_json = name.endswith(":")
        name = name.removesuffix(":")
        if not name or not equals:
            message = f"argument {written!r} is not NAME=VALUE"
            raise UsageError(message, hint="such as date=2026-03-01 or days:=3")
        if name in value:
            hint = "write it once, as NAME=VALUE, in --args or with --file"
            raise UsageError(f"duplicate argument {name!r}", hint=hint)
        value[name] = _json_of(name, value_text) if is_json else value_text
    return value


def _json_of(name: str, text: str) -> Json:
    try:
        return parse_json(text, path=f"{name}:=")
    except InputError as error:
        hint = f"write {name}={text} where it is text"
        raise UsageError(error.message, place=error.place, hint=hint) from None


def read_files(pairs: Iterable[str], given: Mapping[str, Json]) -> dict[str, Path]:
    """Return the files that a call takes along, by argument.

    Args:
        pairs: `NAME=@FILE` each.
        given: The arguments that have a value already.

    Raises:
        UsageError: one is written otherwise, is there twice, or has a value already.
    """
    files: dict[str, Path] = {}
    for pair in pairs:
        name, separator, path = pair.partition("=@")
        if not name or not separator or not path:
            raise UsageError(f"--file {pair!r} is not NAME=@FILE", hint="such as --file path=@report.pdf")
        if name in files or name in given:
            hint = "write it once, as NAME=VALUE, in --args or with --file"
            raise UsageError(f"duplicate argument {name!r}", hint=hint)
        files[name] = Path(path)
    return files


def _standard_input() -> bytes:
    data = sys.stdin.buffer.read(MAX_PAYLOAD_BYTES + 1)
    if len(data) > MAX_PAYLOAD_BYTES:
        raise UsageError(f"--args is longer than {MAX_PAYLOAD_BYTES} bytes, which no request can be")
    return data


def output_lines(outputs: Mapping[str, Json]) -> list[Line]:
    """Return the outputs by name."""
    lines = [line for name, value in outputs.items() for line in _lines(name, value)]
    return lines or [Line("done; it returns nothing")]


def _lines(name: str, value: Json) -> list[Line]:
    """Return an output; a text of several lines is below its name."""
    text = value if isinstance(value, str) else json_text(value).strip()
    first, *more = text.splitlines() or [""]
    if not more:
        return [Line(f"{one_line(name)}: {first}")]
    return [Line(f"{one_line(name)}:"), *(Line(item, 1) for item in (first, *more))]
