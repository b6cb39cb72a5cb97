"""What both revisions require of a server: each row of the table has a test, and here are those that need raw
messages, which no SDK's client sends.
"""

import ast
import json
import re
import select
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import anyio
import pytest

from droidgate.serving.tools import ToolCall, ToolOutcome
from gateway.serving.fixture_tools import NOTHING, RUNS, FixtureTools, text
from gateway.serving.running_servers import (
    META,
    RunningServer,
    initialize,
    message,
    open_request,
    running_server,
    session_of,
)
from gateway.serving.test_conformance import NOT_OFFERED
from requirements_of_tests import require

TABLE = tomllib.loads(Path(__file__).with_name("mcp_requirements.toml").read_text(encoding="utf-8"))
ROWS = [(section["page"], *row) for section in TABLE["section"] for row in section["rows"]]
LEVELS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT"}


def _names_of_tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_each_requirement_has_a_test_that_exists_or_the_reason_why_it_is_not_offered() -> None:
    names: dict[str, set[str]] = {}
    for page, level, requirement, *proofs in ROWS:
        assert level in LEVELS, (page, requirement)
        assert proofs, (page, requirement)
        for each in proofs:
            kind, _, rest = each.partition(" ")
            if kind in {"check", "reason"}:
                assert rest, (page, requirement)
                continue
            file, _, name = each.partition("::")
            test_names = names.setdefault(file, _names_of_tests(Path(__file__).parent / file))
            assert name in test_names, (page, requirement, each)


def test_each_check_of_the_table_is_one_of_the_suite_and_passes() -> None:
    """A run of the suite fails in exactly the checks that are not offered (`test_conformance`)."""
    proofs = [each for _, _, _, *tests in ROWS for each in tests]
    checks = {each.removeprefix("check ") for each in proofs if each.startswith("check ")}
    suite = require("mcp-conformance").read_text(encoding="utf-8")
    assert {check for check in checks if check not in suite} == set()
    failing = {check for revision in ("2025-11-25", "2026-07-28") for check in NOT_OFFERED[revision]}
    assert failing.isdisjoint(checks)


class SlowTools(FixtureTools):
    """Has a tool that ends a while after its client may have gone."""

    def __init__(self) -> None:
        super().__init__({**RUNS, "slow": (SlowTools.slow, NOTHING)})  # type: ignore[dict-item]
        self.begun, self.ended = threading.Event(), threading.Event()

    async def slow(self, _call: ToolCall) -> ToolOutcome:
        self.begun.set()
        await anyio.sleep(1)
        self.ended.set()
        return text("done")


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with running_server(FixtureTools()) as running:
        yield running


def answer_of(
    server: RunningServer, method: str, headers: Mapping[str, str | None], body: bytes
) -> tuple[int, str, Any]:
    """Return status, media type and the last JSON-RPC message, None for none; a stream has to end."""
    connection, response = open_request(server, method, headers, body)
    kind = response.headers.get("Content-Type", "")
    read = b"" if method == "GET" else response.read()
    connection.close()
    lines = re.findall(rb"^data: (\{.*)$", read, re.MULTILINE) if kind.startswith("text/event") else [read]
    return response.status, kind, json.loads(lines[-1]) if lines and lines[-1].startswith(b"{") else None


PING: Final = message("ping")
JSON, STREAM = "application/json", "text/event-stream"
# What an older client sends in a session -> status, media type, error code.
OLDER: dict[str, tuple[str, dict[str, str | None], bytes, int, str, int | None]] = {
    "a request": ("POST", {}, PING, 200, STREAM, None),
    "a notification": ("POST", {}, message("notifications/roots/list_changed", ...), 202, JSON, None),
    "an answer to nothing": ("POST", {}, b'{"jsonrpc": "2.0", "id": 99, "result": {}}', 202, JSON, None),
    "no JSON": ("POST", {}, b"{", 400, JSON, -32700),
    "no message": ("POST", {}, b'{"jsonrpc": "2.0", "method": 5}', 400, JSON, -32602),
    "a list of requests": ("POST", {}, b"[" + PING + b"]", 400, JSON, -32602),
    "a method that is not there": ("POST", {}, message("nothing/at/all"), 200, STREAM, -32601),
    "a listening stream": ("GET", {}, b"", 200, STREAM, None),
    "a stream that is not accepted": ("GET", {"Accept": "x/y"}, b"", 406, JSON, None),
    "a request without its session": ("POST", {"Mcp-Session-Id": None}, PING, 400, JSON, -32600),
    "a session that is not there": ("POST", {"Mcp-Session-Id": "x"}, PING, 404, JSON, -32600),
    "a version that is not there": ("POST", {"MCP-Protocol-Version": "1900-01-01"}, PING, 400, JSON, -32602),
    "no version": ("POST", {"MCP-Protocol-Version": None}, PING, 200, STREAM, None),
}  # fmt: skip


@pytest.mark.parametrize("name", OLDER)
def test_the_answer_to_an_older_client_has_the_status_and_the_error_of_its_revision(
    server: RunningServer, name: str
) -> None:
    method, headers, body, status, kind, code = OLDER[name]
    sent = {"Mcp-Session-Id": session_of(server), "MCP-Protocol-Version": "2025-11-25", **headers}
    answered, content_type, document = answer_of(server, method, sent, body)
    assert (answered, content_type.partition(";")[0]) == (status, kind)
    assert ((document or {}).get("error") or {}).get("code") == code
    assert status != 202 or document is None


@pytest.mark.parametrize(("asked", "given"), [
    ("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("1900-01-01", "2025-11-25"),
])  # fmt: skip
def test_the_version_of_a_handshake_is_the_clients_or_the_latest(
    server: RunningServer, asked: str, given: str
) -> None:
    result = answer_of(server, "POST", {}, initialize(asked))[2]["result"]
    assert result["protocolVersion"] == given
    assert result["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": False},
    }


@pytest.mark.parametrize("identifier", ["text", "", 0, -1, 2**53])
def test_an_answer_has_the_id_of_its_request(server: RunningServer, identifier: Any) -> None:
    answer = answer_of(server, "POST", {"Mcp-Session-Id": session_of(server)}, message("ping", identifier))[2]
    assert answer == {"jsonrpc": "2.0", "id": identifier, "result": {}}


def test_a_session_has_one_listening_stream_which_gets_no_responses(server: RunningServer) -> None:
    headers = {"Mcp-Session-Id": session_of(server), "MCP-Protocol-Version": "2025-11-25"}
    first, stream = open_request(server, "GET", headers, b"")
    assert answer_of(server, "GET", headers, b"")[0] == 409
    assert answer_of(server, "POST", headers, PING)[2]["result"] == {}
    assert select.select([stream], [], [], 0.2)[0] == []
    first.close()


def test_a_connection_of_an_older_client_that_breaks_off_does_not_cancel_its_call() -> None:
    tools = SlowTools()
    with running_server(tools) as server:
        call = message("tools/call", name="slow", arguments={})
        connection, _ = open_request(server, "POST", {"Mcp-Session-Id": session_of(server)}, call)
        assert tools.begun.wait(60)
        connection.close()
        assert tools.ended.wait(60)


ASKS_BY_URL: Final = META | {"io.modelcontextprotocol/clientCapabilities": {"elicitation": {"url": {}}}}


def modern(method: str, name: str | None = None) -> dict[str, str | None]:
    return {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}


def test_a_client_that_shows_no_forms_is_sent_none(server: RunningServer) -> None:
    call = message("tools/call", name="test_elicitation", arguments={"message": "?"}, _meta=ASKS_BY_URL)
    answer = answer_of(server, "POST", modern("tools/call", "test_elicitation"), call)[2]
    assert "action=unavailable" in answer["result"]["content"][0]["text"]


def test_a_stream_passes_proxies_at_once_and_ends_with_the_server() -> None:
    with running_server(FixtureTools()) as server:
        listen = message("subscriptions/listen", notifications={"toolsListChanged": True}, _meta=META)
        connection, response = open_request(server, "POST", modern("subscriptions/listen"), listen)
        assert response.headers["X-Accel-Buffering"] == "no"
        assert b"notifications/subscriptions/acknowledged" in response.readline() + response.readline()
    # The rest of it ends, too.
    response.read()
    connection.close()


def test_each_message_on_standard_output_is_one_line_of_utf_8_and_answers_a_request() -> None:
    """Notices of cancellation that name no running request are ignored."""
    sent = [
        message("tools/call", "first", name="greet", arguments={"name": "a\nb \u00e9"}, _meta=META),
        message("notifications/cancelled", ..., requestId="nothing"),
        message("notifications/cancelled", ..., requestId=[1], reason={}),
        message("notifications/nothing", ...),
        message("tools/list", 2, _meta=META),
    ]
    program = [sys.executable, str(Path(__file__).with_name("stdio_server.py"))]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(b"".join(line + b"\n" for line in sent))
        running.stdin.flush()
        lines = [running.stdout.readline() for _ in range(2)]
        began = time.monotonic()
        running.stdin.close()
        lines += running.stdout.readlines()
        assert running.wait(60) == 0
        assert time.monotonic() - began < 10
    answers = {answer["id"]: answer for answer in map(json.loads, lines)}
    assert answers.keys() == {"first", 2}
    assert answers["first"]["result"]["content"][0]["text"] == "Hello, a\nb \u00e9!"
    assert "\u00e9".encode() in b"".join(lines)
