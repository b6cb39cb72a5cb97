"""Commands for text and files, compared with busybox's where both do what POSIX says."""

import hashlib
import random
import subprocess
from pathlib import Path

import pytest

from device_shim.phone_shell.shell_bench import SCRATCH, Phone
from requirements_of_tests import require

WORDS = ("alpha", "beta", "Beta", "10", "9", "2", "", "a b  c", "x:y:z", "\tq", "é", "zz", "alpha")

PIPES = (
    *[
        "cat", "cat -", "wc -l", "wc -w", "wc -c", "head", "head -n 3", "head -n 0", "head -c 5",
        "head -c 1024",
    ],
    *[
        "grep a", "grep -v a", "grep -i beta", "grep -F .", "grep -Fv 'x:y'", "grep ''", "grep nothing",
        "grep -Fxq alpha", "grep -x a", "grep -vx alpha", "grep -Fxq -- -a",
    ],
    *["dd bs=4 count=2 status=none", "dd bs=1024 status=none", "md5sum", "cat | head -n 2 | wc -c"],
)  # fmt: skip
LINES = (
    "mkdir d; touch d/a; ls d; ls -1 d; rm -r d; ls",
    "mkdir -p a/b/c; mkdir -p a/b; ls a a/b; mkdir a 2>/dev/null; echo $?",
    "mkdir d; rm d 2>/dev/null; echo $?; rm -rf d; rm -f d; echo $?",
    "echo b >b; echo a >.a; ls; ls -A; ls -a; ls -d .; ls b .a",
    "echo a >f; echo b >>f; cat f f; cat <f; cat nope 2>/dev/null; echo $?",
    "printf 'a b\\n' >f; wc -l f; wc -c <f; md5sum f",
    "touch f; wc -c <f; echo x >f; touch f; cat f; touch -c g; ls",
    "printf abcdefghij >f; dd if=f bs=3 skip=1 count=2 status=none; dd if=f bs=3 skip=9 status=none",
    "printf 'a\\nb\\n' | grep -v a; printf a | grep b; echo $?; grep a nope 2>/dev/null; echo $?",
    "ls nope 2>/dev/null; echo $?; [ -e f ]; echo $?; echo >f; [ -f f ]; echo $?; test -d f; echo $?",
)  # fmt: skip


def run_in_busybox(command: str, folder: Path, stdin: bytes) -> tuple[int, bytes]:
    """Run a command line in busybox's shell with nothing but busybox's commands."""
    programs = folder.parent / "programs"
    if not programs.exists():
        programs.mkdir()
        subprocess.run([require("busybox"), "--install", "-s", programs], check=True, timeout=60)
    run = subprocess.run(
        [programs / "sh", "-c", command],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={"PATH": str(programs), "LC_ALL": "C.UTF-8", "HOME": "/"},
    )
    return run.returncode, run.stdout


def assert_alike(command: str, tmp_path: Path, stdin: bytes = b"") -> None:
    folder = tmp_path / "work"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    ours = Phone().run_in_scratch(command, stdin)
    assert (ours.status, ours.output) == run_in_busybox(command, folder, stdin), command


@pytest.mark.parametrize("command", PIPES)
def test_text_goes_through_a_command_as_through_busybox(command: str, tmp_path: Path) -> None:
    chance = random.Random(command)
    for _ in range(3):
        words = [word for word in WORDS if word.isascii() or command != "wc -w"]
        lines = [chance.choice(words) for _ in range(chance.randint(0, 12))]
        text = "\n".join(lines) + ("\n" if lines and command.startswith(("grep", "wc")) else "")
        assert_alike(command, tmp_path, text.encode())


@pytest.mark.parametrize("command", LINES)
def test_a_command_line_gives_what_busybox_gives(command: str, tmp_path: Path) -> None:
    assert_alike(command, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_dd_cuts_random_files_as_busybox_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    data = chance.randbytes(chance.randint(0, 5000))
    size, skip, count = chance.randint(1, 700), chance.randint(0, 5), chance.randint(0, 9)
    assert_alike(f"cat >f; dd if=f bs={size} skip={skip} count={count} status=none | md5sum", tmp_path, data)


def test_sixteen_megabytes_go_through_a_pipeline_whole() -> None:
    phone = Phone()
    data = random.Random(5).randbytes(1 << 20) * 16
    phone.files.write(f"{SCRATCH}/big", data)
    outcome = phone.run_in_scratch("cat big | wc -c; dd if=big bs=1048576 skip=15 status=none | md5sum")
    assert outcome.text == f"{16 << 20}\n{hashlib.md5(data[15 << 20 :]).hexdigest()}  -\n"
