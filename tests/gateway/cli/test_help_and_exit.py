"""Help, version, usage errors, and how a run ends."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.main import get_command

from droidgate.cli.descriptors import inspecting
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.options import ConversionThreshold, DiffThreshold, LintThreshold
from droidgate.cli.program import HEADINGS, build_app
from droidgate_mappings.compare import WEIGHTS
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.findings import CONVERSION_LEVELS, LINT_LEVELS, Level
from gateway.cli.program_runs import WHOLE_PROGRAM, Runner, run_on_terminal, run_process
from requirements_of_tests import CHECKOUT

COMMANDS = ("inspect", "convert", "lint", "diff", "formats", "demo")
HEAVY = (
    "pydantic", "lxml", "rich", "jsonschema", "adbutils", "droidgate_mappings.model.types",
    "droidgate_mappings.formats.format",
)  # fmt: skip

REPORT_IMPORTS = """
import json, sys
from droidgate.cli import run
code = run(json.loads(sys.argv[1]))
print(json.dumps([code, sorted(sys.modules)]))
"""


def _imported_by(*arguments: str) -> tuple[int, set[str]]:
    command = [sys.executable, "-c", REPORT_IMPORTS, json.dumps(arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    code, modules = json.loads(run.stdout.splitlines()[-1])
    return code, set(modules)


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), *((*command.split(), "--help") for command in COMMANDS)],
    ids=" ".join,
)
def test_help_and_version_import_nothing_heavy(arguments: tuple[str, ...]) -> None:
    code, modules = _imported_by(*arguments)
    assert code == 0
    # To show parameters, typer itself needs pydantic; nothing of ours does.
    own = set(HEAVY) - ({"pydantic"} if len(arguments) > 1 else set())
    assert modules.isdisjoint(own)


UNUSED_BY_A_PLAIN_REPORT = {
    *("rich", "jsonschema", "adbutils", "duckdb", "jinja2", "cryptography"),
    *(
        "droidgate_android.app_search",
        "droidgate_android.apk.reader",
        "droidgate_mappings.compare",
        "droidgate.cli.output.json_documents",
    ),
    *(
        "droidgate.coverage",
        "droidgate.devices",
        "droidgate_mappings.fit",
        "droidgate_phone",
        "droidgate_shim",
    ),
}


@pytest.mark.parametrize("below", ["", "app/src/main/res/xml/mcp_capabilities.xml"])
def test_a_plain_report_imports_only_what_it_shows(below: str) -> None:
    code, modules = _imported_by("inspect", str(CHECKOUT / "device_shim" / "apps" / "clock-in" / below))
    assert code == 0
    assert modules & UNUSED_BY_A_PLAIN_REPORT == set()


def test_the_modules_that_a_plain_report_must_not_import_are_written_as_they_are() -> None:
    assert {name for name in UNUSED_BY_A_PLAIN_REPORT if find_spec(name) is None} == set()


def test_a_report_does_import_the_model() -> None:
    code, modules = _imported_by("formats", "--json-schema")
    assert code == 0
    assert "pydantic" in modules


def test_version_is_the_installed_one(droidgate: Runner) -> None:
    run = droidgate("--version")
    assert (run.code, run.out, run.err) == (0, "droidgate 0.1.0\n", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(droidgate: Runner, command: str) -> None:
    run = droidgate(command, "-h")
    assert run.code == 0
    assert run.out.startswith(f"Usage: droidgate {command}")
    assert command in droidgate("--help").out


def test_the_help_has_each_command_once_below_a_heading() -> None:
    shown = [name for names in HEADINGS.values() for name in names]
    assert sorted(shown) == sorted(get_command(build_app()).commands)  # type: ignore[attr-defined]


def test_no_arguments_show_the_help_as_a_usage_error(droidgate: Runner) -> None:
    run = droidgate()
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Usage: droidgate")


@pytest.mark.parametrize(("arguments", "error", "hint"), [
    (("inspct",), "error: no such command 'inspct'",
     "hint: did you mean 'inspect', 'pins', 'lint'? see `droidgate --help`"),
    (("inspect", "--nothing"), "error: no such option: --nothing", "hint: see `droidgate inspect --help`"),
    (("convert", "x"), "error: missing option '--to'", "hint: see `droidgate convert --help`"),
    (("inspect",), "error: missing argument 'SRC'", "hint: see `droidgate inspect --help`"),
    (("lint", "x", "--fail-on", "fatal"),
     "error: invalid value for '--fail-on': 'fatal' is not one of 'note', 'warning', 'error'",
     "hint: see `droidgate lint --help`"),
    (("lint", "x", "--json", "--sarif"), "error: --json and --sarif exclude each other",
     "hint: choose one of them"),
    (("diff", "-", "-"), "error: standard input cannot be both sides", "hint: name a file for one of them"),
    (("inspect", "-", "-"), "error: standard input can be read once only", "hint: write - once"),
], ids=lambda value: " ".join(value) if isinstance(value, tuple) else None)  # fmt: skip
def test_usage_errors_are_one_line_and_a_hint(
    droidgate: Runner, arguments: tuple[str, ...], error: str, hint: str
) -> None:
    run = droidgate(*arguments)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [error, hint]


def test_unknown_formats_name_the_known_ones(droidgate: Runner, tmp_path: Path) -> None:
    run = droidgate("convert", tmp_path, "--to", "klingon", "-o", tmp_path / "out")
    assert run.code == 2
    first, second = run.err.splitlines()
    assert first == "error: unknown format 'klingon'"
    assert second.startswith("hint: known: ")
    assert "mobile-mcp" in second


def test_a_mistake_of_ours_is_one_line(droidgate: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_arguments: object, **_options: object) -> int:
        raise ValueError("wires\ncrossed \x1b[31m")

    monkeypatch.setattr(inspecting, "inspect_sources", explode)
    run = droidgate("inspect", "x")
    assert run.code == 70
    assert run.err.splitlines() == [
        "error: internal error: ValueError: wires crossed \\x1b[31m",
        "hint: set DROIDGATE_TRACEBACK=1 to see where it happened, and report it",
    ]
    monkeypatch.setenv("DROIDGATE_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in droidgate("inspect", "x").err


def test_ctrl_c_ends_quietly(droidgate: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_arguments: object, **_options: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(inspecting, "inspect_sources", interrupt)
    run = droidgate("inspect", "x")
    assert (run.code, run.out, run.err) == (130, "", "")


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    command = [*WHOLE_PROGRAM, "formats", "--json"]
    run = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    assert (run.returncode, run.stderr) == (141, "")


def test_the_script_and_the_module_are_the_same() -> None:
    script = Path(sys.executable).with_name("droidgate")
    run = subprocess.run([script, "--help"], capture_output=True, text=True, check=True)
    assert run_process("--help").out == run.stdout


def test_help_on_a_terminal_has_no_frames() -> None:
    assert "─" not in run_on_terminal("--help")


def _all_errors(base: type[DroidgateError]) -> list[type[DroidgateError]]:
    return [base, *(error for below in base.__subclasses__() for error in _all_errors(below))]


@pytest.mark.parametrize("error", _all_errors(DroidgateError), ids=lambda item: item.__name__)
def test_every_error_ends_with_a_code_of_the_table(error: type[DroidgateError]) -> None:
    assert error.exit_code in set(ExitCode)


def test_the_codes_are_those_that_scripts_rely_on() -> None:
    assert [int(item) for item in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 70, 130, 141]


def test_thresholds_are_the_levels_of_the_model() -> None:
    assert [item.value for item in ConversionThreshold] == [
        item.value for item in CONVERSION_LEVELS if item != Level.READ
    ]
    assert [item.value for item in LintThreshold] == [item.value for item in LINT_LEVELS]
    assert [item.value for item in DiffThreshold] == [item.value for item in WEIGHTS]


def test_a_file_of_another_format_than_was_asked_for_says_what_was_asked_for(
    droidgate: Runner, tmp_path: Path
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('{"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}')
    run = droidgate("inspect", tools, "--from", "mmcp")
    assert (run.code, run.err.splitlines()[1]) == (3, "hint: it was to be read as mMCP (mmcp) only")
