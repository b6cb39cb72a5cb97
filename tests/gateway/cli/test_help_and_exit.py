"""Help, mistakes and broken streams, `--quiet` and `--verbose`, and how a run ends.

A mistake has an exit code, one line and a hint, and leaves nothing behind.
"""

import functools
import itertools
import json
import logging
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.main import get_command

from droidgate.cli.command_classes import Command, Options
from droidgate.cli.descriptors import run_inspect
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.failure_texts import guard
from droidgate.cli.program import Help, build_app
from droidgate.cli.shared_options import ConversionThreshold, DiffThreshold, LintThreshold
from droidgate.computer import optional_packages as extras
from droidgate_mappings.compare import WEIGHTS, Weight
from droidgate_mappings.model.errors import DroidgateError
from droidgate_mappings.model.findings import CONVERSION_LEVELS, LINT_LEVELS, Level
from droidgate_mappings.timed_steps import LOGGER, timed_step
from droidgate_phone.phone import VirtualPhone
from gateway.cli.program_runs import WHOLE_PROGRAM, Run, Runner, run_on_terminal, run_process
from gateway.cli.samples import TIMER
from requirements_of_tests import CHECKOUT
from titled_rows import titled

PROGRAM = f"'{sys.executable}' -m droidgate"
SAMPLE = CHECKOUT / "device_shim" / "apps" / "clock-in"


# What somebody types in a shell (`droidgate` is the program, `SAMPLE` a source), the exit code, and what the
# line on standard error and the hint contain, or are if they begin with `error: ` and `hint: `; None is any.
CASES = [
    ("droidgate inspct", 2, "error: no such command 'inspct'",
     "hint: did you mean 'inspect', 'pins', 'lint'? see `droidgate --help`"),
    ("droidgate inspect --nothing", 2,
     "error: no such option: --nothing", "hint: see `droidgate inspect --help`"),
    ("droidgate why --capability add", 2, "error: no such option: --capability",
     "hint: write droidgate why CAPABILITY, without --capability; see `droidgate why --help`"),
    ("droidgate convert x", 2, "error: missing option '--to'",
     "hint: write --to FORMAT[+DIALECT]; see `droidgate convert --help`"),
    ("droidgate serve --http", 2, "error: option '--http' requires an argument",
     "hint: write --http [HOST:]PORT; see `droidgate serve --help`"),
    ("droidgate inspect", 2, "error: missing argument 'SRC'", "hint: see `droidgate inspect --help`"),
    ("droidgate lint x --fail-on fatal", 2,
     "error: invalid value for '--fail-on': 'fatal' is not one of 'note', 'warning', 'error'",
     "hint: see `droidgate lint --help`"),
    ("droidgate lint x --json --sarif", 2,
     "error: --json and --sarif exclude each other", "hint: choose one of them"),
    ("droidgate diff - -", 2,
     "error: standard input cannot be both sides", "hint: name a file for one of them"),
    ("droidgate inspect - -", 2, "error: standard input can be read once only", "hint: write - once"),
    ("droidgate -v inspect x -q", 2,
     "error: --quiet and --verbose exclude each other", "hint: choose one of them"),
    ("droidgate inspect SAMPLE >&-", 3, "standard output: it is closed", None),
    ("droidgate inspect SAMPLE >/dev/full", 3, "standard output: No space left on device", "make room"),
    ("droidgate inspect - <&-", 3, "standard input: it is closed", None),
    ("droidgate inspect SAMPLE 2>&- >/dev/null", 0, "", None),
    ("droidgate inspect nope 2>&-", 3, "", None),
    ("droidgate inspect SAMPLE >&- 2>&- <&-", 3, "", None),
    ("droidgate inspect SAMPLE | cat >/dev/null; exit ${PIPESTATUS[0]}", 0, "", None),
    ("mkfifo pipe; droidgate inspect pipe", 3, "pipe: ", None),
    ("droidgate inspect /dev/zero", 3, "/dev/zero: ", None),
    ("droidgate inspect - </dev/zero", 3, "16777216 bytes", None),
    ("droidgate inspect ''", 3, "the path is empty", "standard input is `-`"),
    ("droidgate convert SAMPLE --to mcpp -o out", 2, "unknown format 'mcpp'", "did you mean 'mcp'?"),
    ("droidgate convert SAMPLE --to gemini", 2, "unknown format 'gemini'",
     "did you mean 'function-calling+gemini'?"),
    ("droidgate convert SAMPLE --to mmcp+drft -o out", 2, "dialect 'drft'", "did you mean 'draft'?"),
    ("droidgate convert SAMPLE --to observed -o out", 2,
     "is only read: another gateway's", "droidgate formats"),
    ("droidgate convert SAMPLE --to mmcp -o /dev/full/x", 3, "/dev/full: ", "another output folder"),
    ("touch out; droidgate convert SAMPLE --to mmcp -o out", 2, "the result has 2 files", "name a folder"),
    ("droidgate convert SAMPLE --to mmcp -o /proc/x", 3, "/proc", None),
    ("touch gone; droidgate pack SAMPLE -o gone/a.apk", 3, "gone", None),
    ("droidgate coverage nope --html gone/x.html", 3, "nope: ", "droidgate scan"),
    ("droidgate scan SAMPLE --catalog /proc/x", 3, "/proc/x: ", None),
    ("droidgate help shim instal", 2, "no such command 'instal'", "did you mean 'install'?"),
    ("droidgate phone start --sdk 99", 2, "'99' is not one of '26', '30',", "phone start --help"),
    ("droidgate phone start --fault nope", 2, "unknown fault 'nope'", "unauthorized, garbage, slow=BYTES"),
    ("droidgate phone push nope", 4, "no virtual phone", "droidgate phone start"),
    ("droidgate inspect adb: ", 4, "", ""),
    ("droidgate call", 2, "missing argument CAPABILITY", "--batch"),
    ("droidgate call x --args '{'", 2, "--args:1:2", "--args '{"),
    ("droidgate call x --file a", 2, "'a' is not NAME=@FILE", "--file path=@report.pdf"),
    ("droidgate call --batch nope", 3, "nope: ", None),
    ("droidgate call x", 4, "", ""),
    ("droidgate serve --json", 2, "--json needs --plan", ""),
    ("droidgate serve --no-token", 2, "--no-token needs --http", ""),
    ("droidgate serve --http 0.0.0.0:8000", 2, "not a loopback address", ""),
    ("droidgate serve --http :x", 2, "':x' is not an address", "127.0.0.1:8000"),
    ("DROIDGATE_HOME=/proc/x droidgate phone start", 4, "/proc/x/state/phones/", "set DROIDGATE_HOME to"),
    ("HOME=/proc/x droidgate install-client cursor", 3, "/proc/x/.cursor/mcp.json: ", "set HOME to"),
    ("droidgate pins remove nope", 2, "no capability is approved", "droidgate pins approve"),
    ("droidgate audit show --last ''", 2, "'--last' / '-n': '' is not a whole number", "--help"),
    ("droidgate call x --deadline nan", 2, "'nan' is not a number from 1 to 150", "call --help"),
    ("droidgate audit verify --folder nope", 3, "nope: ", None),
    ("droidgate install-client nope", 2, "unknown client 'nope'", "cursor"),
    ("droidgate install-client cursor --print --remove", 2, "exclude each other", "leave one"),
    ("printf 'lnt = 1' > droidgate.toml; droidgate lint SAMPLE", 2, 'unknown setting "lnt"', "lint"),
    ("printf '[' > droidgate.toml; droidgate inspect x", 2, "not TOML", "the settings are"),
    ("droidgate catalog sql nope 'select 1'", 3, "nope: there is no such folder", "droidgate scan"),
    ("droidgate pack nope -o a.apk", 3, "nope: it is not a folder", "project"),
    ("droidgate shim install --from nope", 4, "", ""),
    ("droidgate shim uninstall", 2, "no shim is named", "take --all"),
    ("printf '[phone.start]\nsdk = \"99\"' > droidgate.toml; droidgate phone start", 2, "toml:2: ", "sett"),
    ("printf 'format = \"x\"' > droidgate.toml; droidgate inspect SAMPLE", 2, "expected a list", "settings"),
    ("mkdir droidgate.toml; droidgate inspect SAMPLE", 2, "droidgate.toml: ", "settings"),
    ("droidgate scan @nope --catalog c", 3, "nope: the list cannot be read", "one source a line"),
    ("droidgate coverage nope --since gone", 3, "gone: there is no such folder", "droidgate scan"),
    ("droidgate diff SAMPLE SAMPLE --fail-on nope", 2, "is not one of 'text-only'", "diff --help"),
    ("droidgate migrate SAMPLE --to mmcp --into /dev/null", 3, "/dev/null: not a folder", "Android app's"),
    ("droidgate call x --args @nope.json", 2, "--args:1:1: not JSON", "such as --args"),
    ("ANDROID_ADB_SERVER_PORT=abc ADB_SERVER_SOCKET= droidgate devices", 4, "'abc'; expected a port", None),
]  # fmt: skip


SHELL = re.compile(r"[<>|$]|^\w+=")
"""What only a shell understands; every other line is run inside of this process, which is quicker."""


def _run_line(typed: str, droidgate: Runner) -> Run:
    """Return how a command line ended in the working folder."""
    if SHELL.search(typed) is None:
        return droidgate(*shlex.split(typed.replace("SAMPLE", str(SAMPLE)))[1:])
    command = typed.replace("droidgate ", f"{PROGRAM} ", 1).replace("SAMPLE", f"'{SAMPLE}'")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(("typed", "code", "line", "hint"), CASES, ids=[case[0] for case in CASES])
def test_bad_input_ends_with_one_line_and_leaves_nothing(
    typed: str,
    code: int,
    line: str,
    hint: str | None,
    droidgate: Runner,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    # No server is started on another machine, and so none stays behind.
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:adb.invalid:1")
    before, last = "", typed
    if typed.startswith(("mk", "ln", "printf", "touch")):
        before, _, last = typed.rpartition("; ")
        subprocess.run(["bash", "-c", before], check=True)
    files = sorted(folder.rglob("*"))
    run = _run_line(last, droidgate)
    assert run.code == code, run
    assert "Traceback" not in run.err
    assert code != ExitCode.USAGE or run.out == ""
    lines = run.err.splitlines()
    if "2>&-" not in typed and code:
        assert lines[0].startswith("error: ")
        assert line == lines[0] if line.startswith("error: ") else line.lower() in lines[0].lower()
        assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: "))
    if hint is not None:
        assert hint == lines[1] if hint.startswith("hint: ") else hint in lines[1]
    assert sorted(folder.rglob("*")) == files
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []


def _commands(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command that works, with its words."""
    for name, below in getattr(command, "commands", {}).items():
        yield from _commands(below, *words, name)
    if not hasattr(command, "commands"):
        yield words, command


COMMANDS_OF_PROGRAM = dict(_commands(get_command(build_app())))


def test_a_number_out_of_its_range_is_named_with_the_range(capsys: pytest.CaptureFixture[str]) -> None:
    program = get_command(build_app())
    options = [
        (path, option)
        for path, command in COMMANDS_OF_PROGRAM.items()
        for option in command.params
        if option.opts[0] != "--quiet" and (option.min, option.max) != (None, None)
    ]
    assert len(options) > 15
    for path, option in options:
        for value in ("many", f"{option.min - 1:g}", "1e99"):
            words = [*path, f"{option.opts[0]}={value}"]
            code = guard(functools.partial(program.main, words, prog_name="droidgate", standalone_mode=False))
            line, hint = capsys.readouterr().err.splitlines()
            allowed = rf"'{value}' is not a (whole )?number (of at least|from) {option.min:g}"
            assert re.search(allowed, line), line
            assert option.max is None or f" to {option.max:.10g}" in line
            assert (code, hint) == (2, f"hint: see `droidgate {' '.join(path)} --help`")


PROGRAM_THAT_SAYS_WHEN_IT_STARTS = """
from droidgate import cli
run = cli.run
cli.run = lambda: print("up", flush=True) or run()
cli.main()
"""
PROGRAMS_THAT_PRESS_CTRL_C = {
    "a library turns it into another failure": """
from droidgate.cli.command_classes import Command, Options
from droidgate.cli.descriptors import run_inspect
def inspect(*arguments, **options):
    try:
        press()
    except KeyboardInterrupt as pressed:
        raise ValueError(repr(pressed)) from None
run_inspect.inspect_sources = inspect
""",
    "an import turns it into another failure": """
def run():
    try:
        press()
    except KeyboardInterrupt:
        raise RuntimeError("cannot release un-acquired lock") from None
cli.run = run
""",
    "a callback cannot raise it": """
import weakref
from droidgate.cli.command_classes import Command, Options
from droidgate.cli.descriptors import run_inspect
def inspect(*arguments, **options):
    thing = type("Thing", (), {})()
    callback = weakref.ref(thing, lambda _: press())
    del thing
    time.sleep(60)
run_inspect.inspect_sources = inspect
""",
    "the command has ended": """
import atexit
atexit.register(press)
cli.run = lambda: 0
""",
}
PRESS = """
import os, signal, time
from droidgate import cli
def press():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
"""


@pytest.mark.parametrize("where", PROGRAMS_THAT_PRESS_CTRL_C)
def test_ctrl_c_ends_a_run_without_output_at_every_step(where: str, tmp_path: Path) -> None:
    program = f"{PRESS}{PROGRAMS_THAT_PRESS_CTRL_C[where]}cli.main()"
    command = [sys.executable, "-c", program, "inspect", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.parametrize("milliseconds", [0, 60, 120, 250, 500, 1000], ids="{} ms".format)
def test_ctrl_c_ends_a_run_without_output_also_while_it_starts(milliseconds: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM_THAT_SAYS_WHEN_IT_STARTS, "inspect", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        time.sleep(milliseconds / 1000)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "", "")


COMMANDS = ("inspect", "convert", "lint", "diff", "formats", "demo", "pack", "serve")
HEAVY = (
    "pydantic", "lxml", "rich", "jsonschema", "adbutils", "importlib.metadata", "cryptography", "mcp",
    "starlette", "uvicorn",
    "droidgate_mappings.model.types", "droidgate_mappings.formats.format",
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
    # To show parameters, typer needs pydantic, which needs the metadata of packages.
    own = set(HEAVY) - ({"pydantic", "importlib.metadata"} if len(arguments) > 1 else set())
    assert modules.isdisjoint(own)
    declared = [name for name in modules if re.fullmatch(r"droidgate\.cli\.\w+\.\w+_options", name)]
    assert len(declared) == len(arguments) - 1


UNUSED_BY_A_PLAIN_REPORT = {
    *("rich", "jsonschema", "adbutils", "duckdb", "jinja2", "cryptography"),
    *("droidgate_android.app_search.indexed_packages", "droidgate_android.apk.reader",
        "droidgate_mappings.compare", "droidgate.cli.descriptors.inspect_documents",
        "droidgate.sources.catalogs.catalog_rows"),
    *("droidgate.coverage", "droidgate.devices", "droidgate_mappings.fit", "droidgate_phone",
        "droidgate_shim"),
}  # fmt: skip


@titled(("arguments", "code", "needed", "unused"), {
    "a report of a tree": (("inspect", str(SAMPLE)), 0, set(), UNUSED_BY_A_PLAIN_REPORT),
    "a report of a file": (("inspect", f"{SAMPLE}/app/src/main/res/xml/mcp_capabilities.xml"), 0, set(),
        UNUSED_BY_A_PLAIN_REPORT),
    "a call": (("call", "createNote", "--args", "["), 2, {"droidgate.calls.caller"},
        {"cryptography", "PIL", "droidgate_mappings.compare"}),
    "a schema": (("formats", "--json-schema"), 0, {"pydantic"}, set()),
})  # fmt: skip
def test_a_command_imports_only_what_it_uses(
    arguments: tuple[str, ...], code: int, needed: set[str], unused: set[str]
) -> None:
    returned, modules = _imported_by(*arguments)
    assert (returned, modules & unused) == (code, set())
    assert needed <= modules


def test_the_modules_that_a_plain_report_must_not_import_are_written_as_they_are() -> None:
    assert {name for name in UNUSED_BY_A_PLAIN_REPORT if find_spec(name) is None} == set()


def test_version_is_the_installed_one(droidgate: Runner) -> None:
    run = droidgate("--version")
    assert (run.code, run.out, run.err) == (0, "droidgate 0.1.0\n", "")


def _with_subclasses(base: type[Any]) -> list[type[Any]]:
    return [base, *(item for below in base.__subclasses__() for item in _with_subclasses(below))]


def test_the_program_has_each_command_that_is_declared() -> None:
    classes = {item for item in _with_subclasses(Command) if item is Help or vars(item).get("_work")}
    assert len(COMMANDS_OF_PROGRAM) == len(classes)


@pytest.mark.parametrize("command", COMMANDS_OF_PROGRAM, ids=" ".join)
def test_the_help_of_a_command_has_a_word_for_each_value_and_short_sections(
    droidgate: Runner, command: tuple[str, ...]
) -> None:
    run = droidgate(*command, "-h")
    usage, _, text = run.out.partition("\n\n")
    assert (run.code, usage.startswith(f"Usage: droidgate {' '.join(command)}")) == (0, True)
    assert not re.search(r"[{<]|\[\[|\]\.", usage)
    assert not re.search(r"^ +(-[^ ]|\[?[A-Z]).*?(<\w|\w>(?!=)|\blist\[|\bNone\b)", text, re.MULTILINE)
    sections = re.split(r"^(?=\S.*:$)", text, flags=re.MULTILINE)[1:]
    rows = [len(re.findall(r"^  [-\[A-Z]", section, re.MULTILINE)) for section in sections]
    assert 1 <= min(rows) <= max(rows) <= 12


def test_a_heading_of_the_help_has_options_that_the_command_takes() -> None:
    options = [
        (item, name)
        for item in _with_subclasses(Options)
        for name in itertools.chain(*item._headings.values())
    ]
    assert len(options) > 50
    assert [(item, name) for item, name in options if name not in vars(item)] == []


def test_no_arguments_show_the_help_as_a_usage_error(droidgate: Runner) -> None:
    run = droidgate()
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("Usage: droidgate")


def test_an_internal_error_is_one_line(droidgate: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_arguments: object, **_options: object) -> int:
        raise ValueError("wires\ncrossed \x1b[31m")

    monkeypatch.setattr(run_inspect, "inspect_sources", explode)
    run = droidgate("inspect", "x")
    assert run.code == 70
    assert run.err.splitlines() == [
        "error: internal error: ValueError: wires crossed \\x1b[31m",
        "hint: set DROIDGATE_TRACEBACK=1 to see where it happened, and report it",
    ]
    monkeypatch.setenv("DROIDGATE_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in droidgate("inspect", "x").err


def test_a_closed_pipe_ends_a_command_quietly() -> None:
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


@pytest.mark.parametrize("error", _with_subclasses(DroidgateError), ids=lambda item: item.__name__)
def test_every_error_ends_with_a_code_of_the_table(error: type[DroidgateError]) -> None:
    assert error.exit_code in set(ExitCode)


def test_the_codes_are_those_that_scripts_rely_on() -> None:
    assert [int(item) for item in ExitCode] == [0, 1, 2, 3, 4, 5, 6, 70, 130, 141]


def test_thresholds_are_the_levels_of_the_model() -> None:
    # What is not decided counts as breaking.
    for threshold, levels in (
        (ConversionThreshold, [item for item in CONVERSION_LEVELS if item != Level.READ]),
        (LintThreshold, LINT_LEVELS),
        (DiffThreshold, [item for item in WEIGHTS if item is not Weight.NOT_DECIDED]),
    ):
        assert [item.value for item in threshold] == [item.value for item in levels]


in_folder = pytest.mark.usefixtures("small_sources")
STEP = re.compile(r" *\d+\.\d ms  (.*)")


def _steps(err: str) -> list[str]:
    matches = [STEP.fullmatch(line) for line in err.splitlines()]
    return [match[1] for match in matches if match]


def test_every_command_takes_verbose_and_quiet() -> None:
    missing = [
        words
        for words, command in COMMANDS_OF_PROGRAM.items()
        if not {"-q", "--quiet", "-v", "--verbose"} <= {name for item in command.params for name in item.opts}
    ]
    assert missing == []


@pytest.mark.usefixtures("phone")
def test_quiet_leaves_out_notes_and_keeps_the_page(droidgate: Runner) -> None:
    usual, quiet = droidgate("discover"), droidgate("discover", "-q")
    assert usual.err
    assert (quiet.code, quiet.out, quiet.err) == (0, usual.out, "")


@in_folder
@pytest.mark.parametrize(
    "arguments", [("-qq", "lint", "timer"), ("-q", "lint", "timer", "--quiet")], ids=" ".join
)
def test_quiet_twice_leaves_the_exit_code_alone(droidgate: Runner, arguments: tuple[str, ...]) -> None:
    usual = droidgate("lint", "timer")
    run = droidgate(*arguments)
    assert usual.out
    assert (run.code, run.out, run.err) == (usual.code, "", "")


@in_folder
def test_quiet_never_leaves_out_data_warnings_or_errors(droidgate: Runner) -> None:
    broken = Path("timer/app/src/main/res/xml/timer.xml")
    assert json.loads(droidgate("inspect", "timer", "--json", "-qq").out)["providers"]
    assert droidgate("convert", "timer", "--to", "mcp", "-o", "-", "-qq").out.startswith("{")
    broken.write_text(TIMER.replace("</mobile", "<mobile"))
    assert droidgate("inspect", "timer", "-qq").err.startswith("warning: ")
    assert droidgate("inspect", "nowhere", "-qq").err.startswith("error: nowhere: ")


@in_folder
def test_one_run_leaves_no_settings_for_the_next(droidgate: Runner) -> None:
    assert droidgate("inspect", "timer", "-qq").out == ""
    assert _steps(droidgate("-v", "inspect", "timer").err) == ["read timer"]
    run = droidgate("inspect", "timer")
    assert (run.out[:4], run.err) == ("Apps", "")
    assert LOGGER.handlers == []


@in_folder
def test_verbose_prints_each_step_on_standard_error() -> None:
    usual = run_process("convert", "timer", "--to", "mcp", "-o", "out")
    run = run_process("convert", "timer", "--to", "mcp", "-o", "again", "--verbose")
    assert run.out == usual.out.replace("out/", "again/")
    assert [step.split()[0] for step in _steps(run.err)] == ["read", "convert", "write", "write", "write"]


def test_verbose_prints_the_commands_that_the_phone_gets(droidgate: Runner, phone: VirtualPhone) -> None:
    steps = _steps(droidgate("discover", "-v").err)
    sent = [step.partition(" shell: ")[2] for step in steps if step.startswith(f"{phone.serial} shell: ")]
    assert any(command.startswith("cmd package query-services ") for command in sent)
    assert all(sent)


def test_a_step_that_fails_is_logged_as_such_and_long_ones_are_cut(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=LOGGER.name):
        with pytest.raises(ValueError, match="no"), timed_step("try"):
            raise ValueError("no")
        with timed_step("x" * 5000):
            pass
    failed, long = caplog.messages
    assert failed.endswith(" ms  try (failed)")
    assert long.endswith(" ms  " + "x" * 1000 + "...")


@in_folder
def test_a_logged_step_cannot_control_the_terminal(droidgate: Runner) -> None:
    name = "\x1b[2Jtimer.xml"
    Path(name).write_text(TIMER)
    assert _steps(droidgate("inspect", name, "-v").err) == ["read \\x1b[2Jtimer.xml"]


@pytest.mark.parametrize(("origin", "arguments"), [
    pytest.param({"url": "file:///home/a%20b/droidgate", "dir_info": {"editable": True}},
        "-e '/home/a b/droidgate[coverage]'", id="an editable folder"),
    pytest.param({"url": "file:///tmp/d.whl", "archive_info": {}},
        "'droidgate[coverage] @ file:///tmp/d.whl'", id="a wheel"),
    pytest.param({"url": "https://example.org/d.git", "vcs_info": {"vcs": "git"}},
        "'droidgate[coverage] @ https://example.org/d.git'", id="a repository"),
    pytest.param(None, "'droidgate[coverage]'", id="an index"),
    pytest.param([], "'droidgate[coverage]'", id="a record that is not an object"),
])  # fmt: skip
def test_the_hint_for_an_extra_names_the_source_droidgate_was_installed_from(
    origin: object, arguments: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = None if origin is None else json.dumps(origin)
    monkeypatch.setattr(extras, "distribution", lambda _: SimpleNamespace(read_text=lambda _: text))
    assert extras.install_command("coverage") == f"pip install {arguments}"


def test_the_hint_for_an_extra_names_the_checkout_where_droidgate_runs_from_one() -> None:
    assert extras.install_command("coverage").startswith("pip install -e '/")
