"""`droidgate serve-mobile-agent` as a program: what it prints, what it refuses, and how it ends."""

from __future__ import annotations

import json
import os
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
from unittest.mock import patch

import pytest

from droidgate.serving.http import HttpAddress
from droidgate.serving.mobile_agent import mobile_agent_process as running_servers
from droidgate.serving.mobile_agent.mobile_agent_process import ListeningServer, serve_mobile_agent
from droidgate_mappings.model.errors import UsageError
from gateway.mobile_agent.made_phone import MadePhone, made_phone

PROGRAM = Path(sys.executable).with_name("droidgate")


@pytest.fixture(scope="module")
def made() -> Iterator[MadePhone]:
    with made_phone() as phone:
        yield phone


def environment_of(made: MadePhone, home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ANDROID_", "ADB_"))}
    return {**kept, "ANDROID_ADB_SERVER_PORT": str(made.phone.server_port), "DROIDGATE_HOME": str(home)}


def command(*arguments: str) -> list[str]:
    return [str(PROGRAM), "serve-mobile-agent", "--data-port", "0", "--action-port", "0", *arguments]


@contextmanager
def running(environment: dict[str, str], *arguments: str, lines: int = 2) -> Iterator[tuple[Any, list[str]]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command(*arguments), env=environment, **pipes) as process:  # type: ignore[call-overload]
        try:
            seen = [process.stderr.readline() for _ in range(lines)]
            assert all(seen), seen
            yield process, seen
        finally:
            process.kill()


def urls_in(lines: list[str]) -> list[str]:
    return re.findall(r"MCP Server: (http://127\.0\.0\.1:\d+/mcp)", "".join(lines))


def post(url: str, tool: str, arguments: dict[str, Any], token: str | None = None) -> Any:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    if token is not None:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


@pytest.mark.slow
def test_ctrl_c_ends_both_servers_and_the_calls_that_run(made: MadePhone, tmp_path: Path) -> None:
    with running(environment_of(made, tmp_path)) as (process, lines):
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


def test_extensions_and_several_phones_are_asked_for_by_options(made: MadePhone, tmp_path: Path) -> None:
    options = ("--extend", "find", "--extend", "gestures", "--serial", "one", "--serial", "two")
    with running(environment_of(made, tmp_path), *options) as (process, lines):
        data, action = urls_in(lines)
        # No tool is called: these phones are not attached.
        unknown = post(data, "find_element", {"text": "a", "device": "three"})["result"]
        assert "is not one of ['one', 'two']" in unknown["content"][0]["text"]
        assert post(action, "long_press", {"duration": 0})["result"]["isError"] is True
        assert post(data, "take_screenshot", {})["result"]["content"][0]["text"].startswith("Unknown tool")
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


@pytest.mark.slow
def test_with_tokens_each_server_names_the_file_of_its_own(made: MadePhone, tmp_path: Path) -> None:
    with running(environment_of(made, tmp_path), "--token", lines=4) as (process, lines):
        files = [Path(found) for found in re.findall(r"token: (.+)", "".join(lines))]
        tokens = [file.read_text(encoding="ascii").strip() for file in files]
        assert len(set(tokens)) == 2
        for url, token in zip(urls_in(lines), tokens, strict=True):
            assert post(url, "nope", {}, token)["result"]["isError"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


def test_both_servers_ask_for_the_key_of_ufo_where_it_is_set(made: MadePhone, tmp_path: Path) -> None:
    key = "a-key-that-ufo-was-given"
    environment = environment_of(made, tmp_path) | {"UFO_MCP_API_KEY": key}
    with running(environment, lines=4) as (process, lines):
        assert lines.count("token: the value of UFO_MCP_API_KEY\n") == 2
        for url in urls_in(lines):
            with pytest.raises(urllib.error.HTTPError, match="401"):
                post(url, "nope", {})
            assert post(url, "nope", {}, key)["result"]["isError"] is True
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 130


def test_the_data_server_alone_asks_the_phone_each_time_until_sigterm(
    made: MadePhone, tmp_path: Path
) -> None:
    """It cannot know of actions that another program does."""
    with running(environment_of(made, tmp_path), "--server", "data", lines=1) as (process, lines):
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
    ({"token": "a b"}, "the token is too short, or has characters"),
    ({"token": "schl\u00fcssel"}, "the token is too short, or has characters"),
    ({"token": "short", "host": "192.0.2.7"}, "the token is too short, or has characters"),
])  # fmt: skip
def test_what_would_be_wrong_or_open_to_all_is_refused_with_a_hint(
    options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        serve_mobile_agent(**options)


def test_away_from_loopback_a_token_is_needed() -> None:
    asked: list[ListeningServer] = []

    @contextmanager
    def listen(address: HttpAddress) -> Iterator[tuple[socket.socket, HttpAddress]]:
        with socket.socket() as unused:
            yield unused, address

    def stop(listening: ListeningServer) -> None:
        asked.append(listening)
        raise KeyboardInterrupt

    with patch.object(running_servers, "listen", listen), pytest.raises(KeyboardInterrupt):
        serve_mobile_agent(host="192.0.2.7", on_listening=stop)
    (first,) = asked
    assert first.url == "http://192.0.2.7:8020/mcp"
    assert first.token_file is not None
    assert len(first.token_file.read_text(encoding="ascii").strip()) > 40
