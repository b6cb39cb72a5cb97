"""What the tools of MobileAgent's two servers cost above an instant phone, or those of any other server.

Run it with `make bench`, or by itself. Without options, droidgate's servers are started with an adb server
whose phone answers at once, so what is measured is the servers. `--data-url` and `--action-url` send the same
calls to servers that run already, such as UFO's own, on whatever phone they use: their round trips and
processes are not known here.

Clients send raw JSON-RPC as FastMCP 2.11 does, so that no client library is measured: over one kept session,
or with a new connection and a new session for each call, as UFO's client does.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _results import Results, parser

REVISION = "2025-06-18"
DATA, ACTION = "data_collection", "action"
FIELD = {"control_id": "1", "control_name": "Field 0"}
CALLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (DATA, "get_app_window_controls_target_info", {"force_refresh": True}),
    (DATA, "capture_screenshot", {}),
    (DATA, "get_ui_tree", {}),
    (DATA, "get_device_info", {}),
    (DATA, "get_mobile_app_target_info", {"force_refresh": True}),
    (ACTION, "tap", {"x": 480, "y": 240}),
    (ACTION, "swipe", {"start_x": 500, "start_y": 1500, "end_x": 500, "end_y": 500}),
    (ACTION, "press_key", {"key_code": "KEYCODE_BACK"}),
    (ACTION, "click_control", FIELD),
    (ACTION, "type_text", {"text": "hello world", "clear_current_text": True, **FIELD}),
    (ACTION, "launch_app", {"package_name": "com.example.app1"}),
    (ACTION, "wait", {"seconds": 0}),
    (ACTION, "invalidate_cache", {}),
)
"""The calls, in their order: the first one gives the ids that others use."""

COLUMNS = {
    "tool": "",
    "clients": ",",
    "session": "",
    "calls": ",",
    "median, ms": ".2f",
    "95 of 100, ms": ".2f",
    "round trips": "",
    "processes": "",
}
PHONE = Path(__file__).with_name("_instant_phone.py")
SERVERS = """
import os
import sys
from droidgate.serving.mobile_agent.running import serve_mobile_agent

started = 0

def count(event, arguments):
    global started
    if event in {"subprocess.Popen", "os.fork", "os.posix_spawn", "os.exec"}:
        started += 1
        print("process", started, flush=True)

sys.addaudithook(count)

def report(server):
    print(server.role, server.url, flush=True)

serve_mobile_agent(data_port=0, action_port=0, on_listening=report)
"""


@dataclass
class Servers:
    """The two servers, and what is known of them.

    Attributes:
        urls: Of each, by its type of tools.
        token: What they are sent, where they need one.
        commands: Returns how many commands the phone got; None where that is not known.
        lines: What droidgate's own printed: a line for each process that it started.
    """

    urls: Mapping[str, str]
    token: str | None = None
    phone: subprocess.Popen[str] | None = None
    lines: list[str] = field(default_factory=list)

    def commands(self) -> int | None:
        """Return how many commands the phone got; None where that is not known."""
        if self.phone is None or self.phone.stdin is None or self.phone.stdout is None:
            return None
        self.phone.stdin.write("\n")
        self.phone.stdin.flush()
        return int(self.phone.stdout.readline())

    def processes(self) -> int | None:
        """Return how many processes the servers started; None where that is not known."""
        return None if self.phone is None else len(self.lines)


class Session:
    """One MCP session over one connection."""

    def __init__(self, url: str, token: str | None) -> None:
        parts = urlsplit(url)
        self._path = parts.path or "/mcp"
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        self._connection.connect()
        # Head and body are sent apart; without this the body waits for the acknowledgement of the head.
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **({} if token is None else {"Authorization": f"Bearer {token}"}),
        }
        client = {"name": "benchmark", "version": "1"}
        opening = {"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}
        self.ask({"id": 0, "method": "initialize", "params": opening})
        self._headers["MCP-Protocol-Version"] = REVISION
        self.ask({"method": "notifications/initialized"})

    def ask(self, message: Mapping[str, Any]) -> bytes:
        """Send a message and return the answer."""
        body = json.dumps({"jsonrpc": "2.0", **message})
        self._connection.request("POST", self._path, body, self._headers)
        response = self._connection.getresponse()
        session = response.getheader("mcp-session-id")
        if session is not None:
            self._headers["mcp-session-id"] = session
        answer = response.read()
        if response.status not in {200, 202}:
            raise RuntimeError(f"{response.status}: {answer[:200]!r}")
        return answer

    def call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool, which has to answer."""
        parameters = {"name": tool, "arguments": arguments}
        answer = self.ask({"id": 1, "method": "tools/call", "params": parameters})
        if b'"result"' not in answer or b'"isError":true' in answer or b'"success":false' in answer:
            raise RuntimeError(f"{tool}: {answer[:300]!r}")

    def close(self) -> None:
        """End the session, where the server keeps one."""
        if "mcp-session-id" in self._headers:
            self._connection.request("DELETE", self._path, headers=self._headers)
            self._connection.getresponse().read()
        self._connection.close()


@contextmanager
def own_servers() -> Iterator[Servers]:
    """Start an instant phone and droidgate's servers."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with tempfile.TemporaryDirectory() as home, subprocess.Popen([sys.executable, PHONE], **pipes) as phone:
        if phone.stdout is None:
            raise RuntimeError(PHONE)
        port = phone.stdout.readline().split()[0]
        environment = {**os.environ, "ANDROID_ADB_SERVER_PORT": port, "DROIDGATE_HOME": home}
        command = [sys.executable, "-c", SERVERS]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            if process.stdout is None:
                raise RuntimeError(command)
            urls = dict(process.stdout.readline().split() for _ in range(2))
            servers = Servers(urls, phone=phone)
            output = process.stdout
            reader = threading.Thread(target=lambda: servers.lines.extend(output), daemon=True)
            reader.start()
            try:
                yield servers
            finally:
                process.terminate()
                phone.terminate()


def measure(
    servers: Servers,
    server: str,
    tool: str,
    arguments: Mapping[str, Any],
    clients: int,
    calls: int,
    *,
    new: bool,
) -> tuple[list[float], str, str]:
    """Return the milliseconds of each call, and the round trips and processes of one call."""
    spent: list[float] = []
    failures: list[BaseException] = []
    url = servers.urls[server]

    def run() -> None:
        try:
            session = Session(url, servers.token)
            session.call(tool, arguments)
            ready.wait()
            for _ in range(max(1, calls // clients)):
                begin = time.perf_counter()
                used = Session(url, servers.token) if new else session
                used.call(tool, arguments)
                if new:
                    used.close()
                spent.append((time.perf_counter() - begin) * 1000)
            session.close()
        except BaseException as error:
            failures.append(error)
            ready.abort()
            raise

    ready = threading.Barrier(clients + 1)
    threads = [threading.Thread(target=run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    # Each client has made its first call by then.
    while ready.n_waiting < clients and not ready.broken:
        time.sleep(0.001)
    commands, processes = servers.commands(), servers.processes()
    with contextlib.suppress(threading.BrokenBarrierError):
        ready.wait()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]

    def each(before: int | None, after: int | None) -> str:
        return "-" if before is None or after is None else f"{(after - before) / len(spent):.1f}"

    return spent, each(commands, servers.commands()), each(processes, servers.processes())


def main() -> None:
    """Measure, and print the table."""
    options = parser(__doc__)
    options.add_argument("--data-url", help="a data collection server that runs already, such as UFO's own")
    options.add_argument("--action-url", help="the action server next to it")
    options.add_argument("--token", help="the bearer token of both")
    options.add_argument("--package", help="an app that is on their phone, for launch_app")
    chosen = options.parse_args()
    if (chosen.data_url is None) != (chosen.action_url is None):
        options.error("--data-url and --action-url go together")
    results = Results(chosen)
    if chosen.data_url is not None:
        run(
            results, Servers({DATA: chosen.data_url, ACTION: chosen.action_url}, chosen.token), chosen.package
        )
    else:
        with own_servers() as servers:
            run(results, servers, None)
    results.write()


def run(results: Results, servers: Servers, package: str | None) -> None:
    """Make all calls, and add a row for each kind."""
    calls = 8 if results.options.quick else 160
    table = results.table("tools", COLUMNS)
    for clients, new in ((1, False), (1, True), (8, False), (8, True)):
        for server, tool, stated in CALLS:
            arguments = {**stated, "package_name": package} if package and tool == "launch_app" else stated
            if clients == 1 and not new and server == ACTION:
                # Ids are those of the last list.
                Session(servers.urls[DATA], servers.token).call(*CALLS[0][1:])
            spent, round_trips, processes = measure(servers, server, tool, arguments, clients, calls, new=new)
            percentiles = statistics.quantiles(spent, n=20, method="inclusive")
            session = "new" if new else "kept"
            table.add(
                tool,
                clients,
                session,
                len(spent),
                statistics.median(spent),
                percentiles[18],
                round_trips,
                processes,
            )


if __name__ == "__main__":
    main()
