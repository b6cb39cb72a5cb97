"""A page of the largest catalog that has details: 5,000 apps with 50,000 capabilities."""

from pathlib import Path

import pytest

from droidgate.coverage.coverage_document import MOST_APPS, MOST_CAPABILITIES, Report
from droidgate.coverage.html.page import MOST_BYTES, render_page
from gateway.coverage_html.conftest import OpenPage
from gateway.coverage_html.made_reports import make_report

pytestmark = pytest.mark.slow

COUNT = "document.querySelector('#count').textContent"


@pytest.fixture(scope="module")
def large() -> Report:
    return make_report(MOST_APPS, per_app=13)


@pytest.mark.timeout(300)
def test_the_largest_page_is_whole_opens_and_answers(
    large: Report, tmp_path: Path, open_page: OpenPage
) -> None:
    details = large.details
    assert details is not None
    assert len(details.capabilities) >= MOST_CAPABILITIES
    text = render_page(large)
    path = tmp_path / "coverage.html"
    path.write_text(text, encoding="utf-8")
    last = len(details.capabilities) - 1
    having = sum(
        "create" in f"{capability.id} {capability.description or ''}".lower()
        for capability in details.capabilities
    )

    page = open_page(path)
    rows = page.run("document.querySelectorAll('#matrix tbody tr').length")
    page.click("[name=show][value=capabilities]")
    page.wait(f"{COUNT}.startsWith('{last + 1:,} of ')")
    page.click("[name=search]")
    page.type("create")
    found = page.wait(f"!{COUNT}.startsWith('{last + 1:,} of ') && {COUNT}")
    page.run("document.querySelectorAll('#pager button')[3].click()")
    page.run("document.querySelector('#matrix tbody tr:last-child .link').click()")
    page.wait("document.querySelector('#sheet pre')")

    assert len(text.encode()) <= MOST_BYTES
    assert "are left out, since the page" not in text
    assert rows == 50
    assert found == f"{having:,} of {last + 1:,} capabilities"
