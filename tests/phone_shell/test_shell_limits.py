"""What the shell refuses, what it may take, and that it never leaves the phone."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from droidgate_phone.boot import boot
from droidgate_phone.commands import registry
from droidgate_phone.shell import BUDGET_STATUS, NOT_MODELLED_STATUS, Budget, run_shell
from droidgate_phone.shell.programs import INTERNAL_STATUS
from droidgate_phone.shell.run import BytesInput, Streams
from phone_shell.shell_bench import Phone, Sink
from phone_shell.test_shell_against_mksh import PIECES

WATCHED = ("open", "os.", "subprocess.", "shutil.", "socket.", "ctypes.", "pty.", "tempfile.")
HARMLESS = frozenset({"os.urandom"})
_seen: list[str] = []
_watching: list[int] = []


def _watch(event: str, _arguments: tuple[Any, ...]) -> None:
    if _watching and event.startswith(WATCHED) and event not in HARMLESS:
        _seen.append(event)


@pytest.fixture(scope="module")
def audited() -> None:
    for name in registry.command_names():
        registry.find_command(name)
    Phone().run("date; printf '%s' x | sort; [[ a = a ]]; echo $((1)) {a,b}")
    sys.addaudithook(_watch)


HOSTILE = (
    "cat /etc/passwd /proc/self/environ; ls -lR /; echo x >/tmp/droidgate-canary; echo $(touch /tmp/canary)",
    "sh -c 'rm -rf / ~ *'; dd if=/dev/urandom of=/system/x count=1; find / -name '*'; . /etc/profile",
    "cat ../../../../etc/shadow; cd ../..; pwd; ln -s /etc /data/local/tmp/e; cat /data/local/tmp/e/passwd",
    "python3 -c 1; bash -c id; /usr/bin/id; /bin/busybox; env bash; xargs bash </dev/null; exec bash",
    "mkdir /data/local/tmp/a; cp -r / /data/local/tmp/a; mv /system /x; chmod 777 /; sort -o /x /dev/null",
    "eval \"$(printf '\\x72\\x6d -rf /')\"; $'\\x2f\\x62in/sh' -c id; `echo id`; ${x:-id}",
)


def _events_of(work: Callable[[], object]) -> list[str]:
    _seen.clear()
    _watching.append(1)
    try:
        work()
    finally:
        _watching.clear()
    return list(_seen)


@pytest.mark.usefixtures("audited")
@pytest.mark.parametrize("command", HOSTILE)
def test_no_command_line_reaches_the_host(command: str) -> None:
    phone = Phone()
    assert _events_of(lambda: phone.run(command, b"id\n")) == []


@pytest.mark.usefixtures("audited")
def test_the_watch_on_the_host_sees_an_open_file(tmp_path: Path) -> None:
    assert "open" in _events_of(lambda: (tmp_path / "x").write_text("seen"))


@given(st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=300, deadline=None)
def test_garbage_ends_with_a_status_and_never_raises(command: str) -> None:
    outcome = Phone().run(command, b"some\ninput\n", budget=Budget(seconds=10, steps=2000, output=1 << 20))
    assert 0 <= outcome.status <= 255
    assert b"failed inside" not in outcome.error


@pytest.mark.parametrize(
    "command",
    [
        "pm list packages --user N", "am start --user N -a b", "am start -d http://[::1", "wm density N",
        "content read --uri content://[::1", "settings put system user_rotation N; screencap | head -c 1",
        "date -d @N", "touch -d @N /sdcard/x", "kill N", "pm install-write -S N 1 a -", "input tap N N",
        "monkey -p a.b -c android.intent.category.LAUNCHER N",
    ],
)  # fmt: skip
def test_numbers_and_uris_of_any_length_are_read_or_refused(command: str) -> None:
    with boot("37") as system:
        sink = Sink()
        streams = Streams(BytesInput(), sink, sink)
        status = run_shell(system, command.replace("N", "9" * 5000), streams)
    assert b"failed inside" not in sink.data
    assert status != INTERNAL_STATUS


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("while :; do :; done", "steps"),
        ("f() { f; }; f", "nested"),
        ("f() { f | f; }; f", "ended"),
        ("x=a; while :; do x=$x$x; done", "characters"),
        (
            "echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}",
            "words",
        ),
        ("yes", "bytes"),
        ("cat /dev/zero", "bytes"),
        ("stat -c %999999999n /", "pads"),
        ('eval \'eval "eval \\"$x\\""\'; e() { eval e; }; e', "nested"),
    ],
)
def test_what_takes_too_much_is_ended(command: str, what: str) -> None:
    budget = Budget(seconds=20, steps=3000, output=1 << 20, text=1 << 20, fields=10_000)
    outcome = Phone().run(command, budget=budget)
    assert what in outcome.complaint
    assert outcome.status == BUDGET_STATUS
    assert "droidgate phone: the command line was ended" in outcome.complaint


@pytest.mark.parametrize(
    "command",
    [
        "sort /dev/zero",
        "tail -n 1 /dev/zero",
        "wc -c </dev/zero",
        "md5sum /dev/zero",
        "tac /dev/zero",
        "grep x /dev/zero",
        "yes | sort",
        "yes | tail -n 1",
        "yes >/dev/null",
        "dd if=/dev/zero of=/dev/null",
        "read x </dev/zero",
        "base64 </dev/zero",
        "cat /dev/zero | xargs",
        "x=$(cat /dev/zero)",
        "cp /dev/zero /data/local/tmp/x",
        "seq 999999999999 >/dev/null",
    ],
)
def test_input_without_end_is_ended(command: str) -> None:
    budget = Budget(seconds=1, input=1 << 22, memory=1 << 20, text=1 << 20)
    assert Phone().run(command, budget=budget).status == BUDGET_STATUS


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|aa)+$", "((a+))+", "a*a*a*a*a*b"])
def test_a_pattern_that_takes_time_without_bound_is_refused(pattern: str) -> None:
    assert Phone().run(f"echo {'a' * 60} | grep -E '{pattern}'").status == NOT_MODELLED_STATUS


def test_a_run_ends_at_its_deadline() -> None:
    outcome = Phone().run("sleep 3600; echo no", budget=Budget(seconds=0.05))
    assert (outcome.status, outcome.output) == (BUDGET_STATUS, b"")
    assert "longer than" in outcome.complaint


def test_a_deadline_ends_a_read_of_a_line_without_end() -> None:
    outcome = Phone().run("read x </dev/zero", budget=Budget(seconds=0.05))
    assert outcome.status == BUDGET_STATUS
    assert "longer than" in outcome.complaint


def test_a_deadline_ends_every_command_of_a_pipeline() -> None:
    before = threading.active_count()
    outcome = Phone().run("yes | cat | cat >/dev/null", budget=Budget(seconds=0.1))
    assert outcome.status == BUDGET_STATUS
    assert threading.active_count() == before


@pytest.mark.parametrize(
    "command",
    [
        "sleep 1 &",
        "a |& b",
        "trap 'echo x' EXIT",
        "x=(1 2)",
        "x[1]=2",
        "echo ${x[1]}",
        "select x in a; do :; done",
        "time true",
        "case a in @(a|b)) ;; esac",
        "echo <>f",
        "umask",
        "ulimit -a",
        "alias x=y",
        "getopts a x",
        "set -x",
        "read -t 1 x",
        "echo $LINENO",
        "for ((i=0;i<3;i++)); do :; done",
        "ls --color",
        "tail -f x",
        "ln a b",
        "grep -A1 x",
        "chown root x",
        "kill -l",
        "typeset -i x",
        "cat --help",
        "jobs",
    ],
)
def test_what_is_not_modelled_is_refused_loudly(command: str) -> None:
    outcome = Phone().run(command)
    assert outcome.status == NOT_MODELLED_STATUS
    assert outcome.complaint.startswith("droidgate phone: ")
    assert outcome.complaint.endswith(" is not modelled\n")


def test_a_refusal_ends_everything_that_would_have_followed() -> None:
    outcome = Phone().run("echo a; { trap x EXIT; } | cat; echo never")
    assert (outcome.status, outcome.output) == (NOT_MODELLED_STATUS, b"a\n")


def test_a_writer_without_a_reader_ends_with_141() -> None:
    phone = Phone()
    assert phone.run("set -o pipefail; yes | head -n 1; echo $?").output == b"y\n141\n"
    assert phone.run("set -o pipefail; while echo x; do :; done | true; echo $?").output == b"141\n"


def test_a_client_that_goes_away_ends_the_command_line_with_141() -> None:
    output = Sink(limit=10_000)
    assert Phone().run("while :; do echo y; done; echo later", output=output).status == 141
    assert len(output.data) <= 10_000


def test_commands_of_a_pipeline_run_at_the_same_time() -> None:
    command = "yes | head -n 300000 | tail -n 1; dd if=/dev/zero bs=1048576 count=3 status=none | wc -c"
    assert Phone().run(command).output == b"y\n3145728\n"


def test_a_module_that_is_missing_or_broken_leaves_other_commands_alone(monkeypatch: Any) -> None:
    monkeypatch.setattr(registry, "_MODULES", {"no_such_module": ("ghost",), "files_names": ("basename",)})
    assert registry.find_command("ghost") is None
    assert registry.find_command("basename") is not None
    phone = Phone()
    assert phone.run("basename /a/b").output == b"b\n"
    outcome = phone.run("ghost; echo never")
    assert (outcome.status, outcome.output) == (NOT_MODELLED_STATUS, b"")


def test_many_command_lines_run_at_once_on_one_phone() -> None:
    phone = Phone()
    outcomes: dict[int, bytes] = {}

    def work(number: int) -> None:
        name = f"/data/local/tmp/f{number}"
        outcomes[number] = phone.run(f"seq {number} >{name}; cat {name} | wc -l; rm {name}").output

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 21)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {number: f"{number}\n".encode() for number in range(1, 21)}
    assert phone.run("ls /data/local/tmp").output == b""
