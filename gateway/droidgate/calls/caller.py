"""The one path of a call: find it, check its arguments, the policy and the approval, send it, check the
result, and record it.

Nothing is sent twice: a call that may have had an effect is never repeated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from droidgate.calls.approvals import ApprovalRequest, Approver, refuse, refuse_unshowable
from droidgate.calls.audit_log import ApprovedBy, AuditLog, StartedCall
from droidgate.calls.call_files import PlacedFile, placed_files, placing_commands, plan_files
from droidgate.calls.call_links import CallLink, CommandWords, RawResult, RoutePlan
from droidgate.calls.call_requests import (
    DEFAULT_SECONDS,
    CallRequest,
    CallResult,
    ProgressReports,
    ProgressSink,
    outputs_of,
)
from droidgate.calls.call_routes import CallRoutes, ChosenRoute
from droidgate.calls.call_steps import MAY_BLOCK, CallSteps, Work, is_large, wait_for
from droidgate.calls.pins import PinState, PinStore
from droidgate.calls.policy import Decision, Policy
from droidgate.calls.shell_route import ShellRoute
from droidgate.calls.shim_presence import shims_to_ask
from droidgate.calls.subjects import (
    EVERY_CLIENT,
    CallEffect,
    CallSubject,
    CapabilityKey,
    Pin,
    matches_capability,
)
from droidgate.calls.targets import CallTarget, PhoneTargets, ScreenTarget
from droidgate.calls.traces import NO_TRACE, Trace
from droidgate.devices.device import Device
from droidgate.devices.device_errors import (
    CanceledError,
    ConditionError,
    DeviceStateError,
    NoDeviceError,
    ServerUnreachableError,
    UnsafeArgumentError,
)
from droidgate.devices.packages import InstalledPackage, is_installed_at
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.records import dataclass, field, replace
from droidgate_mappings.values.coercion import (
    Coercion,
    FittedArguments,
    argument_problems,
    fit_arguments,
    fit_result,
)
from droidgate_mappings.values.failures import CallError, Failure, call_error, first_of

if TYPE_CHECKING:
    from droidgate.calls.screen_route import ScreenRoute
    from droidgate.calls.shim_route import ShimRoute
    from droidgate_mappings.formats.installed import DeviceFacts
    from droidgate_mappings.model.capability import Provider

_code = partial(finding_code, module=__name__)

ARGUMENT_COERCED: Final = _code(
    "call-argument-coerced", "An argument of another kind was sent as the kind that is declared"
)
RESULT_COERCED: Final = _code(
    "call-result-coerced", "A result of another kind was read as the kind that is declared"
)
RESULT_DOUBTFUL: Final = _code(
    "call-result-doubtful", "A call succeeded, and its result may be a failure or is incomplete"
)
END_NOT_RECORDED: Final = _code(
    "call-end-not-recorded", "A call was made, and its end could not be written to the audit log"
)

_UNREACHED: Final = (ServerUnreachableError, NoDeviceError, DeviceStateError)
_CANCELED: Final = "the call was canceled; the app may have finished it"
_READING: Final = "read what the apps declare"
_DISABLED: Final = "the phone reports the capability as disabled"


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call would do.

    Attributes:
        target: What would be called.
        subject: What the policy decides on.
        arguments: As they would be sent.
        decision: The policy's.
        pin: Whether the capability is approved.
        route: The route and its device commands.
        passed_over: Why earlier routes cannot carry the call, a sentence each without a period.
        findings: What was coerced.
        files: What would be put on the phone first.
        unmatched_rules: Rules of the policy that match nothing on the phone, a sentence each without a
            period.
    """

    target: CallTarget = field(repr=False)
    subject: CallSubject
    arguments: Mapping[str, Json]
    decision: Decision
    pin: PinState
    route: RoutePlan
    passed_over: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    files: tuple[PlacedFile, ...] = ()
    unmatched_rules: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[CommandWords, ...]:
        """All device commands in order: the route's, and before and after it those for files."""
        placing = placing_commands(self.files)
        return (*placing[:-1], *self.route.commands, *placing[-1:])


@dataclass(frozen=True, slots=True)
class CallControls:
    """How the caller of a call controls and follows it.

    Attributes:
        cancel: Ends the call when it is set. The command on the phone is ended, and a shim ends the call;
            what the app has done is not undone.
        approver: Asks instead of the caller's own.
        allowed: Patterns (`matches_capability`) of what the user has allowed for this call, so that nobody is
            asked; what the policy denies is denied.
        trace: Gets each step with its values.
        progress: Gets what the call waits for, each second, on another thread.
    """

    cancel: threading.Event | None = None
    approver: Approver | None = None
    allowed: Sequence[str] = ()
    trace: Trace = NO_TRACE
    progress: ProgressSink | None = None


NO_CONTROLS: Final = CallControls()


@dataclass(slots=True)
class _Approvals:
    """Gives missing approvals for one call: for what the user has allowed, otherwise from the approver.

    Attributes:
        approver: Asks.
        allowed: What the user has allowed.
        pin: What the approver has approved.
        is_stale: The app was replaced after an answer, which therefore counts for nothing.
        call: Id of the call's first attempt in the audit log, once there is one.
        is_refused: A person who was asked said no.
    """

    approver: Approver
    allowed: Sequence[str]
    pin: Pin | None = None
    is_stale: bool = False
    call: str | None = None
    is_refused: bool = False

    def allow(self, subject: CallSubject) -> bool:
        """Return whether the user has allowed a call, so that nobody is asked."""
        key, serial = subject.key, subject.serial
        return any(matches_capability(pattern, key, serial=serial) for pattern in self.allowed)


@dataclass(frozen=True, slots=True)
class _CheckedCall:
    """A call whose arguments fit, with the policy's decision."""

    target: CallTarget
    subject: CallSubject
    decision: Decision
    pin: Pin
    fitted: FittedArguments
    files: tuple[PlacedFile, ...] = ()
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class _ForeseenCall:
    """A call without a question that the shell sends if the app is still as it was last read."""

    checked: _CheckedCall
    chosen: ChosenRoute
    approved_by: ApprovedBy


@dataclass(slots=True)
class _Attempt:
    """How far an attempt to make a call has come, for the record of its end.

    Attributes:
        chosen: The route, once there is one.
        is_sent: The call may have had an effect.
        approved_by: Who let it be made; None where nobody did.
        is_refused: A person who was asked said no.
    """

    chosen: ChosenRoute | None = None
    is_sent: bool = False
    approved_by: ApprovedBy | None = None
    is_refused: bool = False


class CapabilityCaller:
    """Calls the capabilities of one phone. May be shared by threads; several calls may run at once.

    Args:
        device: The phone.
        policy: What is allowed; the user's by default.
        pins: What was approved; the user's by default.
        audit: Where calls are recorded; the user's log by default.
        approver: Asks somebody where an approval is missing; by default nobody is asked and the call refused.
        signed_by: SHA-256 of the certificate of shims to trust, instead of the user's own key.

    Raises:
        InputError: the user's policy cannot be read.
    """

    def __init__(
        self,
        device: Device,
        *,
        policy: Policy | None = None,
        pins: PinStore | None = None,
        audit: AuditLog | None = None,
        approver: Approver = refuse,
        signed_by: str | None = None,
    ) -> None:
        self.device = device
        self.policy = Policy.load() if policy is None else policy
        self.pins = PinStore() if pins is None else pins
        self._audit = AuditLog() if audit is None else audit
        self._approver = approver
        shims = cache(partial(_shim_route, signed_by))
        self.targets = PhoneTargets(device, partial(_learn, shims))
        self._routes = CallRoutes(self.targets, shims, _screen_route(device))

    def call(self, request: CallRequest, controls: CallControls = NO_CONTROLS) -> CallResult:
        """Call a capability, once; see `steps_of`."""
        return wait_for(self.steps_of(request, controls))

    def steps_of(self, request: CallRequest, controls: CallControls = NO_CONTROLS) -> CallSteps[CallResult]:
        """Call a capability, once.

        Raises:
            UsageError: no capability, or more than one, is named so.
            CallError: the call failed, or is not allowed; `others` has further problems of the arguments.
            InputError: the policy, the pins or the audit log cannot be used.
            DeviceError: the phone fails; whether the call was made is not known.
            WriteError: the trace cannot be written.
        """
        trace = controls.trace
        may_block = trace.is_on or controls.progress is not None or request.files
        if may_block or not (self.targets.is_read and self.pins.is_read and self._audit.is_ready):
            yield MAY_BLOCK
        trace.record_request(request, self.device.serial)
        with trace.recording_failure(), ProgressReports(controls.progress) as reports:
            reports.step = _READING
            link = self._link(request, controls.cancel, trace)
            link.progress = reports
            try:
                approvals = _Approvals(
                    controls.approver or self._approver, controls.allowed, call=request.continues
                )
                result = yield from self._make(request, link, approvals)
            except CanceledError as error:
                raise call_error(Failure("canceled", _CANCELED)) from error
        trace.record_result(result)
        return result

    def explain(self, request: CallRequest) -> CallPlan:
        """Return what a call would do; nothing is called, asked for or recorded.

        Raises:
            UsageError, CallError, InputError, DeviceError: as `call`, as far as it would come.
        """
        link = self._link(request, None, NO_TRACE)
        target = self.targets.find(request.capability, app=request.app, protocol=request.protocol)
        checked = self._check(request, target, link)
        chosen = self._routes.choose(checked.target, checked.fitted.values, link)
        return CallPlan(
            checked.target,
            checked.subject,
            checked.fitted.values,
            checked.decision,
            self.pins.check(checked.pin, client=request.client),
            chosen.plan,
            chosen.passed_over,
            _coercion_findings(ARGUMENT_COERCED, checked.fitted.coercions),
            checked.files,
            self.policy.unmatched(self.every_key()) if self.policy.has_rules else (),
        )

    def every_key(self) -> tuple[tuple[str, CapabilityKey], ...]:
        """Return every capability of the phone with its serial, as `Policy.unmatched` takes them.

        Raises:
            DeviceError: the phone fails.
        """
        every = (*self.targets.all(), *self.targets.screens())
        return tuple((self.device.serial, target.key) for target in every)

    def effect_of(self, target: CallTarget) -> CallEffect:
        """Return what a call of a capability may do, by the policy."""
        is_ours = isinstance(target, ScreenTarget)
        return self.policy.effect_of(
            target.capability, target.key, serial=self.device.serial, is_ours=is_ours
        )

    def uncallable(
        self, targets: Iterable[CallTarget], packages: Iterable[InstalledPackage]
    ) -> dict[CapabilityKey, CallError]:
        """Return the capabilities of which every call would be refused, with the failure of each.

        Such a capability has a name like another's, is denied by the policy, or no route leads to it. One
        that only its app or its declaration closes is in `PhoneTargets.callability`.

        Args:
            targets: Capabilities of the phone.
            packages: What is installed on it.

        Raises:
            DeviceError: the phone fails.
        """
        failures: dict[CapabilityKey, CallError] = {}
        others: list[CallTarget] = []
        for target in targets:
            denied = self.why_denied(target, client=EVERY_CLIENT)
            if denied is None:
                others.append(target)
            else:
                failures[target.key] = denied
        link = CallLink(self.device, self.targets.facts(), DEFAULT_SECONDS)
        return failures | self._routes.unreached(others, link, packages)

    def why_denied(self, target: CallTarget, *, client: str) -> CallError | None:
        """Return why this computer refuses every call of a capability by a client; None where it does not.

        Args:
            target: The capability.
            client: Who calls, as for `uncallable`.
        """
        try:
            self._check_not_denied(target, self._decide(client, target)[1])
        except CallError as error:
            return error
        return None

    def approved_by(
        self, target: CallTarget, *, client: str, allowed: Sequence[str] = ()
    ) -> ApprovedBy | None:
        """Return what approves calls of a capability; None where a person has to be asked.

        Args:
            target: The capability.
            client: Who calls, as for `uncallable`.
            allowed: What the user has allowed, as `CallControls` has it.

        Raises:
            InputError: the pins cannot be used, or it is not known who signed the app.
        """
        subject, decision = self._decide(client, target)
        approvals = _Approvals(self._approver, allowed)
        return self._approval_without_question(target.pin, subject, decision, approvals)[1]

    def _link(self, request: CallRequest, cancel: threading.Event | None, trace: Trace) -> CallLink:
        device = self.device if cancel is None else self.device.ended_by(cancel)
        if trace.is_on:
            device = device.observed_by(trace.record_command)
        begin = time.perf_counter()
        link = CallLink(device, self.targets.facts(request.protocol), request.deadline, trace=trace)
        if time.perf_counter() - begin > _NOTEWORTHY_SECONDS:
            link.add(_READING, begin)
        return link

    def _make(self, request: CallRequest, link: CallLink, approvals: _Approvals) -> CallSteps[CallResult]:
        """Make a call; from the last reading of the app, if the shell can check that it is still current."""
        target = self.targets.known(request.capability, app=request.app, protocol=request.protocol)
        if target is None:
            yield MAY_BLOCK
            target = self.targets.find(request.capability, app=request.app, protocol=request.protocol)
        foreseen = self._foresee(request, target, link, approvals)
        if foreseen is not None:
            with suppress(ConditionError):
                return (yield from self._record(foreseen.checked, link, approvals, foreseen))
        yield MAY_BLOCK
        for _ in range(_MOST_REPLACEMENTS):
            # Nothing was called yet: the app is looked at for the first time, or was replaced or removed.
            checked = self._check(request, target, link)
            target = checked.target
            with suppress(ConditionError):
                return (yield from self._record(checked, link, approvals))
        raise call_error(Failure("unavailable", f"{target.app.package} is replaced again and again"))

    def _foresee(
        self, request: CallRequest, target: CallTarget, link: CallLink, approvals: _Approvals
    ) -> _ForeseenCall | None:
        """Return the call for an app that has not changed since it was read.

        None if it needs an approval, fails, or needs a shim: the app is then read again first, so that
        questions and failures are about its current state. None, too, if the app is read again in any case,
        such as with a trace, which has every step by itself.
        """
        if isinstance(target, ScreenTarget) or target.is_learnt or request.files or link.trace.is_on:
            return None
        with suppress(DroidgateError):
            route = self._routes.shell_if_first(target)
            subject, decision = self._decide(request.client, target)
            if route is None or decision.kind == "deny" or self.targets.why_refused(target) is not None:
                return None
            _, approved_by = self._approval_without_question(target.pin, subject, decision, approvals)
            if approved_by is not None:
                fitted = _fit_arguments(request.arguments, target)
                checked = _CheckedCall(
                    target, subject, decision, target.pin, fitted, traceparent=request.traceparent
                )
                plan = route.plan(target, checked.fitted.values, link)
                return _ForeseenCall(checked, ChosenRoute(route, plan), approved_by)
        return None

    def _check(self, request: CallRequest, named_target: CallTarget, link: CallLink) -> _CheckedCall:
        """Check that the capability is as it was found, check the arguments, and apply the policy."""
        with link.hop("look at the app"):
            target = self.targets.current(named_target, link.device)
        files = plan_files(request.files, target)
        arguments = {**request.arguments, **{file.argument: file.path for file in files}}
        fitted = _fit_arguments(arguments, target)
        subject, decision = self._decide(request.client, target)
        checked = _CheckedCall(target, subject, decision, target.pin, fitted, files, request.traceparent)
        link.trace.record_decision(checked.subject, checked.fitted, checked.decision)
        return checked

    def _decide(self, client: str, target: CallTarget) -> tuple[CallSubject, Decision]:
        """Return what the policy decides on, and its decision."""
        key, serial = target.key, self.device.serial
        subject = CallSubject(
            serial,
            key.user,
            key.package,
            key.component,
            key.protocol,
            key.capability,
            self.effect_of(target),
            client,
        )
        return subject, self.policy.decide(subject)

    def _record(
        self,
        checked: _CheckedCall,
        link: CallLink,
        approvals: _Approvals,
        foreseen: _ForeseenCall | None = None,
    ) -> CallSteps[CallResult]:
        """Make the call between the two records of the audit log; one that was foreseen has its route.

        Raises:
            ConditionError: the app was replaced or removed; nothing was called.
        """
        attempt = _Attempt()
        if foreseen is not None:
            attempt.chosen, attempt.approved_by = foreseen.chosen, foreseen.approved_by
        begin = time.monotonic()
        started = self._audit.start(
            checked.subject,
            pin=checked.pin.digest,
            arguments=dict(checked.fitted.values),
            decision=checked.decision,
            traceparent=checked.traceparent,
            continues=approvals.call,
        )
        approvals.call = approvals.call or started.id
        outcome = "canceled"
        try:
            yield started.record
        except CanceledError:
            # The record may be on its way to the disk.
            yield from self._record_end(started, _Attempt(), outcome, 0)
            raise
        try:
            if attempt.chosen is None:
                checked, attempt.approved_by = self._approve(checked, link, approvals)
                attempt.chosen = self._routes.choose(checked.target, checked.fitted.values, link)
            result = yield from self._send(checked, attempt.chosen, attempt, link)
            outcome = "ok"
        except CallError as error:
            outcome, attempt.is_refused = error.failure.token, approvals.is_refused
            raise
        except CanceledError:
            raise
        except ConditionError:
            outcome = "unavailable"
            raise
        except Exception as error:
            # The first command of a foreseen call is the call itself: it may not have reached the phone.
            is_sent = attempt.is_sent and not (foreseen and isinstance(error, _UNREACHED))
            outcome = "interrupted" if is_sent else "unavailable"
            if isinstance(error, DeviceError):
                error.is_of_sent_call = is_sent
            raise
        finally:
            elapsed = round((time.monotonic() - begin) * 1000)
            unrecorded = yield from self._record_end(started, attempt, outcome, elapsed)
        return replace(result, findings=(*result.findings, *unrecorded))

    def _record_end(
        self, started: StartedCall, attempt: _Attempt, outcome: str, elapsed: int
    ) -> CallSteps[tuple[Finding, ...]]:
        """Record how a call ended, or return a finding where that fails; the call has been made."""
        route = None if attempt.chosen is None else attempt.chosen.plan.route
        ended = self._audit.end(
            started,
            route=route,
            result=outcome,
            duration_ms=elapsed,
            approved_by=attempt.approved_by,
            is_refused=attempt.is_refused,
        )
        try:
            yield ended
        except CanceledError:
            yield ended
            raise
        except DroidgateError as error:
            message = f"the end of the call is not in the audit log: {error.message}"
            return (_finding(END_NOT_RECORDED, Level.ERROR, "", message),)
        return ()

    def _approve(
        self, checked: _CheckedCall, link: CallLink, approvals: _Approvals
    ) -> tuple[_CheckedCall, ApprovedBy]:
        """Return the call if it may be made, and who approved it; a person is asked where nobody has.

        Raises:
            CallError: the call is not allowed.
            ConditionError: the app, or what it declares, is not what the answer was about.
        """
        subject, decision = checked.subject, checked.decision
        self._check_not_denied(checked.target, decision)
        state, approved_by = self._approval_without_question(checked.pin, subject, decision, approvals)
        if approved_by is not None:
            link.trace.record_approval(state.kind, allowed=True if approved_by == "option" else None)
            return checked, approved_by
        approval_request = ApprovalRequest(
            subject,
            checked.target.capability,
            checked.fitted.values,
            checked.pin,
            state,
            decision,
            is_asked_anew=approvals.is_stale,
            call=approvals.call or "",
        )
        self._routes.check(checked.target, checked.fitted.values, link)
        with link.hop("ask for an approval"):
            link.progress.step = None
            answer = refuse_unshowable(approval_request) or approvals.approver(approval_request)
        link.trace.record_approval(state.kind, allowed=answer.allowed)
        if not answer.allowed:
            approvals.is_refused = answer.token == "denied"  # noqa: S105 - a failure token
            text = answer.message or decision.reason
            hint = f"a person approves it on a terminal: {approval_request.fix}"
            raise call_error(Failure(answer.token, text), hint=None if approvals.is_refused else hint)
        with link.hop("look at the app again"):
            now = self.targets.current(checked.target, link.device)
        if now.pin != checked.pin:
            approvals.is_stale = True
            raise ConditionError("the app was replaced before the answer came", place=subject.package)
        approvals.pin = checked.pin
        if answer.remember:
            self.pins.approve(checked.pin, now.provider, client=subject.client)
        return replace(checked, target=now), "person"

    def _check_not_denied(self, target: CallTarget, decision: Decision) -> None:
        refused = self.targets.why_refused(target)
        if refused is not None:
            raise call_error(Failure("denied", refused))
        if decision.kind == "deny":
            raise call_error(Failure("denied", decision.reason), hint=f"see {decision.rule}")

    def _approval_without_question(
        self, pin: Pin, subject: CallSubject, decision: Decision, approvals: _Approvals
    ) -> tuple[PinState, ApprovedBy | None]:
        """Return whether a capability is pinned, and who approves its call; None if a person has to be asked.

        Rules that deny are checked elsewhere.
        """
        state = self.pins.check(pin, client=subject.client)
        if decision.kind == "allow" and state.kind != "changed":
            return state, "policy"
        if state.kind == "approved":
            return state, "pin"
        if approvals.pin == pin:
            return state, "person"
        return state, "option" if approvals.allow(subject) else None

    def _send(
        self, checked: _CheckedCall, chosen: ChosenRoute, attempt: _Attempt, link: CallLink
    ) -> CallSteps[CallResult]:
        route, plan = chosen.route, chosen.plan
        link.trace.record_route(plan.route, plan.title, chosen.passed_over)
        if isinstance(route, ShellRoute):
            if (yield from route.check_enabled(plan, link)) is False:
                raise call_error(Failure("disabled", _DISABLED))
            # A shim knows its app and looks at it itself.
            app = checked.target.app
            link.condition = is_installed_at(app.package, app.path, checked.target.user)
        with placed_files(checked.files, link, self.device):
            attempt.is_sent = True
            try:
                if isinstance(route, ShellRoute):
                    raw = yield from route.send(plan, checked.target, link)
                else:
                    raw = route.send(plan, checked.target, link)
            except UnsafeArgumentError as error:
                # The arguments of the call are too long, or not text: nothing of it was sent.
                raise call_error(Failure("invalid_argument", error.message), hint=error.hint) from error
        fitting = partial(_fitted_result, raw)
        value, findings = (yield Work(fitting)) if is_large(raw.value) else fitting()
        return CallResult(
            value,
            outputs_of(value),
            checked.target.key,
            self.device.serial,
            plan.route,
            (*_coercion_findings(ARGUMENT_COERCED, checked.fitted.coercions), *findings),
            tuple(link.hops),
        )


_MOST_REPLACEMENTS: Final = 5
"""How often a call begins anew since its app was replaced meanwhile."""

_NOTEWORTHY_SECONDS: Final = 0.001
"""Reading an app takes less if it was read before."""


def _shim_route(signed_by: str | None) -> ShimRoute:
    from droidgate.calls.shim_route import ShimRoute

    return ShimRoute(signed_by)


def _learn(
    shims: Callable[[], ShimRoute], provider: Provider, facts: DeviceFacts, device: Device
) -> Provider | None:
    """Return a receiver of broadcasts with the tools that a shim asks it for; None where no shim can."""
    asked = shims_to_ask(provider, facts, device)
    return shims().ask_for_tools(provider, asked, facts, device) if asked else None


def _screen_route(device: Device) -> Callable[[], ScreenRoute]:
    """Return what makes the route by a phone's screen, once: the ids of controls hold between calls."""
    routes: list[ScreenRoute] = []
    making = threading.Lock()

    def route() -> ScreenRoute:
        from droidgate.calls.screen.screen_tools import MobileAgentTools
        from droidgate.calls.screen_route import ScreenRoute

        with making:
            if not routes:
                routes.append(ScreenRoute(MobileAgentTools(lambda: device)))
            return routes[0]

    return route


def _fit_arguments(arguments: Mapping[str, Json], target: CallTarget) -> FittedArguments:
    """Return the arguments as declared.

    Raises:
        CallError: they do not fit; it has every problem.
    """
    definitions = target.provider.definitions
    try:
        return fit_arguments(arguments, target.capability, definitions)
    except CallError as error:
        problems = argument_problems(arguments, target.capability, definitions)
        raise first_of(problems or [error]) from None


def _fitted_result(raw: RawResult) -> tuple[Json, tuple[Finding, ...]]:
    notes = () if raw.note is None else (_finding(RESULT_DOUBTFUL, Level.WARNING, "", raw.note),)
    if raw.declared is None:
        return raw.value, notes
    fitted = fit_result(raw.value, raw.declared, raw.definitions)
    return fitted.value, (*_coercion_findings(RESULT_COERCED, fitted.coercions), *notes)


def _coercion_findings(code: str, coercions: tuple[Coercion, ...]) -> tuple[Finding, ...]:
    return tuple(_finding(code, Level.NOTE, coercion.pointer, coercion.message) for coercion in coercions)


def _finding(code: str, level: Level, pointer: str, message: str) -> Finding:
    return Finding(code=code, level=level, pointer=pointer, message=message)
