"""The text of the page's file, read without a browser."""

import base64
import html
import json
import re
import zlib
from typing import Any

import pytest

from droidgate.coverage.coverage_document import Counted
from droidgate.coverage.html.page import render_page
from droidgate.coverage.html.views import format_titles, marked, percent, segments, shade, signed, trend_lines
from droidgate_mappings.text.counted_nouns import amount
from gateway.coverage_html.made_reports import make_report


def _data(page: str, name: str) -> Any:
    return json.loads(
        page.split(f'<script type="application/json" id="{name}">')[1].partition("</script>")[0]
    )


def _packs(page: str) -> dict[str, Any]:
    packs: dict[str, Any] = {}
    for item in _data(page, "packs"):
        packs |= json.loads(zlib.decompress(base64.b64decode(item)))
    return packs


def test_every_declaration_and_finding_of_the_report_is_in_the_page() -> None:
    report = make_report(40)
    assert report.details is not None
    packs = _packs(render_page(report))

    declared = {
        int(at): json.loads(item["declaration"])
        for app in packs.values()
        for at, item in app["capabilities"].items()
    }
    assert declared == {
        at: json.loads(item.declaration) for at, item in enumerate(report.details.capabilities)
    }
    assert sum(len(app["findings"]) for app in packs.values()) == len(report.details.findings)


def test_the_columns_of_each_capability_have_the_values_of_the_report() -> None:
    report = make_report(40)
    details = report.details
    assert details is not None
    columns = _data(render_page(report), "columns")
    capabilities = columns["capabilities"]

    assert [columns["texts"][item] for item in capabilities["id"]] == [
        item.id for item in details.capabilities
    ]
    assert capabilities["reach"] == [item.reach for item in details.capabilities]
    assert [
        [columns["reaches"][cell[0]] for cell in columns["reach_profiles"][item]]
        for item in capabilities["reach"]
    ] == [[cell.reach for cell in details.reach_profiles[item.reach].cells] for item in details.capabilities]


def test_the_same_report_makes_the_same_page() -> None:
    assert render_page(make_report(3)) == render_page(make_report.__wrapped__(3))


def test_a_report_without_details_states_why_and_keeps_its_figures() -> None:
    report = make_report(40).model_copy(update={"details": None, "notes": ("Single apps are left out",)})
    page = render_page(report)

    assert "Single apps are not in this report: single apps are left out." in page
    assert 'id="columns"' not in page
    assert f"<dd>{report.totals.capabilities:,}</dd>" in page


@pytest.mark.slow
def test_a_page_that_would_be_too_large_leaves_out_declarations_then_details() -> None:
    report = make_report(40)
    whole = len(render_page(report).encode())

    without_declarations = render_page(report, most_bytes=whole - 1)
    without_details = render_page(report, most_bytes=whole // 4)

    assert len(without_declarations) < whole
    assert all(
        "declaration" not in capability
        for app in _packs(without_declarations).values()
        for capability in app["capabilities"].values()
    )
    assert "Declarations are left out" in without_declarations
    assert 'id="columns"' not in without_details
    assert "Single apps are left out" in without_details


@pytest.mark.parametrize("left_out", ["use_cases", "matching", "history"])
def test_a_part_that_the_report_has_not_is_not_in_the_page(left_out: str) -> None:
    page = render_page(make_report(3).model_copy(update={left_out: None}))

    identifier = {"use_cases": "use-cases", "matching": "matches", "history": "history"}[left_out]
    assert f'id="{identifier}"' not in page
    assert f'href="#{identifier}"' not in page


def test_the_trend_names_a_protocol_that_only_an_earlier_catalog_has() -> None:
    history = make_report(3).history
    assert history is not None
    earlier = history.trend[0].model_copy(update={"protocols": (Counted(name="app-actions", count=1),)})
    titles = [line.title for line in trend_lines([earlier], format_titles())]
    assert titles[-1] == "Capabilities in App Actions"


def test_a_share_is_rounded_to_all_or_none_only_where_that_is_exact() -> None:
    texts = [percent(part, 1000) for part in (0, 1, 500, 999, 1000)]

    assert [re.sub("\N{NO-BREAK SPACE}", "", item) for item in texts] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert percent(0, 0) == "\N{EN DASH}"
    assert [shade(part, 1000) for part in (0, 1, 500, 999, 1000)] == [0, 1, 5, 9, 10]
    assert [signed(item) for item in (-3, 0, 1200)] == ["\N{MINUS SIGN}3", "0", "+1,200"]


def test_the_parts_of_a_bar_are_its_whole_length() -> None:
    bar = segments(("a", "b", "c"), (1, 0, 3))

    assert [(item.name, item.start, item.length) for item in bar] == [("a", 0.0, 25.0), ("c", 25.0, 75.0)]


def test_what_is_between_backticks_is_code_and_nothing_in_it_is_markup() -> None:
    assert str(marked("Write `<a>` & `b`, not \u202ec")) == (
        "Write <code>&lt;a&gt;</code> &amp; <code>b</code>, not \\u202ec"
    )
    assert str(marked(None)) == ""
    report = make_report(3)
    counted = report.quality.findings[0].model_copy(update={"meaning": "A `thing` of <b>"})
    changed = report.model_copy(
        update={"quality": report.quality.model_copy(update={"findings": (counted,)})}
    )
    assert '<td class="small">A <code>thing</code> of &lt;b&gt;</td>' in render_page(changed)


def test_the_page_states_how_many_links_there_are() -> None:
    report = make_report(40)
    page = render_page(report)
    assert report.matching is not None
    links = sum(kind.count for kind in report.matching.kinds)
    assert f"by {links} links: " in page
    reported = report.model_copy(
        update={"catalog": report.catalog.model_copy(update={"outcomes": (Counted(name="part", count=2),)})}
    )
    assert "2 splits · scanned by" in render_page(reported)


def test_one_of_something_is_reported_in_the_singular() -> None:
    assert [amount(count, "link") for count in (0, 1, 1_200)] == ["0 links", "1 link", "1,200 links"]
    report = make_report(40)
    assert report.matching is not None
    kinds = (Counted(name="near-duplicate", count=1),)
    item = {"groups": 1, "capabilities": 2, "kinds": kinds, "full_blocks": 1}
    page = render_page(report.model_copy(update={"matching": report.matching.model_copy(update=item)}))
    assert "2 capabilities are in 1 group of one job each, by 1 link: 1 in nearly the same words." in page
    assert "1 block was full" in page


def test_access_rules_that_a_target_does_not_enforce_are_marked_apart_from_the_share_carried() -> None:
    report = make_report(40)
    page = render_page(report)
    marked_cells = [item for item in report.fidelity if item.security]
    assert 0 < len(marked_cells) < len(report.fidelity)
    assert page.count(' data-security="') == len(marked_cells)
    legend = "security: the target does not enforce an access rule of some capabilities."
    assert page.count(legend) == 1
    closed = tuple(item.model_copy(update={"security": 0}) for item in report.fidelity)
    without = render_page(report.model_copy(update={"fidelity": closed}))
    assert " data-security=" not in without
    assert legend not in without


@pytest.mark.slow
def test_opened_access_rules_have_a_tile_of_their_own_in_the_history() -> None:
    report = make_report(40)
    assert report.history is not None
    tile = "<dt>Security</dt><dd>3</dd>"
    assert render_page(report).count(tile) == 1
    counts = report.history.counts.model_copy(update={"security": 0})
    history = report.history.model_copy(update={"counts": counts})
    assert "<dt>Security</dt>" not in render_page(report.model_copy(update={"history": history}))


def test_the_policy_comes_first_and_names_digests_alone() -> None:
    page = render_page(make_report(3))
    policy = html.unescape(page.split('http-equiv="Content-Security-Policy" content="')[1].split('"')[0])
    directives = dict(item.split(" ", 1) for item in policy.split("; "))
    assert directives["default-src"] == "'none'"
    for name in ("style-src", "script-src"):
        assert re.fullmatch(r"'sha256-[A-Za-z0-9+/]{43}='", directives[name])
    assert page.index("Content-Security-Policy") < page.index("<style>")
    assert not re.search(r"\b(?:https?|ftp|data|blob):", page.replace("http://www.w3.org/2000/svg", ""))
