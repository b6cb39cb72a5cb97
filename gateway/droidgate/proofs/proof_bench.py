"""What the steps of a proof work with: a phone, the agents, the shim, and calls that only read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Literal

from droidgate.agents.agent_client import (
    AGENTS,
    FIRST_AGENT,
    AgentClient,
    AgentEvent,
    ToolComponent,
    Transport,
)
from droidgate.agents.live_calls import (
    LiveAnswer,
    answer_texts,
    is_end_of,
    mobile_mcp_request,
    request_extras,
)
from droidgate.calls.screen.controls import Control, read_controls
from droidgate.calls.screen.phone_commands import dump_hierarchy, send_input
from droidgate.devices.device_errors import DeviceOutputError
from droidgate.proofs.phone_changes import PhoneChanges
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.granting import grant_capabilities
from droidgate.shims.host_client import EVERY_CAPABILITY, HostClient
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.errors import InputError
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field

Verdict = Literal["passed", "failed", "not-applicable", "needs-a-hand"]
Answer = Literal["yes", "no"] | None
Asker = Callable[[str, str], Answer]
"""Asks a person to do something and a question about it; None where nobody answers."""

SECONDS: Final = 15.0
GRACE_SECONDS: Final = 15.0
"""For so long after Home was pressed an app may still open windows (reference android-runtime 1.1)."""

_BEFORE_TAP: Final = 0.8
"""Answers of a question count from half a second on after it has appeared."""
_PAUSE: Final = 0.1


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The outcome of a step, and why."""

    verdict: Verdict
    reason: str = ""


PASSED: Final = StepOutcome("passed")


def passed_if(is_right: bool, reason: str) -> StepOutcome:  # noqa: FBT001 - reads as a sentence
    """Return `passed`, or `failed` with what was found instead."""
    return PASSED if is_right else StepOutcome("failed", reason)


@dataclass(slots=True)
class Bench:
    """A phone on which a proof runs.

    Attributes:
        device_user: The phone.
        changes: Notes what is changed.
        apks: Sample apps to install, by package.
        ask: Asks a person.
        missing: Why a package that steps need is not there.
        agents: Both agents, once they are installed.
    """

    device_user: DeviceUser
    changes: PhoneChanges
    apks: Mapping[str, bytes]
    ask: Asker
    missing: dict[str, StepOutcome] = field(default_factory=dict)
    agents: tuple[AgentClient, ...] = ()

    @property
    def shim(self) -> HostClient:
        """The shim, as the computer talks to it."""
        return self.device_user.client(SHIM_PACKAGE)

    def component(self, protocol: str) -> ToolComponent | None:
        """Return the shim's component of a protocol, as the first agent sees it."""
        seen = self.agents[0].list_components()
        return next(
            (item for item in seen if (item.package, item.protocol) == (SHIM_PACKAGE, protocol)), None
        )

    @contextmanager
    def granted(self, agent: str = FIRST_AGENT) -> Iterator[None]:
        """Let an agent, or `any-app`, call the shim's capabilities for a while."""
        grant_capabilities(self.device_user, agent, [EVERY_CAPABILITY], SHIM_PACKAGE)
        try:
            yield
        finally:
            self.shim.revoke(agent)

    @contextmanager
    def without_questions(self) -> Iterator[None]:
        """Let the shim refuse what is not granted, in place of asking the user."""
        self.shim.ask(on=False)
        try:
            yield
        finally:
            self.shim.ask(on=True)

    @contextmanager
    def without_windows(self) -> Iterator[None]:
        """Take the right to appear on top from the shim, press Home, and wait for the grace period's end."""
        set_mode = [
            "appops",
            "set",
            "--user",
            str(self.device_user.user),
            SHIM_PACKAGE,
            "SYSTEM_ALERT_WINDOW",
        ]
        self.device_user.device.check([*set_mode, "deny"])
        try:
            self.press("HOME")
            time.sleep(GRACE_SECONDS)
            yield
        finally:
            self.device_user.device.check([*set_mode, "allow"])

    def press(self, key: str) -> None:
        """Press a key."""
        send_input(self.device_user.device, ["keyevent", key], SECONDS)

    def controls(self) -> tuple[Control, ...]:
        """Return what is on the screen; nothing while it moves."""
        try:
            return read_controls(dump_hierarchy(self.device_user.device, SECONDS, threading.Event()))
        except InputError:
            return ()

    def wait_for_control(self, text: str, package: str = SHIM_PACKAGE) -> Control | None:
        """Return a control by its text, once a package shows it; None where it does not come."""
        end = time.monotonic() + SECONDS
        while True:
            controls = [item for item in self.controls() if item.sign.package == package]
            control = next((item for item in controls if item.text.casefold() == text.casefold()), None)
            if control is not None or time.monotonic() >= end:
                return control
            time.sleep(_PAUSE)

    def tap(self, control: Control) -> None:
        """Tap a control, once its answers count."""
        time.sleep(_BEFORE_TAP)
        send_input(self.device_user.device, ["tap", *map(str, control.center)], SECONDS)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call by a bound agent that waits for its answer.

    Attributes:
        client: The agent.
        component: The shim's service.
        call: The call's id.
        after: The agent's newest event before it.
    """

    client: AgentClient
    component: str
    call: str
    after: int

    @classmethod
    def begin(cls, bench: Bench, capability: str, arguments: Mapping[str, Json], agent: int = 0) -> OpenCall:
        """Send a request.

        Raises:
            DeviceError: the agent does not see the shim, or the phone fails.
        """
        component = bench.component("mobile-mcp")
        if component is None:
            raise DeviceOutputError(FIRST_AGENT, "the agent does not see the shim")
        client = bench.agents[agent]
        after = client.last_event()
        extras = request_extras(mobile_mcp_request(capability, arguments), "S0")
        call = client.send(component.component, extras, transport="bind")
        return cls(client, component.component, call, after)

    def end(self) -> LiveAnswer:
        """Wait for the answer, or for what says that there will be none."""

        def last(events: Sequence[AgentEvent]) -> AgentEvent | None:
            return next((item for item in events if is_end_of(item, self.call, self.component)), None)

        events = self.client.wait(self.after, lambda page: last(page) is not None, SECONDS)
        return LiveAnswer(last(events), events)

    def text(self) -> str:
        """Wait for the answer, and return its text."""
        return text_of(self.end())


def text_of(answer: LiveAnswer) -> str:
    """Return what was answered, or in words that nothing was."""
    if answer.is_answer:
        return " ".join(dict.fromkeys(answer_texts(answer))) or "an answer without a text"
    return "no answer" if answer.event is None else f"no answer: {answer.event.kind}"


@dataclass(frozen=True, slots=True)
class ReadingCall:
    """A call that changes nothing.

    Attributes:
        package: The sample app.
        capability: Its capability.
        arguments: Name -> value.
        sign: What the text of a right answer holds, without the backslashes of texts in texts.
    """

    package: str
    capability: str
    arguments: Mapping[str, Json]
    sign: str

    def is_answered(self, text: str) -> bool:
        """Return whether a text is a right answer."""
        return self.sign in text.replace("\\", "")


_SAMPLE: Final = "dev.droidgate.sample"
REPORT: Final = "/sdcard/Download/report.pdf"
CALLS: Final[Mapping[str, ReadingCall]] = {
    "mobile-mcp": ReadingCall(
        f"{_SAMPLE}.clockin", "query_clock_in", {"date": "2020-02-13"}, "has_clocked_in"
    ),
    "mmcp-activity": ReadingCall(f"{_SAMPLE}.pdftool", "page_count", {"path": REPORT}, '"page_count":'),
    "mmcp-broadcast": ReadingCall(f"{_SAMPLE}.weather", "currentWeather", {"location": "Paris"}, "Paris: "),
    "app-function": ReadingCall(
        f"{_SAMPLE}.notes", f"{_SAMPLE}.notes.NotesService#summarizeNotes", {}, "archived"
    ),
}
"""Kind of backend to a call of it."""

FRONTENDS: Final[Mapping[str, tuple[str, Transport]]] = {
    "bound": ("mobile-mcp", "bind"),
    "started": ("mobile-mcp", "start"),
    "mmcp-activity": ("mmcp", "activity"),
    "mmcp-broadcast": ("mmcp-broadcast", "broadcast"),
}
"""Frontends that agents call: the protocol of the shim's component, and how it is reached."""

SAMPLES: Final = tuple(call.package for call in CALLS.values())
SHIM_AND_AGENT: Final = (SHIM_PACKAGE, FIRST_AGENT)
OWN_PACKAGES: Final = (*AGENTS, SHIM_PACKAGE)
