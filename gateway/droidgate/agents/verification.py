"""The check of a tool app: each rule that can be seen from outside, with what was sent and received."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal

from droidgate.agents import function_checks, mmcp_checks, mobile_mcp_checks
from droidgate.agents.agent_client import AgentClient, ToolComponent
from droidgate.agents.function_calls import lend_identity
from droidgate.agents.function_checks import check_functions
from droidgate.agents.live_calls import APP_FUNCTIONS, MMCP, MOBILE_MCP, chosen_transport
from droidgate.agents.mmcp_checks import check_activity, check_receiver
from droidgate.agents.mobile_mcp_checks import check_service
from droidgate.agents.rule_checks import DECLARED, CheckVerdict, RuleCheck
from droidgate.shims.device_user import DeviceUser
from droidgate.shims.refusals import NOT_MODELLED
from droidgate.sources.linting import LintReport, lint
from droidgate.sources.phone_source import PhoneRequest, read_phone
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.model.capability import Place
from droidgate_mappings.model.errors import UsageError
from droidgate_mappings.model.findings import FINDING_CODES, RULE_BOOKS, Finding, Level, LintRule
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, replace
from droidgate_mappings.tables.android_names import android_name

Edition = Literal["S0", "S1"]
"""Editions of Mobile-MCP's specification: arguments as `args`, or as `input`."""

SECONDS: Final = 5.0
_NOT_MODELLED: Final = f"Android refused the call: {NOT_MODELLED}"
"""How the reason of a failed check begins where nothing of the app ran."""
_FUNCTIONS_SDK: Final = 36
_LIVE_RULES: Final[Mapping[str, Sequence[LintRule]]] = {
    MOBILE_MCP: tuple(mobile_mcp_checks.RULES.values()),
    MMCP: (mmcp_checks.ENDS, mmcp_checks.RESULT),
    APP_FUNCTIONS: tuple(function_checks.RULES.values()),
}
"""Rules of apps that run, by the formats whose files declare capabilities."""


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
        source: The tool app: its package, or its files.
        static: What its files break, as `lint` finds it.
        checks: Each rule, those of its files first.
    """

    source: str
    static: tuple[Finding, ...]
    checks: tuple[RuleCheck, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What it breaks, static findings first."""
        place = Place(path=self.source)
        live = (check.finding(place) for check in self.checks)
        return (*self.static, *(item for item in live if item is not None))

    @property
    def fails(self) -> bool:
        """Whether a rule is broken that the protocol requires."""
        return any(item.level is Level.ERROR for item in self.findings)


def verify_files(source: str, reason: str) -> Verification:
    """Hold the files of a project, or an APK, to the rules of its protocols.

    Args:
        source: As `lint` takes it.
        reason: Why the app is not called.

    Raises:
        InputError: the source cannot be read.
        UsageError: it declares nothing of a protocol whose apps can be verified.
    """
    report = lint(source, formats=_LIVE_RULES)
    if not _formats_of(report):
        message = f"{source} declares no tools of Mobile-MCP, mMCP or AppFunctions"
        hint = "tools that an app reports only while it runs are checked on a phone"
        raise UsageError(message, hint=hint)
    return _of_files(source, report, reason)


def _of_files(source: str, report: LintReport, reason: str) -> Verification:
    """Return what files break of an app that is not called, with the reason."""
    formats = _formats_of(report)
    unchecked = (
        RuleCheck(rule, source, "not called", "not-checked", reason)
        for name in formats
        for rule in _LIVE_RULES[name]
    )
    return Verification(source, _errors_of(report), (*_file_checks(source, report, formats), *unchecked))


def verify(
    device_user: DeviceUser, agents: tuple[AgentClient, AgentClient], request: VerifyRequest
) -> Verification:
    """Drive a tool app through the rules of its protocols.

    Calls that a right app refuses are made without asking; others only as the request allows.

    Args:
        device_user: The phone.
        agents: Both agents, installed.
        request: What is to be checked, of an app that is installed.

    Raises:
        UsageError: the app offers no tools to an agent and its files break no rule, or it has no capability
            of a call.
        DeviceError: the phone or an agent fails.
    """
    device, package = device_user.device, request.package
    components = [item for item in agents[0].list_components() if item.package == package]
    source = f"adb:{device.serial}/{package}"
    report = lint(source, formats=_LIVE_RULES)
    formats = _formats_of(report)
    if not components and APP_FUNCTIONS not in formats:
        message = f"the agent sees no tools of {package}"
        if _errors_of(report):
            return _of_files(package, report, message)
        hint = "be sure that it is enabled and exports a component of Mobile-MCP, mMCP or AppFunctions"
        raise UsageError(message, hint=hint)
    _open(device_user, package)
    functions = _declared_functions(device_user, package) if APP_FUNCTIONS in formats else {}
    # A name that nothing has is an error of the first component, or of the functions where they are alone.
    of_functions = {name: item for name, item in request.calls.items() if name in functions or not components}
    of_components = {name: item for name, item in request.calls.items() if name not in of_functions}
    checks = list(_file_checks(package, report, formats))
    try:
        for component in components:
            component_request = replace(request, calls=of_components)
            checks += _check(agents, component, component_request, lambda: _open(device_user, package))
    finally:
        for client in agents:
            for component in components:
                client.unbind(component.component)
    if APP_FUNCTIONS in formats:
        checks += _functions(device_user, agents, replace(request, calls=of_functions), functions)
    return Verification(package, _errors_of(report), tuple(map(_without_fault_of_phone, checks)))


def _without_fault_of_phone(check: RuleCheck) -> RuleCheck:
    """Return a check, one that failed since the virtual phone cannot run the app as not checked."""
    if check.verdict != "failed" or not check.reason.startswith(_NOT_MODELLED):
        return check
    reason = f"the virtual phone cannot run {check.component}: check it on an emulator or a phone"
    return replace(check, verdict="not-checked", reason=reason)


def _formats_of(report: LintReport) -> list[str]:
    """Return the formats that files declare something of, also where it cannot be read."""
    broken = {item.code for item in _errors_of(report)}
    formats = load_formats()
    return [
        name
        for name in _LIVE_RULES
        if name in report.checked or not broken.isdisjoint(rule.id for rule in formats[name].rules)
    ]


def _errors_of(report: LintReport) -> tuple[Finding, ...]:
    return tuple(item for item in report.findings if item.level is Level.ERROR)


def _file_checks(source: str, report: LintReport, formats: Iterable[str]) -> Iterator[RuleCheck]:
    """Yield each rule of the files that is broken, and what the others are."""
    errors = _errors_of(report)
    for item in errors:
        rule = _rule_of(item)
        place = str(item.source) if item.source is not None else source
        yield RuleCheck(rule, source, DECLARED, "failed", item.text, received=(place,))
    broken = {item.code for item in errors}
    for name in formats:
        for rule in load_formats()[name].rules:
            if rule.level is Level.ERROR and rule.id not in broken:
                is_read = name in report.checked
                reason = "" if is_read else "nothing of it can be read"
                yield RuleCheck(rule, source, DECLARED, "passed" if is_read else "not-checked", reason)


def _rule_of(finding: Finding) -> LintRule:
    """Return the rule that a finding breaks; one of its code alone where no book of rules has it."""
    books = (book.by_id.get(finding.code) for book in RULE_BOOKS.values())
    own = LintRule(finding.code, finding.level, "droidgate", "", FINDING_CODES[finding.code].meaning)
    return next((rule for rule in books if rule is not None), own)


def _open(device_user: DeviceUser, package: str) -> None:
    """Open an app as its user does, if it has a screen.

    Android starts no service of an app that nobody has opened for a while (API 26), and sends no broadcast to
    one that was never opened.
    """
    device_user.device.run(["monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1"])


def _check(
    agents: tuple[AgentClient, AgentClient],
    component: ToolComponent,
    request: VerifyRequest,
    open_app: Callable[[], None],
) -> Iterator[RuleCheck]:
    transport = chosen_transport(component, None)
    if transport == "bind":
        yield from check_service(
            agents,
            component,
            request.calls,
            edition=request.edition,
            seconds=request.seconds,
            open_app=open_app,
        )
    elif transport == "activity":
        yield from check_activity(agents[0], component, request.calls, seconds=request.seconds)
    else:
        yield from check_receiver(agents[0], component, request.calls, seconds=request.seconds)


def _declared_functions(device_user: DeviceUser, package: str) -> dict[str, str]:
    """Return why Android's release leaves a function out, empty where it lists it, by declared id."""
    format_ = load_formats()[APP_FUNCTIONS]
    reading = read_phone(device_user.device, PhoneRequest((format_,), package=package))
    reasons: dict[str, str] = {}
    for app in reading.apps:
        for capability in (item for provider in app.providers for item in provider.capabilities):
            reasons[capability.id] = ""
            if format_.phones.why_not_indexed is not None and app.application is not None:
                reason = format_.phones.why_not_indexed(app.application, capability.id, device_user.sdk_full)
                reasons[capability.id] = reason or ""
    return reasons


def _functions(
    device_user: DeviceUser,
    agents: tuple[AgentClient, AgentClient],
    request: VerifyRequest,
    declared: Mapping[str, str],
) -> Iterator[RuleCheck]:
    if device_user.sdk < _FUNCTIONS_SDK:
        reason = f"{android_name(str(_FUNCTIONS_SDK))} is the first with AppFunctions"
        for rule in _LIVE_RULES[APP_FUNCTIONS]:
            yield RuleCheck(rule, request.package, "shell", "not-applicable", reason)
        return
    yield from check_functions(
        device_user.device,
        request.package,
        declared,
        request.calls,
        agents=agents,
        lend=lambda client: lend_identity(device_user, client),
        user=device_user.user,
        seconds=request.seconds,
    )


def verdicts_of(checks: Sequence[RuleCheck]) -> dict[CheckVerdict, int]:
    """Return how many checks ended with each verdict."""
    counts: dict[CheckVerdict, int] = {"passed": 0, "failed": 0, "not-applicable": 0, "not-checked": 0}
    for check in checks:
        counts[check.verdict] += 1
    return counts
