"""Many calls through the real server while things go wrong: is each answer that of its own question?

The phone, the server and the clients are processes of their own. Between the server and the adb server is a
proxy that spoils a part of the calls. A call's answer names what was asked for: the content of one of many
notes, a date that is asked for once, or an id that no note has.
"""

from __future__ import annotations

import asyncio
import functools
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path
from queue import Queue
from typing import Any, Final

from droidgate.calls.audit_reading import read_calls, verify
from droidgate.devices.adb_client import AdbClient, ServerAddress
from droidgate.devices.device import Device

NOTES: Final = "dev.droidgate.sample.notes"
FAULTS: Final = ("dropped", "torn", "malformed", "slow", "app death")
FAULT_RATE: Final = 0.01
_MADE_NOTES: Final = 40
_SLOW_SECONDS: Final = 0.3
_SAMPLES: Final = 25
_SHIM_EVERY: Final = 50
"""One call in so many goes through a shim, which takes two a second from one caller."""
_REFUSAL: Final = "busy: this app sent too many requests"
_CALLING: Final = (b"execute-app-function", b"content call")
_META: Final = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
_PHONE: Final = """
import sys
from pathlib import Path
from queue import Queue
from gateway.calls.phones_with_shims import CLOCK_IN, reached_phone
from droidgate_android.apk.signing_keys import load_or_make_key
from droidgate_phone.apps.sample_packages import sample_packages
folder = Path(sys.argv[1])
(clock_in,) = (package.apk for package in sample_packages() if package.package == CLOCK_IN)
(folder / "clock-in.apk").write_bytes(clock_in)
with reached_phone(folder, shims=False) as reached:
    reached.install_shims(folder / "clock-in.apk", load_or_make_key())
    print(reached.phone.server_port, reached.phone.serial, flush=True)
    sys.stdin.read()
"""
_TRACED: Final = re.compile(r"traced (\d+)$")
_SERVER: Final = """
import gc, os, signal, sys, tracemalloc
def report(*_):
    gc.collect()
    traced = tracemalloc.get_traced_memory()[0] if tracemalloc.is_tracing() else sys.getallocatedblocks()
    # At once: another thread may be writing a line.
    os.write(2, f"traced {traced}\\n".encode())
signal.signal(signal.SIGUSR1, report)
if "trace" in sys.argv:
    tracemalloc.start()
from droidgate.cli import main
sys.argv = ["droidgate", "serve", "--http", "0", "--no-token", "--allow", "*"]
main()
"""


@dataclass
class Report:
    """What happened.

    Attributes:
        calls: How many were made.
        right: Answers that are those of their questions.
        refused: Calls that the shim did not take, for their rate.
        failed: Calls that ended as another error.
        failures: How often each error was seen, with digits left out.
        wrong: Answers of something else, each as a text.
        faults: How often each fault was made.
        resident: The server's resident memory at even intervals, in MiB.
        objects: What its Python objects took at the same times: bytes, or blocks where they are not traced.
        broken: Where the audit log's chain does not hold; None where all of it does.
        ended: How many calls have an end in the audit log.
    """

    calls: int
    right: int = 0
    refused: int = 0
    failed: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    resident: list[float] = field(default_factory=list)
    objects: list[float] = field(default_factory=list)
    broken: object = None
    ended: int = 0

    def most_failures(self, clients: int) -> int:
        """Return how many calls may fail: each that was spoiled, and all that an app's death may meet."""
        spoiled = sum(self.faults[fault] for fault in ("dropped", "torn", "malformed"))
        return spoiled + clients * self.faults["app death"]

    @staticmethod
    def drift(samples: list[float]) -> float:
        """Return by which part memory grew, from the second fifth of the run to the last."""
        fifth = len(samples) // 5
        return statistics.median(samples[-fifth:]) / statistics.median(samples[fifth : 2 * fifth]) - 1


class FaultyAdb:
    """A proxy of an adb server that spoils some of the calls.

    Args:
        port: Of the adb server.
        serial: Of the phone.
        draw: Draws which ones.
        made: Counts the faults.
    """

    def __init__(self, port: int, serial: str, draw: random.Random, made: Counter[str]) -> None:
        self._port = port
        self._device = Device(AdbClient(ServerAddress(port=port)), serial)
        self._draw = draw
        self._made = made
        self._tasks: set[asyncio.Task[object]] = set()

    @contextmanager
    def running(self) -> Iterator[int]:
        """Run it in a thread and yield its port."""
        ports: Queue[int] = Queue()
        stops: Queue[Callable[[], object]] = Queue()

        async def main() -> None:
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
            stop = asyncio.Event()
            stops.put(functools.partial(asyncio.get_running_loop().call_soon_threadsafe, stop.set))
            ports.put(server.sockets[0].getsockname()[1])
            await stop.wait()
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

        thread = threading.Thread(target=asyncio.run, args=(main(),))
        thread.start()
        try:
            yield ports.get(timeout=60)
        finally:
            stops.get(timeout=60)()
            thread.join()

    async def _serve(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            phone, to_phone = await asyncio.open_connection("127.0.0.1", self._port)
        except BaseException:
            to_client.close()
            raise
        fault = ""
        sending = asyncio.ensure_future(phone.read(1 << 16))
        asking = asyncio.ensure_future(client.read(1 << 16))
        try:
            while True:
                await asyncio.wait({sending, asking}, return_when=asyncio.FIRST_COMPLETED)
                if asking.done():
                    question = asking.result()
                    if not question:
                        return
                    if any(word in question for word in _CALLING) and self._draw.random() < FAULT_RATE:
                        fault = self._choose()
                    to_phone.write(question)
                    asking = asyncio.ensure_future(client.read(1 << 16))
                if sending.done():
                    reply = sending.result()
                    # The verdict on the service, with or without what follows it.
                    if fault and reply != b"OKAY":
                        reply = await self._spoil(fault, reply)
                        if fault in {"dropped", "torn"}:
                            to_client.write(reply)
                            return
                        fault = ""
                    if not reply:
                        return
                    to_client.write(reply)
                    sending = asyncio.ensure_future(phone.read(1 << 16))
        except ConnectionError:
            pass
        finally:
            sending.cancel()
            asking.cancel()
            # A connection that is still open when the loop ends is never closed.
            for writer in (to_phone, to_client):
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    def _choose(self) -> str:
        fault = self._draw.choice(FAULTS)
        self._made[fault] += 1
        if fault != "app death":
            return fault
        stop = ["am", "force-stop", NOTES]
        asyncio.get_running_loop().run_in_executor(None, self._device.run, stop)
        return ""

    async def _spoil(self, fault: str, reply: bytes) -> bytes:
        if fault == "slow":
            await asyncio.sleep(_SLOW_SECONDS)
            return reply
        if fault == "malformed":
            return self._draw.randbytes(len(reply))
        return reply[: len(reply) // 2] if fault == "torn" else b""


@dataclass(frozen=True)
class Question:
    """One call, and what its answer has to have."""

    tool: str
    arguments: dict[str, str]
    expected: Any
    is_failure: bool = False


class Questions:
    """Draws calls. May be shared by threads.

    Args:
        tools: The names of the tools.
        notes: Id -> content of the notes that were made.
        draw: Draws them.
    """

    def __init__(self, tools: list[str], notes: dict[str, str], draw: random.Random) -> None:
        self._names = {end: next(name for name in tools if name.endswith(end)) for end in _TOOLS}
        self._notes = list(notes.items())
        self._draw = draw
        self._numbers = itertools.count()

    def next(self) -> Question:
        """Return a call that no other thread makes, or that of a note among many."""
        number = next(self._numbers)
        if number % _SHIM_EVERY == 0:
            day = str(date(1900, 1, 1) + timedelta(days=number))
            answer = {"date": day, "has_clocked_in": False}
            return Question(self._names["query_clock_in"], {"date": day}, answer)
        if number % 3 == 0:
            identifier = f"absent-{number}-"
            return Question(
                self._names["notes_archiveNote"], {"noteId": identifier}, identifier, is_failure=True
            )
        identifier, content = self._notes[self._draw.randrange(len(self._notes))]
        return Question(self._names["notes_getNote"], {"noteId": identifier}, content)


_TOOLS: Final = ("query_clock_in", "notes_archiveNote", "notes_getNote")


class Client:
    """One client with a connection that is kept."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection: http.client.HTTPConnection | None = None

    def ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request."""
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
            self._connection.connect()
            self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**parameters, "_meta": _META}}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": method,
            **({"Mcp-Name": parameters["name"]} if "name" in parameters else {}),
        }
        self._connection.request("POST", "/mcp", json.dumps(request), headers)
        answer: dict[str, Any] = json.loads(self._connection.getresponse().read())
        return answer

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()

    def call(self, tool: str, arguments: dict[str, str]) -> dict[str, Any]:
        """Return the answer to a call of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})


def judge(question: Question, answer: dict[str, Any]) -> str:
    """Return `right`, `failed`, `refused` where the shim took no more, or what is wrong with an answer."""
    text = json.dumps(answer)
    if _REFUSAL in text:
        return "refused"
    result: dict[str, Any] = answer.get("result", {"isError": True})
    has_failed = bool(result.get("isError"))
    if question.is_failure and has_failed:
        if question.expected in text:
            return "right"
        return text if "absent-" in text else "failed"
    if has_failed:
        return "failed"
    value = result.get("structuredContent")
    if isinstance(value, dict) and value.keys() == {"result"}:
        value = value["result"]
    if isinstance(question.expected, str):
        value = value.get("content") if isinstance(value, dict) else None
    return "right" if value == question.expected and not question.is_failure else f"{question}: {text}"


@contextmanager
def running(code: str, arguments: list[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Run a program in Python, and end it."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", code, *arguments]
    with subprocess.Popen(command, env=environment, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


def soak(folder: Path, calls: int, *, clients: int, seed: int, trace: bool = False) -> Report:
    """Make calls by several clients, and return what happened.

    Args:
        folder: For the phone's files and the user's.
        calls: How many.
        clients: At once.
        seed: Of everything that is drawn.
        trace: Trace the memory of the server's Python objects, which makes it slower.
    """
    report = Report(calls)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("ANDROID", "ADB"))
    }
    environment["DROIDGATE_HOME"] = str(folder / "home")
    (folder / "phone").mkdir()
    tests = str(Path(__file__).resolve().parents[2])
    paths = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    on_path = {**environment, "PYTHONPATH": paths}
    with running(_PHONE, [str(folder / "phone")], on_path) as phone:
        port, serial = phone.stdout.readline().split()  # type: ignore[union-attr]
        proxy = FaultyAdb(int(port), serial, random.Random(seed), report.faults)
        with proxy.running() as proxy_port:
            environment["ANDROID_ADB_SERVER_PORT"] = str(proxy_port)
            with running(_SERVER, ["trace"] if trace else [], environment) as server:
                _run(server, report, clients, random.Random(seed + 1))
    audit = folder / "home/state/audit"
    report.broken = verify(audit).broken
    report.ended = sum(call.end is not None for call in read_calls(audit))
    return report


def _run(server: subprocess.Popen[str], report: Report, clients: int, draw: random.Random) -> None:
    lines = iter(server.stderr)  # type: ignore[arg-type]
    match = next(match for line in lines if (match := re.search(r"listening on http://[^:]+:(\d+)", line)))
    port = int(match[1])
    with closing(Client(port)) as first:
        questions = _questions(first, draw)
    report.faults.clear()
    turns, lock = iter(range(report.calls)), threading.Lock()

    def work(client: Client) -> None:
        while True:
            with lock:
                turn = next(turns, None)
                question = questions.next()
                if turn is not None and turn % (report.calls // _SAMPLES) == 0:
                    _sample(server, lines, report)
            if turn is None:
                return
            answer = client.call(question.tool, question.arguments)
            verdict = judge(question, answer)
            with lock:
                report.right += verdict == "right"
                report.refused += verdict == "refused"
                if verdict == "failed":
                    report.failed += 1
                    report.failures[re.sub(r"[0-9]+", "N", json.dumps(answer))[:400]] += 1
                if verdict not in {"right", "refused", "failed"}:
                    report.wrong.append(verdict)

    with ExitStack() as opened, ThreadPoolExecutor(clients) as pool:
        connections = [opened.enter_context(closing(Client(port))) for _ in range(clients)]
        list(pool.map(work, connections))


def _questions(first: Client, draw: random.Random) -> Questions:
    """Return calls of the served tools, and of notes that are made for them."""
    tools = [tool["name"] for tool in first.ask("tools/list", {})["result"]["tools"]]
    create = next(name for name in tools if name.endswith("notes_createNote"))
    notes: dict[str, str] = {}
    while len(notes) < _MADE_NOTES:
        content = f"content {len(notes)} {draw.random()}"
        creation = first.call(create, {"title": "a", "content": content})["result"]
        if not creation.get("isError"):
            notes[creation["structuredContent"]["noteId"]] = content
    return Questions(tools, notes, draw)


def _sample(server: subprocess.Popen[str], lines: Iterator[str], report: Report) -> None:
    server.send_signal(signal.SIGUSR1)
    traced = next(match for line in lines if (match := _TRACED.search(line)))
    report.objects.append(int(traced[1]))
    pages = int(Path(f"/proc/{server.pid}/statm").read_text(encoding="ascii").split()[1])
    report.resident.append(pages * os.sysconf("SC_PAGE_SIZE") / (1 << 20))
