"""What a call through the MCP server costs, next to the same call made directly over adb.

Run it with `make bench`, or by itself. The phone is the virtual one, in a process of its own. A direct call
is the device command of the call, sent over a raw connection to the adb server. The echo is the SDK's bare
low-level server over HTTP, whose one tool returns its argument: the floor of any server on this SDK. The
direct calls are the floor of any server of this phone, which runs on the same cores. Clients
send raw JSON-RPC of revision 2026-07-28 over kept connections, so that no client library is measured. With
`recorded` phone, an adb server repeats what the virtual phone answered: what is left is the gateway's own.
"""

from __future__ import annotations

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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from _results import Results, parser

from droidgate.calls.call_requests import CallRequest
from droidgate.calls.caller import CapabilityCaller
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device

NOTE = "summarizeNotes"
ARGUMENTS: dict[str, Any] = {}
COLUMNS = {
    "what": "",
    "clients": ",",
    "calls": ",",
    "calls/s": ",.0f",
    "median, ms": ".2f",
    "95 of 100, ms": ".2f",
    "clients, CPU ms": ".2f",
    "server, CPU ms": ".2f",
    "phone, CPU ms": ".2f",
}
RATIOS = {
    "what": "",
    "clients": ",",
    "calls/s over the echo's": ".2f",
    "calls/s over direct": ".2f",
    "median above direct, ms": ".2f",
    "95 of 100 above direct, ms": ".2f",
}
ECHO, DIRECT = "echo server of the SDK", "direct over adb"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
PHONE = """
import sys
from droidgate_phone.phone import start_phone
with start_phone(sdk="36.1", server_port=0) as phone:
    print(phone.server_port, phone.serial, flush=True)
    sys.stdin.read()
"""


STARTS = {
    "server": "",
    "tools": ",",
    "ms to tools/list": ",.0f",
    "times the echo's": ".2f",
    "CPU ms": ",.0f",
    "times the echo's CPU": ".2f",
    "peak, MiB": ".0f",
}
STDIO = """
import anyio, mcp_types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def listed(context, parameters):
    return mcp_types.ListToolsResult(tools=[mcp_types.Tool(name="echo", input_schema={"type": "object"})])

async def main():
    server = Server("echo", on_list_tools=listed)
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())

anyio.run(main)
"""
RECORDED, SERVER = (
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("_recorded_phone.py", "_measured_server.py")
)


@contextmanager
def started(code: str, *arguments: str) -> Iterator[tuple[list[str], int]]:
    """Run a program; return the words of its first line, and its process id."""
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError(command)
        try:
            yield process.stdout.readline().split(), process.pid
        finally:
            process.terminate()


def asking(url: str, method: str, parameters: dict[str, Any]) -> Callable[[], bytes]:
    """Return what sends one request over a connection of its own, which is kept."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
    connection.connect()
    # Head and body are sent apart; without this the body waits for the acknowledgement of the head.
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**parameters, "_meta": META}}
    body = json.dumps(request)
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({"Mcp-Name": parameters["name"]} if "name" in parameters else {}),
    }

    def send() -> bytes:
        connection.request("POST", "/mcp", body, headers)
        answer = connection.getresponse().read()
        if b'"result"' not in answer or b'"isError":true' in answer:
            raise RuntimeError(answer)
        return answer

    return send


def measured(make: Callable[[], Callable[[], object]], clients: int, calls: int) -> list[float]:
    """Return calls per second, the median and the 95th percentile in milliseconds."""
    spent: list[float] = []

    def run() -> None:
        send = make()
        send()
        ready.wait()
        for _ in range(calls // clients):
            begin = time.perf_counter()
            send()
            spent.append((time.perf_counter() - begin) * 1000)

    ready = threading.Barrier(clients + 1)
    threads = [threading.Thread(target=run) for _ in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait()
    begin = time.perf_counter()
    for thread in threads:
        thread.join()
    elapsed = time.perf_counter() - begin
    percentiles = statistics.quantiles(spent, n=20, method="inclusive")
    return [len(spent) / elapsed, statistics.median(spent), percentiles[18]]


def cpu_of(process: int | None) -> float:
    """Return the processor time that a process has used, in milliseconds; 0 for none."""
    if process is None:
        return 0.0
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def start_and_list(command: Sequence[str]) -> tuple[int, float, float, float]:
    """Start a server on standard input and output; return how many tools it lists, how long that takes and
    its processor time in milliseconds, and its most memory in MiB.
    """
    client = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "b", "version": "1"},
    }
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    begin = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdin is None or process.stdout is None:
            raise RuntimeError(command)
        for message in messages:
            print(json.dumps(message), file=process.stdin, flush=True)
        answers = (json.loads(line) for line in process.stdout)
        tools = next(
            answer["result"]["tools"] for answer in answers if answer.get("id") == messages[-1]["id"]
        )
        elapsed = (time.perf_counter() - begin) * 1000
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        memory = int(status.partition("VmHWM:")[2].split()[0]) / 1024
        return len(tools), elapsed, cpu_of(process.pid), memory


def measure_starts(results: Results, serial: str, rounds: int) -> None:
    """Measure the start of servers, in turn; the first round reads the phone's apps and is not counted."""
    serve = (sys.executable, "-m", "droidgate", "serve", "--screens", "--serial", serial)
    servers = {ECHO: (sys.executable, "-c", STDIO), "droidgate serve --screens": serve}
    every = [[start_and_list(command) for command in servers.values()] for _ in range(rounds + 1)][1:]
    table = results.table("starts", STARTS)
    for name, starts in zip(servers, zip(*every, strict=True), strict=True):
        ratios = [(own[1] / echo[1], own[2] / echo[2]) for own, (echo, _) in zip(starts, every, strict=True)]
        elapsed, cpu = (statistics.median(ratio) for ratio in zip(*ratios, strict=True))
        tools, least, least_cpu, _ = map(min, zip(*starts, strict=True))
        table.add(name, tools, least, elapsed, least_cpu, cpu, max(start[3] for start in starts))


def main() -> None:
    """Measure, and print the tables."""
    chosen = parser(__doc__).parse_args()
    results = Results(chosen)
    calls = 32 if chosen.quick else 800
    with (
        tempfile.TemporaryDirectory() as folder,
        started(PHONE) as ((server_port, serial), phone),
        started(RECORDED, server_port) as ((recorded_port,), recorded),
    ):
        os.environ |= {"DROIDGATE_HOME": folder, "ANDROID_ADB_SERVER_PORT": server_port}
        measure_starts(results, serial, 1 if chosen.quick else 7)
        device = Device(AdbClient(ServerAddress(port=int(server_port))), serial)
        (command,) = (
            CapabilityCaller(device)
            .explain(CallRequest(NOTE, ARGUMENTS, protocol="appfunctions"))
            .route.commands
        )
        table = results.table("calls", COLUMNS)
        place = (folder, server_port, serial)
        with (
            started(SERVER, "echo", *place) as ((echo,), echo_server),
            started(SERVER, "phone", *place) as ((port,), server),
            started(SERVER, "phone", folder, recorded_port, serial) as ((other,), other_server),
        ):
            echoed = {"name": "echo", "arguments": ARGUMENTS}
            created = {"name": "notes_summarizeNotes", "arguments": ARGUMENTS}
            rows: list[tuple[str, Callable[[], Callable[[], object]], int | None, int]] = [
                (ECHO, lambda: asking(echo, "tools/call", echoed), echo_server, phone),
                (DIRECT, lambda: lambda: device.check(list(command)), None, phone),
                ("through droidgate serve", lambda: asking(port, "tools/call", created), server, phone),
                (
                    "through droidgate serve, recorded phone",
                    lambda: asking(other, "tools/call", created),
                    other_server,
                    recorded,
                ),
            ]
            measures: dict[tuple[str, int], list[float]] = {}
            for clients in (1, 16):
                for name, make, *processes in rows:
                    before = [cpu_of(process) for process in (os.getpid(), *processes)]
                    figures = measures[name, clients] = measured(make, clients, calls)
                    after = [cpu_of(process) for process in (os.getpid(), *processes)]
                    spent = [(end - begin) / calls for end, begin in zip(after, before, strict=True)]
                    table.add(name, clients, calls, *figures, *spent)
            table = results.table("ratios", RATIOS)
            for (name, clients), (rate, *times) in measures.items():
                if name in {ECHO, DIRECT}:
                    continue
                echo_rate, (direct_rate, *direct_times) = (
                    measures[ECHO, clients][0],
                    measures[DIRECT, clients],
                )
                above = (each - direct for each, direct in zip(times, direct_times, strict=True))
                table.add(name, clients, rate / echo_rate, rate / direct_rate, *above)
            direct_rate, echo_rate = measures[DIRECT, 16][0], measures[ECHO, 16][0]
            table.add(DIRECT, 16, direct_rate / echo_rate, 1.0, 0.0, 0.0)
    results.write()


if __name__ == "__main__":
    main()
