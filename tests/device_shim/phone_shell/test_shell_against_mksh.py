"""The phone's shell compared with mksh, Android's shell, and for quoting with dash and busybox too."""

import random
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from device_shim.phone_shell.shell_bench import Phone, run_in_real_shell
from requirements_of_tests import require

LINES = (Path(__file__).parent / "shell_lines.txt").read_text("utf-8").removesuffix("\n").split("\n----\n")
# Debian's mksh is newer than Android's: it marks messages with E: and W:, and words two of them anew.
NEW_MARK = re.compile(rb"(?m)^[EW]: ")
NEW_WORDING = re.compile(rb"(?m)^(/system/bin/sh): (.*): (open|create): ")
NEW_LINE = re.compile(rb"(?m)^/system/bin/sh: redirection failure\n")

PIECES = (
    *["echo ", " ", " ", "a", "b", "$x", "${x}", '"$x"', "$y", '"$y"', "'q r'", '"', "'", "\\", "\n", ";"],
    *["&&", "||", "|", "x=1", "x='a b'", "x='*'", "$?", "$#", "$1", "$", "true", "false", ":", "!"],
    *[">f", "<f", "2>&1", ">&2", "<&0", ">>f", "2>f", ">", "<", "&", "#", "*", "?", "~", "[", "]", "[ab]"],
    *["[!a]", ".*", "-n", "=", "é", "😀", "\t", "exit 3", "cat", "true ", "false ", "a*", "\\*", '"*"', "{"],
    *["}", ",", "%", "\\\n", "@", "^", "[ -e a ]", '[ -n "$x" ]', "[ a = b ]", "test -d d", "export x=5"],
    *["x=", "x+", "''", "fi", "done", "then", "in", "a=b=c", "\\c", "\\0101", "'\\n'", "\\\\", "("],
    *["`", "$(", "${x:-"],
)  # fmt: skip
FILES = ">a; >'b c'; >.h; mkdir d\n"


def read_real_error(error: bytes) -> list[bytes]:
    """Return the lines of mksh's messages in the words of Android's, sorted: a pipeline has no order."""
    error = NEW_LINE.sub(b"", NEW_WORDING.sub(rb"\1: can't \3 \2: ", NEW_MARK.sub(b"", error)))
    return sorted(error.splitlines())


def assert_alike(command: str, folder: Path) -> None:
    real = run_in_real_shell(require("mksh"), command, folder, options=("-U",))
    ours = Phone().run_in_scratch(command)
    assert (ours.status, ours.output) == (real.status, NEW_MARK.sub(b"", real.output)), command
    assert sorted(ours.error.splitlines()) == read_real_error(real.error), command


@pytest.mark.parametrize("command", LINES)
def test_a_command_line_gives_what_mksh_gives_with_the_same_messages(command: str, tmp_path: Path) -> None:
    assert_alike(command, tmp_path)


@pytest.mark.parametrize("seed", range(8), ids="seed {}".format)
def test_random_pieces_end_as_in_mksh_or_are_refused(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    compared = 0
    for index in range(100):
        command = FILES + "".join(chance.choice(PIECES) for _ in range(chance.randint(1, 10)))
        # `$$` is another number in each shell.
        if "$$" in command or Phone().run_in_scratch(command).status == 69:
            continue
        folder = tmp_path / str(index)
        folder.mkdir()
        assert_alike(command, folder)
        compared += 1
    assert compared > 50


TEXT = "ab é😀\t\n*?[]{}~#!&|;<>()=%^,.$\\\"'`-"


def make_word(chance: random.Random) -> str:
    """Return a word of quoted and unquoted pieces that no shell reads as more than one."""
    pieces = []
    for _ in range(chance.randint(1, 5)):
        text = "".join(chance.choice(TEXT) for _ in range(chance.randint(0, 4)))
        quoted = re.sub(r'(["\\`$])', r"\\\1", text)
        ways = (
            "'" + text.replace("'", "") + "'",
            f'"{quoted}$s{quoted}"',
            f'"${{e}}{quoted}\\q$?"',
            "\\" + (text.replace("\n", "")[:1] or "x"),
            chance.choice(("$s", "${s}", "$e", "$x", "$?", "a", "é", "=", "%", "+a", ":", "b.c")),
            chance.choice(("*", "?", "a*", "[ab]*", "[!a]", ".h*", "*c", "[", "]")),
        )
        pieces.append(chance.choice(ways))
    return "".join(pieces)


@pytest.mark.parametrize("shell", ["mksh", "dash"])
@pytest.mark.parametrize("seed", range(3))
def test_random_words_expand_as_in_real_shells(seed: int, shell: str, tmp_path: Path) -> None:
    chance = random.Random(seed)
    setup = f"{FILES}s='a  b c'; e=; x=X\n"
    lines = [" ".join(make_word(chance) for _ in range(chance.randint(1, 4))) for _ in range(300)]
    lines = [f"printf '<%s>' {line}" for line in lines]
    lines = [line for line in lines if Phone().run_in_scratch(setup + line).status != 69]
    assert len(lines) > 200
    command = setup + "; echo\n".join(lines)
    real = run_in_real_shell(require(shell), command, tmp_path)
    ours = Phone().run_in_scratch(command)
    assert (ours.status, ours.error) == (0, b"")
    assert ours.output.split(b"\n") == real.output.split(b"\n")


ARGUMENTS = st.lists(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
    | st.sampled_from(
        ["$(touch X)", "`id`", "a'b", '"', "\\", "~", "#", "\n", "*", "{a,b}", "-n", "&", "; rm -rf /", "!"]
    ),
    min_size=1,
    max_size=6,
)


@given(ARGUMENTS)
def test_quoted_arguments_arrive_exactly_through_one_shell_and_through_two(arguments: list[str]) -> None:
    command = "printf '%s\\0' " + shlex.join(arguments)
    for line in (command, shlex.join(["sh", "-c", command])):
        outcome = Phone().run(line)
        assert (outcome.status, outcome.error) == (0, b"")
        assert outcome.output == b"".join(argument.encode() + b"\0" for argument in arguments)
