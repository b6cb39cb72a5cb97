"""The page as people use it, in real Chromium."""

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.coverage_document import (
    MOST_APPS,
    MOST_CAPABILITIES,
    CoverageReport,
    DetailRow,
    Details,
    ReachCell,
    ReachProfile,
)
from droidgate.coverage.history import Snapshot
from droidgate.coverage.html.page import MOST_BYTES, render_page
from droidgate.coverage.report import ReportedCatalog, ReportOptions
from droidgate_mappings.tables.reach import load_gates
from gateway.coverage_compare.made_catalogs import App, make_catalog
from gateway.coverage_html.browser import Browser, Page, new_page, running_browser
from gateway.coverage_html.made_reports import changed_row, make_report, repeated
from gateway.coverage_scan.catalogs import scan_into
from requirements_of_tests import CHECKOUT, require

OpenReport = Callable[[CoverageReport], Page]

NAMES = "$$('#matrix tbody th .link').map((one) => one.textContent)"
COUNT = "$('#count').textContent"
SHEET = "$('#sheet').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(require("chromium"), tmp_path_factory.mktemp("chromium")) as running:
        yield running


@pytest.fixture(scope="module")
def report() -> CoverageReport:
    return make_report(120)


@pytest.fixture
def open_report(browser: Browser, tmp_path: Path) -> Iterator[OpenReport]:
    """Open pages of reports; at the end none of them has complained or asked for anything but itself."""
    opened: list[Page] = []

    def open_one(report: CoverageReport) -> Page:
        path = tmp_path / f"coverage{len(opened)}.html"
        path.write_text(render_page(report), encoding="utf-8")
        opened.append(new_page(browser))
        opened[-1].open(path)
        return opened[-1]

    yield open_one
    for page in opened:
        assert page.complaints() == []
        assert len(page.requests()) == 1
        page.close()


@pytest.fixture
def page(open_report: OpenReport, report: CoverageReport) -> Page:
    return open_report(report)


def _details(report: CoverageReport) -> Details:
    assert report.details is not None
    return report.details


def _changed(report: CoverageReport, **parts: Any) -> CoverageReport:
    """Return a report with other details."""
    return report.model_copy(update={"details": replace(_details(report), **parts)})


def _choose(page: Page, name: str, value: str) -> None:
    before = page.run(COUNT)
    page.run(
        f"(() => {{ const field = $('[name={name}]'); field.value = {json.dumps(value)};"
        "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait(f"{COUNT} !== {json.dumps(before)}")


def _search(page: Page, text: str) -> None:
    page.click("[name=search]")
    page.type(text)


def _show_capabilities(page: Page) -> None:
    page.click("[name=show][value=capabilities]")
    page.wait(f"{COUNT}.includes('capabilit')")


def _open_capability(page: Page, report: CoverageReport, at: int) -> None:
    """Show the sheet of a capability, which its id and its app's name lead to."""
    details = _details(report)
    capability = details.capabilities[at]
    _show_capabilities(page)
    _search(page, f"{capability.id} {details.apps[details.providers[capability.provider].app].package}")
    page.wait(f"{NAMES}[0] === {json.dumps(capability.id)}")
    page.click("#matrix tbody .link")
    page.wait("$('#sheet .command')")


def _column(page: Page, at: int) -> list[str]:
    texts: list[str] = page.run(f"$$('#matrix tbody tr').map((row) => row.cells[{at}].textContent)")
    return texts


def _active(page: Page) -> Any:
    return page.run("[document.activeElement.tagName, document.activeElement.textContent.trim()]")


def test_the_figures_of_the_report_are_in_the_tiles(page: Page, report: CoverageReport) -> None:
    pairs = "$$('#overview .tiles > div').map((one) => [...one.children].map((part) => part.textContent))"
    tiles, totals = dict(item[:2] for item in page.run(pairs)), report.totals
    assert tiles["Apps"] == f"{totals.apps:,}"
    assert tiles["Declare something"] == f"{totals.declaring_apps:,}"
    assert tiles["Capabilities"] == f"{totals.capabilities:,}"
    assert tiles["Tokens"] == f"{totals.tokens:,}"


def test_every_app_is_counted_before_any_filter(page: Page, report: CoverageReport) -> None:
    assert page.run(COUNT) == f"{report.totals.apps} of {report.totals.apps} apps"
    assert page.run("$('#count').getAttribute('aria-live')") == "polite"


def test_words_filter_apps_by_name_and_by_their_capabilities(page: Page, report: CoverageReport) -> None:
    details, text = _details(report), "create_note"
    having = {
        details.providers[capability.provider].app
        for capability in details.capabilities
        if text in capability.id.lower()
    }
    assert 0 < len(having) < len(details.apps)
    _search(page, text)
    assert page.wait(f"{COUNT}.startsWith('{len(having)} of ')")
    assert page.run(f"{NAMES}.length") == len(having)


@pytest.mark.parametrize(("reach", "name"), list(enumerate(("native", "gateway", "ui-only", "none"))))
def test_the_matrix_filters_by_what_one_agent_reaches(
    page: Page, report: CoverageReport, reach: int, name: str
) -> None:
    expected = sum(app.best[0] == name for app in _details(report).apps)
    page.run("$('[name=agent]').value = '0'")
    _choose(page, "reach", str(reach))
    assert page.run(COUNT) == f"{expected} of {report.totals.apps} apps"


def test_capabilities_filter_by_protocol_and_finding(page: Page, report: CoverageReport) -> None:
    details = _details(report)
    erring = {finding.capability for finding in details.findings if finding.level == "error"}
    expected = [
        item.id
        for at, item in enumerate(details.capabilities)
        if details.providers[item.provider].protocol == "mobile-mcp" and at in erring
    ]
    _show_capabilities(page)
    _choose(page, "protocol", "mobile-mcp")
    _choose(page, "findings", "0")
    assert sorted(page.run(NAMES)) == sorted(expected)


def test_a_filter_that_matches_nothing_is_reported_and_can_be_reset(
    page: Page, report: CoverageReport
) -> None:
    _search(page, "no app is called so")
    page.wait(f"{COUNT}.startsWith('0 of ')")
    assert "Nothing fits these filters" in page.run("$('#matrix').textContent")
    page.click("#filters [type=reset]")
    assert page.wait(f"{COUNT}.startsWith('{report.totals.apps} of ')")


def test_a_header_sorts_and_shows_the_direction(page: Page, report: CoverageReport) -> None:
    by_number = sorted((item.capabilities for item in _details(report).apps), reverse=True)
    page.click("[data-column=capabilities]")
    assert [int(item) for item in _column(page, 7)[:20]] == by_number[:20]
    page.click("[data-column=capabilities]")
    assert _column(page, 7)[0] == "\N{EN DASH}"
    assert page.run("$$('#matrix th[aria-sort]').map((one) => one.ariaSort)") == ["ascending"]
    assert page.run("document.activeElement.dataset.column") == "capabilities"


def test_pages_of_the_matrix_turn_and_show_every_row_once(page: Page, report: CoverageReport) -> None:
    seen = page.run(NAMES)
    while not page.run("$$('#pager button')[2].disabled"):
        page.run("$$('#pager button')[2].click()")
        seen += page.run(NAMES)
    assert len(seen) == report.totals.apps
    assert sorted(seen) == sorted(app.label or app.package or "" for app in _details(report).apps)


def test_an_app_leads_to_a_capability_with_all_that_is_known_of_it(
    page: Page, report: CoverageReport
) -> None:
    details = _details(report)
    packages = " ".join(item.package or "" for item in details.apps)
    finding = next(
        item
        for item in details.findings
        if item.code == "description-missing"
        and packages.count(details.apps[item.app or 0].package or "") == 1
    )
    assert finding.capability is not None
    capability = details.capabilities[finding.capability]
    provider = details.providers[capability.provider]
    app = details.apps[provider.app]
    message = next(item.message for item in details.findings if item.capability == finding.capability)

    _search(page, app.package or "")
    page.wait(f"{COUNT}.startsWith('1 of ')")
    page.click("#matrix tbody .link")
    page.wait("$('#sheet .command')")
    of_app = page.run(SHEET)
    condition = f"one.textContent === {json.dumps(capability.id)}"
    page.run(f"$$('#sheet .link').find((one) => {condition}).click()")
    page.wait("$('#sheet pre:not(.command)')")
    reported = page.run(SHEET)

    assert app.package in of_app
    assert app.signers[0] in of_app
    for text in (capability.place, capability.parameters, provider.component, message):
        assert text in reported
    declared = page.run("$('#sheet pre:not(.command)').textContent")
    assert json.loads(declared) == json.loads(capability.declaration)
    for cell in details.reach_profiles[capability.reach].cells:
        assert cell.reason[1:] in reported
    assert f"droidgate convert {app.sources[0]} --to {details.targets[0]}" in reported


def test_a_chosen_translation_is_shown_in_full(page: Page, report: CoverageReport) -> None:
    details = _details(report)
    translation = next(item for item in details.translations if item.files and item.findings)
    at = next(at for at, item in enumerate(details.capabilities) if item.provider == translation.provider)
    _open_capability(page, report, at)
    page.wait("$('#sheet details:not(.gate)')")
    reported = page.run(SHEET)
    for text in (translation.target, translation.files[0].text, translation.findings[0].message):
        assert text in reported


def test_a_cell_without_calls_names_what_would_allow_them(
    open_report: OpenReport, report: CoverageReport
) -> None:
    details = _details(report)
    gate = load_gates()["exported"]
    closed = ReachCell(
        reach="none", level=None, reason="its component is not exported", needs=(), gate=gate.id
    )
    profile = ReachProfile(cells=(closed,) * len(report.agents))
    page = open_report(_changed(report, reach_profiles=[profile] * len(details.reach_profiles)))
    _open_capability(page, report, 0)
    assert page.run("$$('#sheet details.gate').length") == len(report.agents)
    assert gate.owner in page.run("$('#sheet details.gate').textContent")


def test_a_capability_leads_to_those_that_do_the_same(page: Page, report: CoverageReport) -> None:
    details = _details(report)
    at, item = next((at, item) for at, item in enumerate(details.capabilities) if item.group is not None)
    assert item.group is not None
    others = [details.capabilities[each] for each in details.groups[item.group].members if each != at]
    _open_capability(page, report, at)
    rows = page.run(
        "$$('#sheet [aria-label=\"Capabilities that do the same job\"] tbody tr')"
        ".map((row) => row.cells[1].textContent)"
    )
    labels = [details.apps[details.providers[each.provider].app].label for each in others]
    assert sorted(rows) == sorted(str(each) for each in labels[:40])


def test_findings_that_belong_to_no_app_are_shown_too(
    report: CoverageReport, open_report: OpenReport
) -> None:
    findings = _details(report).findings
    nobody = {"app": None, "provider": None, "capability": None, "message": "It is nobody's"}
    page = open_report(_changed(report, findings=(*findings, changed_row(findings[0], **nobody))))
    page.run("$('#unplaced button').click()")
    assert page.wait(f'{SHEET}.includes("It is nobody\'s")')


def test_the_sheet_keeps_the_focus_and_gives_it_back(page: Page) -> None:
    page.run("$('#matrix tbody .link').focus()")
    opener = _active(page)
    page.press("Enter")
    page.wait("$('#sheet .command')")
    assert page.run("document.activeElement.id") == "sheet-title"
    for _ in range(30):
        page.press("Tab")
        assert page.run("document.activeElement === document.body || !!$('#sheet :focus')")
    page.press("Escape")
    assert not page.run("$('#sheet').open")
    assert _active(page) == opener


def test_the_first_key_leads_to_a_link_past_the_navigation(page: Page) -> None:
    page.press("Tab")
    assert _active(page) == ["A", "Skip to the report"]
    page.press("Enter")
    assert page.run("document.activeElement.id") == "main"


def test_the_keyboard_alone_sorts_filters_and_reads_the_heat_map(page: Page) -> None:
    page.run("$('[name=show]').focus()")
    page.press("ArrowRight")
    assert page.wait(f"{COUNT}.includes('capabilit')")
    page.run("$('[data-column=tokens]').focus()")
    page.press("Enter")
    tokens = [int(item) for item in _column(page, 8)]
    assert tokens == sorted(tokens, reverse=True)

    page.run("$('#heat button').focus()")
    before = page.wait("$('#heat-told').textContent")
    page.press("ArrowRight")
    assert page.run("$('#heat-told').textContent") != before
    assert page.run("$$('#heat button[tabindex=\"0\"]').length") == 1


MOST_STOPS = 600
FOCUSED = """(() => {
  const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
  const isSeen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  const hasRing = style.outlineStyle !== "none" || one.closest(".segmented:focus-within") !== null;
  return [one.tagName, one.closest("section")?.id ?? null, isSeen, hasRing, one.textContent.slice(0, 40)];
})()"""


def test_the_tab_key_leads_through_every_part_and_what_has_the_focus_is_always_seen(page: Page) -> None:
    page.look(1200, 800)
    stops: list[list[Any]] = []
    while len(stops) < MOST_STOPS:
        page.press("Tab")
        stop = page.run(FOCUSED)
        if stop[0] == "BODY":
            break
        stops.append(stop)
    assert len(stops) < MOST_STOPS
    parts = list(dict.fromkeys(stop[1] for stop in stops if stop[1]))
    assert parts == page.run("$$('main section').map((one) => one.id)")
    assert [stop for stop in stops if not (stop[2] and stop[3])] == []


def test_nothing_moves_where_the_system_asks_for_little_motion(page: Page) -> None:
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    moving = """$$("*").map((one) => getComputedStyle(one)).filter(
        (one) => one.transitionDuration !== "0s" || one.animationName !== "none").length"""
    assert (page.run(behaviour), page.run(moving)) == ("auto", 0)
    page.media(motion="no-preference")
    assert page.run(behaviour) == "smooth"


def test_the_heat_map_follows_what_counts_as_carried(page: Page, report: CoverageReport) -> None:
    cell = report.fidelity[1]
    page.run("($('#carried').value = '0', $('#carried').dispatchEvent(new Event('change')))")
    place = f'[data-from="{cell.protocol}+{cell.dialect}"][data-to="{cell.target}"]'
    share = 100 * cell.levels[0] // sum(cell.levels)
    assert page.run(f"$('#heat {place}').textContent") == str(share)


def test_a_row_of_the_overlap_leads_to_its_apps(page: Page, report: CoverageReport) -> None:
    row = next(item for item in report.overlap if len(item.protocols) == 2)
    page.run(f"$('[data-set=\"{' '.join(row.protocols)}\"] button').click()")
    assert page.run(COUNT).startswith(f"{row.apps} of ")


def test_an_app_that_was_not_read_whole_is_not_one_that_declares_nothing(
    open_report: OpenReport, report: CoverageReport
) -> None:
    silent, *others = sorted(_details(report).apps, key=lambda app: len(app.protocols))
    page = open_report(_changed(report, apps=[changed_row(silent, is_unread=True), *others]))
    page.run("$('[data-set=\"\"] button').click()")
    bare = sum(not app.protocols for app in others)
    assert page.run(COUNT).startswith(f"{bare} of ")


def test_a_use_case_leads_to_the_apps_that_serve_it(page: Page, report: CoverageReport) -> None:
    served = next(use_case for kind in report.use_cases or () for use_case in kind.use_cases if use_case.apps)
    page.run(f"$('[data-use-case=\"{served.id}\"] button').click()")
    assert page.run(COUNT).startswith(f"{served.apps} of ")


def test_use_cases_that_nobody_serves_are_called_gaps(page: Page, report: CoverageReport) -> None:
    gaps = sum(not use_case.apps for kind in report.use_cases or () for use_case in kind.use_cases)
    assert gaps > 0
    assert page.run("$$('#use-cases .gap').length") == gaps


def test_the_page_follows_the_system_and_its_own_switch(page: Page) -> None:
    ground, pressed = "getComputedStyle(document.body).backgroundColor", "$('#theme').ariaPressed"
    light = page.run(ground)
    page.media(scheme="dark")
    page.wait(f"{pressed} === 'true'")
    assert page.run(ground) != light
    page.click("#theme")
    assert (page.run(ground), page.run(pressed)) == (light, "false")


@pytest.mark.parametrize("width", [360, 400, 768, 1280, 1920], ids="{} pixels".format)
def test_no_width_makes_the_page_itself_scroll_sideways(page: Page, width: int) -> None:
    page.look(width, 900)
    assert page.run("document.documentElement.scrollWidth") <= width
    table = page.run(
        "(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)($('#overview .scroll:not(.tall)'))"
    )
    assert table <= 0 or width < 400


def test_files_of_one_name_are_told_apart_in_a_cell_and_whole_on_hover(
    open_report: OpenReport, report: CoverageReport
) -> None:
    folders = [f"{folder}/{'folder/' * 8}" for folder in ("first", "second")]
    paths = {f"all/{folder}tools.json": [folder, "tools.json"] for folder in folders}
    paths["all/tools.json"] = ["tools.json"]
    parts = ["owner__app-with-a-name__app__sr", "c__main__res__tools.json"]
    paths[f"all/{''.join(parts)}"] = parts
    apps = _details(report).apps
    files = [
        changed_row(app, label=None, package=None, sources=[path])
        for app, path in zip(apps, paths, strict=False)
    ]
    page = open_report(_changed(report, apps=[*files, *apps[len(files) :]]))
    _search(page, "tools.json")
    page.wait("$$('#matrix .path').length === 4")
    texts = "[...path.children].map((part) => part.textContent)"
    assert dict(page.run(f"$$('#matrix .path').map((path) => [path.title, {texts}])")) == paths
    names = "$$('#matrix .path > :last-child')"
    assert page.run(f"{names}.every((name) => name.scrollWidth <= name.clientWidth)")


@pytest.mark.slow
def test_print_shows_the_folded_and_leaves_out_the_controls(page: Page) -> None:
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.media(scheme="dark", media="print")
    for selector in ("#filters", "body > nav", "#theme"):
        assert page.run(f"getComputedStyle($('{selector}')).display") == "none"
    assert page.run("$$('main details:not([open])').length") == 0
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.call("Page.printToPDF", transferMode="ReturnAsStream")["stream"]
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("$$('main details[open]').length") == 0


@pytest.mark.slow
def test_screen_readers_get_landmarks_headings_and_tables(page: Page) -> None:
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node
    ]
    landmarks = {role for role, _ in roles}
    assert {"banner", "main", "navigation", "contentinfo", "search", "status", "columnheader"} <= landmarks
    named_roles = ("button", "combobox", "searchbox", "link", "region", "table", "heading", "radio")
    assert [role for role, name in roles if role in named_roles and not name] == []
    assert ("button", "Dark") in roles
    levels = page.run("$$('h1,h2,h3,h4').map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.run("$$('[id]').map((one) => one.id)")
    assert len(ids) == len(set(ids))


CONTRASTS = """
(() => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([red, green, blue]) => {
    const parts = [red, green, blue].map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = numbers(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const low = [];
  let looked = 0;
  for (const element of $$('body *')) {
    const own = [...element.childNodes].some((one) => one.nodeType === 3 && one.data.trim());
    if (!own || !element.checkVisibility() || element.closest('script, option, .hidden, :disabled')) continue;
    const isDrawn = element instanceof SVGElement;
    const style = getComputedStyle(element);
    const first = light(numbers(isDrawn ? style.fill : style.color));
    const second = light(ground(element));
    const ratio = (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
    looked += 1;
    if (ratio < 4.5) low.push([element.tagName, element.className, element.textContent.slice(0, 40), ratio]);
  }
  return { looked, low: low.slice(0, 10) };
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_the_contrast_that_wcag_requires(page: Page, scheme: str) -> None:
    page.media(scheme=scheme)
    on_page = page.run(CONTRASTS)
    page.click("#matrix tbody .link")
    page.wait("$('#sheet .command')")
    assert on_page["looked"] > 500
    assert (on_page["low"], page.run(CONTRASTS)["low"]) == ([], [])


# Long names, long lists, narrow screens, paper

PATH = "corpus/of/many/projects/" + "a_rather_long_name__" * 6 + "app_functions_v2.xml"
PAPER = 688
"""CSS pixels between the margins of an A4 sheet."""


def _with_history(report: CoverageReport, count: int, **facts: Any) -> CoverageReport:
    """Return a report whose history has this many new apps."""
    assert report.history is not None
    item = next(app for app in report.history.apps if not app.providers)
    apps = tuple(item.model_copy(update={"package": f"com.example.a{at}", **facts}) for at in range(count))
    return report.model_copy(update={"history": report.history.model_copy(update={"apps": apps})})


def test_a_changed_app_shows_the_end_of_a_long_path_and_that_another_signer_signed(
    open_report: OpenReport, report: CoverageReport
) -> None:
    page = open_report(_with_history(report, 1, label=PATH, resigned=True))
    box = page.run(
        "(() => { const cut = $('#changes .tail'); const range = document.createRange();"
        "const text = cut.firstChild.firstChild; range.setStart(text, text.data.length - 1);"
        "range.setEnd(text, text.data.length); const last = range.getBoundingClientRect();"
        "const whole = cut.getBoundingClientRect();"
        "return { text: cut.textContent, cut: cut.scrollWidth > cut.clientWidth,"
        "seen: last.right <= whole.right + 1 && last.left >= whole.left }; })()"
    )
    assert box == {"text": PATH, "cut": True, "seen": True}
    assert "other signer" in page.run("$('#changes').textContent")


def test_a_long_history_is_shown_in_parts_and_whole_on_paper(
    open_report: OpenReport, report: CoverageReport
) -> None:
    page = open_report(_with_history(report, 230))
    seen = "$$('#changes > li').filter((one) => one.checkVisibility()).length"
    button = "$('#changes + button')"
    assert (page.run(seen), page.run(f"{button}.textContent")) == (50, "Show 100 more of 230")
    page.media(media="print")
    assert (page.run(seen), page.run(f"{button}.checkVisibility()")) == (230, False)
    page.media()
    page.run(f"{button}.click()")
    assert page.run(seen) == 150
    assert page.run("document.activeElement.textContent").count("com.example.a50") == 1
    page.run(f"{button}.click()")
    assert (page.run(seen), page.run(f"{button}.hidden")) == (230, True)


def test_every_table_fits_on_a_sheet_of_paper(page: Page) -> None:
    _show_capabilities(page)
    page.look(PAPER, 1000)
    page.media(media="print")
    wide = page.run(
        "$$('main table').map((one) => [one.getBoundingClientRect().right, one.caption.textContent])"
        f".filter(([right]) => right > {PAPER} + 2)"
    )
    assert wide == []
    assert "1 to 50 of " in page.run("$('#pager').innerText")


def test_the_part_that_is_read_is_in_sight_in_the_navigation_of_a_narrow_screen(page: Page) -> None:
    page.look(360, 700)
    page.run("$('#history').scrollIntoView({behavior: 'instant'})")
    page.wait("$('[aria-current]')?.hash === '#history'")
    assert page.wait(
        "(() => { const box = $('[aria-current]').getBoundingClientRect();"
        "return box.left >= 0 && box.right <= innerWidth; })()"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "apps", [(), (App("com.example.screens"),)], ids=["no app", "an app without capabilities"]
)
def test_the_page_of_an_empty_report_states_that_it_is_empty(
    open_report: OpenReport, tmp_path: Path, apps: tuple[App, ...]
) -> None:
    before = Snapshot("before", make_catalog(tmp_path / "c", *apps))
    with ReportedCatalog(before, [before], ReportOptions(details=True)) as coverage:
        page = open_report(coverage.report)
    text = page.run("$('main').innerText")
    assert "NaN" not in text
    for reported in ("Nothing is declared that could be converted.", "No app came, went or changed."):
        assert reported in text
    assert ("No app was looked at." in text) == (not apps)
    assert page.run("$$('main table:not(:has(tbody tr))').length") == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_largest_page_is_whole_opens_and_answers(report: CoverageReport, open_report: OpenReport) -> None:
    large = repeated(report, math.ceil(MOST_CAPABILITIES / len(_details(report).capabilities)))
    details = _details(large)
    assert len(details.apps) >= MOST_APPS
    assert len(details.capabilities) >= MOST_CAPABILITIES
    text = render_page(large)
    assert len(text.encode()) <= MOST_BYTES
    assert "are left out, since the page" not in text
    all_of_them = f"{len(details.capabilities):,} of "
    having = sum("create" in f"{item.id} {item.description or ''}".lower() for item in details.capabilities)

    page = open_report(large)
    assert page.run("$$('#matrix tbody tr').length") == 50
    page.click("[name=show][value=capabilities]")
    page.wait(f"{COUNT}.startsWith('{all_of_them}')")
    _search(page, "create")
    count_text = page.wait(f"!{COUNT}.startsWith('{all_of_them}') && {COUNT}")
    page.run("$$('#pager button')[3].click()")
    page.run("$('#matrix tbody tr:last-child .link').click()")
    page.wait("$('#sheet pre')")
    assert count_text == f"{having:,} of {len(details.capabilities):,} capabilities"


# What apps say is shown and never obeyed

HOSTILE = (
    "<script>window.taken = 1</script>",
    "</script><script>window.taken = 1</script>",
    "<!-- <script>",
    "]]><img src=x onerror='window.taken = 1'>",
    "\" onmouseover='window.taken = 1' x=\"",
    "{{ 7 * 7 }}{% raw %}",
    "\u202egnp.exe\u2066\u200b\U000e0041",
    "\ud800 half of a character",
    "javascript:window.taken=1",
    "$(touch taken); `touch taken` ' \"",
    "-o /etc/passwd",
    "\u2028\u2029\x00\x1b[31m",
    "W" * 100_000,
)


def _hostile(text: str) -> CoverageReport:
    """Return a report in which every text that an app can set is this text."""
    report = make_report(3)
    details, history = _details(report), report.history
    assert history is not None

    def all_of(rows: Any, *names: str, **texts: Any) -> Any:
        return [changed_row(row, **{**dict.fromkeys(names, text), **texts}) for row in rows]

    def named(apps: Any) -> Any:
        return tuple(app.model_copy(update={"package": text, "label": text}) for app in apps)

    files = [DetailRow(path=text, text=text)]
    declaration = json.dumps({"id": text}, ensure_ascii=False)
    hostile = _changed(
        report,
        apps=all_of(details.apps, "package", "label", "description", "version_name", sources=(text,)),
        providers=all_of(
            details.providers,
            *("component", "permission", "name", "description", "instructions"),
            definitions=json.dumps({text: text}),
        ),
        capabilities=all_of(
            details.capabilities,
            *("id", "title", "description", "parameters", "output"),
            declaration=declaration,
        ),
        findings=all_of(details.findings, "message", "hint", "pointer", "place"),
        translations=all_of(details.translations, "problem", files=files),
    )
    parts = {
        "quality": report.quality.model_copy(update={"worst": named(report.quality.worst)}),
        "catalog": report.catalog.model_copy(update={"name": text}),
        "history": history.model_copy(update={"since": text, "apps": named(history.apps)}),
        "notes": (text,),
    }
    return hostile.model_copy(update=parts)


def _visible(text: str) -> str:
    """Return how the page shows a text, computed here from what the documents promise."""
    return "".join(
        item if 0x20 <= ord(item) < 0x7F else item.encode("unicode-escape").decode() for item in text
    )


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:30])
def test_hostile_texts_stay_texts(text: str, open_report: OpenReport) -> None:
    page = open_report(_hostile(text))
    _show_capabilities(page)
    page.run("$('#matrix tbody .link').click()")
    page.wait("$('#sheet pre')")
    declared = page.run("$('#sheet pre').textContent")
    in_sheet = _visible(text) if len(text) <= 160 else f"{text[:159]}\N{HORIZONTAL ELLIPSIS}"

    assert page.run("$('h1').textContent") == _visible(text)
    assert page.run("$('#sheet-title').textContent") == in_sheet
    assert json.loads(declared) == {"id": text}
    assert declared.isprintable() or set(declared) - {"\n"} == set(re.sub(r"[^\x20-\x7e]", "", declared))
    assert page.run("window.taken === undefined")
    assert page.run("$$('script').length") == 3
    assert page.run("$$('img, iframe, object, embed, link, base, form[action]').length") == 0
    assert page.run("$$('a').every((one) => one.getAttribute('href')[0] === '#')")
    assert page.run("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("text", [item for item in HOSTILE if item.isprintable() and len(item) < 1000])
def test_a_command_that_is_copied_has_the_source_as_one_word(text: str, open_report: OpenReport) -> None:
    page = open_report(_hostile(text))
    page.run("$('#matrix tbody .link').click()")
    page.wait("$('#sheet pre.command')")
    words = shlex.split(page.run("$('#sheet pre.command').textContent"))
    assert words == ["droidgate", "inspect", f"./{text}" if text.startswith("-") else text]


def test_the_policy_lets_no_script_run_and_no_text_become_markup(tmp_path: Path, browser: Browser) -> None:
    path = tmp_path / "coverage.html"
    strange = "<b id=bad onclick='window.taken = 1'>x</b><script>window.taken = 1</script>"
    text = render_page(make_report(3)).replace("</body>", f"{strange}<img src=other.png></body>")
    path.write_text(text, encoding="utf-8")
    page = new_page(browser)
    page.open(path)
    page.run("$('#bad').click()")
    assert page.run(
        "(() => { try { document.body.innerHTML = '<b>x</b>'; return false; } catch { return true; } })()"
    )
    assert page.run("window.taken === undefined")
    assert sum("Content Security Policy" in complaint for complaint in page.complaints()) >= 3
    page.close()


COMMAND = "$('#sheet pre.command').textContent"
CHOICE = "$('#sheet select')"


def _run_in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a shell does where droidgate is installed."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "DROIDGATE_HOME": str(folder / "home")}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["it's mine; $(ls)", "-o"])
def test_the_commands_of_the_page_run_when_they_are_pasted(
    tmp_path: Path, open_report: OpenReport, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    shutil.copytree(CHECKOUT / "device_shim/apps/clock-in", tmp_path / name)
    monkeypatch.chdir(tmp_path)
    catalog = scan_into(tmp_path / "catalog", Path(f"./{name}")).catalog
    with ReportedCatalog(Snapshot("c", catalog), (), ReportOptions(details=True, matching=False)) as coverage:
        page = open_report(coverage.report)
    page.run("$('#matrix tbody th .link').click()")
    page.wait("$('#sheet pre.command')")
    looked_at = _run_in_shell(page.run(COMMAND), tmp_path)
    assert (looked_at.returncode, "clock_in_today" in looked_at.stdout) == (0, True), looked_at.stderr

    page.run("$('#sheet table .link').click()")
    page.wait(CHOICE)
    assert page.run(f"[...{CHOICE}.options].map((one) => one.value)") == list(catalog.targets)
    for target in ("appfunctions+v2", "mcp+2025-11-25"):
        page.run(f"{CHOICE}.value = {json.dumps(target)}")
        page.run(f"{CHOICE}.dispatchEvent(new Event('change', {{bubbles: true}}))")
        result = _run_in_shell(page.run(COMMAND), tmp_path)
        assert result.returncode == 0, result.stderr
        assert (tmp_path / "out/fidelity.json").is_file()
        shutil.rmtree(tmp_path / "out")
