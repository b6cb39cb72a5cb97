"""The check of a live tool app: each rule that can be seen from outside, with what was sent and received."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from droidgate.agents.agent_client import AgentClient, ToolComponent
from droidgate.agents.live_calls import chosen_transport
from droidgate.agents.mmcp_checks import check_activity, check_receiver
from droidgate.agents.mobile_mcp_checks import check_service
from droidgate.agents.rule_checks import Check
from droidgate.devices.device import Device
from droidgate.sources.linting import lint
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import Json

Edition = Literal["S0", "S1"]
"""Editions of Mobile-MCP's specification: arguments as `args`, or as `input`."""

SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What is to be checked.

    Attributes:
        package: The tool app.
        calls: Calls that may be made for real: the arguments by capability.
        edition: How its requests are written.
        seconds: How long an answer may take.
    """

    package: str
    calls: Mapping[str, Mapping[str, Json]]
    edition: Edition = "S0"
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found.

    Attributes:
        package: The tool app.
        static: What its APK breaks, as `lint` finds it.
        checks: What was seen of it while it ran.
    """

    package: str
    static: tuple[Finding, ...]
    checks: tuple[Check, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What it breaks, static findings first."""
        place = Place(path=self.package)
        live = (check.finding(place) for check in self.checks)
        return (*self.static, *(item for item in live if item is not None))

    @property
    def fails(self) -> bool:
        """Whether a rule is broken that the protocol requires."""
        return any(item.level is Level.ERROR for item in self.findings)


def verify(device: Device, agents: tuple[AgentClient, AgentClient], request: VerifyRequest) -> Verification:
    """Drive a tool app through the rules of its protocols.

    Calls that a right app refuses are made without asking; others only as the request allows.

    Args:
        device: The phone.
        agents: Both agents, installed.
        request: What is to be checked.

    Raises:
        UsageError: the app is not installed, offers no tools to an agent, or has no capability of a call.
        DeviceError: the phone or an agent fails.
    """
    components = [item for item in agents[0].list_components() if item.package == request.package]
    if not components:
        message = f"the agent sees no tools of {request.package}"
        hint = "be sure that it is installed and exports a component of Mobile-MCP or mMCP"
        raise UsageError(message, hint=hint)
    _open(device, request.package)
    known = {item.protocol for item in components}
    formats = [name for name in load_formats() if name in known or f"{name}-broadcast" in known]
    report = lint(f"adb:{device.serial}/{request.package}", formats=formats)
    static = tuple(item for item in report.findings if item.level is Level.ERROR)
    try:
        checks = [check for component in components for check in _check(agents, component, request)]
    finally:
        for client in agents:
            for component in components:
                client.unbind(component.component)
    return Verification(request.package, static, tuple(checks))


def _open(device: Device, package: str) -> None:
    """Open an app as its user does, if it has a screen.

    Android starts no service of an app that nobody has opened for a while (API 26), and sends no broadcast to
    one that was never opened.
    """
    device.run(["monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1"])


def _check(
    agents: tuple[AgentClient, AgentClient], component: ToolComponent, request: VerifyRequest
) -> Iterator[Check]:
    transport = chosen_transport(component, None)
    if transport == "bind":
        yield from check_service(
            agents,
            component,
            request.calls,
            edition=request.edition,
            seconds=request.seconds,
            open_app=lambda: _open(agents[0].device, request.package),
        )
    elif transport == "activity":
        yield from check_activity(agents[0], component, request.calls, seconds=request.seconds)
    else:
        yield from check_receiver(agents[0], component, request.calls, seconds=request.seconds)


def verdicts_of(checks: Sequence[Check]) -> dict[str, int]:
    """Return how many checks ended with each verdict."""
    counts = {"passed": 0, "failed": 0, "not-checked": 0}
    for check in checks:
        counts[check.verdict] += 1
    return counts
