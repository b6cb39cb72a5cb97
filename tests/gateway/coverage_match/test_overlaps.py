from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.figures import Figures
from droidgate.coverage.match import features
from droidgate.coverage.match.features import CapabilityText, parts_of
from droidgate.coverage.match.use_cases import UseCases
from droidgate.coverage.overlaps import find_overlaps
from gateway.coverage_compare.made_catalogs import App, Tool, functions, make_catalog, mmcp


def test_a_report_reads_each_text_once_for_matching_and_use_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def watched(text: str, vocabulary: Any) -> Any:
        read.append(text)
        return parts_of(text, vocabulary)

    monkeypatch.setattr(features, "parts_of", watched)
    monkeypatch.setattr(UseCases, "served_by", None)
    tools = [Tool("create_note", "Makes a note."), Tool("crop_photo", "Cuts a photo."), Tool("xyzzy", None)]
    apps = [App(f"com.app{number}", [mmcp(*tools)]) for number in range(4)]
    with Figures(make_catalog(tmp_path / "catalog", *apps)) as figures:
        overlaps = find_overlaps(figures)
    assert len(read) == len(set(read)) == 3
    assert len(overlaps.served) == 8
    assert overlaps.summary.groups == 3


def test_an_app_that_serves_a_use_case_in_two_protocols_counts_once(tmp_path: Path) -> None:
    tool = Tool("com.notes.Notes#createNote", "Makes a note.")
    apps = [App("com.notes", [mmcp(Tool("create_note", "Makes a note.")), functions(tool)]), App("com.other")]
    with Figures(make_catalog(tmp_path / "catalog", *apps)) as figures:
        overlaps = find_overlaps(figures)
    (counted,) = [item for kept in overlaps.coverage for item in kept.use_cases if item.apps]
    (alone,) = UseCases().served_by(CapabilityText("k", "p", "mmcp", "create_note", "Makes a note."))
    assert (counted.id, counted.apps, counted.capabilities) == (alone.use_case, 1, 2)
    assert {item.name: item.count for item in counted.protocols} == {"appfunctions": 1, "mmcp": 1}
    assert [item.kind for item in overlaps.matching.links] == ["same-app-twice"]
