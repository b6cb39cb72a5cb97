"""Required parts and rows that are switched off do what CONTRIBUTING.md says, in a run of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT

_COPIED = ("conftest.py", "gateway/cli/program_runs.py", "device_commands.py", "requirements_of_tests.py")

NEEDS_CORPUS = "import pytest\n@pytest.mark.requires('corpus')\ndef test_it(): pass\n"
FAILS_WITHOUT = """
import os
import pytest
@pytest.mark.row("M08")
def test_it(): assert os.environ.get("DROIDGATE_ROWS_OFF") != "M08"
def test_without_a_row(): assert False
"""
NEVER_FAILS = FAILS_WITHOUT.replace("!=", "==")


@pytest.mark.parametrize(("test", "flags", "required", "code", "printed"), [
    (NEEDS_CORPUS,  (),                   "",              0, "corpus: not found"),
    (NEEDS_CORPUS,  (),                   "all",           1, "required by DROIDGATE_REQUIRE"),
    (NEEDS_CORPUS,  (),                   "javac, corpus", 1, "required by DROIDGATE_REQUIRE"),
    (NEEDS_CORPUS,  (),                   "korpus",        4, "names no part of the tests: korpus"),
    (FAILS_WITHOUT, ("--rows-off=only",), "",              0, "1 xfailed"),
    (NEVER_FAILS,   ("--rows-off=only",), "",              1, "1 failed"),
])  # fmt: skip
def test_a_run_fails_where_something_was_not_shown(
    tmp_path: Path, test: str, flags: tuple[str, ...], required: str, code: int, printed: str
) -> None:
    (tmp_path / "gateway/cli").mkdir(parents=True)
    for name in _COPIED:
        (tmp_path / name).write_bytes((CHECKOUT / "tests" / name).read_bytes())
    (tmp_path / "test_it.py").write_text(test)
    command: list[str | Path] = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    command += [f"--rootdir={tmp_path}", f"--config-file={CHECKOUT / 'pyproject.toml'}"]
    command += ["-o", f"pythonpath={tmp_path}", *flags, tmp_path]
    ours = {name: text for name, text in os.environ.items() if not name.startswith(("PYTEST", "DROIDGATE"))}
    ours |= {"DROIDGATE_CORPUS": str(tmp_path / "nothing"), "DROIDGATE_REQUIRE": required}
    run = subprocess.run(command, cwd=tmp_path, env=ours, capture_output=True, text=True, check=False)
    assert (run.returncode, printed in run.stdout + run.stderr) == (code, True), run.stdout + run.stderr
