"""A page as GitHub's Markdown, for the comment on a pull request; texts of apps are shown as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from droidgate.cli.output.pages import Block, Heading, Line
from droidgate.cli.output.safe_text import visible
from droidgate_mappings.text.counted_nouns import amount

MOST_CHARACTERS: Final = 60_000
"""A comment of GitHub takes 65,536."""

_BLANK_LINES: Final = re.compile(r"\n{3,}")
_MARKUP: Final = re.compile(
    r"""
    [\\`*\[\]<>&#+|~@^$=\r\n\t]
    | [{}]                                # placeholders of SARIF
    | (?<![^\W_])_ | _(?![^\W_])          # one within a word never starts or ends emphasis
    | (?<!\w)- | -(?![^\W_])              # lists, rules
    | (?<=[Gg][Hh])-                      # GH-1 is a link
    | (?<=[Ww]{3})\.                      # links
    | (?<=[0-9])[.)](?=\s|$)             # numbered lists
    | :(?!\s|$|[0-9]+(?![\w:]))          # schemes of links, emoji; not the line of a place
    """,
    re.VERBOSE,
)
"""What GitHub could take for mark-up; the rest is left as it is, for who reads the Markdown itself."""


def plain_markdown(text: str) -> str:
    """Return Markdown that shows a text as it is: no mark-up, links or mentions."""
    return _MARKUP.sub(lambda match: f"&#{ord(match[0])};", text)


def markdown_page(blocks: Iterable[Block]) -> str:
    """Return a page: its last line, the summary, comes first; lines that exceed a comment are counted."""
    page = list(blocks)
    output_lines: list[str] = []
    if page and isinstance(summary := page[-1], Line) and summary.text:
        output_lines = [f"**{_safe_markdown(summary.text)}**", ""]
        page.pop()
    remaining = MOST_CHARACTERS
    lines = [line for block in page for line in _lines_of(block)]
    for place, line in enumerate(lines):
        remaining -= len(line) + 1
        if remaining < 0:
            count = amount(len(lines) - place, "more line")
            output_lines += ["", f"{count} of this report did not fit into a comment"]
            break
        output_lines.append(line)
    return _BLANK_LINES.sub("\n\n", "\n".join(output_lines)).strip() + "\n"


def _lines_of(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield from ("", f"### {_safe_markdown(block.text)}", "")
    elif isinstance(block, Line):
        is_empty = not visible(block.text).strip()
        yield "" if is_empty else f"{'  ' * max(0, block.indent - 1)}- {_safe_markdown(block.text)}"
    else:
        yield ""
        for row in (block.columns, ["---"] * len(block.columns)):
            yield f"| {' | '.join(row)} |"
        for row in block.rows:
            yield f"| {' | '.join(cell if cell == '-' else _safe_markdown(cell) for cell in row)} |"
        yield ""


def _safe_markdown(text: str) -> str:
    return plain_markdown(visible(text))
