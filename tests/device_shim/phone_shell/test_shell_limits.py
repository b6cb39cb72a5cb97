"""What the shell refuses, what it may take, and that it never leaves the phone."""

import io
import sys
import tomllib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from device_shim.phone_shell.shell_bench import Phone, Sink
from device_shim.phone_shell.test_shell_against_mksh import PIECES
from droidgate_phone.commands import command_registry
from droidgate_phone.phone import boot, start_phone
from droidgate_phone.shell import BUDGET_STATUS, NOT_MODELLED_STATUS, ShellBudget, run_shell
from droidgate_phone.shell.interpreter import THREADS
from droidgate_phone.shell.programs import INTERNAL_STATUS
from droidgate_phone.shell.shell_run import Streams

WATCHED = ("open", "os.", "subprocess.", "shutil.", "socket.", "ctypes.", "pty.", "tempfile.")
HARMLESS = frozenset({"os.urandom"})
_seen: list[str] = []
_watching: list[int] = []


def _watch(event: str, _arguments: tuple[Any, ...]) -> None:
    if _watching and event.startswith(WATCHED) and event not in HARMLESS:
        _seen.append(event)


@pytest.fixture(scope="module")
def audited() -> None:
    for name in command_registry.command_names():
        command_registry.find_command(name)
    Phone().run("printf '%s' x | cat; [ a = a ]; echo * | wc -c; sh -c 'ls -l'")
    sys.addaudithook(_watch)


HOSTILE = (
    "cat /etc/passwd /proc/self/environ; ls -la /; echo x >/tmp/droidgate-canary",
    "echo $(touch /tmp/canary)",
    "sh -c 'rm -rf / ~ *'; dd if=/dev/urandom count=1 | cat >/system/x; ls /*/*; sh /etc/profile",
    "cat ../../../../etc/shadow; cd ../..; pwd; ls -l */../../etc; cat /data/local/tmp/../../../etc/passwd",
    "/usr/bin/id; /bin/busybox; toybox id; bash -c id; exec bash",
    "mkdir -p /data/local/tmp/a; touch /x; rm -rf /system; grep root </etc/passwd; md5sum /etc/passwd",
    "PATH=/usr/bin:/bin id; PATH=. python3 -c 1", "`echo id`", "eval id",
)  # fmt: skip


def _events_of(work: Callable[[], object]) -> list[str]:
    _seen.clear()
    _watching.append(1)
    try:
        work()
    finally:
        _watching.clear()
    return list(_seen)


@pytest.mark.usefixtures("audited")
@pytest.mark.parametrize("command", HOSTILE, ids=lambda command: command[:40])
def test_no_command_line_reaches_the_host(command: str) -> None:
    phone = Phone()
    assert _events_of(lambda: phone.run(command, b"id\n")) == []


@pytest.mark.usefixtures("audited")
def test_the_watch_on_the_host_sees_an_open_file(tmp_path: Path) -> None:
    assert "open" in _events_of(lambda: (tmp_path / "x").write_text("seen"))


@given(st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_garbage_ends_with_a_status_and_never_raises(command: str) -> None:
    budget = ShellBudget(seconds=120, steps=2000, output=1 << 20)
    outcome = Phone().run(command, b"some\ninput\n", budget=budget)
    assert 0 <= outcome.status <= 255
    assert b"failed inside" not in outcome.error


@pytest.mark.parametrize(
    "command",
    [
        "pm list packages --user N", "am start --user N -a b", "am start -d http://[::1", "wm density N",
        "content read --uri content://[::1", "settings put system user_rotation N; screencap -p | head -c 1",
        "head -n N /dev/null",
        "dd bs=N if=/dev/null", "sleep N.N", "exit N", "echo $N ${N}", "kill N",
        "pm install-write -S N 1 a -", "input tap N N",
        "monkey -p a.b -c android.intent.category.LAUNCHER N",
    ],
)  # fmt: skip
def test_numbers_and_uris_of_any_length_are_read_or_refused(command: str) -> None:
    with boot("37") as system:
        sink = Sink()
        streams = Streams(io.BytesIO(), sink, sink)
        status = run_shell(system, command.replace("N", "9" * 5000), streams)
    assert b"failed inside" not in sink.data
    assert status != INTERNAL_STATUS


@pytest.mark.parametrize(("command", "what"), [
    (":;" * 3001, "steps"),
    ("sh /data/local/tmp/again", "nested"),
    ("x=a" + ";x=$x$x" * 40, "characters"),
    ("x='a b c d'" + ';x="$x $x"' * 12 + "; echo $x", "words"),
    ("cat /dev/zero", "bytes"),
    (" | ".join(["sleep 5"] * 70), "at one time"),
    (f"echo {'a' * 600_000} | wc -c", "at one time"),
], ids=lambda text: text[:20])  # fmt: skip
def test_a_command_line_that_takes_too_much_is_ended(command: str, what: str) -> None:
    budget = ShellBudget(seconds=120, steps=3000, output=1 << 20, memory=1 << 19, text=1 << 20, fields=10_000)
    phone = Phone()
    phone.files.write("/data/local/tmp/again", b"sh /data/local/tmp/again", uid=2000)
    outcome = phone.run(command, budget=budget)
    assert what in outcome.complaint
    assert outcome.status == BUDGET_STATUS
    assert "droidgate phone: the command line was ended" in outcome.complaint


@pytest.mark.parametrize(
    "command",
    [
        "wc -c </dev/zero", "md5sum /dev/zero", "grep x /dev/zero", "head -n 1 /dev/zero",
        "cat /dev/zero >/dev/null", "dd if=/dev/zero >/dev/null", "cat /dev/zero | wc -c", "sh </dev/zero",
    ],
)  # fmt: skip
def test_input_without_end_is_ended(command: str) -> None:
    budget = ShellBudget(seconds=1, input=1 << 22, memory=1 << 20, text=1 << 20)
    assert Phone().run(command, budget=budget).status == BUDGET_STATUS


def test_a_run_ends_at_its_deadline() -> None:
    outcome = Phone().run("sleep 3600; echo no", budget=ShellBudget(seconds=0.05))
    assert (outcome.status, outcome.output) == (BUDGET_STATUS, b"")
    assert "longer than" in outcome.complaint


def test_a_deadline_ends_every_command_of_a_pipeline() -> None:
    before = THREADS.working
    outcome = Phone().run("cat /dev/zero | cat | cat >/dev/null", budget=ShellBudget(seconds=0.1))
    assert outcome.status == BUDGET_STATUS
    # A thread of an earlier run may still have been at its end.
    assert THREADS.working <= before


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1 &", "a |& b", "trap 'echo x' USR1", "x=(1 2)", "x[1]=2", "echo ${x[1]}", "echo ${x:-y}",
        "echo ${#x}", "x+=1", "select x in a; do :; done", "time true", "if true; then :; fi",
        "while :; do :; done", "until :; do :; done", "for x in a; do :; done", "case a in a) ;; esac",
        "f() { :; }", "function f { :; }", "{ true; }", "(true)", "! true", "[[ a = a ]]", "((1))",
        "echo $((1))", "echo $(true)", "echo `true`", 'echo "`true`"', "cat <<E\nE", "cat <<<a", "echo <>f",
        "echo >|f", "echo &>f", "echo 3>f", "echo >&-", "umask", "ulimit -a", "alias x=y", "eval true",
        ". /f", "read x", "set -e", "set -- a", "shift", "local x", "command true", "unset x", "echo $LINENO",
        "echo $RANDOM", "IFS=:", 'echo "$@"', "echo $*", "echo $'a'", "echo {a,b}", "x={a,b}; echo $x",
        "echo [a-z]", "echo ~+", "x=a:~", "echo a=~", "echo a\\\nb", "test a -eq b", "[ ! -e f ]",
        "[ a = b -a c = d ]", "printf %d 1", "ls --color", "ls -R", "head --lines 1", "grep -A1 x",
        "grep a.c", "ps -o PID", "kill -l", "dd of=x", "dd conv=sync", "cat --help", "sh -e", "cd -",
        "export", "stat /", "/system/bin/stat /", "date", "sed p", "toybox sed p", "exec date", "jobs",
    ],
)  # fmt: skip
def test_a_line_that_the_phone_does_not_model_is_refused_by_name(command: str) -> None:
    outcome = Phone().run(command)
    assert outcome.status == NOT_MODELLED_STATUS
    assert outcome.complaint.startswith("droidgate phone: ")
    assert outcome.complaint.endswith(" is not modelled\n")


def test_a_refusal_ends_everything_that_would_have_followed() -> None:
    outcome = Phone().run("echo a\ntrue | trap x USR1; echo never")
    assert (outcome.status, outcome.output) == (NOT_MODELLED_STATUS, b"a\n")


def test_a_writer_without_a_reader_ends() -> None:
    assert Phone().run("cat /dev/zero | head -c 1 | wc -c; echo $?").output == b"1\n0\n"


def test_a_client_that_goes_away_ends_the_command_line_with_141() -> None:
    output = Sink(limit=3)
    assert Phone().run("echo y; echo later; echo never", output=output).status == 141
    assert output.data == b"y\n"
    assert Phone().run("cat /dev/zero", output=Sink(limit=10_000)).status == 141


@pytest.mark.parametrize(("signals", "data"), [("EXIT", b""), ("EXIT PIPE", b"bye\n"), ("EXIT HUP", b"")])
def test_what_a_script_trapped_runs_after_its_client_has_gone(signals: str, data: bytes) -> None:
    phone = Phone()
    phone.run(f"trap 'echo bye >/data/local/tmp/said' {signals}; echo y; echo later", output=Sink(limit=3))
    assert phone.run("cat /data/local/tmp/said 2>/dev/null").output == data


def test_commands_of_a_pipeline_run_at_the_same_time() -> None:
    command = (
        "cat /dev/zero | head -c 3000000 | wc -c; dd if=/dev/zero bs=1048576 count=3 status=none | wc -c"
    )
    assert Phone().run(command).output == b"3000000\n3145728\n"
    assert Phone().run(f"echo {'a' * 100_000} | sleep 0 | echo b | head -c 1").output == b"b"
    assert Phone().run(f"echo {'a' * 100_000} | wc -c").output == b"100001\n"


@pytest.mark.parametrize(
    "command", ["printf '%s' $(date", "echo a && if true", "cat f | while", "ls; case x in"]
)
def test_nothing_of_a_line_with_a_refused_part_is_run(command: str) -> None:
    phone = Phone()
    outcome = phone.run_in_scratch(f"touch made; {command}")
    assert (outcome.status, outcome.output) == (NOT_MODELLED_STATUS, b"")
    assert not phone.files.exists("/data/local/tmp/made")


@pytest.mark.slow
def test_a_line_of_many_words_and_of_many_pieces_arrives_whole() -> None:
    words = 20_000
    outcome = Phone().run("echo" + " 'a'b\\c\"d\"$x" * words + " && :" * words)
    assert outcome.output == b"abcd" + b" abcd" * (words - 1) + b"\n"
    assert Phone().run("echo " + "'a'\"b\"" * words).output == b"ab" * words + b"\n"


def test_a_module_that_is_missing_or_broken_leaves_other_commands_alone(monkeypatch: Any) -> None:
    modules = {"no_such_module": ("ghost",), "file_commands": ("cat",)}
    monkeypatch.setattr(command_registry, "_MODULES", modules)
    assert command_registry.find_command("ghost") is None
    assert command_registry.find_command("cat") is not None
    phone = Phone()
    assert phone.run("echo b | cat").output == b"b\n"
    outcome = phone.run("ghost; echo never")
    assert (outcome.status, outcome.output) == (NOT_MODELLED_STATUS, b"")


def test_many_command_lines_run_at_once_on_one_phone() -> None:
    phone = Phone()

    def work(number: int) -> bytes:
        name = f"/data/local/tmp/f{number}"
        return phone.run(f"head -c {number} /dev/zero >{name}; cat {name} | wc -c; rm {name}").output

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(work, range(1, 21))) == [b"%d\n" % number for number in range(1, 21)]
    assert phone.run("ls /data/local/tmp").output == b""


# The command lines that clients of a phone send: each one runs, or is refused by name


PACKAGE = "dev.droidgate.sample.notes"
CLIENTS = tomllib.loads((Path(__file__).parent / "client_lines.toml").read_text("utf-8"))["clients"]
SCRIPT = b'screenrecord "$1" &\nPID=$!\nread ANY\nkill -INT $PID\nwait\n'
"""What adbutils starts with `sh` to record the screen."""


@pytest.mark.parametrize("client", CLIENTS, ids=[client["name"] for client in CLIENTS])
def test_each_line_of_a_client_runs_or_is_refused_as_the_table_says(client: dict[str, Any]) -> None:
    with start_phone(sdk="37") as phone:
        phone.system.files.write("/sdcard/adbutils-screenrecord.sh", SCRIPT, uid=2000)

        def run(line: str) -> tuple[int, str]:
            error = Sink()
            streams = Streams(io.BytesIO(), Sink(), error)
            return run_shell(phone.system, line.replace("PACKAGE", PACKAGE), streams), error.data.decode()

        ran = [[run(line)[0], line] for _, line in client["runs"]]
        refused = [[what, line, *run(line)] for what, line in client["refused"]]
    assert ran == client["runs"]
    for what, line, status, error in refused:
        assert status == NOT_MODELLED_STATUS, line
        command = what.replace("PACKAGE", PACKAGE)
        texts = (f"{command} is not modelled", f"not modelled: {command}")
        assert error in [f"droidgate phone: {text}\n" for text in texts], line
