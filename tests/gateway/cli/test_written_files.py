"""What every command that writes files says of them, and on which stream."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner, run_process
from gateway.migrate.projects import copy_module

CLOCK = str(sample_apps_directory() / "clock-in")
STATUS = re.compile(r"^(created|updated|unchanged|would create|would update): (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Writing:
    """A command that writes files.

    Attributes:
        arguments: What is typed; CLOCK is an app's source, PROJECT another app's, HERE an empty folder.
        again: What a second run says of the files.
    """

    arguments: tuple[str, ...]
    again: str = "unchanged"


WRITING = {
    "convert": Writing(("convert", "CLOCK", "--to", "mmcp", "-o", "HERE/out")),
    "migrate": Writing(
        ("migrate", "CLOCK", "--to", "appfunctions", "--into", "PROJECT", "--write", "--details")
    ),
    "pack": Writing(("pack", "PROJECT", "-o", "HERE/app.apk")),
    "shim build": Writing(
        ("shim", "build", "--from", "CLOCK", "--protocol", "all", "--signer", "00" * 32, "-o", "HERE/shims")
    ),
    "scan": Writing(("scan", "CLOCK", "--workers", "1", "--catalog", "HERE/scanned"), again="updated"),
    "coverage": Writing(
        ("coverage", "CATALOG", "--no-match", "--sarif", "HERE/a.sarif", "--csv", "HERE/tables", "--force")
    ),
    "install-client": Writing(("install-client", "cursor", "--project", "HERE")),
}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a catalog of an app."""
    folder = tmp_path_factory.mktemp("scanned") / "catalog"
    scan = run_process("scan", CLOCK, "--workers", "1", "--catalog", folder)
    assert scan.code == 0, scan.err
    return folder


def _filled(writing: Writing, folder: Path, catalog: Path) -> list[str]:
    project = folder / "pdf-tool"
    if "PROJECT" in writing.arguments and not project.exists():
        copy_module("pdf-tool", folder)
    places = {"CLOCK": CLOCK, "PROJECT": str(project), "CATALOG": str(catalog)}
    return [places.get(word, word.replace("HERE", str(folder))) for word in writing.arguments]


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_files_are_listed_on_standard_output_and_a_second_run_says_that_they_are_the_same(
    name: str, droidgate: Runner, catalog: Path, tmp_path: Path
) -> None:
    writing = WRITING[name]
    arguments = _filled(writing, tmp_path, catalog)
    first = droidgate(*arguments)
    assert first.code == 0, first.err
    listed = {path: status for status, path in STATUS.findall(first.out)}
    assert listed
    assert set(listed.values()) <= {"created", "updated"}
    assert STATUS.findall(first.err) == []
    second = droidgate(*arguments)
    assert second.code == 0, second.err
    assert {path: status for status, path in STATUS.findall(second.out)} == dict.fromkeys(
        listed, writing.again
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WRITING)
def test_files_are_listed_on_standard_error_where_standard_output_has_a_document(
    name: str, droidgate: Runner, catalog: Path, tmp_path: Path
) -> None:
    writing = WRITING[name]
    arguments = _filled(writing, tmp_path, catalog)
    run = droidgate(*arguments, "--json")
    assert run.code == 0, run.err
    assert isinstance(json.loads(run.out), dict)
    assert STATUS.findall(run.err)


def test_the_lines_on_standard_error_are_notes(droidgate: Runner, tmp_path: Path) -> None:
    run = droidgate("convert", CLOCK, "--to", "mmcp", "-o", tmp_path, "--json", "--quiet")
    assert (run.code, run.err) == (0, "")


def test_a_diff_has_standard_output_for_itself(droidgate: Runner, tmp_path: Path) -> None:
    run = droidgate("migrate", CLOCK, "--to", "appfunctions", "--into", copy_module("pdf-tool", tmp_path))
    assert run.out.startswith("--- a/src/main/AndroidManifest.xml\n")
    assert STATUS.findall(run.out) == []
    assert ("would update", "src/main/AndroidManifest.xml") in STATUS.findall(run.err)
