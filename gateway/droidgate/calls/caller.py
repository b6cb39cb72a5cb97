"""The one path of a call: find it, check its arguments, the policy and the approval, send it, check the
result, and record it.

Nothing is sent twice: a call that may have had an effect is never repeated.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from droidgate.calls.approvals import ApprovalRequest, Approver, refuse, refuse_unshowable
from droidgate.calls.audit_log import AuditLog, StartedCall
from droidgate.calls.call_files import PlacedFile, placed_files, placing_commands, plan_files
from droidgate.calls.call_requests import CallRequest, CallResult, ProgressReports, ProgressSink, outputs_of
from droidgate.calls.call_routes import CallLink, Command, RawResult, RoutePlan
from droidgate.calls.pins import PinState, PinStore
from droidgate.calls.policy import Decision, Policy
from droidgate.calls.screen.screen_tools import MobileAgentTools
from droidgate.calls.screen_route import ScreenRoute
from droidgate.calls.shell_route import ShellRoute
from droidgate.calls.shim_route import ShimRoute
from droidgate.calls.subjects import CallSubject, CapabilityKey, NamePattern, Pin
from droidgate.calls.targets import CallTarget, PhoneTargets, ScreenTarget
from droidgate.calls.traces import NO_TRACE, Trace
from droidgate.devices.device import Device
from droidgate.devices.device_errors import (
    CanceledError,
    ConditionError,
    DeviceStateError,
    NoDeviceError,
    ServerUnreachableError,
)
from droidgate.devices.packages import is_installed_at
from droidgate_mappings.formats.format import load_formats
from droidgate_mappings.formats.reachability import capability_verdict, interface_of
from droidgate_mappings.formats.shell_calls import NotCarriedError
from droidgate_mappings.model.errors import DeviceError, DroidgateError
from droidgate_mappings.model.findings import Finding, Level, finding_code
from droidgate_mappings.model.json_values import Json
from droidgate_mappings.values.coercion import (
    Coercion,
    FittedArguments,
    argument_problems,
    fit_arguments,
    fit_result,
)
from droidgate_mappings.values.failures import CallError, Failure, call_error, first_of

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

CapabilityRoute = ShellRoute | ShimRoute | ScreenRoute
"""A way to a capability: it plans a call, sees whether the capability is enabled, and sends the call once."""

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
        route: The way and its device commands.
        passed_over: Why earlier ways cannot carry the call, a sentence each without a period.
        findings: What was coerced.
        files: What would be put on the phone first.
        unmatched_rules: Rules of the policy that match nothing on the phone, a sentence each without a
            period.
    """

    target: CallTarget
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
    def commands(self) -> tuple[Command, ...]:
        """All device commands in order: the route's, and before and after it those for files."""
        placing = placing_commands(self.files)
        return (*placing[:-1], *self.route.commands, *placing[-1:])


@dataclass(slots=True)
class _Approvals:
    """Gives missing approvals for one call: for what the user has allowed, otherwise from the approver.

    Attributes:
        approver: Asks.
        allowed: What the user has allowed.
        given: What the approver has approved.
        is_stale: The app was replaced after an answer, which therefore counts for nothing.
    """

    approver: Approver
    allowed: Sequence[NamePattern]
    given: Pin | None = None
    is_stale: bool = False

    def allow(self, subject: CallSubject) -> bool:
        """Return whether the user has allowed a call, so that nobody is asked."""
        return any(pattern.matches(subject) for pattern in self.allowed)


@dataclass(slots=True)
class _Checked:
    """A call whose arguments fit."""

    target: CallTarget
    subject: CallSubject
    pin: Pin
    decision: Decision
    fitted: FittedArguments
    files: tuple[PlacedFile, ...] = ()
    sent_by: str | None = None
    is_sent: bool = False
    way: tuple[CapabilityRoute, RoutePlan] | None = None
    passed_over: list[str] = field(default_factory=list)


class Caller:
    """Calls the capabilities of one phone. May be shared by threads; several calls may run at once.

    Args:
        device: The phone.
        policy: What is allowed; the user's by default.
        pins: What was approved; the user's by default.
        audit: Where calls are recorded; the user's log by default.
        approver: Asks somebody where an approval is missing; by default nobody is asked and the call refused.
        signed_by: SHA-256 of the certificate of shims to trust, instead of the user's own key.
        keep: Use and keep what was read of APKs.

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
        keep: bool = True,
    ) -> None:
        self.device = device
        self.policy = Policy.load() if policy is None else policy
        self.pins = PinStore() if pins is None else pins
        self._audit = AuditLog() if audit is None else audit
        self._approver = approver
        self._shims = ShimRoute(signed_by)
        self._screens = ScreenRoute(MobileAgentTools(lambda: device))
        self.targets = PhoneTargets(device, self._shims.ask_for_tools, keep=keep)

    def call(
        self,
        request: CallRequest,
        *,
        cancel: threading.Event | None = None,
        approver: Approver | None = None,
        allowed: Sequence[NamePattern] = (),
        trace: Trace = NO_TRACE,
        progress: ProgressSink | None = None,
    ) -> CallResult:
        """Call a capability, once.

        Args:
            request: The call.
            cancel: Ends the call when it is set. The command on the phone is ended, and a shim ends the call;
                what the app has done is not undone.
            approver: Asks instead of the caller's own.
            allowed: Capabilities that the user has allowed for this call, so that nobody is asked; what the
                policy denies is denied.
            trace: Gets each step with its values.
            progress: Gets what the call waits for, each second, on another thread.

        Raises:
            UsageError: no capability, or more than one, is named so.
            CallError: the call failed, or is not allowed; `others` has further problems of the arguments.
            InputError: the policy, the pins or the audit log cannot be used.
            DeviceError: the phone fails; whether the call was made is not known.
            WriteError: the trace cannot be written.
        """
        trace.record_request(request, self.device.serial)
        with trace.recording_failure(), ProgressReports(progress) as reports:
            reports.step = _READING
            link = self._link(request, cancel, trace)
            link.progress = reports
            try:
                result = self._make(request, link, _Approvals(approver or self._approver, allowed))
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
        found = self.targets.find(request.capability, app=request.app, protocol=request.protocol)
        checked = self._check(request, found, link)
        _, plan = self._choose(checked, link)
        return CallPlan(
            checked.target,
            checked.subject,
            checked.fitted.values,
            checked.decision,
            self.pins.check(checked.pin, client=request.client),
            plan,
            tuple(checked.passed_over),
            _coerced(ARGUMENT_COERCED, checked.fitted.coercions),
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

    def _link(self, request: CallRequest, cancel: threading.Event | None, trace: Trace) -> CallLink:
        device = self.device if cancel is None else self.device.ended_by(cancel)
        if trace.is_on:
            device = device.observed_by(trace.record_command)
        begin = time.perf_counter()
        link = CallLink(device, self.targets.facts(request.protocol), request.deadline, trace=trace)
        if time.perf_counter() - begin > _NOTEWORTHY_SECONDS:
            link.add(_READING, begin)
        return link

    def _make(self, request: CallRequest, link: CallLink, approvals: _Approvals) -> CallResult:
        """Make a call; from the last reading of the app, if the shell can check that it is still current."""
        found = self.targets.find(request.capability, app=request.app, protocol=request.protocol)
        foreseen = self._foresee(request, found, link, approvals)
        if isinstance(foreseen, _Checked) and foreseen.way is not None:
            checked = foreseen
        else:
            checked = self._check(request, found, link, foreseen)
        for _ in range(_MOST_REPLACEMENTS):
            with suppress(ConditionError):
                return self._record(checked, link, approvals)
            # Nothing was called: the app has been replaced or removed.
            checked = self._check(request, checked.target, link)
        raise call_error(Failure("unavailable", f"{found.app.package} is replaced again and again"))

    def _foresee(
        self, request: CallRequest, found: CallTarget, link: CallLink, approvals: _Approvals
    ) -> _Checked | CallError | None:
        """Return the call for an app that has not changed since it was read, or the failure of its arguments.

        The call has no way if it needs an approval, fails, or needs a shim: the app is then read again first,
        so that questions and failures are about its current state. Return None if the app is read again
        in any case, such as with a trace, which has every step by itself.
        """
        if isinstance(found, ScreenTarget) or found.is_learnt or request.files or link.trace.is_on:
            return None
        try:
            checked = self._checked(request, found, ())
        except CallError as error:
            return error
        with suppress(NotCarriedError, DroidgateError):
            first = next(self._routes_of(found))
            if isinstance(first, ShellRoute) and self._is_allowed(checked, approvals):
                checked.way = first, first.plan(found, checked.fitted.values, link)
        return checked

    def _check(
        self,
        request: CallRequest,
        found: CallTarget,
        link: CallLink,
        foreseen: _Checked | CallError | None = None,
    ) -> _Checked:
        """Check that the capability is as it was found, check the arguments, and apply the policy."""
        with link.hop("look at the app"):
            target = self.targets.current(found, link.device)
        if foreseen is not None and target is found:
            if isinstance(foreseen, CallError):
                raise foreseen
            return foreseen
        checked = self._checked(request, target, plan_files(request.files, target))
        link.trace.record_decision(checked.subject, checked.fitted, checked.decision)
        return checked

    def _checked(self, request: CallRequest, target: CallTarget, files: tuple[PlacedFile, ...]) -> _Checked:
        given = {**request.arguments, **{file.argument: file.path for file in files}}
        fitted = _fitted(given, target)
        key, serial = target.key, self.device.serial
        subject = CallSubject(
            serial,
            key.user,
            key.package,
            key.component,
            key.protocol,
            key.capability,
            self.policy.effect_of(
                target.capability, key, serial=serial, is_ours=isinstance(target, ScreenTarget)
            ),
            request.client,
        )
        return _Checked(target, subject, target.pin, self.policy.decide(subject), fitted, files)

    def _record(self, checked: _Checked, link: CallLink, approvals: _Approvals) -> CallResult:
        """Make the call between the two records of the audit log."""
        begin = time.monotonic()
        started = self._audit.start(
            checked.subject,
            pin=checked.pin.digest,
            arguments=dict(checked.fitted.values),
            decision=checked.decision,
        )
        outcome = "canceled"
        try:
            self._approve(checked, link, approvals)
            result = self._send(checked, link)
            outcome = "ok"
        except CallError as error:
            outcome = error.failure.token
            raise
        except CanceledError:
            raise
        except ConditionError:
            outcome = "unavailable"
            raise
        except Exception as error:
            # If the way was chosen in advance, the first command is the call itself.
            is_sent = checked.is_sent and not (checked.way and isinstance(error, _UNREACHED))
            outcome = "interrupted" if is_sent else "unavailable"
            if isinstance(error, DeviceError):
                error.is_of_sent_call = is_sent
            raise
        finally:
            elapsed = round((time.monotonic() - begin) * 1000)
            unrecorded = self._record_end(started, checked.sent_by, outcome, elapsed)
        return replace(result, findings=(*result.findings, *unrecorded))

    def _record_end(
        self, started: StartedCall, route: str | None, outcome: str, elapsed: int
    ) -> tuple[Finding, ...]:
        """Record how a call ended, or return a finding where that fails; the call has been made."""
        try:
            self._audit.end(started, route=route, result=outcome, duration_ms=elapsed)
        except DroidgateError as error:
            message = f"the end of the call is not in the audit log: {error.message}"
            return (_finding(END_NOT_RECORDED, Level.ERROR, "", message),)
        return ()

    def _approve(self, checked: _Checked, link: CallLink, approvals: _Approvals) -> None:
        """Check that the call may be made, asking where an approval is missing.

        Raises:
            CallError: it may not.
            ConditionError: the app, or what it declares, is not what the answer was about.
        """
        if checked.way is not None:
            # Only a call that needs no approval has its way already.
            return
        subject, decision = checked.subject, checked.decision
        refused = self.targets.why_refused(checked.target)
        if refused is not None:
            raise call_error(Failure("denied", refused))
        if decision.kind == "deny":
            raise call_error(Failure("denied", decision.reason), hint=f"see {decision.rule}")
        state = self.pins.check(checked.pin, client=subject.client)
        if _needs_nobody(state, decision) or approvals.given == checked.pin:
            link.trace.record_approval(state.kind, allowed=None)
            return
        if approvals.allow(subject):
            link.trace.record_approval(state.kind, allowed=True)
            return
        asked = ApprovalRequest(
            subject,
            checked.target.capability,
            checked.fitted.values,
            checked.pin,
            state,
            decision,
            is_asked_anew=approvals.is_stale,
        )
        # Do not ask about a call that no way can carry.
        self._choose(checked, link)
        checked.passed_over.clear()
        with link.hop("ask for an approval"):
            link.progress.step = None
            answer = refuse_unshowable(asked) or approvals.approver(asked)
        link.trace.record_approval(state.kind, allowed=answer.allowed)
        if not answer.allowed:
            text = answer.message or decision.reason
            raise call_error(Failure(answer.token, text), hint=f"to approve it: {asked.way_out}")
        with link.hop("look at the app again"):
            now = self.targets.current(checked.target, link.device)
        if now.pin != checked.pin:
            approvals.is_stale = True
            raise ConditionError("the app was replaced before the answer came", place=subject.package)
        checked.target, approvals.given = now, checked.pin
        if answer.remember:
            self.pins.approve(checked.pin, now.provider, client=subject.client)

    def _is_allowed(self, checked: _Checked, approvals: _Approvals) -> bool:
        """Return whether a call may be made without asking anybody."""
        if self.targets.why_refused(checked.target) is not None or checked.decision.kind == "deny":
            return False
        state = self.pins.check(checked.pin, client=checked.subject.client)
        return _needs_nobody(state, checked.decision) or approvals.allow(checked.subject)

    def _send(self, checked: _Checked, link: CallLink) -> CallResult:
        route, plan = checked.way or self._choose(checked, link)
        checked.sent_by = plan.route
        link.trace.record_route(plan.route, plan.title, checked.passed_over)
        if route.check_enabled(plan, link) is False:
            raise call_error(Failure("disabled", _DISABLED))
        if isinstance(route, ShellRoute):
            # A shim knows its app and looks at it itself.
            app = checked.target.app
            link.condition = is_installed_at(app.package, app.path, checked.target.user)
        with placed_files(checked.files, link, self.device):
            checked.is_sent = True
            raw = route.send(plan, checked.target, link)
        value, findings = _fitted_result(raw)
        return CallResult(
            value,
            outputs_of(value),
            checked.target.key,
            self.device.serial,
            plan.route,
            (*_coerced(ARGUMENT_COERCED, checked.fitted.coercions), *findings),
            tuple(link.hops),
        )

    def _choose(self, checked: _Checked, link: CallLink) -> tuple[CapabilityRoute, RoutePlan]:
        """Return the first way that can carry the call, with what it would do.

        Raises:
            CallError: none can.
        """
        failed: list[NotCarriedError | CallError] = []
        for route in self._routes_of(checked.target):
            try:
                plan = route.plan(checked.target, checked.fitted.values, link)
            except (NotCarriedError, CallError) as error:
                failed.append(error)
                checked.passed_over.append(f"{route.title}: {error.message}")
            else:
                return route, plan
        first = failed[0]
        if isinstance(first, CallError):
            raise first
        token = "invalid_argument" if first.pointer else "unavailable"
        where = f"{first.pointer}: " if first.pointer else ""
        text = "; ".join([f"{where}{first.message}", *(error.message for error in failed[1:])])
        hint = next((error.hint for error in reversed(failed) if error.hint), None)
        raise call_error(Failure(token, text), pointer=first.pointer or None, hint=hint)

    def _routes_of(self, target: CallTarget) -> Iterator[CapabilityRoute]:
        """Yield the ways to a capability, the best first.

        Raises:
            CallError: Android lets only the app itself call it.
        """
        if isinstance(target, ScreenTarget):
            yield self._screens
            return
        provider = target.provider
        callability = self.targets.callability(target)
        access = capability_verdict(target.capability.access, interface_of(provider))
        closed = callability.verdict.closed_because or access.closed_because
        if closed is not None:
            raise call_error(Failure("unavailable", f"{target.capability.id} cannot be called: {closed}"))
        format_ = load_formats()[provider.protocol]
        if format_.shell_calls is not None:
            calls = format_.shell_calls()
            for way in callability.routes:
                if way.ready and way.id == calls.route_id:
                    yield ShellRoute(way.title, calls)
        yield self._shims


_MOST_REPLACEMENTS: Final = 5
"""How often a call begins anew since its app was replaced meanwhile."""

_NOTEWORTHY_SECONDS: Final = 0.001
"""Reading an app takes less if it was read before."""


def _needs_nobody(state: PinState, decision: Decision) -> bool:
    """Return whether a call needs no question for an approval; rules that deny are checked elsewhere."""
    return state.kind == "approved" or (decision.kind == "allow" and state.kind == "new")


def _fitted(arguments: Mapping[str, Json], target: CallTarget) -> FittedArguments:
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
    return fitted.value, (*_coerced(RESULT_COERCED, fitted.coercions), *notes)


def _coerced(code: str, coercions: tuple[Coercion, ...]) -> tuple[Finding, ...]:
    return tuple(_finding(code, Level.NOTE, coercion.pointer, coercion.message) for coercion in coercions)


def _finding(code: str, level: Level, pointer: str, message: str) -> Finding:
    return Finding(code=code, level=level, pointer=pointer, message=message)
