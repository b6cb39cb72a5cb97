"""How the page uses its room, in real Chromium: long names, long lists, narrow screens, paper."""

from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.coverage_document import Report
from droidgate.coverage.history import Snapshot
from droidgate.coverage.html.page import render_page
from droidgate.coverage.report import Coverage, ReportOptions
from gateway.coverage_compare.made_catalogs import App, make_catalog
from gateway.coverage_html.browser import Page
from gateway.coverage_html.conftest import OpenPage

PATH = "corpus/of/many/projects/" + "a_rather_long_name__" * 6 + "app_functions_v2.xml"
PAPER = 688
"""CSS pixels between the margins of an A4 sheet."""


def _opened(open_page: OpenPage, path: Path, report: Report) -> Page:
    path.write_text(render_page(report), encoding="utf-8")
    return open_page(path)


def _changed(report: Report, count: int, **facts: Any) -> Report:
    """Return a report whose history has this many new apps."""
    assert report.history is not None
    item = next(app for app in report.history.apps if not app.providers)
    apps = tuple(item.model_copy(update={"package": f"com.example.a{at}", **facts}) for at in range(count))
    return report.model_copy(update={"history": report.history.model_copy(update={"apps": apps})})


def test_of_a_path_that_is_too_long_the_end_is_seen(
    open_page: OpenPage, tmp_path: Path, report: Report
) -> None:
    page = _opened(open_page, tmp_path / "p.html", _changed(report, 1, label=PATH))
    box = page.run(
        "(() => { const cut = document.querySelector('#changes .tail'); const range = document.createRange();"
        "const text = cut.firstChild.firstChild; range.setStart(text, text.data.length - 1);"
        "range.setEnd(text, text.data.length); const last = range.getBoundingClientRect();"
        "const whole = cut.getBoundingClientRect();"
        "return { text: cut.textContent, cut: cut.scrollWidth > cut.clientWidth,"
        "seen: last.right <= whole.right + 1 && last.left >= whole.left }; })()"
    )
    assert box == {"text": PATH, "cut": True, "seen": True}


def test_the_matrix_too_shows_the_end_of_a_long_path(
    open_page: OpenPage, tmp_path: Path, report: Report
) -> None:
    details = report.details
    assert details is not None
    apps = tuple(app.model_copy(update={"label": "a/" + "b" * 300 + PATH[-40:]}) for app in details.apps)
    changed = report.model_copy(update={"details": details.model_copy(update={"apps": apps})})
    page = _opened(open_page, tmp_path / "p.html", changed)
    first = "document.querySelector('#matrix tbody .link')"
    assert page.run(f"{first}.textContent").endswith(PATH[-40:])
    assert page.run(f"getComputedStyle({first}).direction") == "rtl"


def test_a_long_history_is_shown_a_part_at_a_time_and_whole_on_paper(
    open_page: OpenPage, tmp_path: Path, report: Report
) -> None:
    page = _opened(open_page, tmp_path / "p.html", _changed(report, 230))
    seen = "[...document.querySelectorAll('#changes > li')].filter((one) => one.checkVisibility()).length"
    button = "document.querySelector('#changes + button')"

    assert (page.run(seen), page.run(f"{button}.textContent")) == (50, "Show 100 more of 230")
    page.media(media="print")
    assert (page.run(seen), page.run(f"{button}.checkVisibility()")) == (230, False)
    page.media()
    page.run(f"{button}.click()")
    assert page.run(seen) == 150
    assert page.run("document.activeElement.textContent").count("com.example.a50") == 1
    page.run(f"{button}.click()")
    assert (page.run(seen), page.run(f"{button}.hidden")) == (230, True)


def test_an_app_that_somebody_else_signed_is_marked(
    open_page: OpenPage, tmp_path: Path, report: Report
) -> None:
    page = _opened(open_page, tmp_path / "p.html", _changed(report, 1, resigned=True))
    assert "other signer" in page.run("document.querySelector('#changes').textContent")


def test_every_table_fits_on_a_sheet_of_paper(page: Page) -> None:
    page.run("document.querySelector('[name=show][value=capabilities]').click()")
    page.wait("document.querySelector('#count').textContent.includes('capabilities')")
    page.look(PAPER, 1000)
    page.media(media="print")
    wide = page.run(
        "[...document.querySelectorAll('main table')].map((one) => [one.getBoundingClientRect().right,"
        f"one.caption.textContent]).filter(([right]) => right > {PAPER} + 2)"
    )
    assert wide == []
    assert "1 to 50 of " in page.run("document.querySelector('#pager').innerText")


def test_the_part_that_is_read_is_in_sight_in_the_navigation_of_a_narrow_screen(page: Page) -> None:
    page.look(360, 700)
    page.run("document.querySelector('#history').scrollIntoView({behavior: 'instant'})")
    page.wait("document.querySelector('[aria-current]')?.hash === '#history'")
    assert page.wait(
        "(() => { const box = document.querySelector('[aria-current]').getBoundingClientRect();"
        "return box.left >= 0 && box.right <= innerWidth; })()"
    )


@pytest.mark.slow
@pytest.mark.parametrize("apps", [(), (App("com.example.screens"),)])
def test_a_page_about_nothing_says_so(open_page: OpenPage, tmp_path: Path, apps: tuple[App, ...]) -> None:
    before = Snapshot("before", make_catalog(tmp_path / "c", *apps))
    with Coverage(before, [before], ReportOptions(details=True)) as coverage:
        page = _opened(open_page, tmp_path / "p.html", coverage.report)
    text = page.run("document.querySelector('main').innerText")
    assert "NaN" not in text
    for reported in ("Nothing is declared that could be converted.", "No app came, went or changed."):
        assert reported in text
    assert ("No app was looked at." in text) == (not apps)
    assert page.run("document.querySelectorAll('main table:not(:has(tbody tr))').length") == 0
