"""The documentation site has what the pages have, says a second reader of Markdown, and no broken link."""

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from requirements_of_tests import CHECKOUT

BLOCKS = ("h2", "h3", "li", "pre", "table", "td", "img")


def blocks_of(html: str) -> Counter[str]:
    return Counter(tag for tag in re.findall(r"<(\w+)[ >]", html) if tag in BLOCKS)


@pytest.mark.slow
def test_the_site_has_each_page_as_a_reader_of_commonmark_sees_it_next_to_its_markdown(
    tmp_path: Path,
) -> None:
    script = runpy.run_path(str(CHECKOUT / "scripts/build_site.py"))
    script["build_site"](tmp_path / "site")
    reader = MarkdownIt("commonmark").enable("table")
    pages = {place: text for place, text in script["site_pages"]().items() if place.endswith(".md")}
    assert len(pages) > 50
    for place, text in pages.items():
        name = place.removesuffix(".md")
        page = tmp_path / "site" / ("" if name == "index" else name) / "index.html"
        _, _, html = page.read_text(encoding="utf-8").partition("<article")
        assert blocks_of(html.partition("</article>")[0]) == blocks_of(reader.render(text)), place
        assert (tmp_path / "site" / place).read_text(encoding="utf-8") == text
    listed = re.findall(r"\]\(([^)]+)\)", (tmp_path / "site/llms.txt").read_text(encoding="utf-8"))
    assert [link for link in listed if not (tmp_path / "site" / link).is_file()] == []
