"""The steps of a proof, in their order: what each does on the phone, and since which API level it counts."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Final

from droidgate.agents.agent_client import AGENTS, FIRST_AGENT
from droidgate.agents.agent_installation import install_agents
from droidgate.agents.live_calls import call_tool, tool_names
from droidgate.devices.app_installation import InstallError, install_apks
from droidgate.devices.device_errors import SERVICE_MISSING
from droidgate.devices.service_shells import app_function_shell
from droidgate.proofs.proof_bench import (
    CALLS,
    FRONTENDS,
    PASSED,
    REPORT,
    SAMPLES,
    SECONDS,
    SHIM_AND_AGENT,
    Bench,
    OpenCall,
    StepOutcome,
    passed_if,
    text_of,
)
from droidgate.shims.building import ignore
from droidgate.shims.device_user import installed_shims
from droidgate.shims.doctor import CheckState, examine
from droidgate.shims.host_client import ANY_APP
from droidgate.shims.installation_steps import (
    APP_FUNCTIONS_SDK,
    BACKGROUND_ACTIVITIES_SDK,
    BACKGROUND_SERVICES_SDK,
)
from droidgate.shims.installations import InstallRequest, install_ready, prepare_shims
from droidgate.shims.refusals import ShimRefusalError
from droidgate.shims.shell_identity import ALLOWLIST, needs_identity, set_up_identity
from droidgate.shims.shim_calls import call_capability
from droidgate_mappings.formats.installed import SHIM_PACKAGE
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass
from droidgate_mappings.tables.android_names import android_name
from droidgate_phone.apps.sample_packages import report
from droidgate_shim.builder.shim_choices import ShimOptions

_TOO_OLD: Final = "INSTALL_FAILED_OLDER_SDK"
_SHIM_OPTIONS: Final = ShimOptions(
    protocols=("all",), aggregate=True, advertise=frozenset({"mmcp", "mmcp-broadcast", "appfunctions"})
)
_MS: Final = 1000
_REFUSED_WINDOW_MS: Final = 4_000
_ALWAYS_SDK: Final = 34
_NOTIFICATION: Final = "Tap to decide about a call"
_SYSTEM_UI: Final = "com.android.systemui"


@dataclass(frozen=True, slots=True)
class Step:
    """A step.

    Attributes:
        id: Its name, whose parts are separated by slashes.
        title: What it proves.
        check: Does it.
        since: First API level on which it counts.
        rule: Why it does not count before.
        frontend: How an agent reaches the shim, where it is about one.
        backend: Kind of the app behind the shim, where it is about one.
        needs: Packages without which it cannot be done.
        is_setup: The other steps need it, so it is done in any case.
    """

    id: str
    title: str
    check: Callable[[Bench], StepOutcome]
    since: int = 24
    rule: str = ""
    frontend: str | None = None
    backend: str | None = None
    needs: Collection[str] = SHIM_AND_AGENT
    is_setup: bool = False

    def run(self, bench: Bench) -> StepOutcome:
        """Do the step, unless it does not count on this phone or something that it needs is not there.

        Raises:
            DroidgateError: the phone, an agent or the shim fails.
        """
        if bench.device_user.sdk < self.since:
            return StepOutcome("not-applicable", f"{self.rule}: {android_name(self.since)} is the first")
        for package in self.needs:
            if package in bench.missing:
                return bench.missing[package]
        return self.check(bench)


def _install_samples(bench: Bench) -> StepOutcome:
    device_user, installed = bench.device_user, bench.device_user.packages()
    for package, apk in bench.apks.items():
        if package in installed:
            continue
        bench.changes.will_install(package)
        try:
            install_apks(device_user.device, {"base.apk": apk}, user=device_user.user, grant=True)
        except InstallError as error:
            bench.missing[package] = _refused_installation(package, error)
    installed = device_user.packages()
    for package in SAMPLES:
        if package not in installed and package not in bench.missing:
            hint = "build it with Gradle from device_shim/apps, and name its folder with --apps"
            bench.missing[package] = StepOutcome("needs-a-hand", f"{package} is not installed; {hint}")
    if device_user.device.status(REPORT) is None:
        bench.changes.will_write(REPORT)
        device_user.device.push(report(), REPORT)
    refused = [outcome.reason for outcome in bench.missing.values() if outcome.verdict == "failed"]
    return passed_if(not refused, "; ".join(refused))


def _install_agents(bench: Bench) -> StepOutcome:
    bench.missing[FIRST_AGENT] = StepOutcome("failed", "the agents could not be installed")
    for application_id in AGENTS:
        bench.changes.will_install(application_id)
    try:
        bench.agents = install_agents(bench.device_user, None, ignore)
    except InstallError as error:
        bench.missing[FIRST_AGENT] = _refused_installation(FIRST_AGENT, error)
        return bench.missing[FIRST_AGENT]
    del bench.missing[FIRST_AGENT]
    return PASSED


def _refused_installation(package: str, error: InstallError) -> StepOutcome:
    reason = f"{package}: {error.message}"
    return StepOutcome("not-applicable" if error.code == _TOO_OLD else "failed", reason)


def _install_shim(bench: Bench) -> StepOutcome:
    device_user, installed = bench.device_user, bench.device_user.packages()
    sources = tuple(
        f"adb:{device_user.device.serial}/{package}" for package in SAMPLES if package in installed
    )
    if not sources:
        reasons = [bench.missing[package] for package in SAMPLES]
        bench.missing[SHIM_PACKAGE] = max(reasons, key=lambda outcome: outcome.verdict)
        return bench.missing[SHIM_PACKAGE]
    bench.missing[SHIM_PACKAGE] = StepOutcome("failed", "the shim could not be installed")
    bench.changes.will_install(SHIM_PACKAGE)
    prepared = prepare_shims(device_user, InstallRequest(sources, (), _SHIM_OPTIONS), ignore)
    facts = [ready.facts for ready in prepared.ready]
    done = [install_ready(device_user, ready, ignore) for ready in prepared.ready]
    if needs_identity(device_user, facts) and prepared.key is not None:
        done.append(set_up_identity(device_user, facts, prepared.key.signing))
    refused = []
    for step in (step for item in done for step in item.steps if step.outcome == "refused"):
        if step.what == ALLOWLIST and SERVICE_MISSING in step.why:
            # Without this service only the maker puts an app on the list.
            why = f"this build lets adb put no app on Android's list of agents: {step.why}"
            bench.missing[CALLS["app-function"].package] = StepOutcome("not-applicable", why)
        else:
            refused.append(f"{step.what}: {step.why}")
    if all(item.works for item in done):
        del bench.missing[SHIM_PACKAGE]
    return passed_if(not refused, "; ".join(refused))


def _check_shell(bench: Bench) -> StepOutcome:
    device = bench.device_user.device
    ended = device.run(["sh", "-c", "echo out; echo err >&2; exit 7"])
    seen = (ended.text.strip(), ended.error_text.strip(), ended.exit_status)
    if seen != ("out", "err", 7):
        return StepOutcome("failed", f"a command that prints to both streams and exits with 7 gives {seen}")
    return PASSED


_OUTCOMES: Final[Mapping[CheckState, StepOutcome]] = {
    "ok": PASSED,
    "problem": StepOutcome("failed"),
    "risk": StepOutcome("failed"),
    "not-needed": StepOutcome("not-applicable"),
    "unknown": StepOutcome("needs-a-hand"),
}
_DOCTOR_CHECKS: Final = {
    "os-level": "Android's version, and how adb reaches the phone",
    "screen-lock": "the screen is unlocked, as calls see it",
    "handshake": "the shim answers the computer, in the version of its protocol",
    "visibility": "agents that ask Android for tool apps find the shim",
    "targets": "the apps behind the shim are there, and as they were approved",
    "battery-exemption": "the shim may be started while it does not run",
    "notifications": "the shim may notify",
    "activity-start-route": "the shim may appear on top",
    "accessibility": "accessibility services run while the shell's permission is lent",
}
"""Checks of `shim doctor` that are steps."""


def _check_doctor(check: str, bench: Bench) -> StepOutcome:
    checks = [
        item
        for item in examine(bench.device_user, installed_shims(bench.device_user))
        if item.kind.id == check
    ]
    for state in ("problem", "risk", "unknown", "ok", "not-needed"):
        texts = [item.found for item in checks if item.state == state]
        if texts:
            verdict = _OUTCOMES[state].verdict
            return PASSED if verdict == "passed" else StepOutcome(verdict, "; ".join(dict.fromkeys(texts)))
    return StepOutcome("failed", f"the shim does not answer, so nothing can be said of {check}")


def _check_other_version(bench: Bench) -> StepOutcome:
    # The token is {"version":2}.
    command = ["content", "call", "--uri", f"content://{SHIM_PACKAGE}.host"]
    ended = bench.device_user.device.run([*command, "--method", "hello", "--arg", "eyJ2ZXJzaW9uIjoyfQ"])
    text = ended.text.partition("result=")[2].rstrip("}]\n")
    is_right = ended.exit_status == 0 and "unsupported_version" in _decoded(text)
    return passed_if(is_right, f"the answer to version 2 is {ended.text.strip() or ended.error_text.strip()}")


def _decoded(token: str) -> str:
    try:
        return base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode("utf-8", "replace")
    except binascii.Error:
        return ""


def _check_discovery(protocol: str, bench: Bench) -> StepOutcome:
    component = bench.component(protocol)
    if component is None:
        return StepOutcome("failed", f"the agent sees no component of {protocol}")
    listed = tool_names(bench.agents[0], component, seconds=SECONDS) or []
    expected = [call.capability for call in CALLS.values() if call.package not in bench.missing]
    absent = [name for name in expected if name not in listed]
    return passed_if(not absent, f"not listed: {', '.join(absent)}")


def _check_call(frontend: str, backend: str, bench: Bench) -> StepOutcome:
    """Call an app through the shim; of each call nothing but an answer with the right sign is right."""
    call = CALLS[backend]
    if frontend == "host":
        outputs = call_capability(
            bench.shim, call.capability, call.arguments, deadline_ms=round(SECONDS * _MS)
        )
        text = json.dumps(outputs, ensure_ascii=False)
    elif frontend == "app-functions":
        with bench.granted(ANY_APP):
            text = _execute_by_shell(bench, call.capability, call.arguments)
    else:
        protocol, transport = FRONTENDS[frontend]
        component = bench.component(protocol)
        if component is None:
            return StepOutcome("failed", f"the agent sees no component of {protocol}")
        with bench.granted(FIRST_AGENT if transport == "bind" else ANY_APP):
            text = text_of(
                call_tool(
                    bench.agents[0],
                    component,
                    call.capability,
                    call.arguments,
                    transport=transport,
                    seconds=SECONDS,
                )
            )
    return passed_if(call.is_answered(text), text)


def _execute_by_shell(bench: Bench, function: str, arguments: Mapping[str, Json]) -> str:
    command = ["cmd", "app_function", "execute-app-function", "--package", SHIM_PACKAGE]
    parameters = json.dumps({name: [value] for name, value in arguments.items()})
    user = str(bench.device_user.user)
    options = ["--function", function, "--parameters", parameters, "--user", user]
    ended = bench.device_user.device.run([*command, *options], deadline=SECONDS)
    return ended.text.strip() or ended.error_text.strip()


def _check_function_shell(bench: Bench) -> StepOutcome:
    shell = app_function_shell(bench.device_user.device)
    if shell.executes:
        return PASSED
    reason = shell.reason or "`cmd app_function` cannot call functions"
    is_expected = bench.device_user.sdk_full in ("36", "36.0")
    return StepOutcome("not-applicable" if is_expected else "failed", reason)


def _check_call_by_shell(backend: str, bench: Bench) -> StepOutcome:
    shell = _check_function_shell(bench)
    return _check_call("app-functions", backend, bench) if shell is PASSED else shell


def _check_grant_of_one_agent(bench: Bench) -> StepOutcome:
    capability = CALLS["mobile-mcp"].capability
    with bench.without_questions(), bench.granted():
        first = OpenCall.begin(bench, capability, {}).text()
        second = OpenCall.begin(bench, capability, {}, agent=1).text()
    if not CALLS["mobile-mcp"].is_answered(first):
        return StepOutcome("failed", f"the agent that is granted: {first}")
    return passed_if("denied" in second, f"the agent that is not granted: {second}")


def _check_revoked_grant(bench: Bench) -> StepOutcome:
    with bench.without_questions():
        with bench.granted():
            pass
        text = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {}).text()
    return passed_if("denied" in text, f"after the grant was revoked: {text}")


def _call_and_press(bench: Bench, button: str, *, agent: int = 0) -> str:
    """Make a call that the user is asked about, press a button, and return the answer."""
    call = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {}, agent=agent)
    control = bench.wait_for_control("Deny" if button == "BACK" else button)
    if control is None:
        bench.press("BACK")
        call.end()
        return f"no button {button} on the screen"
    if button == "BACK":
        bench.press("BACK")
    else:
        bench.tap(control)
    return call.text()


def _check_once(bench: Bench) -> StepOutcome:
    text = _call_and_press(bench, "Once")
    if not CALLS["mobile-mcp"].is_answered(text):
        return StepOutcome("failed", text)
    with bench.without_questions():
        again = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {}).text()
    return passed_if("denied" in again, f"without a question, the next call: {again}")


def _check_always(bench: Bench) -> StepOutcome:
    try:
        text = _call_and_press(bench, "Always")
        if not CALLS["mobile-mcp"].is_answered(text):
            return StepOutcome("failed", text)
        with bench.without_questions():
            again = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {}).text()
    finally:
        bench.shim.revoke(FIRST_AGENT)
    return passed_if(CALLS["mobile-mcp"].is_answered(again), f"the next call: {again}")


def _check_notification(bench: Bench) -> StepOutcome:
    device = bench.device_user.device
    with bench.without_windows():
        call = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {})
        device.check(["cmd", "statusbar", "expand-notifications"])
        row = bench.wait_for_control(_NOTIFICATION, _SYSTEM_UI)
        if row is not None:
            bench.tap(row)
        button = None if row is None else bench.wait_for_control("Once")
        if button is None:
            device.check(["cmd", "statusbar", "collapse"])
            return StepOutcome("failed", f"no {'notification' if row is None else 'question after a tap'}")
        bench.tap(button)
        text = call.text()
    return passed_if(CALLS["mobile-mcp"].is_answered(text), text)


def _check_back(bench: Bench) -> StepOutcome:
    text = _call_and_press(bench, "BACK")
    return passed_if('"failure"' in text, text)


def _check_deny(bench: Bench) -> StepOutcome:
    text = _call_and_press(bench, "Deny", agent=1)
    return passed_if("denied: the user refused" in text, text)


def _check_call_after_denial(bench: Bench) -> StepOutcome:
    text = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {}, agent=1).text()
    return passed_if("retry in" in text, f"right after Deny: {text}")


def _call_window_tool(bench: Bench, milliseconds: int) -> str:
    call = CALLS["mmcp-activity"]
    try:
        outputs = call_capability(bench.shim, call.capability, call.arguments, deadline_ms=milliseconds)
    except ShimRefusalError as error:
        return error.failure.token
    return json.dumps(outputs, ensure_ascii=False)


def _check_window_on_top(bench: Bench) -> StepOutcome:
    bench.press("HOME")
    text = _call_window_tool(bench, round(SECONDS * _MS))
    return passed_if(CALLS["mmcp-activity"].is_answered(text), text)


def _check_refused_window(bench: Bench) -> StepOutcome:
    with bench.without_windows():
        text = _call_window_tool(bench, _REFUSED_WINDOW_MS)
    return passed_if(text in ("needs_user", "timeout"), f"a window opened from the background: {text}")


def _check_large_arguments(bench: Bench) -> StepOutcome:
    for length, refusal in ((60_000, "the parameters are longer than"), (70_000, "invalid_argument")):
        try:
            call_capability(bench.shim, "warmestPlace", {"places": "x" * length})
        except ShimRefusalError as error:
            if refusal not in error.message:
                return StepOutcome("failed", f"{length} characters: {error.message}")
        else:
            return StepOutcome("failed", f"{length} characters: an answer")
    return PASSED


def _check_stopped_app(backend: str, bench: Bench) -> StepOutcome:
    package = CALLS[backend].package
    bench.device_user.device.check(["am", "force-stop", "--user", str(bench.device_user.user), package])
    return _check_call("host", backend, bench)


def _start_service(bench: Bench, sign: str) -> str:
    device, user = bench.device_user.device, str(bench.device_user.user)
    changed = device.run(["dumpsys", "deviceidle", "whitelist", f"{sign}{SHIM_PACKAGE}"])
    device.check(["am", "force-stop", "--user", user, SHIM_PACKAGE])
    component = f"{SHIM_PACKAGE}/dev.droidgate.shim.frontends.ToolService"
    ended = device.run(["am", "startservice", "--user", user, "-n", component])
    return f"{changed.text}{ended.text}{ended.error_text}".strip()


def _check_start_without_exemption(bench: Bench) -> StepOutcome:
    text = _start_service(bench, "-")
    bench.device_user.device.run(["dumpsys", "deviceidle", "whitelist", f"+{SHIM_PACKAGE}"])
    return passed_if("app is in background" in text, text)


def _check_start_with_exemption(bench: Bench) -> StepOutcome:
    text = _start_service(bench, "+")
    return passed_if("Starting service" in text and "Error" not in text, text)


def _check_end_of_process(bench: Bench) -> StepOutcome:
    call = OpenCall.begin(bench, CALLS["mobile-mcp"].capability, {})
    if bench.wait_for_control("Deny") is None:
        return StepOutcome("failed", f"the user was not asked: {call.text()}")
    bench.device_user.device.check(["am", "force-stop", "--user", str(bench.device_user.user), SHIM_PACKAGE])
    ended = call.end()
    kind = "nothing" if ended.event is None else ended.event.kind
    return passed_if(kind == "disconnected", f"after the shim's process ended, the agent got {kind}")


def _ask_person(task: str, question: str, bench: Bench) -> StepOutcome:
    answer = bench.ask(task, question)
    if answer is None:
        return StepOutcome("needs-a-hand", task)
    return passed_if(answer == "yes", f"answered with no: {question}")


_MANUAL_STEPS: Final = {
    "hand/edges": (
        "the question leaves the bars free, upright and turned",
        "call from the agent without a grant, and turn the phone while it asks",
        "Is nothing of the question under the status bar or the navigation bar?",
    ),
    "hand/overlay": (
        "an overlay does not answer the question",
        "let an app with an overlay cover the question, and tap Once below it",
        "Does Once do nothing and say why (API 30 and earlier), or is the overlay hidden (31 and later)?",
    ),
    "hand/talkback": (
        "TalkBack keeps speaking while app functions are called",
        "switch TalkBack on, and call an app function through the shim",
        "Does TalkBack speak before, during and after the call?",
    ),
    "hand/frozen-agent": (
        "an agent that was in the background for minutes gets its answer",
        "leave the agent in the background for five minutes with a call open, then open it",
        "Is the answer there?",
    ),
    "hand/short-service": (
        "a call of 100 seconds ends without a crash",
        "start a call whose window stays open for 100 seconds",
        "Is there neither a crash nor an ANR?",
    ),
    "hand/restart": (
        "grants stay after a restart",
        "grant an agent a capability, restart the phone, and call again",
        "Is the call answered without a question?",
    ),
}
"""What nobody but a person sees: title, what to do, and the question."""


_SHIM: Final = (SHIM_PACKAGE,)
_SHIM_AND_WINDOW_TOOL: Final = (SHIM_PACKAGE, CALLS["mmcp-activity"].package)
_WINDOWS: Final = "windows from the background open before"
_SERVICES: Final = "services start from the background before"
_FUNCTIONS: Final = "app functions"


def _first_sdk(backend: str) -> int:
    """Return the first API level on which a kind of app can be called."""
    return APP_FUNCTIONS_SDK if backend == "app-function" else 24


def _call_step(frontend: str, backend: str) -> Step:
    by_shell = frontend == "app-functions"
    return Step(
        f"call/{frontend}/{backend}",
        "a call reaches the app, and its answer comes back",
        partial(_check_call_by_shell, backend) if by_shell else partial(_check_call, frontend, backend),
        APP_FUNCTIONS_SDK if by_shell else _first_sdk(backend),
        _FUNCTIONS,
        frontend,
        backend,
        (*(SHIM_AND_AGENT if frontend in FRONTENDS else _SHIM), CALLS[backend].package),
    )


STEPS: Final = (
    Step("shell/facts", "the shell has both streams and exit statuses", _check_shell, needs=()),
    Step("install/samples", "the package installer takes apps", _install_samples, needs=(), is_setup=True),
    Step("install/agents", "two agents are installed and answer", _install_agents, needs=(), is_setup=True),
    Step("install/shim", "a shim of all samples is installed and set up", _install_shim,
         needs=(), is_setup=True),
    *(
        Step(f"doctor/{check}", title, partial(_check_doctor, check),
             APP_FUNCTIONS_SDK if check == "accessibility" else 24, "nothing is lent before", needs=_SHIM)
        for check, title in _DOCTOR_CHECKS.items()
    ),
    Step("shell/app-functions", "the shell calls app functions", _check_function_shell,
         APP_FUNCTIONS_SDK, _FUNCTIONS, needs=()),
    Step("host/version", "the shim refuses another version of the computer", _check_other_version),
    *(
        Step(f"discovery/{protocol}", f"an agent of {protocol} finds the shim's capabilities",
             partial(_check_discovery, protocol), frontend=protocol)
        for protocol in ("mobile-mcp", "mmcp", "mmcp-broadcast")
    ),
    *(
        _call_step(frontend, backend)
        for backend in CALLS
        for frontend in ("host", *FRONTENDS, "app-functions")
    ),
    *(
        Step(f"stopped/{backend}", "a call starts an app that was stopped",
             partial(_check_stopped_app, backend),
             _first_sdk(backend), _FUNCTIONS, backend=backend, needs=(SHIM_PACKAGE, call.package))
        for backend, call in CALLS.items()
    ),
    Step("grant/named-agent", "a grant lets its agent call, and no other", _check_grant_of_one_agent),
    Step("grant/revoked", "a revoked grant lets nobody call", _check_revoked_grant),
    Step("consent/once", "Once allows one call", _check_once),
    Step("consent/always", "Always allows the calls after it", _check_always, _ALWAYS_SDK, "Always"),
    Step("consent/notification", "where no window may open, a tap on a notification opens the question",
         _check_notification, BACKGROUND_ACTIVITIES_SDK, _WINDOWS),
    Step("process/dies", "an agent notices that the shim's process ended", _check_end_of_process),
    Step("consent/back", "Back refuses the call", _check_back),
    Step("consent/deny", "Deny refuses the call", _check_deny),
    Step("consent/denied-again", "after Deny nobody is asked for a minute", _check_call_after_denial),
    Step("window/on-top", "a shim that may appear on top opens a tool's window from the background",
         _check_window_on_top, backend="mmcp-activity", needs=_SHIM_AND_WINDOW_TOOL),
    Step("window/refused", "without that right no window opens from the background", _check_refused_window,
         BACKGROUND_ACTIVITIES_SDK, _WINDOWS, backend="mmcp-activity", needs=_SHIM_AND_WINDOW_TOOL),
    Step("call/large", "60,000 characters arrive whole, 70,000 are refused", _check_large_arguments,
         needs=(SHIM_PACKAGE, CALLS["mmcp-broadcast"].package)),
    Step("service/background", "a service without exemption does not start from the background",
         _check_start_without_exemption, BACKGROUND_SERVICES_SDK, _SERVICES, needs=_SHIM),
    Step("service/exempt", "an exempt one does", _check_start_with_exemption,
         BACKGROUND_SERVICES_SDK, _SERVICES, needs=_SHIM),
    *(
        Step(name, title, partial(_ask_person, task, question))
        for name, (title, task, question) in _MANUAL_STEPS.items()
    ),
)  # fmt: skip
STATE_STEP: Final = ("state/as-before", "the phone is as it was before")
"""The last step, which no other can be without."""
