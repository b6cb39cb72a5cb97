"""Bad input and broken streams: an exit code, one line, a hint, and nothing left behind."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

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
    Case("droidgate convert SAMPLE --to observed -o out", 2, "observed", ""),
    Case("droidgate convert SAMPLE --to mmcp -o /dev/full/x", 3, "/dev/full: ", "another output folder"),
    Case("touch out; droidgate convert SAMPLE --to mmcp -o out", 2, "2 artifacts", "Name a folder"),
    Case("droidgate convert SAMPLE --to mmcp -o /proc/x", 3, "/proc"),
    Case("droidgate coverage nope --html gone/x.html", 3, "nope: ", "droidgate scan"),
    Case("droidgate scan SAMPLE --catalog /proc/x", 3, "/proc/x: "),
    Case("droidgate inspcet SAMPLE", 2, "did you mean 'inspect'", "droidgate --help"),
    Case("droidgate inspect SAMPLE --jsn", 2, "--jsn", "droidgate inspect --help"),
    Case("droidgate lint", 2, "missing argument 'SRC'", "droidgate lint --help"),
    Case("droidgate help shim instal", 2, "no such command 'instal'", "did you mean 'install'?"),
    Case("droidgate phone start --sdk 99", 2, "'99'", "36.1"),
    Case("droidgate phone start --fault nope", 2, "'nope'", "drop-after=BYTES"),
    Case("droidgate phone push nope", 4, "no virtual phone", "droidgate phone start"),
    Case("droidgate shim call x --args '{'", 2, "--args:1:2", "--args"),
    Case("droidgate diff SAMPLE", 2, "missing argument 'NEW'", "droidgate diff --help"),
    Case("droidgate inspect adb: ", 4, "", ""),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.typed)
def test_bad_input_ends_with_one_line_and_leaves_nothing(case: Case, tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    before, _, last = (
        case.typed.rpartition("; ")
        if case.typed.startswith(("mk", "ln", "printf", "touch"))
        else ("", "", case.typed)
    )
    environment = {**os.environ, "DROIDGATE_HOME": str(tmp_path / "home"), "ANDROID_ADB_SERVER_PORT": "1"}
    if before:
        subprocess.run(["bash", "-c", before], cwd=folder, check=True)
    made = sorted(folder.rglob("*"))
    typed = last.replace("droidgate ", f"{PROGRAM} ", 1).replace("SAMPLE", f"'{SAMPLE}'")
    run = subprocess.run(
        ["bash", "-c", typed],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == case.code, run
    assert "Traceback" not in run.stderr
    lines = run.stderr.splitlines()
    if "2>&-" not in case.typed and case.code:
        assert lines[0].startswith("error: ")
        assert case.line.lower() in lines[0].lower()
        assert len(lines) == 1 or (len(lines) == 2 and lines[1].startswith("hint: "))
    if case.hint is not None:
        assert case.hint in lines[1]
    assert sorted(folder.rglob("*")) == made


PROGRAM_THAT_SAYS_WHEN_IT_STARTS = """
from droidgate import cli
run = cli.run
cli.run = lambda: print("up", flush=True) or run()
cli.main()
"""
PROGRAM_THAT_MISTAKES_CTRL_C = """
import os, signal
from droidgate import cli
from droidgate.cli.descriptors import inspecting
def inspect(*arguments, **options):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        signal.pause()
    except KeyboardInterrupt as pressed:
        raise ValueError(repr(pressed)) from None
inspecting.inspect_sources = inspect
cli.main()
"""


@pytest.mark.usefixtures("ctrl_c_reaches_programs")
def test_ctrl_c_that_a_library_turns_into_another_failure_ends_a_run_without_output(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM_THAT_MISTAKES_CTRL_C, "inspect", str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "")


@pytest.mark.usefixtures("ctrl_c_reaches_programs")
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
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
