"""What a reader leaves out counts for `--fail-on`, whatever the target."""

import json
from pathlib import Path

import pytest

from gateway.cli.program_runs import Runner

FUNCTION = (
    "<appfunction><id>a.B#c</id><enabledByDefault>true</enabledByDefault>{more}<response><id>unused</id>"
    "<valueType><id>unused</id><isNullable>false</isNullable><type>0</type></valueType></response>"
    "<functionId>a.B#c</functionId></appfunction>"
)
TWICE = f"<appfunctions>{FUNCTION}{FUNCTION}</appfunctions>".format(more="")
ACCEPTED = f"<appfunctions>{FUNCTION}</appfunctions>\n<version>1</version>".format(more="")


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("text", "code"), [(TWICE, 1), (ACCEPTED, 0)])
def test_a_part_that_is_left_out_reaches_the_threshold_of_dropped(
    droidgate: Runner, text: str, code: int
) -> None:
    Path("f.xml").write_text(text)
    run = droidgate(
        "convert", "f.xml", "--to", "appfunctions+v2", "-o", "out", "--fail-on", "dropped", "--json"
    )
    assert run.code == code
    document = json.loads(run.out)
    assert [item["level"] for item in document["reading"]] == ["dropped" if code else "read"]
    assert droidgate("convert", "f.xml", "--to", "appfunctions+v2", "-o", "out", "--force").code == 0


def test_the_page_counts_what_is_left_out(droidgate: Runner) -> None:
    Path("f.xml").write_text(TWICE)
    run = droidgate("convert", "f.xml", "--to", "appfunctions+v2", "-o", "out")
    assert "duplicate function 'a.B#c'" in run.out
    assert "findings: 1 dropped" in run.out


def test_what_is_left_out_is_shown_when_the_artifact_goes_to_standard_output(droidgate: Runner) -> None:
    Path("f.xml").write_text(TWICE)
    run = droidgate("convert", "f.xml", "--to", "appfunctions+v2", "-o", "-")
    assert "duplicate function 'a.B#c'" in run.err
    assert run.out.count("<appfunction>") == 1


@pytest.mark.parametrize(("text", "words"), [(TWICE, "nothing else is lost"), (ACCEPTED, "nothing is lost")])
def test_a_conversion_is_lossless_only_where_the_reader_dropped_nothing(
    droidgate: Runner, text: str, words: str
) -> None:
    Path("f.xml").write_text(text)
    run = droidgate("convert", "f.xml", "--to", "appfunctions+app-level", "-o", "out")
    assert [line.strip() for line in run.out.splitlines() if "is lost" in line] == [words]
    assert ("findings: none" in run.out) is (words == "nothing is lost")
