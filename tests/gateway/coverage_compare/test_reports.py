"""What a report says of catalogs whose rows are typed by hand, and of the sample apps."""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage import history as history_module
from droidgate.coverage.coverage_document import CoverageReport, History
from droidgate.coverage.history import Snapshot, history_of
from droidgate.coverage.report import ReportedCatalog, ReportOptions
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


def report_of(catalog: Catalog, **expected: Any) -> CoverageReport:
    with ReportedCatalog(Snapshot("made", catalog), (), ReportOptions(**expected)) as coverage:
        return coverage.report


def reach_of(report: CoverageReport) -> dict[str, tuple[int, int, int, int]]:
    return {item.agent: item.capabilities for item in report.reach}


def best_of(report: CoverageReport) -> dict[str, tuple[int, int, int, int]]:
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
        item.agent: {level.name: level.count for level in item.levels} for item in report_of(several).reach
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
        case.id: (case.apps, case.capabilities)
        for use_case in report.use_cases
        for case in use_case.use_cases
    }
    assert served["messaging.send"] == (1, 2)
    assert served["notes.create"] == (1, 1)
    assert served["media.playback"] == (0, 0)
    messaging = next(use_case for use_case in report.use_cases if use_case.id == "messaging")
    assert (messaging.apps, messaging.covered) == (1, 1)


def test_matching_can_be_left_out_and_the_report_states_that(several: Catalog) -> None:
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
    assert (report.totals.apps, report.totals.repeated_apps) == (2, 1)


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
        assert len(details.level_profiles[item.levels]) == len(details.targets)
        assert f'"id":"{item.id}"' in item.declaration
    by_id = {item.id: item for item in details.capabilities}
    levels = details.level_profiles[by_id["createNote"].levels]
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


@pytest.mark.parametrize(("most", "is_noted"), [(1, True), (2, False)], ids=["one of two", "both"])
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
    assert (whole.lint_errors, whole.marks, whole.lenient_reads, whole.tokens) == (1, 1, 1, 20)
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


def test_the_meaning_of_every_code_of_a_reader_a_writer_and_a_linter_is_reported() -> None:
    script = (
        "import sys; from droidgate_mappings.formats.format import meaning_of; "
        "print(*(code for code in sys.argv[1:] if meaning_of(code) is None))"
    )
    codes = (
        "kotlin-not-understood",
        "too-many-tools",
        "appfunctions-no-description",
        "mmcp-exported",
        "made-up",
    )
    command = [sys.executable, "-c", script, *codes]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["made-up"]


def test_a_dialect_that_is_not_known_is_reached_by_nobody(tmp_path: Path) -> None:
    strange = Declares("of-a-plugin", None, "service", ["x"], [Tool("one")])
    catalog = make_catalog(tmp_path / "c", App("a", [strange], has_launcher=False))
    assert set(reach_of(report_of(catalog)).values()) == {(0, 0, 0, 1)}


@pytest.mark.slow
def test_the_sample_apps_are_reached_as_documented(tmp_path: Path) -> None:
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


# What changed between catalogs, by the code of `droidgate diff`


NOTE = Tool("create_note", parameters={"text": "string"})


def _history(folder: Path, *catalogs: tuple[App, ...]) -> History:
    snapshots = [
        Snapshot(f"c{number}", make_catalog(folder / f"c{number}", *apps))
        for number, apps in enumerate(catalogs)
    ]
    return history_of(snapshots)


def test_added_and_removed_apps_are_reported_with_what_they_declare(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App("stays", [mmcp(NOTE)]), App("went", [mmcp(NOTE, Tool("b"))])),
        (App("stays", [mmcp(NOTE)]), App("came", [mmcp(Tool("c"))]), App("came.screens")),
    )
    counts = history.counts
    assert (counts.apps_added, counts.apps_removed, counts.apps_changed) == (2, 1, 0)
    assert (counts.capabilities_added, counts.capabilities_removed) == (1, 2)
    assert (counts.unchanged, counts.breaking) == (1, 2)
    assert [(app.package, app.status, app.weight) for app in history.apps] == [
        ("went", "removed", "breaking"),
        ("came", "added", "compatible"),
        ("came.screens", "added", None),
    ]


def _tasks(support: str) -> dict[str, Any]:
    return {"mcp": {"execution": {"taskSupport": support}}}


def test_a_change_has_the_level_that_diff_gives_it(tmp_path: Path) -> None:
    before = mmcp(
        Tool("narrows", parameters={"text": "string"}),
        Tool("worded", description="old words"),
        Tool("widens"),
        Tool("unclear", extensions=_tasks("optional")),
        Tool("gone"),
        NOTE,
    )
    after = mmcp(
        Tool("narrows", parameters={"text": "string", "date": "string"}),
        Tool("worded", description="new words"),
        Tool("widens", parameters={}, description="Does something of use"),
        Tool("unclear", extensions=_tasks("perhaps")),
        NOTE,
        Tool("new"),
    )
    history = _history(tmp_path, (App("a", [before], version=1),), (App("a", [after], version=2),))
    counts = history.counts
    assert (counts.capabilities_added, counts.capabilities_removed, counts.capabilities_changed) == (1, 1, 3)
    assert (counts.breaking, counts.compatible, counts.text_only, counts.unchanged) == (3, 0, 1, 2)
    (app,) = history.apps
    assert (app.status, app.weight, app.old_version, app.new_version) == ("changed", "breaking", "1.0", "2.0")
    (provider,) = app.providers
    reported = {capability.id: (capability.status, capability.weight) for capability in provider.capabilities}
    assert reported == {
        "narrows": ("changed", "breaking"),
        "worded": ("changed", "text-only"),
        "unclear": ("changed", "not-decided"),
        "gone": ("removed", "breaking"),
        "new": ("added", "compatible"),
    }


def test_opened_access_rules_are_counted_apart_and_their_app_comes_first(tmp_path: Path) -> None:
    def catalog(permission: str | None, text: str) -> tuple[App, ...]:
        opened = mmcp(NOTE)
        opened.access = {} if permission is None else {"permission": permission}
        broken = mmcp(Tool("b", description=text), *([NOTE] if text == "old" else []))
        return App("opened", [opened]), App("broken", [broken])

    history = _history(tmp_path, catalog("com.example.P", "old"), catalog(None, "new"))
    counts = history.counts
    assert (counts.security, counts.breaking, counts.capabilities_changed) == (1, 1, 1)
    assert [(app.package, app.weight) for app in history.apps] == [
        ("opened", "security"),
        ("broken", "breaking"),
    ]


def test_a_permission_that_more_apps_can_hold_counts_in_the_same_declaration(tmp_path: Path) -> None:
    def catalog(level: str) -> tuple[App, ...]:
        guarded = mmcp(NOTE, permission="com.example.P", protection=level)
        guarded.access = {"permission": "com.example.P", "protection_level": level}
        return (App("guarded", [guarded]),)

    history = _history(tmp_path, catalog("signature"), catalog("normal"))
    assert (history.counts.security, history.counts.breaking, history.counts.apps_changed) == (1, 0, 1)


def test_an_app_of_another_signer_is_reported_whether_it_declares_the_same_or_not(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (
            App("alike", [mmcp(NOTE)], signers=("ab",)),
            App("both", [mmcp(NOTE)], signers=("ab",)),
            App("more", [mmcp(NOTE)], signers=("cd", "ab")),
            App("source", [mmcp(NOTE)], signers=()),
            App("order", [mmcp(NOTE, Tool("b"))], signers=("ab",)),
            App("order alone", [mmcp(NOTE, Tool("b"))]),
        ),
        (
            App("alike", [mmcp(NOTE)], signers=("cd",)),
            App("both", [mmcp(Tool("create_note", description="other words"))], signers=("cd",)),
            App("more", [mmcp(NOTE)], signers=("ab", "cd")),
            App("source", [mmcp(NOTE)], signers=("ab",)),
            App("order", [mmcp(Tool("b"), NOTE)], signers=("cd",)),
            App("order alone", [mmcp(Tool("b"), NOTE)]),
        ),
    )
    counts = history.counts
    assert (counts.apps_resigned, counts.apps_changed, counts.apps_added, counts.apps_removed) == (3, 1, 0, 0)
    assert (counts.unchanged, counts.breaking, history.left_out) == (7, 1, 0)
    reported = {app.package: (app.status, app.resigned, app.weight) for app in history.apps}
    signed_anew = ("changed", True, None)
    assert reported == {"alike": signed_anew, "both": ("changed", True, "breaking"), "order": signed_anew}


def test_what_is_left_out_weighs_less_than_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("droidgate.coverage.history.MOST_APPS_LISTED", 4)
    silent = [App(f"went.{number}") for number in range(5)]
    before = App("resigned", [mmcp(NOTE)], signers=("ab",)), App("went", [mmcp(NOTE)]), *silent
    after = (
        App("resigned", [mmcp(NOTE)], signers=("cd",)),
        App("came", [mmcp(NOTE, Tool("b"))]),
        App("a.silent"),
    )
    history = _history(tmp_path, before, after)
    assert [app.package for app in history.apps] == ["resigned", "went", "came", "a.silent"]
    assert history.left_out == 5


def test_what_memory_cannot_hold_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[Path] = []
    changed = history_module._changed_apps

    def watched(connection: Any) -> Any:
        (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
        reported.append(Path(folder))
        assert reported[0].is_dir()
        return changed(connection)

    monkeypatch.setattr(history_module, "_changed_apps", watched)
    _history(tmp_path, (App("a"),), (App("b"),))
    (folder,) = reported
    assert folder.is_relative_to(tempfile.gettempdir())
    assert not folder.exists()


def test_of_several_versions_in_a_catalog_the_newest_counts(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App("a", [mmcp(NOTE)], version=3), App("a", [mmcp(Tool("old"))], version=2)),
        (App("a", [mmcp(Tool("old"))], version=1), App("a", [mmcp(NOTE)], version=4)),
    )
    assert history.apps == ()
    assert history.counts.unchanged == 1


def test_a_descriptor_is_known_again_where_the_folder_of_all_sources_moved(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (
            App(None, [tool_list(NOTE)], source="january/x/a.json"),
            App(None, [tool_list(NOTE)], source="january/b.json"),
            App("stays", [mmcp(NOTE)], source="january/app.apk"),
        ),
        (
            App(None, [tool_list(NOTE)], source="june/x/a.json"),
            App(None, [tool_list(Tool("x"))], source="june/b.json"),
            App(None, [tool_list(NOTE)], source="june/c.json"),
            App("stays", [mmcp(NOTE)], source="june/app.apk"),
        ),
    )
    reported = [(app.package, app.status) for app in history.apps]
    assert reported == [("june/b.json", "changed"), ("june/c.json", "added")]
    assert (history.counts.unchanged, history.counts.apps_removed) == (2, 0)


def test_descriptors_of_one_name_in_two_folders_are_not_taken_for_one(tmp_path: Path) -> None:
    first_app = App(None, [tool_list(NOTE)], source="all/kept.json")
    history = _history(
        tmp_path,
        (first_app, App(None, [tool_list(NOTE)], source="all/x/a.json")),
        (first_app, App(None, [tool_list(Tool("y"))], source="all/y/a.json")),
    )
    reported = {app.package: app.status for app in history.apps}
    assert reported == {"all/x/a.json": "removed", "all/y/a.json": "added"}


@pytest.mark.parametrize(("old", "new", "status", "counts", "unread"), [
    pytest.param(App("a", [mmcp(NOTE)], source="a.apk"), App(None, source="a.apk", reason="cut"),
        ("not-compared", "not-decided"), (0, 0, 0, 1, 0), "a.apk: cut", id="an unread app is not gone"),
    pytest.param(App(None, source="a.apk", reason="cut"), App("a", [mmcp(NOTE)], source="a.apk"),
        ("not-compared", None), (0, 0, 0, 1, 0), "a.apk: cut", id="an app that was unread is not new"),
    pytest.param(App("a", [mmcp(NOTE)], source="a-1.apk"), App(None, source="a-2.apk", reason="cut"),
        ("not-compared", "not-decided"), (0, 0, 0, 1, 0), "a-2.apk: cut",
        id="a new file may hold an app of a file of its kind"),
    pytest.param(App("a", [mmcp(NOTE)], source="a.apk"), App(None, source="b.json", reason="cut"),
        ("removed", "breaking"), (0, 1, 0, 0, 1), None, id="a file of another kind holds no app"),
    pytest.param(App("a", [mmcp(NOTE, Tool("x"))]), App("a", [mmcp(NOTE)], unread=["AndroidManifest.xml:9"]),
        ("not-compared", "not-decided"), (0, 0, 0, 1, 0), "a.apk!/AndroidManifest.xml:9: cut",
        id="a capability is not gone where its file is half read"),
    pytest.param(App("a", [mmcp(NOTE)], unread=["AndroidManifest.xml:9"]), App("a", [mmcp(NOTE, Tool("x"))]),
        ("not-compared", None), (0, 0, 0, 1, 0), "a.apk!/AndroidManifest.xml:9: cut",
        id="a capability is not new where its file was half read"),
    pytest.param(App("a", [mmcp(NOTE)]), App("a", unread=["AndroidManifest.xml:9"]),
        ("not-compared", "not-decided"), (0, 0, 0, 1, 0), "a.apk!/AndroidManifest.xml:9: cut",
        id="a provider is not gone where its file is half read"),
    pytest.param(App("a", [mmcp(NOTE, Tool("x"))]), App("a", [mmcp(NOTE)], unread=["res/xml/other.xml:2"]),
        ("changed", "breaking"), (0, 1, 0, 0, 1), None, id="another file of its kind does not hold it"),
])  # fmt: skip
def test_what_was_not_read_is_not_compared_and_breaks_nobody(
    tmp_path: Path,
    old: App,
    new: App,
    status: tuple[str, str | None],
    counts: tuple[int, ...],
    unread: str | None,
) -> None:
    kept = App("kept", [mmcp(NOTE)], source="x/kept.apk")
    history = _history(tmp_path, (old, kept), (new, kept))
    (app,) = history.apps
    assert (app.status, app.weight) == status
    found = history.counts
    assert counts == (
        found.capabilities_added, found.capabilities_removed, found.capabilities_changed,
        found.capabilities_not_compared, found.breaking,
    )  # fmt: skip
    assert (found.apps_not_compared, app.unread) == (int(status[0] == "not-compared"), unread)


def test_many_catalogs_make_a_trend(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App("a", [mmcp(NOTE)]),),
        (App("a", [mmcp(NOTE)]), App("b", [mobile_mcp(NOTE, Tool("x"))])),
        (App("b", [mobile_mcp(NOTE)]), App("s")),
    )
    assert history.since == "c1"
    assert [(item.name, item.apps, item.declaring_apps, item.capabilities) for item in history.trend] == [
        ("c0", 1, 1, 1),
        ("c1", 2, 2, 3),
        ("c2", 2, 1, 1),
    ]
    first, second, third = (item.since_last for item in history.trend)
    assert first is None
    assert second is not None
    assert third is not None
    assert (second.apps_added, second.capabilities_added) == (1, 2)
    assert (third.apps_added, third.apps_removed, third.capabilities_removed) == (1, 1, 2)
    assert third == history.counts
    assert [item.name for item in history.trend[1].protocols] == ["mmcp", "mobile-mcp"]
