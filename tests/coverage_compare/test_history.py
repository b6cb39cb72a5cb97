"""What changed between catalogs, by the code of `droidgate diff`."""

from pathlib import Path

from coverage_compare.made_catalogs import App, Tool, make_catalog, mmcp, mobile_mcp, tool_list
from droidgate.coverage.document import History
from droidgate.coverage.history import Snapshot, history_of

NOTE = Tool("create_note", parameters={"text": "string"})


def _history(folder: Path, *catalogs: tuple[App, ...]) -> History:
    snapshots = [
        Snapshot(f"c{number}", make_catalog(folder / f"c{number}", *apps))
        for number, apps in enumerate(catalogs)
    ]
    return history_of(snapshots)


def test_apps_that_came_and_went_are_told_with_what_they_declare(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App("stays", [mmcp(NOTE)]), App("went", [mmcp(NOTE, Tool("b"))])),
        (App("stays", [mmcp(NOTE)]), App("came", [mmcp(Tool("c"))]), App("came.screens")),
    )
    counts = history.counts
    assert (counts.apps_added, counts.apps_removed, counts.apps_changed) == (2, 1, 0)
    assert (counts.capabilities_added, counts.capabilities_removed) == (1, 2)
    assert (counts.unchanged, counts.breaking) == (1, 2)
    assert [(one.package, one.status, one.weight) for one in history.apps] == [
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
    told = {one.id: (one.status, one.weight) for one in provider.capabilities}
    assert told == {
        "narrows": ("changed", "breaking"),
        "worded": ("changed", "text-only"),
        "gone": ("removed", "breaking"),
        "new": ("added", "compatible"),
    }


def test_another_protocol_beside_the_old_one_comes_with_all_its_capabilities(tmp_path: Path) -> None:
    history = _history(
        tmp_path, (App("a", [mmcp(NOTE)]),), (App("a", [mmcp(NOTE), mobile_mcp(NOTE, Tool("b"))]),)
    )
    counts = history.counts
    assert (counts.capabilities_added, counts.capabilities_removed, counts.unchanged) == (2, 0, 1)
    assert counts.apps_changed == 1


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
    assert [(one.package, one.status) for one in history.apps] == [("b.json", "changed")]
    assert history.counts.unchanged == 1


def test_many_catalogs_make_a_trend(tmp_path: Path) -> None:
    history = _history(
        tmp_path,
        (App("a", [mmcp(NOTE)]),),
        (App("a", [mmcp(NOTE)]), App("b", [mobile_mcp(NOTE, Tool("x"))])),
        (App("b", [mobile_mcp(NOTE)]), App("s")),
    )
    assert history.since == "c1"
    assert [(one.name, one.apps, one.declaring_apps, one.capabilities) for one in history.trend] == [
        ("c0", 1, 1, 1),
        ("c1", 2, 2, 3),
        ("c2", 2, 1, 1),
    ]
    first, second, third = (one.since_last for one in history.trend)
    assert first is None
    assert second is not None
    assert third is not None
    assert (second.apps_added, second.capabilities_added) == (1, 2)
    assert (third.apps_added, third.apps_removed, third.capabilities_removed) == (1, 1, 2)
    assert third == history.counts
    assert [one.name for one in history.trend[1].protocols] == ["mmcp", "mobile-mcp"]


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
