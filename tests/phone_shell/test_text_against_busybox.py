"""Commands for text and files beside busybox's, where both do what POSIX says."""

import random
import subprocess
from pathlib import Path

import pytest

from phone_shell.shell_bench import SCRATCH, Phone
from requirements_of_tests import require

WORDS = ("alpha", "beta", "Beta", "10", "9", "2", "", "a b  c", "x:y:z", "\tq", "é", "zz", "alpha")

PIPES = (
    "sort",
    "sort -r",
    "sort -u",
    "sort -n",
    "sort -f",
    "sort -t : -k 2",
    "sort | uniq",
    "sort | uniq -c",
    "uniq -d",
    "uniq -u",
    "wc -l",
    "wc -w",
    "wc -c",
    "cut -c 1-3",
    "cut -d : -f 2",
    "cut -d : -f 1,3",
    "cut -d : -f 2-",
    "cut -b 2",
    "tr a-z A-Z",
    "tr -d aeiou",
    "tr -s a-z",
    "tr '\\n' ,",
    "tr -c 'a-z\\n' _",
    "tr '[:lower:]' '[:upper:]'",
    "tr ab xy",
    "head -n 3",
    "head -3",
    "head -c 5",
    "tail -n 3",
    "tail -2",
    "tail -c 7",
    "tail -n +3",
    "tail -c +4",
    "rev",
    "tac",
    "cat",
    "grep a",
    "grep -v a",
    "grep -i beta",
    "grep -c a",
    "grep -n b",
    "grep -E '^(a|b)'",
    "grep -F .",
    "grep -o '[a-z]*'",
    "grep -x zz",
    "grep -w a",
    "grep '^$'",
    "grep -e a -e z",
    "grep 'a.*a'",
    "grep -q nothing",
    "grep -E 'a{2}|z+$'",
    "md5sum",
    "sha256sum",
    "sha1sum",
    "base64",
    "base64 | base64 -d",
    "dd bs=7 count=3 2>/dev/null",
    "dd bs=3 skip=2 2>/dev/null",
    "dd ibs=5 obs=2 2>/dev/null",
    "xargs -n 2 echo",
    "tee f; cat f",
    "cat - f 2>/dev/null",
)

LINES = (
    "seq 5",
    "seq 2 6",
    "seq 1 2 9",
    "seq 5 -1 1",
    "seq 3 1",
    "basename /a/b/c.txt .txt",
    "basename /",
    "dirname /a/b",
    "dirname a",
    "dirname /",
    "printf '%05d|%x|%s\\n' 42 255 abc",
    "expr 1 + 2 \\* 3",
    "expr 5 '>' 3",
    "expr 2 = 3",
    "expr 7 % 4",
    "mkdir -p a/b/c; find a",
    "mkdir a; touch a/x a/y; find a -name x; find a -type f | sort; find a -maxdepth 0",
    "echo x >f; cp f g; cat g; mv g h; cat h; ls",
    "mkdir d; cp -r d e; rmdir d; ls",
    "mkdir d; rmdir d; ls",
    "echo abc >f; chmod 640 f; stat -c '%a %s %n' f; chmod u+x,g-r f; stat -c %a f",
    "echo abc >f; chmod a=r f; stat -c %a f; chmod +x f; stat -c %a f; chmod go= f; stat -c %a f",
    "ln -s target l; readlink l; test -L l; echo $?",
    "printf 'abc' >f; truncate -s 5 f; wc -c <f; truncate -s 1 f; cat f",
    "echo a >f; echo b >g; cmp f g; echo $?; cmp f f; echo $?; cmp -s f g; echo $?",
    "touch -d @1000 f; stat -c %Y f",
    "printf 'a\\nb\\n' >f; head -n 1 f f; tail -n 1 f f",
    "true; false; echo $?",
    "mkdir d; echo 1 >d/a; rm -r d; ls; rm -f nope; echo $?",
    "printf 'abcdef' >f; dd if=f of=g bs=2 seek=1 2>/dev/null; wc -c <g",
    "printf 'abcdef' >f; printf XY | dd of=f bs=1 seek=2 conv=notrunc 2>/dev/null; cat f",
    "printf 'a b\\nc' | xargs echo x",
    "printf 'a\\0b c\\0' | xargs -0 -n 1 echo",
    "env -i A=1 env",
    "echo | xargs -r echo no",
    "seq 12 | sort -rn | head -n 2",
)


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
        timeout=20,
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
        text = "\n".join(lines) + chance.choice(("\n", ""))
        ending = (
            ""
            if text.endswith("\n") or command.startswith(("tr", "cat", "tee", "dd", "head", "tail -c"))
            else "\n"
        )
        assert_alike(command, tmp_path, (text + ending).encode())


@pytest.mark.parametrize("command", LINES)
def test_a_command_line_gives_what_busybox_gives(command: str, tmp_path: Path) -> None:
    assert_alike(command, tmp_path)


@pytest.mark.parametrize("seed", range(6))
def test_dd_cuts_random_files_as_busybox_does(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    data = chance.randbytes(chance.randint(0, 5000))
    size, skip, count = chance.randint(1, 700), chance.randint(0, 5), chance.randint(0, 9)
    assert_alike(f"cat >f; dd if=f bs={size} skip={skip} count={count} 2>/dev/null | md5sum", tmp_path, data)


def test_sixteen_megabytes_go_through_a_pipeline_whole() -> None:
    phone = Phone()
    data = random.Random(5).randbytes(1 << 20) * 16
    phone.files.write(f"{SCRATCH}/big", data)
    outcome = phone.run_in_scratch(
        "cat big | wc -c; tail -c 5 big | base64; dd if=big bs=1048576 skip=15 2>/dev/null | wc -c"
    )
    assert outcome.text.splitlines()[0] == str(16 << 20)
    assert outcome.text.splitlines()[2] == str(1 << 20)
