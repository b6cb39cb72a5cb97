"""The shared options and fixtures do what CONTRIBUTING.md says; each is tried in a run of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from requirements_of_tests import CHECKOUT

TESTS = CHECKOUT / "tests"

_COPIED = ("conftest.py", "gateway/cli/program_runs.py", "device_commands.py", "requirements_of_tests.py")


class Suite:
    """A throw-away test folder that has our conftest.py."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        (directory / "gateway" / "cli").mkdir(parents=True)
        for name in _COPIED:
            (directory / name).write_bytes((TESTS / name).read_bytes())
        self.golden = directory / "golden"

    def run(self, test: str, *flags: str, **environment: str) -> tuple[int, str]:
        """Run the one test file; return pytest's exit code and what it printed."""
        (self.directory / "test_it.py").write_text(test)
        command: list[str | Path] = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        command += [f"--rootdir={self.directory}", f"--config-file={CHECKOUT / 'pyproject.toml'}"]
        command += ["-o", f"pythonpath={self.directory}", *flags, self.directory]
        ours = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "DROIDGATE"))
        }
        run = subprocess.run(
            command, cwd=self.directory, env=ours | environment, capture_output=True, text=True, check=False
        )
        return run.returncode, run.stdout + run.stderr


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return Suite(tmp_path)


COMPARES = "def test_it(golden): golden('deep/text.txt', {!r})\n"
NEEDS_CORPUS = "import pytest\n@pytest.mark.requires('corpus')\ndef test_it(): pass\ndef test_two(): pass\n"


@pytest.mark.slow
def test_missing_golden_names_the_refresh_command(suite: Suite) -> None:
    code, output = suite.run(COMPARES.format("one\n"))
    assert code == 1
    assert "tests/golden/deep/text.txt does not exist; if it should be as it is now" in output
    assert "make refresh-golden" in output


@pytest.mark.slow
@pytest.mark.parametrize("content", ["one\r\ntwo", b"\x00\xff"])
def test_refreshed_golden_compares_equal(suite: Suite, content: str | bytes) -> None:
    assert suite.run(COMPARES.format(content), "--refresh-golden")[0] == 0
    expected = content.encode() if isinstance(content, str) else content
    assert (suite.golden / "deep" / "text.txt").read_bytes() == expected
    assert suite.run(COMPARES.format(content))[0] == 0


@pytest.mark.slow
def test_changed_golden_shows_a_difference_and_is_left_alone(suite: Suite) -> None:
    suite.run(COMPARES.format("one\ntwo\n"), "--refresh-golden")
    code, output = suite.run(COMPARES.format("one\nthree"))
    assert code == 1
    for line in ("--- tests/golden/deep/text.txt", "+++ now", "-two", "+three", "\\ no newline at the end"):
        assert line in output
    assert "make refresh-golden" in output
    assert (suite.golden / "deep" / "text.txt").read_text() == "one\ntwo\n"


@pytest.mark.slow
def test_changed_binary_golden_is_reported(suite: Suite) -> None:
    suite.run(COMPARES.format(b"\xff\x00"), "--refresh-golden")
    code, output = suite.run(COMPARES.format(b"\xff\x00\x01"))
    assert code == 1
    assert "tests/golden/deep/text.txt (2 bytes) is not what is made now (3 bytes)" in output


@pytest.mark.slow
@pytest.mark.parametrize("flags", [(), ("--numprocesses=2",)], ids=["one process", "two processes"])
def test_run_ends_with_what_was_left_out(suite: Suite, flags: tuple[str, ...]) -> None:
    code, output = suite.run(NEEDS_CORPUS, *flags, DROIDGATE_CORPUS=str(suite.directory / "nothing"))
    assert code == 0
    (line,) = (line for line in output.splitlines() if line.startswith("corpus: not found"))
    assert "put the project's corpus at ../shared/corpus" in line
    assert "(1 test; not shown: descriptors that real apps ship are read)" in line


@pytest.mark.parametrize("required", ["all", "javac, corpus"])
def test_required_part_fails_the_test(suite: Suite, required: str) -> None:
    nothing = str(suite.directory / "nothing")
    code, output = suite.run(NEEDS_CORPUS, DROIDGATE_CORPUS=nothing, DROIDGATE_REQUIRE=required)
    assert code == 1
    assert "corpus: not found" in output
    assert "required by DROIDGATE_REQUIRE" in output


def test_unknown_required_part_is_a_usage_error(suite: Suite) -> None:
    code, output = suite.run(NEEDS_CORPUS, DROIDGATE_REQUIRE="korpus")
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "DROIDGATE_REQUIRE names no part of the tests: korpus; there are: all, aapt2" in output


def test_too_old_part_is_reported_with_both_versions(suite: Suite) -> None:
    old = suite.directory / "aapt2"
    old.write_text("#!/bin/sh\necho 'Android Asset Packaging Tool (aapt) 2.3-debian'\n")
    old.chmod(0o755)
    test = "import pytest\n@pytest.mark.requires('aapt2')\ndef test_it(): pass\n"
    code, output = suite.run(test, PATH=f"{suite.directory}:{os.environ['PATH']}")
    assert code == 0
    assert "aapt2: 2.3 is older than 2.19; Debian: apt install aapt" in output


@pytest.mark.slow
def test_fuzz_profile_runs_long(suite: Suite) -> None:
    test = (
        "import pytest, hypothesis\n"
        "@pytest.mark.long\n"
        "def test_it():\n"
        "    assert hypothesis.settings().max_examples == 100_000\n"
        "    assert hypothesis.settings().deadline is None\n"
    )
    code, output = suite.run(test, "--hypothesis-profile=fuzz", "--timeout=0", "-m", "")
    assert code == 0, output
    assert suite.run(test)[0] == pytest.ExitCode.NO_TESTS_COLLECTED


ROW_TEST = """
import os
import pytest
@pytest.mark.row("M08")
def test_it(): assert os.environ.get("DROIDGATE_ROWS_OFF") {operator} "M08"
def test_without_a_row(): assert False
"""


def test_rows_off_passes_when_the_test_of_the_row_fails_without_it(suite: Suite) -> None:
    code, output = suite.run(ROW_TEST.format(operator="!="), "--rows-off=only")
    assert (code, "1 xfailed" in output) == (0, True), output


def test_rows_off_fails_when_the_test_of_the_row_passes_without_it(suite: Suite) -> None:
    code, output = suite.run(ROW_TEST.format(operator="=="), "--rows-off=only")
    assert (code, "1 failed" in output) == (1, True), output
