"""What `call` does; also the line on a terminal that says what a call waits for."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING

from droidgate.calls.call_files import fetch_files
from droidgate.calls.call_requests import CallProgress, CallRequest, CallResult
from droidgate.calls.caller import CallControls, CallPlan, CapabilityCaller
from droidgate.calls.subjects import EVERY_CAPABILITY, CapabilityKey
from droidgate.calls.traces import open_trace
from droidgate.cli.calls.call_options import Call
from droidgate.cli.calls.terminal_approval import ask_on_terminal
from droidgate.cli.calls.typed_arguments import output_lines, read_arguments, read_files
from droidgate.cli.exit_codes import ExitCode
from droidgate.cli.output.pages import Line, print_note, print_warning
from droidgate.cli.output.reports import Report
from droidgate.cli.output.waiting_line import clear_waiting_line, run_with_steps_shown, show_waiting_line
from droidgate.devices.device import connect_device
from droidgate.devices.quoting import join_command, quote_argument
from droidgate.shims.refusals import ShimRefusalError
from droidgate_mappings.model.errors import DeviceError, InputError, UsageError
from droidgate_mappings.model.findings import Finding, Level
from droidgate_mappings.model.json_values import one_line_json
from droidgate_mappings.values.failures import CallError

if TYPE_CHECKING:
    from droidgate.cli.calls.call_documents import CallDocument, CalledCapability, CallPlanDocument


def call(options: Call) -> int:
    """Make, or explain, the call or the calls that are asked for.

    Raises:
        UsageError: options exclude each other, or no capability is named.
    """
    of_one_call = (options.capability, options.values, options.files, options.pull, options.explain)
    is_one_call = any((*of_one_call, options.trace, options.as_json, options.arguments != "{}"))
    if options.commands is not None:
        of_a_batch = (options.batch, options.results, options.package, options.protocol, options.signed_by)
        if is_one_call or any(of_a_batch):
            message = "--commands excludes every option but --serial, --deadline and --yes"
            raise UsageError(message, hint="write each command with its arguments into the file")
        from droidgate.cli.calls.batch_calls import call_commands

        return call_commands(options.commands, options)
    if options.batch is not None:
        if is_one_call:
            message = (
                "--batch excludes CAPABILITY, NAME=VALUE, --args, --file, --pull, --explain, "
                "--trace and --json"
            )
            raise UsageError(message, hint="write each call with its arguments into the file")
        from droidgate.cli.calls.batch_calls import call_batch

        return call_batch(options.batch, options)
    if options.explain and options.trace is not None:
        raise UsageError("--explain excludes --trace", hint="nothing is called, so there is nothing to trace")
    if options.capability is None:
        raise UsageError("missing argument CAPABILITY", hint="name a capability, or a file with --batch")
    arguments = read_arguments(options.arguments, options.values or ())
    files = read_files(options.files or (), arguments)
    request = CallRequest(
        options.capability,
        arguments,
        options.package,
        options.protocol,
        options.deadline,
        files=files,
    )
    return explain_and_report(request, options) if options.explain else call_and_report(request, options)


def call_and_report(request: CallRequest, options: Call) -> int:
    """Call a capability and print its outputs.

    Raises:
        UsageError: no capability, or more than one, is named so.
        CallError: the call failed; 6 where it is not allowed, else 5.
        InputError: the policy, the pins or the audit log cannot be used, or files cannot be fetched there.
        DeviceError: the phone fails.
        WriteError: the trace cannot be written, or there is a file of its name.
    """
    if options.pull is not None and options.pull.exists() and not options.pull.is_dir():
        raise InputError("it is not a folder", place=str(options.pull), hint="name a folder with --pull")
    caller = _caller(options)
    with open_trace(options.trace, force=options.force) as steps:
        allowed = EVERY_CAPABILITY if options.approved else ()
        try:
            controls = CallControls(
                approver=ask_on_terminal, allowed=allowed, trace=steps, progress=_show_progress
            )
            result = caller.call(request, controls)
        except CallError as error:
            point_to_parameters(error, request.capability, options.serial)
            raise
        except DeviceError as error:
            if error.is_of_sent_call:
                error.message = f"the app may have finished the call: {error.message}"
            raise
        except KeyboardInterrupt:
            print_warning("stopped; `droidgate audit show --last 1` names the call if it was sent")
            raise
        finally:
            clear_waiting_line()
    try:
        if options.pull is not None:
            fetched = fetch_files(result.value, options.pull, caller.device)
            result = replace(result, findings=(*result.findings, *fetched.findings))
            for copy in fetched.copies:
                print_note(f"created: {copy}")
    finally:
        # The call was made, so Ctrl-C while its files are fetched must not take its result.
        _warn(result.findings)
        report = Report(lambda: output_lines(result.outputs), lambda: _call_document(result), is_data=True)
        report.print(options.form)
    return ExitCode.OK


def _show_progress(progress: CallProgress) -> None:
    show_waiting_line(progress.text, progress.seconds)


def explain_and_report(request: CallRequest, options: Call) -> int:
    """Print what a call would do; nothing is called.

    Raises:
        UsageError, CallError, InputError, DeviceError: as `call_and_report`.
    """
    plan = run_with_steps_shown(lambda: _caller(options).explain(request))
    report = Report(lambda: _plan_lines(plan), lambda: _plan_document(plan), is_data=True)
    return report.print(options.form)


def point_to_parameters(error: CallError | ShimRefusalError, capability: str, serial: str | None) -> None:
    """Add to the last problem of the arguments how the declared parameters are listed."""
    last = (error, *getattr(error, "others", ()))[-1]
    if error.failure.token == "invalid_argument" and last.hint is None:  # noqa: S105
        command = f"droidgate inspect adb:{serial or ''} --capability {quote_argument(capability)}"
        last.hint = f"`{command}` lists the parameters"


def _caller(options: Call) -> CapabilityCaller:
    return CapabilityCaller(connect_device(options.serial), signed_by=options.signed_by)


def _plan_lines(plan: CallPlan) -> list[Line]:
    subject = plan.subject
    # The first command makes a folder, the next ones read a file each.
    reads = ["", *(f" <{quote_argument(str(file.source))}" for file in plan.files)]
    adb = f"adb -s {quote_argument(subject.serial)} shell"
    return [
        Line(f"{subject.capability} of {subject.package} ({subject.protocol})"),
        Line(f"arguments: {one_line_json(dict(plan.arguments))}"),
        Line(f"effect: {subject.effect.value}"),
        Line(f"policy: {plan.decision.kind} ({plan.decision.rule}: {plan.decision.reason})"),
        *(Line(f"warning: {text}", 1) for text in plan.unmatched_rules),
        Line(f"approval: {plan.pin.kind}"),
        Line(f"route: {plan.route.title}"),
        *(Line(f"not by {reason}", 1) for reason in plan.passed_over),
        Line("commands, not run:"),
        *(
            Line(f"{adb} {quote_argument(join_command(command))}{source}", 1)
            for command, source in zip_longest(plan.commands, reads, fillvalue="")
        ),
    ]


def _warn(findings: tuple[Finding, ...]) -> None:
    for finding in findings:
        if finding.level is not Level.NOTE:
            print_warning(f"warning: {finding.message}")


def _call_document(result: CallResult) -> CallDocument:
    from droidgate.cli.calls.call_documents import CallDocument

    return CallDocument.of(
        result,
        capability=_called_capability(result.key, result.serial),
        milliseconds=round(result.milliseconds, 3),
        hops=tuple(replace(hop, milliseconds=round(hop.milliseconds, 3)) for hop in result.hops),
    )


def _plan_document(plan: CallPlan) -> CallPlanDocument:
    from droidgate.cli.calls.call_documents import CallFile, CallPlanDocument

    return CallPlanDocument.of(
        plan,
        capability=_called_capability(plan.subject.key, plan.subject.serial),
        effect=plan.subject.effect.value,
        decision=plan.decision.kind,
        rule=plan.decision.rule,
        approval=plan.pin.kind,
        route=plan.route.route,
        title=plan.route.title,
        files=tuple(CallFile.of(file, source=str(file.source)) for file in plan.files),
    )


def _called_capability(key: CapabilityKey, serial: str) -> CalledCapability:
    from droidgate.cli.calls.call_documents import CalledCapability

    return CalledCapability.of(key, serial=serial, id=key.capability)
