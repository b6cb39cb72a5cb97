"""`--name`, `--package` and `--description` of `convert` and `migrate`."""

import json
from pathlib import Path
from typing import Any

import pytest

from droidgate import read
from droidgate_phone.apps.sample_apps import sample_apps_directory
from gateway.cli.program_runs import Runner

GIVEN = ("--name", "My clock", "--package", "org.example.clock", "--description", "Clocks people in")
CLOCK = sample_apps_directory() / "clock-in" / "app"


def findings_of(folder: Path) -> list[dict[str, Any]]:
    document = json.loads((folder / "fidelity.json").read_text())
    findings: list[dict[str, Any]] = document["conversions"][0]["findings"]
    return findings


@pytest.mark.parametrize("target", ["mobile-mcp", "mmcp", "mmcp+draft", "appfunctions", "mcp"])
def test_what_is_given_is_written(target: str, droidgate: Runner, tmp_path: Path) -> None:
    assert droidgate("convert", CLOCK, "--to", target, *GIVEN, "-o", tmp_path).code == 0
    (written,) = read(str(tmp_path))
    assert (written.name, written.package) == ("My clock", "org.example.clock")
    assert "Clocks people in" in f"{written.description} {written.instructions}"


def test_a_value_that_is_given_is_not_a_default(droidgate: Runner, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    pointers = {}
    for folder, options in (("without", ()), ("with", GIVEN)):
        out = tmp_path / folder
        assert droidgate("convert", tools, "--to", "mobile-mcp", *options, "-o", out).code == 0
        pointers[folder] = {item["pointer"] for item in findings_of(out) if item["level"] == "defaulted"}
    assert pointers["without"] - pointers["with"] == {"/name", "/description"}
    assert pointers["with"] < pointers["without"]


def test_a_value_that_the_target_does_not_have_is_a_finding(droidgate: Runner, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps({"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}))
    out = tmp_path / "out"
    assert droidgate("convert", tools, "--to", "mmcp+broadcast", "--description", "D", "-o", out).code == 0
    assert [item["code"] for item in findings_of(out) if item["pointer"] == "/description"] == [
        "field-dropped"
    ]


def test_several_providers_need_a_choice(droidgate: Runner, tmp_path: Path) -> None:
    source = sample_apps_directory()
    run = droidgate(
        "convert", source, "--to", "mcp", "--name", "N", "--description", "D", "-o", tmp_path / "o"
    )
    assert run.code == 2
    assert "--name and --description cannot describe 5 providers" in run.err
    assert "hint: choose one with --provider: dev.droidgate.sample.clockin.ClockInService, " in run.err
    assert not (tmp_path / "o").exists()
    chosen = ("--provider", "TallyService", "--name", "N", "-o", tmp_path / "o")
    assert droidgate("convert", source, "--to", "mcp", *chosen).code == 0


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--name", " ", "the name is empty"),
        ("--description", "", "the description is empty"),
        ("--package", "1.clock", "'1.clock' is not a Java package"),
    ],
)
def test_a_value_that_cannot_be_written_is_refused(
    option: str, value: str, said: str, droidgate: Runner, tmp_path: Path
) -> None:
    run = droidgate("convert", CLOCK, "--to", "mcp", option, value, "-o", tmp_path / "o")
    assert (run.code, said in run.err) == (2, True)


def test_migrate_writes_name_and_description(droidgate: Runner, tmp_path: Path) -> None:
    main = tmp_path / "src" / "main"
    main.mkdir(parents=True)
    (main / "AndroidManifest.xml").write_text("<manifest><application/></manifest>")
    arguments = ("migrate", CLOCK, "--to", "mobile-mcp", "--into", tmp_path, *GIVEN, "--write")
    assert droidgate(*arguments).code == 0
    (written,) = read(str(tmp_path))
    assert (written.name, written.description) == ("My clock", "Clocks people in")
