"""What changed between catalogs, by the code of `droidgate diff`."""

import tempfile
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage import history as history_module
from droidgate.coverage.coverage_document import History
from droidgate.coverage.history import Snapshot, history_of
from gateway.coverage_compare.made_catalogs import App, Tool, make_catalog, mmcp, mobile_mcp, tool_list

NOTE = Tool("create_note", parameters={"text": "string"})


def _history(folder: Path, *catalogs: tuple[App, ...]) -> History:
    snapshots = [
        Snapshot(f"c{number}", make_catalog(folder / f"c{number}", *apps))
        for number, apps in enumerate(catalogs)
    ]
    return history_of(snapshots)


def test_apps_that_came_and_went_are_reported_with_what_they_declare(tmp_path: Path) -> None:
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


def test_a_change_weighs_what_diff_says(tmp_path: Path) -> None:
    before = mmcp(
        Tool("narrows", parameters={"text": "string"}),
        Tool("worded", description="old words"),
        Tool("widens"),
        Tool("gone"),
        NOTE,
    )
    after = mmcp(
        Tool("narrows", parameters={"text": "string", "date": "string"}),
        Tool("worded", description="new words"),
        Tool("widens", parameters={}, description="Does something of use"),
        NOTE,
        Tool("new"),
    )
    history = _history(tmp_path, (App("a", [before], version=1),), (App("a", [after], version=2),))
    counts = history.counts
    assert (counts.capabilities_added, counts.capabilities_removed, counts.capabilities_changed) == (1, 1, 2)
    assert (counts.breaking, counts.compatible, counts.text_only, counts.unchanged) == (2, 0, 1, 2)
    (app,) = history.apps
    assert (app.status, app.weight, app.old_version, app.new_version) == ("changed", "breaking", "1.0", "2.0")
    (provider,) = app.providers
    reported = {capability.id: (capability.status, capability.weight) for capability in provider.capabilities}
    assert reported == {
        "narrows": ("changed", "breaking"),
        "worded": ("changed", "text-only"),
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
    assert (history.counts.security, history.counts.breaking, history.counts.capabilities_changed) == (
        1,
        1,
        1,
    )
    assert [(app.package, app.weight) for app in history.apps] == [
        ("opened", "security"),
        ("broken", "breaking"),
    ]


def test_a_permission_that_more_apps_can_hold_is_counted_where_the_declaration_is_the_same(
    tmp_path: Path,
) -> None:
    def catalog(level: str) -> tuple[App, ...]:
        guarded = mmcp(NOTE, permission="com.example.P", protection=level)
        guarded.access = {"permission": "com.example.P", "protection_level": level}
        return (App("guarded", [guarded]),)

    history = _history(tmp_path, catalog("signature"), catalog("normal"))
    assert (history.counts.security, history.counts.breaking, history.counts.apps_changed) == (1, 0, 1)


def test_another_protocol_next_to_the_old_one_comes_with_all_its_capabilities(tmp_path: Path) -> None:
    history = _history(
        tmp_path, (App("a", [mmcp(NOTE)]),), (App("a", [mmcp(NOTE), mobile_mcp(NOTE, Tool("b"))]),)
    )
    counts = history.counts
    assert (counts.capabilities_added, counts.capabilities_removed, counts.unchanged) == (2, 0, 1)
    assert counts.apps_changed == 1


def test_an_app_that_somebody_else_signed_is_reported_whether_it_declares_the_same_or_not(
    tmp_path: Path,
) -> None:
    history = _history(
        tmp_path,
        (
            App("alike", [mmcp(NOTE)], signers=("ab",)),
            App("both", [mmcp(NOTE)], signers=("ab",)),
            App("more", [mmcp(NOTE)], signers=("cd", "ab")),
            App("source", [mmcp(NOTE)], signers=()),
        ),
        (
            App("alike", [mmcp(NOTE)], signers=("cd",)),
            App("both", [mmcp(Tool("create_note", description="other words"))], signers=("cd",)),
            App("more", [mmcp(NOTE)], signers=("ab", "cd")),
            App("source", [mmcp(NOTE)], signers=("ab",)),
        ),
    )
    counts = history.counts
    assert (counts.apps_resigned, counts.apps_changed, counts.apps_added, counts.apps_removed) == (2, 1, 0, 0)
    assert (counts.unchanged, counts.breaking, history.left_out) == (3, 1, 0)
    reported = {app.package: (app.status, app.resigned, app.weight) for app in history.apps}
    assert reported == {"alike": ("changed", True, None), "both": ("changed", True, "breaking")}


def test_an_app_that_somebody_else_signed_is_reported_where_only_the_order_of_its_tools_is_another(
    tmp_path: Path,
) -> None:
    app, two = Tool("one"), Tool("two")
    before = App("a", [mmcp(app, two)], signers=("ab",)), App("alike", [mmcp(app, two)])
    after = App("a", [mmcp(two, app)], signers=("cd",)), App("alike", [mmcp(two, app)])
    history = _history(tmp_path, before, after)
    assert (history.counts.apps_resigned, history.counts.apps_changed, history.left_out) == (1, 0, 0)
    reported = [(app.package, app.status, app.resigned, app.weight) for app in history.apps]
    assert reported == [("a", "changed", True, None)]


def test_what_is_left_out_weighs_no_more_than_what_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_what_memory_cannot_hold_goes_to_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Path] = []
    changed = history_module._changed

    def watched(connection: Any) -> Any:
        (folder,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
        reported.append(Path(folder))
        assert reported[0].is_dir()
        return changed(connection)

    monkeypatch.setattr(history_module, "_changed", watched)
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


def test_a_descriptor_is_known_again_by_its_source(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App(None, [tool_list(NOTE)], source="a.json"), App(None, [tool_list(NOTE)], source="b.json")),
        (App(None, [tool_list(NOTE)], source="a.json"), App(None, [tool_list(Tool("x"))], source="b.json")),
    )
    assert [(app.package, app.status) for app in history.apps] == [("b.json", "changed")]
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
    kept = App(None, [tool_list(NOTE)], source="all/kept.json")
    history = _history(
        tmp_path,
        (kept, App(None, [tool_list(NOTE)], source="all/x/a.json")),
        (kept, App(None, [tool_list(Tool("y"))], source="all/y/a.json")),
    )
    assert {(app.package, app.status) for app in history.apps} == {
        ("all/x/a.json", "removed"),
        ("all/y/a.json", "added"),
    }


def test_the_trend_counts_what_the_changes_count(tmp_path: Path) -> None:
    twice = (App("a", [mmcp(NOTE)], version=1), App("a", [mmcp(NOTE, Tool("x"))], version=2))
    history = _history(tmp_path, (App("a", [mmcp(NOTE)], version=1),), twice)
    before, after = history.trend
    assert (after.apps, after.declaring_apps, after.providers, after.capabilities) == (1, 1, 1, 2)
    counts = history.counts
    came = counts.capabilities_added - counts.capabilities_removed
    assert after.capabilities - before.capabilities == came == 1
    assert after.apps - before.apps == counts.apps_added - counts.apps_removed == 0


@pytest.mark.slow
def test_a_year_of_catalogs_is_a_trend(tmp_path: Path) -> None:
    months = [(App("a", [mmcp(*(Tool(f"tool_{at}") for at in range(month + 1)))]),) for month in range(12)]
    history = _history(tmp_path, *months)
    assert [item.capabilities for item in history.trend] == list(range(1, 13))
    assert [item.since_last and item.since_last.capabilities_added for item in history.trend[1:]] == [1] * 11
    assert (history.since, history.counts.capabilities_added) == ("c10", 1)


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


def test_before_and_after_add_up(tmp_path: Path) -> None:
    old = (App("a", [mmcp(NOTE, Tool("x"))]), App("b", [mmcp(Tool("y"))]), App("c", [mobile_mcp(Tool("z"))]))
    new = (
        App("a", [mmcp(Tool("x", description=None))]),
        App("d", [mmcp(Tool("y"))]),
        App("c", [mmcp(Tool("z"))]),
    )
    history = _history(tmp_path, old, new)
    counts = history.counts
    before, after = history.trend[0].capabilities, history.trend[1].capabilities
    assert before == counts.unchanged + counts.capabilities_changed + counts.capabilities_removed
    assert after == counts.unchanged + counts.capabilities_changed + counts.capabilities_added
