"""What the shim costs: its engines, building it, and a call through it next to the same call without it.

Run it with `make bench`. An engine's time is the processor's for a request of 1 KB and its answer, without
the backend, next to what reading and writing the same JSON texts costs alone. The calls are the three of the
paper on the virtual phone, so each figure is our work and the phone's, in one process: looking for tools,
from sending a request until the tool app has it, and from the tool's answer until the agent has it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

from _results import Results, Table, median_seconds, parser

from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.pack import pack_project
from droidgate_mappings.model.json_values import one_line_json
from droidgate_phone.apps.agent import ACTION_MOBILE_MCP, Agent, request_text
from droidgate_phone.apps.app_registry import BEHAVIOURS
from droidgate_phone.apps.clock_in import ClockInApp, ClockInService
from droidgate_phone.apps.sample_packages import sample_package, signing_key
from droidgate_phone.common.clocks import Clock
from droidgate_phone.java.app_values import Message
from droidgate_phone.java.intents import Bundle, ComponentName, Intent
from droidgate_phone.phone import boot
from droidgate_phone.system.behaviour import Context
from droidgate_phone.system.callers import CallerIdentity
from droidgate_shim.builder.shims import ShimOptions, build_shims
from droidgate_shim.engine.authority import read_policy
from droidgate_shim.engine.backends import ActivityAnswer
from droidgate_shim.engine.engine import Answer, Engine, Send
from droidgate_shim.engine.routes import Target, read_route_table

CHECKOUT = Path(__file__).resolve().parent.parent
CORE = CHECKOUT / "device_shim/android/core/src"
RUNNER = "dev.droidgate.shim.core.VectorRunner"
REQUEST_BYTES = 1024
CAPABILITIES = 50
AGENT, CLOCK_IN = "dev.droidgate.sample.agent", "dev.droidgate.sample.clockin"
PATTERNS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "no parameters": ("clock_in_today", {}),
    "parameters": ("make_up_clock_in", {"date": "2026-01-02"}),
    "parameters and results": ("query_clock_in", {"date": "2026-01-02"}),
}

# A route of an mMCP tool with two parameters and two outputs, and any app allowed to call it.
ROUTES: dict[str, Any] = {
    "format": 1,
    "routes": [
        {
            "id": "fill_form",
            "input": {
                "kind": "object",
                "properties": {
                    "path": {"type": {"kind": "string"}, "required": True},
                    "pages": {"type": {"kind": "int32", "keywords": {"minimum": 1}}},
                },
            },
            "outputs": {"kind": "fields"},
            "output": {
                "kind": "object",
                "properties": {
                    "ok": {"type": {"kind": "boolean"}, "required": True},
                    "written": {"type": {"kind": "int32"}},
                },
            },
            "backend": {"kind": "mmcp-activity", "component": "a.pdf/.Tools", "tool": "fill_form"},
            "target": {"package": "a.pdf", "signer": "00", "version_code": 1, "digest": "d"},
        }
    ],
}
POLICY: dict[str, Any] = {
    "grants": [{"caller": "any-app", "capability": "*"}],
    "limits": {"burst": 1_000_000, "per_minute": 1_000_000},
}
RESULT = '{"ok":true,"written":3}'


def request_extras() -> dict[str, str]:
    """Return a request of exactly 1 KB."""
    empty = _request("")
    return {"mobile-mcp-request": _request("x" * (REQUEST_BYTES - len(empty)))}


def _request(filler: str) -> str:
    arguments = {"path": f"/sdcard/Documents/report.pdf{filler}", "pages": 2}
    return request_text(
        "fill_form", arguments, dialect="S1", request_id="1f0e9a52-0b41-4b5b-8a66-6d0a5c1e7b11"
    )


def cpu_milliseconds(work: Callable[[], object], rounds: int, times: int) -> float:
    """Return the median of several rounds' processor time of one run."""
    return median_seconds(lambda: [work() for _ in range(times)], rounds, time.process_time) / times * 1000


COLUMNS = {"": "", "ms": ".3f", "times the floor": ".1f", "aim, ms": "g"}


def measure_python(table: Table, rounds: int) -> bool:
    """Measure what one call costs in the Python engine; return whether it was answered correctly."""
    engine = Engine(read_route_table(ROUTES), read_policy(POLICY), _as_approved)
    extras = request_extras()
    clock = iter(range(1 << 40))

    def call() -> Answer:
        (sent,) = engine.submit(next(clock), "bind", 10_101, extras, None)
        if not isinstance(sent, Send):
            raise TypeError(sent)
        (answered,) = engine.answered(next(clock), sent.call, ActivityAnswer(-1, {"result": RESULT}))
        if not isinstance(answered, Answer):
            raise TypeError(answered)
        return answered

    answer = call()
    texts = (*extras.values(), RESULT, *answer.extras.values())

    def floor() -> None:
        for text in texts:
            json.dumps(json.loads(text))

    ours, least = cpu_milliseconds(call, rounds, 500), cpu_milliseconds(floor, rounds, 500)
    table.add("engine in Python", ours, ours / least, 0.2)
    return answer.token is None


def _as_approved(target: Target) -> Target:
    return target


def measure_java(table: Table, folder: Path, javac: str, java: str) -> bool:
    """Measure one call of the Java engine once it is warm; return whether it was answered correctly."""
    sources = [str(path) for path in CORE.rglob("*.java")]
    compiler = [
        javac,
        "--release",
        "8",
        "-Xlint:-options",
        "-nowarn",
        "-encoding",
        "UTF-8",
        "-d",
        str(folder),
    ]
    subprocess.run([*compiler, *sources], check=True, capture_output=True)
    call = {
        "op": "call",
        "routes": ROUTES,
        "policy": POLICY,
        "carrier": "bind",
        "caller": 10_101,
        "extras": request_extras(),
        "backend": {"code": -1, "extras": {"result": RESULT}},
    }
    texts = json.dumps([*request_extras().values(), RESULT, RESULT])
    asked: list[dict[str, Any]] = [call]
    for vector in (call, {"op": "parse", "text": texts}):
        asked += [{"op": "bench", "vector": vector, "times": times} for times in (20_000, 20_000, 20_000)]
    lines = "".join(f"{one_line_json(item)}\n" for item in asked)
    run = subprocess.run(
        [java, "-cp", str(folder), RUNNER], input=lines, capture_output=True, text=True, check=True
    )
    first, *results = map(json.loads, run.stdout.splitlines())
    ours, least = (item["cpu_nanoseconds"] / 1e6 for item in (results[2], results[5]))
    table.add("engine in Java, warm", ours, ours / least, 0.05)
    return first["token"] is None


def many_capabilities(count: int) -> dict[str, bytes]:
    """Return the source set of a Mobile-MCP app with so many capabilities of a usual size."""
    capabilities = "".join(
        f'<capability id="entry_{number}" description="Looks up entry {number} of the book" version="1.0">'
        '<input><param name="title" type="string" required="true" description="Title of the entry" />'
        '<param name="limit" type="integer" required="false" description="How many at most" />'
        '<param name="exact" type="boolean" required="false" description="Whole words only" /></input>'
        '<output><param name="found" type="boolean" description="Whether there is any" />'
        '<param name="entries" type="array" description="The entries" /></output></capability>'
        for number in range(count)
    )
    meta_data = {
        "name": 'value="Book"',
        "description": 'value="A book of entries"',
        "capabilities": 'resource="@xml/mcp_capabilities"',
    }
    attributes = "".join(
        f'<meta-data android:name="mobile.mcp.tool.{name}" android:{value} />'
        for name, value in meta_data.items()
    )
    manifest = (
        '<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="dev.droidgate.book">'
        '<application android:label="Book"><service android:name=".Tools" android:exported="true">'
        f'<intent-filter><action android:name="{ACTION_MOBILE_MCP}" /></intent-filter>{attributes}'
        "</service></application></manifest>"
    )
    document = f'<mobile-mcp-capabilities version="1.0">{capabilities}</mobile-mcp-capabilities>'
    return {
        "AndroidManifest.xml": manifest.encode(),
        "res/xml/mcp_capabilities.xml": document.encode(),
    }


def measure_build(table: Table, folder: Path, rounds: int) -> bool:
    """Measure building a shim of an app that is read already; return whether it has everything."""
    key = signing_key()
    path = folder / "source.apk"
    path.write_bytes(pack_project(many_capabilities(CAPABILITIES), key=key))
    apps = read_source_apps([str(path)])
    (built,) = build_shims(apps, ShimOptions(), key)
    with zipfile.ZipFile(io.BytesIO(built.apk)) as archive:
        entries = {item.filename: archive.read(item) for item in archive.infolist()}

    def floor() -> None:
        # What no builder can leave out: each entry deflated, digested twice, and one signature.
        with zipfile.ZipFile(io.BytesIO(), "w", zipfile.ZIP_DEFLATED) as written:
            for name, data in entries.items():
                written.writestr(name, data)
        key.sign(
            b"".join(hashlib.sha256(hashlib.sha256(entry).digest()).digest() for entry in entries.values())
        )

    ours = cpu_milliseconds(lambda: build_shims(apps, ShimOptions(), key), rounds, 3)
    least = cpu_milliseconds(floor, rounds, 3)
    table.add(f"building a shim of {CAPABILITIES} capabilities, warm", ours, ours / least, 100)
    return len(built.capabilities) == CAPABILITIES


class HurryingClock(Clock):
    """The host's time, which can be put forward: no caller may send many requests a minute."""

    ahead = 0.0

    def now(self) -> float:
        """Return the time."""
        return super().now() + self.ahead


class TimedContext:
    """What the system offers to the clock-in app; notes when its answers go."""

    went = 0.0

    def __init__(self, context: Context) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        if name in {"send_message", "send_pending_intent"}:
            TimedContext.went = time.perf_counter()
        return getattr(self._context, name)


class TimedService(ClockInService):
    """The clock-in app's service, which notes when a request comes and when its answer goes."""

    came = 0.0

    def __init__(self, context: Context) -> None:
        super().__init__(cast("Context", TimedContext(context)))

    def on_start_command(self, intent: Intent) -> None:
        """Note the time and answer."""
        TimedService.came = time.perf_counter()
        super().on_start_command(intent)

    def on_bind(self, intent: Intent) -> Callable[[Message], None]:
        """Return what notes the time and answers."""
        answer = super().on_bind(intent)

        def timed(message: Message) -> None:
            TimedService.came = time.perf_counter()
            answer(message)

        return timed


class TimedApp(ClockInApp):
    """The clock-in app with its timed service."""

    SERVICES = {f"{CLOCK_IN}.ClockInService": TimedService}


class Phone:
    """A virtual phone with the clock-in app, a shim of it, and an agent that any shim may be called by."""

    def __init__(self, folder: Path) -> None:
        self.clock = HurryingClock()
        behaviours = {**BEHAVIOURS, CLOCK_IN: TimedApp}
        self.system = boot("36.1", behaviours=behaviours, clock=self.clock, seed=1)
        source = folder / "clock-in.apk"
        source.write_bytes(sample_package("clock-in").apk)
        (shim,) = build_shims(read_source_apps([str(source)]), ShimOptions(), signing_key())
        for apk in (sample_package("agent").apk, source.read_bytes(), shim.apk):
            self.system.packages.install(apk)
        shell = CallerIdentity(2000, "com.android.shell")
        # Only what is on the screen may start a foreground service.
        _, record = self.system.stack.start(
            shell, Intent(component=ComponentName(AGENT, f"{AGENT}.MainActivity"), flags=0x10000000)
        )
        if record is None or not self.system.stack.wait_created(record):
            raise RuntimeError("the agent is not on the screen")
        self.context = self.system.app_context(AGENT)
        self.tools = {
            "directly": ComponentName(CLOCK_IN, f"{CLOCK_IN}.ClockInService"),
            "by the shim": ComponentName(shim.application_id, "dev.droidgate.shim.frontends.ToolService"),
        }
        argument = json.dumps({"version": 1, "caller": "any-app", "capability": "*"}).encode()
        encoded = base64.urlsafe_b64encode(argument).decode().rstrip("=")
        uri = f"content://{shim.application_id}.host"
        self.system.content.call(shell, uri, "grant", encoded, Bundle())

    def discover(self, tool: ComponentName) -> bool:
        """Find the tool apps and read one's capabilities, as an agent does; return whether it is there."""
        found = self.context.query_services(Intent(ACTION_MOBILE_MCP))
        meta_data = self.context.platform.find_meta_data(tool, "mobile.mcp.tool.capabilities")
        reference = "" if meta_data is None else str(meta_data.resource)
        return tool in found and self.context.platform.read_xml(tool.package, reference) is not None

    def call(self, tool: ComponentName, transport: str, text: str) -> tuple[float, float, str]:
        """Call a tool; return the milliseconds of the request, those of the response, and the response."""
        agent = Agent(self.context)
        self.clock.ahead += 3.0
        begin = time.perf_counter()
        if transport == "bound":
            response = agent.call_bound(tool, text, dialect="S0")
        else:
            response = agent.call_started(tool, text, dialect="S0", foreground=True)
        end = time.perf_counter()
        return (TimedService.came - begin) * 1000, (end - TimedContext.went) * 1000, response


def measure_calls(results: Results, folder: Path, rounds: int) -> bool:
    """Measure the paper's calls without and with the shim; return whether all were answered correctly."""
    phone = Phone(folder)
    right = True
    columns = {"way": "", "transport": "", "call": ""}
    table = results.table("calls", {**columns, "discovery": ".2f", "invocation": ".2f", "result": ".2f"})
    try:
        for way, tool in phone.tools.items():
            searches = [_milliseconds(lambda: phone.discover(tool)) for _ in range(rounds + 1)]  # noqa: B023
            right &= phone.discover(tool)
            for transport in ("bound", "started"):
                for pattern, (capability, arguments) in PATTERNS.items():
                    text = request_text(capability, arguments, dialect="S0")
                    calls = [phone.call(tool, transport, text) for _ in range(rounds + 1)][1:]
                    right &= all('"success"' in answer for _, _, answer in calls)
                    request_time = statistics.median(item for item, _, _ in calls)
                    back = statistics.median(item for _, item, _ in calls)
                    found = statistics.median(searches[1:])
                    table.add(way, transport, pattern, found, request_time, back)
    finally:
        phone.system.close()
    return right


def _milliseconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1000


def main() -> int:
    """Run all measurements; return 1 where something was answered wrongly."""
    chosen = parser(__doc__).parse_args()
    results, rounds = Results(chosen), 1 if chosen.quick else 7
    table = results.table("engines", COLUMNS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        right = measure_python(table, rounds)
        javac, java = shutil.which("javac"), shutil.which("java")
        if javac is None or java is None:
            print("engine in Java: left out without a JDK")
        else:
            right &= measure_java(table, folder / "classes", javac, java)
        right &= measure_build(table, folder, rounds)
        right &= measure_calls(results, folder, 3 * rounds)
    results.write()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
