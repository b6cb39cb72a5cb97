"""A Chromium for the tests of the page, and a page in it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidgate.coverage.coverage_document import Report
from droidgate.coverage.html.page import render_page
from gateway.coverage_html.browser import Browser, Page, new_page, running_browser
from gateway.coverage_html.made_reports import make_report
from requirements_of_tests import require

OpenPage = Callable[[Path], Page]


@pytest.fixture(scope="package")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(require("chromium"), tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture(scope="package")
def report() -> Report:
    return make_report(120)


@pytest.fixture(scope="package")
def written(tmp_path_factory: pytest.TempPathFactory, report: Report) -> Path:
    path = tmp_path_factory.mktemp("page") / "coverage.html"
    path.write_text(render_page(report), encoding="utf-8")
    return path


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Open files; at the end none of them has complained or asked for anything but itself."""
    opened: list[Page] = []

    def open_one(path: Path) -> Page:
        page = new_page(browser)
        opened.append(page)
        page.open(path)
        return page

    yield open_one
    for page in opened:
        assert page.complaints() == []
        assert len(page.requests()) == 1
        page.close()


@pytest.fixture
def page(open_page: OpenPage, written: Path) -> Page:
    return open_page(written)
