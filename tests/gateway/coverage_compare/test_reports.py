"""What a report says of catalogs whose rows are typed by hand, and of the sample apps."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.coverage_document import Report
from droidgate.coverage.history import Snapshot
from droidgate.coverage.report import Coverage, ReportOptions
from droidgate.sources.catalogs.catalog import Catalog
from gateway.coverage_compare.made_catalogs import (
    App,
    Declares,
    Tool,
    broadcast,
    functions,
    make_catalog,
    mmcp,
    mobile_mcp,
    tool_list,
)
from gateway.coverage_scan.catalogs import scan_into
from requirements_of_tests import CHECKOUT

SAMPLE = "dev.droidgate.sample."


def report_of(catalog: Catalog, **expected: Any) -> Report:
    with Coverage(Snapshot("made", catalog), (), ReportOptions(**expected)) as coverage:
        return coverage.report


def reach_of(report: Report) -> dict[str, tuple[int, int, int, int]]:
    return {item.agent: item.capabilities for item in report.reach}


def best_of(report: Report) -> dict[str, tuple[int, int, int, int]]:
    return {item.agent: item.apps for item in report.reach}


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """One app of each kind: in two protocols, silent, closed, of screens, of nothing, a file, functions."""
    return make_catalog(
        tmp_path_factory.mktemp("several") / "c",
        App("a.both", [mobile_mcp(Tool("send_message")), mmcp(Tool("send_message"))]),
        App("b.silent", [broadcast()], has_launcher=False),
        App("c.closed", [mobile_mcp(Tool("clock_in"), exported=False)]),
        App("d.screens"),
        App("e.nothing", has_launcher=False),
        App(None, [tool_list(Tool("search"))], source="tools.json"),
        App(
            "f.functions",
            [
                functions(
                    Tool("createNote", levels={"mmcp+1.0": "dropped", "mcp+2025-11-25": "renamed"}),
                    Tool("wipe", access={"access_level": "system"}),
                )
            ],
            has_launcher=False,
        ),
    )


def test_the_totals_count_apps_by_what_they_declare(several: Catalog) -> None:
    totals = report_of(several).totals
    assert (totals.apps, totals.descriptors, totals.declaring_apps) == (7, 1, 5)
    assert (totals.silent_apps, totals.ui_only_apps, totals.mute_apps) == (1, 1, 1)
    assert (totals.several_protocols_apps, totals.providers, totals.capabilities) == (1, 6, 6)
    assert totals.tokens == 60


def test_capabilities_are_counted_by_how_each_agent_reaches_them(several: Catalog) -> None:
    # send_message twice, clock_in (closed, with a screen), search (a file alone), createNote, wipe (closed).
    assert reach_of(report_of(several)) == {
        "mobile-mcp": (1, 2, 1, 2),
        "mmcp-activity": (1, 2, 1, 2),
        "mmcp-broadcast": (0, 3, 1, 2),
        "app-functions": (1, 2, 1, 2),
        "mcp-client": (1, 3, 1, 1),
        "ui": (0, 0, 3, 3),
    }


def test_apps_are_counted_by_the_best_reach_and_silent_ones_by_their_receiver(several: Catalog) -> None:
    assert best_of(report_of(several)) == {
        "mobile-mcp": (1, 2, 2, 2),
        "mmcp-activity": (1, 2, 2, 2),
        "mmcp-broadcast": (1, 2, 2, 2),
        "app-functions": (1, 2, 2, 2),
        "mcp-client": (1, 3, 2, 1),
        "ui": (0, 0, 3, 4),
    }


def test_what_the_gateway_carries_is_reported_with_its_loss(several: Catalog) -> None:
    levels = {
        item.agent: {kept.name: kept.count for kept in item.levels} for item in report_of(several).reach
    }
    assert levels["mobile-mcp"] == {"exact": 2}
    assert levels["mmcp-activity"] == {"exact": 1, "dropped": 1}
    assert levels["mcp-client"] == {"exact": 2, "renamed": 1}
    assert levels["ui"] == {}


def test_protocols_overlap_by_app(several: Catalog) -> None:
    report = report_of(several)
    assert {item.protocols: item.apps for item in report.overlap} == {
        (): 2,
        ("mmcp", "mobile-mcp"): 1,
        ("mmcp",): 1,
        ("mobile-mcp",): 1,
        ("mcp",): 1,
        ("appfunctions",): 1,
    }
    assert [(item.protocol, item.dialect, item.apps, item.capabilities) for item in report.protocols] == [
        ("appfunctions", "v2", 1, 2),
        ("mcp", "2025-11-25", 1, 1),
        ("mmcp", "1.0", 1, 1),
        ("mmcp", "broadcast", 1, 0),
        ("mobile-mcp", "1.0", 2, 2),
    ]


def test_the_fidelity_of_each_conversion_is_counted_by_level(several: Catalog) -> None:
    report = report_of(several)
    cells = {(item.protocol, item.target): item.levels for item in report.fidelity}
    exact, dropped = report.levels.index("exact"), report.levels.index("dropped")
    assert cells["appfunctions", "mmcp+1.0"][dropped] == 1
    assert cells["appfunctions", "mmcp+1.0"][exact] == 1
    assert sum(map(sum, cells.values())) == several.rows["conversions"]


def test_the_same_thing_twice_in_one_app_is_an_overlap(several: Catalog) -> None:
    report = report_of(several)
    assert report.matching is not None
    assert [(item.name, item.count) for item in report.matching.kinds] == [("same-app-twice", 1)]
    (group,) = report.matching.largest
    assert (group.apps, group.capabilities) == (1, 2)
    assert {item.name: item.count for item in group.protocols} == {"mmcp": 1, "mobile-mcp": 1}


def test_use_cases_that_nobody_serves_are_gaps(several: Catalog) -> None:
    report = report_of(several)
    assert report.use_cases is not None
    served = {
        kept.id: (kept.apps, kept.capabilities)
        for use_case in report.use_cases
        for kept in use_case.use_cases
    }
    assert served["messaging.send"] == (1, 2)
    assert served["notes.create"] == (1, 1)
    assert served["media.playback"] == (0, 0)
    messaging = next(use_case for use_case in report.use_cases if use_case.id == "messaging")
    assert (messaging.apps, messaging.covered) == (1, 1)


def test_matching_can_be_left_out_and_is_said_to_be(several: Catalog) -> None:
    report = report_of(several, matching=False)
    assert (report.matching, report.use_cases) == (None, None)
    assert report.notes == ("overlaps and use cases are left out, as --no-match says",)


def test_an_app_in_two_versions_overlaps_with_nobody(tmp_path: Path) -> None:
    catalog = make_catalog(
        tmp_path / "c",
        App("a", [mmcp(Tool("play_song"))], version=1),
        App("a", [mmcp(Tool("play_song"))], version=2),
    )
    report = report_of(catalog)
    assert report.matching is not None
    assert report.matching.groups == 0
    assert report.totals.apps == 2


def test_the_details_refer_to_each_other(several: Catalog) -> None:
    report = report_of(several, details=True)
    details = report.details
    assert details is not None
    assert [item.package for item in details.apps] == [
        "a.both", "b.silent", "c.closed", "d.screens", "e.nothing", "f.functions", None
    ]  # fmt: skip
    assert len(details.capabilities) == 6
    for item in details.capabilities:
        provider = details.providers[item.provider]
        app = details.apps[provider.app]
        assert provider.protocol in app.protocols
        assert len(details.reach_profiles[item.reach].cells) == len(report.agents)
        assert len(details.level_profiles[item.levels].levels) == len(details.targets)
        assert f'"id":"{item.id}"' in item.declaration
    by_id = {item.id: item for item in details.capabilities}
    levels = details.level_profiles[by_id["createNote"].levels].levels
    assert dict(zip(details.targets, levels, strict=True))["mmcp+1.0"] == "dropped"
    (group,) = details.groups
    assert {details.capabilities[item].id for item in group.members} == {"send_message"}
    for app in details.apps:
        assert all(sum(counts) == app.capabilities for counts in app.reach)
    totals = [sum(app.reach[at][0] for app in details.apps) for at in range(len(report.agents))]
    assert totals == [item.capabilities[0] for item in report.reach]


def test_chosen_apps_are_translated_and_others_are_not(several: Catalog) -> None:
    details = report_of(several, details=True, translate=["a.*"]).details
    assert details is not None
    translated = {
        details.apps[details.providers[translation.provider].app].package
        for translation in details.translations
    }
    assert translated == {"a.both"}
    written = {
        translation.target: translation for translation in details.translations if translation.provider == 0
    }
    assert "send_message" in written["mcp+2025-11-25"].files[0].text


@pytest.mark.parametrize(("most", "is_noted"), [(1, True), (2, False)])
def test_that_not_all_is_translated_is_reported_where_it_is_so(
    several: Catalog,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    is_noted: bool,  # noqa: FBT001
) -> None:
    monkeypatch.setattr("droidgate.coverage.report.MOST_PROVIDERS", most)
    report = report_of(several, details=True, translate=["a.both", "*.both"])
    assert report.details is not None
    assert len({translation.provider for translation in report.details.translations}) == most
    assert (f"at most {most} providers are translated" in report.notes) is is_noted


def test_a_function_that_is_off_at_first_needs_its_app_for_every_agent(tmp_path: Path) -> None:
    declared = functions(Tool("createNote"), Tool("print", access={"enabled_by_default": False}))
    details = report_of(make_catalog(tmp_path / "c", App("a", [declared])), details=True).details
    assert details is not None
    (off,) = [capability for capability in details.capabilities if capability.id == "print"]
    (on,) = [capability for capability in details.capabilities if capability.id == "createNote"]
    needed = "the app enables it, which is off at first"
    for capability, is_needed in ((off, True), (on, False)):
        cells = details.reach_profiles[capability.reach].cells
        assert {needed in cell.needs for cell in cells if cell.reach in ("native", "gateway")} == {is_needed}


def test_an_app_that_is_disabled_is_reached_by_nobody(tmp_path: Path) -> None:
    declared = [mobile_mcp(Tool("send_message"))]
    catalog = make_catalog(
        tmp_path / "c", App("off", declared, enabled=False), App("unknown", declared, enabled=None)
    )
    report = report_of(catalog)
    assert reach_of(report)["mobile-mcp"] == (1, 0, 0, 1)
    assert best_of(report)["ui"] == (0, 0, 1, 1)


def test_quality_is_counted_from_the_rows(tmp_path: Path) -> None:
    poor = Tool(
        "x1", description=None, facts={"undescribed_count": 1, "untyped_count": 1, "parameter_count": 2}
    )
    good = Tool("sendMessage", parameters={"text": "string"})
    marked = [
        {"origin": "security", "provider": 0, "code": "exported-without-permission"},
        {"origin": "lint", "provider": 0, "level": "error", "releases": ("16-qpr2",)},
        {"origin": "reading", "provider": 0, "level": "read"},
    ]
    catalog = make_catalog(
        tmp_path / "c", App("poor", [mmcp(poor)], findings=marked), App("good", [mmcp(good)]), App("screens")
    )
    quality = report_of(catalog).quality
    whole = quality.all
    assert (whole.capabilities, whole.undescribed_capabilities, whole.poor_names) == (2, 1, 1)
    assert (whole.parameters, whole.undescribed_parameters, whole.untyped_parameters) == (3, 1, 1)
    assert (whole.lint_errors, whole.marks, whole.bent, whole.tokens) == (1, 1, 1, 20)
    # 100 - 30 - 20 / 2 - 15 / 2 - 10 - 15 - 10; the other app has no problems.
    assert [(item.package, item.figures.score) for item in quality.worst] == [("poor", 18)]
    assert [(item.origin, item.level, item.findings, item.apps) for item in quality.findings] == [
        ("lint", "error", 1, 1),
        ("reading", "read", 1, 1),
        ("security", "warning", 1, 1),
    ]
    assert [(item.release, item.protocol, item.errors) for item in quality.releases] == [
        ("Android 16 QPR2", "mmcp", 1)
    ]


def test_a_finding_counts_for_the_releases_it_is_true_of_and_not_those_it_names(tmp_path: Path) -> None:
    older = {"provider": 0, "releases": ("16", "16-qpr1"), "message": "not read before Android 17"}
    always = {"provider": 0, "message": "so on every release from Android 16 on"}
    unknown = {"provider": 0, "releases": ("99",), "level": "error"}
    catalog = make_catalog(
        tmp_path / "c", App("a", [functions(Tool("one"))], findings=[unknown, older, always])
    )
    releases = report_of(catalog).quality.releases
    assert [(item.release, item.protocol, item.errors, item.warnings, item.apps) for item in releases] == [
        ("Android 16", "appfunctions", 0, 1, 1),
        ("Android 16 QPR1", "appfunctions", 0, 1, 1),
        ("99", "appfunctions", 1, 0, 1),
    ]


def test_findings_on_apps_that_declare_nothing_count_in_the_whole(tmp_path: Path) -> None:
    errors = [{"level": "error"}, {"level": "error"}]
    catalog = make_catalog(
        tmp_path / "c", App("mute", findings=errors), App("good", [mmcp(Tool("find_note"))], findings=errors)
    )
    quality = report_of(catalog).quality
    assert quality.all.lint_errors == sum(item.findings for item in quality.findings) == 4
    assert [item.package for item in quality.worst] == ["good"]


def test_the_meaning_of_every_linters_code_is_reported() -> None:
    script = (
        "from droidgate_mappings.model.findings import FINDING_CODES; "
        "import droidgate_mappings.formats.format as f;"
        "before = set(FINDING_CODES); f.load_linters();"
        "print(*sorted(set(FINDING_CODES) - before))"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    codes = answer.stdout.split()
    for item in ("appfunctions-no-description", "mobile-mcp-action", "mmcp-exported"):
        assert item in codes


def test_a_form_that_is_not_known_is_reached_by_nobody(tmp_path: Path) -> None:
    strange = Declares("of-a-plugin", None, "service", ["x"], [Tool("one")])
    catalog = make_catalog(tmp_path / "c", App("a", [strange], has_launcher=False))
    assert set(reach_of(report_of(catalog)).values()) == {(0, 0, 0, 1)}


def test_an_empty_catalog_has_a_report(tmp_path: Path) -> None:
    report = report_of(make_catalog(tmp_path / "c"), details=True)
    assert (report.totals.apps, report.quality.all.score) == (0, None)
    assert report.details is not None
    assert report.details.apps == ()


@pytest.mark.slow
def test_the_sample_apps_are_reached_as_their_pages_say(tmp_path: Path) -> None:
    catalog = scan_into(tmp_path / "c", CHECKOUT / "device_shim/apps").catalog
    report = report_of(catalog, details=True)
    assert report.totals.capabilities == 20
    details = report.details
    assert details is not None
    ids = [item.id for item in report.agents]
    best = {item.package: dict(zip(ids, item.best, strict=True)) for item in details.apps}
    own = {
        "clockin": "mobile-mcp",
        "tally": "mobile-mcp",
        "pdftool": "mmcp-activity",
        "weather": "mmcp-broadcast",
        "notes": "app-functions",
        "notes.legacy": "app-functions",
    }
    for name, agent in own.items():
        for item in ids:
            if item != "ui":
                assert best[SAMPLE + name][item] == ("native" if item == agent else "gateway")
    assert set(best[SAMPLE + "agent"].values()) == {"ui-only"}
    without_screen = {item.package for item in details.apps if not item.has_launcher}
    assert {package for package in best if best[package]["ui"] == "none"} == without_screen
