"""`droidgate serve` and `serve-mobile-agent` as programs: what they print and refuse, and how they end."""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock, patch

import jsonschema
import pytest

from droidgate.serving.http_transport import HttpAddress
from droidgate.serving.mobile_agent import mobile_agent_process
from droidgate.serving.mobile_agent.mobile_agent_process import serve_mobile_agent
from droidgate_mappings.model.errors import UsageError
from droidgate_phone.phone import VirtualPhone, start_phone
from gateway.mobile_agent.made_phone import MadePhone, made_phone
from gateway.serving.running_servers import HEADERS, INITIALIZED, META, initialize, message

PROGRAM = Path(sys.executable).with_name("droidgate")
FIXTURES = (sys.executable, Path(__file__).with_name("stdio_server.py"))
UFO_SERVERS = ("serve-mobile-agent", "--data-port", "0", "--action-port", "0")
PING = message("ping") + b"\n"


@pytest.fixture(scope="module")
def phone() -> Iterator[VirtualPhone]:
    with start_phone(server_port=0) as started:
        yield started


@pytest.fixture(scope="module")
def made() -> Iterator[MadePhone]:
    with made_phone() as phone:
        yield phone


def environment_of(phone: VirtualPhone, home: Path) -> dict[str, str]:
    base = {name: value for name, value in os.environ.items() if not name.startswith(("ANDROID_", "ADB_"))}
    return {**base, "ANDROID_ADB_SERVER_PORT": str(phone.server_port), "DROIDGATE_HOME": str(home)}


@pytest.fixture
def environment(phone: VirtualPhone, tmp_path: Path) -> dict[str, str]:
    return environment_of(phone, tmp_path)


@pytest.fixture
def made_environment(made: MadePhone, tmp_path: Path) -> dict[str, str]:
    return environment_of(made.phone, tmp_path)


def run(
    environment: dict[str, str], *arguments: str, sent: bytes = b"", command: str = "serve"
) -> subprocess.CompletedProcess[str]:
    """Run `droidgate serve`, or another command."""
    words, text = [str(PROGRAM), command, *arguments], sent.decode()
    return subprocess.run(
        words, check=False, env=environment, input=text, capture_output=True, text=True, timeout=100
    )


@contextmanager
def started(*command: str | Path, environment: dict[str, str] | None = None, **options: Any) -> Iterator[Any]:
    """Start a program whose standard streams are pipes, and end it."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE) | options
    with subprocess.Popen(command, env=environment, **streams) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
def test_the_plan_lists_each_app_and_the_sum(environment: dict[str, str]) -> None:
    planned = run(environment, "--plan", "--search")
    assert planned.returncode == 0
    rows = re.findall(r"^  (\S+) +(\d+) +([\d,]+) +([\d,]+)$", planned.stdout, re.MULTILINE)
    apps = [(name, *(int(figure.replace(",", "")) for figure in figures)) for name, *figures in rows]
    tools, tokens, outputs = (sum(row[at] for row in apps) for at in (1, 2, 3))
    expected = (
        f"{len(apps)} apps, {tools} tools, {tokens:,} tokens, {outputs:,} of them for the schemas of outputs"
    )
    assert expected in " ".join(planned.stdout.split())
    assert "in search mode a client gets three tools in their place: " in planned.stdout
    assert "dev.droidgate.sample.notes" in {row[0] for row in apps}
    document = json.loads(run(environment, "--plan", "--search", "--json").stdout)
    jsonschema.validate(document, json.loads(run(environment, "--json-schema").stdout))
    assert [tuple(app.values()) for app in document["apps"]] == apps
    assert (document["tools"], document["tokens"], document["output_tokens"]) == (tools, tokens, outputs)
    assert document["served"]["mode"] == "search"
    assert document["served"]["tools"] == 3
    assert document["served"]["tokens"] < tokens


# What a program reads from its input is typed on a new terminal.
TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("command", "message"), [
    (("serve",), "waiting for an MCP client on standard input, which is a terminal"),
    (("serve", "--http", "0"), "token: "),
    (UFO_SERVERS, "Action MCP Server: "),
], ids=str)  # fmt: skip
def test_on_a_terminal_it_says_what_it_waits_for_and_the_first_ctrl_c_ends_it(
    environment: dict[str, str], command: tuple[str, ...], message: str
) -> None:
    with started(
        sys.executable, "-c", TERMINAL, PROGRAM, *command, environment=environment, stderr=None
    ) as process:

        def read_until(message: bytes) -> bytes:
            seen = b""
            while message not in seen:
                seen += (line := process.stdout.readline())
                assert line, seen
            return seen

        seen = read_until(message.encode())
        if command == ("serve",):
            assert b"droidgate install-client" in seen
            # Ctrl-C comes when it reads.
            process.stdin.write(PING)
            process.stdin.flush()
            read_until(b'"result":')
        process.stdin.write(b"\x03")
        process.stdin.flush()
        assert process.wait(60) == 130
        assert b"Traceback" not in process.stdout.read()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_a_terminal_that_is_closed_ends_the_server(environment: dict[str, str]) -> None:
    ours, theirs = os.openpty()
    with started(PROGRAM, "serve", environment=environment, stdin=theirs, stdout=theirs) as server:
        os.close(theirs)
        while b"which is a terminal" not in server.stderr.readline():
            assert server.poll() is None
        os.close(ours)
        assert server.wait(60) == 0


def call_of(tool: str, number: int = 1, /, *, meta: dict[str, Any] | None = None, **arguments: Any) -> bytes:
    parameters = {"name": tool, "arguments": arguments} | ({} if meta is None else {"_meta": meta})
    return message("tools/call", number, **parameters) + b"\n"


HANDSHAKE = initialize(elicitation={}) + b"\n" + INITIALIZED + b"\n"
LIST = HANDSHAKE + (message("tools/list") + b"\n") * 400
ASK = call_of("test_elicitation", message="?")
# What a client has sent -> what it reads before it stops reading, and where.
PHASES: dict[str, tuple[bytes, str | None]] = {
    "half a line was sent": (HANDSHAKE + b'{"jsonrpc"', "serverInfo"),
    "a call runs": (HANDSHAKE + call_of("endless"), None),
    "a question is open": (HANDSHAKE + ASK, "elicitation/create"),
    "it answers many requests": (LIST, "inputSchema"),
    "nobody reads its answers": (LIST, "serverInfo"),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("phase", PHASES)
def test_the_first_ctrl_c_ends_it_whatever_it_does(phase: str) -> None:
    """As an exception it ended tasks at any place: one server of twenty then used a core for ever."""
    sent, awaited = PHASES[phase]
    with started(*FIXTURES) as server:
        server.stdin.write(sent)
        server.stdin.flush()
        if awaited is None:
            assert server.stderr.readline() == b"runs\n"
        else:
            while awaited.encode() not in server.stdout.readline():
                pass
        is_read = phase != "nobody reads its answers"
        if not is_read:
            # Until the pipe is full.
            time.sleep(1)
        server.send_signal(signal.SIGINT)
        reading = threading.Thread(target=server.stdout.read if is_read else str)
        reading.start()
        assert server.wait(60) == 130
        reading.join()
        assert server.stderr.read() == b""


@pytest.mark.slow
@pytest.mark.parametrize("call", [call_of("endless"), ASK], ids=["a call", "a question"])
def test_over_http_the_first_ctrl_c_ends_calls_and_questions(call: bytes) -> None:
    with started(*FIXTURES, "http") as server:
        url = server.stderr.readline().decode().strip()
        headers = dict(HEADERS)
        begin, initialized = HANDSHAKE.splitlines()
        with urllib.request.urlopen(urllib.request.Request(url, begin, headers), timeout=60) as answer:
            headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
        urllib.request.urlopen(urllib.request.Request(url, initialized, headers), timeout=60).close()
        with urllib.request.urlopen(urllib.request.Request(url, call, headers), timeout=60) as running:
            if call == ASK:
                while b"elicitation/create" not in running.readline():
                    pass
            else:
                assert server.stderr.readline() == b"runs\n"
            server.send_signal(signal.SIGINT)
            assert server.wait(60) == 130


def test_a_client_that_is_gone_ends_the_server_without_an_error(environment: dict[str, str]) -> None:
    with started(PROGRAM, "serve", environment=environment) as server:
        server.stdout.close()
        server.stdin.write(PING)
        server.stdin.close()
        assert server.wait(60) == 0
        assert b"error" not in server.stderr.read()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="pipes of a chosen size")
def test_a_client_that_does_not_read_standard_error_is_served(environment: dict[str, str]) -> None:
    with started(PROGRAM, "serve", environment=environment) as server:
        fcntl.fcntl(server.stderr, fcntl.F_SETPIPE_SZ, 4096)
        # Each is refused, since nobody can be asked, and the way to approve it is logged.
        server.stdin.write(HANDSHAKE.replace(b'{"elicitation": {}}', b"{}"))
        for _ in range(30):
            server.stdin.write(call_of("notes_createNote", title="a", content="b"))
            server.stdin.flush()
            assert server.stdout.readline()
        server.stdin.close()
        assert server.wait(60) == 0


def test_standard_output_has_the_protocol_only(environment: dict[str, str]) -> None:
    ended = run(environment, "--verbose", sent=HANDSHAKE)
    assert ended.returncode == 0
    (answer,) = map(json.loads, ended.stdout.splitlines())
    assert answer["result"]["serverInfo"]["name"] == "droidgate"
    assert answer["result"]["capabilities"]["tools"] == {"listChanged": True}
    assert "serving " in ended.stderr


@pytest.mark.slow
def test_without_a_phone_it_waits_for_one(environment: dict[str, str]) -> None:
    # No server is started on another machine, and so none stays behind.
    ended = run({**environment, "ANDROID_SERIAL": "", "ADB_SERVER_SOCKET": "tcp:adb.invalid:1"})
    assert ended.returncode == 0
    assert "looking again" in ended.stderr
    assert "\nhint: " in ended.stderr
    assert "serving 0 tools" in ended.stderr


@pytest.mark.parametrize(
    "kills",
    [pytest.param(3, marks=pytest.mark.slow), pytest.param(20, marks=pytest.mark.long)],
    ids="{} kills".format,
)
def test_what_a_killed_server_had_recorded_is_whole(environment: dict[str, str], kills: int) -> None:
    """`kill -9` while calls are made: the audit log's chain verifies, and each answered call is in it."""
    answered = 0
    draw = random.Random(kills)
    for _ in range(kills):
        command = (PROGRAM, "serve", "--allow", "*")
        with started(*command, environment=environment, stderr=subprocess.DEVNULL) as process:
            for number in range(60):
                note = {"title": f"note {number}", "content": "x"}
                process.stdin.write(call_of("legacy_createNote", number, meta=META, **note))
            process.stdin.flush()
            answers = [process.stdout.readline() for _ in range(draw.randrange(1, 9))]
            time.sleep(draw.uniform(0, 0.1))
            process.kill()
            answers += process.stdout.readlines()
        assert not any(b'"isError":true' in answer for answer in answers)
        answered += sum(answer.endswith(b"\n") for answer in answers)
    verified = run(environment, "verify", command="audit")
    assert verified.returncode == 0, verified.stdout + verified.stderr
    result = run(environment, "show", "--json", "--last", "10000", command="audit")
    calls = json.loads(result.stdout)["calls"]
    assert answered <= sum(call["result"] == "ok" for call in calls) <= len(calls)
    # Some were ended while the call was made.
    assert len(calls) > answered


@contextmanager
def running(environment: dict[str, str], *arguments: str, lines: int = 2) -> Iterator[tuple[Any, list[str]]]:
    with started(PROGRAM, *UFO_SERVERS, *arguments, environment=environment, text=True) as process:
        seen = [process.stderr.readline() for _ in range(lines)]
        assert all(seen), seen
        yield process, seen


def urls_in(lines: list[str]) -> list[str]:
    return re.findall(r"MCP Server: (http://127\.0\.0\.1:\d+/mcp)", "".join(lines))


def post(url: str, tool: str, arguments: dict[str, Any], token: str | None = None) -> Any:
    headers = HEADERS | {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, call_of(tool, **arguments), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_ctrl_c_ends_both_servers_and_the_calls_that_run(made_environment: dict[str, str]) -> None:
    with running(made_environment) as (process, lines):
        data, action = urls_in(lines)
        assert post(data, "get_device_info", {})["result"]["structuredContent"]["success"] is True
        answers: list[Any] = []
        waiting = threading.Thread(target=lambda: answers.append(post(action, "wait", {"seconds": 60})))
        waiting.start()
        while not _is_open(action):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130
        waiting.join(120)
        assert (process.stdout.read(), process.stderr.read()) == ("", "")
    assert [answer["result"]["structuredContent"]["error"] for answer in answers] == ["the wait was canceled"]
    for url in (data, action):
        assert not _is_open(url)


def _is_open(url: str) -> bool:
    port = int(url.rpartition(":")[2].partition("/")[0])
    try:
        socket.create_connection(("127.0.0.1", port), 5).close()
    except OSError:
        return False
    return True


def test_extensions_and_several_phones_are_asked_for_by_options(made_environment: dict[str, str]) -> None:
    options = ("--extend", "find", "--extend", "gestures", "--serial", "one", "--serial", "two")
    with running(made_environment, *options, lines=6) as (process, lines):
        end = "no such device is attached; each call looks for it again\n"
        assert lines[:4:2] == [f"one: {end}", f"two: {end}"]
        assert all(line.startswith("hint: attached: ") for line in lines[1:4:2])
        data, action = urls_in(lines)
        # No tool is called: these phones are not attached.
        unknown = post(data, "find_element", {"text": "a", "device": "three"})["result"]
        assert "is not one of ['one', 'two']" in unknown["content"][0]["text"]
        assert post(action, "long_press", {"duration": 0})["result"]["isError"] is True
        assert post(data, "take_screenshot", {})["result"]["content"][0]["text"].startswith("Unknown tool")
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


@pytest.mark.slow
def test_with_tokens_each_server_names_the_file_of_its_own(made_environment: dict[str, str]) -> None:
    with running(made_environment, "--token", lines=4) as (process, lines):
        files = [Path(path) for path in re.findall(r"token: (.+)", "".join(lines))]
        tokens = [file.read_text(encoding="ascii").strip() for file in files]
        assert len(set(tokens)) == 2
        for url, token in zip(urls_in(lines), tokens, strict=True):
            assert post(url, "nope", {}, token)["result"]["isError"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


def test_both_servers_ask_for_the_key_of_ufo_where_it_is_set(made_environment: dict[str, str]) -> None:
    key = "a-key-that-ufo-was-given"
    environment = made_environment | {"UFO_MCP_API_KEY": key}
    with running(environment, lines=4) as (process, lines):
        assert lines.count("token: the value of UFO_MCP_API_KEY\n") == 2
        for url in urls_in(lines):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                post(url, "nope", {})
            assert post(url, "nope", {}, key)["result"]["isError"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


def test_the_data_server_alone_asks_the_phone_each_time(
    made: MadePhone, made_environment: dict[str, str]
) -> None:
    """It cannot know of actions that another program does."""
    with running(made_environment, "--server", "data", lines=1) as (process, lines):
        (data,) = urls_in(lines)
        with made.counted() as commands:
            for _ in range(3):
                post(data, "get_ui_tree", {})
        assert len([text for text in commands if "uiautomator" in text]) == 3
        process.send_signal(signal.SIGTERM)
        assert (process.wait(120), process.stderr.read()) == (0, "")


@pytest.mark.parametrize(("options", "words"), [
    ({"server": "action"}, "does not know the ids"),
    ({"host": "0.0.0.0"}, "is not an address to listen on"),
    ({"host": "::"}, "is not an address to listen on"),
    ({"host": "example.org"}, "is not an address to listen on"),
    ({"extensions": ["finding"]}, "unknown extension 'finding'"),
    ({"seconds": 0}, "is not from 1 to 600 seconds"),
    ({"seconds": float("nan")}, "is not from 1 to 600 seconds"),
    ({"data_port": 9020, "action_port": 9020}, "both servers have the port 9020"),
    ({"token": "a b"}, "the token is too short, or has characters"),
    ({"token": "schl\u00fcssel"}, "the token is too short, or has characters"),
    ({"token": "short", "host": "192.0.2.7"}, "the token is too short, or has characters"),
], ids=str)  # fmt: skip
def test_what_is_wrong_or_open_to_all_is_refused_with_a_hint(options: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        serve_mobile_agent(**options)


def test_away_from_loopback_a_token_is_needed() -> None:
    @contextmanager
    def listen(address: HttpAddress) -> Iterator[tuple[socket.socket, HttpAddress]]:
        with socket.socket() as unused:
            yield unused, address

    stop = Mock(side_effect=KeyboardInterrupt)
    with patch.object(mobile_agent_process, "listen", listen), pytest.raises(KeyboardInterrupt):
        serve_mobile_agent(host="192.0.2.7", on_listening=stop)
    first = stop.call_args.args[0]
    assert first.url == "http://192.0.2.7:8020/mcp"
    assert first.token_file is not None
    assert len(first.token_file.read_text(encoding="ascii").strip()) > 40
