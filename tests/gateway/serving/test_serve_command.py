"""`droidgate serve` as a program: what it prints where, and how it ends."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from droidgate_phone.phone import VirtualPhone, start_phone

PROGRAM = Path(sys.executable).with_name("droidgate")


@pytest.fixture(scope="module")
def phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        yield started


@pytest.fixture
def environment(phone: VirtualPhone, tmp_path: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANDROID_", "ADB_"))}
    return {**kept, "ANDROID_ADB_SERVER_PORT": str(phone.server_port), "DROIDGATE_HOME": str(tmp_path)}


def run(environment: dict[str, str], *arguments: str, sent: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PROGRAM, "serve", *arguments],
        check=False,
        env=environment,
        input=sent,
        capture_output=True,
        text=True,
        timeout=100,
    )


@pytest.mark.slow
def test_the_plan_lists_each_app_and_the_sum(environment: dict[str, str]) -> None:
    planned = run(environment, "--plan")
    assert planned.returncode == 0
    rows = re.findall(r"^  (\S+) +(\d+) +([\d,]+)$", planned.stdout, re.MULTILINE)
    apps = [(name, int(tools), int(cost.replace(",", ""))) for name, tools, cost in rows]
    tools, tokens = sum(row[1] for row in apps), sum(row[2] for row in apps)
    assert f"{len(apps)} apps, {tools} tools, {tokens:,} tokens" in planned.stdout
    assert "dev.droidgate.sample.notes" in {row[0] for row in apps}
    document = json.loads(run(environment, "--plan", "--search", "--json").stdout)
    jsonschema.validate(document, json.loads(run(environment, "--json-schema").stdout))
    assert [tuple(app.values()) for app in document["apps"]] == apps
    assert (document["tools"], document["tokens"]) == (tools, tokens)
    assert document["served"]["mode"] == "search"
    assert document["served"]["tools"] == 3
    assert document["served"]["tokens"] < tokens


# What a program reads from its input is typed on a new terminal.
TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("command", "said"), [
    (("serve",), "waiting for an MCP client on standard input, which is a terminal"),
    (("serve", "--http", "0"), "token: "),
    (("serve-mobile-agent", "--data-port", "0", "--action-port", "0"), "Action MCP Server: "),
])  # fmt: skip
def test_on_a_terminal_it_says_what_it_waits_for_and_the_first_ctrl_c_ends_it(
    environment: dict[str, str], command: tuple[str, ...], said: str
) -> None:
    arguments = [sys.executable, "-c", TERMINAL, PROGRAM, *command]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(arguments, env=environment, **pipes) as process:  # type: ignore[call-overload]

        def read_until(said: bytes) -> bytes:
            seen = b""
            while said not in seen:
                seen += (line := process.stdout.readline())
                assert line, seen
            return seen

        seen = read_until(said.encode())
        if command == ("serve",):
            assert b"droidgate install-client" in seen
            # Ctrl-C comes when it reads.
            process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            process.stdin.flush()
            read_until(b'"result":')
        process.stdin.write(b"\x03")
        process.stdin.flush()
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stdout.read()


def test_a_client_that_is_gone_ends_the_server_without_an_error(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [PROGRAM, "serve"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        assert server.stderr is not None
        server.stdout.close()
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.close()
        assert server.wait(60) == 0
        assert b"error" not in server.stderr.read()


@pytest.mark.slow
def test_standard_output_holds_the_protocol_only(environment: dict[str, str]) -> None:
    lines = [
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
    ]
    ended = run(environment, "--verbose", sent="".join(f"{json.dumps(line)}\n" for line in lines))
    assert ended.returncode == 0
    (answer,) = map(json.loads, ended.stdout.splitlines())
    assert answer["result"]["serverInfo"]["name"] == "droidgate"
    assert answer["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert "serving " in ended.stderr


@pytest.mark.slow
def test_without_a_phone_it_waits_for_one(environment: dict[str, str]) -> None:
    # No server is started on another machine, and so none stays behind.
    ended = run({**environment, "ANDROID_SERIAL": "", "ADB_SERVER_SOCKET": "tcp:adb.invalid:1"}, sent="")
    assert ended.returncode == 0
    assert "looking again" in ended.stderr
    assert "serving 0 tools" in ended.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("arguments", "code", "words"), [
    (("--http", "0.0.0.0:8000"), 2, "not a loopback address"),
    (("--http", "x"), 2, "is not an address"),
    (("--serial", "nope", "--plan"), 4, "nope"),
    (("--json",), 2, "--json needs --plan"),
])  # fmt: skip
def test_a_mistake_is_an_error_with_a_hint(
    environment: dict[str, str], arguments: tuple[str, ...], code: int, words: str
) -> None:
    ended = run(environment, *arguments)
    assert (ended.returncode, ended.stdout) == (code, "")
    assert words in ended.stderr
    assert "hint:" in ended.stderr


@pytest.mark.slow
def test_over_http_it_prints_where_it_listens_and_a_signal_ends_it(environment: dict[str, str]) -> None:
    command = [str(PROGRAM), "serve", "--http", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        seen = ""
        while "token: " not in seen:
            line = process.stderr.readline()
            assert line, seen
            seen += line
        url = re.search(r"listening on (\S+)", seen)
        assert url is not None
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(url[1], timeout=120)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    "kills", [pytest.param(3, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)]
)
def test_what_a_killed_server_had_recorded_is_whole(environment: dict[str, str], kills: int) -> None:
    """`kill -9` while calls are made: the audit log's chain verifies, and each answered call is in it."""
    answered = 0
    draw = random.Random(kills)
    for _ in range(kills):
        command = [str(PROGRAM), "serve", "--allow", "*"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, env=environment, text=True, **pipes) as process:  # type: ignore[call-overload]
            for number in range(60):
                process.stdin.write(f"{json.dumps(call_of(number))}\n")
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in range(draw.randrange(1, 9))]
            time.sleep(draw.uniform(0, 0.1))
            process.kill()
            answers += process.stdout.readlines()
        assert not any('"isError":true' in answer for answer in answers)
        answered += sum(answer.endswith("\n") for answer in answers)
    verified = subprocess.run(
        [PROGRAM, "audit", "verify"], env=environment, capture_output=True, text=True, check=False
    )
    assert verified.returncode == 0, verified.stdout + verified.stderr
    shown = subprocess.run(
        [PROGRAM, "audit", "show", "--json", "--last", "10000"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    calls = json.loads(shown.stdout)["calls"]
    assert answered <= sum(call["result"] == "ok" for call in calls) <= len(calls)
    # Some were ended while the call was made.
    assert len(calls) > answered


def call_of(number: int) -> dict[str, object]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    arguments = {"title": f"note {number}", "content": "x"}
    parameters = {"name": "legacy_createNote", "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": parameters}
