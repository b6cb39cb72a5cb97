"""`droidgate migrate` as a droidgate: diff on standard output, cost on standard error, exit codes."""

import json
import subprocess
from pathlib import Path

import pytest

from droidgate.migration.migration_plan import migrate
from droidgate.migration.source_sets import Language
from droidgate.sources.source_results import provider_label
from droidgate_shim.builder.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner, run_process
from gateway.migration.projects import copy_module, files_of, read_providers
from gateway.sources.formats_of_tests import write_tree
from gateway.sources.kotlin_trees import ENTRY_POINT, ENTRY_POINT_PATH, entry_point_tree
from titled_rows import titled

CLOCK = sample_apps_directory() / "clock-in"
NAMESPACE = "dev.droidgate.sample.pdftool"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_module("pdf-tool", tmp_path)


def test_migrate_shows_a_diff_and_writes_nothing(droidgate: Runner, project: Path) -> None:
    before = files_of(project)
    run = droidgate("migrate", CLOCK, "--to", "appfunctions", "--into", project)
    assert run.code == 0
    assert run.out.startswith("--- a/src/main/AndroidManifest.xml\n+++ b/src/main/AndroidManifest.xml\n@@ ")
    assert "+++ b/src/main/assets/app_function_service.xml" in run.out
    assert "would " not in run.out
    assert "would update: src/main/AndroidManifest.xml" in run.err
    assert "findings: " in run.err
    assert "Left to do" in run.err
    assert files_of(project) == before


def test_another_app_replaces_what_a_migration_wrote_only_with_drop(droidgate: Runner, project: Path) -> None:
    into = ("--to", "mobile-mcp", "--into", project, "--write")
    assert droidgate("migrate", project, *into).code == 0
    before = files_of(project)
    notes = ("migrate", sample_apps_directory() / "notes/app", *into, "--language", "none")
    refused = droidgate(*notes)
    assert (refused.code, files_of(project)) == (3, before)
    assert ".MobileMcpToolService would no longer declare" in refused.err
    assert "hint: --drop drops them" in refused.err
    assert droidgate(*notes, "--drop").code == 0
    assert files_of(project) != before


@titled(("source", "target", "language", "package"), {
    "another app's files": (CLOCK, "appfunctions", "java", NAMESPACE),
    "the project itself, into a descriptor": (None, "mobile-mcp", "java", NAMESPACE),
    "the project itself, into source code with names of its own": (None, "appfunctions", "kotlin", NAMESPACE),
    "an application id that is not the namespace": (None, "mobile-mcp", "java", "dev.other"),
})  # fmt: skip
def test_migrate_with_write_writes_and_a_second_run_changes_nothing(
    source: Path | None, target: str, language: Language, package: str, droidgate: Runner, project: Path
) -> None:
    build_file = project / "build.gradle.kts"
    named = f'applicationId = "{NAMESPACE}"'
    build_file.write_text(build_file.read_text().replace(named, f'applicationId = "{package}"'))
    arguments = ("migrate", source or project, "--to", target, "--into", project, "--language", language)
    first = droidgate(*arguments, "--write", "--details")
    assert first.code == 0
    assert "updated: src/main/AndroidManifest.xml" in first.out
    written = read_providers(project)
    assert sorted(provider.protocol for provider in written) == sorted([target, "mmcp"])
    assert {(provider.package, provider_label(provider).rpartition(".")[0]) for provider in written} == {
        (package, NAMESPACE)
    }
    after = files_of(project)
    second = droidgate(*arguments, "--write", "--details")
    assert second.code == 0
    assert "unchanged: src/main/AndroidManifest.xml" in second.out
    assert "updated: " not in second.out
    assert ("an earlier migration wrote dev.droidgate.sample.pdftool." in second.err) is (source is None)
    assert files_of(project) == after
    if source is None:
        assert not migrate(project, to=target, into=project, language=language).changes


@pytest.mark.slow
def test_the_diff_that_migrate_shows_can_be_applied(project: Path, tmp_path: Path) -> None:
    twin = copy_module("pdf-tool", tmp_path / "twin")
    result = run_process("migrate", CLOCK, "--to", "mobile-mcp", "--into", project)
    assert result.code == 0
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=twin, input=result.out.encode(), check=False, capture_output=True
    )
    assert applied.returncode == 0, applied.stderr.decode()
    assert run_process("migrate", CLOCK, "--to", "mobile-mcp", "--into", project, "--write").code == 0
    assert files_of(twin) == files_of(project)


def test_the_json_of_migrate_fits_its_schema(droidgate: Runner, project: Path) -> None:
    document = droidgate.document("migrate", CLOCK, "--to", "mmcp+draft", "--into", copy_of_clock(project))
    assert document["schema"] == "droidgate.migration/2"
    assert document["written"] is False
    assert {change["path"] for change in document["changes"]} > {"src/main/AndroidManifest.xml"}
    (conversion,) = document["conversions"]
    assert conversion["findings"]


def copy_of_clock(project: Path) -> Path:
    return copy_module("clock-in", project.parent)


def test_findings_at_the_threshold_keep_migrate_from_writing(droidgate: Runner, project: Path) -> None:
    before = files_of(project)
    run = droidgate(
        "migrate", CLOCK, "--to", "mmcp+broadcast", "--into", project, "--write", "--fail-on", "moved"
    )
    assert run.code == 1
    assert "nothing was written" in run.err
    assert files_of(project) == before


@pytest.mark.parametrize(("arguments", "code", "message"), [
    (("--to", "mcp", "--into", "PROJECT"), 2, "mcp"),
    (("--to", "nothing", "--into", "PROJECT"), 2, "unknown format"),
    (("--to", "mmcp", "--into", "NOWHERE"), 3, "not a folder"),
    (("--to", "mmcp", "--into", "EMPTY"), 3, "no AndroidManifest.xml"),
    (("--to", "mmcp", "--into", "PROJECT", "--package", "not a package"), 2, "not a Java package"),
    (("--to", "mmcp", "--into", "PROJECT", "--language", "cobol"), 2, "cobol"),
], ids=str)  # fmt: skip
def test_a_mistake_in_a_migration_is_one_line_with_a_hint(
    droidgate: Runner, project: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"PROJECT": project, "NOWHERE": tmp_path / "nowhere", "EMPTY": tmp_path / "empty"}
    run = droidgate("migrate", CLOCK, *(places.get(argument, argument) for argument in arguments))
    assert run.code == code
    error, hint = run.err.splitlines()
    assert error.startswith("error: ")
    assert message in error
    assert hint.startswith("hint: ")


# `migrate` and `convert` of apps with several providers, and into apps that have code of their own


NOTES_FILE = "app/src/main/java/dev/notes/Notes.kt"
SERVICE = "dev.notes.NotesService"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write_tree(folder, entry_point_tree())
    return folder


OF_SERVICE, OF_FILE = ["dev.notes.BaseNotes_deleteNote"], ["dev.notes.Notes_addNote"]


@pytest.mark.parametrize(("names", "tools"), [
    ([SERVICE], OF_SERVICE), (["NotesService"], OF_SERVICE), ([".NotesService"], OF_SERVICE),
    (["dev.notes/dev.notes.NotesService"], OF_SERVICE),
    (["dev.notes/dev.notes.NotesService  appfunctions+v2"], OF_SERVICE),
    (["Notes.kt"], OF_FILE), (["NotesService", "Notes.kt"], OF_SERVICE + OF_FILE),
], ids=str)  # fmt: skip
def test_providers_are_chosen_by_component_or_file_and_keep_types_of_other_modules(
    droidgate: Runner, tree: Path, tmp_path: Path, names: list[str], tools: list[str]
) -> None:
    options = [word for name in names for word in ("--provider", name)]
    ran = droidgate("convert", tree, "--to", "mcp", "-o", tmp_path / "out", *options)
    assert (ran.code, "warning" in ran.err) == (0, False)
    written = [
        tool
        for path in (tmp_path / "out").rglob("tools.json")
        for tool in json.loads(path.read_text())["tools"]
    ]
    assert sorted(tool["name"] for tool in written) == tools
    assert ("dev.shared.Note" in json.dumps(written)) is ("Notes.kt" in names)


@pytest.mark.parametrize("command", ["convert", "migrate"])
def test_an_unknown_provider_lists_those_it_knows(
    droidgate: Runner, tree: Path, tmp_path: Path, command: str
) -> None:
    place = ("-o", tmp_path / "out") if command == "convert" else ("--into", tree / "app")
    ran = droidgate(command, tree, "--to", "mobile-mcp", *place, "--provider", "NotesServce")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        'error: unknown provider "NotesServce"',
        f"hint: did you mean NotesService? the providers are: {SERVICE}, {tree / NOTES_FILE}",
    ]


def test_several_providers_without_a_choice_are_an_error_with_a_list(droidgate: Runner, tree: Path) -> None:
    ran = droidgate("migrate", tree, "--to", "mobile-mcp", "--into", tree / "app")
    assert ran.code == 2
    assert f"error: {tree} has 2 providers" in ran.err
    assert f"choose with --provider, which may be repeated: {SERVICE}, {tree / NOTES_FILE}" in ran.err


def test_a_migration_of_a_source_that_is_not_fully_read_exits_with_3(droidgate: Runner, tree: Path) -> None:
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
    manifest = str(entry_point_tree()["app/src/main/AndroidManifest.xml"])
    own = {"src/main/kotlin/dev/twin/Twin.kt": "package dev.twin\n"}
    write_tree(twin, {"src/main/AndroidManifest.xml": manifest, **own})
    ran = droidgate(
        *("migrate", tree, "--to", "appfunctions", "--into", twin, "--package", "dev.twin"),
        *("--provider", "NotesService", "--language", "kotlin"),
    )
    assert "src/main/kotlin/dev/notes/BaseNotesService.kt" in ran.err


@pytest.mark.parametrize("language", ["java", "kotlin"])
def test_a_second_migration_names_methods_still_to_add(droidgate: Runner, tree: Path, language: str) -> None:
    arguments = ("migrate", tree, "--to", "mobile-mcp", "--into", tree / "app", "--provider", "NotesService")
    assert droidgate(*arguments, "--language", language, "--write").code == 0
    ending = "kt" if language == "kotlin" else "java"
    handler = tree / f"app/src/main/java/dev/notes/MobileMcpToolServiceCapabilities.{ending}"
    refusal = f"{handler.name} refuses 1 call until you write what the app does"
    assert refusal in droidgate(*arguments, "--write").out
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
    path = f"src/main/java/dev/notes/{handler.name}"
    assert f"{path} has no method for dev.notes.BaseNotes#clearAll: add {head}" in again.out
    assert "deleteNote: add" not in again.out
    assert "refuses" not in again.out
    assert handler.read_text() == filled
