"""The phone's shell beside mksh, the shell that Android has."""

import random
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phone_shell.shell_bench import Phone, run_in_real_shell
from requirements_of_tests import require

LINES = (Path(__file__).parent / "shell_lines.txt").read_text("utf-8").removesuffix("\n").split("\n----\n")
# Debian's mksh is newer than the one in Android: it marks messages with E: and W:, and words this one anew.
NEW_MARK = re.compile(rb"(?m)^[EW]: ")
NEW_WORDING = re.compile(rb"(?m)^(/system/bin/sh): (.*): (open|create): ")

PIECES = (
    "echo",
    " ",
    " ",
    " ",
    "a",
    "b",
    "$x",
    "${x}",
    '"$x"',
    "'q r'",
    '"',
    "'",
    "\\",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "(",
    ")",
    "{",
    "}",
    "{ ",
    "; }",
    "x=1",
    "x='a b'",
    "$(",
    "`",
    "if",
    "then",
    "fi",
    "true",
    "false",
    "!",
    ">f",
    "<f",
    "2>&1",
    "for i in 1 2; do ",
    "; done",
    "$((",
    "))",
    "1+2",
    "#",
    "*",
    "?",
    "~",
    "case a in ",
    "a) ",
    ";;",
    " esac",
    "${x:-",
    "}",
    "<<E\n",
    "\nE\n",
    "exit 3",
    "cat",
    "[ ",
    " ]",
    " = ",
    "$?",
    "$#",
    '"$@"',
    "set -- p q",
    "eval",
    "x=",
    ":",
)


def assert_alike(command: str, folder: Path) -> None:
    real = run_in_real_shell(require("mksh"), command, folder, options=("-U",))
    ours = Phone().run_in_scratch(command)
    assert (ours.status, ours.output) == (real.status, NEW_MARK.sub(b"", real.output))
    error = NEW_WORDING.sub(rb"\1: can't \3 \2: ", NEW_MARK.sub(b"", real.error))
    assert ours.error == error


@pytest.mark.parametrize("command", LINES)
def test_a_command_line_gives_what_mksh_gives_with_the_same_messages(command: str, tmp_path: Path) -> None:
    assert_alike(command, tmp_path)


@pytest.mark.parametrize("seed", range(8))
def test_thrown_together_pieces_end_as_in_mksh(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    compared = 0
    for index in range(60):
        command = "".join(chance.choice(PIECES) for _ in range(chance.randint(2, 9)))
        ours = Phone().run_in_scratch(command)
        if b"is not modelled" in ours.error:
            continue
        folder = tmp_path / str(index)
        folder.mkdir()
        real = run_in_real_shell(require("mksh"), command, folder, options=("-U",))
        expected = (real.status, NEW_MARK.sub(b"", real.output), bool(real.error))
        assert (ours.status, ours.output, bool(ours.error)) == expected, command
        compared += 1
    assert compared > 50


ARGUMENTS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(
        ["$(touch X)", "`id`", "a'b", '"', "\\", "~", "#", "\n", "*", "{a,b}", "-n", "&", "; rm -rf /", "!"]
    ),
    min_size=1,
    max_size=6,
)


@given(ARGUMENTS)
@settings(max_examples=300, deadline=None)
def test_quoted_arguments_arrive_exactly(arguments: list[str]) -> None:
    command = "printf '%s\\0' " + shlex.join(arguments)
    outcome = Phone().run(command)
    assert (outcome.status, outcome.error) == (0, b"")
    assert outcome.output.removesuffix(b"\0").split(b"\0") == [one.encode() for one in arguments]


@given(ARGUMENTS)
@settings(max_examples=100, deadline=None)
def test_quoted_arguments_arrive_through_a_second_shell(arguments: list[str]) -> None:
    command = shlex.join(["sh", "-c", "printf '%s\\0' " + shlex.join(arguments)])
    assert Phone().run(command).output.removesuffix(b"\0").split(b"\0") == [one.encode() for one in arguments]


@pytest.mark.parametrize("shell", ["mksh", "busybox"])
def test_the_quoting_of_python_arrives_exactly_in_real_shells_too(shell: str, tmp_path: Path) -> None:
    arguments = ["a b", "it's", "$(touch X)", "`id`", "\n", "~", "#x", "é\U0001f600", "*", "{a,b}", "\\", '"']
    program = require(shell)
    real = run_in_real_shell(program, f"printf '%s|' {shlex.join(arguments)}", tmp_path)
    assert real.output == Phone().run_in_scratch(f"printf '%s|' {shlex.join(arguments)}").output
    assert list(tmp_path.iterdir()) == []
