"""What the shim costs: building it, and a call through it next to the same call without it.

Run it with `make bench`. The calls are the three of the paper on the virtual phone, so each figure is our
work and the phone's, in one process: looking for tools, from sending a request until the tool app has it, and
from the tool's answer until the agent has it.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import statistics
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

CAPABILITIES = 50
AGENT, CLOCK_IN = "dev.droidgate.sample.agent", "dev.droidgate.sample.clockin"
PATTERNS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "no parameters": ("clock_in_today", {}),
    "parameters": ("make_up_clock_in", {"date": "2026-01-02"}),
    "parameters and results": ("query_clock_in", {"date": "2026-01-02"}),
}


def cpu_milliseconds(work: Callable[[], object], rounds: int, times: int) -> float:
    """Return the median of several rounds' processor time of one run."""
    return median_seconds(lambda: [work() for _ in range(times)], rounds, time.process_time) / times * 1000


COLUMNS = {"": "", "ms": ".3f", "times the floor": ".1f", "aim, ms": "g"}


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
    table.add(f"building a shim of {CAPABILITIES} capabilities, warm", ours, ours / least, 60)
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
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        right = measure_build(results.table("building", COLUMNS), folder, rounds)
        right &= measure_calls(results, folder, 3 * rounds)
    results.write()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
