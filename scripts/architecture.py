"""The drawing of docs/internals/architecture.md, made from the code.

The layers are those that import-linter checks (`tool.importlinter` of pyproject.toml), so the drawing cannot
show an order that the code does not have.
"""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

CHECKOUT: Final = Path(__file__).resolve().parents[1]
_COLOURS: Final = {
    "gateway": ("#e8f0fe", "#4c7ecf"),
    "adapters": ("#e6f4ea", "#5aa469"),
    "mappings": ("#fef3e0", "#c98a2b"),
    "device_shim": ("#f3e8fd", "#8e5fbf"),
}
_DRAWN_WHOLE: Final = {"droidgate_phone"}
"""Its own layers are of no interest to the rest: nothing else enters them."""
_WIDTH: Final = 1000
_ROW: Final = 46
_TOP: Final = 48
_HEAD: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 aria-label="The packages in layers; each row imports only from the rows below it">
<style>
text {{ font: 13px sans-serif; fill: #1f2933 }}
.name {{ text-anchor: middle }}
</style>
<rect width="{width}" height="{height}" rx="10" fill="#ffffff"/>"""


def layers() -> list[list[str]]:
    """Return the packages of each layer, and the rooms of those that have layers, the top layer first."""
    with (CHECKOUT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    (floors,) = [item["layers"] for item in contracts if item["name"].startswith("Four floors")]
    rooms = {item["containers"][0]: item["layers"] for item in contracts if "containers" in item}
    rows = []
    for row in map(_names_in, floors):
        with_rooms = [name for name in row if name in rooms and name not in _DRAWN_WHOLE]
        if whole := [name for name in row if name not in with_rooms]:
            rows.append(whole)
        for name in with_rooms:
            rows += [[f"{name}.{room}" for room in _names_in(text)] for text in rooms[name]]
    return rows


def _names_in(row: str) -> list[str]:
    return [name.strip(" ()") for name in re.split("[|:]", row)]


def draw_layers() -> str:
    """Return the layers as an SVG picture: each row imports only from the rows below it."""
    rows = layers()
    height = _TOP + len(rows) * _ROW + 12
    parts = [_HEAD.format(width=_WIDTH, height=height)]
    for number, (root, colours) in enumerate(_COLOURS.items()):
        x = 24 + number * 150
        parts += [_box(x, 16, 16, 16, colours), _text("key", x + 24, 28, root)]
    for number, row in enumerate(rows):
        parts += _draw_row(row, _TOP + number * _ROW)
    return "\n".join([*parts, "</svg>", ""])


def _draw_row(names: list[str], y: int) -> list[str]:
    width = (_WIDTH - 40) / len(names)
    parts = []
    for number, name in enumerate(names):
        x = 20 + number * width
        box = _box(x + 3, y + 3, width - 6, _ROW - 8, _COLOURS[_root_of(name)])
        label = _text(
            "name", x + width / 2, y + 26, name.removeprefix("droidgate.").removeprefix("droidgate_")
        )
        parts += [box, label]
    return parts


def _box(x: float, y: float, width: float, height: float, colours: tuple[str, str]) -> str:
    fill, stroke = colours
    size = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<rect {size} rx="5" fill="{fill}" stroke="{stroke}"/>'


def _text(style: str, x: float, y: float, text: str) -> str:
    return f'<text class="{style}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _root_of(name: str) -> str:
    """Return the folder at the top that has a module."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        raise ValueError(f"no package is called {name}")
    return Path(found.origin).relative_to(CHECKOUT).parts[0]
