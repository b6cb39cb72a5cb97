import json
from typing import Any

import pytest

from coverage_match.labelled_pairs import FOLDER, capability_text, row_of_use_cases
from coverage_match.test_matching import DOCUMENT
from droidgate.coverage.match.features import CapabilityText
from droidgate.coverage.match.use_cases import UseCases
from droidgate_mappings.taxonomy import load_taxonomy


def _labelled(half: str) -> list[dict[str, Any]]:
    lines = (FOLDER / "use_cases.jsonl").read_text(encoding="utf-8").splitlines()
    return [line for line in map(json.loads, lines) if line["half"] == half]


def test_the_labels_are_use_cases_of_the_taxonomy_and_cover_every_app_type() -> None:
    known = {one.id for one in load_taxonomy().use_cases()}
    for half in ("tune", "held-out"):
        labels = {label for line in _labelled(half) for label in line["use_cases"]}
        assert labels <= known
        assert {label.partition(".")[0] for label in labels} == {one.id for one in load_taxonomy().app_types}
        assert sum(not line["use_cases"] for line in _labelled(half)) >= 4


@pytest.mark.parametrize("half", ["tune", "held-out"])
def test_the_document_tells_how_well_use_cases_are_assigned(half: str) -> None:
    use_cases = UseCases()
    answers = (
        (
            {one.use_case for one in use_cases.served_by(capability_text(labelled["capability"]))},
            set(labelled["use_cases"]),
        )
        for labelled in _labelled(half)
    )
    line = row_of_use_cases(half, answers)
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()


def test_a_use_case_comes_with_its_reason() -> None:
    (served,) = UseCases().served_by(CapabilityText("k", "p", "mmcp", "notiz_anlegen"))
    assert (served.use_case, served.action, served.object) == ("notes.create", "create", "note")
    assert 0.45 <= served.score <= 1


def test_one_capability_may_serve_several_use_cases() -> None:
    capability = CapabilityText("k", "p", "mmcp", "crop_photo", "Cuts a photo.")
    assert {one.use_case for one in UseCases().served_by(capability)} >= {"creativity.edit", "media.edit"}


def test_what_the_guideline_does_not_name_serves_none() -> None:
    for name in ("get_balance", "current_weather", "xyzzy"):
        assert UseCases().served_by(CapabilityText("k", "p", "mmcp", name)) == ()
