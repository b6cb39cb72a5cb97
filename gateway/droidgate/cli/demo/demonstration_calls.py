"""The calls of the demo: shims before every app, and agents of each kind that call through them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from droidgate.cli.output.grouped_findings import count_levels, counted
from droidgate.cli.output.pages import Line, Table, show
from droidgate.shims.broadcast_discovery import ask_broadcast_apps
from droidgate.shims.device_user import DeviceUser, device_user_of
from droidgate.shims.host_client import HostClient
from droidgate.shims.installation_steps import install_shim
from droidgate.shims.shell_identity import set_up_identity
from droidgate.shims.shim_facts import facts_of
from droidgate.shims.source_apps import read_source_apps
from droidgate_android.apk.signing_keys import SigningKey
from droidgate_mappings.formats.installed import SHIM_PACKAGE, SHIM_PREFIX
from droidgate_mappings.model.capability import Provider
from droidgate_mappings.model.errors import DroidgateError, InputError
from droidgate_mappings.model.json_values import Json, one_line_json
from droidgate_mappings.records import dataclass, field
from droidgate_mappings.text.json_text import WRITTEN, parse_json
from droidgate_phone.apps.agent import Agent, Dialect, NoAnswerError, request_text
from droidgate_phone.apps.sample_packages import REPORT, REPORT_PAGES, report
from droidgate_phone.java.app_values import AndroidError
from droidgate_phone.java.intents import ComponentName
from droidgate_shim.builder.shim_choices import ShimOptions
from droidgate_shim.builder.shim_manifest import frontends_on_request
from droidgate_shim.builder.shims import BuiltShim, build_shims
from droidgate_shim.builder.source_app import SourceApp

if TYPE_CHECKING:
    from droidgate.cli.demo.demonstration_phone import DemonstrationPhone

AGENT: Final = "dev.droidgate.sample.agent"
CLOCK_IN: Final = "dev.droidgate.sample.clockin"
NOTES: Final = "dev.droidgate.sample.notes"
PLAIN_NOTES: Final = "dev.droidgate.sample.notes.legacy"
PDF_TOOL: Final = "dev.droidgate.sample.pdftool"
TALLY: Final = "dev.droidgate.sample.tally"
WEATHER: Final = "dev.droidgate.sample.weather"

_LEND_VISIBILITY: Final = 512
"""BIND_ALLOW_ACTIVITY_STARTS (reference android-runtime 0.4)."""
PDF_WITH_PHRASE: Final = (REPORT, "river")
"""A file on the phone after the calls, and a word that it has."""

_DAY: Final = "2026-02-03"
_PLACE: Final = "Bonn"
_RETURN_VALUE: Final = "androidAppfunctionsReturnValue"


_Sender: TypeAlias = Callable[[str, Mapping[str, Json]], Json]
_Check: TypeAlias = Callable[[Json], bool]
_PlannedCall: TypeAlias = tuple[str, str, Mapping[str, Json], _Sender, _Check]
"""Agent and app, capability, arguments, how it is made, and whether an answer is right."""


@dataclass(frozen=True, slots=True)
class DemonstrationCall:
    """One call of the demo.

    Attributes:
        pair: The protocol that the agent speaks, and the app's.
        capability: What was called.
        request: Its arguments.
        answer: What came back.
        milliseconds: How long that took.
        problem: What was wrong with it; empty where nothing was.
    """

    pair: str
    capability: str
    request: Json
    answer: Json
    milliseconds: float
    problem: str = ""


@dataclass
class DemonstrationCalls:
    """Shims before the sample apps, and calls through them.

    Args:
        phone: The phone, with the sample apps.
        apks: Their APKs.
        key: Signs the shims.
        details: Print what each shim loses, and each call's arguments.
    """

    phone: DemonstrationPhone
    apks: Sequence[Path]
    key: SigningKey
    details: bool = False
    calls: list[DemonstrationCall] = field(default_factory=list)

    @cached_property
    def device_user(self) -> DeviceUser:
        """The phone as the host sees it."""
        return device_user_of(self.phone.device)

    @cached_property
    def apps(self) -> Sequence[SourceApp]:
        """The apps, with the tools of those that answer a broadcast."""
        read = read_source_apps([str(apk) for apk in self.apks])
        return ask_broadcast_apps(self.device_user, read, self.key).apps

    def ask_for_tools(self) -> list[Provider]:
        """Return the providers whose tools are only known by asking their receivers."""
        return [
            provider
            for app in self.apps
            for provider in app.providers
            if provider.capabilities and provider.dialect == "broadcast"
        ]

    def build_and_install(self) -> list[str]:
        """Build a shim for each app and install it; return what went wrong."""
        begin = time.perf_counter()
        shims = build_shims(self.apps, ShimOptions(advertise=frozenset(frontends_on_request())), self.key)
        spent = (time.perf_counter() - begin) * 1000
        show([Line(f"{len(shims)} shims built in {spent:.0f} ms", 1)])
        problems = []
        for shim in shims:
            if self.details:
                show([*_describe(shim)])
            name = shim.file_name
            done = install_shim(self.device_user, facts_of(shim, self.key.digest), shim.apk, file_name=name)
            refused = [step for step in done.steps if step.outcome == "refused"]
            problems += [f"{shim.application_id}: {step.what}: {step.why}" for step in refused]
            if not done.works:
                problems.append(f"{shim.application_id} does not answer")
        facts = [facts_of(shim, self.key.digest) for shim in shims]
        identity = set_up_identity(self.device_user, facts, self.key)
        show([Line(f"{identity.application_id}: calls app functions for the shims", 1)])
        refused = [step for step in identity.steps if step.outcome == "refused"]
        problems += [f"{identity.application_id}: {step.what}: {step.why}" for step in refused]
        return problems

    def run(self) -> list[str]:
        """Make the calls, show them as a table, and return what was not right."""
        self._prepare()
        day: dict[str, Json] = {"date": _DAY}
        for calls in (self._before_and_after_the_grants(), self._by_mobile_mcp(day), self._by_others(day)):
            for planned in calls:
                self._make(*planned)
        show([_table(self.calls, details=self.details)])
        return [f"{call.pair}: {call.capability}: {call.problem}" for call in self.calls if call.problem]

    def _prepare(self) -> None:
        device = self.phone.device
        device.push(report(), REPORT)
        device.run(["am", "start", "-W", "-n", f"{AGENT}/.MainActivity"])

    def _grant(self) -> None:
        for package in (CLOCK_IN, NOTES, PLAIN_NOTES, PDF_TOOL, TALLY, WEATHER):
            client = self._client(package)
            client.ask(on=True)
            client.grant(AGENT, signer=self.key.digest)
            # Android does not report which app starts a service or sends a broadcast.
            client.grant("any-app")

    def _client(self, package: str) -> HostClient:
        return self.device_user.client(_shim(package))

    def _agent(self) -> Agent:
        return Agent(self.phone.phone.system.app_context(AGENT))

    def _make(
        self, pair: str, capability: str, request: Mapping[str, Json], send: _Sender, check: _Check
    ) -> None:
        begin = time.perf_counter()
        try:
            answer, problem = send(capability, request), ""
        except (DroidgateError, NoAnswerError, AndroidError) as error:
            answer, problem = str(error), "it was not answered"
        spent = (time.perf_counter() - begin) * 1000
        if not problem and not check(answer):
            problem = "the answer is not what is so"
        self.calls.append(DemonstrationCall(pair, capability, dict(request), answer, spent, problem))

    def _before_and_after_the_grants(self) -> Iterator[_PlannedCall]:
        # Without a grant, while the phone asks nobody, a call is refused.
        self._client(NOTES).ask(on=False)
        yield (
            "Mobile-MCP, not granted -> AppFunctions",
            f"{NOTES}.NotesService#summarizeNotes",
            {},
            self._through(NOTES, "S0"),
            lambda answer: str(answer).startswith("denied"),
        )
        self._grant()
        yield (
            "Mobile-MCP bound (S0) -> Mobile-MCP, no shim",
            "clock_in_today",
            {},
            self._clock_in,
            lambda _answer: self._is_clocked_in({}),
        )

    def _by_mobile_mcp(self, day: dict[str, Json]) -> Iterator[_PlannedCall]:
        """Yield the calls of a Mobile-MCP agent through shims; what it records is of `day`."""
        yield (
            "Mobile-MCP bound (S0) -> mMCP activity",
            "extract_text",
            {"path": REPORT, "first_page": 2, "last_page": 2},
            self._through(PDF_TOOL, "S0"),
            lambda answer: REPORT_PAGES[1] in str(answer) and REPORT_PAGES[0] not in str(answer),
        )
        weather = self._by_broadcast(ComponentName(WEATHER, f"{WEATHER}.WeatherReceiver"))
        place: dict[str, Json] = {"location": _PLACE}
        yield (
            "Mobile-MCP started (prototype) -> mMCP broadcast",
            "currentWeather",
            place,
            self._through(WEATHER, "MM-5", bound=False),
            lambda answer: answer == {"result": weather("currentWeather", place)},
        )
        yield (
            "Mobile-MCP bound (S1) -> AppFunctions",
            f"{NOTES}.NotesService#createNote",
            {"title": "Umbrella", "content": "It will rain", "labels": ["home"]},
            self._through(NOTES, "S1"),
            lambda answer: _is_umbrella(answer) and "Umbrella" in one_line_json(self._notes()),
        )
        yield (
            "Mobile-MCP bound (prototype) -> AppFunctions, platform",
            "createNote",
            {"title": "Milk", "content": "Two litres", "priority": 5},
            self._through(PLAIN_NOTES, "MM-6"),
            lambda answer: "noteId" in one_line_json(answer),
        )
        yield (
            "Mobile-MCP started (S0) -> Mobile-MCP",
            "make_up_clock_in",
            day,
            self._through(CLOCK_IN, "S0", bound=False),
            lambda _answer: self._is_clocked_in(day),
        )
        # The shim keeps its binding for the agent, and the app keeps the agent's points with it.
        for points, total in ((2, 2), (3, 5)):
            yield (
                "Mobile-MCP bound (S0) -> Mobile-MCP",
                "add_points",
                {"player": "Ada", "points": points},
                self._through(TALLY, "S0"),
                partial(eq, {"player": "Ada", "total": total}),
            )

    def _by_others(self, day: dict[str, Json]) -> Iterator[_PlannedCall]:
        """Yield the calls of mMCP agents, of Android's shell and of this computer."""
        yield (
            "mMCP activity -> Mobile-MCP",
            "query_clock_in",
            day,
            self._by_mmcp_activity,
            lambda answer: isinstance(answer, dict) and answer.get("has_clocked_in") is True,
        )
        search = self._by_broadcast(ComponentName(_shim(PDF_TOOL), f"{SHIM_PACKAGE}.frontends.MmcpReceiver"))
        yield (
            "mMCP broadcast -> mMCP activity",
            "search_text",
            {"path": REPORT, "query": "river"},
            lambda *call: _json_or_text(search(*call)),
            lambda answer: "2" in one_line_json(answer) and "Error" not in one_line_json(answer),
        )
        yield (
            "AppFunctions (Android's shell) -> Mobile-MCP",
            "query_clock_in",
            day,
            lambda route, arguments: self._execute(_shim(CLOCK_IN), self._function(route), arguments),
            lambda answer: '"has_clocked_in":[true]' in one_line_json(answer).replace(" ", ""),
        )
        yield (
            "host (adb) -> mMCP activity",
            "page_count",
            {"path": REPORT},
            self._from_host,
            lambda answer: str(len(REPORT_PAGES)) in one_line_json(answer),
        )

    def _through(self, package: str, dialect: Dialect, *, bound: bool = True) -> _Sender:
        """Return what calls as a Mobile-MCP agent through a shim: the outputs, or the text of its failure."""
        component = ComponentName(_shim(package), f"{SHIM_PACKAGE}.frontends.ToolService")

        def send(capability: str, arguments: Mapping[str, Json]) -> Json:
            text = request_text(capability, arguments, dialect=dialect)
            agent = self._agent()
            if bound:
                return outcome_of(agent.call_bound(component, text, dialect=dialect, flags=_LEND_VISIBILITY))
            return outcome_of(agent.call_started(component, text, dialect=dialect, foreground=True))

        return send

    def _by_broadcast(self, receiver: ComponentName) -> Callable[[str, Mapping[str, Json]], str | None]:
        return lambda name, arguments: self._agent().call_broadcast(receiver, name, arguments).data

    def _by_mmcp_activity(self, capability: str, arguments: Mapping[str, Json]) -> Json:
        component = ComponentName(_shim(CLOCK_IN), f"{SHIM_PACKAGE}.frontends.MmcpActivity")
        result = self._agent().call_mmcp_activity(component, capability, arguments)
        return _json_or_text(None if result.data is None else result.data.extras.get_string("result"))

    def _from_host(self, capability: str, arguments: Mapping[str, Json]) -> Json:
        text = request_text(capability, arguments, dialect="S1")
        return outcome_of(self._client(PDF_TOOL).call(text).response)

    def _clock_in(self, capability: str, arguments: Mapping[str, Json]) -> Json:
        """Call the app itself."""
        component = ComponentName(CLOCK_IN, f"{CLOCK_IN}.ClockInService")
        text = request_text(capability, arguments, dialect="S0")
        return outcome_of(self._agent().call_bound(component, text))

    def _is_clocked_in(self, day: Mapping[str, Json]) -> bool:
        outcome = self._clock_in("query_clock_in", day)
        return isinstance(outcome, dict) and outcome.get("has_clocked_in") is True

    def _function(self, route: str) -> str:
        """Return the id under which a shim advertises a route as an app function."""
        shim = self.phone.phone.system.app_context(_shim(CLOCK_IN))
        policy = parse_json(shim.read_raw("assets/policy.json") or b"{}", limits=WRITTEN)
        functions: dict[str, str] = policy["app"]["functions"]
        return next(function for function, routed in functions.items() if routed == route)

    def _execute(self, package: str, function: str, arguments: Mapping[str, Json]) -> Json:
        command = f"cmd app_function execute-app-function --package {package} --function {function}".split()
        command += ["--parameters", one_line_json(dict(arguments)), "--user", "0"]
        read: Json = parse_json(self.phone.device.run(command).text)
        return read.get(_RETURN_VALUE) if isinstance(read, dict) else read

    def _notes(self) -> Json:
        return self._execute(NOTES, f"{NOTES}.NotesService#findNotes", {})


def outcome_of(response: str) -> Json:
    """Return a response's outputs, whatever its form; the message where it is a failure."""
    read = parse_json(response)
    inner = read.get("mobile-mcp-response", {}).get("response", read)
    if inner["status"] != "success":
        return str(inner.get("message", ""))
    outputs: Json = inner.get("capability", {}).get("output", {})
    if isinstance(outputs, list):
        return {str(output["name"]): output["value"] for output in outputs if isinstance(output, dict)}
    return outputs


def _is_umbrella(answer: Json) -> bool:
    return isinstance(answer, dict) and answer.get("title") == "Umbrella"


def _json_or_text(text: str | None) -> Json:
    try:
        read: Json = parse_json(text or "null")
    except InputError:
        return text
    return read


def short_name(package: str) -> str:
    """Return a sample app's package without what all of them begin with."""
    return package.removeprefix("dev.droidgate.sample.")


def _shim(package: str) -> str:
    return f"{SHIM_PREFIX}{package}"


def _describe(shim: BuiltShim) -> Iterator[Line]:
    losses = counted(count_levels(shim.findings)) or "nothing is lost"
    yield Line(
        f"{shim.application_id} ({len(shim.apk)} bytes): {len(shim.capabilities)} capabilities, {losses}", 2
    )


def _table(calls: Sequence[DemonstrationCall], *, details: bool) -> Table:
    longest = 60 if details else 18
    rows = []
    for call in calls:
        answer = shorten(call.answer, longest)
        agent, _, app = call.pair.partition(" -> ")
        row = [agent, app, call.capability.rpartition("#")[2]]
        row += [shorten(call.request, longest)] if details else []
        rows.append(
            [*row, f"WRONG: {call.problem}: {answer}" if call.problem else answer, f"{call.milliseconds:.0f}"]
        )
    return Table(("AGENT", "APP", "CAPABILITY", *(("REQUEST",) if details else ()), "ANSWER", "MS"), rows)


def shorten(value: Json, longest: int) -> str:
    """Return a value as text, cut to that many characters; an output called `result` is the value."""
    if isinstance(value, dict) and value.keys() == {"result"}:
        value = value["result"]
    text = value if isinstance(value, str) else one_line_json(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
