"""Pictures of terminal pages, drawn from the golden pages with colours.

python scripts/write_docs.py     writes them to docs/images/terminal
"""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.text import Text

CHECKOUT: Final = Path(__file__).resolve().parent.parent
GOLDEN: Final = CHECKOUT / "tests" / "golden" / "terminal"
WIDTH: Final = 100

PICTURES: Final = {
    "inspect": "droidgate inspect device_shim/apps/clock-in",
    "lint": "droidgate lint docs/examples/lint/app_functions_v2.xml",
    "diff": "droidgate diff docs/examples/diff/old.json docs/examples/diff/new.json",
    "discover": "droidgate discover",
    "shim-install": "droidgate shim install --from adb:",
    "shim-status-installed": "droidgate shim status",
}
"""Golden page to the command that prints it."""

_LINE: Final = 24.4
_CELL: Final = 12.2
"""Height of a line and width of a cell in rich's pictures, in their units."""

# Like rich's own template, without its window and without fonts from the network: rich gives each text the
# width of its cells.
_TEMPLATE: Final = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-9 -9 WIDTH HEIGHT" role="img">
<title>TITLE</title>
<style>
.{unique_id}-matrix {{
font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
font-size: {char_height}px;
line-height: {line_height}px;
}}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
<rect x="-9" y="-9" width="100%" height="100%" rx="8" fill="#1e1e1e"/>
<g clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def pictures() -> dict[str, str]:
    """Return path below docs/ to picture, for each page of `PICTURES`."""
    return {f"images/terminal/{name}.svg": draw(name, command) for name, command in PICTURES.items()}


def draw(name: str, command: str) -> str:
    """Return a golden page as SVG, with the command above it."""
    page = Text.assemble(("$ ", "dim"), command, "\n", Text.from_ansi(golden_page(name)))
    console = Console(
        file=io.StringIO(),
        width=WIDTH,
        record=True,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
        _environ={},
    )
    console.print(page, no_wrap=True, overflow="ignore", crop=False)
    size = {"WIDTH": WIDTH * _CELL + 18, "HEIGHT": len(page.split(allow_blank=True)) * _LINE + 18}
    template = re.sub("WIDTH|HEIGHT", lambda match: f"{size[match[0]]:.1f}", _TEMPLATE)
    template = template.replace("TITLE", escape(command))
    drawn = console.export_svg(code_format=template, unique_id=f"page-{name}")
    return re.sub(r"[ \t]+$", "", drawn, flags=re.MULTILINE)


def golden_page(name: str) -> str:
    """Return the golden page of 100 columns, with its colours."""
    text = (GOLDEN / f"{name}.ansi").read_text(encoding="utf-8")
    heading = r"^=+ \d+ columns =+\n"
    pages = re.split(heading, text, flags=re.MULTILINE)[1:]
    widths = re.findall(heading, text, re.MULTILINE)
    return next(
        page for page, width in zip(pages, widths, strict=True) if f" {WIDTH} columns " in width
    ).rstrip("\n")
