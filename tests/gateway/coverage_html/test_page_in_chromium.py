"""The page as people use it, in real Chromium."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.coverage_document import Details, Report
from droidgate.coverage.html.page import render_page
from gateway.coverage_html.browser import Page
from gateway.coverage_html.conftest import OpenPage

MATRIX = "document.querySelector('#matrix')"
NAMES = "[...document.querySelectorAll('#matrix tbody th .link')].map((one) => one.textContent)"
COUNT = "document.querySelector('#count').textContent"


def _details(report: Report) -> Details:
    assert report.details is not None
    return report.details


def _choose(page: Page, name: str, value: str) -> None:
    before = page.run(COUNT)
    page.run(
        f"(() => {{ const field = document.querySelector('[name={name}]'); field.value = {json.dumps(value)};"
        "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )
    page.wait(f"{COUNT} !== {json.dumps(before)}")


def _show_capabilities(page: Page) -> None:
    page.click("[name=show][value=capabilities]")
    page.wait(f"{COUNT}.includes('capabilit')")


def _column(page: Page, at: int) -> list[str]:
    found: list[str] = page.run(
        f"[...document.querySelectorAll('#matrix tbody tr')].map((row) => row.cells[{at}].textContent)"
    )
    return found


def _active(page: Page) -> Any:
    return page.run(
        "(() => { const one = document.activeElement; return [one.tagName, one.textContent.trim()]; })()"
    )


def test_the_figures_of_the_report_are_in_the_tiles(page: Page, report: Report) -> None:
    tiles = page.run(
        "Object.fromEntries([...document.querySelectorAll('#overview .tiles > div')]"
        ".map((one) => [one.children[0].textContent, one.children[1].textContent]))"
    )

    assert tiles["Apps"] == f"{report.totals.apps:,}"
    assert tiles["Declare something"] == f"{report.totals.declaring_apps:,}"
    assert tiles["Capabilities"] == f"{report.totals.capabilities:,}"
    assert tiles["Tokens"] == f"{report.totals.tokens:,}"


def test_every_app_is_counted_before_any_filter(page: Page, report: Report) -> None:
    assert page.run(COUNT) == f"{report.totals.apps} of {report.totals.apps} apps"
    assert page.run("document.querySelector('#count').getAttribute('aria-live')") == "polite"


def test_words_filter_apps_by_name_and_by_their_capabilities(page: Page, report: Report) -> None:
    details = _details(report)
    expected = "create_note"
    having = {
        details.providers[capability.provider].app
        for capability in details.capabilities
        if expected in capability.id.lower()
    }
    assert 0 < len(having) < len(details.apps)

    page.click("[name=search]")
    page.type(expected)

    assert page.wait(f"{COUNT}.startsWith('{len(having)} of ')")
    assert page.run(f"{NAMES}.length") == len(having)


@pytest.mark.parametrize("reach", [0, 1, 2, 3])
def test_the_matrix_filters_by_what_one_agent_reaches(page: Page, report: Report, reach: int) -> None:
    name = ("native", "gateway", "ui-only", "none")[reach]
    expected = sum(app.best[0] == name for app in _details(report).apps)

    page.run("document.querySelector('[name=agent]').value = '0'")
    _choose(page, "reach", str(reach))

    assert page.run(COUNT) == f"{expected} of {report.totals.apps} apps"


def test_capabilities_filter_by_protocol_and_finding(page: Page, report: Report) -> None:
    details = _details(report)
    erring = {finding.capability for finding in details.findings if finding.level == "error"}
    expected = [
        finding.id
        for at, finding in enumerate(details.capabilities)
        if details.providers[finding.provider].protocol == "mobile-mcp" and at in erring
    ]

    _show_capabilities(page)
    _choose(page, "protocol", "mobile-mcp")
    _choose(page, "findings", "0")

    assert sorted(page.run(NAMES)) == sorted(expected)


def test_a_filter_that_nothing_fits_says_so_and_is_taken_back(page: Page, report: Report) -> None:
    page.click("[name=search]")
    page.type("no app is called so")
    page.wait(f"{COUNT}.startsWith('0 of ')")
    reported = page.run(f"{MATRIX}.textContent")

    page.click("#filters [type=reset]")

    assert "Nothing fits these filters" in reported
    assert page.wait(f"{COUNT}.startsWith('{report.totals.apps} of ')")


def test_a_header_sorts_and_says_how(page: Page, report: Report) -> None:
    by_number = sorted((item.capabilities for item in _details(report).apps), reverse=True)

    page.click("[data-column=capabilities]")
    first = _column(page, 7)
    page.click("[data-column=capabilities]")
    then = _column(page, 7)

    assert [int(item) for item in first[:20]] == by_number[:20]
    assert then[0] == "\N{EN DASH}"
    assert page.run("document.querySelector('th[aria-sort]').getAttribute('aria-sort')") == "ascending"
    assert page.run("document.querySelectorAll('#matrix th[aria-sort]').length") == 1
    assert page.run("document.activeElement.dataset.column") == "capabilities"


def test_pages_of_the_matrix_turn_and_show_every_row_once(page: Page, report: Report) -> None:
    seen = page.run(NAMES)
    while not page.run("document.querySelectorAll('#pager button')[2].disabled"):
        page.run("document.querySelectorAll('#pager button')[2].click()")
        seen += page.run(NAMES)

    assert len(seen) == report.totals.apps
    assert sorted(seen) == sorted(app.label or app.package or "" for app in _details(report).apps)


def test_the_way_leads_from_an_app_to_a_capability_with_all_that_is_known_of_it(
    page: Page, report: Report
) -> None:
    details = _details(report)
    packages = " ".join(item.package or "" for item in details.apps)
    at = next(
        item.capability or 0
        for item in details.findings
        if item.code == "description-missing"
        and packages.count(details.apps[item.app or 0].package or "") == 1
    )
    capability = details.capabilities[at]
    provider = details.providers[capability.provider]
    app = details.apps[provider.app]
    message = next(item.message for item in details.findings if item.capability == at)

    page.click("[name=search]")
    page.type(app.package or "")
    page.wait(f"{COUNT}.startsWith('1 of ')")
    page.click("#matrix tbody .link")
    page.wait("document.querySelector('#sheet .command')")
    of_app = page.run("document.querySelector('#sheet').textContent")
    page.run(
        "[...document.querySelectorAll('#sheet .link')]"
        f".find((one) => one.textContent === {json.dumps(capability.id)}).click()"
    )
    page.wait("document.querySelector('#sheet pre:not(.command)')")
    reported = page.run("document.querySelector('#sheet').textContent")

    assert app.package in of_app
    assert app.signers[0] in of_app
    assert capability.place in reported
    assert capability.parameters in reported
    assert provider.component in reported
    assert message in reported
    declared = page.run("document.querySelector('#sheet pre:not(.command)').textContent")
    assert json.loads(declared) == json.loads(capability.declaration)
    for cell in details.reach_profiles[capability.reach].cells:
        assert cell.reason[1:] in reported
    assert f"droidgate convert {app.sources[0]} --to {details.targets[0]}" in reported


def test_a_chosen_translation_is_shown_in_full(page: Page, report: Report) -> None:
    details = _details(report)
    translation = details.translations[0]
    at = next(at for at, item in enumerate(details.capabilities) if item.provider == translation.provider)

    _show_capabilities(page)
    app = details.apps[details.providers[translation.provider].app]
    page.click("[name=search]")
    page.type(f"{details.capabilities[at].id} {app.package}")
    page.wait(f"{NAMES}[0] === {json.dumps(details.capabilities[at].id)}")
    page.click("#matrix tbody .link")
    page.wait("document.querySelector('#sheet details')")
    reported = page.run("document.querySelector('#sheet').textContent")

    assert translation.target in reported
    assert translation.files[0].text in reported
    assert translation.findings[0].message in reported


def test_a_capability_leads_to_those_that_do_the_same(page: Page, report: Report) -> None:
    details = _details(report)
    at, item = next((at, item) for at, item in enumerate(details.capabilities) if item.group is not None)
    assert item.group is not None
    others = [each for each in details.groups[item.group].members if each != at]
    app = details.apps[details.providers[item.provider].app]

    _show_capabilities(page)
    page.click("[name=search]")
    page.type(f"{item.id} {app.package}")
    page.wait(f"{NAMES}[0] === {json.dumps(item.id)}")
    page.click("#matrix tbody .link")
    page.wait("document.querySelector('#sheet .command')")
    rows = page.run(
        "[...document.querySelectorAll('#sheet [aria-label=\"Capabilities of the same use case\"] tbody tr')]"
        ".map((row) => row.cells[1].textContent)"
    )

    named = [
        details.apps[details.providers[details.capabilities[each].provider].app].label for each in others
    ]
    assert sorted(rows) == sorted(str(each) for each in named[:40])


def test_findings_on_no_single_app_are_there_too(report: Report, tmp_path: Path, open_page: OpenPage) -> None:
    details = _details(report)
    lost = details.findings[0].model_copy(
        update={"app": None, "provider": None, "capability": None, "message": "It is nobody's"}
    )
    changed = details.model_copy(update={"findings": (*details.findings, lost)})
    path = tmp_path / "coverage.html"
    path.write_text(render_page(report.model_copy(update={"details": changed})), encoding="utf-8")

    page = open_page(path)
    page.run("document.querySelector('#unplaced button').click()")

    assert page.wait("document.querySelector('#sheet').textContent.includes(\"It is nobody's\")")


def test_the_sheet_keeps_the_focus_and_gives_it_back(page: Page) -> None:
    page.run(f"{MATRIX}.querySelector('tbody .link').focus()")
    opener = _active(page)
    page.press("Enter")
    page.wait("document.querySelector('#sheet .command')")
    assert page.run("document.activeElement.id") == "sheet-title"
    for _ in range(30):
        page.press("Tab")
        assert page.run(
            "document.activeElement === document.body || !!document.activeElement.closest('#sheet')"
        )

    page.press("Escape")

    assert not page.run("document.querySelector('#sheet').open")
    assert _active(page) == opener


def test_the_first_key_leads_to_a_link_past_the_navigation(page: Page) -> None:
    page.press("Tab")
    assert _active(page) == ["A", "Skip to the report"]

    page.press("Enter")

    assert page.run("document.activeElement.id") == "main"


def test_the_keyboard_alone_sorts_filters_and_reads_the_heat_map(page: Page) -> None:
    page.run("document.querySelector('[name=show]').focus()")
    page.press("ArrowRight")
    assert page.wait(f"{COUNT}.includes('capabilit')")
    page.run("document.querySelector('[data-column=tokens]').focus()")
    page.press("Enter")
    tokens = [int(item) for item in _column(page, 8)]
    assert tokens == sorted(tokens, reverse=True)

    page.run("document.querySelector('#heat button').focus()")
    before = page.wait("document.querySelector('#heat-told').textContent")
    page.press("ArrowRight")
    after = page.run("document.querySelector('#heat-told').textContent")

    assert before != after
    assert page.run("document.querySelectorAll('#heat button[tabindex=\"0\"]').length") == 1


def test_the_heat_map_follows_what_counts_as_carried(page: Page, report: Report) -> None:
    cell = report.fidelity[1]
    expected = 100 * cell.levels[0] // sum(cell.levels)

    page.run(
        "(() => { const field = document.querySelector('#carried'); field.value = '0';"
        "field.dispatchEvent(new Event('change')); })()"
    )

    assert page.run(
        f'document.querySelector(\'#heat [data-from="{cell.protocol}+{cell.dialect}"]'
        f'[data-to="{cell.target}"]\').textContent'
    ) == str(expected)


def test_a_row_of_the_overlap_leads_to_its_apps(page: Page, report: Report) -> None:
    row = next(item for item in report.overlap if len(item.protocols) == 2)

    page.run(f"document.querySelector('[data-set=\"{' '.join(row.protocols)}\"] button').click()")

    assert page.run(COUNT).startswith(f"{row.apps} of ")


def test_a_use_case_leads_to_the_apps_that_serve_it(page: Page, report: Report) -> None:
    served = next(use_case for kind in report.use_cases or () for use_case in kind.use_cases if use_case.apps)

    page.run(f"document.querySelector('[data-use-case=\"{served.id}\"] button').click()")

    assert page.run(COUNT).startswith(f"{served.apps} of ")


def test_gaps_are_called_gaps(page: Page, report: Report) -> None:
    gaps = sum(not use_case.apps for kind in report.use_cases or () for use_case in kind.use_cases)

    assert gaps > 0
    assert page.run("document.querySelectorAll('#use-cases .gap').length") == gaps


def test_the_page_follows_the_system_and_its_own_switch(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.run(ground)
    page.media(scheme="dark")
    page.wait("document.querySelector('#theme').getAttribute('aria-pressed') === 'true'")
    dark = page.run(ground)

    page.click("#theme")

    assert light != dark
    assert page.run(ground) == light
    assert page.run("document.querySelector('#theme').getAttribute('aria-pressed')") == "false"


@pytest.mark.parametrize("width", [360, 768, 1280, 1920])
def test_no_width_makes_the_page_itself_scroll_sideways(page: Page, width: int) -> None:
    page.look(width, 900)

    assert page.run("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_print_shows_the_folded_and_leaves_out_the_controls(page: Page) -> None:
    page.run("dispatchEvent(new Event('beforeprint'))")
    page.media(scheme="dark", media="print")
    hidden = "getComputedStyle(document.querySelector('{}')).display"

    for selector in ("#filters", "body > nav", "#theme"):
        assert page.run(hidden.format(selector)) == "none"
    assert page.run("document.querySelectorAll('main details:not([open])').length") == 0
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.call("Page.printToPDF", transferMode="ReturnAsStream")["stream"]
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("document.querySelectorAll('main details[open]').length") == 0


@pytest.mark.slow
def test_screen_readers_get_landmarks_headings_and_tables(page: Page) -> None:
    page.call("Accessibility.enable")
    nodes = page.call("Accessibility.getFullAXTree")["nodes"]
    roles = [
        (node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if "role" in node
    ]

    landmarks = {role for role, _ in roles}
    assert {"banner", "main", "navigation", "contentinfo", "search", "status", "columnheader"} <= landmarks
    unnamed = [
        role
        for role, name in roles
        if role in ("button", "combobox", "searchbox", "link", "region", "table", "heading", "radio")
        and not name
    ]
    assert unnamed == []
    assert ("button", "Dark") in roles
    levels = page.run("[...document.querySelectorAll('h1,h2,h3,h4')].map((one) => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = page.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
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
  for (const element of document.querySelectorAll('body *')) {
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
def test_every_text_has_enough_contrast(page: Page, scheme: str) -> None:
    page.media(scheme=scheme)
    on_page = page.run(CONTRASTS)
    page.click("#matrix tbody .link")
    page.wait("document.querySelector('#sheet .command')")
    with_sheet = page.run(CONTRASTS)

    assert on_page["looked"] > 500
    assert on_page["low"] == []
    assert with_sheet["low"] == []
