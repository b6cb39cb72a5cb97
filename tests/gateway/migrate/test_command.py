"""`droidgate migrate` as a droidgate: diff on standard output, cost on standard error, exit codes."""

import subprocess
from pathlib import Path

import pytest

from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner, run_process
from gateway.migrate.projects import copy_module, files_of, read_providers

CLOCK = sample_apps_directory() / "clock-in"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return copy_module("pdf-tool", tmp_path)


def test_it_shows_a_diff_and_writes_nothing(droidgate: Runner, project: Path) -> None:
    before = files_of(project)
    run = droidgate("migrate", CLOCK, "--to", "appfunctions", "--into", project)
    assert run.code == 0
    assert run.out.startswith("--- a/src/main/AndroidManifest.xml\n+++ b/src/main/AndroidManifest.xml\n@@ ")
    assert "+++ b/src/main/assets/app_function_service.xml" in run.out
    assert "would update: src/main/AndroidManifest.xml" in run.err
    assert "findings: " in run.err
    assert "Left to do" in run.err
    assert files_of(project) == before


def test_it_writes_once(droidgate: Runner, project: Path) -> None:
    arguments = ("migrate", CLOCK, "--to", "appfunctions", "--into", project, "--write", "--details")
    first = droidgate(*arguments)
    assert first.code == 0
    assert "updated: src/main/AndroidManifest.xml" in first.out
    assert sorted(provider.protocol for provider in read_providers(project)) == ["appfunctions", "mmcp"]
    after = files_of(project)
    second = droidgate(*arguments)
    assert second.code == 0
    assert "unchanged: src/main/AndroidManifest.xml" in second.out
    assert "updated: " not in second.out
    assert files_of(project) == after


@pytest.mark.slow
def test_the_diff_can_be_applied(project: Path, tmp_path: Path) -> None:
    twin = copy_module("pdf-tool", tmp_path / "twin")
    shown = run_process("migrate", CLOCK, "--to", "mobile-mcp", "--into", project)
    assert shown.code == 0
    applied = subprocess.run(
        ["git", "apply", "-"], cwd=twin, input=shown.out.encode(), check=False, capture_output=True
    )
    assert applied.returncode == 0, applied.stderr.decode()
    assert run_process("migrate", CLOCK, "--to", "mobile-mcp", "--into", project, "--write").code == 0
    assert files_of(twin) == files_of(project)


def test_json_is_as_its_schema_says(droidgate: Runner, project: Path) -> None:
    document = droidgate.document("migrate", CLOCK, "--to", "mmcp+draft", "--into", copy_of_clock(project))
    assert document["schema"] == "droidgate.migration/2"
    assert document["written"] is False
    assert {change["path"] for change in document["changes"]} > {"src/main/AndroidManifest.xml"}
    (conversion,) = document["conversions"]
    assert conversion["findings"]


def copy_of_clock(project: Path) -> Path:
    return copy_module("clock-in", project.parent)


def test_findings_over_the_threshold_stop_it(droidgate: Runner, project: Path) -> None:
    before = files_of(project)
    run = droidgate(
        "migrate", CLOCK, "--to", "mmcp+broadcast", "--into", project, "--write", "--fail-on", "moved"
    )
    assert run.code == 1
    assert "nothing was written" in run.err
    assert files_of(project) == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("--to", "mcp", "--into", "PROJECT"), 2, "mcp"),
        (("--to", "nothing", "--into", "PROJECT"), 2, "unknown format"),
        (("--to", "mmcp", "--into", "NOWHERE"), 3, "not a folder"),
        (("--to", "mmcp", "--into", "EMPTY"), 3, "no AndroidManifest.xml"),
        (("--to", "mmcp", "--into", "PROJECT", "--package", "not a package"), 2, "not a Java package"),
        (("--to", "mmcp", "--into", "PROJECT", "--language", "cobol"), 2, "cobol"),
    ],
)
def test_what_is_wrong_is_one_line_with_a_hint(
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


def test_one_provider_at_a_time(droidgate: Runner, project: Path) -> None:
    run = droidgate("migrate", sample_apps_directory() / "notes", "--to", "mobile-mcp", "--into", project)
    assert run.code == 2
    assert run.err.startswith("error: 2 providers are in it\nhint: choose with --provider")
