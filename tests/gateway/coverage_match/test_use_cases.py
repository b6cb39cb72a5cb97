import json
from pathlib import Path
from typing import Any

import pytest

from droidgate.coverage.figures import Figures
from droidgate.coverage.match import features
from droidgate.coverage.match.features import CapabilityText, declared_text, features_of, parts_of
from droidgate.coverage.match.match_words import Vocabulary
from droidgate.coverage.overlaps import ServedUseCase, UseCases, find_overlaps
from gateway.coverage_compare.made_catalogs import App, Tool, functions, make_catalog, mmcp
from gateway.coverage_match.labelled_pairs import (
    FOLDER,
    HALVES,
    capability_text,
    read_lines,
    row_of_use_cases,
)
from gateway.coverage_match.test_matching import DOCUMENT

THIRD_AUTHOR = FOLDER / "use_cases_of_a_third_author.jsonl"


def served_by(capability: CapabilityText) -> tuple[ServedUseCase, ...]:
    return UseCases().served_in(features_of(declared_text(capability), Vocabulary()).sense)


@pytest.mark.parametrize("half", HALVES)
def test_the_document_states_how_well_use_cases_are_assigned(half: str) -> None:
    answers = [
        ({item.use_case for item in served_by(capability_text(line["capability"]))}, set(line["use_cases"]))
        for line in read_lines("use_cases")
        if line["half"] == half
    ]
    line = row_of_use_cases(half, answers)
    assert line in DOCUMENT.read_text(encoding="utf-8").splitlines()


def test_the_document_states_the_agreement_with_labels_of_an_author_who_saw_no_rule() -> None:
    """A third author knew the guideline's titles only; what the guideline leaves `open` is not counted."""
    answers = []
    for line in map(json.loads, THIRD_AUTHOR.read_text(encoding="utf-8").splitlines()):
        if line["half"] == "held-out":
            served = served_by(CapabilityText("k", "p", "mcp", line["name"], line["description"]))
            reported = {item.use_case for item in served} - set(line.get("open", ()))
            answers.append((reported, set(line["use_cases"])))
    assert len(answers) == 150
    row = row_of_use_cases("held-out, third author", answers)
    assert row in DOCUMENT.read_text(encoding="utf-8").splitlines()


def test_a_use_case_comes_with_its_reason() -> None:
    (served,) = served_by(CapabilityText("k", "p", "mmcp", "notiz_anlegen"))
    assert (served.use_case, served.action, served.object) == ("notes.create", "create", "note")


def test_one_capability_may_serve_several_use_cases() -> None:
    capability = CapabilityText("k", "p", "mmcp", "crop_photo", "Cuts a photo.")
    assert {item.use_case for item in served_by(capability)} >= {"creativity.edit", "media.edit"}


def test_a_capability_that_the_guideline_does_not_name_serves_no_use_case() -> None:
    for name in ("get_balance", "current_weather", "xyzzy"):
        assert served_by(CapabilityText("k", "p", "mmcp", name)) == ()


@pytest.mark.parametrize(("name", "description", "use_cases"), [
    # Seen as a table in a restaurant, and as a trip by plane.
    ("cancel.booking", "Cancels a booking of a flight.", set()),
    ("reserve_book", "Reserves a book at the library.", set()),
    ("add_to_plan", "Put a recipe on the weekly plan", set()),
    ("set_new_name", "Gives it a new name.", set()),
    ("draw_card", "Draws a card from the deck.", set()),
    ("order_shelves", "Sorts the shelves by weight.", set()),
    # A booking is one of a table where a restaurant is spoken of; to cancel one is left open.
    ("create.booking", "Books a table at a restaurant.", {"food.reserve"}),
    ("cancel.booking", "Cancels a booking of a table.", set()),
    ("check_off", "Mark an item as done", set()),
    ("stock.adjust", "Corrects how many there are.", {"shopping.manage"}),
    # The word has another meaning, or is about the machine.
    ("play_card", "Plays the chosen card from the hand.", set()),
    ("delete_event_log", "Deletes the event log of the system.", set()),
    ("note_frequency", "Returns the frequency of a musical note.", set()),
    ("call_waiter", "Asks the waiter to come to the table.", set()),
    ("check_in_guest", "Registers a hotel guest at the desk.", set()),
    ("steps_to_reproduce", "Lists the steps that lead to a bug.", set()),
    ("run_script", "Runs a script.", set()),
    ("light_theme", "Switches to the light theme.", set()),
    ("send_report", "Sends a crash report to the developers.", set()),
    ("bookmarkVerse", "Keeps a verse as a bookmark.", set()),
], ids=str)  # fmt: skip
def test_words_that_only_look_alike_assign_no_use_case(
    name: str, description: str, use_cases: set[str]
) -> None:
    served = served_by(CapabilityText("k", "p", "mmcp", name, description))
    assert {item.use_case for item in served} == use_cases


def test_a_report_reads_each_text_only_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def watched(text: str, vocabulary: Any) -> Any:
        read.append(text)
        return parts_of(text, vocabulary)

    monkeypatch.setattr(features, "parts_of", watched)
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
    (counted,) = [item for row in overlaps.coverage for item in row.use_cases if item.apps]
    (alone,) = served_by(CapabilityText("k", "p", "mmcp", "create_note", "Makes a note."))
    assert (counted.id, counted.apps, counted.capabilities) == (alone.use_case, 1, 2)
    assert {item.name: item.count for item in counted.protocols} == {"appfunctions": 1, "mmcp": 1}
    assert [item.kind for item in overlaps.matching.links] == ["same-app-twice"]
