"""The outputs of a call, as human-readable lines."""

from __future__ import annotations

from collections.abc import Mapping

from droidgate.cli.output.json_output import json_text
from droidgate.cli.output.pages import Line, show
from droidgate.cli.output.safe_text import one_line
from droidgate_mappings.model.json_values import Json


def show_outputs(outputs: Mapping[str, Json]) -> None:
    """Print the outputs by name."""
    lines = [line for name, value in outputs.items() for line in _lines(name, value)]
    show(lines or [Line("done; it returns nothing")], is_data=True)


def _lines(name: str, value: Json) -> list[Line]:
    """Return an output; a text of several lines is below its name."""
    text = value if isinstance(value, str) else json_text(value).strip()
    first, *more = text.splitlines() or [""]
    if not more:
        return [Line(f"{one_line(name)}: {first}")]
    return [Line(f"{one_line(name)}:"), *(Line(item, 1) for item in (first, *more))]
