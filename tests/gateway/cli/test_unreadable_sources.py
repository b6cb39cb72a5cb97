"""`convert` writes what it can read of several sources, and exits with 3 where one of them cannot be read."""

import json
from pathlib import Path

import pytest

from gateway.cli.program_runs import Runner
from gateway.cli.samples import TIMER, write_tools

CUT = TIMER.replace("</mobile", "<mobile")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sources").mkdir()
    write_tools(Path("sources/good.json"))
    Path("sources/bad.xml").write_text(CUT)


@pytest.mark.parametrize(("sources", "place"), [
    (["sources"], "sources/bad.xml"),
    (["sources/good.json", "sources/bad.xml"], "sources/bad.xml"),
    (["sources/missing.xml", "sources/good.json"], "sources/missing.xml"),
])  # fmt: skip
@pytest.mark.parametrize("threshold", [[], ["--fail-on", "renamed"]])
def test_the_others_are_written_where_a_source_cannot_be_read(
    droidgate: Runner, sources: list[str], place: str, threshold: list[str]
) -> None:
    run = droidgate("convert", *sources, "--to", "mmcp", "-o", "out", *threshold)
    assert run.code == 3
    assert f"warning: {place}" in run.err
    assert Path("out/mmcp_manifest.json").exists()
    document = json.loads(Path("out/fidelity.json").read_text())
    assert [item["place"].startswith(place) for item in document["problems"]] == [True]
    assert [item["source"]["place"] for item in document["conversions"]] == ["sources/good.json:1"]


def test_nothing_is_written_where_no_source_can_be_read(droidgate: Runner) -> None:
    run = droidgate("convert", "sources/bad.xml", "missing.xml", "--to", "mmcp", "-o", "out")
    assert (run.code, Path("out").exists()) == (3, False)
    assert "warning: sources/bad.xml" in run.err
    assert "warning: missing.xml" in run.err
    assert "none of the 2 sources can be read" in run.err


def test_the_error_of_a_single_source_is_that_of_the_command(droidgate: Runner) -> None:
    run = droidgate("convert", "sources/bad.xml", "--to", "mmcp", "-o", "out")
    assert run.code == 3
    assert run.err.startswith("error: sources/bad.xml")


def test_other_commands_stop_at_a_source_that_cannot_be_read(droidgate: Runner) -> None:
    run = droidgate("inspect", "sources/good.json", "sources/bad.xml")
    assert (run.code, run.out) == (3, "")
