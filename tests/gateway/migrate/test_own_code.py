"""`migrate` and `convert` of apps with several providers, and into apps that have code of their own."""

import json
from pathlib import Path

import pytest

from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner
from gateway.migrate.projects import files_of
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import ENTRY_POINT, ENTRY_POINT_PATH, entry_point_tree

NOTES_FILE = "app/src/main/java/dev/notes/Notes.kt"
SERVICE = "dev.notes.NotesService"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write_tree(folder, entry_point_tree())
    return folder


@pytest.mark.parametrize(
    "name", [SERVICE, "NotesService", ".NotesService", "dev.notes/dev.notes.NotesService"]
)
def test_a_provider_is_chosen_by_its_component(
    droidgate: Runner, tree: Path, tmp_path: Path, name: str
) -> None:
    ran = droidgate("convert", tree, "--to", "mcp", "-o", tmp_path / "out", "--provider", name)
    assert ran.code == 0
    [tool] = json.loads((tmp_path / "out/tools.json").read_text())["tools"]
    assert tool["name"] == "dev.notes.BaseNotes_deleteNote"


def test_a_provider_without_a_component_is_chosen_by_its_file_and_keeps_types_of_other_modules(
    droidgate: Runner, tree: Path, tmp_path: Path
) -> None:
    ran = droidgate("convert", tree, "--to", "mcp", "-o", tmp_path / "out", "--provider", "Notes.kt")
    assert (ran.code, "warning" in ran.err) == (0, False)
    [tool] = json.loads((tmp_path / "out/tools.json").read_text())["tools"]
    assert "dev.shared.Note" in json.dumps(tool["outputSchema"])


def test_several_providers_are_chosen_by_repeating_the_option(
    droidgate: Runner, tree: Path, tmp_path: Path
) -> None:
    both = ("--provider", "NotesService", "--provider", "Notes.kt")
    assert droidgate("convert", tree, "--to", "mcp", "-o", tmp_path / "out", *both).code == 0
    assert len(json.loads((tmp_path / "out/fidelity.json").read_text())["conversions"]) == 2


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_an_unknown_provider_is_an_error_that_lists_the_components(
    droidgate: Runner, tree: Path, tmp_path: Path, command: str
) -> None:
    place = ("-o", tmp_path / "out") if command == "convert" else ("--into", tree / "app")
    ran = droidgate(command, tree, "--to", "mobile-mcp", *place, "--provider", "NotesServce")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        'error: unknown provider "NotesServce"',
        f"hint: did you mean NotesService? the providers are: {SERVICE}, {tree / NOTES_FILE}",
    ]


def test_a_name_that_fits_two_providers_is_an_error(droidgate: Runner, tmp_path: Path) -> None:
    second = ENTRY_POINT.replace("package dev.notes", "package dev.lists")
    write_tree(tmp_path / "p", {**entry_point_tree(), "app/src/main/java/dev/lists/BaseNotes.kt": second})
    ran = droidgate(
        "convert", tmp_path / "p", "--to", "mcp", "-o", tmp_path / "o", "--provider", "NotesService"
    )
    assert ran.code == 2
    assert 'provider "NotesService" fits 2 providers' in ran.err


def test_several_providers_without_a_choice_are_an_error_that_lists_them(
    droidgate: Runner, tree: Path
) -> None:
    ran = droidgate("migrate", tree, "--to", "mobile-mcp", "--into", tree / "app")
    assert ran.code == 2
    assert f"choose with --provider, which may be repeated: {SERVICE}, {tree / NOTES_FILE}" in ran.err


def test_a_migration_of_a_source_that_cannot_be_read_completely_ends_with_3(
    droidgate: Runner, tree: Path
) -> None:
    alone = tree / NOTES_FILE
    ran = droidgate("migrate", alone, "--to", "mobile-mcp", "--into", tree / "app")
    assert ran.code == 3
    assert "Note" in ran.err


def test_functions_that_the_app_declares_itself_are_not_declared_again(droidgate: Runner, tree: Path) -> None:
    before = files_of(tree)
    arguments = ("migrate", tree, "--to", "appfunctions", "--into", tree / "app", "--write")
    entry = droidgate(*arguments, "--provider", "NotesService")
    assert (entry.code, entry.err) == (0, "")
    assert "BaseNotes.kt:8 declares these functions already, so nothing is written for them" in entry.out
    assert f"AndroidManifest.xml does not declare {SERVICE}; declare this service" in entry.out
    other = droidgate(*arguments, "--provider", "Notes.kt")
    assert "Notes.kt:14 declares these functions already" in other.out
    assert "unchanged: " in other.out
    assert "updated: " not in other.out
    assert files_of(tree) == before


def test_functions_of_another_app_are_written(droidgate: Runner, tree: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin"
    write_tree(
        twin, {"src/main/AndroidManifest.xml": str(entry_point_tree()["app/src/main/AndroidManifest.xml"])}
    )
    ran = droidgate(
        *("migrate", tree, "--to", "appfunctions", "--into", twin, "--package", "dev.twin"),
        *("--provider", "NotesService", "--language", "kotlin"),
    )
    assert "BaseNotesService.kt" in ran.out


@pytest.mark.parametrize("language", ["java", "kotlin"])
def test_a_second_migration_names_the_methods_that_the_handler_lacks(
    droidgate: Runner, tree: Path, language: str
) -> None:
    arguments = ("migrate", tree, "--to", "mobile-mcp", "--into", tree / "app", "--provider", "NotesService")
    assert droidgate(*arguments, "--language", language, "--write").code == 0
    ending = "kt" if language == "kotlin" else "java"
    handler = tree / f"app/src/main/java/dev/notes/MobileMcpToolServiceCapabilities.{ending}"
    filled = handler.read_text().replace("is not implemented yet", "is done here")
    handler.write_text(filled)
    clear = "    @AppFunction suspend fun clearAll(really: Boolean) {}\n}\n"
    (tree / ENTRY_POINT_PATH).write_text(ENTRY_POINT.removesuffix("}\n") + clear)
    again = droidgate(*arguments, "--write")
    head = (
        "override fun clearAll(really: Boolean): JSONObject"
        if language == "kotlin"
        else "public JSONObject clearAll(boolean really) throws"
    )
    shown = f"src/main/java/dev/notes/{handler.name}"
    assert f"{shown} has no method for dev.notes.BaseNotes#clearAll: add {head}" in again.out
    assert "deleteNote: add" not in again.out
    assert handler.read_text() == filled


def test_a_plugin_of_a_version_catalog_says_which_module_is_the_app(
    droidgate: Runner, tmp_path: Path
) -> None:
    clock = sample_apps_directory() / "clock-in"
    manifest = (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android"><application/></manifest>'
    )
    catalog = '[plugins]\nlib = "com.android.library:8"\napp = "com.android.application:8"\n'
    module = 'plugins {{ alias(libs.plugins.{0}) }}\nandroid {{ namespace = "dev.{0}" }}\n'
    files: dict[str, str | bytes] = {
        "settings.gradle.kts": 'include(":app", ":shared")\n',
        "gradle/libs.versions.toml": catalog,
        "app/build.gradle.kts": module.format("app"),
        "app/src/main/AndroidManifest.xml": manifest,
        "shared/build.gradle.kts": module.format("lib"),
        "shared/src/main/AndroidManifest.xml": manifest,
    }
    write_tree(tmp_path / "p", files)
    ran = droidgate("migrate", clock, "--to", "appfunctions", "--into", tmp_path / "p")
    assert ran.code == 0, ran.err
    assert "+++ b/app/src/main/AndroidManifest.xml" in ran.out
