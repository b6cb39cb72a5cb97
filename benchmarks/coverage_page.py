"""Measures the coverage page of the largest catalog that has details: its size, and what a person waits for.

Run it with `make bench` where Chromium is installed. The report is made up: as
many capabilities as MOST_CAPABILITIES. Times are Chromium's own, from the event to the frame that shows its
answer, the median of nine.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from _results import Results, parser

from droidgate.coverage.document_details import MOST_APPS
from droidgate.coverage.html.page import render_page

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from gateway.coverage_html.browser import Page, new_page, running_browser
from gateway.coverage_html.made_reports import make_report

ROUNDS = 9
_AFTER_FRAME = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()))))"
_SET = (
    "(() => {{ const field = document.querySelector('[name={name}]'); field.value = {value!r};"
    "field.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
)
ACTIONS = {
    "filter apps by reach": ("apps", _SET.format(name="reach", value="1")),
    "filter capabilities by reach": ("capabilities", _SET.format(name="reach", value="1")),
    "filter capabilities by words": ("capabilities", _SET.format(name="search", value="create note")),
    "sort capabilities": ("capabilities", "document.querySelector('[data-column=tokens]').click()"),
    "sort apps": ("apps", "document.querySelector('[data-column=score]').click()"),
    "turn a page": ("capabilities", "document.querySelectorAll('#pager button')[2].click()"),
}


def _milliseconds(page: Page, kind: str, action: str) -> float:
    """Return how long an action takes from its event to its frame; the pause while one types is left out."""
    page.run("document.querySelector('#filters [type=reset]').click()")
    page.run(f"document.querySelector('[name=show][value={kind}]').click()")
    page.run("new Promise((done) => setTimeout(done, 250))")
    milliseconds: float = page.run(
        "(async () => { const wait = window.setTimeout; window.setTimeout = (task) => wait(task, 0);"
        f"const began = performance.now(); {action}; await new Promise((done) => wait(done, 0));"
        f"const ended = await {_AFTER_FRAME}; window.setTimeout = wait; return ended - began; }})()"
    )
    return milliseconds


def _open_milliseconds(page: Page) -> float:
    page.run("document.querySelector('#sheet').close()")
    milliseconds: float = page.run(
        "(async () => { const rows = document.querySelectorAll('#matrix tbody .link');"
        "const began = performance.now(); rows[Math.floor(Math.random() * rows.length)].click();"
        "while (!document.querySelector('#sheet .command')) await new Promise((done) => setTimeout(done));"
        f"return await {_AFTER_FRAME} - began; }})()"
    )
    return milliseconds


def main() -> None:
    """Print the figures."""
    chosen = parser(__doc__).parse_args()
    program = shutil.which("chromium")
    if program is None:
        print("left out without Chromium (Debian: apt install chromium)")
        return
    results, rounds = Results(chosen), 1 if chosen.quick else ROUNDS
    report = make_report(200 if chosen.quick else MOST_APPS, per_app=13)
    began = time.process_time()
    text = render_page(report)
    seconds = time.process_time() - began
    made = {"apps": ",", "capabilities": ",", "file, MB": ".1f", "made in, s of processor": ".1f"}
    totals = report.totals
    results.table("page", made).add(totals.apps, totals.capabilities, len(text.encode()) / 1e6, seconds)
    table = results.table("actions", {"action": "", "ms": ".0f"})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage.html"
        path.write_text(text, encoding="utf-8")
        with running_browser(Path(program), Path(folder)) as browser:
            page = new_page(browser)
            page.open(path)
            table.add("open the page", page.run("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            for name, (kind, action) in ACTIONS.items():
                table.add(name, statistics.median(_milliseconds(page, kind, action) for _ in range(rounds)))
            table.add("open one", statistics.median(_open_milliseconds(page) for _ in range(rounds)))
    results.write()


if __name__ == "__main__":
    main()
