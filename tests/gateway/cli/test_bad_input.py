"""Bad input and broken streams: an exit code, one line, a hint, and nothing left behind."""

import functools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer

from droidgate.cli.failure_texts import guard
from droidgate.cli.program import build_app
from gateway.cli.program_runs import Run, Runner
from requirements_of_tests import CHECKOUT

PROGRAM = f"'{sys.executable}' -m droidgate"
SAMPLE = CHECKOUT / "device_shim" / "apps" / "clock-in"


@dataclass(frozen=True)
class Case:
    """What somebody types in a shell, and what has to come of it.

    Attributes:
        typed: The command line; `droidgate` is the program, `SAMPLE` a source.
        code: The exit code.
        line: What the line on standard error contains.
        hint: What the hint contains; None where there is none.
    """

    typed: str
    code: int
    line: str = ""
    hint: str | None = None


CASES = [
    Case("droidgate inspect SAMPLE >&-", 3, "standard output: it is closed"),
    Case("droidgate formats --json >&-", 3, "standard output: it is closed"),
    Case("droidgate inspect SAMPLE >/dev/full", 3, "No space left on device"),
    Case("droidgate inspect SAMPLE --json >/dev/full", 3, "No space left on device"),
    Case("droidgate inspect - <&-", 3, "standard input: it is closed"),
    Case("droidgate lint - <&-", 3, "standard input: it is closed"),
    Case("droidgate inspect SAMPLE 2>&- >/dev/null", 0),
    Case("droidgate inspect nope 2>&-", 3),
    Case("droidgate inspect SAMPLE >&- 2>&- <&-", 3),
    Case("droidgate inspect SAMPLE | cat >/dev/null; exit ${PIPESTATUS[0]}", 0),
    Case("mkfifo pipe; droidgate inspect pipe", 3, "pipe: ", None),
    Case("mkfifo pipe; droidgate lint pipe", 3, "pipe: ", None),
    Case("mkfifo pipe; droidgate diff pipe SAMPLE", 3, "pipe: ", None),
    Case("droidgate inspect /dev/zero", 3, "/dev/zero: "),
    Case("droidgate inspect /dev/null", 3, "/dev/null: "),
    Case("droidgate inspect - </dev/zero", 3, "16777216 bytes"),
    Case("droidgate inspect - </dev/null", 3, "-: "),
    Case("droidgate inspect ''", 3, "the path is empty", "standard input is `-`"),
    Case("droidgate inspect nope", 3, "nope: "),
    Case("ln -s loop loop; droidgate inspect loop", 3, "loop: "),
    Case("mkdir empty; droidgate inspect empty", 3, "empty: "),
    Case("printf '{' > a.json; droidgate inspect a.json", 3, "a.json:1:"),
    Case("printf '<a' > a.xml; droidgate inspect a.xml", 3, "a.xml:1:"),
    Case("printf 'PK' > a.apk; droidgate inspect a.apk", 3, "a.apk: "),
    Case("droidgate convert SAMPLE --to mcpp -o out", 2, "unknown format 'mcpp'", "did you mean 'mcp'?"),
    Case("droidgate convert SAMPLE --to mmcp+drft -o out", 2, "dialect 'drft'", "did you mean 'draft'?"),
    Case("droidgate convert SAMPLE --to observed -o out", 2, "is only read: another gateway's",
     "droidgate formats"),
    Case("droidgate convert SAMPLE --to mmcp -o /dev/full/x", 3, "/dev/full: ", "another output folder"),
    Case("touch out; droidgate convert SAMPLE --to mmcp -o out", 2, "2 artifacts", "name a folder"),
    Case("droidgate convert SAMPLE --to mmcp -o /proc/x", 3, "/proc"),
    Case("droidgate pack SAMPLE -o gone/a.apk", 3, "gone: the folder does not exist", "make it"),
    Case("droidgate coverage nope --html gone/x.html", 3, "nope: ", "droidgate scan"),
    Case("droidgate scan SAMPLE --catalog /proc/x", 3, "/proc/x: "),
    Case("droidgate inspcet SAMPLE", 2, "no such command 'inspcet'", "did you mean 'inspect'?"),
    Case("droidgate inspect SAMPLE --jsn", 2, "no such option: --jsn", "did you mean --json? see"),
    Case("droidgate lint", 2, "missing argument 'SRC'", "droidgate lint --help"),
    Case("droidgate help shim instal", 2, "no such command 'instal'", "did you mean 'install'?"),
    Case("droidgate phone start --sdk 99", 2, "'99' is not one of '26', '30',", "phone start --help"),
    Case("droidgate phone start --fault nope", 2, "unknown fault 'nope'",
     "unauthorized, garbage, slow=BYTES"),
    Case("droidgate phone push nope", 4, "no virtual phone", "droidgate phone start"),
    Case("droidgate shim call x --args '{'", 2, "--args:1:2", "--args"),
    Case("droidgate diff SAMPLE", 2, "missing argument 'NEW'", "droidgate diff --help"),
    Case("droidgate inspect adb: ", 4, "", ""),
    Case("droidgate call", 2, "missing argument CAPABILITY", "--batch"),
    Case("droidgate call x --args '{'", 2, "--args:1:2", "--args '{"),
    Case("droidgate call x --args '[]'", 2, "--args is not a JSON object", "--args '{"),
    Case("droidgate call x --file a", 2, "'a' is not NAME=@FILE", "--file path=@report.pdf"),
    Case("droidgate call --batch nope", 3, "nope: "),
    Case("droidgate call x", 4, "", ""),
    Case("droidgate serve --http :x", 2, "':x' is not an address", "127.0.0.1:8000"),
    Case("droidgate serve --plan", 4, "", ""),
    Case("droidgate pins approve x --yes", 4, "", ""),
    Case("droidgate pins diff", 2, "no capability is approved", "droidgate pins approve"),
    Case("droidgate pins remove nope", 2, "no capability is approved", "droidgate pins approve"),
    Case("droidgate audit show --last 0", 2, "'0' is not a whole number of at least 1", "audit show --help"),
    Case("droidgate audit show --last ''", 2, "'--last' / '-n': '' is not a whole number", "--help"),
    Case("droidgate call x --deadline nan", 2, "'nan' is not a number from 1 to 150", "call --help"),
    Case("droidgate audit verify --folder nope", 3, "nope: "),
    Case("droidgate install-client nope", 2, "unknown client 'nope'", "cursor"),
    Case("droidgate install-client cursor --print --remove", 2, "exclude each other", "leave one"),
    Case("droidgate install-client cursor --url ftp://x", 2, "'ftp://x'", "http://127.0.0.1:PORT/mcp"),
    Case("printf 'lnt = 1' > droidgate.toml; droidgate config show", 2, 'unknown setting "lnt"', "lint"),
    Case("printf '[' > droidgate.toml; droidgate inspect x", 2, "not TOML", "droidgate config show"),
    Case("DROIDGATE_STRICT=maybe droidgate config show", 2, 'DROIDGATE_STRICT is "maybe"', "variable"),
    Case("droidgate config shw", 2, "no such command 'shw'", "did you mean 'show'? see"),
    Case("droidgate catalog sql --catalog nope 'select 1'", 3, "nope: it is not a catalog", "droidgate scan"),
    Case("droidgate pack nope -o a.apk", 3, "nope: it is not a folder", "project"),
    Case("droidgate migrate nope --to mmcp --into nope", 3, "nope: "),
    Case("droidgate shim install --from adb:", 4, "", ""),
    Case("droidgate shim grant --agent x --capability y", 4, "", ""),
    Case("droidgate shim install --from nope", 4, "", ""),
    Case("droidgate shim uninstall", 2, "no shim is named", "take --all"),
    Case("droidgate phone start --port 99999", 2, "'99999' is not a whole number", "phone start --help"),
    Case("printf '[phone.start]\nsdk = \"99\"' > droidgate.toml; droidgate phone start", 2, "toml:2: ",
     "config"),
    Case("printf 'from = \"x\"' > droidgate.toml; droidgate inspect SAMPLE", 2, "expected a list",
     "config show"),
    Case("mkdir droidgate.toml; droidgate inspect SAMPLE", 2, "droidgate.toml: ", "config show"),
    Case("droidgate scan @nope --catalog c", 3, "nope: the list cannot be read", "one source a line"),
    Case("droidgate scan SAMPLE --catalog c --workers 0", 2, "'0' is not a whole number", "scan --help"),
    Case("droidgate coverage nope --since gone", 3, "gone: it is not a catalog", "droidgate scan"),
    Case("droidgate diff SAMPLE SAMPLE --fail-on nope", 2, "is not one of 'text-only'", "diff --help"),
    Case("droidgate migrate SAMPLE --to mmcp --into /dev/null", 3, "/dev/null: not a folder",
     "Android app's"),
    Case("droidgate serve --http 127.0.0.1:99999", 2, "'127.0.0.1:99999' is not an address", "PORT"),
    Case("droidgate call x --args @nope.json", 2, "--args:1:1: not JSON", "such as --args"),
    Case("yes | droidgate inspect -", 3, "more than 16777216 bytes"),
    Case("ANDROID_ADB_SERVER_PORT=abc ADB_SERVER_SOCKET= droidgate devices", 4, "'abc'; expected a port",
     None),
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.typed)
def test_bad_input_ends_with_one_line_and_leaves_nothing(
    case: Case, droidgate: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DROIDGATE_HOME", str(tmp_path / "home"))
    # No server is started on another machine, and so none stays behind.
    monkeypatch.setenv("ADB_SERVER_SOCKET", "tcp:adb.invalid:1")
    before, _, last = (
        case.typed.rpartition("; ")
        if case.typed.startswith(("mk", "ln", "printf", "touch"))
        else ("", "", case.typed)
    )
    if before:
        subprocess.run(["bash", "-c", before], check=True)
    made = sorted(folder.rglob("*"))
    run = _run_line(last, droidgate)
    assert run.code == case.code, run
    assert "Traceback" not in run.err
    lines = run.err.splitlines()
    if "2>&-" not in case.typed and case.code:
        assert lines[0].startswith("error: ")
        assert case.line.lower() in lines[0].lower()
        assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: "))
    if case.hint is not None:
        assert case.hint in lines[1]
    assert sorted(folder.rglob("*")) == made
    assert [path for path in (tmp_path / "home").rglob("*") if path.is_file()] == []


def _options_with_range(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each option that takes numbers of a range, with the path of its command."""
    for name, below in getattr(command, "commands", {}).items():
        yield from _options_with_range(below, (*path, name))
    for option in command.params:
        if option.opts[0] != "--quiet" and (option.min, option.max) != (None, None):
            yield path, option


def test_a_number_that_is_not_in_its_range_is_named_with_the_range(
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = typer.main.get_command(build_app())
    options = list(_options_with_range(program))
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
from droidgate.cli.descriptors import inspecting
def inspect(*arguments, **options):
    try:
        press()
    except KeyboardInterrupt as pressed:
        raise ValueError(repr(pressed)) from None
inspecting.inspect_sources = inspect
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
from droidgate.cli.descriptors import inspecting
def inspect(*arguments, **options):
    thing = type("Thing", (), {})()
    callback = weakref.ref(thing, lambda _: press())
    del thing
    time.sleep(60)
inspecting.inspect_sources = inspect
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
def test_ctrl_c_ends_a_run_without_output_wherever_it_comes(where: str, tmp_path: Path) -> None:
    program = f"{PRESS}{PROGRAMS_THAT_PRESS_CTRL_C[where]}cli.main()"
    command = [sys.executable, "-c", program, "inspect", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.parametrize("milliseconds", [0, 60, 120, 250, 500, 1000])
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
