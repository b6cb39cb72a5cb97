"""What one side of `diff` could not read is not compared: it is neither gone nor new."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.cli.program_runs import Runner
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import ADD_NOTE, DELETE_NOTE, ENTRY_POINT_PATH, FUNCTIONS, entry_point_tree

NOTES_FILE = "app/src/main/java/dev/notes/Notes.kt"
TWO = FUNCTIONS.removesuffix("}\n") + "    @AppFunction fun count(context: AppFunctionContext): Int = 1\n}\n"
COUNT = "dev.notes.Notes#count"


def compared(droidgate: Runner, folder: Path, old: dict[str, str], new: dict[str, str]) -> dict[str, Any]:
    """Return the comparison of two trees; each is the usual one with other files."""
    for name, files in (("old", old), ("new", new)):
        write_tree(folder / name, {**entry_point_tree(), NOTES_FILE: TWO, **files})
    ran = droidgate("diff", folder / "old", folder / "new", "--json")
    assert ran.code == 0, ran.err
    result: dict[str, Any] = json.loads(ran.out)["comparison"]
    return result


def ids_not_compared(comparison: dict[str, Any]) -> list[str]:
    return [item["id"] for item in comparison["not_compared"]]


BROKEN = TWO.replace("title: String", "title String")


def test_functions_of_a_file_with_a_syntax_error_are_not_gone(droidgate: Runner, tmp_path: Path) -> None:
    comparison = compared(droidgate, tmp_path, {}, {NOTES_FILE: BROKEN})
    assert comparison.get("providers") is None
    assert ids_not_compared(comparison) == [ADD_NOTE, COUNT]
    [first, _] = comparison["not_compared"]
    assert first["missing_from"] == "new"
    assert first["place"] == f"{tmp_path}/new/{NOTES_FILE}:14"
    assert "Kotlin syntax error" in first["reason"]


def test_functions_of_a_file_that_had_a_syntax_error_are_not_new(droidgate: Runner, tmp_path: Path) -> None:
    comparison = compared(droidgate, tmp_path, {NOTES_FILE: BROKEN}, {})
    assert comparison.get("providers") is None
    assert ids_not_compared(comparison) == [ADD_NOTE, COUNT]
    assert comparison["not_compared"][0]["missing_from"] == "old"


def test_a_function_that_is_refused_is_not_gone_and_one_that_is_removed_is(
    droidgate: Runner, tmp_path: Path
) -> None:
    refused = FUNCTIONS.replace("title: String", "title: Any")
    comparison = compared(droidgate, tmp_path, {}, {NOTES_FILE: refused, ENTRY_POINT_PATH: ""})
    assert ids_not_compared(comparison) == [ADD_NOTE]
    gone = [provider["changes"][0]["message"] for provider in comparison["providers"]]
    assert gone == ["the provider is gone, with 1 capability"] * 2


def test_a_function_of_another_file_is_gone_where_one_file_has_a_syntax_error(
    droidgate: Runner, tmp_path: Path
) -> None:
    comparison = compared(droidgate, tmp_path, {}, {NOTES_FILE: BROKEN, ENTRY_POINT_PATH: ""})
    assert ids_not_compared(comparison) == [ADD_NOTE, COUNT]
    [provider] = comparison["providers"]
    assert (provider["status"], provider["component"]) == ("removed", "dev.notes.NotesService")


def test_a_function_that_is_not_understood_is_not_gone(droidgate: Runner, tmp_path: Path) -> None:
    inside = TWO.replace(
        "    @AppFunction fun count", "    fun local() {\n        class L {\n    @AppFunction fun count"
    ).replace("Int = 1\n}", "Int = 1\n        }\n    }\n}")
    assert ids_not_compared(compared(droidgate, tmp_path, {}, {NOTES_FILE: inside})) == [COUNT]


def test_an_app_and_a_tree_with_a_syntax_error_are_compared_without_its_functions(
    droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    write_tree(tmp_path / "p", entry_point_tree())
    assert droidgate("pack", tmp_path / "p", "-o", tmp_path / "app.apk", "--generate").code == 0
    write_tree(tmp_path / "p", {NOTES_FILE: BROKEN})
    ran = droidgate("diff", tmp_path / "app.apk", tmp_path / "p")
    assert ran.code == 0
    assert "nothing changed; 1 capability is as it was; 1 not compared" in ran.out
    assert DELETE_NOTE not in ran.out


def test_nothing_that_can_be_read_is_said_once(droidgate: Runner, tmp_path: Path) -> None:
    write_tree(tmp_path, {"Notes.kt": BROKEN})
    ran = droidgate("inspect", tmp_path / "Notes.kt")
    assert ran.code == 3
    assert "no descriptor" not in ran.err
    assert "error: " in ran.err
    assert "nothing in it can be read" in ran.err
