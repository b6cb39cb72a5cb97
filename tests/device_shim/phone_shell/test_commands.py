"""What toybox's commands say: each text typed by hand from the source that is named."""

import hashlib
import random
import subprocess
from pathlib import Path

import pytest

from device_shim.phone_shell.shell_bench import SCRATCH, Phone, Process, run_in_real_shell
from requirements_of_tests import require

# (command line, status, standard error, where toybox or mksh says so)
MESSAGES = (
    ("head -n", 1, 'head: Missing argument to -n (see "head --help")\n', "lib/args.c"),
    ("mkdir", 1, 'mkdir: Needs 1 argument (see "mkdir --help")\n', "lib/args.c get_optflags, <1"),
    ("whoami x", 1, 'whoami: Max 0 arguments (see "whoami --help")\n', "lib/args.c, id.c >0"),
    ("rm", 1, "rm: Needs 1 argument\n", "toys/posix/rm.c rm_main"),
    ("rm /", 1, "rm: rm /. if you mean it\n", "toys/posix/rm.c rm_main"),
    ("cat nope", 1, "cat: nope: No such file or directory\n", "lib/lib.c perror_msg"),
    ("rm nope", 1, "rm: nope: No such file or directory\n", "toys/posix/rm.c, perror_msg_raw"),
    ("mkdir d; rm d", 1, "rm: d: Is a directory\n", "toys/posix/rm.c: unlinkat of a directory"),
    ("mkdir d; mkdir d", 1, "mkdir: 'd': File exists\n", "toys/posix/mkdir.c perror_msg"),
    ("ls nope", 1, "ls: nope: No such file or directory\n", "toys/posix/ls.c perror_msg_raw"),
    ("touch /x", 1, "touch: '/x': Read-only file system\n", "toys/posix/touch.c perror_msg"),
    ("dd if=nope", 1, "dd: nope: No such file or directory\n", "toys/posix/dd.c xopenro"),
    ("sleep x", 1, "sleep: not a number 'x'\n", "lib/xwrap.c xparsetime"),
    ("toybox nope", 127, "toybox: Unknown command nope\n", "main.c unknown"),
    ("echo x >/system/y", 1, "/system/bin/sh: can't create /system/y: Read-only file system\n",
     "mksh exec.c"),
    ("cat /data/system/x", 1, "cat: /data/system/x: No such file or directory\n", "lib/lib.c perror_msg"),
    ("ls /data", 1, "ls: /data: Permission denied\n", "toys/posix/ls.c perror_msg_raw"),
    ("foo", 127, "/system/bin/sh: foo: inaccessible or not found\n", "mksh exec.c"),
    ("./d", 127, "/system/bin/sh: ./d: inaccessible or not found\n", "mksh exec.c"),
)  # fmt: skip


@pytest.mark.parametrize(("command", "status", "error", "source"), MESSAGES)
def test_a_message_is_the_one_of_the_source(command: str, status: int, error: str, source: str) -> None:
    outcome = Phone().run_in_scratch(command)
    assert (outcome.status, outcome.complaint) == (status, error), source


def test_dd_reports_blocks_as_toybox_does() -> None:
    outcome = Phone().run("printf abcdefg | dd bs=4")
    assert outcome.output == b"abcdefg"
    assert outcome.complaint.startswith("1+1 records in\n1+1 records out\n7 bytes (7 B) copied, ")
    lines = Phone().run("dd if=/dev/zero bs=1024 count=2 >/dev/null").complaint.splitlines()
    assert lines[:2] == ["2+0 records in", "2+0 records out"]
    assert lines[2].startswith("2048 bytes (2.0 KB) copied, ")


def test_a_long_listing_has_toybox_columns() -> None:
    phone = Phone()
    phone.files.write("/data/local/tmp/f", b"12345", mtime=1_700_000_000, uid=2000)
    phone.files.symlink("f", "/data/local/tmp/l", uid=2000)
    row = "-rw-r--r-- 1 shell shell 5 2023-11-14 22:13 /data/local/tmp/f\n"
    assert phone.run("ls -l /data/local/tmp/f").text == row
    lines = phone.run("ls -l /data/local/tmp").text.splitlines()
    assert lines[0].startswith("total ")
    assert lines[2].startswith("lrwxrwxrwx 1 shell shell ")
    assert lines[2].endswith(" l -> f")


def test_a_listing_by_time_starts_with_the_newest() -> None:
    phone = Phone()
    for name, time in (("a", 2000), ("b", 3000), ("c", 1000)):
        phone.files.write(f"/data/local/tmp/{name}", b"", mtime=time, uid=2000)
    assert phone.run("ls -t -1 /data/local/tmp").text == "b\na\nc\n"
    assert phone.run("touch -am /data/local/tmp/c; ls -t /data/local/tmp").text == "c\nb\na\n"


def test_the_shell_is_the_user_that_adb_gives() -> None:
    assert Phone().run("id -u; whoami").text == "2000\nshell\n"
    assert Phone().run("id").text == (
        "uid=2000(shell) gid=2000(shell) groups=2000(shell),1004(input),1007(log),1011(adb),1015(sdcard_rw),"
        "1028(sdcard_r),1078(ext_data_rw),1079(ext_obb_rw),3001(net_bt_admin),3002(net_bt),3003(inet),"
        "3006(net_bw_stats),3009(readproc),3011(uhid),3012(readtracefs) context=u:r:shell:s0\n"
    )
    assert Phone().run("id -u", uid=0).text == "0\n"


def test_processes_of_apps_are_shown_and_not_ended_by_the_shell() -> None:
    phone = Phone()
    phone.running.append(Process(4001, 10123, "dev.example"))
    rows = [line.split() for line in phone.run("ps -A").text.splitlines()]
    expected = ["USER PID NAME", "root 1 init", "u0_a123 4001 dev.example"]
    assert [" ".join((row[0], row[1], row[-1])) for row in rows] == expected
    assert phone.run("ps").text.count("\n") == 1
    assert phone.run("pidof dev.example").text == "4001\n"
    outcome = phone.run("kill 4001; kill -15 99; pidof nobody")
    assert outcome.complaint == "kill: 4001: Operation not permitted\nkill: 99: No such process\n"
    assert outcome.status == 1


def test_scripts_run_from_files_and_from_standard_input() -> None:
    phone = Phone()
    phone.files.write("/data/local/tmp/s", b"echo $0 $# $1\nexit 4\n", uid=2000)
    assert phone.run("sh /data/local/tmp/s 'a b' c; echo $?").text == "/data/local/tmp/s 2 a b\n4\n"
    assert phone.run("sh -c 'echo $0-$1-$2' name one; echo $?").text == "name-one-\n0\n"
    assert phone.run("sh", b"x=5\necho $x\n").text == "5\n"
    assert phone.run("sh nope; echo $?").text == "127\n"
    assert phone.run("/data/local/tmp/s; echo $?").text == "126\n"


def test_a_child_shell_gets_the_exported_variables_only() -> None:
    command = 'a=1; b=2; export b c=3; d=4 sh -c \'echo "$a|$b|$c|$d|$HOME"\'; echo "$a$b$c$d"'
    assert Phone().run(command).text == "|2|3|4|/\n123\n"


def test_a_pushed_program_is_refused() -> None:
    phone = Phone()
    phone.files.write("/data/local/tmp/elf", b"\x7fELF\0\0", mode=0o755, uid=2000)
    outcome = phone.run("/data/local/tmp/elf")
    error = "droidgate phone: the program /data/local/tmp/elf is not modelled\n"
    assert (outcome.status, outcome.complaint) == (69, error)


# Commands for text and files, compared with busybox's where both do what POSIX says


WORDS = ("alpha", "beta", "Beta", "10", "9", "2", "", "a b  c", "x:y:z", "\tq", "é", "zz", "alpha")

PIPES = (
    "cat", "cat -", "wc -l", "wc -w", "wc -c", "head", "head -n 3", "head -n 0", "head -c 5", "head -c 1024",
    "grep a", "grep -v a", "grep -i beta", "grep -F .", "grep -Fv 'x:y'", "grep ''", "grep nothing",
    "grep -Fxq alpha", "grep -x a", "grep -vx alpha", "grep -Fxq -- -a", "dd bs=4 count=2 status=none",
    "dd bs=1024 status=none", "md5sum", "cat | head -n 2 | wc -c",
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


def assert_alike(command: str, tmp_path: Path, stdin: bytes = b"") -> None:
    """Compare a command line with busybox's shell that has nothing but busybox's commands."""
    folder, programs = tmp_path / "work", tmp_path / "programs"
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    if not programs.exists():
        programs.mkdir()
        subprocess.run([require("busybox"), "--install", "-s", programs], check=True, timeout=60)
    ours = Phone().run_in_scratch(command, stdin)
    theirs = run_in_real_shell(programs / "sh", command, folder, stdin, programs=str(programs))
    assert (ours.status, ours.output) == (theirs.status, theirs.output), command


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


def test_sixteen_megabytes_go_through_a_pipeline_whole() -> None:
    phone = Phone()
    data = random.Random(5).randbytes(1 << 20) * 16
    phone.files.write(f"{SCRATCH}/big", data)
    outcome = phone.run_in_scratch("cat big | wc -c; dd if=big bs=1048576 skip=15 status=none | md5sum")
    assert outcome.text == f"{16 << 20}\n{hashlib.md5(data[15 << 20 :]).hexdigest()}  -\n"
